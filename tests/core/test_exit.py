"""The interpreter ends while native work goes on in a daemon thread: the process ends as if nothing were there."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

SETTING = """
    import atexit, ctypes, os, threading, time
    import numpy as np
    from symseed import (
        Dataset, Expression, Library, LSTMPolicy, Population, RegressionSettings, RegressionTask, SearchSpace, evaluate,
        predict,
    )
    from symseed.completion import Completer
    from symseed.data import Loss
    from symseed.language import tokens

    def leaky(x):
        return np.where(x > 0.0, x, 0.1 * x)

    def lopsided(y, prediction):
        return np.where(y > prediction, 2.0, 1.0) * (y - prediction) ** 2

    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (200, 3))
    y = np.sin(X[:, 0] * X[:, 1]) + rng.normal(size=200)
    library = Library.of(["add", "mul", "sin"], 3)

    def rows(library):
        return SearchSpace(library, 5, 15).sample(300, seed=0)

    def in_background(work):
        threading.Thread(target=work, daemon=True).start()
"""


def ended(script: str) -> tuple[int, str, str]:
    """Return how a script ended, and what it wrote."""
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SETTING) + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    return answer.returncode, answer.stdout, answer.stderr


CALLS = {
    "evaluation": "evaluate(some, data)",
    "evaluation on two threads": "evaluate(some, data, threads=2)",
    "a function of one's own": "evaluate(others, data)",
    "a function of one's own on two threads": "evaluate(others, data, threads=2)",
    "a loss of one's own": "evaluate(some, blamed, threads=2)",
    "scores": "RegressionTask(own, data, RegressionSettings(threads=2)).evaluate(others)",
    "completion": "Completer(SearchSpace(own, 5, 15), data).complete(others, np.arange(300))",
    "samples": "policy.sample(100, seed=0, step=0)",
}


@pytest.mark.parametrize("call", CALLS)
def test_the_interpreter_ends_while_a_daemon_thread_calls_the_core_again_and_again(call: str) -> None:
    """Each call ends, or asks for Python, every few milliseconds: also while the interpreter ends."""
    script = f"""
        own = Library.of(["add", "mul", tokens.custom(leaky)], 3)
        data = Dataset.of(X, y)
        blamed = data.with_loss(Loss.of(lopsided))
        some, others = rows(library), rows(own)
        policy = LSTMPolicy(SearchSpace(library, 5, 15))
        {CALLS[call]}
        def work():
            while True: {CALLS[call]}
        in_background(work)
        time.sleep(0.05)
        print("over")
    """
    assert ended(script) == (0, "over\n", "")


@pytest.mark.parametrize("seconds", [0.1, 0.7])
@pytest.mark.parametrize(
    "settings",
    ["", "n_jobs=2", "unary_operators=['sin', leaky]", "n_jobs=2, unary_operators=['sin', leaky]", "loss=lopsided"],
)
def test_the_interpreter_ends_while_a_daemon_thread_fits(settings: str, seconds: float) -> None:
    script = f"""
        from symseed import SymbolicRegressor
        model = SymbolicRegressor(max_time=60, patience=None, random_state=0, {settings})
        in_background(lambda: model.fit(X, y))
        time.sleep({seconds})
        print("over")
    """
    assert ended(script) == (0, "over\n", "")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thread_that_asks_for_python_when_it_is_no_more_waits_for_the_end(threads: int) -> None:
    """The process lives on for a while without an interpreter; a long row ends then, and the next calls a function."""
    script = f"""
        libc = ctypes.CDLL(None)
        libc.__cxa_atexit(ctypes.cast(libc.sleep, ctypes.c_void_p), ctypes.c_void_p(3), None)
        deep = Library.of(["pow", tokens.custom(leaky)], 1)
        long, short = (Expression.parse_prefix(text, deep) for text in ("pow x1 " * 30 + "x1", "leaky x1"))
        many = Dataset.of(rng.uniform(0.1, 1.0, (1_000_000, 1)), np.zeros(1_000_000))
        many.samples
        population = Population.from_expressions([long, long, short, short])
        in_background(lambda: predict(population, many, threads={threads}))
        time.sleep(0.1)
        print("over")
    """
    assert ended(script) == (0, "over\n", "")


def test_loading_the_core_again_is_no_end() -> None:
    script = """
        import importlib, sys
        from symseed import _core
        importlib.reload(_core)
        del sys.modules["symseed._core"]
        import symseed._core
        own = Library.of(["add", "mul", tokens.custom(leaky)], 3)
        print(len(evaluate(rows(own), Dataset.of(X, y), threads=2).error))
    """
    assert ended(script)[:2] == (0, "300\n")


def test_the_main_thread_may_call_the_core_until_the_very_end() -> None:
    """In a handler at exit, and in a destructor while modules are taken apart: functions are called as ever."""
    script = """
        # Its globals are not this module's, which it would keep from being taken apart.
        far = eval("lambda x: where(x > 0.0, x, 0.1 * x)", {"where": np.where})
        own = Library.of(["add", "mul", tokens.custom(far, name="far")], 3)
        class Last:
            def __init__(self):
                self.task, self.rows, self.write = RegressionTask(own, Dataset.of(X, y)), rows(own), os.write
            def __del__(self):
                self.write(2, b"%d" % len(self.task.evaluate(self.rows)))
        last = Last()
        atexit.register(lambda: print(len(evaluate(rows(own), Dataset.of(X, y)).error)))
    """
    assert ended(script) == (0, "300\n", "300")
