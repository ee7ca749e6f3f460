"""Formulas as people read them: few digits, fractions and multiples of pi, and the shortest form.

A shown formula is text that the parser reads. Its numbers have as many digits as the data determine: rounding changes
the predictions much less than the noise in the data does. `str(expression)` has every digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.export import algebra
from symseed.export.algebra import Call, Factor, InexactError, Sum, Term, Variable
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.row import Row
from symseed.language.spelling import ALL_DIGITS, DIGITS, Simple, decimal, rounded
from symseed.language.tokens import OPERATORS, constant

MOST_TOKENS = 150
"""Longest formula that is rewritten: chosen by hand, a bound on time."""
_DEEPEST = 40
"""Deepest formula that is rewritten: the functions are recursive, so the depth must be bounded. Chosen by hand."""
_MOST_ROWS = 1_000
"""Most samples at which rounded formulas are compared with the exact one: chosen by hand, a bound on time."""
_FEWEST_DIGITS = 3
"""Fewest digits of a number that is not shorter itself: chosen by hand."""
_DEVIATIONS = 0.25
"""Largest change of a number by rounding, in standard deviations of that number alone: chosen by hand."""
_READABLE = 1e-6
"""Share of y's spread that rounding may change even if the data have no noise: nobody reads more digits."""
_STEP = 2.0**-20
"""Relative change of a number by which its effect on the predictions is measured."""
_JOINT = 2.0
"""Factor by which joint rounding may change predictions more than independent rounding: chosen by hand."""

_FRACTION_TOLERANCE = 1e-13
"""Relative difference up to which a number equals a simple fraction: the rounding of a few products."""

_Piece: TypeAlias = str | float
"""Text, or a number whose digits are not decided yet."""


def to_text(expression: Expression, dataset: Dataset | None = None, samples: int | None = None) -> str:
    """Return a formula as text for people, which `from_text` reads.

    Args:
        dataset: the data that the formula was fitted to. Without them, numbers have four digits, and brackets stay
            as they are, since the digits that a rewritten formula needs are not known.
        samples: how many samples there were, of which `dataset` has some; None: it has all.
    """
    rounding = None if dataset is None else _Rounding.of(expression, dataset, samples or len(dataset))
    if len(expression) > MOST_TOKENS or expression.depth > _DEEPEST:
        return _as_it_is(expression, rounding)
    writer = _Writer(has_pi=all(token.name != "pi" for token in expression.library.variables))
    try:
        plain = algebra.sum_of(expression)
        if rounding is None:
            return _text(writer.sum(plain), DIGITS)
        rewritten = algebra.shortest(plain, lambda total: len(_text(writer.sum(total), DIGITS)))
    except InexactError:
        return _as_it_is(expression, rounding)
    # The shortest form may need more digits than the unchanged one.
    forms = dict.fromkeys([rewritten, plain])
    texts = [text for form in forms if (text := rounding.rounded(writer.sum(form))) is not None]
    return min(texts, key=len) if texts else _as_it_is(expression, rounding)


def from_text(text: str, library: Library) -> Expression:
    """Read a shown formula, over a library with all operators besides those of `library`.

    Raises:
        ParseError: saying where in the text, and what was expected there.
    """
    own = [token for token in library.tokens if token.function is not None]
    return Expression.parse(text, Library((*library.variables, *own, *OPERATORS.values(), constant())))


def _as_it_is(expression: Expression, rounding: _Rounding | None) -> str:
    """A formula with all its brackets, and its constants to a few digits, or to more if the data determine more."""
    for digits in range(DIGITS, ALL_DIGITS):
        constants = tuple(rounded(value, digits) for value in expression.constants)
        text = str(Expression(expression.library, Row(expression.ids, constants)))
        if rounding is None or rounding.is_near(text, len(constants)):
            return text
    return str(expression)


