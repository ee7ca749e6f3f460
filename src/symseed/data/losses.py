"""What an error costs: losses by name, or functions of the user's own, and the size of error that a loss amounts to.

Search, description length and choice are written for squared errors. For another loss they see, in the place of the
root mean square, the error which, made at every sample, upwards and downwards alike, would cost as much as a formula
does on the average: for squares that is the root mean square itself, for absolute errors their mean. So n log of it are
the nats of the data under the distribution of errors for which the loss is the natural one (Gauss, Laplace, ...).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.errors import SettingsError
from symseed.language.functions import Expansion, Function

_SAMPLES = 256
_EXPONENTS = np.arange(-60, 41) / 2.0  # of 2: errors from 1e-9 to 1e6 of y's spread
_LEAST_GROWTH = 0.1
_ROUNDING, _NOTHING = 1e-9, 1e-12
_SMALL = 0.003  # two terms of the series are right to 4e-12 there


def _squared(y: Any, prediction: Any) -> Any:
    return (y - prediction) ** 2


def _absolute(y: Any, prediction: Any) -> Any:
    return np.abs(y - prediction)


def _huber(y: Any, prediction: Any) -> Any:
    """The square of errors up to 1, in the units of y, and twice the error less 1 beyond."""
    error = np.abs(y - prediction)
    small = np.minimum(error, 1.0)
    return small * (2.0 * error - small)


def _logcosh(y: Any, prediction: Any) -> Any:
    """The logarithm of the hyperbolic cosine: a series for small errors, then exponentials that do not overflow."""
    error = np.abs(y - prediction)
    # Small errors would be lost in the difference of large numbers that the exponentials amount to.
    square = np.minimum(error, _SMALL) ** 2
    series = square / 2.0 * (1.0 - square / 6.0)
    large = np.maximum(error, _SMALL)
    rest = large - _SMALL + np.log((1.0 + np.exp(-2.0 * large)) / (1.0 + arithmetic.exp(-2.0 * _SMALL)))
    return series + rest


NAMED: dict[str, Callable[..., Any]] = {
    "squared": _squared,
    "absolute": _absolute,
    "huber": _huber,
    "logcosh": _logcosh,
}
"""Losses by name."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss that is not the square of the error; `Loss.of` makes one."""

    function: Function
    """Of y and prediction, element by element, in the units of `unit`."""
    unit: float = 1.0
    """What a 1 in the data stands for."""
    scaled: Function = field(init=False, repr=False, compare=False)
    """The function of the data as they are."""

    def __post_init__(self) -> None:
        """Put the unit in."""
        function = self.function
        if self.unit != 1.0:
            call, expansion = _InUnits(function.call, self.unit), function.expansion
            function = Function(call, function.name, 2, None if expansion is None else _rescaled(expansion, self.unit))
        object.__setattr__(self, "scaled", function)

    def __reduce__(self) -> tuple[type[Loss], tuple[Function, float]]:
        """Pickle what it is made of."""
        return Loss, (self.function, self.unit)

    @classmethod
    def of(cls, loss: str | Callable[..., Any]) -> Loss | None:
        """Return a loss by its name, or from a function of y and prediction; None for squared errors.

        Raises:
            SettingsError: saying what such a function must be like, and what this one did.
        """
        if isinstance(loss, str):
            if loss not in NAMED:
                raise SettingsError(
                    f"`{loss}` is not a loss. Expected one of {', '.join(NAMED)}, or a function of y and prediction."
                )
            function = Function.of(NAMED[loss], loss, 2)
        else:
            function = _of_callable(loss)
        y, prediction = np.meshgrid(np.linspace(-3.0, 3.0, 13), np.linspace(-2.0, 4.0, 11))
        values = function.native.values(y.ravel(), prediction.ravel())
        is_squared = np.allclose(values, _squared(y, prediction).ravel(), rtol=1e-12, atol=1e-12)
        return None if is_squared else cls(function)

    def in_units(self, unit: float) -> Loss:
        """Return the same loss for data in units of `unit` of what they are in now."""
        return Loss(self.function, self.unit * unit)


