"""symseed finds short formulas in data."""

from __future__ import annotations

import importlib.metadata

from symseed.dataset import Dataset
from symseed.errors import DataError, ParseError, SettingsError, SpaceError, SymseedError
from symseed.evaluation import Failure, evaluate, fit, predict
from symseed.expression import Expression
from symseed.fitting import FitSettings
from symseed.library import Library
from symseed.population import Population
from symseed.regression import RegressionSettings, RegressionTask
from symseed.space import SearchSpace

__version__ = importlib.metadata.version("symseed")

__all__ = [
    "DataError",
    "Dataset",
    "Expression",
    "Failure",
    "FitSettings",
    "Library",
    "ParseError",
    "Population",
    "RegressionSettings",
    "RegressionTask",
    "SearchSpace",
    "SettingsError",
    "SpaceError",
    "SymseedError",
    "evaluate",
    "fit",
    "predict",
]
