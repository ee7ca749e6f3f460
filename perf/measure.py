"""What is measured, and how: rates of engines in turns, two threads, offspring, memory."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean, median

import numpy as np

import symseed
from expressions import Workload
from peers import Engine, Peer, Symseed
from spread import two_cores
from symseed.search import variation

AGREEING = 0.95
"""Share of expressions on which an engine must agree with symseed; rounding accounts for the others."""

POPULATION = 500
GENERATIONS = 25


def agreement(peer: Peer, workload: Workload) -> float:
    """Return the share of expressions whose answers are symseed's, but for the peer's tolerance.

    The median over points is compared: near a pole even correct values in float32 differ.
    """
    answers = peer.prepare(workload).answers()
    if answers.ndim == 1:
        answers, expected = answers[:, None], symseed.evaluate(workload.population, workload.dataset).error[:, None]
    else:
        expected = symseed.predict(workload.population, workload.dataset).value
    with np.errstate(over="ignore", invalid="ignore"):
        allowed = np.abs(answers - expected) <= peer.tolerance * np.abs(expected)
    return float(np.mean(allowed.mean(axis=1) >= 0.5))


def cpu_seconds(engines: Mapping[str, Engine], *, rounds: int, least: float) -> dict[str, float]:
    """Return the CPU time of one run of each engine: the median over rounds in which they take turns.

    A run that is shorter than `least` is repeated within its turn.
    """
    repeats = {name: math.ceil(least / _clocked(engine.run, 1, time.process_time)) for name, engine in engines.items()}
    taken: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(rounds):
        for name, engine in engines.items():
            taken[name].append(_clocked(engine.run, repeats[name], time.process_time))
    return {name: median(values) for name, values in taken.items()}


def thread_ratio(workload: Workload, *, rounds: int, spread: bool) -> float:
    """Return how much faster two threads are than one, by the clock on the wall: the best of each, in turns.

    Args:
        workload: what to evaluate.
        rounds: turns of each.
        spread: put the threads on two cores, rather than where the system puts them.
    """
    engines = [Symseed(workload, threads=1), Symseed(workload, threads=2)]
    taken = np.empty((rounds, len(engines)))
    for turn in taken:
        for i, engine in enumerate(engines):
            with two_cores() if spread else contextlib.nullcontext():
                turn[i] = _clocked(engine.run, 1, time.perf_counter)
    one, two = taken.min(axis=0)
    return float(one / two)


def offspring_microseconds(*, seeds: int) -> float:
    """Return the mean time to make one child, over the generations of a search with the paper's settings."""
    library = symseed.Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 1)
    x = np.linspace(-1.0, 1.0, 20)
    dataset = symseed.Dataset.of(x, x**3 + x**2 + x)
    return median(_evolve(symseed.SearchSpace(library), dataset, seed) for seed in range(seeds))


def memory_megabytes(*, expressions: int) -> float | None:
    """Return the memory that evaluation takes beyond the caller's data, by `memory.py`; None where it cannot say."""
    if not sys.platform.startswith("linux"):
        return None
    script = Path(__file__).with_name("memory.py")
    command = [sys.executable, str(script), str(expressions), str(os.cpu_count() or 1)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _evolve(space: symseed.SearchSpace, dataset: symseed.Dataset, seed: int) -> float:
    task = symseed.RegressionTask(space.library, dataset)
    population = space.sample(POPULATION, seed=seed)
    taken = []
    for step in range(GENERATIONS):
        reward = task.evaluate(population).reward
        start = time.process_time()
        population = variation.next_generation(space, population, reward, seed=seed, step=step).population
        taken.append(time.process_time() - start)
    return 1e6 * fmean(taken) / POPULATION


def _clocked(run: Callable[[], None], repeats: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(repeats):
        run()
    return (clock() - start) / repeats
