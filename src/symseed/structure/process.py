"""Gaussian processes: regression by a squared-exponential kernel with a length scale for each column, noise fitted.

The hyperparameters are those of greatest marginal likelihood (automatic relevance determination; Rasmussen & Williams,
Gaussian Processes for Machine Learning, 2006, chapter 5), found by a few steps of BFGS on the exact gradient. All
arithmetic is the core's or IEEE's, so a process is the same to the last bit everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from symseed import _core, arithmetic
from symseed.arrays import Floats
from symseed.errors import DataError
from symseed.search.budget import IsLate, never

_FIRST_SCALE = 2.0
"""First length scale, in standard deviations of a column: chosen by hand."""
_FIRST_RATIOS = (1e-2, 1e-5)
"""First ratios of the noise's variance to that of the process; the better one is fitted. Chosen by hand."""
_SCALES = (0.05, 100.0)
"""Smallest and largest length scale: beyond the largest, a column of size 1 has no effect. Chosen by hand."""
_RATIOS = (1e-8, 1e2)
"""Smallest and largest noise ratio: below the smallest, the covariance is singular to rounding."""
_LEAST_NOISE = 1e-6
"""Smallest noise factor of a row, as a share of the mean: chosen by hand."""
_LONGEST_STEP = 1.5
"""Largest change of the logarithm of a hyperparameter in a step: chosen by hand."""
_CONVERGED = 0.02
"""Nats that a step must gain for another to follow: chosen by hand."""
_HALVINGS = 4
"""Most halvings of a step that does not gain: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Metric:
    """How columns are measured in a process: each has mean 0 and size 1 on the samples that the metric is made from.

    A column of one sign is replaced by its logarithm if that is less skewed. A function of a column is a function of
    its logarithm, so this changes the metric of the process only.
    """

    are_logs: tuple[bool, ...]
    middles: tuple[float, ...]
    widths: tuple[float, ...]
    """0 for a column that does not change."""

    @classmethod
    def of(cls, columns: Floats) -> Metric:
        """Return the metric of some samples, (V, M)."""
        found = [_scale(column) for column in columns]
        return cls(tuple(one[0] for one in found), tuple(one[1] for one in found), tuple(one[2] for one in found))

    def scaled(self, columns: Floats) -> Floats:
        """Return columns in this metric, (V, Q); what has no logarithm is infinite or NaN."""
        out = np.empty_like(columns)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for place, column in enumerate(columns):
                values = arithmetic.log(np.abs(column)) if self.are_logs[place] else column
                out[place] = (values - self.middles[place]) / (self.widths[place] or 1.0)
        return out


def standard(columns: Floats) -> Floats:
    """Return columns in their own metric, (V, M)."""
    return Metric.of(columns).scaled(columns)


def _scale(column: Floats) -> tuple[bool, float, float]:
    middle, width = spread(column)
    if width > 0.0 and ((column > 0.0).all() or (column < 0.0).all()):
        logs = arithmetic.log(np.abs(column))
        log_middle, log_width = spread(logs)
        if log_width > 0.0 and _skewness(logs, log_middle, log_width) < _skewness(column, middle, width):
            return True, log_middle, log_width
    return False, middle, width


def _skewness(values: Floats, middle: float, width: float) -> float:
    scaled = (values - middle) / width
    return abs(float(np.mean(scaled * scaled * scaled)))


def spread(values: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of values, which may be near the ends of float64."""
    if values.min() == values.max():
        return float(values[0]), 0.0
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        middle = float(values.mean())
        centred = values - middle
        width = float(np.sqrt(np.mean(centred * centred)))
    if 0.0 < width < math.inf:
        return middle, width
    unit = float(np.abs(values).max())
    middle, width = spread(values / unit)
    return unit * middle, unit * width


def factors_of(slope: Floats, weights: Floats) -> Floats:
    """Return noise factors: one over the weight of a sample, times the square of the slope of its target.

    Args:
        slope: derivative of the target by the value whose noise is known, (M,), in absolute value.
    """
    share = slope / slope.max()
    factors = share * share / np.maximum(weights / weights.max(), _LEAST_NOISE)
    return np.asarray(np.maximum(factors / factors.mean(), _LEAST_NOISE))


@dataclass(frozen=True, slots=True)
class Posterior:
    """What a process says of values: their means and standard deviations, (Q,) each."""

    mean: Floats
    deviation: Floats


@dataclass(frozen=True, slots=True)
class Process:
    """A Gaussian process on some rows, with fitted hyperparameters."""

    inputs: Floats
    """(V, M): columns of size about 1."""
    goal: Floats
    """(M,)."""
    noise: Floats
    """(M,): factors of the variance of the noise, mean 1."""
    scales: Floats
    """(V,): length scales."""
    ratio: float
    """Variance of the noise over that of the process."""
    log_evidence: float
    """Log marginal likelihood; -infinity if the covariance is singular to rounding."""

    def predicted(self, points: Floats) -> Posterior:
        """Return what the process without noise is at other points, (V, Q)."""
        mean, variance, *_ = self._prediction(points)
        return Posterior(mean, np.sqrt(variance))

    def left_out(self) -> Posterior:
        """Return what each row's noisy value should be by all other rows."""
        _, _, mean, variance, _ = self._prediction(self.inputs[:, :0])
        return Posterior(mean, np.sqrt(variance))

    @property
    def noise_deviation(self) -> float:
        """Standard deviation of the noise of a row whose factor is 1."""
        return math.sqrt(self._prediction(self.inputs[:, :0])[4])

    def _prediction(self, points: Floats) -> tuple[Floats, Floats, Floats, Floats, float]:
        return _core.process_prediction(
            self.inputs, self.goal, self.noise, self.scales, self.ratio, np.ascontiguousarray(points)
        )


