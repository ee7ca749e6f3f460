"""A pool of processes for many runs, each with its own core: it outlives a process that dies, and none outlives it."""

from __future__ import annotations

import itertools
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import SimpleQueue

from symseed.benchmarks.execution import execute, failed
from symseed.benchmarks.store import RunKey, RunRecord
from symseed.recovery.checker import Checker
from symseed.signals import begin_worker, starting_processes


def run(keys: Sequence[RunKey], jobs: int, finish: Callable[[RunRecord], None]) -> list[RunKey]:
    """Do runs in a pool of processes; if one dies, record its run and return the runs that are left."""
    context = multiprocessing.get_context("spawn")
    left = list(reversed(keys))
    cores = context.SimpleQueue()
    for core in itertools.islice(itertools.cycle(_cores()), jobs):
        cores.put(core)
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_begin_worker, initargs=(os.getpid(), cores)
    ) as pool:
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
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(multiprocessing.active_children()) - others:
                # A run may take hours, and its record is not wanted any more. A process that is still starting would
                # obey SIGTERM too late, when the semaphores that it needs are gone.
                child.kill()
            raise
    return left[::-1]


def _run_alone(key: RunKey) -> RunRecord:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_begin_worker, initargs=(os.getpid(), None)) as pool:
        try:
            with starting_processes():
                future = pool.submit(_work, key)
            return future.result()
        except BrokenProcessPool:
            return failed(key, "The process died while it ran this.")


_checker: Checker | None = None
"""Checker of a worker process, which lives as long as the process."""


def _cores() -> list[int | None]:
    """The cores that this process may use; one None if the system does not say."""
    return [*sorted(os.sched_getaffinity(0))] if hasattr(os, "sched_getaffinity") else [None]


def _begin_worker(parent: int, cores: SimpleQueue[int | None] | None) -> None:
    """Begin as every worker does, take a core, and start a checker for all runs of this process."""
    global _checker
    begin_worker(parent)
    core = cores.get() if cores is not None and not cores.empty() else None
    if core is not None:
        # Some systems pack busy processes onto one core and leave the others idle.
        os.sched_setaffinity(0, {core})
    _checker = Checker()


def _work(key: RunKey) -> RunRecord:
    assert _checker is not None, "the worker has begun"
    return execute(key, _checker)
