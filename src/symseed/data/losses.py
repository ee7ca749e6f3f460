"""Losses by name or from users' functions, and the conversion of a mean loss to an equivalent error.

Search, description length and selection are defined for the root mean squared error. For another loss they use the
equivalent error: the size of error, the same at every sample and of either sign, that has the formula's mean loss. For
squares it is the root mean square, for absolute errors their mean. n log of it is the code length of the data under the
error distribution that belongs to the loss (Gauss, Laplace, ...).
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.errors import SettingsError, shown
from symseed.language.functions import Expansion, Function
from symseed.text import is_number

_SAMPLES = 256
"""Most samples at which the growth of a loss is measured: chosen by hand."""
_EXPONENTS = np.arange(-60, 41) / 2.0
"""Errors at which a loss is measured, as exponents of 2: from 1e-9 to 1e6 of y's spread."""
_LEAST_GROWTH = 0.1
"""Least power of the error with which a loss is extrapolated: chosen by hand."""
_MEAN_ROUNDING = 1e-9
"""Share of the largest mean loss by which a mean may be negative: rounding, chosen by hand."""
_NEGLIGIBLE_LOSS = 1e-12
"""Share of the loss at y's spread below which a mean loss may be rounding: chosen by hand."""
_SMALL = 0.003
"""Error up to which the series of log cosh is used: two terms are accurate to 4e-12 there."""


def _squared(y: Any, prediction: Any) -> Any:
    return (y - prediction) ** 2


def _absolute(y: Any, prediction: Any) -> Any:
    return np.abs(y - prediction)


@dataclass(frozen=True, slots=True)
class _Huber:
    """The squared error up to an error of `bend`, in the units of y, and a straight line of that slope beyond."""

    bend: float = 1.0

    def __call__(self, y: Any, prediction: Any) -> Any:
        error = np.abs(y - prediction)
        small = np.minimum(error, self.bend)
        return small * (2.0 * error - small)


def _logcosh(y: Any, prediction: Any) -> Any:
    """The logarithm of the hyperbolic cosine: a series for small errors, then exponentials that do not overflow."""
    error = np.abs(y - prediction)
    # The exponentials would cancel for small errors.
    square = np.minimum(error, _SMALL) ** 2
    series = square / 2.0 * (1.0 - square / 6.0)
    large = np.maximum(error, _SMALL)
    rest = large - _SMALL + np.log((1.0 + np.exp(-2.0 * large)) / (1.0 + arithmetic.exp(-2.0 * _SMALL)))
    return series + rest


def _log1p(value: Any) -> Any:
    return np.log1p(value)


@dataclass(frozen=True, slots=True)
class _Student:
    """The negative log-likelihood of Student's t distribution, less a constant and up to a factor."""

    size: float
    freedom: float

    def __call__(self, y: Any, prediction: Any) -> Any:
        error = (y - prediction) / self.size
        return _log1p(error * error / self.freedom)


def student(size: float, freedom: float) -> Loss:
    """Return the loss of errors with Student's t distribution, which has more outliers than a normal one.

    Args:
        size: scale of the errors, in the units of y.
        freedom: degrees of freedom.
    """
    return Loss(Function.of(_Student(size, freedom), "student", 2))


NAMED: dict[str, Callable[..., Any]] = {
    "squared": _squared,
    "absolute": _absolute,
    "huber": _Huber(),
    "logcosh": _logcosh,
}
"""Losses by name."""

ALIASES: Mapping[str, str] = types.MappingProxyType(
    {
        **dict.fromkeys(("squarederror", "meansquarederror", "mse", "l2", "l2distloss"), "squared"),
        **dict.fromkeys(("absoluteerror", "meanabsoluteerror", "mae", "l1", "l1distloss"), "absolute"),
        **dict.fromkeys(("huberloss",), "huber"),
        **dict.fromkeys(("logcoshloss",), "logcosh"),
    }
)
"""Names that other tools give to our losses, as `_folded` writes them."""
_SAME_BEST = frozenset(("rmse", "nmse", "nrmse", "invnrmse", "r2", "r2score", "rootmeansquarederror"))
"""Names in other tools of measures that are best where the mean squared error is smallest."""
_CALL = re.compile(r"(?P<name>[^()]*)(?:\((?P<argument>[^()]*)\))?")


def _folded(name: str) -> str:
    """A name without capitals, underscores, hyphens and spaces."""
    return re.sub(r"[\s_-]", "", name).lower()


