// One run: its front, the chosen formula with the data, how the search went, and what can be done with it.

import { FROZEN, ask, attempt, clock, count, el, math, number, percent, r2, say, send } from "./dom.js";
import { Explore } from "./explore.js";
import { figure, isWide, plot, tree } from "./plots.js";
import { Understand } from "./understand.js";

const PARTS = ["blue", "orange", "green", "pink", "yellow", "sky", "ink"];

export class RunView {
  constructor(id, place) {
    this.path = `/api/runs/${id}`;
    this.place = place;
    this.target = 0;
    this.own = null; // the text of the formula that the user chose; null: the one that the search selects
    this.column = null;
    this.columns = new Map();
    this.format = "latex";
    this.moment = null;
    this.explore = new Explore(this);
    this.understand = new Understand(this);
    this.parts = frame(this);
    place.replaceChildren(...this.parts.all);
  }

  get now() {
    return this.run.targets[this.target];
  }

  // Asks for the run again, and for the chosen formula if it is another one or the front has changed.
  async refresh() {
    const run = await ask(this.path);
    const last = (of) => of?.targets[this.target]?.history.at(-1)?.seconds;
    if (this.run?.state !== run.state || last(this.run) !== last(run)) this.heard = performance.now();
    this.run = run;
    if (!FROZEN) document.title = `${this.run.name} – symseed studio`;
    this.head();
    if (!this.now?.front.length || this.chosen?.formula.typed) return this.draw();
    await this.choose(this.index());
  }

  index() {
    const own = this.now.front.findIndex((row) => row.text === this.own);
    return own >= 0 ? own : this.now.chosen;
  }

  async choose(index) {
    const asked = this.asked = {};
    const formula = await attempt(() => ask(`${this.path}/formula?target=${this.target}&index=${index}`));
    if (formula !== null && this.asked === asked) await this.take(index, formula);
  }

  // Shows a formula: one of the front, or with the index -1 one that was typed.
  async take(index, formula) {
    const isNew = formula.text !== this.chosen?.formula.text || formula.typed !== this.chosen.formula.typed;
    this.chosen = { index, formula };
    this.column ??= formula.used[0] ?? 0;
    await this.values(this.column);
    if (this.chosen.formula !== formula) return;
    this.draw();
    if (isNew) await this.explore.begin();
    await this.understand.refresh();
  }

  known(column) {
    return (this.columns.get(`${this.target} ${column}`) ?? []).map((one) => one ?? NaN);
  }

  pick(index) {
    this.own = this.now.front[index].text;
    return this.choose(index);
  }

  async values(column) {
    const key = `${this.target} ${column}`;
    if (this.columns.has(key)) return;
    const answer = await attempt(() => ask(`${this.path}/column?target=${this.target}&column=${column}`));
    this.columns.set(key, answer ? answer.values : []);
  }

  head() {
    const { run, parts } = this;
    const isPaused = run.state === "paused";
    const isOn = run.state === "searching" || isPaused;
    const isWaiting = isOn && isPaused !== (this.isToPause ?? isPaused);
    if (!isWaiting) this.isToPause = null;
    const names = run.targets.map((target) => target.name).join(", ");
    parts.title.textContent = names ? `${names} of ${run.source || "a table"}` : run.name;
    parts.state.textContent = run.state;
    parts.state.className = `state ${run.state.replace(" ", "-")}`;
    parts.problem.textContent = run.problem;
    parts.stop.hidden = !isOn;
    parts.pause.hidden = !isOn;
    parts.pause.textContent = isPaused ? "Go on" : "Pause";
    parts.pause.disabled = isWaiting;
    parts.resume.hidden = isOn || !["interrupted", "not ended"].includes(run.state);
    parts.more.hidden = run.state === "damaged";
    this.tick();
    if (run.targets.length > 1 && parts.targets.options.length !== run.targets.length) {
      parts.targets.replaceChildren(...run.targets.map((target, place) => el("option", { value: place }, target.name)));
    }
    parts.which.hidden = run.targets.length < 2;
  }

