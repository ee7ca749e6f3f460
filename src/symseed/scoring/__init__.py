"""Scores of formulas: errors, fitted constants, rewards, description lengths, weights, uncertainties, and tasks."""

from __future__ import annotations

from symseed.data.backend import Errors, Failure, FitMethod, Predictions, Validity
from symseed.scoring.contrast import Contrast, largest_contrast
from symseed.scoring.description import description_lengths, evidence, shortest
from symseed.scoring.evaluation import evaluate, fit, fit_to_convergence, predict
from symseed.scoring.fitting import FitSettings
from symseed.scoring.folds import FoldLoss, cross_validated
from symseed.scoring.odds import form_weights, forms
from symseed.scoring.regression import RegressionSettings, RegressionTask, best_scaling
from symseed.scoring.reward import Metric
from symseed.scoring.task import Counts, FunctionTask, HasDataset, Scored, Task
from symseed.scoring.uncertainty import Uncertainty

__all__ = [
    "Contrast",
    "Counts",
    "Errors",
    "Failure",
    "FitMethod",
    "FitSettings",
    "FoldLoss",
    "FunctionTask",
    "HasDataset",
    "Metric",
    "Predictions",
    "RegressionSettings",
    "RegressionTask",
    "Scored",
    "Task",
    "Uncertainty",
    "Validity",
    "best_scaling",
    "cross_validated",
    "description_lengths",
    "evaluate",
    "evidence",
    "fit",
    "fit_to_convergence",
    "form_weights",
    "forms",
    "largest_contrast",
    "predict",
    "shortest",
]
