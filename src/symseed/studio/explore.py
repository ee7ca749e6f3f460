"""What a user tries beside a search: formulas of their own, other values of constants, and curves along one column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symseed.arrays import Floats
from symseed.data import ADDITIVE
from symseed.errors import DataError, SettingsError
from symseed.export import to_text
from symseed.language import Expression, Row
from symseed.portfolio import Formula
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.run import Run
from symseed.regressor.run_log import NOT_ENDED
from symseed.scoring import Failure, Uncertainty, typed
from symseed.studio.views import constants_of, described, numbers, some_rows

MOST_CONSTANTS = 20
"""Most constants of a formula that is fitted here, whose time grows by the square of their number: chosen by hand."""
_LONGEST = 2_000
"""Most characters of a formula that is typed: chosen by hand."""
_RESTARTS = 20
"""Random starts of a fit, as in `symseed evaluate`."""
_MOST_POINTS = 240
"""Points of a curve: chosen by hand."""
_BEYOND = 0.25
"""Share of a column's range that a curve goes beyond it on each side: chosen by hand."""
_LEVEL = 0.95
"""Share of new measurements within the band around a curve."""


def tried(run: Run, target: int, text: Any) -> dict[str, Any]:
    """Return a formula that was typed, with its constants fitted by least squares.

    Raises:
        ParseError: if the text is no formula.
        DataError: if it has no finite value at some sample.
    """
    (expression,) = typed.read([_checked(text)], run.data.names)
    if len(expression.constant_places) > MOST_CONSTANTS:
        raise SettingsError(f"A formula must have at most {MOST_CONSTANTS} constants to fit on this page.")
    sample, samples = run.data.sample(target)
    population, errors = typed.fitted([expression], sample, _RESTARTS)
    failure = Failure(errors.failure[0])
    if failure is not Failure.NONE:
        raise DataError(f"The formula cannot be fitted: {failure.sentence}.")
    expression = population[0]
    loss = float(sample.mean_squares(errors.error)[0])
    shown = to_text(expression, run.data.dataset(target))
    equation = Equation(Formula(expression, loss, math.nan), loss=loss, score=0.0, text=shown)
    front = EquationFront((equation,), NOT_ENDED.reason, len(sample), 0.0).determined_by(sample, samples)
    (equation,) = front.equations
    return described(run.data, target, equation) | constants_of(equation) | {"typed": text, "remarks": []}


def curve(run: Run, fronts: Mapping[int, EquationFront], target: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a formula along one column while the others stand still, and at the samples.

    Args:
        run: the run.
        fronts: its fronts.
        target: place of the target.
        asked: `index` of a formula on the front, or its text as `typed`; values of its `constants`; the `column`; and
            `at`, values of other columns by their places as texts, by default the medians; `has_band`, whether the
            constants are as they were fitted, so that an interval can be given.

    Raises:
        SettingsError: if something of it is missing or of another kind.
        DataError: if there is no such column or formula.
    """
    try:
        column, at = int(asked["column"]), {int(place): float(value) for place, value in asked.get("at", {}).items()}
        constants = [float(value) for value in asked["constants"]]
        text, index = asked.get("typed"), int(asked.get("index", -1))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"A curve must have column and constants: {error!r}.") from None
    data = run.data
    if any(not 0 <= place < len(data.names) for place in (column, *at)):
        raise DataError("The data have no such column.")
    if isinstance(text, str):
        (expression,) = typed.read([_checked(text)], data.names)
    elif target in fronts and 0 <= index < len(fronts[target].equations):
        expression = fronts[target].equations[index].expression
    else:
        raise DataError("The front has no such formula any more. Load the page again.")
    expression = _with(expression, constants)
    dataset = data.dataset(target)
    rows = some_rows(len(dataset))
    X = dataset.X[rows]
    places = _along(X[:, column])
    # A median of two could overflow; a value of the data does not.
    grid = np.tile(np.quantile(X, 0.5, axis=0, method="lower"), (len(places), 1))
    for place, value in at.items():
        grid[:, place] = value
    grid[:, column] = places
    return {
        "x": numbers(places),
        "y": numbers(expression.evaluate(grid)),
        "at": numbers(grid[0]) if len(data.names) <= MOST_CONSTANTS else {},
        "predicted": numbers(expression.evaluate(X)),
        "range": [float(X[:, column].min()), float(X[:, column].max())],
        **(_band(run, fronts, target, expression, grid) if asked.get("has_band") is True else {}),
    }


def _band(
    run: Run, fronts: Mapping[int, EquationFront], target: int, expression: Expression, grid: Floats
) -> dict[str, Any]:
    """Where 95 % of new measurements lie, if the form of the formula is right."""
    noise = fronts[target].noise if target in fronts else ADDITIVE
    known = Uncertainty.of(expression, *run.data.sample(target), noise)
    values, width = expression.evaluate(grid), known.quantile(_LEVEL) * known.deviation(grid)
    return {"low": numbers(values - width), "high": numbers(values + width)}


def _with(expression: Expression, values: Sequence[float]) -> Expression:
    """The formula with other values of its constants."""
    places = expression.constant_places
    if len(values) != len(places) or not all(map(math.isfinite, values)):
        raise SettingsError(f"The formula has {len(places)} constants, which must be finite numbers.")
    row: Row = expression.row
    for place, value in zip(places, values, strict=True):
        row = row.with_constant(place, value)
    return replace(expression, row=row)


def _along(values: Floats) -> Floats:
    """Places from below the least to above the largest value."""
    low, high = float(values.min()), float(values.max())
    room = _BEYOND * (high - low)
    room = room if math.isfinite(room) else 0.0
    share = np.linspace(0.0, 1.0, _MOST_POINTS)
    return (low - room) * (1.0 - share) + (high + room) * share


def _checked(text: Any) -> str:
    if not isinstance(text, str) or not 0 < len(text) <= _LONGEST:
        raise SettingsError(f"A formula must be a text of at most {_LONGEST:,} characters.")
    return text
