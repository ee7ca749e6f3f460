"""Lineage of formulas: how each formula of a round came about, from the policy's samples on.

A round keeps its populations, and for each row the one that it was made from. A lineage is read from them only for the
few formulas that a search keeps, and has no influence on it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from symseed.language.expression import Expression
from symseed.language.population import Population

CROSSED, MUTATED = 1, 2
"""What the core says was done to a row, as flags."""


class Change(enum.Enum):
    """How a formula was made from the one before it; values are words for people."""

    SAMPLED = "sampled"
    DRAWN = "drawn at random"
    KEPT = "kept from the round before"
    CROSSED = "crossed"
    MUTATED = "mutated"
    CROSSED_AND_MUTATED = "crossed and mutated"
    COMPLETED = "completed"
    ASSEMBLED = "assembled"
    GIVEN = "given"
    MEAN = "the mean"
    REDUCED = "found for fewer columns"
    READ = "drawn by the network that read the data"
    SCALED = "scaled"
    SIMPLIFIED = "simplified"


_DONE = {CROSSED: Change.CROSSED, MUTATED: Change.MUTATED, CROSSED | MUTATED: Change.CROSSED_AND_MUTATED}


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A formula of a lineage."""

    change: Change
    """How it was made from the one before it."""
    formula: Expression
    others: tuple[Expression, ...] = ()
    """The formula that it was crossed with; of an assembled formula, those whose sub-expressions it has."""


Lineage: TypeAlias = tuple[Ancestor, ...]
"""The ancestors of a formula, oldest first; the formula itself is the last."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the rows of a population come from."""

    parents: npt.NDArray[np.int64]  # (N,): the row of the population before that each was made from
    mates: npt.NDArray[np.int64]  # (N,): the row that each was crossed with
    done: npt.NDArray[np.uint8]  # (N,): CROSSED, MUTATED, both, or 0 for a copy

    @classmethod
    def of(cls, parents: npt.NDArray[np.int64], done: npt.NDArray[np.uint8]) -> Origin:
        """Return the origin of children that were crossed in pairs."""
        partners = np.minimum(np.arange(len(parents)) ^ 1, len(parents) - 1)
        return cls(parents, parents[partners], done)

    def take(self, rows: npt.NDArray[np.intp], other: Origin) -> Origin:
        """Return the origin of some rows of this population followed by another."""
        return Origin(
            np.concatenate([self.parents, other.parents])[rows],
            np.concatenate([self.mates, other.mates])[rows],
            np.concatenate([self.done, other.done])[rows],
        )

    def behind(self, kept: npt.NDArray[np.intp]) -> Origin:
        """Return the origin of a population whose first rows are kept ones of the population before."""
        count = len(kept)
        return Origin(
            np.concatenate([kept, self.parents[count:]]),
            np.concatenate([kept, self.mates[count:]]),
            np.concatenate([np.zeros(count, np.uint8), self.done[count:]]),
        )


class Family:
    """The populations of a round so far, the newest last."""

    def __init__(self) -> None:
        self._first = Change.SAMPLED
        self._line: list[tuple[Population, Origin | None]] = []
        self._aside: tuple[Population, npt.NDArray[np.int64]] | None = None

    def begin(self, population: Population, change: Change) -> None:
        """Begin with a population that was made from no other."""
        self._first, self._line, self._aside = change, [(population, None)], None

    def follow(self, population: Population, origin: Origin) -> None:
        """Add the next generation."""
        self._line.append((population, origin))
        self._aside = None

    def complete(self, population: Population, parents: npt.NDArray[np.int64]) -> None:
        """Take completions of rows of the newest generation, which do not evolve further."""
        self._aside = population, parents

    def lineage(self, place: int) -> Lineage:
        """Return the lineage of a row of the population that was added last."""
        if self._aside is not None:
            population, parents = self._aside
            return (*self._back(int(parents[place])), Ancestor(Change.COMPLETED, population[place]))
        return self._back(place)

    def _back(self, place: int) -> Lineage:
        out: list[Ancestor] = []
        for index in range(len(self._line) - 1, -1, -1):
            population, origin = self._line[index]
            if origin is None:
                out.append(Ancestor(self._first, population[place]))
                break
            done, parent = int(origin.done[place]), int(origin.parents[place])
            before = self._line[index - 1][0]
            if done and not _same(population, place, before, parent):
                mates = (before[int(origin.mates[place])],) if done & CROSSED else ()
                out.append(Ancestor(_DONE[done], population[place], mates))
            place = parent
        return tuple(reversed(out))


LineageOf: TypeAlias = Callable[[int], Lineage]
"""Returns the lineage of a row of a population."""


def _same(one: Population, place: int, other: Population, at: int) -> bool:
    """Whether two rows have the same tokens: a change that broke a rule was undone."""
    length = int(one.lengths[place])
    same = length == int(other.lengths[at]) and (one.tokens[place, :length] == other.tokens[at, :length]).all()
    return bool(same)
