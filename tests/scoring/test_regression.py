"""The regression task: each different row is scored once, the counters add up, and the cache never shows."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import reference
from reference import OPERATORS, random_population
from symseed import (
    DataError,
    Dataset,
    Expression,
    Failure,
    FitSettings,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSpace,
    SettingsError,
    _core,
    evaluate,
    fit,
)
from symseed.scoring import Validity
from symseed.scoring.regression import best_scaling
from symseed.scoring.reward import Metric, reward
from symseed.scoring.task import Counts, Scored

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 2)
FITTED = Library.of(["add", "mul", "sin", "exp", "const"], 2)


def dataset(count: int = 20) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.2, 2.0, (count, 2))
    return Dataset.of(X, np.sin(X[:, 0]) + X[:, 1] ** 2, rng.uniform(0.5, 2.0, count))


def number_of_different_rows(*populations: Population) -> int:
    return len({(e.ids, e._key()[1]) for population in populations for e in population})


def test_equal_rows_are_computed_once_and_every_row_is_charged() -> None:
    task = RegressionTask(LIBRARY, dataset())
    assert task.counts == Counts(0, 0, 0)
    population = SearchSpace(LIBRARY, 1, 6).sample(1000, seed=0)
    different = number_of_different_rows(population)
    assert different < 700
    first = task.evaluate(population)
    assert task.counts == Counts(1000, different, different)
    second = task.evaluate(population.take(np.arange(1000)[::-1]))
    assert task.counts == Counts(2000, different, different)
    assert reference.same_bits(second.reward, first.reward[::-1].copy())
    assert reference.same_bits(second.failure, first.failure[::-1].copy())
    assert reference.same_bits(second.position, first.position[::-1].copy())


@pytest.mark.parametrize("threads", [1, 3])
def test_each_different_row_is_computed_where_it_first_comes(threads: int) -> None:
    """`computed` says of which rows that was, among themselves and across calls; the counters are its sums."""
    task = RegressionTask(LIBRARY, dataset(), RegressionSettings(threads=threads))
    seen: set[tuple[int, ...]] = set()
    evaluated = 0
    for step in range(3):
        population = SearchSpace(LIBRARY, 1, 5).sample(300, seed=1, step=step)
        scored = task.evaluate(population)
        expected = []
        for expression in population:
            expected.append(expression.ids not in seen)
            seen.add(expression.ids)
        assert scored.computed.dtype == np.bool_
        assert scored.computed.tolist() == expected
        assert 0 < sum(expected) < 300
        evaluated += sum(expected)
        assert task.counts.evaluated == evaluated
        # The marks stay with their rows.
        reverse = np.arange(300)[::-1]
        assert scored.take(reverse).computed.tolist() == expected[::-1]
        assert Scored.concatenate([scored, scored]).computed.tolist() == expected * 2
    assert not task.evaluate(population).computed.any()


def test_fitted_rows_are_computed_where_they_first_come() -> None:
    population = SearchSpace(FITTED, 4, 8).sample(100, seed=5)
    task = RegressionTask(FITTED, dataset())
    scored = task.evaluate(Population.concatenate([population, population]))
    different = {expression.ids for expression in population}
    assert np.count_nonzero(scored.computed[:100]) == len(different)
    assert not scored.computed[100:].any()


def test_all_rows_of_a_task_of_ones_own_count_as_computed() -> None:
    population = SearchSpace(LIBRARY, 1, 5).sample(4, seed=0)
    assert Scored.of(population, np.zeros(4)).computed.tolist() == [True] * 4


def test_counters_add_up_over_overlapping_calls() -> None:
    task = RegressionTask(LIBRARY, dataset())
    seen: list[Population] = []
    for step in range(10):
        population = SearchSpace(LIBRARY, 1, 5).sample(200, seed=1, step=step)
        before = number_of_different_rows(*seen) if seen else 0
        seen.append(population)
        evaluated = task.counts.evaluated
        task.evaluate(population)
        after = number_of_different_rows(*seen)
        assert task.counts == Counts(200 * (step + 1), after, after)
        assert task.counts.evaluated - evaluated == after - before
    assert after < 2000


def test_rewards_and_failures_are_those_of_evaluation() -> None:
    data = dataset()
    population = SearchSpace(LIBRARY, 1, 12).sample(500, seed=2)
    scored = RegressionTask(LIBRARY, data).evaluate(population)
    plain = evaluate(population, data)
    assert reference.same_bits(scored.failure, plain.failure)
    assert reference.same_bits(scored.position, plain.position)
    assert reference.same_bits(
        scored.reward, reward(Metric.INVERSE_NRMSE, plain.error / data.total_weight, data.deviation)
    )
    assert scored.population is population
    assert 50 < (scored.failure == Failure.NONE).sum() < 500


def test_the_reward_is_the_inverse_nrmse_of_the_twin() -> None:
    data = dataset(50)
    population = random_population(np.random.default_rng(1), Library.of([*OPERATORS, 2.0], 2), 300, 12)
    scored = RegressionTask(population.library, data).evaluate(population)
    compared = 0
    for i, expression in enumerate(population):
        result = reference.evaluate(expression, data.X)
        shaken = reference.evaluate(expression, data.X, reference.numpy_apply(jitter=1e-14))
        if result.failure != Failure.NONE:
            if shaken.failure == result.failure:
                assert scored.reward[i] == 0.0
        elif np.allclose(result.values, shaken.values, rtol=1e-10):
            compared += 1
            assert scored.reward[i] == pytest.approx(
                reference.inverse_nrmse(result.values, data.y, data.weights), rel=1e-8, abs=1e-300
            )
    assert compared > 100
    assert scored.reward.min() >= 0.0
    assert scored.reward.max() <= 1.0


def test_a_perfect_row_has_reward_1_and_the_mean_has_a_half() -> None:
    x = np.linspace(0.0, 1.0, 11)
    library = Library.of(["mul", 0.5], 1)
    population = Population.from_expressions([Expression.parse(text, library) for text in ("x1", "0.5")])
    reward = RegressionTask(library, Dataset.of(x, x)).evaluate(population).reward
    assert reward[0] == 1.0
    assert reward[1] == pytest.approx(0.5, rel=1e-12)


def test_a_constant_target_counts_as_deviation_1() -> None:
    library = Library.of(["add", 3.0, 5.0], 1)
    population = Population.from_expressions([Expression.parse(text, library) for text in ("3", "5", "x1")])
    scored = RegressionTask(library, Dataset.of([3.0, 4.0], [3.0, 3.0])).evaluate(population)
    assert scored.reward.tolist() == pytest.approx([1.0, 1.0 / 3.0, 1.0 / (1.0 + np.sqrt(0.5))])


def test_a_row_that_fails_or_overflows_its_error_has_reward_0() -> None:
    library = Library.of(["log", "mul", "sub", 0.0, 1e160], 1)
    population = Population.from_expressions(
        [Expression.parse(text, library) for text in ("log(0)", "1e160 * x1", "x1")]
    )
    scored = RegressionTask(library, Dataset.of([1.0, 2.0], [1.0, 3.0])).evaluate(population)
    assert scored.failure.tolist() == [Failure.DIVIDE_BY_ZERO, Failure.LOSS_OVERFLOW, Failure.NONE]
    assert scored.reward[:2].tolist() == [0.0, 0.0]
    assert scored.reward[2] > 0.0


def test_strictness_is_handed_on() -> None:
    library = Library.of(["exp"], 1)
    population = Population.from_expressions([Expression.parse("exp(x1)", library)])
    data = Dataset.of([-800.0, 0.0], [0.0, 1.0])
    assert RegressionTask(library, data).evaluate(population).reward.tolist() == [1.0]
    strict = RegressionTask(library, data, RegressionSettings(validity=Validity.FLAGS)).evaluate(population)
    assert strict.reward.tolist() == [0.0]
    assert strict.failure.tolist() == [Failure.UNDERFLOW]


def test_a_cache_that_is_too_small_changes_nothing_but_the_work() -> None:
    """Rewards are the same; the number of different rows becomes an estimate, and rows are computed again."""
    small = RegressionTask(LIBRARY, dataset(), RegressionSettings(cache_bytes=1024))
    large = RegressionTask(LIBRARY, dataset())
    space = SearchSpace(LIBRARY, 4, 8)
    for step in range(20):
        population = space.sample(2000, seed=4, step=step)
        a, b = small.evaluate(population), large.evaluate(population)
        assert reference.same_bits(a.reward, b.reward)
        assert reference.same_bits(a.failure, b.failure)
        assert reference.same_bits(a.position, b.position)
    assert small.counts.asked == large.counts.asked == 40_000
    assert large.counts.evaluated == large.counts.unique > 10_000
    assert small.counts.unique == pytest.approx(large.counts.unique, rel=0.03)
    assert small.counts.evaluated > 1.1 * large.counts.evaluated
    assert small.counts.evaluated > small.counts.unique


@pytest.mark.parametrize("count", [10, 100, 1000, 10_000, 200_000])
def test_the_estimate_of_different_rows_is_good_at_every_size(count: int) -> None:
    """Rows are x1 + c with a different constant each; a cache that keeps no constants gives up every row."""
    cache = _core.Cache(1024, 0)
    library = Library.of(["add", "const"], 1)
    samples = _core.Samples(np.zeros((1, 1)), np.zeros(1), np.ones(1))
    tokens = np.tile(np.array([1, 0, 2], dtype=np.uint16), (count, 1))
    constants = np.full((count, 3), np.nan)
    constants[:, 2] = np.arange(count)
    lengths = np.full(count, 3, dtype=np.int32)
    for _ in range(2):
        *_, computed = cache.score(
            library.vocabulary, samples, tokens, lengths, constants, fit=None, validity=Validity.VALUES, threads=1
        )
        assert computed.tolist() == [1] * count
        assert cache.counts[2] == pytest.approx(count, rel=0.03, abs=1.0)
    assert cache.size == 0


def test_the_cache_keeps_to_its_memory_and_holds_what_fits() -> None:
    cache = _core.Cache(2**20, 2)
    library = Library.of(["add", "const"], 1)
    samples = _core.Samples(np.zeros((1, 1)), np.zeros(1), np.ones(1))
    for step in range(20):
        count = 2000
        tokens = np.tile(np.array([1, 0, 2], dtype=np.uint16), (count, 1))
        constants = np.full((count, 3), np.nan)
        constants[:, 2] = np.arange(count) + step * count
        lengths = np.full(count, 3, dtype=np.int32)
        for expected in (count, 0):
            error, _, _, _, computed = cache.score(
                library.vocabulary, samples, tokens, lengths, constants, fit=None, validity=Validity.VALUES, threads=1
            )
            evaluated = np.count_nonzero(computed)
            np.testing.assert_array_equal(error, constants[:, 2] ** 2)
            assert evaluated <= expected if expected else evaluated < count // 2
        assert cache.bytes <= 2**20
        assert cache.size <= cache.counts[2]
    assert cache.size > 8_000
    assert cache.counts[2] == pytest.approx(40_000, rel=0.03)


def test_fitted_constants_come_back_from_the_cache() -> None:
    data = dataset(30)
    population = SearchSpace(FITTED, 4, 10).sample(300, seed=5)
    task = RegressionTask(FITTED, data)
    first = task.evaluate(population)
    second = task.evaluate(population)
    assert task.counts.evaluated == task.counts.unique == number_of_different_rows(population)
    fitted, errors = fit(population, data)
    for scored in (first, second):
        assert reference.same_bits(scored.population.constants, fitted.constants)
        assert reference.same_bits(
            scored.reward, reward(Metric.INVERSE_NRMSE, errors.error / data.total_weight, data.deviation)
        )
    assert not np.array_equal(fitted.constants, population.constants, equal_nan=True)


def test_rows_with_other_constants_are_other_rows() -> None:
    population = SearchSpace(FITTED, 4, 10).sample(100, seed=5)
    other = population.with_constants(population.constants * 2.0)
    task = RegressionTask(FITTED, dataset(), RegressionSettings(fit=None))
    task.evaluate(population)
    before = task.counts.unique
    scored = task.evaluate(other)
    assert task.counts.unique > before + 20
    assert reference.same_bits(scored.population.constants, other.constants)
    plain = evaluate(other, dataset())
    assert reference.same_bits(
        scored.reward, reward(Metric.INVERSE_NRMSE, plain.error / dataset().total_weight, dataset().deviation)
    )


def test_a_fit_of_no_constants_is_no_fit() -> None:
    population = SearchSpace(LIBRARY, 4, 10).sample(50, seed=5)
    scored = RegressionTask(LIBRARY, dataset(), RegressionSettings(fit=FitSettings(restarts=3))).evaluate(population)
    assert scored.population is population


@pytest.mark.parametrize("cached_constants", [0, 1, 2, 16])
@pytest.mark.parametrize("fitting", [FitSettings(), None])
def test_rows_with_more_constants_than_the_cache_takes_are_scored_anew(
    cached_constants: int, fitting: FitSettings | None
) -> None:
    """In a child process: this once read outside an array."""
    how = None if fitting is None else f"FitSettings({fitting.iterations}, {fitting.restarts})"
    script = f"""
        import numpy as np
        from symseed import Dataset, FitSettings, Library, RegressionSettings, RegressionTask, SearchSpace
        library = Library.of(["add", "mul", "sin", "const"], 1)
        x = np.linspace(0.0, 1.0, 9)
        settings = RegressionSettings(fit={how}, cached_constants={cached_constants})
        task = RegressionTask(library, Dataset.of(x, np.sin(3.0 * x)), settings)
        population = SearchSpace(library, 4, 20).sample(200, seed=1)
        first, second = task.evaluate(population), task.evaluate(population)
        assert np.array_equal(first.reward, second.reward)
        assert np.array_equal(first.population.constants, second.population.constants, equal_nan=True)
        rows = {{(e.ids) for e in population}}
        many = {{e.ids for e in population if sum(t.name == "const" for t in e.tokens) > {cached_constants}}}
        assert task.counts.evaluated == len(rows) + len(many), task.counts
        print(len(many), abs(task.counts.unique - len(rows)))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert answer.returncode == 0, answer.stderr
    many, off = map(int, answer.stdout.split())
    assert (many > 10) == (cached_constants < 16)
    assert off <= (5 if many else 0)


