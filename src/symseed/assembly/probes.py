"""What the data alone say of a formula's structure: which variables matter, and whether it is a sum or a product.

Answers are hints: they order and seed a search, and never keep it from looking elsewhere. On samples that are no grid,
and under noise, polynomials tell: where those of one kind only, say of even powers, predict better than those of all
kinds, the target is taken to be of that kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.assembly import polynomials
from symseed.assembly.polynomials import Exponents
from symseed.data.dataset import Dataset

_FLOOR = 1e-9
"""Share of y's spread that a sum of single-variable parts may leave unexplained."""
_BINS = 8
_MOST_TERMS, _MOST_TERMS_PER_SAMPLE, _LARGEST_DEGREE = 60, 0.7, 16
"""Of polynomials that tell of structure."""
_STARTS, _ALTERNATIONS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)), 15
"""Of a product of two polynomials: from which lines it is sought, and for how long."""
_LEAST_SIDE = 0.2
"""Share of the samples that must lie on either side of 0."""
_EXACT, _UNEXPLAINED = 1e-12, 0.1
"""Shares of y's variance: errors below the first are as good as none, and those above the second say nothing."""
_CHANCE = 1.2
"""How much larger the error of the right kind of polynomial may be, by chance, than that of all kinds."""
_SPECTRUM_SAMPLES, _LEAST_POINTS, _LEAST_PERIODS, _LARGEST_FREQUENCY = 2_000, 16, 3, 2_000
_SIGNIFICANT = 16.0
"""Power of a peak, in units of what noise of the same variance has on average."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A target that is a sum of functions of one variable each, known at the values that the variable takes."""

    offset: float
    points: tuple[Floats, ...]
    """Of each variable: the different values that it takes."""
    values: tuple[Floats, ...]
    """Of each variable: its part there, with mean 0."""


@dataclass(frozen=True, slots=True)
class Split:
    """A target that is a sum or a product of two parts."""

    error: float
    """What is left unexplained, as a share of y's variance."""
    place: int
    """The variable of the first part, by its place among the columns; the second is of the others."""
    is_product: bool
    first: Floats
    """(M,): what the first part should be at the samples, the other being known; noise is in it."""
    second: Floats
    first_weights: Floats
    """(M,): how much an error there matters: that of a factor, as much as the other factor is large."""
    second_weights: Floats


