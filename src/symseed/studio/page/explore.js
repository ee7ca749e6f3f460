// Trying things: a formula that is typed, other values of its constants, and its curve along one column.

import { FROZEN, ask, attempt, el, number, say, send } from "./dom.js";
import { figure, isWide, plot } from "./plots.js";

const MOST_HELD = 6;

export class Explore {
  constructor(view) {
    this.view = view;
    this.tried = [];
    this.column = null;
    this.held = new Map();
    this.text = el("input", { type: "text", id: "typed", maxlength: 2000, spellcheck: "false", autocomplete: "off", placeholder: "const * x ^ const" });
    this.constants = el("div", { class: "sliders" });
    this.others = el("div", { class: "sliders" });
    this.error = el("p", { class: "note", role: "status" });
    this.select = el("select", { "aria-label": "Column of the curve", onchange: (event) => { this.column = Number(event.target.value); this.show(); } });
    this.picture = figure("The formula along ", this.select);
    const form = el("form", { class: "row", onsubmit: (event) => { event.preventDefault(); this.fit(); } },
      el("label", { for: "typed" }, "A formula of your own"), this.text, el("button", {}, "Fit"));
    const back = el("button", { onclick: () => this.begin() }, "Fitted constants");
    const how = el("p", { class: "note" }, "Numbers stay fixed, and const is a constant to fit, by least squares.");
    for (const part of [form, how, back]) part.hidden = FROZEN !== null;
    this.whole = el("section", {}, el("h2", {}, "Explore"), form, how,
      el("div", { class: "pictures" }, this.picture.whole, el("div", {}, el("h3", {}, "Constants"), this.constants, this.others, el("p", { class: "row" }, back), this.error)));
  }

  async fit(text = this.text.value) {
    say("Fitting …");
    const asked = `${this.view.path}/try?target=${this.view.target}`;
    const formula = await attempt(() => send(asked, { formula: text }));
    if (formula === null) return;
    say("");
    this.tried = [...this.tried.filter((one) => one.typed !== formula.typed), formula].slice(-20);
    await this.view.take(-1, formula);
  }

  // Shows another formula, with its fitted constants.
  begin() {
    const { formula } = this.view.chosen;
    const names = this.view.run.columns;
    this.values = [...formula.values];
    this.held = new Map();
    if (!formula.used.includes(this.column)) this.column = formula.used[0] ?? 0;
    const listed = formula.used.length ? formula.used : [0];
    this.select.replaceChildren(...listed.map((place) => el("option", { value: place }, names[place]?.name ?? `column ${place + 1}`)));
    const rows = formula.values.map((value, place) => {
      if (FROZEN) return el("p", {}, `constant ${place + 1}: ${formula.constants[place]}`);
      const half = Math.max(Math.abs(value), 5 * Math.min(formula.errors[place] ?? 0, 1e3 * Math.abs(value))) || 1;
      return slider(`constant ${place + 1}`, value - half, value + half, value, (now) => { this.values[place] = now; this.ask(); });
    });
    this.constants.replaceChildren(...(rows.length ? rows : [el("p", { class: "note" }, "It has none.")]));
    return this.show();
  }

  async show() {
    const { used } = this.view.chosen.formula;
    this.select.value = String(this.column);
    this.held.delete(this.column);
    const others = used.filter((place) => place !== this.column).slice(0, MOST_HELD);
    for (const place of [this.column, ...others]) await this.view.values(place);
    const rows = others.filter(() => !FROZEN).map((place) => {
      const known = this.view.known(place).filter(Number.isFinite).sort((one, other) => one - other);
      const middle = this.held.get(place) ?? known[Math.floor((known.length - 1) / 2)];
      const name = this.view.run.columns[place]?.name ?? `column ${place + 1}`;
      return slider(name, known[0], known[known.length - 1], middle, (now) => { this.held.set(place, now); this.ask(); });
    });
    this.others.replaceChildren(...(rows.length ? [el("h3", {}, "Columns that stand still"), ...rows] : []));
    return this.ask();
  }

  // One question at a time: the newest values wait for the answer to the last.
  async ask() {
    if (this.isAsking) {
      this.isWaiting = true;
      return;
    }
    this.isAsking = true;
    do {
      this.isWaiting = false;
      const { index, formula } = this.view.chosen;
      const isFitted = this.values.every((value, place) => value === formula.values[place]);
      const asked = { index, typed: formula.typed ?? null, constants: this.values, column: this.column, at: Object.fromEntries(this.held), has_band: isFitted };
      const path = `${this.view.path}/curve?target=${this.view.target}`;
      const answer = await attempt(() => (FROZEN ? ask(`${path}&index=${index}&column=${this.column}`) : send(path, asked)));
      if (answer && formula === this.view.chosen.formula && asked.column === this.column) {
        this.answer = answer;
        this.draw();
      }
    } while (this.isWaiting);
    this.isAsking = false;
  }

  draw() {
    if (!this.answer) return;
    const { formula } = this.view.chosen;
    const { name } = this.view.now;
    const [x, y] = [this.answer.x, this.answer.y].map((values) => values.map((one) => one ?? NaN));
    const values = this.view.known(this.column);
    const measured = formula.measured.map((one) => one ?? NaN);
    const isLog = isWide(values) && x.every((one) => !(one < 0));
    plot(this.picture.holder, {
      label: `The formula along ${this.view.run.columns[this.column]?.name}`,
      x: { label: this.view.run.columns[this.column]?.name ?? "", isLog }, y: { label: name },
      layers: [
        { kind: "beyond", from: this.answer.range[0], to: this.answer.range[1] },
        ...(this.answer.low ? [{ kind: "band", x, low: this.answer.low.map((one) => one ?? NaN), high: this.answer.high.map((one) => one ?? NaN), colour: "orange" }] : []),
        { kind: "points", x: values, y: measured, spread: formula.spread, colour: "blue" }, { kind: "line", x, y, colour: "orange" },
      ],
    });
    const rest = (this.answer.predicted ?? formula.predicted).map((one, place) => (one ?? NaN) - measured[place]).filter(Number.isFinite);
    const error = Math.sqrt(rest.reduce((sum, one) => sum + one * one, 0) / rest.length);
    const others = formula.used.length > 1 ? " The points have other values of the columns that stand still." : "";
    const band = this.answer.low ? " 95 % of new measurements lie in the band, if the form of the formula is right." : "";
    this.error.textContent = `Root mean square error with these constants, at the points shown: ${number(error)}.${band}${others}`;
  }
}

function slider(name, low, high, value, change) {
  const shown = el("output", {}, number(value));
  const input = el("input", {
    type: "range", min: low, max: high, step: "any", "aria-label": name,
    oninput: () => { shown.textContent = number(Number(input.value)); change(Number(input.value)); },
  });
  input.value = value;
  return el("div", { class: "slider" }, el("span", {}, name), input, shown);
}
