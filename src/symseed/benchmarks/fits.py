"""Whether a problem fits the rules of a method: it can be written by them, and its samples determine it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symseed.benchmarks import writing
from symseed.benchmarks.problem import Problem
from symseed.data.dataset import Dataset
from symseed.language.expression import Expression
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.methods import Method
from symseed.recovery.checker import REFERENCE_NMSE
from symseed.scoring.evaluation import evaluate

POINTS = 10
"""Fewest different samples for each variable: the paper has 20 for two."""
SAME = 1e-20
"""Largest normalised mean square error of the target's writing: rounding only."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a problem fits the rules, with the proof or the reason."""

    writing: Expression | None
    """The target in the problem's tokens, as short as one was found; None if none was found."""
    reason: str
    """Empty if the problem fits; otherwise what keeps it from that."""

    @property
    def holds(self) -> bool:
        """Whether the problem fits."""
        return not self.reason


def fit(problem: Problem, method: Method, draw: int = 0) -> Fit:
    """Check a problem against the space of a method.

    It fits if a writing of its target is legal in that space, equals the target at all samples, and has no part that
    can be left out without notice; and if there are enough samples. A problem that does not fit may be solvable all the
    same: a shorter writing may exist than the one that was found.
    """
    if problem.target is None:
        return Fit(None, "no operators express its target")
    found = writing.shortest(problem.target, problem.library)
    if found is None:
        return Fit(None, "no writing in its tokens was found")
    if len(found) > method.max_length:
        return Fit(found, f"its shortest known writing has {len(found)} tokens, more than {method.max_length}")
    if not method.space(problem.library).allows(found):
        return Fit(found, "its shortest known writing breaks a rule of the search")
    train, _ = problem.datasets(draw)
    return Fit(found, _doubt(found, train))


def _doubt(found: Expression, train: Dataset) -> str:
    """Return why the samples do not determine a formula; empty if they do."""
    distinct = len(np.unique(train.X, axis=0))
    if distinct < POINTS * train.X.shape[1]:
        return f"it has {distinct} different samples, fewer than {POINTS} for each variable"
    if not _error(found, train) < SAME:
        return "its writing has no value, or another one, at a sample"
    shorter = _error_without_a_part(found, train)
    if shorter < REFERENCE_NMSE:
        return "a part of its formula makes no difference at the samples"
    return ""


def _error(formula: Expression, data: Dataset) -> float:
    return float(_errors(Population.from_expressions([formula]), data)[0])


def _error_without_a_part(formula: Expression, data: Dataset) -> float:
    """Return the least error if one operator is replaced by one of its arguments."""
    row, library = Row(formula.ids, formula.constants), formula.library
    ends = library.ends(row.ids)
    shorter = []
    for begin, token in enumerate(formula.tokens):
        child = begin + 1
        for _ in range(token.arity):
            shorter.append(row.spliced(begin, ends[begin], row.part(child, ends[child])))
            child = ends[child]
    return float(_errors(Population.of_rows(library, shorter), data).min()) if shorter else np.inf


def _errors(population: Population, data: Dataset) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return normalised mean square errors; infinite where a formula has no value."""
    errors = evaluate(population, data).error / data.total_weight / (data.deviation**2 or 1.0)
    return np.where(np.isfinite(errors), errors, np.inf)
