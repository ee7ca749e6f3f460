"""Formulas as values that a page can draw without reading HTML: trees of elements with a name and a text."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from symseed.language import Expression, Library, TokenKind
from symseed.show.figures import FrontRow, node_label
from symseed.show.page import formula_mathml, named_mathml, text_mathml
from symseed.text import one_line

_LONGEST = 24
"""Most characters of a column's name in a tree: chosen by hand."""
_ATTRIBUTES = frozenset({"display", "stretchy", "form", "lspace", "rspace", "mathvariant"})
"""Attributes of MathML that the page sets; all others are left out."""


def formula_values(target: str, equation: FrontRow) -> list[Any]:
    """Return `target = formula`, or the formula alone, as an element of MathML: its name, attributes and parts."""
    return _read(named_mathml(target, equation) if target else formula_mathml(equation))


def text_values(text: str, library: Library) -> list[Any]:
    """Return a formula as the log of a run has it, as such an element."""
    return _read(text_mathml(text, library))


def tree_values(expression: Expression) -> dict[str, Any]:
    """Return a formula as a tree: the label of each node, what kind it is, and the nodes below."""
    waiting: list[dict[str, Any]] = []
    for token, value in zip(reversed(expression.tokens), reversed(expression.constants), strict=True):
        below = [waiting.pop() for _ in range(token.arity)]
        label = one_line(token.name, _LONGEST) if token.kind is TokenKind.VARIABLE else node_label(token, value)
        waiting.append({"label": label, "kind": token.kind.name.lower(), "below": below})
    return waiting[0]


def _read(mathml: str) -> list[Any]:
    reader = _Elements()
    reader.feed(mathml)
    reader.close()
    (element,) = reader.parts
    return list(element)


class _Elements(HTMLParser):
    """Reads the elements of our own MathML, whose names are escaped already."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[Any] = []
        self._open: list[list[Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        kept = {name: value or "" for name, value in attrs if name in _ATTRIBUTES}
        element = [tag, kept, []]
        (self._open[-1][2] if self._open else self.parts).append(element)
        self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element without content."""
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, _: str) -> None:
        """Close the element."""
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Add a text."""
        if self._open:
            self._open[-1][2].append(data)
