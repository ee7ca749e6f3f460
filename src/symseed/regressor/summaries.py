"""A short description of a run, without its data: when it began, its targets, the selected formulas, and its state."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symseed.errors import MALFORMED, SettingsError
from symseed.regressor import front_file, run_config, settings_text
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.prepare import library_of_texts
from symseed.regressor.run_data import categories_of
from symseed.regressor.run_log import NOT_ENDED, End, RunLog


class RunState(enum.Enum):
    """States of a run; values are words for people."""

    ENDED = "ended"
    INTERRUPTED = "interrupted"
    NOT_ENDED = "not ended"
    """A process is searching, or was killed."""
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class TargetSummary:
    """One target of a run."""

    name: str
    chosen: Equation | None
    """The selected formula; None if there is none yet, or it needs a function that only Python can give."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A short description of a run."""

    folder: Path
    state: RunState
    created: str = ""
    """When it began, in ISO 8601."""
    source: str = ""
    """The table that was fitted."""
    targets: tuple[TargetSummary, ...] = ()
    problem: str = ""
    """Why the run, or a formula of it, cannot be read: a sentence."""


def summary(folder: Path) -> RunSummary:
    """Read a run's settings, events and fronts; what cannot be read is reported as damaged, never as an exception."""
    try:
        content = run_config.read(folder / run_config.FILE)
        described = content["data"]
        names = [str(name) for name in described["targets"]]
        ends = RunLog(folder).ends()
        state = _state([ends.get(output) for output in range(len(names))])
        chosen, problem = _chosen(folder, content, len(names), ends)
    except (OSError, *MALFORMED) as error:
        return RunSummary(folder, RunState.DAMAGED, problem=str(error))
    targets = tuple(TargetSummary(name, equation) for name, equation in zip(names, chosen, strict=True))
    return RunSummary(folder, state, str(content.get("created", "")), str(described["source"]), targets, problem)


def _state(ends: Sequence[End | None]) -> RunState:
    if any(end is None for end in ends):
        return RunState.NOT_ENDED
    return RunState.ENDED if all(end is not None and end.is_final for end in ends) else RunState.INTERRUPTED


def _chosen(
    folder: Path, content: Mapping[str, Any], count: int, ends: Mapping[int, End]
) -> tuple[list[Equation | None], str]:
    """The selected formula of each target, and the reason why one cannot be read."""
    given, names = content["settings"], content["data"]["names"]
    try:
        settings = run_config.settings_of(given, {}, is_to_search=False)
        plan = settings.plan().with_categories(categories_of(content["data"]))
    except SettingsError as error:
        if any(settings_text.is_function(value) for value in given.values()):
            return [None] * count, str(error)
        raise
    out: list[Equation | None] = []
    for output in range(count):
        path = front_file.path(folder, output)
        if not os.path.lexists(path):
            out.append(None)
            continue
        equations = front_file.read(path, lambda formulas: library_of_texts(plan, names, formulas))
        end = ends.get(output, NOT_ENDED)
        rows = int(content["data"]["rows"]) if end.rows is None else end.rows
        front = EquationFront(equations, end.reason, rows, end.rounding, end.noise)
        out.append(equations[front.choice(settings.model_selection)])
    return out, ""
