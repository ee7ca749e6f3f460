"""Certainty: laws are told from series that imitate them to rounding."""

from __future__ import annotations

import numpy as np
import pytest

from symseed import Dataset, Expression, Library
from symseed.arrays import Floats
from symseed.language.population import Population
from symseed.scoring.certainty import DETERMINED, is_certain, least_determined
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import evaluate, fit_to_convergence

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "exp", "log"], 1).with_constant()
X = np.linspace(-1.0, 1.0, 60)[:, None]


def judged(formula: str, y: Floats, X: Floats = X) -> tuple[bool, float, float]:
    """Whether a formula, its constants fitted, is certain; its least determined constant; and its error's share."""
    data = Dataset.of(X, y)
    population, _ = fit_to_convergence(Population.from_expressions([Expression.parse(formula, LIBRARY)]), data, most=20)
    error = float(data.mean_squares(evaluate(population, data).error)[0])
    description = float(description_lengths(population, data)[0])
    certain = is_certain(population, 0, data, mean_square=error, description=description)
    return certain, least_determined(population, 0, data, error), np.sqrt(error) / data.deviation


def polynomial(powers: list[int]) -> str:
    return " + ".join(["0.1 * " + " * ".join(["x1"] * power) for power in powers])


@pytest.mark.parametrize(
    ("formula", "target"),
    [
        ("1.2 * x1 + 2.2", lambda x: 1.2345 * x + 2.1717),
        ("1.2 * exp(0.7 * x1)", lambda x: 1.3137 * np.exp(0.7171 * x)),
        (polynomial([1, 2, 5]), lambda x: 0.717 * x - 1.313 * x**2 + 0.3177 * x**5),
        ("x1 / (x1 + 2.4)", lambda x: x / (x + 2.4361)),
        ("sin(x1) + x1", lambda x: np.sin(x) + x),
        ("1.3 * x1 + 0.001 * x1 * x1", lambda x: 1.37 * x + 3.3e-6 * x * x),
    ],
)
def test_a_law_is_certain(formula: str, target: object) -> None:
    assert callable(target)
    certain, ratio, error = judged(formula, target(X[:, 0]))
    assert error < 1e-10
    assert ratio > 100.0 * DETERMINED
    assert certain


@pytest.mark.parametrize(
    ("powers", "target"),
    [
        ([1, 3, 5, 7, 9, 11, 13], lambda x: np.sinh(2.0 * x)),
        ([0, 2, 4, 6, 8, 10], np.cosh),
        ([1, 3, 5, 7, 9, 11], np.sin),
    ],
)
def test_a_series_that_imitates_a_law_is_not_certain(powers: list[int], target: object) -> None:
    assert callable(target)
    formula = polynomial([power for power in powers if power]) + (" + 0.1" if 0 in powers else "")
    certain, ratio, error = judged(formula, target(X[:, 0]))
    assert error < 1e-10, "it fits to rounding, as far as a search can tell"
    assert ratio < 0.1 * DETERMINED
    assert not certain


def test_a_formula_as_long_as_what_it_explains_is_not_certain() -> None:
    x = np.array([[0.3], [0.7], [1.9]])
    long = "sin(exp(sin(x1)) * x1) / (x1 + sin(x1 * exp(x1))) + log(x1 + exp(x1 * sin(x1)))"
    values = Expression.parse(long, LIBRARY).evaluate(x)
    certain, ratio, error = judged(long, values, x)
    assert error < 1e-10
    assert np.isinf(ratio), "it has no constants"
    assert not certain
    many = np.linspace(0.3, 1.9, 60)[:, None]
    assert judged(long, Expression.parse(long, LIBRARY).evaluate(many), many)[0], "sixty samples say more than three"
