"""Many runs: every (problem, method, seed) once, each with a record that survives the end of the process.

Records are lines of JSON in one file of a folder, written to the disk when a run ends. A second start with the same
folder does the missing runs.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import multiprocessing
import os
import signal
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from symseed import benchmarks, files, methods
from symseed.data import Dataset
from symseed.errors import DataError, SettingsError, check_at_least
from symseed.language import Expression, Library, Population
from symseed.methods import Method
from symseed.portfolio import Turn, portfolio
from symseed.recovery.checker import REFERENCE_NMSE, Checker
from symseed.scoring import RegressionSettings, RegressionTask, evaluate
from symseed.search import Budget, Step, StopReason, search

SCHEMA = 1
"""Version of the format of records."""
FILE = "records.jsonl"
_MOST_BYTES = 2**31
"""Most bytes of a file of records that are read: a record has about a kilobyte. Chosen by hand."""


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """The definition of a run: nothing runs twice with the same key."""

    problem: str
    method: str
    seed: int
    draw: int = 0
    """Index of the draw of data: 0 is that of the authors' released code."""
    expressions: int = 2_000_000
    """Budget in expressions."""
    seconds: float | None = None
    """Budget in CPU seconds, which other work on the machine does not reduce; None: no limit."""
    noise: float = 0.0
    """Standard deviation of the noise in the training target, over the target's root mean square."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """How a run ended."""

    problem: str
    method: str
    seed: int
    draw: int
    expressions: int
    formula: str
    prefix: str
    reward: float
    train_nmse: float
    test_nmse: float
    passes_reference: bool
    """The released code's test: NMSE below 1e-12 on the test data."""
    verdict: str
    """exact, numeric only, or no."""
    evidence: str
    charged: int
    evaluated: int
    unique: int
    steps: int
    cpu_seconds: float
    """CPU seconds of the search."""
    check_seconds: float
    """Seconds of the check whether the answer is the target."""
    reason: str
    error: str
    """Empty, or why the run has no result."""
    lookups: int = 0
    """Number of look-ups of completion, which do not count as evaluations."""
    hits: int = 0
    splices: int = 0
    seconds: float | None = None
    """The budget in time."""
    noise: float = 0.0
    schema: int = SCHEMA

    @property
    def key(self) -> RunKey:
        """What was run."""
        return RunKey(self.problem, self.method, self.seed, self.draw, self.expressions, self.seconds, self.noise)

    @property
    def is_recovered(self) -> bool:
        """Whether the target was found, symbolically."""
        return self.verdict == "exact"


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


def execute(key: RunKey, checker: Checker) -> RunRecord:
    """Run one search and check its answer; an error goes into the record."""
    try:
        return _execute(key, checker)
    except Exception as error:
        return failed(key, f"{type(error).__name__}: {error}")


def failed(key: RunKey, error: str) -> RunRecord:
    """Return the record of a run that has no result."""
    return RunRecord(
        **asdict(key),
        formula="",
        prefix="",
        reward=0.0,
        train_nmse=1.0,
        test_nmse=1.0,
        passes_reference=False,
        verdict="no",
        evidence="",
        charged=0,
        evaluated=0,
        unique=0,
        steps=0,
        cpu_seconds=0.0,
        check_seconds=0.0,
        reason="",
        error=error,
    )


