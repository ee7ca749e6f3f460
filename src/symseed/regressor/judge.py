"""Judges formulas in the user's units: on all samples at the end of a search, on the search's while it works."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symseed.arrays import Floats
from symseed.data import Dataset
from symseed.language import Expression, Row
from symseed.portfolio import Formula
from symseed.regressor.all_rows import AllRows, Judged
from symseed.regressor.front import Candidate
from symseed.regressor.own_errors import refitted
from symseed.regressor.prepare import Prepared
from symseed.scoring import description_lengths
from symseed.search.budget import IsLate

_AT_ONCE = 8
"""Formulas that are fitted to all samples of a large table together, between two looks at the time: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Forms:
    """A formula of a search, and ways to write it in the user's units."""

    searched: Row
    """The search's formula, for scaled data."""
    better: tuple[Row, ...]
    plain: tuple[Row, ...]
    """What is judged if none of the better forms has a value at every sample."""


class Judge:
    """Judges formulas in the user's units: on all samples at the end, on the search's while it works."""

    def __init__(self, prepared: Prepared, all_rows: AllRows | None, *, is_final: bool) -> None:
        """Take the data, and all samples of a large table if they are to be judged on."""
        self._prepared, self._all, self.is_final = prepared, all_rows, is_final

    @property
    def is_slow(self) -> bool:
        """Whether there are so many samples that judging a formula takes a while."""
        return self._all is not None

    @property
    def count(self) -> int:
        """Number of samples that description lengths count."""
        return len(self._prepared.data if self._all is None else self._all.samples)

    def together(self, rows: Sequence[Row]) -> list[Sequence[Row]]:
        """Return which formulas are judged together, in passes over all samples, before the time is looked at again."""
        size = _AT_ONCE if self.is_slow else 1
        return [rows[begin : begin + size] for begin in range(0, len(rows), size)]

    def best_of(self, formulas: Sequence[Forms], is_late: IsLate) -> list[Candidate]:
        """Return the better forms of formulas, or the plain ones, with their losses."""
        out: list[list[Candidate]] = [[] for _ in formulas]
        for chosen in ("better", "plain"):
            open_ = [place for place, found in enumerate(out) if not found]
            pairs = [(form, place) for place in open_ for form in getattr(formulas[place], chosen)]
            rows = [form for form, _ in pairs]
            fitted = rows if self._all is None or not rows else self._all.fitted(rows, is_late)
            searched = [formulas[place].searched for _, place in pairs]
            for (_, place), found in zip(pairs, self._candidates(fitted, searched), strict=True):
                out[place] += found
        return [item for found in out for item in found]

    def simplified(self, row: Row, is_late: IsLate) -> list[Candidate]:
        """Return a formula, fitted to all samples, with the simple numbers that all samples allow."""
        assert self._all is not None
        (found,) = self._candidates([self._all.simplified(row, is_late)], [row])
        return found

    def _candidates(self, rows: Sequence[Row], searched: Sequence[Row]) -> list[list[Candidate]]:
        """Each formula with its losses; none if it has no value at a sample of positive weight."""
        if self._all is not None:
            return [self._judged(one) for one in (self._all.judged(rows) if rows else ())]
        return [self._in_memory(*pair) for pair in zip(rows, searched, strict=True)]

    def _judged(self, found: Judged) -> list[Candidate]:
        """A formula that was judged on all samples of a large table."""
        unit, ruler = self._prepared.units.target, self._prepared.scaled.ruler
        share = found.mean / unit / unit if ruler is None else float(ruler.mean_square(np.array([found.mean]))[0])
        return self._candidate(found.row, found.loss, share, found.description)

    def _in_memory(self, row: Row, searched: Row) -> list[Candidate]:
        """A formula on samples that the search used, or on all if squares of them overflow."""
        own = refitted(self._prepared, row) if self.is_final else None
        row = row if own is None else own.row
        prepared, unit = self._prepared, self._prepared.units.target
        samples = prepared.all
        if prepared.is_sampled and not self.is_final:
            samples = prepared.used
            prediction = Expression(prepared.writer.library, row).evaluate(samples.data.X)
        else:
            prediction = Expression(prepared.shown_library, row).evaluate(samples.data.X)
        data = samples.data
        counted = data.weights > 0.0
        if np.isnan(prediction[counted]).any():
            return []
        prediction = np.where(np.isnan(prediction), data.y, prediction)  # NaN only where the weight is 0
        with np.errstate(over="ignore"):
            loss = mean_loss(samples.given, prediction)
            share = _mean_square(data.y / unit, prediction / unit, data.weights)
            if prepared.scaled.ruler is not None:
                share = float(prepared.scaled.ruler.mean_square(np.array([mean_loss(data, prediction)]))[0])
        if own is not None:
            return self._candidate(row, loss, own.mean_square / (unit * unit), own.description)
        described, on = (row, prepared.data) if prepared.has_squares else (searched, prepared.scaled)
        length = description_lengths(prepared.writer.population([described]), on)[0]
        return self._candidate(row, loss, share, float(length))

    def _candidate(self, row: Row, loss: float, share: float, description: float) -> list[Candidate]:
        """A formula with its losses; none if they are not finite."""
        if not (math.isfinite(share) and math.isfinite(description)):
            return []
        expression = Expression(self._prepared.shown_library, row)
        return [Candidate(Formula(expression, share, description), loss, self._test_loss(expression))]

    def _test_loss(self, expression: Expression) -> float | None:
        """The mean loss on the samples that are held out; NaN if the formula has no value at one of them."""
        test = self._prepared.test
        return None if test is None else mean_loss(test, expression.evaluate(test.X))


def mean_loss(data: Dataset, prediction: Floats) -> float:
    """Return the weighted mean loss, in the data's own units."""
    if data.loss is None:
        with np.errstate(over="ignore"):
            return _mean_square(data.y, prediction, data.weights)
    return float(np.average(data.loss.scaled.native.values(data.y, prediction), weights=data.weights))


def _mean_square(y: Floats, prediction: Floats, weights: Floats) -> float:
    """The mean squared error, equal to scikit-learn's `mean_squared_error` to the last bit."""
    is_even = bool((weights == 1.0).all())
    return float(np.average((y - prediction) ** 2, weights=None if is_even else weights))
