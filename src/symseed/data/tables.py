"""CSV files with a header, read as columns of numbers."""

from __future__ import annotations

import codecs
import csv
import importlib.resources
import io
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symseed.arrays import Floats
from symseed.data.dataset import LARGEST_EXACT, Dataset, warn_of_rounding
from symseed.errors import DataError, listed, shown
from symseed.text import is_number

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable
else:
    from importlib.abc import Traversable

_BREAKS = re.compile(r"\s*[\r\n]\s*")
MOST_BYTES = 2**28
"""Most bytes of a file: chosen by hand."""
MOST_VALUES = 50_000_000
"""Most values of a file: each takes about 60 bytes of memory while it is text."""


def shipped() -> list[str]:
    """Return the names of the tables that come with the package."""
    return sorted(entry.name.removesuffix(".csv") for entry in _folder().iterdir() if entry.name.endswith(".csv"))


@dataclass(frozen=True, slots=True)
class Sheet:
    """The texts of a file: a header, and lines of equal length."""

    source: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    """Number of the last line in the file of each record, counted from 1."""

    def columns(self, names: Sequence[str]) -> Floats:
        """Return some columns as finite numbers, (M, V).

        Raises:
            DataError: naming the column that is missing, or the line that has no number.
        """
        places = {name: place for place, name in enumerate(self.header)}
        for name in names:
            if name not in places:
                raise DataError(
                    f"`{self.source}` has no column `{shown(name)}`. Its columns are {listed(self.header)}."
                )
        return np.array([self._floats(places[name]) for name in names]).reshape(len(names), len(self.lines)).T

    def numeric(self) -> list[str]:
        """Return the names of the columns that hold a number somewhere."""
        return [
            name for i, name in enumerate(self.header) if any(is_number(line[i]) for line in self.lines)
        ]  # others are labels

    def _floats(self, place: int) -> Floats:
        texts = [line[place] for line in self.lines]
        what = f"Column `{shown(self.header[place])}` of `{self.source}`"
        if not any(map(is_number, texts)):
            raise DataError(f"{what} must hold numbers, but begins with `{shown(texts[0])}`.{_point(texts[0])}")
        for number, text in zip(self.numbers, texts, strict=True):
            if not is_number(text):
                found = f"has `{shown(text)}`" if text.strip() else "is empty there"
                cure = _point(text) or " Fill or remove that row."
                raise DataError(f"{what} must hold numbers, but line {number} {found}.{cure}")
        values = np.array([float(text) for text in texts])
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise DataError(
                f"{what} must be finite, but line {self.numbers[bad[0]]} has `{shown(texts[bad[0]])}`. Fill or remove "
                "that row."
            )
        if any(_is_rounded(texts[row]) for row in np.flatnonzero(np.abs(values) >= LARGEST_EXACT)):
            warn_of_rounding(what)
        return values


def _is_rounded(text: str) -> bool:
    """Whether a text is a whole number beyond `LARGEST_EXACT`."""
    digits = text.strip().lstrip("+-0")
    return digits.isdigit() and int(digits) > LARGEST_EXACT


def _point(text: str) -> str:
    """What to do about a number such as 2,5."""
    return " Write decimals with a point." if is_number(text.replace(",", ".")) else ""


def read(source: str, target: str) -> Dataset:
    """Read a shipped table by name, or a CSV file by path; `target` is the column to be explained.

    Columns that hold no number at all, such as labels, are left out.

    Raises:
        DataError: naming the file, the row, the column, and the value found there.
    """
    sheet = read_sheet(source)
    y = sheet.columns([target])[:, 0]
    names = inputs(sheet, [target])
    return Dataset.of(sheet.columns(names), y, names=names)


def inputs(sheet: Sheet, targets: Sequence[str]) -> list[str]:
    """Return the columns of numbers beside the targets, of which there must be one."""
    names = [name for name in sheet.numeric() if name not in targets]
    if not names:
        raise DataError(
            f"`{sheet.source}` has no column of numbers beside {listed(targets)}. Its columns are "
            f"{listed(sheet.header)}, and its first line is {listed(sheet.lines[0])}."
        )
    return names


def read_sheet(source: str) -> Sheet:
    """Read a shipped table by name, or a CSV file by path.

    Raises:
        DataError: if it is not text, not CSV, or larger than `MOST_BYTES` and `MOST_VALUES` allow.
    """
    reader = csv.reader(io.StringIO(_text(source), newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise DataError(
            f"`{source}` must be a CSV file, but cannot be read as one at line {reader.line_num}: {error}. Is a quote "
            "left open?"
        ) from error
    if rows:
        _check_separator(source, rows[0][1])
    if len(rows) < 2:
        raise DataError(f"`{source}` must have a header and at least one row of values, but has {len(rows)} line(s).")
    header = [_BREAKS.sub(" ", name.strip()) for name in rows[0][1]]
    name, times = Counter(header).most_common(1)[0]
    if times > 1 or "" in header:
        found = f"column {header.index('') + 1} has none" if "" in header else f"`{shown(name)}` is there twice"
        raise DataError(f"Each column of `{source}` needs a name of its own in the first line, but {found}.")
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise DataError(f"Line {line} of `{source}` has {len(row)} values, but the header has {len(header)}.")
    return Sheet(source, tuple(header), tuple(tuple(row) for _, row in rows[1:]), tuple(line for line, _ in rows[1:]))


def _text(source: str) -> str:
    if source in shipped():
        return (_folder() / f"{source}.csv").read_text(encoding="utf-8")
    try:
        with Path(source).open("rb") as file:
            content = file.read(MOST_BYTES + 1)  # a pipe or device may be endless
    except (OSError, ValueError) as error:
        raise DataError(
            f"`{shown(source)}` must be a CSV file or one of the tables that ship ({', '.join(shipped())}), but it "
            f"cannot be read: {error}"
        ) from error
    if len(content) > MOST_BYTES or content.count(b",") > MOST_VALUES:
        raise DataError(
            f"`{source}` must be at most {MOST_BYTES >> 20} MB and {MOST_VALUES} values. Give a part of it, or read it "
            "with pandas and give SymbolicRegressor the frame."
        )
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = "" if is_utf16 else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"`{source}` must be text in UTF-8, but line {line} has the byte 0x{content[error.start]:02x}. If it is a "
            "table, save it as CSV in UTF-8."
        ) from error
    if is_utf16 or "\0" in text:
        found = "it is text in UTF-16" if is_utf16 else f"line {text[: text.index(chr(0))].count(chr(10)) + 1} has NUL"
        raise DataError(f"`{source}` must be text in UTF-8, but {found}. If it is a table, save it as CSV in UTF-8.")
    return text


def _check_separator(source: str, first: Sequence[str]) -> None:
    """Refuse a header that has one column when read with commas and several with another separator."""
    for separator, called in ((";", "`;`"), ("\t", "tabs"), ("|", "`|`")):
        if len(first) == 1 and separator in first[0]:
            raise DataError(
                f"The columns of `{source}` must be separated by commas, but seem to be separated by {called}. Save it "
                "with commas, and with points in its decimals."
            )


def _folder() -> Traversable:
    return importlib.resources.files("symseed.data") / "shipped"
