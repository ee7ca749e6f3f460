"""The record of a turn under way: which part found each formula, and how the searches learnt."""

from __future__ import annotations

from collections.abc import Sequence

from symseed.language import Row
from symseed.portfolio.progress import TrackLearning
from symseed.search import Learning, Part


class TurnRecord:
    """What the parts of a portfolio tell of one turn; it decides nothing."""

    def __init__(self) -> None:
        self._found_by: dict[Row, Part] = {}
        self._learning: list[TrackLearning] = []

    def begin(self) -> None:
        """Begin a turn."""
        self._found_by.clear()
        self._learning.clear()

    def found(self, rows: Sequence[Row], part: Part) -> Sequence[Row]:
        """Note which part found some formulas, and return them; of several parts the first counts."""
        for row in rows:
            self._found_by.setdefault(row, part)
        return rows

    def became(self, row: Row, other: Row) -> None:
        """Note that a formula became another by fitting or simplification."""
        part = self._found_by.get(row)
        if part is not None:
            self._found_by.setdefault(other, part)

    def learnt(self, track: int, rounds: int, learning: Learning) -> None:
        """Note how the search at a place learnt, after so many rounds."""
        self._learning.append(TrackLearning(track, rounds, learning))

    def finder(self, row: Row) -> Part | None:
        """Return the part that found a formula; None if no part found it in this turn."""
        return self._found_by.get(row)

    @property
    def learning(self) -> tuple[TrackLearning, ...]:
        """How the searches learnt, in the order of their turns."""
        return tuple(self._learning)
