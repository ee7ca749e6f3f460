"""Scores of formulas: errors, fitted constants, rewards, description lengths, and tasks."""

from __future__ import annotations

from symseed.data.backend import Errors, Failure, Predictions
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import evaluate, fit, predict
from symseed.scoring.fitting import FitSettings
from symseed.scoring.regression import RegressionSettings, RegressionTask, best_scaling
from symseed.scoring.reward import Metric
from symseed.scoring.task import Counts, FunctionTask, HasDataset, Scored, Task

__all__ = [
    "Counts",
    "Errors",
    "Failure",
    "FitSettings",
    "FunctionTask",
    "HasDataset",
    "Metric",
    "Predictions",
    "RegressionSettings",
    "RegressionTask",
    "Scored",
    "Task",
    "best_scaling",
    "description_lengths",
    "evaluate",
    "fit",
    "predict",
]
