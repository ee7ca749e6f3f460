"""A table that was read, and the selection of its inputs, targets and weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from symseed.arrays import Floats
from symseed.data.dataset import warn_of_rounding
from symseed.errors import DataError, SettingsError, did_you_mean, listed, shown
from symseed.language.categories import Categories
from symseed.tables import numerals, source
from symseed.tables.columns import Column, Meaning, understood
from symseed.tables.options import MISSING, TableOptions
from symseed.tables.raw import Raw
from symseed.tables.report import ERRORS, INPUT, LEFT_OUT, TARGET, USABLE, WEIGHTS, ColumnReport, TableReport

_CURES = {
    Meaning.TEXT: "Turn it into numbers, or choose another column.",
    Meaning.DATES: "Give `--dates seconds` (in Python `dates=`) to have them as seconds.",
    Meaning.TIMES: "Give `--dates seconds` (in Python `dates=`) to have them as seconds.",
    Meaning.EMPTY: "Choose another column.",
}


@dataclass(frozen=True, eq=False, slots=True)
class Selection:
    """What a fit takes from a table. Axis letters: M samples, V columns, K targets."""

    X: Floats  # (M, V)
    y: Floats  # (M, K)
    weights: Floats  # (M,)
    names: tuple[str, ...]
    """Names of the inputs, and of the columns of 0 and 1 of those that are categories."""
    targets: tuple[str, ...]
    units: dict[str, str]
    """Units by name of input or target, from the row of units; empty if there is none, or one is unknown."""
    report: TableReport
    categories: tuple[Categories, ...] = ()
    """The inputs that are categories."""
    errors: Floats = field(default_factory=lambda: np.empty((0, 0)))  # (M, E)
    """Columns of standard errors."""


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """A table that was read: its columns, and how the file was understood."""

    source: str
    columns: tuple[Column, ...]
    rows: int
    facts: tuple[str, ...] = ()
    """How the file is written, in words."""
    notes: tuple[str, ...] = ()
    """What was done to the whole table: sentences."""
    has_units: bool = False
    """Whether the file has a row of units."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(column.name for column in self.columns)

    @property
    def frame(self) -> Any:
        """A pandas frame: columns of numbers as float64, with NaN in gaps, and the others as they were written."""
        import pandas as pd

        return pd.DataFrame({one.name: one.cells if one.values is None else one.values for one in self.columns})

    @property
    def report(self) -> TableReport:
        """What was understood, before inputs and targets are selected."""
        reports = tuple(_reported(one, USABLE if one.is_default_input else LEFT_OUT) for one in self.columns)
        return TableReport(Path(self.source).name, self.facts, self.rows, self.rows, reports, self.notes)

    def numbers(self, names: Sequence[str]) -> Floats:
        """Return columns as numbers, (M, V), with NaN in gaps.

        Raises:
            DataError: naming a column that is not there, or does not hold numbers.
        """
        columns = self._found(names)
        for column in columns:
            if column.values is None:
                raise DataError(self._no_numbers(column))
            if column.is_rounded:
                warn_of_rounding(f"Column `{shown(column.name)}` of `{self.source}`")
        stacked = [column.values for column in columns if column.values is not None]
        return np.array(stacked, dtype=np.float64).reshape(len(columns), self.rows).T

    def encoded(self, names: Sequence[str], categories: Sequence[Categories]) -> Floats:
        """Return columns as numbers, with NaN in gaps; categories have a column of 0 and 1 for each value.

        Raises:
            DataError: naming a column that is not there, or does not hold numbers.
        """
        known = {one.column: one for one in categories}
        plain = [name for name in names if name not in known]
        numbers = dict(zip(plain, self.numbers(plain).T, strict=True))
        blocks = [
            known[name].indicators(self._found([name])[0].labels) if name in known else numbers[name][:, None]
            for name in names
        ]
        return np.concatenate(blocks, axis=1)

    def check(self, names: Sequence[str]) -> None:
        """Refuse names that no column has.

        Raises:
            DataError: naming the first of them.
        """
        known = set(self.names)
        for name in names:
            if name not in known:
                meant = did_you_mean(name, self.names) if len(known) < 1_000 else ""  # it compares the name with each
                raise DataError(
                    f"`{self.source}` has no column `{shown(name)}`.{meant} Its columns are {listed(self.names)}."
                )

    def select(
        self,
        targets: Sequence[str],
        *,
        inputs: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        weights: str | None = None,
        errors: Sequence[str] = (),
        missing: str = "drop",
        categories: Sequence[str] = (),
    ) -> Selection:
        """Select targets, inputs and weights, and treat gaps.

        Args:
            targets: columns to explain.
            inputs: columns that explain them; None: all that hold numbers and are not mostly gaps.
            drop: columns that are not inputs.
            weights: column of weights.
            errors: columns of standard errors.
            missing: what happens to gaps: `drop` leaves their rows out; `mean` fills those of inputs with the mean of
                the used rows, and leaves out rows without a target, weight or category; `error` refuses them.
            categories: inputs that are categories, beside columns of text among `inputs`.

        Raises:
            DataError: if a column does not exist or cannot be used, or no row or input is left.
            SettingsError: if `missing` is unknown, or a column has two roles.
        """
        if missing not in MISSING:
            raise SettingsError(f"`missing` must be one of {', '.join(MISSING)}, but it is {missing!r}.")
        marked = dict.fromkeys(errors, ERRORS) | ({} if weights is None else {weights: WEIGHTS})
        roles = self._roles(targets, inputs, drop, marked, is_lenient=missing != "error")
        kinds = self._kinds(roles, categories)
        given = tuple(name for name, role in roles.items() if role == INPUT)
        names = tuple(out for name in given for out in (kinds[name].names if name in kinds else (name,)))
        X, y = self.encoded(given, tuple(kinds.values())), self.numbers(targets)
        weight = np.ones(self.rows) if weights is None else self.numbers([weights])[:, 0]
        error = self.numbers(errors)
        is_kind = np.isin(names, [name for one in kinds.values() for name in one.names])
        needed = np.isfinite(y).all(axis=1) & np.isfinite(weight) & np.isfinite(X[:, is_kind]).all(axis=1)
        needed &= np.isfinite(error).all(axis=1)
        used = needed if missing == "mean" else needed & np.isfinite(X).all(axis=1)
        if missing == "error" and not used.all():
            raise DataError(self._gaps_refused(roles, int((~used).sum())))
        if not used.any():
            raise DataError(self._nothing_left(roles))
        X, y, weight = X[used], y[used], weight[used]
        filled = dict(zip(names, np.isnan(X).sum(axis=0).tolist(), strict=True))
        X = _filled(X, self._filling(names, filled))
        units, unit_note = self._units((*(name for name in given if name not in kinds), *targets))
        notes = [*self.notes, *self._gap_notes(int((~used).sum()), sum(filled.values()), missing), *unit_note]
        taken = {*roles, *drop}
        left = [one for one in self.columns if one.is_default_input and one.name not in taken]
        sparse = [one.name for one in left if self._is_mostly_gaps(one)]
        if sparse and inputs is None:
            notes.append(f"More than half of {listed(sparse)} are gaps; name it as an input to use it.")
        reports = tuple(
            replace(
                _reported(one, roles.get(one.name, LEFT_OUT)),
                filled=filled.get(one.name, 0),
                unit=units.get(one.name, ""),
                notes=(f"{len(kinds[one.name].values)} categories",) if one.name in kinds else one.notes,
            )
            for one in self.columns
        )
        report = replace(self.report, used=int(used.sum()), columns=reports, notes=tuple(notes))
        return Selection(X, y, weight, names, tuple(targets), units, report, tuple(kinds.values()), error[used])

    def _kinds(self, roles: dict[str, str], categories: Sequence[str]) -> dict[str, Categories]:
        """Return the inputs that are categories: those that are asked for, and inputs that hold text."""
        self.check(categories)
        for name in categories:
            if roles.setdefault(name, INPUT) != INPUT:
                raise SettingsError(f"`{shown(name)}` cannot be both {roles[name]} and a column of categories.")
        texts = (one.name for one in self.columns if roles.get(one.name) == INPUT and one.meaning is Meaning.TEXT)
        kinds = {
            one.name: Categories.of(one.name, one.labels, f"Column `{shown(one.name)}` of `{self.source}`")
            for one in self._found(list(dict.fromkeys((*categories, *texts))))
        }
        for name in (name for one in kinds.values() for name in one.names):
            if name in self.names:
                raise DataError(
                    f"`{self.source}` has a column `{shown(name)}`, the name of a category's column of 0 and 1. Rename "
                    "it."
                )
        return kinds

    # --- Choosing ----------------------------------------------------------------------------------------------------

    def _roles(
        self,
        targets: Sequence[str],
        inputs: Sequence[str] | None,
        drop: Sequence[str],
        marked: Mapping[str, str],
        *,
        is_lenient: bool,
    ) -> dict[str, str]:
        """Return the role of each column that has one; `marked` are those of columns of weights and errors."""
        self.check([*targets, *(inputs or ()), *drop, *marked])
        roles = dict.fromkeys(targets, TARGET)
        for name, role in marked.items():
            if name in roles:
                raise SettingsError(f"`{shown(name)}` cannot be both target and {role}.")
            roles[name] = role
        for name in inputs or ():
            if name in roles:
                raise SettingsError(f"`{shown(name)}` cannot be both {roles[name]} and input.")
        if inputs is None:
            taken = {*roles, *drop}
            free = [one for one in self.columns if one.is_default_input and one.name not in taken]
            # A column that would cost more than half of the rows must be asked for, unless there is no other.
            full = [one for one in free if not self._is_mostly_gaps(one)] if is_lenient else free
            roles |= {one.name: INPUT for one in full or free}
        else:
            roles |= {name: INPUT for name in inputs if name not in drop}
        if INPUT not in roles.values():
            left = [one for one in self.columns if one.name not in roles]
            what = "; ".join(f"`{shown(one.name)}`: {_reported(one, LEFT_OUT).words}" for one in left[:5])
            raise DataError(
                f"`{self.source}` has no column of numbers beside {listed(list(roles))}."
                + (f" The others are {what}." if what else f" Its columns are {listed(self.names)}.")
            )
        return roles

    def _is_mostly_gaps(self, column: Column) -> bool:
        return 2 * column.gaps > self.rows

    def _found(self, names: Sequence[str]) -> list[Column]:
        self.check(names)
        known = {column.name: column for column in self.columns}
        return [known[name] for name in names]

    def _no_numbers(self, column: Column) -> str:
        first = next((str(cell) for cell in column.cells if cell is not None and not numerals.is_gap(str(cell))), "")
        found = f"holds {column.meaning.value} such as `{shown(first)}`"
        found = "has none" if column.meaning is Meaning.EMPTY else found
        cure = _CURES.get(column.meaning, "")
        return f"Column `{shown(column.name)}` of `{self.source}` must hold numbers, but {found}. {cure}"

    def _units(self, used: Sequence[str]) -> tuple[dict[str, str], list[str]]:
        """Return the units of the used columns, if all of them are known."""
        if not self.has_units:
            return {}, []
        known = {column.name: column.unit for column in self.columns}
        units = {name: known[name] for name in used}
        unknown = [name for name, unit in units.items() if not numerals.is_unit(unit)]
        if unknown:
            return {}, [
                f"The row of units is not used: `{shown(units[unknown[0]])}` of `{shown(unknown[0])}` is not a unit "
                "that is known. Give units by `--unit`."
            ]
        return units, []

    # --- Gaps --------------------------------------------------------------------------------------------------------

    def _gap_counts(self, roles: dict[str, str]) -> str:
        gaps = {one.name: one.gaps for one in self.columns if one.name in roles and one.gaps}
        counts = [f"`{shown(name)}` {count:,}" for name, count in sorted(gaps.items(), key=lambda item: -item[1])]
        return ", ".join(counts[:10]) + (f" and {len(counts) - 10} more columns" if len(counts) > 10 else "")

    def _gaps_refused(self, roles: dict[str, str], count: int) -> str:
        return (
            f"{count:,} of {self.rows:,} rows of `{self.source}` have gaps: {self._gap_counts(roles)}. Fill them, or "
            "give `--missing drop` or `--missing mean`."
        )

    def _nothing_left(self, roles: dict[str, str]) -> str:
        return (
            f"No row of `{self.source}` has a number in every column that is used; gaps of {self.rows:,} rows: "
            f"{self._gap_counts(roles)}. Leave some of these columns out, or fill them."
        )

    def _gap_notes(self, dropped: int, filled: int, missing: str) -> list[str]:
        notes = []
        if dropped:
            are = f"{dropped:,} row{'s' * (dropped > 1)} with gaps {'were' if dropped > 1 else 'was'} left out"
            hint = "; `--missing mean` fills gaps of inputs" if missing == "drop" else ": no target or weight"
            notes.append(f"{are}{hint}.")
        if filled:
            notes.append(f"{filled:,} gap{'s' * (filled > 1)} of inputs {'were' if filled > 1 else 'was'} filled.")
        return notes

    def _filling(self, names: Sequence[str], filled: dict[str, int]) -> dict[int, str]:
        return {place: name for place, name in enumerate(names) if filled[name]}


