"""One benchmark run: a search, and the check whether its answer is the target."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field

from symseed import benchmarks, methods
from symseed.benchmarks.problem import Problem
from symseed.benchmarks.store import RunKey, RunRecord
from symseed.completion.completer import CompletionCounts
from symseed.data import Dataset
from symseed.language import Expression, Library, Population
from symseed.methods import Method
from symseed.portfolio import Turn, portfolio
from symseed.recovery.checker import REFERENCE_NMSE, Checker
from symseed.scoring import RegressionSettings, RegressionTask, evaluate
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a search did before it ended."""

    charged: int
    evaluated: int
    unique: int
    steps: int
    cpu_seconds: float
    reason: str
    completion: CompletionCounts = field(default_factory=CompletionCounts)


def _execute(key: RunKey, checker: Checker) -> RunRecord:
    problem, method = benchmarks.get(key.problem), methods.get(key.method)
    train, test = _data(key, problem)
    start = time.process_time()
    budget = Budget(key.expressions, key.seconds, time.process_time)
    found = solve(method, problem.library, train, test=test, seed=key.seed, budget=budget)
    last = found.last
    work = Work(
        charged=last.charged,
        evaluated=last.evaluated,
        unique=last.unique,
        steps=last.index + 1,
        cpu_seconds=time.process_time() - start,
        reason=found.reason.value,
        completion=last.completion,
    )
    return judged(key, found.best, work, checker)


def _data(key: RunKey, problem: Problem) -> tuple[Dataset, Dataset]:
    train, test = problem.datasets(key.draw)
    return (train.with_noise(key.noise, seed=key.seed) if key.noise else train), test


def judged(key: RunKey, best: Expression, work: Work, checker: Checker) -> RunRecord:
    """Return the record of a run that answered with an expression, whichever program made the run."""
    problem = benchmarks.get(key.problem)
    train, test = _data(key, problem)
    nmse = [_nmse(Population.from_expressions([best]), data) for data in (train, test)]
    verdict, evidence, seconds = "no", "the target is not an expression", 0.0
    if problem.target is not None:
        # Noise moves fitted constants, so the question is then whether the form is right.
        recovery = checker.check(best, problem.target, test, refit=key.noise > 0.0)
        verdict = recovery.verdict.name.lower().replace("_", " ")
        evidence, seconds = recovery.evidence, recovery.seconds
    return RunRecord(
        **asdict(key),
        formula=str(best),
        prefix=best.prefix,
        reward=1.0 / (1.0 + nmse[0] ** 0.5),
        train_nmse=nmse[0],
        test_nmse=nmse[1],
        passes_reference=nmse[1] < REFERENCE_NMSE,
        verdict=verdict,
        evidence=evidence,
        charged=work.charged,
        evaluated=work.evaluated,
        unique=work.unique,
        steps=work.steps,
        cpu_seconds=work.cpu_seconds,
        check_seconds=seconds,
        reason=work.reason,
        error="",
        lookups=work.completion.lookups,
        hits=work.completion.hits,
        splices=work.completion.splices,
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
