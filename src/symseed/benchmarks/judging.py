"""The record of a run from its answer: its errors, and whether it is the target."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from symseed import benchmarks
from symseed.benchmarks.store import RunKey, RunRecord
from symseed.completion.completer import CompletionCounts
from symseed.data import Dataset
from symseed.language import Expression, Population
from symseed.recovery.checker import REFERENCE_NMSE, Checker
from symseed.scoring import evaluate


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


def data(key: RunKey) -> tuple[Dataset, Dataset]:
    """Return the training and test data of a run."""
    train, test = benchmarks.get(key.problem).datasets(key.draw)
    return (train.with_noise(key.noise, seed=key.seed) if key.noise else train), test


def judged(key: RunKey, best: Expression, work: Work, checker: Checker) -> RunRecord:
    """Return the record of a run that answered with an expression, whichever program made the run."""
    problem = benchmarks.get(key.problem)
    train, test = data(key)
    nmse = [_nmse(Population.from_expressions([best]), dataset) for dataset in (train, test)]
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


def _nmse(row: Population, dataset: Dataset) -> float:
    mean_square = float(evaluate(row, dataset).error[0]) / dataset.total_weight
    return mean_square / (dataset.deviation**2 or 1.0)
