"""`perf/units.py`: runs of `default` with units and without, each once, on problems that have units."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from symseed import Budget, Expression, SearchSpace, benchmarks, portfolio

FOLDER = Path(__file__).parents[1] / "perf"


@pytest.fixture(scope="module")
def units() -> Iterator[ModuleType]:
    sys.path.insert(0, str(FOLDER))  # it imports its neighbour
    try:
        yield importlib.import_module("units")
    finally:
        sys.path.remove(str(FOLDER))


def test_units_keep_formulas_of_other_dimensions_out(units: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = benchmarks.get("Feynman-I.12.1")
    rule = problem.dimensions
    assert rule is not None
    fronts = []
    original = portfolio.run

    def watched(*arguments: Any, budget: object, **named: Any) -> portfolio.Solution:
        solution = original(*arguments, budget=Budget(1), **named)
        fronts.append([formula.expression for formula in solution.front])
        return solution

    monkeypatch.setattr(units.portfolio, "run", watched)
    outcomes = [units.default(problem.name, 0.1, 0, 5, has_units=has_units) for has_units in (True, False)]
    assert [outcome.peer for outcome in outcomes] == ["default with units", "default without"]

    def is_legal(formula: Expression) -> bool:
        return SearchSpace(formula.library, min_length=1, max_length=100, constraints=(rule,)).allows(formula)

    assert all(map(is_legal, fronts[0]))
    assert not all(map(is_legal, fronts[1]))


def test_nothing_runs_twice_and_problems_without_units_are_left_out(
    units: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = []

    def default(name: str, level: float, seed: int, seconds: int, *, has_units: bool) -> object:
        calls.append((name, level, seed, has_units))
        verdict = "exact" if has_units else "no"
        return units.noise.Outcome(
            units.LABELS[has_units], name, level, seed, seconds, verdict=verdict, cpu_seconds=2.0 + has_units
        )

    monkeypatch.setattr(units, "default", default)
    names, path = ["Feynman-I.12.1", "Nguyen-1"], tmp_path / "units.jsonl"
    assert len(units.run_all(names, [0.0], [0], 5, path, both=False)) == 1
    found = units.run_all(names, [0.0, 0.1], [0], 5, path)
    assert calls == [
        ("Feynman-I.12.1", 0.0, 0, True),
        ("Feynman-I.12.1", 0.0, 0, False),
        ("Feynman-I.12.1", 0.1, 0, True),
        ("Feynman-I.12.1", 0.1, 0, False),
    ]
    assert units.run_all(names, [0.0, 0.1], [0], 5, path) == found
    assert len(calls) == 4
    assert "noise 0.1, default with units: 1 of 1, median 3.0 CPU s" in units.table(found)
    assert "noise 0.1, default without: 0 of 1, median 2.0 CPU s" in units.table(found)


def test_the_problems_of_a_bare_call_have_units_and_many_variables(units: ModuleType) -> None:
    assert {len(benchmarks.get(name).names) for name in units.SUBSET} >= {5, 6, 8, 9}
    assert all(benchmarks.get(name).dimensions is not None for name in units.SUBSET)
