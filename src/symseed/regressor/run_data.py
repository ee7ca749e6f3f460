"""The table that a fit explains: inputs, targets and weights, their names, and their physical units."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from symseed import files
from symseed.arrays import Floats
from symseed.data import Dataset, InputErrors, Noise
from symseed.data.noise import weighed
from symseed.errors import MALFORMED, DataError, SettingsError, cut, shown
from symseed.language import Categories, Expression
from symseed.scoring.residuals import remarks
from symseed.scoring.uncertainty import MOST_SAMPLES
from symseed.search.streams import Stream, derived
from symseed.space import Dimension, Dimensions
from symseed.space.dimensions import UnitLike
from symseed.tables import LargeTable, TableReport

_MOST_HEADER = 2**20
"""Most bytes of a safetensors file besides its numbers: far above the usual size, chosen by hand."""
_LEAST_TARGET = 1e-312
"""Size of numbers below which float64 keeps fewer than four digits."""


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
    is_test: npt.NDArray[np.bool_] | None = None  # (M,)
    """Whether a sample is held out, so that the search never sees it; None: no sample is."""
    table: TableReport | None = None
    """What was read, used and left out of the file; None: the data came from Python."""
    y_errors: Floats | None = None  # (M, K)
    """Standard errors of y; None: they are not known."""
    X_errors: Floats | None = None  # (M, V)
    """Standard errors of the columns, 0 where a column has none; None: no column has any."""
    categories: tuple[Categories, ...] = ()
    """The columns that were given as categories; X has a column of 0 and 1 for each value."""
    large: LargeTable | None = None
    """All samples, of which X, y and the weights are those that the search uses; None: X has all of them."""

    def __post_init__(self) -> None:
        """Check the targets, and make the arrays, which belong to the run, read-only: a dataset then shares them.

        Raises:
            DataError: if there is no target, or one has too small numbers.
        """
        if self.y.shape[1] == 0:
            raise DataError("`y` must have at least one column, but it has none.")
        for name, largest in zip(self.targets, np.abs(self.y).max(axis=0, initial=0.0), strict=True):
            if 0.0 < largest < _LEAST_TARGET:
                raise DataError(
                    f"`{shown(name)}` must have larger numbers, but the largest is {largest:g}, of which a computer "
                    "keeps only some digits. Multiply it by a power of ten."
                )
        for name in ("X", "y", "weights"):
            array = getattr(self, name).view()
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def given_names(self) -> tuple[str, ...]:
        """Names of the columns as they were given: one for all columns of 0 and 1 of the same categories."""
        owners = {name: one.column for one in self.categories for name in one.names}
        return tuple(dict.fromkeys(owners.get(name, name) for name in self.names))

    def as_given(self, X: Floats) -> dict[str, Any]:
        """Return columns such as those of X as they were given, by name: categories as texts."""
        own = {one.column: one.cells(X[:, [self.names.index(name) for name in one.names]]) for one in self.categories}
        return {name: own[name] if name in own else X[:, self.names.index(name)] for name in self.given_names}

    def with_test(self, size: float | None, seed: int) -> RunData:
        """Return the same data with a share of the samples, or a number of them, held out at random.

        Samples of weight 0 are not counted.

        Raises:
            DataError: if no sample would be left to fit.
        """
        if size is None:
            return self
        if self.large is not None:
            raise SettingsError(
                "`test_size` needs a table in memory, but this one is read in blocks. Hold rows out in other files."
            )
        counted = np.flatnonzero(self.weights > 0.0)
        count = int(size) if size >= 1 else math.ceil(size * len(counted))
        if count >= len(counted):
            raise DataError(
                f"`test_size` must leave a row to fit, but {size:g} of {len(counted)} rows leaves none. Lower it."
            )
        drawn = np.random.default_rng(derived(seed, Stream.TEST, 1)).permutation(counted)[:count]
        is_test = np.zeros(len(self.X), dtype=bool)
        is_test[drawn] = True
        return replace(self, is_test=is_test)

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
                f"`y_units` must have a unit for each of {len(self.targets)} targets, but is {cut(y_units)}."
            )
        return replace(self, units=RunUnits.of(self.names, self.targets, X_units or {}, targets))

    def units_of(self, output: int) -> dict[str, str]:
        """Return the units of the columns and of a target, by name."""
        if self.units is None:
            return {}
        texts = zip((*self.names, self.targets[output]), (*self.units.columns, self.units.targets[output]), strict=True)
        return {name: "" if text == "1" else text for name, text in texts}

    def errors(self, output: int) -> Floats | None:
        """Return the standard errors of the samples that are fitted, with those of columns; None if there are none."""
        inputs = self.input_errors(output)
        if inputs is not None:
            return inputs.by_curve(self.dataset(output))
        return None if self.y_errors is None else self.y_errors[self._fitted, output]

    def input_errors(self, output: int) -> InputErrors | None:
        """Return the errors of the columns of the samples that are fitted; None if no column has any."""
        if self.X_errors is None:
            return None
        rows = self._fitted
        y_errors = None if self.y_errors is None else self.y_errors[rows, output]
        return InputErrors.of(self.dataset(output), self.X_errors[rows], y_errors)

    def remarks(self, output: int, expression: Expression, noise: Noise) -> tuple[str, ...]:
        """Return sentences about the residuals of a formula for a target."""
        whole, errors = self.dataset(output), self.errors(output)
        rows = np.arange(0, len(whole), -(-len(whole) // MOST_SAMPLES))
        some = whole.take(rows)
        return remarks(
            expression.evaluate(some.X),
            some,
            noise,
            self._fitted[rows],
            errors=None if errors is None else errors[rows],
            constants=len(expression.constant_places),
        )

    @property
    def _fitted(self) -> npt.NDArray[np.intp]:
        """Indices of the samples that are fitted."""
        return np.arange(len(self.X)) if self.is_test is None else np.flatnonzero(~self.is_test)

    def dimensions(self, output: int) -> Dimensions | None:
        """Return the constraint that units put on the formulas of a target; None without units."""
        return None if self.units is None else self.units.rules[output]

    def dataset(self, output: int) -> Dataset:
        """Return the samples of one target that are fitted."""
        whole = Dataset.of(self.X, self.y[:, output], self.weights, self.names)
        return whole if self.is_test is None else whole.take(self._fitted)

    def sample(self, output: int) -> tuple[Dataset, int]:
        """Return samples that are fitted, at most `MOST_SAMPLES` drawn with a fixed seed, and how many there are."""
        whole, errors = self.dataset(output), self.errors(output)
        whole = whole if errors is None else weighed(whole, errors).dataset
        rows = np.flatnonzero(whole.weights > 0.0)
        count = len(rows) if self.large is None else len(self.large)
        if len(rows) > MOST_SAMPLES:
            rows = rows[np.sort(np.random.default_rng(0).choice(count, MOST_SAMPLES, replace=False))]
        return whole.take(rows), count

    def test(self, output: int) -> Dataset | None:
        """Return the samples of one target that are held out; None if none are."""
        if self.is_test is None:
            return None
        whole = Dataset.of(self.X, self.y[:, output], self.weights, self.names)
        return whole.take(np.flatnonzero(self.is_test))

    # --- On disk -----------------------------------------------------------------------------------------------------

    def packed(self) -> bytes:
        """Return the numbers as the content of a safetensors file."""
        arrays = {"X": self.X, "y": self.y, "weights": self.weights}
        arrays |= {} if self.y_errors is None else {"y_errors": self.y_errors}
        arrays |= {} if self.X_errors is None else {"X_errors": self.X_errors}
        return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})

    @property
    def described(self) -> dict[str, Any]:
        """Everything but the numbers, as values that TOML can hold."""
        return (
            {
                "source": self.source,
                "targets": list(self.targets),
                "names": list(self.names),
                "has_labels": self.has_labels,
                "is_multiple": self.is_multiple,
                "rows": len(self.X),
                "units": [] if self.units is None else [list(self.units.columns), list(self.units.targets)],
                "categories": [[one.column, list(one.values)] for one in self.categories],
            }
            | ({} if self.table is None else {"table": self.table.values()})
            | ({} if self.large is None else {"large": self.large.described()})
        )

    @classmethod
    def read(cls, path: Path, described: Mapping[str, Any]) -> RunData:
        """Read the numbers of a file, whose hash must be that of its description.

        Raises:
            DataError: if the file cannot be read, or holds other data.
            KeyError: if the description lacks something.
        """
        cells = int(described["rows"]) * (2 * len(described["names"]) + 2 * len(described["targets"]) + 1)
        try:
            content = files.read(path, 8 * cells + _MOST_HEADER)
        except OSError as error:
            raise DataError(f"`{path}` must hold the data of the run, but it cannot be read: {error}") from error
        if files.digest(content) != described["sha256"]:
            raise DataError(
                f"`{path}` must hold the data that the run began with, but it holds others. Restore the file, or start "
                "a new fit."
            )
        names, targets = tuple(described["names"]), tuple(described["targets"])
        arrays = _arrays(path, content, int(described["rows"]), len(names), len(targets))
        return cls(
            arrays["X"],
            arrays["y"],
            arrays["weights"],
            names,
            has_labels=bool(described["has_labels"]),
            is_multiple=bool(described["is_multiple"]),
            targets=targets,
            source=str(described["source"]),
            units=RunUnits.of(names, targets, *described["units"]) if described["units"] else None,
            table=TableReport.of_values(described["table"]) if described.get("table") else None,
            categories=categories_of(described),
            y_errors=arrays.get("y_errors"),
            X_errors=arrays.get("X_errors"),
            large=LargeTable.read(described["large"]) if described.get("large") else None,
        )


def _arrays(path: Path, content: bytes, rows: int, columns: int, targets: int) -> dict[str, npt.NDArray[Any]]:
    """The numbers of a file, with the shapes and the type that its description says."""
    shapes = {"X": (rows, columns), "y": (rows, targets), "weights": (rows,)}
    may_have = {"y_errors": (rows, targets), "X_errors": (rows, columns)}
    try:
        arrays: dict[str, npt.NDArray[Any]] = load(content)
        for name, shape in (shapes | may_have).items():
            if name in arrays or name in shapes:
                array = arrays[name]
                if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                    raise ValueError(f"`{name}` must be finite numbers of shape {shape}")
        checked_weights(arrays["weights"], "`weights`")
    except (SafetensorError, *MALFORMED) as error:
        raise DataError(f"`{path}` must hold the data of the run, but it was changed or damaged: {error}.") from error
    return arrays


def categories_of(described: Mapping[str, Any]) -> tuple[Categories, ...]:
    """Return the categories of a run's data, given their description."""
    return tuple(Categories(column, tuple(values)) for column, values in described.get("categories", ()))


def checked_weights(weights: Floats, name: str) -> Floats:
    """Return weights of rows, none of them negative and not all zero.

    Raises:
        DataError: naming the weights and the row.
    """
    if weights.min() < 0.0:
        row = int(weights.argmin())
        raise DataError(f"{name} must not be negative, but it is {weights[row]} in row {row}.")
    if weights.max() == 0.0:
        raise DataError(f"{name} must not be zero in every row. Leave it out to give all rows the same weight.")
    return weights


def checked_errors(errors: Floats, name: str) -> Floats:
    """Return standard errors, all of them above zero.

    Raises:
        DataError: naming the errors and the row.
    """
    if errors.min() <= 0.0:
        row = int(np.argmin(errors)) if errors.ndim == 1 else int(np.argmin(errors.min(axis=1)))
        raise DataError(
            f"{name} must be standard errors above zero, but it is {errors.min()} in row {row}. Leave the row out, or "
            "give the error of a reading."
        )
    return errors


def _text(unit: UnitLike, dimension: Dimension) -> str:
    """A unit as it was given; its dimension if it was not given as text."""
    return unit if isinstance(unit, str) else str(dimension)
