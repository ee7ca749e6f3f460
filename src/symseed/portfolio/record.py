"""The record of a turn under way: which part found each formula, and how the searches learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symseed.language import Expression, Library, Row
from symseed.network import Guess
from symseed.portfolio.progress import TrackLearning
from symseed.search import Learning, Part
from symseed.search.lineage import Ancestor, Change, Lineage

_CHANGES = {
    Part.ASSEMBLY: Change.ASSEMBLED,
    Part.KNOWN: Change.GIVEN,
    Part.MEAN: Change.MEAN,
    Part.STRUCTURE: Change.REDUCED,
    Part.NETWORK: Change.READ,
}
"""How the parts outside the searches make formulas."""
_MOST_DONORS = 4
"""Most formulas that are named as those whose sub-expressions an assembled formula has: chosen by hand."""


class TurnRecord:
    """What the parts of a portfolio report about one turn; it has no influence on the search."""

    def __init__(self) -> None:
        self._found_by: dict[Row, Part] = {}
        self._lineages: dict[Row, tuple[Lineage, tuple[tuple[Change, Row], ...]]] = {}
        self._donors: list[Row] = []
        self._learning: list[TrackLearning] = []
        self.prior: tuple[Guess, ...] = ()
        """What a network thought of the data before the searches; empty if none was asked. It outlasts the turn."""

    def begin(self) -> None:
        """Begin a turn."""
        self._found_by.clear()
        self._lineages.clear()
        self._donors.clear()
        self._learning.clear()

    def found(self, rows: Sequence[Row], part: Part, lineage: Lineage = ()) -> Sequence[Row]:
        """Record which part found some formulas, and return them; if several parts find one, the first counts.

        Args:
            lineage: how a search made the formula, if one did.
        """
        for row in rows:
            if row not in self._found_by:
                self._found_by[row] = part
                self._lineages[row] = lineage, ((_CHANGES[part], row),) if part in _CHANGES else ()
        return rows

    def gave(self, rows: Sequence[Row]) -> None:
        """Record the formulas whose sub-expressions assembly has."""
        self._donors += rows

    def became(self, row: Row, other: Row, change: Change = Change.SIMPLIFIED) -> None:
        """Record that a formula became another by fitting or simplification, or by another change."""
        part = self._found_by.get(row)
        if part is not None and other not in self._found_by:
            self._found_by[other] = part
            lineage, changes = self._lineages[row]
            self._lineages[other] = lineage, changes if row.ids == other.ids else (*changes, (change, other))

    def learnt(self, track: int, rounds: int, learning: Learning) -> None:
        """Record how the search at a place learnt, after a number of rounds."""
        self._learning.append(TrackLearning(track, rounds, learning))

    def finder(self, row: Row) -> Part | None:
        """Return the part that found a formula; None if no part found it in this turn."""
        return self._found_by.get(row)

    def lineage(self, formula: Expression) -> Lineage:
        """Return how a formula that was found in this turn came about; empty if that is not known."""
        lineage, changes = self._lineages.get(formula.row, ((), ()))
        made = []
        for change, row in changes:
            donors = _donors(row, self._donors, formula.library) if change is Change.ASSEMBLED else []
            others = tuple(replace(formula, row=donor) for donor in donors)
            made.append(Ancestor(change, replace(formula, row=row), others))
        return (*lineage, *made)

    @property
    def learning(self) -> tuple[TrackLearning, ...]:
        """How the searches learnt, in the order of their turns."""
        return tuple(self._learning)


def _donors(row: Row, others: Sequence[Row], library: Library) -> list[Row]:
    """The formulas whose sub-expressions, of an operator at least, cover most of a formula; a new one each."""
    wanted = _subtrees(row, library)
    out: list[Row] = []
    while wanted and len(out) < _MOST_DONORS:
        shared = [(max(map(len, wanted & _subtrees(other, library)), default=0), -len(other)) for other in others]
        best = max(range(len(others)), key=lambda place: shared[place], default=None)
        if best is None or shared[best][0] == 0:
            break
        out.append(others[best])
        wanted -= _subtrees(others[best], library)
    return out


def _subtrees(row: Row, library: Library) -> set[tuple[int, ...]]:
    """The sub-expressions of a formula that have an operator, without the values of constants."""
    return {row.ids[begin:end] for begin, end in enumerate(library.ends(row.ids)) if end - begin > 1}
