"""Tables from files: a CSV file with a header becomes a dataset."""

from __future__ import annotations

import csv
import importlib.resources
import io
import sys
from pathlib import Path

import numpy as np

from symseed.dataset import Dataset
from symseed.errors import DataError
from symseed.tokens import is_number

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable
else:
    from importlib.abc import Traversable


def shipped() -> list[str]:
    """Return the names of the tables that come with the package."""
    return sorted(entry.name.removesuffix(".csv") for entry in _folder().iterdir() if entry.name.endswith(".csv"))


def read(source: str, target: str) -> Dataset:
    """Read a shipped table by name, or a CSV file by path; `target` is the column to be explained.

    Columns that hold no number at all, such as labels, are left out.

    Raises:
        DataError: saying which file, row and column, and what was found there.
    """
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
    return _to_dataset(text, source, target)


def _folder() -> Traversable:
    return importlib.resources.files("symseed") / "data"


def _to_dataset(text: str, source: str, target: str) -> Dataset:
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if len(rows) < 2:
        raise DataError(f"`{source}` must have a header and at least one row of values, but has {len(rows)} line(s).")
    header = [name.strip() for name in rows[0]]
    if len(set(header)) != len(header) or "" in header:
        raise DataError(f"Each column of `{source}` needs a name of its own, but the header is {', '.join(header)}.")
    if target not in header:
        raise DataError(f"`{source}` has no column `{target}`. Its columns are {', '.join(header)}.")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise DataError(f"Line {line} of `{source}` has {len(row)} values, but the header has {len(header)}.")
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(header)}
    numeric = {name: values for name, values in columns.items() if any(is_number(value) for value in values)}
    if target not in numeric:
        raise DataError(
            f"Column `{target}` of `{source}` must hold numbers, but begins with `{columns[target][0][:40]}`."
        )
    inputs = [name for name in numeric if name != target]
    if not inputs:
        raise DataError(f"`{source}` has no column of numbers beside `{target}`.")
    table = np.array([_floats(numeric[name], name, source) for name in inputs]).T
    return Dataset.of(table, _floats(numeric[target], target, source), names=inputs)


def _floats(values: list[str], column: str, source: str) -> list[float]:
    for line, value in enumerate(values, start=2):
        if not is_number(value):
            raise DataError(
                f"Column `{column}` of `{source}` must hold numbers, but line {line} has `{value[:40]}`. "
                "Fill or remove that row."
            )
    return [float(value) for value in values]
