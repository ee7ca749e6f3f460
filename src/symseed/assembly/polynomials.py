"""Closed-form blocks: polynomials and rational functions solved for the desired values of a hole.

Least squares and singular vectors give a block without search; it is written as ordinary tokens. Axis letters:
M samples, P monomials.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.scoring import simple_numbers

Exponents = tuple[int, ...]
"""A monomial: the power of each variable."""

LARGEST_VALUE = 1e100
"""Largest value that is used: sums of squares of larger values could overflow."""
MOST_TERMS = 36
"""Most monomials of a polynomial: chosen by hand, a bound on time."""
_MOST_PER_SAMPLE = 0.8
"""Most monomials per sample: more would fit rounding. Chosen by hand."""
_LARGEST_DENOMINATOR = 12
"""Largest denominator of the coefficients of a polynomial that is factorised: chosen by hand."""
_CHANCE_FACTOR = 1.2
"""Factor by which, by chance, a rational function without terms that are 0 may predict worse: chosen by hand."""
_RELATIVE_ROUNDING = 1e-14
"""Share of the root mean square of the desired values below which an error is rounding."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Monomials with their coefficients, none of which is 0."""

    exponents: tuple[Exponents, ...]
    coefficients: tuple[float, ...]


def monomials(variables: int, degree: int) -> list[Exponents]:
    """Return the exponents of all monomials up to a total degree, the constant first."""
    out = []
    for total in range(degree + 1):
        chosen = itertools.combinations_with_replacement(range(variables), total)
        out += sorted(tuple(factors.count(v) for v in range(variables)) for factors in chosen)
    return out


