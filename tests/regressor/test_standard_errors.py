"""Standard errors and intervals of an estimator: of fits, of runs on disk, of several targets, and in the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from symseed import SymbolicRegressor
from symseed.cli.main import commands
from symseed.errors import SettingsError
from symseed.language.spelling import plus_minus

RNG = np.random.default_rng(0)
X = np.linspace(0.0, 5.0, 40)[:, None]
Y = 1.7 * X[:, 0] - 2.3 + RNG.normal(0.0, 0.3, 40)


def fit(**parameters: object) -> SymbolicRegressor:
    given = {"unary_operators": [], "max_evals": 3_000, "max_time": None, "random_state": 0, **parameters}
    return SymbolicRegressor(**given).fit(X, Y)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def line() -> SymbolicRegressor:
    return fit()


def test_constants_have_their_standard_errors(line: SymbolicRegressor) -> None:
    table = line.standard_errors()
    constants = [value for value in line.best_.expression.constants if not np.isnan(value)]
    assert list(table.columns) == ["value", "standard_error", "low", "high"]
    assert list(table["value"]) == constants
    assert (table["standard_error"].between(0.01, 0.3)).all()
    slope, offset = np.polyfit(X[:, 0], Y, 1)  # intervals are around these, also where a constant was rounded
    np.testing.assert_allclose((table["low"] + table["high"]) / 2.0, [slope, -offset], rtol=1e-6)
    assert (line.standard_errors(level=0.5)["high"] < table["high"]).all()


def test_predictions_have_a_deviation_that_grows_beyond_the_data(line: SymbolicRegressor) -> None:
    values, spread = line.predict([[2.5], [50.0]], return_std=True)
    np.testing.assert_array_equal(values, line.predict([[2.5], [50.0]]))
    assert 0.2 < spread[0] < 0.4
    assert spread[1] > 3.0 * spread[0]
    low, high = line.predict_interval(X)
    assert 0.85 <= np.mean((low <= Y) & (high >= Y)) <= 1.0
    narrow, wide = line.predict_interval(X, level=0.5)
    assert 0.3 <= np.mean((narrow <= Y) & (wide >= Y)) <= 0.7


def test_a_run_that_is_opened_knows_the_same(tmp_path: Path) -> None:
    model = fit(output_directory=str(tmp_path))
    again = SymbolicRegressor.from_file(str(model.run_directory_))
    np.testing.assert_array_equal(again.standard_errors(), model.standard_errors())
    for first, second in zip(again.predict_interval(X), model.predict_interval(X), strict=True):
        np.testing.assert_array_equal(first, second)


def test_each_target_and_each_row_of_the_front_has_its_own() -> None:
    both = np.stack([Y, 10.0 * Y], axis=1)
    model = SymbolicRegressor(unary_operators=[], max_evals=1_000, max_time=None, random_state=0).fit(X, both)
    _, spread = model.predict(X, return_std=True)
    assert spread.shape == (40, 2)
    np.testing.assert_allclose(spread[:, 1] / spread[:, 0], 10.0, rtol=0.2)
    one, ten = model.standard_errors()
    assert len(one)
    assert len(ten)
    low, high = model.predict_interval(X, index=[0, 0])
    assert (low < high).all()


def test_a_level_that_is_no_probability_gets_a_sentence(line: SymbolicRegressor) -> None:
    for ask in (lambda: line.standard_errors(level=95), lambda: line.predict_interval(X, level=-0.1)):
        with pytest.raises(SettingsError, match=r"`level` must be from 0\.0 to 1\.0, but it is"):
            ask()


def test_the_report_has_the_constants(tmp_path: Path) -> None:
    model = fit(output_directory=str(tmp_path))
    written = CliRunner().invoke(commands, ["report", str(model.run_directory_)], catch_exceptions=False).stdout
    page = Path(written.strip()).read_text(encoding="utf-8")
    assert "<h2>Constants of the selected formula</h2>" in page
    assert page.count("<td>± ") == len(model.standard_errors())


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (2.4412, 0.0612, "2.441 ± 0.061"),
        (118.0, 0.0996, "118.00 ± 0.10"),
        (-0.5, 0.0123, "-0.500 ± 0.012"),
        (12.3, 45.6, "12 ± 46"),
        (6.674e-11, 3.1e-14, "(6.6740 ± 0.0031)e-11"),
        (5e7, 1e5, "(5.000 ± 0.010)e7"),
        (0.0, 0.3, "0.00 ± 0.30"),
        (3.0, 1e-15, "3"),
        (3.0, np.inf, "3 ± ?"),
    ],
)
def test_a_number_is_written_as_precisely_as_its_error(value: float, error: float, text: str) -> None:
    assert plus_minus(value, error) == text


def test_exports_and_latex_have_the_standard_errors(line: SymbolicRegressor) -> None:
    constants = line.best_.constants
    assert all("±" in constant for constant in constants)
    for notation in ("python", "c", "julia"):
        assert f"Constants: {', '.join(constants).replace('±', '+/-')}\n" in line.export(notation)
    assert "Constants" not in line.export("text")
    rows = line.latex_constants().splitlines()[4:-2]
    assert rows == [rf"$c_{{{i}}}$ & ${text.replace('±', chr(92) + 'pm')}$ \\" for i, text in enumerate(constants, 1)]
