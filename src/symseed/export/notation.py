"""Formulas in the notations of others: sympy's objects, LaTeX, and MathML for web pages.

Everything is built token by token from our own tree; no text is ever read as a formula, so a column may have any name.
sympy takes longer to load than many a search, so it is loaded where it is used.
"""

from __future__ import annotations

import html
import re
import string
from collections.abc import Callable, Mapping, Sequence

from symseed.errors import SettingsError
from symseed.export.libraries import Sym, sympy_operators
from symseed.language.expression import Expression
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS, Token, TokenKind
from symseed.language.words import CONSTANT, LITERAL, VARIABLE, Word, words
from symseed.text import code_point

DIGITS = 4
"""Significant digits of numbers that are for the eye."""
_LARGEST_INTEGER = 1_000_000
_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|upsilon|phi|chi|psi|omega"
    "|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
"""Names of letters; without pi, which readers would take for the number."""
_INDEXED = (re.compile("([A-Za-z]+)_?([0-9]+)"), re.compile(f"([A-Za-z]|{_GREEK.pattern})_([A-Za-z0-9]+)"))
"""Names that are written with an index: `x1`, `mass_2`; `v_max`, `mu_0`."""
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "{}$&%#_"},
}
_MATHML = {"&ExponentialE;": "e", "&ImaginaryI;": "i", "<mo>-</mo>": "<mo>−</mo>", "<mn>-": "<mn>−"}
"""What browsers would draw as double letters and hyphens, and what it should look like."""


def to_sympy(expression: Expression) -> Sym:
    """Return an expression as a sympy object, whose symbols have the names of the columns."""
    import sympy

    return _built(expression, sympy.Symbol, None)


def to_text(expression: Expression) -> str:
    """Return an expression as text whose numbers have a few digits: for the eye, not for reading back."""
    constants = tuple(float(f"{value:.{DIGITS}g}") for value in expression.constants)
    return str(Expression(expression.library, Row(expression.ids, constants)))


def to_latex(expression: Expression) -> str:
    """Return an expression as LaTeX, its numbers to a few digits; names that are no symbols stand as upright text."""
    import sympy

    # sympy would see accents, powers and absolute values in names: `AABS` would be |A|.
    names = {sympy.Symbol(token.name): _latex_name(token.name) for token in used(expression)}
    # With a dot where two names could run together.
    times = "dot" if any(r"\text" in name for name in names.values()) else None
    return str(sympy.latex(_built(expression, sympy.Symbol, DIGITS), symbol_names=names, mul_symbol=times))


def to_mathml(expression: Expression) -> str:
    """Return an expression as a MathML element, its numbers to a few digits; names are escaped."""
    import sympy

    # sympy does not escape names, so it does not see them: each column has letters in its place.
    names = {token.name: f"Zq{_letters(place)}qZ" for place, token in enumerate(used(expression))}
    built = _built(expression, lambda name: sympy.Symbol(names[name]), DIGITS)
    # With a dot, for names have more than one letter: nothing between two of them would make them one.
    inner = sympy.mathml(built, printer="presentation", mul_symbol="dot")
    for theirs, ours in _MATHML.items():
        inner = inner.replace(theirs, ours)
    written = {f"<mi>{letters}</mi>": _mathml_name(name) for name, letters in names.items()}
    inner = re.sub("<mi>Zq[a-z]+qZ</mi>", lambda match: written[match[0]], inner)
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML">{inner}</math>'


def _letters(place: int) -> str:
    return "".join(string.ascii_lowercase[int(digit)] for digit in str(place))


def _base_and_index(name: str) -> tuple[str, str]:
    """Split a name that is written with an index; the index of others is empty."""
    for form in _INDEXED:
        if match := form.fullmatch(name):
            return match[1], match[2]
    return name, ""


def _latex_name(name: str) -> str:
    base, index = _base_and_index(name)
    if _GREEK.fullmatch(base):
        written = f"\\{base}"
    elif re.fullmatch("[A-Za-z]", base):
        written = base
    else:
        written = rf"\text{{{_escaped(base)}}}"
    if not index:
        return written
    return f"{written}_{{{index}}}" if index.isdigit() else rf"{written}_{{\mathrm{{{index}}}}}"


def _mathml_name(name: str) -> str:
    base, index = _base_and_index(name)
    written = f"<mi>{html.escape(base)}</mi>"
    if not index:
        return written
    return f"<msub>{written}<mn>{index}</mn></msub>" if index.isdigit() else f"<msub>{written}<mi>{index}</mi></msub>"


def used(expression: Expression) -> list[Token]:
    """The variables that occur, each once."""
    return list(dict.fromkeys(token for token in expression.tokens if token.kind is TokenKind.VARIABLE))


def _built(expression: Expression, symbol: Callable[[str], Sym], digits: int | None) -> Sym:
    """Return the sympy object with numbers of so many digits; None: of all that they have.

    Operators of the user's own are written out where it is known what they stand for; others are functions by name.
    """
    import sympy

    expression = expression.expanded()

    def number(kind: str, value: str) -> Sym:  # noqa: ARG001 - literals and constants are numbers alike
        given = float(value)
        if given.is_integer() and abs(given) <= _LARGEST_INTEGER:
            return sympy.Integer(int(given))
        return sympy.Float(given) if digits is None else sympy.Float(f"{given:.{digits}g}", digits)

    symbols = {token.column: symbol(token.name) for token in used(expression)}
    variables = [symbols.get(column) for column in range(1 + max(symbols, default=-1))]
    own = {token.name: (token.arity, sympy.Function(token.name)) for token in expression.tokens if token.function}
    try:
        return build(words(expression), variables, number, own)
    except ValueError as error:  # such as the smaller of two complex numbers
        raise SettingsError(f"sympy cannot write `{expression}`: {error}") from None


def build(
    sequence: Sequence[Word],
    variables: Sequence[Sym],
    number: Callable[[str, str], Sym],
    own: Mapping[str, tuple[int, Callable[..., Sym]]] | None = None,
) -> Sym:
    """Return the sympy expression of a prefix; `number` says what a literal or constant stands for.

    `own` has further operators, each with its arity.
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


def _escaped(name: str) -> str:
    """Return a name for TeX's text mode; what cannot be seen is written as code points."""
    plain = " ".join(name.split()) or "".join(map(code_point, name))
    visible = (character if character.isprintable() else code_point(character) for character in plain)
    return "".join(_TEX.get(character, character) for character in "".join(visible))
