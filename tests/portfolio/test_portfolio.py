"""The portfolio: it solves what it should, keeps to its budget, and gives a front with one choice in it."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import reference
from symseed import (
    Dataset,
    Expression,
    Library,
    SettingsError,
    SpaceError,
    benchmarks,
    evaluate,
    methods,
    portfolio,
)
from symseed.arrays import Floats
from symseed.assembly import Assembler, AssemblySettings, refitted
from symseed.completion.completer import CompletionSettings
from symseed.data.losses import Loss
from symseed.errors import DataError
from symseed.language import Population
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.portfolio import states
from symseed.portfolio.pool import Formula, Pool, judged
from symseed.portfolio.portfolio import FURTHER, Portfolio
from symseed.portfolio.progress import Turn
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.solution import Solution
from symseed.portfolio.states import PortfolioState
from symseed.portfolio.track import Track, TrackRun
from symseed.recovery.checker import Checker, Verdict
from symseed.scoring import Scored
from symseed.search import Lesson, Memory, Part
from symseed.search.budget import Budget, IsLate, StopReason
from symseed.search.elite import Front
from symseed.search.evolution import EvolutionSettings
from symseed.search.lineage import LineageOf
from symseed.search.search import SearchSettings
from symseed.space import SearchSpace
from symseed.space.constraints import PAPER, Dimensions
from symseed.space.dimensions import Dimension

KOZA = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 1)
x = np.random.default_rng(0).uniform(0.2, 3.0, 40)
_SEARCH = SearchSettings(batch=40, evolution=EvolutionSettings(4))
_PLAIN = Track(dataclasses.replace(_SEARCH, completion=CompletionSettings(max_bytes=2**16)), 20, PAPER, False, 2)
_FITTED = Track(_SEARCH, 20, PAPER, True, 1)
_SCALED = Track(_SEARCH, 20, PAPER, False, 2, numbers=(1.0,), is_scaled=True)
_ASSEMBLY = AssemblySettings(features=40, more_features=60, newer=20, matches=4, blocks=False)
SMALL = PortfolioSettings((_PLAIN, _FITTED), _ASSEMBLY, parts=2, simplified=2)
"""A turn of some 500 expressions."""
SEARCHES = dataclasses.replace(SMALL, assembly=None)


def noisy(seed: int = 0, y: Floats | None = None) -> Dataset:
    return Dataset.of(x, (np.sin(x * x) / x if y is None else y) + np.random.default_rng(seed).normal(0.0, 0.3, len(x)))


def solve(
    data: Dataset,
    settings: PortfolioSettings = SMALL,
    *,
    library: Library = KOZA,
    budget: Budget | None = None,
    seed: int = 0,
) -> Solution:
    return portfolio.run(library, data, settings, seed=seed, budget=budget or Budget(3_000))


def timeless(solution: Solution) -> Solution:
    return dataclasses.replace(
        solution, history=tuple(dataclasses.replace(turn, seconds=0.0) for turn in solution.history)
    )


# --- What it finds ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "turns"), [("Jin-4", 1), ("Nguyen-12", 1), ("R-2", 1), ("Neat-9", 2)])
def test_problems_that_searches_seldom_solve_are_solved_before_the_first_of_them(
    name: str, turns: int, checker: Checker
) -> None:
    """Neat-9 is a sum of parts, which are sought at the start of turn 1."""
    problem, method = benchmarks.get(name), methods.get("default")
    assert method.portfolio is not None
    assert problem.target is not None
    train, test = problem.datasets()
    solution = solve(train, method.portfolio, library=problem.library, budget=Budget(50_000))
    assert solution.reason is StopReason.SOLVED
    assert len(solution.history) == turns
    assert solution.history[0].charged < 1_000
    assert checker.check(solution.best.expression, problem.target, test).verdict is Verdict.EXACT


def test_what_the_tracks_find_is_found_without_assembly() -> None:
    """x^2 + x, by a search; the answer has no constants, and is in the library that has them."""
    solution = solve(Dataset.of(x, x * x + x), SEARCHES, budget=Budget(50_000))
    assert solution.reason is StopReason.SOLVED
    assert solution.history[-1].index > 0
    assert solution.best.mean_square < 1e-28
    np.testing.assert_allclose(solution.best.expression.evaluate(x), x * x + x, rtol=1e-12)


def test_a_scaled_track_finds_a_form_whatever_its_factor_and_offset() -> None:
    """7.3 log(x + 1) - 40.7: hard to come by where each number has to be built, one small form where they are free."""
    data = noisy(1, np.zeros(len(x)))
    truth = 7.3 * np.log(x + 1.0) - 40.7
    data = Dataset.of(x, truth + 0.03 * (data.y / 0.3))

    def found(*tracks: Track) -> Floats:
        settings = dataclasses.replace(SEARCHES, tracks=tracks)
        return solve(data, settings, budget=Budget(20_000)).best.expression.evaluate(x)

    np.testing.assert_allclose(found(_SCALED), truth, atol=0.05)
    assert np.abs(found(dataclasses.replace(_SCALED, is_scaled=False)) - truth).max() > 0.1


def test_a_scaled_track_solves_to_the_last_digit() -> None:
    solution = solve(
        Dataset.of(x, 7.3 * np.log(x + 1.0) - 40.7),
        dataclasses.replace(SEARCHES, tracks=(_SCALED,)),
        budget=Budget(50_000),
    )
    assert solution.reason is StopReason.SOLVED
    assert {"7.3", "40.7", "1.0"} <= set(str(solution.best.expression).replace("-", "").replace(")", "").split())


def test_a_scaled_track_searches_by_squares_whatever_the_loss() -> None:
    y = 7.3 * np.log(x + 1.0) - 40.7
    y[::8] += 30.0
    data = Dataset.of(x, y).with_loss(Loss.of("absolute"))
    solution = solve(data, dataclasses.replace(SEARCHES, tracks=(_SCALED,)), budget=Budget(20_000))
    assert np.isfinite(solution.best.description)


def test_a_scaled_track_is_left_out_where_nothing_can_be_added_or_multiplied() -> None:
    settings = dataclasses.replace(SEARCHES, tracks=(_PLAIN, _SCALED))
    assert settings.possible_tracks(KOZA) == [(0, _PLAIN), (1, _SCALED)]
    assert settings.possible_tracks(Library.of(["sin", "mul"], 1)) == [(0, _PLAIN)]
    assert solve(noisy(), settings, library=Library.of(["sin", "mul"], 1)).reason is StopReason.EXPRESSIONS


def test_a_track_has_its_numbers_once() -> None:
    names = [token.name for token in _SCALED.library(KOZA).tokens]
    assert names == [*(token.name for token in KOZA.tokens), "1.0"]
    assert _SCALED.library(_SCALED.library(KOZA)).tokens == _SCALED.library(KOZA).tokens


def test_a_series_that_fits_to_rounding_is_not_called_solved() -> None:
    """sinh(2 x) cannot be written with these operators, but a polynomial has its values to twelve digits."""
    x = np.linspace(-1.0, 1.0, 60)[:, None]
    library = Library.of(["add", "sub", "mul"], 1)
    tracks = tuple(dataclasses.replace(track, max_length=60) for track in SMALL.tracks)
    settings = dataclasses.replace(SMALL, tracks=tracks, assembly=AssemblySettings(40, more_features=60, newer=20))
    solution = solve(Dataset.of(x, np.sinh(2.0 * x[:, 0])), settings, library=library, budget=Budget(100_000))
    assert solution.reason is StopReason.NO_SHORT_LAW
    assert solution.history[-1].index >= FURTHER
    law = solve(Dataset.of(x, 1.2345 * x[:, 0] ** 5 - 0.777), settings, library=library, budget=Budget(100_000))
    assert law.reason is StopReason.SOLVED
    assert law.history[-1].index == 0


def test_noise_leaves_the_form_and_its_constants() -> None:
    """2 x + 3 sin(x) with 1 % of noise: nothing of it is explained away."""
    data = noisy(1, np.zeros(len(x)))
    data = Dataset.of(x, 2.0 * x + 3.0 * np.sin(x) + 0.03 * (data.y / 0.3))
    solution = solve(data, budget=Budget(1_500))
    assert len(solution.best.expression) <= 9
    np.testing.assert_allclose(solution.best.expression.evaluate(x), 2.0 * x + 3.0 * np.sin(x), rtol=1e-12)


def test_pure_noise_is_described_by_a_number() -> None:
    lengths = [len(solve(noisy(seed, np.full(len(x), 5.0)), budget=Budget(600)).best.expression) for seed in range(4)]
    assert sorted(lengths)[:3] == [1, 1, 1]


@pytest.mark.parametrize("value", [0.0, 2.5, -1e-9, 1e100, 0.1 + 0.2, 0.7, 3.3333])
def test_a_constant_target_is_that_constant_at_once(value: float) -> None:
    solution = solve(Dataset.of(x, np.full(len(x), value)))
    assert solution.reason is StopReason.SOLVED
    assert (len(solution.history), len(solution.front), len(solution.best.expression)) == (1, 1, 1)
    assert solution.best.expression.constants[0] == value, "the mean of forty of them may be rounded to another"


@pytest.mark.parametrize("y", [np.full(len(x), 1e307), 1e200 * np.sin(x), 1e-200 * np.sin(x)])
def test_a_target_whose_squares_are_no_numbers_gets_a_sentence(y: Floats) -> None:
    with pytest.raises(DataError, match="Scale it"):
        solve(Dataset.of(x, y))


def test_one_sample_is_a_number() -> None:
    solution = solve(Dataset.of([2.0], [3.0]))
    assert str(solution.best.expression) == "3.0"


@pytest.mark.parametrize("count", [2, 3, 4])
def test_few_samples_get_an_answer(count: int) -> None:
    solution = solve(Dataset.of(x[:count], np.sin(5.0 * x[:count])), budget=Budget(400))
    assert np.isfinite(solution.best.description)


@pytest.mark.parametrize(
    ("operators", "constants"),
    [(["add", "mul", "sin"], False), (["add", "mul", "sin"], True), (["add", "sin", 2.0], False)],
)
def test_a_library_with_or_without_constants_gives_formulas_with_them(
    operators: list[str | float], constants: bool
) -> None:
    library = Library.of(operators, 1, constants=constants)
    solution = solve(Dataset.of(x, np.sin(x) + 2.5), library=library)
    assert solution.reason is StopReason.SOLVED
    assert solution.best.mean_square < 1e-28
    assert {token.name for token in solution.best.expression.tokens} <= {"add", "sin", "x1", "const", "2.0", "mul"}


def test_a_library_of_variables_alone_is_enough() -> None:
    assert str(solve(Dataset.of(x, x), library=Library.of([], 1)).best.expression) == "x1"


def test_a_library_without_variables_is_refused_with_a_sentence() -> None:
    with pytest.raises(SpaceError, match="at least one variable"):
        solve(Dataset.of(x, x), library=Library.of(["add", 2.0], 0))


TEN = Library.of(["add", "sub", "mul", "sin"], 10)


def ten_columns() -> Dataset:
    X = np.random.default_rng(3).uniform(-1.0, 1.0, (80, 10))
    return Dataset.of(X, X[:, 3] * X[:, 7] + X[:, 2])


def test_ten_columns_of_which_three_matter() -> None:
    """Without division, as all combinations of ten powers would take minutes."""
    solution = solve(ten_columns(), library=TEN)
    assert solution.reason is StopReason.SOLVED
    assert {token.name for token in solution.best.expression.tokens} - {"add", "mul"} == {"x3", "x4", "x8"}


def test_ten_columns_with_division() -> None:
    library = Library.of(["add", "sub", "mul", "div", "sin"], 10)
    solution = solve(ten_columns(), library=library, budget=Budget(3_000, 5.0))
    assert solution.history[-1].seconds < 30.0


def test_samples_are_drawn_from_many_and_all_of_them_are_judged() -> None:
    many = np.random.default_rng(5).uniform(0.2, 3.0, 2_000)
    data = Dataset.of(many, np.exp(many) - 2.0 * many)
    settings = dataclasses.replace(SMALL, samples=50)
    running = Portfolio(KOZA, data, settings, seed=0, budget=Budget(3_000))
    assert len(running.tracks.common.sample) == 50
    assert set(running.tracks.common.sample.y) <= set(data.y)
    (turn,) = running.turns()
    assert turn.best.mean_square == pytest.approx(
        float(np.mean((turn.best.expression.evaluate(many) - data.y) ** 2)), abs=1e-28
    )


# --- Budget and reproducibility --------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_answer_and_another_goes_another_way() -> None:
    one, again, other = (solve(noisy(), budget=Budget(2_500), seed=seed) for seed in (3, 3, 4))
    assert len(one.history) > 2
    assert timeless(again) == timeless(one)
    assert [turn.evaluated for turn in other.history] != [turn.evaluated for turn in one.history]


@pytest.mark.parametrize("expressions", [1, 700, 2_500])
def test_a_budget_of_expressions_ends_it_within_a_round(expressions: int) -> None:
    tracks = tuple(dataclasses.replace(track, rounds=16) for track in SMALL.tracks)
    solution = solve(noisy(), dataclasses.replace(SMALL, tracks=tracks), budget=Budget(expressions))
    *before, last = (turn.charged for turn in solution.history)
    assert solution.reason is StopReason.EXPRESSIONS
    assert all(charged < expressions for charged in before)
    # A round is at most 40 * (1 + 4) expressions and as many completions; then there is one assembly.
    assert expressions <= last <= expressions + 2 * 200 + 100


def test_a_budget_of_seconds_ends_it_within_a_turn() -> None:
    """By a clock that goes on by 1 whenever it is asked."""
    ticks = itertools.count()
    solution = solve(noisy(), SEARCHES, budget=Budget(None, 200.0, lambda: float(next(ticks))))
    assert solution.reason is StopReason.SECONDS
    *before, last = (turn.seconds for turn in solution.history)
    assert len(before) > 1
    assert before[-1] <= 201.0, "it is asked once more for the turn itself"
    assert 200.0 <= last < 300.0


@pytest.mark.parametrize("questions", [0, 1, 10, 100, 1_000])
def test_a_budget_of_seconds_ends_the_first_turn_too(questions: int) -> None:
    """Whenever time is up, formulas that were found by then are the answer, and none is simplified any more."""
    asked = [0]

    def clock() -> float:
        asked[0] += 1
        return 0.0 if asked[0] <= questions + 20 else 100.0

    data = Dataset.of(np.random.default_rng(0).uniform(1.0, 2.0, (3_000, 3)), np.arange(3_000.0) % 7.0)
    library = Library.of(["add", "sub", "mul", "div", "sin", "exp", "log"], 3)
    settings = methods.get("default").portfolio
    assert settings is not None
    made = Portfolio(library, data, settings, seed=0, budget=Budget(None, 10.0, clock))
    turns = list(made.turns())
    assert turns[-1].reason is StopReason.SECONDS
    assert made.best is not None
    assert asked[0] < questions + 100, "once time is up every loop ends at its next question"


def test_turns_count_what_was_done() -> None:
    history = solve(noisy(), budget=Budget(2_500)).history
    assert [turn.index for turn in history] == list(range(len(history)))
    assert [turn.reason for turn in history[:-1]] == [None] * (len(history) - 1)
    for earlier, later in itertools.pairwise(history):
        assert later.charged > earlier.charged
        assert later.evaluated > earlier.evaluated
        assert later.completion.lookups > earlier.completion.lookups
        assert later.best.description <= earlier.best.description
    for turn in history:
        assert turn.unique <= turn.evaluated <= turn.charged + 100


def test_assembly_gets_more_to_begin_with_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    original = Assembler.__init__

    def watched(
        self: Assembler,
        writer: Writer,
        data: Dataset,
        settings: AssemblySettings,
        *,
        is_enlarged: bool,
        is_late: IsLate,
    ) -> None:
        asked.append(is_enlarged)
        original(self, writer, data, settings, is_enlarged=is_enlarged, is_late=is_late)

    monkeypatch.setattr(Assembler, "__init__", watched)
    assert len(solve(noisy(), dataclasses.replace(SMALL, enlarged=2), budget=Budget(2_500)).history) > 3
    assert asked == [False, True]


@pytest.mark.parametrize("has_probes", [True, False])
def test_a_product_of_parts_is_found_by_looking_for_it(has_probes: bool) -> None:
    a, b = (X := np.random.default_rng(0).uniform(0.2, 2.0, (40, 2))).T
    data = Dataset.of(X, np.exp(-((a - 1.0) ** 2)) / (1.2 + (b - 2.5) ** 2))
    assembly = AssemblySettings(features=150, more_features=150, newer=20, probes=has_probes)
    tracks = tuple(dataclasses.replace(track, max_length=40) for track in SMALL.tracks)
    settings = dataclasses.replace(SMALL, tracks=tracks, assembly=assembly, enlarged=1)
    library = Library.of(["add", "sub", "mul", "div", "exp"], 2)
    solution = solve(data, settings, library=library, budget=Budget(1_500))
    assert (solution.reason is StopReason.SOLVED) == has_probes


def test_constants_become_plain_numbers_unless_told_otherwise() -> None:
    data = noisy(y=3.0 * np.exp(-x) + 0.5)
    found = {
        plain: str(solve(data, dataclasses.replace(SMALL, simple_numbers=plain)).best.expression)
        for plain in (True, False)
    }
    digits = {plain: len(text.replace(" ", "")) for plain, text in found.items()}
    assert digits[True] < 30 < digits[False], found


def test_assembly_comes_more_and_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []
    made = Portfolio(KOZA, noisy(), dataclasses.replace(SMALL, enlarged=100), seed=0, budget=Budget(12_000))
    original = Assembler.next

    def watched(self: Assembler, parts: list[Row]) -> list[Row]:
        turns.append(seen)
        return original(self, parts)

    monkeypatch.setattr(Assembler, "next", watched)
    seen = 0
    for turn in made.turns():
        seen = turn.index + 1
    assert seen > 17
    assert turns[:4] == [2, 4, 8, 16]


def test_a_portfolio_that_cannot_run_is_refused() -> None:
    with pytest.raises(SettingsError, match="at least one track"):
        PortfolioSettings(())
    wrong: dict[str, Any] = dict.fromkeys(("every", "epoch", "samples", "simplified", "parts", "enlarged"), 0)
    for name, value in wrong.items():
        with pytest.raises(SettingsError, match=f"`{name}` of a portfolio must be at least 1, but it is 0"):
            dataclasses.replace(SMALL, **{name: value})
    wrong = dict.fromkeys(("max_length", "rounds", "first_turn"), 0)
    for name, value in wrong.items():
        with pytest.raises(SettingsError, match=f"`{name}` of a track must be at least 1, but it is 0"):
            dataclasses.replace(SMALL.tracks[0], **{name: value})
    with pytest.raises(SettingsError, match="`framed` of assembly must be at least 0, but it is -1"):
        AssemblySettings(framed=-1)


def test_samples_without_weight_are_as_if_they_were_not_there() -> None:
    data = noisy()
    empty = np.random.default_rng(1).uniform(0.2, 3.0, 2_000)
    weights = np.concatenate([np.zeros(2_000), np.ones(len(x))])
    with_more = Dataset.of(np.concatenate([empty, x]), np.concatenate([empty, data.y]), weights)
    settings = dataclasses.replace(SMALL, samples=30)
    few, many = solve(data, settings), solve(with_more, settings)
    assert few.front == many.front
    assert len(few.front) > 2


def test_inputs_too_large_for_polynomials_do_no_harm() -> None:
    solution = solve(Dataset.of(x * 1e60, x), dataclasses.replace(SMALL, assembly=AssemblySettings()))
    assert solution.front


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


class Interrupt:
    """Takes the place of a method and raises at its n-th call."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, *arguments: object) -> list[Row]:
        self.left -= 1
        if self.left <= 0:
            raise KeyboardInterrupt
        return []


