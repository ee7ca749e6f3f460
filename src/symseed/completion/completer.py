"""Semantic completion: a table look-up of the desired values of every node among all sub-expressions seen.

A hash table in the core maps the values of a sub-expression at the samples to the shortest sub-expression seen with
them. For each new row, semantic backpropagation (Pawlak, Wieloch & Krawiec 2015) gives the desired values of every
node, and the table is asked for them. A hit replaces the node, and the new row is returned, to be scored as any other.
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
    """Settings of semantic completion. Numbers without another reason are chosen by hand."""

    max_bytes: int = 64 * 2**20
    """Most bytes of the table, 64 per entry. If both slots are taken, the longer sub-expression is dropped."""

    longest: int = _core.LONGEST_KEPT
    """Most tokens of a sub-expression in the table."""

    points: int = 32
    """Number of samples compared, spread over the data; completed rows are scored on all samples."""

    generations: bool = True
    """Whether evolution's rows are completed too, and not only the policy's samples."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_between("max_bytes", self.max_bytes, 128, 1 << 40)
        check_between("longest", self.longest, 1, _core.LONGEST_KEPT)
        check_between("points", self.points, 1, 1 << 20)


@dataclass(frozen=True, slots=True)
class CompletionCounts:
    """Counts of completion. Look-ups are counted apart, because they do not count as evaluations."""

    lookups: int = 0
    hits: int = 0
    """Look-ups that found another sub-expression."""
    splices: int = 0
    """Hits that the space allows: each was scored and charged as one expression."""


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
        """Counts since the table was made."""
        return CompletionCounts(self._native.lookups, self._native.hits, self._native.splices)

    @property
    def size(self) -> int:
        """Number of sub-expressions in the table."""
        return self._native.size

    def complete(self, population: Population, rows: npt.NDArray[np.intp]) -> Population:
        """Add the sub-expressions of some rows to the table, then return the completions of these rows."""
        return self.completions(population, rows)[0]

    def completions(
        self, population: Population, rows: npt.NDArray[np.intp]
    ) -> tuple[Population, npt.NDArray[np.int64]]:
        """Return what `complete` does, and the row that each completion was made from."""
        population.check_library(self._space.library, "search space")
        tokens, lengths, constants, parents = self._native.complete(
            self._space.rules, population.tokens, population.lengths, population.constants, rows.astype(np.int64)
        )
        return Population.wrap(population.library, tokens, lengths, constants), parents
