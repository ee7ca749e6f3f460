"""The native core once more, slowly: NumPy and plain Python, written to be read and sharing nothing with it.

Operators with their derivatives and inverses, evaluation with its failures, semantic completion, what each constraint
says about a tree, and the policy's network with its optimiser. Axis letters: M samples, K constants of a row, L
positions of a row, T tokens, H units. Also here: random rows for those who compare, and two ways to measure a
difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.special

from symseed import Expression, Failure, Library, Population
from symseed.language.functions import Expansion
from symseed.language.row import Row
from symseed.language.tokens import ALIASES, Token, TokenKind
from symseed.scoring import Validity
from symseed.space.constraints import (
    ArgumentSizes,
    Constraint,
    Dimensions,
    NeedsInput,
    Nesting,
    NoInverses,
    NoLoneConstants,
    NoNestedTrigonometry,
    Relational,
    Relationship,
    Repeat,
)
from symseed.space.dimensions import NUMBER, Dimension

Floats: TypeAlias = npt.NDArray[Any]  # float64, or longdouble where a value is to be better than that
Function: TypeAlias = Callable[..., Floats]

BLOCK = 256
"""Samples are worked through in blocks of so many; a row fails in the first block in which anything fails."""
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


# --- Operators -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operator:
    """A function of one or two arrays, and its derivative by each of them (functions of the same arrays)."""

    value: Function
    slopes: tuple[Function, ...]
    is_transcendental: bool = False
    """Whether a subnormal value other than zero is always a rounded one."""


def _constant(value: float) -> Function:
    return lambda a, *_: np.full_like(a, value)


def _each(function: Callable[[float], float]) -> Function:
    """Return a function of numbers as one of arrays."""
    return np.vectorize(function, otypes=[np.float64])


def _gamma(a: Floats) -> Floats:
    """Return gamma(a), with the flags of the C library's."""
    is_pole = (a < 0.0) & (a == np.floor(a))
    is_ordinary = ~is_pole & (np.abs(a) > 2.0**-54) & (a < 171.62) & (a > -200.0)
    value = _each(math.gamma)(np.where(is_ordinary, a, 1.0))
    value = np.where(np.abs(a) > 2.0**-54, value, np.divide(1.0, np.where(np.abs(a) > 2.0**-54, 1.0, a)))
    value = np.where(is_pole, np.sqrt(np.where(is_pole, -1.0, 1.0)), value)
    value = np.where(a >= 171.62, np.exp(np.where(a >= 171.62, 1e3, 0.0)), value)
    is_lost = (a <= -200.0) & ~is_pole
    return np.where(is_lost, np.exp(np.where(is_lost, -1e3, 0.0)), value)


def _angle(a: Floats, b: Floats) -> Floats:
    """Return the angle of (b, a), with the flag of a quotient that is too small, about which NumPy is silent."""
    is_small = np.abs(a) < b
    np.divide(np.where(is_small, a, 0.0), np.where(is_small, b, 1.0))
    return np.arctan2(a, b)


def _nothing(a: Floats, *_: Floats) -> Floats:
    return np.zeros_like(a)


