"""Formulas as sums of products, which can be expanded, collected and factored: for formulas that people read.

Rewriting is exact algebra up to the rounding of coefficients. A new form may have values at more points (x / x is 1 at
0), and expansion may lose digits by cancellation, so callers compare the values of a form with the formula's first.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.language.expression import Expression, written_name
from symseed.language.tokens import Token, TokenKind

MOST_TERMS = 24
"""Most terms of a product that is expanded: chosen by hand, a bound on time; longer sums are not easier to read."""
_HIGHEST_POWER = 16
"""Highest whole power that is written as a power of factors: chosen by hand."""
_HIGHEST_DEGREE = 4
"""Highest degree of a polynomial that is factored: chosen by hand."""
_CANCELLED = 1e-14
"""Share of its parts below which the sum of like terms is rounding."""
_SAME_ROOT = 1e-6
"""Relative difference, in units of the largest root, up to which two computed roots are one double root."""
_SAME_COEFFICIENT = 1e-12
"""Share of its parts by which a coefficient of the product of factors may differ from the original."""
_SIZES = (1e-290, 1e290)
"""Smallest and largest coefficient: products of others could overflow or underflow."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, by its name as the parser reads it."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operator that is not arithmetic, or a power that is not whole, with its arguments."""

    name: str
    arguments: tuple[Sum, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of at least one term; as a factor, a bracket of at least two."""

    terms: tuple[Term, ...]

    @property
    def number(self) -> float | None:
        """The value of a sum that is only a number."""
        return self.terms[0].coefficient if len(self.terms) == 1 and not self.terms[0].factors else None


Factor: TypeAlias = Variable | Call | Sum
Powers: TypeAlias = tuple[tuple[Factor, int], ...]
"""Factors, each once, with their whole powers, which are not 0."""


@dataclass(frozen=True, slots=True)
class Term:
    """A coefficient times powers of factors."""

    coefficient: float
    factors: Powers = ()


class InexactError(ArithmeticError):
    """A coefficient is too large or too small to be computed with."""


def sum_of(expression: Expression) -> Sum:
    """Return a formula as a sum of products, in the order and with the brackets that it has.

    Raises:
        InexactError: if a coefficient would overflow or underflow.
    """
    waiting: list[Sum] = []
    try:
        for token, value in zip(reversed(expression.tokens), reversed(expression.constants), strict=True):
            arguments = [waiting.pop() for _ in range(token.arity)]
            waiting.append(_applied(token, value, arguments))
    except (OverflowError, ZeroDivisionError) as error:
        raise InexactError(str(error)) from error
    return waiting[0]


def shortest(total: Sum, size: Callable[[Sum], int]) -> Sum:
    """Return the shortest form of a sum: each part unchanged, expanded, collected or factored."""

    def of_factor(factor: Factor) -> Sum:
        if isinstance(factor, Call):
            return _without_sign(factor.name, tuple(shortest(argument, size) for argument in factor.arguments))
        return shortest(factor, size) if isinstance(factor, Sum) else _one(factor)

    terms = [
        _product([_number(term.coefficient), *(_power(of_factor(factor), power) for factor, power in term.factors)])
        for term in total.terms
    ]
    inner = _added(terms)
    return min([inner, *_forms(inner, size)], key=size)


def _without_sign(name: str, arguments: tuple[Sum, ...]) -> Sum:
    """An operator of its arguments; the sign of an argument whose terms are all negative is before it, or left out."""
    if name not in (*_ODD, *_EVEN) or any(term.coefficient >= 0.0 for term in arguments[0].terms):
        return _one(Call(name, arguments))
    opposite = _one(Call(name, (_scaled(arguments[0], -1.0),)))
    return _scaled(opposite, -1.0) if name in _ODD else opposite


_ODD = ("sin", "tan", "tanh", "asin", "atan", "sinh", "asinh", "atanh", "erf", "cbrt", "sign")
"""Operators f with f(-x) = -f(x)."""
_EVEN = ("cos", "cosh", "abs", "logabs")
"""Operators f with f(-x) = f(x)."""


# --- Arithmetic ------------------------------------------------------------------------------------------------------


def _applied(token: Token, value: float, arguments: Sequence[Sum]) -> Sum:
    """Apply an operator to its arguments."""
    if token.kind is TokenKind.VARIABLE:
        return _one(Variable(written_name(token)))
    if token.arity == 0:
        return _number(value if token.kind is TokenKind.CONSTANT else token.value)
    if token.name in _ARITHMETIC:
        return _ARITHMETIC[token.name](*arguments)
    if token.name == "expneg":
        return _one(Call("exp", (_scaled(arguments[0], -1.0),)))
    exponent = arguments[1].number if token.name == "pow" else None
    if exponent is not None and exponent.is_integer() and 0.0 < abs(exponent) <= _HIGHEST_POWER:
        return _power(arguments[0], int(exponent))
    if exponent == 0.5:
        return _one(Call("sqrt", (arguments[0],)))
    return _one(Call(token.name, tuple(arguments)))


