"""A fit with a constant for each category: columns of text, numbers or a frame's own categories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from symseed import DataError, SymbolicRegressor
from symseed.cli.main import commands

rng = np.random.default_rng(0)
KINDS = np.array(["red", "green", "blue"])[rng.integers(0, 3, 90)]
X = pd.DataFrame({"kind": KINDS, "T": rng.uniform(0.5, 4.0, 90)})
FACTORS = {"red": 2.5, "green": 4.1, "blue": 7.3}
Y = X.kind.map(FACTORS).to_numpy() * np.exp(-X["T"] / 3.0).to_numpy()
SETTINGS: dict[str, Any] = {
    "template": "const[kind] * f(T)",
    "max_time": None,
    "max_evals": 60_000,
    "patience": 1,
    "random_state": 0,
}


def test_one_law_is_found_with_a_constant_for_each_category() -> None:
    model = SymbolicRegressor(**SETTINGS).fit(X, Y)
    assert model.parts() == {"f": "exp(-T/3)", "const[kind]": "blue 7.3, green 4.1, red 2.5"}
    assert str(model.best_) == "exp(-T/3)*(7.3*kind_blue + 4.1*kind_green + 2.5*kind_red)"
    assert (model.n_features_in_, list(model.feature_names_in_)) == (2, ["kind", "T"])
    others = pd.DataFrame({"T": [3.0, 1.5], "kind": ["green", "red"]})  # the order of columns does not matter
    np.testing.assert_allclose(model.predict(others), [4.1 * np.exp(-1.0), 2.5 * np.exp(-0.5)], rtol=1e-9)


@pytest.mark.parametrize(
    "same",
    [
        X.assign(kind=X.kind.astype("category")),
        pl.DataFrame({name: X[name].to_list() for name in X}),
        pl.DataFrame({name: X[name].to_list() for name in X}).with_columns(pl.col("kind").cast(pl.Categorical)),
    ],
    ids=["pandas", "polars", "polars categories"],
)
def test_frames_of_every_kind_are_read(same: Any) -> None:
    settings = SETTINGS | {"max_evals": 2_000}
    model = SymbolicRegressor(**settings).fit(same, Y)
    expected = SymbolicRegressor(**settings).fit(X, Y)
    assert str(model.best_.expression) == str(expected.best_.expression)
    np.testing.assert_array_equal(model.predict(same), expected.predict(X))


def test_a_column_of_an_array_holds_codes() -> None:
    codes = np.unique(KINDS, return_inverse=True)[1]
    table = np.column_stack([codes, X["T"]])
    model = SymbolicRegressor(**(SETTINGS | {"template": "const[x1] * f(x2)"})).fit(table, Y)
    assert model.parts()["const[x1]"] == "0 7.3, 1 4.1, 2 2.5"
    np.testing.assert_allclose(model.predict(table), Y, rtol=1e-6)
    assert model.n_features_in_ == 2


def test_a_category_counts_as_one_token_for_the_size() -> None:
    model = SymbolicRegressor(**(SETTINGS | {"maxsize": 6, "max_evals": 2_000})).fit(X, Y)
    assert max(item.complexity for item in model.pareto_front_) <= 6 + 10  # three products and two sums for const


def test_what_has_no_constant_is_refused() -> None:
    model = SymbolicRegressor(**(SETTINGS | {"max_evals": 2_000})).fit(X, Y)
    with pytest.raises(DataError, match=r"one of the categories `blue`, `green`, `red`, but has `grey` in row 1 \(1 "):
        model.predict(pd.DataFrame({"kind": ["red", "grey"], "T": [1.0, 2.0]}))
    with pytest.raises(DataError, match="but has nothing in row 0"):
        SymbolicRegressor(**SETTINGS).fit(X.assign(kind=[None, *KINDS[1:]]), Y)
    with pytest.raises(DataError, match=r"const\[kinds\], but `X` has no such column. Did you mean `kind`\?"):
        SymbolicRegressor(**(SETTINGS | {"template": "const[kinds] * f(T)"})).fit(X, Y)
    with pytest.raises(DataError, match=r"a column `kind_red`, the name of a category's column of 0 and 1\. Rename"):
        SymbolicRegressor(**SETTINGS).fit(X.assign(kind_red=1.0), Y)


def run(*arguments: str) -> Any:
    done = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def test_a_run_from_a_file_keeps_its_categories(tmp_path: Path) -> None:
    table, new = tmp_path / "table.csv", tmp_path / "new.csv"
    X.assign(y=Y).to_csv(table, index=False)
    new.write_text("T,kind\n3,green\n1,grey\n,red\n")
    folder = str(tmp_path / "runs")
    done = run(
        "fit", str(table), "-y", "y", "--template", SETTINGS["template"], "--set", "max_evals=60000", "--set",
        "patience=1", "--output-directory", folder, "--json",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["targets"][0]["parts"]["const[kind]"] == "blue 7.3, green 4.1, red 2.5"
    kind = next(one for one in found["table"]["columns"] if one["name"] == "kind")
    assert (kind["role"], kind["notes"]) == ("input", ["3 categories"])
    lines = run("predict", found["run_directory"], str(new)).stdout.splitlines()
    assert float(lines[1].split(",")[-1]) == pytest.approx(4.1 * np.exp(-1.0))
    assert [line.split(",")[-1] for line in lines[2:]] == ["", ""]  # an unknown category, and a gap
    model = SymbolicRegressor.from_file(found["run_directory"])
    np.testing.assert_allclose(model.predict(X), Y, rtol=1e-6)
    assert "exp(-T/3)" in run("runs", folder).stdout
    again = SymbolicRegressor.resume(found["run_directory"], max_evals=61_000)
    assert again.parts() == model.parts()


def test_a_formula_of_ones_own_is_fitted_with_a_constant_for_each_category(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    X.assign(y=Y).to_csv(table, index=False)
    done = run("evaluate", str(table), "-y", "y", "const[kind] * exp(-T / 3)", "--json")
    (found,) = json.loads(done.stdout)
    assert found["r2"] == pytest.approx(1.0)
    assert all(f"* kind_{name}" in found["formula"] for name in FACTORS)


def test_text_that_is_named_as_an_input_becomes_categories(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    X.assign(y=X.kind == "red", note="dry").to_csv(table, index=False)
    done = run("fit", str(table), "-y", "y", "--inputs", "T,kind", "--set", "max_evals=2000", "--in-memory", "--json")
    assert json.loads(done.stdout)["targets"][0]["equation"] == "kind_red"
