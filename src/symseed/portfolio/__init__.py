"""The portfolio behind the method `default`: searches that take turns, assembly, and one selected formula."""

from __future__ import annotations

from symseed.portfolio.pool import Formula
from symseed.portfolio.portfolio import Portfolio, Solution, run
from symseed.portfolio.progress import Activity, Moment, Stage, TrackLearning, Turn
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.states import PortfolioState
from symseed.portfolio.track import Track

__all__ = [
    "Activity",
    "Formula",
    "Moment",
    "Portfolio",
    "PortfolioSettings",
    "PortfolioState",
    "Solution",
    "Stage",
    "Track",
    "TrackLearning",
    "Turn",
    "run",
]