@pytest.mark.parametrize("at", [1, 2, 5])
def test_an_interrupt_between_rounds_returns_the_best_so_far(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TrackRun, "turn", Interrupt(at))
    solution = solve(noisy())
    assert solution.reason is StopReason.INTERRUPTED
    assert solution.best == solution.history[-1].best
    assert solution.best in solution.front
    assert len(solution.history) == 2 + (at - 1) // 2


@pytest.mark.parametrize("at", [1, 3, 12])
def test_an_interrupt_within_a_search_returns_the_best_so_far(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the search has scored something by then, and ends itself, or not."""
    interrupt = Interrupt(at)
    original = Front.add

    def add(front: Front, scored: Scored, part: Part, lineage: LineageOf) -> None:
        interrupt()
        original(front, scored, part, lineage)

    monkeypatch.setattr(Front, "add", add)
    solution = solve(noisy(), budget=Budget(50_000))
    assert solution.reason is StopReason.INTERRUPTED
    assert np.isfinite(solution.best.description)
    assert solution.history[-1].charged < 5_000


def test_an_interrupt_while_the_first_formulas_are_put_together_returns_the_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Assembler, "first", Interrupt(1))
    data = noisy()
    solution = solve(data)
    assert (solution.reason, len(solution.history)) == (StopReason.INTERRUPTED, 1)
    assert solution.best.expression.constants[0] == pytest.approx(data.y.mean())


def test_an_interrupt_before_there_is_anything_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pool, "add", Interrupt(1))
    with pytest.raises(KeyboardInterrupt):
        solve(noisy())


# --- The front -------------------------------------------------------------------------------------------------------


def assert_is_a_front(front: tuple[Formula, ...], data: Dataset) -> None:
    lengths = [len(formula.expression) for formula in front]
    errors = [formula.mean_square for formula in front]
    assert lengths == sorted(set(lengths))
    assert all(later < earlier for earlier, later in itertools.pairwise(errors))
    rows = Writer(front[0].expression.library).population([formula.expression.row for formula in front])
    np.testing.assert_allclose(evaluate(rows, data).error / data.total_weight, errors)


@pytest.mark.parametrize("seed", range(3))
def test_a_front_is_better_the_longer_and_holds_the_choice(seed: int) -> None:
    data = noisy(seed)
    solution = solve(data, budget=Budget(2_000), seed=seed)
    assert len(solution.front) > 2
    assert_is_a_front(solution.front, data)
    assert solution.best in solution.front
    assert solution.best.description == min(formula.description for formula in solution.front)
    assert solution.best == solution.history[-1].best


@pytest.mark.parametrize("settings", [SMALL, SEARCHES, dataclasses.replace(SEARCHES, tracks=(_PLAIN, _SCALED))])
def test_a_front_has_the_best_formula_of_each_length_that_a_search_saw(settings: PortfolioSettings) -> None:
    data = noisy()
    made = Portfolio(KOZA, data, settings, seed=0, budget=Budget(3_000))
    list(made.turns())
    front = {len(formula.expression): formula for formula in made.front()}
    assert len(front) >= 5
    assert_is_a_front(made.front(), data)
    seen = [formula for formulas in made.tracks.ranked() for formula in formulas]
    assert len({len(formula.expression) for formula in seen}) > 10, "or there would be nothing to show"
    # A formula that was only noted, and is shorter than the selected one without enough evidence, is not shown.
    assert made.best is not None
    noted = judged(Writer(made.best.expression.library), made.intake.pool.noted, data)
    hidden = {len(formula.expression) for formula in noted if formula.description < made.best.description}
    assert len(hidden) <= 2
    for formula in seen:
        size = len(formula.expression)
        if size not in hidden and all(
            formula.mean_square < other.mean_square for length, other in front.items() if length < size
        ):
            assert front[size].description <= formula.description + 1e-6, str(formula.expression)


def test_a_front_holds_the_best_of_each_length_also_while_the_search_works_and_after_patience() -> None:
    made = Portfolio(KOZA, noisy(), SMALL, seed=3, budget=Budget(5_000_000), patience=3)
    sizes = [len(made.front()) for turn in made.turns() if turn.index >= 2]
    assert min(sizes) >= 5
    assert sizes[-1] >= 6


def test_constants_on_a_front_are_fitted_with_simple_numbers_where_these_describe_the_data_better() -> None:
    data = noisy(1, 3.0 * np.exp(-x) + 0.5)
    made = Portfolio(KOZA, data, SMALL, seed=0, budget=Budget(2_000))
    list(made.turns())
    writer = Writer(KOZA.with_constant())
    for formula in made.front():
        row = formula.expression.row
        again = refitted(writer, row, data)
        error = float(evaluate(writer.population([again]), data).error[0]) / data.total_weight
        assert formula.mean_square <= error * (1.0 + 1e-6)
    texts = [str(formula.expression) for formula in made.front() if formula != made.best]
    assert any("3.0 *" in text or "* 3.0" in text or "0.5" in text for text in texts), texts


def test_a_formula_that_is_only_noted_is_on_the_front_and_may_be_chosen_but_is_no_part_for_assembly() -> None:
    writer = Writer(Library((*KOZA.tokens, *Library.of(["const"], 0).tokens)))
    data = noisy(0, 2.0 * x)
    pool = Pool(writer, data)
    pool.add([read("const(3)", writer)])
    rows = [read(prefix, writer) for prefix in ("add x1 x1", "mul const(2.001) x1", "log sub x1 x1")]
    pool.note(judged(writer, rows, data))
    assert str(pool.best.expression if pool.best else "") == "x1 + x1"
    assert [len(formula.expression) for formula in pool.front()] == [1, 3]
    assert [str(formula.expression) for formula in pool.shortest(5)] == ["3.0"]
    other = Pool(writer, data)
    other.add(pool.rows)
    other.note(judged(writer, pool.noted[::-1], data))
    assert other.front() == pool.front(), "whatever their order"


def read(prefix: str, writer: Writer) -> Row:
    expression = Expression.parse_prefix(prefix, writer.library)
    return expression.row


def test_a_front_holds_the_choice_also_where_a_shorter_one_errs_less() -> None:
    """c x is shorter than x + sin(x) and nearer to the data, but its constant, of many digits, costs more."""
    writer = Writer(Library((*KOZA.tokens, *Library.of(["const"], 0).tokens)))
    many = np.tile(x, 100)
    factor = float(many @ (many + np.sin(many)) / (many @ many))
    data = Dataset.of(many, 0.50005 * factor * many + 0.49995 * (many + np.sin(many)))
    pool = Pool(writer, data)
    pool.add([read(f"mul const({factor!r}) x1", writer), read("add x1 sin x1", writer)])
    assert pool.best is not None
    assert str(pool.best.expression) == "x1 + sin(x1)"
    assert pool.best in pool.front()


def test_a_front_holds_the_number_that_is_chosen_in_the_place_of_a_variable() -> None:
    """A variable alone has no constant to describe, but must explain something to be chosen."""
    writer = Writer(Library((*KOZA.tokens, *Library.of(["const"], 0).tokens)))
    data = Dataset.of(x, x + 2.0 * np.random.default_rng(7).normal(size=len(x)))
    pool = Pool(writer, data)
    pool.add([read("x1", writer), read(f"const({float(data.y.mean())!r})", writer)])
    assert pool.best is not None
    assert pool.best.expression.tokens[0].name == "const"
    assert [str(formula.expression) for formula in pool.shortest(1)] == ["x1"], "or the case would be none"
    assert pool.best in pool.front()
    assert not pool.noted_on_front(), "neither the number nor the variable was only noted"


def test_of_each_length_the_shortest_description_is_kept() -> None:
    writer = Writer(Library((*KOZA.tokens, *Library.of(["const"], 0).tokens)))
    data = noisy(0, 2.0 * x)
    pool = Pool(writer, data)
    assert pool.front() == ()
    assert not pool.is_solved
    pool.add(
        [read(prefix, writer) for prefix in ("mul const(2.001) x1", "mul const(2) x1", "add x1 x1", "log sub x1 x1")]
    )
    assert [str(formula.expression) for formula in pool.front()] == ["x1 + x1"]
    pool.add([read("const(3)", writer), read("add mul const(2) x1 const(0.001)", writer)])
    assert [len(formula.expression) for formula in pool.front()][:2] == [1, 3]
    assert pool.best is not None
    assert str(pool.best.expression) == "x1 + x1"
    assert [str(formula.expression) for formula in pool.shortest(1)] == ["x1 + x1"]


def test_a_solution_with_as_many_constants_as_samples_explains_nothing() -> None:
    """A line through two points is no answer, one through forty is."""
    writer = Writer(Library((*KOZA.tokens, *Library.of(["const"], 0).tokens)))
    for count, is_answer in ((3, False), (40, True)):
        data = Dataset.of(x[:count], 2.12345678 * x[:count] + 1.3456789)  # numbers that are not plain
        pool = Pool(writer, data)
        pool.add([read("add mul const(2.12345678) x1 const(1.3456789)", writer)])
        assert pool.is_solved is is_answer


def test_turns_come_one_by_one_and_the_last_says_why() -> None:
    running = Portfolio(KOZA, noisy(), SMALL, seed=0, budget=Budget(1_500))
    turns: list[Turn] = []
    for turn in running.turns():
        turns.append(turn)
        assert turn.best in running.front()
    assert [turn.reason is None for turn in turns] == [True] * (len(turns) - 1) + [False]


def test_plain_numbers_do_not_keep_an_answer_from_being_one() -> None:
    """x^9 + ... + x, nested, has eight constants for twenty samples; all of them are 1."""
    train, _ = benchmarks.get("Livermore-9").datasets()
    settings = methods.get("default").portfolio
    assert settings is not None
    solution = portfolio.run(benchmarks.get("Livermore-9").library, train, settings, budget=Budget(1_000))
    assert solution.reason is StopReason.SOLVED
    assert len(solution.history) == 1


@pytest.mark.parametrize(
    "settings",
    [SMALL, SEARCHES, dataclasses.replace(SEARCHES, tracks=(_PLAIN, _SCALED))],
    ids=["all", "searches", "scaled"],
)
def test_a_portfolio_made_from_a_state_ends_as_the_one_that_went_on(settings: PortfolioSettings) -> None:
    settings = dataclasses.replace(settings, epoch=2)

    def made(begin: PortfolioState | None = None) -> Portfolio:
        return Portfolio(KOZA, noisy(), settings, seed=3, budget=Budget(8_000), begin=begin)

    whole = made()
    turns: list[Turn] = []
    states: list[PortfolioState] = []
    for turn in whole.turns():
        turns.append(dataclasses.replace(turn, seconds=0.0))
        assert whole.state is not None
        states.append(whole.state)
    assert len(turns) > 8
    assert [state.turn for state in states[:-1]] == [2 * (turn.index // 2) for turn in turns[:-1]]
    for state in (states[0], states[3], states[6]):
        again = made(state)
        rest = [dataclasses.replace(turn, seconds=0.0) for turn in again.turns()]
        assert rest == turns[state.turn + 1 :]
        assert again.front() == whole.front()


def test_patience_ends_a_portfolio_whose_choice_stays_the_same() -> None:
    impatient = Portfolio(KOZA, noisy(), SMALL, seed=3, budget=Budget(5_000_000), patience=2)
    turns = list(impatient.turns())
    assert turns[-1].reason is StopReason.PATIENCE
    assert [turn.unchanged for turn in turns[-3:]] == [0, 1, 2]
    assert len({str(turn.best.expression) for turn in turns[-3:]}) == 1


# --- Units -----------------------------------------------------------------------------------------------------------


def of_units(X_units: list[str], y_units: str, *, free: bool = True) -> PortfolioSettings:
    rule = Dimensions.of(["x1", "x2"], X_units, y_units, constants_are_free=free)
    return dataclasses.replace(SMALL, constraints=(rule,))


def two_columns(y: Callable[[Floats, Floats], Floats]) -> Dataset:
    X = np.random.default_rng(1).uniform(0.5, 2.0, (40, 2))
    return Dataset.of(X, y(X[:, 0], X[:, 1]))


def dimension_of(settings: PortfolioSettings, formula: Formula) -> Dimension | str | None:
    rule = settings.constraints[-1]
    assert isinstance(rule, Dimensions)
    return reference.dimension_of(rule, reference.tree(formula.expression.library, formula.expression.ids))


def test_every_formula_on_the_front_has_the_dimension_of_y() -> None:
    """x1 + x2 fits, and neither searches nor assembly may say so of metres and seconds."""
    library = Library.of(["add", "sub", "mul", "div", "sin"], 2)
    data = two_columns(lambda a, b: a + b)
    for free, dimensions in ((True, {"m", "any"}), (False, {"m"})):
        settings = of_units(["m", "s"], "m", free=free)
        solution = solve(data, settings, library=library)
        assert {str(dimension_of(settings, formula)) for formula in solution.front} <= dimensions
        assert str(dimension_of(settings, solution.best)) in dimensions
        assert free or solution.reason is not StopReason.SOLVED
    assert solve(data, of_units(["m", "cm"], "m"), library=library).reason is StopReason.SOLVED


def test_searches_without_constants_are_left_out_where_only_a_constant_can_have_the_units() -> None:
    library = Library.of(["add", "sub", "mul", "div", "sin"], 2)
    solution = solve(two_columns(lambda a, b: 2.5 * a / b), of_units(["m", "s"], "kg"), library=library)
    assert solution.reason is StopReason.SOLVED
    with pytest.raises(SpaceError, match="No formula over `x1`"):
        solve(two_columns(lambda a, b: a / b), of_units(["m", "s"], "kg", free=False), library=library)


def test_a_known_formula_of_another_dimension_is_not_taken() -> None:
    library = Library.of(["add", "sub", "mul", "div", "sin"], 2)
    data = two_columns(lambda a, b: a + b)
    known = Expression.parse("x1 + x2", library)
    for X_units, is_taken in ((["m", "s"], False), (["m", "km"], True)):
        searches = Portfolio(library, data, of_units(X_units, "m"), seed=0, budget=Budget(1), known=[known])
        next(searches.turns())
        assert any(str(formula.expression) == "x1 + x2" for formula in searches.front()) is is_taken


def test_while_nothing_has_the_dimension_of_y_the_mean_is_chosen_and_the_front_is_empty() -> None:
    library = Library.of(["add", "sub", "mul", "div", "sin"], 2)
    settings = dataclasses.replace(of_units(["m", "s"], "m/s", free=False), assembly=None)
    data = two_columns(lambda a, b: a / b)
    searches = Portfolio(library, data, settings, seed=0, budget=Budget(3_000))
    turns = searches.turns()
    first = next(turns)
    assert len(first.best.expression) == 1
    assert first.reason is None
    assert searches.front() == ()
    *_, last = turns
    assert last.reason is StopReason.SOLVED
    assert str(last.best.expression) == "x1 / x2"


# --- A policy and a trainer of one's own -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class CountingPolicySettings:
    """Builds policies that draw from the space, and draw otherwise after each lesson: enough to distinguish them."""

    def build(self, space: SearchSpace, *, seed: int) -> CountingPolicy:
        return CountingPolicy(space, seed)


class CountingPolicy:
    def __init__(self, space: SearchSpace, seed: int) -> None:
        self._space, self._seed, self.lessons = space, seed, 0

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        return self._space.sample(count, seed=seed % 2**32 + self._seed % 1000 + self.lessons, step=step)

    def log_probability(self, population: Population) -> Floats:
        return np.zeros(len(population))

    def ascend(self, lesson: Lesson) -> None:
        self.lessons += 1

    def snapshot(self) -> dict[str, Any]:
        return {"lessons": np.array([self.lessons])}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        self.lessons = int(snapshot["lessons"][0])


@dataclasses.dataclass(frozen=True)
class LongMemory(Memory):
    """Remembers how many steps there were."""

    steps: int = 0

    def to_arrays(self) -> dict[str, Any]:
        return {"steps": np.array([self.steps])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], library: Library) -> LongMemory:
        return cls(steps=int(arrays["steps"][0]))


@dataclasses.dataclass(frozen=True)
class LongTrainer:
    """Learns from one row after another, in the order of its steps."""

    def first_memory(self) -> LongMemory:
        return LongMemory()

    def lesson(self, memory: Memory, scored: Scored, *, seed: int, step: int) -> tuple[Lesson, Memory]:
        assert isinstance(memory, LongMemory), "what was remembered comes back as what it was"
        row = np.array([memory.steps % len(scored)])
        return Lesson(scored.population.take(row), np.ones(1)), LongMemory(steps=memory.steps + 1)


def test_another_policy_and_trainer_run_in_a_portfolio_and_resume_through_arrays() -> None:
    own = dataclasses.replace(_SEARCH, policy=CountingPolicySettings(), trainer=LongTrainer())
    settings = PortfolioSettings((Track(own, 20, PAPER, True, 1),), assembly=None, epoch=2)

    def made(begin: PortfolioState | None = None) -> Portfolio:
        return Portfolio(KOZA, noisy(), settings, seed=0, budget=Budget(6_000), begin=begin)

    whole, saved = made(), []
    for turn in whole.turns():
        if whole.state is not None and turn.reason is None and whole.state.turn == turn.index:
            saved.append(states.pack(whole.state, KOZA))
    assert len(saved) > 2
    assert any(value["rounds"] > 2 for _, values in saved for value in values["tracks"] if value)
    for arrays, values in saved:
        resumed = made(states.unpack(arrays, json.loads(json.dumps(values)), KOZA, settings))
        list(resumed.turns())
        assert resumed.front() == whole.front()


# --- Reports ----------------------------------------------------------------------------------------------------------


def test_the_mean_is_the_first_choice_and_each_later_one_names_the_part_that_found_it() -> None:
    history = solve(noisy(), SEARCHES, budget=Budget(20_000)).history
    changed = [turn for turn in history if turn.unchanged == 0]
    assert len(changed) > 1
    assert all(isinstance(turn.found_by, Part) for turn in changed)
    assert all(turn.found_by is None for turn in history if turn.unchanged)
    assert history[0].found_by is Part.MEAN


def test_what_assembly_makes_and_what_is_known_are_told_apart() -> None:
    solved = solve(Dataset.of(x, 2.0 * x * x + 1.5))
    assert solved.history[-1].found_by is Part.ASSEMBLY
    known = Expression.parse("sin(x1 * x1) / x1", KOZA)
    begun = Portfolio(KOZA, noisy(), SEARCHES, seed=0, budget=Budget(20_000), known=[known])
    assert next(iter(begun.turns())).found_by is Part.KNOWN


def test_what_a_search_finds_is_its_part_s_also_after_constants_were_fitted() -> None:
    searches = {Part.POLICY, Part.EVOLUTION, Part.COMPLETION}
    history = solve(noisy(y=np.exp(x) - x), SEARCHES, budget=Budget(20_000)).history
    later = {turn.found_by for turn in history[1:]} - {None}
    assert later
    assert later <= searches
    scaled = dataclasses.replace(SEARCHES, tracks=(_SCALED,))
    history = solve(noisy(y=3.0 * np.sin(x) + 7.0), scaled, budget=Budget(20_000)).history
    later = {turn.found_by for turn in history[1:]} - {None}
    assert later
    assert later <= searches


def test_a_turn_tells_how_each_search_that_took_it_learnt() -> None:
    settings = dataclasses.replace(SEARCHES, tracks=(_PLAIN, dataclasses.replace(_FITTED, first_turn=2)))
    first, second, third, *_ = solve(noisy(), settings, budget=Budget(20_000)).history
    assert first.learning == ()
    assert [(entry.track, entry.rounds) for entry in second.learning] == [(0, 2)]
    assert [(entry.track, entry.rounds) for entry in third.learning] == [(0, 4), (1, 1)]
    for entry in (*second.learning, *third.learning):
        assert entry.learning.sampled is not None
        assert entry.learning.evolved is not None
        assert entry.learning.sampled.count == _SEARCH.batch
    assert second.learning[0].learning.entropy is not None


# --- Without constants -----------------------------------------------------------------------------------------------


def test_without_constants_formulas_are_kept_as_they_were_found_and_the_mean_is_not_among_them() -> None:
    settings = SMALL.without_constants()
    assert settings.tracks == (_PLAIN,)
    solution = solve(noisy(), settings, budget=Budget(20_000))
    assert solution.front
    for formula in (*solution.front, solution.best):
        assert np.isnan(formula.expression.constants).all()


def test_a_portfolio_in_which_every_search_fits_constants_keeps_all_without_them() -> None:
    fitted = dataclasses.replace(SMALL, tracks=(_FITTED, _SCALED)).without_constants()
    assert [(track.constants, track.is_scaled) for track in fitted.tracks] == [(False, False)] * 2
    with pytest.raises(SettingsError, match="without fitted constants has no assembly"):
        dataclasses.replace(SMALL, constants=False)
