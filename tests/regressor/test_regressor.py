"""The estimator: scikit-learn's own checks, what users give it, what it gives back, and how it ends."""

from __future__ import annotations

import _thread
import enum
import gc
import itertools
import pickle
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.dom import minidom

import joblib
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import reference
from symseed import DataError, Dataset, Expression, Library, SettingsError, SymbolicRegressor, evaluate, fit
from symseed.arrays import Floats
from symseed.data.magnitudes import Magnitudes
from symseed.export import to_latex, to_mathml, to_sympy
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS
from symseed.language.writer import Writer
from symseed.portfolio.portfolio import Portfolio
from symseed.regressor.front import RULES, Equation
from symseed.regressor.measurements import MOST_ROWS
from symseed.regressor.prepare import MOST_COLUMNS
from symseed.regressor.target import TargetSearch
from symseed.scoring import simple_numbers
from symseed.scoring.fitting import FitSettings
from symseed.search.budget import StopReason
from symseed.space.constraints import Dimensions

try:
    import polars as pl
except ImportError:  # then the tests of it are left out
    pl = None  # type: ignore[assignment]
FRAMES = [pd.DataFrame] if pl is None else [pd.DataFrame, pl.DataFrame]

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3.0, (40, 2))
Y = X[:, 0] * X[:, 1] + 1.5
NOISY = Y + RNG.normal(0.0, 0.2, 40)


def quick(**parameters: Any) -> SymbolicRegressor:
    """A search of some milliseconds."""
    given = {"method": "nggp", "constants": True, "max_evals": 600, "max_time": None, "random_state": 0}
    return SymbolicRegressor(**{**given, **parameters})


def solver(**parameters: Any) -> SymbolicRegressor:
    """The default search with few operators, which solves what the tests give it at once."""
    given = {"unary_operators": ("square", "exp"), "max_evals": 2_000, "max_time": None, "random_state": 0}
    return SymbolicRegressor(**{**given, **parameters})


# No check is expected to fail. A list, where `parametrize_with_checks` of older versions gives pytest what it refuses.
CHECKS = [
    pytest.param(estimator, check, id=f"{check.func.__name__}-{place}")
    for place, (estimator, check) in enumerate(estimator_checks_generator(quick(max_evals=200)))
    # scikit-learn 1.6 gives sparse data to estimators that say they take none.
    if check.func.__name__ != "check_sample_weight_equivalence_on_sparse_data"
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_finds_nothing_wrong(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# --- What it finds ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted() -> SymbolicRegressor:
    return solver().fit(X, Y)


@pytest.fixture(scope="module")
def noisy() -> SymbolicRegressor:
    return quick(max_evals=20_000).fit(X, NOISY)


def test_it_solves_and_says_so(fitted: SymbolicRegressor) -> None:
    assert str(fitted.best_) == "x2*x1 + 1.5"
    assert fitted.stop_reason_ == "The task is solved."
    assert fitted.interrupted_ is False
    assert fitted.run_directory_ is None
    assert fitted.nout_ == 1
    assert fitted.score(X, Y) == 1.0
    np.testing.assert_allclose(fitted.predict(X), Y)


def test_the_table_has_the_columns_that_users_know(noisy: SymbolicRegressor) -> None:
    table = noisy.equations_
    assert list(table.columns) == ["complexity", "loss", "score", "weight", "equation", "expression", "sympy_format"]
    assert len(table) == len(noisy.pareto_front_) > 2
    assert table["complexity"].is_monotonic_increasing
    assert table["equation"].tolist() == [str(equation) for equation in noisy.pareto_front_]
    assert table["complexity"].tolist() == [len(equation.expression) for equation in noisy.pareto_front_]
    assert table["score"][0] == 0.0


def weights_of(kind: str) -> Floats | None:
    return {"none": None, "integers": RNG.integers(0, 4, 40).astype(float), "real": RNG.uniform(0.1, 2.0, 40)}[kind]


@pytest.mark.parametrize("kind", ["none", "integers", "real"])
@pytest.mark.parametrize("scale", [1.0, 1e8, 3e-7])
def test_the_loss_in_the_table_is_the_loss_of_predict_to_the_last_bit(kind: str, scale: float) -> None:
    weights = weights_of(kind)
    model = quick().fit(X * scale, NOISY / scale, sample_weight=weights)
    for index, loss in enumerate(model.equations_["loss"]):
        assert loss == mean_squared_error(NOISY / scale, model.predict(X * scale, index), sample_weight=weights)


@pytest.mark.parametrize("scale", [1.0, 1e8])
def test_constants_on_the_front_are_fitted_to_convergence(scale: float) -> None:
    """Fitting those that are not plain once more gains nothing, or next to it where they run to infinity together."""
    for model in (quick(max_evals=5_000), solver(max_evals=500)):
        data = Dataset.of(X * scale, NOISY * scale)
        for equation in model.fit(data.X, data.y).pareto_front_:
            row = Population.from_expressions([frozen(equation.expression)])
            before = float(evaluate(row, data).error[0])
            after = float(fit(row, data, FitSettings(iterations=100))[1].error[0])
            assert after >= before * (1.0 - 1e-3)


def frozen(expression: Expression) -> Expression:
    """The same with plain constants as literals."""
    plain = {v for v in expression.constants if simple_numbers.cost(v) is not None}
    operators = [token.name for token in expression.tokens if token.name in OPERATORS]
    names = [token.name for token in expression.library.variables]
    library = Library.of([*dict.fromkeys(operators), *plain, "const"], names)
    return Expression.parse(str(expression), library)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "cv"])  # which test_sureness.py has
def test_each_rule_chooses_what_it_says(rule: str, noisy: SymbolicRegressor) -> None:
    model, front, count = clone(noisy), noisy.pareto_front_, len(X)
    model.__dict__.update(noisy.__dict__)
    chosen = model.set_params(model_selection=rule).best_

    def bic(equation: Equation) -> float:
        constants = sum(not np.isnan(value) for value in equation.expression.constants)
        return float(count * np.log(equation.loss) + constants * np.log(count))

    expected = {
        "best": min(front, key=lambda equation: equation.description),
        "mdl": min(front, key=lambda equation: equation.description),
        "accuracy": min(front, key=lambda equation: equation.loss),
        "score": max(front, key=lambda equation: equation.score),
        "bic": min(front, key=bic),
    }
    assert chosen == expected[rule]
    np.testing.assert_array_equal(model.predict(X), model.predict(X, front.index(chosen)))


