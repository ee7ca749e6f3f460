"""Errors in the columns, by effective variance (Orear 1982): an error of x moves y by the slope times it.

The variance of a sample is that of y plus, for each column, the square of slope times error. A search takes the slopes
of a smooth curve (`smooth.py`); each formula of the front is then refitted with its own slopes, and judged by the
likelihood with its own variances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.data.noise import Weighed, curve_of, weighed

_STEP = 0.1
"""Step of a numerical slope, in standard errors of the column: chosen by hand."""
_FLOORS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1e3, 1e4)
"""Variances of y that are tried if its errors are not known, in units of the mean variance that the columns cause."""
_LEAST = 1e-6
"""Share of the mean variance that each sample has at least."""


@dataclass(frozen=True, eq=False, slots=True)
class InputErrors:
    """Standard errors of the columns at some samples, and the variance of y beside them."""

    X: Floats
    """(M, V); 0 where a column has no error."""
    y: Floats
    """(M,) variances."""

    @classmethod
    def of(cls, dataset: Dataset, X: Floats, y: Floats | None) -> InputErrors:
        """Take the errors of the columns and of y; None: those of y are the same at every sample, and estimated."""
        if y is not None:
            return cls(X, y * y)
        caused = _caused(curve_of(dataset).values, dataset.X, X)
        unit = float(np.mean(caused))
        if unit == 0.0:
            return cls(X, np.ones(len(dataset)))
        shapes = [caused + max(floor, _LEAST) * unit for floor in _FLOORS]
        evidence = [curve_of(dataset, shape).evidence for shape in shapes]
        return cls(X, np.full(len(dataset), max(_FLOORS[int(np.argmax(evidence))], _LEAST) * unit))

    def take(self, columns: list[int]) -> InputErrors:
        """Return the errors of some columns."""
        return InputErrors(self.X[:, columns], self.y)

    def deviations(self, X: Floats, function: Callable[[Floats], Floats]) -> Floats:
        """Return the standard deviation of each sample, if y is a function of the columns, (M,)."""
        variance = self.y + _caused(function, X, self.X)
        return np.asarray(np.sqrt(np.maximum(variance, _LEAST * float(np.mean(variance)))))

    def weighed(self, dataset: Dataset, function: Callable[[Floats], Floats]) -> tuple[Weighed, float]:
        """Return samples with the weights of a function, and what its likelihood has less than that of equal weights.

        The second is in nats: the sum of the logarithms of the deviations, in their unit.
        """
        deviations = self.deviations(dataset.X, function)
        found = weighed(dataset, deviations)
        counted = deviations[dataset.weights > 0.0]
        return found, float(np.sum(arithmetic.log(counted / found.unit)))

    def by_curve(self, dataset: Dataset) -> Floats:
        """Return the standard deviation of each sample, with the slopes of a smooth curve, (M,)."""
        curve = curve_of(dataset, self.y)
        return self.deviations(dataset.X, curve_of(dataset, self.deviations(dataset.X, curve.values) ** 2).values)


def _caused(function: Callable[[Floats], Floats], X: Floats, errors: Floats) -> Floats:
    """The variance of a function that errors of the columns cause, (M,)."""
    variance = np.zeros(len(X))
    for column in np.flatnonzero(errors.any(axis=0)):
        ends = []
        for sign in (1.0, -1.0):
            moved = X.copy()
            moved[:, column] += sign * _STEP * errors[:, column]
            ends.append(function(moved))
        change = (ends[0] - ends[1]) / (2.0 * _STEP)
        variance += np.where(np.isfinite(change), change, 0.0) ** 2
    return variance
