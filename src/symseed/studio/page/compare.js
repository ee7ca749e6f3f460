// Runs side by side: their formulas, their errors, and what they cost.

import { ask, attempt, clock, count, el, math, number, r2 } from "./dom.js";
import { figure, plot } from "./plots.js";

const RUN_COLOURS = ["blue", "orange", "green", "pink"];
const MOST = RUN_COLOURS.length;

export class CompareView {
  constructor(ids, place) {
    this.ids = ids.slice(0, MOST);
    this.place = place;
    this.front = figure("The fronts: loss against complexity");
    this.time = figure("Loss of the selected formula over time");
  }

  async refresh() {
    document.title = "Compare runs – symseed studio";
    const all = await ask("/api/runs");
    const shown = await Promise.all(this.ids.map((id) => this.read(id)));
    this.runs = shown.filter((run) => run !== null);
    const boxes = all.filter((run) => run.targets.length).map((run) => el("label", { class: "chip" },
      el("input", { type: "checkbox", checked: this.ids.includes(run.id), disabled: !this.ids.includes(run.id) && this.ids.length >= MOST,
        onchange: (event) => this.toggle(run.id, event.target.checked) }),
      ` ${run.targets.map((target) => target.name).join(", ")} of ${run.source || "a table"} `, el("span", { class: "note" }, run.name)));
    const parts = [
      el("header", { class: "head" }, el("h1", {}, "Compare runs")),
      el("section", {}, el("h2", {}, "Runs"), el("p", { class: "note" }, `Choose at most ${MOST}.`), el("div", { class: "row" }, boxes)),
    ];
    if (this.runs.length) {
      parts.push(el("section", {}, el("h2", {}, "Side by side"), el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "The runs side by side" }, this.table())));
      parts.push(el("section", {}, el("h2", {}, "Figures"), this.keys(), el("div", { class: "pictures" }, this.front.whole, this.time.whole)));
    }
    const focused = document.activeElement?.closest("label")?.textContent;
    this.place.replaceChildren(...parts);
    if (focused) [...this.place.querySelectorAll("label")].find((one) => one.textContent === focused)?.querySelector("input").focus();
    this.draw();
  }

  // A run that was removed, or has no formula yet, has no column.
  async read(id) {
    return attempt(async () => {
      const run = await ask(`/api/runs/${id}`);
      const target = run.targets[0];
      if (!target?.front.length) return null;
      const formula = await ask(`/api/runs/${id}/formula?target=0&index=${target.chosen}`);
      return { ...run, id, target, formula };
    });
  }

  toggle(id, isOn) {
    const ids = isOn ? [...this.ids, id] : this.ids.filter((one) => one !== id);
    location.hash = `#compare=${ids.join(",")}`;
  }

  table() {
    const last = (run) => run.target.history[run.target.history.length - 1];
    const rows = [
      ["formula", (run) => math(run.formula.mathml)], ["state", (run) => run.state], ["table", (run) => run.source || "–"],
      ["method", (run) => run.method], ["seed", (run) => String(run.seed)], ["rows", (run) => count(run.rows)],
      ["RMSE", (run) => number(run.formula.rmse)], ["R²", (run) => r2(run.formula.r2)], ["loss", (run) => number(run.formula.loss)],
      ["complexity", (run) => count(run.formula.complexity)], ["constants", (run) => run.formula.constants.join(", ") || "none"],
      ["formulas on the front", (run) => count(run.target.front.length)],
      ["formulas tried", (run) => (last(run) ? count(last(run).charged) : "–")], ["time", (run) => (last(run) ? clock(last(run).seconds) : "–")],
      ["ended", (run) => run.target.reason],
    ];
    const head = el("tr", {}, el("td", {}), this.runs.map((run) => el("th", { scope: "col" }, el("a", { href: `#run=${run.id}` }, `${run.target.name}, ${run.name}`))));
    return el("table", { class: "compare" }, el("thead", {}, head),
      el("tbody", {}, rows.map(([name, text]) => el("tr", {}, el("th", { scope: "row" }, name), this.runs.map((run) => el("td", {}, text(run)))))));
  }

  keys() {
    return el("p", { class: "keys" }, this.runs.map((run, place) => el("span", { class: `key ${RUN_COLOURS[place]}` }, `${run.target.name}, ${run.name}`)));
  }

  draw() {
    if (!this.runs?.length) return;
    const positive = (values) => values.map((value) => (value > 0 ? value : NaN));
    const layers = (x, y, kind) => this.runs.map((run, place) => ({ kind, x: x(run), y: positive(y(run)), colour: RUN_COLOURS[place] }));
    const [sizes, losses] = [(run) => run.target.front.map((row) => row.complexity), (run) => run.target.front.map((row) => row.loss)];
    plot(this.front.holder, { label: "Fronts of the runs", x: { label: "complexity" }, y: { label: "loss", isLog: true }, layers: [...layers(sizes, losses, "steps"), ...layers(sizes, losses, "points")] });
    const [seconds, found] = [(run) => run.target.history.map((one) => one.seconds), (run) => run.target.history.map((one) => one.loss)];
    plot(this.time.holder, { label: "Loss over time of the runs", x: { label: "seconds" }, y: { label: "loss", isLog: true }, layers: layers(seconds, found, "steps") });
  }
}
