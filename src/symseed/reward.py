"""Rewards: pure functions from a mean squared error to a number of which more is better."""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Metric(enum.Enum):
    """How a fit is rewarded. MSE is the weighted mean of squared errors, NMSE that over the variance of y."""

    INVERSE_NRMSE = "inverse_nrmse"
    """1 / (1 + sqrt(NMSE)), in [0, 1]: the paper's."""
    NEGATIVE_MSE = "negative_mse"
    NEGATIVE_NMSE = "negative_nmse"
    NEGATIVE_NRMSE = "negative_nrmse"
    CORRELATION = "correlation"
    """Absolute value of Pearson's correlation, in [0, 1]: right up to a factor and an offset."""


def reward(metric: Metric, mean_square: Floats, deviation: float) -> Floats:
    """Return the reward of each mean squared error; one that is NaN gets the worst there is for its metric.

    A constant y counts as deviation 1. The worst is what the authors' released code gives: 0, or minus what predicting
    the mean of y would cost. For `CORRELATION`, `mean_square` is that of the best a + b * prediction.
    """
    scale = deviation if deviation > 0.0 else 1.0
    if metric is Metric.NEGATIVE_MSE:
        value, worst = -mean_square, -(scale**2)
    elif metric is Metric.NEGATIVE_NMSE:
        value, worst = -((np.sqrt(mean_square) / scale) ** 2), -1.0
    elif metric is Metric.NEGATIVE_NRMSE:
        value, worst = -np.sqrt(mean_square) / scale, -1.0
    elif metric is Metric.CORRELATION:
        value, worst = np.sqrt(np.maximum(0.0, 1.0 - (np.sqrt(mean_square) / scale) ** 2)), 0.0
    else:
        value, worst = 1.0 / (1.0 + np.sqrt(mean_square) / scale), 0.0
    failed = np.isnan(mean_square)
    if failed.any():
        value[failed] = worst
    return value
