"""Exceptions and the checks that raise them; a message says what was expected, what was found, and what to do."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Any


class SymseedError(Exception):
    """Base of every exception that this package raises on purpose."""


class SettingsError(SymseedError, ValueError):
    """A setting is out of its range, unknown, or contradicts another."""


class DataError(SymseedError, ValueError):
    """Data of the wrong shape or type, or with values that cannot be used."""


class ParseError(SymseedError, ValueError):
    """A text cannot be read as an expression of the library."""


class SpaceError(SymseedError, ValueError):
    """A search space that admits no expression."""


def shown(text: Any, most: int = 60) -> str:
    """Return a user's value as text for a message; a long text is cut."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[:most]}..."


def listed(names: Sequence[str]) -> str:
    """Return names as a list for a message: at most ten of them."""
    few = ", ".join(f"`{shown(name)}`" for name in names[:10])
    return few if len(names) <= 10 else f"{few} and {len(names) - 10} more"


def check_between(name: str, value: float, least: float, most: float) -> None:
    """Refuse a setting outside `least` to `most`.

    Raises:
        SettingsError: if it is outside.
    """
    if not least <= value <= most:
        raise SettingsError(f"`{name}` must be from {least} to {most}, but it is {value}.")


def check_at_least(name: str, value: float, least: float, *, of: str = "") -> None:
    """Refuse a setting that is less than `least`, or infinite; `of` names what the setting belongs to.

    Raises:
        SettingsError: if it is.
    """
    if not least <= value < math.inf:
        owner = f" of {of}" if of else ""
        finite = " and finite" if value == math.inf else ""
        raise SettingsError(f"`{name}`{owner} must be at least {least}{finite}, but it is {value}.")


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return " Did you mean `x`?" with the known name that is most similar to `name`; "" if none is similar.

    Upper and lower case are equal. If known names differ only in case, the last one is suggested.
    """
    folded = {other.lower(): other for other in known}
    near = difflib.get_close_matches(str(name).lower(), folded, n=1)
    return f" Did you mean `{folded[near[0]]}`?" if near else ""
