"""Smooth curves through data, which show the noise before any formula is known.

A curve is a Gaussian process (Rasmussen & Williams 2006): a straight line, a bend in each column alone, and a bend in
all of them, known at a few inducing samples. Its marginal likelihood compares shapes of the noise: the variance of each
sample up to a common factor. Data without noise prefer no shape, since all of them vanish together.

Axis letters: M samples, V columns, P features of the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats

MOST_INDUCING = 50
"""Most inducing samples: chosen by hand, a bound on time."""
_LENGTHS = (0.3, 0.7, 1.5, 3.0, 6.0)
"""Lengths over which a curve bends, in standard deviations of a column: chosen by hand."""
_RATIOS = np.array([arithmetic.power(10.0, 0.5 * step) for step in range(-24, 5)])
"""Variances of the noise that are compared, in units of the curve's own."""
_LINE = 4.0
"""Variance of the line, in units of the variance of a bend: chosen by hand."""
_RANK = 1e-9
"""Share of the largest eigenvalue of the inducing samples below which an eigenvalue is rounding."""
_CANCELLED = 1e-13
"""Share of the sum of squares below which what is left of it is rounding."""
_DECADE = 10.0
"""Ratio of the largest and smallest value of a positive column from which on its logarithm is taken: chosen by hand."""


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """A smooth curve through some values."""

    evidence: float
    """Logarithm of the marginal likelihood of the values, less a constant."""
    level: float
    """Variance of a sample's noise, in units of its shape."""
    value: Floats
    """The curve at the samples, (M,)."""
    variance: Floats
    """Variance of the curve at the samples, (M,)."""
    length: float
    """Length over which the curve bends."""
    weights: Floats
    """Weights of the features, (P,)."""
    spread: Floats
    """A square root of the covariance of the weights, (P, P)."""

    def at(self, features: Floats) -> tuple[Floats, Floats]:
        """Return the value and the variance of the curve at other points, given their features, (M,) each."""
        moves = arithmetic.product(features, self.spread)
        return arithmetic.product(features, self.weights), np.sum(moves * moves, axis=1)


class Smoother:
    """Draws curves through values at fixed points."""

    def __init__(self, X: Floats, columns: Sequence[int], *, inducing: int = MOST_INDUCING) -> None:
        """Take the points, in the order of one of the columns, and the columns that a curve may depend on."""
        used = [_Column.of(X[:, column], column) for column in columns]
        self._columns = [column for column in used if column.width > 0.0]
        points = self._scaled(X)
        self._inducing = points[np.arange(min(inducing, len(X))) * len(X) // min(inducing, len(X))]
        self._roots = {length: self._root(length) for length in _LENGTHS}
        self._features = {length: self._features_of(points, length) for length in _LENGTHS}

    def features(self, X: Floats, curve: Curve) -> Floats:
        """Return the features of a curve at other points, (M, P)."""
        return self._features_of(self._scaled(X), curve.length)

    def curve(self, values: Floats, shape: Floats) -> Curve:
        """Return the curve of the largest marginal likelihood.

        Args:
            values: (M,), of mean 0 and a size of about 1.
            shape: (M,), variance of the noise of each sample, up to a common factor.
        """
        # In units of its geometric mean, so that one range of ratios serves every shape.
        unit = arithmetic.exp(float(np.mean(arithmetic.log(shape))))
        found = [self._curve(values, shape / unit, length) for length in _LENGTHS]
        best = max(found, key=lambda curve: curve.evidence)
        return replace(best, level=best.level / unit)

    def _curve(self, values: Floats, shape: Floats, length: float) -> Curve:
        features = self._features[length]
        count = len(values)
        precise = features / shape[:, None]
        eigenvalues, vectors = arithmetic.symmetric_eigen(arithmetic.product(features.T.copy(), precise))
        eigenvalues = np.maximum(eigenvalues, 0.0)
        along = arithmetic.product(vectors.T.copy(), arithmetic.product(precise.T.copy(), values))
        total = float(np.sum(values * values / shape))
        damped = eigenvalues + _RATIOS[:, None]
        rest = total - np.sum(along * along / damped, axis=1)
        square = np.maximum(rest, _CANCELLED * total) / _RATIOS
        logs = np.sum(arithmetic.log(damped), axis=1) + (count - len(eigenvalues)) * arithmetic.log(_RATIOS)
        evidence = -0.5 * (count * arithmetic.log(square / count) + logs + float(np.sum(arithmetic.log(shape))))
        best = int(np.argmax(evidence))
        ratio, amplitude = float(_RATIOS[best]), float(square[best]) / count
        weights = arithmetic.product(vectors, along / damped[best])
        spread = vectors * np.sqrt(amplitude * ratio / damped[best])
        moves = arithmetic.product(features, spread)
        value = arithmetic.product(features, weights)
        variance = np.sum(moves * moves, axis=1)
        return Curve(float(evidence[best]), amplitude * ratio, value, variance, length, weights, spread)

    def _scaled(self, X: Floats) -> Floats:
        return np.stack([column.scaled(X) for column in self._columns], axis=1) if self._columns else X[:, :0]

    def _root(self, length: float) -> Floats:
        """A square root of the inverse covariance of the inducing samples, (P, P)."""
        eigenvalues, vectors = arithmetic.symmetric_eigen(self._covariance(self._inducing, length))
        kept = eigenvalues > _RANK * eigenvalues[-1]
        return np.ascontiguousarray(vectors[:, kept] / np.sqrt(eigenvalues[kept]))

    def _features_of(self, points: Floats, length: float) -> Floats:
        return arithmetic.product(self._covariance(points, length), self._roots[length])

    def _covariance(self, points: Floats, length: float) -> Floats:
        """The covariance of a curve at some points and at the inducing samples."""
        count = max(1, len(self._columns))
        total = np.full((len(points), len(self._inducing)), _LINE)
        square = np.zeros_like(total)
        for place in range(len(self._columns)):
            here, there = points[:, place, None], self._inducing[:, place]
            apart = (here - there) ** 2
            square += apart
            total += _LINE / count * here * there
            if count > 1:
                total += arithmetic.exp(-0.5 * apart / (length * length)) / count
        return np.asarray(total + arithmetic.exp(-0.5 * square / (count * length * length)))


@dataclass(frozen=True, slots=True)
class _Column:
    """How a column is scaled to mean 0 and standard deviation 1."""

    place: int
    is_log: bool
    middle: float
    width: float

    @classmethod
    def of(cls, values: Floats, place: int) -> _Column:
        least, most = float(values.min()), float(values.max())
        is_log = least > 0.0 and most / _DECADE > least
        scaled = arithmetic.log(values.copy()) if is_log else values
        unit = float(np.abs(scaled).max()) or 1.0
        deviation = unit * float(np.std(scaled / unit)) if least < most else 0.0
        return cls(place, is_log, unit * float(np.mean(scaled / unit)), deviation)

    def scaled(self, X: Floats) -> Floats:
        values = X[:, self.place]
        if self.is_log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = arithmetic.log(values.copy())
        return np.asarray((values - self.middle) / self.width)