OPERATORS: dict[str, Operator] = {
    "add": Operator(lambda a, b: a + b, (_constant(1.0), _constant(1.0))),
    "sub": Operator(lambda a, b: a - b, (_constant(1.0), _constant(-1.0))),
    "mul": Operator(lambda a, b: a * b, (lambda a, b: b, lambda a, b: a)),
    "div": Operator(lambda a, b: a / b, (lambda a, b: 1.0 / b, lambda a, b: -a / b / b)),
    "pow": Operator(
        lambda a, b: np.power(a, b),
        (lambda a, b: b * np.power(a, b - 1.0), lambda a, b: np.power(a, b) * np.log(a)),
        is_transcendental=True,
    ),
    "min": Operator(np.minimum, (lambda a, b: (b >= a) * 1.0, lambda a, b: (b < a) * 1.0)),
    "max": Operator(np.maximum, (lambda a, b: (b <= a) * 1.0, lambda a, b: (b > a) * 1.0)),
    "sin": Operator(np.sin, (np.cos,), is_transcendental=True),
    "cos": Operator(np.cos, (lambda a: -np.sin(a),), is_transcendental=True),
    "tan": Operator(np.tan, (lambda a: 1.0 / np.cos(a) ** 2,), is_transcendental=True),
    "exp": Operator(np.exp, (np.exp,), is_transcendental=True),
    "log": Operator(np.log, (lambda a: 1.0 / a,), is_transcendental=True),
    "sqrt": Operator(np.sqrt, (lambda a: 0.5 / np.sqrt(a),)),
    "square": Operator(lambda a: a * a, (lambda a: 2.0 * a,)),
    "cube": Operator(lambda a: a * a * a, (lambda a: 3.0 * a * a,)),
    "quartic": Operator(lambda a: (a * a) * (a * a), (lambda a: 4.0 * a * a * a,)),
    "inv": Operator(lambda a: 1.0 / a, (lambda a: -1.0 / a / a,)),
    "neg": Operator(lambda a: -a, (_constant(-1.0),)),
    "abs": Operator(np.abs, (np.sign,)),
    "tanh": Operator(np.tanh, (lambda a: 1.0 / np.cosh(a) ** 2,), is_transcendental=True),
    "sigmoid": Operator(lambda a: 1.0 / (1.0 + np.exp(-a)), (lambda a: 0.25 / np.cosh(a / 2.0) ** 2,)),
    "expneg": Operator(lambda a: np.exp(-a), (lambda a: -np.exp(-a),), is_transcendental=True),
    "logabs": Operator(lambda a: np.log(np.abs(a)), (lambda a: 1.0 / a,), is_transcendental=True),
    "asin": Operator(np.arcsin, (lambda a: 1.0 / np.sqrt(1.0 - a * a),), is_transcendental=True),
    "acos": Operator(np.arccos, (lambda a: -1.0 / np.sqrt(1.0 - a * a),), is_transcendental=True),
    "atan": Operator(np.arctan, (lambda a: 1.0 / (1.0 + a * a),), is_transcendental=True),
    "sinh": Operator(np.sinh, (np.cosh,), is_transcendental=True),
    "cosh": Operator(np.cosh, (np.sinh,), is_transcendental=True),
    "asinh": Operator(np.arcsinh, (lambda a: 1.0 / np.sqrt(1.0 + a * a),), is_transcendental=True),
    "acosh": Operator(np.arccosh, (lambda a: 1.0 / np.sqrt(a * a - 1.0),), is_transcendental=True),
    "atanh": Operator(np.arctanh, (lambda a: 1.0 / (1.0 - a * a),), is_transcendental=True),
    "log2": Operator(np.log2, (lambda a: 1.0 / (a * math.log(2.0)),), is_transcendental=True),
    "log10": Operator(np.log10, (lambda a: 1.0 / (a * math.log(10.0)),), is_transcendental=True),
    "log1p": Operator(np.log1p, (lambda a: 1.0 / (1.0 + a),), is_transcendental=True),
    "expm1": Operator(np.expm1, (np.exp,), is_transcendental=True),
    "cbrt": Operator(np.cbrt, (lambda a: 1.0 / (3.0 * np.cbrt(a) ** 2),)),
    "erf": Operator(_each(math.erf), (lambda a: 2.0 / math.sqrt(math.pi) * np.exp(-a * a),), is_transcendental=True),
    "gamma": Operator(_gamma, (lambda a: _gamma(a) * scipy.special.digamma(a),), is_transcendental=True),
    "sign": Operator(np.sign, (_nothing,)),
    "step": Operator(lambda a: np.heaviside(a, 0.0), (_nothing,)),
    "relu": Operator(lambda a: np.maximum(a, 0.0), (lambda a: (a > 0.0) * 1.0,)),
    "floor": Operator(np.floor, (_nothing,)),
    "ceil": Operator(np.ceil, (_nothing,)),
    "mod": Operator(np.mod, (_constant(1.0), lambda a, b: -np.floor(a / b))),
    "hypot": Operator(np.hypot, (lambda a, b: a / np.hypot(a, b), lambda a, b: b / np.hypot(a, b))),
    "atan2": Operator(
        _angle, (lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b)), is_transcendental=True
    ),
    "greater": Operator(lambda a, b: (a > b) * 1.0, (_nothing, _nothing)),
    "cond": Operator(lambda a, b: (a > 0.0) * b, (_nothing, lambda a, b: (a > 0.0) * 1.0)),
    "unless": Operator(lambda a, b: (a <= 0.0) * b, (_nothing, lambda a, b: (a <= 0.0) * 1.0)),
}


def _where(condition: npt.NDArray[np.bool_], value: Floats) -> Floats:
    return np.where(condition, value, np.nan)


def _leg(wanted: Floats, other: Floats) -> Floats:
    return np.sqrt(_where(wanted >= 0.0, (wanted - other) * (wanted + other)))


INVERSES: dict[str, tuple[Function, ...]] = {
    "add": (lambda wanted, b: wanted - b, lambda wanted, a: wanted - a),
    "sub": (lambda wanted, b: wanted + b, lambda wanted, a: a - wanted),
    "mul": (lambda wanted, b: wanted / b, lambda wanted, a: wanted / a),
    "div": (lambda wanted, b: wanted * b, lambda wanted, a: np.where(a == 0.0, np.nan, a / wanted)),
    "pow": (
        lambda wanted, b: np.where((wanted >= 0.0) & (b != 0.0), np.power(wanted, 1.0 / b), np.nan),
        lambda wanted, a: np.where(a > 0.0, np.log(wanted) / np.log(a), np.nan),
    ),
    "sin": (np.arcsin,),
    "cos": (np.arccos,),
    "tan": (np.arctan,),
    "exp": (np.log,),
    # The core's own exp goes up to 708, and an inverse has no other.
    "log": (lambda wanted: _where(np.abs(wanted) <= 708.0, np.exp(wanted)),),
    "sqrt": (lambda wanted: _where(wanted >= 0.0, wanted * wanted),),
    "square": (np.sqrt,),
    "cube": (np.cbrt,),
    "quartic": (lambda wanted: np.power(_where(wanted >= 0.0, wanted), 0.25),),
    "inv": (lambda wanted: 1.0 / wanted,),
    "neg": (lambda wanted: -wanted,),
    "abs": (lambda wanted: _where(wanted >= 0.0, wanted),),
    "tanh": (np.arctanh,),
    "sigmoid": (lambda wanted: np.log(wanted) - np.log1p(-wanted),),
    "expneg": (lambda wanted: -np.log(wanted),),
    "logabs": (lambda wanted: _where(np.abs(wanted) <= 708.0, np.exp(wanted)),),
    "asin": (np.sin,),
    "acos": (np.cos,),
    "atan": (np.tan,),
    "sinh": (np.arcsinh,),
    "cosh": (np.arccosh,),
    "asinh": (lambda wanted: _where(np.abs(wanted) <= 708.0, np.sinh(wanted)),),
    "acosh": (lambda wanted: _where((wanted >= 0.0) & (wanted <= 708.0), np.cosh(wanted)),),
    "atanh": (np.tanh,),
    "log2": (lambda wanted: _where(np.abs(wanted) * math.log(2.0) <= 708.0, np.exp2(wanted)),),
    "log10": (lambda wanted: _where(np.abs(wanted) * math.log(10.0) <= 708.0, np.power(10.0, wanted)),),
    "log1p": (lambda wanted: _where(wanted <= 708.0, np.expm1(wanted)),),
    "expm1": (np.log1p,),
    "cbrt": (lambda wanted: wanted * wanted * wanted,),
    "relu": (lambda wanted: _where(wanted >= 0.0, wanted),),
    "hypot": (_leg, _leg),
    "atan2": (lambda wanted, b: b * np.tan(wanted), lambda wanted, a: a / np.tan(wanted)),
}
"""By each argument: its value, on the principal branch, for which an operator gives what is wanted; functions of that
and of the other argument. Others have none."""