def _named(text: str) -> tuple[str, Callable[..., Any]]:
    """Name and function of a loss, by its name here or in another tool; `huber(2.5)` has its bend in brackets.

    Raises:
        SettingsError: if there is none, or the number in brackets is not a valid bend.
    """
    match = _CALL.fullmatch(text.strip())
    given = _folded(match["name"]) if match is not None else ""
    name = ALIASES.get(given, given)
    if match is None or name not in NAMED:
        hint = " For that measure the best formulas are those of `squared`." if given in _SAME_BEST else ""
        raise SettingsError(
            f"`{shown(text)}` is not a loss. Expected one of {', '.join(NAMED)}, huber(2.5) or another bend, a name of "
            "another tool for these, such as mse or L1DistLoss(), or, from Python, a function of y and prediction."
            + hint
        )
    argument = (match["argument"] or "").strip()
    if not argument:
        return name, NAMED[name]
    bend = float(argument) if is_number(argument) else math.nan
    if name != "huber" or not 0.0 < bend < math.inf:
        expected = "a number above 0 in its brackets" if name == "huber" else "nothing in its brackets"
        raise SettingsError(f"The loss `{name}` must have {expected}, but it is `{shown(text)}`.")
    return name, _Huber(bend)


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss other than the squared error; `Loss.of` makes one."""

    function: Function
    """The loss as an elementwise function of y and prediction, both in the user's units."""
    unit: float = 1.0
    """Size of the data's unit, in the user's units."""
    scaled: Function = field(init=False, repr=False, compare=False)
    """The loss as a function of y and prediction in the units of the data."""

    def __post_init__(self) -> None:
        """Derive `scaled`."""
        function = self.function
        if self.unit != 1.0:
            call, expansion = _InUnits(function.call, self.unit), function.expansion
            function = Function(call, function.name, 2, None if expansion is None else _rescaled(expansion, self.unit))
        object.__setattr__(self, "scaled", function)

    def __reduce__(self) -> tuple[type[Loss], tuple[Function, float]]:
        """Pickle the function and the unit."""
        return Loss, (self.function, self.unit)

    @classmethod
    def of(cls, loss: str | Callable[..., Any]) -> Loss | None:
        """Return a loss by its name, or from a function of y and prediction; None for squared errors.

        Raises:
            SettingsError: saying what such a function must do, and what this one did.
        """
        if isinstance(loss, str):
            name, call = _named(loss)
            function = Function.of(call, name, 2)
        else:
            function = _of_callable(loss)
        y, prediction = np.meshgrid(np.linspace(-3.0, 3.0, 13), np.linspace(-2.0, 4.0, 11))
        values = function.native.values(y.ravel(), prediction.ravel())
        is_squared = np.allclose(values, _squared(y, prediction).ravel(), rtol=1e-12, atol=1e-12)
        return None if is_squared else cls(function)

    def in_units(self, unit: float) -> Loss:
        """Return the same loss for data that are divided by `unit`."""
        return Loss(self.function, self.unit * unit)


def _gives_one_number(call: Callable[..., Any]) -> bool:
    given = np.array([1.0, 2.0])
    try:
        return np.ndim(call(given, given.copy())) == 0
    except Exception:  # `Function.of` meets the same exception and reports it
        return False


def _of_callable(call: Callable[..., Any]) -> Function:
    name = getattr(call, "__name__", "loss").strip("<>")
    if _gives_one_number(call):
        averaged = Function.averaged(call, name)
        if averaged is None:
            raise SettingsError(
                f"The loss `{name}` gives one number for all samples, which cannot be shown to be the mean or sum of "
                "the samples' losses. Let it give the loss of each sample: an array of the shape of y."
            )
        return averaged
    return Function.of(call, name, 2)


@dataclass(frozen=True, slots=True)
class _InUnits:
    """A picklable function of scaled arguments."""

    call: Callable[..., Any]
    unit: float

    def __call__(self, y: Any, prediction: Any) -> Any:
        return self.call(y * self.unit, prediction * self.unit)


def _rescaled(expansion: Expansion, unit: float) -> Expansion:
    return tuple(part for step in expansion for part in (("mul", unit, step) if isinstance(step, int) else (step,)))


class Ruler:
    """Converts mean losses on a dataset to equivalent errors."""

    def __init__(self, loss: Loss, y: Floats, weights: Floats, spread: float) -> None:
        """Measure how the loss grows with the error.

        Raises:
            SettingsError: if it does not grow, or is not finite for predictions without error.
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
        if not finite.any() or means[finite].min() < -_MEAN_ROUNDING * np.abs(means[finite]).max():
            raise SettingsError(f"The loss `{name}` must be least where the prediction is y, but it is less elsewhere.")
        # Losses far below the loss of an error as large as y's spread may be rounding, and do not show growth.
        usual = float(np.max(means, where=finite & (_EXPONENTS <= 0.0), initial=0.0))
        before = np.maximum.accumulate([_NEGLIGIBLE_LOSS * usual, *np.where(finite, means, 0.0)[:-1]])
        rising = finite & (means > before)
        if np.count_nonzero(rising) < 2:
            raise SettingsError(f"The loss `{name}` must grow with the error, but it does not.")
        self._means, self._sizes = arithmetic.log(means[rising]), arithmetic.log(sizes[rising])

    def mean_square(self, mean_loss: Floats) -> Floats:
        """Return the squares of the equivalent errors of mean losses; NaN stays NaN."""
        means, sizes = self._means, self._sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = arithmetic.log(np.maximum(mean_loss - self._least, 0.0))
            size = np.interp(logs, means, sizes)
            # Beyond the measured range the growth at its end is extrapolated.
            for end, beside, is_beyond in ((0, 1, logs < means[0]), (-1, -2, logs > means[-1])):
                growth = max((means[end] - means[beside]) / (sizes[end] - sizes[beside]), _LEAST_GROWTH)
                size = np.where(is_beyond, sizes[end] + (logs - means[end]) / growth, size)
        return arithmetic.exp(np.minimum(2.0 * size, arithmetic.log(float(np.finfo(np.float64).max))))
