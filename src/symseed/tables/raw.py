"""A table before the meaning of its columns is known: names as in the file, and cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_CALLED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
"""Separators of columns, and what they are called."""


@dataclass(frozen=True, eq=False, slots=True)
class Raw:
    """Names and cells of a file."""

    names: tuple[str, ...]
    """A name for each column, "" where the file has none."""
    frame: Any
    """A pandas frame with a column for each name, labelled 0, 1, ...: numbers, or texts and other cells."""
    has_header: bool = True
    units: tuple[str, ...] | None = None
    """The row of units."""
    decimal: str | None = None
    """The decimal mark of the texts; None: what each column itself shows."""
    facts: tuple[str, ...] = ()
    """Facts about the file, in words."""


def called(separator: str) -> str:
    """Return what a separator of columns is called."""
    return _CALLED.get(separator, f"`{separator}`")