def test_of_noise_the_best_is_a_number_though_a_formula_may_be_a_little_shorter() -> None:
    for seed in range(4):
        model = quick(random_state=seed).fit(X, np.random.default_rng(seed).normal(size=40))
        assert model.best_.complexity == 1
        assert model.best_.expression.evaluate(X).std() == 0.0


def test_the_score_is_how_fast_the_loss_falls(noisy: SymbolicRegressor) -> None:
    for before, after in itertools.pairwise(noisy.pareto_front_):
        expected = np.log(before.loss / after.loss) / (after.complexity - before.complexity)
        assert after.score == pytest.approx(expected)


def test_several_targets_get_a_front_each() -> None:
    targets = np.stack([X[:, 0], 2.0 * X[:, 1], np.full(40, 3.0)], axis=1)
    model = solver().fit(X, targets)
    assert [str(best) for best in model.best_] == ["x1", "2*x2", "3"]
    assert model.nout_ == len(model.equations_) == len(model.pareto_front_) == len(model.stop_reason_) == 3
    assert model.predict(X).shape == targets.shape
    assert model.predict(X, 0).shape == model.predict(X, [0, -1, 0]).shape == targets.shape
    np.testing.assert_allclose(model.predict(X), targets)
    assert [str(form) for form in model.sympy()] == ["x1", "2*x2", "3"]
    assert repr(model).count(">>>>") == model._repr_html_().count("<th>complexity</th>") == 3
    with pytest.raises(SettingsError, match="one row for each of 3 targets"):
        model.predict(X, [0, 1])
    assert quick().fit(X, pd.DataFrame(targets)).predict(X).shape == targets.shape


@pytest.mark.parametrize("method", ["nggp", "nggp-complete", "dsr", "gp"])
def test_other_methods_work_too(method: str) -> None:
    model = quick(method=method).fit(X, X[:, 0] * X[:, 1])
    assert model.score(X, X[:, 0] * X[:, 1]) > 0.5


def test_a_formula_is_no_longer_than_maxsize() -> None:
    for scale in (1.0, 1e7):
        for maxsize in (1, 3, 5):
            model = quick(maxsize=maxsize, max_evals=3_000).fit(X * scale, NOISY)
            assert model.equations_["complexity"].max() <= maxsize


# --- Units -----------------------------------------------------------------------------------------------------------


def test_the_law_of_gravitation_is_found_in_its_own_units() -> None:
    generator = np.random.default_rng(1)
    masses = generator.uniform(1.0, 10.0, (100, 2)) * [1e24, 1e22]
    distance = generator.uniform(1.0, 9.0, 100) * 1e8
    table = pd.DataFrame({"m 1": masses[:, 0], "m 2": masses[:, 1], "r": distance})
    force = 6.6743e-11 * masses[:, 0] * masses[:, 1] / distance**2
    model = solver().fit(table, force)
    constants = [value for value in model.best_.expression.constants if not np.isnan(value)]
    assert constants == [pytest.approx(6.6743e-11)]
    assert model.best_.complexity == 8
    np.testing.assert_allclose(model.predict(table), force, rtol=1e-13)


@pytest.mark.parametrize(
    ("x_unit", "target", "text"),
    [
        (1e8, lambda x: 3e-9 * np.exp(-5e-9 * x), "3e-9*exp(-5e-9*x1)"),
        (1e4, lambda x: 3.2 * x + 5.0, "3.2*x1 + 5"),
        (1e-8, lambda x: 7e8 * x, "7e8*x1"),
    ],
)
def test_a_formula_in_units_far_from_one_has_plain_constants(
    x_unit: float, target: Callable[[Floats], Floats], text: str
) -> None:
    x = X[:, :1] * x_unit
    assert str(solver().fit(x, target(x[:, 0])).best_) == text


@pytest.mark.parametrize("x_unit", [1e-152, 1e-85, 1e-40, 1e40, 1e78, 1e155])
def test_columns_far_from_one_are_described_as_well(x_unit: float) -> None:
    x = np.linspace(0.5, 3.0, 12)[:, None]
    model = solver(max_evals=1_500).fit(x * x_unit, x[:, 0] ** 2 + 0.3)
    np.testing.assert_allclose(model.predict(x * x_unit), x[:, 0] ** 2 + 0.3)


