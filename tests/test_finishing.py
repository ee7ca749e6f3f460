"""Approximate completion as a last step."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from symseed import (
    Dataset,
    Expression,
    FunctionTask,
    Library,
    Population,
    RegressionTask,
    SearchSpace,
    SettingsError,
    evaluate,
    search,
)
from symseed.finishing import FinishSettings, finished
from symseed.matching import Wisher, plain_errors
from symseed.search import Budget, Search, SearchSettings, StopReason
from symseed.tracks import Track

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 1)
RNG = np.random.default_rng(3)
x = RNG.uniform(-1.0, 1.0, 60)
SMALL = SearchSettings(batch=50)


def rows(*prefixes: str) -> Population:
    return Population.from_expressions([Expression.parse_prefix(prefix, LIBRARY) for prefix in prefixes])


def noisy(y: np.typing.NDArray[np.float64], level: float = 0.01) -> Dataset:
    return Dataset.of(x, y + level * np.random.default_rng(0).normal(size=len(y)))


def test_errors_of_plain_sub_expressions_are_sums_over_samples() -> None:
    wishes, weights = RNG.normal(size=(4, 9)), RNG.uniform(0.1, 2.0, (4, 9))
    values = RNG.normal(size=(6, 9))
    values[2] = np.nan
    expected = [[float((w * (wish - v) ** 2).sum()) for v in values] for wish, w in zip(wishes, weights, strict=True)]
    np.testing.assert_allclose(plain_errors(wishes, weights, values), np.nan_to_num(expected, nan=np.inf), rtol=1e-9)


def test_a_wish_is_what_makes_the_whole_the_target_and_a_weight_how_much_of_an_error_gets_through() -> None:
    data = Dataset.of(x, np.exp(x) * 3.0)
    row = rows("mul exp x1 cos x1")
    wishes, weights = Wisher.of(data, 1_000).wishes(row)
    np.testing.assert_allclose(wishes[0], data.y, rtol=1e-12)
    np.testing.assert_allclose(wishes[3], 3.0, rtol=1e-9)  # in place of the cosine
    np.testing.assert_allclose(weights[3], np.exp(x) ** 2, rtol=1e-6)
    assert len(Wisher.of(data, 7).dataset) == 7


def test_the_truth_is_put_together_from_pieces_of_others_though_nothing_matches_exactly() -> None:
    data = noisy(np.sin(x * x) * np.exp(x) - x)
    best = rows("sub mul cos x1 exp x1 x1", "div sin mul x1 x1 cos x1", "add x1 x1")
    made = finished(SearchSpace(LIBRARY), data, best, FinishSettings())
    assert made is not None
    errors = evaluate(made, data).error
    assert str(made[int(errors.argmin())]) == "sin(x1 * x1) * exp(x1) - x1"
    assert int(errors.argmin()) < 5, "nearest first"


def test_what_is_made_is_new_legal_and_no_more_than_asked_for() -> None:
    data = noisy(x**3 + np.sin(x))
    space = SearchSpace(LIBRARY, 4, 9)
    best = space.sample(60, seed=1)
    made = finished(space, data, best, FinishSettings(formulas=40))
    assert made is not None
    assert 10 < len(made) <= 40
    assert (space.violations(made) == -1).all()
    known = {row.prefix for row in best}
    assert len({row.prefix for row in made} - known) == len(made)
    again = finished(space, data, best, FinishSettings(formulas=40))
    assert again is not None
    assert [row.prefix for row in again] == [row.prefix for row in made]


def test_rows_that_nothing_can_be_made_of_give_nothing() -> None:
    assert finished(SearchSpace(LIBRARY, 1), noisy(x), rows("x1"), FinishSettings()) is None


def test_a_search_ends_with_the_last_step_and_within_its_budget() -> None:
    data = noisy(np.sin(x * x) * np.cos(x) - 1.0)
    space, budget = SearchSpace(LIBRARY), Budget(5_000)
    settings = dataclasses.replace(SMALL, finish=FinishSettings(formulas=400))
    seen: list[Population] = []
    with_step = Search(
        space, RegressionTask(LIBRARY, data), settings, seed=1, budget=budget, watch=lambda s: seen.append(s.population)
    )
    last = list(with_step)[-1]
    plain = search.run(space, RegressionTask(LIBRARY, data), SMALL, seed=1, budget=Budget(4_600))
    assert last.reason is StopReason.EXPRESSIONS
    assert len(seen[-1]) <= 400
    assert last.charged == plain.history[-1].charged + len(seen[-1])
    before, after = (float(((best.evaluate(x) - data.y) ** 2).sum()) for best in (plain.best, last.best))
    assert after <= before
    made = evaluate(seen[-1], data).error
    assert np.nanmin(made) < 1.05 * before, "near the best, at least"


@pytest.mark.parametrize("most", [49, 60, 120, 700])
def test_a_last_step_is_no_longer_than_what_is_left_of_a_small_budget(most: int) -> None:
    settings = dataclasses.replace(SMALL, finish=FinishSettings())
    task = RegressionTask(LIBRARY, noisy(np.sin(x * x) * np.cos(x) - 1.0))
    last = search.run(SearchSpace(LIBRARY), task, settings, budget=Budget(most)).history[-1]
    assert 50 <= last.charged <= max(most, 50)
    assert (last.charged > 50) is (most > 50)


def test_a_last_step_needs_data_and_a_search_of_its_own() -> None:
    space = SearchSpace(LIBRARY)
    settings = dataclasses.replace(SMALL, finish=FinishSettings())
    task = FunctionTask(LIBRARY, lambda expression: 1.0 / len(expression))
    with pytest.raises(SettingsError, match="`finish` needs a task with data"):
        search.run(space, task, settings, budget=Budget(100))
    with pytest.raises(SettingsError, match="A track has no last step of its own"):
        Track(settings, 30, (), constants=False, rounds=1)
    with pytest.raises(SettingsError, match="`kept` of a last step must be at least 1, but it is 0"):
        FinishSettings(kept=0)
