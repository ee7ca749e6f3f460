"""Semantic backpropagation: the desired values of each node, and the sub-expressions nearest to them.

The desired values of a node follow from the target by inverting the operators above it (Pawlak, Wieloch & Krawiec
2015). A few matrix products compare all contexts with all sub-expressions. Axis letters: C contexts, K sub-expressions,
M samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.language.population import Population


@dataclass(frozen=True, slots=True)
class Backsolver:
    """Computes the desired values of the nodes of a formula, on some samples of a dataset."""

    dataset: Dataset
    """The samples."""
    moved: Dataset
    """The samples with a slightly larger target, to measure how far the desired values of each node follow it."""
    change: float

    @classmethod
    def of(cls, dataset: Dataset, samples: int) -> Backsolver:
        """Take at most `samples` samples, spread over the data; the loss is the squared error."""
        rows = np.arange(len(dataset))
        if len(rows) > samples:
            rows = rows[np.arange(samples) * len(rows) // samples]
        few = dataset.with_samples(dataset.X[rows], dataset.y[rows], dataset.weights[rows])
        change = 1e-4 * (few.deviation or 1.0)
        return cls(few, few.with_samples(few.X, few.y + change, few.weights), change)

    def desired(self, row: Population) -> tuple[Floats, Floats]:
        """Return the desired values of each node of one row, and the weights of errors there, (length, M) each.

        Neither is finite at a node that no inverse reaches.
        """
        desired, moved = (data.backend.semantics(row).desired for data in (self.dataset, self.moved))
        with np.errstate(all="ignore"):
            return desired, (self.change / (moved - desired)) ** 2 * self.dataset.weights


def plain_errors(desired: Floats, weights: Floats, values: Floats) -> Floats:
    """Return the weighted squared error of every sub-expression, unscaled, in every context, (C, K)."""
    with np.errstate(all="ignore"):
        weighted = weights * desired
        square = arithmetic.product(weights, (values * values).T)
        error = (weighted * desired).sum(axis=1)[:, None] - 2.0 * arithmetic.product(weighted, values.T) + square
        return np.where(np.isfinite(error), np.maximum(error, 0.0), np.inf)


def affine_errors(desired: Floats, weights: Floats, values: Floats) -> Floats:
    """Return the weighted squared error of the best offset + factor * value for every context, (C, K).

    Args:
        desired: (C, M) desired values of each hole.
        weights: (C, M) weights of errors there.
        values: (K, M) values of the sub-expressions.
    """
    with np.errstate(all="ignore"):
        total = weights.sum(axis=1)[:, None]
        weighted = weights * desired
        desired_mean = weighted.sum(axis=1)[:, None] / total
        desired_square = (weighted * desired).sum(axis=1)[:, None] - total * desired_mean**2
        # In place: the tables are large.
        mean = arithmetic.product(weights, values.T)
        mean /= total
        level = mean * mean
        level *= total
        square = arithmetic.product(weights, (values * values).T)
        square -= level
        level *= 1e-12
        cross = arithmetic.product(weighted, values.T)
        mean *= total * desired_mean
        cross -= mean
        cross *= cross
        cross /= square
        error = np.subtract(desired_square, np.where(square > level, cross, 0.0), out=cross)
        return np.where(np.isfinite(error), np.maximum(error, 0.0, out=mean), np.inf)


def affine_fit(desired: Floats, weight: Floats, value: Floats) -> tuple[float, float]:
    """Return the offset and the factor that bring one sub-expression nearest to the desired values."""
    root = np.sqrt(weight)
    design = np.stack([root, root * value], axis=1)
    offset, factor = arithmetic.least_squares(design, root * desired)
    return float(offset), float(factor)


def pair_errors(target: Floats, weights: Floats, values: Floats) -> Floats:
    """Return the weighted squared error of the best a + b * u + c * v for every pair of sub-expressions, (K, K)."""
    with np.errstate(all="ignore"):
        root = np.sqrt(weights)
        centred = root * (values - (arithmetic.product(values, weights) / weights.sum())[:, None])
        centred = centred / arithmetic.norms(centred, axis=1)[:, None]
        goal = root * (target - arithmetic.dot(target, weights) / weights.sum())
        gram = arithmetic.product(centred, centred.T)
        along = arithmetic.product(centred, goal)
        determinant = 1.0 - gram**2
        explained = (
            along[:, None] ** 2 + along[None, :] ** 2 - 2.0 * gram * along[:, None] * along[None, :]
        ) / determinant
        error = np.where(determinant > 1e-9, arithmetic.dot(goal, goal) - explained, np.inf)
        return np.where(np.isfinite(error), np.maximum(error, 0.0), np.inf)
