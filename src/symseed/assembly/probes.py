"""Probes of the data for structure: relevant variables, parities, sums and products of parts, and waves.

Answers are hints: they order and seed a search, and exclude nothing. Polynomials serve as the test on scattered or
noisy samples: if polynomials of one kind, say of even powers, have nearly the prediction error of all polynomials, by
generalised cross-validation (Craven & Wahba 1979), the target is taken to be of that kind.
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
"""Share of y's spread that a sum of single-variable parts may leave unexplained: rounding, chosen by hand."""
_BINS = 8
"""Most bins of a variable's values for its relevance: chosen by hand."""
_AT_ONCE = 2**20
"""Values that are sorted at once for it: a bound on memory."""
_MOST_TERMS = 60
"""Most monomials of a probing polynomial: chosen by hand, a bound on time."""
_MOST_TERMS_PER_SAMPLE = 0.7
"""Most monomials of a probing polynomial, per sample: more would fit noise. Chosen by hand."""
_LARGEST_DEGREE = 16
"""Highest degree of a probing polynomial: chosen by hand."""
_STARTS = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
"""First guesses of a factor of a product, as offset and slope of a straight line: chosen by hand."""
_ALTERNATIONS = 15
"""Alternating least squares steps for a product of two polynomials: chosen by hand."""
_LEAST_SIDE = 0.2
"""Share of the samples that must lie on either side of 0 for a parity: chosen by hand."""
_EXACT = 1e-12
"""Share of y's variance below which an error counts as 0: rounding."""
_UNEXPLAINED = 0.1
"""Share of y's variance above which an error is too large to show any structure: chosen by hand."""
_CHANCE_FACTOR = 1.2
"""Factor by which, by chance, the error of the right kind of polynomial may exceed that of all: chosen by hand."""
_SPECTRUM_SAMPLES = 2_000
"""Most samples of a spectrum: a bound on time and memory."""
_LEAST_POINTS = 16
"""Fewest different values of a variable for a spectrum: chosen by hand."""
_LEAST_PERIODS = 3
"""Fewest periods of a wave over a variable's range: fewer look like a trend."""
_LARGEST_FREQUENCY = 2_000
"""Most half periods of a wave over a variable's range: a bound on time and memory."""
_SIGNIFICANT = 16.0
"""Least power of a peak, in units of the mean power of noise of the same variance: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A target that is a sum of functions of one variable each, known at the values that the variable takes."""

    offset: float
    points: tuple[Floats, ...]
    """The different values of each variable."""
    values: tuple[Floats, ...]
    """The part of each variable at its `points`, with mean 0."""


@dataclass(frozen=True, slots=True)
class Split:
    """A target that is a sum or a product of two parts."""

    error: float
    """Mean squared error as a share of y's variance."""
    place: int
    """Index among the columns of the first part's variable; the second part has the others."""
    is_product: bool
    first: Floats
    """(M,): desired values of the first part at the samples, given the second; they hold the noise of y."""
    second: Floats
    first_weights: Floats
    """(M,): weight of an error of the first part; for a factor, the square of the other factor."""
    second_weights: Floats


@dataclass(frozen=True, slots=True)
class _Fit:
    """A polynomial, and its expected prediction error as a share of y's variance."""

    exponents: tuple[Exponents, ...]
    factors: Floats
    error: float


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of two polynomials, and its expected prediction error as a share of y's variance."""

    error: float
    factors: Floats
    """Coefficients of the first polynomial."""
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
        """Power of a signal at each frequency."""
        along, across = arithmetic.product(self.sines, signal), arithmetic.product(self.cosines, signal)
        return np.asarray(along * along + across * across)


