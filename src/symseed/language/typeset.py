"""Formulas typeset: LaTeX for papers and notebooks, MathML for web pages, with the same shape in both.

Everything is built token by token; no text is ever read as a formula, so a column may have any name.
"""

from __future__ import annotations

import html
import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from symseed.language import derived, spelling
from symseed.language.spelling import ALL_DIGITS, DIGITS, Simple
from symseed.language.tokens import OPERATORS, Token, TokenKind
from symseed.text import code_point

if TYPE_CHECKING:
    from symseed.language.expression import Expression

_SUM, _PRODUCT, _POWER, _ATOM = range(1, 5)
"""How tightly the outermost operator of a piece binds."""
_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|upsilon|phi|chi|psi|omega"
    "|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
"""Names of Greek letters; pi is not among them, because readers would take it for the number."""
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
_TEX_FUNCTIONS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "min", "max")
"""Operators that TeX has a command for."""
_CALLED = ("sign", "step")
"""Derived operators whose names say more than their expansions."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a formula in markup, without its minus sign."""

    text: str
    binding: int = _ATOM
    is_negative: bool = False
    is_number: bool = False
    """Whether it begins with a digit: two numbers side by side would be read as one."""


@dataclass(frozen=True, slots=True)
class _Markup:
    """How one language writes what formulas are made of."""

    forms: Mapping[str, str]
    """Templates with the places a and, if there are two parts, b."""
    name: Callable[[str], str]
    function: Callable[[str], str]
    """Writes the name of an operator."""
    is_dotted: bool
    """Whether all products have a dot, because names may have several letters."""

    def of(self, form: str, a: str, b: str = "") -> str:
        """Fill in a template."""
        return self.forms[form].format(a=a, b=b)

    def integer(self, value: int) -> _Piece:
        """Write an integer that is not negative."""
        return _Piece(self.of("number", str(value)), is_number=True)

    def bracketed(self, piece: _Piece, binding: int) -> str:
        """Write a piece, with brackets if it binds less tightly or is negative."""
        needs = piece.binding < binding or piece.is_negative
        return self.of("bracket", self.signed(piece)) if needs else piece.text

    def signed(self, piece: _Piece) -> str:
        """Write a piece with its sign."""
        return self.of("negative", piece.text) if piece.is_negative else piece.text

    def sum(self, a: _Piece, b: _Piece) -> _Piece:
        """Write a + b, or a - |b|."""
        right = b.text if b.binding > _SUM or not b.is_negative else self.of("bracket", b.text)
        form = "difference" if b.is_negative else "sum"
        return _Piece(self.of(form, self.signed(a), right), _SUM, is_number=a.is_number and not a.is_negative)

    def negative(self, a: _Piece) -> _Piece:
        """Write -a."""
        if a.binding == _SUM:
            return _Piece(self.of("bracket", a.text), is_negative=True)
        return replace(a, is_negative=not a.is_negative)

    def product(self, a: _Piece, b: _Piece) -> _Piece:
        """Write a b, with a dot if one is needed."""
        left, right = (replace(piece, is_negative=False) for piece in (a, b))
        form = "dotted" if self.is_dotted or b.is_number else "product"
        text = self.of(form, self.bracketed(left, _PRODUCT), self.bracketed(right, _PRODUCT))
        return _Piece(text, _PRODUCT, a.is_negative is not b.is_negative, a.is_number and a.binding > _SUM)

    def fraction(self, a: _Piece, b: _Piece) -> _Piece:
        """Write a over b."""
        return _Piece(self.of("fraction", a.text, b.text), _POWER, a.is_negative is not b.is_negative)

    def power(self, a: _Piece, b: _Piece) -> _Piece:
        """Write a to the power of b."""
        base = self.bracketed(a, _ATOM)
        return _Piece(self.of("power", base, self.signed(b)), _POWER, is_number=a.is_number and base == a.text)

    def call(self, name: str, arguments: Sequence[_Piece]) -> _Piece:
        """Write an operator with its arguments in brackets."""
        inside = self.forms["comma"].join(self.signed(piece) for piece in arguments)
        return _Piece(self.of("call", self.function(name), inside))


