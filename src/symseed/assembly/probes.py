"""Probes of single variables: how relevant each is, and the frequencies at which the target waves with it.

Answers are hints: they order and seed a search, and exclude nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset

_BINS = 8
"""Most bins of a variable's values for its relevance: chosen by hand."""
_AT_ONCE = 2**20
"""Values that are sorted at once for it: a bound on memory."""
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