@pytest.mark.parametrize("x_unit", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("y_unit", [1e-300, 1e300])
def test_magnitudes_at_the_ends_of_float64_do_no_harm(x_unit: float, y_unit: float) -> None:
    """Number 7 of the faults to survive."""
    model = solver(max_evals=200).fit(X * x_unit, (Y - 1.5) * y_unit)
    prediction = model.predict(X * x_unit)
    assert np.isfinite(prediction).all()
    np.testing.assert_allclose(prediction / y_unit, Y - 1.5)


def test_mixed_scales_and_denormal_numbers_do_no_harm() -> None:
    table = np.stack([np.logspace(-310, 300, 40), X[:, 0], np.full(40, 5e-324)], axis=1)
    np.testing.assert_allclose(solver().fit(table, 2.0 * X[:, 0]).predict(table), 2.0 * X[:, 0])
    wide = np.logspace(-300, 300, 40)
    assert np.isfinite(quick().fit(X, wide).predict(X)).all()


WRITER = Writer(Library.of([*OPERATORS, "const"], 2))
FORMULAS = [
    "x1",
    "const(2.5)",
    "const(3) * x1 * x2 / square(x2)",
    "x1 + x2 - const(7)",
    "const(2) * (x1 - x2) / (x1 + const(1))",
    "sqrt(x1 * const(3)) + exp(x1 / x2 + const(1))",
    "log(x1) - sin(const(2) * x2)",
    "pow(x1, const(1.5)) + pow(x2, x1)",
    "neg(abs(neg(x1))) / inv(x2)",
    "expneg(const(2) - x1) * min(x1, x2)",
    "cube(x1 + x2) / quartic(x2)",
    "sqrt(neg(x1 - const(9)))",
]


@pytest.mark.parametrize("text", FORMULAS)
@given(exponents=st.tuples(*[st.integers(-30, 30)] * 3))
@settings(max_examples=20, deadline=None)
def test_a_formula_has_the_same_values_in_other_units(text: str, exponents: tuple[int, int, int]) -> None:
    units = Magnitudes((2.0 ** exponents[0], 2.0 ** exponents[1]), 2.0 ** exponents[2])
    expression = Expression.parse(text, WRITER.library)
    part = expression.row
    expected = expression.evaluate(X) * units.target
    for form in units.restored(WRITER, part):
        found = Expression(WRITER.library, form).evaluate(X * units.columns)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_factors_meet_in_one_constant() -> None:
    units = Magnitudes((2.0**80, 2.0**27), 2.0**60)
    expression = Expression.parse("const(3) * x1 / square(x2)", WRITER.library)
    form = next(units.restored(WRITER, expression.row))
    assert str(Expression(WRITER.library, form)) == f"{3.0 * 2.0**34} * x1 / square(x2)"


# --- Columns and their names -----------------------------------------------------------------------------------------


class Colour(str, enum.Enum):
    RED = "red"


STRANGE = ["a b", "%", "N", "lambda", "größe λ", "__import__('os')", "<b>&", "`", "x" * 10_000, "", "_ $^~\\{}#"]


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("name", STRANGE, ids=lambda name: name[:8])
def test_columns_may_have_any_name(make: Any, name: str) -> None:
    """Number 18 of the faults to survive."""
    model = quick(max_evals=3_000).fit(make({name: X[:, 0], "other": X[:, 1]}), X[:, 0] * 2.0)
    shown = name or "x1"
    assert shown in {symbol.name for symbol in model.sympy().free_symbols}
    assert model.score(make({"other": X[:, 1], name: X[:, 0]}), X[:, 0] * 2.0) == 1.0
    assert Expression.parse(str(model.best_.expression), model.best_.expression.library) == model.best_.expression
    assert "<b>&" not in model._repr_html_()
    assert model.latex()
    repr(model)


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ([0, 1], "x0"),
        ([Colour.RED, "b"], "red"),
        ([("a", 1), ("a", 2)], "('a', 1)"),
        (pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), "('a', 'b')"),
        ([2019, "b"], "x2019"),
    ],
)
def test_labels_that_are_no_text_are_written_as_text(labels: Any, shown: str) -> None:
    frame = pd.DataFrame(X, columns=labels)
    model = quick().fit(frame, X[:, 0])
    assert model.best_.expression.tokens[0].name == shown
    np.testing.assert_array_equal(model.predict(frame[frame.columns[::-1]]), X[:, 0])


def test_names_that_are_the_same_are_refused() -> None:
    with pytest.raises(DataError, match=r"columns of `X` must have different names, but `a` is there twice\."):
        quick().fit(pd.DataFrame(X, columns=["a", "a"]), Y)
    with pytest.raises(DataError, match=r"names that differ as text, but they are `x0`, `x0`"):
        quick().fit(pd.DataFrame(X, columns=["x0", 0]), Y)


@pytest.mark.parametrize("make", FRAMES)
def test_columns_are_matched_by_name(make: Any) -> None:
    """Number 11 of the faults to survive."""
    model = quick().fit(make({"a": X[:, 0], "b": X[:, 1]}), X[:, 0])
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.n_features_in_ == 2
    mixed = {"b": X[:, 1], "target": ["text"] * 40, "a": X[:, 0]}
    np.testing.assert_array_equal(model.predict(make(mixed)), X[:, 0])
    with pytest.raises(DataError, match=r"but it lacks `a`; it has `b`, `c`\. Add or rename them\."):
        model.predict(make({"b": X[:, 1], "c": X[:, 0]}))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(X), X[:, 0])
    message = "X has 3 features, but SymbolicRegressor is expecting 2 features"
    with pytest.warns(UserWarning, match="valid feature names"), pytest.raises(ValueError, match=message):
        model.predict(np.ones((4, 3)))


def test_a_frame_after_an_array_is_taken_by_place() -> None:
    model = quick().fit(X, X[:, 0])
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        np.testing.assert_array_equal(model.predict(pd.DataFrame(X, columns=["a", "b"])), X[:, 0])
    model.fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    assert hasattr(model.fit(X, Y), "n_features_in_")
    assert not hasattr(model, "feature_names_in_")


# --- Bad data get a sentence -----------------------------------------------------------------------------------------


def changed(value: Any, dtype: Any = float) -> npt.NDArray[Any]:
    table = X.astype(dtype)
    table[3, 1] = value
    return table


