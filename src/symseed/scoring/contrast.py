"""Where formulas that explain the same data differ most: the place of the measurement that would tell them apart.

A difference of d standard deviations of a measurement is worth d²/2 nats to the better of two formulas, the simplest
criterion of discrimination between models (Hunter & Reiner 1965, "Designs for discriminating between two rival
models").
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.language.tokens import TokenKind
from symseed.scoring.uncertainty import Uncertainty

_STEPS = 101
"""Places along the range of a column: chosen by hand."""
_INSIDE = 500
"""Places drawn between pairs of samples: chosen by hand."""
_LEAST_GAIN = 1.2
"""Factor by which the best place for all columns must be better than that for one column, which is easier to reach:
chosen by hand."""


@dataclass(frozen=True, eq=False, slots=True)
class Contrast:
    """The place within the data where some formulas differ most."""

    at: dict[str, float]
    """The columns that the formulas use, and their values there."""
    moved: str | None
    """The column that differs from its median; None if several do."""
    values: Floats
    """What each formula predicts there."""
    deviations: float
    """Largest difference of two predictions, in standard deviations of a new measurement there."""


def largest_contrast(known: Sequence[Uncertainty], data: Dataset, *, seed: int) -> Contrast | None:
    """Return where formulas differ most: along one column's range, the others at their medians, or between samples.

    Args:
        known: at least two formulas over the columns of the data.
        data: the samples that were fitted.
        seed: draws the places between samples.

    Returns:
        None if the formulas have no column, or no value at any place.
    """
    tokens = itertools.chain.from_iterable(item.expression.tokens for item in known)
    names = {token.column: token.name for token in tokens if token.kind is TokenKind.VARIABLE}
    if not names:
        return None
    middle = np.quantile(data.X, 0.5, axis=0, method="lower")
    along = {column: _line(data.X[:, column], middle, column) for column in sorted(names)}
    best: tuple[float, str | None, Floats] | None = None
    for column, places in along.items():
        size, place = _largest(known, places)
        if best is None or size > best[0]:
            best = size, names[column], place
    assert best is not None, "a formula has a column"
    if len(names) > 1:
        size, place = _largest(known, _between(data.X, seed))
        if size > _LEAST_GAIN * best[0]:
            best = size, None, place
    size, moved, place = best
    if size < 0.0:
        return None
    values = np.array([item.expression.evaluate(place[None])[0] for item in known])
    at = {name: float(place[column]) for column, name in sorted(names.items())}
    return Contrast(at, moved, values, size)


def _line(values: Floats, middle: Floats, column: int) -> Floats:
    places = np.tile(middle, (_STEPS, 1))
    share = np.arange(_STEPS) / (_STEPS - 1)
    places[:, column] = values.min() * (1.0 - share) + values.max() * share
    return places


def _between(X: Floats, seed: int) -> Floats:
    """Places on the lines between pairs of samples."""
    draws = np.random.default_rng(seed)
    one, other = draws.integers(len(X), size=(2, _INSIDE))
    share = draws.uniform(0.0, 1.0, (_INSIDE, 1))
    return np.asarray(share * X[one] + (1.0 - share) * X[other])


def _largest(known: Sequence[Uncertainty], places: Floats) -> tuple[float, Floats]:
    """The largest difference at some places, in standard deviations, and its place; -1 if there is no value."""
    values = np.stack([item.expression.evaluate(places) for item in known])
    with np.errstate(all="ignore"):
        spread = np.stack([item.deviation(places) for item in known])
        # What the data do not determine at all would hide every difference; the noise is there in any case.
        noise = np.where(np.isfinite(spread), spread, [[item.noise] for item in known])
        size = (values.max(axis=0) - values.min(axis=0)) / np.sqrt(np.mean(noise * noise, axis=0))
    size = np.where(np.isfinite(size), size, -1.0)
    place = int(np.argmax(size))
    return float(size[place]), places[place]
