"""Genetic programming (Koza 1992): generations of selection, crossover and mutation, from a scored population.

`variation.py` has the operators; this module applies them for S generations and scores each one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from symseed.errors import check_between
from symseed.language.population import Population
from symseed.scoring.task import Scored, Task
from symseed.search.lineage import Origin
from symseed.search.variation import VariationSettings, next_generation
from symseed.space.space import SearchSpace

_MOST_RETRIES = 254
"""Most retries of a generation: each has its own random stream, of which there are 256."""


@dataclass(frozen=True, slots=True)
class EvolutionSettings:
    """How a population evolves. Defaults are the paper's."""

    generations: int = 25
    """S: number of generations between two training steps of the policy."""

    variation: VariationSettings = field(default_factory=VariationSettings)

    elitism: int = 0
    """Number of a generation's best that replace the first children unchanged. The paper: 0."""

    avoid_seen: int = 0
    """Number of retries for a child that this run has had before. The paper: 0."""

    selects_seeds: bool = True
    """Whether the first generation selects its parents by reward. In the authors' released code the seeds have no
    reward yet, so parents are drawn evenly."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        # Every generation of a run, and every retry, has its own random stream.
        check_between("generations", self.generations, 0, 1 << 24)
        check_between("elitism", self.elitism, 0, 1 << 24)
        check_between("avoid_seen", self.avoid_seen, 0, _MOST_RETRIES)


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation as it was scored."""

    scored: Scored
    charged: int
    """Number of rows crossed or mutated, undone ones included, as the paper's budget counts them."""
    origin: Origin
    """The rows of the generation before that these were made from."""


def evolve(
    space: SearchSpace,
    task: Task,
    seeds: Scored,
    settings: EvolutionSettings,
    *,
    seed: int,
    run: int = 0,
    threads: int = 1,
) -> Iterator[Generation]:
    """Give one generation after another; the caller may stop at any.

    The first generation already selects its parents by the seeds' rewards, unless `selects_seeds` is off.
    """
    current = seeds
    seen = _Seen(seeds.population) if settings.avoid_seen else None
    for generation in range(settings.generations):
        step = (run << 32) + (generation << 8)
        parents = current
        if generation == 0 and not settings.selects_seeds:
            parents = replace(current, reward=np.zeros(len(current)))
        children, origin, charged = _children(space, parents, settings, seen, seed, step, threads)
        if settings.elitism:
            places = current.best_rows(settings.elitism)
            rest = children.take(np.arange(len(places), len(children)))
            children = Population.concatenate([current.population.take(places), rest])
            origin = origin.behind(places)
        current = task.evaluate(children)
        yield Generation(current, charged, origin)


def _children(
    space: SearchSpace,
    parents: Scored,
    settings: EvolutionSettings,
    seen: _Seen | None,
    seed: int,
    step: int,
    threads: int,
) -> tuple[Population, Origin, int]:
    """Children of one generation, where they come from, and how many count; one that was seen before is made again."""
    offspring = next_generation(
        space, parents.population, parents.reward, settings.variation, seed=seed, step=step, threads=threads
    )
    children, origin = offspring.population, Origin.of(offspring.parent, offspring.done)
    if seen is not None:
        for retry in range(1, settings.avoid_seen + 1):
            again = np.flatnonzero(offspring.touched & seen.knows(children))
            if len(again) == 0:
                break
            other = next_generation(
                space,
                parents.population,
                parents.reward,
                settings.variation,
                seed=seed,
                step=step + retry,
                threads=threads,
            )
            order = np.arange(len(children))
            order[again] += len(children)
            children = Population.concatenate([children, other.population]).take(order)
            origin = origin.take(order, Origin.of(other.parent, other.done))
        seen.add(children)
    return children, origin, int(np.count_nonzero(offspring.done))


class _Seen:
    """The set of rows that a run of evolution has had."""

    def __init__(self, population: Population) -> None:
        self._rows: set[bytes] = set()
        self.add(population)

    def add(self, population: Population) -> None:
        self._rows.update(row.tobytes() for row in population.fingerprints)

    def knows(self, population: Population) -> npt.NDArray[np.bool_]:
        return np.array([row.tobytes() in self._rows for row in population.fingerprints])
