"""Rewards: pure functions from a mean squared error to a number; larger is better."""

from __future__ import annotations

import enum

import numpy as np

from symseed.arrays import Floats


class Metric(enum.Enum):
    """Metrics of a fit. MSE is the weighted mean of squared errors, NMSE is MSE over the variance of y."""

    INVERSE_NRMSE = "inverse_nrmse"
    """1 / (1 + sqrt(NMSE)), in [0, 1]: the paper's."""
    NEGATIVE_MSE = "negative_mse"
    NEGATIVE_NMSE = "negative_nmse"
    NEGATIVE_NRMSE = "negative_nrmse"
    CORRELATION = "correlation"
    """Absolute value of Pearson's correlation, in [0, 1], which ignores a factor and an offset."""


def reward(metric: Metric, mean_square: Floats, deviation: float) -> Floats:
    """Return the reward of each mean squared error; NaN stands for a row that failed.

    A constant y counts as deviation 1. A failure has the reward of the authors' released code: 0, or minus the cost of
    predicting the mean of y (a poor fit can have less). For `CORRELATION`, `mean_square` is that of the best
    a + b * prediction.
    """
    scale = deviation if deviation > 0.0 else 1.0
    if metric is Metric.INVERSE_NRMSE:
        # In place, because every generation of a search calls this; fmax turns NaN into 0.
        value = np.sqrt(mean_square)
        value /= scale
        value += 1.0
        np.reciprocal(value, out=value)
        return np.fmax(value, 0.0, out=value)
    if metric is Metric.CORRELATION:
        return np.sqrt(np.fmax(0.0, 1.0 - (np.sqrt(mean_square) / scale) ** 2))
    if metric is Metric.NEGATIVE_MSE:
        value, worst = -mean_square, -(scale * scale)
    elif metric is Metric.NEGATIVE_NMSE:
        value, worst = -((np.sqrt(mean_square) / scale) ** 2), -1.0
    else:
        value, worst = -np.sqrt(mean_square) / scale, -1.0
    return np.where(np.isnan(mean_square), worst, value)
