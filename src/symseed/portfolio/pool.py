"""The formulas found so far: the best of each size, judged by description length, and the selected one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from symseed.data.dataset import Dataset
from symseed.errors import DataError
from symseed.language.expression import Expression
from symseed.language.row import Row
from symseed.language.tokens import TokenKind
from symseed.language.writer import Writer
from symseed.portfolio.near import Near
from symseed.scoring import simple_numbers
from symseed.scoring.certainty import is_certain
from symseed.scoring.description import description_lengths, evidence, shortest
from symseed.scoring.evaluation import evaluate

SOLVED_NMSE = 1e-20
"""Normalised mean squared error at which a formula with few fitted constants is the answer: float64 rounding."""

NOTED_EVIDENCE = 3.0
"""Nats by which a formula that was only noted must be shorter than those that were added: odds of twenty to one."""

LARGEST_TARGET = 1e140
"""Largest value of y, and one over the smallest spread of y: squares of errors must be finite and not 0."""


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula of a front."""

    expression: Expression
    mean_square: float
    """Mean of the squared errors; for another loss, the squared error of equal loss (`data/losses.py`)."""
    description: float
    """Description length: nats of the formula and of the data given it. The formula with the smallest is selected."""


Kept = TypeVar("Kept")


def pareto(
    items: Iterable[Kept], choice: Kept, formula_of: Callable[[Kept], Formula], *, least_gain: float = 0.0
) -> list[Kept]:
    """Return the Pareto front: for each size the shortest description, if it errs less than all smaller formulas.

    Args:
        items: candidates; `formula_of` gives the formula of each.
        choice: the selected formula, which is on the front whatever its error.
        least_gain: share of the error by which a larger formula must be better.
    """
    by_size: dict[int, list[Kept]] = {}
    for item in items:
        by_size.setdefault(formula_of(item).expression.size, []).append(item)
    by_size[formula_of(choice).expression.size] = [choice]
    front: list[Kept] = []
    least = math.inf
    for size in sorted(by_size):
        limit = least * (1.0 - least_gain)
        better = [item for item in by_size[size] if item is choice or formula_of(item).mean_square < limit]
        if better:
            best = min(better, key=lambda item: formula_of(item).description)
            front.append(best)
            least = min(least, formula_of(best).mean_square)
    return front


def judged(writer: Writer, rows: Sequence[Row], dataset: Dataset) -> list[Formula]:
    """Return formulas with their errors and description lengths on some data; those without a value are left out."""
    if not rows:
        return []
    population = writer.population(rows)
    errors = dataset.mean_squares(evaluate(population, dataset).error)
    lengths = description_lengths(population, dataset)
    return [
        Formula(population[int(row)], float(errors[row]), float(lengths[row]))
        for row in np.flatnonzero(np.isfinite(lengths))
    ]


