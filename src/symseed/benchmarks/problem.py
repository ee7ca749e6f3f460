"""One benchmark problem: a target, the tokens to search with, and the rules for its samples."""

from __future__ import annotations

import itertools
import types
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats, floats
from symseed.benchmarks import rules
from symseed.benchmarks.rules import Rules
from symseed.data.dataset import Dataset
from symseed.errors import DataError, check_at_least
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.space.constraints import Dimensions

Function: TypeAlias = Callable[[Floats], Floats]
"""Values at the rows of a table, (M, V) to (M,)."""

_SEEDS = 2**32
"""Number of seeds of NumPy's legacy generator."""


@dataclass(frozen=True, slots=True)
class Units:
    """Physical units of a problem, as texts; "1" is a pure number."""

    columns: tuple[str, ...]
    """One for each variable."""
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem of the catalogue; `datasets` gives its data."""

    name: str
    formula: str
    """The target as the catalogue writes it."""
    target: Expression | None
    """The target over a library that can express it; None if no operators can."""
    function: Function | None
    """Computes the target if `target` is None."""
    library: Library
    """Tokens of a search: the variables and the problem's token set. They may not suffice to express the target."""
    units: Units | None
    """None: none are known."""
    train: Rules
    test: Rules
    seed_name: str
    """Text whose checksum seeds the draws: the problem's name, in the authors' released code if it is there."""
    note: str
    """Differences between paper, released code and literature."""
    source: str
    """Source of the problem's set."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names, in the order of the columns."""
        return tuple(token.name for token in self.library.variables)

    @property
    def dimensions(self) -> Dimensions | None:
        """The constraint that the units put on formulas; None without units."""
        return None if self.units is None else Dimensions.of(self.names, self.units.columns, self.units.target)

    def values(self, X: npt.ArrayLike) -> Floats:
        """Return the target's values at the rows of `X` (M, V), as (M,); NaN where it has none."""
        if self.target is not None:
            return self.target.evaluate(X)
        assert self.function is not None, "a problem has a target expression or a function"
        return self.function(floats(X, "X"))

    def datasets(self, draw: int = 0) -> tuple[Dataset, Dataset]:
        """Return training and test data.

        Draw 0 is the data of the authors' released code, if the definition is the same; other draws are new.
        Evenly spaced points, and those on trajectories, are the same in each draw.
        """
        check_at_least("draw", draw, 0)
        # The legacy generator is needed: the released code uses it, for training data first and then for test data.
        rng = np.random.RandomState((zlib.adler32(self.seed_name.encode()) + draw) % _SEEDS)
        train, test = rules.table(self.train, rng), rules.table(self.test, rng)
        first, second = (Dataset.of(X, self.values(X), names=self.names) for X in (train, test))
        return first, second


def harmonic(X: Floats) -> Floats:
    """Return the sum of 1/k for k from 1 to x1, exact and then rounded once; x1 must be whole numbers from 1."""
    upto = np.asarray(X, dtype=np.float64).reshape(len(X), -1)[:, 0]
    if not (np.all(upto >= 1.0) and np.all(upto == np.floor(upto)) and np.all(upto <= 10_000.0)):
        raise DataError("A harmonic number needs `x1` to be whole numbers from 1 to 10000.")
    sums = itertools.accumulate(Fraction(1, k) for k in range(1, int(upto.max()) + 1))
    numbers = np.array([0.0, *map(float, sums)])
    return numbers[upto.astype(np.int64)]


def harmonic32(X: Floats) -> Floats:
    """Return `harmonic` rounded to float32, as the authors' released code has it."""
    return harmonic(X).astype(np.float32).astype(np.float64)


FUNCTIONS: Mapping[str, Function] = types.MappingProxyType({"harmonic": harmonic, "harmonic32": harmonic32})
"""Targets that operators cannot express, by their names in the catalogue."""
