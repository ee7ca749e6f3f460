"""`perf/attainable.py`: a target that a simpler formula hides in noise is found out, and no other."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from symseed import Expression, Library, benchmarks
from symseed.benchmarks import catalogue, execution, store
from symseed.benchmarks.problem import Problem
from symseed.language.tokens import OPERATORS
from symseed.recovery import Checker

FOLDER = Path(__file__).parents[1] / "perf"
TOKENS = catalogue.parse_tokens('Few = ["add", "sub", "mul", "div", "sqrt", "square", "sin", "const"]')


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    sys.path.insert(0, str(FOLDER))  # they import each other
    try:
        yield {name: importlib.import_module(name) for name in ("attainable", "noise", "feynman")}
    finally:
        sys.path.remove(str(FOLDER))


def problem(target: str, variables: int = 1, low: float = 1.0, high: float = 3.0) -> Problem:
    text = (
        f'[[problem]]\nname = "Mine"\ntarget = "{target}"\nvariables = {variables}\ntokens = "Few"\n'
        f'train = "U({low}, {high}, 200)"\n'
    )
    return catalogue.parse({"mine.toml": text}, TOKENS).problems["Mine"]


def test_a_wave_is_hidden_where_a_line_fits_within_the_noise(scripts: dict[str, ModuleType], checker: Checker) -> None:
    limit = scripts["attainable"].limit
    short, long = problem("sin(x1)", low=0.0, high=0.2), problem("sin(x1)", low=0.0, high=3.0)
    hidden = limit(short, 0.1, 0, checker)
    assert not hidden.attainable
    assert "sin" not in hidden.other
    assert hidden.nats < 0.0
    assert limit(short, 0.0, 0, checker).attainable
    found = limit(long, 0.05, 0, checker)
    assert found.attainable
    assert found.right == "sin(x1)"
    assert found.nats > 10.0


def test_a_formula_that_a_run_found_counts(scripts: dict[str, ModuleType], checker: Checker) -> None:
    limit, target = scripts["attainable"].limit, problem("x1 - x1^3 / 6 + x1^5 / 120", low=0.0, high=2.0)
    wave = Expression.parse("sin(x1)", Library.of(OPERATORS, 1))
    assert limit(target, 0.001, 0, checker, [wave]).attainable
    found = limit(target, 0.1, 0, checker, [wave])
    assert not found.attainable
    assert found.other == "sin(x1)"
    assert "sin" not in limit(target, 0.1, 0, checker).other


def test_equal_formulas_count_as_one_form(scripts: dict[str, ModuleType], checker: Checker) -> None:
    found = scripts["attainable"].limit(problem("x1 * x2 * x2 / (4 * pi * x2^3)", 2), 0.01, 0, checker)
    assert found.attainable
    assert found.right.count("x2") == 1


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("x1^3 + 2 * 3", "square(x1) * x1 + 6.0"),
        ("x1^1.5", "sqrt(square(x1) * x1)"),
        ("-x1^(-2)", "-1.0 * (1.0 / square(x1))"),
        ("sin(2 - 2) * x1", "0.0 * x1"),
    ],
)
def test_a_target_is_written_in_the_tokens_of_its_problem(
    target: str, expected: str, scripts: dict[str, ModuleType]
) -> None:
    mine = problem(target)
    writer = scripts["attainable"].writer_of(mine)
    assert mine.target is not None
    row = scripts["attainable"].written(writer, mine.target)
    assert str(Expression(writer.library, row)) == expected
    X = mine.datasets()[0].X
    np.testing.assert_allclose(Expression(writer.library, row).evaluate(X), mine.values(X), rtol=1e-13)


def test_an_operator_that_a_problem_lacks_is_added(scripts: dict[str, ModuleType]) -> None:
    mine = problem("exp(x1)^x1")
    names = [token.name for token in scripts["attainable"].writer_of(mine).library.tokens]
    assert names[-2:] == ["pow", "exp"]


def test_formulas_of_all_tools_are_read_each_over_its_own_names(scripts: dict[str, ModuleType], tmp_path: Path) -> None:
    mine, outcome = benchmarks.get("Feynman-I.9.18"), scripts["noise"].Outcome
    lines = [
        outcome("default with units", mine.name, 0.1, 0, 5, formula="m1 * x1"),
        outcome("pyoperon mdl", mine.name, 0.1, 0, 5, formula="2.5 + x1 * x9"),
        outcome("gplearn", mine.name, 0.1, 0, 5, error="It was killed."),
        outcome("gplearn", "Feynman-I.8.14", 0.1, 0, 5, formula="x1"),
    ]
    text = "\n".join(json.dumps(dataclasses.asdict(line)) for line in lines)
    (tmp_path / "peers.jsonl").write_text(text + '\n{"torn": ', encoding="utf-8")
    run = dataclasses.replace(execution.failed(store.RunKey(mine.name, "default", 0), ""), formula="G / z2")
    with store.Store(tmp_path).writer() as append:
        append(run)
    found = scripts["attainable"].recorded(mine, [tmp_path, tmp_path / "missing"])
    X = mine.datasets()[0].X
    expected = [X[:, 2] / X[:, 8], X[:, 0] * X[:, 3], 2.5 + X[:, 0] * X[:, 8]]
    for formula, values in zip(found, expected, strict=True):
        np.testing.assert_allclose(formula.evaluate(X), values, rtol=1e-14)


def test_the_table_says_how_many_of_the_attainable_targets_were_found(
    scripts: dict[str, ModuleType], tmp_path: Path
) -> None:
    feynman, attainable = scripts["feynman"], scripts["attainable"]
    names = ("Feynman-I.12.1", "Feynman-I.12.2", "Feynman-I.14.4")
    found = [feynman.Result("default", name, 0.01, 0, name == names[0], 2.0) for name in names]
    limits = [attainable.Limit(name, 0.01, 0, name != names[1], 1.0, "", "") for name in names]
    lines = [line.split() for line in feynman.table(found, limits).splitlines()]
    assert ["default", "1/3;", "1/2;", "2.0", "s"] in lines
    assert ["2", "variables", "1/2;", "1/2;", "2.0", "s"] in lines
    assert ["4", "variables", "0/1;", "-;", "2.0", "s"] in lines
    assert feynman.results(tmp_path) == []