def flags(operator: Operator, arguments: Sequence[Floats]) -> set[str]:
    """Return the floating-point errors that NumPy meets, but for "inexact", which it does not report."""
    seen: set[str] = set()
    with np.errstate(all="call", call=lambda error, _: seen.add(error)):
        value = operator.value(*arguments)
    # Some of NumPy's vector functions are silent about an argument so small that they return it, rounded, as it is.
    if operator.is_transcendental and np.any((value != 0.0) & (np.abs(value) < SMALLEST_NORMAL)):
        seen.add("underflow")
    return seen


def failure_at(operator: Operator, arguments: Sequence[Floats], *, validity: Validity) -> Failure:
    """Return what becomes of an operator: by its first value that is not finite or its first flag."""
    if validity is Validity.ANSWER:
        return Failure.NONE
    with np.errstate(all="ignore"):
        value = operator.value(*arguments)
    bad = np.flatnonzero(~np.isfinite(value))
    if len(bad):
        found = flags(operator, [argument[bad[:1]] for argument in arguments])
        if "invalid value" in found or np.isnan(value[bad[0]]):
            return Failure.INVALID
        return Failure.DIVIDE_BY_ZERO if "divide by zero" in found else Failure.OVERFLOW
    if validity is Validity.FLAGS and flags(operator, arguments):
        each = (flags(operator, [argument[i : i + 1] for argument in arguments]) for i in range(len(value)))
        first = next(found for found in each if found)
        return Failure.OVERFLOW if "overflow" in first else Failure.UNDERFLOW
    return Failure.NONE


# --- BFGS -------------------------------------------------------------------------------------------------------------

Objective: TypeAlias = Callable[[Floats], tuple[float, Floats]]
"""The value at a point, and the gradient there."""


def minimise(objective: Objective, x: Floats, iterations: int) -> Floats:
    """BFGS with the strong Wolfe conditions, as Nocedal & Wright (2006) write it, and the core's limits."""
    value, gradient = objective(x)
    inverse, before = np.eye(len(x)), value + 0.5 * float(np.linalg.norm(gradient))
    for _ in range(iterations):
        direction = -inverse @ gradient
        slope = float(gradient @ direction)
        if np.abs(gradient).max() <= 1e-5 or not slope < 0.0:
            break
        first = min(1.0, 2.02 * (value - before) / slope)
        step = _wolfe(objective, x, direction, value, slope, first if first > 0.0 else 1.0)
        if step is None:
            break
        before, moved = value, x + step * direction
        value, new = objective(moved)
        s, y, x, gradient = moved - x, new - gradient, moved, new
        if s @ y > 0.0:
            left = np.eye(len(x)) - np.outer(s, y) / (s @ y)
            inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
    return x


def _wolfe(objective: Objective, x: Floats, p: Floats, value: float, slope: float, step: float) -> float | None:
    def at(alpha: float) -> tuple[float, float, float]:
        f, g = objective(x + alpha * p)
        return alpha, f, float(g @ p)

    def is_high(point: tuple[float, float, float], low: tuple[float, float, float]) -> bool:
        return not point[1] <= value + 1e-4 * point[0] * slope or (low[0] > 0.0 and point[1] >= low[1])

    low, high = (0.0, value, slope), at(step)
    for _ in range(20):
        if is_high(high, low):
            break
        if abs(high[2]) <= -0.9 * slope:
            return high[0]
        if high[2] >= 0.0:
            low, high = high, low
            break
        low = high
        high = at(2.0 * low[0])
    else:
        return None
    for _ in range(20):
        width = high[0] - low[0]
        with np.errstate(all="ignore"):
            share = float(np.divide(-0.5 * low[2] * width, high[1] - low[1] - low[2] * width))
        middle = at(low[0] + (share if 0.1 < share < 0.9 else 0.5) * width)
        if not middle[1] <= value + 1e-4 * middle[0] * slope or middle[1] >= low[1]:
            high = middle
            continue
        if abs(middle[2]) <= -0.9 * slope:
            return middle[0]
        if middle[2] * width >= 0.0:
            high = low
        low = middle
    return None


# --- Trees -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """A token and its arguments; `position` is its place in prefix order."""

    position: int
    token: Token
    children: tuple[Node, ...]


def is_complete(library: Library, ids: Sequence[int]) -> bool:
    """Return whether the tokens are exactly one expression."""
    open_slots = 1
    for i in ids:
        if open_slots == 0:
            return False
        open_slots += library[i].arity - 1
    return open_slots == 0


