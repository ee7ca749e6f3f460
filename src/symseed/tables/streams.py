"""Tables of any size as streams of numbers: Parquet, Arrow, `.npy` and arrays, whose rows are read where wanted.

A stream gives the numbers of some columns in batches, NaN where a cell is empty. It is a value: it can be sent to other
processes, and opens its files anew for every pass. If they changed meanwhile, a sentence says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.errors import DataError, SettingsError, listed, shown

BATCH = 2**16
"""Rows that are read at once where a file lets us choose: chosen by hand."""
_GONE = "Restore it, or start a new fit of the files as they are."


class Stream(Protocol):
    """The rows of a table."""

    @property
    def called(self) -> str:
        """Name in messages."""

    @property
    def facts(self) -> tuple[str, ...]:
        """How it is written, in words."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def others(self) -> tuple[tuple[str, str], ...]:
        """Columns that do not hold numbers, and what they hold."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes can read it."""

    def batches(self, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        """Give some columns of the rows from `first` up to, but not including, `last`, as arrays (m, V).

        Raises:
            DataError: if a part of the table is gone, has changed, or cannot be read.
        """

    def described(self) -> dict[str, Any]:
        """Return what `files.stream_of` needs to open the same table again, as values that TOML can hold."""


# --- Parquet and Arrow -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a table."""

    path: str
    size: int
    """Bytes of the file."""
    rows: tuple[int, ...]
    """Rows of each of its groups or batches."""

    @property
    def called(self) -> str:
        """Name in messages."""
        return shown(Path(self.path).name, 200)


@dataclass(frozen=True)
class ArrowStream:
    """Parquet or Arrow files, one after another, whose columns have the same names and types."""

    called: str
    parts: tuple[Part, ...]
    kinds: tuple[tuple[str, str], ...]
    """The columns, and the type of each."""
    is_parquet: bool = True
    is_shared: bool = True

    @classmethod
    def of(cls, paths: Sequence[str], called: str, *, is_parquet: bool) -> ArrowStream:
        """Open files.

        Raises:
            DataError: if one cannot be read, or has other columns than the first.
            SettingsError: if pyarrow is not installed.
        """
        parts, kinds = [], {}
        for path in paths:
            file = _opened(path, is_parquet=is_parquet)
            schema = file.schema_arrow if is_parquet else file.schema
            kinds[path] = {name: _kind(schema.field(i).type) for i, name in enumerate(schema.names)}
            if is_parquet:
                rows = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
            else:
                rows = [_batch(file, i, path).num_rows for i in range(file.num_record_batches)]
            parts.append(Part(path, Path(path).stat().st_size, tuple(rows)))
        for part in parts[1:]:
            _check_same(parts[0], kinds[parts[0].path], part, kinds[part.path])
        return cls(called, tuple(parts), tuple(kinds[parts[0].path].items()), is_parquet)

    @property
    def facts(self) -> tuple[str, ...]:
        """How it is written, in words."""
        kind = "Parquet" if self.is_parquet else "Arrow"
        return (kind if len(self.parts) == 1 else f"{kind}, {len(self.parts):,} files",)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return tuple(name for name, kind in self.kinds if kind == "numbers")

    @property
    def others(self) -> tuple[tuple[str, str], ...]:
        """Columns that do not hold numbers, and what they hold."""
        return tuple((name, kind) for name, kind in self.kinds if kind != "numbers")

    @cached_property
    def rows(self) -> int:
        """Number of rows."""
        return sum(sum(part.rows) for part in self.parts)

    def batches(self, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        """See `Stream.batches`."""
        at = 0
        for part in self.parts:
            count = sum(part.rows)
            if at < last and at + count > first:
                yield from self._of_part(part, columns, max(first - at, 0), min(last - at, count))
            at += count

    def record_batches(self) -> Iterator[Any]:
        """Give all rows with all columns, as tables of Arrow."""
        import pyarrow as pa

        for part in self.parts:
            for batch in self._batches(part, range(len(part.rows)), None):
                yield pa.Table.from_batches([batch])

    def described(self) -> dict[str, Any]:
        """See `Stream.described`."""
        parts = [[str(Path(part.path).absolute()), part.size, sum(part.rows)] for part in self.parts]
        return {"kind": "parquet" if self.is_parquet else "arrow", "called": self.called, "files": parts}

    def _of_part(self, part: Part, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        begins = np.concatenate([[0], np.cumsum(part.rows)]).tolist()
        wanted = [i for i in range(len(part.rows)) if begins[i] < last and begins[i + 1] > first]
        at = begins[wanted[0]] if wanted else 0
        batches = self._batches(part, wanted, list(dict.fromkeys(columns)))
        for batch in batches:
            begin, end = max(first - at, 0), min(last - at, batch.num_rows)
            at += batch.num_rows
            if begin < end:
                yield _numbers(batch.slice(begin, end - begin), columns)

    def _batches(self, part: Part, places: Sequence[int], columns: list[str] | None) -> Iterator[Any]:
        """Batches of some groups of a file; `columns` None: all, and more of them if Arrow has them anyway."""
        file = _opened(part.path, is_parquet=self.is_parquet)
        _check_unchanged(part, file, is_parquet=self.is_parquet)
        if not self.is_parquet:
            return (_batch(file, i, part.path) for i in places)
        return _safely(file.iter_batches(batch_size=BATCH, row_groups=list(places), columns=columns), part.called)


def _opened(path: str, *, is_parquet: bool) -> Any:
    kind = "Parquet" if is_parquet else "Arrow"
    try:
        import pyarrow as pa
        from pyarrow import ipc, parquet
    except ImportError as error:
        raise SettingsError(
            f"`{shown(path, 200)}` is a {kind} file, which pyarrow reads: pip install 'symseed[parquet]'."
        ) from error
    called = shown(Path(path).name, 200)
    try:
        return parquet.ParquetFile(path, pre_buffer=False) if is_parquet else ipc.open_file(pa.memory_map(path))
    except FileNotFoundError as error:
        raise DataError(f"A part of the table, `{called}`, is not there any more. {_GONE}") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"`{called}` must be a whole {kind} file, but it ends early or is damaged: {shown(error, 120)}. Copy or "
            "write it again."
        ) from error


def _safely(batches: Iterator[Any], called: str) -> Iterator[Any]:
    import pyarrow as pa

    try:
        yield from batches
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"`{called}` cannot be read any further: {shown(error, 120)}. Copy or write it again."
        ) from error


def _batch(file: Any, place: int, path: str) -> Any:
    (batch,) = _safely((file.get_batch(i) for i in (place,)), shown(Path(path).name, 200))
    return batch


def _check_unchanged(part: Part, file: Any, *, is_parquet: bool) -> None:
    size = Path(part.path).stat().st_size
    rows = file.metadata.num_rows if is_parquet else sum(part.rows)
    if (size, rows) != (part.size, sum(part.rows)):
        raise DataError(
            f"`{part.called}` must be as it was when the fit began, of {part.size:,} bytes and {sum(part.rows):,} "
            f"rows, but now it has {size:,} bytes and {rows:,} rows. {_GONE}"
        )


def _check_same(first: Part, kinds: dict[str, str], other: Part, own: dict[str, str]) -> None:
    lacking = [name for name in kinds if name not in own]
    if lacking:
        raise DataError(f"`{other.called}` lacks {listed(lacking)}, which `{first.called}` has. Write the files alike.")
    for name, kind in kinds.items():
        if own[name] != kind:
            raise DataError(
                f"Column `{shown(name)}` holds {kind} in `{first.called}`, but {own[name]} in `{other.called}`. Write "
                "it in one type, or leave the column out of the files."
            )


def _kind(arrow: Any) -> str:
    """What cells of a type of Arrow are, in words."""
    import pyarrow as pa

    types = pa.types
    if types.is_integer(arrow) or types.is_floating(arrow) or types.is_decimal(arrow) or types.is_boolean(arrow):
        return "numbers"
    if types.is_string(arrow) or types.is_large_string(arrow) or types.is_dictionary(arrow):
        return "text"
    return "dates" if types.is_temporal(arrow) else str(arrow)


def _numbers(batch: Any, columns: Sequence[str]) -> Floats:
    """Some columns of a batch, (m, V)."""
    out = np.empty((batch.num_rows, len(columns)))
    for place, name in enumerate(columns):
        out[:, place] = number(batch.column(batch.schema.get_field_index(name)), name, "a part of the table")
    return out


def number(column: Any, name: str, called: str) -> Floats:
    """Return a column of Arrow as numbers, NaN in gaps.

    Raises:
        DataError: if it does not hold numbers.
    """
    import pyarrow as pa

    if _kind(column.type) != "numbers":
        raise DataError(f"Column `{shown(name)}` of `{called}` must hold numbers, but holds {_kind(column.type)}.")
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


# --- Arrays ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NpyStream:
    """A table of numbers in a `.npy` file, read piece by piece; its columns are called x1, x2, ..., or as given."""

    called: str
    path: str
    begins: int
    """Position of the first number, in bytes."""
    size: int
    """Bytes of the file."""
    shape: tuple[int, int]
    type: str
    """Type of the numbers, as NumPy writes it."""
    is_by_columns: bool
    names: tuple[str, ...]
    facts: tuple[str, ...] = ("NumPy",)
    is_shared: bool = True

    @classmethod
    def of(cls, path: str, called: str, names: Sequence[str] = (), *, is_shared: bool = True) -> NpyStream:
        """Open a file.

        Raises:
            DataError: if it is not a whole `.npy` file with a table of numbers.
        """
        try:
            with Path(path).open("rb") as file:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, is_by_columns, kind = read(file)
                begins = file.tell()
            size = Path(path).stat().st_size
        except FileNotFoundError as error:
            raise DataError(f"A part of the table, `{called}`, is not there any more. {_GONE}") from error
        except (OSError, ValueError) as error:
            raise DataError(f"`{called}` must be a `.npy` file, but it is damaged: {shown(error, 120)}.") from error
        if len(shape) != 2 or kind.kind not in "biuf" or 0 in shape:
            raise DataError(
                f"`{called}` must hold a table of numbers, rows by columns, but its shape is "
                f"{shape} and its type {kind}."
            )
        if size < begins + shape[0] * shape[1] * kind.itemsize:
            raise DataError(
                f"`{called}` ends early: {shape[0]:,} rows of {shape[1]} numbers need "
                f"{begins + shape[0] * shape[1] * kind.itemsize:,} bytes, but it has {size:,}. Copy or write it again."
            )
        own = tuple(names) or tuple(f"x{place + 1}" for place in range(shape[1]))
        return cls(called, path, begins, size, shape, kind.str, is_by_columns, own, is_shared=is_shared)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def others(self) -> tuple[tuple[str, str], ...]:
        """Columns that do not hold numbers: none."""
        return ()

    def batches(self, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        """See `Stream.batches`."""
        try:
            if Path(self.path).stat().st_size != self.size:
                raise DataError(f"`{self.called}` must be as it was when the fit began, but its size changed. {_GONE}")
            with Path(self.path).open("rb") as file:
                for begin in range(first, last, BATCH):
                    yield self._read(
                        file, [self.names.index(name) for name in columns], begin, min(begin + BATCH, last)
                    )
        except OSError as error:
            raise DataError(f"`{self.called}` cannot be read any more: {error}. {_GONE}") from error

    def described(self) -> dict[str, Any]:
        """See `Stream.described`."""
        path = str(Path(self.path).absolute())
        return {"kind": "npy", "called": self.called, "files": [[path, self.size, self.rows]]}

    def _read(self, file: Any, places: Sequence[int], begin: int, end: int) -> Floats:
        kind, count = np.dtype(self.type), end - begin
        if not self.is_by_columns:
            file.seek(self.begins + begin * self.shape[1] * kind.itemsize)
            block = np.fromfile(file, kind, count * self.shape[1]).reshape(count, self.shape[1])
            return block[:, list(places)].astype(np.float64)
        out = np.empty((count, len(places)))
        for place, column in enumerate(places):
            file.seek(self.begins + (column * self.rows + begin) * kind.itemsize)
            out[:, place] = np.fromfile(file, kind, count)
        return out


@dataclass(frozen=True, eq=False, slots=True)
class ArrayStream:
    """Arrays of a caller, such as memory-mapped files, which are copied piece by piece."""

    columns: tuple[npt.NDArray[Any], ...]
    """Tables of numbers with the same number of rows, side by side, (M, V) each."""
    names: tuple[str, ...]
    called: str = "X"
    facts: tuple[str, ...] = ("arrays",)
    others: tuple[tuple[str, str], ...] = ()
    is_shared: bool = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    def batches(self, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        """See `Stream.batches`."""
        places = [self.names.index(name) for name in columns]
        for begin in range(first, last, BATCH):
            end = min(begin + BATCH, last)
            block = np.concatenate([np.asarray(one[begin:end], dtype=np.float64) for one in self.columns], axis=1)
            yield block[:, places]

    def described(self) -> dict[str, Any]:
        """See `Stream.described`."""
        return {"kind": "given", "called": self.called, "files": []}
