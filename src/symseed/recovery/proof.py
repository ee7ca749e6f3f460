"""Symbolic proofs with sympy that two formulas are equal, in a process of its own.

Formulas arrive as words, one JSON line per question, and become sympy objects node by node: no text is read as a
formula, and a variable is a nameless symbol. sympy is large and may hang or crash, so no module imports this one;
`checker.py` starts a process that does.
"""

from __future__ import annotations

import faulthandler
import fractions
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy

from symseed.export.libraries import Sym
from symseed.export.notation import build
from symseed.language.words import CONSTANT, LITERAL, Word
from symseed.recovery.checker import significant_digits
from symseed.recovery.precision import AGREEMENT

SNAP_TOLERANCE = 1e-6
"""Relative distance up to which a fitted constant is replaced by a simpler number: chosen by hand."""
ZERO_TOLERANCE = 1e-9
"""Size below which a fitted constant may be replaced by 0: chosen by hand."""
_ABSOLUTE_AGREEMENT = 1e-100
"""Absolute difference up to which values agree: an exact 0 may not evaluate to 0."""
_PERIODIC = (sympy.sin, sympy.cos, sympy.tan)
_QUARTER = math.pi / 2.0
"""A quarter turn, in radians."""
_MOST_QUARTERS = 1_000
"""Most quarter turns that are removed from a phase: chosen by hand."""
_LARGEST_PHASE = 1_000.0
"""Largest number of the target, in radians, that is tried as a phase: chosen by hand."""
_GRACE_SECONDS = 5.0
"""Seconds after the time limit at which an orphaned process ends itself: chosen by hand."""


