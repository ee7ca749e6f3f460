"""Operators in the terms of libraries: sympy's objects, PyTorch's tensors, ONNX's nodes, mpmath's real numbers.

A derived operator needs an entry only where its expansion (`language.derived`) would be worse: larger, or less exact.
No library is imported here. How languages write operators is in `languages`.
"""

from __future__ import annotations

import fractions
from collections.abc import Callable
from typing import Any, TypeAlias

from symseed.language.derived import with_expansions

Sym: TypeAlias = Any
"""A sympy expression: sympy has no types."""
Tensor: TypeAlias = Any
"""PyTorch's types are not at hand where it is not installed."""
Value: TypeAlias = Any
"""A number of mpmath, which has no types."""

LARGEST_BITS = 16_384
"""Real numbers beyond 2 to this are out of reach."""


class UndefinedError(Exception):
    """A value that is no real number, such as log(-1) or 1/0."""


class OutOfReachError(Exception):
    """A value too large to be computed to the last digit."""


def sympy_operators(sympy: Any, number: Callable[[float], Sym]) -> dict[str, Callable[..., Sym]]:
    """Return every operator as a function of sympy's objects; `number` makes one of a number."""
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
        # The product of numbers with a point would be rounded more than once.
        "square": lambda a: a**2,
        "cube": lambda a: a**3,
        "quartic": lambda a: a**4,
        "neg": lambda a: -a,
    }
    return with_expansions(own, lambda value, _: number(value))


def torch_operators(torch: Any) -> dict[str, Callable[..., Tensor]]:
    """Return every operator as a function of PyTorch's tensors."""
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
        "inv": lambda a: 1.0 / a,
        "neg": lambda a: -a,
        "sigmoid": torch.sigmoid,
    }
    return with_expansions(own, lambda value, like: like.new_full((), value))


def onnx_operators(graph: Any) -> dict[str, Callable[..., str]]:
    """Return every operator as a function of the names of values in a graph, which gets its nodes and numbers."""

    def node(kind: str) -> Callable[..., str]:
        return lambda *inputs: str(graph(kind, *inputs))

    add, multiply, divide = node("Add"), node("Mul"), node("Div")

    def naught(a: str) -> str:
        return multiply(a, graph.number(0.0))

    own: dict[str, Callable[..., str]] = {
        "add": add,
        "sub": node("Sub"),
        "mul": multiply,
        "div": divide,
        # 1 ** NaN and NaN ** 0 are 1, so both are added, times 0.
        "pow": lambda a, b: add(add(graph("Pow", a, b), naught(a)), naught(b)),
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
        "inv": node("Reciprocal"),
        "neg": node("Neg"),
        # Not Sigmoid: onnxruntime's is 0 at -40.
    }
    return with_expansions(own, lambda value, _: str(graph.number(value)))


class Reals:
    """Real numbers, with as many digits as `context`, mpmath's, has when an operator is applied."""

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
            # Of a larger argument too few digits would be left after the whole turns are taken off.
            if a and self._context.mag(a) > self._context.prec // 3:
                raise OutOfReachError
            return function(a)

        return bounded


def decimal(value: float) -> fractions.Fraction:
    """Return a number as the decimal fraction that it is written as: 0.1 is 1/10."""
    return fractions.Fraction(repr(value))
