"""Formulas with a hole and its desired values: semantic backpropagation (Pawlak, Wieloch & Krawiec 2015)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from symseed.arrays import Floats
from symseed.assembly.workbench import Workbench
from symseed.language import Row
from symseed.search.budget import in_time

MOST_VARIABLES = 8
"""Most variables placed beside a hole or examined for waves and growth, most relevant first: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Context:
    """A formula with a hole."""

    part: Row
    begin: int
    end: int
    desired: Floats  # (M,): desired values of the hole
    weight: Floats  # (M,): squared error of the whole for a unit of squared error there

    def filled(self, filling: Row) -> Row:
        """Return the formula with the hole filled."""
        return self.part.spliced(self.begin, self.end, filling)

    @property
    def rest(self) -> int:
        """Tokens outside the hole."""
        return len(self.part) - (self.end - self.begin)


class Holes:
    """Makes contexts: small formulas around a hole, and the holes of formulas that were found."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def frames(self) -> Iterator[tuple[Row, int]]:
        """Every formula of one or two operators around a hole, which is written as a number."""
        hole = self._bench.writer.number(1.0)
        single = [*self._around(hole, 0)]
        yield hole, 0
        yield from single
        for part, place in single:
            yield from self._around(part, place)

    def framed(self, holes: Sequence[tuple[Row, int]]) -> Iterator[tuple[Row, int]]:
        """Holes with one more operator around them."""
        frames = [*self._around(self._bench.writer.number(1.0), 0)]
        for (part, begin), (frame, place) in itertools.product(holes, frames):
            yield part.spliced(begin, self._bench.writer.library.end(part.ids, begin), frame), begin + place

    def contexts(self, holes: Iterable[tuple[Row, int]]) -> list[Context]:
        """Return the contexts of the holes, each a formula and a position, that have finite desired values."""
        found = (self.context(part, begin) for part, begin in in_time(holes, self._bench.is_late))
        return [context for context in found if context is not None]

    def context(self, part: Row, begin: int) -> Context | None:
        """Return the context of the hole at a position of a formula; None without finite desired values."""
        desired, weight = (
            found[begin] for found in self._bench.backsolver.desired(self._bench.writer.population([part]))
        )
        if not (np.isfinite(desired).all() and np.isfinite(weight).all() and weight.max() > 0.0):
            return None
        return Context(part, begin, self._bench.writer.library.end(part.ids, begin), desired, weight)

    def _around(self, part: Row, place: int) -> Iterator[tuple[Row, int]]:
        writer = self._bench.writer
        for name in writer.operators(1):
            yield writer.apply(name, part), place + 1
        for name, column in itertools.product(writer.operators(2), writer.columns[:MOST_VARIABLES]):
            variable = writer.variable(column)
            yield writer.apply(name, part, variable), place + 1
            if name in ("sub", "div", "pow"):
                yield writer.apply(name, variable, part), place + 2
        if writer.has("div") and not writer.has("inv"):
            yield writer.apply("div", writer.number(1.0), part), place + 2
