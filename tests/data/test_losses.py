"""What an error costs: losses by name and of the user's own, from the probe to the front."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symseed import (
    Budget,
    Dataset,
    Expression,
    Failure,
    FitSettings,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSpace,
    SettingsError,
    evaluate,
    fit,
    methods,
    portfolio,
)
from symseed.assembly import AssemblySettings
from symseed.data.losses import NAMED, Loss
from symseed.data.magnitudes import Magnitudes
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.solution import Solution
from symseed.scoring.description import description_lengths
from symseed.scoring.reward import Metric

Array = Any
LIBRARY = Library.of(["add", "mul", "sin"], 2, constants=True)
RNG = np.random.default_rng(0)
X = RNG.uniform(-3.0, 3.0, (300, 2))
NOISE = RNG.laplace(0.0, 0.2, 300)
WEIGHTS = RNG.uniform(0.0, 2.0, 300)


def absolute(y: Array, prediction: Array) -> Array:
    """The absolute error, known to Python only."""
    return np.abs(np.asarray(y) - prediction)


def pinball(y: Array, prediction: Array) -> Array:
    return np.maximum(0.9 * (y - prediction), -0.1 * (y - prediction))


def made(loss: str | Callable[..., Array]) -> Loss:
    found = Loss.of(loss)
    assert found is not None
    return found


def rows(*texts: str) -> Population:
    return Population.from_expressions([Expression.parse(text, LIBRARY) for text in texts])


# --- From a name or a function to a loss ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        *((name, "squared") for name in ("mse", "MSE", "l2", "L2DistLoss()", "squared_error", "mean_squared_error")),
        *((name, "absolute") for name in ("mae", "L1", "L1DistLoss()", "absolute_error", "mean absolute error")),
        *((name, "huber") for name in ("Huber", "HuberLoss()", "HuberLoss(1)", "huber(1.0)")),
        *((name, "logcosh") for name in ("log_cosh", "LogCoshLoss()", "log-cosh")),
    ],
)
def test_the_names_of_other_tools_are_taken(theirs: str, ours: str) -> None:
    y, prediction = np.linspace(-3.0, 3.0, 50), RNG.normal(size=50)
    found, expected = Loss.of(theirs), Loss.of(ours)
    if expected is None:
        assert found is None
        return
    assert found is not None
    np.testing.assert_array_equal(
        found.function.native.values(y, prediction), expected.function.native.values(y, prediction)
    )


def test_the_bend_of_hubers_loss_stands_in_brackets() -> None:
    error = np.array([0.0, 1.0, 2.5, 4.0, -10.0])
    loss = pickle.loads(pickle.dumps(made("HuberLoss(2.5)")))
    np.testing.assert_allclose(
        loss.function.native.values(error, np.zeros(5)), [0.0, 1.0, 6.25, 5.0 * 4.0 - 6.25, 5.0 * 10.0 - 6.25]
    )


def test_logcosh_is_right_for_errors_of_every_size() -> None:
    errors = np.array([0.0, 1e-12, 1e-6, 1e-3, 0.0029, 0.003, 0.0031, 0.3, 2.0, 40.0, 1e4, 1e300])
    with mpmath.workdps(40):
        exact = [float(abs(e) + mpmath.log1p(mpmath.exp(-2 * mpmath.mpf(e))) - mpmath.log(2)) for e in errors]
    values = made("logcosh").function.native.values(errors, np.zeros_like(errors))
    np.testing.assert_allclose(values, exact, rtol=1e-10)


def test_the_named_losses_are_computed_by_the_core() -> None:
    y, prediction = np.array([0.0, 1.0, -2.0]), np.array([0.5, 4.0, -2.0])
    expected: dict[str, Any] = {
        "absolute": [0.5, 3.0, 0.0],
        "huber": [0.25, 5.0, 0.0],
        "logcosh": np.log(np.cosh([0.5, 3.0, 0.0])),
    }
    assert {*expected, "squared"} == set(NAMED)
    for name, values in expected.items():
        loss = made(name)
        assert loss.function.expansion is not None
        np.testing.assert_allclose(loss.function.native.values(y, prediction), values, atol=1e-15)


@pytest.mark.parametrize(
    "loss",
    ["squared", lambda y, p: (y - p) ** 2, lambda y, p: np.square(p - y), lambda y, p: ((y - p) ** 2).mean()],
)
def test_squared_errors_however_written_are_no_other_loss(loss: Any) -> None:
    assert Loss.of(loss) is None


def test_a_function_that_gives_a_mean_or_sum_counts_by_sample() -> None:
    for whole in (lambda y, p: np.mean(np.abs(y - p)), lambda y, p: abs(y - p).sum()):
        assert made(whole).function.expansion == ("abs", "sub", 0, 1)


def raising(y: Array, prediction: Array) -> Array:
    raise ValueError("never")


@pytest.mark.parametrize(
    ("loss", "match"),
    [
        ("quantile", "`quantile` is not a loss. Expected one of squared, absolute, huber, logcosh, huber"),
        ("L1EpsilonInsLoss(0.1)", " is not a loss."),
        ("loss(x, y) = abs(x - y)", "or, from Python, a function of y and prediction."),
        ("rmse", "For that measure the best formulas are those of `squared`."),
        ("huber(-1)", "The loss `huber` must have a number above 0 in its brackets, but it is `huber"),
        ("huber(nan)", "The loss `huber` must have a number above 0"),
        ("mae(2)", "The loss `absolute` must have nothing in its brackets, but it is `mae"),
        (3.0, "must be a function, but it is 3.0"),
        (raising, "`raising` raised ValueError: never"),
        (lambda y: y, "raised TypeError"),
        (
            lambda y, p: np.max(np.abs(y - p)),
            "gives one number for all samples, .* Let it give the loss of each sample",
        ),
        (lambda y, p: np.sqrt(np.mean((y - p) ** 2)), "gives one number for all samples"),
        (lambda y, p: np.abs(y - p)[1:], "must give an array of its argument's shape"),
        (lambda y, p: np.abs(y - p) * 1j, "must give real numbers"),
        (lambda y, p: np.abs(y - p).astype(object), "must give real numbers"),
        (lambda y, p: np.abs(y - p) / np.abs(y - p).max(), "each element by itself"),
        (lambda y, p: np.abs(y - p) + np.random.default_rng().normal(), "the same values each time"),
        (lambda y, p: np.subtract(y, p, out=y), "must not change the arrays"),
        (lambda y, p: y * np.nan, "must have a finite value somewhere"),
    ],
)
def test_what_cannot_be_a_loss_is_refused_early(loss: Any, match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        Loss.of(loss)


@pytest.mark.parametrize(
    ("loss", "match"),
    [
        (lambda y, p: -np.abs(y - p), "must be least where the prediction is y"),
        (lambda y, p: y * y, "must grow with the error, but it does not"),
        (lambda y, p: np.abs(np.log(y) - np.log(p)), "must be finite for a prediction without error, but not at y = "),
    ],
)
def test_a_loss_that_does_not_grow_with_the_error_is_refused_with_the_data(loss: Any, match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        Dataset.of(X, X[:, 0]).with_loss(made(loss))


def test_datasets_with_a_loss_are_pickled() -> None:
    dataset = Dataset.of(X, X[:, 0] + NOISE).with_loss(made(pinball).in_units(4.0))
    again = pickle.loads(pickle.dumps(dataset))
    assert again.loss == dataset.loss
    population = rows("x1")
    assert evaluate(population, again).error == evaluate(population, dataset).error
    assert again.with_noise(0.1, seed=0).loss == dataset.loss
    assert dataset.with_loss(None).loss is None


# --- Values, sizes and fits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [absolute, pinball, "huber", "logcosh"])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_scored_by_the_weighted_sum_of_their_losses(loss: Any, threads: int) -> None:
    y = X[:, 0] + NOISE
    dataset = Dataset.of(X, y, WEIGHTS).with_loss(made(loss))
    errors = evaluate(rows("x1", "sin(x1) + x2", "1.5"), dataset, threads=threads).error
    function = NAMED.get(loss, loss)
    predictions = (X[:, 0], np.sin(X[:, 0]) + X[:, 1], np.full(300, 1.5))
    np.testing.assert_allclose(errors, [np.sum(WEIGHTS * function(y, p)) for p in predictions], rtol=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-12, 1e12), st.floats(0.0, 1e3))
def test_a_mean_loss_amounts_to_the_size_of_error_that_would_give_it(size: float, unit: float) -> None:
    y = X[:, 0] * (10.0**-3 + unit)
    for loss, mean in (
        ("absolute", size),
        (lambda y, p: 3.0 * (y - p) ** 2 - 1.0, 3.0 * size**2 - 1.0),
        (lambda y, p: np.abs(y - p) ** 1.5, size**1.5),
        (pinball, 0.5 * size),
    ):
        if mean + 1.0 > 1e-6:  # the 1 that was taken away leaves no more digits
            dataset = Dataset.of(X, y).with_loss(made(loss))
            found = dataset.mean_squares(np.array([mean * 300]))[0]
            assert found == pytest.approx(size**2, rel=1e-5 if mean > 1e-5 or loss in ("absolute", pinball) else 1.0)


def test_a_loss_with_two_regimes_is_measured_in_each() -> None:
    dataset = Dataset.of(X, X[:, 0]).with_loss(made("huber"))
    found = np.sqrt(dataset.mean_squares(300.0 * np.array([0.01**2, 2.0 * 50.0 - 1.0, np.nan, 0.0])))
    np.testing.assert_allclose(found, [0.01, 50.0, np.nan, 0.0], rtol=0.01)


def test_losses_that_are_lost_in_rounding_are_measured_by_larger_ones() -> None:
    """log cosh of 1e-9 is 5e-19, but comes out as some 1e-16."""
    dataset = Dataset.of(X, X[:, 0]).with_loss(made("logcosh"))
    sizes = np.array([1e-9, 1e-7, 1e-5, 1e-2])
    found = np.sqrt(dataset.mean_squares(300.0 * 0.5 * sizes**2))
    np.testing.assert_allclose(found, sizes, rtol=0.02)


@pytest.mark.parametrize("loss", ["absolute", absolute, pinball, "huber", "logcosh"])
def test_constants_are_fitted_to_the_loss_itself(loss: Any) -> None:
    y = 2.5 * X[:, 0] + 0.7 + NOISE
    y[::7] += 40.0
    dataset = Dataset.of(X, y).with_loss(made(loss))
    fitted, errors = fit(rows("1.0 * x1 + 1.0", "1.0"), dataset, FitSettings(iterations=100))
    function = NAMED.get(loss, loss)
    slope, offset = fitted.constants[0][~np.isnan(fitted.constants[0])]
    for change in (1e-3, -1e-3, 0.1, -0.1):
        for other in ((slope + change, offset), (slope, offset + change)):
            assert function(y, other[0] * X[:, 0] + other[1]).sum() > (1.0 - 1e-6) * errors.error[0]
    best = {absolute: np.median(y), "absolute": np.median(y), pinball: np.quantile(y, 0.9)}.get(loss)
    if best is not None:
        assert errors.error[1] == pytest.approx(function(y, best).sum(), rel=1e-5)


def test_a_loss_in_other_units_is_the_same_loss() -> None:
    y = 5_000.0 * (X[:, 0] + NOISE)
    dataset = Dataset.of(X, y).with_loss(made("huber"))
    units = Magnitudes.of(dataset)
    scaled = units.scaled(dataset)
    assert units.target > 1_000.0
    whole = Population.from_expressions([Expression.parse(f"{5_000.0 / units.target!r} * x1", LIBRARY)])
    own = rows("5000.0 * x1")
    np.testing.assert_allclose(evaluate(whole, scaled).error, evaluate(own, dataset).error, rtol=1e-9)
    back = units.inverse.scaled(scaled)
    assert back.loss == dataset.loss


def test_the_description_of_the_data_is_that_of_laplace_for_absolute_errors() -> None:
    y = X[:, 0] + NOISE
    dataset = Dataset.of(X, y).with_loss(made("absolute"))
    lengths = description_lengths(rows("x1", "x2"), dataset)
    expected = 300 * np.log(np.abs(y - X[:, 0]).mean() / np.abs(y - X[:, 1]).mean())
    assert lengths[0] - lengths[1] == pytest.approx(expected, rel=1e-6)


def test_rewards_fall_with_the_loss_and_solved_rows_are_known() -> None:
    y = np.sin(X[:, 0])
    y[:100] += 5.0  # the law is right for most samples, and far off for some
    dataset = Dataset.of(X, y)
    population = rows("sin(x1)", "sin(x1) + const(1.6667)", "x2")
    better = RegressionTask(LIBRARY, dataset.with_loss(made("absolute")), RegressionSettings(fit=None))
    squares = RegressionTask(LIBRARY, dataset, RegressionSettings(fit=None))
    assert np.argsort(-better.evaluate(population).reward).tolist() == [0, 1, 2]
    assert squares.evaluate(population).reward.argmax() == 1
    exact = RegressionTask(LIBRARY, Dataset.of(X, np.sin(X[:, 0])).with_loss(made("absolute")))
    scored = exact.evaluate(population)
    assert scored.solved.tolist() == [True, True, False]  # the second after its constant was fitted
    assert scored.reward.max() == pytest.approx(1.0)
    with pytest.raises(SettingsError, match="CORRELATION needs squared errors"):
        RegressionTask(LIBRARY, dataset.with_loss(made(pinball)), RegressionSettings(metric=Metric.CORRELATION))


# --- Faults -----------------------------------------------------------------------------------------------------------


def test_a_loss_that_raises_later_fails_its_rows_and_says_so_once() -> None:
    def picky(y: Array, prediction: Array) -> Array:
        if (prediction == 0.125).any():
            raise ZeroDivisionError("an eighth")
        return np.abs(np.asarray(y) - prediction)

    dataset = Dataset.of(X, X[:, 0]).with_loss(made(picky))
    with pytest.warns(RuntimeWarning, match="`picky` raised ZeroDivisionError: an eighth") as warned:
        errors = evaluate(rows("0.125", "x1", "0.125"), dataset, threads=2)
    assert len(warned) == 1
    assert errors.failure.tolist() == [Failure.NO_ANSWER, Failure.NONE, Failure.NO_ANSWER]
    assert fit(rows("0.125"), dataset)[1].error[0] < 300 * np.abs(X[:, 0]).mean() + 1e-9  # from another start


def test_a_loss_that_is_not_finite_fails_its_rows() -> None:
    def relative(y: Array, prediction: Array) -> Array:
        return np.abs(np.log(prediction / y))

    dataset = Dataset.of(np.abs(X), np.abs(X[:, 0])).with_loss(made(relative))
    errors = evaluate(rows("x1", "-1.0", "1.0"), dataset)
    assert errors.failure.tolist() == [Failure.NONE, Failure.LOSS_OVERFLOW, Failure.NONE]


def test_ctrl_c_ends_a_loss_that_sleeps() -> None:
    script = """
        import os, signal, threading, time
        import numpy as np
        from symseed import Dataset, Expression, Library, Population, fit
        from symseed.data.losses import Loss
        signal.signal(signal.SIGINT, signal.default_int_handler)
        is_slow = False
        def slow(y, p):
            if is_slow:
                time.sleep(0.05)
            return np.abs(np.asarray(y) - p)
        library = Library.of(["mul"], 1, constants=True)
        data = Dataset.of(np.ones((3, 1)), np.ones(3)).with_loss(Loss.of(slow))
        population = Population.from_expressions([Expression.parse("x1 * 2.0", library)] * 200)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        is_slow = True
        try:
            fit(population, data, threads=2)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
    """
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, timeout=100
    )
    assert answer.stdout.split() == ["interrupted"]


# --- The front --------------------------------------------------------------------------------------------------------


def solved(dataset: Dataset, *operators: str, expressions: int = 3_000) -> Solution:
    settings = methods.get("default").portfolio
    assert settings is not None
    small = dataclasses.replace(settings, assembly=AssemblySettings(features=200, matches=6, blocks=False))
    assert isinstance(small, PortfolioSettings)
    return portfolio.run(Library.of(operators, dataset.X.shape[1]), dataset, small, budget=Budget(expressions))


@pytest.mark.parametrize("loss", ["absolute", "huber", absolute])
def test_gross_outliers_hide_a_law_from_squared_errors_but_not_from_others(loss: Any) -> None:
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-3.0, 3.0, (200, 2))
    truth = inputs[:, 0] * inputs[:, 1] + np.sin(inputs[:, 0])
    y = truth + rng.normal(0.0, 0.1, 200)
    y[rng.choice(200, 20, replace=False)] += rng.uniform(2.0, 8.0, 20)  # 50 times the noise, on the average
    dataset = Dataset.of(inputs, y)
    operators = ("add", "sub", "mul", "sin", "cos", "exp")
    squares = solved(dataset, *operators).best.expression
    assert np.abs(squares.evaluate(inputs) - truth).mean() > 0.3
    best = solved(dataset.with_loss(made(loss)), *operators).best.expression
    assert np.abs(best.evaluate(inputs) - truth).max() < 1e-9, best


def test_the_pinball_loss_gives_a_quantile_of_data_whose_noise_grows() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 4.0, 400)
    y = 1.0 + 2.0 * x + (0.2 + 0.5 * x) * rng.normal(size=400)
    solution = solved(Dataset.of(x, y).with_loss(made(pinball)), "add", "mul", "sin")
    prediction = solution.best.expression.evaluate(x)
    assert np.mean(y < prediction) == pytest.approx(0.9, abs=0.02)
    np.testing.assert_allclose(prediction, 1.0 + 2.0 * x + 1.2816 * (0.2 + 0.5 * x), atol=0.25)
    losses = [
        evaluate(Population.from_expressions([f.expression]), Dataset.of(x, y).with_loss(made(pinball))).error[0]
        for f in solution.front
    ]
    assert losses == sorted(losses, reverse=True)


def test_squares_of_the_users_own_give_the_same_front() -> None:
    dataset = Dataset.of(X, X[:, 0] * X[:, 1] + 0.3 + 0.1 * NOISE)
    fronts = [
        solved(dataset.with_loss(Loss.of(loss)), "add", "mul", "sin", expressions=2_000).front
        for loss in ("squared", lambda y, p: (y - p) ** 2)
    ]
    assert fronts[0] == fronts[1]


def test_a_multiple_of_the_square_gives_the_same_front_but_for_rounding() -> None:
    dataset = Dataset.of(X, X[:, 0] * X[:, 1] + 0.3 + 0.1 * NOISE)
    first = solved(dataset, "add", "mul", "sin", expressions=2_000)
    second = solved(
        dataset.with_loss(made(lambda y, p: 2.0 * (y - p) ** 2 + 1.0)), "add", "mul", "sin", expressions=2_000
    )
    assert second.best.mean_square == pytest.approx(first.best.mean_square, rel=1e-3)
    assert len(second.best.expression) == len(first.best.expression)


def test_a_search_by_a_loss_that_python_computes_is_the_same_on_any_number_of_threads() -> None:
    library = Library.of(["add", "mul", "sin"], 2, constants=True)
    dataset = Dataset.of(X[:20], X[:20, 0] * X[:20, 1]).with_loss(made(absolute))
    space = SearchSpace(library, 1, 9)
    scored = [
        RegressionTask(library, dataset, RegressionSettings(threads=threads)).evaluate(space.sample(300, seed=0))
        for threads in (1, 2)
    ]
    np.testing.assert_array_equal(scored[0].reward, scored[1].reward)
    np.testing.assert_array_equal(scored[0].population.constants, scored[1].population.constants)
