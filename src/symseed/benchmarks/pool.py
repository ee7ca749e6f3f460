"""A pool of processes for many runs, each with its own core: it outlives a process that dies, and none outlives it."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue

from symseed.benchmarks.execution import execute, failed
from symseed.benchmarks.store import RunKey, RunRecord
from symseed.recovery.checker import Checker
from symseed.signals import begin_worker, starting_processes
from symseed.workers import end


def run(keys: Sequence[RunKey], jobs: int, finish: Callable[[RunRecord], None]) -> list[RunKey]:
    """Do runs in a pool of processes; if one dies, record its run and return the runs that are left."""
    left = list(reversed(keys))
    with _processes(jobs, itertools.islice(itertools.cycle(_cores()), jobs)) as pool:
        running: dict[Future[RunRecord], RunKey] = {}
        try:
            while left or running:
                while left and len(running) < 2 * jobs:
                    key = left.pop()
                    with starting_processes():
                        running[pool.submit(_work, key)] = key
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    record = future.result()
                    del running[future]
                    finish(record)
        except BrokenProcessPool:
            # It is not known which of them killed its process, so each gets its own process, once.
            for key in running.values():
                finish(_run_alone(key))
    return left[::-1]


def _run_alone(key: RunKey) -> RunRecord:
    with _processes(1, []) as pool:
        try:
            with starting_processes():
                future = pool.submit(_work, key)
            return future.result()
        except BrokenProcessPool:
            return failed(key, "The process died while it ran this.")


@contextlib.contextmanager
def _processes(count: int, own_cores: Iterable[int | None]) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of processes, none of which is left when the context ends, even by Ctrl-C while it waits for them."""
    context = multiprocessing.get_context("spawn")
    cores = context.SimpleQueue()
    for core in own_cores:
        cores.put(core)
    pool = ProcessPoolExecutor(count, context, initializer=_begin_worker, initargs=(os.getpid(), cores))
    try:
        yield pool
        pool.shutdown()  # one may still be starting
    except BaseException:
        end(pool)
        raise


_checker: Checker | None = None
"""Checker of a worker process, which lives as long as the process."""


def _cores() -> list[int | None]:
    """The cores that this process may use; one None if the system does not say."""
    return [*sorted(os.sched_getaffinity(0))] if hasattr(os, "sched_getaffinity") else [None]


def _begin_worker(parent: int, cores: SimpleQueue[int | None]) -> None:
    """Begin as every worker does, take a core, and start a checker for all runs of this process."""
    global _checker
    begin_worker(parent)
    core = None if cores.empty() else cores.get()
    if core is not None:
        # Some systems pack busy processes onto one core and leave the others idle.
        os.sched_setaffinity(0, {core})
    _checker = Checker()


def _work(key: RunKey) -> RunRecord:
    assert _checker is not None, "the worker has begun"
    return execute(key, _checker)
