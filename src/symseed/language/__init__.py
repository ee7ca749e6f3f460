"""The language of formulas: tokens, libraries, expressions, populations, parsing."""

from __future__ import annotations

from symseed.language.categories import Categories
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.template import Template
from symseed.language.tokens import OPERATORS, Token, TokenKind
from symseed.language.writer import Writer

__all__ = [
    "OPERATORS",
    "Categories",
    "Expression",
    "Library",
    "Population",
    "Row",
    "Template",
    "Token",
    "TokenKind",
    "Writer",
]
