// A store of benchmark runs: its recovery rates beside those of the paper, and its figures.

import { ask, el, number, say } from "./dom.js";

const SETS = { all: "all 37 of the paper", nguyen: "Nguyen", r: "R rationals", livermore: "Livermore", feynman: "Feynman", "feynman-bonus": "Feynman bonus", strogatz: "Strogatz" };

const MOST_METHODS = 4;

export class StoreView {
  constructor(id, place) {
    this.path = `/api/stores/${id}`;
    this.place = place;
  }

  async refresh() {
    say("Reading the records …");
    const { name, summary, problems, figures, methods } = await ask(this.path);
    say("");
    document.title = `${name} – symseed studio`;
    const sets = Object.entries(summary).flatMap(([method, own]) => Object.entries(own.covered)
      .filter(([, [covered]]) => covered > 0)
      .map(([key, covered]) => [method, SETS[key] ?? key, `${covered[0]} of ${covered[1]}`, rate(own[key]), rate(own.paper[key])]));
    const rows = Object.entries(problems).flatMap(([method, own]) => Object.entries(own).map(([problem, one]) => [
      method, problem, String(one.runs), String(one.recovered), rate((100 * one.recovered) / one.runs),
      `${rate(one.interval[0])} to ${rate(one.interval[1])}`, number(one.charged), number(one.cpu_seconds, 3), rate(one.paper),
    ]));
    // With many methods there is no problem that all of them have, and too many lines for one figure.
    this.methods = new Set(methods.length > MOST_METHODS ? methods.slice(0, MOST_METHODS) : methods);
    const drawn = el("div", { class: "pictures store" });
    const redraw = () => drawn.replaceChildren(...figures.map((one) => this.figure(one)));
    const chips = methods.map((method) => el("label", { class: "chip" }, el("input", { type: "checkbox", checked: this.methods.has(method), onchange: (event) => {
      if (event.target.checked) this.methods.add(method);
      else this.methods.delete(method);
      redraw();
    } }), ` ${method}`));
    const choice = el("details", {}, el("summary", {}, "Methods in the figures"), el("div", { class: "row" }, chips));
    redraw();
    const parts = [
      el("header", { class: "head" }, el("div", {}, el("h1", {}, name), el("p", {}, `${Object.keys(problems).length} methods; rates in percent, intervals of 95 %.`))),
      el("section", {}, el("h2", {}, "Recovery by set"), table(["method", "set", "problems", "recovered %", "paper %"], sets, "Recovery by set")),
      el("section", {}, el("h2", {}, "Figures"), choice, drawn),
      el("section", {}, el("h2", {}, "Recovery by problem"),
        table(["method", "problem", "runs", "recovered", "%", "95 %", "formulas", "CPU s", "paper %"], rows, "Recovery by problem")),
    ];
    this.place.replaceChildren(...parts);
  }

  // A figure whose records are missing gets a sentence in its place.
  figure(name) {
    const text = name.replaceAll("-", " ");
    const path = `${this.path}/${name}.svg?methods=${[...this.methods].join(",")}`;
    const whole = el("figure", {}, el("figcaption", {}, text), el("img", {
      src: path, alt: `Figure: ${text}`,
      onerror: async () => {
        const answer = await fetch(path);
        whole.replaceChildren(el("figcaption", {}, text), el("p", { class: "note" }, (await answer.text()).slice(0, 500)));
        whole.parentNode?.append(whole); // behind those that can be drawn
      },
    }));
    return whole;
  }
}

function rate(value) {
  return value === null || value === undefined ? "–" : number(Math.round(10 * value) / 10, 4);
}

function table(head, rows, label) {
  return el("div", { class: "scroll tall", tabindex: 0, role: "group", "aria-label": label },
    el("table", { class: "rates" }, el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) => el("td", {}, cell)))))));
}
