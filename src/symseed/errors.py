"""The package's exceptions; each message says what was expected, what was found, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
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
