"""Moves: ways to write a regression in one column less, or for another target."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
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
        for kind, maker in makers.items():
            yield from usable(maker(reduction, values) if kind in self._kinds else (), values.target)

    # --- Columns -----------------------------------------------------------------------------------------------------

    def _dropped(self, reduction: Reduction, values: Values) -> Iterator[Move]:
        count = len(reduction.columns)
        for place in range(count if count > 1 else 0):
            rest = [other for other in range(count) if other != place]
            yield Move(Kind.DROP, only(reduction, rest), _rows(values, rest), tuple((other,) for other in rest))

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
                ("mul", a.row, b.row, x * y, times(unit_a, unit_b, 1)),
                ("div", a.row, b.row, x / y, times(unit_a, unit_b, -1)),
                ("div", b.row, a.row, y / x, times(unit_b, unit_a, -1)),
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
        factors = [(name, power) for power in ((1, 2) if self._can_square else (1,)) for name in ("div", "mul")]
        return peeled(self._writer, reduction, values, [*factors, ("sub", 1), ("add", 1)])

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


def usable(moves: Iterable[Move], target: Floats) -> Iterator[Move]:
    """Give the moves whose values are finite and without far tails, or without farther ones than the target before."""
    most = max(_MOST_TAIL, _tail(target))
    for move in moves:
        own = move.values
        if is_usable(own.target, most) and all(map(is_usable, own.columns)) and _are_positive(own.slope):
            yield move


def is_usable(values: Floats, most_tail: float = _MOST_TAIL) -> bool:
    """Return whether values are finite, differ, and have no far tails."""
    return bool(np.isfinite(values).all()) and 0.0 < _tail(values) <= most_tail


def _tail(values: Floats) -> float:
    """The largest distance from the mean, in standard deviations; 0 if all values are equal, or not finite."""
    with np.errstate(all="ignore"):
        deviation = float(values.std())
        farthest = float(np.abs(values - values.mean()).max())
    return farthest / deviation if 0.0 < deviation < np.inf else 0.0


def peeled(writer: Writer, reduction: Reduction, values: Values, options: Sequence[tuple[str, int]]) -> Iterator[Move]:
    """Take each column off the target by each option, an operator and a power, and leave the column out."""
    count = len(reduction.columns)
    for place in range(count if count > 1 else 0):
        rest = [other for other in range(count) if other != place]
        for option in options:
            found = taken_off(writer, reduction, values, place, *option)
            if found is not None:
                after, target, slope = found
                own = Values(values.columns[rest], target, slope)
                yield Move(Kind.PEEL, only(after, rest), own, tuple((other,) for other in rest))


def taken_off(
    writer: Writer, reduction: Reduction, values: Values, place: int, name: str, power: int
) -> tuple[Reduction, Floats, Floats] | None:
    """Take a power of a column off the target by an operator; return the problem, its target and its slope.

    The column stays. Returns None if operators or units do not allow it.
    """
    column, x = reduction.columns[place], values.columns[place]
    unit = None if column.dimension is None else column.dimension**power
    is_term, is_log = name in ("add", "sub"), reduction.steps[-1:] == (_LOG,)
    if not writer.has(OPPOSITE[name]) or (
        is_term and (unit != reduction.dimension or (is_log and unit not in (None, NUMBER)))
    ):
        return None
    with np.errstate(all="ignore"):
        by = functools.reduce(np.multiply, [x] * power)
    target, slope, step = values.target, values.slope, Step(name, writer.raised(column.row, power))
    if is_log and not is_term and bool((by > 0.0).all()):
        # The logarithm stays on the outside: log(t) - log(x) in place of log(t) / x.
        logs = arithmetic.log(by)
        target = target - logs if name == "div" else target + logs
        steps = (*reduction.steps[:-1], step, _LOG)
    else:
        target, slope = step.applied(target, slope, by)
        steps = (*reduction.steps, step)
    return replace(reduction, steps=steps, dimension=_after(name, reduction.dimension, unit)), target, slope


def _are_positive(slope: Floats) -> bool:
    return bool(np.isfinite(slope).all() and (slope > 0.0).all())


_LOG = Step("log")


def times(a: Dimension | None, b: Dimension | None, exponent: int) -> Dimension | None:
    """Return the dimension a b^exponent; None without units."""
    return None if a is None or b is None else a * b**exponent


def _after(name: str, unit: Dimension | None, part: Dimension | None) -> Dimension | None:
    return unit if name in ("add", "sub") else times(unit, part, 1 if name == "mul" else -1)


def only(reduction: Reduction, places: Sequence[int]) -> Reduction:
    """Return the problem with only some of its columns."""
    return reduction.with_columns([reduction.columns[place] for place in places])


def _rows(values: Values, places: list[int]) -> Values:
    return replace(values, columns=values.columns[places])
