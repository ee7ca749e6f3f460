"""What the page shows of a run, read from its folder: values that JSON can hold.

Each part is computed once for each state of the folder, however many pages show it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symseed import files
from symseed.errors import DataError, SymseedError
from symseed.portfolio import Moment
from symseed.regressor import front_file, run_config, summaries
from symseed.regressor.front import EquationFront
from symseed.regressor.run import Run
from symseed.regressor.run_log import FILE as EVENTS
from symseed.regressor.run_log import NOT_ENDED, RunLog
from symseed.studio.drawn import text_values
from symseed.studio.learnt import learnt
from symseed.studio.views import constants_of, described, front_rows, moment_values, numbers, some_moments, some_rows

_MOST_NAMES = 500
"""Most columns that the page lists: chosen by hand."""
SEARCHING = "searching"
"""The state of a run while a process writes to it."""
PAUSED = "paused"
"""Its state while that process stands still."""
_MOST_TYPESET = 100
"""Most formulas of the history that are typeset, the newest: chosen by hand."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """A run, opened to be read."""

    run: Run
    fronts: Mapping[int, EquationFront]


class RunReader:
    """Reads one run folder; what has not changed since the last time is not read again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = RunLog(folder)
        self._lock = threading.Lock()
        self._run: tuple[Any, Run] | None = None
        self._opened: tuple[Any, _Opened] | None = None
        self._values: tuple[str, str] | None = None
        self._opener: tuple[Any, int | None] | None = None
        self._formulas: dict[str, Any] = {}

    @property
    def version(self) -> str:
        """A text that differs whenever the files of the run do, or a process begins or ceases to write to it."""
        states = [files.state(self.folder / name) for name in (run_config.FILE, EVENTS, "front.csv")]
        others = [files.state(path) for path in sorted(self.folder.glob("front-*.csv"))]
        return files.digest(repr((states, others, self.writer is not None)).encode())[:16]

    @property
    def writer(self) -> int | None:
        """The id of the process that writes to the run; None if there is none, or the log cannot be read."""
        pid = self._last_opener
        return pid if pid is not None and self._log.is_written_by(pid) else None

    @property
    def _last_opener(self) -> int | None:
        """The process that was the last to open the run for writing; events of a run that is not shown are not kept."""
        state = files.state(self.folder / EVENTS)
        if self._opener is None or self._opener[0] != state:
            try:
                pid = (self._log if self._run is not None else RunLog(self.folder)).opener
            except DataError:
                pid = None
            self._opener = state, pid
        return self._opener[1]

    def was_opened_by(self, pid: int, since: float) -> bool:
        """Return whether a process has opened the run for writing, and has written since a time."""
        state = files.state(self.folder / EVENTS)
        return self._last_opener == pid and state is not None and state[2] >= 1e9 * since

    @property
    def seconds(self) -> float:
        """Seconds that the run has had, or was allowed at first, if that is more."""
        limit = self._limits(self.opened()[0])["seconds"] or 0.0
        return max([limit, *(moment.seconds for moment in self._log.history(0))])

    def values(self) -> str:
        """Return everything of the run but its data, as JSON."""
        with self._lock:
            version = self.version
            if self._values is None or self._values[0] != version:
                self._values = version, files.json_text({"version": version} | self._described())
            return self._values[1]

    def summary(self) -> dict[str, Any]:
        """Return a line of the list of runs."""
        found = summaries.summary(self.folder)
        return {
            "name": self.folder.name,
            "state": found.state.value if self.writer is None else PAUSED if self._log.is_paused else SEARCHING,
            "created": found.created,
            "source": found.source,
            "problem": found.problem,
            "targets": [
                {
                    "name": target.name,
                    "formula": None if target.chosen is None else target.chosen.text,
                    "loss": None if target.chosen is None else target.chosen.loss,
                }
                for target in found.targets
            ],
        }

    def formula(self, target: int, index: int) -> dict[str, Any]:
        """Return one formula of a front: its numbers, its constants, its text for programs, and its points.

        Raises:
            DataError: if the front has no such formula.
        """
        with self._lock:
            opened = self._open()
        front = opened.fronts.get(target)
        if front is None or not 0 <= index < len(front.equations):
            raise DataError("The front has no such formula any more. Load the page again.")
        data = opened.run.data
        some = replace(front, equations=(front.equations[index],), others=())
        equation = some.determined_by(*data.sample(target)).equations[0]
        remarks = list(data.remarks(target, equation.expression, front.noise))
        return described(data, target, equation) | constants_of(equation) | {"remarks": remarks}

    def learnt(self, target: int, index: int) -> list[dict[str, Any]]:
        """Return what the policies of a target's searches think of the tokens of a formula of the front.

        Raises:
            DataError: if the front has no such formula.
        """
        run, fronts = self.opened()
        if target not in fronts or not 0 <= index < len(fronts[target].equations):
            raise DataError("The front has no such formula any more. Load the page again.")
        return learnt(run, target, fronts[target].equations[index].expression)

    def column(self, target: int, column: int) -> dict[str, Any]:
        """Return a column at the samples of `formula`.

        Raises:
            DataError: if there is no such column.
        """
        with self._lock:
            data = self._open().run.data
        if not (0 <= target < len(data.targets) and 0 <= column < len(data.names)):
            raise DataError("The data have no such column.")
        dataset = data.dataset(target)
        return {"values": numbers(dataset.X[some_rows(len(dataset)), column])}

    def opened(self) -> tuple[Run, Mapping[int, EquationFront]]:
        """Return the run and its fronts, to be read.

        Raises:
            DataError: if the run is damaged.
        """
        with self._lock:
            opened = self._open()
        return opened.run, opened.fronts

    def forget(self) -> None:
        """Give up the data in memory; they are read again when they are needed."""
        with self._lock:
            self._run = self._opened = self._values = None
            self._log = RunLog(self.folder)

    def _described(self) -> dict[str, Any]:
        about = self.summary()
        try:
            opened = self._open()
        except SymseedError as error:
            return about | {"problem": str(error), "targets": []}
        run, settings = opened.run, opened.run.settings
        targets = [self._target(opened, target) for target in range(len(run.data.targets))]
        names = [{"name": name, "unit": run.data.units_of(0).get(name, "")} for name in run.data.names[:_MOST_NAMES]]
        more = {"rows": len(run.data.X), "columns": names, "limits": self._limits(run), "seed": run.seed}
        return about | more | {"targets": targets, "method": str(settings.method)}

    def _limits(self, run: Run) -> dict[str, float | None]:
        """The limits by which it was opened last: a resumed run may have others than its settings."""
        known = self._log.limits
        if known is None:
            known = {"seconds": run.settings.max_time, "expressions": run.settings.max_evals}
        return {name: _limit(known.get(name)) for name in ("seconds", "expressions")}

    def _target(self, opened: _Opened, target: int) -> dict[str, Any]:
        run, front = opened.run, opened.fronts.get(target)
        name = run.data.targets[target]
        history = self._log.history(target)
        end = self._log.ends().get(target, NOT_ENDED)
        out: dict[str, Any] = {
            "name": name,
            "unit": run.data.units_of(target).get(name, ""),
            "reason": end.reason.value,
            "structure": [str(finding) for finding in self._log.structure(target)[:1]],
            "expected": [[guess.formula, guess.percent] for guess in self._log.prior(target)],
            "history": [moment_values(moment) for moment in some_moments(history)],
            "typeset": self._typeset(run, history),
            "turns": len(history),
            "front": [],
        }
        if front is None:
            return out
        chosen = front.choice(run.settings.model_selection)
        return out | {"front": front_rows(front), "chosen": chosen, "noise": front.noise.words}

    def _typeset(self, run: Run, history: Sequence[Moment]) -> dict[str, Any]:
        """The newest formulas of the history by their texts, typeset; each is typeset once."""
        newest = dict.fromkeys(moment.formula for moment in reversed(history) if moment.found_by is not None)
        texts = list(newest)[:_MOST_TYPESET]
        missing = [text for text in texts if text not in self._formulas]
        if missing:
            library = run.library(run.plan(), missing)
            self._formulas |= {text: text_values(text, library) for text in missing}
        self._formulas = {text: self._formulas[text] for text in texts}
        return self._formulas

    def _open(self) -> _Opened:
        """The run and its fronts; the data are read once."""
        settled = files.state(self.folder / run_config.FILE)
        if self._run is None or self._run[0] != settled:
            self._run = settled, Run.read(self.folder, is_to_search=False)
        run = self._run[1]
        count = len(run.data.targets)
        state = (
            [files.state(front_file.path(self.folder, output)) for output in range(count)],
            files.state(self.folder / EVENTS),
        )
        if self._opened is None or self._opened[0] != state:
            found = run.found(run.plan())
            self._opened = state, _Opened(run, {output: saved.front for output, saved in found.items()})
        return self._opened[1]


def _limit(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
