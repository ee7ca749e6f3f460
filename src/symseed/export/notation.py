"""Formulas as sympy's objects, and as text that sympy reads.

Everything is built token by token; no text is ever read as a formula, so a column may have any name. sympy takes longer
to load than many searches take, so it is loaded at its first use.
"""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Callable, Mapping, Sequence

from symseed.errors import SettingsError
from symseed.export.libraries import Sym, sympy_operators
from symseed.language.expression import Expression
from symseed.language.spelling import Simple
from symseed.language.tokens import OPERATORS, Token, TokenKind
from symseed.language.words import CONSTANT, LITERAL, VARIABLE, Word, words

_LARGEST_INTEGER = 1_000_000
"""Largest whole number that becomes an exact integer of sympy: chosen by hand."""


def to_sympy(expression: Expression) -> Sym:
    """Return an expression as a sympy object, whose symbols have the names of the columns.

    Numbers have all their digits; simple fractions and multiples of pi are exact. The user's own operators are replaced
    by their expansions if these are known; the others are functions by name.
    """
    import sympy

    expression = expression.expanded()

    def number(kind: str, value: str) -> Sym:  # noqa: ARG001 - literals and constants are numbers alike
        given = float(value)
        if given.is_integer() and abs(given) <= _LARGEST_INTEGER:
            return sympy.Integer(int(given))
        simple = Simple.of(abs(given))
        if simple is None:
            return sympy.Float(given)
        sign = int(math.copysign(1.0, given))
        return sympy.Rational(sign * simple.p, simple.q) * (sympy.pi if simple.is_pi else 1)

    symbols = {token.column: sympy.Symbol(token.name) for token in used(expression)}
    variables = [symbols.get(column) for column in range(1 + max(symbols, default=-1))]
    own = {token.name: (token.arity, sympy.Function(token.name)) for token in expression.tokens if token.function}
    try:
        return build(words(expression), variables, number, own)
    except ValueError as error:  # such as the minimum of two complex numbers
        raise SettingsError(f"sympy cannot write `{expression}`: {error}") from None


def sympy_text(expression: Expression) -> str:
    """Return an expression as text that `sympy.sympify` reads, and that Python reads if sympy's names are imported.

    Numbers have the digits that give back the same float64. A name that means something else to sympy or Python, such
    as `S`, is written Symbol('S').
    """
    import sympy
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc] # sympy has no types
        def _print_Float(self, expr: Sym) -> str:  # noqa: N802 - sympy calls it
            value = float(expr)
            return repr(value) if math.isfinite(value) and value else str(super()._print_Float(expr))

        def _print_Symbol(self, expr: Sym) -> str:  # noqa: N802
            name = str(expr.name)
            is_plain = re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) and not keyword.iskeyword(name)
            is_taken = hasattr(sympy, name) or hasattr(builtins, name)
            return name if is_plain and not is_taken else f"Symbol({name!r})"

    return str(Printer().doprint(to_sympy(expression)))


def used(expression: Expression) -> list[Token]:
    """The variables that occur, each once."""
    return list(dict.fromkeys(token for token in expression.tokens if token.kind is TokenKind.VARIABLE))


def build(
    sequence: Sequence[Word],
    variables: Sequence[Sym],
    number: Callable[[str, str], Sym],
    own: Mapping[str, tuple[int, Callable[..., Sym]]] | None = None,
) -> Sym:
    """Return the sympy expression of a prefix; `number` converts a literal or constant.

    `own` holds further operators, each with its arity.
    """
    import sympy

    own = own or {}
    operators = sympy_operators(sympy, lambda value: number(LITERAL, repr(value)))
    waiting: list[Sym] = []
    for kind, value in reversed(sequence):
        if kind == VARIABLE:
            waiting.append(variables[int(value)])
        elif kind in (LITERAL, CONSTANT):
            waiting.append(number(kind, value))
        else:
            arity, function = own[kind] if kind in own else (OPERATORS[kind].arity, operators[kind])
            waiting.append(function(*(waiting.pop() for _ in range(arity))))
    return waiting[0]
