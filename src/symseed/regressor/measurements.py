"""The measurements of one target: its samples as the user weighs them, and as their noise does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed.arrays import Floats
from symseed.data import Dataset, Loss
from symseed.data.noise import ADDITIVE, Noise, NoiseKind, Pilot, pilot, robust_loss, robust_size, weighed
from symseed.data.quick_laws import LawCurve, law_curve
from symseed.tables import LargeTable

MOST_ROWS = 10_000
"""Most samples that a search uses, drawn at random; its formulas are fitted and judged on all. Chosen by hand."""


@dataclass(frozen=True, eq=False, slots=True)
class Measurements:
    """Samples with the weights of the user, who gets losses by them, and of the noise, by which formulas are fitted."""

    given: Dataset
    """With the weights and the loss of the user."""
    data: Dataset
    """With weights and a loss that account for the noise; the same dataset if the noise is additive."""
    large: LargeTable | None = None
    """The table that the samples were drawn from; None: they are all samples."""
    curve: Pilot | LawCurve | None = None
    """Gives the standard deviations of the samples' noise, if `large` has no column of them; None: it is additive."""

    @classmethod
    def of(cls, given: Dataset, errors: Floats | None, large: LargeTable | None = None) -> Measurements:
        """Take samples, and their standard errors if the user gave them."""
        return cls(given, given if errors is None else weighed(given, errors).dataset, large)

    def __len__(self) -> int:
        """Return the number of all samples."""
        return len(self.given) if self.large is None else len(self.large)

    @property
    def counted(self) -> int:
        """Number of all samples of positive weight."""
        return int(np.count_nonzero(self.data.weights)) if self.large is None else len(self.large)

    def with_loss(self, loss: Loss | None, fitted: Loss | None) -> Measurements:
        """Return the same samples with the loss of the user and that by which formulas are fitted."""
        given = self.given.with_loss(loss)
        is_same = self.data is self.given and fitted is loss
        return replace(self, given=given, data=given if is_same else self.data.with_loss(fitted))

    def take(self, columns: Sequence[int]) -> Measurements:
        """Return the same samples with some of their columns."""
        given = _of_columns(self.given, columns)
        return Measurements(given, given if self.data is self.given else _of_columns(self.data, columns))

    def weighed(self, curve: Pilot | LawCurve | None, columns: Sequence[int]) -> Measurements:
        """Return the same samples with the weights of a pilot; `columns` are those that its curve depends on."""
        if curve is None:
            return self
        data = curve.noise.by(self.data, curve.deviations(self.given.X[:, columns])).dataset
        return replace(self, data=data, curve=curve)


@dataclass(frozen=True, eq=False, slots=True)
class Chosen:
    """The noise of a target."""

    noise: Noise
    curve: Pilot | LawCurve | None = None
    """Gives the weights of samples; None: they stay as they are."""
    loss: Loss | None = None
    """Loss by which formulas are fitted; None: squared errors, or the user's own loss."""


def chosen(data: Dataset, wanted: NoiseKind | None, *, is_given: bool) -> Chosen:
    """Return the noise of some samples.

    Args:
        wanted: the noise that the user set; None: by evidence.
        is_given: whether the standard errors of the samples are given, as their weights.
    """
    if is_given:
        return Chosen(Noise(NoiseKind.GIVEN))
    if wanted is NoiseKind.ADDITIVE or data.loss is not None or data.deviation == 0.0:
        return Chosen(ADDITIVE)
    if wanted is NoiseKind.ROBUST:
        size = robust_size(data)
        return Chosen(Noise(NoiseKind.ROBUST, floor=size), loss=robust_loss(size))
    curve = pilot(data, wanted) or (law_curve(data) if wanted is None else None)
    return Chosen(ADDITIVE) if curve is None else Chosen(curve.noise, curve)


def _of_columns(dataset: Dataset, columns: Sequence[int]) -> Dataset:
    names = [dataset.names[column] for column in columns]
    return dataset.with_samples(dataset.X[:, columns], dataset.y, dataset.weights, names)
