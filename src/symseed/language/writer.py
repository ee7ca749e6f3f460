"""Writing formulas down: parts put together token by token, as rows of a library with fitted constants."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.tokens import TokenKind


@dataclass(frozen=True, slots=True)
class Part:
    """A subtree: tokens in prefix order, and beside them the values of constants."""

    ids: tuple[int, ...]
    constants: tuple[float, ...]

    def __post_init__(self) -> None:
        """Have one NaN beside all tokens without a value: two parts that are the same are then equal."""
        if any(value is not math.nan and math.isnan(value) for value in self.constants):
            constants = tuple(math.nan if math.isnan(value) else value for value in self.constants)
            object.__setattr__(self, "constants", constants)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.ids)


class Writer:
    """Puts parts together over one library, which must have a fitted constant."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._constant = library.ids_of_kind(TokenKind.CONSTANT)[0]
        self._ids = {token.name: i for i, token in enumerate(library.tokens) if token.kind is TokenKind.OPERATOR}
        self._variables = {token.column: library.tokens.index(token) for token in library.variables}

    @property
    def columns(self) -> list[int]:
        """The columns of the data that the library has variables for."""
        return list(self._variables)

    def of_columns(self, columns: Sequence[int]) -> Writer:
        """Return a writer that knows some of the variables only, in this order."""
        other = Writer(self.library)
        other._variables = {column: self._variables[column] for column in columns}
        return other

    def has(self, *names: str) -> bool:
        """Return whether the library has all of these operators."""
        return all(name in self._ids for name in names)

    def operators(self, arity: int) -> list[str]:
        """Return the names of the library's operators of an arity."""
        return [name for name, i in self._ids.items() if self.library[i].arity == arity]

    def number(self, value: float) -> Part:
        """Write a number, as a constant."""
        return Part((self._constant,), (float(value),))

    def variable(self, column: int) -> Part:
        """Write a variable."""
        return Part((self._variables[column],), (math.nan,))

    def apply(self, name: str, *arguments: Part) -> Part:
        """Write an operator and its arguments."""
        ids = itertools.chain((self._ids[name],), *(part.ids for part in arguments))
        constants = itertools.chain((math.nan,), *(part.constants for part in arguments))
        return Part(tuple(ids), tuple(constants))

    def total(self, terms: Sequence[Part]) -> Part:
        """Write a sum; 0 where there are no terms."""
        if not terms:
            return self.number(0.0)
        return functools.reduce(lambda left, term: self.apply("add", left, term), terms)

    def product(self, factors: Sequence[Part]) -> Part:
        """Write a product; 1 where there are no factors."""
        if not factors:
            return self.number(1.0)
        return functools.reduce(lambda left, factor: self.apply("mul", left, factor), factors)

    def scaled(self, factor: float, part: Part) -> Part:
        """Write factor * part, without a factor of 1."""
        return part if factor == 1.0 else self.apply("mul", self.number(factor), part)

    def affine(self, offset: float, factor: float, part: Part) -> Part:
        """Write offset + factor * part, without what does nothing."""
        scaled = self.scaled(factor, part)
        return scaled if offset == 0.0 else self.apply("add", scaled, self.number(offset))

    def power(self, column: int, exponent: int) -> Part:
        """Write a variable to a whole power of at least 1, with the fewest tokens that the library allows."""
        variable = self.variable(column)
        if exponent == 1:
            return variable
        for name, of in (("quartic", 4), ("cube", 3), ("square", 2)):
            if self.has(name) and exponent % of == 0:
                return self.apply(name, self.power(column, exponent // of))
        if self.has("square") and exponent > 2:
            return self.apply("mul", self.power(column, exponent - 1), variable)
        return self.product([variable] * exponent)

    def splice(self, whole: Part, begin: int, end: int, part: Part) -> Part:
        """Put a part in the place of a subtree."""
        return Part(
            whole.ids[:begin] + part.ids + whole.ids[end:],
            whole.constants[:begin] + part.constants + whole.constants[end:],
        )

    def end(self, ids: Sequence[int], begin: int) -> int:
        """Return one past the last position of the subtree at a position."""
        position, open_ = begin, 1
        while open_ > 0:
            open_ += self.library[ids[position]].arity - 1
            position += 1
        return position

    def population(self, parts: Sequence[Part]) -> Population:
        """Return whole formulas as rows, at least one."""
        return Population.of_rows(self.library, [part.ids for part in parts], [part.constants for part in parts])

    def part(self, expression: Expression) -> Part | None:
        """Return an expression of another library as a part; None where it has tokens that this one lacks."""
        own = {(token.kind, token.name): i for i, token in enumerate(self.library.tokens)}
        ids = tuple(own.get((token.kind, token.name), -1) for token in expression.tokens)
        return None if -1 in ids else Part(ids, expression.constants)

    def translated(self, population: Population) -> Population:
        """Return rows of another library, all of whose operators and variables this one has, as rows of this one.

        Numbers that the library has not are written as constants.
        """
        if population.library == self.library:
            return population
        own = {(token.kind, token.name): i for i, token in enumerate(self.library.tokens)}
        table = np.full(population.library.pad + 1, self.library.pad, dtype=np.uint16)
        constants = population.constants.copy()
        for i, token in enumerate(population.library.tokens):
            if token.kind is TokenKind.LITERAL and (token.kind, token.name) not in own:
                table[i] = self._constant
                constants[population.tokens == i] = token.value
            else:
                table[i] = own[token.kind, token.name]
        return Population.wrap(self.library, table[population.tokens], population.lengths.copy(), constants)


def part_of(population: Population, row: int) -> Part:
    """Return a row as one part."""
    expression = population[row]
    return Part(expression.ids, expression.constants)