def ones(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": X[:, 0], **columns})


BAD_TABLES: dict[str, tuple[Any, str]] = {
    "nan": (changed(np.nan), r"Column `x2` of `X` must be finite, but has NaN in row 3 \(1 such values in all\)\."),
    "inf": (changed(-np.inf), r"Column `x2` of `X` must be finite, but has -inf in row 3"),
    "none": (changed(None, object), r"Column `x2` of `X` must be finite, but has a missing value in row 3"),
    "pandas NA": (ones(b=pd.array([1, None] * 20, dtype="Int64")), r"`b` of `X` must be finite, but has .* in row 1"),
    "masked": (np.ma.masked_greater(X, 2.0), r"`X` is a masked array with hidden values\. Leave those rows out"),
    "text": (ones(b=["red"] * 40), r"Column `b` of `X` must hold numbers, but holds text\. Turn it into numbers"),
    "text array": (X.astype(str), r"Column `x1` of `X` must hold numbers, but holds text"),
    "text object": (changed("1.5", object), r"Column `x2` of `X` must hold numbers, but has the text '1\.5' in row 3"),
    "bytes": (X.astype("S"), r"Column `x1` of `X` must hold numbers, but holds bytes"),
    "dates": (ones(b=pd.date_range("2020", periods=40)), r"`b` of `X` must hold numbers, but holds dates\. Turn"),
    "dates array": (np.full((40, 1), np.datetime64("2020")), r"must hold numbers, but holds dates"),
    "durations": (ones(b=pd.to_timedelta(range(40), unit="s")), r"`b` of `X` must hold numbers, but holds durations"),
    "categories": (ones(b=pd.Categorical(["u", "v"] * 20)), r"`b` of `X` must hold numbers, but holds categories\."),
    "complex": (X + 1j, r"Complex data not supported: Column `x1` of `X` must hold real numbers"),
    "complex object": (changed(1j, object), r"Complex data not supported: Column `x2` of `X` .* 1j in row 3"),
    "sparse": (sparse.csr_array(X), r"`X` is a sparse matrix, but formulas need every value: give X\.toarray\(\)\."),
    "no rows": (np.empty((0, 2)), r"`X` has 0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1 is required"),
    "no rows, frame": (pd.DataFrame({"a": []}), r"`X` has 0 sample\(s\)"),
    "no columns": (np.empty((40, 0)), r"`X` has 0 feature\(s\) \(shape=\(40, 0\)\) while a minimum of 1 is required"),
    "no columns, frame": (pd.DataFrame(index=range(40)), r"`X` has 0 feature\(s\)"),
    "one dimension": (X[:, 0], r"`X` must be a table of rows by columns, but its shape is \(40,\)\. Reshape"),
    "three dimensions": (X[None], r"but its shape is \(1, 40, 2\)"),
    "ragged": ([[1.0], [1.0, 2.0]], r"`X` must be a table of numbers, but its rows differ in length"),
    "too large": (changed(10**400, object), r"Column `x2` of `X` must be finite, but has inf in row 3"),
}  # fmt: skip
if pl is not None:
    BAD_TABLES |= {
        "polars null": (
            pl.DataFrame({"a": [1.0, None] * 20}),
            r"Column `a` of `X` must be finite, but has NaN in row 1",
        ),
        "lazy": (pl.LazyFrame({"a": [1.0]}), r"`X` is a frame that has not been computed yet: give X\.collect\(\)\."),
    }


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_table_that_cannot_be_used_gets_a_sentence(case: str) -> None:
    """Numbers 1, 2, 8, 10, 12 and 16 of the faults to survive."""
    table, sentence = BAD_TABLES[case]
    with pytest.raises(DataError, match=sentence):
        quick().fit(table, Y)


def test_an_object_that_is_no_number_is_named() -> None:
    with pytest.raises(TypeError, match=r"Column `x2` of `X` must hold numbers, but has a dict in row 3 "):
        quick().fit(changed({}, object), Y)


BAD_TARGETS = {
    "none": (None, r"SymbolicRegressor requires y to be passed, but the target y is None\."),
    "nan": (np.where(Y > 3.0, np.nan, Y), r"`y` must be finite, but has NaN in row"),
    "short": (Y[:-1], r"`y` must have a value for each of the 40 rows of `X`, but it has 39\."),
    "text": (["a"] * 40, r"`y` must hold numbers, but holds text\."),
    "missing": (pd.Series([1, None] * 20, dtype="Int64"), r"`y` must be finite, but has .* in row 1"),
    "complex": (Y + 1j, r"Complex data not supported: `y` must hold real numbers"),
    "three dimensions": (
        Y[None, None],
        r"`y` must have one value for each row of `X`, but its shape is \(1, 1, 40\)\.",
    ),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_a_target_that_cannot_be_used_gets_a_sentence(case: str) -> None:
    target, sentence = BAD_TARGETS[case]
    with pytest.raises(DataError, match=sentence):
        quick().fit(X, target)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (-np.ones(40), r"`sample_weight` must not be negative, but it is -1\.0 in row 0\."),
        (
            np.zeros(40),
            r"`sample_weight` must not be zero in every row\. Leave it out to give all rows the same weight\.",
        ),
        (np.full(40, np.nan), r"`sample_weight` must be finite, but has NaN in row 0"),
        (np.ones(39), r"`sample_weight` must have a value for each of the 40 rows of `X`, but it has 39\."),
        (np.ones((40, 2)), r"`sample_weight` must have one value for each row, but its shape is \(40, 2\)\."),
    ],
)
def test_weights_that_cannot_be_used_get_a_sentence(weights: Floats, sentence: str) -> None:
    """Number 19 of the faults to survive."""
    with pytest.raises(DataError, match=sentence):
        quick().fit(X, Y, sample_weight=weights)


def test_rows_of_weight_zero_do_not_count_and_those_of_weight_two_count_twice() -> None:
    target = np.where(np.arange(40) < 10, -50.0, Y)
    weights = np.where(np.arange(40) < 10, 0.0, 2.0)
    model = solver().fit(X, target, sample_weight=weights)
    assert str(model.best_) == "x1*x2 + 1.5"
    twice = quick().fit(np.repeat(X[10:], 2, axis=0), np.repeat(NOISY[10:], 2))
    once = quick().fit(X[::-1], NOISY[::-1], sample_weight=weights[::-1])
    assert [item.expression for item in once.pareto_front_] == [item.expression for item in twice.pareto_front_]


def test_a_constant_target_is_that_constant() -> None:
    """Number 3: R² of a constant that is met is 1 by scikit-learn's rule."""
    for value in (0.0, 3.25, -1e200, 1e-312):
        model = solver().fit(X, np.full(40, value))
        assert model.best_.complexity == 1
        np.testing.assert_array_equal(model.predict(X), np.full(40, value))
        assert model.score(X, np.full(40, value)) == 1.0


def test_constant_columns_and_doubled_columns_and_rows_do_no_harm() -> None:
    """Numbers 4 and 6."""
    table = np.stack([np.full(40, 7.0), X[:, 0], X[:, 0], np.zeros(40)], axis=1)
    doubled = np.repeat(table, 3, axis=0)
    np.testing.assert_allclose(solver().fit(doubled, 2.0 * doubled[:, 1]).predict(table), 2.0 * X[:, 0])
    assert np.isfinite(solver().fit(table[:, :1], NOISY).predict(table[:, :1])).all()


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_few_rows_give_some_formula(rows: int) -> None:
    """Number 5: a formula with as many constants as rows is no answer, but there is always one."""
    model = solver().fit(X[:rows], NOISY[:rows])
    assert np.isfinite(model.predict(X)).all()


def test_more_columns_than_rows_and_more_than_are_looked_at() -> None:
    """Number 9."""
    generator = np.random.default_rng(0)
    table = generator.normal(size=(12, 40))
    assert np.isfinite(quick().fit(table, table[:, 5]).predict(table)).all()
    wide = generator.normal(size=(30, 3_000))
    with pytest.warns(
        UserWarning, match=f"`X` has 3000 columns, but a search uses at most {MOST_COLUMNS}: those that explain"
    ):
        model = quick(max_evals=3_000).fit(wide, 3.0 * wide[:, 777])
    assert [token.name for token in model.best_.expression.tokens if token.column] == ["x778"]
    np.testing.assert_allclose(model.predict(wide), 3.0 * wide[:, 777])


