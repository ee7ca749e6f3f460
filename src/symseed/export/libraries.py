"""Operators as functions of other libraries: sympy's objects, PyTorch's tensors, ONNX's nodes, mpmath's real numbers.

A derived operator needs an entry only if its expansion (`language.derived`) would be larger or less exact. No library
is imported here. `languages` has the operators of programming languages.
"""

from __future__ import annotations

import fractions
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from symseed import arithmetic
from symseed.language.derived import with_expansions

Sym: TypeAlias = Any
"""A sympy expression: sympy has no types."""
Tensor: TypeAlias = Any
"""A PyTorch tensor: its type is not available if PyTorch is not installed."""
Value: TypeAlias = Any
"""A number of mpmath, which has no types."""

LARGEST_BITS = 16_384
"""Largest exponent of 2 of a real number; larger numbers raise `OutOfReachError`."""

_LARGEST_GAMMA = 2_000
"""Largest |argument| of gamma: beyond it, the value or its inverse exceeds `LARGEST_BITS`."""
_ARCS_AND_HYPERBOLIC = ("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")
"""Operators that have the same names in the libraries."""
_LANCZOS_SHIFT = 7.5
"""Shift of the argument in Lanczos' approximation, to which `_LANCZOS` belongs."""
_LANCZOS = (
    *(0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059),
    *(12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7),
)
"""Coefficients of Lanczos' approximation of gamma (Lanczos 1964; computed by Godfrey)."""
_ERF = (
    *(0.1283791670955126, -0.3761263890318375, 0.11283791670954878, -0.02686617064507674, 0.0052239776248174784),
    *(
        -0.0008548326980801447,
        0.00012055331110409494,
        -1.4925595235970651e-05,
        1.6460999970345427e-06,
        -1.6350307065234626e-07,
    ),
    *(1.4659736155673959e-08, -1.1372693191126323e-09, 5.956905633653031e-11),
)
_ERFC = (
    *(0.17900115118138923, -0.3262335600430453, 0.245603801712746, -0.15011593649899332, 0.07166583715916637),
    *(
        -0.024392499445713273,
        0.004269137639708936,
        0.0007077505681312548,
        -0.0005970811395660003,
        4.5188608658010266e-05,
    ),
    *(6.417089032921638e-05, -1.2340282011259606e-05, -8.038912582338107e-06, 5.299013187569616e-07),
)
"""erf(x) = x + x P(x^2) up to 1, and 1 - exp(-x^2) Q((x - 3) / (x + 3)) beyond, as in `src/core/math.hpp`."""


class UndefinedError(Exception):
    """A value that is not a real number, such as log(-1) or 1/0."""


class OutOfReachError(Exception):
    """A value too large to be computed to the last digit."""


def sympy_operators(sympy: Any, number: Callable[[float], Sym]) -> dict[str, Callable[..., Sym]]:
    """Return every operator as a function of sympy's objects; `number` converts a number."""
    own: dict[str, Callable[..., Sym]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "min": sympy.Min,
        "max": sympy.Max,
        "sin": sympy.sin,
        "cos": sympy.cos,
        "tan": sympy.tan,
        "exp": sympy.exp,
        "log": sympy.log,
        "sqrt": sympy.sqrt,
        "abs": sympy.Abs,
        "tanh": sympy.tanh,
        **{name: getattr(sympy, name) for name in _ARCS_AND_HYPERBOLIC},
        "log2": lambda a: sympy.log(a, 2),
        "log10": lambda a: sympy.log(a, 10),
        "log1p": lambda a: sympy.log(1 + a),
        "expm1": lambda a: sympy.exp(a) - 1,
        "cbrt": lambda a: sympy.sign(a) * sympy.Abs(a) ** sympy.Rational(1, 3),
        "erf": sympy.erf,
        "gamma": sympy.gamma,
        "floor": sympy.floor,
        "mod": sympy.Mod,
        "hypot": lambda a, b: sympy.sqrt(a**2 + b**2),
        "atan2": sympy.atan2,
        "greater": lambda a, b: sympy.Heaviside(a - b, 0),
        "sign": sympy.sign,
        "ceil": sympy.ceiling,
        # A product of sympy's floats would be rounded more than once.
        "square": lambda a: a**2,
        "cube": lambda a: a**3,
        "quartic": lambda a: a**4,
        "neg": lambda a: -a,
    }
    return with_expansions(own, lambda value, _: number(value))


