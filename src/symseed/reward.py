"""Rewards: pure functions from squared errors to numbers of which more is better."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def inverse_nrmse(error: npt.NDArray[np.float64], total_weight: float, deviation: float) -> npt.NDArray[np.float64]:
    """Return 1 / (1 + NRMSE), the paper's reward, in [0, 1]; 0 where the error is NaN.

    NRMSE is the root of the mean squared error over the standard deviation of y; a constant y counts as deviation 1.
    """
    nrmse = np.sqrt(error / total_weight) / (deviation if deviation > 0.0 else 1.0)
    return np.where(np.isnan(error), 0.0, 1.0 / (1.0 + nrmse))
