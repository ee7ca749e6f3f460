"""Reductions: a regression in fewer columns, some of them combinations, for a target from which factors are taken.

A reduction is a chain of moves. Each is a formula over the original columns, so that what is found for the reduced
problem can be written over the original one.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data import Dataset
from symseed.language import Expression, Library, Row, Writer
from symseed.language.tokens import Token, TokenKind
from symseed.scoring import predict
from symseed.space.dimensions import Dimension


class Kind(enum.Enum):
    """Kinds of moves; values are words for people."""

    FUSE = "fuse"
    """Two columns become one combination of them."""
    PEEL = "peel"
    """A column is taken off the target, as a factor or a term, and left out."""
    DROP = "drop"
    """A column is left out."""
    TURN = "turn"
    """The target becomes its logarithm, reciprocal, square or root."""
    SCALE = "scale"
    """A column is left out, by which others, and the target, are multiplied or divided."""
    SHIFT = "shift"
    """Of three columns a, b, c two are left: a plus or minus a product or ratio of b and c, and one of these."""


OPPOSITE: Mapping[str, str] = types.MappingProxyType({"div": "mul", "mul": "div", "sub": "add", "add": "sub"})
"""The operator that undoes a step with a column."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to the target: an operator applied to it and, if it has two arguments, to a column."""

    name: str
    """`div`, `mul`, `sub`, `add` with a column; `log`, `inv`, `square` without."""
    part: Row | None = None

    def applied(self, target: Floats, slope: Floats, by: Floats | None) -> tuple[Floats, Floats]:
        """Return the target after this step, and its derivative by y, in absolute value; `by` are the column's values.

        Values may be infinite or NaN.
        """
        with np.errstate(all="ignore"):
            if by is None:
                if self.name == "log":
                    return arithmetic.log(target), slope / np.abs(target)
                if self.name == "inv":
                    return 1.0 / target, slope / (target * target)
                return target * target, 2.0 * np.abs(target) * slope
            if self.name in ("add", "sub"):
                return (target + by if self.name == "add" else target - by), slope
            size = np.abs(by)
            return (target * by, slope * size) if self.name == "mul" else (target / by, slope / size)

    def undone(self, writer: Writer, inner: Row) -> Row:
        """Return the formula of the target before this step, given that of the target after it."""
        if self.part is not None:
            return writer.apply(OPPOSITE[self.name], inner, self.part)
        if self.name == "inv":
            return _inverse(writer, inner)
        return writer.apply({"log": "exp", "square": "sqrt"}[self.name], inner)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a reduced problem."""

    row: Row
    """Its formula over the original columns."""
    dimension: Dimension | None = None
    """Its physical dimension, if units are given."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduced problem: the target after some steps is a function of some columns."""

    columns: tuple[Column, ...]
    steps: tuple[Step, ...] = ()
    dimension: Dimension | None = None
    """The physical dimension of the target after its steps, if units are given."""

    def restored(self, writer: Writer, found: Row, library: Library) -> Row:
        """Return a formula for the reduced target over the reduced columns as one over the original columns.

        Args:
            writer: writes formulas over the original columns.
            found: the formula, in tokens of `library`, whose variables are the reduced columns.
        """
        own = {(token.kind, token.name): i for i, token in enumerate(writer.library.tokens)}
        pieces = []
        for i, value in zip(found.ids, found.constants, strict=True):
            token = library[i]
            if token.kind is TokenKind.VARIABLE:
                pieces.append(self.columns[token.column].row)
            elif token.kind is TokenKind.LITERAL and (token.kind, token.name) not in own:
                pieces.append(writer.number(token.value))
            else:
                pieces.append(Row.leaf(own[token.kind, token.name], value))
        row = Row.joined(pieces)
        for step in reversed(self.steps):
            row = step.undone(writer, row)
        return row

    def values(self, writer: Writer, dataset: Dataset) -> Values:
        """Return the reduced problem on all samples; values may be infinite or NaN."""
        rows = [column.row for column in self.columns]
        steps = [step.part for step in self.steps if step.part is not None]
        found = iter(predict(writer.population([*rows, *steps]), dataset).value)
        columns = np.stack([next(found) for _ in rows])
        target, slope = dataset.y, np.ones(len(dataset))
        for step in self.steps:
            target, slope = step.applied(target, slope, None if step.part is None else next(found))
        return Values(columns, target, slope)

    def target(self, writer: Writer, name: str) -> Expression:
        """Return the target after the steps, as a formula of the target itself, `name`, and the columns."""
        place, names = len(writer.library.tokens), [token.name for token in writer.library.variables]
        while name in names:
            name += "_"
        token = Token(name, TokenKind.VARIABLE, 0, 1, writer.library.variables[0].code, column=place)
        missing = [token for token in Library.of(_WRITTEN, 1).tokens[1:] if token not in writer.library.tokens]
        wide = Writer(Library((*writer.library.tokens, token, *missing)))
        row = Row.leaf(place)
        above: list[Row] = []
        below: list[Row] = []

        def gathered(inner: Row) -> Row:
            inner = wide.product([inner, *above])
            return wide.apply("div", inner, wide.product(below)) if below else inner

        for step in self.steps:
            if step.name in ("mul", "div") and step.part is not None:
                (below if step.name == "div" else above).append(step.part)
                continue
            row = gathered(row)
            above, below = [], []
            row = wide.apply(step.name, *(part for part in (row, step.part) if part is not None))
        return Expression(wide.library, gathered(row))

    @property
    def plain(self) -> Reduction:
        """The same columns for the target without turns at the end, which only made it smoother."""
        steps = self.steps
        while steps and steps[-1].part is None:
            steps = steps[:-1]
        return replace(self, steps=steps)

    def with_columns(self, columns: Sequence[Column]) -> Reduction:
        """Return the same target as a function of other columns."""
        return replace(self, columns=tuple(columns))


_WRITTEN = ("add", "sub", "mul", "div", "log", "inv", "square")
"""Operators of a target after its steps."""


def _inverse(writer: Writer, inner: Row) -> Row:
    return writer.apply("inv", inner) if writer.has("inv") else writer.apply("div", writer.number(1.0), inner)


@dataclass(frozen=True, slots=True)
class Values:
    """A reduced problem on some rows."""

    columns: Floats
    """(V, M)."""
    target: Floats
    """(M,): the target after its steps."""
    slope: Floats
    """(M,): derivative of the target after its steps by the target itself, in absolute value."""