def serve() -> None:
    """Answer questions, a line each, until there are no more; a question that takes too long ends the process."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        question = json.loads(line)
        # The asker kills this process at the limit; if the asker is gone, it ends by itself.
        faulthandler.dump_traceback_later(question.pop("seconds") + _GRACE_SECONDS, exit=True)
        answer = _attempt(lambda asked: proof(**asked), question, otherwise="")
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def proof(
    expression: Sequence[Word], target: Sequence[Word], signs: Sequence[int], points: Sequence[Sequence[float]]
) -> str:
    """Return the step that proved the two equal, or "" if none did.

    Args:
        signs: sign of each variable: 1 or -1 if only such values matter, otherwise 0.
        points: points at which values are compared before a proof is tried.
    """
    variables = [_variable(sign) for sign in signs]
    places = [_place(variables, signs, point) for point in points]
    given, wanted = build(expression, variables, _decimal), build(target, variables, _decimal)
    if _agree(given, wanted, places) and (step := _vanishes(given, wanted)):
        return step
    if not any(kind in (CONSTANT, LITERAL) for kind, _ in (*expression, *target)):
        return ""
    wanted = build(target, variables, _meant)
    known = _numbers(wanted)
    for way, snapped in _snapped(expression, variables, known):
        if _agree(snapped, wanted, places) and (step := _vanishes(snapped, wanted)):
            return f"{step}, after snapping constants{way}"
    return ""


# --- From our tokens to sympy -----------------------------------------------------------------------------------------


def _variable(sign: int) -> Sym:
    return sign * sympy.Dummy(positive=True) if sign else sympy.Dummy(real=True)


def _place(variables: Sequence[Sym], signs: Sequence[int], point: Sequence[float]) -> dict[Sym, Sym]:
    pairs = zip(variables, signs, point, strict=True)
    return {(-variable if sign < 0 else variable): sympy.Rational(abs(x) if sign else x) for variable, sign, x in pairs}


def _decimal(kind: str, value: str) -> Sym:  # noqa: ARG001 - one of several readings of a number
    """Read a number as the decimal fraction that it is written as."""
    fraction = fractions.Fraction(value)
    return sympy.Rational(fraction.numerator, fraction.denominator)


def _meant(kind: str, value: str) -> Sym:
    """Read a number as the exact number it approximates: 0.333... and 3.14159... to the last digit are 1/3 and pi."""
    if significant_digits(value) < 15:
        return _decimal(kind, value)
    snapped = _snap(float(value), (), tolerance=2.5e-16)
    return _decimal(kind, value) if snapped is None else snapped


def _approximate(kind: str, value: str) -> Sym:
    """Read a constant as a number of limited precision, which sympy joins with others."""
    return sympy.Float(value, 30) if kind == CONSTANT else _meant(kind, value)


# --- Comparing --------------------------------------------------------------------------------------------------------


def _agree(given: Sym, wanted: Sym, places: Sequence[dict[Sym, Sym]]) -> bool:
    """Compare values to 30 digits, so that no proof contradicts the values and no hopeless proof is tried."""
    for place in places:
        a, b = (form.xreplace(place).evalf(50) for form in (given, wanted))
        if not (a.is_Number and b.is_Number and a.is_finite and b.is_finite):
            return False
        if abs(a - b) > max(AGREEMENT * abs(b), _ABSOLUTE_AGREEMENT):
            return False
    return True


def _vanishes(given: Sym, wanted: Sym) -> str:
    """Return the first step that makes the difference 0, or ""; the cheapest steps come first."""
    difference = given - wanted
    if difference == 0:
        return "sympy: the same form"
    for name, step in _steps().items():
        if _attempt(step, difference, otherwise=None) == 0:
            return f"sympy: the difference is 0 by {name}"
    return ""


def _attempt(step: Callable[[Any], Any], argument: Any, *, otherwise: Any) -> Any:
    """Return the result of a step, or `otherwise` if sympy raises, which it does with any exception."""
    try:
        return step(argument)
    except Exception:
        return otherwise


def _steps() -> dict[str, Callable[[Sym], Sym]]:
    return {
        "expand": sympy.expand,
        "together": _numerator,
        "cancel within functions": lambda d: _numerator(_factored(d)),
        "undoing exponentials": lambda d: _numerator(_undone(_factored(_undone(d)))),
        "combining logarithms": _combine_logarithms,
        "rewriting by abs": lambda d: _numerator(d.rewrite(sympy.Abs)),
        "rewriting by exp": lambda d: _numerator(d.rewrite(sympy.exp)),
        "simplify": sympy.simplify,
        "rewriting by exp and simplify": lambda d: sympy.simplify(_factored(d).rewrite(sympy.exp)),
    }


def _numerator(form: Sym) -> Sym:
    return sympy.expand(sympy.fraction(sympy.together(form))[0])


def _undone(form: Sym) -> Sym:
    """Replace log(exp(u) * v) by u + log(v): our operators are real, though sympy cannot always see that u is."""

    def undo(node: Sym) -> Sym:
        factors = sympy.Mul.make_args(node.args[0])
        powers = [factor for factor in factors if isinstance(factor, sympy.exp)]
        rest = sympy.Mul(*(factor for factor in factors if factor not in powers))
        return sympy.Add(*(power.args[0] for power in powers), sympy.log(rest))

    return form.replace(lambda node: isinstance(node, sympy.log) and node.args[0].has(sympy.exp), undo)


def _factored(form: Sym) -> Sym:
    """Bring the arguments of functions and powers, from the inside out, to one fraction in factors."""

    def factored(node: Sym) -> Sym:
        return node.func(*(sympy.factor(sympy.cancel(argument)) for argument in node.args))

    def has_inside(node: Sym) -> bool:
        return bool(node.is_Function or (node.is_Pow and not node.exp.is_Integer)) and not node.is_number

    return sympy.expand_log(form.replace(has_inside, factored))


def _combine_logarithms(difference: Sym) -> Sym:
    """Return 0 if exp(difference) is 1, which for a real difference is the same."""
    power = sympy.exp(sympy.logcombine(sympy.expand_log(difference)))
    return _numerator(sympy.powsimp(sympy.expand(power)) - 1)


# --- Snapping constants -----------------------------------------------------------------------------------------------


def _snapped(expression: Sequence[Word], variables: Sequence[Sym], known: Sequence[Sym]) -> Iterator[tuple[str, Sym]]:
    """Give forms of the expression in which every fitted constant is replaced by an exact number."""
    raw = build(expression, variables, _approximate)
    for way, form in _written(raw, known):
        exact = _snap_all(form, known)
        if exact is not None:
            yield way, exact


def _written(raw: Sym, known: Sequence[Sym]) -> Iterator[tuple[str, Sym]]:
    """Give all forms of an expression, each unchanged and, if that differs, with whole turns removed from angles."""
    for way, form in _forms(raw):
        yield way, form
        turned = _without_turns(form, known)
        if turned != form:
            yield f"{way} and taking turns off angles", turned


def _forms(raw: Sym) -> Iterator[tuple[str, Sym]]:
    """Give an expression in several forms, in which different numbers stand."""
    yield "", raw
    expanded = sympy.expand(raw)
    yield " of the expanded form", expanded
    numerator, denominator = (sympy.expand(part) for part in sympy.fraction(sympy.together(expanded)))
    for term in sympy.Add.make_args(denominator):
        pivot = term.as_coeff_Mul()[0]
        yield " of a fraction", sympy.expand(numerator / pivot) / sympy.expand(denominator / pivot)


def _snap_all(form: Sym, known: Sequence[Sym]) -> Sym | None:
    phases = {node.args[0].as_coeff_Add()[0] for node in form.atoms(*_PERIODIC)}
    exact = {}
    for number in form.atoms(sympy.Float):
        # An angle's error does not grow with its turns, so phases have an absolute tolerance.
        scale = max(1.0, abs(float(number))) if number in phases else 1.0
        snapped = _snap(float(number), known, tolerance=SNAP_TOLERANCE / scale)
        if snapped is None:
            return None
        exact[number] = snapped
    return form.xreplace(exact)


def _without_turns(form: Sym, known: Sequence[Sym]) -> Sym:
    """Write constants that are added to the angle of a sin, cos or tan as simple numbers and quarter turns."""

    def turned(node: Sym) -> Sym:
        phase, rest = node.args[0].as_coeff_Add()
        exact = _snap_phase(float(phase), known) if phase.is_Float else None
        return node if exact is None else node.func(rest + exact)

    return form.replace(lambda node: isinstance(node, _PERIODIC), turned)


def _snap_phase(value: float, known: Sequence[Sym]) -> Sym | None:
    """Return q + k pi/2 nearby, k not 0; q is one of the target's numbers, or else the simplest small fraction."""
    for simple in ([number for number in known if abs(float(number)) <= _LARGEST_PHASE], _small_fractions()):
        for number in simple:
            rest = value - float(number)
            quarters = round(rest / _QUARTER)
            if 0 < abs(quarters) <= _MOST_QUARTERS and abs(rest - quarters * _QUARTER) <= SNAP_TOLERANCE:
                return number + quarters * sympy.pi / 2
    return None


