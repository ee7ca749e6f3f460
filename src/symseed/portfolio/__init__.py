"""The portfolio behind the method `default`: searches that take turns, assembly, and one selected formula."""

from __future__ import annotations

from symseed.portfolio.backfitting import Backfitting, TemplateTask
from symseed.portfolio.epochs import IslandProblem
from symseed.portfolio.exchange import Exchange, IslandSettings
from symseed.portfolio.islands import Islands
from symseed.portfolio.parts import PartSettings
from symseed.portfolio.pool import Formula
from symseed.portfolio.portfolio import Portfolio
from symseed.portfolio.progress import Activity, Moment, Stage, Step, TrackLearning, Turn
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.solution import Solution, run
from symseed.portfolio.states import PortfolioState
from symseed.portfolio.track import Track

__all__ = [
    "Activity",
    "Backfitting",
    "Exchange",
    "Formula",
    "IslandProblem",
    "IslandSettings",
    "Islands",
    "Moment",
    "PartSettings",
    "Portfolio",
    "PortfolioSettings",
    "PortfolioState",
    "Solution",
    "Stage",
    "Step",
    "TemplateTask",
    "Track",
    "TrackLearning",
    "Turn",
    "run",
]
