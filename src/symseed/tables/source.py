"""Sources of tables: a file, standard input, or a table that ships with symseed; and the format of a file."""

from __future__ import annotations

import importlib
import importlib.resources
import io
import sys
from pathlib import Path

from symseed.errors import DataError, listed, shown
from symseed.tables import delimited, formats
from symseed.tables.options import TableOptions
from symseed.tables.raw import Raw

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable
else:
    from importlib.abc import Traversable

MOST_BYTES = 2**28
"""Most bytes of a file, unpacked: chosen by hand."""
MOST_CELLS = 50_000_000
"""Most cells of a file: each takes about 60 bytes of memory while it is text."""
_CELLS_OF_A_ROW = 3
"""Cells that a line counts beside its separators: text in a table of one column takes 60 to 210 bytes for each row."""
MOST_COLUMNS = 100_000
"""Most columns of a file: each takes some tens of microseconds. Chosen by hand."""
_HEADER_BYTES = 2**16
"""Most bytes of a file that are read for its header: chosen by hand."""

PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
"""First bytes of packed files, and the Python modules that unpack them."""
_OTHERS = {
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "an SQLite database",
    b"MATLAB 5.0": "a MATLAB file",
    b"FEA1": "a Feather file of version 1",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
    b"\x89PNG": "a picture",
}
"""First bytes of files that cannot be read, and what these files are."""


def shipped() -> list[str]:
    """Return the names of the tables that come with the package."""
    return sorted(entry.name.removesuffix(".csv") for entry in _folder().iterdir() if entry.name.endswith(".csv"))


def header(source: str) -> list[str]:
    """Return the names in the header of a table in text, from its first bytes.

    Raises:
        DataError: if it cannot be read, or is not a table in text.
    """
    content = b"" if source == "-" else _content(source, _HEADER_BYTES)[:_HEADER_BYTES]
    if len(content) == _HEADER_BYTES:
        content = content[: content.rfind(b"\n") + 1]  # the last line may be cut within a letter
    return [name for name in delimited.names(content, shown(source, 200)) if name]


def read(source: str, options: TableOptions, *, as_texts: bool = False) -> tuple[Raw, str]:
    """Read a table of any format; return it, and its name in messages.

    Raises:
        DataError: if it cannot be read, or exceeds the limits of this module.
        SettingsError: if an option does not suit it, or an extra is not installed.
    """
    called = "standard input" if source == "-" else shown(source, 200)
    content = _content(source, MOST_BYTES)
    if len(content) > MOST_BYTES:
        raise DataError(_too_large(called))
    content = _unpacked(content, called)
    for beginning, kind in _OTHERS.items():
        if content.startswith(beginning):
            raise DataError(f"`{called}` is {kind}, which is not read. Save the table as CSV or Parquet.")
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raw = formats.read_workbook(content, called, options, MOST_CELLS)
    elif content.startswith((b"PAR1", b"ARROW1")):
        raw = formats.read_arrow(content, called, MOST_CELLS)
    else:
        raw = _text(content, called, options, as_texts=as_texts)
    if len(raw.names) > MOST_COLUMNS:
        raise DataError(_too_large(called))
    return raw, called


def _text(content: bytes, called: str, options: TableOptions, *, as_texts: bool) -> Raw:
    if formats.is_json(content[:400].decode("utf-8-sig", "replace")):
        return formats.read_json(delimited.decoded(content, called, options.encoding)[0], called, MOST_CELLS)
    first = content[: max(content.find(b"\n"), 0) or len(content)]
    cells = sum(map(content.count, (b",", b";", b"\t", b"|"))) + _CELLS_OF_A_ROW * content.count(b"\n")
    if cells > MOST_CELLS or max(map(first.count, (b",", b";", b"\t", b"|"))) >= MOST_COLUMNS:
        raise DataError(_too_large(called))
    return delimited.read(content, called, options, as_texts=as_texts)


def _content(source: str, most: int) -> bytes:
    """Return at most one byte more than `most`: a pipe or device may be endless."""
    if source in shipped():
        return (_folder() / f"{source}.csv").read_bytes()
    try:
        if source == "-":
            content = sys.stdin.buffer.read(most + 1)
        else:
            with Path(source).open("rb") as file:
                content = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise DataError(
            f"`{shown(source)}` must be a table in a file, `-` for standard input, or one of the tables that ship "
            f"({listed(shipped())}), but it cannot be read: {error}"
        ) from error
    return content


def _unpacked(content: bytes, called: str) -> bytes:
    """Unpack a packed file, up to the limit."""
    for beginning, module in PACKED.items():
        if content.startswith(beginning):
            try:
                with importlib.import_module(module).open(io.BytesIO(content)) as file:
                    inside: bytes = file.read(MOST_BYTES + 1)
            except Exception as error:  # each module has errors of its own; Python may lack one
                raise DataError(f"`{called}` is packed, but cannot be unpacked: {error}. Pack it again.") from error
            if len(inside) > MOST_BYTES:
                raise DataError(_too_large(called))
            return inside
    return content


def _too_large(called: str) -> str:
    return (
        f"`{called}` must be at most {MOST_BYTES >> 20} MB, {MOST_CELLS:,} cells and {MOST_COLUMNS:,} columns. Give a "
        "part of it, or read it with pandas and give SymbolicRegressor the frame."
    )


def _folder() -> Traversable:
    return importlib.resources.files("symseed.tables") / "shipped"
