"""Objects of the core that change, used by several Python threads at once, or by a function that they call.

Each runs in a child process, so that a crash, or threads that wait for one another, would be a failure of one test and
not the end of all.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from symseed import RegressionSettings, SettingsError, _core

SETTING = """
    import functools, signal, sys, threading
    import numpy as np
    from symseed import Dataset, Library, Population, RegressionSettings, RegressionTask, SearchSpace
    from symseed.language import tokens
    from symseed.completion.completer import Completer, CompletionSettings
    from symseed.search.policy import Lesson, LSTMPolicy, PolicySettings

    rng = np.random.default_rng(0)
    library = Library.of(["add", "sub", "mul", "div", "sin", "exp", "const"], 2)
    space = SearchSpace(library, 3, 12)
    data = Dataset.of(rng.uniform(0.5, 2.0, (20, 2)), rng.normal(size=20))

    def together(*calls):
        '''Call all of them at once, each on a thread of its own; return their answers in order.'''
        answers, errors, begin = [None] * len(calls), [], threading.Barrier(len(calls))
        def work(i):
            try:
                begin.wait()
                answers[i] = calls[i]()
            except BaseException as error:
                errors.append(error)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(calls))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        if errors: raise errors[0]
        return answers
"""


def run(script: str) -> str:
    """Return what a script prints, which must end well."""
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SETTING) + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_threads_that_share_a_task_get_the_scores_of_one_call_after_another() -> None:
    """Populations overlap, so that all of them look for, find and keep the same rows while the cache grows."""
    script = """
        rows = space.sample(30_000, seed=0)
        parts = [rows.take(rng.permutation(len(rows))[:12_000]) for _ in range(8)]
        for settings in (RegressionSettings(fit=None), RegressionSettings(cache_bytes=2**17, fit=None)):
            for _ in range(3):
                alone, shared = (RegressionTask(library, data, settings) for _ in range(2))
                expected = [alone.evaluate(part) for part in parts]
                found = together(*(functools.partial(shared.evaluate, part) for part in parts))
                for a, b in zip(found, expected):
                    np.testing.assert_array_equal(a.reward, b.reward)
                    np.testing.assert_array_equal(a.failure, b.failure)
                    np.testing.assert_array_equal(a.position, b.position)
                assert shared.counts.asked == 8 * 12_000
                assert shared.counts.evaluated == sum(int(one.computed.sum()) for one in found)
                assert shared.counts.unique == alone.counts.unique <= shared.counts.evaluated
                again = shared.evaluate(parts[0])
                np.testing.assert_array_equal(again.reward, expected[0].reward)
                assert settings.cache_bytes < 2**20 or not again.computed.any()
        print("same")
    """
    assert run(script) == "same\n"


def test_threads_that_share_a_task_get_the_same_fitted_constants() -> None:
    script = """
        rows = space.sample(4_000, seed=0)
        parts = [rows.take(rng.permutation(len(rows))[:1_500]) for _ in range(6)]
        alone, shared = (RegressionTask(library, data) for _ in range(2))
        expected = [alone.evaluate(part) for part in parts]
        found = together(*(functools.partial(shared.evaluate, part) for part in parts))
        for a, b in zip(found, expected):
            np.testing.assert_array_equal(a.population.constants, b.population.constants)
            np.testing.assert_array_equal(a.reward, b.reward)
        assert any(np.isfinite(one.population.constants).any() for one in found)
        print("same")
    """
    assert run(script) == "same\n"


def test_threads_that_share_a_table_of_completions_look_all_their_desired_values_up() -> None:
    script = """
        small = Library.of(["add", "mul", "sin", "exp"], 2)
        any_row = SearchSpace(small, 1, 12)
        X = rng.uniform(0.5, 2.0, (20, 2))
        target = Dataset.of(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 1])
        parts = [any_row.sample(4_000, seed=0, step=step) for step in range(6)]
        everything = np.arange(4_000)
        for _ in range(3):
            alone, shared = (Completer(any_row, target) for _ in range(2))
            for part in parts: alone.complete(part, everything)
            found = together(*(functools.partial(shared.complete, part, everything) for part in parts))
            assert shared.counts.lookups == alone.counts.lookups
            assert shared.counts.splices == sum(map(len, found)) > 0
            assert abs(shared.size / alone.size - 1) < 0.01
            for one in found: assert (any_row.violations(one) == -1).all()
        print("all")
    """
    assert run(script) == "all\n"


def test_a_policy_that_one_thread_teaches_is_sampled_by_others_as_it_was_after_some_step() -> None:
    script = """
        lesson = Lesson(space.sample(20, seed=0), np.linspace(-1.0, 1.0, 20), entropy_weight=0.1)
        settings = PolicySettings(hidden=64, learning_rate=0.05)
        draw = lambda policy: policy.sample(8, seed=3, step=0).tokens.tobytes()
        alone, shared = (LSTMPolicy(space, settings) for _ in range(2))
        after = [draw(alone)]
        for _ in range(100):
            alone.ascend(lesson)
            after.append(draw(alone))
        is_over = threading.Event()
        def teach():
            for _ in range(100): shared.ascend(lesson)
            is_over.set()
        def listen():
            drawn = [draw(shared)]
            while not is_over.is_set(): drawn.append(draw(shared))
            return drawn
        _, *heard = together(teach, listen, listen, listen)
        heard = [one for drawn in heard for one in drawn]
        assert len(set(heard)) > 10
        assert set(heard) <= set(after)
        np.testing.assert_array_equal(shared.state[0], alone.state[0])
        print("whole")
    """
    assert run(script) == "whole\n"


def test_no_step_of_a_policy_is_lost_that_several_threads_teach() -> None:
    script = """
        lesson = Lesson(space.sample(20, seed=0), np.ones(20))
        policy = LSTMPolicy(space, PolicySettings(hidden=8))
        def teach():
            for _ in range(200): policy.ascend(lesson)
        together(teach, teach, teach, teach)
        print(policy.state[1])
    """
    assert run(script) == "800\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_function_may_use_what_calls_it(threads: int) -> None:
    """Neither threads that wait for one another, nor a crash; and the scores are right."""
    script = f"""
        calls, task = [], None
        def leaky(x):
            if task is not None and len(calls) < 20:
                calls.append(task.evaluate(others).reward)
                completer.complete(others, np.arange(len(others)))
                assert task.counts.unique and completer.size
            return np.where(x > 0.0, x, 0.1 * x)
        own = Library.of(["add", "mul", "const", tokens.custom(leaky)], 2)
        any_row = SearchSpace(own, 3, 8)
        rows = any_row.sample(300, seed=0)
        is_called = (rows.tokens == own.ids(["leaky"])[0]).any(axis=1)
        rows, others = rows.take(np.flatnonzero(is_called)), rows.take(np.flatnonzero(~is_called))
        assert len(rows) > 20 and len(others) > 20
        expected = RegressionTask(own, data).evaluate(rows)
        completer = Completer(any_row, data)
        task = RegressionTask(own, data, RegressionSettings(threads={threads}))
        first = task.evaluate(rows)
        assert len(calls) >= 20, "two threads may both find room for the last"
        calls.clear()
        completer.complete(rows, np.arange(len(rows)))
        assert len(calls) >= 20, "two threads may both find room for the last"
        np.testing.assert_array_equal(first.reward, expected.reward)
        print("done")
    """
    assert run(script) == "done\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_function_that_calls_itself_through_its_task_is_told_so(threads: int) -> None:
    """As any function that calls itself without end: by a RecursionError, and not by a crash."""
    script = f"""
        task, told = None, 0
        def endless(x):
            global told
            try:
                if task is not None and not told: task.evaluate(rows)
            except RecursionError:
                told += 1
            return np.where(x > 0.0, x, 0.1 * x)
        own = Library.of(["add", tokens.custom(endless)], 2)
        rows = SearchSpace(own, 2, 6).sample(40, seed=0)
        task = RegressionTask(own, data, RegressionSettings(threads={threads}))
        task.evaluate(rows)
        print(told > 0)
    """
    assert run(script) == "True\n"


def test_a_signals_handler_may_use_what_it_interrupts() -> None:
    script = """
        many = Dataset.of(rng.uniform(0.5, 2.0, (20_000, 2)), rng.normal(size=20_000))
        rows, others = space.sample(3_000, seed=0), space.sample(10, seed=1)
        task, policy = RegressionTask(library, many, RegressionSettings(fit=None)), LSTMPolicy(space)
        lesson = Lesson(others, np.ones(10))
        seen = []
        def handle(*_):
            policy.ascend(lesson)
            seen.append((task.counts.asked, policy.state[1], len(task.evaluate(others))))
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        for step in range(3): task.evaluate(rows)
        for step in range(3): policy.sample(20_000, seed=0, step=step)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(len(seen) > 1, task.counts.asked == 9_000 + 10 * len(seen), policy.state[1] == len(seen))
    """
    assert run(script) == "True True True\n"


@pytest.mark.parametrize("constants", [2**15 + 1, 2**60, 2**61, 2**64 - 1])
def test_a_cache_with_room_for_more_constants_than_a_row_has_is_refused(constants: int) -> None:
    for max_bytes in (1024, 2**62):
        with pytest.raises(ValueError, match="`constants_per_row` must be at most 32768"):
            _core.Cache(max_bytes, constants)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"cached_constants": 2**61}, f"`cached_constants` must be from 0 to 32768, but it is {2**61}"),
        ({"cached_constants": -1}, "`cached_constants` must be from 0 to 32768, but it is -1"),
        ({"cache_bytes": 2**70}, f"`cache_bytes` must be from 1024 to {2**40}, but it is {2**70}"),
        ({"cache_bytes": 1000}, f"`cache_bytes` must be from 1024 to {2**40}, but it is 1000"),
    ],
)
def test_settings_of_the_cache_out_of_range_get_a_sentence(settings: dict[str, int], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        RegressionSettings(**settings)  # type: ignore[arg-type]
