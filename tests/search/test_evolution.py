"""Generations: how many there are, what they cost, that they move and stay legal; and the best of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from symseed import (
    Dataset,
    Expression,
    Library,
    Population,
    RegressionTask,
    SearchSpace,
    SettingsError,
)
from symseed.language.row import Row
from symseed.scoring.task import Counts, FunctionTask, Scored
from symseed.search.elite import Elite
from symseed.search.evolution import EvolutionSettings, Generation, evolve
from symseed.search.variation import VariationSettings, next_generation
from symseed.space.constraints import PAPER, Repeat

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 1)
SPACE = SearchSpace(LIBRARY, 4, 20)
UNCHANGED = VariationSettings(crossover=0.0, mutation=0.0)


def task() -> RegressionTask:
    x = np.random.default_rng(0).uniform(0.0, 2.0, 20)
    return RegressionTask(LIBRARY, Dataset.of(x, np.log(x + 1.0) + np.log(x * x + 1.0)))


def generations(
    evolution: EvolutionSettings, *, seed: int = 0, run: int = 0, count: int = 200, space: SearchSpace = SPACE
) -> tuple[Scored, list[Generation]]:
    """Return the seeds, and every generation."""
    scorer = task()
    seeds = scorer.evaluate(space.sample(count, seed=1))
    return seeds, list(evolve(space, scorer, seeds, evolution, seed=seed, run=run))


def keys(population: Population) -> list[bytes]:
    return [row.tobytes() for row in population.fingerprints]


class CountingTask:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.inner = task()
        self.calls = 0

    @property
    def counts(self) -> Counts:
        return self.inner.counts

    def evaluate(self, population: Population) -> Scored:
        self.calls += 1
        return self.inner.evaluate(population)


@pytest.mark.parametrize("count", [0, 1, 7])
def test_there_are_as_many_generations_as_asked_for(count: int) -> None:
    seeds, found = generations(EvolutionSettings(count))
    assert len(found) == count
    assert all(len(generation.scored) == len(seeds) for generation in found)


def test_what_is_charged_is_what_was_touched() -> None:
    """A row is untouched if its pair does not cross, and it does not mutate: 1 in 4."""
    _, found = generations(EvolutionSettings(40))
    shares = np.array([generation.charged for generation in found]) / 200
    assert shares.mean() == pytest.approx(0.75, abs=0.02)
    assert shares.std() > 0.0
    for crossover, mutation, share in ((0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.2, 0.5, 0.6)):
        _, found = generations(EvolutionSettings(40, VariationSettings(crossover, mutation)))
        shares = np.array([generation.charged for generation in found]) / 200
        assert shares.mean() == pytest.approx(share, abs=0.02 if 0.0 < share < 1.0 else 0.0)


def test_rows_that_were_not_touched_are_parents() -> None:
    seeds, found = generations(EvolutionSettings(10))
    before = set(keys(seeds.population))
    for generation in found:
        new = sum(key not in before for key in keys(generation.scored.population))
        assert 0.1 * 200 < new <= generation.charged
        before = set(keys(generation.scored.population))


def test_every_generation_is_legal_and_scored_as_the_task_scores_it() -> None:
    space = SearchSpace(LIBRARY, 4, 16, constraints=(*PAPER, Repeat(("sin", "exp"), 2)))
    for evolution in (EvolutionSettings(10), EvolutionSettings(10, elitism=3, avoid_seen=2)):
        _, found = generations(evolution, space=space)
        for generation in found:
            np.testing.assert_array_equal(space.violations(generation.scored.population), -1)
            again = task().evaluate(generation.scored.population)
            assert reference.same_bits(again.reward, generation.scored.reward)


def test_evolution_finds_better_rows() -> None:
    seeds, found = generations(EvolutionSettings(25))
    assert found[-1].scored.reward.mean() > seeds.reward.mean() + 0.3
    assert max(generation.scored.reward.max() for generation in found) > seeds.reward.max()


def test_the_first_children_are_those_of_selected_parents() -> None:
    seeds, found = generations(EvolutionSettings(1, UNCHANGED))
    assert set(keys(found[0].scored.population)) < set(keys(seeds.population))
    assert found[0].scored.reward.mean() > seeds.reward.mean() + 0.1


def test_a_tournament_of_0_keeps_each_row_its_own_parent() -> None:
    seeds, _ = generations(EvolutionSettings(0))
    for size in (0, 5):
        varied = next_generation(SPACE, seeds.population, seeds.reward, VariationSettings(tournament=size), seed=0)
        assert np.array_equal(varied.parent, np.arange(200)) == (size == 0)
        untouched = np.flatnonzero(~varied.touched)
        assert 20 < len(untouched) < 100
        parents = seeds.population.take(varied.parent)
        assert keys(varied.population.take(untouched)) == keys(parents.take(untouched))
        assert keys(varied.population) != keys(parents)
    # Without change, generations stay what the seeds were.
    _, found = generations(EvolutionSettings(3, VariationSettings(0.0, 0.0, tournament=0)))
    assert all(keys(generation.scored.population) == keys(seeds.population) for generation in found)


def test_elitism_keeps_the_best_reward_from_falling() -> None:
    def best(evolution: EvolutionSettings, seed: int) -> list[float]:
        seeds, found = generations(evolution, seed=seed, count=30)
        return [float(scored.reward.max()) for scored in (seeds, *(generation.scored for generation in found))]

    blind = VariationSettings(tournament=1)  # chance alone chooses parents, so that much is lost
    for seed in range(5):
        for elitism in (1, 3):
            assert np.all(np.diff(best(EvolutionSettings(30, blind, elitism=elitism), seed)) >= 0.0)
        assert np.any(np.diff(best(EvolutionSettings(30, blind), seed)) < 0.0)


def test_elitism_carries_the_best_different_rows_over_unchanged() -> None:
    seeds, found = generations(EvolutionSettings(5, elitism=4))
    for before, after in itertools.pairwise([seeds, *(generation.scored for generation in found)]):
        assert keys(after.population)[:4] == keys(before.best(4).population)
    _, everything = generations(EvolutionSettings(3, elitism=10_000), count=20)
    assert all(len(generation.scored) == 20 for generation in everything)


def test_avoiding_what_was_seen_makes_more_rows_new() -> None:
    def share(avoid_seen: int) -> float:
        seeds, found = generations(EvolutionSettings(10, avoid_seen=avoid_seen))
        populations = [seeds.population, *(generation.scored.population for generation in found)]
        return len({key for population in populations for key in keys(population)}) / (11 * 200)

    assert share(1) > share(0) + 0.03
    assert share(5) > share(1) + 0.1


def test_avoiding_what_was_seen_charges_no_more() -> None:
    charged = [sum(g.charged for g in generations(EvolutionSettings(10, avoid_seen=n))[1]) for n in (0, 5)]
    assert charged[1] == pytest.approx(charged[0], rel=0.05)


def test_generations_are_made_only_when_they_are_asked_for() -> None:
    counting = CountingTask()
    seeds = counting.evaluate(SPACE.sample(50, seed=0))
    endless = evolve(SPACE, counting, seeds, EvolutionSettings(1_000_000), seed=0)
    assert counting.calls == 1
    first = list(itertools.islice(endless, 3))
    assert len(first) == 3
    assert counting.calls == 4


def test_the_same_seed_and_run_give_the_same_generations() -> None:
    evolution = EvolutionSettings(6, elitism=2, avoid_seen=2)

    def rows(seed: int, run: int) -> list[list[bytes]]:
        return [keys(generation.scored.population) for generation in generations(evolution, seed=seed, run=run)[1]]

    expected = rows(1, 2)
    assert rows(1, 2) == expected
    for other in (rows(2, 2), rows(1, 3)):
        assert all(a != b for a, b in zip(other, expected, strict=True))
    assert all(a != b for a, b in itertools.combinations(expected, 2))


@pytest.mark.parametrize(
    "values", [{"generations": -1}, {"elitism": -1}, {"avoid_seen": -1}, {"avoid_seen": 256}, {"generations": 2**30}]
)
def test_settings_out_of_range_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=r"must be from 0 to \d+, but it is"):
        EvolutionSettings(**values)  # type: ignore[arg-type]


# --- The best of all -------------------------------------------------------------------------------------------------

X1, SIN = LIBRARY.ids(["x1"])[0], LIBRARY.ids(["sin"])[0]
POOL = Population.from_expressions(
    [Expression(LIBRARY, Row((SIN,) * depth + (X1,), (math.nan,) * (depth + 1))) for depth in range(12)]
)
"""Rows no two of which are alike; a row's number is its length less 1."""
Entries = list[tuple[int, float]]
rewards = st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 1.0, 2.0])


