"""Protected operators: those of the authors' code that have a value for every argument.

Each has the name and the constraints of the operator that it stands for. Its expansion never leaves the domain of one
of the core's operators: an argument outside is replaced by a harmless one before the operator is applied.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from symseed import _core, arithmetic
from symseed.arrays import Floats
from symseed.language.functions import Expansion, Function
from symseed.language.library import Library

_SMALL = 0.001
"""Size below which a number is no divisor, and has no logarithm."""
_LARGE = 1e6
"""Size from which a number has no power."""
_STEEP = 100.0
"""Argument from which `exp` is 0."""


def _divided(a: Floats, b: Floats) -> Floats:
    good = np.abs(b) > _SMALL
    return np.asarray(np.where(good, a, 1.0) / np.where(good, b, 1.0))


def _logarithm(a: Floats) -> Floats:
    return np.asarray(arithmetic.log(np.where(np.abs(a) > _SMALL, np.abs(a), 1.0)))


def _exponential(a: Floats) -> Floats:
    good = a < _STEEP
    return np.asarray(np.where(good, arithmetic.exp(np.where(good, a, 0.0)), 0.0))


def _falling(a: Floats) -> Floats:
    return _exponential(-a)


def _sigmoid(a: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + _falling(a)))


def _root(a: Floats) -> Floats:
    return np.asarray(np.sqrt(np.abs(a)))


def _inverse(a: Floats) -> Floats:
    good = np.abs(a) > _SMALL
    return np.asarray(np.where(good, 1.0 / np.where(good, a, 1.0), 0.0))


def _square(a: Floats) -> Floats:
    return np.asarray(np.where(np.abs(a) < _LARGE, a, 0.0) ** 2)


def _cube(a: Floats) -> Floats:
    return np.asarray(np.where(np.abs(a) < _LARGE, a, 0.0) ** 3)


def _quartic(a: Floats) -> Floats:
    return np.asarray(np.where(np.abs(a) < _LARGE, a, 0.0) ** 4)


def _is_large(argument: int) -> Expansion:
    """Above 0 if the argument is large enough."""
    return ("sub", "abs", argument, _SMALL)


def _or_one(argument: int, condition: Expansion) -> Expansion:
    return ("add", "cond", *condition, argument, "unless", *condition, 1.0)


def _powered(operator: str) -> Expansion:
    return (operator, "cond", "sub", _LARGE, "abs", 0, 0)


_RISING: Expansion = ("cond", "sub", _STEEP, 0, "exp", "cond", "sub", _STEEP, 0, 0)
_FALLING: Expansion = ("cond", "add", 0, _STEEP, "expneg", "cond", "add", 0, _STEEP, 0)
_LOGARITHM: Expansion = ("logabs", *_or_one(0, _is_large(0)))

OPERATORS: Mapping[str, tuple[Callable[..., Floats], Expansion]] = types.MappingProxyType(
    {
        "div": (_divided, ("div", *_or_one(0, _is_large(1)), *_or_one(1, _is_large(1)))),
        "log": (_logarithm, _LOGARITHM),
        "logabs": (_logarithm, _LOGARITHM),
        "exp": (_exponential, _RISING),
        "expneg": (_falling, _FALLING),
        "sigmoid": (_sigmoid, ("inv", "add", 1.0, *_FALLING)),
        "sqrt": (_root, ("sqrt", "abs", 0)),
        "inv": (_inverse, ("cond", *_is_large(0), "inv", *_or_one(0, _is_large(0)))),
        "square": (_square, _powered("square")),
        "cube": (_cube, _powered("cube")),
        "quartic": (_quartic, _powered("quartic")),
    }
)
"""The protected operators by name: in NumPy, and in the core's operators."""


def protected(library: Library) -> Library:
    """Return a library with the same ids, whose operators are protected where there is such an operator."""
    tokens = []
    for token in library.tokens:
        if token.name in OPERATORS and token.function is None and token.arity > 0:
            call, expansion = OPERATORS[token.name]
            function = Function(call, token.name, token.arity, expansion)
            tokens.append(replace(token, code=_core.FUNCTION, function=function))
        else:
            tokens.append(token)
    return Library(tuple(tokens))
