"""A search from its beginning to its end, without a display or a folder: as benchmarks and tests run it."""

from __future__ import annotations

from dataclasses import dataclass

from symseed.data import Dataset
from symseed.language import Library
from symseed.portfolio.epochs import IslandProblem
from symseed.portfolio.islands import Islands
from symseed.portfolio.pool import Formula
from symseed.portfolio.portfolio import Portfolio
from symseed.portfolio.progress import Turn
from symseed.portfolio.settings import PortfolioSettings
from symseed.search import Budget, StopReason


@dataclass(frozen=True, slots=True)
class Solution:
    """What a portfolio found."""

    best: Formula
    front: tuple[Formula, ...]
    """The Pareto front: the best formula of each length, shortest first; the selected formula is on it."""
    reason: StopReason
    history: tuple[Turn, ...]


def run(
    library: Library, dataset: Dataset, settings: PortfolioSettings, *, seed: int = 0, budget: Budget | None = None
) -> Solution:
    """Search until a formula fits to rounding, or the budget is used up; islands take turns in this thread."""
    limits = budget or Budget()
    portfolio: Portfolio | Islands = (
        Portfolio(library, dataset, settings, seed=seed, budget=limits)
        if settings.islands is None
        else Islands(IslandProblem(library, dataset, settings, seed, limits))
    )
    history = tuple(portfolio.turns())
    reason = history[-1].reason
    assert reason is not None, "the last turn says why it is the last"
    return Solution(history[-1].best, portfolio.front(), reason, history)