def test_of_many_rows_a_sample_is_searched_and_losses_are_of_all() -> None:
    table = np.random.default_rng(0).uniform(0.5, 2.0, (3 * MOST_ROWS, 1))
    target = np.log(table[:, 0]) + np.random.default_rng(1).normal(0.0, 0.1, len(table))
    with pytest.warns(UserWarning, match="`X` has 30,000 rows; the search uses 10,000 of them, drawn at random"):
        model = quick().fit(table, target)
    for index, loss in enumerate(model.equations_["loss"]):
        assert loss == mean_squared_error(target, model.predict(table, index))


@pytest.mark.filterwarnings("ignore:`X` has")
def test_of_many_rows_constants_are_fitted_and_simple_numbers_judged_on_all() -> None:
    """2.3457 x^2 + 0.777 with so much noise that a sample cannot tell the factor from 7/3."""
    table = np.random.default_rng(1).uniform(-2.0, 2.0, (100_000, 1))
    target = 2.3457 * table[:, 0] ** 2 + 0.777 + np.random.default_rng(2).normal(size=len(table))
    model = solver(max_evals=500, patience=1).fit(table, target)
    design = np.stack([table[:, 0] ** 2, np.ones(len(table))], axis=1)
    slope, offset = np.linalg.lstsq(design, target, rcond=None)[0]
    at = model.predict(np.array([[0.0], [1.0], [2.0]]))
    np.testing.assert_allclose(np.diff(at), slope * np.array([1.0, 3.0]), rtol=2e-3)  # 7/3 is 5e-3 away
    np.testing.assert_allclose(at[0], offset, atol=0.01)
    for index, item in enumerate(model.pareto_front_):
        fitted_again = fit(Population.from_expressions([frozen(item.expression)]), Dataset.of(table, target))[1].error[
            0
        ]
        assert fitted_again / len(table) >= item.loss * (1.0 - 1e-4), index


@pytest.mark.filterwarnings("ignore:`X` has")
def test_of_many_rows_a_simple_number_stays_where_all_rows_allow_it() -> None:
    table = np.random.default_rng(1).uniform(-2.0, 2.0, (50_000, 1))
    target = 2.5 * table[:, 0] ** 2 + 5.0 + np.random.default_rng(2).normal(size=len(table))
    assert str(solver(max_evals=500, patience=1).fit(table, target).best_) == "2.5*x1^2 + 5"


@pytest.mark.filterwarnings("ignore:`X` has")
def test_once_time_is_up_the_choice_at_least_is_judged_on_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).uniform(0.5, 2.0, (2 * MOST_ROWS, 1))
    target = np.log(table[:, 0]) + np.random.default_rng(1).normal(0.0, 0.1, len(table))
    monkeypatch.setattr(TargetSearch, "_is_late", lambda _: True)
    with pytest.warns(UserWarning, match="Time was up when 1 of .* formulas had been judged on all 20,000 rows"):
        model = quick().fit(table, target)
    assert len(model.pareto_front_) == 1
    assert model.best_.loss == mean_squared_error(target, model.predict(table))


def test_whole_numbers_beyond_what_float64_tells_apart_are_warned_of() -> None:
    """Number 13; unsigned numbers do not wrap."""
    large = np.arange(40, dtype=np.int64)[:, None] + 2**60
    with pytest.warns(UserWarning, match=r"`x1` holds whole numbers beyond 2\^53, which float64 rounds\."):
        quick().fit(large, Y)
    unsigned = np.array([[2**64 - 1], [1]] * 20, dtype=np.uint64)
    with pytest.warns(UserWarning, match="beyond"):
        model = quick().fit(unsigned, unsigned[:, 0].astype(float))
    with pytest.warns(UserWarning, match="beyond"):
        np.testing.assert_allclose(model.predict(unsigned), unsigned[:, 0].astype(float))


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble", "int8", "uint16", "bool", ">f8", object])
def test_numbers_of_any_type_are_read(dtype: Any) -> None:
    """Numbers 8 and 14."""
    table = np.round(X * 2.0).astype(dtype)
    model = quick().fit(table, table[:, 0].astype(float))
    np.testing.assert_array_equal(model.predict(table), table[:, 0].astype(float))


def test_numbers_in_frames_of_any_type_are_read() -> None:
    frame = pd.DataFrame(
        {"d": [Decimal(i) for i in range(40)], "b": [True, False] * 20, "n": pd.array(range(40), dtype="Int32")}
    )
    model = quick().fit(frame, np.arange(40.0))
    np.testing.assert_array_equal(model.predict(frame), np.arange(40.0))


def test_arrays_of_any_layout_are_read_and_never_changed(tmp_path: Path) -> None:
    """Number 15."""
    mapped = np.memmap(tmp_path / "x", dtype=float, shape=X.shape, mode="w+")
    mapped[:] = X
    read_only = X.copy()
    read_only.setflags(write=False)
    layouts = [np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[:, ::-1][:, ::-1], mapped, read_only, X.tolist()]
    expected = quick().fit(X, NOISY)
    for layout in layouts:
        kept = np.array(layout)
        np.testing.assert_array_equal(quick().fit(layout, NOISY).predict(layout), expected.predict(X))
        np.testing.assert_array_equal(layout, kept)


def test_a_column_as_target_is_one_target() -> None:
    """Number 20."""
    model = quick().fit(X, Y[:, None])
    assert model.nout_ == 1
    assert model.predict(X).shape == (40,)
    np.testing.assert_array_equal(model.predict(X), quick().fit(X, Y).predict(X))


def test_rows_without_a_value_are_nan_with_a_warning() -> None:
    model = SymbolicRegressor(unary_operators=("log",), max_evals=500, random_state=0).fit(X[:, :1], np.log(X[:, 0]))
    with pytest.warns(RuntimeWarning, match=r"no finite value at 1 of 2 rows, the first of them row 1; they are NaN"):
        values = model.predict([[1.0], [-1.0]])
    np.testing.assert_array_equal(np.isnan(values), [False, True])


