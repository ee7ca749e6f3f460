"""Rows: one formula as token ids in prefix order, with the values of its fitted constants.

A subtree is a slice of its row, so subtrees are taken out and put in by slicing, and their constants come along.
Where a subtree ends depends on the arities of its tokens: `Library.ends` says it.
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
        """Have one NaN beside all tokens without a value: two rows that are the same are then equal."""
        if any(value is not math.nan and math.isnan(value) for value in self.constants):
            constants = tuple(math.nan if math.isnan(value) else value for value in self.constants)
            object.__setattr__(self, "constants", constants)

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
        """Return the tokens from a place up to another, which is not included."""
        return Row(self.ids[begin:end], self.constants[begin:end])

    def spliced(self, begin: int, end: int, other: Row) -> Row:
        """Return the row with another one in the place of some of its tokens."""
        return Row(
            self.ids[:begin] + other.ids + self.ids[end:],
            self.constants[:begin] + other.constants + self.constants[end:],
        )

    def with_constant(self, place: int, value: float) -> Row:
        """Return the row with another value of one of its constants."""
        return Row(self.ids, (*self.constants[:place], value, *self.constants[place + 1 :]))

    def with_token(self, place: int, token: int) -> Row:
        """Return the row with another token, which has no constant, in the place of one of the same arity."""
        return self.spliced(place, place + 1, Row.leaf(token))
