"""Data frames of every kind from Python: the same numbers, and the same names."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from symseed import DataError
from symseed.data import frames

A, N, OK = [1.5, 2.5, 3.25], [10, 20, 40], [True, False, True]
COLUMNS = {"a": A, "n": N, "ok": OK}


class Stream:
    """A table of somebody's own that can be read by Arrow."""

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return pa.table(COLUMNS).__arrow_c_stream__(schema)


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas, nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, Arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, decimals": lambda: pd.DataFrame({**COLUMNS, "a": [decimal.Decimal(str(value)) for value in A]}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, decimals": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("a").cast(pl.Decimal(10, 2))),
    "pyarrow": lambda: pa.table(COLUMNS),
    "structured array": lambda: pd.DataFrame(COLUMNS).to_records(index=False),
    "record batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "stream": Stream,
    "columns by name": lambda: COLUMNS,
    "arrays by name": lambda: {name: np.array(values) for name, values in COLUMNS.items()},
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_any_kind_gives_its_numbers_and_names(kind: str) -> None:
    table = frames.read(FRAMES[kind]())
    assert table.names == ("a", "n", "ok")
    assert table.values.tolist() == [[1.5, 10.0, 1.0], [2.5, 20.0, 0.0], [3.25, 40.0, 1.0]]
    assert frames.read_values(FRAMES[kind](), "y", 3).tolist() == table.values.tolist()


@pytest.mark.parametrize("column", [pd.Series(A), pl.Series(A), pa.chunked_array([A]), A])
def test_a_column_of_any_kind_gives_its_numbers(column: Any) -> None:
    assert frames.read_values(column, "y", 3).tolist() == A


def test_columns_of_different_lengths_get_a_sentence() -> None:
    with pytest.raises(DataError, match="Columns by name must have the same number of rows"):
        frames.read({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(DataError, match="`a` of `X` must hold numbers, but holds text"):
        frames.read({"a": ["x", "y"]})
