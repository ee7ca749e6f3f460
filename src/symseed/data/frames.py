"""Users' tables: arrays and data frames of any kind, read as float64 with a name for each column.

Values that cannot be read are refused with a sentence that names the column, the value, and what to do.
"""

from __future__ import annotations

import collections
import contextlib
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.data.dataset import LARGEST_EXACT, warn_of_rounding
from symseed.errors import DataError, did_you_mean, listed, shown
from symseed.language.categories import Categories, text_of

_KINDS = {"M": "dates", "m": "durations", "U": "text", "S": "bytes", "V": "records"}
_CURES = {
    "text": "Turn it into numbers, leave it out, or give each of its values a constant by `template`.",
    "bytes": "Turn it into numbers, or leave it out.",
    "categories": "Encode it as numbers, leave it out, or give each of its values a constant by `template`.",
    "dates": "Turn them into numbers, such as days since the first.",
    "durations": "Turn them into numbers, such as seconds.",
}


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Columns of finite numbers."""

    values: Floats  # (M, V), read-only; perhaps the caller's own array, since copies of large tables are slow
    names: tuple[str, ...]
    """Names of the columns in formulas."""
    labels: tuple[Hashable, ...] | None
    """Labels of the columns in the frame; None for an array."""
    categories: tuple[Categories, ...] = ()
    """The columns that are categories; `values` has a column of 0 and 1 for each of their values."""

    def __post_init__(self) -> None:
        """Make the values read-only here; the caller's own array stays writable."""
        values = self.values.view()
        values.setflags(write=False)
        object.__setattr__(self, "values", values)


