"""Formulas as source code: Python, C, Julia and Excel, besides sympy and LaTeX.

A text is written token by token, with the forms of `export/languages.py`. Column names become safe identifiers; the
names themselves are only in comments, where every character that could end a comment, a string or a cell is written as
its code point, such as <U+0022>.

A text computes what `Expression.evaluate` computes, but continues with IEEE values: if an intermediate value is not
finite, `evaluate` gives NaN, and a text continues with infinity or NaN. A NaN is never lost (min, max and pow are
written so that they pass it on). An infinity may be lost: 1 / exp(1000) is 0 in Python, C and Julia. Excel stops with
an error at the first value that is not finite, and at the sine of 2^27 and beyond; it reads an empty cell as 0.
"""

from __future__ import annotations

import itertools
import math
import re
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from symseed.errors import SettingsError, cut, did_you_mean
from symseed.export import notation
from symseed.export.languages import ATOM, EXCEL, JULIA, PYTHON, C, Language, Piece
from symseed.language.expression import Expression
from symseed.language.tokens import OPERATORS, Token, TokenKind
from symseed.language.typeset import to_latex
from symseed.text import for_comment

_DEEPEST = 24
"""Deepest nesting of a text within one statement, because parsers and readers have limits: chosen by hand."""
_EXCEL_NESTING = 64
"""Deepest nesting of a formula that Excel reads."""
_EXCEL_COLUMNS = 16_384
"""Number of columns of an Excel sheet."""
_EXCEL_LARGEST = 9.99999999999999e307
"""Largest number that Excel reads."""


def export(
    expression: Expression,
    format: str,  # noqa: A002 - what it is called
    *,
    name: str = "formula",
    notes: Sequence[str] = (),
) -> str:
    """Write a formula as text.

    Args:
        expression: the formula.
        format: one of `FORMATS`. `text` is what symseed itself reads; `sympy` is text that `sympy.sympify` reads;
            `latex` has numbers to a few digits; `python` is a module with one function of NumPy arrays, `c` a C99 file
            with one function of doubles, `julia` a function of numbers (use it with a dot for arrays); their arguments
            are the variables that occur, in the order of the columns. `excel` is a formula for row 2 of a sheet with
            the data's columns in their order, from A on; the lines after it say which column each cell is.
        name: name of the function, in Python, C and Julia.
        notes: lines of ASCII for a comment, in Python, C and Julia.

    Numbers have the digits that give back the same float64, except in LaTeX; Excel itself reads 15 of them.

    Raises:
        SettingsError: if the format is unknown, or cannot express the formula.
    """
    if format not in FORMATS:
        raise SettingsError(
            f"`format` must be one of {', '.join(FORMATS)}, but it is {cut(format)}.{did_you_mean(format, FORMATS)}"
        )
    return FORMATS[format](expression.expanded(), name, notes)


def variables(expression: Expression) -> list[Token]:
    """Return the variables that occur, in the order of their columns: the arguments of an exported function."""
    return sorted(notation.used(expression), key=lambda token: token.column)


def check(expression: Expression, known: Collection[str], title: str) -> None:
    """Refuse operators that a notation lacks, and constants that are not finite."""
    for token, value in zip(expression.tokens, expression.constants, strict=True):
        if token.kind is TokenKind.OPERATOR and token.name not in known:
            raise SettingsError(
                f"`{token.name}` is an operator of your own, which {title} cannot express; write the formula with "
                "other operators, or use it in Python, by `SymbolicRegressor.numpy_function`."
            )
        if token.kind is TokenKind.CONSTANT and not math.isfinite(value):
            raise SettingsError(
                f"The formula's constants must be finite numbers, but one of them is {value}. Fit them first."
            )