def to_latex(expression: Expression, digits: int | None = DIGITS) -> str:
    """Return an expression as LaTeX; names that are not symbols are upright text.

    Args:
        digits: significant digits of each number; simple fractions and multiples of pi are written as such. None:
            numbers are written exactly.
    """
    expression = expression.expanded()
    names = [_latex_name(token.name) for token in expression.tokens if token.kind is TokenKind.VARIABLE]
    # With a dot if two names could run together.
    is_dotted = any(r"\text" in name for name in names)
    return _typeset(expression, _Markup(_LATEX, _latex_name, _latex_function, is_dotted), digits)


def to_mathml(expression: Expression, digits: int | None = DIGITS) -> str:
    """Return an expression as a MathML element, with the same numbers as `to_latex`; names are escaped."""
    markup = _Markup(_MATHML, _mathml_name, lambda name: f"<mi>{html.escape(name)}</mi>", is_dotted=True)
    inner = _typeset(expression.expanded(), markup, digits)
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{inner}</mrow></math>'


def latex_number(value: float, digits: int) -> str:
    """Return a number to `digits` significant digits as LaTeX."""
    markup = _Markup(_LATEX, _latex_name, _latex_function, is_dotted=False)
    return markup.signed(_decimal(markup, value, digits))


def _typeset(expression: Expression, markup: _Markup, digits: int | None) -> str:
    waiting: list[_Piece] = []
    for token, value in zip(reversed(expression.tokens), reversed(expression.constants), strict=True):
        arguments = [waiting.pop() for _ in range(token.arity)]
        if token.kind is TokenKind.VARIABLE:
            waiting.append(_Piece(markup.name(token.name)))
        elif token.arity == 0:
            waiting.append(_number(markup, value if token.kind is TokenKind.CONSTANT else token.value, digits))
        else:
            waiting.append(_applied(markup, token, arguments))
    return markup.signed(waiting[0])


def _applied(markup: _Markup, token: Token, arguments: Sequence[_Piece]) -> _Piece:
    a, b = arguments[0], arguments[-1]
    forms: dict[str, Callable[[], _Piece]] = {
        "add": lambda: markup.sum(a, b),
        "sub": lambda: markup.sum(a, markup.negative(b)),
        "mul": lambda: markup.product(a, b),
        "div": lambda: markup.fraction(a, b),
        "pow": lambda: markup.power(a, b),
        "square": lambda: markup.power(a, markup.integer(2)),
        "cube": lambda: markup.power(a, markup.integer(3)),
        "quartic": lambda: markup.power(a, markup.integer(4)),
        "neg": lambda: markup.negative(a),
        "inv": lambda: markup.fraction(markup.integer(1), a),
        "sqrt": lambda: _Piece(markup.of("root", markup.signed(a))),
        "cbrt": lambda: _Piece(markup.of("third root", markup.signed(a))),
        "abs": lambda: _Piece(markup.of("bars", markup.signed(a))),
        "floor": lambda: _Piece(markup.of("floor", markup.signed(a))),
        "ceil": lambda: _Piece(markup.of("ceil", markup.signed(a))),
        "exp": lambda: _Piece(markup.of("exp", markup.signed(a)), _POWER),
        "expneg": lambda: _Piece(markup.of("exp", markup.signed(markup.negative(a))), _POWER),
        "logabs": lambda: markup.call("log", [_Piece(markup.of("bars", markup.signed(a)))]),
    }
    if token.name in forms:
        return forms[token.name]()
    if token.name in derived.DERIVED and token.name not in _CALLED:
        return derived.written_out(
            token.name,
            arguments,
            lambda name, given: _applied(markup, OPERATORS[name], given),
            lambda value: _number(markup, value, DIGITS),
        )
    return markup.call(token.name, arguments)


def _number(markup: _Markup, value: float, digits: int | None) -> _Piece:
    """Write a simple number as such, any other number to `digits` digits; None: exactly, with pi as a symbol."""
    simple = Simple.of(abs(value)) if digits is not None or abs(value) == math.pi else None
    if simple is None:
        return _decimal(markup, value, ALL_DIGITS if digits is None else digits)
    above = markup.integer(simple.p)
    if simple.is_pi:
        pi = _Piece(markup.forms["pi"])
        above = pi if simple.p == 1 else markup.product(above, pi)
    piece = above if simple.q == 1 else markup.fraction(above, markup.integer(simple.q))
    return replace(piece, is_negative=value < 0.0)


