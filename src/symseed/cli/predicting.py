"""Predictions of a run for a table of any size, as CSV, Parquet or Arrow; a piece of it is in memory at a time."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from symseed import tables
from symseed.arrays import Floats
from symseed.cli import next_step, run_names
from symseed.errors import SettingsError, shown
from symseed.language.tokens import TokenKind
from symseed.regressor.regressor import SymbolicRegressor
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.tables import opening
from symseed.text import for_spreadsheet

_KINDS = {".csv": "CSV", ".parquet": "Parquet", ".pq": "Parquet", ".arrow": "Arrow", ".feather": "Arrow"}
"""What is written, by the end of the name of the output."""


@dataclass(frozen=True, eq=False, slots=True)
class _Piece:
    """Some rows of a table, with their predictions."""

    rows: opening.Rows
    predicted: Floats  # (m, K)

    @property
    def lines(self) -> Iterator[list[Any]]:
        """The rows as cells of CSV."""
        for line, row in zip(zip(*self.rows.cells, strict=True), self.predicted.tolist(), strict=True):
            cells = ["" if cell is None else cell for cell in line]
            yield [*cells, *("" if np.isnan(value) else repr(value) for value in row)]

    def arrow(self, targets: Sequence[str]) -> Any:
        """The rows as a table of Arrow."""
        import pyarrow as pa

        found = self.rows.arrow
        for name, values in zip(targets, self.predicted.T, strict=True):
            found = found.append_column(f"{name} predicted", pa.array(values, from_pandas=True))
        return found


def predict(folder: Path, source: str, index: int | None, reading: tables.TableOptions, output: str | None) -> None:
    """Print a table with the values of a run's formulas as its last columns, or write it to a file."""
    opened = Run.read(folder, is_to_search=False)
    model = SymbolicRegressor.from_file(folder)
    data = opened.data
    count = lacking = 0
    with _writer(output, data.targets) as write:
        for rows in opening.rows_of(source, _as_in_run(reading, data)):
            X = rows.encoded(data.given_names, data.categories)
            piece = _Piece(rows, _predicted(model, X, data, index))
            write(piece)
            count += len(piece.predicted)
            lacking += int(np.isnan(piece.predicted).any(axis=1).sum())
    if lacking:
        click.echo(f"symseed: {lacking:,} of {count:,} rows have no prediction.", err=True)
    if output is not None:
        click.echo(output)
    next_step.say(f"symseed predict {run_names.typed(folder)} DATA > predicted.csv")


@contextmanager
def _writer(output: str | None, targets: Sequence[str]) -> Iterator[Callable[[_Piece], None]]:
    """A function that writes a piece; the output is there when all pieces are written, or not at all."""
    if output is None:
        yield _Lines(csv.writer(sys.stdout, lineterminator="\n"), targets)
        return
    kind = _KINDS.get(Path(output).suffix.lower())
    if kind is None:
        raise SettingsError(f"`--output` must end with {', '.join(_KINDS)}, but it is `{shown(output)}`.")
    part = Path(f"{output}.part")
    try:
        with _Lines.to_file(part, targets) if kind == "CSV" else _Batches(part, targets, kind) as write:
            yield write
        part.replace(output)
    except OSError as error:
        raise SettingsError(
            f"`--output` must be a file that can be written, but `{output}` is not: {error}."
        ) from error
    finally:
        part.unlink(missing_ok=True)


class _Lines:
    """Writes CSV."""

    def __init__(self, writer: Any, targets: Sequence[str]) -> None:
        self._writer, self._targets, self._has_header = writer, targets, False

    @classmethod
    @contextmanager
    def to_file(cls, path: Path, targets: Sequence[str]) -> Iterator[_Lines]:
        """Write to a file."""
        with path.open("w", newline="") as file:
            yield cls(csv.writer(file, lineterminator="\n"), targets)

    def __call__(self, piece: _Piece) -> None:
        """Write a piece."""
        if not self._has_header:
            self._has_header = True
            names = (for_spreadsheet(f"{target} predicted") for target in self._targets)
            self._writer.writerow([*piece.rows.names, *names])
        self._writer.writerows(piece.lines)


class _Batches(AbstractContextManager[Any]):
    """Writes Parquet or Arrow."""

    def __init__(self, path: Path, targets: Sequence[str], kind: str) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise SettingsError(f"A {kind} file is written by pyarrow: pip install 'symseed[parquet]'.") from error
        self._path, self._targets, self._kind = path, targets, kind
        self._file: Any = None

    def __call__(self, piece: _Piece) -> None:
        """Write a piece."""
        from pyarrow import ipc, parquet

        batch = piece.arrow(self._targets)
        if self._file is None:
            is_parquet = self._kind == "Parquet"
            make = parquet.ParquetWriter if is_parquet else ipc.new_file
            self._file = make(str(self._path), batch.schema)
        self._file.write_table(batch.cast(self._file.schema) if self._kind == "Parquet" else batch)

    def __exit__(self, *_: object) -> None:
        """End the file."""
        if self._file is not None:
            self._file.close()


def _as_in_run(reading: tables.TableOptions, data: RunData) -> tables.TableOptions:
    """Read dates in the same way as the run: in seconds since the same moment."""
    if data.table is None or not data.table.has_seconds:
        return reading
    dates = "seconds" if reading.dates == "leave" else reading.dates
    return replace(reading, dates=dates, origins=dict(data.table.origins))


def _predicted(model: SymbolicRegressor, X: Floats, data: RunData, index: int | None) -> Floats:
    """Return predictions, (M, K): NaN if an input of the formula is NaN."""
    used = [
        sorted({token.column for token in row.expression.tokens if token.kind is TokenKind.VARIABLE})
        for row in model.at(index)
    ]
    is_known = np.stack([np.isfinite(X[:, columns]).all(axis=1) for columns in used], axis=1)
    rows = is_known.any(axis=1)
    values = np.full(is_known.shape, np.nan)
    if rows.any():
        filled = np.where(np.isfinite(X), X, 1.0)[rows]
        given = pd.DataFrame(data.as_given(filled))
        given = given if data.has_labels else given.to_numpy()
        values[rows] = model.predict(given, index).reshape(len(filled), -1)
    return np.where(is_known, values, np.nan)