def torch_operators(torch: Any) -> dict[str, Callable[..., Tensor]]:
    """Return every operator as a function of PyTorch's tensors."""

    def gamma(a: Tensor) -> Tensor:
        # PyTorch has only log|gamma|; gamma is negative below 0 if the whole part is odd.
        whole = torch.floor(a)
        sign = 1.0 - 2.0 * (a < 0.0) * torch.remainder(whole, 2.0)
        return torch.where((a <= 0.0) & (whole == a), math.nan, sign * torch.exp(torch.lgamma(a)))

    own: dict[str, Callable[..., Tensor]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "pow": lambda a, b: torch.pow(a, b) + 0.0 * a + 0.0 * b,  # 1 ** NaN and NaN ** 0 are 1
        "min": torch.minimum,
        "max": torch.maximum,
        "sin": torch.sin,
        "cos": torch.cos,
        "tan": torch.tan,
        "exp": torch.exp,
        "log": torch.log,
        "sqrt": torch.sqrt,
        "abs": torch.abs,
        "tanh": torch.tanh,
        **{name: getattr(torch, name) for name in _ARCS_AND_HYPERBOLIC},
        **{
            name: getattr(torch, name) for name in ("log2", "log10", "log1p", "expm1", "erf", "floor", "hypot", "atan2")
        },
        "cbrt": lambda a: torch.sign(a) * torch.abs(a) ** (1.0 / 3.0),
        "gamma": gamma,
        "mod": torch.remainder,
        "greater": lambda a, b: (a > b) + 0.0 * a + 0.0 * b,  # a comparison drops a NaN
        "sign": torch.sign,
        "ceil": torch.ceil,
        "relu": torch.relu,
        "inv": lambda a: 1.0 / a,
        "neg": lambda a: -a,
        "sigmoid": torch.sigmoid,
    }
    return with_expansions(own, lambda value, like: like.new_full((), value))


class _Composed:
    """Operators that ONNX lacks, composed of several nodes."""

    def __init__(self, graph: Any) -> None:
        self._node, self._number = graph, graph.number
        self._double = graph.double

    def naught(self, a: str) -> str:
        """Return a times 0: NaN if a is not finite."""
        return str(self._node("Mul", a, self._number(0.0)))

    def greater(self, a: str, b: str) -> str:
        """Return 1 or 0; a comparison loses NaN, so both arguments are added, times 0."""
        is_greater = self._node("Cast", self._node("Greater", a, b), to=self._double)
        return str(self._node("Add", self._node("Add", is_greater, self.naught(a)), self.naught(b)))

    def logarithm(self, base: float) -> Callable[[str], str]:
        """Return the logarithm to a base."""
        return lambda a: str(self._node("Div", self._node("Log", a), self._number(arithmetic.log(base))))

    def log1p(self, a: str) -> str:
        """Return log(1 + a), by 2 atanh(a / (a + 2)) where that is more accurate."""
        half = self._node("Atanh", self._node("Div", a, self._node("Add", a, self._number(2.0))))
        far = self._node("Log", self._node("Add", a, self._number(1.0)))
        return self._where_small(a, self._node("Add", half, half), far)

    def expm1(self, a: str) -> str:
        """Return exp(a) - 1, by 2 exp(a / 2) sinh(a / 2) where that is more accurate."""
        half = self._node("Mul", a, self._number(0.5))
        near = self._node(
            "Mul", self._node("Mul", self._number(2.0), self._node("Exp", half)), self._node("Sinh", half)
        )
        return self._where_small(a, near, self._node("Sub", self._node("Exp", a), self._number(1.0)))

    def _where_small(self, a: str, near: str, far: str) -> str:
        return str(self._node("Where", self._node("Less", self._node("Abs", a), self._number(0.5)), near, far))

    def cbrt(self, a: str) -> str:
        """Return the cube root: the root of |a|, with the sign of a."""
        root = self._node("Pow", self._node("Abs", a), self._number(1.0 / 3.0))
        return str(self._node("Mul", self._node("Sign", a), root))

    def mod(self, a: str, b: str) -> str:
        """Return the remainder with the sign of b: ONNX's has the sign of a."""
        rest = self._node("Mod", a, b, fmod=1)
        is_other = self._is_negative(self._node("Mul", rest, b))
        return str(self._node("Where", is_other, self._node("Add", rest, b), rest))

    def _is_negative(self, a: str) -> str:
        return str(self._node("Less", a, self._number(0.0)))

    def hypot(self, a: str, b: str) -> str:
        """Return the root of the sum of squares; both numbers are first divided by the larger one."""
        sizes = self._node("Abs", a), self._node("Abs", b)
        large = self._node("Max", *sizes)
        scale = self._node("Where", self._node("Equal", large, self._number(0.0)), self._number(1.0), large)
        squares = [self._node("Mul", part, part) for part in (self._node("Div", size, scale) for size in sizes)]
        return str(self._node("Mul", large, self._node("Sqrt", self._node("Add", *squares))))

    def atan2(self, a: str, b: str) -> str:
        """Return the angle of (b, a), and 0 where both are 0."""
        sizes = self._node("Abs", a), self._node("Abs", b)
        is_naught = self._node("Equal", self._node("Add", *sizes), self._number(0.0))
        below = self._node("Where", is_naught, self._number(1.0), sizes[1])
        angle = self._node("Atan", self._node("Div", sizes[0], below))
        left = self._node("Sub", self._number(math.pi), angle)
        turned = self._node("Where", self._is_negative(b), left, angle)
        return str(self._node("Where", self._is_negative(a), self._node("Neg", turned), turned))

    def erf(self, a: str) -> str:
        """Return the error function as the core computes it: ONNX's own is not implemented for float64."""
        size = self._node("Min", self._node("Abs", a), self._number(6.0))
        square = self._node("Mul", size, size)
        near = self._node("Add", size, self._node("Mul", size, self._polynomial(square, _ERF)))
        three = self._number(3.0)
        place = self._node("Div", self._node("Sub", size, three), self._node("Add", size, three))
        tail = self._node("Mul", self._node("Exp", self._node("Neg", square)), self._polynomial(place, _ERFC))
        far = self._node("Sub", self._number(1.0), tail)
        is_near = self._node("Less", size, self._number(1.0))
        return str(self._node("Mul", self._node("Sign", a), self._node("Where", is_near, near, far)))

    def _polynomial(self, a: str, coefficients: Sequence[float]) -> str:
        total = self._number(coefficients[-1])
        for number in reversed(coefficients[:-1]):
            total = self._node("Add", self._node("Mul", total, a), self._number(number))
        return str(total)

    def gamma(self, a: str) -> str:
        """Return the gamma function; below 1/2 by reflection, from that of 1 - a."""
        is_low = self._node("Less", a, self._number(0.5))
        above = self._gamma_above(self._node("Where", is_low, self._node("Sub", self._number(1.0), a), a))
        # The sine of the remainder after whole steps, each of which changes its sign.
        nearest = self._node("Round", a)
        sine = self._node("Sin", self._node("Mul", self._node("Sub", a, nearest), self._number(math.pi)))
        odd = self._node("Abs", self._node("Mod", nearest, self._number(2.0), fmod=1))
        sign = self._node("Sub", self._number(1.0), self._node("Add", odd, odd))
        below = self._node("Mul", self._node("Mul", sign, sine), above)
        return str(self._node("Where", is_low, self._node("Div", self._number(math.pi), below), above))

    def _gamma_above(self, a: str) -> str:
        """Return gamma(a) for a of at least 1/2 (Lanczos 1964, with the coefficients of Godfrey)."""
        less = self._node("Sub", a, self._number(1.0))
        total = self._number(_LANCZOS[0])
        for place, number in enumerate(_LANCZOS[1:], 1):
            below = self._node("Add", less, self._number(float(place)))
            total = self._node("Add", total, self._node("Div", self._number(number), below))
        base = self._node("Add", less, self._number(_LANCZOS_SHIFT))
        # The power is computed in two halves, because the whole may overflow where gamma does not.
        exponent = self._node("Mul", self._node("Add", less, self._number(0.5)), self._number(0.5))
        half = self._node("Pow", base, exponent)
        factors = (half, self._node("Exp", self._node("Neg", base)), half, total, self._number(math.sqrt(math.tau)))
        return str(functools.reduce(lambda left, right: self._node("Mul", left, right), factors))


