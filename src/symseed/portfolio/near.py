"""Formulas near the best: those of the shortest descriptions found so far, for weights and alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from symseed.language.row import Row

if TYPE_CHECKING:
    from symseed.portfolio.pool import Formula

REACH = 10.0
"""Nats above the shortest description within which formulas are kept: odds of 22,000 to one."""
MOST = 50
"""Most formulas that are kept: chosen by hand."""
_DIGITS = 7
"""Digits of the error by which formulas count as the same function: the precision of a fit of constants."""


class Near:
    """Keeps the formulas whose description is at most `REACH` longer than the shortest, at most `MOST` of them.

    Formulas whose errors agree to `_DIGITS` digits count as one function, of which the shortest is kept.
    """

    def __init__(self, rounding: float) -> None:
        """Begin with none; `rounding` is the mean squared error that is due to rounding."""
        self._rounding = rounding
        self._by_error: dict[str, Formula] = {}
        self._limit = math.inf  # descriptions above it are not kept

    def add(self, formulas: Iterable[Formula]) -> None:
        """Keep formulas that are among the shortest."""
        found = [formula for formula in formulas if formula.description <= self._limit]
        for formula in found:
            error = f"{formula.mean_square + self._rounding:.{_DIGITS}g}"
            known = self._by_error.get(error)
            if known is None or _rank(formula) < _rank(known):
                self._by_error[error] = formula
        if found:
            self._cut()

    def _cut(self) -> None:
        ranked = sorted(self._by_error.items(), key=lambda item: _rank(item[1]))[:MOST]
        least = ranked[0][1].description
        self._by_error = {error: formula for error, formula in ranked if formula.description <= least + REACH}
        last = ranked[-1][1].description
        self._limit = min(least + REACH, last if len(ranked) == MOST else math.inf)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The formulas as rows, those of the shortest description first."""
        return tuple(formula.expression.row for formula in self._by_error.values())


def _rank(formula: Formula) -> tuple[object, ...]:
    """Order formulas of equal length too, so that what is kept does not depend on the order in which they are added."""
    row = formula.expression.row
    return formula.description, len(row), row.ids, tuple(value for value in row.constants if not math.isnan(value))
