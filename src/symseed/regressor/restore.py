"""From formulas of a search to the front that a user sees: the user's units, simplified, judged on all samples."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symseed.arrays import Floats
from symseed.assembly.simplify import converged, simplified
from symseed.data import Dataset
from symseed.language import Expression, Row
from symseed.portfolio import Backfitting, Formula, Islands, Portfolio
from symseed.regressor.all_rows import AllRows, Judged
from symseed.regressor.front import Candidate, EquationFront
from symseed.regressor.own_errors import refitted
from symseed.regressor.prepare import Prepared
from symseed.scoring import cross_validated, description_lengths, fit_to_convergence, forms
from symseed.search import StopReason, Stream, derived
from symseed.search.budget import IsLate, in_time

_MOST_FITS = 20
"""Most fits of a formula on the front, each of 100 iterations: chosen by hand."""
_FEW = 500
"""Samples on which simple numbers are sought for all but the selected formula, as in a search: chosen by hand."""
_RESERVE = 0.05
"""Share of the time kept for the last simplification in the user's units: chosen by hand."""
_RESERVED = 0.5
"""Most seconds kept for the last simplification in the user's units: chosen by hand."""
_PASSES = 1_000
"""Passes over all samples for fitting and judging a front, if a search used a part of them: measured, rounded up."""
_MOST_RESERVE = 0.5
"""Largest share of the time that is kept for fitting and judging on all samples: chosen by hand."""
_AT_ONCE = 8
"""Formulas that are fitted to all samples of a large table together, between two looks at the time: chosen by hand."""
_MOST_NEAR = 5
"""Most formulas beside the front that are judged on all samples of a large table: chosen by hand, a bound on time."""
_SAME_VALUES = 1e-6
"""Relative difference up to which a restored formula has the values of the search's formula: chosen by hand."""


