"""Formulas as words, independent of a library: the input of sympy proofs and of other notations."""

from __future__ import annotations

from typing import TypeAlias

from symseed.language.expression import Expression
from symseed.language.tokens import Token, TokenKind

Word: TypeAlias = tuple[str, str]
"""One token: an operator and "", or one of the three names below and a column or number."""
VARIABLE, LITERAL, CONSTANT = "variable", "literal", "constant"


def words(expression: Expression) -> list[Word]:
    """Return an expression as words, in prefix order."""

    def word(token: Token, value: float) -> Word:
        if token.kind is TokenKind.OPERATOR:
            return token.name, ""
        if token.kind is TokenKind.VARIABLE:
            return VARIABLE, str(token.column)
        if token.kind is TokenKind.LITERAL:
            return LITERAL, repr(token.value)
        return CONSTANT, repr(value)

    return [word(token, value) for token, value in zip(expression.tokens, expression.constants, strict=True)]
