"""Quick laws: exponentials and power laws through few samples over decades, which show whether the noise is relative.

A smooth curve through a handful of samples leaves no noise to be seen. A law of one slope for each column leaves some,
and over decades the two kinds of noise differ: additive noise drowns the small values, relative noise does not. The
marginal likelihoods of the laws are compared, constants integrated out, with each other and with the smooth curve's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.data.noise import LARGEST_SHARE, LEAST_SHARE, Noise, NoiseKind, additive_evidence

MOST_SAMPLES = 30
"""Most samples for which laws are tried; from then on a smooth curve shows the noise. Chosen by hand."""
SPAN = 100.0
"""Least ratio of the largest value and the smallest: below it, additive noise is hardly worse. Chosen by hand."""
EVIDENCE = 2.0
"""Nats by which relative noise must explain the data better than additive noise: measured, see decision 070. Additive
noise seldom leaves values of one sign over decades, so less is needed than for a smooth curve."""
_STEPS = 50
"""Most steps of a fit: chosen by hand."""
_HALVINGS = 12
"""Most halvings of a step: chosen by hand."""
_CONVERGED = 1e-9
"""Share of the error that a step must remove for another to follow."""
_ROUNDING = 1e-28
"""Sum of squared errors that is rounding, for values of at most 1."""


@dataclass(frozen=True, eq=False, slots=True)
class LawCurve:
    """Relative noise, with the law that gives the deviations of samples."""

    noise: Noise
    kind: int
    """Index of the law in `_columns`."""
    middle: Floats
    width: Floats
    slopes: Floats
    """The logarithm at the middle, and its change with each column's transform."""
    low: float
    high: float
    """Range of the values, beyond which no sample is extrapolated."""

    def deviations(self, X: Floats) -> Floats:
        """Return the standard deviation of the noise at some points, in units of y, (M,)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            columns = list(_columns(X))[self.kind]
            values = arithmetic.exp(arithmetic.product(_design(columns, self.middle, self.width), self.slopes))
        values = np.where(np.isnan(values), self.low, values)
        return self.noise.deviations(np.minimum(np.maximum(values, self.low), self.high))


@dataclass(frozen=True, eq=False, slots=True)
class _Law:
    """One law through the samples."""

    relative: float
    """Logarithm of the marginal likelihood with relative noise."""
    additive: float
    share: float
    curve: tuple[int, Floats, Floats, Floats]


def law_curve(dataset: Dataset) -> LawCurve | None:
    """Return relative noise by the best quick law; None if the data do not prefer it to additive noise."""
    size = np.abs(dataset.y)
    if len(dataset) > MOST_SAMPLES or not dataset.has_one_sign or size.max() < SPAN * size.min():
        return None
    if np.ptp(dataset.weights) > 0.0:  # they say how precise each sample is; so few samples cannot tell more
        return None
    laws = list(_laws(dataset, size / size.max()))
    if not laws:
        return None
    best = max(laws, key=lambda law: law.relative)
    additive = max(max(law.additive for law in laws), additive_evidence(dataset))
    evidence = best.relative - additive
    if evidence < EVIDENCE or not LEAST_SHARE <= best.share <= LARGEST_SHARE:
        return None
    kind, middle, width, slopes = best.curve
    noise = Noise(NoiseKind.RELATIVE, share=best.share, evidence=evidence)
    slopes = np.concatenate([[slopes[0] + arithmetic.log(float(size.max()))], slopes[1:]])
    return LawCurve(noise, kind, middle, width, slopes, float(size.min()), float(size.max()))


def _columns(X: Floats) -> Iterator[Floats]:
    """What the logarithm of a law is linear in: the columns, their logarithms, and their reciprocals."""
    yield X
    yield arithmetic.log(np.abs(X))
    yield 1.0 / X


def _design(columns: Floats, middle: Floats, width: Floats) -> Floats:
    return np.concatenate([np.ones((len(columns), 1)), (columns - middle) / width], axis=1)


def _laws(dataset: Dataset, size: Floats) -> Iterator[_Law]:
    """Fit each law that has a value at all samples to values of at most 1."""
    root = np.sqrt(dataset.weights * (len(dataset) / dataset.total_weight))
    has_signs = bool(((dataset.X > 0.0).all(axis=0) | (dataset.X < 0.0).all(axis=0)).all())
    logs, count = arithmetic.log(size), len(size)
    if count < dataset.X.shape[1] + 3:
        return
    with np.errstate(divide="ignore"):
        kinds = list(_columns(dataset.X))
    for kind, columns in enumerate(kinds[: 3 if has_signs else 1]):
        middle, spread = columns.mean(axis=0), columns.std(axis=0)
        width = np.where(spread > 0.0, spread, 1.0)
        design = _design(columns, middle, width)
        slopes = arithmetic.least_squares(root[:, None] * design, root * logs)
        rest = root * (logs - arithmetic.product(design, slopes))
        error = float(np.sum(rest * rest)) + _ROUNDING
        starts = (slopes, arithmetic.least_squares((root * size)[:, None] * design, root * size * logs))
        values, square = min((_fitted(design, size, root, start) for start in starts), key=lambda found: found[1])
        yield _Law(
            relative=_evidence(error, root[:, None] * design) - float(np.sum(logs)),
            additive=_evidence(square + _ROUNDING, (root * values)[:, None] * design),
            share=math.sqrt(error / (count - design.shape[1])),
            curve=(kind, middle, width, slopes),
        )


def _fitted(design: Floats, size: Floats, root: Floats, slopes: Floats) -> tuple[Floats, float]:
    """Values of the law with the least squared error, by steps of Gauss and Newton, and that error."""
    values, square = _predicted(design, size, root, slopes)
    for _ in range(_STEPS):
        step = arithmetic.least_squares((root * values)[:, None] * design, root * (size - values))
        for halving in range(_HALVINGS):
            trial = slopes + 0.5**halving * step
            found, error = _predicted(design, size, root, trial)
            if error < square:
                break
        else:
            break
        is_done = error > square * (1.0 - _CONVERGED)
        slopes, values, square = trial, found, error
        if is_done:
            break
    return values, square


def _predicted(design: Floats, size: Floats, root: Floats, slopes: Floats) -> tuple[Floats, float]:
    with np.errstate(over="ignore", invalid="ignore"):
        values = arithmetic.exp(arithmetic.product(design, slopes))
        error = float(np.sum((root * (size - values)) ** 2))
    return values, error if math.isfinite(error) else math.inf


def _evidence(square: float, slope: Floats) -> float:
    """Logarithm of the marginal likelihood of M samples, the constants integrated out, less what a curve leaves out.

    Args:
        square: sum of squared errors at the fit.
        slope: (M, K) derivatives of the values by the constants.
    """
    count, constants = slope.shape
    eigenvalues, _ = arithmetic.symmetric_eigen(arithmetic.product(np.ascontiguousarray(slope.T), slope))
    volume = float(np.sum(arithmetic.log(np.maximum(eigenvalues, 1e-300))))
    nats = count * arithmetic.log(float(count)) - (count - constants) * arithmetic.log(square)
    return float(0.5 * (nats - volume))