  // The clock: turns may take half a minute, so it goes on between them.
  tick() {
    const { run, parts } = this;
    if (!run) return;
    const isOn = run.state === "searching" || run.state === "paused";
    const last = this.now?.history[this.now.history.length - 1];
    const limit = run.limits?.seconds ?? Infinity;
    const since = run.state === "searching" ? (performance.now() - this.heard) / 1000 : 0;
    const known = last?.seconds ?? 0;
    const seconds = Math.max(known, Math.min(known + since, limit));
    const turns = `${count(this.now?.turns ?? 0)} ${this.now?.turns === 1 ? "turn" : "turns"}`;
    const tried = last?.charged ? `: ${count(last.charged)} formulas tried in ${turns}, ${count(last.charged / known)} formulas/s` : "";
    const left = isOn && limit < Infinity ? (seconds < limit ? `, at most ${clock(limit - seconds)} left` : ", and the formulas are judged") : "";
    parts.progress.textContent = last || isOn ? `${clock(seconds)}${tried}${left}.` : "";
    parts.meter.hidden = !(isOn && limit < Infinity);
    if (!parts.meter.hidden) parts.meter.value = seconds / limit;
  }

  draw() {
    if (!this.run) return;
    const target = this.now;
    const hasFront = Boolean(target?.front.length && this.chosen);
    for (const part of this.parts.withFront) part.hidden = !hasFront;
    this.parts.waiting.hidden = hasFront || !target;
    this.history();
    this.jumps();
    if (!hasFront) return;
    this.formula();
    this.plots();
    this.table();
    this.use();
    this.explore.draw();
    this.understand.draw();
  }

  // The page is long: a row of buttons goes to its parts.
  jumps() {
    for (const [button, section] of this.parts.places) button.hidden = section.hidden;
    this.parts.jumps.hidden = this.parts.places.every(([button]) => button.hidden);
  }

