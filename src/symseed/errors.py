"""Exceptions and the checks that raise them; a message says what was expected, what was found, and what to do."""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_MOST_QUOTED = 200
"""Most characters of a part of a message that may be a user's input: chosen by hand."""
_MOST_MESSAGE = 1_500
"""Most characters of a message: more than the longest of the package's own, which lists every method."""

MALFORMED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions that values of the wrong shape or type cause, in a file that was changed or damaged."""


class SymseedError(Exception):
    """Base of every exception that this package raises on purpose; its message repeats little of a long input."""

    def __init__(self, message: object = "") -> None:
        super().__init__(brief(str(message)))


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


def brief(message: str) -> str:
    """Return a message in which quoted parts and long words, which may be a user's input, are cut."""
    out = re.sub(r"`[^`]*`", lambda part: f"`{shown(part[0][1:-1], _MOST_QUOTED)}`", message)
    out = re.sub(r"\S+", lambda word: shown(word[0], _MOST_QUOTED + 10), out)  # a quoted part has marks around it
    return out if len(out) <= _MOST_MESSAGE else f"{out[: _MOST_MESSAGE // 2]} ... {out[-_MOST_MESSAGE // 4 :]}"


def cut(value: Any) -> str:
    """Return a user's value for a message, as Python writes it, and cut if it is long."""
    return shown(repr(value), _MOST_QUOTED)


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


def check_lock() -> None:
    """Refuse a Python whose global lock is off: objects of the core rely on it.

    Raises:
        SettingsError: if it is off.
    """
    is_locked: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    if not is_locked():
        raise SettingsError(
            "symseed needs Python's global lock (GIL), but it is off in this free-threaded Python. Set PYTHON_GIL=1, "
            "or use a Python that is not free-threaded."
        )
