"""The network as a policy: it gives the first samples, the LSTM learns, and a search works with both."""

from __future__ import annotations

import numpy as np
import pytest
from networks import LIBRARY, SMALL, random_network

from symseed import Budget, Dataset, Library, RegressionTask, SearchSettings, SearchSpace, SettingsError, search
from symseed.network import NetworkPolicy, NetworkSettings, Reading
from symseed.network.policy import Seeding, readable
from symseed.search import Lesson
from symseed.search.policy import StatefulPolicy

SPACE = SearchSpace(LIBRARY, 4, 20)


def policy(**settings: float) -> NetworkPolicy:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    reading = Reading(random_network(SMALL), Dataset.of(X, X[:, 0] * X[:, 1]), seed=0)
    return NetworkPolicy(SPACE, reading, NetworkSettings(**settings), seed=7)  # type: ignore[arg-type]


def drawn(one: NetworkPolicy, step: int, count: int = 40) -> list[str]:
    return list(map(str, one.sample(count, seed=1, step=step)))


def test_the_network_gives_its_share_of_some_rounds_and_the_lstm_the_rest() -> None:
    one = policy(first=0.75, later=0.25, every=2, begins=1, rounds=4, has_scale=False)
    space = readable(SPACE, one.reading.network)
    read = {step: one.reading.sample(space, count, seed=1, step=step)[0] for step, count in ((1, 30), (3, 10))}
    lstm = {step: list(map(str, one.learner.sample(40, seed=1, step=step))) for step in range(6)}
    for step in (0, 2, 4, 5):  # before it begins, between its rounds, and after them
        assert drawn(one, step) == lstm[step]
    for step, own in read.items():
        assert own is not None
        assert drawn(one, step)[: len(own)] == list(map(str, own))
        assert len(drawn(one, step)) == 40
    assert drawn(one, 3)[10:] != lstm[3][10:]  # the LSTM gives as many as are left


def test_a_search_with_an_operator_that_it_does_not_know_gets_no_samples_of_it() -> None:
    reading = policy().reading
    wider = SearchSpace(Library.of(["add", "mul", "sin", "tanh", "const"], 3), 4, 20)
    for space, takes_part in ((SPACE, True), (wider, False)):
        one = Seeding(reading, NetworkSettings()).build(space, seed=7)
        is_of_the_lstm = drawn(one, 0) == list(map(str, one.learner.sample(40, seed=1, step=0)))
        assert is_of_the_lstm is not takes_part


def test_formulas_are_written_with_a_scale_where_constants_allow_it() -> None:
    plain, scaled = policy(has_scale=False).sample(60, seed=1, step=0), policy().sample(60, seed=1, step=0)
    assert (SPACE.violations(scaled) == -1).all()
    forms = [str(row) for row in plain]
    found = [str(row) for row in scaled]
    is_scaled = [one != other for one, other in zip(forms, found, strict=True)]
    assert sum(is_scaled) > 30
    for row in np.flatnonzero(is_scaled):
        ids = scaled.row(int(row)).ids
        assert [LIBRARY[place].name for place in ids[:4]] == ["add", "const", "mul", "const"]
        assert ids[4:] == plain.row(int(row)).ids
    without = SearchSpace(LIBRARY.without_constants(), 4, 20)
    own = NetworkPolicy(without, policy().reading, seed=7).sample(60, seed=1, step=0)
    assert (without.violations(own) == -1).all()


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


@pytest.mark.parametrize(
    "settings", [{"first": 1.5}, {"later": -0.1}, {"every": 0}, {"begins": -1}, {"rounds": -1}, {"temperature": 0.0}]
)
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(settings))):
        NetworkSettings(**settings)  # type: ignore[arg-type]