def read(X: Any, *, labels: Sequence[Hashable] | None = None, categories: Sequence[str | Categories] = ()) -> Table:
    """Read a table.

    Args:
        labels: labels of the columns to take from a frame, in this order; an array is taken whole.
        categories: columns that are categories, by name; with their values if those are known.

    Raises:
        DataError: if it is not a table of finite numbers.
        TypeError: if a cell is an object that cannot be read as a number.
    """
    X = _framed(X)
    if nw.dependencies.is_into_dataframe(X):
        return _read_frame(X, labels, categories=categories)
    array = _array(X, "X")
    if array.ndim != 2:
        raise DataError(
            f"`X` must be a table of rows by columns, but its shape is {array.shape}. Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )
    _check_size(array.shape)
    names = tuple(f"x{i + 1}" for i in range(array.shape[1]))
    if categories:
        return _joined(names, lambda i: array[:, i], categories, None)
    if array.dtype.kind in "biuf":
        values = _plain(array, [f"`{name}`" for name in names])
    else:
        values = np.stack([_numbers(array[:, i], _column(name)) for i, name in enumerate(names)], axis=1)
    _check_finite(values, names)
    return Table(values, names, None)


def read_values(values: Any, what: str, rows: int) -> Floats:
    """Read one value for each row, or several: (M,) or (M, K)."""
    values = _framed(values)
    if nw.dependencies.is_into_dataframe(values):
        table = _read_frame(values, None, what)
        array = table.values
    else:
        given = _array(values, what)
        if given.ndim not in (1, 2):
            raise DataError(f"`{what}` must have one value for each row of `X`, but its shape is {given.shape}.")
        columns = [_numbers(column, f"`{what}`") for column in (given.T if given.ndim == 2 else [given])]
        array = (
            np.stack(columns, axis=1) if given.ndim == 2 and columns else np.asarray(columns[0] if columns else given)
        )
    if len(array) != rows:
        raise DataError(f"`{what}` must have a value for each of the {rows} rows of `X`, but it has {len(array)}.")
    _check_finite(array.reshape(rows, -1), None, what)
    return array


def _framed(values: Any) -> Any:
    """Return columns by name, or a table with an Arrow interface, as a frame that narwhals supports."""
    if isinstance(values, np.ndarray) and values.dtype.names is not None and values.ndim == 1:
        values = {name: values[name] for name in values.dtype.names}
    if isinstance(values, Mapping) and not hasattr(values, "nnz"):  # a sparse matrix may be a mapping
        import pandas as pd

        try:
            return pd.DataFrame(dict(values))
        except ValueError as error:
            raise DataError(f"Columns by name must have the same number of rows, but do not: {error}.") from error
    if hasattr(values, "__arrow_c_stream__") and not nw.dependencies.is_into_series(values):
        with contextlib.suppress(ImportError):
            import pyarrow as pa

            return values if nw.dependencies.is_into_dataframe(values) else pa.table(values)
    return values


def _read_frame(
    frame: Any,
    labels: Sequence[Hashable] | None,
    what: str = "X",
    *,
    categories: Sequence[str | Categories] = (),
) -> Table:
    # In pyarrow, `columns` are the columns' data, not their names.
    own: list[Hashable] = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    twice, times = collections.Counter(own).most_common(1)[0] if own else (None, 0)
    if times > 1:
        raise DataError(f"The columns of `{what}` must have different names, but `{shown(twice)}` is there twice.")
    # By position, because integer names would be read as positions.
    series = dict(zip(own, nw.from_native(frame, eager_only=True).iter_columns(), strict=True))
    if labels is not None:
        missing = [str(label) for label in labels if label not in series]
        if missing:
            raise DataError(
                f"`{what}` must have the columns that were fitted, but it lacks {listed(missing)}; it has "
                f"{listed([str(label) for label in own])}. Add or rename them."
            )
        own = list(labels)
    _check_size((len(frame), len(own)))
    names = tuple(_name(label, place) for place, label in enumerate(own))
    if len(set(names)) < len(names):
        raise DataError(f"The columns of `{what}` must have names that differ as text, but they are {listed(names)}.")
    if categories:
        return _joined(names, lambda i: series[own[i]], categories, tuple(own))
    columns = [_series(series[label], _column(name, what)) for label, name in zip(own, names, strict=True)]
    values = np.stack(columns, axis=1)
    _check_finite(values, names, what)
    return Table(values, names, tuple(own))


def _joined(
    names: Sequence[str],
    column: Callable[[int], Any],
    categories: Sequence[str | Categories],
    labels: tuple[Hashable, ...] | None,
) -> Table:
    """Return columns of numbers and of categories as one table, in the given order."""
    wanted = {one if isinstance(one, str) else one.column: one for one in categories}
    for name in wanted:
        if name not in names:
            raise DataError(
                f"`template` has const[{shown(name)}], but `X` has no such column.{did_you_mean(name, names)} Its "
                f"columns are {listed(names)}."
            )
    blocks: list[Floats] = []
    out: list[str] = []
    found: list[Categories] = []
    for place, name in enumerate(names):
        given, where = column(place), _column(name)
        if name in wanted:
            cells = given.to_list() if hasattr(given, "to_list") else list(given)
            one = wanted[name]
            known = Categories.of(name, cells, where) if isinstance(one, str) else one
            blocks.append(_indicators(known, cells, where))
            out += known.names
            found.append(known)
        else:
            numbers = _numbers(given, where) if isinstance(given, np.ndarray) else _series(given, where)
            blocks.append(numbers[:, None])
            out.append(name)
    for name, times in collections.Counter(out).items():
        if times > 1:
            raise DataError(f"`X` has a column `{shown(name)}`, the name of a category's column of 0 and 1. Rename it.")
    values = np.concatenate(blocks, axis=1)
    _check_finite(values, out)
    return Table(values, tuple(out), labels, tuple(found))


def _indicators(known: Categories, cells: Sequence[Any], where: str) -> Floats:
    """The columns of 0 and 1 of a column of categories."""
    out = known.indicators(cells)
    lost = np.flatnonzero(np.isnan(out[:, 0]))
    if len(lost):
        row = int(lost[0])
        found = "nothing" if text_of(cells[row]) is None else f"`{shown(cells[row])}`"
        raise DataError(
            f"{where} must have one of the categories {listed(known.values)}, but has {found} in row "
            f"{row} ({len(lost)} such rows in all). Leave those rows out; only these categories have a constant."
        )
    return out


def _series(series: Any, what: str) -> Floats:
    """One column of a frame."""
    dtype = series.dtype
    kinds = {
        "categories": (nw.Categorical, nw.Enum),
        "text": (nw.String,),
        "bytes": (nw.Binary,),
        "dates": (nw.Date, nw.Datetime, nw.Time),
        "durations": (nw.Duration,),
    }
    for kind, types in kinds.items():
        if isinstance(dtype, types):
            raise DataError(_refusal(what, kind))
    return _numbers(np.asarray(series.to_numpy()), what)


def _array(values: Any, what: str) -> npt.NDArray[Any]:
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise DataError(f"`{what}` is a sparse matrix, but formulas need every value: give {what}.toarray().")
    if hasattr(values, "collect") and hasattr(values, "collect_schema"):
        raise DataError(f"`{what}` is a frame that has not been computed yet: give {what}.collect().")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(f"`{what}` is a masked array with hidden values. Leave those rows out, or fill them.")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise DataError(f"`{what}` must be a table of numbers, but its rows differ in length.") from error


def _missing_values() -> tuple[Any, ...]:
    # A pandas value exists only if pandas is imported, so it is not imported here.
    pandas = sys.modules.get("pandas")
    return (None,) if pandas is None else (None, pandas.NA, pandas.NaT)


def _numbers(column: npt.NDArray[Any], what: str) -> Floats:
    """Read one column as float64."""
    kind = column.dtype.kind
    if kind in "biuf":
        return _plain(column, (what,))
    if kind == "c":
        raise DataError(f"Complex data not supported: {what} must hold real numbers. Give real and imaginary parts.")
    if kind in _KINDS:
        raise DataError(_refusal(what, _KINDS[kind]))
    nothing = _missing_values()
    missing = np.flatnonzero([any(value is other for other in nothing) for value in column])
    if len(missing):
        raise DataError(_unusable(what, "a missing value", int(missing[0]), len(missing)))
    out = np.empty(len(column))
    is_rounded = False
    for row, value in enumerate(column):
        if isinstance(value, (str, bytes)):
            raise DataError(
                f"{what} must hold numbers, but has the text {shown(value)!r} in row {row}. {_CURES['text']}"
            )
        if isinstance(value, (complex, np.complexfloating)):
            raise DataError(f"Complex data not supported: {what} must hold real numbers, but has {value} in row {row}.")
        try:
            out[row] = value
        except OverflowError:
            out[row] = np.inf
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{what} must hold numbers, but has a {type(value).__name__} in row {row} (each argument must be a "
                "string of digits or a number). Turn it into numbers, or leave it out."
            ) from error
        else:
            is_rounded |= isinstance(value, int) and abs(value) > LARGEST_EXACT
    if is_rounded:
        warn_of_rounding(what)
    return out


def _plain(array: npt.NDArray[Any], names: Sequence[str]) -> Floats:
    """Read an array of a numeric type, and warn if it holds whole numbers beyond `LARGEST_EXACT`."""
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        large = (array > LARGEST_EXACT) | (array < -LARGEST_EXACT)
        if large.any():
            name = names[int(np.flatnonzero(large.reshape(-1, len(names)).any(axis=0))[0])]
            warn_of_rounding(name)
    with np.errstate(over="ignore"):  # overflow is refused as infinite
        return np.asarray(array, dtype=np.float64, order="C")


def _check_size(shape: tuple[int, ...]) -> None:
    for count, noun in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise DataError(f"`X` has 0 {noun}(s) (shape={shape}) while a minimum of 1 is required. Give it some data.")


def _check_finite(values: Floats, names: Sequence[str] | None, what: str = "X") -> None:
    if np.isfinite(values).all():
        return
    bad = ~np.isfinite(values)
    column = int(np.flatnonzero(bad.any(axis=0))[0])
    row = int(np.flatnonzero(bad[:, column])[0])
    found = "NaN" if np.isnan(values[row, column]) else str(values[row, column])
    where = f"`{what}`" if names is None else _column(names[column], what)
    raise DataError(_unusable(where, found, row, int(bad[:, column].sum())))


def _unusable(what: str, found: str, row: int, count: int) -> str:
    return (
        f"{what} must be finite, but has {found} in row {row} ({count} such values in all). Leave those rows out, or "
        "fill them."
    )


def _refusal(what: str, kind: str) -> str:
    return f"{what} must hold numbers, but holds {kind}. {_CURES.get(kind, 'Leave it out.')}"


def _name(label: Hashable, place: int) -> str:
    """Name of a column in formulas: its own, with `x` before an integer, which would read as a number."""
    if isinstance(label, str):
        name = str.__str__(label) or f"x{place + 1}"
    else:
        name = f"x{label}" if isinstance(label, (int, np.integer)) else str(label)
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise DataError(
            f"The names of columns must be text, but {shown(name)!r} has bytes that are not text. Rename it."
        )
    return name


def _column(name: str, table: str = "X") -> str:
    return f"Column `{shown(name)}` of `{table}`"
