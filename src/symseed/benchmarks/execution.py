"""One benchmark run: a search, and the check whether its answer is the target."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

from symseed import benchmarks, methods, portfolio
from symseed.benchmarks import judging
from symseed.benchmarks.store import RunKey, RunRecord
from symseed.data import Dataset
from symseed.language import Expression, Library
from symseed.language.row import Row
from symseed.methods import Method
from symseed.portfolio import Turn
from symseed.recovery.checker import Checker
from symseed.scoring import RegressionTask
from symseed.search import Budget, Step, StopReason, search


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
    train, test = judging.data(key)
    start = time.process_time()
    budget = Budget(key.expressions, key.seconds, time.process_time)
    found = solve(method, problem.library, train, test=test, seed=key.seed, budget=budget)
    if found.reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt  # what it found so far is not the record of this budget
    last = found.last
    work = judging.Work(
        charged=last.charged,
        evaluated=last.evaluated,
        unique=last.unique,
        steps=last.index + 1,
        cpu_seconds=time.process_time() - start,
        reason=found.reason.value,
        completion=last.completion,
    )
    return judging.judged(key, found.best, work, checker)


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
    space = method.space(library)
    task = RegressionTask(space.library, train, method.scoring, test=test)
    result = search.run(space, task, method.settings, seed=seed, budget=budget)
    # Over the problem's own tokens: what a protected operator stands for must be right without its protection.
    best = Expression(library, Row(result.best.ids, result.best.constants))
    return Found(best, result.history[-1], result.reason)