def design(X: Floats, exponents: Sequence[Exponents]) -> Floats:
    """Return the values of monomials, (M, P)."""
    highest = max((power for powers in exponents for power in powers), default=0)
    raised = [np.ones_like(X)]
    with np.errstate(over="ignore", invalid="ignore"):
        for power in range(1, highest + 1):
            raised.append(raised[power // 2] * raised[power - power // 2] if power > 1 else X)
        out = np.ones((len(X), len(exponents)))
        for place, powers in enumerate(exponents):
            for column, power in enumerate(powers):
                if power:
                    out[:, place] *= raised[power][:, column]
    return out


def degrees(variables: int, samples: int) -> Iterator[int]:
    """Yield the degrees that the number of samples can determine, smallest first."""
    for degree in itertools.count(1):
        if math.comb(variables + degree, degree) > min(_MOST_PER_SAMPLE * samples, MOST_TERMS):
            return
        yield degree


def rational_degrees(variables: int, samples: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the degrees of numerator and denominator that the samples can determine, by their sum, smallest first."""
    for total in itertools.count(2):
        pairs = [(total - below, below) for below in range(1, total)]
        pairs = [pair for pair in pairs if _are_determined(variables, pair, samples)]
        if not pairs:
            return
        yield pairs


def _are_determined(variables: int, pair: tuple[int, int], samples: int) -> bool:
    """Whether the samples can determine a rational function of two degrees, within a bound on time."""
    terms = sum(math.comb(variables + degree, degree) for degree in pair)
    return terms <= min(_MOST_PER_SAMPLE * samples, 2 * MOST_TERMS)


def token_cost(writer: Writer, powers: Exponents) -> float:
    """Return the nats of a monomial's tokens, its plus sign and factor included."""
    if len(powers) == 1:
        # In Horner form, every further term is `factor + x * (...)`.
        return (4 if powers[0] else 2) * writer.library.mean_nats
    factors = sum(len(writer.power(writer.columns[v], power)) for v, power in enumerate(powers) if power)
    signs = sum(power > 0 for power in powers)
    return (1 + factors + signs) * writer.library.mean_nats


def polynomial(
    writer: Writer, X: Floats, desired: Floats, weight: Floats, degree: int
) -> tuple[Polynomial, float] | None:
    """Fit all monomials up to a degree, then drop or round coefficients while the description gets shorter.

    Returns the polynomial and the description length of polynomial and data.
    """
    exponents = monomials(X.shape[1], degree)
    root = np.sqrt(weight / weight.mean())
    values = design(X, exponents)
    if not np.abs(values).max() < LARGEST_VALUE:
        return None
    matrix = root[:, None] * values
    goal = root * desired
    if not (np.abs(matrix).max() < LARGEST_VALUE and np.abs(goal).max() < LARGEST_VALUE):
        return None
    scale = arithmetic.norms(matrix, axis=0)
    if (scale == 0.0).any():
        return None
    prices = np.array([token_cost(writer, powers) for powers in exponents])
    # Neither order is always better; the second is slow with many coefficients.
    orders = (False, True) if len(exponents) <= 12 else (False,)
    tried = [_Reduction(matrix / scale, goal, scale, prices) for _ in orders]
    for reduction, is_plain_first in zip(tried, orders, strict=True):
        reduction.run(is_plain_first=is_plain_first)
    fitted = min(tried, key=lambda reduction: reduction.length)
    kept = [i for i, value in enumerate(fitted.coefficients) if value != 0.0]
    found = Polynomial(tuple(exponents[i] for i in kept), tuple(float(fitted.coefficients[i]) for i in kept))
    return found, fitted.length


class _Reduction:
    """Least squares in which one coefficient after another becomes 0 or a simple number.

    The cost of fixing a coefficient, and the new values of the others, follow from the inverse of the normal matrix.
    """

    def __init__(self, matrix: Floats, goal: Floats, scale: Floats, prices: Floats) -> None:
        self._matrix, self._goal, self._scale, self._prices = matrix, goal, scale, prices
        self._floor = _RELATIVE_ROUNDING * _RELATIVE_ROUNDING * arithmetic.dot(goal, goal) or 1e-300
        self._free: npt.NDArray[np.bool_] = np.ones(len(scale), dtype=bool)
        self._fixed_cost = 0.0
        self.coefficients = np.zeros(len(scale))
        self.length = math.inf

    def run(self, *, is_plain_first: bool) -> None:
        """Take the best step while there is one: first coefficients to 0, then to simple numbers, or the reverse."""
        if not self._solve():
            return
        kinds = (self._best_plain, self._best_zero) if is_plain_first else (self._best_zero, self._best_plain)
        while (step := kinds[0]() or kinds[1]()) is not None:
            self._fix(*step)
            if len(np.flatnonzero(self._free)) % 4 == 0:
                self._solve()  # rounding must not accumulate
        self._solve()
        used = self._free | (self.coefficients != 0.0)
        data = 0.5 * len(self._goal) * arithmetic.log(self._error / len(self._goal))
        self.length = data + float(self._costs().sum()) + self._fixed_cost + float(self._prices[used].sum())

    @property
    def free(self) -> int:
        """Number of coefficients that are neither 0 nor simple numbers."""
        return int(self._free.sum())

    def _solve(self) -> bool:
        free = self._free
        scaled = self.coefficients * self._scale
        rest = self._goal - arithmetic.product(self._matrix[:, ~free], scaled[~free])
        self._inverse = np.zeros((len(scaled), len(scaled)))
        if free.any():
            fit = arithmetic.normal_solution(self._matrix[:, free], rest)
            if fit.smallest < 1e-13:
                return False
            rest = rest - arithmetic.product(self._matrix[:, free], fit.solution)
            self.coefficients[free] = fit.solution / self._scale[free]
            self._inverse[np.ix_(free, free)] = fit.inverse
        self._error = arithmetic.dot(rest, rest) + self._floor
        return True

    def _fix(self, i: int, number: float, price: float) -> None:
        variance = self._inverse[i, i]
        change = number * self._scale[i] - self.coefficients[i] * self._scale[i]
        self._error += change * change / variance
        self.coefficients += self._inverse[:, i] / variance * change / self._scale
        self._inverse -= np.outer(self._inverse[:, i], self._inverse[i]) / variance
        self._inverse[i] = self._inverse[:, i] = 0.0
        self._free[i] = False
        self.coefficients[i] = number
        self._fixed_cost += price if number != 0.0 else 0.0

    def _deviations(self) -> Floats:
        noise = self._error / max(len(self._goal) - int(self._free.sum()), 1)
        return np.asarray(np.sqrt(noise * np.maximum(np.diagonal(self._inverse), 0.0)) / self._scale)

    def _costs(self) -> Floats:
        """Nats of the free coefficients, (P,); 0 for the others."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.abs(self.coefficients) / self._deviations()
        return np.where(self._free, simple_numbers.fitted_cost(ratio), 0.0)

    def _gain(self, change: Floats, variance: Floats) -> Floats:
        # Rounding may make a variance negative: such a coefficient stays unchanged.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gain = 0.5 * len(self._goal) * arithmetic.log1p(change * change / variance / self._error)
        return np.where(np.isnan(gain), np.inf, gain)

    def _best_zero(self) -> tuple[int, float, float] | None:
        free = np.flatnonzero(self._free)
        if len(free) == 0:
            return None
        scaled = (self.coefficients * self._scale)[free]
        with np.errstate(invalid="ignore"):  # infinity - infinity
            gain = self._gain(scaled, np.diagonal(self._inverse)[free]) - self._prices[free] - self._costs()[free]
        k = int(np.argmin(gain))
        return (int(free[k]), 0.0, 0.0) if gain[k] < 0.0 else None

    def _best_plain(self) -> tuple[int, float, float] | None:
        free = np.flatnonzero(self._free)
        if len(free) == 0:
            return None
        value, reach = self.coefficients[free], 6.0 * self._deviations()[free]
        number, price = simple_numbers.nearest(value)
        change = (value[:, None] - number) * self._scale[free, None]
        with np.errstate(invalid="ignore"):  # infinity - infinity
            gain = self._gain(change, np.diagonal(self._inverse)[free, None]) + price - self._costs()[free, None]
        is_near = np.abs(change / self._scale[free, None]) <= (reach + 1e-9 * np.abs(value))[:, None]
        gain = np.where(is_near & ~np.isnan(gain), gain, np.inf)
        i, kind = np.unravel_index(int(np.argmin(gain)), gain.shape)
        return (int(free[i]), float(number[i, kind]), float(price[i, kind])) if gain[i, kind] < 0.0 else None


def written(writer: Writer, polynomial_: Polynomial) -> Row:
    """Write a polynomial as a sum, in Horner form or as a product, whichever is shortest."""
    forms = [_as_sum(writer, polynomial_)]
    if len(writer.columns) == 1:
        forms += [_nested(writer, polynomial_), *_as_product(writer, polynomial_)]
    return min(
        forms, key=lambda part: (len(part), sum(simple_numbers.cost(value) or 0.0 for value in _numbers_of(part)))
    )


def _numbers_of(part: Row) -> list[float]:
    return [value for value in part.constants if not math.isnan(value)]


def _as_sum(writer: Writer, polynomial_: Polynomial) -> Row:
    terms = []
    for powers, factor in zip(polynomial_.exponents, polynomial_.coefficients, strict=True):
        parts = [writer.power(writer.columns[v], power) for v, power in enumerate(powers) if power]
        terms.append(writer.scaled(factor, writer.product(parts)) if parts else writer.number(factor))
    return writer.total(terms[::-1])


def _nested(writer: Writer, polynomial_: Polynomial) -> Row:
    """Horner form a + x^k (b + x^m (...)): every bracket begins with the lowest remaining power."""
    pairs = sorted(
        (powers[0], factor) for powers, factor in zip(polynomial_.exponents, polynomial_.coefficients, strict=True)
    )
    if not pairs:
        return writer.number(0.0)
    powers = [power for power, _ in pairs]
    part = writer.number(pairs[-1][1])
    for k in range(len(pairs) - 1, -1, -1):
        if k < len(pairs) - 1:
            part = writer.apply("add", writer.number(pairs[k][1]), part)
        step = powers[k] - (powers[k - 1] if k else 0)
        if step:
            power = writer.power(writer.columns[0], step)
            is_one = k == len(pairs) - 1 and pairs[k][1] == 1.0
            part = power if is_one else writer.apply("mul", power, part)
    return part


def _as_product(writer: Writer, polynomial_: Polynomial) -> list[Row]:
    """The polynomial as a product of factors with rational coefficients; empty if it has no such factors."""
    rationals = [Fraction(factor).limit_denominator(_LARGEST_DENOMINATOR) for factor in polynomial_.coefficients]
    if not polynomial_.coefficients or any(
        abs(float(rational_) - factor) > 1e-12 * abs(factor)
        for rational_, factor in zip(rationals, polynomial_.coefficients, strict=True)
    ):
        return []
    powers = [power for (power,) in polynomial_.exponents]
    lowest = min(powers)
    dense = [Fraction(0)] * (max(powers) - lowest + 1)  # lowest power first
    for power, rational_ in zip(powers, rationals, strict=True):
        dense[power - lowest] = rational_
    factors = []
    for divisor in _divisors(dense):
        while len(dense) > len(divisor) and (quotient := _quotient(dense, divisor)) is not None:
            factors.append(divisor)
            dense = quotient
    if not factors:
        return []
    leading = dense[-1]
    dense = [rational_ / leading for rational_ in dense]
    parts = [] if lowest == 0 else [writer.power(writer.columns[0], lowest)]
    for rationals in (*factors, *([dense] if len(dense) > 1 else [])):
        terms = [(i, float(rational_)) for i, rational_ in enumerate(rationals) if rational_ != 0]
        parts.append(written(writer, Polynomial(tuple((i,) for i, _ in terms), tuple(factor for _, factor in terms))))
    return [writer.scaled(float(leading), writer.product(parts))]


def _divisors(dense: list[Fraction]) -> list[list[Fraction]]:
    """Polynomials of degree 1 and 2 that may divide another, from its roots and pairs of roots."""
    out: dict[tuple[Fraction, ...], None] = {}
    for real, imaginary in zip(*arithmetic.roots(np.array([float(rational_) for rational_ in dense])), strict=True):
        if imaginary <= -1e-3:
            continue  # one root of a conjugate pair suffices
        is_real = imaginary < 1e-3
        values = [-real] if is_real else [real * real + imaginary * imaginary, -2.0 * real]
        out[(*(Fraction(float(v)).limit_denominator(_LARGEST_DENOMINATOR) for v in values), Fraction(1))] = None
    return [list(divisor) for divisor in sorted(out, key=lambda divisor: (len(divisor), divisor))]


def _quotient(dense: list[Fraction], divisor: list[Fraction]) -> list[Fraction] | None:
    """The quotient of two polynomials, for a divisor with leading coefficient 1; None if there is a remainder."""
    rest, out = list(dense), []
    while len(rest) >= len(divisor):
        factor = rest.pop()
        out.append(factor)
        for i, rational_ in enumerate(reversed(divisor[:-1])):
            rest[-1 - i] -= factor * rational_
    return None if any(rest) else out[::-1]


def rational(
    X: Floats, desired: Floats, weight: Floats, degree: int, below: int
) -> tuple[Polynomial, Polynomial, float] | None:
    """Find P / Q with degrees `degree` and `below` as the smallest singular vector of [P, -desired * Q].

    Coefficients are divided by the one that leaves the cheapest numbers. Returns P, Q and the weighted squared error.
    """
    if not _are_determined(X.shape[1], (degree, below), len(desired)):
        return None
    above_terms, below_terms = monomials(X.shape[1], degree), monomials(X.shape[1], below)
    root = np.sqrt(weight / weight.mean())
    upper, lower = design(X, above_terms), design(X, below_terms)
    if not max(np.abs(upper).max(), np.abs(lower).max(), np.abs(desired).max()) < LARGEST_VALUE:
        return None
    matrix = root[:, None] * np.concatenate([upper, -desired[:, None] * lower], axis=1)
    if not np.abs(matrix).max() < LARGEST_VALUE:
        return None
    scale = arithmetic.norms(matrix, axis=0)
    if (scale == 0.0).any():
        return None
    direction = arithmetic.smallest_direction(matrix / scale)
    vector = direction.vector / scale
    is_exact = direction.smallest < 1e-9 * direction.largest
    if is_exact:
        vector = np.where(np.abs(vector) * scale < 1e-7 * np.abs(vector * scale).max(), 0.0, vector)
        vector = _in_plain_units(vector)
    else:
        vector = vector / vector[np.abs(vector * scale).argmax()]
    with np.errstate(all="ignore"):
        above, under = np.split(vector, [len(above_terms)])
        value = arithmetic.product(upper, above) / arithmetic.product(lower, under)
        error = float(np.sum(weight * (value - desired) ** 2))
    if not math.isfinite(error):
        return None
    return (
        _polynomial_of(above_terms, above),
        _polynomial_of(below_terms, under),
        error,
    )


def sparse_rational(
    writer: Writer,
    X: Floats,
    desired: Floats,
    weight: Floats,
    above: Polynomial,
    below: Polynomial,
) -> tuple[Polynomial, Polynomial, float] | None:
    """Drop or round coefficients of P / Q while the description gets shorter, as `polynomial` does.

    P - desired (Q - u) = desired u is linear in all coefficients but that of u, the largest term of Q. An error of P is
    one of P / Q, times Q: the weights make up for that. Returns P, Q and the weighted squared error; None if they
    predict worse than all terms, by generalised cross-validation (Craven & Wahba 1979).
    """
    upper, lower = design(X, above.exponents), design(X, below.exponents)
    value = arithmetic.product(lower, np.array(below.coefficients))
    sizes = arithmetic.norms(lower * np.array(below.coefficients), axis=0)
    unit = int(np.argmax(sizes))
    rest = [i for i in range(len(below.exponents)) if i != unit]
    with np.errstate(all="ignore"):
        root = np.sqrt(weight / weight.mean()) * (abs(below.coefficients[unit]) / np.abs(value))
        matrix = root[:, None] * np.concatenate([upper, -desired[:, None] * lower[:, rest]], axis=1)
        goal = root * desired * lower[:, unit]
    if not (np.abs(matrix).max(initial=0.0) < LARGEST_VALUE and np.abs(goal).max() < LARGEST_VALUE):
        return None
    scale = arithmetic.norms(matrix, axis=0)
    if (scale == 0.0).any():
        return None
    terms = [*above.exponents, *(below.exponents[i] for i in rest)]
    reduction = _Reduction(matrix / scale, goal, scale, np.array([token_cost(writer, powers) for powers in terms]))
    reduction.run(is_plain_first=False)
    if not math.isfinite(reduction.length):
        return None
    over, under = np.split(reduction.coefficients, [len(above.exponents)])
    under = np.insert(under, unit, 1.0)
    divided = ((np.array(above.coefficients), value), (over, arithmetic.product(lower, under)))
    with np.errstate(all="ignore"):
        with_all, error = (
            float(np.sum(weight * (arithmetic.product(upper, factors) / divisor - desired) ** 2))
            for factors, divisor in divided
        )
        rounding = _RELATIVE_ROUNDING * _RELATIVE_ROUNDING * float(np.sum(weight * desired * desired))
    count = len(desired)
    shares = [1.0 - free / count for free in (reduction.free, len(terms))]
    if not math.isfinite(error) or min(shares) <= 0.0:
        return None
    here, there = ((one + rounding) / (share * share) for one, share in zip((error, with_all), shares, strict=True))
    if not here <= _CHANCE_FACTOR * there:
        return None
    return _polynomial_of(above.exponents, over), _polynomial_of(below.exponents, under), error


def written_quotient(writer: Writer, above: Polynomial, below: Polynomial) -> Row:
    """Write P / Q; if Q is one monomial, as a sum of powers if that is shorter, such as a + b / x."""
    whole = writer.apply("div", written(writer, above), written(writer, below))
    if len(below.exponents) != 1 or not writer.has("add", "mul"):
        return whole
    (under,), (unit,) = below.exponents, below.coefficients
    terms = []
    for powers, factor in zip(above.exponents, above.coefficients, strict=True):
        left = [power - other for power, other in zip(powers, under, strict=True)]
        over, beneath = (
            [writer.power(writer.columns[v], sign * power) for v, power in enumerate(left) if sign * power > 0]
            for sign in (1, -1)
        )
        term = writer.scaled(factor / unit, writer.product(over)) if over else writer.number(factor / unit)
        terms.append(writer.apply("div", term, writer.product(beneath)) if beneath else term)
    return min(whole, writer.total(terms[::-1]), key=len)


def _polynomial_of(exponents: Sequence[Exponents], coefficients: Floats) -> Polynomial:
    kept = [i for i, value in enumerate(coefficients) if value != 0.0]
    return Polynomial(tuple(exponents[i] for i in kept), tuple(float(coefficients[i]) for i in kept))


def _in_plain_units(vector: Floats) -> Floats:
    """Divide by the entry that leaves the cheapest numbers, and round to simple numbers that are equal to rounding."""
    best, best_cost = vector, math.inf
    for unit in vector[vector != 0.0]:
        scaled = vector / unit
        rounded, total = [], 0.0
        for value, near in zip(scaled.tolist(), simple_numbers.near(scaled, 1e-6 * np.abs(scaled)), strict=True):
            number = min((price, number) for number, price in near)[1] if near else value
            price = simple_numbers.cost(number) if near or not value else None
            rounded.append(number)
            total += 20.0 if price is None else price
            if total >= best_cost:  # no price is negative
                break
        else:
            best, best_cost = np.array(rounded), total
    return best