# --- Digits ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rounding:
    """Measures how far a text may be from the formula that it shows."""

    library: Library
    X: Floats
    exact: Floats
    """Predictions of the formula, in units of the largest y."""
    unit: float
    chance: float
    """Largest root mean square of the change of the predictions by one number."""
    floor: float
    """Largest root mean square of the change by all numbers together, if the data have no noise."""

    @classmethod
    def of(cls, expression: Expression, dataset: Dataset, samples: int) -> _Rounding | None:
        """Return the rounding of so many samples, some of them given; None if the formula has no value at any."""
        step = -(-len(dataset) // _MOST_ROWS)
        X, y = dataset.X[::step], dataset.y[::step]
        predicted = expression.evaluate(X)
        counts = np.isfinite(predicted) & (dataset.weights[::step] > 0.0)
        if not counts.any():
            return None
        X, y, predicted = X[counts], y[counts], predicted[counts]
        unit = float(np.abs([y, predicted]).max()) or 1.0
        y, predicted = y / unit, predicted / unit
        error = _size(y - predicted)
        spread = _size(y - y.mean()) or 1.0
        chance = _DEVIATIONS * error / math.sqrt(samples)
        return cls(expression.library, X, predicted, unit, chance, _READABLE * spread)

    def is_near(self, text: str, numbers: int) -> bool:
        """Return whether a text with `numbers` rounded numbers has the formula's values."""
        return self._change(text) <= _JOINT * max(self.floor, self.chance * math.sqrt(max(1, numbers)))

    def _change(self, text: str) -> float:
        """Root mean square of the change of predictions; infinite if a value is missing."""
        values = from_text(text, self.library).evaluate(self.X) / self.unit
        change = _size(values - self.exact)
        return change if math.isfinite(change) else math.inf

    def rounded(self, pieces: Sequence[_Piece]) -> str | None:
        """Return a text with the fewest digits; None if no text with all digits has the formula's values."""
        numbers = [piece for piece in pieces if isinstance(piece, float)]
        each = max(self.chance, self.floor / math.sqrt(max(1, len(numbers))))
        digits = [_digits(value, each * self._reach(pieces, place)) for place, value in enumerate(numbers)]
        for more in range(ALL_DIGITS - _FEWEST_DIGITS + 1):
            text = _text(pieces, *(min(count + more, ALL_DIGITS) for count in digits))
            if self.is_near(text, len(numbers)):
                return text
        return None

    def _reach(self, pieces: Sequence[_Piece], place: int) -> float:
        """Change of a number per change of the predictions."""
        numbers = [index for index, piece in enumerate(pieces) if isinstance(piece, float)]
        index = numbers[place]
        value = pieces[index]
        assert isinstance(value, float), "it was found by its type"
        moved = [*pieces[:index], value * (1.0 + _STEP), *pieces[index + 1 :]]
        change = self._change(_text(moved, *[ALL_DIGITS] * len(numbers)))
        return _STEP * value / change if change else math.inf


def _size(values: Floats) -> float:
    return math.sqrt(float(np.mean(values * values)))


def _digits(value: float, reach: float) -> int:
    """The fewest digits with which a number is rounded by at most `reach`."""
    for count in range(_FEWEST_DIGITS, ALL_DIGITS):
        if abs(rounded(value, count) - value) <= reach:
            return count
    return ALL_DIGITS


# --- Text ------------------------------------------------------------------------------------------------------------


def _text(pieces: Sequence[_Piece], *digits: int) -> str:
    """Return pieces as text; `digits` are those of each number, or one count for all."""
    counts = iter(digits if len(digits) != 1 else ())
    return "".join(
        piece if isinstance(piece, str) else decimal(piece, next(counts, digits[-1] if digits else DIGITS))
        for piece in pieces
    )


class _Writer:
    """Writes sums of products as pieces of text."""

    def __init__(self, *, has_pi: bool) -> None:
        self._has_pi = has_pi

    def sum(self, total: Sum) -> list[_Piece]:
        """Write a sum, a positive term first if there is one."""
        terms = list(total.terms)
        first = next((place for place, term in enumerate(terms) if term.coefficient >= 0.0), 0)
        terms.insert(0, terms.pop(first))
        out: list[_Piece] = []
        for place, term in enumerate(terms):
            sign = "-" if term.coefficient < 0.0 else "+"
            out.append(f" {sign} " if place else sign.strip("+"))
            out += self._term(term)
        return out

    def _term(self, term: Term) -> list[_Piece]:
        """Write a term without its sign."""
        above, below = self._coefficient(abs(term.coefficient))
        for factor, power in sorted(term.factors, key=_rank):
            (above if power > 0 else below).append(self._raised(factor, abs(power)))
        if above[:1] == [["1"]] and len(above) > 1:
            del above[0]
        out = _joined(above)
        if not below:
            return out
        return [*out, "/", *(below[0] if len(below) == 1 else ["(", *_joined(below), ")"])]

    def _coefficient(self, value: float) -> tuple[list[list[_Piece]], list[list[_Piece]]]:
        """The factors of a coefficient above and below the division."""
        simple = Simple.of(value, _FRACTION_TOLERANCE)
        if simple is None or (simple.is_pi and not self._has_pi):
            return [[value]], []
        above: list[list[_Piece]] = [[str(simple.p)], ["pi"]] if simple.is_pi else [[str(simple.p)]]
        if simple.is_pi and simple.p == 1:
            del above[0]
        return above, [[str(simple.q)]] if simple.q > 1 else []

    def _raised(self, factor: Factor, power: int) -> list[_Piece]:
        base = self._atom(factor)
        if power == 1:
            return base
        is_power = isinstance(factor, Call) and factor.name == "pow"
        return [*(["(", *base, ")"] if is_power else base), f"^{power}"]

    def _atom(self, factor: Factor) -> list[_Piece]:
        if isinstance(factor, Variable):
            return [factor.name]
        if isinstance(factor, Sum):
            return ["(", *self.sum(factor), ")"]
        if factor.name == "pow":
            base, exponent = factor.arguments
            return [*self._operand(base), "^", *self._operand(exponent, is_exponent=True)]
        out: list[_Piece] = [f"{factor.name}("]
        for place, argument in enumerate(factor.arguments):
            out += [*([", "] if place else []), *self.sum(argument)]
        return [*out, ")"]

    def _operand(self, total: Sum, *, is_exponent: bool = False) -> list[_Piece]:
        """Write a side of `^`, with brackets if it needs them."""
        written = self.sum(total)
        value = total.number
        if value is not None:
            is_bare = "/" not in written and "*" not in written and (is_exponent or value >= 0.0)
        else:
            (term, *others) = total.terms
            is_bare = not others and term.coefficient == 1.0 and len(term.factors) == 1 and _is_name(*term.factors[0])
        return written if is_bare else ["(", *written, ")"]


def _is_name(factor: Factor, power: int) -> bool:
    return power == 1 and (isinstance(factor, Variable) or (isinstance(factor, Call) and factor.name != "pow"))


def _rank(pair: tuple[Factor, int]) -> int:
    """Order of factors: variables, calls, brackets."""
    return (Variable, Call, Sum).index(type(pair[0]))


def _joined(factors: Sequence[Sequence[_Piece]]) -> list[_Piece]:
    return [piece for place, factor in enumerate(factors) for piece in ([*(["*"] if place else []), *factor])]