@dataclass(frozen=True, slots=True)
class _Fit:
    """A polynomial, and the error that is to be expected of it elsewhere, as a share of y's variance."""

    exponents: tuple[Exponents, ...]
    factors: Floats
    error: float


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of two polynomials, and its error as that of `_Fit`."""

    error: float
    factors: Floats
    """Of the first polynomial."""
    first: Floats
    second: Floats


@dataclass(frozen=True, slots=True)
class _Waves:
    """Sines and cosines of some frequencies at the samples, (frequencies, M) each."""

    sines: Floats
    cosines: Floats

    @classmethod
    def of(cls, frequencies: npt.NDArray[np.floating[Any]], x: Floats) -> _Waves:
        phases = np.outer(frequencies, x)
        return cls(arithmetic.sin(phases), arithmetic.cos(phases))

    def powers(self, signal: Floats) -> Floats:
        """How strongly a signal waves with each frequency."""
        along, across = arithmetic.product(self.sines, signal), arithmetic.product(self.cosines, signal)
        return np.asarray(along * along + across * across)


def relevance(dataset: Dataset) -> Floats:
    """Return, for each variable, the share of y's variance that bins of it explain, (V,).

    Chance alone explains a few bins' share of the samples; that is taken off. A constant column explains nothing.
    """
    count = len(dataset)
    bins = max(2, min(_BINS, count // 4))
    if count < bins:
        return np.zeros(dataset.X.shape[1])
    # Equal values share their mean rank: else the order of the rows would explain something.
    _, place, times = np.unique(dataset.y, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - 0.5 * (times + 1))[place]
    total = float(((ranks - ranks.mean()) ** 2).sum()) or 1.0
    out = np.zeros(dataset.X.shape[1])
    varies = np.ptp(dataset.X, axis=0) > 0.0  # bins of a constant would be those of the rows' order
    for column in np.flatnonzero(varies):
        order = dataset.X[:, column].argsort(kind="stable")
        groups = [ranks[part] for part in np.array_split(order, bins)]
        means = np.array([group.mean() for group in groups]) - ranks.mean()
        between = float(np.sum([len(group) for group in groups] * means**2))
        out[column] = between / total - (bins - 1) / (count - 1)
    return out


def sum_of_parts(dataset: Dataset) -> Parts | None:
    """Return the parts of a target that is a sum of functions of one variable each; None where it cannot be told.

    It can be told where the samples are a full grid: then each part is a mean over all the others.
    """
    axes = [np.unique(dataset.X[:, column], return_inverse=True) for column in range(dataset.X.shape[1])]
    sizes = [len(points) for points, _ in axes]
    if len(axes) < 2 or int(np.prod(sizes, dtype=object)) != len(dataset) or min(sizes) < 2:
        return None
    cells = np.ravel_multi_index(tuple(index for _, index in axes), sizes)
    if len(np.unique(cells)) != len(dataset):
        return None
    offset = float(dataset.y.mean())
    values = [np.bincount(index, dataset.y - offset, len(points)) / np.bincount(index) for points, index in axes]
    together = offset + sum(part[index] for part, (_, index) in zip(values, axes, strict=True))
    if np.abs(together - dataset.y).max() > _FLOOR * (np.ptp(dataset.y) or 1.0):
        return None
    return Parts(offset, tuple(points for points, _ in axes), tuple(values))


class Structure:
    """Parities, sums and products that polynomials of the data show."""

    def __init__(self, dataset: Dataset, columns: Sequence[int]) -> None:
        """Look at some of the variables."""
        X = dataset.X[:, columns]
        largest = np.abs(X).max(axis=0)
        self._X = X / np.where(largest > 0.0, largest, 1.0)
        self._root = np.sqrt(dataset.weights / dataset.weights.mean())
        self._scale = dataset.deviation or 1.0
        self._y = dataset.y / self._scale
        self._most = min(_MOST_TERMS, int(_MOST_TERMS_PER_SAMPLE * len(dataset)))
        self._least = self._best(lambda _: True).error

    def parity(self, place: int) -> int:
        """Return 1 where y seems not to change with the sign of a variable, -1 where it changes sign, else 0.

        `place` is that among the columns. It can be told where the samples lie on both sides of 0.
        """
        x = self._X[:, place]
        if min(np.mean(x < 0.0), np.mean(x > 0.0)) < _LEAST_SIDE:
            return 0
        even = self._best(lambda powers: powers[place] % 2 == 0).error
        odd = self._best(lambda powers: powers[place] % 2 == 1).error
        if not self._is_convincing(min(even, odd)):
            return 0
        return 1 if even <= odd else -1

    def splits(self) -> list[Split]:
        """Return how y seems to be a sum, or a product, of a part of one variable and a part of the others.

        Those that leave the least unexplained come first.
        """
        count = self._X.shape[1]
        # Of two variables, to split the one off is to split the other off.
        places = range(count) if count > 2 else range(count - 1)
        found = [split(place) for place in places for split in (self._sum, self._product)]
        return sorted((split for split in found if split is not None), key=lambda split: split.error)

    def _is_convincing(self, error: float) -> bool:
        return error <= min(max(_CHANCE * self._least, _EXACT), _UNEXPLAINED)

    def _best(self, is_allowed: Callable[[Exponents], bool]) -> _Fit:
        """Fit polynomials of the allowed terms, of all degrees; return the one that predicts best."""
        fits = [_Fit((), np.empty(0), np.inf)]
        for degree in range(1, _LARGEST_DEGREE + 1):
            exponents = [powers for powers in polynomials.monomials(self._X.shape[1], degree) if is_allowed(powers)]
            if len(exponents) > self._most:
                break
            if exponents:
                design = self._root[:, None] * polynomials.design(self._X, exponents)
                factors, error = self._solved(design, len(exponents))
                fits.append(_Fit(tuple(exponents), factors, error))
        return min(fits, key=lambda fit: fit.error)

    def _sum(self, place: int) -> Split | None:
        """Return the sum of two polynomials that predicts best, where it is convincing."""
        fit = self._best(lambda powers: powers[place] in (0, sum(powers)))
        if not self._is_convincing(fit.error):
            return None
        is_first = np.array([powers[place] > 0 for powers in fit.exponents])
        values = polynomials.design(self._X, fit.exponents) * fit.factors
        first, second = values[:, is_first].sum(axis=1), values[:, ~is_first].sum(axis=1)
        ones = np.ones(len(first))
        return Split(
            error=fit.error,
            place=place,
            is_product=False,
            first=self._scale * (self._y - second),
            second=self._scale * (self._y - first),
            first_weights=ones,
            second_weights=ones,
        )

    def _product(self, place: int) -> Split | None:
        """Return the product of two polynomials that predicts best, where it is convincing."""
        others = [other for other in range(self._X.shape[1]) if other != place]
        # From several straight lines; then each degree begins where the last one ended.
        starts = [np.array(line) for line in _STARTS]
        best: _Product | None = None
        for degree in range(1, _LARGEST_DEGREE + 1):
            own = polynomials.design(self._X[:, [place]], polynomials.monomials(1, degree))
            rest = polynomials.design(self._X[:, others], polynomials.monomials(len(others), degree))
            if own.shape[1] + rest.shape[1] - 1 > self._most:
                break
            found = min((self._alternated(own, rest, start) for start in starts), key=lambda product: product.error)
            starts = [np.append(found.factors, 0.0)]
            best = found if best is None or found.error < best.error else best
        if best is None or not self._is_convincing(best.error):
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = self._scale * self._y / best.second, self._y / best.first
        return Split(
            error=best.error,
            place=place,
            is_product=True,
            first=first,
            second=second,
            first_weights=best.second**2,
            second_weights=best.first**2,
        )

    def _alternated(self, own: Floats, rest: Floats, factors: Floats) -> _Product:
        """Solve for either side of a product in turn, the other being known: least squares."""
        free = own.shape[1] + rest.shape[1] - 1
        first, second, error = arithmetic.product(own, factors), np.empty(0), np.inf
        for _ in range(_ALTERNATIONS):
            second = arithmetic.product(rest, self._solved((self._root * first)[:, None] * rest, free)[0])
            second = second / max(math.sqrt(arithmetic.dot(second, second)), 1e-300)
            factors, error = self._solved((self._root * second)[:, None] * own, free)
            first = arithmetic.product(own, factors)
        return _Product(error, factors, first, second)

    def _solved(self, design: Floats, free: int) -> tuple[Floats, float]:
        """Return factors of the weighted columns, and the error that generalised cross-validation expects of them.

        Args:
            free: how many numbers are free to choose in all.
        """
        goal = self._root * self._y
        factors = arithmetic.least_squares(design, goal, 1e-12)
        rest = goal - arithmetic.product(design, factors)
        share = 1.0 - free / len(goal)
        return factors, arithmetic.dot(rest, rest) / len(goal) / (share * share)


def frequencies(
    dataset: Dataset, column: int, *, most: int = 2, carriers: Sequence[tuple[int, float]] = ()
) -> list[float]:
    """Return the angular frequencies, strongest first, at which y or its square waves with a variable.

    The square shows the frequencies of a product, each doubled. Only waves of several periods count: slower ones
    cannot be told from a trend.

    Args:
        carriers: waves of other variables, by column and frequency. A wave that changes sign with one of these is
            gone from y's mean, and is seen in y times that one.
    """
    rows = np.arange(len(dataset))
    if len(rows) > _SPECTRUM_SAMPLES:
        rows = np.random.default_rng(0).choice(rows, _SPECTRUM_SAMPLES, replace=False)
    x, y = dataset.X[rows, column], dataset.y[rows] / (float(np.abs(dataset.y).max()) or 1.0)
    width = float(np.ptp(x))
    if width == 0.0 or len(np.unique(x)) < _LEAST_POINTS:
        return []
    step = np.pi / width
    grid = step * np.arange(2 * _LEAST_PERIODS, min(_LARGEST_FREQUENCY, len(np.unique(x))))
    waves = _Waves.of(grid, x)
    found: dict[float, float] = {}
    centred = _without_trend(x, y)
    signals = [(centred, 1.0), (_without_trend(x, centred**2), 0.5)]
    for other, frequency in carriers:
        phase = frequency * dataset.X[rows, other]
        signals += [(_without_trend(x, centred * wave), 1.0) for wave in (arithmetic.sin(phase), arithmetic.cos(phase))]
    for signal, factor in signals:
        for _ in range(most):
            variance = arithmetic.dot(signal, signal)
            if variance <= 1e-20 * arithmetic.dot(y, y):
                break
            power = waves.powers(signal) / variance
            peak = int(np.argmax(power))
            if power[peak] < _SIGNIFICANT:
                break
            frequency = _sharpened(x, signal, float(grid[peak]), step)
            found.setdefault(factor * frequency, float(power[peak]))
            # What this wave explains is taken off, so that the next peak is another one.
            design = np.stack([arithmetic.sin(frequency * x), arithmetic.cos(frequency * x)], axis=1)
            signal = signal - _explained(design, signal)
    return sorted(found, key=lambda frequency: -found[frequency])[: 2 * most]


def _without_trend(x: Floats, y: Floats) -> Floats:
    """Take the best cubic off: it would look like waves of few periods."""
    scaled = (x - x.mean()) / (np.ptp(x) or 1.0)
    design = np.stack([scaled * scaled * scaled, scaled * scaled, scaled, np.ones_like(scaled)], axis=1)
    return np.asarray(y - _explained(design, y))


def _explained(design: Floats, y: Floats) -> Floats:
    """What columns explain of y: the nearest of their sums."""
    return arithmetic.product(design, arithmetic.least_squares(design, y))


def _sharpened(x: Floats, signal: Floats, frequency: float, step: float) -> float:
    """Climb to the top of a peak."""
    for _ in range(12):
        near = frequency + step * np.linspace(-1.0, 1.0, 9)
        frequency = float(near[np.argmax(_Waves.of(near, x).powers(signal))])
        step /= 3.0
    return frequency