  formula() {
    const { formula, index } = this.chosen;
    const target = this.now;
    const holder = this.parts.formula;
    holder.replaceChildren(math(formula.mathml));
    for (const size of ["large", "middle", "small"]) { // the largest that fits
      holder.className = `formula ${size} scroll`;
      if (holder.scrollWidth <= holder.clientWidth) break;
    }
    const unit = target.unit;
    const tiles = [
      ["RMSE", number(formula.rmse), unit], ["R²", r2(formula.r2), ""], ["largest error", number(formula.largest), unit],
      ["complexity", count(formula.complexity), ""],
    ];
    const weight = target.front[index]?.weight ?? null;
    if (weight !== null) tiles.push(["weight", percent(weight), ""]);
    this.parts.tiles.replaceChildren(...tiles.map(([name, value, of]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, value, of ? el("small", {}, ` ${of}`) : null))));
    const constants = formula.constants.some((text) => text.includes("±")) ? `Constants: ${formula.constants.join(", ")}.` : "";
    const choice = formula.typed ? "This is a formula of your own." : "This is your choice; the search selects another formula.";
    const own = index === target.chosen ? "" : choice;
    const reason = ["searching", "paused"].includes(this.run.state) ? "" : target.reason;
    const notes = [own, reason, constants, target.noise, ...formula.remarks];
    this.parts.notes.replaceChildren(...notes.filter(Boolean).map((text) => el("p", { class: "note" }, text)));
  }

  plots() {
    const { formula, index } = this.chosen;
    const { front, name } = this.now;
    const losses = front.map((row) => row.loss);
    const least = Math.min(...losses.filter((loss) => loss > 0));
    const shown = losses.map((loss) => (loss > 0 ? loss : loss === 0 && Number.isFinite(least) ? least / 10 : NaN));
    const labels = front.map((row) => `complexity ${row.complexity}, loss ${number(row.loss)}: ${row.text}`);
    const sizes = front.map((row) => row.complexity);
    const own = this.explore.tried;
    plot(this.parts.front.holder, {
      label: "The front: loss against complexity. Arrow keys choose a formula.",
      x: { label: "complexity" }, y: { label: "loss", isLog: true },
      layers: [
        { kind: "steps", x: sizes, y: shown, colour: "blue" },
        { kind: "points", x: own.map((one) => one.complexity), y: own.map((one) => one.loss || NaN), labels: own.map((one) => `yours: ${one.text}`), colour: "green", size: 6, isFixed: true },
        { kind: "points", x: sizes, y: shown, labels, colour: "blue" },
      ],
      chosen: index, pick: (place) => this.pick(place),
    });
    const [measured, predicted] = [formula.measured, formula.predicted].map((values) => values.map((one) => one ?? NaN));
    const isLog = isWide(measured) && isWide(predicted);
    const ends = extremes([...measured, ...predicted]);
    plot(this.parts.fit.holder, {
      label: "Measured values against predicted values",
      x: { label: `${name}, predicted`, isLog }, y: { label: `${name}, measured`, isLog },
      layers: [{ kind: "line", x: ends, y: ends, colour: "grey" }, { kind: "points", x: predicted, y: measured, colour: "blue" }],
    });
    const residuals = measured.map((value, place) => value - predicted[place]);
    const values = this.known(this.column);
    const column = this.run.columns[this.column]?.name ?? "";
    const wide = extremes(values);
    plot(this.parts.residuals.holder, {
      label: `Residuals against ${column}`,
      x: { label: column, isLog: isWide(values) }, y: { label: "measured − predicted" },
      layers: [{ kind: "line", x: wide, y: [0, 0], colour: "grey" }, { kind: "points", x: values, y: residuals, colour: "orange" }],
    });
    const select = this.parts.column;
    if (!select.options.length) {
      const isHere = (place) => !FROZEN || `${this.path}/column?target=${this.target}&column=${place}` in FROZEN;
      const options = this.run.columns.map((one, place) => (isHere(place) ? el("option", { value: place }, one.name) : null));
      select.replaceChildren(...options.filter((option) => option !== null));
    }
    select.value = String(this.column);
    tree(this.parts.tree.holder, formula.tree);
  }

  table() {
    const { front, chosen } = this.now;
    const optional = [["weight", percent], ["test_loss", number]].filter(([key]) => front.some((row) => row[key] !== null));
    const names = [el("span", { class: "unseen" }, "selected"), "complexity", "loss", "score", ...optional.map(([key]) => key.replace("_", " ")), "formula"];
    const rows = front.map((row, place) => {
      const isShown = place === this.chosen.index;
      const cells = [number(row.loss), number(row.score, 3), ...optional.map(([key, text]) => text(row[key]))];
      return el(
        "tr", { class: isShown ? "is-chosen" : null },
        el("td", {}, place === chosen ? el("span", { role: "img", "aria-label": "selected" }, "▸") : ""),
        el("td", {}, el("button", { class: "plain", "aria-pressed": isShown, "aria-label": `Show the formula of complexity ${row.complexity}`, onclick: () => this.pick(place) }, String(row.complexity))),
        cells.map((cell) => el("td", {}, cell)), el("td", {}, math(row.mathml)),
      );
    });
    const isHere = this.parts.table.contains(document.activeElement);
    this.parts.table.replaceChildren(
      el("table", { class: "front" }, el("thead", {}, el("tr", {}, names.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, rows)));
    if (isHere) this.parts.table.querySelector('[aria-pressed="true"]')?.focus();
  }

  use() {
    const { exports } = this.chosen.formula;
    if (!(this.format in exports)) [this.format] = Object.keys(exports);
    this.parts.formats.replaceChildren(...Object.keys(exports).map((name) =>
      el("button", { class: "plain", "aria-pressed": name === this.format, onclick: () => { this.format = name; this.use(); } }, name)));
    this.parts.code.textContent = exports[this.format] ?? "";
  }

  // The choices so far: the loss of the selected formula, who found it, and what the searches learnt.
  history() {
    const moments = this.now?.history ?? [];
    this.parts.watch.hidden = moments.length < 2;
    if (moments.length < 2) return;
    const seconds = moments.map((moment) => moment.seconds);
    const losses = moments.map((moment) => (moment.loss > 0 ? moment.loss : NaN));
    const found = moments.map((moment, place) => [moment, place]).filter(([moment]) => moment.found_by);
    const names = [...new Set(found.map(([moment]) => moment.found_by))];
    const layers = names.map((name, place) => {
      const own = found.filter(([moment]) => moment.found_by === name).map(([, at]) => at);
      const labels = own.map((at) => `${name}: ${moments[at].formula}`);
      return { kind: "points", x: own.map((at) => seconds[at]), y: own.map((at) => losses[at]), labels, colour: PARTS[place % PARTS.length], size: 5 };
    });
    const at = this.moment ?? moments.length - 1;
    plot(this.parts.losses.holder, {
      label: "Loss of the selected formula over time, and the part that found it",
      x: { label: "seconds" }, y: { label: "loss", isLog: true },
      layers: [{ kind: "steps", x: seconds, y: losses, colour: "grey" }, ...layers, { kind: "points", x: [seconds[at]], y: [losses[at]], colour: "ring", size: 9 }],
    });
    this.parts.keys.replaceChildren(...names.map((name, place) => key(name, PARTS[place % PARTS.length])));
    this.parts.slider.max = moments.length - 1;
    this.parts.slider.value = at;
    const moment = moments[at];
    const who = moment.found_by ? `, found by ${moment.found_by}` : "";
    const about = `${clock(moment.seconds)}, ${count(moment.charged)} formulas tried, loss ${number(moment.loss)}${who}`;
    const text = `${about}: ${moment.formula}`;
    const typeset = this.now.typeset[moment.formula];
    this.parts.moment.textContent = typeset ? `${about}:` : text;
    this.parts.then.replaceChildren(...(typeset ? [math(typeset)] : []));
    this.parts.look.hidden = FROZEN !== null;
    this.parts.look.onclick = () => this.explore.fit(moment.formula);
    this.understand.drawLineage(moments, at);
    this.parts.slider.setAttribute("aria-valuetext", text);
    this.learning(moments);
  }

  learning(moments) {
    const tracks = [...new Set(moments.flatMap((moment) => moment.learning.map((item) => item.track)))].sort((one, other) => one - other);
    const lines = (name) => tracks.map((track, place) => {
      const own = moments.flatMap((moment) => moment.learning.filter((item) => item.track === track && item[name] !== null)
        .map((item) => [moment.charged, item[name]]));
      return { kind: "line", x: own.map(([x]) => x), y: own.map(([, y]) => y), colour: PARTS[place % PARTS.length] };
    });
    this.parts.learnt.hidden = !tracks.length;
    if (!tracks.length) return;
    for (const [name, label] of [["sampled", "mean reward of samples"], ["evolved", "mean reward after evolution"], ["entropy", "entropy, nats per token"]]) {
      plot(this.parts[name].holder, { label, x: { label: "formulas tried" }, y: { label }, layers: lines(name) });
    }
    this.parts.tracks.replaceChildren(...tracks.map((track, place) => key(`search ${track + 1}`, PARTS[place % PARTS.length])));
  }
}

