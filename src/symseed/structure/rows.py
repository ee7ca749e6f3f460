"""The rows of a table on which structure is sought: spread out over the data, in an order of which any start is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats

_DRAWN = 2_000
"""Most rows among which the spread ones are chosen, drawn at random: a bound on time."""


def spread_rows(X: Floats, count: int, *, seed: int) -> npt.NDArray[np.intp]:
    """Return at most `count` rows, each as far as possible from those before it.

    Distances are between ranks, so that a few far values do not decide; equal values have one rank.
    """
    rows = np.arange(len(X))
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(rows, _DRAWN, replace=False)) if len(rows) > _DRAWN else rows
    places = np.stack([_ranks(column) for column in X[rows].T], axis=1)
    chosen = [int(rng.integers(len(rows)))]
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < min(count, len(rows)):
        gap = places - places[chosen[-1]]
        nearest = np.minimum(nearest, np.sum(gap * gap, axis=1))
        nearest[chosen[-1]] = -1.0
        chosen.append(int(np.argmax(nearest)))
    return np.asarray(rows[np.array(chosen)])


def _ranks(column: Floats) -> Floats:
    """Ranks of the values as shares of their number."""
    points, place = np.unique(column, return_inverse=True)
    return np.asarray(place / max(len(points) - 1, 1))
