"""Tokens: variables, literals, constants, and every operator.

Operators are defined in `src/core/opcodes.hpp`; this module reads that table and adds the names that other tools use.
"""

from __future__ import annotations

import enum
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symseed import _core
from symseed.errors import SettingsError
from symseed.language.functions import Expansion, Function


class TokenKind(enum.Enum):
    """What a token stands for."""

    OPERATOR = "operator"
    VARIABLE = "variable"
    LITERAL = "literal"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Token:
    """One symbol of a library.

    `code` is the core's number for it: an opcode, or one of `_core.VARIABLE`, `LITERAL`, `CONSTANT`, `FUNCTION`.
    `column` is the variable's place in the data, `value` the literal's number; `function` is the user's own operator.
    """

    name: str
    kind: TokenKind
    arity: int
    complexity: int
    code: int
    column: int = 0
    value: float = 0.0
    function: Function | None = None
    weight: int = field(default=1, compare=False)
    """What the token adds to the size of a formula. Two tokens that differ in it alone mean the same."""

    @property
    def expansion(self) -> Expansion | None:
        """A user's operator written in the core's operators; None if that is not known."""
        return None if self.function is None else self.function.expansion


OPERATORS: Mapping[str, Token] = types.MappingProxyType(
    {
        name: Token(name, TokenKind.OPERATOR, arity, complexity, code)
        for code, (name, arity, complexity) in enumerate(_core.operators())
    }
)
"""Every operator by name."""

ALIASES: Mapping[str, str] = types.MappingProxyType(
    {
        "+": "add",
        "-": "sub",
        "*": "mul",
        "/": "div",
        "^": "pow",
        "**": "pow",
        "power": "pow",
        "minimum": "min",
        "maximum": "max",
        "n2": "square",
        "n3": "cube",
        "n4": "quartic",
        "sq": "square",
        "ln": "log",
        "negative": "neg",
        "inverse": "inv",
        "log_abs": "logabs",
        "logistic": "sigmoid",
        "exp_neg": "expneg",
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arctan2": "atan2",
        "arcsinh": "asinh",
        "arccosh": "acosh",
        "arctanh": "atanh",
        "tgamma": "gamma",
        "signum": "sign",
        "heaviside": "step",
        "ceiling": "ceil",
        "remainder": "mod",
    }
)
"""Names that other tools give to our operators."""

FAMILIES: Mapping[str, tuple[str, ...]] = types.MappingProxyType({"where": ("cond", "unless")})
"""Names that stand for several operators: `where(c, a, b)` is `cond(c, a) + unless(c, b)`."""

CONSTANT_NAME = "const"

CUSTOM_COMPLEXITY = 4
"""Complexity of a user's operator: as high as the highest of the other operators."""


def operator(name: str) -> Token:
    """Return the operator of that name or alias."""
    canonical = ALIASES.get(name, name)
    if name in FAMILIES:
        raise SettingsError(
            f"`{name}` is not one operator. Give those that it is made of: {', '.join(FAMILIES[name])}."
        )
    if canonical not in OPERATORS:
        raise SettingsError(
            f"`{name}` is not an operator. Expected one of {', '.join(OPERATORS)}, or an alias: {', '.join(ALIASES)}."
        )
    return OPERATORS[canonical]


def custom(function: Callable[..., Any], *, name: str | None = None, arity: int | None = None) -> Token:
    """Return an operator from a function of one or two arrays, after a check of the function.

    A function that has the name of an operator and its values, such as `np.arctan`, is that operator.

    Args:
        function: elementwise function, whose result has the shape of its argument.
        name: name in formulas; by default the function's own.
        arity: 1 or 2; by default the number of the function's arguments without a default.

    Raises:
        SettingsError: saying what such a function must do, and what this one did.
    """
    tried = Function.of(function, name, arity)
    known = OPERATORS.get(ALIASES.get(tried.name, tried.name))
    if known is not None and known.arity == tried.arity and tried.is_operator(known.name):
        return known
    if tried.name in {*OPERATORS, *ALIASES, *FAMILIES, CONSTANT_NAME}:
        raise SettingsError(
            f"`{tried.name}` is the name of a built-in operator. Give that name as text, or rename your function."
        )
    return Token(tried.name, TokenKind.OPERATOR, tried.arity, CUSTOM_COMPLEXITY, _core.FUNCTION, function=tried)


def variable(name: str, column: int) -> Token:
    """Return the token of one column of the data, whose name may be any text that is not empty."""
    if not isinstance(name, str) or not name:
        raise SettingsError(f"A variable's name must be a text that is not empty, but column {column} has {name!r}.")
    return Token(name, TokenKind.VARIABLE, 0, 1, _core.VARIABLE, column=column)


def literal(value: float | str) -> Token:
    """Return the token of a fixed number; its name is the shortest text that reads as that number."""
    try:
        number = float(value) + 0.0  # -0 becomes 0: equal values must have one name
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise SettingsError(f"A literal must be a finite number, but it is {value!r}.") from None
    if not math.isfinite(number):
        raise SettingsError(f"A literal must be a finite number, but it is {number}.")
    return Token(repr(number), TokenKind.LITERAL, 0, 1, _core.LITERAL, value=number)


def constant() -> Token:
    """Return the token whose value is fitted wherever it stands."""
    return Token(CONSTANT_NAME, TokenKind.CONSTANT, 0, 1, _core.CONSTANT)
