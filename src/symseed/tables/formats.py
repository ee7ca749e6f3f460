"""Tables in formats other than text: workbooks, Parquet and Feather, JSON."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

from symseed.errors import DataError, SettingsError, did_you_mean, listed, shown
from symseed.tables import heading
from symseed.tables.options import TableOptions
from symseed.tables.raw import Raw

_MOST_UNPACKED = 2**30
"""Most bytes of an unpacked workbook: four times `MOST_BYTES`, chosen by hand."""
_HEAD = 100
"""Number of rows in which the header of a sheet is sought: chosen by hand."""


def read_workbook(content: bytes, source: str, options: TableOptions, most: int) -> Raw:
    """Read a sheet of a workbook: .xlsx, .xls, .xlsb or .ods.

    Raises:
        DataError: if it is not a workbook, or larger than `most` cells.
        SettingsError: if calamine is not installed, or there is no such sheet.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError as error:
        raise SettingsError(_lacks(source, "a workbook", "python-calamine", "excel")) from error
    _check_unpacked(content, source)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = book.sheet_names
        name = _sheet(names, options.sheet, source)
        sheet = book.get_sheet_by_name(name)
        if sheet.total_height * sheet.total_width > most:
            raise DataError(f"Sheet `{shown(name)}` of `{source}` must have at most {most:,} cells.")
        rows = [[None if cell == "" else cell for cell in row] for row in sheet.to_python(skip_empty_area=True)]
    except PasswordError as error:
        raise DataError(f"`{source}` is protected by a password. Save it without one.") from error
    except (CalamineError, OSError, ValueError) as error:
        if isinstance(error, (DataError, SettingsError)):
            raise
        raise DataError(f"`{source}` cannot be read as a workbook: {shown(error, 120)}. Save it again.") from error
    facts = [f"sheet `{shown(name, 30)}`" + (f" of {len(names)}" if len(names) > 1 else "")]
    return _of_rows([row for row in rows if any(cell is not None for cell in row)], source, facts)


def _check_unpacked(content: bytes, source: str) -> None:
    if not content.startswith(b"PK"):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise DataError(f"`{source}` cannot be read as a workbook: {error}. Save it again.") from error
    if size > _MOST_UNPACKED:
        raise DataError(f"`{source}` must unpack to at most {_MOST_UNPACKED >> 20:,} MB, but has {size >> 20:,}.")


def _sheet(names: Sequence[str], asked: str | None, source: str) -> str:
    if not names:
        raise DataError(f"`{source}` has no sheet. Save it again.")
    if asked is not None and asked not in names:
        raise SettingsError(
            f"`{source}` has no sheet `{shown(asked)}`. Its sheets are {listed(names)}.{did_you_mean(asked, names)}"
        )
    return asked or names[0]


def _of_rows(rows: Sequence[Sequence[Any]], source: str, facts: list[str]) -> Raw:
    import pandas as pd

    if not rows:
        raise DataError(f"`{source}` must have a header and at least one row of values, but it is empty.")
    found = heading.find(rows[:_HEAD])
    body = rows[found.records :]
    if not body:
        raise DataError(f"`{source}` must have a header and at least one row of values, but has {len(rows)} row(s).")
    facts += [f"{found.above} row{'s' * (found.above > 1)} above the header"] if found.above else []
    frame = pd.DataFrame([tuple(row) for row in body], dtype=object)
    return Raw(found.names, frame, found.has_header, found.units, None, tuple(facts))


def read_arrow(content: bytes, source: str, most: int) -> Raw:
    """Read Parquet or Feather.

    Raises:
        DataError: if it is neither, or larger than `most` cells.
        SettingsError: if pyarrow is not installed.
    """
    is_parquet = content.startswith(b"PAR1")
    called = "Parquet" if is_parquet else "Feather"
    try:
        import pyarrow as pa
        from pyarrow import ipc, parquet
    except ImportError as error:
        raise SettingsError(_lacks(source, f"a {called} file", "pyarrow", "parquet")) from error
    try:
        if is_parquet:
            file = parquet.ParquetFile(pa.BufferReader(content))
            _check_cells(file.metadata.num_rows * file.metadata.num_columns, source, most)
            table = file.read()
        else:
            reader = ipc.open_file(pa.BufferReader(content))
            batches = []
            cells = 0
            for place in range(reader.num_record_batches):
                batches.append(reader.get_batch(place))
                cells += batches[-1].num_rows * batches[-1].num_columns
                _check_cells(cells, source, most)
            table = pa.Table.from_batches(batches, reader.schema)
        frame = table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"`{source}` cannot be read as {called}: {shown(error, 120)}. Write it again.") from error
    return _of_frame(frame, (called,), source)


def _check_cells(count: int, source: str, most: int) -> None:
    if count > most:
        raise DataError(f"`{source}` must have at most {most:,} cells, but has more. Give a part of it.")


def is_json(text: str) -> bool:
    """Return whether a text begins like JSON: an object, or a list of objects."""
    head = text[:200].lstrip()
    return head.startswith("{") or (head.startswith("[") and head[1:].lstrip()[:1] == "{")


def read_json(text: str, source: str, most: int) -> Raw:
    """Read JSON: an object on each line, a list of objects, or an object of columns.

    Raises:
        DataError: if it is none of these.
    """
    import pandas as pd

    try:
        content, facts = _json(text)
        if isinstance(content, dict) and all(isinstance(value, list) for value in content.values()):
            frame = pd.DataFrame({name: pd.Series(value, dtype=object) for name, value in content.items()})
        else:
            records = [content] if isinstance(content, dict) else content
            if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
                raise ValueError("it must be objects, one for each row, with the names of columns")
            is_nested = any(isinstance(value, dict) for record in records for value in record.values())
            frame = pd.json_normalize(records) if is_nested else pd.DataFrame(records, dtype=object)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"`{source}` cannot be read as JSON: {shown(error, 120)}. Write an object on each line, such as "
            '{"a": 1, "y": 2}.'
        ) from error
    _check_cells(frame.shape[0] * frame.shape[1], source, most)
    return _of_frame(frame, (facts,), source)


def _json(text: str) -> tuple[Any, str]:
    """Return the value of a text, or of its lines."""
    try:
        return json.loads(text), "JSON"
    except json.JSONDecodeError:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    records = []
    for number, line in lines:
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number}: {error.msg}") from error
    return records, "JSON lines"


def _of_frame(frame: Any, facts: tuple[str, ...], source: str) -> Raw:
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise DataError(f"`{source}` must have at least one row and one column, but its shape is {frame.shape}.")
    names = tuple(str(name) for name in frame.columns)
    return Raw(names, frame.set_axis(range(len(names)), axis=1), facts=facts)


def _lacks(source: str, kind: str, package: str, extra: str) -> str:
    return f"`{source}` is {kind}, which {package} reads: pip install 'symseed[{extra}]', or save it as CSV."