# --- Parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("binary_operator", " Did you mean `binary_operators`?"),
        ("timeout_in_seconds", " Use max_time."),
        ("verbose", " Use verbosity."),
        ("niterations", " Use max_evals."),  # PySR
        ("elementwise_loss", " Use loss."),
        ("turbo", " Formulas are computed in float64, by compiled code."),
        ("generations", " Use max_evals or max_time."),  # gplearn
        ("parsimony_coefficient", " The length of a formula is weighed by model_selection, without a coefficient."),
        ("allowed_symbols", " Use binary_operators and unary_operators."),  # pyoperon
        ("maximum_formula_complexity", " Use maxsize."),  # TuringBot
        ("n_cores_batch", " Use n_jobs."),  # DSO
        ("zzz", " The settings are binary_operators, "),
    ],
)
def test_a_parameter_that_does_not_exist_gets_a_suggestion(name: str, meant: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"has no parameter `{name}`.{meant}")):
        quick(**{name: 1})


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("binary_operators", "+", r"`binary_operators` must be a list of names and functions, but it is '\+'\."),
        ("binary_operators", ["plus"], r"`binary_operators` has `plus`, which is not one of add, "),
        ("binary_operators", ["sin"], r"`binary_operators` has `sin`, which belongs in `unary_operators`\."),
        ("binary_operators", ["+", "add"], r"must name each operator once, but has `add` twice\."),
        ("unary_operators", ["sine"], r"Did you mean `sin`\?"),
        ("maxsize", 0, r"`maxsize` must be a whole number of at least 1, but it is 0\."),
        ("maxsize", True, r"`maxsize` must be a whole number of at least 1, but it is True\."),
        ("max_evals", 1.5, r"`max_evals` must be a whole number of at least 1, but it is 1\.5\."),
        ("max_time", 0, r"`max_time` must be above 0 seconds, but it is 0\."),
        ("max_time", "1 h", r"`max_time` must be a number, but it is '1 h'\."),
        ("early_stop_condition", "loss < 1", r"`early_stop_condition` must be a number, but it is 'loss < 1'\."),
        ("patience", 0, r"`patience` must be a whole number of at least 1, but it is 0\."),
        ("model_selection", "acuracy", r"Did you mean `accuracy`\?"),
        ("n_jobs", 0, r"`n_jobs` must be at least 1, or -1 for all cores, but it is 0\."),
        ("verbosity", -1, r"`verbosity` must be a whole number of at least 0, but it is -1\."),
        ("method", "ngpg", r"There is no method `ngpg`\. Did you mean `nggp`\?"),
        ("method", 3, r"`method` must be the name of a method, but it is 3\."),
    ],
)
def test_a_value_out_of_range_gets_a_sentence(name: str, value: Any, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        quick(**{name: value}).fit(X, Y)


def test_a_search_needs_an_operator() -> None:
    with pytest.raises(SettingsError, match="`binary_operators` and `unary_operators` are empty"):
        quick(binary_operators=(), unary_operators=None).fit(X, Y)


@pytest.mark.parametrize("operators", [(["+"], []), ([], ["sin"]), (["-"], None), (["/"], []), (["*"], [])])
@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_any_few_operators_will_do(operators: tuple[list[str], list[str] | None], scale: float) -> None:
    binary, unary = operators
    for make in (quick, solver):
        model = make(binary_operators=binary, unary_operators=unary, max_evals=300).fit(X * scale, NOISY)
        allowed = {"+": "add", "-": "sub", "*": "mul", "/": "div", "sin": "sin"}
        used = {token.name for equation in model.pareto_front_ for token in equation.expression.tokens if token.arity}
        assert used <= {allowed[name] for name in (*binary, *(unary or ()))}


@pytest.mark.parametrize("index", [99, -99, "0", 0.5])
def test_a_row_that_the_table_does_not_have_gets_a_sentence(index: Any, fitted: SymbolicRegressor) -> None:
    with pytest.raises(SettingsError, match=r"`index` must be"):
        fitted.predict(X, index)


def test_what_is_not_fitted_says_so() -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        quick().predict(X)
    for name in ("equations_", "pareto_front_", "best_"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(quick(), name)
    for name in ("sympy", "latex"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(quick(), name)()


# --- How a search ends -----------------------------------------------------------------------------------------------


def test_patience_ends_a_search_whose_choice_stays() -> None:
    target = np.random.default_rng(0).normal(size=40)
    model = quick(patience=2, max_evals=10**9).fit(X, target)
    assert model.stop_reason_ == StopReason.PATIENCE.value


@pytest.mark.parametrize("condition", [1.0, lambda loss, complexity: loss <= 1.0 and complexity <= 15])
def test_a_loss_that_is_good_enough_ends_a_search(condition: Any) -> None:
    model = quick(early_stop_condition=condition, patience=None, max_evals=10**9).fit(X * 1e9, NOISY)
    assert model.stop_reason_ == "The early stop condition is met."
    assert model.equations_["loss"].min() <= 1.0


def test_time_and_evaluations_end_a_search() -> None:
    assert quick(max_evals=10**9, max_time=0.2, patience=None).fit(X, NOISY).stop_reason_ == "The time is up."
    assert quick().fit(X, NOISY).stop_reason_ == "The budget of expressions is used up."


def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads() -> None:
    fronts = [
        quick(random_state=seed, n_jobs=jobs, max_evals=4_000).fit(X, NOISY).equations_["expression"].tolist()
        for seed, jobs in ((3, None), (3, 2), (3, -1), (np.random.RandomState(5), 1), (np.random.RandomState(5), 1))
    ]
    assert fronts[0] == fronts[1] == fronts[2]
    assert fronts[3] == fronts[4]
    assert quick(random_state=None).fit(X, NOISY).best_.loss > 0.0


def test_a_warm_start_begins_with_what_was_found() -> None:
    table = X * 1e6
    model = solver(warm_start=True).fit(table, Y)
    expected = model.best_.expression
    model.set_params(method="nggp", max_evals=1, unary_operators=("square",))
    assert model.fit(table, Y).best_.expression == expected
    assert clone(model).fit(table, Y).best_.expression != expected
    model.set_params(binary_operators=("-",), unary_operators=())  # with which it cannot be written
    assert model.fit(table, Y).best_.expression != expected


def interrupt_main(after: float) -> Callable[[object], None]:
    """An observer that sends an interrupt some seconds after the first formula, however busy the machine is."""
    timer = threading.Timer(after, _thread.interrupt_main)
    timer.daemon = True

    def observe(progress: object) -> None:
        if not timer.ident:
            timer.start()

    return observe


@pytest.fixture
def quiet_collector() -> Iterator[None]:
    """No collection of garbage: an error raised within a callback of the collector (Hypothesis has one) is lost."""
    gc.disable()
    yield
    gc.enable()


def interrupt_once(loss: float, complexity: int) -> bool:
    _thread.interrupt_main()
    return False


@pytest.mark.parametrize("method", ["default", "nggp"])
def test_an_interrupt_gives_the_best_so_far(method: str) -> None:
    model = quick(method=method, binary_operators=("+", "*"), unary_operators=(), max_evals=10**9, patience=None)
    model.set_params(early_stop_condition=interrupt_once)  # asked once there are formulas
    model.fit(X, NOISY)
    model.set_params(early_stop_condition=None)
    assert model.interrupted_
    assert model.stop_reason_ == "The search was interrupted; this is the best so far."
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, NOISY) > 0.5 or method == "nggp"  # whose first turn gives no more than a number
    assert not model.set_params(max_evals=100).fit(X, NOISY).interrupted_


@pytest.mark.usefixtures("quiet_collector")
def test_an_interrupt_in_the_middle_of_things_gives_the_best_so_far() -> None:
    model = quick(max_evals=10**9, patience=None, callback=interrupt_main(1.0))
    model.fit(X, NOISY)
    assert model.interrupted_
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.usefixtures("quiet_collector")
def test_an_interrupt_gives_targets_that_were_not_begun_a_formula_that_needs_no_search() -> None:
    model = quick(max_evals=10**9, patience=None, callback=interrupt_main(0.5))
    model.fit(X, np.stack([NOISY, Y], axis=1))
    assert model.interrupted_
    assert "stopped" in model.stop_reason_[1] or "interrupted" in model.stop_reason_[1]
    assert mean_squared_error(Y, model.predict(X)[:, 1]) <= Y.var() * (1.0 + 1e-12)


@pytest.mark.usefixtures("quiet_collector")
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="a signal of POSIX systems")
@pytest.mark.parametrize("seconds", [0.02, 0.2, 0.6])
def test_an_exception_from_a_signal_handler_leaves_the_estimator_as_it_was_or_with_the_best_so_far(
    seconds: float,
) -> None:
    def ring(*arguments: object) -> None:
        raise TimeoutError("the alarm of a benchmark")

    model = quick().fit(X, NOISY)
    before = pickle.dumps(model)
    model.set_params(max_evals=10**9, patience=None)
    old = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        with pytest.raises(TimeoutError, match="alarm"):
            model.fit(X[:, :1], Y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    if model.interrupted_:  # it rang once there was a formula
        assert model.n_features_in_ == 1
        assert np.isfinite(model.predict(X[:, :1])).all()
    else:
        assert pickle.dumps(model.set_params(max_evals=600, patience="auto")) == before


def test_what_is_raised_on_the_way_leaves_no_half_fitted_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("broken")

    model = quick()
    with monkeypatch.context() as patch:
        patch.setattr(Portfolio, "front", broken)
        with pytest.raises(RuntimeError, match="broken"):
            model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "n_features_in_")


def test_progress_goes_to_stderr_and_a_closed_one_does_no_harm(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick().fit(X, NOISY)
    assert capsys.readouterr() == ("", "")
    quick(verbosity=1).fit(X * 1e6, NOISY)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"\d+\.\d s +[\d,]+ formulas  ", err)
    with Path(__file__).open() as closed:
        pass
    monkeypatch.setattr(sys, "stderr", closed)
    quick(verbosity=1).fit(X, NOISY)


# --- Inside scikit-learn ---------------------------------------------------------------------------------------------


def test_it_works_in_pipelines_and_searches_over_parameters() -> None:
    pipeline = make_pipeline(StandardScaler(), quick())
    assert pipeline.fit(X, Y).score(X, Y) > 0.4
    repr(pipeline)
    pipeline._repr_html_()
    grid = GridSearchCV(quick(), {"maxsize": [1, 5]}, cv=2, n_jobs=2).fit(X, Y)
    assert grid.best_params_ == {"maxsize": 5}
    assert cross_val_score(quick(), X, Y, cv=3, n_jobs=2).shape == (3,)


@pytest.mark.parametrize("dump", ["pickle", "joblib"])
def test_a_fitted_estimator_can_be_kept(dump: str, tmp_path: Path, noisy: SymbolicRegressor) -> None:
    if dump == "pickle":
        other = pickle.loads(pickle.dumps(noisy))
    else:
        joblib.dump(noisy, tmp_path / "model")
        other = joblib.load(tmp_path / "model")
    for index in range(len(noisy.equations_)):
        np.testing.assert_array_equal(other.predict(X, index), noisy.predict(X, index))
    assert repr(other) == repr(noisy)


# --- For the eye -----------------------------------------------------------------------------------------------------


def test_the_text_shows_the_front_and_marks_the_choice(fitted: SymbolicRegressor) -> None:
    assert repr(quick()).startswith("SymbolicRegressor(")
    lines = repr(fitted).splitlines()
    marked = [line for line in lines if line.startswith(">>>>")]
    assert len(marked) == 1
    assert marked[0].endswith("x2*x1 + 1.5")
    assert lines[-1] == "The task is solved."


def test_the_page_shows_formulas_as_mathml_and_escapes_everything() -> None:
    name = "<img src=x onerror=alert(1)>&"
    model = quick(max_evals=3_000).fit(pd.DataFrame({name: X[:, 0]}), 2.0 * X[:, 0])
    page = model._repr_html_()
    assert "<img" not in page
    assert "&lt;img" in page
    for element in re.findall(r"<math.*?</math>", page):
        minidom.parseString(element.replace("&InvisibleTimes;", ""))  # noqa: S318 - our own page; it is well formed
    assert model._repr_mimebundle_()["text/html"].startswith(model.fronts[0].html("best"))
    assert page.startswith(model.fronts[0].html("best"))


def test_scikit_learns_diagram_is_shown_before_the_fit_and_below_the_front_after_it(fitted: SymbolicRegressor) -> None:
    before, after = quick()._repr_html_(), fitted._repr_html_()
    assert "sk-estimator" in before
    assert "<math" not in before
    assert 0 < after.index("<math") < after.index("sk-estimator")
    assert quick()._repr_mimebundle_()["text/html"].count("sk-container-id-") > 0
    with config_context(display="text"):
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(fitted, "_repr_html_")


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_its_meaning_in_sympy(name: str) -> None:
    token = OPERATORS[name]
    library = Library.of([name], 2)
    expression = Expression(library, Row((2, *range(token.arity)), (np.nan,) * (1 + token.arity)))
    form = to_sympy(expression)
    points = np.concatenate([X[:5], X[:5] / 8.0])  # some operators have values below 1 only, some above
    values = expression.evaluate(points)
    assert np.isfinite(values).any()
    for row, expected in zip(points[np.isfinite(values)], values[np.isfinite(values)], strict=True):
        value = form.subs({sympy.Symbol(f"x{i + 1}"): row[i] for i in range(2)})
        assert float(value) == pytest.approx(float(expected))
    assert to_latex(expression)
    assert to_mathml(expression).startswith("<math")


def test_sympy_has_all_digits_and_latex_a_few() -> None:
    library = Library.of(["add", "mul", "const"], ["a b", "x_1"])
    expression = Expression.parse("const(1.23456789) * `a b` + const(2) * x_1", library)
    assert to_sympy(expression) == 1.23456789 * sympy.Symbol("a b") + 2 * sympy.Symbol("x_1")
    assert to_latex(expression) == r"1.235 \cdot \text{a b} + 2 \cdot x_{1}"
    escaped = to_latex(Expression.parse("`50% $x_`", Library.of([], ["50% $x_"])))
    assert escaped == r"\text{50\% \$x\_}"


# --- Constraints and units -------------------------------------------------------------------------------------------


def depth_of(node: reference.Node, name: str) -> int:
    below = max((depth_of(child, name) for child in node.children), default=0)
    return below + (node.token.name == name)


def test_no_formula_on_the_front_breaks_a_constraint() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (60, 2))
    y = np.exp(np.exp(0.3 * X[:, 0])) + np.sin(X[:, 0] * X[:, 1] + X[:, 1])
    settings: dict[str, Any] = {
        "unary_operators": ["exp", "sin"],
        "constraints": {"sin": 1, "/": [-1, 1]},
        "nested_constraints": {"exp": {"exp": 0}},
    }
    model = SymbolicRegressor(max_evals=100_000, max_time=None, random_state=0, **settings).fit(X, y)
    trees = [reference.tree(item.expression.library, item.expression.ids) for item in model.pareto_front_]
    assert len(trees) > 3
    for tree in trees:
        for node in reference.nodes(tree):
            if node.token.name == "sin":
                assert not node.children[0].children
            if node.token.name == "div":
                assert not node.children[1].children
            if node.token.name == "exp":
                assert depth_of(node, "exp") == 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"constraints": {"sinus": 3}}, "`constraints` names `sinus`, but the operators are"),
        ({"constraints": {"sin": (1, 2)}}, "`constraints` of `sin` must be a whole number of tokens"),
        ({"constraints": {"+": 3}}, "`constraints` of `\\+` must be 2 whole numbers of tokens"),
        ({"constraints": {"sin": 0}}, "at least 1 or -1 for no limit, but it is 0"),
        ({"constraints": ["sin"]}, "`constraints` must be a mapping from names of operators"),
        ({"nested_constraints": {"sin": 0}}, "`nested_constraints` of `sin` must be a mapping"),
        ({"nested_constraints": {"sin": {"cos": -1}}}, "must be a whole number of at least 0, but it is -1"),
        ({"nested_constraints": {"sin": {"bump": 1}}}, "`nested_constraints` names `bump`"),
    ],
)
def test_constraints_that_are_none_get_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        SymbolicRegressor(**settings).fit([[1.0], [2.0]], [1.0, 2.0])


