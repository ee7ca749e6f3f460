"""Code lengths of numbers, in nats: of simple numbers, and of constants known to a precision.

Simple numbers are integers, small fractions, short decimals, and their multiples of pi and e. A fraction p/q costs
log(1 + |p|) + log(1 + |p| / 5), plus log(2 q) if q is above 1, log(2) for a minus sign, and the cost of its unit, pi
or e. An integer that ends with k zeros costs what it costs without them, plus log(2 + 2 k), if that is less.

With the first term alone the integers between N and 2 N would weigh as much for any N, more than all fitted constants
there: a number of four digits would be rounded whatever its digits are. The second term makes their weight fall as 1/N.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats

DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 25, 50, 100)
"""Denominators of simple numbers: chosen by hand."""
LARGEST = 10_000
"""Largest numerator of a simple number: chosen by hand."""
_UNITS = ((1.0, 0.0), (math.pi, arithmetic.log(8.0)), (math.e, arithmetic.log(16.0)))
"""Units whose multiples are simple numbers, and the nats of each unit: chosen by hand."""
_PLAIN = 5.0
"""Integer above which the weight of simple numbers falls: chosen by simulation, `perf/few_rows.py --constants`."""
MOST_MISFIT = 3.0
"""Most nats that a simple number may add to the data, as a constant 2.4 standard errors away does: chosen by the same
simulation. If the number is right, one in 70 is farther away."""
LEAST_GAIN = 1.0
"""Least nats by which a simple number must shorten the description: chosen by the same simulation."""
EQUAL = 1e-9
"""Relative difference of a constant from a simple number that may be rounding."""
_SIGN = arithmetic.log(2.0)
"""Nats of a sign."""
_MOST_KEPT = 10_000
"""Most costs that are kept, because few numbers are asked for again and again: chosen by hand, some megabytes."""
_STEP = 0.5 * arithmetic.log(12.0)
"""Logarithm of sqrt(12): the optimal rounding step of a fitted constant, in standard deviations."""
_FITTED = _SIGN - 0.5 * arithmetic.log(3.0)
"""Nats of a fitted constant, besides the logarithm of its size in standard deviations (Bartlett et al. 2023)."""
_UNIT = np.repeat([unit for unit, _ in _UNITS], len(DENOMINATORS))
_DENOMINATOR = np.tile(DENOMINATORS, len(_UNITS))
_IS_WHOLE = (_DENOMINATOR == 1) & (_UNIT == 1.0)
_KIND_COST = np.repeat([cost for _, cost in _UNITS], len(DENOMINATORS)) + np.where(
    _DENOMINATOR > 1, [arithmetic.log(2.0 * denominator) for denominator in _DENOMINATOR.tolist()], 0.0
)


def nearest(values: Floats) -> tuple[Floats, Floats]:
    """Return the simple numbers nearest to each value, one of each kind, and their costs, (N, kinds) each.

    The cost is infinite if a kind has no such number. 0 is not among them.
    """
    numerator = _numerators(values[:, None])
    return _numbers(numerator), _costs(numerator)


def _numerators(values: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        numerator = np.rint(values / _UNIT * _DENOMINATOR)
        return np.where(np.abs(numerator) <= LARGEST, numerator, 0.0)


def _numbers(numerator: Floats) -> Floats:
    return np.asarray(numerator * _UNIT / _DENOMINATOR)


def _costs(numerator: Floats) -> Floats:
    is_plain = (numerator != 0.0) & (np.gcd(numerator.astype(np.int64), _DENOMINATOR) == 1)
    size = np.abs(numerator)
    digits = _whole_cost(size)
    for zeros in (1, 2, 3):
        short = size / 10.0**zeros
        is_shorter = (short == np.rint(short)) & (size > 0.0) & _IS_WHOLE
        digits = np.where(
            is_shorter, np.minimum(digits, _whole_cost(short) + arithmetic.log(2.0 + 2.0 * zeros)), digits
        )
    cost = digits + _KIND_COST + np.where(numerator < 0.0, _SIGN, 0.0)
    return np.where(is_plain, cost, np.inf)


def _whole_cost(size: Floats) -> Floats:
    """Nats of the digits of positive integers."""
    return np.asarray(arithmetic.log(1.0 + size) + arithmetic.log(1.0 + size / _PLAIN))


def candidates(value: float, reach: float) -> list[tuple[float, float]]:
    """Return the simple numbers that are at most `reach` away from a value, nearest of each kind, with their costs."""
    return near(np.array([value]), np.array([reach]))[0]


def near(values: Floats, reach: Floats) -> list[list[tuple[float, float]]]:
    """Return the `candidates` of each value."""
    numerator = _numerators(values[:, None])
    numbers = _numbers(numerator)
    is_near = np.abs(numbers - values[:, None]) <= reach[:, None]
    out: list[list[tuple[float, float]]] = [[] for _ in values]
    for place, kind in zip(*(index.tolist() for index in np.nonzero(is_near)), strict=True):
        price = _cost_of(kind, float(numerator[place, kind]))
        if price < math.inf:
            out[place].append((float(numbers[place, kind]), price))
    return out


@functools.lru_cache(_MOST_KEPT)
def _cost_of(kind: int, numerator: float) -> float:
    """The cost of a number of some kind, an entry of `_costs`."""
    return float(_costs(np.full(len(_UNIT), numerator))[kind])


@functools.lru_cache(_MOST_KEPT)
def cost(value: float) -> float | None:
    """Return the nats of a simple number; None if the value is not exactly a simple number."""
    if value == 0.0:
        return 0.0
    return min((price for _, price in candidates(value, 0.0)), default=None)


def fitted_cost(deviations: Floats) -> Floats:
    """Return the nats of fitted constants, given their distances from 0 in standard deviations.

    The optimal rounding step is sqrt(12) deviations. A constant below one step is indistinguishable from 0; it costs as
    much as one step, and so more than 0 does.
    """
    with np.errstate(divide="ignore"):
        steps = np.maximum(arithmetic.log(deviations), _STEP)
    return np.asarray(steps + _FITTED)
