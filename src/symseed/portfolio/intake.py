"""Intake of formulas: each is fitted, simplified and judged by its description length; the best are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symseed.assembly import converged, first_laws, fitted, refitted, simplified
from symseed.data import Dataset
from symseed.language import Population, Row, Writer
from symseed.portfolio.pool import Pool, judged
from symseed.portfolio.progress import Stage
from symseed.portfolio.record import TurnRecord
from symseed.scoring.description import description_lengths
from symseed.search import Part
from symseed.search.budget import Timer, in_time
from symseed.space import Constraint, SearchSpace

_SAME_LENGTH = 1e-6
"""Nats by which two descriptions may differ and count as equally long: rounding."""
_FITTED_AT_ONCE = 16
"""Formulas that are fitted between two looks at the clock: chosen by hand."""


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    """Which formulas are taken in, and what is done with them."""

    longest: int
    """Largest size of a formula that is taken in."""
    longest_known: int
    """Most tokens of a formula that the user gave to begin with."""
    constraints: tuple[Constraint, ...]
    """Constraints that every formula must meet."""
    reduced: int
    """Number of formulas simplified per call of `take`: those of the shortest description."""
    simple_numbers: bool
    """Whether constants are replaced by simple numbers where the data cannot distinguish the two."""
    constants: bool
    """Whether formulas may hold fitted constants; if not, they are kept as they were found."""
    is_allowed: Callable[[Row], bool] | None = None
    """Whether a formula may be taken in, beside the constraints; None: every one."""


class Intake:
    """Takes formulas in from searches and from assembly, as long as there is time."""

    def __init__(
        self,
        writer: Writer,
        dataset: Dataset,
        timer: Timer,
        record: TurnRecord,
        settings: IntakeSettings,
        *,
        sample: Dataset,
        begins: Callable[[Stage], None],
    ) -> None:
        """Begin with an empty pool.

        Args:
            record: records what each formula becomes.
            sample: some of the samples, on which simple numbers for the front are sought.
            begins: called before a step that takes time.
        """
        self.pool = Pool(writer, dataset)
        self.charged = 0
        """Number of formulas taken in, which count against the budget."""
        self._writer, self._dataset, self._sample, self._timer = writer, dataset, sample, timer
        self._record, self._settings, self._begins = record, settings, begins
        longest = max(settings.longest, settings.longest_known)
        self._legal = SearchSpace(writer.library, 1, longest, settings.constraints) if settings.constraints else None

    def begin(self) -> None:
        """Record the formulas that need no search."""
        if self._dataset.deviation == 0.0 or not self._settings.constants:
            return
        laws = first_laws(self._writer, self._dataset, longest=self._settings.longest)
        if laws:
            fitted_laws = self._fitted(self._writer.population(self._record.found(laws, Part.ASSEMBLY))).rows
            for law, row in zip(laws, fitted_laws, strict=True):
                self._record.became(law, row)
            self.note(fitted_laws)

    def take(self, rows: Sequence[Row]) -> None:
        """Fit formulas, and simplify and keep those of the shortest description."""
        short = self._short(rows)
        if short:
            self.charged += len(short)
            self._begins(Stage.SIMPLIFYING)
            self._keep_simplified(self._shortest(short))

    def possible(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that the constraints allow; rows of a search meet them already, others may not."""
        is_allowed = self._settings.is_allowed
        rows = [row for row in rows if is_allowed is None or is_allowed(row)]
        if self._legal is None or not rows:
            return rows
        legal = self._legal.violations(self._writer.population(rows)) == -1
        return [row for row, is_legal in zip(rows, legal, strict=True) if is_legal]

    def _short(self, rows: Sequence[Row]) -> list[Row]:
        """The different rows that are not too large, and that the constraints allow."""
        size = self._writer.library.size
        return self.possible([row for row in dict.fromkeys(rows) if size(row.ids) <= self._settings.longest])

    def keep(self, rows: Sequence[Row]) -> None:
        """Judge formulas as they are, and keep those that are the best of their size."""
        self.pool.add(self.possible(rows))

    def note(self, rows: Sequence[Row]) -> None:
        """Judge formulas as they are, and keep those that are the best of their size for the front only."""
        short = self._short(rows)
        begins = in_time(range(0, len(short), _FITTED_AT_ONCE), self._timer.is_late)
        for begin in begins:
            self.pool.note(judged(self._writer, short[begin : begin + _FITTED_AT_ONCE], self._dataset))

    def recall(self, rows: Sequence[Row]) -> None:
        """Keep formulas of a state that were near the best."""
        self.pool.near.add(judged(self._writer, rows, self._dataset))

    def fit_front(self) -> None:
        """Fit the constants of the front, with simple numbers if these are asked for, as long as there is time.

        Formulas that were taken in stay unchanged: they were fitted and simplified then.
        """
        if not self._settings.constants:
            return
        self._begins(Stage.SIMPLIFYING)
        is_late, done = self._timer.is_late, set[Row]()
        while waiting := [formula for formula in self.pool.noted_on_front() if formula.expression.row not in done]:
            for formula in in_time(waiting, is_late):
                row = converged(self._writer, formula.expression.row, self._dataset, is_late=is_late)
                row = self._allowed(row, formula.expression.row)
                self._record.became(formula.expression.row, row)
                self.pool.replace(formula, judged(self._writer, self.possible([row]), self._dataset))
                done |= {formula.expression.row, row}  # a fit may move the last digit back and forth
            if is_late():
                return
        for formula in in_time(self.pool.noted_on_front() if self._settings.simple_numbers else [], is_late):
            # A few samples suggest simple numbers, which all samples then judge: on all it would take minutes.
            row = simplified(self._writer, formula.expression.row, self._sample, is_late=is_late)
            row = converged(self._writer, row, self._dataset, is_late=is_late)
            self._record.became(formula.expression.row, row)
            found = judged(self._writer, self.possible([row]), self._dataset)
            self.pool.note(new for new in found if new.description < formula.description)

    def _shortest(self, rows: Sequence[Row]) -> list[Row]:
        """The formulas of the shortest description, each unchanged or fitted, whichever is shorter.

        The others are noted for the front.
        """
        # Unchanged formulas compete because fitting would move their simple numbers.
        given = self._writer.population(rows)
        forms = [self._fitted(given), given]
        lengths = np.stack([description_lengths(form, self._dataset) for form in forms])
        shorter = (lengths[1] < lengths[0] - _SAME_LENGTH).astype(int)
        least = lengths.min(axis=0)
        order = [int(i) for i in np.argsort(least, kind="stable") if np.isfinite(least[i])]
        best = [forms[shorter[i]].row(i) for i in order]
        for i, row in zip(order, best, strict=True):
            self._record.became(rows[i], row)
        self.note(best)
        return best[: self._settings.reduced]

    def _fitted(self, given: Population) -> Population:
        """Rows with their constants fitted until time is up; the rows after that are unchanged."""
        begins = range(0, len(given), _FITTED_AT_ONCE)
        done = [
            fitted(given.take(np.arange(begin, min(begin + _FITTED_AT_ONCE, len(given)))), self._dataset)
            for begin in in_time(begins, self._timer.is_late)
        ]
        count = sum(map(len, done))
        rest = [given.take(np.arange(count, len(given)))] if count < len(given) else []
        return Population.concatenate([*done, *rest])

    def _keep_simplified(self, rows: Sequence[Row]) -> None:
        """Keep formulas refitted, and again with simple numbers; once time is up, keep them unchanged."""
        is_late = self._timer.is_late
        if is_late() or not self._settings.constants:
            self.pool.add(rows)
        if not self._settings.constants:
            return
        self._keep_as(rows, lambda row: refitted(self._writer, row, self._dataset))
        if self._settings.simple_numbers:
            self._keep_as(rows, lambda row: simplified(self._writer, row, self._dataset, is_late=is_late))

    def _allowed(self, changed: Row, row: Row) -> Row:
        """A formula as it was changed, or as it was if only that may be taken in."""
        is_allowed = self._settings.is_allowed
        return changed if is_allowed is None or is_allowed(changed) else row

    def _keep_as(self, rows: Sequence[Row], change: Callable[[Row], Row]) -> None:
        """Keep formulas after a change, as long as there is time."""
        changed = []
        for row in in_time(rows, self._timer.is_late):
            changed.append(self._allowed(change(row), row))
            self._record.became(row, changed[-1])
        self.keep(changed)
