"""Categories: a column whose values are kinds, such as species, each of which has constants of its own.

`const[species]` in a template or a formula is one fitted constant for each value of the column `species`. The column
becomes columns of 0 and 1, one for each value, and `const[species]` the sum of a constant times each of them, so that
the formula is one like any other: it is fitted, simplified, exported and saved in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symseed.arrays import Floats
from symseed.errors import DataError, shown
from symseed.language.expression import quoted
from symseed.language.tokens import CONSTANT_NAME

MOST_VALUES = 100
"""Most values of one column, each of which adds four tokens to a formula: chosen by hand."""
_BY_CATEGORY = re.compile(rf"`(?:[^`]|``)*`|\b{CONSTANT_NAME}\s*\[\s*(?:`((?:[^`]|``)+)`|([^\[\]`]+?))\s*\]")
"""A quoted name, which is passed over, or a constant with a column in square brackets."""


@dataclass(frozen=True, slots=True)
class Categories:
    """A column and the values that it has."""

    column: str
    values: tuple[str, ...]
    """Its different values as texts, sorted."""

    @classmethod
    def of(cls, column: str, cells: Sequence[Any], where: str) -> Categories:
        """Return the categories of a column; cells of None or NaN are gaps.

        Raises:
            DataError: if there are fewer than two values, or too many.
        """
        values = sorted({text for text in map(text_of, cells) if text is not None})
        if not 2 <= len(values) <= MOST_VALUES:
            few = "only one" if values else "none"
            found = few if len(values) < 2 else f"{len(values):,}, such as `{shown(values[0], 30)}`"
            raise DataError(
                f"{where} must have from 2 to {MOST_VALUES} different values to be used as categories, but it has "
                f"{found}. Join rare values, or use another column."
            )
        return cls(column, tuple(values))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns of 0 and 1."""
        return tuple(f"{self.column}_{value}" for value in self.values)

    def indicators(self, cells: Sequence[Any]) -> Floats:
        """Return the columns of 0 and 1, (M, K); NaN where a cell is a gap or has another value."""
        places = {value: place for place, value in enumerate(self.values)}
        codes = np.array([places.get(text_of(cell) or "", -1) for cell in cells], dtype=np.intp)
        out: Floats = (codes[:, None] == np.arange(len(self.values))).astype(np.float64)
        out[codes < 0] = np.nan
        return out

    def cells(self, indicators: Floats) -> list[str]:
        """Return the values that columns of 0 and 1 stand for."""
        return [self.values[place] for place in indicators.argmax(axis=1)]

    @property
    def total(self) -> str:
        """One constant for each value, as a formula."""
        return "(" + " + ".join(f"{CONSTANT_NAME} * {quoted(name)}" for name in self.names) + ")"


def text_of(cell: Any) -> str | None:
    """Return the value of a cell as text, whole numbers without a point; None for a gap."""
    if cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType"):  # pandas' own
        return None
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip() or None


def named_in(text: str) -> tuple[str, ...]:
    """Return the columns of all constants by category in a text, in order; a column may be there several times."""
    found = (_column(match) for match in _BY_CATEGORY.finditer(text))
    return tuple(name for name in found if name is not None)


def with_plain_constants(text: str) -> str:
    """Return the text with one constant in the place of each constant by category, and every character in its place."""

    def plain(match: re.Match[str]) -> str:
        return match[0] if _column(match) is None else CONSTANT_NAME.ljust(len(match[0]))

    return _BY_CATEGORY.sub(plain, text)


def written_out(text: str, known: Iterable[Categories]) -> str:
    """Return the text with a sum over the categories in the place of each constant by category."""
    totals: Mapping[str, str] = {one.column: one.total for one in known}

    def total(match: re.Match[str]) -> str:
        name = _column(match)
        return match[0] if name is None else totals.get(name, match[0])

    return _BY_CATEGORY.sub(total, text)


def _column(match: re.Match[str]) -> str | None:
    """The column of a constant by category; None for a quoted name."""
    name = match[2] if match[1] is None else match[1].replace("``", "`")
    return name if name is None else str(name)
