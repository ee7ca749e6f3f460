"""Tables from files: a CSV file with a header becomes columns of numbers."""

from __future__ import annotations

import csv
import importlib.resources
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symseed.dataset import Dataset, Floats
from symseed.errors import DataError
from symseed.tokens import is_number

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable
else:
    from importlib.abc import Traversable


def shipped() -> list[str]:
    """Return the names of the tables that come with the package."""
    return sorted(entry.name.removesuffix(".csv") for entry in _folder().iterdir() if entry.name.endswith(".csv"))


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file as it is: a header, and lines of as many texts."""

    source: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    def columns(self, names: Sequence[str]) -> Floats:
        """Return some columns as numbers, (M, V).

        Raises:
            DataError: naming the column that is missing, or the line that has no number.
        """
        for name in names:
            if name not in self.header:
                raise DataError(f"`{self.source}` has no column `{name}`. Its columns are {', '.join(self.header)}.")
        return np.array([self._floats(name) for name in names]).reshape(len(names), len(self.lines)).T

    def numeric(self) -> list[str]:
        """Return the names of the columns that hold a number somewhere."""
        return [
            name for i, name in enumerate(self.header) if any(is_number(line[i]) for line in self.lines)
        ]  # others are labels

    def _floats(self, column: str) -> list[float]:
        place = self.header.index(column)
        values = [line[place] for line in self.lines]
        if not any(is_number(value) for value in values):
            raise DataError(
                f"Column `{column}` of `{self.source}` must hold numbers, but begins with `{values[0][:40]}`."
            )
        for number, value in enumerate(values, start=2):
            if not is_number(value):
                raise DataError(
                    f"Column `{column}` of `{self.source}` must hold numbers, but line {number} has `{value[:40]}`. "
                    "Fill or remove that row."
                )
        return [float(value) for value in values]


def read(source: str, target: str) -> Dataset:
    """Read a shipped table by name, or a CSV file by path; `target` is the column to be explained.

    Columns that hold no number at all, such as labels, are left out.

    Raises:
        DataError: saying which file, row and column, and what was found there.
    """
    sheet = read_sheet(source)
    y = sheet.columns([target])[:, 0]
    names = inputs(sheet, [target])
    return Dataset.of(sheet.columns(names), y, names=names)


def inputs(sheet: Sheet, targets: Sequence[str]) -> list[str]:
    """Return the columns of numbers beside the targets, of which there must be one."""
    names = [name for name in sheet.numeric() if name not in targets]
    if not names:
        raise DataError(f"`{sheet.source}` has no column of numbers beside `{', '.join(targets)}`.")
    return names


def read_sheet(source: str) -> Sheet:
    """Read a shipped table by name, or a CSV file by path."""
    if source in shipped():
        text = (_folder() / f"{source}.csv").read_text(encoding="utf-8")
    else:
        try:
            text = Path(source).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(
                f"`{source}` must be a CSV file or one of the tables that ship ({', '.join(shipped())}), but it cannot "
                f"be read: {error}"
            ) from error
    try:
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error as error:
        raise DataError(f"`{source}` must be a CSV file, but it cannot be read as one: {error}.") from error
    if len(rows) < 2:
        raise DataError(f"`{source}` must have a header and at least one row of values, but has {len(rows)} line(s).")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) != len(header) or "" in header:
        raise DataError(f"Each column of `{source}` needs a name of its own, but the header is {', '.join(header)}.")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise DataError(f"Line {line} of `{source}` has {len(row)} values, but the header has {len(header)}.")
    return Sheet(source, tuple(header), tuple(tuple(row) for row in rows[1:]))


def _folder() -> Traversable:
    return importlib.resources.files("symseed") / "data"
