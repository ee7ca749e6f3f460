"""A front keeps the best few rows of each length that it was shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import random_population
from symseed import Expression, Library, Population
from symseed.scoring.task import Scored
from symseed.search.elite import Front
from symseed.search.learning import Part

LIBRARY = Library.of(["add", "mul", "sin", "const"], 2)


def scored(rewards: dict[str, float]) -> Scored:
    population = Population.from_expressions([Expression.parse_prefix(prefix, LIBRARY) for prefix in rewards])
    return Scored.of(population, list(rewards.values()))


def kept(front: Front) -> list[str]:
    population = front.population
    return [] if population is None else [expression.prefix for expression in population]


def test_nothing_is_kept_at_first() -> None:
    assert Front(10).population is None


def test_the_best_of_each_length_are_kept_shortest_first_and_best_first() -> None:
    front = Front(10, kept=2)
    front.add(scored({"add x1 x2": 0.5, "sin x1": 0.1, "mul x1 x2": 0.7, "x1": 0.9, "add x1 x1": 0.2}), Part.POLICY)
    assert kept(front) == ["x1", "sin x1", "mul x1 x2", "add x1 x2"]
    front.add(scored({"mul x2 x2": 0.6, "sin x2": 0.3, "x2": 0.1}), Part.POLICY)
    assert kept(front) == ["x1", "x2", "sin x2", "sin x1", "mul x1 x2", "mul x2 x2"]
    front.add(scored({"add x2 x2": 0.55, "add x2 x1": 0.6}), Part.POLICY)
    assert kept(front)[-2:] == ["mul x1 x2", "mul x2 x2"], "of equals the first stays"


def test_a_row_is_kept_once_however_often_it_is_shown() -> None:
    front = Front(10, kept=3)
    for _ in range(3):
        front.add(scored({"sin x1": 0.5}), Part.POLICY)
    front.add(scored({"sin x2": 0.4}), Part.POLICY)
    assert kept(front) == ["sin x1", "sin x2"]


def test_rows_that_failed_are_left_out() -> None:
    rows = scored({"sin x1": 0.5, "sin x2": 0.6})
    front = Front(10)
    front.add(replace(rows, failure=np.array([0, 1], dtype=np.uint8)), Part.POLICY)
    assert kept(front) == ["sin x1"]


def test_constants_stay_with_their_rows() -> None:
    front = Front(10, kept=2)
    front.add(scored({"add x1 const(2.5)": 0.5, "add x1 const(3.5)": 0.6, "add x1 const(4.5)": 0.1}), Part.POLICY)
    assert kept(front) == ["add x1 const(3.5)", "add x1 const(2.5)"]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 4))
def test_however_it_was_shown_the_front_is_that_of_all_rows_together(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    population = random_population(rng, LIBRARY, 60, 9)
    rewards = rng.permutation(60).astype(float)
    front = Front(9, kept=count)
    for rows in np.array_split(np.arange(60), 5):
        front.add(Scored.of(population.take(rows), rewards[rows]), Part.POLICY)
    best: dict[int, dict[str, float]] = {}
    for row, reward in sorted(zip(population, rewards, strict=True), key=lambda pair: -pair[1]):
        best.setdefault(len(row), {}).setdefault(row.prefix, reward)
    expected = [prefix for length in sorted(best) for prefix in list(best[length])[:count]]
    # A row that is shown again with a smaller reward has that of the first, so one that differs is no news.
    assert kept(front) == expected


@pytest.mark.parametrize("longest", [1, 3])
def test_rows_longer_than_said_are_kept_all_the_same(longest: int) -> None:
    front = Front(longest, kept=1)
    front.add(scored({"x1": 0.1, "add sin x1 x2": 0.5}), Part.POLICY)
    assert kept(front) == ["x1", "add sin x1 x2"]


def test_each_row_has_the_part_that_found_it_first_and_a_copy_of_the_front_too() -> None:
    front = Front(10, kept=2)
    front.add(scored({"x1": 0.1, "add x1 x2": 0.5}), Part.POLICY)
    front.add(scored({"add x1 x2": 0.5, "mul x1 x2": 0.9}), Part.EVOLUTION)
    assert kept(front) == ["x1", "mul x1 x2", "add x1 x2"]
    assert front.parts == (Part.POLICY, Part.EVOLUTION, Part.POLICY)
    copy = Front(10, kept=2)
    assert front.scored is not None
    copy.restore(front.scored, front.parts)
    assert (kept(copy), copy.parts) == (kept(front), front.parts)
    assert Front(10).parts == ()
