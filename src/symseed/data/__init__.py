"""Data: samples with weights, losses, backends that compute on them, and the arrays and frames they come from."""

from __future__ import annotations

from symseed.data.backend import Backend
from symseed.data.dataset import Dataset
from symseed.data.effective import InputErrors
from symseed.data.losses import Loss
from symseed.data.magnitudes import Magnitudes
from symseed.data.noise import ADDITIVE, Noise, NoiseKind

__all__ = ["ADDITIVE", "Backend", "Dataset", "InputErrors", "Loss", "Magnitudes", "Noise", "NoiseKind"]