def _filled(X: Floats, places: dict[int, str]) -> Floats:
    """Fill the gaps of some columns with the mean of their values."""
    for place, name in places.items():
        column = X[:, place]
        is_there = np.isfinite(column)
        if not is_there.any():
            raise DataError(f"Column `{shown(name)}` has no number in the rows that are used. Leave it out.")
        X[~is_there, place] = column[is_there].mean()
    return X


def _reported(column: Column, role: str) -> ColumnReport:
    return ColumnReport(
        column.name, role, column.meaning.value, column.notes, column.gaps, column.odd, origin=column.origin
    )


# --- Reading ----------------------------------------------------------------------------------------------------------


def read_table(
    path: str,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    dates: str = "leave",
) -> Table:
    """Read a table from a file of any usual format, and report what was understood.

    Text (separated by commas, semicolons, tabs, bars or blanks, also compressed by gzip, bzip2 or xz), Excel, Parquet,
    Feather and JSON are told apart by their content. The result has the columns in `frame`, a pandas frame, and what
    was understood in `report`.

    Args:
        path: a file, `-` for standard input, or the name of a table that ships with symseed.
        separator: between columns: one character, `tab` or `blanks`; None: what the file shows.
        decimal: the decimal mark, `.` or `,`; None: what the file shows.
        encoding: of text, by Python's names; None: what the file shows.
        sheet: of a workbook, by name; None: the first.
        dates: `leave` keeps dates and times as they are; `seconds` turns dates into seconds since the first row and
            times into seconds; `day-first` and `month-first` do the same, and say how 03/04/2024 is read.

    Raises:
        DataError: if it cannot be read, or is ambiguous.
        SettingsError: if an argument is out of range, or an extra is not installed.
    """
    options = TableOptions(separator=separator, decimal=decimal, encoding=encoding, sheet=sheet, dates=dates)
    return read(str(path), options)


