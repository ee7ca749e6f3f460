"""symseed finds short formulas in data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from symseed.estimator import SymbolicRegressor

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
    "SymbolicRegressor",
    "SymseedError",
    "Task",
    "evaluate",
    "fit",
    "predict",
    "search",
]


def __getattr__(name: str) -> Any:
    """Load what takes longer than everything else here when it is asked for: the version, and scikit-learn."""
    if name == "__version__":
        import importlib.metadata

        return importlib.metadata.version("symseed")
    if name == "SymbolicRegressor":
        from symseed.estimator import SymbolicRegressor

        return SymbolicRegressor
    raise AttributeError(f"module 'symseed' has no attribute {name!r}")