_ARITHMETIC: dict[str, Callable[..., Sum]] = {
    "add": lambda a, b: _added([a, b]),
    "sub": lambda a, b: _added([a, _scaled(b, -1.0)]),
    "mul": lambda a, b: _product([a, b]),
    "div": lambda a, b: _product([a, _power(b, -1)]),
    "neg": lambda a: _scaled(a, -1.0),
    "inv": lambda a: _power(a, -1),
    "square": lambda a: _power(a, 2),
    "cube": lambda a: _power(a, 3),
    "quartic": lambda a: _power(a, 4),
}
"""Operators that sums of products express; others are calls."""


def _number(value: float) -> Sum:
    if value != 0.0 and not _SIZES[0] <= abs(value) <= _SIZES[1]:
        raise InexactError(f"{value} is too large or too small")
    return Sum((Term(value + 0.0),))


def _one(factor: Factor) -> Sum:
    """A factor as a sum."""
    return factor if isinstance(factor, Sum) else Sum((Term(1.0, ((factor, 1),)),))


def _scaled(total: Sum, factor: float) -> Sum:
    return Sum(tuple(Term(_times(term.coefficient, factor), term.factors) for term in total.terms))


def _times(a: float, b: float) -> float:
    product = a * b
    if 0.0 not in (a, b) and not _SIZES[0] <= abs(product) <= _SIZES[1]:
        raise InexactError(f"{a} * {b} is too large or too small")
    return product


def _added(sums: Iterable[Sum]) -> Sum:
    """The sum of sums, with like terms combined."""
    found: dict[frozenset[tuple[Factor, int]], tuple[float, float, Powers]] = {}
    for term in itertools.chain.from_iterable(total.terms for total in sums):
        key = frozenset(term.factors)
        value, size, factors = found.get(key, (0.0, 0.0, term.factors))
        found[key] = value + term.coefficient, size + abs(term.coefficient), factors
    terms = [Term(value, factors) for value, size, factors in found.values() if abs(value) > _CANCELLED * size]
    return _flat(Sum(tuple(terms) or (Term(0.0),)))


def _flat(total: Sum) -> Sum:
    """A sum without a bracket around all of it."""
    if len(total.terms) > 1 or total.terms[0].coefficient != 1.0 or len(total.terms[0].factors) != 1:
        return total
    ((factor, power),) = total.terms[0].factors
    return factor if isinstance(factor, Sum) and power == 1 else total


def _product(sums: Sequence[Sum]) -> Sum:
    """The product of sums; a sum of several terms becomes a bracket."""
    coefficient = 1.0
    powers: dict[Factor, int] = {}
    for total in sums:
        (term,) = total.terms if len(total.terms) == 1 else (Term(1.0, ((total, 1),)),)
        coefficient = _times(coefficient, term.coefficient)
        for factor, power in term.factors:
            powers[factor] = powers.get(factor, 0) + power
    if coefficient == 0.0:
        return _number(0.0)
    return _flat(Sum((Term(coefficient, tuple((factor, power) for factor, power in powers.items() if power)),)))


def _power(total: Sum, power: int) -> Sum:
    """A whole power, which is not 0, of a sum."""
    if len(total.terms) > 1:
        return _flat(Sum((Term(1.0, ((total, power),)),)))
    (term,) = total.terms
    # Products, because the last bit of `**` depends on the machine.
    raised = functools.reduce(_times, [term.coefficient] * abs(power))
    coefficient = raised if power > 0 else 1.0 / raised
    return _flat(Sum((Term(coefficient, tuple((factor, own * power) for factor, own in term.factors)),)))


# --- Forms -----------------------------------------------------------------------------------------------------------


def _forms(total: Sum, size: Callable[[Sum], int]) -> Iterator[Sum]:
    """Other forms of a sum: expanded, collected, factored."""
    try:
        expanded = _expanded(total)
        if expanded is None:
            return
        yield expanded
        if len(expanded.terms) > 1:
            for factor in _shared(expanded):
                yield _collected(expanded, factor, size)
            yield from _divided(expanded)
            yield from _factored(expanded)
    except InexactError:
        return


