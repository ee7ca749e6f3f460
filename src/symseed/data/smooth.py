"""Smooth curves through data, which show the noise before any formula is known.

A curve is the mean of a Gaussian process (`process.py`). Its marginal likelihood compares shapes of the noise: the
variance of each sample up to a common factor. Data without noise prefer no shape, since all of them vanish together.

Axis letters: M samples, V columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.process import Metric, Process, fitted

_EVALUATIONS = 20
"""Most evaluations of the likelihood for a curve: chosen by hand, a bound on time."""
_CONSTANT = 0.5 * (1.0 + arithmetic.log(2.0 * math.pi))
"""Part of a log likelihood for each sample that is the same for all curves."""


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """A smooth curve through some values."""

    process: Process
    evidence: float
    """Logarithm of the marginal likelihood of the values, less a constant."""
    level: float
    """Variance of a sample's noise, in units of its shape."""
    value: Floats
    """The curve at the samples, (M,)."""
    variance: Floats
    """Variance of the curve at the samples, (M,)."""


class Smoother:
    """Draws curves through values at fixed points."""

    def __init__(self, X: Floats, columns: Sequence[int]) -> None:
        """Take the points, and the columns that a curve may depend on."""
        self._columns = [column for column in columns if np.ptp(X[:, column]) > 0.0]
        self._metric = Metric.of(X[:, self._columns].T)
        self._inputs = self._scaled(X)

    def curve(self, values: Floats, shape: Floats, begin: Curve | None = None) -> Curve:
        """Return the curve of the largest marginal likelihood.

        Args:
            values: (M,), of mean 0 and a size of about 1.
            shape: (M,), variance of the noise of each sample, up to a common factor.
            begin: a curve through the same values under noise of another shape.
        """
        # In units of its geometric mean, so that one range of ratios serves every shape.
        unit = arithmetic.exp(float(np.mean(arithmetic.log(shape))))
        start = None if begin is None else (begin.process.scales, begin.process.ratio)
        process = fitted(self._inputs, values, shape / unit, begin=start, evaluations=_EVALUATIONS)
        own, noise = process.smoothed()
        return Curve(
            process=process,
            evidence=process.log_evidence + len(values) * _CONSTANT,
            level=noise / unit,
            value=own.mean,
            variance=own.deviation * own.deviation,
        )

    def at(self, X: Floats, curve: Curve) -> tuple[Floats, Floats]:
        """Return the value and the variance of a curve at other points, (M,) each."""
        found = curve.process.predicted(self._scaled(X))
        return found.mean, found.deviation * found.deviation

    def _scaled(self, X: Floats) -> Floats:
        return self._metric.scaled(X[:, self._columns].T)
