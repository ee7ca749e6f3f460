"""Notations for export: how Python, C, Julia and Excel write each operator, and which words they reserve.

A derived operator needs a form only if its expansion (`language.derived`) would be longer or less exact.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from symseed.language import derived

# Binding strength of a text's outermost operator.
SUM, PRODUCT, NEGATIVE, POWER, ATOM = range(1, 6)

# Forms of pow if one argument is a number; a table needs only those that are simpler than its general form.
BY_WHOLE = "pow by a whole number"
BY_NUMBER = "pow by a number"
OF_POSITIVE = "pow of a positive number"


@dataclass(frozen=True, slots=True)
class Form:
    """Form of an operator: `{a}` is an argument, `{a:3}` one in brackets unless its binding strength is at least 3."""

    template: str
    binding: int = ATOM
    helpers: tuple[str, ...] = ()
    """Definitions that the template needs."""

    def of(self, arguments: Sequence[Piece]) -> str:
        """Return the text of the operator and its arguments."""
        return self.template.format(**dict(zip("ab", arguments, strict=False)))


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of a subtree."""

    text: str
    binding: int = ATOM
    depth: int = 0
    number: float | None = None
    """Its value, if it is one number."""
    is_closed: bool = False
    """Whether it has no variable."""

    @classmethod
    def of_number(cls, number: float) -> Piece:
        """Write a number."""
        return cls(repr(number), NEGATIVE if math.copysign(1.0, number) < 0.0 else ATOM, 0, number, is_closed=True)

    def __format__(self, spec: str) -> str:
        """Write it into a form; `v` is for Excel's MIN and MAX, which skip a cell of text unless 0 is added."""
        if spec == "v":
            return f"{self.text}+0" if self.depth == 0 and self.number is None else self.text
        return self.text if not spec or self.binding >= int(spec) else f"({self.text})"


class _Slot(Piece):
    """An argument of a composed form: it stays a placeholder, with the brackets that its place needs."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        """Write the argument's own place in a template."""
        return f"{{{self.text}:{spec}}}" if spec else f"{{{self.text}}}"


