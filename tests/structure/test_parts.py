"""Parts: sums, products and parities that the data have are found on any samples, and nothing in noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symseed import Dataset
from symseed.arrays import Floats
from symseed.structure.parts import Parts


def uniform(seed: int, rows: int, columns: int, low: float = 0.0, high: float = 1.0) -> Floats:
    return np.random.default_rng(seed).uniform(low, high, (rows, columns))


def parts(X: Floats, y: Floats, noise: float = 0.0, **more: object) -> Parts:
    data = Dataset.of(X, y)
    data = data.with_noise(noise, seed=1) if noise else data
    return Parts(data, range(data.X.shape[1]), **more)  # type: ignore[arg-type]


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
        assert parts(x[:, None], y, noise).parity(0) == expected
    both = parts(np.stack([other, x], axis=1), np.exp(other) * np.sin(x), noise)
    assert [both.parity(place) for place in range(2)] == [0, -1]


def test_parity_needs_samples_on_both_sides_of_0() -> None:
    x = uniform(0, 40, 1, 0.1, 2.0)
    assert parts(x, x[:, 0] ** 2).parity(0) == 0


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
    assert [split.is_product for split in parts(X, function(*X.T), noise).splits()] == expected


def test_the_parts_of_a_split_are_those_of_the_target() -> None:
    a, b, c = (X := uniform(3, 150, 3, 0.5, 1.5)).T
    splits = parts(X, np.exp(a) + b * c).splits()
    assert [(split.group, split.is_product) for split in splits] == [((0,), False)]
    found = splits[0]
    assert np.ptp(found.first - np.exp(a)) < 1e-3, "but for a number"
    assert np.ptp(found.second - b * c) < 1e-3
    assert (found.first_weights == 1.0).all()
    splits = parts(X, np.sin(a) * (1.0 + b * c)).splits()
    assert [(split.group, split.is_product) for split in splits] == [((0,), True)]
    found = splits[0]
    for values, part in ((found.first, np.sin(a)), (found.second, 1.0 + b * c)):
        assert values / values[0] == pytest.approx(part / part[0], abs=2e-3), "but for a factor"
    assert found.first_weights / found.first_weights[0] == pytest.approx(((1 + b * c) / (1 + b * c)[0]) ** 2, rel=5e-3)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_parts_of_several_columns_are_found_beside_each_other(noise: float) -> None:
    """A split of a part of another split is left out: three products in a sum are two splits at most."""
    a, b, c, d, e, f = (X := uniform(3, 200, 6, 1.0, 3.0)).T
    splits = parts(X, a * b + c * d + e * f, noise).splits()
    assert splits
    assert {split.group for split in splits} <= {(0, 1), (2, 3), (4, 5)}
    assert not any(split.is_product for split in splits)
    assert len(splits) == 1, "the others are splits of its second part"


def test_neither_a_grid_nor_a_polynomial_is_needed() -> None:
    """1 / (1 + x^-4) has no short polynomial on this range."""
    X = uniform(0, 200, 2, -5.0, 5.0)
    (split,) = parts(X, np.sum(1.0 / (1.0 + X**-4.0), axis=1)).splits()
    assert not split.is_product
    assert np.ptp(split.first - 1.0 / (1.0 + X[:, 0] ** -4.0)) < 1e-3


def test_samples_of_little_weight_do_not_decide() -> None:
    X = uniform(3, 80, 2, -1.0, 1.5)
    y = np.sin(X[:, 0]) + np.exp(X[:, 1])
    is_wrong = np.arange(80) % 8 == 0
    spoilt = Dataset.of(X, np.where(is_wrong, y + 5.0 * X[:, 0] * X[:, 1], y), weights=np.where(is_wrong, 1e-6, 1.0))
    found = Parts(spoilt, range(2)).splits()
    assert [split.is_product for split in found] == [False]
    with_equal = Parts(Dataset.of(spoilt.X, spoilt.y), range(2)).splits()
    assert with_equal == [] or with_equal[0].error > 100.0 * found[0].error, "with equal weights they do"


@pytest.mark.parametrize("count", [1, 2, 5, 60])
def test_noise_has_no_parts(count: int) -> None:
    for seed in range(5):
        found = parts(uniform(seed, count, 2), np.random.default_rng(50 + seed).normal(size=count))
        assert [found.parity(0), found.parity(1)] == [0, 0]
        assert found.splits() == []


def test_many_samples_are_thinned_out_and_all_have_desired_values() -> None:
    X = uniform(3, 1_000, 2, -1.0, 1.5)
    (split,) = parts(X, np.sin(X[:, 0]) + np.exp(X[:, 1]), 0.01).splits()
    assert split.first.shape == split.second_weights.shape == (1_000,)
    assert np.std(split.first - np.sin(X[:, 0])) < 0.05


def test_nothing_is_drawn_once_time_is_up() -> None:
    X = uniform(3, 60, 2, -1.0, 1.5)
    late = parts(X, np.sin(X[:, 0]) + np.exp(X[:, 1]), is_late=lambda: True)
    assert late.splits() == []
    assert late.parity(0) == 0
