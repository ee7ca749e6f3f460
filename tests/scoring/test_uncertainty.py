"""Uncertainty: standard errors and intervals against textbook formulas and against repeated noise."""

from __future__ import annotations

import numpy as np
import pytest

from symseed import Dataset, Expression, Library
from symseed.language.population import Population
from symseed.scoring.evaluation import fit_to_convergence
from symseed.scoring.uncertainty import MOST_SAMPLES, Uncertainty

LIBRARY = Library.of(["add", "sub", "mul", "div", "exp"], 1).with_constant()


def fitted(formula: str, data: Dataset) -> Expression:
    start = Population.from_expressions([Expression.parse(formula, LIBRARY)])
    return fit_to_convergence(start, data, most=20)[0][0]


@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_a_straight_line_has_the_errors_of_the_textbook(weight: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 5.0, 40)
    y = 1.7 * x - 2.3 + rng.normal(0.0, 0.3, 40)
    data = Dataset.of(x[:, None], y, np.full(40, weight))
    found = Uncertainty.of(fitted("1.1 * x1 + 1.1", data), data, 40)
    slope, offset = np.polyfit(x, y, 1)
    design = np.stack([x, np.ones(40)], axis=1)
    variance = np.sum((y - slope * x - offset) ** 2) / 38
    covariance = variance * np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(found.values, [slope, offset], rtol=1e-6)
    np.testing.assert_allclose(found.standard_errors, np.sqrt(np.diagonal(covariance)), rtol=1e-6)
    new = np.array([0.0, 2.5, 9.0])
    at = np.stack([new, np.ones(3)], axis=1)
    expected = np.sqrt(variance * weight + np.sum((at @ covariance) * at, axis=1))
    np.testing.assert_allclose(found.deviation(new[:, None]), expected, rtol=1e-6)
    assert found.freedom == 38


def test_intervals_hold_the_truth_and_new_samples_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    x = np.linspace(0.0, 3.0, 15)
    holds, covers = [], []
    for _ in range(300):
        y = 2.5 * np.exp(-0.8 * x) + rng.normal(0.0, 0.05, 15)
        data = Dataset.of(x[:, None], y)
        found = Uncertainty.of(fitted("2.4 * exp(-0.7 * x1)", data), data, 15)
        width = found.quantile(0.95)
        holds += list(np.abs(found.values - [2.5, -0.8]) <= width * found.standard_errors)
        new = rng.uniform(0.0, 3.0, (4, 1))
        samples = 2.5 * np.exp(-0.8 * new[:, 0]) + rng.normal(0.0, 0.05, 4)
        covers += list(np.abs(found.expression.evaluate(new) - samples) <= width * found.deviation(new))
    assert 0.92 < np.mean(holds) < 0.975
    assert 0.93 < np.mean(covers) < 0.97


def test_what_the_data_do_not_determine_is_infinite() -> None:
    x = np.linspace(1.0, 2.0, 20)
    data = Dataset.of(x[:, None], 3.0 * x + np.random.default_rng(0).normal(0.0, 0.1, 20))
    redundant = Expression.parse("1.5 * (2.0 * x1)", LIBRARY)
    assert np.isinf(Uncertainty.of(redundant, data, 20).standard_errors).all()
    few = Dataset.of(x[:2, None], x[:2])
    assert np.isinf(Uncertainty.of(Expression.parse("1.5 * x1 + 2.5", LIBRARY), few, 2).standard_errors).all()
    none = Uncertainty.of(Expression.parse("x1 + x1", LIBRARY), data, 20)
    assert none.standard_errors.shape == (0,)
    np.testing.assert_allclose(none.deviation(x[:, None]), none.noise)


def test_a_large_table_is_judged_by_a_sample_of_it() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 5.0, 4 * MOST_SAMPLES)
    y = 1.7 * x - 2.3 + rng.normal(0.0, 0.3, len(x))
    sample = Dataset.of(x[:MOST_SAMPLES, None], y[:MOST_SAMPLES])
    slope, offset = np.polyfit(x, y, 1)
    line = Expression.parse(f"{float(slope)!r} * x1 + {float(offset)!r}", LIBRARY)
    found = Uncertainty.of(line, sample, len(x))
    design = np.stack([x, np.ones(len(x))], axis=1)
    expected = 0.3 * np.sqrt(np.diagonal(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose(found.standard_errors, expected, rtol=0.03)
