// A report: the page of one run as it was, without a server.

import { attempt } from "./dom.js";
import { RunView } from "./run.js";

const frozen = new RunView("report", document.getElementById("content"));
attempt(() => frozen.refresh());
let redrawn = 0;
window.addEventListener("resize", () => {
  clearTimeout(redrawn);
  redrawn = setTimeout(() => frozen.draw(), 100);
});