class Pool:
    """The best formulas of each size, and the one of the shortest description.

    Formulas that are added are material for assembly too. Formulas that are only noted are not: they fill the front.
    One of all these formulas is selected.
    """

    def __init__(self, writer: Writer, dataset: Dataset) -> None:
        self._writer, self._dataset = writer, dataset
        self.near = Near(dataset.rounding)
        """The formulas of the shortest descriptions, of whatever size."""
        self._by_size: dict[int, Formula] = {}
        self._noted = _OfEachSize()
        self._number: Formula | None = None  # the best constant formula
        self._fallback: Formula | None = None
        self._certain: tuple[Formula, bool] | None = None  # the last answer, which takes a linearisation

    def add(self, parts: Sequence[Row]) -> None:
        """Judge formulas, and keep those that are the best of their size."""
        formulas = judged(self._writer, parts, self._dataset)
        self.near.add(formulas)
        for formula in formulas:
            size = formula.expression.size
            known = self._by_size.get(size)
            if known is None or formula.description < known.description:
                self._by_size[size] = formula
            is_number = formula.expression.tokens[0].kind is TokenKind.CONSTANT
            if is_number and (self._number is None or formula.description < self._number.description):
                self._number = formula

    def note(self, formulas: Iterable[Formula]) -> None:
        """Keep formulas that were judged on these data for the front, if they are the best of their size.

        Formulas with a part that holds only constants are left out, since a number says the same. So are formulas with
        a constant too small for the data, which has no effect or replaces something else.
        """
        least = 1.0 / self._dataset.largest_constant
        noted = [
            formula
            for formula in formulas
            if not _has_constant_part(formula.expression)
            and not any(0.0 < abs(value) < least for value in formula.expression.constants)
        ]
        self._noted.add(noted)
        self.near.add(noted)

    def replace(self, noted: Formula, formulas: Sequence[Formula]) -> None:
        """Replace a noted formula by others, even if they are worse."""
        self._noted.remove(noted)
        self.note(formulas)

    def fall_back_on(self, part: Row) -> None:
        """Set the formula that is selected while the pool is empty; it is not on the front."""
        self._fallback = next(iter(judged(self._writer, [part], self._dataset)), None)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All formulas that were added, as rows."""
        return tuple(formula.expression.row for formula in self._by_size.values())

    @property
    def noted(self) -> tuple[Row, ...]:
        """All formulas that were only noted, as rows."""
        return self._noted.rows

    @property
    def number(self) -> Row:
        """The best constant formula."""
        number = self._number or self._fallback
        assert number is not None, "the mean of y was added first"
        return number.expression.row

    @property
    def best(self) -> Formula | None:
        """The formula of the shortest description, or the constant formula if that is as good.

        A formula that was only noted must be shorter by `NOTED_EVIDENCE`, and is never selected over one without an
        error.
        """
        noted = min(self._noted.formulas, key=_by_description, default=None)
        formulas = list(self._by_size.values())
        if not formulas:
            return self._fallback if noted is None else noted
        if self._number is not None:
            formulas.append(self._number)
        lengths = [formula.description for formula in formulas]
        best = formulas[shortest(lengths, [evidence(formula.expression) for formula in formulas])]
        if noted is None or self._is_exact(best) or noted.description >= best.description - NOTED_EVIDENCE:
            return best
        return noted

    def shortest(self, count: int) -> list[Formula]:
        """Return the `count` formulas of the shortest description among those that were added."""
        return sorted(self._by_size.values(), key=lambda formula: formula.description)[:count]

    def front(self) -> tuple[Formula, ...]:
        """Return the Pareto front, with the selected formula on it.

        Formulas with a larger error than a constant are left out, and so are noted formulas that are shorter than the
        selected one without enough evidence.
        """
        best, number = self.best, self._number
        if best is None or not self._all:
            return ()
        longer = (formula for formula in self._noted.formulas if formula.description >= best.description)
        formulas = [*self._by_size.values(), *longer]
        useful = [formula for formula in formulas if number is None or formula.mean_square < number.mean_square]
        return tuple(pareto([*useful, *([] if number is None else [number])], best, _itself))

    def noted_on_front(self) -> list[Formula]:
        """Return the formulas of the front that were only noted; the best constant formula is not one of them."""
        added, noted = self._by_size.values(), self._noted.formulas
        return [formula for formula in self.front() if formula in noted and formula not in added]

    @property
    def _all(self) -> list[Formula]:
        return [*self._by_size.values(), *self._noted.formulas]

    @property
    def is_exact(self) -> bool:
        """Whether the selected formula fits to rounding, with few fitted constants for the number of samples."""
        best = self.best
        return best is not None and bool(self._all) and self._is_exact(best)

    @property
    def is_solved(self) -> bool:
        """Whether the selected formula is exact, and certainly a law (`scoring/certainty.py`)."""
        best = self.best
        if best is None or not self.is_exact:
            return False
        if self._certain is None or self._certain[0] is not best:
            self._certain = best, self._is_certain(best)
        return self._certain[1]

    def _is_certain(self, formula: Formula) -> bool:
        if self._dataset.deviation == 0.0:
            return True
        population = self._writer.population([formula.expression.row])
        return is_certain(
            population, 0, self._dataset, mean_square=formula.mean_square, description=formula.description
        )

    def _is_exact(self, formula: Formula) -> bool:
        if self._dataset.deviation == 0.0:
            return True
        small = formula.mean_square <= SOLVED_NMSE * self._dataset.deviation * self._dataset.deviation
        values = [value for value in formula.expression.constants if not np.isnan(value)]
        fitted = sum(simple_numbers.cost(value) is None for value in values)
        return small and fitted <= max(1, len(self._dataset) // 4)


def _itself(formula: Formula) -> Formula:
    return formula


def best_of_each_size(formulas: Iterable[Formula]) -> tuple[Row, ...]:
    """Return, for each size, the formula of the shortest description and the formula of the smallest error."""
    best = _OfEachSize()
    best.add(formulas)
    return best.rows


class _OfEachSize:
    """Keeps, for each size, the formula of the shortest description and the formula of the smallest error."""

    def __init__(self) -> None:
        self._shortest: dict[int, Formula] = {}
        self._nearest: dict[int, Formula] = {}

    def add(self, formulas: Iterable[Formula]) -> None:
        for formula in formulas:
            for known, rank in ((self._shortest, _by_description), (self._nearest, _by_error)):
                size = formula.expression.size
                if size not in known or rank(formula) < rank(known[size]):
                    known[size] = formula

    def remove(self, formula: Formula) -> None:
        for known in (self._shortest, self._nearest):
            if known.get(formula.expression.size) == formula:
                del known[formula.expression.size]

    @property
    def formulas(self) -> list[Formula]:
        return [*self._shortest.values(), *self._nearest.values()]

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(dict.fromkeys(formula.expression.row for formula in self.formulas))


def _has_constant_part(expression: Expression) -> bool:
    """Whether an operator has arguments that are all numbers."""
    is_number = [token.arity == 0 and token.kind is not TokenKind.VARIABLE for token in expression.tokens]
    return any(
        token.arity > 0 and all(is_number[place + 1 : place + 1 + token.arity])
        for place, token in enumerate(expression.tokens)
    )


def _by_description(formula: Formula) -> tuple[object, ...]:
    return formula.description, formula.mean_square, *_order(formula)


def _by_error(formula: Formula) -> tuple[object, ...]:
    return formula.mean_square, formula.description, *_order(formula)


def _order(formula: Formula) -> tuple[object, ...]:
    """Order formulas of equal values, so that what is kept does not depend on the order in which they are added."""
    row = formula.expression.row
    return row.ids, tuple(value for value in row.constants if not math.isnan(value))


def check_target(dataset: Dataset) -> None:
    """Refuse a target whose squares are not numbers."""
    largest = float(np.abs(dataset.y).max())
    if largest > LARGEST_TARGET or 0.0 < dataset.deviation < 1.0 / LARGEST_TARGET:
        raise DataError(
            f"`y` must be at most {LARGEST_TARGET:g} and spread by at least {1.0 / LARGEST_TARGET:g}, so that "
            f"squares are numbers, but it goes up to {largest:g} and spreads by {dataset.deviation:g}. Scale it."
        )
