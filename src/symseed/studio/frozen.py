"""The page of a run without a server: what its script would ask for is part of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from symseed import files
from symseed.errors import DataError
from symseed.show.page import Frozen
from symseed.studio import assets, explore
from symseed.studio.reading import RunReader

_PATH = "/api/runs/report"
_DIGITS = 6
"""Significant digits of numbers, which are drawn or shown with fewer: chosen by hand."""
_MOST_COLUMNS = 20
"""Most columns that residuals can be drawn against, beside those of the formulas: chosen by hand."""
_EVERY = 3
"""Of the points of a curve, every so many stand in a report: chosen by hand, for its size."""


def frozen(folder: Path, target: int) -> Frozen:
    """Return the page of one target of a run as it is now.

    Raises:
        DataError: if the run is damaged, or has no front yet.
    """
    reader = RunReader(folder)
    run, fronts = reader.opened()
    if target not in fronts:
        raise DataError(f"`{folder}` must have a first front to report. Try again when the search has written one.")
    values = json.loads(reader.values())
    if values["problem"]:
        raise DataError(values["problem"])
    values["targets"] = [values["targets"][target]]
    answers: dict[str, Any] = {_PATH: values}
    columns = set(range(min(_MOST_COLUMNS, len(run.data.names))))
    for index in range(len(fronts[target].equations)):
        formula = reader.formula(target, index)
        answers[f"{_PATH}/formula?target=0&index={index}"] = formula
        answers[f"{_PATH}/learnt?target=0&index={index}"] = reader.learnt(target, index)
        columns |= set(formula["used"])
        for column in formula["used"] or [0]:
            asked = {"index": index, "constants": formula["values"], "column": column, "has_band": True}
            if None in formula["values"]:
                continue
            curve = explore.curve(run, fronts, target, asked)
            thinned = {name: curve[name][::_EVERY] for name in ("x", "y", "low", "high")}
            answers[f"{_PATH}/curve?target=0&index={index}&column={column}"] = {**thinned, "range": curve["range"]}
    for column in sorted(columns):
        answers[f"{_PATH}/column?target=0&column={column}"] = reader.column(target, column)
    return Frozen(assets.frozen_script(), assets.content("studio.css").decode(), files.json_text(_rounded(answers)))


def _rounded(value: Any) -> Any:
    """Values with their numbers rounded."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, (list, tuple)) else value
