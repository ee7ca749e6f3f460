"""Backends: the compiled core and a slow one in NumPy give the same answers, and nothing else computes."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import pytest

from numpy_backend import NumpyBackend
from symseed import (
    Dataset,
    Expression,
    Failure,
    FitSettings,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSpace,
    _core,
    evaluate,
    fit,
    portfolio,
    predict,
)
from symseed.assembly import AssemblySettings
from symseed.completion.backsolve import Backsolver
from symseed.data.backend import CoreBackend
from symseed.data.losses import Loss
from symseed.data.magnitudes import Magnitudes
from symseed.errors import DataError
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.solution import Solution
from symseed.portfolio.track import Track
from symseed.regressor.prepare import prepare
from symseed.regressor.settings import Settings
from symseed.regressor.target import TargetSearch
from symseed.scoring import Validity
from symseed.scoring.description import description_lengths
from symseed.search.budget import Budget
from symseed.search.evolution import EvolutionSettings
from symseed.search.search import SearchSettings
from symseed.space.constraints import PAPER

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "exp", "log", "sqrt"], 2, constants=True)
RNG = np.random.default_rng(0)
X = RNG.uniform(0.3, 2.0, (20, 2))
CORE = Dataset.of(X, 2.5 * X[:, 0] + np.sin(X[:, 1]) + RNG.normal(0.0, 0.1, 20), RNG.uniform(0.5, 1.5, 20))
NUMPY = CORE.with_backend(NumpyBackend)
COMPUTING = ("Cache", "Samples", "fit_constants", "linearise", "predictions", "semantics", "squared_errors")
"""What of the core computes formulas on samples."""


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the core refuse to compute formulas on samples."""

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError("the core is called beside the backend")

    for name in COMPUTING:
        monkeypatch.setattr(_core, name, refuse)


def drawn(count: int = 60, seed: int = 3) -> Population:
    """Random rows of every length; some fail."""
    return SearchSpace(LIBRARY, max_length=12).sample(count, seed=seed)


def parsed(*texts: str) -> Population:
    return Population.from_expressions([Expression.parse(text, LIBRARY) for text in texts])


# --- The same answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [None, "absolute"])
@pytest.mark.parametrize("validity", Validity, ids=lambda value: value.name)
def test_errors_and_failures_are_the_same(validity: Validity, loss: str | None) -> None:
    chosen = None if loss is None else Loss.of(loss)
    core, twin = (evaluate(drawn(), data.with_loss(chosen), validity=validity) for data in (CORE, NUMPY))
    np.testing.assert_allclose(twin.error, core.error, rtol=1e-9)
    np.testing.assert_array_equal(twin.failure, core.failure)
    np.testing.assert_array_equal(twin.position, core.position)
    assert 5 < (core.failure == Failure.NONE).sum() < len(core.failure)


