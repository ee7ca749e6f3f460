"""Report on a table: what was read, used, converted, filled and left out; as text for people, as values for a file."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from symseed.errors import DataError
from symseed.text import one_line

_MOST_ROWS = 24
"""Most columns that a terminal lists: chosen by hand."""
_WIDEST_NAME = 28
"""Most characters of a column's name in a terminal: chosen by hand."""
LEFT_OUT = "left out"
INPUT, TARGET, WEIGHTS, ERRORS = "input", "target", "weights", "errors"
USABLE = "usable"
"""Role of a column of numbers before columns are selected."""


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What happened to one column."""

    name: str
    role: str
    """`input`, `target`, `weights`, `errors` or `left out`; `usable` before columns are selected."""
    meaning: str
    """What its cells are, in words."""
    notes: tuple[str, ...] = ()
    """What was converted, in words."""
    gaps: int = 0
    """Cells without a usable value."""
    odd: str = ""
    """Gaps that hold something other than a number, in words."""
    filled: int = 0
    """Number of gaps in used rows that were filled with the mean."""
    unit: str = ""
    """Unit from the row of units, if that row is used."""
    origin: str = ""
    """Date and time of second 0, in ISO format, for dates."""

    @property
    def is_plain(self) -> bool:
        """Whether the column has nothing to report but its role."""
        return self.role in (USABLE, INPUT) and not (self.notes or self.gaps or self.unit) and self.meaning == "numbers"

    @property
    def words(self) -> str:
        """Meaning, unit, conversions and gaps as one text."""
        unit = f" in {self.unit}" if self.unit else ""
        gaps = [f"{self.gaps:,} gap{'s' * (self.gaps > 1)}"] if self.gaps and self.meaning != "empty" else []
        gaps += [self.odd] if self.odd else []
        gaps += [f"{self.filled:,} filled by the mean"] if self.filled else []
        return "; ".join(filter(None, [self.meaning + unit, *self.notes, ", ".join(gaps)]))


@dataclass(frozen=True, slots=True)
class TableReport:
    """What happened to a table."""

    source: str
    facts: tuple[str, ...]
    """How the file is written, in words."""
    rows: int
    used: int
    """Number of rows that are used."""
    columns: tuple[ColumnReport, ...]
    notes: tuple[str, ...] = ()
    """Sentences."""

    def text(self, width: int = 80) -> str:
        """Return the table as a terminal shows it, in lines of at most `width` characters."""
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)}"
        used = rows if self.used == self.rows else f"{self.used:,} of {rows}"
        first = f"{one_line(self.source, 60)}: {used}"
        lines = textwrap.wrap("; ".join([first, *self.facts]), width, subsequent_indent="  ")
        listed, rest = self._listed()
        names = [one_line(column.name, _WIDEST_NAME) for column in listed]
        widest = max(map(len, names), default=0)
        role_width = max((len(column.role) for column in listed), default=0)
        for name, column in zip(names, listed, strict=True):
            head = f"  {name:{widest}}  {column.role:{role_width}}  "
            lines.append(head + one_line(column.words, max(20, width - len(head))))
        lines += [f"  and {rest}"] if rest else []
        for note in self.notes:
            lines += textwrap.wrap(note, width)
        return "\n".join(lines)

    def _listed(self) -> tuple[Sequence[ColumnReport], str]:
        """Return the columns that are listed, and a summary of the others."""
        order = {TARGET: 0, ERRORS: 1, WEIGHTS: 1, INPUT: 2, USABLE: 2, LEFT_OUT: 3}
        columns = sorted(self.columns, key=lambda column: order.get(column.role, 4))
        if len(columns) <= _MOST_ROWS:
            return columns, ""
        telling = [column for column in columns if not column.is_plain]
        plain = [column for column in columns if column.is_plain]
        shown = [*telling, *plain][: _MOST_ROWS - 1]
        others = [*telling, *plain][_MOST_ROWS - 1 :]
        roles = [
            role
            for role in (TARGET, ERRORS, WEIGHTS, INPUT, USABLE, LEFT_OUT)
            if any(one.role == role for one in others)
        ]
        counts = [f"{sum(one.role == role for one in others):,} more {_many(role)}" for role in roles]
        return sorted(shown, key=lambda column: order.get(column.role, 4)), ", ".join(counts)

    def values(self) -> dict[str, Any]:
        """Return the report as values of JSON."""
        return asdict(self)

    @classmethod
    def of_values(cls, values: Any) -> TableReport:
        """Return the report that `values` was made from.

        Raises:
            DataError: if the values are not those of a report.
        """
        try:
            columns = tuple(
                ColumnReport(
                    name=str(one["name"]),
                    role=str(one["role"]),
                    meaning=str(one["meaning"]),
                    notes=_texts(one["notes"]),
                    gaps=int(one["gaps"]),
                    odd=str(one["odd"]),
                    filled=int(one["filled"]),
                    unit=str(one["unit"]),
                    origin=str(one["origin"]),
                )
                for one in values["columns"]
            )
            return cls(
                source=str(values["source"]),
                facts=_texts(values["facts"]),
                rows=int(values["rows"]),
                used=int(values["used"]),
                columns=columns,
                notes=_texts(values["notes"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"The report of a table lacks something: {error}. It was changed or damaged.") from error

    @property
    def origins(self) -> Mapping[str, str]:
        """Date and time of second 0, by name of a column of dates."""
        return {column.name: column.origin for column in self.columns if column.origin}

    @property
    def has_seconds(self) -> bool:
        """Whether dates or times are used as seconds."""
        return any(one.meaning in ("dates", "times") and one.role != LEFT_OUT for one in self.columns)


def _many(role: str) -> str:
    return {INPUT: "inputs", TARGET: "targets"}.get(role, role)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in values)
