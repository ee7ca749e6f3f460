"""The user's selection from a table: targets, inputs, weights and units, by the names of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from symseed import tables
from symseed.arrays import Floats
from symseed.cli import options
from symseed.errors import DataError, SettingsError, listed, shown
from symseed.regressor import in_blocks
from symseed.regressor.run_data import RunData, checked_errors, checked_weights
from symseed.tables import Table, TableOptions, opening
from symseed.tables.large import LargeTable, Roles, check_roles


@dataclass(frozen=True, slots=True)
class Choice:
    """The user's selection from a table."""

    targets: tuple[str, ...]
    inputs: tuple[str, ...] | None = None
    """Columns that formulas may use; None: all others that hold numbers."""
    drop: tuple[str, ...] = ()
    weights: str | None = None
    """Column of the rows' weights."""
    errors: tuple[str, ...] = ()
    """Texts COLUMN=ERRORS: columns with the standard errors of others; the target's if there is no COLUMN."""
    units: tuple[str, ...] = ()
    """Texts COLUMN=UNIT, which take precedence over units in the file."""
    missing: str = "drop"
    """What happens to rows with gaps."""
    categories: tuple[str, ...] = ()
    """Inputs that are categories, beside columns of text among `inputs`."""
    reading: TableOptions = field(default_factory=TableOptions)
    """How the file is read."""

    def read(self, source: str, seed: int = 0) -> RunData:
        """Read the columns of a table; of a large one, the rows that a fit with a seed searches.

        Raises:
            DataError: naming a column that is missing or cannot be used.
            SettingsError: if a column has two roles, or a unit cannot be read.
        """
        if opening.is_large(source):
            return self._read_large(source, seed)
        table = tables.read(source, self.reading)
        self._check(table)
        chosen = table.select(
            self.targets,
            inputs=self.inputs,
            drop=self.drop,
            weights=self.weights,
            errors=tuple(self._errors.values()),
            missing=self.missing,
            categories=self.categories,
        )
        weights = chosen.weights
        data = RunData(
            chosen.X,
            chosen.y,
            weights if self.weights is None else checked_weights(weights, f"Column `{self.weights}`"),
            chosen.names,
            has_labels=True,
            is_multiple=len(self.targets) > 1,
            targets=self.targets,
            source=chosen.report.source,
            table=chosen.report,
            categories=chosen.categories,
        )
        return self._with_units(self._with_errors(data, chosen.errors), chosen.units)

    def _read_large(self, source: str, seed: int) -> RunData:
        """Read a table in blocks."""
        stream = opening.opened(source, self.reading)
        if len(self.targets) != 1 or self.categories or any("=" in text for text in self.errors):
            names = listed([*stream.names, *dict(stream.others)])
            raise SettingsError(
                f"A table that is read in blocks has one target, named by -y, no categories, and no errors of inputs. "
                f"The columns of `{stream.called}` are {names}."
            )
        if self.missing == "mean":
            raise SettingsError(
                "`--missing mean` needs a table in memory, but this one is read in blocks. Fill its gaps."
            )
        errors = self.errors[0] if self.errors else None
        taken = {*self.targets, *self.drop, *(name for name in (self.weights, errors) if name is not None)}
        inputs = self.inputs or tuple(name for name in stream.names if name not in taken)
        roles = Roles(tuple(name for name in inputs if name not in self.drop), self.targets[0], self.weights, errors)
        check_roles(stream, roles)
        table = LargeTable.of(stream, roles)
        if self.missing == "error" and not table.is_whole:
            raise DataError(f"{table.stream.rows - len(table):,} of {table.stream.rows:,} rows have gaps. Fill them.")
        data = replace(in_blocks.searched(table, seed), table=table.report(stream.others))
        return self._with_units(data, {})

    @property
    def _errors(self) -> dict[str, str]:
        """The columns of errors, by the column whose errors they are."""
        pairs = [text.rpartition("=") for text in self.errors]
        return {name if equals else self._target(): errors for name, equals, errors in pairs}

    def _target(self) -> str:
        """The target, if there is one only."""
        if len(self.targets) != 1:
            raise SettingsError(
                f"`--errors` must be COLUMN=ERRORS, because there are several targets: {listed(self.targets)}."
            )
        return self.targets[0]

    def _with_errors(self, data: RunData, errors: Floats) -> RunData:
        """Take the standard errors of targets and inputs; `errors` has the columns in the order of `_errors`."""
        own = dict(zip(self._errors, errors.T, strict=True))
        for name in own:
            if name not in (*data.names, *data.targets):
                raise SettingsError(
                    f"`--errors` must be COLUMN=ERRORS with a target or an input, but `{shown(name)}` is neither. They "
                    f"are {listed([*data.targets, *data.names])}."
                )
        missing = [name for name in data.targets if name not in own]
        if len(missing) not in (0, len(data.targets)):
            raise SettingsError(
                f"`--errors` must name the errors of every target or of none, but lacks those of {listed(missing)}."
            )
        y = [checked_errors(own[name], f"The errors of `{shown(name)}`") for name in data.targets if name in own]
        none = np.zeros(len(data.X))
        X = np.stack([np.abs(own.get(name, none)) for name in data.names], axis=1)
        return replace(data, y_errors=np.stack(y, axis=1) if y else None, X_errors=X if X.any() else None)

    def _check(self, table: Table) -> None:
        """Refuse columns that the table lacks, or that have two roles."""
        weights = () if self.weights is None else (self.weights,)
        if not self.targets:
            raise SettingsError(
                f"Name the column to predict by -y. The columns of `{table.source}` are {listed(table.names)}."
            )
        errors = tuple(dict.fromkeys(self._errors.values()))
        options.check_distinct(
            target=self.targets, inputs=self.inputs or (), drop=self.drop, weights=weights, errors=errors
        )
        try:
            table.check((*self.targets, *(self.inputs or ()), *self.drop, *weights, *errors))
        except DataError as error:
            has_commas = any("," in name for name in table.names)
            quoting = " In a list, put a name with a comma in double quotes." if has_commas else ""
            raise DataError(f"{error}{quoting}") from error

    def _with_units(self, data: RunData, in_file: Mapping[str, str]) -> RunData:
        """Read COLUMN=UNIT, which takes precedence over units in the file; columns without a unit are pure numbers."""
        units = dict(in_file)
        for text in self.units:
            name, equals, unit = text.rpartition("=")
            if not equals or name not in (*data.names, *data.targets):
                raise SettingsError(
                    f"`--unit` must be COLUMN=UNIT with a column of numbers, but it is `{text}`. The columns are "
                    f"{', '.join((*data.names, *data.targets))}."
                )
            units[name] = unit
        if not units:
            return data
        columns = {name: unit for name, unit in units.items() if name in data.names}
        targets = [units.get(name) for name in data.targets]
        return data.with_units(columns, targets if data.is_multiple else targets[0])
