"""Formulas, templates and units in text: read, or refused with a sentence; what is read is written and read back."""

from __future__ import annotations

import numpy as np

import hostile
from symseed import Expression, Library
from symseed.export import to_text
from symseed.language.template import Template
from symseed.space.dimensions import dimension

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "exp", "log", "pow", "neg", "const", 2.0], ["x", "y", "a b"])
TABLE = np.array([[0.5, 2.0, -1.0], [1.5, 0.0, 3.0]])


def one(data: bytes) -> None:
    """Read the bytes as text of each kind."""
    text = data.decode(errors="surrogateescape")
    for parse in (Expression.parse, Expression.parse_prefix):
        with hostile.may_refuse():
            expression = parse(text, LIBRARY)
            assert Expression.parse(str(expression), LIBRARY) == expression
            with np.errstate(all="ignore"):
                assert expression.evaluate(TABLE).shape == (len(TABLE),)
            to_text(expression)
    with hostile.may_refuse():
        Template.of(text, LIBRARY.tokens[3:10])
    with hostile.may_refuse():
        unit = dimension(text, "`x`")
        assert dimension(str(unit), "`x`") == unit
