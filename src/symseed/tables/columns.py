"""The meaning of a column of cells: numbers, booleans, dates, times, text, row numbers, or nothing."""

from __future__ import annotations

import datetime
import decimal
import fractions
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.data.dataset import LARGEST_EXACT
from symseed.errors import DataError, shown
from symseed.tables import dates, numerals
from symseed.tables.dates import DateOrder

_FEW = 1_000
"""Number of different cells examined to tell dates from text: chosen by hand."""
_ID_NAMES = re.compile(r"(?:.*[_ .])?(?:ids?|idx|index|uuid|row|nr|no|#)\.?", re.IGNORECASE)


class Meaning(str, Enum):
    """What the cells of a column are."""

    NUMBERS = "numbers"
    TRUTHS = "true or false"
    DATES = "dates"
    TIMES = "times"
    TEXT = "text"
    ROW_NUMBERS = "row numbers"
    EMPTY = "empty"


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """A column of a table."""

    name: str
    meaning: Meaning
    cells: npt.NDArray[Any]
    """The cells as they were read."""
    values: Floats | None = None
    """Numbers, NaN in gaps; None if the column cannot be read as numbers."""
    gaps: int = 0
    """Cells without a usable value."""
    odd: str = ""
    """Gaps that hold something other than a number, in words."""
    notes: tuple[str, ...] = ()
    """What was converted, in words."""
    unit: str = ""
    """The column's cell in the row of units."""
    origin: str = ""
    """Date and time of second 0, for a column of dates."""
    is_rounded: bool = False
    """Whether it holds whole numbers that float64 cannot represent exactly."""

    @property
    def labels(self) -> list[Any]:
        """The cells as labels of categories, None in gaps."""
        if self.values is not None:
            return [None if value != value else value for value in self.values.tolist()]
        return [None if _is_blank(cell) else cell for cell in self.cells]

    @property
    def is_default_input(self) -> bool:
        """Whether the column is an input if the user does not choose the inputs."""
        return self.values is not None and self.meaning is not Meaning.ROW_NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How cells are read."""

    decimal: str | None = None
    """The decimal mark of texts; None: as the column itself shows."""
    are_dates_seconds: bool = False
    date_order: DateOrder | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    """Date and time of second 0, by column; by default that of the first row with a date."""


def understood(name: str, series: Any, reading: Reading, *, where: str, is_named: bool) -> Column:
    """Return the meaning of a column.

    Args:
        series: a pandas series; texts are read, and numbers are taken as they are.
        where: name of the column in messages.
        is_named: whether the file names it: a column of row numbers without a name is not an input.

    Raises:
        DataError: if its numbers or dates are ambiguous.
    """
    kind = series.dtype.kind if isinstance(series.dtype, np.dtype) else ""
    if kind in "iuf" and kind:
        column = _plain(name, series.to_numpy())
    else:
        cells = series.to_numpy(dtype=object, na_value=None) if kind != "O" else series.to_numpy()
        column = _Cells(name, cells, reading, where).column()
    return _with_row_numbers(column, is_named=is_named)


def _plain(name: str, array: npt.NDArray[Any]) -> Column:
    with np.errstate(over="ignore"):
        values = array.astype(np.float64)
    is_finite = np.isfinite(values)
    infinite = np.isinf(values)
    values[infinite] = np.nan
    gaps = len(values) - int(is_finite.sum())
    is_rounded = array.dtype.kind in "iu" and bool(((array > LARGEST_EXACT) | (array < -LARGEST_EXACT)).any())
    if gaps == len(values):
        return Column(name, Meaning.EMPTY, array, gaps=gaps)
    odd = _odd(int(infinite.sum()), "inf")
    return Column(name, Meaning.NUMBERS, array, values, gaps, odd, is_rounded=is_rounded)


def _with_row_numbers(column: Column, *, is_named: bool) -> Column:
    """Tell row numbers and ids, which are whole and all different, from measurements."""
    values = column.values
    if column.meaning is not Meaning.NUMBERS or values is None or column.gaps or len(values) < 2:
        return column
    if is_named and not _ID_NAMES.fullmatch(column.name):
        return column
    whole = np.all(values == np.floor(values))
    is_count = whole and values[0] in (0.0, 1.0) and bool(np.all(np.diff(values) == 1.0))
    is_id = whole and is_named and len(np.unique(values)) == len(values)
    return replace(column, meaning=Meaning.ROW_NUMBERS) if is_count or is_id else column


def _odd(count: int, example: str) -> str:
    return f"{count:,} of them {'such as ' * (count > 1)}`{shown(example.strip(), 12)}`" if count else ""


class _Cells:
    """Reads one column of cells, which are texts, numbers, truths, dates, or nothing."""

    def __init__(self, name: str, cells: npt.NDArray[Any], reading: Reading, where: str) -> None:
        self._name, self._cells, self._reading, self._where = name, cells, reading, where
        # Equal texts are read once. Objects that cannot be hashed, such as lists in JSON, are read as text.
        keys = [cell if isinstance(cell, _KNOWN) else None if _is_nothing(cell) else str(cell) for cell in cells]
        import pandas as pd

        self._codes, different = pd.factorize(_objects(keys), use_na_sentinel=True)
        self._different: list[Any] = list(different)
        self._counts = np.bincount(self._codes[self._codes >= 0], minlength=len(self._different))
        self._texts = [one for one in self._different if isinstance(one, str) and not numerals.is_gap(one)]
        self._filled = int(sum(n for one, n in zip(self._different, self._counts, strict=True) if not _is_blank(one)))

    def column(self) -> Column:
        if self._filled == 0:
            return Column(self._name, Meaning.EMPTY, self._cells, gaps=len(self._cells))
        for read in (self._truths, self._dates, self._times, self._numbers):
            found = read()
            if found is not None:
                return found
        kinds = len({str(one) for one in self._texts})
        numbers = sum(numerals.looks_like_number(text) for text in self._texts[:_FEW])
        note = f"{kinds:,} value{'s' * (kinds > 1)}" + (f", {numbers:,} of them numbers" if numbers else "")
        return self._column(Meaning.TEXT, None, [note])

    def _numbers(self) -> Column | None:
        """The column as numbers, if more than half of its cells, gaps aside, are numbers."""
        mark = self._reading.decimal or self._own_mark()
        read = [self._number(one, mark) for one in self._different]
        affixes = Counter[str]()
        for one, count in zip(read, self._counts, strict=True):
            if one is not None:
                affixes[one.affix] += int(count)
        affix = affixes.most_common(1)[0][0] if affixes else ""
        values = np.array(
            [one.value if one is not None and one.affix == affix else np.nan for one in read], dtype=np.float64
        )
        values[np.isinf(values)] = np.nan
        is_number = np.isfinite(values)
        if 2 * int(self._counts[is_number].sum()) <= self._filled:
            return None
        odd = [place for place, one in enumerate(self._different) if not is_number[place] and not _is_blank(one)]
        count = int(self._counts[odd].sum()) if odd else 0
        column = self._column(Meaning.NUMBERS, values, self._conversions(read, affix))
        return replace(
            column,
            odd=_odd(count, str(self._different[odd[0]]) if odd else ""),
            is_rounded=any(map(_is_rounded, self._different)),
        )

    def _conversions(self, read: Sequence[numerals.Number | None], affix: str) -> list[str]:
        pairs = [(text, one) for text, one in zip(self._different, read, strict=True) if one and isinstance(text, str)]
        notes = []
        if affix:
            text, one = next((text, one) for text, one in pairs if one.affix == affix)
            notes.append(f"`{shown(text.strip(), 12)}` as {one.value:g}")
        grouped = next(((text, one) for text, one in pairs if one.grouping), None)
        if grouped is not None and not (affix and grouped[1].affix == affix and grouped[0] == pairs[0][0]):
            notes.append(f"`{shown(grouped[0].strip(), 12)}` as {grouped[1].value:.15g}")
        return notes

    def _own_mark(self) -> str:
        marks = numerals.marks_in_cells(self._texts)
        if marks.point is not None and marks.comma is not None:
            raise DataError(
                f"{self._where} has decimals both with a point (`{shown(marks.point)}`) and with a comma "
                f"(`{shown(marks.comma)}`). Say which is right by `--decimal .` or `--decimal ,` (in Python "
                "`decimal=`); the others are then taken as gaps."
            )
        if marks.settled is None and marks.unsettled is not None:
            text = marks.unsettled.strip()
            raise DataError(
                f"{self._where} has numbers such as `{shown(text)}`, and nothing in the file shows whether that is "
                f"{_read(text, numerals.POINT)} or {_read(text, numerals.COMMA)}. Say which mark is the decimal one by "
                "`--decimal .` or `--decimal ,` (in Python `decimal=`)."
            )
        return marks.settled or numerals.POINT

    def _number(self, one: Any, mark: str) -> numerals.Number | None:
        if isinstance(one, str):
            return None if numerals.is_gap(one) else numerals.number(one, mark)
        if isinstance(one, _NUMBERS) and not isinstance(one, bool):
            try:
                return numerals.Number(float(one))
            except OverflowError:
                return numerals.Number(np.inf)
        return None

    def _truths(self) -> Column | None:
        truths = {"true": 1.0, "false": 0.0}
        values = [truths.get(str(one).strip().lower(), np.nan) for one in self._different]
        if any(np.isnan(value) and not _is_blank(one) for value, one in zip(values, self._different, strict=True)):
            return None
        return self._column(Meaning.TRUTHS, np.array(values, dtype=np.float64), ["true as 1, false as 0"])

    def _dates(self) -> Column | None:
        """The column as dates, if all its cells, gaps aside, are dates; as seconds if the user asks for that."""
        few = [one for one in self._different if not _is_blank(one)][:_FEW]
        if not all(dates.is_date(one) if isinstance(one, str) else dates.as_moment(one) for one in few):
            return None
        reading = self._reading
        if not reading.are_dates_seconds:
            return self._column(Meaning.DATES, None, [f"such as {shown(few[0], 19)}"])
        order = dates.order_of(self._texts, self._where, reading.date_order) if self._texts else DateOrder.YEAR_FIRST
        moments = [
            dates.moment(one, order) if isinstance(one, str) else dates.as_moment(one) for one in self._different
        ]
        if all(one is None for one in moments):
            return None
        given = reading.origins.get(self._name, "")
        first = next((moments[code] for code in self._codes if code >= 0 and moments[code] is not None), None)
        origin = datetime.datetime.fromisoformat(given) if given else first
        assert origin is not None
        since = origin.isoformat(sep=" ").removesuffix("+00:00")
        values = dates.seconds_since(moments, origin)
        column = self._column(Meaning.DATES, values, [f"as seconds since {since}"])
        return replace(column, origin=origin.isoformat())

    def _times(self) -> Column | None:
        few = [one for one in self._different if not _is_blank(one)][:_FEW]
        if not all(dates.is_time(one) if isinstance(one, str) else dates.as_duration(one) is not None for one in few):
            return None
        if not self._reading.are_dates_seconds:
            return self._column(Meaning.TIMES, None, [f"such as {shown(few[0], 15)}"])
        read = [dates.time_of_day(one) if isinstance(one, str) else dates.as_duration(one) for one in self._different]
        values = np.array([np.nan if one is None else one for one in read], dtype=np.float64)
        text = next((one for one in few if isinstance(one, str)), "")
        example = f"seconds, `{shown(text, 12)}` as {dates.time_of_day(text):g}" if text else "seconds"
        return self._column(Meaning.TIMES, values, [f"as {example}"])

    def _column(self, meaning: Meaning, values: Floats | None, notes: Sequence[str]) -> Column:
        """Return the column, given the values of its different cells."""
        if values is None:
            gaps = len(self._cells) - self._filled
            return Column(self._name, meaning, self._cells, gaps=gaps, notes=tuple(notes))
        whole = np.append(values, np.nan)[self._codes]  # code -1, an empty cell, is the appended NaN
        return Column(self._name, meaning, self._cells, whole, int(np.isnan(whole).sum()), notes=tuple(notes))


_NUMBERS = (int, float, decimal.Decimal, fractions.Fraction, np.integer, np.floating)
_KNOWN = (str, *_NUMBERS, bool, np.bool_, datetime.date, datetime.time, datetime.timedelta)


def _objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    # Booleans have their own text, because True equals 1.
    out = np.empty(len(values), dtype=object)
    out[:] = [str(value) if isinstance(value, (bool, np.bool_)) else value for value in values]
    return out


def _is_nothing(cell: Any) -> bool:
    is_nan = isinstance(cell, (float, np.floating)) and cell != cell
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")  # pandas' own


def _is_blank(cell: Any) -> bool:
    return numerals.is_gap(cell) if isinstance(cell, str) else _is_nothing(cell)


def _is_rounded(cell: Any) -> bool:
    """Whether a cell is a whole number beyond `LARGEST_EXACT`."""
    if isinstance(cell, str):
        digits = cell.strip().lstrip("+-0")
        return len(digits) < 400 and digits.isdecimal() and int(digits) > LARGEST_EXACT
    return isinstance(cell, (int, np.integer)) and abs(int(cell)) > LARGEST_EXACT


def _read(text: str, mark: str) -> str:
    one = numerals.number(text, mark)
    return "no number" if one is None else f"{one.value:.15g}"
