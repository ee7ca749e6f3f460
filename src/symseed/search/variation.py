"""Variation: tournament selection, crossover and mutations, over whole populations.

Every function is a pure function of its seed, its step and the row: `(seed, parents) -> children`. A child that breaks
a rule of the space is made again up to `retries` times, and then replaced by a copy of its parent. Constants move with
their tokens.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.errors import DataError, SettingsError, check_between
from symseed.language.population import Population
from symseed.scoring.evaluation import check_threads
from symseed.space.space import SearchSpace

Mutation = _core.Mutation


@dataclass(frozen=True)
class VariationSettings:
    """How a generation varies. Defaults are the paper's."""

    crossover: float = 0.5
    """Probability that a pair of parents crosses."""

    mutation: float = 0.5
    """Probability that a row mutates, after crossover."""

    tournament: int = 5
    """Number of rows drawn for each parent, the best of which is taken; 0: no selection, each row is its own parent."""

    new_depth: int = 3
    """Greatest height of a new subtree; a height is drawn evenly from 0 to it."""

    retries: int = 0
    """Number of retries for an operation whose child breaks a rule. The paper: 0. With `Dimensions`, which most changes
    break, there are 20 more."""

    weights: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0, 0.0, 0.0)
    """Relative probabilities of the mutations, in the order of `Mutation`. The paper has the first four, equally."""

    any_parent: bool = False
    """Whether a child of a crossover that breaks a rule becomes a random one of its two parents, as in the authors'
    released code; by default, it becomes the parent that it has its root from."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_between("crossover", self.crossover, 0, 1)
        check_between("mutation", self.mutation, 0, 1)
        check_between("tournament", self.tournament, 0, 1_000_000)
        check_between("new_depth", self.new_depth, 0, 16)
        check_between("retries", self.retries, 0, 1_000_000)
        if len(self.weights) != len(Mutation) or min(self.weights) < 0.0 or not 0.0 < sum(self.weights) < np.inf:
            raise SettingsError(
                f"`weights` must be {len(Mutation)} numbers, none negative and not all 0, but they are {self.weights}."
            )

    def __getstate__(self) -> dict[str, object]:
        """Pickle the settings without the core's copy of them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @functools.cached_property
    def native(self) -> _core.VarySettings:
        """The settings as the core reads them."""
        return _core.VarySettings(
            self.crossover,
            self.mutation,
            self.tournament,
            self.new_depth,
            self.retries,
            list(self.weights),
            self.any_parent,
        )


@dataclass(frozen=True, slots=True)
class Offspring:
    """One generation of children."""

    population: Population
    parent: npt.NDArray[np.int64]  # (N,): the row that each child began as
    done: npt.NDArray[np.uint8]  # (N,): 1 crossed, 2 mutated, 3 both, 0 neither; also where that was undone

    @property
    def touched(self) -> npt.NDArray[np.bool_]:
        """Return whether each was crossed or mutated, which is what the budget counts, (N,)."""
        return np.asarray(self.done != 0)


def tournament(reward: Floats, count: int, size: int, *, seed: int, step: int = 0) -> npt.NDArray[np.int64]:
    """Choose `count` rows, each the best of `size` drawn with replacement."""
    if len(reward) == 0 or size < 1 or count < 0:
        raise SettingsError(
            f"A tournament needs at least one row, a size of at least 1 and a count of at least 0, but there are "
            f"{len(reward)} rows, size {size}, count {count}."
        )
    return _core.tournament(np.ascontiguousarray(reward, dtype=np.float64), count, size, seed, step)


def crossover(
    space: SearchSpace, population: Population, settings: VariationSettings | None = None, *, seed: int, step: int = 0
) -> Population:
    """Cross rows 0 and 1, 2 and 3, ...: each pair swaps one subtree, but never a whole row."""
    if len(population) % 2:
        raise DataError(f"Crossover takes pairs of rows, so an even number of them, but there are {len(population)}.")
    population.check_library(space.library, "search space")
    children = _core.crossover(
        space.rules,
        population.tokens,
        population.lengths,
        population.constants,
        (settings or VariationSettings()).native,
        seed,
        step,
    )
    return Population.wrap(population.library, *children)


def mutate(
    space: SearchSpace,
    population: Population,
    mutation: Mutation,
    settings: VariationSettings | None = None,
    *,
    seed: int,
    step: int = 0,
) -> Population:
    """Mutate every row."""
    population.check_library(space.library, "search space")
    children = _core.mutate(
        space.rules,
        population.tokens,
        population.lengths,
        population.constants,
        mutation,
        (settings or VariationSettings()).native,
        seed,
        step,
    )
    return Population.wrap(population.library, *children)


def next_generation(
    space: SearchSpace,
    population: Population,
    reward: Floats,
    settings: VariationSettings | None = None,
    *,
    seed: int,
    step: int = 0,
    threads: int = 1,
) -> Offspring:
    """Make as many children as there are rows: select, cross, mutate. They do not depend on the number of threads."""
    population.check_library(space.library, "search space")
    if len(population) == 0 or reward.shape != (len(population),):
        raise DataError(
            f"`reward` must have one value for each of the {len(population)} rows, at least one, but its shape is "
            f"{reward.shape}."
        )
    tokens, lengths, constants, parent, done = _core.next_generation(
        space.rules,
        population.tokens,
        population.lengths,
        population.constants,
        np.ascontiguousarray(reward, dtype=np.float64),
        (settings or VariationSettings()).native,
        seed,
        step,
        threads=check_threads(threads),
    )
    if constants is None:
        constants = population.constants
        if constants.shape != tokens.shape:
            constants = np.full(tokens.shape, np.nan)
    return Offspring(Population.wrap(population.library, tokens, lengths, constants), parent, done)
