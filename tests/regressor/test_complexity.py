"""Complexities that a user gives to operators, columns and constants: what is counted by them, and what is refused."""

from __future__ import annotations

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from symseed import Dataset, Expression, Library, SettingsError, SymbolicRegressor
from symseed.cli.main import commands
from symseed.language.population import Population
from symseed.language.tokens import OPERATORS, Token, TokenKind, constant
from symseed.regressor.operators import weighed
from symseed.regressor.weights import Weights
from symseed.scoring.description import RARITY, description_lengths

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(0.5, 3.0, (60, 2)), columns=["a", "b"])
Y = X.a * np.sin(X.b) + 0.3 * X.b + RNG.normal(0.0, 0.05, 60)
WEIGHTS: dict[str, Any] = {
    "complexity_of_operators": {"sin": 4, "cos": 4, "/": 2},
    "complexity_of_variables": {"b": 3},
    "complexity_of_constants": 2,
}
COUNTED = {"sin": 4, "cos": 4, "div": 2, "b": 3, "const": 2}


def quick(**given: Any) -> SymbolicRegressor:
    return SymbolicRegressor(**{"max_evals": 4_000, "max_time": None, "random_state": 0, "patience": None, **given})


def counted(expression: Expression) -> int:
    return sum(COUNTED.get(token.name, 1) for token in expression.tokens)


def library(**weights: int) -> Library:
    """Column a, add, sin and a constant, each with a weight."""
    (add, sin) = weighed(
        {name: weights[name] for name in ("add", "sin") if name in weights}, [OPERATORS["add"], OPERATORS["sin"]]
    )
    return Weights.of({"a": weights.get("a", 1)}, weights.get("const", 1)).library(["a"], [add, sin])


def test_complexity_is_the_sum_of_the_weights() -> None:
    model = quick(**WEIGHTS).fit(X, Y)
    front = model.pareto_front_
    assert [item.complexity for item in front] == [counted(item.expression) for item in front]
    assert any(item.complexity != len(item.expression) for item in front)
    assert list(model.equations_["complexity"]) == [item.complexity for item in front]
    sizes = [item.complexity for item in front]
    assert sizes == sorted(set(sizes)), "one formula of each complexity"
    losses = [item.loss for item in front]
    for before, after in itertools.pairwise(range(len(front))):
        if front[after] != model.best_:
            assert losses[after] < losses[before]
        fall = np.log(losses[before] / losses[after])
        assert front[after].score == pytest.approx(fall / (sizes[after] - sizes[before]))


def test_nothing_is_larger_than_maxsize() -> None:
    plain, weighty = (quick(maxsize=12, **given).fit(X, Y) for given in ({}, WEIGHTS))
    assert max(counted(item.expression) for item in plain.pareto_front_) > 12
    assert max(counted(item.expression) for item in weighty.pareto_front_) <= 12


def test_selection_prefers_cheap_operators() -> None:
    """A wave that a short formula with sin explains best: if sin costs much, another formula is selected."""
    noisy = np.sin(X.a) + RNG.normal(0.0, 0.3, len(X))
    plain, dear = (quick(complexity_of_operators=given).fit(X, noisy) for given in (None, {"sin": 30, "cos": 30}))
    names = [{token.name for token in model.best_.expression.tokens} for model in (plain, dear)]
    assert "sin" in names[0]
    assert not {"sin", "cos"} & names[1]


def test_a_token_of_weight_three_is_described_as_three_tokens() -> None:
    data = Dataset.of(X[["a"]].to_numpy(), Y.to_numpy())
    lengths = []
    for tokens in (library(), library(sin=3), library(a=3), library(const=3)):
        expression = Expression.parse("sin(a) + 0.5", tokens)
        lengths.append(float(description_lengths(Population.from_expressions([expression]), data)[0]))
    one = np.log(4.0)
    rare = one + RARITY * (OPERATORS["sin"].complexity - 1)
    np.testing.assert_allclose(np.subtract(lengths[1:], lengths[0]), [2.0 * rare, 2.0 * one, 2.0 * one])


