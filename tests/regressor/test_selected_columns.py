"""The number of columns that a search uses: which are chosen, and where that is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from symseed import Dataset, SettingsError, SymbolicRegressor
from symseed.cli.main import commands
from symseed.language.tokens import TokenKind
from symseed.regressor.prepare import distinct

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(1.0, 3.0, (400, 8)), columns=list("abcdefgh"))
Y = 2.0 * X.c + X.f**2
BOTH = pd.DataFrame({"first": Y, "second": X.a * X.h})


def quick(**given: Any) -> SymbolicRegressor:
    return SymbolicRegressor(**{"max_evals": 500, "max_time": None, "random_state": 0, **given})


def used(model: SymbolicRegressor) -> set[str]:
    """The columns that occur in formulas of the first target."""
    tokens = (token for item in model.fronts[0].equations for token in item.expression.tokens)
    return {token.name for token in tokens if token.kind is TokenKind.VARIABLE}


def test_a_search_uses_so_many_columns_those_that_explain_most() -> None:
    model = quick(select_k_features=2).fit(X, Y)
    assert model.selected_features_ == ["c", "f"]
    assert used(model) <= {"c", "f"}
    assert quick(select_k_features=1).fit(X, Y).selected_features_ == ["f"]
    assert str(model.best_) == "2*c + f^2"
    np.testing.assert_allclose(model.predict(X), Y)


@pytest.mark.parametrize("count", [None, 8, 100])
def test_without_a_smaller_number_all_columns_are_used(count: int | None) -> None:
    assert quick(select_k_features=count, max_evals=10).fit(X, Y).selected_features_ == list(X.columns)


def test_columns_are_chosen_for_each_target() -> None:
    model = quick(select_k_features=2, max_evals=100).fit(X, BOTH)
    assert model.selected_features_ == [["c", "f"], ["a", "h"]]


def test_a_number_of_ones_own_is_not_warned_of_unless_it_is_too_large() -> None:
    wide = RNG.normal(size=(40, 80))
    target = 3.0 * wide[:, 70]
    model = quick(select_k_features=3, max_evals=100).fit(wide, target)  # in tests a warning is an error
    assert "x71" in model.selected_features_
    with pytest.warns(UserWarning, match=r"`X` has 80 columns, but a search uses at most 64: .* `select_k_features`\."):
        assert len(quick(select_k_features=70, max_evals=10).fit(wide, target).selected_features_) == 64


def test_a_guess_with_a_column_that_was_not_chosen_is_named() -> None:
    with pytest.warns(UserWarning, match=r"does not begin with `a \* f`, because `a` is not among the 2 columns"):
        assert used(quick(select_k_features=2, guesses=["a * f", "c * f"]).fit(X, Y)) <= {"c", "f"}


def test_the_columns_of_a_run_are_known_from_its_folder(tmp_path: Path) -> None:
    noisy = BOTH + RNG.normal(0.0, 0.1, BOTH.shape)
    given = {"select_k_features": 2, "patience": None}
    model = quick(**given, max_evals=2_000, output_directory=tmp_path).fit(X, noisy)
    folder = str(model.run_directory_)
    assert SymbolicRegressor.from_file(folder).selected_features_ == model.selected_features_
    resumed = SymbolicRegressor.resume(folder, max_evals=4_000)
    assert resumed.selected_features_ == model.selected_features_
    whole = quick(**given, max_evals=4_000).fit(X, noisy)
    for mine, other in zip(resumed.equations_, whole.equations_, strict=True):
        assert mine["expression"].tolist() == other["expression"].tolist()
    assert SymbolicRegressor.resume(folder).selected_features_ == model.selected_features_


@pytest.mark.parametrize("value", [0, 2.0, "two", True])
def test_the_number_of_columns_is_whole(value: Any) -> None:
    with pytest.raises(SettingsError, match="`select_k_features` must be a whole number of at least 1, but it is"):
        quick(select_k_features=value).fit(X, Y)


def test_the_command_line_says_which_columns_were_chosen(tmp_path: Path) -> None:
    X.assign(y=Y).to_csv(tmp_path / "table.csv", index=False)
    typed = ["fit", str(tmp_path / "table.csv"), "-y", "y", "--in-memory", "--set", "max_evals=100"]
    done = CliRunner().invoke(commands, [*typed, "--set", "select_k_features=2"])
    assert "The search used 2 of 8 columns: `c`, `f`." in done.stdout
    done = CliRunner().invoke(commands, [*typed, "--set", "select_k_features=2", "--json"])
    assert json.loads(done.stdout)["targets"][0]["columns"] == ["c", "f"]
    assert "The search used" not in CliRunner().invoke(commands, typed).stdout


@pytest.mark.parametrize("deciding", [0, 9])
def test_samples_are_in_one_order_whichever_columns_tell_them_apart(deciding: int) -> None:
    """The first columns decide where they can, and all the others where they cannot."""
    wide = np.ones((30, 12))
    wide[:, deciding] = np.arange(30) // 3
    target = np.arange(30.0) % 2
    shuffled = np.random.default_rng(1).permutation(30)
    one, other = (distinct(Dataset.of(wide[order], target[order])) for order in (np.arange(30), shuffled))
    assert len(one) == 20, "ten values of the column, with two values of the target each"
    for name in ("X", "y", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.weights.sum() == 30
