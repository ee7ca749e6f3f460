"""How sure a result is: weights, alternatives, cross-validation and stability, in memory, on disk and in commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from symseed import Dataset, SymbolicRegressor
from symseed.arrays import Floats
from symseed.cli.main import commands
from symseed.errors import DataError, SettingsError
from symseed.regressor.alternatives import LEAST_ODDS
from symseed.regressor.stability import refitted
from symseed.search import StopReason

RNG = np.random.default_rng(1)
X = pd.DataFrame({"x": np.linspace(0.5, 3.0, 16)})
Y = 2.0 * np.exp(-0.8 * X.x.to_numpy()) + RNG.normal(0.0, 0.08, 16)


def fit(**parameters: object) -> SymbolicRegressor:
    return fit_of(X, Y, **parameters)


def fit_of(table: pd.DataFrame, target: Floats, **parameters: object) -> SymbolicRegressor:
    given = {"max_evals": 4_000, "max_time": None, "random_state": 0, "n_jobs": 1, **parameters}
    return SymbolicRegressor(**given).fit(table, target)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(fit(output_directory=str(tmp_path_factory.mktemp("runs")), model_selection="cv").run_directory_)


@pytest.fixture(scope="module")
def decay(folder: str) -> SymbolicRegressor:
    return SymbolicRegressor.from_file(folder)


# --- Weights ----------------------------------------------------------------------------------------------------------


def test_weights_are_probabilities_of_different_forms(decay: SymbolicRegressor) -> None:
    front = decay.fronts[0]
    weights = [item.weight for item in (*front.equations, *front.others)]
    assert all(weight is not None and 0.0 <= weight <= 1.0 for weight in weights)
    assert 0.5 < sum({weight for weight in weights if weight is not None}) < 1.0
    assert list(decay.equations_["weight"]) == [item.weight for item in front.equations]
    lengths = [item.description for item in front.equations]
    assert np.argmax(decay.equations_["weight"]) == np.argmin(lengths)
    assert len(front.others) > 0
    assert max(item.description for item in front.others) < min(lengths) + 30.0


def test_a_solved_target_has_one_formula_that_is_right() -> None:
    model = SymbolicRegressor(max_evals=4_000, max_time=None, random_state=0).fit(X, 3.0 * X.x**2)
    assert model.stop_reason_ == StopReason.SOLVED.value
    assert model.fronts[0].equations[-1].weight == pytest.approx(1.0)
    assert str(model.alternatives()) == "No other formula that was found explains the data nearly as well."


def test_a_run_on_disk_has_the_same_weights_and_further_formulas(decay: SymbolicRegressor, folder: str) -> None:
    again = fit(model_selection="cv")
    for one, other in zip(decay.fronts, again.fronts, strict=True):
        assert one.equations == other.equations
        assert one.others == other.others
    assert "Weight" in (Path(folder) / "front.csv").read_text(encoding="utf-8").splitlines()[0]
    assert len(pd.read_csv(Path(folder) / "near.csv")) == len(decay.fronts[0].others)


def test_a_resumed_run_has_the_same_weights(tmp_path: Path) -> None:
    short = fit(output_directory=str(tmp_path), max_evals=2_500)
    resumed = SymbolicRegressor.resume(str(short.run_directory_), max_evals=4_000)
    whole = fit()
    assert resumed.fronts[0].equations == whole.fronts[0].equations
    assert resumed.fronts[0].others == whole.fronts[0].others


def test_tables_show_weights_and_json_has_them(decay: SymbolicRegressor, folder: str) -> None:
    front = decay.fronts[0]
    assert "weight" in front.text("best", 120)
    assert "weight" not in front.text("best", 60)
    assert "<th>weight</th>" in decay._repr_html_()
    shown = CliRunner().invoke(commands, ["show", folder, "--json"], catch_exceptions=False).stdout
    (target,) = json.loads(shown)["targets"]
    assert [row["weight"] for row in target["front"]] == [item.weight for item in front.equations]


def test_weights_of_a_large_table_consider_formulas_near_the_front_too() -> None:
    generator = np.random.default_rng(3)
    x = generator.uniform(0.5, 3.0, 10_400)
    y = 2.0 * np.exp(-0.8 * x) + generator.normal(0.0, 3.0, len(x))
    with pytest.warns(UserWarning, match="the search uses 10,000 of them"):
        more = fit_of(pd.DataFrame({"x": x}), y, max_evals=2_000)
    front = more.fronts[0]
    assert front.rows > 10_000
    known = {item.expression.row.ids for item in front.equations}
    assert all(item.expression.row.ids not in known for item in front.others)
    assert 0 < len(front.others) <= 5


# --- Alternatives -----------------------------------------------------------------------------------------------------


def test_alternatives_are_nearly_as_probable_and_differ_most_where_it_is_said(decay: SymbolicRegressor) -> None:
    found = decay.alternatives()
    assert len(found.equations) >= 2
    weights = [item.weight for item in found.equations]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] >= LEAST_ODDS * weights[0]
    assert found.contrast is not None
    place = found.contrast.at["x"]
    assert 0.5 <= place <= 3.0
    values = [item.expression.evaluate(np.array([[place]]))[0] for item in found.equations]
    np.testing.assert_allclose(found.contrast.values, values)
    grid = np.linspace(0.5, 3.0, 101)[:, None]
    known = [item.uncertainty for item in found.equations]
    table = np.stack([item.expression.evaluate(grid) for item in known])
    noise = np.sqrt(np.mean([item.deviation(grid) ** 2 for item in known], axis=0))
    assert found.contrast.deviations == pytest.approx(float(np.max(np.ptp(table, axis=0) / noise)), rel=1e-6)
    text = str(found)
    assert f"They differ most at x = {place:.4g}, by" in text
    assert text.endswith("standard deviations of a measurement: measure there.")
    assert all(item.text in text for item in found.equations)
    assert "<math" in found._repr_html_()


# --- Cross-validation -------------------------------------------------------------------------------------------------


def test_cv_selects_the_shortest_formula_within_a_standard_error(decay: SymbolicRegressor) -> None:
    table = decay.pareto_front_
    assert list(decay.equations_["cv_loss"]) == [item.cv_loss for item in table]
    least = min(table, key=lambda item: item.cv_loss)
    limit = least.cv_loss + least.cv_error
    assert decay.best_ == next(item for item in table if item.cv_loss <= limit)
    assert all(item.cv_loss > item.loss for item in table if item.complexity > 1)


def test_cv_that_was_not_computed_gets_a_sentence() -> None:
    model = fit(max_evals=500)
    assert "cv_loss" not in model.equations_
    model.model_selection = "cv"
    with pytest.raises(SettingsError, match="were not cross-validated"):
        _ = model.best_


# --- Stability --------------------------------------------------------------------------------------------------------


def test_the_law_is_selected_from_most_resamples_of_data_with_little_noise() -> None:
    y = 2.0 * np.exp(-0.8 * X.x.to_numpy()) + np.random.default_rng(0).normal(0.0, 0.003, 16)
    model = SymbolicRegressor(max_evals=4_000, max_time=None, random_state=0, n_jobs=1).fit(X, y)
    found = model.stability(X, y, n=10)
    first = found.formulas[0]
    assert first.text == str(model.best_)
    assert first.count >= 8
    assert found.frame["selected"].sum() == pytest.approx(1.0)
    free = first.constants[first.constants.low < first.constants.high]
    assert len(free) >= 1
    assert (free.low <= free["median"]).all()
    assert (free["median"] <= free.high).all()
    low, high = found.predict_interval(X.to_numpy())
    assert (low <= high).all()
    assert np.mean(high - low) < 0.02
    assert str(found).startswith("Selected in 10 resamples of the rows:")
    assert "<math" in found._repr_html_()
    again = model.stability(X, y, n=10)
    assert [item.text for item in again.formulas] == [item.text for item in found.formulas]
    np.testing.assert_array_equal(again.formulas[0].constants, first.constants)


def test_noise_makes_the_choice_unstable(decay: SymbolicRegressor) -> None:
    assert len(decay.stability(X, Y, n=20).formulas) > 1


def test_whole_searches_can_be_repeated(decay: SymbolicRegressor) -> None:
    found = decay.stability(X, Y, n=2, search=True, max_evals=300, model_selection="best")
    assert found.is_searched
    assert sum(item.count for item in found.formulas) == len(found.selected) == 2
    assert "2 whole searches" in str(found)


def test_stability_of_a_run_on_the_command_line(folder: str) -> None:
    def run(*options: str) -> str:
        return CliRunner().invoke(commands, ["stability", folder, *options], catch_exceptions=False).stdout

    assert run("--resamples", "5").startswith("Selected in 5 resamples of the rows:")
    (target,) = json.loads(run("--resamples", "5", "--json"))["targets"]
    assert sum(item["count"] for item in target["formulas"]) == 5


def test_targets_that_do_not_match_get_a_sentence(decay: SymbolicRegressor) -> None:
    with pytest.raises(DataError, match="`y` must have 1 columns, but it has 2"):
        decay.stability(X, np.stack([Y, Y], axis=1))


@pytest.mark.parametrize("rule", ["accuracy", "score", "bic", "mdl", "cv"])
def test_stability_selects_by_the_rule_of_the_user(decay: SymbolicRegressor, rule: str) -> None:
    front = decay.fronts[0]
    known = [*front.equations, *front.others]
    found = refitted(known, Dataset.of(X.to_numpy(), Y), rule=rule, times=4, seed=0)
    shortest = refitted(known, Dataset.of(X.to_numpy(), Y), rule="best", times=4, seed=0)
    sizes, least = ([item.size for item in one.selected] for one in (found, shortest))
    if rule == "accuracy":  # the smallest error of samples that were fitted is that of the longest formulas
        assert min(sizes) > max(least)
    elif rule in ("bic", "cv", "mdl"):
        assert max(sizes) <= max(item.complexity for item in known)
        assert rule != "mdl" or sizes == least
    decay.set_params(model_selection=rule)
    try:
        own = decay.stability(X, Y, n=4)
    finally:
        decay.set_params(model_selection="cv")
    assert [str(item) for item in own.selected] == [str(item) for item in found.selected]


def test_samples_of_weight_zero_are_never_drawn(decay: SymbolicRegressor) -> None:
    more = pd.concat([X, X + 100.0])
    wrong = np.concatenate([Y, np.full(16, 1e6)])
    weights = np.concatenate([np.ones(16), np.zeros(16)])
    found = decay.stability(more, wrong, weights, n=5)
    data = Dataset.of(X.to_numpy(), Y)
    assert all(np.abs(item.evaluate(data.X)).max() < 10.0 for item in found.selected)


# --- The report -------------------------------------------------------------------------------------------------------


def test_the_report_shows_alternatives_with_a_picture(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    CliRunner().invoke(commands, ["report", folder, "--output", str(path)], catch_exceptions=False)
    page = path.read_text(encoding="utf-8")
    assert "<h2>Alternatives</h2>" in page
    assert "explain the data about equally well" in page
    assert "Selected in 20 resamples of the rows:" in page
    assert '<figure class="alternatives">' in page
    assert "<th>weight</th>" in page
    assert "<th>cv loss</th>" in page
