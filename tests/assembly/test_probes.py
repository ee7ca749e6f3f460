"""Probes: what the data say of a formula's structure, and what they do not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from symseed import Dataset
from symseed.arrays import Floats
from symseed.assembly import probes


def uniform(seed: int, samples: int, variables: int, low: float = -2.0, high: float = 2.0) -> Floats:
    return np.random.default_rng(seed).uniform(low, high, (samples, variables))


def grid(*axes: Floats) -> Floats:
    return np.array(list(itertools.product(*axes)))


LEFT, RIGHT = np.linspace(-3.0, 3.0, 9), np.linspace(0.5, 2.0, 6)


@pytest.mark.parametrize("seed", range(4))
def test_the_variables_that_matter_come_first(seed: int) -> None:
    X = uniform(seed, 200, 10)
    found = probes.relevance(Dataset.of(X, np.exp(X[:, 3]) + X[:, 7] ** 2))
    assert set(np.argsort(-found)[:2]) == {3, 7}
    assert found[[3, 7]].min() > 0.1
    assert np.abs(np.delete(found, [3, 7])).max() < 0.1


def test_chance_is_taken_off() -> None:
    """Of noise alone no variable explains anything, on average."""
    shares = [
        probes.relevance(Dataset.of(uniform(seed, 60, 5), np.random.default_rng(99 + seed).normal(size=60)))
        for seed in range(20)
    ]
    assert abs(np.mean(shares)) < 0.02


def test_relevance_takes_any_number_of_samples() -> None:
    for count in (2, 3, 5):
        assert np.isfinite(probes.relevance(Dataset.of(uniform(0, count, 2), np.arange(count)))).all()
    assert probes.relevance(Dataset.of(uniform(0, 30, 1), np.full(30, 2.0))).shape == (1,)


def test_a_column_is_as_relevant_beside_any_number_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.round(uniform(1, 50, 30), 1)
    y = X[:, 4] ** 2
    alone = [probes.relevance(Dataset.of(X[:, [column]], y))[0] for column in range(30)]
    assert probes.relevance(Dataset.of(X, y)).tolist() == alone
    monkeypatch.setattr(probes, "_AT_ONCE", 200)
    assert probes.relevance(Dataset.of(X, y)).tolist() == alone


def test_equal_values_do_not_make_the_order_of_the_rows_count() -> None:
    X = uniform(0, 1_000, 3)
    X = X[X[:, 0].argsort()]
    found = probes.relevance(Dataset.of(X, X[:, 1] > 1.6))
    assert found[1] > 0.1
    assert np.abs(found[[0, 2]]).max() < 0.02


def test_relevance_takes_a_single_sample() -> None:
    assert probes.relevance(Dataset.of([[1.0, 2.0]], [3.0])).tolist() == [0.0, 0.0]


def test_a_wave_that_changes_sign_with_another_is_found_with_its_help() -> None:
    """Like Neat-7: the grid is so coarse that the doubled frequency of the square is none that it can show."""
    X = grid(np.linspace(-50.0, 50.0, 316), np.linspace(-50.0, 50.0, 40))
    data = Dataset.of(X, 2.0 - 2.1 * np.cos(9.8 * X[:, 0]) * np.sin(0.6 * X[:, 1]))
    carriers = [(1, probes.frequencies(data, 1)[0])]
    assert carriers[0][1] == pytest.approx(0.6, abs=0.01)
    assert all(abs(frequency - 9.8) > 0.1 for frequency in probes.frequencies(data, 0))
    assert probes.frequencies(data, 0, carriers=carriers)[0] == pytest.approx(9.8, abs=0.01)


def test_the_frequencies_of_a_product_are_found() -> None:
    """Korns-12: 2 - 2.1 cos(9.8 x1) sin(1.3 x2)."""
    X = uniform(0, 2000, 2, -50.0, 50.0)
    data = Dataset.of(X, 2.0 - 2.1 * np.cos(9.8 * X[:, 0]) * np.sin(1.3 * X[:, 1]))
    for column, frequency in ((0, 9.8), (1, 1.3)):
        found = probes.frequencies(data, column)
        assert found
        assert min(abs(value - frequency) for value in found) < 0.01
        assert all(abs(value - frequency) < 0.05 for value in found), "and no other"


def waves() -> Dataset:
    X = uniform(1, 600, 1, 0.0, 30.0)
    return Dataset.of(X, np.sin(5.0 * X[:, 0]) + 3.0 * np.cos(2.0 * X[:, 0] + 1.0))


def test_the_strongest_frequency_of_a_sum_is_found_first() -> None:
    assert probes.frequencies(waves(), 0)[0] == pytest.approx(2.0, abs=0.01)
    assert probes.frequencies(waves(), 0, most=1)[0] == pytest.approx(2.0, abs=0.01)


def test_the_other_frequency_of_a_sum_is_found_too() -> None:
    found = probes.frequencies(waves(), 0)
    assert any(value == pytest.approx(5.0, abs=0.01) for value in found)
    assert len({round(value, 3) for value in found}) == len(found), "each once"


def test_noise_has_no_frequency() -> None:
    for seed in range(5):
        X = uniform(seed, 500, 1, -50.0, 50.0)
        assert probes.frequencies(Dataset.of(X, np.random.default_rng(50 + seed).normal(size=500)), 0) == []


@pytest.mark.parametrize("variables", [1, 2])
def test_a_trend_has_no_frequency(variables: int) -> None:
    X = uniform(0, 500, variables, -50.0, 50.0)
    assert probes.frequencies(Dataset.of(X, X[:, 0] ** 2), 0) == []


def test_a_variable_that_does_not_matter_or_has_few_values_has_no_frequency() -> None:
    X = uniform(0, 500, 2, -50.0, 50.0)
    y = np.sin(3.0 * X[:, 0])
    assert probes.frequencies(Dataset.of(X, y), 1) == []
    assert probes.frequencies(Dataset.of(np.round(X / 10.0), y), 0) == []
    assert probes.frequencies(Dataset.of(np.ones(500), y), 0) == []
    assert probes.frequencies(Dataset.of(X, np.full(500, 3.0)), 0) == []
