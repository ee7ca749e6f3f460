"""Tables of any size that a user gives to `fit`: paths, Dask frames, and memory-mapped arrays."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from symseed.data import frames
from symseed.errors import DataError, SettingsError, cut
from symseed.regressor.measurements import MOST_ROWS
from symseed.regressor.run_data import RunData
from symseed.search.streams import Stream as Seeds
from symseed.search.streams import derived
from symseed.tables import opening
from symseed.tables.large import LargeTable, Roles, check_roles
from symseed.tables.opening import Sequential
from symseed.tables.options import TableOptions
from symseed.tables.streams import ArrayStream, Stream


def is_large(X: Any) -> bool:
    """Return whether X is a path, a Dask frame, or a memory-mapped array of many rows."""
    if isinstance(X, (str, os.PathLike)) or _is_dask(X):
        return True
    return isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf" and len(X) > MOST_ROWS


def large_table(X: Any, y: Any, sample_weight: Any, y_err: Any, X_err: Any) -> LargeTable:
    """Return the table of such an X.

    Args:
        y: the name of a column, or what belongs to X: a Dask series, or an array.
        sample_weight: likewise; None: all samples weigh the same.
        y_err: likewise; None: the standard errors are not known.

    Raises:
        DataError: if it cannot be read, or an argument does not suit it.
    """
    if X_err is not None:
        raise SettingsError("`X_err` needs a table in memory, but X is read in blocks. Give a part of it as an array.")
    more = {"y": y, "sample_weight": sample_weight, "y_err": y_err}
    stream, roles = _of_arrays(X, more) if isinstance(X, np.memmap) else _of_columns(X, more)
    check_roles(stream, roles)
    table = LargeTable.of(stream, roles)
    if not table.is_whole:
        left = table.stream.rows - len(table)
        if isinstance(X, np.memmap):
            raise DataError(
                f"`X` and `y` must be finite, but {left:,} of {table.stream.rows:,} rows are not. Fill them."
            )
        warnings.warn(
            f"{left:,} of {table.stream.rows:,} rows of `{stream.called}` have gaps or weigh nothing; they are left "
            "out.",
            UserWarning,
            stacklevel=4,
        )
    return table


def searched(table: LargeTable, seed: int, *, has_labels: bool = True) -> RunData:
    """Return the samples that a search of a large table uses; all of them if they are few.

    Args:
        seed: that of the fit.
    """
    rows = np.arange(len(table))
    if len(table) > MOST_ROWS:
        draws = np.random.default_rng(derived(seed, Seeds.TARGET, 0))
        rows = np.sort(draws.choice(len(table), MOST_ROWS, replace=False))  # as `Dataset.sampled` does
    block, roles = table.take(rows), table.roles
    return RunData(
        block.X,
        block.y[:, None],
        block.weights,
        roles.inputs,
        has_labels=has_labels,
        is_multiple=False,
        targets=(roles.target,),
        source=table.stream.called,
        y_errors=None if block.errors is None else block.errors[:, None],
        large=table if len(table) > MOST_ROWS else None,
    )


def _of_columns(X: Any, more: dict[str, Any]) -> tuple[Stream | Sequential, Roles]:
    """A table with columns of its own, some of which have the other roles."""
    if _is_dask(X):
        own = {f"_{name}": value for name, value in more.items() if value is not None and not isinstance(value, str)}
        for name, series in own.items():
            if not hasattr(series, "npartitions"):
                raise DataError(
                    f"`{name[1:]}` must be a column of the Dask frame, or its name, but it is {cut(series)}."
                )
        named = {name: value if isinstance(value, str) or value is None else f"_{name}" for name, value in more.items()}
        stream: Stream | Sequential = opening.of_dask(X.assign(**own) if own else X)
    else:
        for name, value in more.items():
            if not isinstance(value, str) and (value is not None or name == "y"):
                raise DataError(f"`{name}` must be the name of a column of `{X}`, but it is {cut(value)}.")
        named, stream = more, opening.opened(os.fspath(X), TableOptions())
    taken = {name for name in named.values() if name is not None}
    inputs = tuple(name for name in stream.names if name not in taken)
    if not inputs:
        raise DataError(f"`{stream.called}` has no column of numbers beside those that have a role.")
    return stream, Roles(inputs, str(named["y"]), named["sample_weight"], named["y_err"])


def _of_arrays(X: Any, more: dict[str, Any]) -> tuple[Stream, Roles]:
    given = {name: value for name, value in more.items() if value is not None}
    columns = [X]
    for name, value in given.items():
        array = value if isinstance(value, np.memmap) else frames.read_values(value, name, len(X))
        array = array.reshape(len(array), -1)
        if array.shape != (len(X), 1):
            raise DataError(
                f"`{name}` must have one value for each of the {len(X):,} rows of a memory-mapped X, but its shape is "
                f"{array.shape}."
            )
        columns.append(array)
    inputs = tuple(f"x{place + 1}" for place in range(X.shape[1]))
    roles = Roles(inputs, *(name if name in given else None for name in more))  # type: ignore[arg-type]
    return ArrayStream(tuple(columns), (*inputs, *given)), roles


def _is_dask(X: Any) -> bool:
    return hasattr(X, "npartitions") and hasattr(X, "dtypes") and hasattr(X, "get_partition")
