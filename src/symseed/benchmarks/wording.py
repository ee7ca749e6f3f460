"""Short wordings over one library: numbers, whole powers, products, and differences, in prefix order."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from symseed.language.library import Library
from symseed.language.tokens import TokenKind

Words: TypeAlias = tuple[str | float, ...]
"""A formula in prefix order: operators and variables by name, and the values of fitted constants."""

LARGEST = 9
"""Largest whole number that is made of a variable: longer ones do not fit into the paper's 30 tokens."""


class UnwritableError(Exception):
    """The tokens cannot express a part."""


def shortest_of(ways: Iterable[Words | None]) -> Words | None:
    """Return the shortest wording, the first of equally short ones; None if there is none."""
    return min((way for way in ways if way is not None), key=len, default=None)


class Wording:
    """Wordings of parts over the tokens of one library."""

    def __init__(self, library: Library) -> None:
        self.operators = {token.name for token in library.tokens if token.kind is TokenKind.OPERATOR}
        self.has_constants = library.has_constants
        self._literals = {token.value: token.name for token in library.tokens if token.kind is TokenKind.LITERAL}
        self._variable = library.variables[0].name
        self._numbers: dict[Fraction, Words] = {}

    def applied(self, name: str, *arguments: Words) -> Words | None:
        """Apply an operator to one argument, or one after another to several."""
        if name == "inv":
            return ("inv", *arguments[0]) if "inv" in self.operators else None
        if len(arguments) > 1 and name not in self.operators:
            if name == "sub" and "neg" in self.operators and "add" in self.operators:
                return ("add", *arguments[0], "neg", *arguments[1])
            if name == "div" and "inv" in self.operators and "mul" in self.operators:
                return ("mul", *arguments[0], "inv", *arguments[1])
            return None
        return functools.reduce(lambda left, right: (name, *left, *right), arguments)

    def product(self, factors: Sequence[Words]) -> Words | None:
        """Write a product of at least one factor."""
        return self.applied("mul", *factors)

    def repeated(self, body: Words, count: int) -> Words | None:
        """Write body + body + ..."""
        return self.applied("add", *[body] * count)

    def raised(self, base: Words, exponent: int) -> Words | None:
        """Write a power, with squares and cubes if there are such operators."""
        if exponent == 1:
            return base
        ways: list[Words | None] = []
        for name, of in (("quartic", 4), ("cube", 3), ("square", 2)):
            if name in self.operators and exponent % of == 0:
                inner = self.raised(base, exponent // of)
                ways.append(None if inner is None else (name, *inner))
        lower = self.raised(base, exponent - 1)
        ways.append(None if lower is None else self.applied("mul", lower, base))
        return shortest_of(ways)

    def minus(self, positive: Words) -> Words:
        """Write -part, if need be as v - (v + part)."""
        if "neg" in self.operators:
            return ("neg", *positive)
        v = self._variable
        if not {"sub", "add"} <= self.operators:
            raise UnwritableError
        return ("sub", v, "add", v, *positive)

    def number(self, number: float) -> Words | None:
        """Write a number: as a token, as a constant, or made of a variable."""
        if number in self._literals:
            return (self._literals[number],)
        if self.has_constants:
            return (number,)
        fraction = Fraction(number).limit_denominator(LARGEST**2)
        if abs(float(fraction) - number) > 1e-12 * abs(number) or not fraction:
            return None
        if fraction < 0:
            positive = self.number(float(-fraction))
            return None if positive is None else self.minus(positive)
        if fraction not in self._numbers:
            self._numbers[fraction] = shortest_of(self._fractions(fraction)) or ()
        return self._numbers[fraction] or None

    def _fractions(self, fraction: Fraction) -> Iterable[Words | None]:
        """Write p/q as (v + ... + v) / (v + ... + v), or with the token 1."""
        above, below = fraction.numerator, fraction.denominator
        if max(above, below) <= LARGEST:
            upper, lower = (self.repeated((self._variable,), count) for count in (above, below))
            if upper is not None and lower is not None:
                yield self.applied("div", upper, lower)
            if 1.0 in self._literals:
                one: Words = (self._literals[1.0],)
                first, second = self.repeated(one, above), self.repeated(one, below)
                if first is not None and second is not None:
                    yield first if below == 1 else self.applied("div", first, second)
        if below == 1:
            for factor in range(2, math.isqrt(above) + 1):
                if above % factor == 0:
                    first, second = self.number(float(factor)), self.number(float(above // factor))
                    yield None if first is None or second is None else self.applied("mul", first, second)
