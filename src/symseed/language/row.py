"""Rows: one formula as token ids in prefix order, with the values of its fitted constants.

A subtree is a slice of its row, so subtrees are taken out and put in by slicing, together with their constants.
`Library.ends` computes where subtrees end, from the arities of the tokens.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A formula, or a subtree of one, over some library."""

    ids: tuple[int, ...]  # (L,)
    constants: tuple[float, ...]  # (L,), NaN where the token is not a constant

    def __post_init__(self) -> None:
        """Use one NaN object for all tokens without a value, so that rows with the same content are equal."""
        if any(value is not math.nan and math.isnan(value) for value in self.constants):
            constants = tuple(math.nan if math.isnan(value) else value for value in self.constants)
            object.__setattr__(self, "constants", constants)

    def __reduce__(self) -> tuple[type[Row], tuple[tuple[int, ...], tuple[float, ...]]]:
        """Pickle the tokens and values; rows that are equal here are equal in another process too."""
        return Row, (self.ids, self.constants)

    @classmethod
    def leaf(cls, token: int, value: float = math.nan) -> Row:
        """Return a row of one token."""
        return cls((token,), (value,))

    @classmethod
    def joined(cls, pieces: Iterable[Row]) -> Row:
        """Return the tokens of several rows, one after another: an operator, and then its arguments."""
        rows = tuple(pieces)
        return cls(
            tuple(itertools.chain.from_iterable([row.ids for row in rows])),
            tuple(itertools.chain.from_iterable([row.constants for row in rows])),
        )

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.ids)

    def part(self, begin: int, end: int) -> Row:
        """Return the tokens from `begin` up to, but not including, `end`."""
        return Row(self.ids[begin:end], self.constants[begin:end])

    def spliced(self, begin: int, end: int, other: Row) -> Row:
        """Return the row with the tokens from `begin` up to `end` replaced by another row."""
        return Row(
            self.ids[:begin] + other.ids + self.ids[end:],
            self.constants[:begin] + other.constants + self.constants[end:],
        )

    def with_constant(self, place: int, value: float) -> Row:
        """Return the row with another value of one constant."""
        return Row(self.ids, (*self.constants[:place], value, *self.constants[place + 1 :]))

    def with_token(self, place: int, token: int) -> Row:
        """Return the row with one token replaced by another of the same arity, which is not a constant."""
        return self.spliced(place, place + 1, Row.leaf(token))
