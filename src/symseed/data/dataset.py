"""Data: a table of inputs, a target, and weights, checked once and never changed.

Axis letters: M samples, V variables.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats, floats
from symseed.data.backend import Backend, CoreBackend, Fits
from symseed.data.growth import Growth
from symseed.data.losses import Loss, Ruler
from symseed.errors import DataError, SettingsError

LARGEST_EXACT = 2**53
"""Largest whole number up to which float64 represents every whole number."""
ROUNDING = 1e-15
"""Share of y's root mean square below which an error is rounding."""

_LARGEST_CONSTANT = 1e12
"""Largest constant of a formula for data of size 1: added to such a number, the data keep less than four digits."""


class Measured(Protocol):
    """Samples by which formulas are fitted, described and simplified: a dataset, or all samples of a large table."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def backend(self) -> Fits:
        """Computes formulas on the samples."""

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""

    @property
    def rounding(self) -> float:
        """The mean squared error that is due to rounding."""

    @property
    def largest_constant(self) -> float:
        """Largest size of a constant in a formula for these samples."""

    def __len__(self) -> int:
        """Return the number of samples."""

    def mean_squares(self, error: Floats) -> Floats:
        """Return mean squared errors, or those of equal loss, from the weighted sums of `backend`."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Finite float64 arrays of matching shapes, read-only; build one with `Dataset.of`."""

    X: Floats  # (M, V)
    y: Floats  # (M,)
    weights: Floats  # (M,), at least one of them positive
    names: tuple[str, ...]  # of the V columns
    loss: Loss | None = None  # None: squared errors
    make_backend: BackendFactory | None = None  # None: the compiled core
    growth: Growth | None = None  # of the noise with the value; None: the weights are all that is known

    @classmethod
    def of(
        cls,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> Dataset:
        """Check arrays, and copy those that are not read-only.

        Args:
            X: (M, V); one column may be given as (M,).
            y: (M,); a column (M, 1) is taken too.
            weights: (M,), not negative; 1 for each sample if left out.
            names: names of the columns; x1, x2, ... if left out.

        Raises:
            DataError: naming the array, the column, and the value found there.
        """
        table = floats(X, "X")
        if table.ndim == 1:
            table = table[:, None]
        if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] == 0:
            raise DataError(
                f"`X` must be a table of samples by variables, at least one of each, but its shape is {table.shape}."
            )
        target = floats(y, "y")
        if target.ndim == 2 and target.shape[1] == 1:
            target = target[:, 0]
        _check_length(target, "y", len(table))
        weight = np.ones(len(table)) if weights is None else floats(weights, "weights")
        _check_length(weight, "weights", len(table))
        labels = tuple(f"x{i + 1}" for i in range(table.shape[1])) if names is None else tuple(names)
        if len(labels) != table.shape[1]:
            raise DataError(f"`names` must name each of the {table.shape[1]} columns of `X`, but has {len(labels)}.")
        if len(set(labels)) != len(labels) or not all(isinstance(label, str) and label for label in labels):
            raise DataError(f"`names` must be different texts, none of them empty, but they are {labels[:10]}.")
        if not np.isfinite(table).all():
            for column, label in enumerate(labels):
                _check_finite(table[:, column], f"Column `{label}` of `X`")
        _check_finite(target, "`y`")
        _check_finite(weight, "`weights`")
        if weight.min() < 0.0 or weight.max() == 0.0:
            raise DataError(
                "`weights` must not be negative, and not all 0. Leave them out to weigh every sample alike."
            )
        with np.errstate(over="ignore"):
            if not np.isfinite(weight.sum()):
                raise DataError("`weights` must have a sum within float64, but theirs is larger. Divide them by it.")
        return cls(_frozen(table), _frozen(target), _frozen(weight), labels)

    def __len__(self) -> int:
        """Return M."""
        return len(self.y)

    @functools.cached_property
    def deviation(self) -> float:
        """Weighted population standard deviation of y; exactly 0 if y is constant."""
        counted = self.y[self.weights > 0.0]
        if counted.min() == counted.max():
            return 0.0
        # In units of the largest value, so that squares neither overflow nor underflow.
        unit = float(np.abs(self.y).max())
        scaled = self.y / unit
        mean = np.average(scaled, weights=self.weights)
        return unit * float(np.sqrt(np.average((scaled - mean) ** 2, weights=self.weights)))

    @functools.cached_property
    def has_one_sign(self) -> bool:
        """Whether all values of y are positive, or all negative."""
        return bool((self.y > 0.0).all() or (self.y < 0.0).all())

    @functools.cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    def take(self, rows: npt.NDArray[np.intp]) -> Dataset:
        """Return some samples."""
        some = self.with_samples(self.X[rows], self.y[rows], self.weights[rows]).with_loss(self.loss)
        return some if self.growth is None else some.with_growth(self.growth.take(rows))

    def counted(self) -> Dataset:
        """Return the samples whose weight is not 0."""
        rows = np.flatnonzero(self.weights > 0.0)
        return self if len(rows) == len(self) else self.take(rows)

    def sampled(self, most: int | None, seed: int) -> Dataset:
        """Return at most `most` samples, drawn at random, in their order; None: all of them."""
        if most is None or len(self) <= most:
            return self
        return self.take(np.sort(np.random.default_rng(seed).choice(len(self), most, replace=False)))

    def with_samples(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> Dataset:
        """Return other samples, checked as by `of`, on the same backend, with squared errors and no growing noise.

        The columns keep their names if `names` is left out.
        """
        return Dataset.of(X, y, weights, self.names if names is None else names).with_backend(self.make_backend)

    def with_backend(self, make: BackendFactory | None) -> Dataset:
        """Return the same samples with another backend; None: the compiled core.

        Args:
            make: makes the backend of a dataset, such as a class that takes one. All datasets derived from this one use
                it too. It is pickled with the data, so it must be importable by name in other processes.
        """
        return self if make is self.make_backend else dataclasses.replace(self, make_backend=make)

    def with_growth(self, growth: Growth | None) -> Dataset:
        """Return the same samples with noise that grows with the value."""
        return dataclasses.replace(self, growth=growth)

    def with_loss(self, loss: Loss | None) -> Dataset:
        """Return the same samples with another loss.

        Raises:
            SettingsError: if the loss does not grow with the error.
        """
        if loss is self.loss:
            return self
        other = dataclasses.replace(self, loss=loss)
        other.mean_squares(np.zeros(1))  # The loss is measured at once, so that a bad one is refused early.
        return other

    @functools.cached_property
    def rounding(self) -> float:
        """The mean squared error that is due to rounding."""
        unit = float(np.abs(self.y).max()) or 1.0
        return (
            float(ROUNDING * ROUNDING * np.average((self.y / unit) ** 2, weights=self.weights) * unit * unit) or 1e-300
        )

    @functools.cached_property
    def largest_constant(self) -> float:
        """Largest size of a constant in a formula for these data.

        It grows with the square of the largest size of a column or of y, or of one over it. A constant beyond it stands
        for something else, as the factor in log(1e50 x) stands for an added 115.
        """
        return largest_constant([float(np.abs(column).max()) for column in (*self.X.T, self.y)])

    @functools.cached_property
    def ruler(self) -> Ruler | None:
        """Converts mean losses to mean squared errors of equal loss; None for squared errors."""
        return None if self.loss is None else Ruler(self.loss, self.y, self.weights, self.deviation)

    def mean_squares(self, error: Floats) -> Floats:
        """Return mean squared errors from the core's weighted sums; for another loss, those of equal loss."""
        mean = error / self.total_weight
        return mean if self.ruler is None else self.ruler.mean_square(mean)

    @functools.cached_property
    def samples(self) -> _core.Samples:
        """The samples as the core reads them, a copy."""
        return _core.Samples(self.X, self.y, self.weights)

    @functools.cached_property
    def backend(self) -> Backend:
        """The backend that computes formulas on the samples."""
        return CoreBackend(self.samples, self.loss) if self.make_backend is None else self.make_backend(self)

    def with_noise(self, level: float, *, seed: int) -> Dataset:
        """Return the same samples with Gaussian noise in y, whose standard deviation is `level` times y's RMS.

        A pure function of the seed: one seed gives the same draws at every level, scaled by the level.
        """
        if not 0.0 <= level < np.inf or seed < 0:
            raise SettingsError(f"`level` and `seed` of noise must be at least 0, but they are {level} and {seed}.")
        # In units of the largest value, so that squares neither overflow nor underflow.
        unit = float(np.abs(self.y).max()) or 1.0
        rms = unit * float(np.sqrt(np.average((self.y / unit) ** 2, weights=self.weights)))
        draws = np.random.default_rng(seed).standard_normal(len(self))
        return self.with_samples(self.X, self.y + level * rms * draws, self.weights).with_loss(self.loss)

    def __reduce__(self) -> tuple[Callable[..., Dataset], tuple[object, ...]]:
        """Pickle the arrays; the backend and the core's copy are built again."""
        return _restored, (self.X, self.y, self.weights, self.names, self.loss, self.make_backend, self.growth)


def largest_constant(largest: Sequence[float]) -> float:
    """Return the largest size of a constant, given the largest sizes of each column and of y."""
    sizes = [max(size, 1.0 / size) for size in largest if size > 0.0]
    return _LARGEST_CONSTANT * max(sizes, default=1.0) ** 2 if max(sizes, default=1.0) < 1e140 else np.inf


BackendFactory: TypeAlias = Callable[[Dataset], Backend]
"""Makes the backend of a dataset."""


def _restored(
    X: Floats,
    y: Floats,
    weights: Floats,
    names: tuple[str, ...],
    loss: Loss | None,
    make_backend: BackendFactory | None,
    growth: Growth | None,
) -> Dataset:
    return Dataset(_frozen(X), _frozen(y), _frozen(weights), names, loss, make_backend, growth)


def warn_of_rounding(what: str) -> None:
    """Warn that a column holds whole numbers beyond `LARGEST_EXACT`."""
    warnings.warn(
        f"{what} holds whole numbers beyond 2^53, which float64 rounds. Subtract a common offset.",
        UserWarning,
        stacklevel=3,
    )


def _check_length(array: Floats, name: str, expected: int) -> None:
    if array.ndim != 1 or len(array) != expected:
        raise DataError(
            f"`{name}` must have one value for each of the {expected} samples of `X`, but its shape is {array.shape}."
        )


def _check_finite(values: Floats, what: str) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise DataError(
            f"{what} must be finite, but holds {values[bad[0]]} in row {bad[0]} ({len(bad)} such values in all). "
            "Leave those samples out, or fill them."
        )


def _frozen(array: Floats) -> Floats:
    """A read-only copy; an array that is read-only already is returned as it is."""
    if not array.flags.writeable and array.flags.c_contiguous:
        return array
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy
