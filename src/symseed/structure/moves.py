"""Moves: ways to write a regression in one column less, or for another target."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.language import Row, Writer
from symseed.space.dimensions import NUMBER, Dimension
from symseed.structure.reduction import OPPOSITE, Column, Kind, Reduction, Step, Values

_MOST_TAIL = 15.0
"""Largest distance from the mean, in standard deviations, of a value of a combination: beyond it, a pole or a tail
hides all other rows. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move, and the problem to which it leads."""

    kind: Kind
    reduction: Reduction
    values: Values
    parents: tuple[tuple[int, ...], ...]
    """For each column after the move, the places before it of the columns that it is made of."""


class Moves:
    """All moves from a reduced problem, with the operators of a library and with units that agree."""

    def __init__(self, writer: Writer, kinds: tuple[Kind, ...]) -> None:
        self._writer, self._kinds = writer, kinds
        self._can_square = writer.has("square") or writer.has("mul")

    def of(self, reduction: Reduction, values: Values) -> Iterator[Move]:
        """Give every move whose values are finite and without far tails."""
        makers: dict[Kind, Callable[[Reduction, Values], Iterator[Move]]] = {
            Kind.FUSE: self._fused,
            Kind.PEEL: self._peeled,
            Kind.DROP: self._dropped,
            Kind.TURN: self._turned,
        }
        for kind in self._kinds:
            for move in makers[kind](reduction, values):
                own = move.values
                if is_usable(own.target) and all(map(is_usable, own.columns)) and _are_positive(own.slope):
                    yield move

    # --- Columns -----------------------------------------------------------------------------------------------------

    def _dropped(self, reduction: Reduction, values: Values) -> Iterator[Move]:
        count = len(reduction.columns)
        for place in range(count if count > 1 else 0):
            rest = [other for other in range(count) if other != place]
            yield Move(Kind.DROP, _only(reduction, rest), _rows(values, rest), tuple((other,) for other in rest))

    def _fused(self, reduction: Reduction, values: Values) -> Iterator[Move]:
        count = len(reduction.columns)
        for i, j in itertools.combinations(range(count), 2):
            rest = [other for other in range(count) if other not in (i, j)]
            parents = (*((other,) for other in rest), (i, j))
            for column, made in self._pairs(reduction.columns[i], reduction.columns[j], values.columns[[i, j]]):
                own = np.concatenate([values.columns[rest], made[None]])
                chosen = [*(reduction.columns[other] for other in rest), column]
                yield Move(Kind.FUSE, reduction.with_columns(chosen), replace(values, columns=own), parents)

    def _pairs(self, a: Column, b: Column, values: Floats) -> Iterator[tuple[Column, Floats]]:
        """Combinations of two columns, as formulas and values."""
        writer, (x, y) = self._writer, values
        unit_a, unit_b = a.dimension, b.dimension
        is_same = unit_a == unit_b
        with np.errstate(all="ignore"):
            options: list[tuple[str, Row, Row, Floats, Dimension | None]] = [
                ("mul", a.row, b.row, x * y, _times(unit_a, unit_b, 1)),
                ("div", a.row, b.row, x / y, _times(unit_a, unit_b, -1)),
                ("div", b.row, a.row, y / x, _times(unit_b, unit_a, -1)),
            ]
            if is_same:
                options += [("add", a.row, b.row, x + y, unit_a), ("sub", a.row, b.row, x - y, unit_a)]
            if is_same and self._can_square:
                double = None if unit_a is None else unit_a**2
                squares = writer.raised(a.row, 2), writer.raised(b.row, 2)
                options += [("add", *squares, x * x + y * y, double), ("sub", *squares, x * x - y * y, double)]
        for name, first, second, made, unit in options:
            if writer.has(name):
                yield Column(writer.apply(name, first, second), unit), made

    # --- The target --------------------------------------------------------------------------------------------------

    def _peeled(self, reduction: Reduction, values: Values) -> Iterator[Move]:
        count, writer = len(reduction.columns), self._writer
        is_log = reduction.steps[-1:] == (_LOG,)
        for place in range(count if count > 1 else 0):
            column, x = reduction.columns[place], values.columns[place]
            rest = [other for other in range(count) if other != place]
            unit = column.dimension
            options: list[tuple[str, Row, Floats, Dimension | None]] = [
                ("div", column.row, x, unit),
                ("mul", column.row, x, unit),
            ]
            if self._can_square:
                square, double = writer.raised(column.row, 2), None if unit is None else unit**2
                with np.errstate(all="ignore"):
                    options += [("div", square, x * x, double), ("mul", square, x * x, double)]
            if unit == reduction.dimension and (not is_log or unit in (None, NUMBER)):
                options += [("sub", column.row, x, unit), ("add", column.row, x, unit)]
            for name, part, by, part_unit in options:
                if not writer.has(OPPOSITE[name]):
                    continue
                step = Step(name, part)
                if is_log and name in ("div", "mul") and bool((by > 0.0).all()):
                    # The logarithm stays on the outside: log(t) - log(x) in place of log(t) / x.
                    logs = arithmetic.log(by)
                    target = values.target - logs if name == "div" else values.target + logs
                    slope, steps = values.slope, (*reduction.steps[:-1], step, _LOG)
                else:
                    target, slope = step.applied(values.target, values.slope, by)
                    steps = (*reduction.steps, step)
                after = replace(
                    _only(reduction, rest),
                    steps=steps,
                    dimension=_after(name, reduction.dimension, part_unit),
                )
                own = Values(values.columns[rest], target, slope)
                yield Move(Kind.PEEL, after, own, tuple((other,) for other in rest))

    def _turned(self, reduction: Reduction, values: Values) -> Iterator[Move]:
        if reduction.steps and reduction.steps[-1].part is None:
            return  # a second turn would undo the first, or make a tower
        t, unit = values.target, reduction.dimension
        has_one_sign = bool((t > 0.0).all() or (t < 0.0).all())
        options = [
            ("log", "exp", bool((t > 0.0).all()), 1),
            ("inv", "div", has_one_sign, -1),
            ("square", "sqrt", bool((t >= 0.0).all()), 2),
        ]
        for name, back, is_possible, power in options:
            if is_possible and self._writer.has(back):
                target, slope = Step(name).applied(t, values.slope, None)
                after = replace(
                    reduction,
                    steps=(*reduction.steps, Step(name)),
                    # A logarithm has the dimension of what is in it, for further factors to be taken off that.
                    dimension=None if unit is None else unit**power,
                )
                parents = tuple((place,) for place in range(len(reduction.columns)))
                yield Move(Kind.TURN, after, Values(values.columns, target, slope), parents)


def is_usable(values: Floats) -> bool:
    """Return whether values are finite, differ, and have no far tails."""
    with np.errstate(all="ignore"):
        deviation = float(values.std())
        return bool(
            np.isfinite(values).all()
            and 0.0 < deviation < np.inf
            and float(np.abs(values - values.mean()).max()) <= _MOST_TAIL * deviation
        )


def _are_positive(slope: Floats) -> bool:
    return bool(np.isfinite(slope).all() and (slope > 0.0).all())


_LOG = Step("log")


def _times(a: Dimension | None, b: Dimension | None, exponent: int) -> Dimension | None:
    return None if a is None or b is None else a * b**exponent


def _after(name: str, unit: Dimension | None, part: Dimension | None) -> Dimension | None:
    return unit if name in ("add", "sub") else _times(unit, part, 1 if name == "mul" else -1)


def _only(reduction: Reduction, places: list[int]) -> Reduction:
    return reduction.with_columns([reduction.columns[place] for place in places])


def _rows(values: Values, places: list[int]) -> Values:
    return replace(values, columns=values.columns[places])
