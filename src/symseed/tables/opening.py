"""Opens tables of any size as streams: by the content of files, folders of files, patterns of names, and Dask frames.

Text and Dask frames can only be read from their beginning, and slowly. The columns that are used are written to a file
of numbers in the folder for temporary files, once; it is removed with the stream.
"""

from __future__ import annotations

import glob
import importlib
import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from symseed.arrays import Floats
from symseed.errors import DataError, SettingsError, listed, shown
from symseed.language.categories import Categories
from symseed.tables import delimited, source
from symseed.tables.columns import Meaning
from symseed.tables.options import TableOptions
from symseed.tables.streams import ArrowStream, NpyStream, Stream, number
from symseed.tables.table import Table, of_raw, read

_TEXT_BLOCK = 2**24
"""Bytes of text that are read at once: chosen by hand."""
_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True, eq=False, slots=True)
class Sequential:
    """A table that can only be read from its beginning."""

    called: str
    facts: tuple[str, ...]
    names: tuple[str, ...]
    others: tuple[tuple[str, str], ...]
    reads: Any
    """A function of names of columns that gives their numbers in arrays (m, V)."""
    description: Mapping[str, Any] = field(default_factory=dict)

    def written(self, columns: Sequence[str]) -> Stream:
        """Write some columns to a file of numbers, which is removed when nobody needs it any more.

        Raises:
            DataError: if the table cannot be read, or there is no room for the file.
        """
        handle, path = tempfile.mkstemp(".npy", "symseed-")
        rows = 0
        try:
            with os.fdopen(handle, "wb") as file:
                head = {"descr": "<f8", "fortran_order": False, "shape": (2**62, len(columns))}
                np.lib.format.write_array_header_1_0(file, head)  # its length does not depend on the number of rows
                for block in self.reads(columns):
                    file.write(np.ascontiguousarray(block, dtype="<f8").tobytes())
                    rows += len(block)
                file.seek(0)
                np.lib.format.write_array_header_1_0(file, head | {"shape": (rows, len(columns))})
            made = NpyStream.of(path, self.called, columns, is_shared=False)
        except BaseException as error:
            Path(path).unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise DataError(
                    f"The numbers of `{self.called}` must be written to `{Path(path).parent}`, but cannot be: {error}. "
                    "Make room there, or set TMPDIR to another folder."
                ) from error
            raise
        return _Written(made, self)


