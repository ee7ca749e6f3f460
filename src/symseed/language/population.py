"""Populations: many formulas as one block of arrays, on which sampling, variation, scoring and training work.

Axis letters: N rows, L positions in a row. Trees, parents and texts are computed from the block and never stored.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.errors import DataError, SettingsError
from symseed.language.expression import Expression
from symseed.language.library import Library, TokenIds
from symseed.language.row import Row

Lengths: TypeAlias = npt.NDArray[np.int32]
Constants: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Population:
    """N expressions of one library, in prefix order; arrays are read-only.

    `constants[i, j]` is the value of the constant at position j of row i, NaN for other tokens: the same slice moves
    tokens and constants. Build one with `Population.of` or `Population.from_expressions`.
    """

    library: Library
    tokens: TokenIds  # (N, L), `library.pad` after the end of a row
    lengths: Lengths  # (N,)
    constants: Constants  # (N, L)

    @classmethod
    def of(
        cls,
        library: Library,
        tokens: npt.ArrayLike,
        lengths: npt.ArrayLike,
        constants: npt.ArrayLike | None = None,
    ) -> Population:
        """Check and copy arrays; without `constants`, each constant is 1.

        Raises:
            DataError: if shapes do not match, or a row is not one complete expression of the library.
        """
        given = _integers(tokens, "tokens")
        sizes = _integers(lengths, "lengths")
        if given.ndim != 2 or sizes.shape != (len(given),):
            raise DataError(
                f"`tokens` must be (N, L) and `lengths` (N,), but their shapes are {given.shape} and {sizes.shape}."
            )
        if len(given) and not (sizes.min() >= 1 and sizes.max() <= given.shape[1]):
            raise DataError(
                f"Each of `lengths` must be from 1 to L ({given.shape[1]}), but they run from {sizes.min()} to "
                f"{sizes.max()}."
            )
        inside = np.arange(given.shape[1]) < sizes[:, None]
        if np.any(inside & ((given < 0) | (given >= len(library)))):
            raise DataError(f"Each token must be an id of the library, from 0 to {len(library) - 1}.")
        ids = np.where(inside, given.astype(np.uint16), np.uint16(library.pad))
        arity = np.append(library.arities, 0)[np.where(inside, ids, len(library))]
        open_slots = 1 + np.cumsum(np.where(inside, arity - 1, 0), axis=1)
        last = np.arange(ids.shape[1]) == sizes[:, None] - 1
        broken = np.any((inside & ~last & (open_slots <= 0)) | (last & (open_slots != 0)), axis=1)
        if broken.any():
            raise DataError(f"Row {np.flatnonzero(broken)[0]} is not one complete expression in prefix order.")
        holds = np.append(library.is_constant, False)[np.where(inside, ids, len(library))]
        values = np.ones(ids.shape) if constants is None else np.array(constants, dtype=np.float64)
        if values.shape != ids.shape:
            raise DataError(f"`constants` must have the shape of `tokens`, {ids.shape}, but it is {values.shape}.")
        values = np.where(holds, values, np.nan)
        if not np.isfinite(values[holds]).all():
            raise DataError("Each constant must be finite. Leave `constants` out to start each at 1.")
        return cls.wrap(library, ids, sizes.astype(np.int32), values)

    @classmethod
    def wrap(cls, library: Library, tokens: TokenIds, lengths: Lengths, constants: Constants) -> Population:
        """Wrap arrays without a check or a copy; they must be valid, and no other code may change them."""
        for array in (tokens, lengths, constants):
            array.setflags(write=False)
        return cls(library, tokens, lengths, constants)

    @classmethod
    def from_expressions(cls, expressions: Sequence[Expression]) -> Population:
        """Build a population from expressions of one library, at least one."""
        if not expressions:
            raise DataError("A population needs at least one expression, but none was given.")
        library = expressions[0].library
        if any(expression.library != library for expression in expressions):
            raise DataError("The expressions of a population must share one library, but these have several.")
        return cls.of_rows(library, [expression.row for expression in expressions])

    @classmethod
    def of_rows(cls, library: Library, rows: Sequence[Row]) -> Population:
        """Build a population from at least one valid row; rows are not checked."""
        lengths = np.fromiter([len(row.ids) for row in rows], dtype=np.int32, count=len(rows))
        inside = np.arange(lengths.max()) < lengths[:, None]
        tokens = np.full(inside.shape, library.pad, dtype=np.uint16)
        values = np.full(inside.shape, np.nan)
        tokens[inside] = np.fromiter(itertools.chain.from_iterable([row.ids for row in rows]), dtype=np.uint16)
        values[inside] = np.fromiter(itertools.chain.from_iterable([row.constants for row in rows]), dtype=np.float64)
        return cls.wrap(library, tokens, lengths, values)

    def __len__(self) -> int:
        """Return N."""
        return len(self.tokens)

    def __getitem__(self, row: int) -> Expression:
        """Return one row as an expression."""
        return Expression(self.library, self.row(row))

    def row(self, row: int) -> Row:
        """Return one row as a `Row`, without its library."""
        length = self.lengths[row]
        return Row(tuple(self.tokens[row, :length].tolist()), tuple(self.constants[row, :length].tolist()))

    @property
    def rows(self) -> list[Row]:
        """All rows; `of_rows` is the inverse."""
        return [self.row(row) for row in range(len(self))]

    def __iter__(self) -> Iterator[Expression]:
        """Yield the rows as expressions."""
        return (self[row] for row in range(len(self)))

    def __reduce__(self) -> tuple[Callable[..., Population], tuple[object, ...]]:
        """Pickle the fields; the arrays stay read-only."""
        return Population.wrap, (self.library, self.tokens, self.lengths, self.constants)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, for a checkpoint."""
        return {"tokens": self.tokens, "lengths": self.lengths, "constants": self.constants}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], library: Library) -> Population:
        """Build a population from the arrays of `to_arrays`, with checks."""
        return cls.of(library, arrays["tokens"], arrays["lengths"], arrays["constants"])

    def take(self, rows: npt.ArrayLike) -> Population:
        """Return some rows, by index or by mask."""
        chosen = np.atleast_1d(rows)
        chosen = chosen if chosen.size else np.empty(0, dtype=np.int64)
        return self.wrap(self.library, self.tokens[chosen], self.lengths[chosen], self.constants[chosen])

    def with_constants(self, constants: Constants) -> Population:
        """Return the same rows with other constants, such as fitted ones."""
        return self.wrap(self.library, self.tokens, self.lengths, constants)

    @staticmethod
    def concatenate(populations: Sequence[Population]) -> Population:
        """Return all rows of several populations of one library, in order."""
        if not populations:
            raise DataError("`concatenate` needs at least one population, but none was given.")
        library = populations[0].library
        if any(population.library != library for population in populations):
            raise DataError("Populations to concatenate must share one library, but these have several.")
        width = max(population.tokens.shape[1] for population in populations)

        def widened(array: npt.NDArray[np.generic], fill: float) -> npt.NDArray[np.generic]:
            if array.shape[1] == width:
                return array
            return np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=fill)

        return Population.wrap(
            library,
            np.concatenate([widened(population.tokens, library.pad) for population in populations]),
            np.concatenate([population.lengths for population in populations]),
            np.concatenate([widened(population.constants, np.nan) for population in populations]),
        )

    def check_library(self, library: Library, owner: str) -> None:
        """Refuse a population of another library, whose ids have other meanings."""
        # Nearly always the same object; comparing all tokens would cost more than scoring a few rows.
        if self.library is not library and self.library != library:
            raise SettingsError(
                f"The population and the {owner} must share one library, but theirs differ. Build both from one."
            )

    @property
    def complexity(self) -> npt.NDArray[np.int64]:
        """Sum of the complexities of each row's tokens, (N,)."""
        table = np.append(self.library.complexities, 0)
        return np.asarray(table[np.minimum(self.tokens, len(self.library))].sum(axis=1, dtype=np.int64))

    @property
    def fingerprints(self) -> npt.NDArray[np.uint64]:
        """A hash of 128 bits for each row, (N, 2): equal rows have equal hashes."""
        return _core.fingerprints(self.library.vocabulary, self.tokens, self.lengths, self.constants)


def _integers(values: npt.ArrayLike, name: str) -> npt.NDArray[np.integer]:
    array = np.array(values)
    if array.size and array.dtype.kind not in "iu":
        raise DataError(f"`{name}` must hold integers, but its values are of type {array.dtype}.")
    return array