def test_another_library_is_refused() -> None:
    task = RegressionTask(LIBRARY, dataset())
    with pytest.raises(SettingsError, match="The population and the task must share one library"):
        task.evaluate(SearchSpace(FITTED).sample(3, seed=0))
    assert task.counts == Counts(0, 0, 0)


def test_a_dataset_without_the_librarys_columns_is_refused() -> None:
    with pytest.raises(DataError, match="need 2 columns, but the dataset has 1"):
        RegressionTask(LIBRARY, Dataset.of([1.0, 2.0], [1.0, 2.0]))


@pytest.mark.parametrize("values", [{"threads": 0}, {"cache_bytes": 100}, {"cached_constants": -1}, {"threads": 5000}])
def test_settings_out_of_range_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match=r"must be"):
        RegressionSettings(**values)  # type: ignore[arg-type]


def test_the_best_scaling_is_that_of_weighted_least_squares() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (30, 2))
    data = Dataset.of(X, 3.0 * np.sin(X[:, 0]) + rng.normal(0.0, 0.1, 30), rng.uniform(0.1, 2.0, 30))
    rows = [
        Expression.parse_prefix(text, LIBRARY)
        for text in ("sin x1", "mul x1 x2", "exp x2", "sub x1 x1", "log sub x1 x1")
    ]
    offset, factor, mean_square = best_scaling(Population.from_expressions(rows), data)
    root = np.sqrt(data.weights)
    for i, row in enumerate(rows[:3]):
        matrix = np.stack([np.ones(30), row.evaluate(X)], axis=1)
        expected = np.linalg.lstsq(root[:, None] * matrix, root * data.y, rcond=None)[0]
        np.testing.assert_allclose([offset[i], factor[i]], expected, rtol=1e-10)
        errors = (data.y - matrix @ expected) ** 2
        assert mean_square[i] == pytest.approx(np.average(errors, weights=data.weights), rel=1e-10)
    assert factor[3] == 0.0, "a number explains nothing"
    assert offset[3] == pytest.approx(np.average(data.y, weights=data.weights))
    assert np.isnan(mean_square[4]), "it fails"
