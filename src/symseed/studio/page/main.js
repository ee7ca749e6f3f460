// The page: the list of runs, and one view. Its address says which: #new, or #run=ID.

import { ask, attempt, el, number, say } from "./dom.js";
import { RunView } from "./run.js";
import { startParts } from "./start.js";

const content = document.getElementById("content");
let [view, source, seen, isLost] = [null, null, { runs: "", run: "" }, false];

function shownRun() {
  return /^#run=([0-9a-f]{1,64})$/.exec(location.hash)?.[1] ?? "";
}

function line(run) {
  const [first] = run.targets;
  const name = first ? `${run.targets.map((target) => target.name).join(", ")} of ${run.source || "a table"}` : run.name;
  const about = run.problem || (first?.formula ? `${first.formula} (loss ${number(first.loss, 3)})` : "no formula yet");
  const here = run.id === shownRun() ? "page" : null;
  return el(
    "li", {},
    el("a", { href: `#run=${run.id}`, "aria-current": here },
      el("span", { class: `state ${run.state.replace(" ", "-")}` }, run.state), el("b", {}, name), el("span", { class: "about" }, about)),
  );
}

async function showRuns() {
  const runs = await attempt(() => ask("/api/runs"));
  if (runs === null) return;
  const none = el("li", { class: "about" }, "There are no runs yet.");
  document.getElementById("runs").replaceChildren(...(runs.length ? runs.map(line) : [none]));
}

async function show() {
  say("");
  const run = shownRun();
  seen = { runs: "", run: "" };
  view = null;
  if (run) {
    view = new RunView(run, content);
    await attempt(() => view.refresh());
  } else {
    const parts = await attempt(startParts);
    if (parts && !shownRun()) { // meanwhile the user may have opened a run
      document.title = "New search – symseed studio";
      content.replaceChildren(...parts);
    }
  }
  if (run === shownRun()) listen();
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
    if (now.runs !== before.runs) await showRuns();
    if (now.run && now.run !== before.run && view?.refresh) await attempt(() => view.refresh());
  };
}

// The token of the link is a cookie by now, and should not stay in the address.
if (location.search) history.replaceState(null, "", `/${location.hash}`);
window.addEventListener("hashchange", show);
document.addEventListener("visibilitychange", () => (document.hidden ? source?.close() : (seen = { runs: "", run: "" }, listen())));
let resized = 0;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => view?.draw?.(), 100);
});
showRuns();
show();
