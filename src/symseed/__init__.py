"""symseed finds short formulas in data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symseed import search
from symseed.data.backend import Failure
from symseed.data.dataset import Dataset
from symseed.errors import DataError, ParseError, SettingsError, SpaceError, SymseedError
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.scoring.evaluation import evaluate, fit, predict
from symseed.scoring.fitting import FitSettings
from symseed.scoring.regression import RegressionSettings, RegressionTask
from symseed.scoring.task import Counts, FunctionTask, Scored, Task
from symseed.search.budget import Budget, StopReason
from symseed.search.policy import Lesson, LSTMPolicy, Policy, PolicySettings
from symseed.search.search import SearchResult, SearchSettings
from symseed.space.space import SearchSpace

if TYPE_CHECKING:
    from symseed.regressor.regressor import SymbolicRegressor
    from symseed.tables.table import read_table

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
    "read_table",
    "search",
]


def __getattr__(name: str) -> Any:
    """Load slow parts at their first use: the version, tables, and everything that needs scikit-learn."""
    if name == "__version__":
        from symseed.version import version

        return version()
    if name == "SymbolicRegressor":
        from symseed.regressor.regressor import SymbolicRegressor

        return SymbolicRegressor
    if name == "read_table":
        from symseed.tables.table import read_table

        return read_table
    raise AttributeError(f"module 'symseed' has no attribute {name!r}")