function key(name, colour) {
  return el("span", { class: `key ${colour}` }, name);
}

function extremes(values) {
  const known = values.filter(Number.isFinite);
  return [known.reduce((one, other) => Math.min(one, other), Infinity), known.reduce((one, other) => Math.max(one, other), -Infinity)];
}

// The elements of a run, most of them filled later.
function frame(view) {
  const parts = {
    title: el("h1", {}), state: el("span", { class: "state" }), problem: el("p", { class: "note" }),
    progress: el("p", {}), meter: el("progress", { max: 1, "aria-label": "Share of the time that is used", hidden: true }),
    formula: el("div", { class: "formula scroll", tabindex: 0, role: "group", "aria-label": "The chosen formula" }),
    tiles: el("dl", { class: "tiles" }), notes: el("div", {}),
    front: figure("The front: click a point, or use the arrow keys"), fit: figure("Data against prediction"),
    tree: figure("The formula as a tree"), table: el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "The front as a table" }),
    formats: el("div", { class: "row" }), code: el("code", {}), moment: el("p", { class: "note" }),
    then: el("div", { class: "then scroll", tabindex: 0, role: "group", "aria-label": "The formula that was selected then" }), look: el("button", {}, "Look at this formula"),
    losses: figure("The loss of the selected formula, and the part that found it"), keys: el("p", { class: "keys" }), tracks: el("p", { class: "keys" }),
    sampled: figure("Reward of the policy's samples"), evolved: figure("Reward after evolution"), entropy: figure("Entropy of the policy"),
    column: el("select", { "aria-label": "Column for the residuals", onchange: async (event) => {
      view.column = Number(event.target.value);
      await view.values(view.column);
      view.draw();
    } }),
    slider: el("input", { type: "range", min: 0, value: 0, "aria-label": "Turn of the search", oninput: (event) => {
      const place = Number(event.target.value);
      view.moment = place === Number(event.target.max) ? null : place;
      view.history();
    } }),
    targets: el("select", { onchange: (event) => { view.target = Number(event.target.value); view.own = view.chosen = view.column = null; view.explore.tried = []; view.refresh(); } }),
    waiting: el("p", { class: "note" }, "The first formulas come as soon as the table is prepared."),
  };
  parts.residuals = figure("Residuals against ", parts.column);
  parts.which = el("label", { hidden: true }, "Target ", parts.targets);
  const act = (path, body, doing) => attempt(async () => { say(doing); await send(view.path + path, body); say(""); await view.refresh(); });
  const pause = async () => {
    view.isToPause = view.run.state !== "paused";
    await act("/pause", { is_paused: view.isToPause }, view.isToPause ? "The search pauses after its turn …" : "The search goes on …");
  };
  parts.pause = el("button", { onclick: pause }, "Pause");
  parts.stop = el("button", { onclick: () => act("/stop", {}, "The search keeps its formulas …") }, "Stop");
  parts.resume = el("button", { onclick: () => act("/resume", { seconds: 0 }, "The search begins again …") }, "Resume");
  const minutes = el("select", { "aria-label": "Additional time" }, [["1 minute", 60], ["5 minutes", 300], ["1 hour", 3600]]
    .map(([text, seconds]) => el("option", { value: seconds }, text)));
  const longer = () => act("/resume", { seconds: Number(minutes.value) }, "The search gets more time …");
  parts.more = el("span", { class: "row" }, el("button", { onclick: longer }, "More time"), minutes);
  const copy = () => attempt(async () => { await navigator.clipboard.writeText(parts.code.textContent); say("Copied."); });
  const download = (name, text) => FROZEN ? null : el("a", { class: "button", href: `${view.path}/files/${name}`, download: true }, text);
  const chosen = el("section", { class: "chosen", "aria-label": "The chosen formula" }, parts.formula, parts.tiles, parts.notes);
  const figures = el("section", {}, el("h2", {}, "Figures"), el("div", { class: "pictures" }, parts.front.whole, parts.fit.whole, parts.residuals.whole, parts.tree.whole));
  const table = el("section", {}, el("h2", {}, "The front"), parts.table);
  const use = el("section", {}, el("h2", {}, "Use the formula"), parts.formats, el("pre", { tabindex: 0 }, parts.code),
    el("p", { class: "row" }, el("button", { onclick: copy }, "Copy"), download("report", "Report"), download("front", "Front as CSV"), download("config", "Settings")));
  parts.learnt = el("div", {}, el("h3", {}, "What the searches learnt"), parts.tracks, el("div", { class: "pictures three" }, parts.sampled.whole, parts.evolved.whole, parts.entropy.whole));
  parts.watch = el("section", {}, el("h2", {}, "The search"), parts.losses.whole, parts.keys, parts.slider, parts.moment, parts.then, el("p", {}, parts.look), parts.learnt);
  const head = el("header", { class: "head" }, el("div", {}, parts.title, el("p", { class: "row" }, parts.state, parts.progress), parts.meter, parts.problem),
    el("div", { class: "row" }, parts.which, parts.pause, parts.stop, parts.resume, parts.more));
  for (const part of FROZEN ? [parts.pause, parts.stop, parts.resume, parts.more] : []) part.remove();
  const goTo = (section) => {
    section.scrollIntoView();
    section.querySelector("h2").focus({ preventScroll: true });
  };
  parts.places = [figures, table, parts.watch, view.understand.whole, view.explore.whole, use].map((section) => {
    const title = section.querySelector("h2");
    title.tabIndex = -1;
    return [el("button", { class: "plain", onclick: () => goTo(section) }, title.textContent), section];
  });
  parts.jumps = el("nav", { class: "row jumps", "aria-label": "Parts of the page" }, parts.places.map(([button]) => button));
  parts.withFront = [chosen, figures, table, view.understand.whole, view.explore.whole, use];
  parts.all = [head, parts.waiting, parts.jumps, chosen, figures, table, parts.watch, view.understand.whole, view.explore.whole, use];
  return parts;
}
