"""Noise that grows with the value of a formula: its deviations, and the likelihood of data with them.

The weights of samples account for the noise by a smooth curve through the data. A formula far from that curve, such as
a constant for data over decades, must not profit from it: it is judged with the deviations that its own values imply.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats

_FEW, _SMALL = 0.1, 0.1
"""Quantile of the noise of all samples, and the share of it that the noise of a sample has at least: a reading is never
exact, also where a formula is 0. Chosen by hand."""


def deviations(values: Floats, floor: float, share: float, variance: Floats | float = 0.0) -> Floats:
    """Return the root of floor^2 + share^2 * (value^2 + variance)."""
    return np.asarray(np.sqrt(floor * floor + share * share * (values * values + variance)))


def never_exact(sizes: Floats) -> Floats:
    """Return deviations, (..., M), none of them far below the others; 0 where most of them are."""
    least = _SMALL * np.sort(sizes, axis=-1)[..., int(_FEW * (sizes.shape[-1] - 1)), None]
    return np.asarray(np.maximum(sizes, least))


@dataclass(frozen=True, eq=False, slots=True)
class Growth:
    """How the noise of samples grows with the value, and the deviations that their weights account for already."""

    spread: Floats
    """(M,), up to a common factor."""
    floor: float
    share: float

    def take(self, rows: npt.NDArray[np.intp]) -> Growth:
        """Return the same for some samples."""
        return replace(self, spread=self.spread[rows])

    def in_units(self, unit: float) -> Growth:
        """Return the same for a target that is divided by a unit."""
        return Growth(self.spread / unit, self.floor / unit, self.share)

    def own(self, values: Floats) -> tuple[Floats, Floats]:
        """Return what the values of formulas, (N, M), imply in place of the spread.

        The factor of each sample's weight, (N, M), and the sum of the logarithms of the deviations, in units of the
        spread and scaled so that neither changes for a formula whose values are those of the curve, (N,). The sum is
        infinite where the values leave no noise.
        """
        sizes = never_exact(deviations(values, self.floor, self.share))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = sizes / self.spread
            logs = np.sum(arithmetic.log(ratio), axis=-1)
            return 1.0 / (ratio * ratio), np.where(sizes.min(axis=-1) > 0.0, logs, np.inf)