def read(path: str, options: TableOptions, *, as_texts: bool = False) -> Table:
    """Read a table, as `read_table` does.

    Args:
        as_texts: whether every cell, and every row, is kept as it is written.
    """
    options = options.checked()
    return of_raw(*source.read(path, options, as_texts=as_texts), options, as_texts=as_texts)


def of_raw(raw: Raw, called: str, options: TableOptions, *, as_texts: bool = False) -> Table:
    """Return a table whose cells were read, with the meaning of its columns.

    Raises:
        DataError: if it has no row, or is ambiguous.
    """
    frame = raw.frame
    notes = []
    if not as_texts:
        is_empty = frame.isna().all(axis=1).to_numpy()
        if is_empty.all():
            raise DataError(f"`{called}` must have at least one row of values, but all its cells are empty.")
        if is_empty.any():
            frame = frame[~is_empty]
            notes.append(f"{int(is_empty.sum()):,} empty row{'s' * (int(is_empty.sum()) > 1)} skipped.")
    names, name_notes = _names(raw)
    reading = options.reading(raw.decimal)
    columns = []
    for place, (name, own) in enumerate(zip(names, raw.names, strict=True)):
        where = f"Column `{shown(name)}` of `{called}`"
        is_named = bool(own) and not own.startswith("Unnamed: ")  # as pandas writes an index without a name
        column = understood(name, frame[place], reading, where=where, is_named=is_named or not raw.has_header)
        columns.append(column if raw.units is None else replace(column, unit=raw.units[place]))
    kept = tuple(one for one, own in zip(columns, raw.names, strict=True) if own or one.meaning is not Meaning.EMPTY)
    if not as_texts and len(kept) < len(columns):
        notes.append(f"{len(columns) - len(kept)} empty column{'s' * (len(columns) - len(kept) > 1)} without a name.")
    return Table(
        called,
        tuple(columns) if as_texts else kept,
        len(frame),
        raw.facts,
        (*notes, *name_notes),
        has_units=raw.units is not None,
    )


def _names(raw: Raw) -> tuple[list[str], list[str]]:
    """Return a unique name for every column, and notes on the names that were made up."""
    names: dict[str, None] = {}
    taken = set(raw.names)
    renamed = []
    times: Counter[str] = Counter()
    for place, own in enumerate(raw.names):
        base = name = own or f"x{place + 1}"
        while name in names or (name != own and name in taken):
            times[base] += 1
            name = f"{base}_{times[base] + 1}"
        if own and name != own:
            renamed.append(name)
        names[name] = None
    if not raw.has_header:
        called = f"{next(iter(names))}{f' to {list(names)[-1]}' if len(names) > 1 else ''}"
        return list(names), [f"The file has no header: its columns are called {called}."]
    return list(names), [f"Some names occur twice; the later columns are called {listed(renamed)}."] if renamed else []
