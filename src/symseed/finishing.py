"""Approximate completion as a last step: the best rows anew, each node as the nearest of all their sub-expressions.

It is for data with noise, in which nothing matches exactly. No number is fitted on the way, so it may end a search of
the paper's kind; `assembly.py` does the same with numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from symseed.dataset import Dataset, Floats
from symseed.errors import SettingsError
from symseed.evaluation import predict
from symseed.expression import Expression
from symseed.matching import Wisher, plain_errors
from symseed.population import Population
from symseed.space import SearchSpace

_AT_ONCE = 256
"""Nodes that meet all sub-expressions together: a matter of memory."""
_TRIED = 4
"""Replacements that are looked at for one that is given: some are known already, too long or not allowed."""


@dataclass(frozen=True, slots=True)
class FinishSettings:
    """How a search ends."""

    rows: int = 100
    """Different rows, the best ever, whose nodes are looked at."""

    kept: int = 4_000
    """Different sub-expressions of theirs to choose from, those of the best rows first."""

    longest: int = 15
    """Most tokens of each."""

    points: int = 200
    """Samples whose values are compared, spread over the data."""

    formulas: int = 1_000
    """Expressions that are scored so at most; the budget holds as many back, but no time: it may take a second more."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        for name in ("rows", "kept", "longest", "points", "formulas"):
            if getattr(self, name) < 1:
                raise SettingsError(f"`{name}` of a last step must be at least 1, but it is {getattr(self, name)}.")


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of a row, and what it should have been."""

    row: Expression
    begin: int
    end: int
    wish: Floats  # (M,)
    weight: Floats  # (M,)

    def filled(self, piece: Expression) -> Expression:
        ids = (*self.row.ids[: self.begin], *piece.ids, *self.row.ids[self.end :])
        constants = (*self.row.constants[: self.begin], *piece.constants, *self.row.constants[self.end :])
        return Expression(self.row.library, ids, constants)


def finished(space: SearchSpace, dataset: Dataset, best: Population, settings: FinishSettings) -> Population | None:
    """Return what rows become with one node replaced, nearest to the target first; None where there is nothing new."""
    rows = list(best)
    wisher = Wisher.of(dataset, settings.points)
    nodes = [node for row in rows for node in _nodes(row, wisher)]
    pieces = _pieces(rows, settings)
    if not nodes or not pieces:
        return None
    values = predict(Population.from_expressions(pieces), wisher.dataset).value
    children: dict[str, Expression] = {}
    known = {row.prefix for row in rows}
    for node, piece in _nearest(nodes, pieces, values, most=_TRIED * settings.formulas):
        child = node.filled(piece)
        if len(child) <= space.max_length and child.prefix not in known:
            children.setdefault(child.prefix, child)
    if not children:
        return None
    made = Population.from_expressions(list(children.values()))
    legal = np.flatnonzero(space.violations(made) == -1)[: settings.formulas]
    return made.take(legal) if len(legal) else None


def _ends(row: Expression) -> list[int]:
    """Where the subtree of each token ends."""
    ends = [0] * len(row)
    for place in reversed(range(len(row))):
        end = place + 1
        for _ in range(row.tokens[place].arity):
            end = ends[end]
        ends[place] = end
    return ends


def _nodes(row: Expression, wisher: Wisher) -> Iterator[_Node]:
    wishes, weights = wisher.wishes(Population.from_expressions([row]))
    for begin, end in enumerate(_ends(row)):
        wish, weight = wishes[begin], weights[begin]
        if np.isfinite(wish).all() and np.isfinite(weight).all() and weight.max() > 0.0:
            yield _Node(row, begin, end, wish, weight)


def _pieces(rows: Sequence[Expression], settings: FinishSettings) -> list[Expression]:
    """The different sub-expressions, one for each text."""
    pieces: dict[str, Expression] = {}
    for row in rows:
        for begin, end in enumerate(_ends(row)):
            if end - begin <= settings.longest and len(pieces) < settings.kept:
                piece = Expression(row.library, row.ids[begin:end], row.constants[begin:end])
                pieces.setdefault(piece.prefix, piece)
    return list(pieces.values())


def _nearest(
    nodes: Sequence[_Node], pieces: Sequence[Expression], values: Floats, *, most: int
) -> Iterator[tuple[_Node, Expression]]:
    """Nodes and what may take their place, nearest first, and so many at most."""
    found: list[tuple[float, int, int]] = []
    for first in range(0, len(nodes), _AT_ONCE):
        lot = nodes[first : first + _AT_ONCE]
        wishes, weights = np.stack([node.wish for node in lot]), np.stack([node.weight for node in lot])
        errors = plain_errors(wishes, weights, values).ravel()
        largest = np.partition(errors, most)[most] if len(errors) > most else np.inf
        for place in np.flatnonzero((errors <= largest) & np.isfinite(errors)):
            node, piece = divmod(int(place), len(pieces))
            found.append((float(errors[place]), first + node, piece))
        found = sorted(found)[:most]
    return ((nodes[node], pieces[piece]) for _, node, piece in found)