def _identifiers(expression: Expression, language: Language, name: str) -> dict[Token, str]:
    """Name the arguments: by the column if that is a safe word, otherwise x1, x2, ... by the column's number."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in language.words:
        raise SettingsError(
            f"`name` must be a word of letters, digits and underscores that {language.title} does not use itself, but "
            f"it is {cut(name)}. Give another one."
        )
    found: dict[Token, str] = {}
    for token in variables(expression):
        number = f"x{token.column + 1}"
        word = re.sub(r"[^A-Za-z0-9]+", "_", token.name).strip("_") if token.name.isascii() else ""
        # t1 is an intermediate value, and x1 is always the first column.
        is_plain = re.fullmatch(r"[A-Za-z]\w{0,39}", word) and not re.fullmatch(r"[tx]\d+", word)
        if not is_plain or word in (*language.words, *found.values(), name):
            word = number
        while word in (*found.values(), name):
            word += "_"  # no word from a column ends with it
        found[token] = word
    return found


@dataclass(frozen=True, slots=True)
class _Body:
    """A formula in a language: helpers, statements in order, and the text of the value."""

    helpers: list[str]
    statements: list[str]
    value: str


def _body(expression: Expression, language: Language, names: Mapping[Token, str]) -> _Body:
    """Write a formula in a language."""
    check(expression, language.operators, language.title)
    statements: list[str] = []

    def held(piece: Piece) -> Piece:
        """Assign a text to a name."""
        name = f"t{len(statements) + 1}"
        statements.append(language.statement.format(name=name, text=piece.text))
        return replace(piece, text=name, binding=ATOM, depth=0)

    helpers: dict[str, None] = {}
    waiting: list[Piece] = []
    for token, value in zip(reversed(expression.tokens), reversed(expression.constants), strict=True):
        arguments = [waiting.pop() for _ in range(token.arity)]
        if token.arity == 0:
            waiting.append(_leaf(token, value, names))
            continue
        form = language.form(token.name, arguments)
        is_closed = all(piece.is_closed for piece in arguments)
        if is_closed:
            arguments = [_computed(piece, language) for piece in arguments]
        if language.statement:
            arguments = [
                held(piece)
                if piece.depth and (form.template.count(f"{{{letter}") > 1 or piece.depth > _DEEPEST)
                else piece
                for letter, piece in zip("ab", arguments, strict=False)
            ]
        helpers.update(dict.fromkeys(form.helpers))
        text = form.of(arguments)
        if language.longest and len(text) > language.longest:  # checked here, because repeated texts grow fast
            raise SettingsError(
                f"The text of {language.title} has at most {language.longest} characters, but this one would have "
                "more. Export a shorter formula, or use another format."
            )
        depth = 1 + max(piece.depth for piece in arguments)
        waiting.append(Piece(text, form.binding, depth, None, is_closed))
    return _Body(sorted(helpers), statements, waiting[0].text)


def _leaf(token: Token, value: float, names: Mapping[Token, str]) -> Piece:
    if token.kind is TokenKind.VARIABLE:
        return Piece(names[token])
    return Piece.of_number(float(value if token.kind is TokenKind.CONSTANT else token.value))


def _computed(piece: Piece, language: Language) -> Piece:
    """Write a number that is computed from numbers only."""
    if piece.number is None or language.closed_number == "{text}":
        return piece
    return replace(piece, text=language.closed_number.format(text=piece.text), binding=ATOM)


def _sympy(expression: Expression, name: str, notes: Sequence[str]) -> str:  # noqa: ARG001 - it has neither
    check(expression, OPERATORS, "sympy")
    return notation.sympy_text(expression)


def _own(expression: Expression, name: str, notes: Sequence[str]) -> str:  # noqa: ARG001 - it has neither
    check(expression, {token.name for token in expression.tokens}, "text")
    return str(expression)


def _latex(expression: Expression, name: str, notes: Sequence[str]) -> str:  # noqa: ARG001 - it has neither
    check(expression, OPERATORS, "LaTeX")
    return to_latex(expression)


def _legend(names: Mapping[Token, str], *, ascii_only: bool = False) -> list[str]:
    """List the column of each argument."""
    return [
        f"{word}: column {token.column + 1}, {for_comment(token.name, ascii_only=ascii_only)}"
        for token, word in names.items()
    ]


def _comment(note: str) -> str:
    """A line for a comment, without the signs that could end it."""
    return re.sub(r"[^ A-Za-z0-9:,.()+/-]|/(?![-])", "_", note)


def _indented(lines: Sequence[str], indent: str) -> str:
    return "".join(f"{indent}{line}\n" for line in lines)


def _python(expression: Expression, name: str, notes: Sequence[str]) -> str:
    names = _identifiers(expression, PYTHON, name)
    body = _body(expression, PYTHON, names)
    lines = [*_legend(names), *map(_comment, notes)]
    legend = f"\n\n{_indented(lines, '    ')}    " if lines else ""
    imports = "import math\n\nimport numpy as np" if body.helpers else "import numpy as np"
    return (
        '"""A formula found by symseed."""\n\n'
        + "\n\n\n".join([imports, *body.helpers, ""])
        + f"def {name}({', '.join(names.values())}):\n"
        f'    """Return the formula\'s value at numbers or arrays.{legend}"""\n'
        + _indented([f"{word} = np.asarray({word}, dtype=np.float64)" for word in names.values()], "    ")
        + '    with np.errstate(all="ignore"):\n'
        + _indented([*body.statements, f"return {body.value}"], "        ")
    )