def relevance(dataset: Dataset) -> Floats:
    """Return, for each variable, the share of y's variance that bins of it explain, (V,).

    The share that bins explain by chance alone is subtracted. A constant column explains nothing.
    """
    count = len(dataset)
    bins = max(2, min(_BINS, count // 4))
    if count < bins:
        return np.zeros(dataset.X.shape[1])
    # Equal values share their mean rank: otherwise the order of the rows would matter.
    _, place, times = np.unique(dataset.y, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - 0.5 * (times + 1))[place]
    total = float(((ranks - ranks.mean()) ** 2).sum()) or 1.0
    out = np.zeros(dataset.X.shape[1])
    varies = np.ptp(dataset.X, axis=0) > 0.0  # bins of a constant would follow the order of the rows
    sizes = np.full(bins, count // bins)
    sizes[: count % bins] += 1
    begins = np.cumsum(sizes) - sizes
    columns = np.flatnonzero(varies)
    for some in np.array_split(columns, max(1, len(columns) * count // _AT_ONCE)):
        order = np.argsort(dataset.X[:, some].T, axis=1, kind="stable")
        # Sums of ranks, which are whole or half numbers, are exact in any order.
        means = np.add.reduceat(ranks[order], begins, axis=1) / sizes - ranks.mean()
        out[some] = np.sum(sizes * means**2, axis=1) / total - (bins - 1) / (count - 1)
    return out


def sum_of_parts(dataset: Dataset) -> Parts | None:
    """Return the parts of a target that is a sum of functions of one variable each; None if it is not known to be.

    The samples must be a full grid: each part is then a mean over all other variables.
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
    """Parities, sums and products of the target, detected with polynomials."""

    def __init__(self, dataset: Dataset, columns: Sequence[int]) -> None:
        """Take the data, and the columns to probe."""
        X = dataset.X[:, columns]
        largest = np.abs(X).max(axis=0)
        self._X = X / np.where(largest > 0.0, largest, 1.0)
        self._root = np.sqrt(dataset.weights / dataset.weights.mean())
        self._scale = dataset.deviation or 1.0
        self._y = dataset.y / self._scale
        self._most = min(_MOST_TERMS, int(_MOST_TERMS_PER_SAMPLE * len(dataset)))
        self._least = self._best(lambda _: True).error

    def parity(self, place: int) -> int:
        """Return 1 if y seems even in a variable, -1 if it seems odd, else 0.

        `place` is the variable's index among the columns. Samples must lie on both sides of 0.
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

        The splits with the smallest error come first.
        """
        count = self._X.shape[1]
        # With two variables, splitting off either one gives the same split.
        places = range(count) if count > 2 else range(count - 1)
        found = [split(place) for place in places for split in (self._sum, self._product)]
        return sorted((split for split in found if split is not None), key=lambda split: split.error)

    def _is_convincing(self, error: float) -> bool:
        return error <= min(max(_CHANCE_FACTOR * self._least, _EXACT), _UNEXPLAINED)

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
        """Return the sum of two polynomials that predicts best, if it is convincing."""
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
        """Return the product of two polynomials that predicts best, if it is convincing."""
        others = [other for other in range(self._X.shape[1]) if other != place]
        # Degree 1 begins with several straight lines; each later degree begins with the result of the last.
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
        """Alternating least squares: solve for each factor in turn, with the other fixed."""
        free = own.shape[1] + rest.shape[1] - 1
        first, second, error = arithmetic.product(own, factors), np.empty(0), np.inf
        for _ in range(_ALTERNATIONS):
            second = arithmetic.product(rest, self._solved((self._root * first)[:, None] * rest, free)[0])
            second = second / max(math.sqrt(arithmetic.dot(second, second)), 1e-300)
            factors, error = self._solved((self._root * second)[:, None] * own, free)
            first = arithmetic.product(own, factors)
        return _Product(error, factors, first, second)

    def _solved(self, design: Floats, free: int) -> tuple[Floats, float]:
        """Return coefficients of the columns, and their error by generalised cross-validation (Craven & Wahba 1979).

        Args:
            free: number of degrees of freedom of the whole formula.
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

    The square shows the frequencies of a product, each doubled. Only waves of several periods count: slower ones look
    like a trend.

    Args:
        carriers: waves of other variables, by column and frequency. A wave multiplied by one of them averages out of
            y, but shows in y times that carrier.
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
            # This wave is subtracted, so that the next peak is another wave.
            design = np.stack([arithmetic.sin(frequency * x), arithmetic.cos(frequency * x)], axis=1)
            signal = signal - _explained(design, signal)
    return sorted(found, key=lambda frequency: -found[frequency])[: 2 * most]


def _without_trend(x: Floats, y: Floats) -> Floats:
    """Subtract the best cubic, which would look like waves of few periods."""
    scaled = (x - x.mean()) / (np.ptp(x) or 1.0)
    design = np.stack([scaled * scaled * scaled, scaled * scaled, scaled, np.ones_like(scaled)], axis=1)
    return np.asarray(y - _explained(design, y))


def _explained(design: Floats, y: Floats) -> Floats:
    """The projection of y on the columns."""
    return arithmetic.product(design, arithmetic.least_squares(design, y))


def _sharpened(x: Floats, signal: Floats, frequency: float, step: float) -> float:
    """Refine the frequency of a peak by nested grids."""
    for _ in range(12):
        near = frequency + step * np.linspace(-1.0, 1.0, 9)
        frequency = float(near[np.argmax(_Waves.of(near, x).powers(signal))])
        step /= 3.0
    return frequency
