"""Checks of one value each, for settings: a whole number, a number, a value of a type, a device."""

from __future__ import annotations

import math
import numbers
from typing import Any

from symseed.data.dataset import BackendFactory
from symseed.errors import SettingsError, cut, did_you_mean

_DEVICES = ("auto", "cpu", "cuda")


def checked(value: Any, name: str, kind: type | tuple[type, ...], what: str) -> Any:
    """Return a value of a type.

    Raises:
        SettingsError: naming the setting, with `what` it must be.
    """
    if not isinstance(value, kind):
        raise SettingsError(f"`{name}` must be {what}, but it is {cut(value)}.")
    return value


def whole(value: Any, name: str, least: float) -> int:
    """Return a whole number of at least `least`.

    Raises:
        SettingsError: naming the setting.
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        bound = "" if math.isinf(least) else f" of at least {int(least)}"
        raise SettingsError(f"`{name}` must be a whole number{bound}, but it is {cut(value)}.")
    return int(value)


def real(value: Any, name: str) -> float:
    """Return a number that is not NaN.

    Raises:
        SettingsError: naming the setting.
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or math.isnan(value):
        raise SettingsError(f"`{name}` must be a number, but it is {cut(value)}.")
    return float(value)


def device(value: Any) -> str:
    """Return the name of what computes formulas.

    Raises:
        SettingsError: if there is no such name; whether there is a GPU is not asked.
    """
    if not isinstance(value, str) or value not in _DEVICES:
        near = did_you_mean(value, _DEVICES) if isinstance(value, str) else ""
        raise SettingsError(f"`device` must be one of {', '.join(_DEVICES)}, but it is {cut(value)}.{near}")
    return value


def backend(name: str) -> BackendFactory | None:
    """Return what makes the backend of the data on a device; None: the compiled core.

    Nothing of a GPU is loaded for the processor.

    Raises:
        SettingsError: if a GPU is asked for and there is none.
    """
    if name == "cpu":
        return None
    from symseed.cuda import CudaBackend, DeviceMissingError, require

    try:
        require()
    except DeviceMissingError:
        if name == "auto":
            return None
        raise
    return CudaBackend