def _c(expression: Expression, name: str, notes: Sequence[str]) -> str:
    names = _identifiers(expression, C, name)
    body = _body(expression, C, names)
    arguments = ", ".join(f"double {word}" for word in names.values()) or "void"
    return (
        "/* A formula found by symseed, in C99. Link with -lm; do not compile with -ffast-math.\n"
        + _indented([*_legend(names, ascii_only=True), *map(_comment, notes)], "   ")
        + f"*/\n#include <math.h>\n\ndouble {name}({arguments})\n{{\n"
        + _indented([*body.statements, f"return {body.value};"], "    ")
        + "}\n"
    )


def _julia(expression: Expression, name: str, notes: Sequence[str]) -> str:
    names = _identifiers(expression, JULIA, name)
    body = _body(expression, JULIA, names)
    arguments = ", ".join(names.values())
    return (
        f"# A formula found by symseed. For arrays: {name}.({arguments})\n"
        + _indented([*_legend(names), *map(_comment, notes)], "# ")
        + f"function {name}({arguments})\n"
        + _indented(body.helpers, "    ")
        + _indented([f"{word} = float({word})" for word in names.values()], "    ")
        + _indented([*body.statements, f"return {body.value}"], "    ")
        + "end\n"
    )


def _excel(expression: Expression, name: str, notes: Sequence[str]) -> str:  # noqa: ARG001 - a cell has neither
    names = {token: f"{_excel_column(token.column)}2" for token in variables(expression)}
    numbers = [
        token.value if token.kind is TokenKind.LITERAL else value
        for token, value in zip(expression.tokens, expression.constants, strict=True)
        if token.kind in (TokenKind.LITERAL, TokenKind.CONSTANT)
    ]
    large = next((number for number in numbers if abs(number) > _EXCEL_LARGEST), None)
    if large is not None:
        raise SettingsError(
            f"Excel reads numbers up to {_EXCEL_LARGEST}, but the formula has {large}. Use another format."
        )
    formula = "=" + re.sub(r"(?<=[\d.])e", "E", _body(expression, EXCEL, names).value)
    nesting = max(itertools.accumulate((sign == "(") - (sign == ")") for sign in formula))
    if nesting > _EXCEL_NESTING:
        raise SettingsError(
            f"An Excel formula has at most {_EXCEL_NESTING} brackets within each other, but this one has {nesting}. "
            "Export a shorter formula, or use another format."
        )
    return "\n".join([formula, *_legend(names)]) + "\n"


def _excel_column(column: int) -> str:
    if column >= _EXCEL_COLUMNS:
        raise SettingsError(
            f"A sheet has {_EXCEL_COLUMNS} columns, but the formula uses column {column + 1}. Use another format."
        )
    letters = ""
    rest = column + 1
    while rest:
        rest, digit = divmod(rest - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


FORMATS: Mapping[str, Callable[[Expression, str, Sequence[str]], str]] = types.MappingProxyType(
    {"text": _own, "sympy": _sympy, "latex": _latex, "python": _python, "c": _c, "julia": _julia, "excel": _excel}
)
"""The writer of each format: a function of the formula, the function's name, and lines for a comment."""