def _execute(key: RunKey, checker: Checker) -> RunRecord:
    problem, method = benchmarks.get(key.problem), methods.get(key.method)
    train, test = problem.datasets(key.draw)
    if key.noise:
        train = train.with_noise(key.noise, seed=key.seed)
    start = time.process_time()
    budget = Budget(key.expressions, key.seconds, time.process_time)
    found = solve(method, problem.library, train, test=test, seed=key.seed, budget=budget)
    searched = time.process_time() - start
    nmse = [_nmse(Population.from_expressions([found.best]), data) for data in (train, test)]
    verdict, evidence, seconds = "no", "the target is not an expression", 0.0
    if problem.target is not None:
        # Noise moves fitted constants, so the question is then whether the form is right.
        recovery = checker.check(found.best, problem.target, test, refit=key.noise > 0.0)
        verdict = recovery.verdict.name.lower().replace("_", " ")
        evidence, seconds = recovery.evidence, recovery.seconds
    return RunRecord(
        **asdict(key),
        formula=str(found.best),
        prefix=found.best.prefix,
        reward=1.0 / (1.0 + nmse[0] ** 0.5),
        train_nmse=nmse[0],
        test_nmse=nmse[1],
        passes_reference=nmse[1] < REFERENCE_NMSE,
        verdict=verdict,
        evidence=evidence,
        charged=found.last.charged,
        evaluated=found.last.evaluated,
        unique=found.last.unique,
        steps=found.last.index + 1,
        cpu_seconds=searched,
        check_seconds=seconds,
        reason=found.reason.value,
        error="",
        lookups=found.last.completion.lookups,
        hits=found.last.completion.hits,
        splices=found.last.completion.splices,
    )


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a method."""

    best: Expression
    last: Step | Turn
    reason: StopReason


def solve(method: Method, library: Library, train: Dataset, *, test: Dataset, seed: int, budget: Budget) -> Found:
    """Run a method, one search or a portfolio; only a search may use the test data to decide when to stop."""
    if method.portfolio is not None:
        solution = portfolio.run(library, train, method.portfolio, seed=seed, budget=budget)
        return Found(solution.best.expression, solution.history[-1], solution.reason)
    task = RegressionTask(library, train, RegressionSettings(), test=test)
    result = search.run(method.space(library), task, method.settings, seed=seed, budget=budget)
    return Found(result.best, result.history[-1], result.reason)


def _nmse(row: Population, dataset: Dataset) -> float:
    mean_square = float(evaluate(row, dataset).error[0]) / dataset.total_weight
    return mean_square / (dataset.deviation**2 or 1.0)


class Store:
    """A folder of records: a file that runs append to, and a packed one to keep. One process at a time may write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE
        self.packed = folder / f"{FILE}.gz"

    @property
    def exists(self) -> bool:
        """Whether the folder holds a file of records, packed or not."""
        return os.path.lexists(self.path) or os.path.lexists(self.packed)

    def read(self) -> list[RunRecord]:
        """Return all records, the packed ones first; a line that was incomplete when the process died is left out.

        Raises:
            DataError: if a file is of another version, or the packed one is damaged.
        """
        records = self._parse(self.packed, self._unpacked()) if os.path.lexists(self.packed) else []
        if os.path.lexists(self.path):
            records += self._parse(self.path, self._content(self.path))
        return records

    def pack(self) -> int:
        """Move all records into the packed file, and return how many it has.

        If two have the same key, the later one is kept. Methods are in the order of their first records, and the runs
        of each in the order of their keys, so that the same records give the same bytes. Times are rounded to 6 digits,
        which makes the file a seventh smaller; all other values are unchanged.

        Raises:
            DataError: if another process is writing to the folder.
        """
        with self.writer():
            records = {record.key: record for record in self.read()}
            order = {method: place for place, method in enumerate(dict.fromkeys(key.method for key in records))}
            keys = sorted(records, key=lambda key: (order[key.method], key))
            buffer = io.BytesIO()
            # The header has no name and no date, which would differ each time.
            with gzip.GzipFile("", "wb", fileobj=buffer, mtime=0) as packed:
                for key in keys:
                    packed.write(json.dumps(self._rounded(records[key])).encode() + b"\n")
            files.replace(self.packed, buffer.getvalue())
            self.path.unlink()
        return len(keys)

    @contextlib.contextmanager
    def writer(self) -> Iterator[Callable[[RunRecord], None]]:
        """Give a function that appends a record and returns when it is on the disk.

        Raises:
            DataError: if another process is writing to the folder.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            opened = files.Lines(self.path)
        except OSError as error:
            raise DataError(
                f"The store must be a folder that can be written to, but `{self.folder}` is not: {error}."
            ) from error
        with contextlib.closing(opened) as lines:
            if not lines.is_at(self.path):
                raise DataError(f"`{self.path}` has just been packed by another process. Start again.")
            yield lambda record: lines.append(asdict(record))

    def _unpacked(self) -> bytes:
        content = self._content(self.packed)
        try:
            if not content:  # `gzip` would read it as an archive without members
                raise EOFError("It is empty")
            return gzip.decompress(content)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(
                f"`{self.packed}` must be a whole gzip file, but it cannot be unpacked ({error}). Fetch it again."
            ) from error

    @staticmethod
    def _content(path: Path) -> bytes:
        try:
            return files.read(path, _MOST_BYTES)
        except OSError as error:
            raise DataError(f"`{path}` must hold records, but cannot be read: {error}.") from error

    @staticmethod
    def _parse(path: Path, content: bytes) -> list[RunRecord]:
        records = []
        for values in files.read_lines(content):
            if not isinstance(values, dict) or values.get("schema") != SCHEMA:
                raise DataError(f"`{path}` must hold records of version {SCHEMA}, but has {str(values)[:60]!r}.")
            records.append(RunRecord(**values))
        return records

    @staticmethod
    def _rounded(record: RunRecord) -> dict[str, object]:
        times = {name: float(f"{getattr(record, name):.6g}") for name in ("cpu_seconds", "check_seconds")}
        return {**asdict(record), **times}


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
            waiting = _run_pool(waiting, jobs, finish)


def run_one(key: RunKey) -> RunRecord:
    """Do one run; workers of any executor call this."""
    with Checker() as checker:
        return execute(key, checker)


def _run_on(executor: Executor, keys: Sequence[RunKey], jobs: int, finish: Callable[[RunRecord], None]) -> None:
    """Do runs on the caller's executor, a limited number at a time."""
    left = list(reversed(keys))
    running: dict[Future[RunRecord], RunKey] = {}
    try:
        while left or running:
            while left and len(running) < jobs:
                key = left.pop()
                running[executor.submit(run_one, key)] = key
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                key = running.pop(future)
                error = future.exception()
                finish(future.result() if error is None else failed(key, f"Its worker failed: {error}"))
    finally:
        for future in running:
            future.cancel()


