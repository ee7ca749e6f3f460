"""The user's selection from a table: targets, inputs, weights and units, by the names of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symseed import tables
from symseed.cli import options
from symseed.errors import DataError, SettingsError, listed
from symseed.regressor.run_data import RunData, checked_weights
from symseed.tables import Table, TableOptions


@dataclass(frozen=True, slots=True)
class Choice:
    """The user's selection from a table."""

    targets: tuple[str, ...]
    inputs: tuple[str, ...] | None = None
    """Columns that formulas may use; None: all others that hold numbers."""
    drop: tuple[str, ...] = ()
    weights: str | None = None
    """Column of the rows' weights."""
    units: tuple[str, ...] = ()
    """Texts COLUMN=UNIT, which take precedence over units in the file."""
    missing: str = "drop"
    """What happens to rows with gaps."""
    categories: tuple[str, ...] = ()
    """Inputs that are categories, beside columns of text among `inputs`."""
    reading: TableOptions = field(default_factory=TableOptions)
    """How the file is read."""

    def read(self, source: str) -> RunData:
        """Read the columns of a table.

        Raises:
            DataError: naming a column that is missing or cannot be used.
            SettingsError: if a column has two roles, or a unit cannot be read.
        """
        table = tables.read(source, self.reading)
        self._check(table)
        chosen = table.select(
            self.targets,
            inputs=self.inputs,
            drop=self.drop,
            weights=self.weights,
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
        return self._with_units(data, chosen.units)

    def _check(self, table: Table) -> None:
        """Refuse columns that the table lacks, or that have two roles."""
        weights = () if self.weights is None else (self.weights,)
        if not self.targets:
            raise SettingsError(
                f"Name the column to predict by -y. The columns of `{table.source}` are {listed(table.names)}."
            )
        options.check_distinct(target=self.targets, inputs=self.inputs or (), drop=self.drop, weights=weights)
        try:
            table.check((*self.targets, *(self.inputs or ()), *self.drop, *weights))
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
