"""Plain numbers: integers, small fractions, short decimals, multiples of pi and e, and what each costs to write down.

Costs are in nats: a fraction p/q takes log(1 + |p|) + log(q) and a little for saying which kind of number it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 25, 50, 100)
"""Of the fractions that count as plain."""
LARGEST = 10_000
"""Numerators beyond this are not plain."""
_UNITS = ((1.0, 0.0), (math.pi, math.log(8.0)), (math.e, math.log(16.0)))
"""What a fraction may be a multiple of, and the cost of saying so."""
_SIGN = math.log(2.0)


def candidates(value: float, reach: float) -> Iterator[tuple[float, float]]:
    """Give the plain numbers that are at most `reach` away from a value, nearest of each kind, with their costs."""
    if not abs(value) <= LARGEST * math.pi:
        return
    for unit, unit_cost in _UNITS:
        for denominator in DENOMINATORS:
            numerator = round(value / unit * denominator)
            if numerator == 0 or abs(numerator) > LARGEST or math.gcd(numerator, denominator) > 1:
                continue
            number = numerator * unit / denominator
            if abs(number - value) <= reach:
                yield number, _cost(numerator, denominator) + unit_cost


def cost(value: float) -> float | None:
    """Return what a plain number costs to write down; None where a value is not plain to the last bit."""
    if value == 0.0:
        return _SIGN
    return min((price for _, price in candidates(value, 0.0)), default=None)


def _cost(numerator: int, denominator: int) -> float:
    sign = _SIGN if numerator < 0 else 0.0
    return math.log(1 + abs(numerator)) + (math.log(2 * denominator) if denominator > 1 else 0.0) + sign