@dataclass(frozen=True, kw_only=True)
class Language:
    """What is needed to write a formula in one notation."""

    title: str
    """Name of the notation in messages: "which ... cannot express"."""
    forms: Mapping[str, Form]
    reserved: Collection[str] = ()
    """Words that cannot be identifiers; see `words`."""
    statement: str = ""
    """Template of a statement that names an intermediate value, with `{name}` and `{text}`; empty: no statements."""
    longest: int | None = None
    """Most characters of a formula; None: no limit."""
    closed_number: str = "{text}"
    """Template of a number that is computed from numbers only."""

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Every word with a meaning in the language, including those of the forms."""
        written = " ".join(" ".join((form.template, *form.helpers)) for form in self.forms.values())
        # A word after a point, as in np.sin, belongs to the name before it.
        return frozenset([*self.reserved, *re.findall(r"(?<![\w.])[A-Za-z_]\w*", written)])

    @property
    def operators(self) -> frozenset[str]:
        """Every operator that can be written."""
        return frozenset([*self.forms, *derived.DERIVED])

    def form(self, name: str, arguments: Sequence[Piece]) -> Form:
        """Return the form of an operator, or a simpler form of pow if one of its arguments is a number that allows it.

        A derived operator without a form is written by its expansion.
        """
        kinds = []
        if name == "pow":
            base, exponent = (piece.number for piece in arguments)
            if exponent:
                kinds = [BY_WHOLE, BY_NUMBER] if exponent.is_integer() else [BY_NUMBER]
            elif base is not None and base > 0.0 and base != 1.0:
                kinds = [OF_POSITIVE]
        own = (self.forms[kind] for kind in [*kinds, name] if kind in self.forms)
        return next(own, None) or self._expanded(name, len(arguments))

    def _expanded(self, name: str, arity: int) -> Form:
        """Compose a form from the forms of an expansion."""
        helpers: dict[str, None] = {}

        def apply(step: str, arguments: Sequence[Piece]) -> Piece:
            form = self.form(step, arguments)
            helpers.update(dict.fromkeys(form.helpers))
            return Piece(form.of(arguments), form.binding, depth=1)

        slots: list[Piece] = [_Slot(letter) for letter in "ab"[:arity]]
        whole = derived.written_out(name, slots, apply, Piece.of_number)
        return Form(whole.text, whole.binding, tuple(helpers))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


C = Language(
    title="C source",
    statement="const double {name} = {text};",
    # Keywords of C99 to C23 and C++, and macros that <math.h> and compilers define.
    reserved=_words(
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast "
        "constexpr continue default delete do double dynamic_cast else enum explicit export extern false float for "
        "friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr operator or or_eq "
        "private protected public register reinterpret_cast restrict return short signed sizeof static static_assert "
        "static_cast struct switch template this thread_local throw true try typedef typeid typename typeof "
        "typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq "
        "DOMAIN FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL "
        "FP_ZERO HUGE HUGE_VAL HUGE_VALF HUGE_VALL INFINITY MATH_ERREXCEPT MATH_ERRNO MAXFLOAT M_1_PI M_2_PI "
        "M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 NAN NULL OVERFLOW PLOSS "
        "SING SNAN TLOSS UNDERFLOW X_TLOSS double_t float_t i386 linux math_errhandling sun unix vax"
    ),
    forms={
        "add": Form("{a:1} + {b:2}", SUM),
        "sub": Form("{a:1} - {b:2}", SUM),
        "mul": Form("{a:2} * {b:3}", PRODUCT),
        "div": Form("{a:2} / {b:3}", PRODUCT),
        "pow": Form("pow({a}, {b}) + 0.0 * {a:3} + 0.0 * {b:3}", SUM),  # in C, pow(1, NaN) and pow(NaN, 0) are 1
        BY_NUMBER: Form("pow({a}, {b})"),
        OF_POSITIVE: Form("pow({a}, {b})"),
        "min": Form("({b} < {a} || {b} != {b} ? {b} : {a})"),  # fmin would drop a NaN
        "max": Form("({b} > {a} || {b} != {b} ? {b} : {a})"),
        "sin": Form("sin({a})"),
        "cos": Form("cos({a})"),
        "tan": Form("tan({a})"),
        "exp": Form("exp({a})"),
        "log": Form("log({a})"),
        "sqrt": Form("sqrt({a})"),
        "neg": Form("-{a:5}", NEGATIVE),
        "abs": Form("fabs({a})"),
        "tanh": Form("tanh({a})"),
        "asin": Form("asin({a})"),
        "acos": Form("acos({a})"),
        "atan": Form("atan({a})"),
        "sinh": Form("sinh({a})"),
        "cosh": Form("cosh({a})"),
        "asinh": Form("asinh({a})"),
        "acosh": Form("acosh({a})"),
        "atanh": Form("atanh({a})"),
        "log2": Form("log2({a})"),
        "log10": Form("log10({a})"),
        "log1p": Form("log1p({a})"),
        "expm1": Form("expm1({a})"),
        "cbrt": Form("cbrt({a})"),
        "erf": Form("erf({a})"),
        "gamma": Form("tgamma({a})"),
        "floor": Form("floor({a})"),
        # fmod has the sign of its first argument.
        "mod": Form("(fmod({a}, {b}) * {b:3} < 0.0 ? fmod({a}, {b}) + {b:2} : fmod({a}, {b}))"),
        "hypot": Form("hypot({a}, {b})"),
        "atan2": Form("atan2({a}, {b})"),
        "greater": Form("({a:1} > {b:1}) + 0.0 * {a:3} + 0.0 * {b:3}", SUM),  # a comparison would drop a NaN
        "step": Form("({a:1} > 0.0) + 0.0 * {a:3}", SUM),
        "sign": Form("({a:1} > 0.0) - ({a:1} < 0.0) + 0.0 * {a:3}", SUM),
        "relu": Form("({a:1} < 0.0 ? 0.0 : {a})"),
        "ceil": Form("ceil({a})"),
    },
)

_PYTHON_ERF = "_erf = np.vectorize(math.erf, otypes=[np.float64])"
_PYTHON_GAMMA = """def _gamma_of(_x):
    try:
        return math.gamma(_x)
    except (ValueError, OverflowError):
        return math.nan