def scored(inputs: Floats, goal: Floats, noise: Floats, scales: Floats, ratio: float) -> float:
    """Return the log marginal likelihood with given hyperparameters: one factorisation."""
    value, _ = _core.process_evidence(inputs, goal, noise, scales, ratio, gradient=False)
    return value if math.isfinite(value) else -math.inf


def fitted(
    inputs: Floats,
    goal: Floats,
    noise: Floats | None = None,
    *,
    begin: tuple[Floats, float] | None = None,
    evaluations: int = 40,
    is_late: IsLate = never,
) -> Process:
    """Fit the hyperparameters.

    Args:
        inputs: columns, (V, M), of size about 1.
        goal: target, (M,).
        noise: factors of the variance of the noise, (M,), positive; 1 for each row if left out.
        begin: length scales and noise ratio to begin with.
        evaluations: most evaluations of the likelihood and its gradient, each of the order of M^3 operations.

    Raises:
        DataError: if the shapes do not fit, or a noise factor is not positive.
    """
    factors = np.ones(len(goal)) if noise is None else noise
    if inputs.ndim != 2 or inputs.shape[1] != len(goal) or factors.shape != goal.shape or not (factors > 0.0).all():
        raise DataError(
            f"`inputs` must be (V, M), `goal` (M,) and `noise` (M,) and positive, but their shapes are {inputs.shape}, "
            f"{goal.shape} and {factors.shape}, and the smallest factor is {factors.min(initial=np.inf)}."
        )
    inputs, goal, factors = (np.ascontiguousarray(values, dtype=np.float64) for values in (inputs, goal, factors))
    count = len(inputs)

    def evidence(place: Floats) -> tuple[float, Floats]:
        values = arithmetic.exp(place)
        value, slope = _core.process_evidence(inputs, goal, factors, values[:-1].copy(), float(values[-1]))
        return (value, slope) if math.isfinite(value) and np.isfinite(slope).all() else (-math.inf, slope)

    if begin is None:
        first = np.full(count, _FIRST_SCALE)
        ratio = max(_FIRST_RATIOS, key=lambda ratio: scored(inputs, goal, factors, first, ratio))
    else:
        first, ratio = begin
    lowest = arithmetic.log(np.array([*[_SCALES[0]] * count, _RATIOS[0]]))
    highest = arithmetic.log(np.array([*[_SCALES[1]] * count, _RATIOS[1]]))
    start = np.clip(arithmetic.log(np.append(first, ratio)), lowest, highest)
    place, value = _highest(evidence, start, (lowest, highest), evaluations, is_late)
    values = arithmetic.exp(place)
    return Process(inputs, goal, factors, values[:-1].copy(), float(values[-1]), value)


def _highest(
    function: Callable[[Floats], tuple[float, Floats]],
    place: Floats,
    bounds: tuple[Floats, Floats],
    evaluations: int,
    is_late: IsLate,
) -> tuple[Floats, float]:
    """Climb by BFGS within bounds (Nocedal & Wright 2006, chapter 6), as long as steps gain."""
    value, slope = function(place)
    done = 1
    curvature = np.eye(len(place))
    is_first = True
    while math.isfinite(value) and done < evaluations and not is_late():
        is_free = ~(((place <= bounds[0]) & (slope < 0.0)) | ((place >= bounds[1]) & (slope > 0.0)))
        pull = np.where(is_free, slope, 0.0)
        step = np.where(is_free, arithmetic.product(curvature, pull), 0.0)
        if not float(np.sum(step * pull)) > 0.0:
            curvature, step = np.eye(len(place)), pull
        largest = float(np.abs(step).max())
        if largest == 0.0:
            break
        # Before curvature is known, the steepest hyperparameter changes by a factor e^0.7.
        step = step * (0.7 / largest if is_first else min(1.0, _LONGEST_STEP / largest))
        for _ in range(_HALVINGS):
            other = np.clip(place + step, *bounds)
            other_value, other_slope = function(other)
            done += 1
            if other_value > value or done >= evaluations:
                break
            step = 0.5 * step
        if not other_value > value:
            if is_first or bool((curvature == np.eye(len(place))).all()):
                break
            curvature, is_first = np.eye(len(place)), True
            continue
        curvature = _updated(curvature, other - place, slope - other_slope, is_first=is_first)
        gain, is_first = other_value - value, False
        place, value, slope = other, other_value, other_slope
        if gain < _CONVERGED:
            break
    return place, value


def _updated(curvature: Floats, step: Floats, change: Floats, *, is_first: bool) -> Floats:
    """The inverse Hessian of the negative function after a step, which changed the negative slope."""
    along = float(np.sum(step * change))
    if not along > 1e-10:
        return curvature
    if is_first:
        curvature = np.eye(len(step)) * (along / float(np.sum(change * change)))
    turned = arithmetic.product(curvature, change)
    inner = float(np.sum(change * turned))
    return np.asarray(
        curvature
        + (1.0 + inner / along) / along * np.outer(step, step)
        - (np.outer(turned, step) + np.outer(step, turned)) / along
    )