def tree(library: Library, ids: Sequence[int]) -> Node:
    """Return the tree of one complete expression."""

    def node(position: int) -> tuple[Node, int]:
        token, children, end = library[ids[position]], [], position + 1
        for _ in range(token.arity):
            child, end = node(end)
            children.append(child)
        return Node(position, token, tuple(children)), end

    root, end = node(0)
    assert end == len(ids), "The tokens go on after the expression is complete."
    return root


def nodes(root: Node) -> Iterator[Node]:
    """Give every node, in prefix order."""
    yield root
    for child in root.children:
        yield from nodes(child)


# --- Evaluation ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What one row gives: values (M,), or why and where it failed."""

    values: Floats
    failure: Failure = Failure.NONE
    position: int = -1


class _FailedError(Exception):
    def __init__(self, failure: Failure, position: int) -> None:
        super().__init__(failure, position)
        self.result = (failure, position)


Apply: TypeAlias = Callable[[Node, list[Floats]], Floats]
"""How an operator's node gets its values from those of its arguments; raises `_FailedError`."""


def numpy_apply(*, validity: Validity = Validity.VALUES, jitter: float = 0.0, plus_zero: bool = False) -> Apply:
    """Return the way of NumPy; `jitter` changes each value by a relative amount of that size, to and fro.

    It changes the sign of 0, too, which the core does not keep everywhere; `plus_zero` makes every 0 positive.
    """

    def apply(node: Node, arguments: list[Floats]) -> Floats:
        operator = OPERATORS[node.token.name]
        failure = failure_at(operator, arguments, validity=validity)
        if failure is not Failure.NONE:
            raise _FailedError(failure, node.position)
        with np.errstate(all="ignore"):
            value = operator.value(*arguments)
            value = np.where(np.isnan(arguments).any(axis=0), np.nan, value)
            value = value + 0.0 if plus_zero else value
            shaken: Floats = value * (1.0 + jitter * (-1.0) ** (node.position + np.arange(len(value)) // 2))
            return np.where(value == 0.0, -value, shaken) if jitter else shaken

    return apply


def native_apply(call: Callable[[str, list[Floats]], tuple[Floats, int]]) -> Apply:
    """Return the way of another part that does single operators: `call(name, arguments)` gives values and a failure."""

    def apply(node: Node, arguments: list[Floats]) -> Floats:
        value, failure = call(node.token.name, arguments)
        if failure:
            raise _FailedError(Failure(failure), node.position)
        return value

    return apply


def values_of(node: Node, constants: Sequence[float], X: Floats, apply: Apply) -> Floats:
    """Return the values of a subtree; of two arguments the second is looked at first, and both before the operator."""
    token = node.token
    if token.kind is TokenKind.VARIABLE:
        return X[:, token.column]
    if token.kind is TokenKind.LITERAL:
        return np.full(len(X), token.value)
    if token.kind is TokenKind.CONSTANT:
        return np.full(len(X), constants[node.position])
    arguments = [values_of(child, constants, X, apply) for child in reversed(node.children)]
    return apply(node, arguments[::-1])


def evaluate(expression: Expression, X: Floats, apply: Apply | None = None) -> Result:
    """Evaluate one row, block by block."""
    root = tree(expression.library, expression.ids)
    values = []
    for begin in range(0, len(X), BLOCK):
        try:
            values.append(values_of(root, expression.constants, X[begin : begin + BLOCK], apply or numpy_apply()))
        except _FailedError as error:
            return Result(np.full(len(X), np.nan), *error.result)
        strange = values[-1][~np.isfinite(values[-1])]
        if len(strange):  # only if a part of a row need not have finite values
            return Result(np.full(len(X), np.nan), Failure.INVALID if np.isnan(strange[0]) else Failure.OVERFLOW, 0)
    return Result(np.concatenate(values))


def squared_error(prediction: Floats, y: Floats, weights: Floats) -> float:
    """Return the weighted sum of squared errors, rounded once; inf where it overflows."""
    with np.errstate(over="ignore"):
        terms = weights * (prediction - y) ** 2
    try:
        return math.fsum(terms)
    except OverflowError:
        return math.inf


def inverse_nrmse(prediction: Floats, y: Floats, weights: Floats) -> float:
    """Return the paper's reward, 1 / (1 + sqrt(MSE / variance)); a constant y counts as variance 1."""
    mean = float(np.average(y, weights=weights))
    variance = float(np.average((y - mean) ** 2, weights=weights))
    error = squared_error(prediction, y, weights) / math.fsum(weights)
    return 1.0 / (1.0 + math.sqrt(error / (variance if variance > 0.0 else 1.0)))


def jacobian(expression: Expression, X: Floats) -> Floats:
    """Return the derivative of the values by each constant, (K, M), by the chain rule from the leaves up."""

    def forward(node: Node) -> tuple[Floats, dict[int, Floats]]:
        below = [forward(child) for child in node.children]
        value = values_of(node, expression.constants, X, numpy_apply())
        if node.token.kind is TokenKind.CONSTANT:
            return value, {node.position: np.ones(len(X))}
        arguments = [argument for argument, _ in below]
        return value, {
            position: slope * OPERATORS[node.token.name].slopes[i](*arguments)
            for i, (_, slopes) in enumerate(below)
            for position, slope in slopes.items()
        }

    with np.errstate(all="ignore"):
        _, by_position = forward(tree(expression.library, expression.ids))
    return np.array([by_position[position] for position in sorted(by_position)])


def numeric_jacobian(expression: Expression, X: Floats, step: float = 1e-5) -> Floats:
    """Return the same by central differences."""
    places = [i for i, token in enumerate(expression.tokens) if token.kind is TokenKind.CONSTANT]

    def shifted(place: int, by: float) -> Floats:
        constants = list(expression.constants)
        constants[place] += by
        return evaluate(Expression(expression.library, Row(expression.ids, tuple(constants))), X).values

    return np.array([(shifted(place, step) - shifted(place, -step)) / (2.0 * step) for place in places])


# --- Semantic completion ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Semantics:
    """What every node of a row is, and what it should have been, (L, M) each; NaN where there is no such thing."""

    values: Floats
    desired: Floats

    def is_desired(self, position: int) -> bool:
        """Return whether the operators above a node say what it should have been."""
        return bool(np.isfinite(self.desired[position]).all())


def semantics(expression: Expression, X: Floats, y: Floats, *, jitter: float = 0.0) -> Semantics:
    """Return values from the leaves up, then desired values from the root down: of all points, or of none.

    `jitter` changes both by a relative amount of that size, and by a hundredth of it, to and fro.
    """
    root = tree(expression.library, expression.ids)
    values, desired = np.full((2, len(expression), len(X)), np.nan)
    try:
        for node in nodes(root):
            values[node.position] = values_of(node, expression.constants, X, numpy_apply(jitter=jitter))
    except _FailedError:
        return Semantics(np.full_like(values, np.nan), desired)
    desired[0] = y
    for node in nodes(root):
        if not np.isfinite(desired[node.position]).all():
            continue
        for i, child in enumerate(node.children):
            others = [values[other.position] for other in node.children if other is not child]
            for inverse in INVERSES.get(node.token.name, ())[i : i + 1]:
                with np.errstate(all="ignore"):
                    wanted = inverse(desired[node.position], *others)
                    sign = (-1.0) ** (child.position + np.arange(len(X)) // 2)
                    wanted = wanted * (1.0 + jitter * sign) + 0.01 * jitter * sign
                    both = [wanted if other is child else values[other.position] for other in node.children]
                    error = OPERATORS[node.token.name].value(*both) - desired[node.position]
                    # An inverse that does not give what was wanted is none.
                    is_lost = not np.sum(error**2) <= (2.0**-30 * np.linalg.norm(desired[node.position])) ** 2
                desired[child.position] = wanted if np.isfinite(wanted).all() and not is_lost else np.nan
    return Semantics(values, desired)


@dataclass
class Bucket:
    """The completion's table at its very smallest: two places for sub-expressions, by the values that they take."""

    places: list[tuple[Floats, tuple[int, ...]] | None]

    def find(self, values: Floats) -> tuple[int, ...] | None:
        """Return the sub-expression that takes these values."""
        return next((ids for known, ids in filter(None, self.places) if np.allclose(known, values, rtol=1e-10)), None)

    def keep(self, values: Floats, ids: tuple[int, ...]) -> None:
        """Keep a sub-expression: of equals the shortest; else in a free place, or in that of the longer, or second."""
        known = self.find(values)
        if known is not None:
            if len(ids) < len(known):
                self.places[[place is not None and place[1] == known for place in self.places].index(True)] = (
                    values,
                    ids,
                )
            return
        if None in self.places:
            place = self.places.index(None)
        else:
            first, second = (len(ids) for _, ids in filter(None, self.places))
            place = 0 if first > second else 1
        self.places[place] = (values, ids)


def distances(
    expression: Expression, position: int, X: Floats, y: Floats, weights: Floats, candidates: Sequence[Floats]
) -> Floats | None:
    """Return how far each candidate's values are from what a node should have been; None where that is not known.

    An error there counts by how much it changes the whole: the less, the more the desired values follow a change of y.
    """
    change = 1e-5 * (np.abs(y).max() or 1.0)
    wanted, moved = (semantics(expression, X, target).desired[position] for target in (y, y + change))
    if not (np.isfinite(wanted).all() and np.isfinite(moved).all()):
        return None
    with np.errstate(all="ignore"):
        slope = change / (moved - wanted)
    weight = np.where(np.isfinite(slope), weights * slope**2, 0.0)
    return np.array([np.sum(weight * (values - wanted) ** 2) for values in candidates])


# --- Constraints -----------------------------------------------------------------------------------------------------


def accepts(
    library: Library, min_length: int, max_length: int, constraints: Sequence[Constraint], ids: Sequence[int]
) -> bool:
    """Return whether the tokens are one expression that keeps to the bounds and to every constraint."""
    if not is_complete(library, ids) or not min_length <= len(ids) <= max_length:
        return False
    root = tree(library, ids)
    return not any(is_broken(constraint, root) for constraint in constraints)


def is_broken(constraint: Constraint, root: Node) -> bool:
    """Return whether a tree is what a constraint forbids."""
    everything = list(nodes(root))
    operators = [node for node in everything if node.children]
    names = [node.token.name for node in everything]
    match constraint:
        case NoInverses(pairs):
            either = {*pairs, *((inner, outer) for outer, inner in pairs)}
            return any((node.token.name, child.token.name) in either for node in operators for child in node.children)
        case NoNestedTrigonometry(trigonometric):
            outer = (node for node in operators if node.token.name in trigonometric)
            return any(sum(below.token.name in trigonometric for below in nodes(node)) > 1 for node in outer)
        case NoLoneConstants():
            return any(all(child.token.kind is TokenKind.CONSTANT for child in node.children) for node in operators)
        case NeedsInput():
            return all(node.token.kind is not TokenKind.VARIABLE for node in everything)
        case Dimensions(target=target):
            found = dimension_of(constraint, root)
            return found not in (ANY, target)
        case ArgumentSizes(name, sizes):
            limited = (node for node in operators if node.token.name in _canonical((name,)))
            return any(
                most != -1 and len(list(nodes(child))) > most
                for node in limited
                for child, most in zip(node.children, sizes, strict=True)
            )
        case Nesting(outer_name, inner_name, most):
            above = (node for node in operators if node.token.name in _canonical((outer_name,)))
            return any(_deepest(child, _canonical((inner_name,))) > most for node in above for child in node.children)
        case Repeat(tokens, most):
            return sum(name in _canonical(tokens) for name in names) > most
        case Relational(relationship, targets, effectors):
            return any(
                target.token.name in _canonical(targets)
                for effector in everything
                if effector.token.name in _canonical(effectors)
                for target in _related(relationship, effector, operators, _canonical(targets))
            )
    raise AssertionError(f"No tree check is written for {constraint}.")


def _deepest(node: Node, names: Container[str]) -> int:
    """How many of the names the path downwards has that has most of them."""
    return (node.token.name in names) + max((_deepest(child, names) for child in node.children), default=0)


ANY = "any"
"""The dimension of what holds a free constant: whichever is needed."""
_ROOTS: dict[str, Fraction | int] = {
    "sqrt": Fraction(1, 2),
    "square": 2,
    "cube": 3,
    "quartic": 4,
    "inv": -1,
    "neg": 1,
    "abs": 1,
    "relu": 1,
    "cbrt": Fraction(1, 3),
}


def dimension_of(constraint: Dimensions, node: Node) -> Dimension | str | None:
    """Return the dimension of a tree, `ANY`, or None where its parts do not go together."""
    if not node.children:
        if node.token.kind is TokenKind.VARIABLE:
            return dict(constraint.variables)[node.token.name]
        return ANY if node.token.kind is TokenKind.CONSTANT and constraint.constants_are_free else NUMBER
    arguments = [dimension_of(constraint, child) for child in node.children]
    if node.token.function is not None:
        return _own_dimension(node.token, arguments)
    return _operator_dimension(node.token.name, arguments)


def _operator_dimension(name: str, arguments: Sequence[Dimension | str | None]) -> Dimension | str | None:
    if None in arguments:
        return None
    known = [found for found in arguments if isinstance(found, Dimension)]
    if name in ("add", "sub", "min", "max", "mod", "hypot"):
        return None if len(set(known)) > 1 else known[0] if known else ANY
    if name in ("sign", "step", "greater", "atan2"):
        return None if len(set(known)) > 1 else NUMBER
    if name in ("cond", "unless"):
        return arguments[1]
    if name in ("mul", "div") or name in _ROOTS:
        if len(known) < len(arguments):
            return ANY
        if name in _ROOTS:
            return known[0] ** _ROOTS[name]
        return known[0] * known[1] if name == "mul" else known[0] / known[1]
    return NUMBER if all(found == NUMBER for found in known) else None


def expansion_dimension(expansion: Expansion, *arguments: Dimension) -> Dimension | str | None:
    """Return the dimension of an expansion whose arguments have these dimensions, None where that makes no sense."""

    def read(position: int) -> tuple[Dimension | str | None, int]:
        step = expansion[position]
        if not isinstance(step, str):
            return arguments[step] if isinstance(step, int) else NUMBER, position + 1
        found, end = [], position + 1
        for _ in range(len(OPERATORS[step].slopes)):
            one, end = read(end)
            found.append(one)
        return _operator_dimension(step, found), end

    return read(0)[0]


def _own_dimension(token: Token, arguments: Sequence[Dimension | str | None]) -> Dimension | str | None:
    """As the function's expansion has it if it is a power, a product, a quotient or alike; else of pure numbers."""
    u, v = (Dimension.of({f"[{name}]": Fraction(1)}) for name in "uv")
    if token.expansion is not None and token.arity == 1:
        found = expansion_dimension(token.expansion, u)
        if isinstance(found, Dimension) and found != NUMBER:
            [(_, exponent)] = found.powers
            return arguments[0] ** exponent if isinstance(arguments[0], Dimension) else arguments[0]
    if token.expansion is not None and token.arity == 2:
        found = expansion_dimension(token.expansion, u, v)
        if found == u * v:
            return _operator_dimension("mul", arguments)
        if found == u / v:
            return _operator_dimension("div", arguments)
        if expansion_dimension(token.expansion, u, u) == u:
            return _operator_dimension("add", arguments)
    return _operator_dimension(token.name, arguments)


def _related(relationship: Relationship, effector: Node, operators: list[Node], targets: set[str]) -> list[Node]:
    """Return the nodes that stand in the relationship to the effector."""
    children = list(effector.children)
    match relationship:
        case Relationship.CHILD:
            return children
        case Relationship.DESCENDANT:
            return [below for child in children for below in nodes(child)]
        case Relationship.SIBLING:
            parents = [node for node in operators if any(child is effector for child in node.children)]
            return [child for node in parents for child in node.children if child is not effector]
        case Relationship.LEFT_CHILD:
            return children[:1] if len(children) == 2 else []
        case Relationship.RIGHT_CHILD:
            return children[1:] if len(children) == 2 else []
        case Relationship.UNIQUE_CHILD:
            return children if all(child.token.name in targets for child in children) else []


def _canonical(names: Sequence[str]) -> set[str]:
    return {ALIASES.get(name, name) for name in names}


# --- The policy's network --------------------------------------------------------------------------------------------


Prior: TypeAlias = Callable[[Sequence[int]], Floats]
"""What is added to each token's logit after a prefix, -inf where it may not come next, (T,)."""


@dataclass(frozen=True)
class Lstm:
    """A network without the core's padding: weights by the names of its blocks, gates beside each other in columns."""

    library: Library
    hidden: int
    layers: int
    sees_previous: bool
    sees_open: bool
    weights: Mapping[str, Floats]

    @classmethod
    def of(
        cls,
        library: Library,
        blocks: Mapping[str, Floats],
        *,
        hidden: int,
        layers: int,
        sees_previous: bool,
        sees_open: bool,
    ) -> Lstm:
        """Cut the core's blocks to real units and tokens."""
        weights = {name: block[real_entries(name, block, hidden, len(library))] for name, block in blocks.items()}
        return cls(library, hidden, layers, sees_previous, sees_open, weights)


def real_entries(name: str, block: Floats, hidden: int, tokens: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return rows and columns of a block's entries that are not padding, as an index into it."""
    rows = np.arange(block.shape[0])
    if name.endswith((".recurrent", "output")) or (name.endswith(".input") and name != "layer0.input"):
        rows = rows[:hidden]
    if name.startswith("output"):
        columns = np.arange(tokens)
    else:
        width = block.shape[1] // 4
        columns = np.concatenate([np.arange(gate * width, gate * width + hidden) for gate in range(4)])
    return np.ix_(rows, columns)  # type: ignore[return-value]


def seen_before(library: Library, prefix: Sequence[int]) -> tuple[int, int, int, int]:
    """Return parent, left sibling and predecessor of the token after a prefix, T for none, and the open arguments."""
    none = len(library)
    waiting: list[list[int]] = []  # operators with arguments to come, and the roots of those they have
    open_slots = 1
    for i in prefix:
        open_slots += library[i].arity - 1
        if waiting:
            waiting[-1].append(i)
        waiting.append([i])
        while waiting and len(waiting[-1]) == 1 + library[waiting[-1][0]].arity:
            waiting.pop()
    parent, *arguments = waiting[-1] if waiting else [none]
    return parent, arguments[-1] if arguments else none, prefix[-1] if prefix else none, open_slots


def network_inputs(network: Lstm, ids: Sequence[int]) -> Floats:
    """Return what the first layer sees at each position of a row: one-hot tokens, open arguments, (L, inputs)."""
    kinds = len(network.library) + 1
    rows = []
    for position in range(len(ids)):
        parent, sibling, previous, open_slots = seen_before(network.library, ids[:position])
        seen = [np.eye(kinds)[parent], np.eye(kinds)[sibling]]
        seen += [np.eye(kinds)[previous]] if network.sees_previous else []
        seen += [np.array([float(open_slots)])] if network.sees_open else []
        rows.append(np.concatenate(seen))
    return np.array(rows)


def network_logits(network: Lstm, ids: Sequence[int]) -> Floats:
    """Return the network's logits at each position of a row, before priors, (L, T)."""

    def sigmoid(x: Floats) -> Floats:
        return 1.0 / (1.0 + np.exp(-x))

    outputs = network_inputs(network, ids)
    for layer in range(network.layers):
        kernel, recurrent, bias = (network.weights[f"layer{layer}.{part}"] for part in ("input", "recurrent", "bias"))
        hidden = cell = np.zeros(network.hidden, dtype=kernel.dtype)
        found = []
        for x in outputs:
            gates = (x @ kernel + hidden @ recurrent + bias[0]).reshape(4, network.hidden)
            cell = sigmoid(gates[2] + 1.0) * cell + sigmoid(gates[0]) * np.tanh(gates[1])
            hidden = sigmoid(gates[3]) * np.tanh(cell)
            found.append(hidden)
        outputs = np.array(found)
    logits: Floats = outputs @ network.weights["output"] + network.weights["output.bias"][0]
    return logits


def log_softmax(logits: Floats) -> Floats:
    """Return log probabilities along the last axis; -inf stays -inf."""
    largest = logits.max(axis=-1, keepdims=True)
    shifted: Floats = logits - largest
    normalised: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised


def row_distributions(network: Lstm, prior: Prior, ids: Sequence[int]) -> Floats:
    """Return the log probability of every token at each position of a row, (L, T)."""
    priors = np.array([prior(ids[:position]) for position in range(len(ids))])
    return log_softmax(network_logits(network, ids) + priors)


def row_log_probability(network: Lstm, prior: Prior, ids: Sequence[int]) -> float:
    """Return the log probability of a row."""
    return float(row_distributions(network, prior, ids)[np.arange(len(ids)), list(ids)].sum())


def row_entropies(network: Lstm, prior: Prior, ids: Sequence[int]) -> Floats:
    """Return the entropy of the distribution at each position of a row, (L,)."""
    logs = row_distributions(network, prior, ids)
    entropies: Floats = -(np.exp(logs) * np.where(np.isneginf(logs), 0.0, logs)).sum(axis=1)
    return entropies


def next_distribution(network: Lstm, prior: Prior, prefix: Sequence[int]) -> Floats:
    """Return the probability of each token after a prefix, (T,)."""
    # What stands at the last position does not matter: a network knows only what came before.
    probability: Floats = np.exp(row_distributions(network, prior, [*prefix, 0])[-1])
    return probability


@dataclass(frozen=True)
class Adam:
    """Parameters and both moments, (P,) each, and the number of steps; one step uphill makes another."""

    parameters: Floats
    first: Floats
    second: Floats
    steps: int

    def ascend(self, gradient: Floats, rate: float) -> Adam:
        """Kingma and Ba (2015), in the form at the end of their section 2: epsilon beside the uncorrected moment."""
        first = 0.9 * self.first + 0.1 * gradient
        second = 0.999 * self.second + 0.001 * gradient**2
        steps = self.steps + 1
        corrected = rate * math.sqrt(1.0 - 0.999**steps) / (1.0 - 0.9**steps)
        return Adam(self.parameters + corrected * first / (np.sqrt(second) + 1e-8), first, second, steps)


# --- Random rows, and how far apart two results are ------------------------------------------------------------------


def random_ids(rng: np.random.Generator, library: Library, max_length: int) -> list[int]:
    """Draw one complete expression of at most so many tokens, of a length drawn evenly, obeying nothing else."""
    arities = library.arities
    target = int(rng.integers(1, max_length + 1))
    ids: list[int] = []
    open_slots = 1
    while open_slots:
        room = target - len(ids) - open_slots
        fitting = np.flatnonzero(arities <= max(room, 0))
        if room > 0 and open_slots == 1 and (arities[fitting] > 0).any():
            fitting = fitting[arities[fitting] > 0]
        ids.append(int(rng.choice(fitting)))
        open_slots += int(arities[ids[-1]]) - 1
    return ids


def random_population(
    rng: np.random.Generator, library: Library, count: int, max_length: int, *, scale: float = 1.0
) -> Population:
    """Draw rows with constants of either sign around `scale`."""
    rows = [random_ids(rng, library, max_length) for _ in range(count)]
    tokens = np.full((count, max_length), library.pad)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return Population.of(library, tokens, [len(row) for row in rows], rng.normal(0.0, scale, tokens.shape))


def ulps(a: Floats, b: Floats) -> npt.NDArray[np.int64]:
    """Return how many float64 lie between a and b; both zeros are one."""

    def place(values: Floats) -> npt.NDArray[np.int64]:
        bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
        return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)

    distance: npt.NDArray[np.int64] = np.abs(place(a) - place(b))
    return distance


def same_bits(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Return whether two arrays hold the very same bytes."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# --- Linear algebra --------------------------------------------------------------------------------------------------


def product(a: Floats, b: Floats) -> Floats:
    """Return the matrix product, each sum from its first term to its last."""
    out = np.zeros((len(a), b.shape[1]))
    for k in range(len(b)):
        out = out + a[:, k, None] * b[k]
    return out


def dot(a: Floats, b: Floats) -> float:
    """Return the sum of products: whole groups of eight lane by lane, and what is left over likewise."""
    whole = len(a) // 8 * 8

    def lanes(terms: Floats) -> float:
        sums = [0.0] * 8
        for i, term in enumerate(terms):
            sums[i % 8] += float(term)
        return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))

    terms = a * b
    return lanes(terms[:whole]) + lanes(terms[whole:])


def leading_errors(matrix: Floats, goal: Floats) -> Floats:
    """Return the squared error of least squares with the first column, with the first two, ..., with all."""
    errors = []
    for count in range(1, matrix.shape[1] + 1):
        some = matrix[:, :count]
        rest = goal - some @ np.linalg.lstsq(some, goal, rcond=1e-13)[0]
        errors.append(rest @ rest)
    return np.array(errors)


def smallest(row: Floats, count: int) -> list[int]:
    """Return the places of a row's smallest values, of equal ones the first, what is no number last."""
    return sorted(range(len(row)), key=lambda i: (math.isnan(row[i]), row[i] if not math.isnan(row[i]) else 0.0, i))[
        :count
    ]


# --- Gaussian processes ----------------------------------------------------------------------------------------------


def covariance(inputs: Floats, noise: Floats, scales: Floats, ratio: float) -> Floats:
    """Return the covariance of the noisy values in units of the process's variance, (M, M); `inputs` is (V, M)."""
    places = inputs.T / scales
    distance = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    return np.asarray(np.exp(-0.5 * distance) + ratio * np.diag(noise))


def log_evidence(inputs: Floats, goal: Floats, noise: Floats, scales: Floats, ratio: float) -> float:
    """Return the log density of the goal under the Gaussian of the best mean and variance."""
    whole = covariance(inputs, noise, scales, ratio)
    ones, count = np.ones(len(goal)), len(goal)
    mean = ones @ np.linalg.solve(whole, goal) / (ones @ np.linalg.solve(whole, ones))
    variance = (goal - mean) @ np.linalg.solve(whole, goal - mean) / count
    return float(-0.5 * (count * math.log(2.0 * math.pi * variance) + np.linalg.slogdet(whole)[1] + count))


def process_prediction(
    inputs: Floats, goal: Floats, noise: Floats, scales: Floats, ratio: float, points: Floats
) -> tuple[Floats, Floats]:
    """Return the mean and variance of the process without noise at other points, (Q,) each."""
    whole = covariance(inputs, noise, scales, ratio)
    ones, count = np.ones(len(goal)), len(goal)
    mean = ones @ np.linalg.solve(whole, goal) / (ones @ np.linalg.solve(whole, ones))
    variance = (goal - mean) @ np.linalg.solve(whole, goal - mean) / count
    both = np.concatenate([points, inputs], axis=1)
    near = covariance(both, np.ones(both.shape[1]), scales, 1e-300)[: points.shape[1], points.shape[1] :]
    found = mean + near @ np.linalg.solve(whole, goal - mean)
    return found, variance * (1.0 - (near * np.linalg.solve(whole, near.T).T).sum(axis=1))
