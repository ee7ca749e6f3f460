"""Semantic completion: every expression meets every sub-expression seen.

A table in the core leads from the values that a sub-expression takes at the samples to the shortest one seen with them.
For each new row it computes, from the root downwards, the values that every node should have had for the whole to be
the target, and looks them up. What is found is put in that node's place and given back, to be scored as any other row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.data.dataset import Dataset
from symseed.errors import check_between
from symseed.language.population import Population
from symseed.scoring.evaluation import check_columns
from symseed.space.space import SearchSpace


@dataclass(frozen=True, slots=True)
class CompletionSettings:
    """How rows are completed."""

    max_bytes: int = 64 * 2**20
    """Most memory of the table, 64 bytes an entry. Where both places of an entry are taken, the longer gives way."""

    longest: int = _core.LONGEST_KEPT
    """Sub-expressions of more tokens than this are not kept."""

    points: int = 32
    """Samples whose values are compared, spread over the data; what is found is scored on all of them."""

    generations: bool = True
    """Whether evolution's rows are completed too, and not only the policy's samples."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_between("max_bytes", self.max_bytes, 128, 1 << 40)
        check_between("longest", self.longest, 1, _core.LONGEST_KEPT)
        check_between("points", self.points, 1, 1 << 20)


@dataclass(frozen=True, slots=True)
class CompletionCounts:
    """What completion has done. A look-up is no evaluation, and is never hidden."""

    lookups: int = 0
    hits: int = 0
    """Look-ups that found another sub-expression."""
    splices: int = 0
    """Hits that the space allows: each was scored, and charged, as one more expression."""


class Completer:
    """A table of sub-expressions for one search on one dataset."""

    def __init__(self, space: SearchSpace, dataset: Dataset, settings: CompletionSettings | None = None) -> None:
        check_columns(space.library, dataset)
        chosen = settings or CompletionSettings()
        self.settings = chosen
        self._space = space
        self._native = _core.Completion(
            space.library.vocabulary, dataset.samples, chosen.max_bytes, chosen.longest, chosen.points
        )

    @property
    def counts(self) -> CompletionCounts:
        """What was done since it was made."""
        return CompletionCounts(self._native.lookups, self._native.hits, self._native.splices)

    @property
    def size(self) -> int:
        """How many sub-expressions the table has."""
        return self._native.size

    def complete(self, population: Population, rows: npt.NDArray[np.intp]) -> Population:
        """Take in the sub-expressions of some rows, then return what these rows become when they are completed."""
        population.check_library(self._space.library, "search space")
        tokens, lengths, constants, _ = self._native.complete(
            self._space.rules, population.tokens, population.lengths, population.constants, rows.astype(np.int64)
        )
        return Population.wrap(population.library, tokens, lengths, constants)
