"""The network that ships: where its numbers come from, and that it has learnt to read a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symseed
from symseed import Dataset, Expression, Library, Population, SearchSpace, SymbolicRegressor
from symseed.arrays import Floats
from symseed.network import Network, Reading
from symseed.scoring import predict

FILE = Path(symseed.__file__).parent / "network" / "network.safetensors"
TOKENS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos", "const")


@pytest.fixture(scope="module")
def network() -> Network:
    found = Network.shipped()
    assert found is not None
    return found


def sampled(network: Network, data: Dataset, count: int = 500) -> tuple[Population, Floats]:
    space = SearchSpace(Library.of([*TOKENS], data.X.shape[1]), 1, 32)
    population, likely = Reading(network, data, seed=0).sample(space, count, seed=0, step=0)
    assert population is not None
    return population, likely


def population(space: SearchSpace, formulas: list[str]) -> Population:
    return Population.from_expressions([Expression.parse(formula, space.library) for formula in formulas])


def test_it_is_small_and_says_how_it_was_made(network: Network) -> None:
    assert FILE.stat().st_size <= 12_000_000
    assert re.fullmatch(r"commit [0-9a-f]{40}, seed \d+, \d+ tables in \d+\.\d minutes on .+", network.training)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_what_it_thinks_most_probable_is_the_law(network: Network, noise: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(1.0, 4.0, (200, 4))
    law = 2.7 * X[:, 3] * X[:, 0] ** 2 / (X[:, 1] + X[:, 2])
    data = Dataset.of(X, law + noise * law.std() * rng.normal(size=200))
    population, likely = sampled(network, data)
    first = predict(population.take(np.array([likely.argmax()])), data).value[0]
    assert np.corrcoef(first, law)[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_the_order_of_columns_makes_no_difference(network: Network) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (60, 3))
    y = X[:, 0] / X[:, 1] + X[:, 2]
    turned = [2, 0, 1]
    space = SearchSpace(Library.of([*TOKENS], 3), 1, 32)
    rows, others = ["x1 / x2 + x3", "x1 * x2", "exp(x3)"], ["x2 / x3 + x1", "x2 * x3", "exp(x1)"]
    own = Reading(network, Dataset.of(X, y), seed=0)
    other = Reading(network, Dataset.of(X[:, turned], y), seed=0)
    likely = own.log_probability(space, population(space, rows))
    same = other.log_probability(space, population(space, others))
    np.testing.assert_allclose(same, likely, rtol=1e-4)
    assert likely[0] > likely[1]


def test_default_uses_it_unless_told_otherwise() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(1.0, 3.0, (80, 5))
    y = X[:, 0] * X[:, 1] / (X[:, 2] + X[:, 3]) + 0.3 * rng.normal(size=80)
    given: dict[str, Any] = {"max_evals": 3_000, "random_state": 0}
    assert SymbolicRegressor(**given).fit(X, y).prior_
    assert not SymbolicRegressor(network=None, **given).fit(X, y).prior_
