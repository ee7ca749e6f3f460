"""The network as a policy: it gives the first samples, the LSTM learns, and a search works with both."""

from __future__ import annotations

import numpy as np
import pytest
from networks import LIBRARY, SMALL, random_network

from symseed import Budget, Dataset, RegressionTask, SearchSettings, SearchSpace, SettingsError, search
from symseed.network import NetworkPolicy, NetworkSettings, Reading
from symseed.search import Lesson
from symseed.search.policy import StatefulPolicy

SPACE = SearchSpace(LIBRARY, 4, 20)


def policy(**settings: float) -> NetworkPolicy:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    reading = Reading(random_network(SMALL), Dataset.of(X, X[:, 0] * X[:, 1]), seed=0)
    return NetworkPolicy(SPACE, reading, NetworkSettings(**settings), seed=7)  # type: ignore[arg-type]


def test_the_first_samples_are_those_of_the_network_then_some() -> None:
    one = policy(later=0.25, rounds=3)
    read = [one.reading.sample(one._short, 40, seed=1, step=step)[0] for step in range(4)]
    drawn = [list(map(str, one.sample(40, seed=1, step=step))) for step in range(4)]
    assert read[0] is not None
    assert read[2] is not None
    assert drawn[0] == list(map(str, read[0]))
    assert drawn[2][:10] == list(map(str, read[2]))[:10]
    assert drawn[3] == list(map(str, one.learner.sample(40, seed=1, step=3)))
    assert all(len(rows) == 40 for rows in drawn)


def test_samples_are_legal() -> None:
    one = policy()
    for step in (0, 1):
        assert (SPACE.violations(one.sample(100, seed=2, step=step)) == -1).all()


def test_the_lstm_learns_and_is_restored() -> None:
    one, other = policy(), policy()
    assert isinstance(one, StatefulPolicy)
    population = one.sample(20, seed=0, step=0)
    before = one.log_probability(population)
    one.ascend(Lesson(population, np.full(20, 0.05)))
    assert one.log_probability(population).sum() > before.sum()
    other.restore(one.snapshot())
    assert (other.log_probability(population) == one.log_probability(population)).all()


def test_a_search_works_with_it_and_repeats_itself() -> None:
    def found() -> search.SearchResult:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 3))
        data = Dataset.of(X, np.sin(X[:, 0]) * X[:, 1] + X[:, 2])
        reading = Reading(random_network(SMALL), data, seed=0)
        task = RegressionTask(LIBRARY, data)
        budget = Budget(expressions=20_000)
        settings = SearchSettings(batch=100)
        return search.run(SPACE, task, settings, budget=budget, policy=NetworkPolicy(SPACE, reading, seed=3))

    one, same = found(), found()
    assert str(one.best) == str(same.best)
    assert one.reward > 0.9


@pytest.mark.parametrize("settings", [{"first": 1.5}, {"later": -0.1}, {"rounds": -1}, {"temperature": 0.0}])
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(settings))):
        NetworkSettings(**settings)  # type: ignore[arg-type]
