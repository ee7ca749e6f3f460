"""Formulas and turns of a run as values that JSON can hold. Axis letters: M samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.language import TokenKind
from symseed.portfolio import Moment
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.run_data import RunData
from symseed.show.figures import MOST_POINTS
from symseed.show.page import Measures
from symseed.studio.drawn import formula_values, tree_values

MOST_MOMENTS = 1_000
"""Most turns whose statistics the page gets; turns with a new formula come first. Chosen by hand."""


def described(data: RunData, target: int, equation: Equation) -> dict[str, Any]:
    """Return a formula with its errors, and its values at some of the samples."""
    dataset = data.dataset(target)
    rows = some_rows(len(dataset))
    errors = data.errors(target)
    measures = Measures.of(equation.expression, dataset)
    used = sorted({one.column for one in equation.expression.tokens if one.kind is TokenKind.VARIABLE})
    return {
        "text": equation.text,
        "mathml": formula_values(data.targets[target], equation),
        "tree": tree_values(equation.shown),
        "complexity": equation.complexity,
        "loss": equation.loss,
        "rmse": None if measures is None else measures.rmse,
        "r2": None if measures is None else measures.r2,
        "largest": None if measures is None else measures.largest,
        "rows": 0 if measures is None else measures.rows,
        "used": used,
        "measured": numbers(dataset.y[rows]),
        "spread": None if errors is None else numbers(errors[rows]),
        "predicted": numbers(equation.expression.evaluate(dataset.X[rows])),
    }


def constants_of(equation: Equation) -> dict[str, Any]:
    """Return the constants of a formula with their standard errors, and the formula for programs."""
    known = equation.uncertainty
    return {
        "constants": equation.constants,
        "values": numbers(known.values),
        "errors": numbers(known.standard_errors),
        "exports": equation.exports(),
    }


def front_rows(front: EquationFront) -> list[dict[str, Any]]:
    """Return the formulas of a front with their numbers."""
    return [
        {
            "complexity": item.complexity,
            "loss": item.loss,
            "score": item.score,
            "test_loss": item.test_loss,
            "weight": item.weight,
            "text": item.text,
            "mathml": formula_values("", item),
        }
        for item in front.equations
    ]


def some_rows(count: int) -> npt.NDArray[np.intp]:
    """Return the places of at most `MOST_POINTS` of so many samples, evenly."""
    return np.arange(0, count, max(1, -(-count // MOST_POINTS)))


def numbers(values: Floats) -> list[float | None]:
    """Return values for a plot: None where they are not finite."""
    return [value if np.isfinite(value) else None for value in values.tolist()]


def some_moments(history: Sequence[Moment]) -> Sequence[Moment]:
    """Return at most `MOST_MOMENTS` turns: those with a new formula, and others evenly between them."""
    if len(history) <= MOST_MOMENTS:
        return history
    new = {place for place, moment in enumerate(history) if moment.found_by is not None}
    step = -(-len(history) // (MOST_MOMENTS // 2))
    kept = sorted({*sorted(new)[-MOST_MOMENTS // 2 :], *range(0, len(history), step), len(history) - 1})
    return [history[place] for place in kept]


def moment_values(moment: Moment) -> dict[str, Any]:
    """Return a turn with what its searches learnt."""
    learning = [
        {
            "track": item.track,
            "sampled": None if item.learning.sampled is None else item.learning.sampled.mean,
            "evolved": None if item.learning.evolved is None else item.learning.evolved.mean,
            "entropy": item.learning.entropy,
        }
        for item in moment.learning
    ]
    return {
        "seconds": moment.seconds,
        "charged": moment.charged,
        "loss": moment.loss,
        "formula": moment.formula,
        "found_by": None if moment.found_by is None else moment.found_by.value,
        "lineage": [asdict(step) for step in moment.lineage],
        "learning": learning,
    }
