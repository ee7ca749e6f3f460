"""Many runs: every (problem, method, seed) once, each with a record that survives the end of the process.

A record is written to the store when its run ends. A second start with the same store does the missing runs.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

from symseed import benchmarks, methods
from symseed.benchmarks import pool
from symseed.benchmarks.execution import execute, failed
from symseed.benchmarks.store import RunKey, RunRecord, Store
from symseed.cluster import LostSchedulerError
from symseed.errors import SettingsError, check_at_least
from symseed.recovery.checker import Checker
from symseed.version import version
from symseed.workers import check_version


def plan(
    problems: Iterable[str],
    method_names: Iterable[str],
    seeds: Iterable[int],
    *,
    draw: int,
    expressions: int | None = None,
    seconds: float | None = None,
    noises: Sequence[float] = (0.0,),
) -> list[RunKey]:
    """Return the runs of every problem or set with every method, level of noise and seed."""
    names = dict.fromkeys(problem.name for name in problems for problem in benchmarks.resolve(name))
    keys = []
    for method_name in method_names:
        budget = methods.get(method_name).budget
        most = budget.expressions if expressions is None else expressions
        if most is None:
            raise SettingsError(f"`{method_name}` has no budget of expressions. Give one.")
        time_limit = budget.seconds if seconds is None else seconds
        keys += [
            RunKey(name, method_name, seed, draw, most, time_limit, noise)
            for noise in noises
            for seed in seeds
            for name in names
        ]
    return keys


def run_many(
    keys: Sequence[RunKey],
    store: Store,
    *,
    jobs: int,
    done: Callable[[RunRecord], None],
    executor: Executor | None = None,
) -> None:
    """Do the runs that the store does not have, `jobs` at a time.

    Args:
        jobs: number of runs at a time; an executor has them all on their way, a few for each of its workers.
        done: called with the record of each run as it ends.
        executor: executor of the runs, such as a cluster with the interface of `concurrent.futures`; None: processes of
            this machine, each with its own core, which may die without harm to the others.
    """
    check_at_least("jobs", jobs, 1)
    known = {record.key for record in store.read()}
    waiting = [key for key in dict.fromkeys(keys) if key not in known]
    with store.writer() as append:

        def finish(record: RunRecord) -> None:
            append(record)
            done(record)

        if executor is not None:
            _run_on(executor, waiting, jobs, finish)
            return
        if jobs == 1:
            with Checker() as checker:
                for key in waiting:
                    finish(execute(key, checker))
            return
        while waiting:
            waiting = pool.run(waiting, jobs, finish)


_kept = threading.local()
"""The checker of a worker's thread, which lives as long as the thread: it has a process of its own."""


def run_one(key: RunKey, caller: str) -> RunRecord:
    """Do one run; workers of any executor call this.

    Args:
        caller: version of symseed that wants the record.

    Raises:
        SettingsError: if this is another version.
    """
    check_version(caller)
    if multiprocessing.parent_process() is None:
        with Checker() as checker:
            return execute(key, checker)
    if not hasattr(_kept, "checker"):
        _kept.checker = Checker()
    return execute(key, _kept.checker)


def _run_on(executor: Executor, keys: Sequence[RunKey], jobs: int, finish: Callable[[RunRecord], None]) -> None:
    """Do runs on the caller's executor, a limited number at a time."""
    left = list(reversed(keys))
    running: dict[Future[RunRecord], RunKey] = {}
    try:
        while left or running:
            while left and len(running) < jobs:
                key = left.pop()
                running[executor.submit(run_one, key, version())] = key
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                key = running.pop(future)
                error = future.exception()
                if isinstance(error, (LostSchedulerError, SettingsError)):
                    raise error
                finish(future.result() if error is None else failed(key, f"Its worker failed: {error}"))
    finally:
        for future in running:
            future.cancel()
