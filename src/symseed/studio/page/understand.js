// Why the formula is what it is: its lineage, the structure of the data, and what the networks expected and learnt.

import { FROZEN, ask, attempt, el, percent } from "./dom.js";
import { figure, plot, spark } from "./plots.js";

const COLOURS = ["blue", "orange", "green", "pink", "yellow", "sky", "ink"];

export class Understand {
  constructor(view) {
    this.view = view;
    this.search = 0;
    this.lineage = el("div", {});
    this.structure = el("div", {});
    this.expected = el("div", {});
    this.select = el("select", { "aria-label": "Search", onchange: (event) => { this.search = Number(event.target.value); this.draw(); } });
    this.root = figure("The first token of a formula: probability over the search ", this.select);
    this.keys = el("p", { class: "keys" });
    this.along = el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Probabilities along the formula" });
    this.none = el("p", { class: "note" });
    this.learnt = el("div", {}, this.root.whole, this.keys, this.along);
    this.whole = el("section", {}, el("h2", {}, "Understand"),
      el("h3", {}, "How the selected formula came about"), this.lineage,
      el("h3", {}, "Structure of the data"), this.structure, this.expected,
      el("h3", {}, "What the policies have learnt"), this.none, this.learnt);
  }

  // Asks what the policies think of the chosen formula; a formula that was typed is not on the front.
  async refresh() {
    const { index } = this.view.chosen;
    if (index < 0) return;
    const asked = this.asked = {};
    const path = `${this.view.path}/learnt?target=${this.view.target}&index=${index}`;
    const found = await attempt(() => ask(path));
    if (this.asked !== asked || found === null) return;
    this.found = found;
    if (!found[this.search]?.legal) this.search = Math.max(0, found.findIndex((one) => one.legal));
    this.draw();
  }

  draw() {
    this.drawStructure();
    const searches = this.found ?? [];
    this.learnt.hidden = !searches.length;
    this.none.hidden = Boolean(searches.length);
    this.none.textContent = "No policy is kept yet: the first is kept after the first turn of the search.";
    if (!searches.length) return;
    this.search = Math.min(this.search, searches.length - 1);
    this.select.replaceChildren(...searches.map((one, place) => el("option", { value: place }, `search ${one.track + 1}`)));
    this.select.value = String(this.search);
    const { charged, root, along, legal } = searches[this.search];
    plot(this.root.holder, {
      label: "Probability of each token as the first of a formula, over the search",
      x: { label: "formulas tried" }, y: { label: "probability" },
      layers: root.map((one, place) => ({ kind: "line", x: charged, y: one.values, colour: COLOURS[place % COLOURS.length] })),
    });
    this.keys.replaceChildren(...root.map((one, place) => el("span", { class: `key ${COLOURS[place % COLOURS.length]}` }, one.token)));
    const head = ["next token", "at first", "now", "over the search", "or else, now"];
    const rows = along.map((one) => el("tr", {},
      el("td", {}, one.token), el("td", {}, percent(one.values[0])), el("td", {}, percent(one.values[one.values.length - 1])),
      el("td", {}, spark(one.values, `${one.token}: probability over the search`)),
      el("td", {}, one.others.map(([token, share]) => `${token} ${percent(share)}`).join(", "))));
    const table = el("table", { class: "along" }, el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, rows));
    const note = legal
      ? "The probability of each token, given those before it, in the order in which the policy writes the chosen formula."
      : "This search cannot write the chosen formula: it lacks one of its tokens, or the formula is too long.";
    this.along.replaceChildren(el("p", { class: "note" }, note), ...(legal ? [table] : []));
  }

  drawStructure() {
    const { structure, expected } = this.view.now;
    const sentences = structure.length ? structure.map((text) => `By evidence, ${text}.`) : ["None was found, or none was sought."];
    this.structure.replaceChildren(...sentences.map((text) => el("p", { class: "note" }, text)));
    // Without a network nothing is said; a report has a section of its own.
    const lines = FROZEN ? [] : expected.map(([formula, share]) => el("li", {}, el("code", {}, formula), ` ${share}`));
    this.expected.replaceChildren(...(lines.length ? [el("h3", {}, "What the network expected before the search"), el("ol", {}, lines)] : []));
  }

  // The lineage of the formula that was selected at a moment.
  drawLineage(moments, at) {
    const found = moments.slice(0, at + 1).reverse().find((moment) => moment.found_by);
    const steps = found?.lineage ?? [];
    if (!steps.length) {
      this.lineage.replaceChildren(el("p", { class: "note" }, found ? `It was found by ${found.found_by}; how is not known.` : "No formula is selected yet."));
      return;
    }
    const items = steps.map((step) => {
      const word = step.change.startsWith("crossed") ? "with" : "with parts of";
      const others = step.others.flatMap((other, place) => [place ? ", " : ` ${word} `, el("code", {}, other)]);
      return el("li", {}, el("b", {}, step.change), " ", others.length ? el("span", { class: "note" }, others) : null, el("code", { class: "form" }, step.formula));
    });
    this.lineage.replaceChildren(el("ol", { class: "lineage" }, items));
  }
}
