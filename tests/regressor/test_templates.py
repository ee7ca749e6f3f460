"""A fit with a template: known structures are found, ended, resumed and refused as all fits are."""

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
from symseed.regressor.target import Progress

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0.5, 3.0, (120, 2)), columns=["S", "T"])
NOISE = np.random.default_rng(1).normal(size=len(X))
QUICK: dict[str, Any] = {"max_time": None, "max_evals": 300_000, "patience": 1, "random_state": 0}
SMALL: dict[str, Any] = QUICK | {"method": "nggp-s-1", "constants": True, "max_evals": 12_000, "patience": None}
"""A method without assembly, which takes most of the time: for what does not depend on what is found."""


def noisy(y: Any, level: float) -> Any:
    return y + level * np.sqrt((y**2).mean()) * NOISE


@pytest.mark.parametrize("level", [0.0, 0.01])
@pytest.mark.parametrize(
    ("template", "y", "parts"),
    [
        ("const * f(S) + g(T)", 2.5 * np.sin(2.0 * X.S) + X["T"] ** 2, {"f": "sin(2*S)", "g": "T^2"}),
        ("f(S) * g(T)", (X.S + 1.0) * np.sqrt(X["T"]), {"f": "S + 1", "g": "sqrt(T)"}),
        ("f(S) * exp(-g(T))", X.S**2 * np.exp(-(X["T"] ** 2) / 2.0), {"f": "S^2", "g": "T^2/2"}),
    ],
)
def test_a_formula_of_the_structure_is_found_with_each_of_its_parts(
    template: str, y: Any, parts: dict[str, str], level: float
) -> None:
    model = SymbolicRegressor(template=template, **QUICK).fit(X, noisy(y, level))
    assert {name: text.replace("1 + S", "S + 1") for name, text in model.parts().items()} == parts
    assert model.best_.loss <= 1.5 * (level**2) * float((y**2).mean()) + 1e-20
    np.testing.assert_allclose(model.predict(X), y, rtol=0.05, atol=0.05)


def test_every_formula_of_the_front_has_the_structure() -> None:
    y = noisy(X.S**2 * np.exp(-X["T"]), 0.05)
    model = SymbolicRegressor(template="2.5 * f(S) * exp(-g(T))", **(SMALL | {"max_evals": 30_000})).fit(X, y)
    assert len(model.pareto_front_) > 3
    for i, equation in enumerate(model.pareto_front_):
        is_number = equation.complexity == 1
        assert set(model.parts(i)) == (set() if is_number else {"f", "g"}), str(equation.expression)


def test_a_piece_of_the_structure_without_effect_on_the_data_stays() -> None:
    model = SymbolicRegressor(template="where(S, f(T), 2)", **QUICK).fit(X, X["T"] ** 2)  # S is always positive
    assert str(model.best_) == "cond(S, T^2) + unless(S, 2)"
    assert model.parts() == {"f": "T^2"}


def test_columns_that_the_template_does_not_name_are_not_used() -> None:
    table = X.assign(other=X.S)
    model = SymbolicRegressor(template="f(T)", **SMALL).fit(table, X.S + X["T"])
    assert all("S" not in item.text and "other" not in item.text for item in model.pareto_front_)


def test_a_part_that_no_inverse_reaches_is_searched_by_linearisation() -> None:
    y = np.maximum(X.S**2, 2.0) + X["T"]
    model = SymbolicRegressor(template="max(f(S), 2) + g(T)", **QUICK).fit(X, y)
    assert model.best_.loss < 1e-20


def test_units_hold_for_the_whole_and_within_each_part() -> None:
    units: dict[str, Any] = {"X_units": {"S": "m", "T": "s"}, "y_units": "m^2"}
    model = SymbolicRegressor(template="f(S) * exp(-g(T))", **QUICK).fit(X, X.S**2 * np.exp(-X["T"] / 2.0), **units)
    assert model.parts() == {"f": "S^2", "g": "T/2"}
    with pytest.raises(SettingsError, match="No formula of `template` can have the units"):
        SymbolicRegressor(template="S + f(T)", **QUICK).fit(X, X.S, **units)


def formulas(model: SymbolicRegressor) -> list[str]:
    return [str(item.expression) for item in model.pareto_front_]


class KilledError(Exception):
    """Stands for whatever kills a process."""


