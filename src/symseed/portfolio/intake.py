"""Intake of formulas: each is fitted, simplified and judged by its description length; the best are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symseed.assembly import fitted, refitted, simplified
from symseed.data import Dataset
from symseed.language import Population, Row, Writer
from symseed.portfolio.pool import Pool
from symseed.scoring.description import description_lengths
from symseed.search.budget import Timer, in_time
from symseed.space import Constraint, SearchSpace

_SAME_LENGTH = 1e-6
"""Nats by which two descriptions may differ and count as equally long: rounding."""
_FITTED_AT_ONCE = 16
"""Formulas that are fitted between two looks at the clock: chosen by hand."""


class Intake:
    """Takes formulas in from searches and from assembly, as long as there is time."""

    def __init__(
        self,
        writer: Writer,
        dataset: Dataset,
        timer: Timer,
        *,
        longest: int,
        longest_known: int,
        constraints: tuple[Constraint, ...],
        reduced: int,
        simple_numbers: bool,
    ) -> None:
        """Begin with an empty pool.

        Args:
            longest: most tokens of a formula that is taken in.
            longest_known: most tokens of a formula that the user gave to begin with.
            constraints: constraints that every formula must meet.
            reduced: number of formulas simplified per call of `take`: those of the shortest description.
            simple_numbers: whether constants are replaced by simple numbers where the data cannot distinguish the two.
        """
        self.pool = Pool(writer, dataset)
        self.charged = 0
        """Number of formulas taken in, which count against the budget."""
        self._writer, self._dataset, self._timer = writer, dataset, timer
        self._longest, self._simplified, self._simple_numbers = longest, reduced, simple_numbers
        self._legal = SearchSpace(writer.library, 1, max(longest, longest_known), constraints) if constraints else None

    def take(self, rows: Sequence[Row]) -> None:
        """Fit formulas, and simplify and keep those of the shortest description."""
        short = self.possible([row for row in dict.fromkeys(rows) if len(row) <= self._longest])
        if short:
            self.charged += len(short)
            self._keep_simplified(self._shortest(short))

    def possible(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that the constraints allow; rows of a search meet them already, others may not."""
        if self._legal is None or not rows:
            return list(rows)
        legal = self._legal.violations(self._writer.population(rows)) == -1
        return [row for row, is_legal in zip(rows, legal, strict=True) if is_legal]

    def keep(self, rows: Sequence[Row]) -> None:
        """Judge formulas as they are, and keep those that are the best of their length."""
        self.pool.add(self.possible(rows))

    def _shortest(self, rows: Sequence[Row]) -> list[Row]:
        """The formulas of the shortest description, each unchanged or fitted, whichever is shorter."""
        # Unchanged formulas compete because fitting would move their simple numbers.
        given = self._writer.population(rows)
        forms = [self._fitted(given), given]
        lengths = np.stack([description_lengths(form, self._dataset) for form in forms])
        shorter = (lengths[1] < lengths[0] - _SAME_LENGTH).astype(int)
        least = lengths.min(axis=0)
        order = np.argsort(least, kind="stable")[: self._simplified]
        return [forms[shorter[i]].row(int(i)) for i in order if np.isfinite(least[i])]

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
        if is_late():
            self.pool.add(rows)
        self.keep([refitted(self._writer, row, self._dataset) for row in in_time(rows, is_late)])
        if self._simple_numbers:
            self.keep([simplified(self._writer, row, self._dataset, is_late=is_late) for row in in_time(rows, is_late)])
