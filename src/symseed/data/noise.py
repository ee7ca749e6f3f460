"""Noise models: how the standard deviation of the noise depends on the value, chosen by evidence.

Additive noise has the same standard deviation at every sample; relative noise has one in proportion to the value, as
that of most instruments over several decades; and many have both, a floor and a relative part. A noise model is the
weights 1 / s^2 of the samples, by which formulas are fitted and judged. The deviations s follow from a smooth curve
(`smooth.py`), not from the noisy values, which would give low values more weight.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.data.growth import Growth, deviations, never_exact
from symseed.data.losses import Loss, student
from symseed.data.smooth import MOST_INDUCING, Curve, Smoother

_MOST_SAMPLES = 300
"""Most samples that choose the noise, spread over the data: chosen by hand, a bound on time."""
_FEWEST_SAMPLES = 5
"""Fewest samples that can show how the noise grows: chosen by hand."""
_MOST_COLUMNS = 8
"""Most columns that a curve depends on: chosen by hand."""
EVIDENCE = 3.0
"""Nats by which relative noise must explain the data better to be chosen over additive noise: odds of twenty to one."""
_FLOORS = (0.1, 0.3, 0.6)
"""Shares of the samples whose values are below a floor that is tried: chosen by hand."""
_REFINED = (0.35, 0.5, 0.7, 1.4, 2.0)
"""Factors of the best of these floors that are tried next."""
LEAST_SHARE = 1e-3
"""Smallest relative noise that is recognised: less may be the error of the curve. Chosen by hand."""
LARGEST_SHARE = 0.3
"""Largest relative noise that is recognised: more is hardly an error of measurement. Chosen by hand."""
_STEPS = 2
"""Curves that are drawn one after another, each under the noise that the one before implies: chosen by hand."""
_UNRESOLVED = 0.5
"""Share of the variance beyond which a curve that leaves it unexplained shows no noise: chosen by hand."""
_GROWTH = 1.25
"""Factor by which half of the samples may show more noise than all: more is a curve that is not resolved yet."""
_AT_ONCE = 10_000
"""Samples whose deviations are computed at once: a bound on memory."""
_LEAST = 1e-9
"""Smallest standard deviation that counts, as a share of the largest: weights that differ by more are rounding."""
_FREEDOM = 4.0
"""Degrees of freedom of Student's t for robust noise, as usual (Lange, Little & Taylor 1989)."""
_ROBUST_STEPS = 6
"""Curves that are drawn one after another to find the size of noise with outliers: chosen by hand."""
_MEDIAN = 1.4826
"""Standard deviation of normal errors, in units of their median size."""


