"""What a network thinks of a table before any search: its most probable forms, with their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.tokens import TokenKind

MOST = 10
"""Most forms that are told: chosen by hand."""
_SWAPPED = frozenset({"add", "mul", "min", "max", "hypot"})
"""Operators whose arguments may be exchanged."""
_CHAINED = frozenset({"add", "mul"})
"""Those among them that may be nested in any way."""

_EVEN = frozenset({"square", "abs", "cos", "cosh"})
"""Operators for which a - b may as well be b - a."""

_Node: TypeAlias = tuple[str, tuple[Any, ...]]
"""A token, and the nodes below it."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A form, and how probable the network thinks it is before any search."""

    formula: str
    """The form f, with `const` for each number; an outer a + b f is left out."""
    probability: float
    """The sum over the writings of it that were drawn, so that it is at least this probable to the network."""

    @property
    def percent(self) -> str:
        """The probability for people, which is often small."""
        return f"{100.0 * self.probability:.2g} %"

    def __str__(self) -> str:
        """Return the form and its probability."""
        return f"{self.formula} ({self.percent})"


def guesses(population: Population, likely: Floats, most: int = MOST) -> tuple[Guess, ...]:
    """Return the most probable forms of samples.

    Args:
        likely: log p of each row.
    """
    writings: dict[_Node, dict[tuple[int, ...], tuple[float, int]]] = {}
    for place, row in enumerate(population.rows):
        probability = float(arithmetic.exp(np.float64(likely[place])))
        writings.setdefault(_form(population.library, row.ids), {})[row.ids] = probability, place
    found = []
    for own in writings.values():
        _, place = max(own.values(), key=lambda pair: (pair[0], -pair[1]))
        found.append((sum(probability for probability, _ in own.values()), place))
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return tuple(
        Guess(Expression(population.library, population.row(place)).form, total) for total, place in found[:most]
    )


def _form(library: Library, ids: tuple[int, ...]) -> _Node:
    """What all writings of a form have in common.

    The order and nesting of sums and products make no difference, nor which of two is subtracted in (a - b)^2.
    """
    place = 0

    def part() -> _Node:
        nonlocal place
        token = library[ids[place]]
        place += 1
        if token.kind is not TokenKind.OPERATOR:
            return token.kind.value if token.kind is TokenKind.CONSTANT else f"{token.kind.value} {token.name}", ()
        children = [part() for _ in range(token.arity)]
        if token.name in _CHAINED:
            chains: list[tuple[_Node, ...]] = [child[1] if child[0] == token.name else (child,) for child in children]
            children = [child for chain in chains for child in chain]
        if token.name in _EVEN and children[0][0] == "sub":
            children = [("sub", tuple(sorted(children[0][1], key=repr)))]
        if token.name in _SWAPPED:
            children.sort(key=repr)
        return token.name, tuple(children)

    return part()