def _decimal(markup: _Markup, value: float, digits: int) -> _Piece:
    mantissa, exponent = spelling.mantissa_and_exponent(spelling.rounded(abs(value), digits))
    piece = _Piece(markup.of("number", mantissa), is_number=True)
    if exponent:
        power = markup.signed(replace(markup.integer(abs(exponent)), is_negative=exponent < 0))
        piece = _Piece(markup.of("ten", mantissa, power), _PRODUCT, is_number=True)
    return replace(piece, is_negative=value < 0.0)


# --- LaTeX -----------------------------------------------------------------------------------------------------------

_LATEX: Mapping[str, str] = types.MappingProxyType(
    {
        "number": "{a}",
        "ten": r"{a} \cdot 10^{{{b}}}",
        "pi": r"\pi",
        "sum": "{a} + {b}",
        "difference": "{a} - {b}",
        "negative": "-{a}",
        "product": "{a} {b}",
        "dotted": r"{a} \cdot {b}",
        "fraction": r"\frac{{{a}}}{{{b}}}",
        "power": "{a}^{{{b}}}",
        "exp": "e^{{{a}}}",
        "root": r"\sqrt{{{a}}}",
        "third root": r"\sqrt[3]{{{a}}}",
        "bars": r"\left|{a}\right|",
        "floor": r"\left\lfloor {a}\right\rfloor",
        "ceil": r"\left\lceil {a}\right\rceil",
        "bracket": r"\left({a}\right)",
        "call": r"{a}\left({b}\right)",
        "comma": ", ",
    }
)


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


def _latex_function(name: str) -> str:
    return f"\\{name}" if name in _TEX_FUNCTIONS else rf"\operatorname{{{_escaped(name)}}}"


def _escaped(name: str) -> str:
    """Return a name for TeX's text mode; invisible characters are written as code points."""
    plain = " ".join(name.split()) or "".join(map(code_point, name))
    visible = (character if character.isprintable() else code_point(character) for character in plain)
    return "".join(_TEX.get(character, character) for character in "".join(visible))


def _base_and_index(name: str) -> tuple[str, str]:
    """Split a name that is written with an index; for other names the index is empty."""
    for form in _INDEXED:
        if match := form.fullmatch(name):
            return match[1], match[2]
    return name, ""


# --- MathML ----------------------------------------------------------------------------------------------------------

_MATHML: Mapping[str, str] = types.MappingProxyType(
    {
        "number": "<mn>{a}</mn>",
        "ten": "<mn>{a}</mn><mo>·</mo><msup><mn>10</mn><mrow>{b}</mrow></msup>",
        "pi": "<mi>π</mi>",
        "sum": "{a}<mo>+</mo>{b}",
        "difference": "{a}<mo>−</mo>{b}",
        "negative": "<mo>−</mo>{a}",
        "product": "{a}<mo>·</mo>{b}",
        "dotted": "{a}<mo>·</mo>{b}",
        "fraction": "<mfrac><mrow>{a}</mrow><mrow>{b}</mrow></mfrac>",
        "power": "<msup><mrow>{a}</mrow><mrow>{b}</mrow></msup>",
        "exp": "<msup><mi>e</mi><mrow>{a}</mrow></msup>",
        "root": "<msqrt><mrow>{a}</mrow></msqrt>",
        "third root": "<mroot><mrow>{a}</mrow><mn>3</mn></mroot>",
        "bars": "<mrow><mo>|</mo>{a}<mo>|</mo></mrow>",
        "floor": "<mrow><mo>⌊</mo>{a}<mo>⌋</mo></mrow>",
        "ceil": "<mrow><mo>⌈</mo>{a}<mo>⌉</mo></mrow>",
        "bracket": "<mrow><mo>(</mo>{a}<mo>)</mo></mrow>",
        "call": "<mrow>{a}<mo>(</mo>{b}<mo>)</mo></mrow>",
        "comma": "<mo>,</mo>",
    }
)


def _mathml_name(name: str) -> str:
    base, index = _base_and_index(name)
    written = f"<mi>{html.escape(base)}</mi>"
    if not index:
        return written
    return f"<msub>{written}<mn>{index}</mn></msub>" if index.isdigit() else f"<msub>{written}<mi>{index}</mi></msub>"
