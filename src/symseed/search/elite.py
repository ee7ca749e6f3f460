"""The best rows of a search: the best of all, and the best of each length."""

from __future__ import annotations

import numpy as np

from symseed.language.population import Population
from symseed.scoring.task import Scored


class Elite:
    """The best different expressions of several populations."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._best: Scored | None = None
        self._least: float | None = None  # a reward that does not exceed it cannot enter; None: there is room

    def add(self, scored: Scored) -> None:
        """Take what is good enough. An earlier expression stays before a later one of the same reward."""
        if self._size == 1:
            # The common case, each generation of a search: no need to look at more than the best.
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
        """Best first; None while there is nothing."""
        return self._best


class Front:
    """Keeps the best few rows of each length; every population of a search is shown to it."""

    def __init__(self, longest: int, *, kept: int = 3) -> None:
        """Keep `kept` rows of each length; `longest` is the largest that is expected."""
        self._kept = kept
        self._least = np.full(longest + 1, -np.inf)
        self._rows: dict[int, Scored] = {}

    def add(self, scored: Scored) -> None:
        """Take what is better than what there is at its length."""
        lengths = scored.population.lengths
        if len(lengths) and lengths.max() >= len(self._least):
            more = np.full(int(lengths.max()) + 1 - len(self._least), -np.inf)
            self._least = np.concatenate([self._least, more])
        good = np.flatnonzero((scored.reward > self._least[lengths]) & (scored.failure == 0))
        for length in np.unique(lengths[good]):
            rows = scored.take(good[lengths[good] == length])
            known = self._rows.get(int(length))
            best = (rows if known is None else Scored.concatenate([known, rows])).best(self._kept)
            self._rows[int(length)] = best
            if len(best) == self._kept:
                self._least[length] = best.reward[-1]

    @property
    def scored(self) -> Scored | None:
        """All rows as they were scored, shortest first; None while there are none. A new front can begin with them."""
        if not self._rows:
            return None
        return Scored.concatenate([self._rows[length] for length in sorted(self._rows)])

    @property
    def population(self) -> Population | None:
        """All rows, shortest first; None while there are none."""
        scored = self.scored
        return None if scored is None else scored.population