_gamma = np.vectorize(_gamma_of, otypes=[np.float64])"""

PYTHON = Language(
    title="Python source",
    statement="{name} = {text}",
    reserved=frozenset([*keyword.kwlist, *keyword.softkwlist, *dir(builtins)]),
    closed_number="np.float64({text})",  # 1.0 / 0.0 raises an exception in plain Python, and gives inf in NumPy
    forms={
        "add": Form("{a:1} + {b:2}", SUM),
        "sub": Form("{a:1} - {b:2}", SUM),
        "mul": Form("{a:2} * {b:3}", PRODUCT),
        "div": Form("{a:2} / {b:3}", PRODUCT),
        "pow": Form("{a:5} ** {b:5} + 0.0 * {a:3} + 0.0 * {b:3}", SUM),  # 1 ** NaN and NaN ** 0 are 1
        BY_NUMBER: Form("{a:5} ** {b:5}", POWER),
        OF_POSITIVE: Form("{a:5} ** {b:5}", POWER),
        "min": Form("np.minimum({a}, {b})"),
        "max": Form("np.maximum({a}, {b})"),
        "sin": Form("np.sin({a})"),
        "cos": Form("np.cos({a})"),
        "tan": Form("np.tan({a})"),
        "exp": Form("np.exp({a})"),
        "log": Form("np.log({a})"),
        "sqrt": Form("np.sqrt({a})"),
        "square": Form("{a:5} ** 2", POWER),
        "cube": Form("{a:5} ** 3", POWER),
        "quartic": Form("{a:5} ** 4", POWER),
        "neg": Form("-{a:5}", NEGATIVE),
        "abs": Form("np.abs({a})"),
        "tanh": Form("np.tanh({a})"),
        "asin": Form("np.arcsin({a})"),
        "acos": Form("np.arccos({a})"),
        "atan": Form("np.arctan({a})"),
        "sinh": Form("np.sinh({a})"),
        "cosh": Form("np.cosh({a})"),
        "asinh": Form("np.arcsinh({a})"),
        "acosh": Form("np.arccosh({a})"),
        "atanh": Form("np.arctanh({a})"),
        "log2": Form("np.log2({a})"),
        "log10": Form("np.log10({a})"),
        "log1p": Form("np.log1p({a})"),
        "expm1": Form("np.expm1({a})"),
        "cbrt": Form("np.cbrt({a})"),
        "erf": Form("_erf({a})", helpers=(_PYTHON_ERF,)),
        "gamma": Form("_gamma({a})", helpers=(_PYTHON_GAMMA,)),
        "floor": Form("np.floor({a})"),
        "mod": Form("np.mod({a}, {b})"),
        "hypot": Form("np.hypot({a}, {b})"),
        "atan2": Form("np.arctan2({a}, {b})"),
        "greater": Form("np.heaviside({a:1} - {b:2}, 0.0)"),
        "step": Form("np.heaviside({a}, 0.0)"),
        "sign": Form("np.sign({a})"),
        "ceil": Form("np.ceil({a})"),
    },
)

JULIA = Language(
    title="Julia source",
    statement="{name} = {text}",
    reserved=_words(
        "Inf NaN abstract ans baremodule begin break catch const continue do else elseif end export false finally "
        "float for function global if im import in isa let local macro missing module mutable nothing outer pi "
        "primitive public quote return struct true try type using where while"
    ),
    # Julia throws a DomainError where IEEE functions give NaN; the helpers give NaN.
    forms={
        "add": Form("{a:1} + {b:2}", SUM),
        "sub": Form("{a:1} - {b:2}", SUM),
        "mul": Form("{a:2} * {b:3}", PRODUCT),
        "div": Form("{a:2} / {b:3}", PRODUCT),
        "pow": Form(
            "_pow({a}, {b})",
            helpers=("_pow(a, b) = isnan(a) || isnan(b) || (a < 0 && !isinteger(b)) ? NaN : a^b",),
        ),
        BY_WHOLE: Form("{a:5}^{b:5}", POWER),
        OF_POSITIVE: Form("{a:5}^{b:5}", POWER),
        "min": Form("min({a}, {b})"),
        "max": Form("max({a}, {b})"),
        "sin": Form("_sin({a})", helpers=("_sin(a) = isinf(a) ? NaN : sin(a)",)),
        "cos": Form("_cos({a})", helpers=("_cos(a) = isinf(a) ? NaN : cos(a)",)),
        "tan": Form("_tan({a})", helpers=("_tan(a) = isinf(a) ? NaN : tan(a)",)),
        "exp": Form("exp({a})"),
        "log": Form("_log({a})", helpers=("_log(a) = a < 0 ? NaN : log(a)",)),
        "sqrt": Form("_sqrt({a})", helpers=("_sqrt(a) = a < 0 ? NaN : sqrt(a)",)),
        "square": Form("{a:5}^2", POWER),
        "cube": Form("{a:5}^3", POWER),
        "quartic": Form("{a:5}^4", POWER),
        "neg": Form("-{a:5}", NEGATIVE),
        "abs": Form("abs({a})"),
        "tanh": Form("tanh({a})"),
        "asin": Form("_asin({a})", helpers=("_asin(a) = abs(a) > 1 ? NaN : asin(a)",)),
        "acos": Form("_acos({a})", helpers=("_acos(a) = abs(a) > 1 ? NaN : acos(a)",)),
        "atan": Form("atan({a})"),
        "sinh": Form("sinh({a})"),
        "cosh": Form("cosh({a})"),
        "asinh": Form("asinh({a})"),
        "acosh": Form("_acosh({a})", helpers=("_acosh(a) = a < 1 ? NaN : acosh(a)",)),
        "atanh": Form("_atanh({a})", helpers=("_atanh(a) = abs(a) > 1 ? NaN : atanh(a)",)),
        "log2": Form("_log2({a})", helpers=("_log2(a) = a < 0 ? NaN : log2(a)",)),
        "log10": Form("_log10({a})", helpers=("_log10(a) = a < 0 ? NaN : log10(a)",)),
        "log1p": Form("_log1p({a})", helpers=("_log1p(a) = a < -1 ? NaN : log1p(a)",)),
        "expm1": Form("expm1({a})"),
        "cbrt": Form("cbrt({a})"),
        # Julia's Base has neither; the C library that comes with Julia has both.
        "erf": Form("_erf({a})", helpers=("_erf(a) = ccall((:erf, Base.Math.libm), Float64, (Float64,), a)",)),
        "gamma": Form("_gamma({a})", helpers=("_gamma(a) = ccall((:tgamma, Base.Math.libm), Float64, (Float64,), a)",)),
        "floor": Form("floor({a})"),
        "mod": Form("mod({a}, {b})"),
        "hypot": Form("hypot({a}, {b})"),
        "atan2": Form("atan({a}, {b})"),
        "greater": Form(
            "_greater({a}, {b})", helpers=("_greater(a, b) = isnan(a) || isnan(b) ? NaN : a > b ? 1.0 : 0.0",)
        ),
        "step": Form("_step({a})", helpers=("_step(a) = isnan(a) ? NaN : a > 0 ? 1.0 : 0.0",)),
        "sign": Form("sign({a})"),
        "ceil": Form("ceil({a})"),
        "logabs": Form("log(abs({a}))"),
    },
)

EXCEL = Language(
    title="an Excel formula",
    longest=8191,  # without the sign =
    # In Excel -2^2 is 4 and 2^3^2 is 64: operands of ^ are in brackets unless they are one number, cell or call. 0^0 is
    # an error, and (-8)^(1/3) is -2: SQRT refuses a negative base. EXP(710) is an error even in a denominator.
    forms={
        "add": Form("{a:1}+{b:2}", SUM),
        "sub": Form("{a:1}-{b:2}", SUM),
        "mul": Form("{a:2}*{b:3}", PRODUCT),
        "div": Form("{a:2}/{b:3}", PRODUCT),
        "pow": Form("IF({b:1}=0,1+0*{a:3},IF({b:1}=INT({b}),{a:5}^{b:5},SQRT({a})^(2*{b:3})))"),
        BY_WHOLE: Form("{a:5}^{b:5}", POWER),
        BY_NUMBER: Form("SQRT({a})^(2*{b:3})", POWER),
        OF_POSITIVE: Form("{a:5}^{b:5}", POWER),
        "min": Form("MIN({a:v},{b:v})"),
        "max": Form("MAX({a:v},{b:v})"),
        "sin": Form("SIN({a})"),
        "cos": Form("COS({a})"),
        "tan": Form("TAN({a})"),
        "exp": Form("EXP({a})"),
        "log": Form("LN({a})"),
        "sqrt": Form("SQRT({a})"),
        "square": Form("{a:5}^2", POWER),
        "cube": Form("{a:5}^3", POWER),
        "quartic": Form("{a:5}^4", POWER),
        "inv": Form("1/{a:3}", PRODUCT),
        "neg": Form("-{a:5}", NEGATIVE),
        "abs": Form("ABS({a})"),
        "tanh": Form("TANH({a})"),
        "asin": Form("ASIN({a})"),
        "acos": Form("ACOS({a})"),
        "atan": Form("ATAN({a})"),
        "sinh": Form("SINH({a})"),
        "cosh": Form("COSH({a})"),
        "asinh": Form("ASINH({a})"),
        "acosh": Form("ACOSH({a})"),
        "atanh": Form("ATANH({a})"),
        "log2": Form("LOG({a},2)"),
        "log10": Form("LOG10({a})"),
        # LN(1+x) and EXP(x)-1 lose digits where x is small.
        "log1p": Form("IF(ABS({a})<0.5,2*ATANH({a:3}/(2+{a:2})),LN(1+{a:2}))"),
        "expm1": Form("IF(ABS({a})<0.5,2*EXP({a:3}/2)*SINH({a:3}/2),EXP({a})-1)"),
        "cbrt": Form("SIGN({a})*ABS({a})^(1/3)", PRODUCT),
        "erf": Form("ERF({a})"),
        "gamma": Form("GAMMA({a})"),
        "floor": Form("INT({a})"),
        "mod": Form("MOD({a},{b})"),
        "hypot": Form(
            "IF(ABS({a})>ABS({b}),ABS({a})*SQRT(1+({b:3}/{a:3})^2),IF({b:1}=0,0,ABS({b})*SQRT(1+({a:3}/{b:3})^2)))"
        ),
        "atan2": Form("IF(ABS({a})+ABS({b})=0,0,ATAN2({b},{a}))"),  # Excel's arguments are in the other order
        "greater": Form("IF({a:v}>{b:v},1,0)"),
        "step": Form("IF({a:v}>0,1,0)"),
        "sign": Form("SIGN({a})"),
        "sigmoid": Form("EXP(MIN({a:v},0))/(1+EXP(-ABS({a})))", PRODUCT),
    },
)
