"""A portfolio searches the reduced problem beside the original one, and is the same after a resume."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from symseed import Dataset, Expression, Library
from symseed.assembly import AssemblySettings
from symseed.completion.completer import CompletionSettings
from symseed.data.magnitudes import Magnitudes
from symseed.portfolio import Portfolio, PortfolioSettings, PortfolioState, Track, Turn, states
from symseed.search import Budget, Part, StopReason
from symseed.search.evolution import EvolutionSettings
from symseed.search.search import SearchSettings
from symseed.space.constraints import PAPER, Dimensions
from symseed.structure import StructureSettings

LIBRARY = Library.of(["add", "sub", "mul", "div", "exp", "log"], ["a", "b", "c", "d"])
_SEARCH = SearchSettings(batch=40, evolution=EvolutionSettings(4))
_PLAIN = Track(dataclasses.replace(_SEARCH, completion=CompletionSettings(max_bytes=2**16)), 20, PAPER, False, 1)
_FITTED = Track(_SEARCH, 20, PAPER, True, 1)
_ASSEMBLY = AssemblySettings(features=40, more_features=60, newer=20, matches=4, blocks=False)
SMALL = PortfolioSettings(
    (_PLAIN, _FITTED),
    _ASSEMBLY,
    structure=StructureSettings(rows=60, more_rows=80, scored_rows=40),
    parts=2,
    simplified=2,
    epoch=2,
)


def data(text: str = "a*exp(0 - b*c/d)", noise: float = 0.02) -> Dataset:
    X = np.random.default_rng(0).uniform(1.0, 3.0, (120, 4))
    y = Expression.parse(text, LIBRARY.with_constant()).evaluate(X)
    return Dataset.of(X, y, names=["a", "b", "c", "d"]).with_noise(noise, seed=1)


def made(
    samples: Dataset, settings: PortfolioSettings = SMALL, begin: PortfolioState | None = None, count: int = 12_000
) -> Portfolio:
    return Portfolio(LIBRARY, samples, settings, seed=3, budget=Budget(count), begin=begin)


def test_a_law_of_four_columns_is_found_in_one() -> None:
    portfolio = made(data())
    turns = [*portfolio.turns()]
    structure = portfolio.reduced.structure
    assert structure is not None
    assert len(structure.candidates[0].reduction.columns) == 1
    assert any(turn.found_by is Part.STRUCTURE for turn in turns)
    truth = data(noise=0.0).y
    error = turns[-1].best.expression.evaluate(data().X) - truth
    assert np.sqrt(np.mean(error**2)) < 0.01 * truth.std()


def test_without_structure_nothing_is_reduced() -> None:
    portfolio = made(data(), dataclasses.replace(SMALL, structure=None), count=2_000)
    assert not any(turn.found_by is Part.STRUCTURE for turn in portfolio.turns())
    assert portfolio.reduced.structure is None
    few = dataclasses.replace(SMALL, structure=dataclasses.replace(SMALL.structure, least_columns=5))  # type: ignore[type-var]
    portfolio = made(data(), few, count=2_000)
    assert [*portfolio.turns()][-1].reason is StopReason.EXPRESSIONS
    assert portfolio.reduced.structure is None


@pytest.mark.parametrize("text", ["a*exp(0 - b*c/d)", "a*b*c + d*d/(1 + b*a)"])
def test_a_portfolio_made_from_a_state_ends_as_the_one_that_went_on(text: str) -> None:
    whole = made(data(text, 0.1))
    turns: list[Turn] = []
    saved: dict[int, PortfolioState] = {}
    for turn in whole.turns():
        turns.append(dataclasses.replace(turn, seconds=0.0))
        if whole.state is not None:
            saved[whole.state.turn] = whole.state
    assert len(saved) > 2
    assert sum(len(state.reduced) > 0 for state in saved.values()) >= len(saved) - 1
    assert any(len(state.reduced) > 1 for state in saved.values())
    for state in [*saved.values()][:3]:
        arrays, values = states.pack(state, LIBRARY)
        again = made(data(text, 0.1), begin=states.unpack(arrays, json.loads(json.dumps(values)), LIBRARY, SMALL))
        rest = [dataclasses.replace(turn, seconds=0.0) for turn in again.turns()]
        assert rest == turns[state.turn + 1 :]
        assert again.front() == whole.front()


def test_the_structure_of_few_columns_is_found_later() -> None:
    """Most laws of three columns need no more than the turns before."""
    settings = dataclasses.replace(SMALL, structured_few=2)
    assert settings.structured_turn(4) == 1
    assert settings.structured_turn(3) == 2
    assert settings.structured_turn(2) is None
    three = dataclasses.replace(settings, many_columns=5)
    portfolio = made(data(), three, count=12_000)
    found = {turn.index: portfolio.reduced.structure for turn in portfolio.turns()}
    assert found[0] is found[1] is None
    assert found[2] is not None


def test_a_budget_of_expressions_counts_both_searches() -> None:
    portfolio = made(data(), count=4_000)
    *_, last = portfolio.turns()
    assert portfolio.reduced.counts.charged > 0
    assert last.charged == portfolio.counts.charged
    assert 4_000 <= last.charged < 5_500 or last.reason is StopReason.SOLVED


def test_structure_is_sought_in_the_user_s_units() -> None:
    """a + b of columns that are scaled by different powers of two is a sum in the user's units alone."""
    X = np.random.default_rng(0).uniform(1.0, 3.0, (120, 4))
    samples = Dataset.of(X, X[:, 2] * np.exp(-X[:, 3] / (X[:, 0] + X[:, 1])), names=["a", "b", "c", "d"])
    units = Magnitudes((1024.0, 1.0, 1.0, 0.25), 2.0)
    portfolio = Portfolio(
        LIBRARY, units.scaled(samples.with_noise(0.01, seed=0)), SMALL, seed=3, budget=Budget(4_000), units=units
    )
    [*portfolio.turns()]
    structure = portfolio.reduced.structure
    assert structure is not None
    writer = portfolio.tracks.common.writer
    (column,) = structure.candidates[0].reduction.columns
    assert str(Expression(writer.library, column.row)) in ("d / (a + b)", "d / (b + a)", "(a + b) / d", "(b + a) / d")
    assert len(portfolio.reduced.rows(3)) > 0
    found = portfolio.best
    assert found is not None
    assert found.mean_square < 0.01 * units.scaled(samples).y.var()


def test_units_hold_for_the_reduced_problem_and_for_what_comes_of_it() -> None:
    rule = Dimensions.of(["a", "b", "c", "d"], ["m", "s", "K/s", "K"], "m")
    portfolio = made(data(), dataclasses.replace(SMALL, constraints=(rule,)), count=6_000)
    [*portfolio.turns()]
    structure = portfolio.reduced.structure
    assert structure is not None
    assert all(column.dimension is not None for column in structure.candidates[0].reduction.columns)
    rows = portfolio.reduced.rows(3)
    assert len(rows) > 0
    assert portfolio.best is not None
    assert portfolio.best.mean_square < 0.01 * data().y.var()