def onnx_operators(graph: Any) -> dict[str, Callable[..., str]]:
    """Return every operator as a function of names of values in a graph; it adds nodes and numbers to the graph."""
    composed = _Composed(graph)

    def node(kind: str) -> Callable[..., str]:
        return lambda *inputs: str(graph(kind, *inputs))

    add, divide = node("Add"), node("Div")
    own: dict[str, Callable[..., str]] = {
        "add": add,
        "sub": node("Sub"),
        "mul": node("Mul"),
        "div": divide,
        # 1 ** NaN and NaN ** 0 are 1, so both arguments are added, times 0.
        "pow": lambda a, b: add(add(graph("Pow", a, b), composed.naught(a)), composed.naught(b)),
        "min": node("Min"),
        "max": node("Max"),
        "sin": node("Sin"),
        "cos": node("Cos"),
        "tan": lambda a: divide(graph("Sin", a), graph("Cos", a)),  # onnxruntime has no Tan of float64
        "exp": node("Exp"),
        "log": node("Log"),
        "sqrt": node("Sqrt"),
        "abs": node("Abs"),
        "tanh": node("Tanh"),
        **{name: node(name.title()) for name in _ARCS_AND_HYPERBOLIC},
        **{name: node(name.title()) for name in ("floor", "ceil", "sign")},
        "erf": composed.erf,
        "log2": composed.logarithm(2.0),
        "log10": composed.logarithm(10.0),
        "log1p": composed.log1p,
        "expm1": composed.expm1,
        "cbrt": composed.cbrt,
        "gamma": composed.gamma,
        "mod": composed.mod,
        "hypot": composed.hypot,
        "atan2": composed.atan2,
        "greater": composed.greater,
        "relu": node("Relu"),
        "inv": node("Reciprocal"),
        "neg": node("Neg"),
        # Not ONNX's Sigmoid: onnxruntime's gives 0 at -40.
    }
    return with_expansions(own, lambda value, _: str(graph.number(value)))


