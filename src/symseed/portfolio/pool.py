"""The formulas found so far: the best of each length, judged by description length, and the choice among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from symseed.data.dataset import Dataset
from symseed.language.expression import Expression
from symseed.language.row import Row
from symseed.language.tokens import TokenKind
from symseed.language.writer import Writer
from symseed.scoring import simple_numbers
from symseed.scoring.description import description_lengths, shortest
from symseed.scoring.evaluation import evaluate

SOLVED_NMSE = 1e-20
"""Normalised mean squared error at which a formula with few fitted constants is the answer: float64 rounding."""


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula of a front."""

    expression: Expression
    mean_square: float
    """Mean of the squared errors; for another loss, the squared error of equal loss (`data/losses.py`)."""
    description: float
    """Description length: nats of the formula and of the data given it. The smallest is the choice."""


Kept = TypeVar("Kept")


def pareto(
    items: Iterable[Kept], choice: Kept, formula_of: Callable[[Kept], Formula], *, least_gain: float = 0.0
) -> list[Kept]:
    """Return the Pareto front: of each length the shortest description, where it errs less than all shorter ones.

    Args:
        items: candidates; `formula_of` gives the formula of each.
        choice: the chosen formula, which is on the front whatever its error.
        least_gain: share of the error by which a longer formula must be better.
    """
    by_size = {len(formula_of(choice).expression): choice}
    for item in items:
        formula = formula_of(item)
        known = by_size.get(len(formula.expression))
        if known is None or (known is not choice and formula.description < formula_of(known).description):
            by_size[len(formula.expression)] = item
    front: list[Kept] = []
    least = math.inf
    for size in sorted(by_size):
        error = formula_of(by_size[size]).mean_square
        if error < least * (1.0 - least_gain) or by_size[size] is choice:
            front.append(by_size[size])
            least = min(least, error)
    return front


class Pool:
    """The best formula of each length, and the one of the shortest description."""

    def __init__(self, writer: Writer, dataset: Dataset) -> None:
        self._writer, self._dataset = writer, dataset
        self._by_length: dict[int, Formula] = {}
        self._number: Formula | None = None  # the best constant formula
        self._fallback: Formula | None = None

    def add(self, parts: Sequence[Row]) -> None:
        """Judge formulas, and keep those that are the best of their length."""
        for formula in self._judged(parts):
            size = len(formula.expression)
            known = self._by_length.get(size)
            if known is None or formula.description < known.description:
                self._by_length[size] = formula
            is_number = formula.expression.tokens[0].kind is TokenKind.CONSTANT
            if is_number and (self._number is None or formula.description < self._number.description):
                self._number = formula

    def fall_back_on(self, part: Row) -> None:
        """Set the formula that is chosen while the pool is empty; it is not on the front."""
        self._fallback = next(iter(self._judged([part])), None)

    def _judged(self, parts: Sequence[Row]) -> list[Formula]:
        if not parts:
            return []
        population = self._writer.population(parts)
        errors = self._dataset.mean_squares(evaluate(population, self._dataset).error)
        lengths = description_lengths(population, self._dataset)
        return [
            Formula(population[int(row)], float(errors[row]), float(lengths[row]))
            for row in np.flatnonzero(np.isfinite(lengths))
        ]

    @property
    def rows(self) -> tuple[Row, ...]:
        """All formulas as rows."""
        return tuple(formula.expression.row for formula in self._by_length.values())

    @property
    def number(self) -> Row:
        """The best constant formula."""
        number = self._number or self._fallback
        assert number is not None, "the mean of y was put in first"
        return number.expression.row

    @property
    def best(self) -> Formula | None:
        """The formula of the shortest description, or the constant formula where that is as good."""
        if not self._by_length:
            return self._fallback
        formulas = [*self._by_length.values(), *([] if self._number is None else [self._number])]
        lengths = [formula.description for formula in formulas]
        return formulas[shortest(lengths, [formula is self._number for formula in formulas])]

    def shortest(self, count: int) -> list[Formula]:
        """Return the `count` formulas of the shortest description."""
        return sorted(self._by_length.values(), key=lambda formula: formula.description)[:count]

    def front(self) -> tuple[Formula, ...]:
        """Return the Pareto front, with the choice on it."""
        best = self.best
        return () if best is None or not self._by_length else tuple(pareto(self._by_length.values(), best, _itself))

    @property
    def is_solved(self) -> bool:
        """Whether the choice has no error but rounding, and few fitted constants for the number of samples."""
        if self.best is None or not self._by_length:
            return False
        if self._dataset.deviation == 0.0:
            return True
        small = self.best.mean_square <= SOLVED_NMSE * self._dataset.deviation * self._dataset.deviation
        values = [value for value in self.best.expression.constants if not np.isnan(value)]
        fitted = sum(simple_numbers.cost(value) is None for value in values)
        return small and fitted <= max(1, len(self._dataset) // 4)


def _itself(formula: Formula) -> Formula:
    return formula
