"""symseed finds short formulas in data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from symseed.errors import check_lock

if TYPE_CHECKING:
    from symseed import search
    from symseed.data.backend import Failure
    from symseed.data.dataset import Dataset
    from symseed.errors import DataError, ParseError, SettingsError, SpaceError, SymseedError
    from symseed.language.expression import Expression
    from symseed.language.library import Library
    from symseed.language.population import Population
    from symseed.regressor.regressor import SymbolicRegressor
    from symseed.scoring.evaluation import evaluate, fit, predict
    from symseed.scoring.fitting import FitSettings
    from symseed.scoring.regression import RegressionSettings, RegressionTask
    from symseed.scoring.task import Counts, FunctionTask, Scored, Task
    from symseed.search.budget import Budget, StopReason
    from symseed.search.policy import Lesson, LSTMPolicy, Policy, PolicySettings
    from symseed.search.search import SearchResult, SearchSettings
    from symseed.space.space import SearchSpace
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

_HOMES = {
    "Failure": "data.backend",
    "Dataset": "data.dataset",
    "DataError": "errors",
    "ParseError": "errors",
    "SettingsError": "errors",
    "SpaceError": "errors",
    "SymseedError": "errors",
    "Expression": "language.expression",
    "Library": "language.library",
    "Population": "language.population",
    "SymbolicRegressor": "regressor.regressor",
    "evaluate": "scoring.evaluation",
    "fit": "scoring.evaluation",
    "predict": "scoring.evaluation",
    "FitSettings": "scoring.fitting",
    "RegressionSettings": "scoring.regression",
    "RegressionTask": "scoring.regression",
    "Counts": "scoring.task",
    "FunctionTask": "scoring.task",
    "Scored": "scoring.task",
    "Task": "scoring.task",
    "Budget": "search.budget",
    "StopReason": "search.budget",
    "Lesson": "search.policy",
    "LSTMPolicy": "search.policy",
    "Policy": "search.policy",
    "PolicySettings": "search.policy",
    "SearchResult": "search.search",
    "SearchSettings": "search.search",
    "SearchSpace": "space.space",
    "read_table": "tables.table",
}
"""The module of each public name. It is loaded when the name is first used, so that a program that begins with `import
symseed`, such as the command line, has begun at once."""


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name == "__version__":
        from symseed.version import version

        return version()
    if name == "search":
        return importlib.import_module("symseed.search")
    if name not in _HOMES:
        raise AttributeError(f"module 'symseed' has no attribute {name!r}")
    check_lock()
    value = getattr(importlib.import_module(f"symseed.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