class NoiseKind(enum.Enum):
    """How the noise depends on the value."""

    ADDITIVE = "additive"
    RELATIVE = "relative"
    FLOOR = "floor"
    """A floor and a relative part."""
    GIVEN = "given"
    """Standard errors of the samples, given by the user."""
    ROBUST = "robust"
    """Additive, with outliers: Student's t."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of one target: the standard deviation at a value v is the root of floor^2 + (share * v)^2."""

    kind: NoiseKind = NoiseKind.ADDITIVE
    floor: float = 0.0
    """Standard deviation of the noise at the value 0, in units of y; 0: none, or not estimated."""
    share: float = 0.0
    """Standard deviation of the relative part, as a share of the value."""
    evidence: float = 0.0
    """Nats by which the data prefer this noise to additive noise; 0 if it was not chosen by evidence."""

    @property
    def is_plain(self) -> bool:
        """Whether the weights of the samples stay as they are."""
        return self.kind in (NoiseKind.ADDITIVE, NoiseKind.ROBUST)

    def deviations(self, values: Floats, variance: Floats | float = 0.0) -> Floats:
        """Return the standard deviation of the noise at some values, given the variance of these values."""
        return deviations(values, self.floor, self.share, variance)

    def weighed(self, dataset: Dataset, values: Floats) -> Weighed:
        """Return samples with the weights of this noise, given the values of a formula at them.

        Standard errors that were given are part of the dataset's weights already.
        """
        if self.kind in (NoiseKind.RELATIVE, NoiseKind.FLOOR):
            sizes = never_exact(self.deviations(np.where(np.isfinite(values), values, dataset.y)))
            return self.by(dataset, sizes) if sizes.min() > 0.0 else Weighed(dataset, 1.0)
        if self.kind is NoiseKind.ROBUST and self.floor > 0.0:
            rest = (dataset.y - values) / self.floor
            rest = np.where(np.isfinite(rest), rest, 0.0)
            weights = dataset.weights * (_FREEDOM + 1.0) / (_FREEDOM + rest * rest)
            return Weighed(dataset.with_samples(dataset.X, dataset.y, weights), 1.0)
        return Weighed(dataset, 1.0)

    def by(self, dataset: Dataset, sizes: Floats) -> Weighed:
        """Return samples with the weights of relative noise, or of a floor and a relative part, of some deviations."""
        found = weighed(dataset, sizes)
        return replace(found, dataset=found.dataset.with_growth(Growth(sizes, self.floor, self.share)))

    def growth(self, values: Floats) -> Floats:
        """Return the standard deviation of the noise at some values, up to a common factor."""
        return self.deviations(values) if self.kind in (NoiseKind.RELATIVE, NoiseKind.FLOOR) else np.ones(len(values))

    def in_units(self, unit: float) -> Noise:
        """Return the same noise for a target that is divided by a unit."""
        return replace(self, floor=self.floor / unit)

    def values(self) -> dict[str, Any]:
        """Return the noise as values that JSON can hold."""
        return {"kind": self.kind.value, "floor": self.floor, "share": self.share, "evidence": self.evidence}

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Noise:
        """Return the noise of `values`."""
        numbers = (float(values[name]) for name in ("floor", "share", "evidence"))
        return cls(NoiseKind(values["kind"]), *numbers)

    @property
    def words(self) -> str:
        """The noise as a sentence."""
        part, floor = f"{_percent(self.share)} of the value", f"{self.floor:.2g}"
        words = {
            NoiseKind.ADDITIVE: "The noise is additive: the same standard deviation at every value.",
            NoiseKind.RELATIVE: f"The noise is relative: its standard deviation is about {part}.",
            NoiseKind.FLOOR: f"The noise has a floor and a relative part: its standard deviation is about {floor} "
            f"near 0 and {part} far above.",
            NoiseKind.GIVEN: "The noise has the standard errors that were given.",
            NoiseKind.ROBUST: "The noise is additive with outliers, by Student's t distribution.",
        }[self.kind]
        return (
            f"{words} The data prefer this to additive noise by {self.evidence:.0f} nats." if self.evidence else words
        )


ADDITIVE = Noise()
"""Noise of the same standard deviation at every sample."""


@dataclass(frozen=True, eq=False, slots=True)
class Weighed:
    """Samples whose weights account for the noise."""

    dataset: Dataset
    unit: float
    """The standard deviation of a sample whose weight did not change, in the units of the deviations."""


def weighed(dataset: Dataset, deviations: Floats) -> Weighed:
    """Divide the weights of samples by the squares of their standard deviations; the sum of the weights stays.

    Args:
        deviations: (M,), up to a common factor.
    """
    largest = float(deviations.max())
    weights = divided(dataset.weights, deviations, largest)
    factor = dataset.total_weight / float(np.sum(weights))
    given = dataset.with_samples(dataset.X, dataset.y, weights * factor).with_loss(dataset.loss)
    return Weighed(given, largest * math.sqrt(factor))


def divided(weights: Floats, deviations: Floats, largest: float) -> Floats:
    """Divide weights by the squares of standard deviations, in units of the largest of all samples."""
    ratio = np.maximum(deviations / largest, _LEAST)
    return np.asarray(weights / (ratio * ratio))


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %"