class Reals:
    """Operators on real numbers, with the digits that mpmath's `context` has when an operator is applied."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def operators(self) -> dict[str, Callable[..., Value]]:
        """Return every operator; they raise `UndefinedError` and `OutOfReachError`."""
        own: dict[str, Callable[..., Value]] = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "div": self._quotient,
            "pow": self._power,
            "min": min,
            "max": max,
            "sin": self._periodic(self._context.sin),
            "cos": self._periodic(self._context.cos),
            "tan": self._periodic(self._context.tan),
            "exp": self._exponential,
            "log": self._logarithm,
            "sqrt": self._root,
            "abs": abs,
            "tanh": self._context.tanh,
            "asin": self._within(self._context.asin, lambda a: abs(a) <= 1),
            "acos": self._within(self._context.acos, lambda a: abs(a) <= 1),
            "atan": self._context.atan,
            "sinh": self._growing(self._context.sinh),
            "cosh": self._growing(self._context.cosh),
            "asinh": self._context.asinh,
            "acosh": self._within(self._context.acosh, lambda a: a >= 1),
            "atanh": self._within(self._context.atanh, lambda a: abs(a) < 1),
            "log2": lambda a: self._logarithm(a) / self._context.ln(2),
            "log10": lambda a: self._logarithm(a) / self._context.ln(10),
            "log1p": self._within(self._context.log1p, lambda a: a > -1),
            "expm1": self._growing(self._context.expm1),
            "cbrt": lambda a: self._context.sign(a) * self._context.cbrt(abs(a)),
            "erf": self._context.erf,
            "gamma": self._gamma,
            "floor": self._context.floor,
            "mod": lambda a, b: a - b * self._context.floor(self._quotient(a, b)),
            "hypot": self._context.hypot,
            "atan2": self._context.atan2,
            "greater": lambda a, b: self._context.mpf(1 if a > b else 0),
            "neg": lambda a: -a,
        }
        return with_expansions(own, lambda value, _: self.number(decimal(value)))

    def number(self, fraction: fractions.Fraction) -> Value:
        """Return a fraction as a real number."""
        return self._context.mpf(fraction.numerator) / fraction.denominator

    def _quotient(self, a: Value, b: Value) -> Value:
        if not b:
            raise UndefinedError
        return a / b

    def _logarithm(self, a: Value) -> Value:
        if a <= 0:
            raise UndefinedError
        return self._context.ln(a)

    def _root(self, a: Value) -> Value:
        if a < 0:
            raise UndefinedError
        return self._context.sqrt(a)

    def _exponential(self, a: Value) -> Value:
        if a > LARGEST_BITS:
            raise OutOfReachError
        return self._context.exp(a)

    def _growing(self, function: Callable[[Value], Value]) -> Callable[[Value], Value]:
        """A function that grows like exp."""

        def bounded(a: Value) -> Value:
            if abs(a) > LARGEST_BITS:
                raise OutOfReachError
            return function(a)

        return bounded

    def _within(self, function: Callable[[Value], Value], takes: Callable[[Value], bool]) -> Callable[[Value], Value]:
        """A function that is real for some arguments only."""

        def checked(a: Value) -> Value:
            if not takes(a):
                raise UndefinedError
            return function(a)

        return checked

    def _gamma(self, a: Value) -> Value:
        if a <= 0 and self._context.isint(a):
            raise UndefinedError
        if abs(a) > _LARGEST_GAMMA:
            raise OutOfReachError
        return self._context.gamma(a)

    def _power(self, a: Value, b: Value) -> Value:
        if not a or not b:
            if b < 0:
                raise UndefinedError
            return self._context.mpf(0 if b else 1)
        is_whole = self._context.isint(b)
        if is_whole and abs(b) <= 64:
            return a ** int(b)
        size = self._exponential(b * self._context.ln(abs(a)))
        if a > 0:
            return size
        if not is_whole:
            raise UndefinedError
        return -size if int(b) % 2 else size

    def _periodic(self, function: Callable[[Value], Value]) -> Callable[[Value], Value]:
        def bounded(a: Value) -> Value:
            # For a larger argument, too few digits would remain after whole turns are subtracted.
            if a and self._context.mag(a) > self._context.prec // 3:
                raise OutOfReachError
            return function(a)

        return bounded


def decimal(value: float) -> fractions.Fraction:
    """Return a number as the exact value of its decimal text: 0.1 is 1/10."""
    return fractions.Fraction(repr(value))
