"""The record of a turn under way: which part found each formula, and how the searches learnt."""

from __future__ import annotations

from collections.abc import Sequence

from symseed.language import Row
from symseed.portfolio.progress import TrackLearning
from symseed.search import Learning, Part


class TurnRecord:
    """What the parts of a portfolio report about one turn; it has no influence on the search."""

    def __init__(self) -> None:
        self._found_by: dict[Row, Part] = {}
        self._learning: list[TrackLearning] = []

    def begin(self) -> None:
        """Begin a turn."""
        self._found_by.clear()
        self._learning.clear()

    def found(self, rows: Sequence[Row], part: Part) -> Sequence[Row]:
        """Record which part found some formulas, and return them; if several parts find one, the first counts."""
        for row in rows:
            self._found_by.setdefault(row, part)
        return rows

    def became(self, row: Row, other: Row) -> None:
        """Record that a formula became another by fitting or simplification."""
        part = self._found_by.get(row)
        if part is not None:
            self._found_by.setdefault(other, part)

    def learnt(self, track: int, rounds: int, learning: Learning) -> None:
        """Record how the search at a place learnt, after a number of rounds."""
        self._learning.append(TrackLearning(track, rounds, learning))

    def finder(self, row: Row) -> Part | None:
        """Return the part that found a formula; None if no part found it in this turn."""
        return self._found_by.get(row)

    @property
    def learning(self) -> tuple[TrackLearning, ...]:
        """How the searches learnt, in the order of their turns."""
        return tuple(self._learning)
