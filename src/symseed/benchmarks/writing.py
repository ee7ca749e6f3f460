"""A short writing of a target in the tokens of its problem: the proof that a search could have found it.

A target is brought into a normal form, a sum of terms, each a number times powers of atoms (a variable, a function of a
sum, a sum in brackets). Each sum and each term can be written in several ways: terms one by one, with a common factor
or with one variable factored out (Horner); a number as a token, or made of a variable, as 2 = (x + x) / x. The shortest
is taken. A shorter writing may exist; this one is a bound from above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from symseed.benchmarks.wording import LARGEST, UnwritableError, Wording, Words, shortest_of
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.row import Row
from symseed.language.tokens import TokenKind

Part = TypeVar("Part")

_SHIFTS = 2
"""Number of times that powers of a variable are moved into the brackets of a term."""
_SERIES = 4
"""Fewest terms of a geometric series that is written as a fraction: of fewer, the sum is shorter."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A variable, or a function of a sum; the function "" is brackets."""

    name: str
    of: Sum | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A number times powers of atoms."""

    number: float
    powers: Powers = ()
    """Atoms and their exponents, in a fixed order."""

    def times(self, other: Term) -> Term:
        """Return the product."""
        exponents: dict[Atom, float] = {}
        for atom, exponent in (*self.powers, *other.powers):
            exponents[atom] = exponents.get(atom, 0.0) + exponent
        left = ((atom, exponent) for atom, exponent in exponents.items() if exponent)
        return Term(self.number * other.number, _ordered(left))

    def raised(self, exponent: float) -> Term:
        """Return the power."""
        number = 1.0 if self.number == 1.0 else math.pow(self.number, exponent)
        return Term(number, _ordered((atom, own * exponent) for atom, own in self.powers))


Powers: TypeAlias = tuple[tuple[Atom, float], ...]
Sum: TypeAlias = tuple[Term, ...]
"""Terms in a fixed order, so that equal sums are equal."""
_ONE = Term(1.0)


def _ordered(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=repr))


def _alone(atom: Atom, exponent: float = 1.0, number: float = 1.0) -> Term:
    """Return a term of one atom."""
    return Term(number, ((atom, exponent),))


def shortest(target: Expression, library: Library) -> Expression | None:
    """Return the shortest writing of a target that was found; None if there is none in these tokens."""
    try:
        words = _Writer(library).sum_of(_normal(target))
    except (UnwritableError, ValueError, OverflowError, ZeroDivisionError):
        return None
    row = _row(words, library)
    return None if row is None else Expression(library, row)


# --- The normal form --------------------------------------------------------------------------------------------------


def _normal(target: Expression) -> Sum:
    """Read an expression from its last token to its first, so that arguments come before their operator."""
    stack: list[Sum] = []
    for token, constant in zip(reversed(target.tokens), reversed(target.constants), strict=True):
        if token.kind is TokenKind.OPERATOR:
            stack.append(_applied(token.name, [stack.pop() for _ in range(token.arity)]))
        elif token.kind is TokenKind.VARIABLE:
            stack.append((_alone(Atom(token.name)),))
        else:
            stack.append(_added([Term(token.value if token.kind is TokenKind.LITERAL else constant)]))
    (whole,) = stack
    return whole


def _applied(name: str, arguments: Sequence[Sum]) -> Sum:
    first, second = arguments[0], arguments[-1]
    fixed = {"square": 2.0, "cube": 3.0, "quartic": 4.0, "inv": -1.0, "sqrt": 0.5}
    match name:
        case "add":
            return _added([*first, *second])
        case "sub":
            return _added([*first, *_negated(second)])
        case "neg":
            return _negated(first)
        case "mul":
            return _added([_one_term(first).times(_one_term(second))])
        case "div":
            return _added([_one_term(first).times(_one_term(second).raised(-1.0))])
        case "expneg":
            return _applied("exp", [_negated(first)])
        case "pow":
            exponent = _number(second)
            if exponent is None:
                return _applied("exp", [_applied("mul", [second, _applied("log", [first])])])
            return _added([_one_term(first).raised(exponent)])
        case _ if name in fixed:
            return _added([_one_term(first).raised(fixed[name])])
        case "exp" if first and all(term.number < 0.0 for term in first):
            return (_alone(Atom("exp", _negated(first)), -1.0),)
        case _ if len(arguments) == 1:
            return (_alone(Atom(name, first)),)
    raise UnwritableError


def _added(terms: Iterable[Term]) -> Sum:
    """Combine terms that differ in their number only."""
    numbers: dict[Powers, float] = {}
    for term in terms:
        numbers[term.powers] = numbers.get(term.powers, 0.0) + term.number
    return _ordered(Term(number, powers) for powers, number in numbers.items() if number)


def _negated(whole: Sum) -> Sum:
    return _ordered(Term(-term.number, term.powers) for term in whole)


def _one_term(whole: Sum) -> Term:
    """Return a sum as one term: itself, or in brackets."""
    if len(whole) == 1:
        return whole[0]
    return _alone(Atom("", whole)) if whole else Term(0.0)


def _number(whole: Sum) -> float | None:
    """Return the value of a sum without atoms."""
    if not whole:
        return 0.0
    term = _one_term(whole)
    return None if term.powers else term.number


# --- Writing ----------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes normal forms over one library; every sum and term is written once."""

    def __init__(self, library: Library) -> None:
        self._wording = Wording(library)
        self._sums: dict[Sum, Words] = {}

    def sum_of(self, whole: Sum) -> Words:
        """Write a sum."""
        if whole not in self._sums:
            self._sums[whole] = _least(self._ways(whole))
        return self._sums[whole]

    def _ways(self, whole: Sum) -> Iterable[Words | None]:
        if len(whole) <= 1:
            term = _one_term(whole)
            yield self._term(term)
            return
        if all(term.number < 0.0 for term in whole):
            yield self._wording.minus(self.sum_of(_negated(whole)))
            if not self._wording.has_constants:
                return
        yield self._one_by_one(whole)
        common = _common(whole)
        if common != _ONE:
            rest = _added(term.times(common.raised(-1.0)) for term in whole)
            yield self._term(common.times(_one_term(rest)))
        for atom in dict.fromkeys(atom for term in whole for atom, _ in term.powers):
            for exponent in (1.0, -1.0):
                yield from self._factored(whole, _alone(atom, exponent))
            yield self._geometric(whole, atom)

    def _one_by_one(self, whole: Sum) -> Words | None:
        """Write the terms one after another, those with a minus last."""
        written: Words | None = None
        for term in sorted(whole, key=lambda term: (term.number < 0.0, not term.powers, repr(term))):
            size = self._term(
                term if self._wording.has_constants and written is None else Term(abs(term.number), term.powers)
            )
            if size is None:
                return None
            if written is None:
                written = size
            else:
                written = self._wording.applied("sub" if term.number < 0.0 else "add", written, size)
                if written is None:
                    return None
        return written

    def _factored(self, whole: Sum, factor: Term) -> Iterable[Words | None]:
        """Write factor * (what has it) + (what has it not); the factor itself may stand on either side."""
        ((atom, sign),) = factor.powers
        having = [term for term in whole if sign * dict(term.powers).get(atom, 0.0) >= 1.0]
        for inside in (having, [term for term in having if term.powers != factor.powers]):
            outside = tuple(term for term in whole if term not in inside)
            if not inside or not outside:
                continue
            rest = _added(term.times(factor.raised(-1.0)) for term in inside)
            is_negative = all(term.number < 0.0 for term in rest)
            product = self._term(factor.times(_one_term(_negated(rest) if is_negative else rest)))
            if product is None:
                continue
            if is_negative:
                yield self._wording.applied("sub", self.sum_of(outside), product)
            elif all(term.number < 0.0 for term in outside):
                yield self._wording.applied("sub", product, self.sum_of(_negated(outside)))
            else:
                yield self._wording.applied("add", self.sum_of(outside), product)

    def _geometric(self, whole: Sum, atom: Atom) -> Words | None:
        """Write x^a + ... + x^b as (x^(b + 1) - x^a) / (x - 1)."""
        exponents = sorted(dict(term.powers).get(atom, 0.0) for term in whole)
        count, first = len(whole), exponents[0]
        series = _added(Term(1.0, ((atom, first + k),) if first + k else ()) for k in range(count))
        if count < _SERIES or whole != series:
            return None
        above = _added([_alone(atom, first + count), Term(-1.0, ((atom, first),) if first else ())])
        below = _added([_alone(atom), Term(-1.0)])
        return self._term(_one_term(above).times(_one_term(below).raised(-1.0)))

    def _term(self, term: Term) -> Words | None:
        """Write one term."""
        if not term.powers:
            return self._wording.number(term.number)
        if term.number < 0.0 and not self._wording.has_constants:
            positive = self._term(Term(-term.number, term.powers))
            return None if positive is None else self._wording.minus(positive)
        bodies = [body for body in self._bodies(term) if body is not None]
        number = term.number
        if number == 1.0:
            return _least(bodies) if bodies else None
        ways: list[Words | None] = []
        for body in bodies:
            if number == int(number) and 2 <= number <= LARGEST:
                ways.append(self._wording.repeated(body, int(number)))
            factor, divisor = self._wording.number(number), self._wording.number(1.0 / number)
            ways.append(None if factor is None else self._wording.applied("mul", factor, body))
            ways.append(None if divisor is None else self._wording.applied("div", body, divisor))
        return shortest_of(ways)

    def _bodies(self, term: Term, shifts: int = _SHIFTS) -> Iterable[Words | None]:
        """Write the powers of a term; if it is a fraction, also with powers of a variable moved into its brackets."""
        yield self._body(term.powers)
        if not any(exponent == -1.0 and not atom.name for atom, exponent in term.powers):
            return
        for atom, exponent in term.powers:
            if shifts == 0 or atom.name or atom.of is None or abs(exponent) != 1.0:
                continue
            rest = term.times(_alone(atom, -exponent))
            for variable in dict.fromkeys(inner for part in atom.of for inner, _ in part.powers if inner.of is None):
                # A factor above becomes part of its brackets; below, both sides of the fraction are divided by it.
                most = dict(rest.powers).get(variable, 0.0) if exponent > 0.0 else _highest(atom.of, variable)
                for shift in range(1, min(int(most), LARGEST) + 1):
                    divided = _alone(variable, -float(shift))
                    inner = _added(part.times(divided.raised(-exponent)) for part in atom.of)
                    moved = rest.times(divided).times(_one_term(inner).raised(exponent))
                    yield from self._bodies(moved, shifts - 1)

    def _body(self, powers: Powers) -> Words | None:
        """Write powers as a product or a fraction."""
        above: list[Words] = []
        below: list[Words] = []
        for atom, exponent in powers:
            power = self._power(atom, abs(exponent))
            other = self._power(atom, exponent) if exponent < 0.0 else None
            if exponent > 0.0 and power is not None:
                above.append(power)
            elif other is not None and (power is None or len(other) <= len(power) + 1):
                above.append(other)
            elif power is not None:
                below.append(power)
            else:
                return None
        if not below:
            return self._wording.product(above)
        divisor = self._wording.product(below)
        if divisor is None:
            return None
        if above:
            product = self._wording.product(above)
            return None if product is None else self._wording.applied("div", product, divisor)
        one = self._wording.number(1.0)
        whole = None if one is None else self._wording.applied("div", one, divisor)
        return shortest_of([self._wording.applied("inv", divisor), whole])

    def _power(self, atom: Atom, exponent: float) -> Words | None:
        if atom.name == "exp" and atom.of is not None:
            ways = [self._exponential(_ordered(Term(term.number * exponent, term.powers) for term in atom.of))]
            if exponent == int(exponent) and 2 <= exponent <= LARGEST:
                ways.append(self._wording.raised(self._atom(atom), int(exponent)))
            return shortest_of(ways)
        if exponent < 0.0:
            return None
        base = self._atom(atom)
        if exponent == int(exponent):
            return self._wording.raised(base, int(exponent)) if exponent <= LARGEST + 1 else None
        if exponent == 0.5 and "sqrt" in self._wording.operators:
            return ("sqrt", *base)
        logarithm = Atom("log", (_alone(atom),) if atom.name else atom.of)
        return self._exponential((_alone(logarithm, number=exponent),))

    def _exponential(self, of: Sum) -> Words | None:
        negative = self.sum_of(_negated(of)) if all(term.number < 0.0 for term in of) else None
        if negative is not None and "expneg" in self._wording.operators:
            return ("expneg", *negative)
        return None if "exp" not in self._wording.operators else ("exp", *self.sum_of(of))

    def _atom(self, atom: Atom) -> Words:
        if atom.of is None:
            return (atom.name,)
        if not atom.name:
            return self.sum_of(atom.of)
        if atom.name not in self._wording.operators:
            raise UnwritableError
        return (atom.name, *self.sum_of(atom.of))