def test_a_run_that_was_killed_goes_on_to_the_same_front(tmp_path: Path) -> None:
    y = noisy(2.5 * np.sin(2.0 * X.S) + X["T"] ** 2 / (1.0 + X["T"]), 0.02)
    settings = SMALL | {"template": "const * f(S) + g(T)"}
    whole = SymbolicRegressor(**settings).fit(X, y)

    def kill(progress: Progress) -> None:
        if progress.turn.index == 3:
            raise KilledError

    with pytest.raises(KilledError):
        SymbolicRegressor(output_directory=tmp_path, callback=kill, **settings).fit(X, y)
    (folder,) = tmp_path.iterdir()
    seen: list[int] = []
    again = SymbolicRegressor.resume(folder, callback=lambda progress: seen.append(progress.turn.index))
    assert seen[0] == 3  # the first pass over the parts was not repeated
    assert formulas(again) == formulas(whole)
    read = SymbolicRegressor.from_file(folder)
    assert formulas(read) == formulas(whole)
    assert read.parts() == whole.parts()


@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_interrupted_search_keeps_the_best_so_far(at: int) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.turn.index == at:
            raise KeyboardInterrupt

    y = noisy(np.exp(X.S) * np.log(1.0 + X["T"]), 0.05)
    model = SymbolicRegressor(template="f(S) * g(T)", callback=interrupt, **SMALL).fit(X, y)
    assert model.interrupted_
    assert np.isfinite(model.predict(X)).all()


def test_a_limit_in_formulas_and_one_in_seconds_hold() -> None:
    y = noisy(np.exp(X.S) * np.log(1.0 + X["T"]), 0.05)
    counts: list[int] = []
    few = SMALL | {"max_evals": 3_000}
    SymbolicRegressor(template="f(S) * g(T)", callback=lambda p: counts.append(p.turn.charged), **few).fit(X, y)
    assert counts[-1] < 10_000
    short = SymbolicRegressor(template="f(S) * g(T)", max_time=0.5, random_state=0).fit(X, y)
    assert short.stop_reason_ == "The time is up."


def test_the_answer_does_not_depend_on_threads() -> None:
    y = noisy(np.exp(X.S) * np.log(1.0 + X["T"]), 0.05)
    few = SMALL | {"template": "f(S) * g(T)"}
    one, two = (SymbolicRegressor(n_jobs=jobs, **few).fit(X, y) for jobs in (1, 2))
    assert formulas(one) == formulas(two)


def test_several_targets_and_a_warm_start_have_templates_too() -> None:
    y = np.stack([X.S**2 + X["T"], 2.0 * X.S**2 + 3.0 * X["T"]], axis=1)
    model = SymbolicRegressor(template="f(S) + g(T)", warm_start=True, **QUICK).fit(X, y)
    assert [set(parts) for parts in model.parts()] == [{"f", "g"}] * 2
    before = [str(item.expression) for item in model.best_]
    assert [str(item.expression) for item in model.fit(X, y).best_] == before


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"template": 3}, "`template` must be a text such as"),
        ({"template": "f(S) + g(T)", "maxsize": 2}, "`template` has at least 3 tokens, but `maxsize` allows 2"),
        ({"template": "f(S)", "method": "nggp"}, "`template` needs fitted constants"),
        ({"template": "f(Q)"}, "names `Q`, which is no column"),
    ],
)
def test_a_template_that_cannot_be_searched_is_refused_before_anything_is_written(
    tmp_path: Path, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence):
        SymbolicRegressor(output_directory=tmp_path, **settings).fit(X, X.S)
    assert not list(tmp_path.iterdir())


def test_without_a_template_there_are_no_parts() -> None:
    assert SymbolicRegressor(**SMALL).fit(X, X.S).parts() == {}


def test_the_command_line_takes_a_template_and_says_what_each_part_is(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    X.assign(y=X.S**2 + np.sqrt(X["T"])).to_csv(path, index=False)
    typed = ["fit", str(path), "-y", "y", "--set", "max_evals=400000", "--in-memory", "--template", "f(S) + g(T)"]
    done = CliRunner().invoke(commands, typed, catch_exceptions=False)
    assert "f = S^2" in done.output
    assert "g = sqrt(T)" in done.output
    done = CliRunner().invoke(commands, [*typed[:-2], "--set", "template=f(S) + g(T)", "--json"])
    assert json.loads(done.stdout)["targets"][0]["parts"] == {"f": "S^2", "g": "sqrt(T)"}
