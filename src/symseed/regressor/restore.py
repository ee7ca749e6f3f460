"""Restores formulas of a search to the user's units: simplified there, judged on all samples, put on a front."""

from __future__ import annotations

import math

import numpy as np

from symseed.arrays import Floats
from symseed.assembly.simplify import simplified
from symseed.data import Dataset
from symseed.language import Expression, Row
from symseed.portfolio import Formula, Portfolio
from symseed.regressor.front import Candidate, EquationFront
from symseed.regressor.prepare import Prepared
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import fit_to_convergence
from symseed.search import StopReason
from symseed.search.budget import IsLate

_MOST_FITS = 20
"""Most fits of a formula on the front, each of 100 iterations: chosen by hand."""
_SAME_VALUES = 1e-6
"""Share by which the values of a restored formula may differ from those of the search's: chosen by hand."""


class Restorer:
    """Turns the formulas of a search into formulas in the user's units."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._writer = prepared.writer

    def front(self, portfolio: Portfolio, reason: StopReason) -> EquationFront:
        """Return the front that a user sees; after Ctrl-C, that of the formulas judged so far."""
        assert portfolio.best is not None, "there is a front once there is a choice"
        rows = [portfolio.best.expression.row, *(formula.expression.row for formula in portfolio.front())]
        candidates: list[Candidate] = []
        try:
            for row in dict.fromkeys(rows):
                candidates += self._restored(row, portfolio.is_late)
        except KeyboardInterrupt:
            # On many samples each formula takes a moment. A second Ctrl-C gives up.
            reason = StopReason.INTERRUPTED
            candidates = candidates or self._restored(rows[0], portfolio.is_late)
        fitting = [item for item in candidates if len(item.formula.expression) <= self._prepared.plan.maxsize]
        rounding = self._prepared.scaled.rounding
        return EquationFront.of(fitting or candidates, reason, rows=len(self._prepared.data), rounding=rounding)

    def shown(self, expression: Expression) -> Expression:
        """Return a formula of the search as it will be shown, before its last simplification."""
        restored = next(self._prepared.units.restored(self._writer, expression.row))
        return Expression(self._prepared.shown_library, restored)

    def loss_of(self, shown: Expression) -> float:
        """Return a shown formula's mean loss on the samples that the search uses."""
        data, columns = self._prepared.data, list(self._prepared.columns)
        table = np.zeros((len(data), 1 + max(columns)))
        table[:, columns] = data.X
        return _mean_loss(data, shown.evaluate(table))

    def _restored(self, row: Row, is_late: IsLate) -> list[Candidate]:
        """A formula of the search in the user's units, simplified again if the units differ and there is time."""
        prepared, library = self._prepared, self._writer.library
        wanted = Expression(library, row).evaluate(prepared.scaled.X)
        for form in prepared.units.restored(self._writer, row):
            values = Expression(library, form).evaluate(prepared.data.X)
            near = _SAME_VALUES * np.abs(wanted).max()
            if not np.allclose(values / prepared.units.target, wanted, rtol=_SAME_VALUES, atol=near):
                continue  # a value overflowed or underflowed
            found: list[Candidate] = []
            if prepared.has_squares and not prepared.units.are_plain and not is_late():
                # A factor of 1 in the search's units is a constant in the user's, not fitted yet.
                fitted = self._fitted(form)
                simple = simplified(self._writer, fitted, prepared.data, is_late=is_late)
                found = self._judged(fitted, row) + self._judged(simple, row)
            return found or self._judged(form, row)
        return []

    def _fitted(self, row: Row) -> Row:
        """A formula with its constants fitted to convergence."""
        if not self._writer.library.has_constants:
            return row
        return fit_to_convergence(self._writer.population([row]), self._prepared.data, most=_MOST_FITS)[0].row(0)

    def _judged(self, row: Row, searched: Row) -> list[Candidate]:
        """A formula with its loss on all samples; none if it has no value at a sample of positive weight.

        `searched` is the search's formula, for scaled data.
        """
        prepared, data, unit = self._prepared, self._prepared.whole, self._prepared.units.target
        expression = Expression(prepared.shown_library, row)
        prediction = expression.evaluate(data.X)
        counted = data.weights > 0.0
        if np.isnan(prediction[counted]).any():
            return []
        prediction = np.where(np.isnan(prediction), data.y, prediction)  # NaN only where the weight is 0
        with np.errstate(over="ignore"):
            loss = _mean_loss(data, prediction)
            share = _mean_square(data.y / unit, prediction / unit, data.weights)
            if prepared.scaled.ruler is not None:
                share = float(prepared.scaled.ruler.mean_square(np.array([loss]))[0])
        if not math.isfinite(share):
            return []
        described, judge = (row, prepared.data) if prepared.has_squares else (searched, prepared.scaled)
        description = float(description_lengths(self._writer.population([described]), judge)[0])
        return [Candidate(Formula(expression, share, description), loss)] if math.isfinite(description) else []


def _mean_loss(data: Dataset, prediction: Floats) -> float:
    """The weighted mean loss, in the data's own units."""
    if data.loss is None:
        with np.errstate(over="ignore"):
            return _mean_square(data.y, prediction, data.weights)
    return float(np.average(data.loss.scaled.native.values(data.y, prediction), weights=data.weights))


def _mean_square(y: Floats, prediction: Floats, weights: Floats) -> float:
    """The mean squared error, equal to scikit-learn's `mean_squared_error` to the last bit."""
    is_even = bool((weights == 1.0).all())
    return float(np.average((y - prediction) ** 2, weights=None if is_even else weights))
