"""Neither the number of threads nor the instruction set changes a bit, and Ctrl-C ends what they do."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import reference
from reference import OPERATORS, random_population
from symseed import (
    Dataset,
    FitSettings,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    _core,
    evaluate,
    fit,
    predict,
)
from symseed.scoring import FitMethod, Validity

LIBRARY = Library.of([*OPERATORS, 2.0, "const"], 3)
every_validity = pytest.mark.parametrize("validity", Validity, ids=lambda value: value.name)


def problem(count: int = 1001, rows: int = 400) -> tuple[Population, Dataset]:
    rng = np.random.default_rng(0)
    X = rng.normal(0.0, 2.0, (count, 3))
    X[::50] *= 1e7  # past what the vector forms of sin and exp take, so that both ways are used
    data = Dataset.of(X, rng.normal(0.0, 1.0, count), rng.uniform(0.0, 2.0, count))
    return random_population(rng, LIBRARY, rows, 20), data


Arrays = list[npt.NDArray[Any]]


def answers(
    population: Population, data: Dataset, *, validity: Validity, threads: int, instruction_set: str | None
) -> Arrays:
    """Return every array that the core computes from a population and a dataset."""
    common: tuple[Any, ...] = (
        LIBRARY.vocabulary,
        data.samples,
        population.tokens,
        population.lengths,
        population.constants,
    )
    how: dict[str, Any] = {"validity": validity, "threads": threads, "instruction_set": instruction_set}
    error, failure, position, fitted, _ = _core.Cache(2**20, 4).score(
        *common, fit=(10, 1, 3, FitMethod.LEVENBERG_MARQUARDT), **how
    )
    assert fitted is not None
    return [
        *_core.squared_errors(*common, **how),
        *_core.predictions(*common, **how),
        *_core.fit_constants(*common, method=FitMethod.LEVENBERG_MARQUARDT, iterations=10, restarts=1, seed=3, **how),
        *(error, failure, position, fitted),
        *_core.Cache(2**20, 4).score(*common, fit=None, **how)[:3],
    ]


def assert_same(found: Arrays, expected: Arrays) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert reference.same_bits(a, b)


@every_validity
def test_any_number_of_threads_gives_the_same_bits(validity: Validity) -> None:
    population, data = problem()
    expected = answers(population, data, validity=validity, threads=1, instruction_set=None)
    assert 100 < (expected[1] == 0).sum() < 400
    for threads in (2, 3, 8, 100):
        assert_same(answers(population, data, validity=validity, threads=threads, instruction_set=None), expected)


@pytest.mark.parametrize("name", _core.instruction_sets())
@every_validity
def test_every_instruction_set_gives_the_same_bits(name: str, validity: Validity) -> None:
    population, data = problem()
    expected = answers(population, data, validity=validity, threads=1, instruction_set="portable")
    assert_same(answers(population, data, validity=validity, threads=2, instruction_set=name), expected)


@pytest.mark.parametrize("name", _core.instruction_sets())
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_instruction_set_gives_the_same_bits_at_the_edges(name: str, operator: str) -> None:
    """Each operator alone on wild arguments, those left out at which it fails."""
    rng = np.random.default_rng(1)
    count = 20_000
    X = rng.choice([-1.0, 1.0], (count, 2)) * 10.0 ** rng.uniform(-320.0, 300.0, (count, 2))
    X[: count // 2] = rng.uniform(-800.0, 800.0, (count // 2, 2))
    X[: count // 4, 0] = np.arange(count // 4) * np.pi / 4.0
    X = np.concatenate([X, np.abs(X), [[0.0, 0.0], [-0.0, 1.0], [1.0, -0.0]]])
    arity = len(OPERATORS[operator].slopes)
    with np.errstate(all="ignore"):
        X = np.ascontiguousarray(X[np.isfinite(OPERATORS[operator].value(*X[:, :arity].T))])
    assert len(X) > 1000
    library = Library.of([operator], arity)
    row = np.array([[arity, *range(arity)]], dtype=np.uint16)
    samples = _core.Samples(np.ascontiguousarray(X[:, :arity]), np.zeros(len(X)), np.ones(len(X)))

    def values(chosen: str) -> tuple[npt.NDArray[np.float64], int]:
        value, failure, _ = _core.predictions(
            library.vocabulary,
            samples,
            row,
            np.array([1 + arity], dtype=np.int32),
            np.full(row.shape, np.nan),
            validity=Validity.VALUES,
            threads=1,
            instruction_set=chosen,
        )
        return value, int(failure[0])

    found, failure = values(name)
    assert failure == 0
    assert reference.same_bits(found, values("portable")[0])


def test_the_first_instruction_set_is_the_default_and_the_last_is_portable() -> None:
    names = _core.instruction_sets()
    assert names[-1] == "portable"
    assert len(set(names)) == len(names)
    population, data = problem(100, 50)
    assert_same(
        answers(population, data, validity=Validity.VALUES, threads=1, instruction_set=None),
        answers(population, data, validity=Validity.VALUES, threads=1, instruction_set=names[0]),
    )


def test_threads_do_not_show_in_the_public_functions() -> None:
    population, data = problem(300, 300)
    task = {threads: RegressionTask(LIBRARY, data, RegressionSettings(threads=threads)) for threads in (1, 8)}
    rewards = {threads: task[threads].evaluate(population).reward for threads in task}
    assert reference.same_bits(rewards[1], rewards[8])
    assert task[1].counts == task[8].counts
    assert reference.same_bits(evaluate(population, data, threads=8).error, evaluate(population, data).error)
    assert reference.same_bits(predict(population, data, threads=8).value, predict(population, data).value)
    several, one = (fit(population, data, FitSettings(5, 2), threads=threads)[0] for threads in (8, 1))
    assert reference.same_bits(several.constants, one.constants)


def test_several_threads_share_the_work() -> None:
    """The lock of the interpreter is not held: Python counts on while the core works."""
    script = """
        import threading, time
        import numpy as np
        from symseed import Dataset, Library, SearchSpace, evaluate
        library = Library.of(["add", "mul"], 2)
        data = Dataset.of(np.ones((200_000, 2)), np.ones(200_000))
        population = SearchSpace(library, 15, 15).sample(300, seed=0)
        data.samples
        done, counted = threading.Event(), 0
        worker = threading.Thread(target=lambda: (evaluate(population, data, threads=2), done.set()))
        worker.start()
        while not done.is_set():
            counted += 1
            time.sleep(0.001)
        worker.join()
        print(counted)
    """
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, timeout=100
    )
    assert int(answer.stdout) > 10


INTERRUPTED = """
    import os, signal, threading, time
    import numpy as np
    from symseed import Dataset, Expression, FitSettings, Library, Population, SearchSpace, evaluate, fit, predict
    from symseed.search.variation import VariationSettings, next_generation, tournament
    signal.signal(signal.SIGINT, signal.default_int_handler)
    library = Library.of(["add", "mul", "pow", "sin", "const"], 2)
    data = Dataset.of(np.random.default_rng(0).uniform(0.1, 1.0, (1_000_000, 2)), np.zeros(1_000_000))
    data.samples
    space = SearchSpace(library, 29, 30)
    population = space.sample(2000, seed=0)
    # Short rows, then long ones: one thread is soon idle while the other works.
    short, long = (Expression.parse_prefix(text, library) for text in ("x1", "pow x1 " * 14 + "const(0.5)"))
    uneven = Population.from_expressions([short] * 64 + [long] * 64)
    many = population.take(np.arange(400_000) % 2000)
    reward = np.zeros(400_000)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    try:
        {call}
        print("finished", time.monotonic() - begin)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - begin)
"""


@pytest.mark.parametrize(
    "call",
    [
        "evaluate(population, data)",
        "evaluate(uneven, data, threads=2)",
        "fit(population, data, FitSettings(1000, 1000))",
        "fit(uneven.take([0, 127]), data, FitSettings(1000, 1000), threads=2)",
        "predict(population.take(np.arange(100)), data)",
        "space.sample(4_000_000, seed=0)",
        "next_generation(space, many, reward, VariationSettings(retries=50), seed=0)",
        "tournament(np.zeros(10), 10_000_000, 1000, seed=0)",
    ],
    ids=["evaluate", "evaluate uneven", "fit", "fit uneven", "predict", "sample", "generation", "tournament"],
)
def test_ctrl_c_ends_a_long_call(call: str) -> None:
    script = textwrap.dedent(INTERRUPTED).replace("{call}", call)
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=100)
    assert answer.returncode == 0, answer.stderr
    what, seconds = answer.stdout.split()
    assert what == "interrupted"
    assert float(seconds) < 2.5  # the signal comes after 0.5 s