def _expanded(total: Sum) -> Sum | None:
    """A sum with all brackets of numerators expanded, lowest powers first; None if it is too long."""
    done: list[Sum] = []
    for term in total.terms:
        parts = [Sum((Term(term.coefficient, tuple(pair for pair in term.factors if not _is_bracket(pair))),))]
        for factor, power in filter(_is_bracket, term.factors):
            assert isinstance(factor, Sum), "brackets are sums"
            for _ in range(power):
                pairs = itertools.product(_added(parts).terms, factor.terms)
                if len(_added(parts).terms) * len(factor.terms) > MOST_TERMS:
                    return None
                parts = [_product([Sum((left,)), Sum((right,))]) for left, right in pairs]
        done += parts
    terms = _added(done).terms
    if all(_degree(term) >= 0 for term in terms):
        terms = tuple(sorted(terms, key=_degree))
    return Sum(terms) if len(terms) <= MOST_TERMS else None


def _is_bracket(pair: tuple[Factor, int]) -> bool:
    return isinstance(pair[0], Sum) and pair[1] > 0


def _degree(term: Term) -> int:
    return sum(power for _, power in term.factors)


def _shared(total: Sum) -> list[Factor]:
    """Factors that two or more terms have in their numerators, or all in their denominators; most frequent first."""
    counts = Counter(factor for term in total.terms for factor, power in term.factors if power > 0)
    counts.update(
        factor
        for factor, count in Counter(f for term in total.terms for f, power in term.factors if power < 0).items()
        if count == len(total.terms)
        for _ in range(count)
    )
    return [factor for factor, count in counts.most_common() if count > 1]


def _collected(total: Sum, factor: Factor, size: Callable[[Sum], int]) -> Sum:
    """The terms that share a factor as one product, with the lowest power that they share, and the other terms."""
    powers = [dict(term.factors).get(factor, 0) for term in total.terms]
    is_below = all(power < 0 for power in powers)
    lowest = max(powers) if is_below else min(power for power in powers if power > 0)
    inside = [term for term, power in zip(total.terms, powers, strict=True) if power and (is_below or power > 0)]
    rest = [Sum((term,)) for term, power in zip(total.terms, powers, strict=True) if not (is_below or power > 0)]
    divisor = _power(_one(factor), -lowest)
    bracket = _added([_product([Sum((term,)), divisor]) for term in inside])
    again = [_collected(bracket, other, size) for other in _shared(bracket)[:1]] if len(bracket.terms) > 1 else []
    shared = _power(_one(factor), lowest)
    forms = [_added([_product([shared, form]), *rest]) for form in (bracket, *again, *_divided(bracket))]
    return min(forms, key=size)


def _divided(total: Sum) -> Iterator[Sum]:
    """The sum as a coefficient that several terms share, times a bracket."""
    for coefficient, count in Counter(abs(term.coefficient) for term in total.terms).items():
        if count > 1:
            yield _product([_number(coefficient), _scaled(total, 1.0 / coefficient)])


def _factored(total: Sum) -> Iterator[Sum]:
    """A polynomial in one factor by its roots, if they are all real."""
    factors = {factor for term in total.terms for factor, _ in term.factors}
    powers = [_degree(term) for term in total.terms]
    if len(factors) != 1 or min(powers) < 0 or not 2 <= max(powers) <= _HIGHEST_DEGREE:
        return
    (factor,) = factors
    dense = np.zeros(max(powers) + 1)
    dense[powers] = [term.coefficient for term in total.terms]
    roots = _real_roots(dense)
    if roots is None:
        return
    again, sizes = [float(dense[-1])], [abs(float(dense[-1]))]
    for root in roots:
        again = [high - root * low for high, low in zip([0.0, *again], [*again, 0.0], strict=True)]
        sizes = [high + abs(root) * low for high, low in zip([0.0, *sizes], [*sizes, 0.0], strict=True)]
    if all(abs(a - b) <= _SAME_COEFFICIENT * c for a, b, c in zip(again, dense.tolist(), sizes, strict=True)):
        brackets = [_added([_one(factor), _number(-root)]) for root in roots]
        yield _product([_number(float(dense[-1])), *brackets])


def _real_roots(dense: Floats) -> list[float] | None:
    """The real roots of a polynomial, double roots equal; None if some roots are complex."""
    real, imaginary = arithmetic.roots(dense)
    near = _SAME_ROOT * float(np.abs(real).max())
    if not np.isfinite(real).all() or (np.abs(imaginary) > near).any():
        return None
    groups: list[list[float]] = []
    for root in sorted(real.tolist()):
        if groups and root - groups[-1][-1] <= near:
            groups[-1].append(root)
        else:
            groups.append([root])
    return [sum(group) / len(group) for group in groups for _ in group]
