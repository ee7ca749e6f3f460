"""Checks of one value each, for settings: a whole number, a number, a value of a type."""

from __future__ import annotations

import math
import numbers
from typing import Any

from symseed.errors import SettingsError, cut


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
