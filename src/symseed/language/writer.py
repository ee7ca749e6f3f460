"""The writer: builds formulas from parts, as rows of a library with fitted constants."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.tokens import TokenKind


class Writer:
    """Puts parts together over one library, which must have a fitted constant."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._constant = library.ids_of_kind(TokenKind.CONSTANT)[0]
        self._ids = {token.name: i for i, token in enumerate(library.tokens) if token.kind is TokenKind.OPERATOR}
        self._variables = {token.column: library.tokens.index(token) for token in library.variables}

    @property
    def columns(self) -> list[int]:
        """The columns of the data for which the library has variables."""
        return list(self._variables)

    def of_columns(self, columns: Sequence[int]) -> Writer:
        """Return a writer with only some of the variables, in this order."""
        other = Writer(self.library)
        other._variables = {column: self._variables[column] for column in columns}
        return other

    def has(self, *names: str) -> bool:
        """Return whether the library has all of these operators."""
        return all(name in self._ids for name in names)

    def operators(self, arity: int) -> list[str]:
        """Return the names of the library's operators of an arity."""
        return [name for name, i in self._ids.items() if self.library[i].arity == arity]

    def number(self, value: float) -> Row:
        """Write a number, as a constant."""
        return Row.leaf(self._constant, float(value))

    def variable(self, column: int) -> Row:
        """Write a variable."""
        return Row.leaf(self._variables[column])

    def apply(self, name: str, *arguments: Row) -> Row:
        """Write an operator and its arguments."""
        return Row.joined((Row.leaf(self._ids[name]), *arguments))

    def total(self, terms: Sequence[Row]) -> Row:
        """Write a sum; 0 if there are no terms."""
        if not terms:
            return self.number(0.0)
        return functools.reduce(lambda left, term: self.apply("add", left, term), terms)

    def product(self, factors: Sequence[Row]) -> Row:
        """Write a product; 1 if there are no factors."""
        if not factors:
            return self.number(1.0)
        return functools.reduce(lambda left, factor: self.apply("mul", left, factor), factors)

    def scaled(self, factor: float, part: Row) -> Row:
        """Write factor * part, without a factor of 1."""
        return part if factor == 1.0 else self.apply("mul", self.number(factor), part)

    def affine(self, offset: float, factor: float, part: Row) -> Row:
        """Write offset + factor * part, without an offset of 0 and without a factor of 1."""
        scaled = self.scaled(factor, part)
        return scaled if offset == 0.0 else self.apply("add", scaled, self.number(offset))

    def power(self, column: int, exponent: int) -> Row:
        """Write a variable to a whole power of at least 1, with the fewest tokens that the library allows."""
        return self.raised(self.variable(column), exponent)

    def raised(self, part: Row, exponent: int) -> Row:
        """Write a part to a whole power of at least 1, with the fewest tokens that the library allows."""
        if exponent == 1:
            return part
        for name, of in (("quartic", 4), ("cube", 3), ("square", 2)):
            if self.has(name) and exponent % of == 0:
                return self.apply(name, self.raised(part, exponent // of))
        if self.has("square") and exponent > 2:
            return self.apply("mul", self.raised(part, exponent - 1), part)
        return self.product([part] * exponent)

    def population(self, parts: Sequence[Row]) -> Population:
        """Return whole formulas as rows, at least one."""
        return Population.of_rows(self.library, parts)

    def row(self, expression: Expression) -> Row | None:
        """Return an expression of another library as a part; None if it has tokens that this one lacks."""
        own = {(token.kind, token.name): i for i, token in enumerate(self.library.tokens)}
        ids = tuple(own.get((token.kind, token.name), -1) for token in expression.tokens)
        return None if -1 in ids else Row(ids, expression.constants)

    def translated(self, population: Population) -> Population:
        """Return rows of another library as rows of this one, which must have all their operators and variables.

        Numbers that this library lacks are written as constants.
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
