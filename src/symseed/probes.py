"""What the data alone say of a formula's structure: which variables matter, and whether it is a sum or a product.

Answers are hints: they order and seed a search, and never keep it from looking elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symseed.dataset import Dataset, Floats

_FLOOR = 1e-9
"""Share of y's spread that a sum of single-variable parts may leave unexplained."""
_BINS = 8
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
        between = sum(len(group) * (group.mean() - ranks.mean()) ** 2 for group in groups)
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


def parity(dataset: Dataset, column: int) -> int:
    """Return 1 where y does not change with the sign of a variable, -1 where it changes sign with it, else 0.

    It can be told where the samples hold the mirror image of each of them.
    """
    rows = {row.tobytes(): i for i, row in enumerate(dataset.X + 0.0)}
    mirrored = dataset.X.copy()
    mirrored[:, column] *= -1.0
    images = [rows.get(row.tobytes()) for row in mirrored + 0.0]
    if any(image is None for image in images) or not np.any(dataset.X[:, column]):
        return 0
    other = dataset.y[np.array(images, dtype=np.intp)]
    scale = _FLOOR * (float(np.abs(dataset.y).max()) or 1.0)
    if np.abs(other - dataset.y).max() <= scale:
        return 1
    return -1 if np.abs(other + dataset.y).max() <= scale else 0


def frequencies(dataset: Dataset, column: int, *, most: int = 2) -> list[float]:
    """Return the angular frequencies, strongest first, at which y or its square swings with a variable.

    The square shows the frequencies of a product, each doubled. Only swings of several periods count: slower ones
    cannot be told from a trend.
    """
    rows = np.arange(len(dataset))
    if len(rows) > _SPECTRUM_SAMPLES:
        rows = np.random.default_rng(0).choice(rows, _SPECTRUM_SAMPLES, replace=False)
    x, y = dataset.X[rows, column], dataset.y[rows]
    width = float(np.ptp(x))
    if width == 0.0 or len(np.unique(x)) < _LEAST_POINTS:
        return []
    step = np.pi / width
    grid = step * np.arange(2 * _LEAST_PERIODS, min(_LARGEST_FREQUENCY, len(np.unique(x))))
    waves = np.exp(1j * np.outer(grid, x))
    found: dict[float, float] = {}
    centred = _without_trend(x, y)
    for signal, factor in ((centred, 1.0), (_without_trend(x, centred**2), 0.5)):
        for _ in range(most):
            variance = float(signal @ signal)
            if variance <= 1e-20 * float(y @ y):
                break
            power = np.abs(waves @ signal) ** 2 / variance
            peak = int(np.argmax(power))
            if power[peak] < _SIGNIFICANT:
                break
            frequency = _sharpened(x, signal, float(grid[peak]), step)
            found.setdefault(factor * frequency, float(power[peak]))
            # What this swing explains is taken off, so that the next peak is another one.
            design = np.stack([np.sin(frequency * x), np.cos(frequency * x)], axis=1)
            signal = signal - design @ np.linalg.lstsq(design, signal, rcond=None)[0]
    return sorted(found, key=lambda frequency: -found[frequency])[: 2 * most]


def _without_trend(x: Floats, y: Floats) -> Floats:
    """Take the best cubic off: it would look like swings of few periods."""
    scaled = (x - x.mean()) / (np.ptp(x) or 1.0)
    design = np.vander(scaled, 4)
    return np.asarray(y - design @ np.linalg.lstsq(design, y, rcond=None)[0])


def _sharpened(x: Floats, signal: Floats, frequency: float, step: float) -> float:
    """Climb to the top of a peak."""
    for _ in range(12):
        near = frequency + step * np.linspace(-1.0, 1.0, 9)
        frequency = float(near[np.argmax(np.abs(np.exp(1j * np.outer(near, x)) @ signal))])
        step /= 3.0
    return frequency
