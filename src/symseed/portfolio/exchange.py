"""Exchange between islands: which formulas each of several portfolios gets from others; pure functions of values."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symseed.errors import SettingsError, check_between
from symseed.language.row import Row

MOST_ISLANDS = 10_000
"""Most islands of a search: ten times as many as were simulated."""


class Exchange(enum.Enum):
    """Which islands an island gets formulas from."""

    RING = "ring"
    """The one before it; the first from the last."""
    BEST = "best"
    """All others, of which the best formulas count."""


@dataclass(frozen=True, slots=True)
class IslandSettings:
    """How many portfolios search beside each other, and how they exchange formulas."""

    count: int
    exchange: Exchange = Exchange.RING
    turns: int = 2
    """Number of turns of each island between two exchanges: chosen by hand."""
    migrants: int = 6
    """Most formulas that an island gets: as many as assembly uses (`PortfolioSettings.parts`)."""
    tracks: tuple[tuple[int, ...], ...] = ()
    """Indices of the searches of each island; there may be fewer entries than islands, which then repeat. Empty: every
    island has all searches."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        check_between("islands", self.count, 1, MOST_ISLANDS)
        for one in self.tracks:
            if not one:
                raise SettingsError("`island_tracks` must name at least one search for each island, but one has none.")

    def sources(self, place: int) -> tuple[int, ...]:
        """Return the islands that an island gets formulas from."""
        if self.exchange is Exchange.RING:
            return ((place - 1) % self.count,) if self.count > 1 else ()
        return tuple(other for other in range(self.count) if other != place)


@dataclass(frozen=True, slots=True)
class Migrant:
    """A formula on its way to other islands."""

    row: Row
    description: float
    """Its description length, by which migrants are compared."""


def best(found: Sequence[Migrant], most: int) -> tuple[Migrant, ...]:
    """Return the formulas of the shortest description; the order in which they are given does not matter."""
    return tuple(sorted(dict.fromkeys(found), key=_rank)[:most])


def received(
    settings: IslandSettings, place: int, sent: Mapping[int, Sequence[Migrant]], own: Sequence[Migrant]
) -> tuple[Row, ...]:
    """Return the formulas that an island gets.

    Args:
        sent: the formulas of each of its sources at the end of the epoch before.
        own: its own formulas then, which it does not get again.
    """
    known = {migrant.row for migrant in own}
    every = [migrant for source in settings.sources(place) for migrant in sent[source] if migrant.row not in known]
    return tuple(migrant.row for migrant in best(every, settings.migrants))


def _rank(migrant: Migrant) -> tuple[object, ...]:
    row = migrant.row
    return migrant.description, len(row), row.ids, tuple(value for value in row.constants if not math.isnan(value))