def add_all(size: int, batches: list[Entries]) -> Entries:
    elite = Elite(size)
    assert elite.best is None
    for batch in batches:
        rows = np.array([row for row, _ in batch], dtype=np.intp)
        elite.add(Scored.of(POOL.take(rows), [reward for _, reward in batch]))
    best = elite.best
    assert best is not None
    return [(int(n) - 1, float(r)) for n, r in zip(best.population.lengths, best.reward, strict=True)]


def best_of_all(size: int, batches: list[Entries]) -> Entries:
    found: dict[int, float] = {}
    for row, reward in sorted(itertools.chain(*batches), key=lambda entry: -entry[1]):
        found.setdefault(row, reward)
    return list(found.items())[:size]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 11), min_size=1, max_size=10), min_size=1, max_size=6),
    st.lists(rewards, min_size=12, max_size=12),
    st.integers(1, 8),
)
def test_the_elite_is_the_best_different_of_all(batches: list[list[int]], reward: list[float], size: int) -> None:
    entries = [[(row, reward[row]) for row in batch] for batch in batches]
    assert add_all(size, entries) == best_of_all(size, entries)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_of_equal_rewards_the_earlier_stays(size: int) -> None:
    assert add_all(size, [[(3, 1.0), (1, 1.0)], [(0, 1.0)], [(2, 1.0)]]) == [(3, 1.0), (1, 1.0), (0, 1.0)][:size]


@pytest.mark.parametrize("size", [1, 2])
def test_rows_of_the_least_reward_are_taken_while_there_is_nothing_better(size: int) -> None:
    assert add_all(size, [[(3, -math.inf)]]) == [(3, -math.inf)]
    assert add_all(size, [[(3, -math.inf)], [(1, 0.0)]])[0] == (1, 0.0)


def test_a_function_can_be_evolved_towards() -> None:
    shortest = FunctionTask(LIBRARY, lambda expression: -float(len(expression)))
    seeds = shortest.evaluate(SPACE.sample(100, seed=0))
    *_, last = evolve(SPACE, shortest, seeds, EvolutionSettings(20), seed=0)
    assert seeds.population.lengths.mean() > 10.0
    assert last.scored.population.lengths.mean() < 6.0