def test_predictions_are_the_same() -> None:
    core, twin = (predict(drawn(), data) for data in (CORE, NUMPY))
    np.testing.assert_allclose(twin.value, core.value, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(twin.failure, core.failure)


def test_fitted_constants_are_the_same() -> None:
    start = parsed("1.0 * x1 + sin(x2)", "exp(0.5 * x1) + 0.1", "x1 + x2", "sqrt(x1 * 2.0) / 3.0")
    (core, core_errors), (twin, twin_errors) = (fit(start, data, FitSettings(100)) for data in (CORE, NUMPY))
    np.testing.assert_allclose(twin_errors.error, core_errors.error, rtol=1e-9)
    np.testing.assert_allclose(twin.constants[:2], core.constants[:2], rtol=1e-5)
    assert (core_errors.error < evaluate(start, CORE).error).sum() == 3


def test_description_lengths_are_the_same() -> None:
    rows = parsed("2.47 * x1 + sin(x2)", "exp(0.5 * x1) + 0.1", "x1 + x2", "log(0.0 - x1)")
    core, twin = (description_lengths(rows, data) for data in (CORE, NUMPY))
    np.testing.assert_allclose(twin, core, rtol=1e-9)
    assert np.isfinite(core).tolist() == [True, True, True, False]


def test_desired_values_are_the_same() -> None:
    row = parsed("2.47 * x1 + exp(x2)")
    core, twin = (Backsolver.of(data, 12).desired(row) for data in (CORE, NUMPY))
    for found, expected in zip(twin, core, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.isfinite(core[0]).any()


@pytest.mark.parametrize("fitted", [None, FitSettings(60)])
def test_a_task_gives_the_same_rewards_and_computes_equal_rows_once(fitted: FitSettings | None) -> None:
    rows = parsed("1.0 * x1 + sin(x2)", "x1 + x2", "log(0.0 - x1)", "x1 + x2")
    tasks = [RegressionTask(LIBRARY, data, RegressionSettings(fit=fitted)) for data in (CORE, NUMPY)]
    for again in (False, True):
        core, twin = (task.evaluate(rows) for task in tasks)
        np.testing.assert_allclose(twin.reward, core.reward, rtol=1e-9)
        np.testing.assert_array_equal(twin.failure, core.failure)
        assert core.computed.tolist() == twin.computed.tolist() == [not again] * 3 + [False]
    assert tasks[0].counts == tasks[1].counts


# --- A whole search --------------------------------------------------------------------------------------------------

_SEARCH = SearchSettings(batch=20, evolution=EvolutionSettings(2))
TINY = PortfolioSettings(
    (Track(_SEARCH, 10, PAPER, False, 1), Track(_SEARCH, 8, PAPER, False, 1, numbers=(1.0,), is_scaled=True)),
    AssemblySettings(features=30, more_features=40, newer=10, matches=3, samples=20, blocks=False, probes=False),
    parts=2,
    simplified=2,
)
KOZA = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 1)


def solved(data: Dataset, settings: PortfolioSettings = TINY, *, most: int = 400) -> Solution:
    return portfolio.run(KOZA, data, settings, seed=1, budget=Budget(most))


def clean() -> Dataset:
    x = np.random.default_rng(5).uniform(0.2, 3.0, 20)
    return Dataset.of(x, 2.5 * np.sin(x) + x)


def test_a_portfolio_chooses_the_same_formula_and_the_core_computes_nothing(
    monkeypatch: pytest.MonkeyPatch, without_core: None
) -> None:
    asked: Counter[str] = Counter()
    twin = solved(clean().with_backend(functools.partial(NumpyBackend, asked=asked)))
    monkeypatch.undo()
    core = solved(clean())
    assert str(twin.best.expression) == str(core.best.expression)
    assert twin.reason is core.reason
    assert all(asked[name] for name in ("errors", "predict", "fit", "linearise", "semantics", "scorer"))


def test_the_searches_of_a_portfolio_score_by_the_backend(without_core: None) -> None:
    asked: Counter[str] = Counter()
    data = clean().with_noise(0.1, seed=0).with_backend(functools.partial(NumpyBackend, asked=asked))
    found = solved(data, dataclasses.replace(TINY, assembly=None), most=150)
    assert asked["score"] > 3
    assert found.best.mean_square < data.deviation**2


def test_a_fit_from_its_data_to_its_front_works_with_the_backend() -> None:
    asked: Counter[str] = Counter()
    fronts = []
    for data in (clean(), clean().with_backend(functools.partial(NumpyBackend, asked=asked))):
        plan = Settings(unary_operators=["sin", "exp"], binary_operators=["+", "*"], max_evals=400).plan()
        prepared = dataclasses.replace(prepare(plan, data, seed=1), settings=TINY)
        fronts.append(TargetSearch(prepared, deadline=None).run())
    core, twin = fronts
    assert [str(item) for item in twin.equations] == [str(item) for item in core.equations]
    assert twin.choice("best") == core.choice("best") > 0
    assert twin.reason is core.reason
    assert all(asked[name] for name in ("errors", "fit", "linearise", "scorer"))


def test_without_a_backend_of_its_own_a_dataset_asks_the_core(without_core: None) -> None:
    with pytest.raises(AssertionError, match="the core is called"):
        evaluate(parsed("x1"), Dataset.of(X, X[:, 0]))


# --- Data and their backends -----------------------------------------------------------------------------------------


def test_a_dataset_makes_its_backend_once() -> None:
    assert isinstance(NUMPY.backend, NumpyBackend)
    assert NUMPY.backend is NUMPY.backend
    assert NUMPY.backend.dataset is NUMPY
    assert isinstance(Dataset.of(X, X[:, 0]).backend, CoreBackend)
    assert isinstance(NUMPY.with_backend(None).backend, CoreBackend)
    assert NUMPY.with_backend(NumpyBackend) is NUMPY


@pytest.mark.parametrize(
    "made",
    [
        lambda data: data.take(np.arange(5)),
        lambda data: data.with_samples(data.X, data.y, [0.0, *data.weights[1:]]).counted(),
        lambda data: data.with_loss(Loss.of("absolute")),
        lambda data: data.with_loss(Loss.of("absolute")).take(np.arange(5)),
        lambda data: data.with_noise(0.1, seed=0),
        lambda data: Magnitudes((2.0, 0.5), 4.0).scaled(data),
        lambda data: Backsolver.of(data, 8).dataset,
        lambda data: Backsolver.of(data, 8).moved,
        lambda data: prepare(Settings().plan(), data, seed=0).scaled,
        lambda data: prepare(Settings().plan(), data, seed=0).whole,
        lambda data: pickle.loads(pickle.dumps(data)),
    ],
)
def test_data_made_from_others_have_a_backend_of_the_same_kind(made: Callable[[Dataset], Dataset]) -> None:
    new = made(NUMPY)
    assert isinstance(new.backend, NumpyBackend)
    assert new.backend.dataset is new
    assert isinstance(made(CORE).backend, CoreBackend)


def test_other_samples_keep_names_but_no_loss() -> None:
    data = Dataset.of(X, X[:, 0], names=["a", "b"]).with_loss(Loss.of("absolute"))
    other = data.with_samples(X[:3], X[:3, 1])
    assert (other.names, other.loss, other.weights.tolist()) == (("a", "b"), None, [1.0] * 3)
    assert data.with_samples(X[:3, :1], X[:3, 1], names=["c"]).names == ("c",)
    with pytest.raises(DataError, match="must be finite"):
        data.with_samples(X, np.full(len(X), np.nan))
