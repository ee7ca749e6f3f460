"""The best rows of a search: the best of all, and the best of each length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symseed.language.expression import Expression
from symseed.language.population import Population
from symseed.scoring.task import Scored
from symseed.search.learning import Part
from symseed.search.lineage import Lineage, LineageOf


class Elite:
    """The best different expressions of several populations."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._best: Scored | None = None
        self._least: float | None = None  # rewards must exceed this to enter; None: there is room

    def add(self, scored: Scored) -> None:
        """Add the rows that are good enough. Of equal rewards, the earlier expression ranks first."""
        if self._size == 1:
            # The common case, in each generation of a search: only the best reward needs a comparison.
            row = int(scored.reward.argmax())
            if self._least is None or scored.reward[row] > self._least:
                self._best = scored.take(np.array([row]))
                self._least = float(scored.reward[row])
            return
        better = scored if self._least is None else scored.take(np.flatnonzero(scored.reward > self._least))
        if len(better) == 0:
            return
        candidates = better.best(self._size)
        merged = candidates if self._best is None else Scored.concatenate([self._best, candidates])
        self._best = merged.best(self._size)
        if len(self._best) == self._size:
            self._least = float(self._best.reward[-1])

    @property
    def best(self) -> Scored | None:
        """The rows, best first; None while there are none."""
        return self._best


class Front:
    """Keeps the best rows of each length, of every population of a search."""

    def __init__(self, longest: int, *, kept: int = 3) -> None:
        """Keep `kept` rows of each length; `longest` is the largest expected length."""
        self._kept = kept
        self._least = np.full(longest + 1, -np.inf)
        self._rows: dict[int, Scored] = {}
        self._parts: dict[bytes, Part] = {}
        self._lineages: dict[bytes, Lineage] = {}

    def restore(self, scored: Scored, parts: Sequence[Part], lineages: Sequence[Lineage] = ()) -> None:
        """Add rows that another front kept, with the parts that found them, and with their lineages if it knew them."""
        self._parts.update(zip(_keys(scored), parts, strict=True))
        self._lineages.update(zip(_keys(scored), lineages, strict=False))
        self.add(scored, Part.POLICY)

    def add(self, scored: Scored, part: Part, lineage: LineageOf | None = None) -> None:
        """Add the rows that are better than the kept rows of their length; `part` found them."""
        lengths = scored.population.lengths
        if len(lengths) and lengths.max() >= len(self._least):
            more = np.full(int(lengths.max()) + 1 - len(self._least), -np.inf)
            self._least = np.concatenate([self._least, more])
        good = np.flatnonzero((scored.reward > self._least[lengths]) & (scored.failure == 0))
        for length in np.unique(lengths[good]):
            places = good[lengths[good] == length]
            rows = scored.take(places)
            for key in _keys(rows):
                self._parts.setdefault(key, part)
            known = self._rows.get(int(length))
            best = (rows if known is None else Scored.concatenate([known, rows])).best(self._kept)
            self._rows[int(length)] = best
            if len(best) == self._kept:
                self._least[length] = best.reward[-1]
            if lineage is not None:
                kept = set(_keys(best))
                for key, place in zip(_keys(rows), places.tolist(), strict=True):
                    if key in kept and key not in self._lineages:
                        self._lineages[key] = lineage(place)

    @property
    def scored(self) -> Scored | None:
        """All rows as they were scored, shortest first, from which a front can be rebuilt; None while empty."""
        if not self._rows:
            return None
        return Scored.concatenate([self._rows[length] for length in sorted(self._rows)])

    @property
    def population(self) -> Population | None:
        """All rows, shortest first; None while there are none."""
        scored = self.scored
        return None if scored is None else scored.population

    @property
    def parts(self) -> tuple[Part, ...]:
        """The part that found each row of `population` first."""
        scored = self.scored
        return () if scored is None else tuple(self._parts[key] for key in _keys(scored))

    def lineage_of(self, formula: Expression) -> Lineage:
        """Return how a formula came about when it was found first; empty if that is not known."""
        (key,) = Population.from_expressions([formula]).fingerprints
        return self._lineages.get(key.tobytes(), ())

    @property
    def lineages(self) -> tuple[Lineage, ...]:
        """How each row of `population` came about when it was found first; empty where that is not known."""
        scored = self.scored
        return () if scored is None else tuple(self._lineages.get(key, ()) for key in _keys(scored))


def _keys(scored: Scored) -> list[bytes]:
    return [row.tobytes() for row in scored.population.fingerprints]
