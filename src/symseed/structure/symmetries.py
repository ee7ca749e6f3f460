"""Further moves, for problems to which no move of `moves.py` leads: symmetries under scaling, and shifts by products.

If y keeps its form while a column grows by a factor, others grow by powers of it, and y itself by a power (Buckingham
1914 says so of units), then that column is left out: everything else is measured by it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from symseed.arrays import Floats
from symseed.language import Row, Writer
from symseed.structure.moves import Move, only, peeled, taken_off, times, usable
from symseed.structure.reduction import Column, Kind, Reduction, Values

_POWERS = (None, ("div", 1), ("mul", 1), ("div", 2), ("mul", 2))
"""What is done to the target with a column that all else is measured by: nothing, or a power of it comes off."""
_MOST_TOGETHER = 5
"""Most columns of a problem of which three are moved at a time: a bound on time."""


def further(writer: Writer, kinds: tuple[Kind, ...], reduction: Reduction, values: Values) -> Iterator[Move]:
    """Give every further move whose values are finite and without far tails."""
    makers: dict[Kind, Callable[[Writer, Reduction, Values], Iterator[Move]]] = {
        Kind.FUSE: _added,
        Kind.PEEL: _peeled,
        Kind.SCALE: _scaled,
        Kind.SHIFT: _shifted,
    }
    for kind, maker in makers.items():
        yield from usable(maker(writer, reduction, values) if kind in kinds else (), values.target)


def _peeled(writer: Writer, reduction: Reduction, values: Values) -> Iterator[Move]:
    return peeled(writer, reduction, values, [("div", 3), ("mul", 3)] if writer.has("mul") else [])


def _scaled(writer: Writer, reduction: Reduction, values: Values) -> Iterator[Move]:
    """Leave a column out, by which one or two others, and the target, are multiplied or divided."""
    count = len(reduction.columns)
    for unit, power in itertools.product(range(count if count > 1 else 0), _POWERS):
        as_it_is = reduction, values.target, values.slope
        found = as_it_is if power is None else taken_off(writer, reduction, values, unit, *power)
        if found is None:
            continue
        after, target, slope = found
        by, x = reduction.columns[unit], values.columns[unit]
        for changes in _changes(count, unit, is_alone=power is not None):
            if not all(writer.has(name) for _, name, _ in changes):
                continue
            changed = [place for place, *_ in changes]
            rest = [place for place in range(count) if place not in (unit, *changed)]
            columns, own = [reduction.columns[place] for place in rest], [values.columns[place] for place in rest]
            for place, name, exponent in changes:
                column, made = _measured(writer, reduction.columns[place], values.columns[place], name, by, x, exponent)
                columns.append(column)
                own.append(made)
            yield Move(
                Kind.SCALE,
                after.with_columns(columns),
                Values(np.stack(own), target, slope),
                (*((place,) for place in rest), *((place, unit) for place in changed)),
            )


def _changes(count: int, unit: int, *, is_alone: bool) -> Iterator[tuple[tuple[int, str, int], ...]]:
    """Which other columns are multiplied or divided by which power of a column."""
    others = [place for place in range(count) if place != unit]
    for place, name in itertools.product(others, ("div", "mul")):
        if is_alone and place > unit:  # the other way round is the same problem
            yield ((place, name, 1),)
        yield ((place, name, 2),)
    if count <= _MOST_TOGETHER:
        for first, second in itertools.combinations(others, 2):
            for names in itertools.product(("div", "mul"), repeat=2):
                yield (first, names[0], 1), (second, names[1], 1)


def _measured(
    writer: Writer, column: Column, values: Floats, name: str, by: Column, x: Floats, exponent: int
) -> tuple[Column, Floats]:
    """A column multiplied or divided by a power of another."""
    with np.errstate(all="ignore"):
        power = x if exponent == 1 else x * x
        made = values * power if name == "mul" else values / power
    row = writer.apply(name, column.row, writer.raised(by.row, exponent))
    unit = None if by.dimension is None else by.dimension**exponent
    return Column(row, times(column.dimension, unit, 1 if name == "mul" else -1)), made


def _shifted(writer: Writer, reduction: Reduction, values: Values) -> Iterator[Move]:
    """Of three columns a, b, c leave two: a + b c or a - b / c, say, and one of b and c."""
    count = len(reduction.columns)
    if count > _MOST_TOGETHER:
        return
    for place in range(count):
        a, x = reduction.columns[place], values.columns[place]
        others = [other for other in range(count) if other != place]
        for pair in itertools.combinations(others, 2):
            for column, made in _products(writer, reduction, values, pair):
                if column.dimension != a.dimension:
                    continue
                for name, kept in itertools.product(("sub", "add"), pair):
                    if not writer.has(name):
                        continue
                    rest = [other for other in others if other == kept or other not in pair]
                    with np.errstate(all="ignore"):
                        both = x - made if name == "sub" else x + made
                    after = only(reduction, rest)
                    sum_ = Column(writer.apply(name, a.row, column.row), a.dimension)
                    yield Move(
                        Kind.SHIFT,
                        after.with_columns([*after.columns, sum_]),
                        replace(values, columns=np.concatenate([values.columns[rest], both[None]])),
                        (*((other,) for other in rest), (place, *pair)),
                    )


def _products(
    writer: Writer, reduction: Reduction, values: Values, pair: tuple[int, int]
) -> Iterator[tuple[Column, Floats]]:
    (b, c), (y, z) = (reduction.columns[place] for place in pair), values.columns[[*pair]]
    with np.errstate(all="ignore"):
        options: list[tuple[str, Row, Row, Floats, int, int]] = [
            ("mul", b.row, c.row, y * z, 1, 1),
            ("div", b.row, c.row, y / z, 1, -1),
            ("div", c.row, b.row, z / y, -1, 1),
        ]
    for name, first, second, made, one, other in options:
        if writer.has(name):
            unit = None if b.dimension is None or c.dimension is None else b.dimension**one * c.dimension**other
            yield Column(writer.apply(name, first, second), unit), made


def _added(writer: Writer, reduction: Reduction, values: Values) -> Iterator[Move]:
    """Sums and differences of a column and the square of another: a² + b² + c² after a² + b²."""
    count = len(reduction.columns)
    for place, square in itertools.permutations(range(count), 2):
        a, b = reduction.columns[place], reduction.columns[square]
        if not writer.has("mul") or (b.dimension is not None and b.dimension**2 != a.dimension):
            continue
        rest = [other for other in range(count) if other not in (place, square)]
        x, y = values.columns[place], values.columns[square]
        with np.errstate(all="ignore"):
            options = [("add", x + y * y), ("sub", x - y * y)]
        for name, made in options:
            if writer.has(name):
                both = Column(writer.apply(name, a.row, writer.raised(b.row, 2)), a.dimension)
                after = only(reduction, rest)
                yield Move(
                    Kind.FUSE,
                    after.with_columns([*after.columns, both]),
                    replace(values, columns=np.concatenate([values.columns[rest], made[None]])),
                    (*((other,) for other in rest), (place, square)),
                )