class Restorer:
    """Turns the formulas of a search into formulas in the user's units."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._writer = prepared.writer

    def reserve(self, seconds: float) -> float:
        """Return how many of the given seconds to keep for restoring a front, by the time of a pass over the data."""
        if self._prepared.is_sampled:
            started = time.monotonic()
            _mean_loss(self._prepared.whole, self._prepared.whole.y)
            return min(_MOST_RESERVE * seconds, _PASSES * (time.monotonic() - started))
        return 0.0 if self._prepared.units.are_plain else min(_RESERVE * seconds, _RESERVED)

    def front(self, portfolio: Portfolio | Islands | Backfitting, reason: StopReason, is_late: IsLate) -> EquationFront:
        """Return the front that a user sees; after Ctrl-C or when time is up, the front of the formulas judged so far.

        While the search works, formulas are judged on its own samples, and only the selected one is simplified again.
        """
        choice = portfolio.best
        assert choice is not None, "there is a front once a formula is selected"
        rows = list(dict.fromkeys([choice.expression.row, *(formula.expression.row for formula in portfolio.front())]))
        near = [] if reason is StopReason.SOLVED else [row for row in portfolio.near if row not in rows]
        near = near[:_MOST_NEAR] if self._prepared.is_sampled else near
        judge = Judge(self._prepared, [*rows, *near], is_final=reason is not StopReason.NOT_ENDED)
        candidates: list[Candidate] = []
        done = 0
        try:
            for some in ([rows[0]], *judge.together(rows[1:])):
                if candidates and judge.is_slow and is_late():
                    break
                forms = [
                    self._forms(row, is_late, is_choice=row is rows[0], is_simplified=row is rows[0] or judge.is_final)
                    for row in some
                ]
                candidates += judge.best_of(forms, is_late)
                done += len(some)
        except KeyboardInterrupt:
            if reason is StopReason.NOT_ENDED:
                raise  # It ends the search, which then judges its front again.
            # With many samples each formula takes a while. A second Ctrl-C stops at once.
            reason = StopReason.INTERRUPTED
            candidates = candidates or judge.best_of([self._forms(rows[0], is_late, is_choice=True)], is_late)
        if judge.is_slow and not is_late():
            best = min(candidates, key=lambda item: item.formula.description)
            candidates += judge.simplified(best.formula.expression.row, is_late)
        if done < len(rows) and reason is not StopReason.INTERRUPTED:
            _warn_of_time(done, len(rows), len(self._prepared.whole))
        fitting = [item for item in candidates if item.formula.expression.size <= self._prepared.plan.maxsize]
        front = EquationFront.of(
            fitting or candidates,
            reason,
            data=self._prepared.whole,
            rows=judge.count,
            noise=self._prepared.noise,
            rounding=self._prepared.scaled.rounding,
        )
        if not judge.is_final:
            return front
        return self._weighed(front, near, judge, is_late)

    def _weighed(self, front: EquationFront, near: Sequence[Row], judge: Judge, is_late: IsLate) -> EquationFront:
        """The front with weights, for which further formulas near the best are judged too while there is time."""
        library = self._writer.library
        others = [
            item
            for some in in_time(judge.together(near), is_late)
            for item in judge.best_of([self._forms(row, is_late, is_simplified=False) for row in some], is_late)
        ]
        weighed = front.weighed(
            others,
            self._prepared.whole,
            lambda formulas: forms([Expression(library, item.row) for item in formulas], self._prepared.data),
        )
        if self._prepared.plan.given.model_selection != "cv":
            return weighed
        rows = [item.expression.row for item in weighed.equations]
        seed = derived(self._prepared.seed, Stream.FOLDS, 1)
        return weighed.cross_validated(
            cross_validated(self._writer, rows, self._prepared.data, seed=seed, is_late=is_late)
        )

    def shown(self, expression: Expression) -> Expression:
        """Return a formula of the search as it will be shown, before its last simplification."""
        restored = next(self._prepared.units.restored(self._writer, expression.row))
        return Expression(self._prepared.shown_library, restored)

    def loss_of(self, shown: Expression) -> float:
        """Return a shown formula's mean loss on the samples that the search uses."""
        data, columns = self._prepared.used.given, list(self._prepared.columns)
        table = np.zeros((len(data), 1 + max(columns)))
        table[:, columns] = data.X
        return _mean_loss(data, shown.evaluate(table))

    def _forms(self, row: Row, is_late: IsLate, *, is_choice: bool = False, is_simplified: bool = True) -> Forms:
        """A formula of the search in the user's units, simplified again if the units differ and there is time."""
        prepared, library = self._prepared, self._writer.library
        wanted = Expression(library, row).evaluate(prepared.scaled.X)
        for form in prepared.units.restored(self._writer, row):
            values = Expression(library, form).evaluate(prepared.data.X)
            near = _SAME_VALUES * np.abs(wanted).max()
            if not np.allclose(values / prepared.units.target, wanted, rtol=_SAME_VALUES, atol=near):
                continue  # a value overflowed or underflowed
            forms = []
            if prepared.has_squares and not prepared.units.are_plain and not is_late():
                # A factor of 1 in the search's units is a constant in the user's units, and is not fitted yet.
                forms = [self._fitted(form)]
                if is_simplified:
                    forms.append(self._simplified(forms[0], is_late, is_choice=is_choice))
            return Forms(row, tuple(forms), (form,))
        return Forms(row, (), ())

    def _fitted(self, row: Row) -> Row:
        """A formula with its constants fitted to convergence."""
        if not self._writer.library.has_constants:
            return row
        return fit_to_convergence(self._writer.population([row]), self._prepared.data, most=_MOST_FITS)[0].row(0)

    def _simplified(self, row: Row, is_late: IsLate, *, is_choice: bool) -> Row:
        """A formula with simple numbers; except for the selected one, only a few samples suggest them, to save time."""
        data = self._prepared.data
        some = data if is_choice or len(data) <= _FEW else data.take(np.arange(_FEW) * len(data) // _FEW)
        simple = simplified(self._writer, row, some, is_late=is_late)
        return converged(self._writer, simple, data, iterations=100, is_late=is_late)


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

    def __init__(self, prepared: Prepared, rows: Sequence[Row], *, is_final: bool) -> None:
        self._prepared, self.is_final = prepared, is_final
        is_all = is_final and prepared.is_sampled and prepared.has_squares
        self._all = AllRows.of(prepared, rows) if is_all else None

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
            loss = _mean_loss(samples.given, prediction)
            share = _mean_square(data.y / unit, prediction / unit, data.weights)
            if prepared.scaled.ruler is not None:
                share = float(prepared.scaled.ruler.mean_square(np.array([_mean_loss(data, prediction)]))[0])
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
        return None if test is None else _mean_loss(test, expression.evaluate(test.X))


def _warn_of_time(done: int, count: int, rows: int) -> None:
    warnings.warn(
        f"Time was up when {done} of {count} formulas had been judged on all {rows:,} rows. The front holds only "
        "these; raise `max_time` to see the others.",
        UserWarning,
        stacklevel=10,
    )


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
