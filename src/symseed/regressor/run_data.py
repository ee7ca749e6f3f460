"""The table that a fit explains: inputs, targets and weights, their names, and their physical units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symseed.arrays import Floats
from symseed.data import Dataset
from symseed.errors import SettingsError
from symseed.space import Dimension, Dimensions
from symseed.space.dimensions import UnitLike


@dataclass(frozen=True, slots=True)
class RunUnits:
    """Physical units, as texts and as constraints on formulas."""

    columns: tuple[str, ...]
    targets: tuple[str, ...]
    rules: tuple[Dimensions, ...]
    """The constraint on the formulas of each target."""

    @classmethod
    def of(cls, names: tuple[str, ...], targets: tuple[str, ...], X_units: Any, y_units: Sequence[Any]) -> RunUnits:
        """Read the units of the columns, as a list or by name, and of each target.

        Raises:
            SettingsError: naming the quantity whose unit cannot be read.
        """
        rules = tuple(
            Dimensions.of(names, X_units, unit, target_name=name) for name, unit in zip(targets, y_units, strict=True)
        )
        listed = [X_units.get(name) for name in names] if isinstance(X_units, Mapping) else X_units
        return cls(
            tuple(_text(unit, at) for unit, (_, at) in zip(listed, rules[0].variables, strict=True)),
            tuple(_text(unit, rule.target) for unit, rule in zip(y_units, rules, strict=True)),
            rules,
        )


@dataclass(frozen=True, slots=True)
class RunData:
    """The data of a run. Axis letters: M samples, V columns, K targets."""

    X: Floats  # (M, V)
    y: Floats  # (M, K)
    weights: Floats  # (M,)
    names: tuple[str, ...]
    """Names of the columns."""
    has_labels: bool
    """Whether the columns' names were the user's own."""
    is_multiple: bool
    """Whether y was given as a table, of one or several columns."""
    targets: tuple[str, ...]
    """Names of y's columns."""
    source: str = ""
    """Source of the data, as shown to people."""
    units: RunUnits | None = None
    """Physical units; None: no units were given."""

    def with_units(self, X_units: Any, y_units: Any) -> RunData:
        """Return the same data with units, as `SymbolicRegressor.fit` takes them.

        Raises:
            SettingsError: naming the quantity whose unit cannot be read.
        """
        if X_units is None and y_units is None:
            return self
        targets = [y_units] * len(self.targets) if isinstance(y_units, str) or not self.is_multiple else y_units
        if not isinstance(targets, Sequence) or len(targets) != len(self.targets):
            raise SettingsError(
                f"`y_units` must have a unit for each of {len(self.targets)} targets, but is {y_units!r}."
            )
        return replace(self, units=RunUnits.of(self.names, self.targets, X_units or {}, targets))

    def units_of(self, output: int) -> dict[str, str]:
        """Return the units of the columns and of a target, by name."""
        if self.units is None:
            return {}
        texts = zip((*self.names, self.targets[output]), (*self.units.columns, self.units.targets[output]), strict=True)
        return {name: "" if text == "1" else text for name, text in texts}

    def dimensions(self, output: int) -> Dimensions | None:
        """Return the constraint that units put on the formulas of a target; None without units."""
        return None if self.units is None else self.units.rules[output]

    def dataset(self, output: int) -> Dataset:
        """Return the samples of one target."""
        return Dataset.of(self.X, self.y[:, output], self.weights, self.names)

    @property
    def arrays(self) -> dict[str, Floats]:
        """The arrays by name, as `data.safetensors` holds them."""
        return {"X": self.X, "y": self.y, "weights": self.weights}


def _text(unit: UnitLike, dimension: Dimension) -> str:
    """A unit as it was given; its dimension if it was not given as text."""
    return unit if isinstance(unit, str) else str(dimension)
