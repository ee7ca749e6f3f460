"""symseed finds short formulas in data."""

from __future__ import annotations

from symseed import search
from symseed.dataset import Dataset
from symseed.errors import DataError, ParseError, SettingsError, SpaceError, SymseedError
from symseed.evaluation import Failure, evaluate, fit, predict
from symseed.expression import Expression
from symseed.fitting import FitSettings
from symseed.library import Library
from symseed.policy import Lesson, LSTMPolicy, Policy, PolicySettings
from symseed.population import Population
from symseed.regression import RegressionSettings, RegressionTask
from symseed.search import Budget, SearchResult, SearchSettings, StopReason
from symseed.space import SearchSpace
from symseed.task import Counts, FunctionTask, Scored, Task

__all__ = [
    "Budget",
    "Counts",
    "DataError",
    "Dataset",
    "Expression",
    "Failure",
    "FitSettings",
    "FunctionTask",
    "LSTMPolicy",
    "Lesson",
    "Library",
    "ParseError",
    "Policy",
    "PolicySettings",
    "Population",
    "RegressionSettings",
    "RegressionTask",
    "Scored",
    "SearchResult",
    "SearchSettings",
    "SearchSpace",
    "SettingsError",
    "SpaceError",
    "StopReason",
    "SymseedError",
    "Task",
    "evaluate",
    "fit",
    "predict",
    "search",
]


def __getattr__(name: str) -> str:
    """Look `__version__` up when it is asked for: reading it takes longer than everything else here."""
    if name == "__version__":
        import importlib.metadata

        return importlib.metadata.version("symseed")
    raise AttributeError(f"module 'symseed' has no attribute {name!r}")