def _gives_one_number(call: Callable[..., Any]) -> bool:
    given = np.array([1.0, 2.0])
    try:
        return np.ndim(call(given, given.copy())) == 0
    except Exception:  # whatever it is, `Function.of` meets it too, and says so
        return False


def _of_callable(call: Callable[..., Any]) -> Function:
    name = getattr(call, "__name__", "loss").strip("<>")
    if _gives_one_number(call):
        averaged = Function.averaged(call, name)
        if averaged is None:
            raise SettingsError(
                f"The loss `{name}` gives one number for all samples, which is not seen to be the mean or sum of what "
                "each costs. Let it give the loss of each sample: an array of the shape of y."
            )
        return averaged
    return Function.of(call, name, 2)


@dataclass(frozen=True, slots=True)
class _InUnits:
    """A function of scaled arguments, which can be pickled."""

    call: Callable[..., Any]
    unit: float

    def __call__(self, y: Any, prediction: Any) -> Any:
        return self.call(y * self.unit, prediction * self.unit)


def _rescaled(expansion: Expansion, unit: float) -> Expansion:
    return tuple(part for step in expansion for part in (("mul", unit, step) if isinstance(step, int) else (step,)))


class Ruler:
    """Tells the size of error that a mean loss amounts to on some data."""

    def __init__(self, loss: Loss, y: Floats, weights: Floats, spread: float) -> None:
        """Measure how the loss grows with the error.

        Raises:
            SettingsError: where it does not, or has no finite value for predictions without error.
        """
        name, values = loss.function.name, loss.scaled.native.values
        counted = np.flatnonzero(weights > 0.0)
        least = values(y[counted], y[counted])
        if not np.isfinite(least).all():
            at = float(y[counted][~np.isfinite(least)][0] * loss.unit)
            raise SettingsError(
                f"The loss `{name}` must be finite for a prediction without error, but not at y = {at}."
            )
        self._least = float(np.average(least, weights=weights[counted]))
        chosen = counted[np.arange(min(_SAMPLES, len(counted))) * len(counted) // min(_SAMPLES, len(counted))]
        sizes = (spread or float(np.abs(y).max()) or 1.0) * arithmetic.power(2.0, _EXPONENTS)
        given, share = y[chosen], weights[chosen] / weights[chosen].sum()
        means = np.zeros(len(sizes))
        for sign in (-0.5, 0.5):
            moved = given + np.sign(sign) * sizes[:, None]
            losses = values(np.tile(given, len(sizes)), moved.ravel()).reshape(moved.shape)
            with np.errstate(invalid="ignore", over="ignore"):
                means += 0.5 * arithmetic.product(losses - values(given, given), share)
        finite = np.isfinite(means)
        if not finite.any() or means[finite].min() < -_ROUNDING * np.abs(means[finite]).max():
            raise SettingsError(f"The loss `{name}` must be least where the prediction is y, but it is less elsewhere.")
        # What is lost beside the loss of an error as large as y's spread may be rounding, and says nothing of growth.
        usual = float(np.max(means, where=finite & (_EXPONENTS <= 0.0), initial=0.0))
        before = np.maximum.accumulate([_NOTHING * usual, *np.where(finite, means, 0.0)[:-1]])
        rising = finite & (means > before)
        if np.count_nonzero(rising) < 2:
            raise SettingsError(f"The loss `{name}` must grow with the error, but it does not.")
        self._means, self._sizes = arithmetic.log(means[rising]), arithmetic.log(sizes[rising])

    def mean_square(self, mean_loss: Floats) -> Floats:
        """Return the squares of the sizes of error that mean losses amount to; NaN stays NaN."""
        means, sizes = self._means, self._sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = arithmetic.log(np.maximum(mean_loss - self._least, 0.0))
            size = np.interp(logs, means, sizes)
            # Beyond what was measured it grows as it did at the end.
            for end, beside, is_beyond in ((0, 1, logs < means[0]), (-1, -2, logs > means[-1])):
                growth = max((means[end] - means[beside]) / (sizes[end] - sizes[beside]), _LEAST_GROWTH)
                size = np.where(is_beyond, sizes[end] + (logs - means[end]) / growth, size)
        return arithmetic.exp(np.minimum(2.0 * size, arithmetic.log(float(np.finfo(np.float64).max))))
