"""Rewards against NumPy, metric by metric; and which rows solve a task."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from symseed import Dataset, Expression, Failure, Library, Population, RegressionSettings, RegressionTask, SearchSpace
from symseed.scoring import Validity
from symseed.scoring.reward import Metric, reward

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "exp", "log", 0.0, 2.0, 0.1, 1e160], 1)
FLOATS = npt.NDArray[np.float64]
every_metric = pytest.mark.parametrize("metric", Metric, ids=lambda metric: metric.value)


def dataset(*, weighted: bool = True, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.2, 2.0, 30)
    return Dataset.of(x, np.sin(x) + x**2, rng.uniform(0.0, 2.0, 30) if weighted else None)


def rows(*texts: str) -> Population:
    return Population.from_expressions([Expression.parse(text, LIBRARY) for text in texts])


def expected_reward(metric: Metric, prediction: FLOATS, data: Dataset) -> float:
    """Write the definition down once more."""
    weights = data.weights / data.weights.sum()
    error = float(weights @ (prediction - data.y) ** 2)
    variance = float(weights @ (data.y - weights @ data.y) ** 2)
    match metric:
        case Metric.INVERSE_NRMSE:
            return 1.0 / (1.0 + float(np.sqrt(error / variance)))
        case Metric.NEGATIVE_MSE:
            return -error
        case Metric.NEGATIVE_NMSE:
            return -error / variance
        case Metric.NEGATIVE_NRMSE:
            return -float(np.sqrt(error / variance))
        case Metric.CORRELATION:
            covariance = np.cov(prediction, data.y, aweights=data.weights)
            return abs(float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])))


@every_metric
@pytest.mark.parametrize("weighted", [False, True])
def test_every_metric_is_that_of_numpy(metric: Metric, weighted: bool) -> None:
    data = dataset(weighted=weighted)
    population = SearchSpace(LIBRARY, 1, 10).sample(300, seed=1)
    scored = RegressionTask(LIBRARY, data, RegressionSettings(metric=metric)).evaluate(population)
    compared = 0
    for i, expression in enumerate(population):
        values = reference.evaluate(expression, data.X).values
        shaken = reference.evaluate(expression, data.X, reference.numpy_apply(jitter=1e-14)).values
        # Not where rounding alone decides, as in sin(1e160), nor where hardly anything varies.
        if np.allclose(values, shaken, rtol=1e-11) and np.ptp(values) > 1e-3 and np.abs(values).max() < 1e6:
            compared += 1
            assert scored.reward[i] == pytest.approx(expected_reward(metric, values, data), rel=1e-9, abs=1e-7)
    assert compared > 80
    assert len(np.unique(scored.reward)) > 50


def test_correlation_is_the_absolute_value_of_numpys() -> None:
    data = dataset(weighted=False)
    population = rows("x1", "0 - x1", "sin(x1)", "exp(x1) - 2 * x1", "log(x1) / x1")
    found = RegressionTask(LIBRARY, data, RegressionSettings(metric=Metric.CORRELATION)).evaluate(population).reward
    expected = [abs(np.corrcoef(expression.evaluate(data.X), data.y)[0, 1]) for expression in population]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert found[0] == found[1] > 0.9


def test_correlation_does_not_see_factors_and_offsets() -> None:
    data, x = dataset(), "(sin(x1) + log(x1))"
    task = RegressionTask(LIBRARY, data, RegressionSettings(metric=Metric.CORRELATION))
    found = task.evaluate(rows(x, f"2 * {x}", f"0 - 0.1 * {x}", f"{x} + 2 / 0.1", f"2 - {x} / 0.1")).reward
    np.testing.assert_allclose(found, found[0], rtol=1e-12)
    assert 0.5 < found[0] < 1.0
    target = task.evaluate(rows("2 - 0.1 * (sin(x1) + x1 * x1)"))
    assert target.reward[0] == pytest.approx(1.0, abs=1e-14)
    assert target.solved[0]


def test_a_constant_prediction_has_no_correlation() -> None:
    task = RegressionTask(LIBRARY, dataset(), RegressionSettings(metric=Metric.CORRELATION))
    np.testing.assert_allclose(task.evaluate(rows("2", "0.1", "0", "x1 - x1")).reward, 0.0, atol=1e-7)


@every_metric
def test_a_row_that_failed_has_the_reward_of_failures(metric: Metric) -> None:
    data = dataset()
    task = RegressionTask(LIBRARY, data, RegressionSettings(metric=metric))
    scored = task.evaluate(rows("log(0)", "0 / 0", "1e160 * 1e160 * x1", "1e160 * x1", "x1"))
    assert scored.failure.tolist() == [
        Failure.DIVIDE_BY_ZERO,
        Failure.INVALID,
        Failure.OVERFLOW,
        Failure.LOSS_OVERFLOW,
        Failure.NONE,
    ]
    worst = {Metric.INVERSE_NRMSE: 0.0, Metric.CORRELATION: 0.0, Metric.NEGATIVE_MSE: -(data.deviation**2)}
    assert scored.reward[:4].tolist() == [worst.get(metric, -1.0)] * 4
    assert scored.reward[4] != scored.reward[0]
    assert not scored.solved.any()


@every_metric
def test_strictness_counts_for_every_metric(metric: Metric) -> None:
    data = Dataset.of([-800.0, 0.0, 0.5], [0.0, 1.0, 2.0])
    for validity in (Validity.VALUES, Validity.FLAGS):
        settings = RegressionSettings(metric=metric, validity=validity)
        scored = RegressionTask(LIBRARY, data, settings).evaluate(rows("exp(x1)"))
        assert scored.failure.tolist() == [Failure.UNDERFLOW if validity is Validity.FLAGS else Failure.NONE]
        assert (scored.reward[0] == reward(metric, np.array([np.nan]), data.deviation)[0]) == (
            validity is Validity.FLAGS
        )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.0, 1e100), min_size=2, max_size=10), st.floats(1e-3, 1e3))
def test_a_smaller_error_is_never_a_smaller_reward(errors: list[float], deviation: float) -> None:
    mean_square = np.sort(np.array(errors))
    for metric in Metric:
        found = reward(metric, mean_square, deviation)
        assert np.all(np.diff(found) <= 0.0)
        best, middle = reward(metric, np.array([0.0, 0.5 * deviation**2]), deviation)
        assert best == (0.0 if metric.value.startswith("negative") else 1.0)
        assert middle < best


@every_metric
def test_a_constant_target_counts_as_deviation_1(metric: Metric) -> None:
    mean_square = np.array([0.0, 0.25, np.nan])
    assert reference.same_bits(reward(metric, mean_square, 0.0), reward(metric, mean_square, 1.0))
    assert not np.isnan(reward(metric, mean_square, 0.0)).any()


# --- What solves a task ----------------------------------------------------------------------------------------------


@every_metric
def test_a_row_that_fits_solves_the_task_and_others_do_not(metric: Metric) -> None:
    task = RegressionTask(LIBRARY, dataset(), RegressionSettings(metric=metric))
    solved = task.evaluate(rows("x1", "sin(x1) + x1 * x1", "log(0)", "x1 * x1")).solved
    assert solved.dtype == np.bool_
    assert solved.tolist() == [False, True, False, False]


@every_metric
def test_a_row_that_fits_the_data_but_not_the_test_data_does_not_solve_the_task(metric: Metric) -> None:
    x = np.array([0.0, 1.0])
    data, test = Dataset.of(x, x), Dataset.of([0.0, 1.0, 2.0, -1.0], [0.0, 1.0, 2.0, -1.0])
    population = rows("x1 * x1", "x1", "x1 / x1")
    settings = RegressionSettings(metric=metric)
    assert RegressionTask(LIBRARY, data, settings).evaluate(population).solved.tolist() == [True, True, False]
    tested = RegressionTask(LIBRARY, data, settings, test=test).evaluate(population)
    assert tested.solved.tolist() == [False, True, False]
    assert tested.reward[0] == tested.reward[1]


@every_metric
def test_a_row_that_fails_on_the_test_data_does_not_solve_the_task(metric: Metric) -> None:
    x = np.array([1.0, 2.0, 3.0])
    data, test = Dataset.of(x, np.log(x)), Dataset.of([1.0, -1.0], [0.0, 1.0])
    settings = RegressionSettings(metric=metric)
    assert RegressionTask(LIBRARY, data, settings).evaluate(rows("log(x1)")).solved.tolist() == [True]
    assert RegressionTask(LIBRARY, data, settings, test=test).evaluate(rows("log(x1)")).solved.tolist() == [False]
    # Its values there are finite, but their squares are not.
    large = Dataset.of([1e160, 2e160], [0.0, 1.0])
    flat = Dataset.of([1.0, 2.0], [2.0, 4.0])
    assert not RegressionTask(LIBRARY, flat, settings, test=large).evaluate(rows("2 * x1", "x1 + x1")).solved.any()


@every_metric
def test_strictness_counts_on_the_test_data_too(metric: Metric) -> None:
    data, test = Dataset.of([0.0, 1.0], [1.0, math.e]), Dataset.of([-800.0, 0.0], [0.0, 1.0])
    for validity in (Validity.VALUES, Validity.FLAGS):
        settings = RegressionSettings(metric=metric, validity=validity)
        scored = RegressionTask(LIBRARY, data, settings, test=test).evaluate(rows("exp(x1)"))
        assert scored.failure.tolist() == [Failure.NONE]
        assert scored.solved.tolist() == [validity is Validity.VALUES]


@pytest.mark.parametrize("threshold", [0.0, 1e-12, 0.5])
def test_the_threshold_is_one_of_nmse_and_0_never_solves(threshold: float) -> None:
    data = dataset()
    population = rows("sin(x1) + x1 * x1", "x1 * x1", "x1")
    weights = data.weights / data.weights.sum()
    variance = weights @ (data.y - weights @ data.y) ** 2
    nmse = [weights @ (expression.evaluate(data.X) - data.y) ** 2 / variance for expression in population]
    assert nmse[0] < 1e-20 < 1e-12 < nmse[2]
    solved = RegressionTask(LIBRARY, data, RegressionSettings(solved_nmse=threshold)).evaluate(population).solved
    assert solved.tolist() == [bool(value < threshold) for value in nmse]
    assert solved[0] == (threshold > 0.0)
