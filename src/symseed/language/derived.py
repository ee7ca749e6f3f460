"""Derived operators: each by its expansion over other operators, said once.

A notation has forms of its own for the primitive operators, and for derived ones where a form is nicer or more exact
than the expansion: x**2, 1/x. Where it has none, the expansion stands in for it.
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
        "neg": ("mul", -1.0, 0),  # not 0 - x, which makes 0 of 0 where -x is minus 0
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
"""Every derived operator over primitive ones, and over derived ones that stand above it."""


def written_out(
    name: str, arguments: Sequence[T], apply: Callable[[str, Sequence[T]], T], number: Callable[[float], T]
) -> T:
    """Return what a derived operator makes of its arguments, by its expansion.

    Args:
        name: of the operator.
        arguments: in the terms of a notation; one that occurs several times in the expansion is used as it is, not
            computed again.
        apply: what the notation makes of an operator, by its name, and arguments.
        number: what it makes of a number.
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
    """Return a notation's operators: its own, and the expansions of derived operators that it has not.

    Args:
        own: what the notation makes of arguments, by the operator's name.
        number: what it makes of a number that stands in an expansion, beside the operator's first argument (a tensor's
            type and place are those of its neighbours).
    """
    operators = dict(own)

    def expanded(name: str) -> Callable[..., T]:
        return lambda *arguments: written_out(
            name, arguments, lambda step, given: operators[step](*given), lambda value: number(value, arguments[0])
        )

    operators.update({name: expanded(name) for name in DERIVED if name not in own})
    return operators