@dataclass(frozen=True, eq=False, slots=True)
class _View:
    """y, or its logarithm, scaled to mean 0 and size 1, and a smoother of it."""

    smoother: Smoother
    is_log: bool
    goal: Floats
    middle: float
    width: float
    weights: Floats
    """Weights of the samples, of mean 1."""
    jacobian: float
    """What the evidence of y has more than that of the goal."""

    def sizes(self, value: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return a curve in units of y, and its variance, (M,) each."""
        value, variance = self.middle + self.width * value, self.width * self.width * variance
        if not self.is_log:
            return value, variance
        size = arithmetic.exp(value)
        return size, size * size * variance

    def curve(self, model: Noise, before: Curve | None) -> Curve:
        """Draw a curve under a noise model, whose deviations at the samples follow from the curve before."""
        if before is None:
            shape = np.ones(len(self.goal))
        else:
            size, variance = self.sizes(before.value, before.variance)
            shape = model.deviations(size, variance) ** 2
            if self.is_log:
                shape = shape / (size * size)
            shape = np.maximum(shape, _LEAST * _LEAST * shape.max())
        return self.smoother.curve(self.goal, shape / self.weights)

    def evidence(self, curve: Curve) -> float:
        return curve.evidence + self.jacobian

    def level(self, curve: Curve) -> float:
        """Return the factor of the noise model's deviations, in units of y."""
        return self.width * math.sqrt(curve.level)


@dataclass(frozen=True, eq=False, slots=True)
class Pilot:
    """A noise model with the curve that gives the deviations of samples."""

    noise: Noise
    """In units of y."""
    evidence: float
    view: _View
    curve: Curve
    unit: float
    """Unit of y in the view."""

    @classmethod
    def of(cls, model: Noise, view: _View, unit: float, begin: Curve | None) -> Pilot:
        """Draw the curve of a model; `begin` gives the first sizes."""
        curve = view.curve(model, begin)
        for _ in range(_STEPS - 1):
            curve = view.curve(model, curve)
        level = view.level(curve)
        noise = replace(model, floor=level * model.floor * unit, share=level * model.share)
        return cls(noise, view.evidence(curve), view, curve, unit)

    def refined(self) -> list[Pilot]:
        """Return the same model with other floors; none without a floor."""
        if self.noise.kind is not NoiseKind.FLOOR:
            return []
        floor = self.noise.floor / self.noise.share / self.unit
        models = (Noise(NoiseKind.FLOOR, floor=floor * factor, share=1.0) for factor in _REFINED)
        return [Pilot.of(model, self.view, self.unit, self.curve) for model in models]

    @property
    def sizes(self) -> Floats:
        """Squares of the curve at the samples, in its units."""
        value, variance = self.view.sizes(self.curve.value, self.curve.variance)
        return np.asarray(value * value + variance)

    @property
    def is_resolved(self) -> bool:
        """Whether the curve explains the values, so that what is left may be noise."""
        rest = self.view.goal - self.curve.value
        weights = self.view.weights / self.noise.in_units(self.unit).deviations(np.sqrt(self.sizes)) ** 2
        if self.view.is_log:
            weights = weights * self.sizes
        around = self.view.goal - np.average(self.view.goal, weights=weights)
        return bool(np.sum(weights * rest * rest) < _UNRESOLVED * np.sum(weights * around * around))

    def deviations(self, X: Floats) -> Floats:
        """Return the standard deviation of the noise at some points, in units of y, (M,)."""
        return np.concatenate([self._deviations(X[begin : begin + _AT_ONCE]) for begin in range(0, len(X), _AT_ONCE)])

    def _deviations(self, X: Floats) -> Floats:
        value, variance = self.view.sizes(*self.curve.at(self.view.smoother.features(X, self.curve)))
        return self.noise.deviations(self.unit * value, self.unit * self.unit * variance)


def pilot(dataset: Dataset, kind: NoiseKind | None = None) -> Pilot | None:
    """Return the noise that the data show; None if it is additive, or they show too little.

    Args:
        kind: relative, or a floor and a relative part, to have that in any case; None: by evidence.
    """
    few = _few(dataset)
    if few.deviation == 0.0 or (kind is None and len(few) < _FEWEST_SAMPLES):
        return None
    found = list(_pilots(few, MOST_INDUCING))
    if kind is not None:
        best = max((one for one in found if one.noise.kind is kind), key=_evidence)
        return max((best, *best.refined()), key=_evidence)
    additive = max(one.evidence for one in found if one.noise.kind is NoiseKind.ADDITIVE)
    relative = max((one for one in found if one.noise.kind is NoiseKind.RELATIVE), key=_evidence)
    floor = max((one for one in found if one.noise.kind is NoiseKind.FLOOR), key=_evidence)
    price = EVIDENCE + 0.5 * arithmetic.log(float(len(few)))
    best = floor if floor.evidence > max(relative.evidence, additive) + price else relative
    if best.evidence < additive + EVIDENCE or not LEAST_SHARE <= best.noise.share <= LARGEST_SHARE:
        return None
    if not best.is_resolved or not _is_settled(few, best):
        return None
    best = max((best, *best.refined()), key=_evidence)
    return replace(best, noise=replace(best.noise, evidence=best.evidence - additive))


def additive_evidence(dataset: Dataset) -> float:
    """Return the logarithm of the marginal likelihood of the data with additive noise, less a constant."""
    found = _pilots(_few(dataset), MOST_INDUCING)
    return max(one.evidence for one in found if one.noise.kind is NoiseKind.ADDITIVE)


def robust_loss(size: float) -> Loss:
    """Return the loss of robust noise of some size."""
    return student(size, _FREEDOM)


def robust_size(dataset: Dataset) -> float:
    """Return the standard deviation of additive noise, without its outliers: the scale of Student's t."""
    few = _few(dataset)
    unit = float(np.abs(few.y).max()) or 1.0
    view = _view(_smoother(few, MOST_INDUCING), few.y / unit, few, is_log=False)
    shape, size = 1.0 / view.weights, 0.0
    for _ in range(_ROBUST_STEPS):
        rest = view.goal - view.smoother.curve(view.goal, shape).value
        size = max(_MEDIAN * float(np.median(np.abs(rest))), _LEAST)
        shape = (_FREEDOM + (rest / size) ** 2) / (_FREEDOM + 1.0) / view.weights
    return size * view.width * unit


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """A smooth curve through samples, in units of y."""

    evidence: float
    """Logarithm of the marginal likelihood, less a constant."""
    view: _View
    curve: Curve
    unit: float

    def values(self, X: Floats) -> Floats:
        """Return the curve at some points, (M,)."""
        value, _ = self.view.sizes(*self.curve.at(self.view.smoother.features(X, self.curve)))
        return self.unit * value


def curve_of(dataset: Dataset, variances: Floats | None = None) -> Drawn:
    """Draw a curve through samples, given the variance of each up to a common factor; None: the same for all."""
    # In an order that does not depend on the given one.
    order = np.lexsort((dataset.y, *dataset.X.T[::-1]))
    order = order[dataset.weights[order] > 0.0]
    order = order[_spread(len(order))]
    few = dataset.take(order)
    unit = float(np.abs(few.y).max()) or 1.0
    view = _view(_smoother(few, MOST_INDUCING), few.y / unit, few, is_log=False)
    shape = np.ones(len(few)) if variances is None else variances[order]
    curve = view.smoother.curve(view.goal, shape / view.weights)
    return Drawn(view.evidence(curve), view, curve, unit)


def _few(dataset: Dataset) -> Dataset:
    return dataset if len(dataset) <= _MOST_SAMPLES else dataset.take(_spread(len(dataset)))


def _spread(count: int) -> npt.NDArray[np.intp]:
    """Places of at most `_MOST_SAMPLES` samples, spread over `count`."""
    return np.arange(count) if count <= _MOST_SAMPLES else np.arange(_MOST_SAMPLES) * count // _MOST_SAMPLES


def _smoother(few: Dataset, inducing: int) -> Smoother:
    return Smoother(few.X, list(range(few.X.shape[1])[:_MOST_COLUMNS]), inducing=inducing)


def _evidence(one: Pilot) -> float:
    return one.evidence


def _is_settled(few: Dataset, best: Pilot) -> bool:
    """Whether half of the samples show the same noise: the error of a curve falls with more samples, noise does not."""
    half = few.take(np.arange(0, len(few), 2))
    if len(half) < _FEWEST_SAMPLES or half.deviation == 0.0:
        return True
    same = [one for one in _pilots(half, MOST_INDUCING // 2) if one.noise.kind is best.noise.kind]
    least = max(same, key=_evidence)
    growth = max(least.noise.share / best.noise.share, 0.0)
    chance = 1.0 / math.sqrt(len(half))
    return growth < _GROWTH + 2.0 * chance


def _pilots(few: Dataset, inducing: int) -> Iterator[Pilot]:
    """Draw the curves of all noise models through y, and through its logarithm if y has one sign."""
    unit = float(np.abs(few.y).max())
    smoother = _smoother(few, inducing)
    y = few.y / unit
    views = [_view(smoother, y, few, is_log=False)]
    if few.has_one_sign and y.all():  # the smallest values may be 0 as shares of the largest
        views.append(_view(smoother, np.abs(y), few, is_log=True))
    for view in views:
        plain = view.curve(ADDITIVE, None)
        if not view.is_log:
            yield Pilot(replace(ADDITIVE, floor=view.level(plain) * unit), view.evidence(plain), view, plain, unit)
        relative = Pilot.of(Noise(NoiseKind.RELATIVE, share=1.0), view, unit, plain)
        yield relative
        if view.is_log:
            yield Pilot.of(Noise(NoiseKind.ADDITIVE, floor=1.0), view, unit, plain)
        sizes = np.sort(relative.sizes)
        for share in _FLOORS:
            floor = math.sqrt(float(sizes[int(share * (len(sizes) - 1))]))
            if floor > 0.0:
                yield Pilot.of(Noise(NoiseKind.FLOOR, floor=floor, share=1.0), view, unit, relative.curve)


def _view(smoother: Smoother, y: Floats, few: Dataset, *, is_log: bool) -> _View:
    values = arithmetic.log(y) if is_log else y
    middle, width = float(np.mean(values)), float(np.std(values)) or 1.0
    jacobian = -len(y) * arithmetic.log(width) - (float(np.sum(values)) if is_log else 0.0)
    weights = few.weights * (len(few) / few.total_weight)
    return _View(smoother, is_log, (values - middle) / width, middle, width, weights, jacobian)