class _Written:
    """A table as numbers in a temporary file."""

    def __init__(self, made: NpyStream, given: Sequential) -> None:
        self._made, self._given = made, given
        self.called, self.facts, self.names, self.others = given.called, given.facts, made.names, given.others
        self.rows, self.is_shared = made.rows, False
        self._end = weakref.finalize(self, Path(made.path).unlink, missing_ok=True)

    def batches(self, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        """See `Stream.batches`."""
        return self._made.batches(columns, first, last)

    def described(self) -> dict[str, Any]:
        """See `Stream.described`."""
        return dict(self._given.description)


def is_large(path: str) -> bool:
    """Return whether a table is read as a stream: a folder, a pattern, `.npy`, or a file too large for memory."""
    if path == "-" or path in source.shipped():
        return False
    try:
        if Path(path).is_dir() or _is_pattern(path):
            return True
        size = Path(path).stat().st_size
        with Path(path).open("rb") as file:
            head = file.read(8)
    except (OSError, ValueError):
        return False  # the reader of small tables says what is wrong
    if head.startswith(b"\x93NUMPY") or (size > source.MOST_BYTES and not head.startswith((b"PK", b"\xd0\xcf"))):
        return True
    if not head.startswith((b"PAR1", b"ARROW1")):
        return False
    try:
        stream = ArrowStream.of([path], path, is_parquet=head.startswith(b"PAR1"))
    except (DataError, SettingsError):
        return False
    return stream.rows * len(stream.kinds) > source.MOST_CELLS


def opened(path: str, options: TableOptions) -> Stream | Sequential:
    """Open a table.

    Args:
        path: a file, a folder of Parquet files, or a pattern of names such as `data/part-*.parquet`.
        options: how text is read.

    Raises:
        DataError: if it cannot be read.
        SettingsError: if an extra is not installed.
    """
    called = shown(path, 200)
    paths = _paths(path)
    heads = {_head(one)[:4] for one in paths}
    if heads <= {b"PAR1"} or (len(paths) > 1 and b"PAR1" in heads):
        return ArrowStream.of(paths, called, is_parquet=True)  # it says which of the files is none
    if heads <= {b"ARRO"}:
        return ArrowStream.of(paths, called, is_parquet=False)
    if len(paths) > 1:
        raise DataError(f"`{called}` must be Parquet or Arrow files, but `{shown(Path(paths[0]).name)}` is neither.")
    if heads == {b"\x93NUM"}:
        return NpyStream.of(path, called)
    return _text(path, called, options)


def of_dask(frame: Any) -> Sequential:
    """Return a Dask DataFrame as a table; a partition is in memory at a time."""
    import pandas

    kinds = {str(name): "numbers" if kind.kind in "biuf" else "text" for name, kind in frame.dtypes.items()}

    def read(columns: Sequence[str]) -> Iterator[Floats]:
        for place in range(frame.npartitions):
            part = frame[list(columns)].get_partition(place).compute()
            lost = [name for name in columns if not pandas.api.types.is_numeric_dtype(part[name].dtype)]
            if lost:
                raise DataError(f"Partition {place} must have numbers in {listed(lost)}, as the others have.")
            yield part.to_numpy(dtype=np.float64, na_value=np.nan)

    names = tuple(name for name, kind in kinds.items() if kind == "numbers")
    others = tuple((name, kind) for name, kind in kinds.items() if kind != "numbers")
    facts = (f"a Dask frame of {frame.npartitions:,} partitions",)
    return Sequential("X", facts, names, others, read, {"kind": "given", "called": "X", "files": []})


def stream_of(described: Mapping[str, Any], columns: Sequence[str]) -> Stream:
    """Open a table again, as `Stream.described` says.

    Raises:
        DataError: if it has changed or is gone.
    """
    kind, files = str(described["kind"]), [(str(path), int(size), int(rows)) for path, size, rows in described["files"]]
    called = str(described["called"])
    if kind == "given" or not files:
        raise DataError(
            f"The table `{called}` was given from Python and is not in the run's folder. The formulas are; to "
            "judge more of them on all rows, start a new fit."
        )
    for path, size, _ in files:
        found = Path(path).stat().st_size if Path(path).is_file() else None
        if found != size:
            what = "is not there" if found is None else f"has {found:,}"
            raise DataError(
                f"`{shown(path, 200)}` must be the file of {size:,} bytes that the run began with, but it {what}. "
                "Restore it, or start a new fit."
            )
    if kind in ("parquet", "arrow"):
        return ArrowStream.of([path for path, _, _ in files], called, is_parquet=kind == "parquet")
    if kind == "npy":
        return NpyStream.of(files[0][0], called)
    given = {name: str(value) for name, value in described.get("options", {}).items()}
    reading = TableOptions(
        separator=given.get("separator"), decimal=given.get("decimal"), encoding=given.get("encoding")
    )
    return _text(files[0][0], called, reading).written(columns)


# --- Rows with all their cells ---------------------------------------------------------------------------------------


class Rows(Protocol):
    """Some rows of a table with all their columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def cells(self) -> list[Sequence[Any]]:
        """The cells of each column, as they are written in text; None where there is none."""

    @property
    def arrow(self) -> Any:
        """The rows as a table of Arrow."""

    def encoded(self, names: Sequence[str], categories: Sequence[Categories]) -> Floats:
        """Return columns as numbers, NaN in gaps; categories have a column of 0 and 1 for each value."""


def rows_of(path: str, options: TableOptions) -> Iterator[Rows]:
    """Give all rows of a table of any size, piece by piece.

    Raises:
        DataError: if it cannot be read, or not any further.
        SettingsError: if an extra is not installed.
    """
    if not is_large(path) and not _is_arrow(path):
        yield _Cells(read(path, options, as_texts=True))
        return
    found = opened(path, options)
    if isinstance(found, ArrowStream):
        for batch in found.record_batches():
            yield _Batch(found.called, batch)
    elif isinstance(found, NpyStream):
        for block in found.batches(found.names, 0, found.rows):
            yield _Batch(found.called, _arrow(dict(zip(found.names, block.T, strict=True))))
    else:
        for table in _tables(path, found.called, options, as_texts=True):
            yield _Cells(table)


@dataclass(frozen=True, eq=False, slots=True)
class _Cells:
    """Rows of text."""

    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        """See `Rows.names`."""
        return self.table.names

    @property
    def cells(self) -> list[Sequence[Any]]:
        """See `Rows.cells`."""
        return [list(column.cells) for column in self.table.columns]

    @property
    def arrow(self) -> Any:
        """See `Rows.arrow`; columns of numbers are numbers."""
        return _arrow(
            {
                one.name: [None if cell is None else str(cell) for cell in one.cells]
                if one.values is None
                else one.values
                for one in self.table.columns
            }
        )

    def encoded(self, names: Sequence[str], categories: Sequence[Categories]) -> Floats:
        """See `Rows.encoded`."""
        return self.table.encoded(names, categories)


@dataclass(frozen=True, eq=False, slots=True)
class _Batch:
    """Rows of Arrow."""

    called: str
    arrow: Any

    @property
    def names(self) -> tuple[str, ...]:
        """See `Rows.names`."""
        return tuple(self.arrow.column_names)

    @property
    def cells(self) -> list[Sequence[Any]]:
        """See `Rows.cells`."""
        return [column.to_pylist() for column in self.arrow.columns]

    def encoded(self, names: Sequence[str], categories: Sequence[Categories]) -> Floats:
        """See `Rows.encoded`."""
        known = {one.column: one for one in categories}
        lacking = [name for name in names if name not in self.names]
        if lacking:
            raise DataError(f"`{self.called}` has no column {listed(lacking)}. Its columns are {listed(self.names)}.")
        out = []
        for name in names:
            column = self.arrow.column(name)
            own = (
                known[name].indicators(column.to_pylist())
                if name in known
                else number(column, name, self.called)[:, None]
            )
            out.append(own)
        return np.concatenate(out, axis=1)


def _arrow(columns: Mapping[str, Any]) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise SettingsError("A Parquet or Arrow file is written by pyarrow: pip install 'symseed[parquet]'.") from error
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def _is_arrow(path: str) -> bool:
    try:
        return path != "-" and Path(path).is_file() and _head(path).startswith((b"PAR1", b"ARROW1"))
    except (OSError, ValueError):
        return False  # as above


# --- Paths -----------------------------------------------------------------------------------------------------------


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not os.path.lexists(path)


def _paths(path: str) -> list[str]:
    if Path(path).is_dir():
        found = sorted(str(one) for one in Path(path).rglob("*") if one.suffix in _SUFFIXES and one.is_file())
        if not found:
            raise DataError(
                f"The folder `{shown(path, 200)}` must hold Parquet files ({', '.join(_SUFFIXES)}), but has none."
            )
        return found
    if _is_pattern(path):
        found = sorted(glob.glob(path))  # noqa: PTH207 - the pattern may be absolute
        if not found:
            raise DataError(f"No file has a name like `{shown(path, 200)}`.")
        return found
    return [path]


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(8)
    except OSError as error:
        raise DataError(f"`{shown(path, 200)}` must be a table in a file, but it cannot be read: {error}") from error


# --- Text ------------------------------------------------------------------------------------------------------------


def _text(path: str, called: str, options: TableOptions) -> Sequential:
    """A table in text, of which a block of lines is read at a time, as the first block shows."""
    table = next(_tables(path, called, options))
    kinds = {column.name: "numbers" if column.values is not None else column.meaning.value for column in table.columns}

    def numbers(columns: Sequence[str]) -> Iterator[Floats]:
        lines = 1
        for block in _tables(path, called, options):
            yield _numbers_of(block, columns, lines)
            lines += block.rows

    names = tuple(name for name, kind in kinds.items() if kind == "numbers")
    others = tuple((name, kind) for name, kind in kinds.items() if kind != "numbers")
    given = {
        name: value for name in ("separator", "decimal", "encoding") if (value := getattr(options, name)) is not None
    }
    files = [[str(Path(path).absolute()), Path(path).stat().st_size, 0]]
    described = {"kind": "text", "called": called, "files": files, "options": given}
    return Sequential(called, table.facts, names, others, numbers, described)


def _tables(path: str, called: str, options: TableOptions, *, as_texts: bool = False) -> Iterator[Table]:
    """Give a table in text block by block; the first one shows how all are written."""
    own, header = options.checked(), b""
    for block in _blocks(path, called):
        raw = delimited.read(header + block, called, own, as_texts=as_texts)
        table = of_raw(raw, called, own, as_texts=as_texts)
        if not header:
            separator = delimited.separator(block, called, own)
            own = replace(own, separator=separator, decimal=raw.decimal or own.decimal)
            quoted = ('"{}"'.format(name.replace('"', '""')) for name in table.names)
            header = separator.join(quoted).encode() + b"\n"
        yield table


def _numbers_of(table: Table, columns: Sequence[str], lines: int) -> Floats:
    """Some columns of a block that begins after so many lines."""
    known = {column.name: column for column in table.columns}
    out = []
    for name in columns:
        column = known.get(name)
        if column is not None and column.values is None and column.meaning is not Meaning.EMPTY:
            raise DataError(
                f"Column `{shown(name)}` of `{table.source}` holds numbers at first, but {column.meaning.value} after "
                f"line {lines:,}. Write it in one type, or leave the column out by --drop."
            )
        values = None if column is None else column.values
        out.append(np.full(table.rows, np.nan) if values is None else np.asarray(values, dtype=np.float64))
    return np.stack(out, axis=1)


def _blocks(path: str, called: str) -> Iterator[bytes]:
    """Give whole lines of a file, perhaps packed, some megabytes at a time."""
    head = _head(path)
    module = next((name for beginning, name in source.PACKED.items() if head.startswith(beginning)), None)
    rest = b""
    try:
        with Path(path).open("rb") if module is None else importlib.import_module(module).open(path) as file:
            while block := file.read(_TEXT_BLOCK):
                end = block.rfind(b"\n") + 1
                if end:
                    yield rest + block[:end]
                    rest = block[end:]
                else:
                    rest += block
    except (OSError, EOFError, ValueError) as error:
        raise DataError(
            f"`{called}` cannot be read any further: {shown(error, 120)}. Copy or write it again."
        ) from error
    if rest:
        yield rest