def test_units_leave_only_formulas_of_ys_dimension() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(1.0, 3.0, (40, 3)), columns=["mass", "speed", "height"])
    energy = 0.5 * data.mass * data.speed**2 + 9.81 * data.mass * data.height
    model = SymbolicRegressor(max_evals=200_000, max_time=None, random_state=0)
    model.fit(data, energy, X_units={"mass": "kg", "speed": "m/s", "height": "m"}, y_units="J")
    assert len(model.pareto_front_) > 1
    for item in model.pareto_front_:
        rule = Dimensions.of(["mass", "speed", "height"], ["kg", "m/s", "m"], "J")
        tree = reference.tree(item.expression.library, item.expression.ids)
        assert reference.dimension_of(rule, tree) in (reference.ANY, rule.target)


@pytest.mark.parametrize(
    ("X_units", "y_units", "sentence"),
    [
        (["kg"], "J", "`X_units` must be a list with a unit for each of the 2 variables"),
        (["kg", "metre per"], "J", "x2"),
        ({"x3": "m"}, "J", "A unit is given for `x3`, but the variables are x1, x2"),
        (["kg", "m"], ["J", "J"], "`y`"),
    ],
)
def test_units_that_are_none_get_a_sentence(X_units: Any, y_units: Any, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        SymbolicRegressor().fit([[1.0, 2.0], [2.0, 4.0], [3.0, 1.0]], [1.0, 2.0, 4.0], X_units=X_units, y_units=y_units)


# --- Formulas that are read ------------------------------------------------------------------------------------------


def test_a_front_is_shown_with_few_digits_and_kept_with_all() -> None:
    noise = 0.05 * np.random.default_rng(0).normal(size=len(X))
    model = quick(random_state=0).fit(X, 2.34567 * X[:, 0] + 1.23456 + noise)
    best = model.best_
    assert str(best) == best.text == model.get_best()["equation"]
    assert len(best.text) < len(str(best.expression))
    np.testing.assert_allclose(best.shown.evaluate(X), model.predict(X), atol=0.02)
    assert best._repr_latex_() == f"${model.latex()}$"
    assert model.latex() in model.fronts[0]._repr_latex_()
    assert repr(best).startswith(f"<Equation {best.text}: complexity ")
    assert model.export("text") == str(best.expression) == str(model.get_best()["expression"])
    assert model.export("latex") == model.latex()
    assert model.get_best(0)["complexity"] == model.pareto_front_[0].complexity


def test_a_front_is_a_table_in_latex(noisy: SymbolicRegressor) -> None:
    lines = noisy.latex_table().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrr}"
    assert lines[2] == r"Equation & Complexity & Loss & Score \\"
    assert len(lines) == 6 + len(noisy.pareto_front_)
    assert noisy.latex(0) in lines[4]
    few = noisy.latex_table(indices=[0], precision=2, columns=["loss", "equation"]).splitlines()
    assert few[0] == r"\begin{tabular}{rl}"
    assert len(few) == 7
    with pytest.raises(SettingsError, match=r"`columns` must be some of equation, .* Did you mean `loss`\?"):
        noisy.latex_table(columns=["los"])
