"""Errors in columns at the end of a search: each formula is refitted and judged with the errors of its own slopes."""

from __future__ import annotations

from dataclasses import dataclass

from symseed import arithmetic
from symseed.language import Expression, Row
from symseed.regressor.prepare import Prepared
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import evaluate, fit_to_convergence

_STEPS = 3
"""Fits of a formula, each with the slopes of the one before: chosen by hand."""
_MOST_FITS = 20
"""Most fits in one step, each of 100 iterations: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Refitted:
    """A formula fitted with the errors that its own slopes cause."""

    row: Row
    mean_square: float
    """The mean squared error of equal likelihood, if all samples had the same errors."""
    description: float
    """Description length, with the likelihood under these errors."""


def refitted(prepared: Prepared, row: Row) -> Refitted | None:
    """Refit a formula with its own slopes; None if no column has errors, or the search used a part of the samples."""
    errors = prepared.input_errors
    if errors is None or not prepared.has_squares or prepared.is_sampled:
        return None
    writer, whole = prepared.writer, prepared.used_of_all
    found, offset = errors.weighed(whole, Expression(writer.library, row).evaluate)
    for _ in range(_STEPS):
        population = writer.population([row])
        if prepared.settings.constants:
            population = fit_to_convergence(population, found.dataset, most=_MOST_FITS)[0]
        row = population.row(0)
        found, offset = errors.weighed(whole, Expression(writer.library, row).evaluate)
    counted, population = found.dataset.counted(), writer.population([row])
    mean_square = float(counted.mean_squares(evaluate(population, counted).error)[0])
    description = float(description_lengths(population, counted)[0]) + offset
    return Refitted(row, mean_square * arithmetic.exp(2.0 * offset / len(counted)), description)