def _small_fractions() -> list[Sym]:
    """Fractions by denominator, then size: 0, 1, -1, 2, ..., 1/2, -1/2, ..."""
    return [
        sympy.Rational(sign * top, bottom)
        for bottom in range(1, 13)
        for top in range(10 * bottom + 1)
        if math.gcd(top, bottom) == 1
        for sign in (1, -1)
    ]


def _snap(value: float, known: Sequence[Sym], *, tolerance: float) -> Sym | None:
    """Return the simplest exact number nearby: one of the target's, a small fraction, a multiple of pi, ..."""
    near = [number for number in known if abs(float(number) - value) <= tolerance * abs(value)]
    if near:
        return min(near, key=lambda number: abs(float(number) - value))
    if abs(value) <= ZERO_TOLERANCE:
        return sympy.Integer(0)
    for unit, largest_denominator in _units():
        multiple = fractions.Fraction(value / float(unit)).limit_denominator(largest_denominator)
        exact = sympy.Rational(multiple.numerator, multiple.denominator) * unit
        if multiple and abs(multiple) < 1000 * largest_denominator and _is_near(value, exact, tolerance):
            return exact
    exact = sympy.Rational(f"{value:.5g}")
    return exact if _is_near(value, exact, tolerance) else None


def _is_near(value: float, exact: Sym, tolerance: float) -> bool:
    return abs(float(exact) - value) <= tolerance * abs(value)


def _units() -> list[tuple[Sym, int]]:
    """Units whose fractions constants may be, simplest first, with the largest denominator of each."""
    one, pi, e = sympy.Integer(1), sympy.pi, sympy.E
    roots = [sympy.sqrt(n) for n in (2, 3, 5, 6, 7, 10)]
    logs = [sympy.log(n) for n in (2, 3, 5, 10)]
    others = [pi, 1 / pi, pi**2, e, 1 / e, *roots, *logs, sympy.sqrt(pi), 1 / sympy.sqrt(pi), sympy.sqrt(2 * pi)]
    return [(one, 40), *((unit, 12) for unit in others)]


def _numbers(target: Sym) -> list[Sym]:
    """Return the numbers that stand in the target, also when it is expanded, and their negatives."""
    found: dict[Sym, None] = {}
    for form in (target, sympy.expand(target)):
        for node in sympy.preorder_traversal(form):
            parts = [part for part in node.args if part.is_number] if node.is_Mul else [node]
            number = sympy.Mul(*parts)
            if number.is_number and number.is_real:
                found[number] = found[-number] = None
    return list(found)
