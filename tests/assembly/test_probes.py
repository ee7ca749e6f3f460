"""Probes: what the data say of a formula's structure, and what they do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable

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


def test_a_sum_on_a_grid_falls_into_its_parts() -> None:
    X = grid(LEFT, RIGHT)
    rows = np.random.default_rng(0).permutation(len(X))
    parts = probes.sum_of_parts(Dataset.of(X[rows], (np.sin(X[:, 0]) + np.log(X[:, 1]) + 5.0)[rows]))
    assert parts is not None
    np.testing.assert_allclose(parts.points[0], LEFT)
    np.testing.assert_allclose(parts.points[1], RIGHT)
    np.testing.assert_allclose(parts.values[0], np.sin(LEFT) - np.sin(LEFT).mean(), atol=1e-14)
    np.testing.assert_allclose(parts.values[1], np.log(RIGHT) - np.log(RIGHT).mean(), atol=1e-14)
    assert parts.offset == pytest.approx(5.0 + np.sin(LEFT).mean() + np.log(RIGHT).mean())


def test_a_sum_of_three_variables_falls_into_three_parts() -> None:
    X = grid(LEFT, RIGHT, np.array([0.0, 1.0, 5.0]))
    parts = probes.sum_of_parts(Dataset.of(X, X[:, 0] ** 3 + np.exp(X[:, 1]) - X[:, 2]))
    assert parts is not None
    np.testing.assert_allclose(parts.values[2], [2.0, 1.0, -3.0], atol=1e-12)


def test_what_is_no_sum_or_no_grid_has_no_parts() -> None:
    X = grid(LEFT, RIGHT)
    assert probes.sum_of_parts(Dataset.of(X, X[:, 0] * X[:, 1])) is None
    assert probes.sum_of_parts(Dataset.of(X, X[:, 0] + X[:, 1] + 1e-6 * X[:, 0] * X[:, 1])) is None
    assert probes.sum_of_parts(Dataset.of(X[1:], X[1:, 0] + X[1:, 1])) is None
    twice = np.concatenate([X[:-1], X[:1]])
    assert probes.sum_of_parts(Dataset.of(twice, twice.sum(axis=1))) is None
    scattered = uniform(0, 54, 2)
    assert probes.sum_of_parts(Dataset.of(scattered, scattered.sum(axis=1))) is None
    assert probes.sum_of_parts(Dataset.of(LEFT, LEFT)) is None, "one variable"
    flat = grid(LEFT, np.array([2.0]))
    assert probes.sum_of_parts(Dataset.of(flat, flat[:, 0])) is None, "a variable that does not change"


def structure(X: Floats, y: Floats, noise: float = 0.0) -> probes.Structure:
    data = Dataset.of(X, y)
    return probes.Structure(data.with_noise(noise, seed=1) if noise else data, range(data.X.shape[1]))


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_parity_is_that_of_the_function(noise: float) -> None:
    x, other = uniform(0, 40, 2, -1.5, 1.5).T
    for y, expected in (
        (np.exp(-(x**2)), 1),
        (np.cosh(x) * np.cos(x), 1),
        (np.sin(x) + x**3, -1),
        (np.exp(x), 0),
        (x**2 + 0.3 * x, 0),
    ):
        assert structure(x[:, None], y, noise).parity(0) == expected
    both = structure(np.stack([other, x], axis=1), np.exp(other) * np.sin(x), noise)
    assert [both.parity(place) for place in range(2)] == [0, -1]


def test_parity_needs_samples_on_both_sides_of_0() -> None:
    x = uniform(0, 40, 1, 0.1, 2.0)
    assert structure(x, x[:, 0] ** 2).parity(0) == 0


SUMS_AND_PRODUCTS: dict[str, tuple[Callable[[Floats, Floats], Floats], list[bool]]] = {
    "a sum": (lambda a, b: np.sin(a) + np.exp(b), [False]),
    "a product": (lambda a, b: np.sin(a) * np.exp(b), [True]),
    "neither": (lambda a, b: np.exp(a * b), []),
}


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("name", SUMS_AND_PRODUCTS)
def test_a_target_is_split_as_it_is_made(name: str, noise: float) -> None:
    function, expected = SUMS_AND_PRODUCTS[name]
    X = uniform(3, 60, 2, -1.0, 1.5)
    assert [split.is_product for split in structure(X, function(*X.T), noise).splits()] == expected


def test_the_parts_of_a_split_are_those_of_the_target() -> None:
    a, b, c = (X := uniform(3, 150, 3, 0.5, 1.5)).T
    splits = structure(X, np.exp(a) + b * c).splits()
    assert [(split.place, split.is_product) for split in splits] == [(0, False)]
    found = splits[0]
    assert np.ptp(found.first - np.exp(a)) < 1e-4, "but for a number"
    assert np.ptp(found.second - b * c) < 1e-4
    assert (found.first_weights == 1.0).all()
    splits = structure(X, np.sin(a) * (1.0 + b * c)).splits()
    assert [(split.place, split.is_product) for split in splits] == [(0, True)]
    found = splits[0]
    for values, part in ((found.first, np.sin(a)), (found.second, 1.0 + b * c)):
        assert values / values[0] == pytest.approx(part / part[0], abs=1e-3), "but for a factor"
    assert found.first_weights / found.first_weights[0] == pytest.approx(((1 + b * c) / (1 + b * c)[0]) ** 2, rel=1e-3)


@pytest.mark.parametrize("count", [1, 2, 5, 60])
def test_noise_has_no_structure(count: int) -> None:
    for seed in range(5):
        found = structure(uniform(seed, count, 2), np.random.default_rng(50 + seed).normal(size=count))
        assert [found.parity(0), found.parity(1)] == [0, 0]
        assert found.splits() == []


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
