"""The beginning of a table: lines above it, its header, a row of units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symseed.tables import dates, numerals

_BREAKS = re.compile(r"\s*[\r\n]\s*")
_BELOW = 20
"""Number of rows that are compared with a row of units above them: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The records above the values."""

    above: int
    """Records above the header, such as a title."""
    names: tuple[str, ...]
    """A name for each column, "" if the file has none; there are as many names without a header."""
    has_header: bool
    units: tuple[str, ...] | None = None
    """The row of units below the header."""

    @property
    def records(self) -> int:
        """Records before the first row of values."""
        return self.above + self.has_header + (self.units is not None)


def find(records: Sequence[Sequence[Any]]) -> Heading:
    """Find header and units in the first records of a table; there is at least one record."""
    widths = Counter(len(record) for record in records)
    width = max(widths, key=lambda one: (widths[one], one))
    above = 0
    while above < len(records) - 1 and _is_title(records[above], width):
        above += 1
    header = records[above]
    below = records[above + 1 :]
    if _is_data(header):
        return Heading(above, ("",) * max(len(header), width), has_header=False)
    names = _aligned([_BREAKS.sub(" ", str(_or_blank(cell)).strip()) for cell in header], below, width)
    units = None
    if len(below) > 1 and _is_row_of_units(below[0], below[1 : 1 + _BELOW]):
        units = tuple(bare_unit(str(_or_blank(cell))) for cell in below[0])
        units += ("",) * (len(names) - len(units))
    return Heading(above, tuple(names), True, units)


def bare_unit(text: str) -> str:
    """Return a unit without the brackets around it; a mark for a missing unit is a pure number."""
    text = text.strip()
    if len(text) > 1 and text[0] + text[-1] in ("[]", "()", "{}"):
        text = text[1:-1].strip()
    return "" if numerals.is_gap(text) else text


def is_number(cell: Any) -> bool:
    """Return whether a cell is a number, or a text that reads as one."""
    if isinstance(cell, str):
        return numerals.looks_like_number(cell)
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def is_blank(cell: Any) -> bool:
    """Return whether a cell is empty."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _or_blank(cell: Any) -> Any:
    return "" if cell is None else cell


def _is_title(record: Sequence[Any], width: int) -> bool:
    filled = sum(not is_blank(cell) for cell in record)
    return width > 1 and filled <= 1 and not any(map(is_number, record)) and len(record) <= width


def _is_data(record: Sequence[Any]) -> bool:
    """Whether a record holds values and is not a header: numbers, with only gaps and dates besides."""
    others = [cell for cell in record if not is_number(cell)]
    are_values = all(is_blank(cell) or _is_gap_or_date(cell) for cell in others)
    return are_values and len(others) < len(record)


def _is_gap_or_date(cell: Any) -> bool:
    if not isinstance(cell, str):
        return True
    return numerals.is_gap(cell) or dates.is_date(cell) or dates.is_time(cell)


def _aligned(names: list[str], below: Sequence[Sequence[Any]], width: int) -> list[str]:
    """Complete a header that is one name short: at its end if that column is empty, otherwise at its front."""
    if len(names) != width - 1:
        return names
    full = [record for record in below if len(record) == width]
    is_trailing = all(is_blank(record[-1]) for record in full)
    return [*names, ""] if is_trailing else ["", *names]


def _is_row_of_units(row: Sequence[Any], below: Sequence[Sequence[Any]]) -> bool:
    """Whether a row has no numbers, and has known units above numbers."""
    if any(is_number(cell) for cell in row):
        return False
    for place, cell in enumerate(row):
        if is_blank(cell) or not isinstance(cell, str) or not numerals.is_unit(bare_unit(cell)) or not bare_unit(cell):
            continue
        values = [record[place] for record in below if len(record) > place and not is_blank(record[place])]
        if values and 2 * sum(map(is_number, values)) > len(values):
            return True
    return False
