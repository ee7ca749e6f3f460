"""Dates and times of day in cells: recognised, and converted to seconds."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from symseed.arrays import Floats
from symseed.errors import DataError, shown

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?\s*(?P<half>[AaPp][Mm])?"
_ZONE = r"\s*(?P<zone>Z|[+-]\d{2}(?::?\d{2})?)?"
_DATE = re.compile(
    rf"(?P<a>\d{{1,4}})(?P<mark>[-/.])(?P<b>\d{{1,2}})(?P=mark)(?P<c>\d{{1,4}})(?:[T\s]+{_CLOCK}{_ZONE})?"
)
_TIME = re.compile(r"(?P<hour>\d{1,4}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?")
_CENTURY = 70
"""Years of two digits from this one on belong to the twentieth century, as in POSIX."""


class DateOrder(str, Enum):
    """Orders of year, month and day."""

    YEAR_FIRST = "year-first"
    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


def is_date(text: str) -> bool:
    """Return whether a text has the form of a date, perhaps with a time of day."""
    match = _DATE.fullmatch(text.strip()) if len(text) < 60 else None
    return match is not None and (len(match["a"]) == 4 or len(match["c"]) in (2, 4)) and len(match["a"]) != 3


def is_time(text: str) -> bool:
    """Return whether a text has the form of a time of day or of a duration, such as 12:30:00."""
    return len(text) < 30 and _TIME.fullmatch(text.strip()) is not None


def order_of(texts: Sequence[str], what: str, asked: DateOrder | None) -> DateOrder:
    """Return the order of year, month and day in the dates of a column.

    Raises:
        DataError: if day and month cannot be told apart, and the user did not say which is first.
    """
    matches = [match for text in texts if (match := _DATE.fullmatch(text.strip())) is not None]
    if matches and all(len(match["a"]) == 4 for match in matches):
        return DateOrder.YEAR_FIRST
    is_day_first = any(int(match["a"]) > 12 or match["mark"] == "." for match in matches)
    is_month_first = any(int(match["b"]) > 12 for match in matches)
    if is_day_first != is_month_first:
        return DateOrder.DAY_FIRST if is_day_first else DateOrder.MONTH_FIRST
    if asked is not None:
        return asked
    raise DataError(
        f"{what} has dates such as `{shown(texts[0])}`, in which day and month cannot be told apart. Say which is "
        "first by `--dates day-first` or `--dates month-first` (in Python `dates=`), or leave the column out."
    )


def moment(text: str, order: DateOrder) -> datetime.datetime | None:
    """Read a date, in UTC if it has no time zone; None if there is no such date."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    a, b, c = (int(match[name]) for name in "abc")
    year, month, day = {
        DateOrder.YEAR_FIRST: (a, b, c),
        DateOrder.DAY_FIRST: (c, b, a),
        DateOrder.MONTH_FIRST: (c, a, b),
    }[order]
    if year < 100:
        year += 1900 if year >= _CENTURY else 2000
    hour = int(match["hour"] or 0)
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "pm" else 0)
    part = int((match["part"] or "").ljust(6, "0")[:6])
    try:
        local = datetime.datetime(
            year, month, day, hour, int(match["minute"] or 0), int(match["second"] or 0), part, datetime.timezone.utc
        )
        return local - _offset(match["zone"])
    except (ValueError, OverflowError):
        return None


def _offset(zone: str | None) -> datetime.timedelta:
    if zone is None or zone == "Z":
        return datetime.timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    size = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -size if zone[0] == "-" else size


def time_of_day(text: str) -> float | None:
    """Return a time such as 12:30 or 36:00:01.5 in seconds; two numbers are hours and minutes."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    seconds = 3600 * int(match["hour"]) + 60 * int(match["minute"]) + int(match["second"] or 0)
    return seconds + (float(f"0.{match['part']}") if match["part"] else 0.0)


def as_moment(value: Any) -> datetime.datetime | None:
    """Return a date of a spreadsheet or frame, in UTC if it has no time zone."""
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=datetime.timezone.utc) if value.tzinfo is None else value
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.timezone.utc)
    return None


def as_duration(value: Any) -> float | None:
    """Return a time of day or a duration of a spreadsheet or frame, in seconds."""
    if isinstance(value, datetime.time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return value.total_seconds() if isinstance(value, datetime.timedelta) else None


def seconds_since(moments: Sequence[datetime.datetime | None], origin: datetime.datetime) -> Floats:
    """Return moments in seconds after `origin`, NaN for None."""
    return np.array([np.nan if one is None else (one - origin).total_seconds() for one in moments], dtype=np.float64)
