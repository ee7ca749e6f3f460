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
    """A text is not an expression of the library."""


class SpaceError(SymseedError, ValueError):
    """A search space that admits no expression."""


def shown(text: Any, most: int = 60) -> str:
    """Return what a user gave as a message can show it: of a long text the beginning."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[:most]}..."


def listed(names: Sequence[str]) -> str:
    """Return names as a message can list them: of many the first ten."""
    few = ", ".join(f"`{shown(name)}`" for name in names[:10])
    return few if len(names) <= 10 else f"{few} and {len(names) - 10} more"


def check_between(name: str, value: float, least: float, most: float) -> None:
    """Refuse a setting that is not from `least` to `most`.

    Raises:
        SettingsError: where it is not.
    """
    if not least <= value <= most:
        raise SettingsError(f"`{name}` must be from {least} to {most}, but it is {value}.")


def check_at_least(name: str, value: float, least: float, *, of: str = "") -> None:
    """Refuse a setting that is less than `least`, or infinite; `of` says whose it is, where the name does not.

    Raises:
        SettingsError: where it is.
    """
    if not least <= value < math.inf:
        owner = f" of {of}" if of else ""
        finite = " and finite" if value == math.inf else ""
        raise SettingsError(f"`{name}`{owner} must be at least {least}{finite}, but it is {value}.")


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return a sentence, with a space before it, that names the known name nearest to what was given, if one is near.

    Capitals do not count. Of known names that differ in capitals only, the last one is named.
    """
    folded = {other.lower(): other for other in known}
    near = difflib.get_close_matches(str(name).lower(), folded, n=1)
    return f" Did you mean `{folded[near[0]]}`?" if near else ""
