"""Tables that the page was given, and what it shows of them before a search.

A table is known by a random id. It lies in a folder of the server's own, under a name made of letters and digits only.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symseed import tables
from symseed.errors import DataError, listed
from symseed.tables import Table, TableOptions
from symseed.tables.columns import Column, Meaning
from symseed.text import one_line

MOST_TABLES = 20
"""Most tables that are kept; the oldest is given up. Chosen by hand."""
MOST_COLUMNS = 300
"""Most columns that the page lists: chosen by hand."""
_MOST_ROWS = 8
"""Rows of the preview: chosen by hand."""
_BINS = 24
"""Bars of a histogram: chosen by hand."""
_LONGEST = 60
"""Most characters of a cell in the preview: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A table that can be searched."""

    source: str
    """What `symseed fit` reads: a path, or the name of a table that ships."""
    names: tuple[str, ...]
    """The names of its columns."""
    values: dict[str, Any]
    """What the page shows of it."""


class Uploads:
    """The tables of a server, by id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[str, Uploaded] = {}
        self._lock = threading.Lock()  # one table is read at a time, because a large one takes much memory

    def new_file(self, name: str) -> tuple[str, Path]:
        """Return an id, and the path of a file to write the table to; of a client's name, letters and digits stay."""
        own = secrets.token_hex(12)
        folder = self._folder / own
        folder.mkdir(mode=0o700)
        stem, _, ending = name.replace("\\", "/").rpartition("/")[2].rpartition(".")
        kept = [re.sub(r"[^A-Za-z0-9_-]+", "_", part).strip("_-") for part in (stem or ending, ending if stem else "")]
        return own, folder / f"{kept[0][:40] or 'table'}{f'.{kept[1][:10]}' if kept[1] else ''}"

    def add(self, own: str, source: str) -> dict[str, Any]:
        """Read a table, and return what the page shows of it.

        Raises:
            DataError: if it cannot be read.
        """
        with self._lock:
            try:
                table = tables.read(source, TableOptions())
            except DataError as error:  # the user knows the file by its name, not where the server keeps it
                raise DataError(str(error).replace(source, Path(source).name)) from error
            values = {"id": own, **_shown(table)}
            self._tables[own] = Uploaded(source, table.names, values)
            while len(self._tables) > MOST_TABLES:
                self.discard(next(iter(self._tables)))
        return values

    def add_shipped(self, name: str) -> dict[str, Any]:
        """Take a table that ships with symseed.

        Raises:
            DataError: if there is none of that name.
        """
        if name not in tables.shipped():
            raise DataError(f"The tables that ship are {listed(tables.shipped())}.")
        return self.add(secrets.token_hex(12), name)

    def discard(self, own: str) -> None:
        """Give up a table, and remove its file."""
        self._tables.pop(own, None)
        folder = self._folder / own
        if folder.is_dir():
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()

    def find(self, own: str) -> Uploaded:
        """Return a table.

        Raises:
            DataError: if it was given up.
        """
        found = self._tables.get(own)
        if found is None:
            raise DataError("The table is not known any more. Give it again.")
        return found


def _shown(table: Table) -> dict[str, Any]:
    report = table.report
    usable = [place for place, one in enumerate(table.columns) if one.values is not None]
    listed_ = table.columns[:MOST_COLUMNS]
    notes = list(report.notes)
    if len(table.columns) > MOST_COLUMNS:
        notes.append(
            f"The page lists the first {MOST_COLUMNS} of {len(table.columns):,} columns, and a search from here uses "
            "only these. `symseed fit` takes all."
        )
    return {
        "source": report.source,
        "rows": report.rows,
        "facts": list(report.facts),
        "notes": notes,
        "target": max((place for place in usable if place < MOST_COLUMNS), default=None),
        "columns": [
            {
                "name": one.name,
                "words": about.words,
                "is_number": one.values is not None,
                "is_text": one.values is None and one.meaning is Meaning.TEXT,
                "is_odd": one.gaps > 0 or bool(one.odd),
                "is_input": one.is_default_input and 2 * one.gaps <= table.rows,
                "bars": _bars(one),
                "cells": list(_cells(one)),
            }
            for one, about in zip(listed_, report.columns, strict=False)
        ],
    }


def _cells(column: Column) -> Iterator[str]:
    for cell in column.cells[:_MOST_ROWS]:
        yield "" if cell is None or cell != cell else one_line(str(cell), _LONGEST)


def _bars(column: Column) -> dict[str, Any] | None:
    """Counts of values between the least and the largest; None without numbers."""
    if column.values is None:
        return None
    known = column.values[np.isfinite(column.values)]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    # Shares of the largest size, because a difference of huge values may overflow.
    size = max(abs(low), abs(high)) or 1.0
    counts, _ = np.histogram(known / size, bins=_BINS)
    return {"counts": counts.tolist(), "low": low, "high": high}
