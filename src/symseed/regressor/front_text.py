"""Formulas as lines of text that fit a width: columns of numbers, and formulas broken between their operators."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"(?:`[^`]*`|[^`\s])+")
"""A word; spaces within backticks belong to a name."""
_PART = re.compile(r"[*/]?(?:`[^`]*`|\*\*|[^`(*/])*\(?")
"""A part of a word: words longer than a line are broken before a factor and after a bracket."""
_OPERATORS = frozenset("+-*/^")
_INDENT = "  "
_ROOMY_MARK, _ROOMY_NUMBER, _ROOMY_SCORE = 4, 10, 8
"""Least widths of columns, in characters, if there is room: chosen by hand."""
_NARROW = 80
"""Width below which columns of numbers are only as wide as they must be: chosen by hand."""
_LEAST = 24
"""Least width of the column of formulas, enough for any number; if there is less, formulas are on separate lines."""


def wrapped(formula: str, width: int | None) -> list[str]:
    """Return a formula as lines of at most `width` characters, broken between its parts; None: one line.

    No number and no name is broken; one that is longer than a line has a line of its own.
    """
    if width is None or len(formula) <= width:
        return [formula]
    lines: list[str] = []
    for piece in _pieces(formula, width - len(_INDENT)):
        if lines and len(lines[-1]) + len(piece) <= width:
            lines[-1] += piece
        else:
            lines.append(f"{_INDENT}{piece.lstrip()}" if lines else piece.lstrip())
    return lines


def _pieces(formula: str, width: int) -> list[str]:
    """The parts between which a formula may be broken, with the spaces before them; an operator begins a part."""
    pieces: list[str] = []
    is_open = False  # whether the last piece is an operator that its operand follows
    for word in _WORD.findall(formula):
        if is_open:
            pieces[-1] += f" {word}"
        else:
            pieces.append(f" {word}" if pieces else word)
        is_open = word in _OPERATORS
    parted = (_PART.findall(piece) if len(piece) > width else [piece] for piece in pieces)
    return [part for parts in parted for part in parts if part]


def table(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Return rows as lines of at most `width` characters: numbers on the right of their columns, formulas wrapped."""
    is_roomy = width is None or width >= _NARROW
    *numbers, _ = zip(*rows, strict=True)
    roomy = (_ROOMY_MARK, *(_ROOMY_NUMBER for _ in numbers[2:]), _ROOMY_SCORE)
    least = roomy if is_roomy else [0] * len(numbers)
    widths = [max(low, *map(len, column)) for low, column in zip(least, numbers, strict=True)]
    before = sum(widths) + 1 + 2 * (len(widths) - 1)
    is_below = width is not None and width < before + _LEAST
    indent = widths[0] + 1 if is_below else before
    lines = []
    for *cells, formula in rows:
        mark, *rest = (cell.rjust(size) for cell, size in zip(cells, widths, strict=True))
        written = wrapped(formula, None if width is None else width - indent)
        first = f"{mark} {'  '.join(rest)}"
        lines += [first] if is_below else [f"{first}  {written.pop(0)}"]
        lines += [f"{' ' * indent}{line}" for line in written]
    return lines