def _highest(whole: Sum, atom: Atom) -> float:
    return max(dict(term.powers).get(atom, 0.0) for term in whole)


def _common(whole: Sum) -> Term:
    """Return what every term of a sum has as a factor."""
    exponents = [dict(term.powers) for term in whole]
    shared = dict.fromkeys(atom for powers in exponents for atom in powers)
    least = {atom: min(powers.get(atom, 0.0) for powers in exponents) for atom in shared}
    sizes = {abs(term.number) for term in whole}
    number = next(iter(sizes)) if len(sizes) == 1 else 1.0
    return Term(number, _ordered((atom, exponent) for atom, exponent in least.items() if exponent))


def _least(ways: Iterable[Words | None]) -> Words:
    found = shortest_of(ways)
    if found is None:
        raise UnwritableError
    return found


def _row(words: Words, library: Library) -> Row | None:
    """Return words as a row of the library; numbers become its constants."""
    places: Mapping[str, int] = {token.name: i for i, token in enumerate(library.tokens)}
    constants = library.ids_of_kind(TokenKind.CONSTANT)
    leaves = []
    for word in words:
        if isinstance(word, str):
            if word not in places:
                return None
            leaves.append(Row.leaf(places[word]))
        elif constants:
            leaves.append(Row.leaf(constants[0], word))
        else:
            return None
    return Row.joined(leaves)
