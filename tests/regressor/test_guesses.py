"""Guesses: what they do to a search, how they are written in its operators, and what is said of those it cannot use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from symseed import SettingsError, SymbolicRegressor
from symseed.cli.main import commands
from symseed.regressor import guesses
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Settings

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(1.0, 5.0, (50, 3)), columns=["m", "v", "t"])
Y = 0.5 * X.m * X.v**2 * np.sin(1.3 * X.t) + 0.7
GUESS = "const * m * v^2 * sin(1.2 * t) - 3"


def short(**given: Any) -> SymbolicRegressor:
    """A search too short to find the law by itself."""
    return SymbolicRegressor(**{"max_evals": 300, "max_time": None, "random_state": 0, **given})


def read(*texts: str, y_units: str | None = None, **given: Any) -> list[Any]:
    data = RunData(
        *(X.to_numpy(), Y.to_numpy()[:, None], np.ones(len(X)), tuple(X.columns)),
        has_labels=True,
        is_multiple=False,
        targets=("y",),
    )
    data = data if y_units is None else data.with_units(["kg", "m/s", "s"], y_units)
    return guesses.read(Settings.of({"guesses": list(texts), **given}).plan(), data)[0]


def test_a_search_begins_with_a_guess_and_fits_its_numbers() -> None:
    assert short().fit(X, Y).score(X, Y) < 0.99
    model = short(guesses=[GUESS]).fit(X, Y)
    assert str(model.best_) == "m*v^2*sin(1.3*t)/2 + 0.7"
    assert model.stop_reason_ == "The task is solved."


def test_each_target_has_its_guesses_and_one_list_is_for_all() -> None:
    both = pd.DataFrame({"a": Y, "b": -Y})
    for given in ([[GUESS], [f"-({GUESS})"]], [GUESS], [[GUESS], []]):
        model = short(guesses=given).fit(X, both)
        assert str(model.best_[0]) == "m*v^2*sin(1.3*t)/2 + 0.7"
        assert (model.best_[1].loss < 1e-20) == (given != [[GUESS], []])


def test_a_guess_is_part_of_the_run_and_of_its_resumption(tmp_path: Path) -> None:
    noisy = Y + RNG.normal(0.0, 0.5, len(Y))
    given = {"guesses": [GUESS], "patience": None}
    whole = short(**given, max_evals=6_000).fit(X, noisy)
    begun = short(**given, max_evals=2_000, output_directory=tmp_path).fit(X, noisy)
    folder = Path(str(begun.run_directory_))
    (known,) = Run.read(folder).known
    assert known == ["1.0 * m * square(v) * sin(1.2 * t) - 3.0"]
    resumed = SymbolicRegressor.resume(folder, max_evals=6_000)
    assert resumed.equations_["expression"].tolist() == whole.equations_["expression"].tolist()
    assert SymbolicRegressor.from_file(folder).guesses == [GUESS]


def test_units_hold_for_guesses_too() -> None:
    energy = 0.37 * X.m * X.v**2
    units: dict[str, Any] = {"X_units": ["kg", "m/s", "s"], "y_units": "J"}
    assert str(short(guesses=["const * m * v^2"], max_evals=1).fit(X, energy, **units).best_) == "0.37*m*v^2"
    with pytest.raises(SettingsError, match=r"`guesses` has `m \* v`, which breaks a rule of the search: `y` \(kg\*m"):
        short(guesses=["m * v"]).fit(X, energy, **units)


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        ("m^2 - v^4 + 1", {}),
        ("-m", {}),
        ("m^-1.5 + v^0.5", {}),
        ("m^0 + v^7", {"unary_operators": []}),
        ("m - v", {"binary_operators": ["+", "*"]}),
        ("m / v - square(t)", {"binary_operators": ["+", "*"], "unary_operators": ["inv"]}),
        ("square(m) + inv(v)", {"unary_operators": []}),
        ("square(m)^2", {"binary_operators": ["+"], "unary_operators": ["square"]}),
        ("m^2", {"binary_operators": ["^"]}),
        ("sigmoid(m)", {}),
    ],
)
def test_a_guess_is_written_in_the_operators_of_the_search(text: str, operators: dict[str, Any]) -> None:
    (found,) = read(text, **operators)
    plain = SymbolicRegressor(
        binary_operators=["+", "-", "*", "/", "^"], unary_operators=["square", "inv", "neg", "sqrt", "sigmoid"]
    )
    (expected,) = read(text, binary_operators=plain.binary_operators, unary_operators=plain.unary_operators)
    assert np.allclose(found.evaluate(X.to_numpy()), expected.evaluate(X.to_numpy()), rtol=1e-12)
    plan = Settings.of(operators).plan()
    assert {token.name for token in found.tokens if token.arity} <= {token.name for token in plan.operators}


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("m * z", {}, r"has `m \* z`, which cannot be read\. Expected a variable \(m, v, t\) at character 5"),
        ("m +", {}, "which cannot be read. Expected a number"),
        ("tanh(m)", {}, r"needs the operator `tanh`, but those of the search are add, .* Add it to `unary_operators`"),
        ("m^0.3", {}, "needs the operator `pow`.* Add it to `binary_operators`"),
        ("m^3", {"binary_operators": ["+"]}, "needs the operator `pow`"),
        ("square(m)", {"binary_operators": ["+"], "unary_operators": []}, "needs the operator `square`"),
        ("m * v * t", {"maxsize": 4}, "whose complexity in the operators of the search is 5, but `maxsize` is 4"),
        ("2 * m", {"constants": False}, "needs a fitted constant, but this search has none. Set `constants` to true"),
        ("sin(sin(m))", {"nested_constraints": {"sin": {"sin": 0}}}, "which breaks a rule of the search"),
    ],
)
def test_a_guess_that_the_search_cannot_use_gets_a_sentence(text: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read(text, **settings)


@pytest.mark.parametrize("given", ["m * v", [1], [["m"], "v"], {"m": 1}])
def test_guesses_are_a_list_of_texts(given: Any) -> None:
    with pytest.raises(SettingsError, match="`guesses` must be a list of formulas as texts"):
        short(guesses=given).fit(X, Y)


def test_there_are_as_many_lists_of_guesses_as_targets() -> None:
    with pytest.raises(SettingsError, match=r"a list for each of 1 target, or one list .* but it has 2 lists"):
        short(guesses=[["m"], ["v"]]).fit(X, Y)


@pytest.mark.parametrize("typed", [["--guess", GUESS, "--guess", "m"], ["--set", f'guesses=["{GUESS}"]']])
def test_guesses_can_be_typed(tmp_path: Path, typed: list[str]) -> None:
    X.assign(y=Y).to_csv(tmp_path / "table.csv", index=False)
    limits = ["--set", "max_evals=300", "--time", "none", "--in-memory", "--json"]
    done = CliRunner().invoke(commands, ["fit", str(tmp_path / "table.csv"), "-y", "y", *typed, *limits])
    assert done.exit_code == 0, done.output
    (target,) = json.loads(done.stdout)["targets"]
    assert target["front"][target["index"]]["shown"] == "m*v^2*sin(1.3*t)/2 + 0.7"
