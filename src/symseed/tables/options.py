"""Options of reading a table, for what the file itself does not show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from symseed.errors import SettingsError, cut
from symseed.tables.columns import Reading
from symseed.tables.dates import DateOrder

DATES = ("leave", "seconds", DateOrder.DAY_FIRST.value, DateOrder.MONTH_FIRST.value)
"""What happens to dates: they are left out, or become seconds; the last two say how 03/04/2024 is read."""
MISSING = ("drop", "mean", "error")
"""What happens to rows with gaps: they are left out, their inputs are filled, or they are refused."""
_SEPARATORS = {"tab": "\t", "\\t": "\t", "blank": " ", "blanks": " ", "space": " ", "comma": ",", "semicolon": ";"}
_DECIMALS = {"point": ".", "comma": ","}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How to read a file; None: as the file itself shows."""

    separator: str | None = None
    """Separator of columns: a character, `tab` or `blanks`."""
    decimal: str | None = None
    """The decimal mark, `.` or `,`."""
    encoding: str | None = None
    """Encoding of the text, by Python's name."""
    sheet: str | None = None
    """Name of the sheet of a workbook; None: the first."""
    dates: str = "leave"
    """One of `DATES`."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Date and time of second 0, in ISO format, by column of dates; by default that of the first row."""

    def checked(self) -> TableOptions:
        """Return the same with words such as `tab` replaced by what they mean.

        Raises:
            SettingsError: naming the invalid option.
        """
        separator = None if self.separator is None else _SEPARATORS.get(self.separator, self.separator)
        if separator is not None and (len(separator) != 1 or separator in '"\r\n' or separator.isalnum()):
            raise SettingsError(
                f"`separator` must be one character, tab or blanks, but it is {cut(self.separator)}. Leave it out to "
                "have it found."
            )
        decimal = None if self.decimal is None else _DECIMALS.get(self.decimal, self.decimal)
        if decimal not in (None, ".", ","):
            raise SettingsError(f"`decimal` must be `.` or `,`, but it is {cut(self.decimal)}.")
        if self.dates not in DATES:
            raise SettingsError(f"`dates` must be one of {', '.join(DATES)}, but it is {cut(self.dates)}.")
        return replace(self, separator=separator, decimal=decimal)

    def reading(self, decimal: str | None) -> Reading:
        """Return how to read cells, given the decimal mark of the file."""
        order = DateOrder(self.dates) if self.dates in DATES[2:] else None
        return Reading(
            decimal=self.decimal or decimal,
            are_dates_seconds=self.dates != DATES[0],
            date_order=order,
            origins=self.origins,
        )
