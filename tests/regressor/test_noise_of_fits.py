"""Noise models of the estimator: fits, the displayed loss, the run folder, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import curve_fit
from sklearn.metrics import mean_squared_error

from symseed import Dataset, Expression, Library, SymbolicRegressor, tables
from symseed.arrays import Floats
from symseed.data import InputErrors, NoiseKind
from symseed.errors import DataError, SettingsError
from symseed.language.population import Population
from symseed.regressor.judge import Forms, Judge
from symseed.regressor.prepare import prepare
from symseed.regressor.settings import Settings
from symseed.regressor.target import Progress
from symseed.scoring import Uncertainty
from symseed.scoring.evaluation import fit_to_convergence
from symseed.search import StopReason


def power_law(rows: int = 40, *, share: float = 0.05, seed: int = 0) -> tuple[pd.DataFrame, Floats]:
    generator = np.random.default_rng(seed)
    x = np.geomspace(0.01, 100.0, rows)
    return pd.DataFrame({"x": x}), 7.3 * x**1.5 * (1.0 + share * generator.standard_normal(rows))


def fitted(X: Any, y: Any, *, y_err: Any = None, **settings: Any) -> SymbolicRegressor:
    given = {"max_evals": 1_000, "random_state": 0, "max_time": None, "unary_operators": ["sqrt"]} | settings
    return SymbolicRegressor(**given).fit(X, y, y_err=y_err)


def test_relative_errors_over_decades_are_recognised_and_the_law_is_found() -> None:
    X, y = power_law()
    model = fitted(X, y)
    assert model.noise_.kind is NoiseKind.RELATIVE
    assert str(model.best_).count("x") <= 2
    wide = pd.DataFrame({"x": [1e-3, 1.0, 1e3]})
    np.testing.assert_allclose(model.predict(wide), 7.3 * wide.x**1.5, rtol=0.1)
    # The standard deviation of a new measurement grows with the value.
    values, spread = model.predict(wide, return_std=True)
    np.testing.assert_allclose(spread / values, 0.05, rtol=0.5)


def test_the_displayed_loss_is_that_of_predict_whatever_the_noise() -> None:
    X, y = power_law()
    model = fitted(X, y, noise="relative")
    for place, equation in enumerate(model.pareto_front_):
        assert equation.loss == mean_squared_error(y, model.predict(X, place))


@pytest.mark.parametrize("kind", ["given", "relative"])
def test_constants_are_those_of_weighted_least_squares(kind: str) -> None:
    generator = np.random.default_rng(1)
    x = np.linspace(1.0, 100.0, 60)
    line = 2.37 * x + 1.13
    errors = 0.1 * generator.uniform(0.5, 5.0, 60) if kind == "given" else 0.1 * line
    y = line + errors * generator.standard_normal(60)
    plan = Settings(noise="auto" if kind == "given" else kind).plan()
    data = prepare(plan, Dataset.of(x, y), seed=0, errors=errors if kind == "given" else None).data
    form = Expression.parse("const * x1 + const", Library.of(["add", "mul"], 1, constants=True))
    found, _ = fit_to_convergence(Population.from_expressions([form]), data, most=9)
    design = np.stack([x, np.ones(60)], axis=1) / errors[:, None]
    expected, *_ = np.linalg.lstsq(design, y / errors, rcond=None)
    unweighted, *_ = np.linalg.lstsq(design * errors[:, None], y, rcond=None)
    constants = [value for value in found[0].constants if not np.isnan(value)]
    np.testing.assert_allclose(constants, expected, rtol=1e-6 if kind == "given" else 0.05)
    assert np.abs(unweighted / expected - 1.0).max() > 1e-3
    # Standard errors are those of the textbook, with the factor of the errors estimated.
    residuals = (y - found[0].evaluate(x[:, None])) / errors
    covariance = np.linalg.inv(design.T @ design) * (residuals @ residuals) / 58
    known = Uncertainty.of(found[0], data, 60)
    np.testing.assert_allclose(
        known.standard_errors, np.sqrt(np.diag(covariance)), rtol=1e-6 if kind == "given" else 0.2
    )


def test_standard_errors_count_by_their_ratios_only() -> None:
    X, y = power_law(20, share=0.02)
    errors = 0.02 * y
    first, second = (fitted(X, y, y_err=factor * errors) for factor in (1.0, 1000.0))
    assert first.best_.expression.ids == second.best_.expression.ids
    np.testing.assert_allclose(first.predict(X), second.predict(X), rtol=1e-6)


def test_clean_and_additive_data_give_the_front_of_additive_noise_to_the_last_bit() -> None:
    x = np.linspace(0.0, 4.0, 50)[:, None]
    noise = np.random.default_rng(0).normal(0.0, 0.05, 50)
    for y in (3.0 * np.exp(-x[:, 0]) + 0.5, 3.0 * np.exp(-x[:, 0]) + 0.5 + noise):
        auto, additive = (fitted(x, y, noise=kind, unary_operators=["exp"]) for kind in ("auto", "additive"))
        assert auto.noise_ == additive.noise_
        assert [str(item.expression) for item in auto.pareto_front_] == [
            str(item.expression) for item in additive.pareto_front_
        ]
        assert auto.equations_.loss.tolist() == additive.equations_.loss.tolist()


def test_robust_noise_ignores_outliers() -> None:
    x = np.linspace(0.0, 4.0, 60)[:, None]
    y = 2.0 * x[:, 0] + 1.0 + np.random.default_rng(0).normal(0.0, 0.05, 60)
    y[::10] += 20.0
    model = fitted(x, y, noise="robust")
    assert str(model.best_) == "2*x1 + 1"
    assert model.best_.loss == mean_squared_error(y, model.predict(x))
    assert model.predict(x, return_std=True)[1].max() < 1.0


def test_a_run_remembers_the_noise_and_the_standard_errors(tmp_path: Path) -> None:
    X, y = power_law(20)
    for errors in (None, 0.05 * y):
        folder = tmp_path / str(errors is None)
        model = fitted(X, y, y_err=errors, output_directory=folder)
        assert model.run_directory_ is not None
        read = SymbolicRegressor.from_file(model.run_directory_)
        assert read.noise_ == model.noise_
        assert read.standard_errors().equals(model.standard_errors())
        resumed = SymbolicRegressor.resume(model.run_directory_, max_evals=2_000)
        longer = fitted(X, y, y_err=errors, max_evals=2_000)
        assert [str(one.expression) for one in resumed.pareto_front_] == [
            str(one.expression) for one in longer.pareto_front_
        ]
        np.testing.assert_array_equal(resumed.predict(X, return_std=True)[1], longer.predict(X, return_std=True)[1])


def test_each_target_has_its_own_noise() -> None:
    X, y = power_law()
    other = 3.0 + np.random.default_rng(3).normal(0.0, 0.1, len(y)) + np.log(X.x)
    model = fitted(X, np.stack([y, other], axis=1))
    assert [noise.kind for noise in model.noise_] == [NoiseKind.RELATIVE, NoiseKind.ADDITIVE]


def test_what_cannot_be_combined_gets_a_sentence() -> None:
    X, y = power_law(10)
    with pytest.raises(SettingsError, match="`noise` must be one of auto, additive"):
        fitted(X, y, noise="relativ")
    with pytest.raises(SettingsError, match="needs squared errors"):
        fitted(X, y, noise="relative", loss="absolute")
    with pytest.raises(SettingsError, match="say what the noise is, and so does `noise`"):
        fitted(X, y, y_err=y, noise="relative")
    with pytest.raises(SettingsError, match="say what the noise is, and so does `loss`"):
        fitted(X, y, y_err=y, loss="absolute")
    with pytest.raises(DataError, match=r"`y_err` must be standard errors above zero, but it is 0.0 in row 3"):
        fitted(X, y, y_err=np.where(np.arange(10) == 3, 0.0, 1.0))
    with pytest.raises(DataError, match="`y_err` must have one value for each value of y"):
        fitted(X, y, y_err=np.ones((10, 2)))
    assert fitted(X, y, loss="absolute", max_evals=10).noise_.kind is NoiseKind.ADDITIVE


def exponential() -> tuple[Floats, Floats]:
    """Errors of x matter where the curve is steep."""
    generator = np.random.default_rng(0)
    truth = np.linspace(0.0, 4.0, 40)
    y = 1.37 * np.exp(0.83 * truth) + 0.1 * generator.standard_normal(40)
    return truth + 0.1 * generator.standard_normal(40), y


def test_errors_in_a_column_count_by_effective_variance() -> None:
    x, y = exponential()
    table = {"x": x}
    settings: dict[str, Any] = {"max_evals": 500, "random_state": 0, "max_time": None, "unary_operators": ["exp"]}
    for y_err in (np.full(40, 0.1), None):
        model = SymbolicRegressor(**settings).fit(pd.DataFrame(table), y, y_err=y_err, X_err={"x": 0.1})
        assert model.noise_.kind is NoiseKind.GIVEN
        where = pd.DataFrame({"x": [0.0, 1.0, 4.0]})
        assert np.abs(model.predict(where) / (1.37 * np.exp(0.83 * where.x)) - 1.0).max() < 0.15
        assert model.best_.loss == mean_squared_error(y, model.predict(pd.DataFrame(table)))
    with pytest.raises(DataError, match="`X_err` names `z`, but the columns are `x`"):
        SymbolicRegressor(**settings).fit(pd.DataFrame(table), y, X_err={"z": 0.1})
    with pytest.raises(SettingsError, match="and so does `noise`"):
        SymbolicRegressor(noise="relative", **settings).fit(pd.DataFrame(table), y, X_err={"x": 0.1})


def test_a_formula_is_refitted_with_its_own_slopes() -> None:
    x, y = exponential()
    data = Dataset.of(x, y)
    errors = InputErrors.of(data, np.full((40, 1), 0.1), np.full(40, 0.1))
    by_curve = errors.by_curve(data)
    np.testing.assert_allclose(by_curve, np.sqrt(0.01 + (0.1 * 0.83 * 1.37 * np.exp(0.83 * x)) ** 2), rtol=0.5)
    prepared = prepare(Settings(unary_operators=("exp",)).plan(), data, seed=0, errors=by_curve)
    prepared = prepared.with_input_errors(errors)
    form = Expression.parse("1.4 * exp(0.8 * x1)", prepared.writer.library)
    forms = Forms(form.row, (form.row,), ())
    (found,) = Judge(prepared, None, is_final=True).best_of([forms], lambda: False)
    a, b = 1.4, 0.8
    for _ in range(20):
        sigma = np.sqrt(0.01 + (0.1 * a * b * np.exp(b * x)) ** 2)
        (a, b), _ = curve_fit(lambda x, a, b: a * np.exp(b * x), x, y, p0=[a, b], sigma=sigma)
    constants = [value for value in found.formula.expression.constants if not np.isnan(value)]
    np.testing.assert_allclose(constants, [a, b], rtol=2e-3)
    # The likelihood counts how large the errors are that the formula's own slopes cause.
    scaled = (y - a * np.exp(b * x)) / sigma
    expected = np.mean(scaled**2) * np.exp(2.0 * np.mean(np.log(sigma)))
    assert found.formula.mean_square == pytest.approx(expected, rel=0.01)


def test_the_fit_says_what_its_residuals_look_like() -> None:
    X, y = power_law(share=0.2)
    assert any("grow" in remark for remark in fitted(X, y, noise="additive", max_evals=300).remarks_)
    clean = 2.0 * X.x + 1.0
    assert fitted(X, clean).remarks_ == []


# --- What is said of the noise, and what counts by it -----------------------------------------------------------------


@pytest.fixture(scope="module")
def power(tmp_path_factory: pytest.TempPathFactory) -> SymbolicRegressor:
    X, y = power_law()
    folder = tmp_path_factory.mktemp("runs")
    return fitted(X, y, model_selection="cv", max_evals=2_000, output_directory=str(folder))


def test_a_fitted_estimator_says_its_noise_unless_it_is_additive(power: SymbolicRegressor) -> None:
    assert repr(power).endswith(power.noise_.words)
    assert f"<p>{power.noise_.words}</p>" in power._repr_html_()
    X, _ = power_law()
    plain = fitted(X, X.x + 1.0)
    assert "noise is" not in repr(plain) + plain._repr_html_()


def test_a_run_that_was_killed_knows_its_noise(tmp_path: Path) -> None:
    def kill(_: Progress) -> None:
        if list(tmp_path.glob("*/front.csv")):
            raise KilledError

    X, y = power_law()
    with pytest.raises(KilledError):
        fitted(X, y, output_directory=str(tmp_path), callback=kill, max_evals=20_000)
    (folder,) = tmp_path.iterdir()
    read = SymbolicRegressor.from_file(folder)
    assert read.stop_reason_ == StopReason.NOT_ENDED.value
    assert read.noise_.kind is NoiseKind.RELATIVE
    assert read.noise_ == fitted(X, y, max_evals=300).noise_


class KilledError(Exception):
    """Stands for whatever kills a process."""


def test_weights_count_errors_by_the_noise(power: SymbolicRegressor) -> None:
    """By additive errors the largest values alone would decide, and the power law would have no weight."""
    X, y = power_law()
    front = power.fronts[0]
    weights = [item.weight or 0.0 for item in front.equations]
    best = front.equations[int(np.argmax(weights))]
    small = X[X.x < 1.0]
    np.testing.assert_allclose(best.expression.evaluate(small.to_numpy()), 7.3 * small.x**1.5, rtol=0.15)
    again = fitted(X, y, noise="additive", max_evals=2_000)
    assert max(weights) != pytest.approx(max(again.equations_["weight"]), rel=1e-3)


def test_losses_on_samples_left_out_count_by_the_noise(power: SymbolicRegressor) -> None:
    front = power.fronts[0]
    X, y = power_law()
    data = front.noise.weighed(Dataset.of(X.to_numpy(), y), power.best_.expression.evaluate(X.to_numpy())).dataset
    fitted_loss = [
        float(np.sum(data.weights * (item.expression.evaluate(data.X) - y) ** 2) / data.total_weight)
        for item in front.equations
    ]
    left_out = [float(value) for value in power.equations_["cv_loss"]]
    # Relative errors of formulas that fit are of one size, far below losses by values, in which the largest decide.
    best = front.choice("cv")
    assert fitted_loss[best] < left_out[best] < 10.0 * fitted_loss[best]
    assert left_out[best] < 1e-3 * front.equations[best].loss
    small = X[X.x < 1.0]
    np.testing.assert_allclose(power.predict(small), 7.3 * small.x**1.5, rtol=0.15)


@pytest.mark.parametrize("noise", ["auto", "additive"])
def test_few_rows_over_decades_never_have_the_answer_0(noise: str) -> None:
    table = tables.read_table("hydrogen_iodide").frame
    model = fitted(table[["temperature_k"]], table.rate, noise=noise, unary_operators=["exp", "log"])
    assert "0" not in {str(equation) for equation in model.pareto_front_}
    if noise == "auto":
        assert model.noise_.kind is NoiseKind.RELATIVE
        assert "temperature_k" in str(model.best_)
        np.testing.assert_allclose(model.predict(table[["temperature_k"]]), table.rate, rtol=0.7)