def test_an_early_stop_is_asked_with_the_complexity() -> None:
    asked: list[int] = []
    quick(early_stop_condition=lambda _, size: asked.append(size), complexity_of_variables=7).fit(X, Y)
    assert max(asked) > 7
    assert not set(range(2, 7)) & set(asked), "a formula is a number, or has a column"


def test_weights_of_one_change_nothing() -> None:
    ones = {"complexity_of_operators": {"sin": 1, "+": 1}, "complexity_of_variables": {"a": 1, "b": 1}}
    plain, weighty = (quick(**given).fit(X, Y) for given in ({}, ones))
    assert plain.equations_["expression"].tolist() == weighty.equations_["expression"].tolist()
    assert [item.description for item in plain.pareto_front_] == [item.description for item in weighty.pareto_front_]


def test_a_run_keeps_the_complexities(tmp_path: Path) -> None:
    whole = quick(**WEIGHTS, max_evals=8_000).fit(X, Y)
    model = quick(**WEIGHTS, output_directory=tmp_path).fit(X, Y)
    read = SymbolicRegressor.from_file(str(model.run_directory_))
    assert read.equations_["complexity"].tolist() == model.equations_["complexity"].tolist()
    assert read.complexity_of_variables == {"b": 3}
    assert pickle.loads(pickle.dumps(read)).best_.complexity == model.best_.complexity
    resumed = SymbolicRegressor.resume(str(model.run_directory_), max_evals=8_000)
    assert resumed.equations_["expression"].tolist() == whole.equations_["expression"].tolist()
    assert resumed.equations_["complexity"].tolist() == whole.equations_["complexity"].tolist()


def test_complexities_can_be_typed(tmp_path: Path) -> None:
    X.assign(y=Y).to_csv(tmp_path / "table.csv", index=False)
    typed = ["--set", "complexity_of_operators={sin=4, cos=4, '/'=2}", "--set", "complexity_of_variables={b=3}"]
    limits = ["--set", "complexity_of_constants=2", "--set", "max_evals=500", "--time", "none", "--in-memory", "--json"]
    done = CliRunner().invoke(commands, ["fit", str(tmp_path / "table.csv"), "-y", "y", *typed, *limits])
    assert done.exit_code == 0, done.output
    tokens = Library.of(["+", "-", "*", "/", "sqrt", "square", "exp", "log", "sin", "cos", "const"], ["a", "b"])
    for item in json.loads(done.stdout)["targets"][0]["front"]:
        assert item["complexity"] == counted(Expression.parse(item["equation"], tokens))


def test_tokens_of_other_weights_mean_the_same_and_a_library_keeps_its_constant() -> None:
    heavy = library(const=3, sin=2)
    assert heavy == library()
    assert heavy.with_constant()[-1].weight == heavy.without_constants().with_constant()[-1].weight + 2 == 3
    assert Library.of(["add"], 1).with_constant()[-1] == constant()
    dear = Token("sin", TokenKind.OPERATOR, 1, 3, OPERATORS["sin"].code, weight=9)
    assert dear == OPERATORS["sin"]
    assert Expression.parse("sin(a) + 1", heavy).size == 2 + 1 + 1 + 3


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        (
            "complexity_of_operators",
            {"sin": 0},
            "`complexity_of_operators` of `sin` must be a whole number of at least 1",
        ),
        ("complexity_of_operators", {"sin": 1.5}, "must be a whole number of at least 1, but it is 1.5"),
        ("complexity_of_operators", {"tanh": 2}, "`complexity_of_operators` names `tanh`, but the operators are add"),
        ("complexity_of_operators", 2, "`complexity_of_operators` must be a mapping from names of operators"),
        ("complexity_of_variables", {"c": 2}, "`complexity_of_variables` names `c`, but the columns are `a`, `b`"),
        ("complexity_of_variables", {"a": 0}, "`complexity_of_variables` of `a` must be a whole number of at least 1"),
        ("complexity_of_variables", "a", "`complexity_of_variables` must be a whole number of at least 1"),
        ("complexity_of_constants", 0, "`complexity_of_constants` must be a whole number of at least 1"),
    ],
)
def test_a_complexity_that_cannot_be_gets_a_sentence(setting: str, value: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        quick(**{setting: value}).fit(X, Y)
