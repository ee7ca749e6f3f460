"""Uncertainty: standard errors of a formula's constants, and standard deviations and intervals of its predictions.

The curvature of the sum of squares at the fit gives the covariance of the constants, as in every text on nonlinear
regression (Bates & Watts 1988). It holds if the form of the formula is right: that the form itself may be wrong, and
that it was chosen with the same data, is not included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.data.noise import ADDITIVE, Noise
from symseed.language.expression import Expression
from symseed.language.population import Population

MOST_SAMPLES = 10_000
"""Most samples on which a curvature should be computed, for speed: chosen by hand."""
_STEP = 1e-3
"""Step of a numerical derivative, in standard deviations of the constants: small beside their nonlinearity."""
_SINGULAR = 1e-14
"""Smallest eigenvalue of the correlations that is not rounding; below it, constants compensate for each other."""


@dataclass(frozen=True, eq=False, slots=True)
class Uncertainty:
    """How well some data determine the K constants of a formula."""

    expression: Expression
    factor: Floats
    """A square root of the constants' covariance, (K, K): the covariance is factor times its transpose."""
    noise: float
    """Standard deviation of the error of a sample of weight 1."""
    freedom: int
    """Degrees of freedom: samples less constants."""
    shift: Floats
    """From the constants to those of least squares, (K,): not 0 where constants were made simple numbers."""
    model: Noise = ADDITIVE
    """How the noise depends on the value; `noise` is the factor of its growth."""

    @classmethod
    def of(cls, expression: Expression, sample: Dataset, samples: int, noise: Noise = ADDITIVE) -> Uncertainty:
        """Compute the curvature at the formula's constants.

        Args:
            sample: some samples, or all; the curvature and the errors of all are in proportion.
            samples: how many samples the formula was fitted to.
            noise: the noise of the samples; standard errors that were given are part of their weights already.
        """
        weighed = noise.weighed(sample, expression.evaluate(sample.X))
        sample = weighed.dataset
        count = len(expression.constant_places)
        freedom = samples - count
        linear = sample.backend.linearise(Population.from_expressions([expression]))
        share = len(sample) / samples
        variance = math.inf
        with np.errstate(all="ignore"):  # squares of huge values overflow, and the errors are infinite then
            if freedom > 0 and math.isfinite(linear.error):
                variance = float((linear.error + sample.rounding * sample.total_weight) / share / freedom)
            root = _root_of_inverse(linear.curvature / share)
            factor = root * math.sqrt(variance)
            # One step of Gauss and Newton; where constants compensate for each other, it is not known.
            shift = -arithmetic.product(root, arithmetic.product(root.T, linear.gradient / share))
            shift = np.where(np.isfinite(shift), shift, 0.0)
        return cls(expression, factor, math.sqrt(variance) / weighed.unit, freedom, shift, noise)

    @property
    def values(self) -> Floats:
        """The constants, (K,)."""
        return np.array([self.expression.constants[place] for place in self.expression.constant_places])

    @property
    def standard_errors(self) -> Floats:
        """Standard error of each constant, (K,); infinite if the data do not determine it."""
        return _lengths(self.factor)

    def deviation(self, X: Floats) -> Floats:
        """Return the standard deviation of a new sample of weight 1 at each row of X, (M,): formula and noise."""
        places = self.expression.constant_places
        moves = [self.noise * self.model.growth(self._evaluated(places, np.zeros(len(places)), X))]
        for direction in self.factor.T:
            above, below = (self._evaluated(places, sign * _STEP * direction, X) for sign in (1.0, -1.0))
            moves.append((above - below) / (2.0 * _STEP))
        return _lengths(np.stack(moves, axis=1))

    def quantile(self, level: float) -> float:
        """Return how many standard deviations on each side hold a share of a Student's t distribution."""
        from scipy.stats import t  # loading it takes longer than a small fit

        return float(t.ppf(0.5 + 0.5 * level, max(self.freedom, 1)))

    def intervals(self, level: float) -> tuple[Floats, Floats]:
        """Return the lower and the upper end of the interval of each constant that has a probability, (K,) each.

        Intervals are around the constants of least squares, also where a constant was made a simple number.
        """
        width = self.quantile(level) * self.standard_errors
        middle = self.values + self.shift
        return middle - width, middle + width

    def _evaluated(self, places: list[int], change: Floats, X: Floats) -> Floats:
        row = self.expression.row
        for place, step in zip(places, change.tolist(), strict=True):
            row = row.with_constant(place, row.constants[place] + step)
        return Expression(self.expression.library, row).evaluate(X)


def _root_of_inverse(curvature: Floats) -> Floats:
    """A square root of the inverse of a positive semidefinite matrix, (K, K); infinite where it is singular."""
    if len(curvature) == 0:
        return np.zeros((0, 0))
    unit = 1.0 / np.sqrt(np.diagonal(curvature))
    correlated = curvature * unit[:, None] * unit
    if not np.isfinite(correlated).all():
        return np.full_like(curvature, np.inf)
    values, vectors = arithmetic.symmetric_eigen(correlated)
    if values[0] < _SINGULAR:
        return np.full_like(curvature, np.inf)
    return np.asarray(unit[:, None] * vectors / np.sqrt(values))


def _lengths(rows: Floats) -> Floats:
    """The Euclidean length of each row, (N,)."""
    return np.asarray(np.sqrt(np.sum(rows * rows, axis=1)))
