"""From formulas of a search to the front that a user sees: the user's units, simplified, judged on all samples."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np

from symseed.assembly.simplify import converged, simplified
from symseed.errors import DataError
from symseed.language import Expression, Row
from symseed.portfolio import Backfitting, Islands, Portfolio
from symseed.regressor.all_rows import AllRows
from symseed.regressor.front import Candidate, EquationFront
from symseed.regressor.judge import Forms, Judge, mean_loss
from symseed.regressor.prepare import Prepared
from symseed.scoring import cross_validated, fit_to_convergence, forms
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
_STREAMED = 60
"""The same for a table that is read in blocks, of which a pass takes as long as the first one: measured, rounded up."""
_MOST_RESERVE = 0.5
"""Largest share of the time that is kept for fitting and judging on all samples: chosen by hand."""
_MOST_NEAR = 5
"""Most formulas beside the front that are judged on all samples of a large table: chosen by hand, a bound on time."""
_SAME_VALUES = 1e-6
"""Relative difference up to which a restored formula has the values of the search's formula: chosen by hand."""


class Restorer:
    """Turns the formulas of a search into formulas in the user's units."""

    def __init__(self, prepared: Prepared, executor: Executor | None = None) -> None:
        """Take the prepared data; `executor` has the workers that read a large table, None: this process does."""
        self._prepared, self._executor = prepared, executor
        self._writer = prepared.writer
        self._is_cut_off = False  # from the rows of a large table

    def reserve(self, seconds: float) -> float:
        """Return how many of the given seconds to keep for restoring a front, by the time of a pass over the data."""
        if self._prepared.all.large is not None:
            return min(_MOST_RESERVE * seconds, _STREAMED * self._prepared.all.large.seconds)
        if self._prepared.is_sampled:
            started = time.monotonic()
            mean_loss(self._prepared.whole, self._prepared.whole.y)
            return min(_MOST_RESERVE * seconds, _PASSES * (time.monotonic() - started))
        return 0.0 if self._prepared.units.are_plain else min(_RESERVE * seconds, _RESERVED)

    def front(self, portfolio: Portfolio | Islands | Backfitting, reason: StopReason, is_late: IsLate) -> EquationFront:
        """Return the front that a user sees; after Ctrl-C or when time is up, the front of the formulas judged so far.

        While the search works, formulas are judged on its own samples, and only the selected one is simplified again.
        If a large table cannot be read any more, they are judged on the samples of the search too.
        """
        try:
            return self._front(portfolio, reason, is_late)
        except DataError as error:
            if self._prepared.all.large is None or self._is_cut_off:
                raise
            self._is_cut_off = True
            warnings.warn(
                f"{error} The formulas are fitted and judged on the {len(self._prepared.whole):,} rows that the search "
                "used; `resume` judges them on all rows once these can be read.",
                RuntimeWarning,
                stacklevel=9,
            )
            return self._front(portfolio, StopReason.UNREAD, is_late)

    def _front(
        self, portfolio: Portfolio | Islands | Backfitting, reason: StopReason, is_late: IsLate
    ) -> EquationFront:
        choice = portfolio.best
        assert choice is not None, "there is a front once a formula is selected"
        rows = list(dict.fromkeys([choice.expression.row, *(formula.expression.row for formula in portfolio.front())]))
        near = [] if reason is StopReason.SOLVED else [row for row in portfolio.near if row not in rows]
        near = near[:_MOST_NEAR] if self._prepared.is_sampled else near
        judge = self._judge([*rows, *near], is_final=reason is not StopReason.NOT_ENDED)
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
            _warn_of_time(done, len(rows), len(self._prepared.all))
        fitting = [item for item in candidates if item.formula.expression.size <= self._prepared.plan.maxsize]
        front = EquationFront.of(
            fitting or candidates,
            reason,
            data=self._prepared.shown_data,
            samples=len(self._prepared.all),
            rows=judge.count,
            noise=self._prepared.noise,
            rounding=self._prepared.scaled.rounding,
        )
        if not judge.is_final:
            return front
        return self._weighed(front, near, judge, is_late)

    def _judge(self, rows: Sequence[Row], *, is_final: bool) -> Judge:
        prepared = self._prepared
        is_all = is_final and prepared.is_sampled and prepared.has_squares and not self._is_cut_off
        return Judge(prepared, AllRows.of(prepared, rows, self._executor) if is_all else None, is_final=is_final)

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
            lambda formulas: forms([Expression(library, item.row) for item in formulas], self._prepared.data),
            data=self._prepared.shown_data,
            samples=len(self._prepared.all),
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
        return mean_loss(data, shown.evaluate(table))

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


def _warn_of_time(done: int, count: int, rows: int) -> None:
    warnings.warn(
        f"Time was up when {done} of {count} formulas had been judged on all {rows:,} rows. The front holds only "
        "these; raise `max_time` to see the others.",
        UserWarning,
        stacklevel=10,
    )
