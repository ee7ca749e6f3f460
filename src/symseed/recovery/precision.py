"""Values of formulas to 60 digits, and points at which two formulas differ.

Operators have the same meaning as in the core, over real numbers. Points are drawn beyond the data's range, within it,
and near the origin; they are the same each time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError
from symseed.export.libraries import LARGEST_BITS, OutOfReachError, Reals, UndefinedError, Value, decimal
from symseed.language.expression import Expression
from symseed.language.tokens import TokenKind
from symseed.text import for_message

AGREEMENT = 1e-30
"""Relative difference up to which values in high precision count as equal."""

_WIDENING = 3.0
"""Half width of the wide range, in half widths of the data's range: chosen by hand."""
_POINTS = {"wide": 24, "own": 12, "origin": 12}
"""Number of points in the wide range, in the data's own range and near the origin: chosen by hand."""
_DRAWS_PER_POINT = 8
"""Most draws per point, since the target may have no value at a draw: chosen by hand."""
_ENOUGH_POINTS = 8
"""Number of points below which the test inputs themselves are compared too: chosen by hand."""
_DIGITS, _MORE_DIGITS = 60, 240
"""Decimal digits of a comparison, and of its confirmation: chosen by hand."""
_ROUNDING = 1e-100  # relative difference that is rounding, at `_MORE_DIGITS` digits
_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of comparing two expressions, point by point."""

    points: list[list[float]]  # points at which both were compared
    largest: float  # largest relative difference
    evidence: str
    signs: list[int]  # of each variable: 1 or -1 if only that sign was tried, otherwise 0
    condition: str  # the same in words


def compare(expression: Expression, target: Expression, test: Dataset) -> Comparison:
    """Compare where the target has a value: beyond the data's range, within it, and near the origin.

    Raises:
        SettingsError: if one of them has a user's operator that cannot be computed to that precision.
    """
    for token in (*expression.tokens, *target.tokens):
        if token.function is not None:
            raise SettingsError(
                f"Formulas are compared to {_DIGITS} digits, but `{token.name}` is only known as a function of arrays. "
                "Write it with arithmetic and NumPy's exp, log, sqrt, sin, cos, tan, tanh, abs, minimum and maximum."
            )
    comparer = _Comparer(expression, target, test.names)
    domain = _Domain(test)
    rng = np.random.default_rng(_SEED)
    for group, wanted in _POINTS.items():
        box = domain.boxes[group]
        draws = (rng.uniform(*box) for _ in range(_DRAWS_PER_POINT * wanted))
        # In the data's range the expression must have a value; elsewhere a formula such as exp(log(x)) may have none.
        comparer.compare(draws, wanted, needs_value=group == "own")
    if len(comparer.points) < _ENOUGH_POINTS:
        comparer.compare(iter(test.X), _ENOUGH_POINTS, needs_value=True)
    signs = [int(sign) for sign in domain.signs]
    used = sorted({token.column for token in (*expression.tokens, *target.tokens) if token.kind is TokenKind.VARIABLE})
    bounds = [f"{for_message(test.names[i])} {'>' if signs[i] > 0 else '<'} 0" for i in used if signs[i]]
    bounds += ["where it has a value"] if comparer.gaps else []
    return Comparison(
        points=comparer.points,
        largest=comparer.largest if comparer.points else math.nan,
        evidence=comparer.evidence,
        signs=signs,
        condition=f" (for {', '.join(bounds)})" if bounds else "",
    )


class _Domain:
    """Boxes from which points are drawn, as (lower (V,), upper (V,)); a variable keeps its sign if it has one."""

    def __init__(self, test: Dataset) -> None:
        low, high = test.X.min(axis=0), test.X.max(axis=0)
        self.signs = np.where((low >= 0.0) & (high > 0.0), 1, np.where((high <= 0.0) & (low < 0.0), -1, 0))
        middle = low / 2.0 + high / 2.0
        half = high / 2.0 - low / 2.0
        half = np.where(half > 0.0, half, np.where(middle != 0.0, np.abs(middle) / 2.0, 1.0))
        width = np.minimum(_WIDENING * half, np.finfo(np.float64).max / 4.0)
        ones = np.ones_like(low)
        self.boxes = {
            "wide": self._signed(middle - width, middle + width),
            "own": (np.minimum(low, middle - half), np.maximum(high, middle + half)),
            "origin": self._signed(-2.0 * ones, 2.0 * ones),
        }

    def _signed(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        upper = np.where(self.signs < 0, np.minimum(high, 0.0), high)
        return np.where(self.signs > 0, np.maximum(low, 0.0), low), upper


class _Comparer:
    """The state of a comparison: the points so far, and the largest difference among them."""

    def __init__(self, expression: Expression, target: Expression, names: Sequence[str]) -> None:
        import mpmath

        context = mpmath.MPContext()
        self.expression = _Program(expression, context)
        self.target = _Program(target, context)
        self.names = names
        self.used = sorted(self.expression.columns | self.target.columns)
        self.points: list[list[float]] = []
        self.largest = 0.0
        self.worst: list[float] = []
        self.gaps = 0  # points at which only the target has a value

    def compare(self, points: Iterator[Floats], wanted: int, *, needs_value: bool) -> None:
        """Compare at some more points, until there are as many as wanted where both can be computed."""
        found = 0
        while found < wanted and (point := next(points, None)) is not None:
            place = [float(x) for x in point]
            difference = self._difference(place, needs_value)
            if difference is not None:
                found += 1
                self.points.append(place)
                if difference > self.largest:
                    self.largest, self.worst = difference, place

    def _difference(self, point: list[float], needs_value: bool) -> float | None:
        """Return the relative difference, infinite if a value is missing; None if the two cannot be compared."""
        try:
            wanted = self.target.value(point, _DIGITS)
        except (UndefinedError, OutOfReachError):
            return None
        try:
            given = self.expression.value(point, _DIGITS)
            relative = _relative(given, wanted)
            if self.largest > AGREEMENT or relative <= AGREEMENT:
                return relative
            return self._confirmed(point, abs(given - wanted))
        except UndefinedError:
            if needs_value:
                return math.inf
            self.gaps += 1
            return None
        except OutOfReachError:
            return None

    def _confirmed(self, point: list[float], before: Value) -> float:
        """Compute the first difference again with more digits: it may have been rounding."""
        given, wanted = (program.value(point, _MORE_DIGITS) for program in (self.expression, self.target))
        return 0.0 if abs(given - wanted) <= _ROUNDING * before else _relative(given, wanted)

    @property
    def evidence(self) -> str:
        """What was found, in words."""
        if not self.points:
            return "there is no point at which the two can be compared"
        if not self.worst:
            return f"equal at {len(self.points)} points"
        place = ", ".join(f"{for_message(self.names[i])} = {self.worst[i]:.6g}" for i in self.used[:5]) or "every point"
        if math.isinf(self.largest):
            return f"the expression has no value at {place}, where the target has one"
        return f"differs by {self.largest:.1e} (relative) at {place}"


def _relative(a: Value, b: Value) -> float:
    return float(abs(a - b) / max(abs(a), abs(b))) if a != b else 0.0


class _Program:
    """An expression that can be computed to any number of digits."""

    def __init__(self, expression: Expression, context: Any) -> None:
        self.context = context  # of mpmath, which has no types
        self.reals = Reals(context)
        self.operators = self.reals.operators()
        values = zip(expression.tokens, expression.constants, strict=True)
        self.steps = [
            (token, decimal(value if token.kind is TokenKind.CONSTANT else token.value))
            for token, value in reversed(list(values))
        ]
        self.columns = {token.column for token in expression.tokens if token.kind is TokenKind.VARIABLE}

    def value(self, point: Sequence[float], digits: int) -> Value:
        """Return the value at one point; intermediate values must be real and within reach, too."""
        self.context.dps = digits
        waiting: list[Value] = []
        for token, number in self.steps:
            if token.kind is TokenKind.VARIABLE:
                waiting.append(self.context.mpf(point[token.column]))
            elif token.kind is TokenKind.OPERATOR:
                result = self.operators[token.name](*(waiting.pop() for _ in range(token.arity)))
                if result and self.context.mag(result) > LARGEST_BITS:
                    raise OutOfReachError
                waiting.append(result)
            else:
                waiting.append(self.reals.number(number))
        return waiting[0]
