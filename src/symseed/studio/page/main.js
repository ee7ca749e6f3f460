// The page: the list of runs, and one view. Its address says which: #new, #run=ID, #compare=ID,ID, or #store=ID.

import { ask, attempt, el, number, say, when } from "./dom.js";
import { CompareView } from "./compare.js";
import { RunView } from "./run.js";
import { StoreView } from "./store.js";
import { startParts } from "./start.js";

const content = document.getElementById("content");
let [view, source, seen, isLost] = [null, null, { runs: "", run: "" }, false];
let dropped = null; // a table that was dropped where no table is taken

function shownRun() {
  return /^#run=([0-9a-f]{1,64})$/.exec(location.hash)?.[1] ?? "";
}

function other() {
  const [, kind, text] = /^#(compare|store)=([0-9a-f,]{0,300})$/.exec(location.hash) ?? [];
  if (kind === "compare") return new CompareView(text.split(",").filter(Boolean), content);
  return kind === "store" ? new StoreView(text, content) : null;
}

function line(run) {
  const [first] = run.targets;
  const name = first ? `${run.targets.map((target) => target.name).join(", ")} of ${run.source || "a table"}` : run.name;
  const about = run.problem || (first?.formula ? `${first.formula} (loss ${number(first.loss, 3)})` : "no formula yet");
  const here = run.id === shownRun() ? "page" : null;
  return el(
    "li", {},
    el("a", { href: `#run=${run.id}`, "aria-current": here },
      el("span", { class: `state ${run.state.replace(" ", "-")}` }, run.state), el("span", { class: "when" }, when(run.created)), el("b", {}, name), el("span", { class: "about" }, about)),
  );
}

async function showRuns() {
  const runs = await attempt(() => ask("/api/runs"));
  if (runs === null) return;
  const none = el("li", { class: "about" }, "There are no runs yet.");
  document.getElementById("runs").replaceChildren(...(runs.length ? runs.map(line) : [none]));
  const compared = shownRun() || runs[0]?.id || "";
  const link = document.getElementById("compare");
  link.hidden = runs.length < 2;
  if (!location.hash.startsWith("#compare=")) link.setAttribute("href", `#compare=${compared}`);
  const stores = (await attempt(() => ask("/api/stores"))) ?? [];
  document.getElementById("benchmarks").hidden = !stores.length;
  document.getElementById("stores").replaceChildren(...stores.map((store) =>
    el("li", {}, el("a", { href: `#store=${store.id}`, "aria-current": location.hash === `#store=${store.id}` ? "page" : null }, el("b", {}, store.name)))));
}

async function show() {
  say("");
  const run = shownRun();
  seen = { runs: "", run: "" };
  view = run ? new RunView(run, content) : other();
  if (view) {
    const own = view;
    await attempt(() => own.refresh());
  } else {
    const parts = await attempt(startParts);
    if (parts && !shownRun()) { // meanwhile the user may have opened a run
      document.title = "New search – symseed studio";
      content.replaceChildren(...parts);
      if (dropped) take(dropped);
    }
  }
  if (run === shownRun()) listen();
}

// Gives a table to the page of a new search, which is opened if need be.
function take(files) {
  const input = document.getElementById("file");
  dropped = input ? null : files;
  if (!input) {
    location.hash = "#new";
    return;
  }
  input.files = files;
  input.dispatchEvent(new Event("change"));
}

// A hidden page does not listen: a browser keeps few connections to one server for all its pages.
function listen() {
  source?.close();
  source = null;
  if (document.hidden) return;
  source = new EventSource(`/api/events?run=${shownRun()}`);
  const own = source;
  source.onerror = () => {
    isLost = true;
    say(own.readyState === EventSource.CLOSED
      ? "The server was started again. Open the link that it printed; searches go on."
      : "The server does not answer. Searches go on.");
  };
  source.onopen = () => {
    if (isLost) say("");
    isLost = false;
  };
  source.onmessage = async (event) => {
    const now = JSON.parse(event.data);
    const before = seen;
    seen = now;
    if (now.runs !== before.runs) {
      await showRuns();
      if (before.runs && view instanceof CompareView) await attempt(() => view.refresh());
    }
    if (now.run && now.run !== before.run && view?.refresh) await attempt(() => view.refresh());
  };
}

// The token of the link is a cookie by now, and should not stay in the address.
if (location.search) history.replaceState(null, "", `/${location.hash}`);
window.addEventListener("hashchange", show);
// A table may be dropped anywhere: a browser would leave the page for the file.
window.addEventListener("dragover", (event) => event.preventDefault());
window.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) take(event.dataTransfer.files);
});
setInterval(() => view?.tick?.(), 1000);
document.addEventListener("visibilitychange", () => (document.hidden ? source?.close() : (seen = { runs: "", run: "" }, listen())));
let resized = 0;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => view?.draw?.(), 100);
});
showRuns();
show();
