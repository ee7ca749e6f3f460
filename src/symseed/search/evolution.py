"""Generations of genetic programming, from a scored population.

Selection, crossover and mutation are `variation.py`'s; this module runs them for S generations, has each generation
scored, and keeps the best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from symseed.errors import check_between
from symseed.language.population import Population
from symseed.scoring.task import Scored, Task
from symseed.search.variation import VariationSettings, next_generation
from symseed.space.space import SearchSpace

_MOST_RETRIES = 254
"""Each retry of a generation has a random stream of its own, and there are 256."""


@dataclass(frozen=True, slots=True)
class EvolutionSettings:
    """How a population evolves. Defaults are the paper's."""

    generations: int = 25
    """S, between one training of the policy and the next."""

    variation: VariationSettings = field(default_factory=VariationSettings)

    elitism: int = 0
    """How many of a generation's best are carried over unchanged, in place of the first children. The paper: none."""

    avoid_seen: int = 0
    """How often a child that this run has already had is made again. The paper: never."""

    selects_seeds: bool = True
    """Whether the first generation selects among its seeds by reward; in the authors' released code they have none yet,
    so that parents are drawn evenly."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        # A random stream of its own for every generation of a run, and for every retry.
        check_between("generations", self.generations, 0, 1 << 24)
        check_between("elitism", self.elitism, 0, 1 << 24)
        check_between("avoid_seen", self.avoid_seen, 0, _MOST_RETRIES)


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation as it was scored."""

    scored: Scored
    charged: int
    """Rows that were crossed or mutated, undone ones included: what the paper's budget counts."""


def evolve(
    space: SearchSpace,
    task: Task,
    seeds: Scored,
    settings: EvolutionSettings,
    *,
    seed: int,
    run: int = 0,
) -> Iterator[Generation]:
    """Give one generation after another; the caller may stop at any.

    Selection knows the seeds' rewards, so the first children are already those of selected parents, unless the settings
    say otherwise.
    """
    current = seeds
    seen = _Seen(seeds.population) if settings.avoid_seen else None
    for generation in range(settings.generations):
        step = (run << 32) + (generation << 8)
        parents = current
        if generation == 0 and not settings.selects_seeds:
            parents = replace(current, reward=np.zeros(len(current)))
        children, touched = _children(space, parents, settings, seen, seed, step)
        if settings.elitism:
            kept = current.best(settings.elitism).population
            children = Population.concatenate([kept, children.take(np.arange(len(kept), len(children)))])
        current = task.evaluate(children)
        yield Generation(current, int(np.count_nonzero(touched)))


def _children(
    space: SearchSpace, parents: Scored, settings: EvolutionSettings, seen: _Seen | None, seed: int, step: int
) -> tuple[Population, npt.NDArray[np.bool_]]:
    """Children of one generation and which were touched; those seen before are made again a few times."""
    offspring = next_generation(space, parents.population, parents.reward, settings.variation, seed=seed, step=step)
    children = offspring.population
    if seen is not None:
        for retry in range(1, settings.avoid_seen + 1):
            again = np.flatnonzero(offspring.touched & seen.knows(children))
            if len(again) == 0:
                break
            other = next_generation(
                space, parents.population, parents.reward, settings.variation, seed=seed, step=step + retry
            )
            order = np.arange(len(children))
            order[again] += len(children)
            children = Population.concatenate([children, other.population]).take(order)
        seen.add(children)
    return children, offspring.touched


class _Seen:
    """The different rows that a run of evolution has had."""

    def __init__(self, population: Population) -> None:
        self._rows: set[bytes] = set()
        self.add(population)

    def add(self, population: Population) -> None:
        self._rows.update(row.tobytes() for row in population.fingerprints)

    def knows(self, population: Population) -> npt.NDArray[np.bool_]:
        return np.array([row.tobytes() in self._rows for row in population.fingerprints])
