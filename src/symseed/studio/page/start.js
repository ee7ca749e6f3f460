// A new search: a table, what to predict from which columns, and for how long.

import { ask, attempt, el, say, send } from "./dom.js";
import { bars } from "./plots.js";

export async function startParts() {
  const about = await ask("/api/about");
  const rest = el("div", {});
  const take = (table) => {
    if (!table) return;
    say("");
    for (const [name, button] of shipped) button.setAttribute("aria-pressed", String(name === table.source));
    rest.replaceChildren(...chosen(table, about));
    const [section] = rest.children;
    section.focus({ preventScroll: true });
    if (rest.querySelector(".main").getBoundingClientRect().bottom > window.innerHeight) section.scrollIntoView();
  };
  const upload = (file) => attempt(async () => {
    say(`Reading ${file.name} …`);
    take(await send(`/api/tables/upload?name=${encodeURIComponent(file.name)}`, file));
  });
  const file = el("input", { type: "file", id: "file", onchange: () => file.files[0] && upload(file.files[0]) });
  const zone = el(
    "label", { class: "zone", for: "file" }, el("b", {}, "Drop a table here, or choose a file"),
    el("span", {}, "CSV in any dialect, Excel, Parquet, Feather or JSON"), file);
  zone.addEventListener("dragover", () => zone.classList.add("over"));
  for (const end of ["dragleave", "drop"]) zone.addEventListener(end, () => zone.classList.remove("over")); // the page takes the file
  const shipped = about.tables.map((name) => [
    name, el("button", { class: "plain", "aria-pressed": false, onclick: () => attempt(async () => take(await send("/api/tables/shipped", { name }))) }, name),
  ]);
  return [
    el("header", { class: "head" }, el("h1", {}, "A new search")),
    el("section", {}, el("h2", {}, "The table"), zone, el("h3", {}, "Tables that ship with symseed"), el("div", { class: "row shipped" }, shipped.map(([, button]) => button))), rest,
  ];
}

function chosen(table, about) {
  const state = { target: table.target, inputs: new Set(), units: new Map(), operators: new Set() };
  table.columns.forEach((column, place) => { if (column.is_input && place !== state.target) state.inputs.add(place); });
  const checks = new Map();
  const row = (column, place) => {
    const pickTarget = () => {
      if (state.target !== null && table.columns[state.target].is_input) {
        state.inputs.add(state.target);
        checks.get(state.target).checked = true;
      }
      state.target = place;
      state.inputs.delete(place);
      for (const [other, check] of checks) check.disabled = other === place || !(table.columns[other].is_number || table.columns[other].is_text);
      checks.get(place).checked = false;
    };
    const toggle = (event) => (event.target.checked ? state.inputs.add(place) : state.inputs.delete(place));
    const check = el("input", { type: "checkbox", checked: state.inputs.has(place), disabled: !(column.is_number || column.is_text) || place === state.target, "aria-label": `${column.name} as an input`, onchange: toggle });
    checks.set(place, check);
    const unit = el("input", { type: "text", size: 6, maxlength: 40, "aria-label": `Unit of ${column.name}`, placeholder: "unit", onchange: (event) => state.units.set(place, event.target.value) });
    return el("tr", {},
      el("td", {}, column.name),
      el("td", {}, el("input", { type: "radio", name: "target", checked: place === state.target, disabled: !column.is_number, "aria-label": `${column.name} as the target`, onchange: pickTarget })),
      el("td", {}, check), el("td", {}, column.bars ? bars(column.bars, column.name) : ""), el("td", {}, column.is_number ? unit : ""),
      el("td", { class: column.is_odd ? "odd" : null }, column.words + (column.is_text ? "; as an input, categories" : "")));
  };
  const names = ["column", "target", "input", "values", "unit", "what it holds"];
  const head = el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name))));
  const columns = el("table", { class: "columns" }, head, el("tbody", {}, table.columns.map(row)));
  const lines = Math.max(0, ...table.columns.map((column) => column.cells.length));
  const preview = el("table", {},
    el("thead", {}, el("tr", {}, table.columns.map((column) => el("th", { scope: "col" }, column.name)))),
    el("tbody", {}, Array.from({ length: lines }, (_, line) => el("tr", {}, table.columns.map((column) => el("td", {}, column.cells[line] ?? ""))))));
  const seconds = el("input", { type: "number", id: "seconds", min: 1, max: 604800, value: 60 });
  const formulas = el("input", { type: "number", class: "formulas", id: "formulas", min: 1, max: 1e12, placeholder: "as usual" });
  const chips = about.operators.map((name) => el("label", { class: "chip" }, el("input", { type: "checkbox", onchange: (event) =>
    (event.target.checked ? state.operators.add(name) : state.operators.delete(name)) }), ` ${name}`));
  const button = el("button", { class: "main", onclick: () => start(table, state, [Number(seconds.value), formulas.value ? Number(formulas.value) : null], button) }, "Start");
  return [
    el("section", { tabindex: -1 }, el("h2", {}, `${table.source}: ${table.rows.toLocaleString("en")} rows`),
      table.facts.length ? el("p", {}, `${table.facts.join("; ")}.`) : null, table.notes.map((note) => el("p", { class: "note" }, note)),
      el("p", { class: "row start" }, button, el("label", { for: "seconds" }, "for at most"), seconds, " seconds ", el("label", { for: "formulas" }, "and at most"), formulas, " formulas"),
      el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "The columns" }, columns),
      el("details", {}, el("summary", {}, "The first rows"), el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "The first rows" }, preview)),
      el("details", {}, el("summary", {}, "Operators beside + − × ÷"), el("p", { class: "note" }, "Without a choice, the usual ones."), el("div", { class: "row" }, chips))),
  ];
}

async function start(table, state, [seconds, formulas], button) {
  button.disabled = true;
  say("The search begins …");
  const order = { table: table.id, target: state.target, inputs: [...state.inputs].sort((one, other) => one - other), units: [...state.units], operators: [...state.operators].join(","), seconds, formulas };
  await attempt(async () => {
    if (state.target === null) throw new Error("The table has no column of numbers to predict.");
    const { search } = await send("/api/searches", order);
    for (;;) {
      const { run } = await ask(`/api/searches/${search}`);
      if (run) {
        location.hash = `#run=${run}`;
        return;
      }
      await new Promise((done) => setTimeout(done, 200));
    }
  });
  button.disabled = false;
}