def _run_pool(keys: Sequence[RunKey], jobs: int, finish: Callable[[RunRecord], None]) -> list[RunKey]:
    """Do runs in a pool of processes; if one dies, record its run and return the runs that are left."""
    context = multiprocessing.get_context("spawn")
    left = list(reversed(keys))
    cores = context.SimpleQueue()
    for core in itertools.islice(itertools.cycle(_cores()), jobs):
        cores.put(core)
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker, initargs=(cores,)) as pool:
        running: dict[Future[RunRecord], RunKey] = {}
        try:
            while left or running:
                while left and len(running) < 2 * jobs:
                    key = left.pop()
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
            raise
    return left[::-1]


def _run_alone(key: RunKey) -> RunRecord:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_begin_worker, initargs=(None,)) as pool:
        try:
            return pool.submit(_work, key).result()
        except BrokenProcessPool:
            return failed(key, "The process died while it ran this.")


_checker: Checker | None = None
"""Checker of a worker process, which lives as long as the process."""


def _cores() -> list[int | None]:
    """The cores that this process may use; one None if the system does not say."""
    return [*sorted(os.sched_getaffinity(0))] if hasattr(os, "sched_getaffinity") else [None]


def _begin_worker(cores: SimpleQueue[int | None] | None) -> None:
    """Leave Ctrl-C to the parent, take a core, and start a checker that serves all runs of this process."""
    global _checker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    core = cores.get() if cores is not None and not cores.empty() else None
    if core is not None:
        # Some systems pack busy processes onto one core and leave the others idle.
        os.sched_setaffinity(0, {core})
    _checker = Checker()


def _work(key: RunKey) -> RunRecord:
    assert _checker is not None, "the worker has begun"
    return execute(key, _checker)
