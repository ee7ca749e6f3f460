"""Derived operators: each is defined once, by its expansion into other operators.

A notation has its own forms of the primitive operators, and of derived operators if a form is shorter or more exact
than the expansion: x**2, 1/x. For all other derived operators the expansion is used.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from symseed.language.functions import Expansion
from symseed.language.tokens import OPERATORS

T = TypeVar("T")

DERIVED: Mapping[str, Expansion] = types.MappingProxyType(
    {
        "square": ("mul", 0, 0),
        "cube": ("mul", "mul", 0, 0, 0),
        "quartic": ("square", "square", 0),
        "inv": ("div", 1.0, 0),
        "neg": ("mul", -1.0, 0),  # not 0 - x, which gives 0 at x = 0; -x gives -0
        "sigmoid": ("inv", "add", 1.0, "exp", "neg", 0),
        "expneg": ("exp", "neg", 0),
        "logabs": ("log", "abs", 0),
        "step": ("greater", 0, 0.0),
        "sign": ("sub", "step", 0, "step", "neg", 0),
        "relu": ("max", 0, 0.0),
        "ceil": ("neg", "floor", "neg", 0),
        "cond": ("mul", "step", 0, 1),
        "unless": ("mul", "sub", 1.0, "step", 0, 1),
    }
)
"""Every derived operator, in terms of primitive operators and of derived operators above it."""


def written_out(
    name: str, arguments: Sequence[T], apply: Callable[[str, Sequence[T]], T], number: Callable[[float], T]
) -> T:
    """Apply the expansion of a derived operator to arguments in a notation.

    Args:
        name: name of the operator.
        arguments: in the notation; one that occurs several times in the expansion is reused, not computed again.
        apply: applies an operator, given by name, to arguments in the notation.
        number: writes a number in the notation.
    """
    waiting: list[T] = []
    for step in reversed(DERIVED[name]):
        if isinstance(step, str):
            waiting.append(apply(step, [waiting.pop() for _ in range(OPERATORS[step].arity)]))
        else:
            waiting.append(arguments[step] if isinstance(step, int) else number(step))
    return waiting[0]


def with_expansions(
    own: Mapping[str, Callable[..., T]], number: Callable[[float, T], T]
) -> dict[str, Callable[..., T]]:
    """Return a notation's operators: its own, and the expansions of derived operators that it lacks.

    Args:
        own: the notation's functions of arguments, by the operator's name.
        number: writes a number of an expansion; it also gets the operator's first argument, since a tensor needs the
            type and device of its neighbours.
    """
    operators = dict(own)

    def expanded(name: str) -> Callable[..., T]:
        return lambda *arguments: written_out(
            name, arguments, lambda step, given: operators[step](*given), lambda value: number(value, arguments[0])
        )

    operators.update({name: expanded(name) for name in DERIVED if name not in own})
    return operators
