"""Families of problems: a grammar for each of the paper's sets, and one for the physics of textbooks.

A family draws a formula, its tokens and the rule of its samples from a random generator. Its kinds are those of the
set that it is named after, in about the same shares; exponents, coefficients and arguments are drawn.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np

Random: TypeAlias = np.random.RandomState
"""NumPy's legacy generator, whose stream never changes."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draft:
    """A problem without a name."""

    formula: str
    variables: int
    tokens: str
    """The name of a token set of the catalogue."""
    train: tuple[str, ...]
    """One rule for all variables, or one for each."""
    test: tuple[str, ...] = ()
    """Empty: as `train`."""


Kind: TypeAlias = Callable[[Random], Draft]


# --- Parts ------------------------------------------------------------------------------------------------------------


def _one(rng: Random, choices: Sequence[T]) -> T:
    return choices[rng.randint(len(choices))]


def _some(rng: Random, choices: Sequence[T], count: int) -> list[T]:
    """Draw different choices, and keep their order."""
    return [choices[i] for i in sorted(rng.permutation(len(choices))[:count])]


def _power(name: str, exponent: int) -> str:
    return name if exponent == 1 else f"{name}^{exponent}"


def _total(terms: Sequence[tuple[float, str]]) -> str:
    """Write a sum of terms with coefficients; a term without a name is a number."""
    text = ""
    for coefficient, name in terms:
        size = f"{abs(coefficient):.15g}"
        body = size if not name else name if abs(coefficient) == 1.0 else f"{size} * {name}"
        sign = "-" if coefficient < 0.0 else "+"
        text += f" {sign} {body}" if text else body if sign == "+" else f"-{body}"
    return text


def _decimal(rng: Random, low: float, high: float, digits: int) -> float:
    """Draw a number of a few digits that is not 0, with either sign."""
    steps = 10**digits
    size = rng.randint(round(low * steps), round(high * steps) + 1) / steps
    return float(size if rng.randint(4) else -size)


def _fraction(rng: Random, most: int) -> str:
    """Draw a proper fraction in lowest terms."""
    pairs = [(p, q) for q in range(2, most + 1) for p in range(1, q) if math.gcd(p, q) == 1]
    numerator, denominator = _one(rng, pairs)
    return f"({numerator} / {denominator})"


def _koza(formula: str, variables: int, *train: str) -> Draft:
    return Draft(formula, variables, "Koza", train)


# --- Kinds that several sets share ------------------------------------------------------------------------------------


def _polynomial(rng: Random) -> Draft:
    degree = rng.randint(3, 7)
    lower = [k for k in range(degree - 1, 0, -1) if rng.randint(4)]
    coefficients = [_one(rng, (1, 1, 1, 1, 2, -1)) for _ in lower]
    terms = [(1, degree), *zip(coefficients, lower, strict=True)]
    return _koza(_total([(c, _power("x1", k)) for c, k in terms]), 1, "U(-1, 1, 20)")


def _two_waves(rng: Random) -> Draft:
    arguments = ("x1", "x1^2", "x1^3", "x1 + x1^2", "x1^2 + x1^3", "2 * x1")
    first, second = _some(rng, arguments, 2)
    return _koza(f"{_one(rng, ('sin', 'cos'))}({first}) + {_one(rng, ('sin', 'cos'))}({second})", 1, "U(-1, 1, 20)")


def _wave_product(most: int, low: int = 1) -> Kind:
    def drawn(rng: Random) -> Draft:
        first, second = _power("x1", rng.randint(1, 4)), _power("x1", rng.randint(1, 4))
        number = _total([(_one(rng, (-1, -1, 1)) * rng.randint(low, most + 1), "")])
        return _koza(f"sin({first}) * cos({second}) + {number}".replace("+ -", "- "), 1, "U(-1, 1, 20)")

    return drawn


def _logarithms(count: int) -> Kind:
    def drawn(rng: Random) -> Draft:
        inner = ("x1 + 1", "x1^2 + 1", "x1^3 + 1", "x1^2 + x1", "x1 + 2", "x1^2 + x1 + 1", "x1^3 + x1")
        return _koza(" + ".join(f"log({part})" for part in _some(rng, inner, count)), 1, "U(0, 2, 20)")

    return drawn


def _root(most: int) -> Kind:
    def drawn(rng: Random) -> Draft:
        added = _one(rng, ("", "", " + x1", " + x1^2", " - x1", " * (x1 + 1)", " + 1"))
        return _koza(f"x1^{_fraction(rng, most)}{added}", 1, "U(0, 4, 20)")

    return drawn


def _wave_of_each(rng: Random) -> Draft:
    first, second = _power("x1", rng.randint(1, 4)), _power("x2", rng.randint(1, 4))
    return _koza(f"{_one(rng, ('sin', 'cos'))}({first}) + {_one(rng, ('sin', 'cos'))}({second})", 2, "U(0, 1, 20)")


def _scaled_waves(most: int) -> Kind:
    def drawn(rng: Random) -> Draft:
        first, second = _power("x1", rng.randint(1, 3)), _power("x2", rng.randint(1, 3))
        product = f"{_one(rng, ('sin', 'cos'))}({first}) * {_one(rng, ('sin', 'cos'))}({second})"
        return _koza(f"{rng.randint(2, most + 1)} * {product}", 2, "U(0, 1, 20)")

    return drawn


def _free_exponent(rng: Random) -> Draft:
    base = _one(rng, ("x1", "x1", "(x1 + x2)", "(x1 * x2)"))
    exponent = _one(rng, ("x2", "(x1 + x2)", "(x1 * x2)", "(x2^2)", "(-x2)"))
    return _koza(f"{base}^{exponent}{_one(rng, ('', '', ' + x1', ' * x2'))}", 2, "U(0, 1, 20)")


def _plane_polynomial(high: int) -> Kind:
    def drawn(rng: Random) -> Draft:
        first, second = rng.randint(3, 6), rng.randint(1, 4)
        terms: list[tuple[float, str]] = [(1, _power("x1", first)), (_one(rng, (-1, 1)), _power("x1", first - 1))]
        if rng.randint(2):
            terms.append((_one(rng, (0.5, 1, 2)), _power("x2", second + 1)))
        terms.append((_one(rng, (-1, 1)), _power("x2", second)))
        return _koza(_total(terms), 2, f"U(0, {high}, 20)")

    return drawn


# --- R: rational functions --------------------------------------------------------------------------------------------


_BELOW: tuple[tuple[int, ...], ...] = (
    *((1, 0, 1), (1, 1, 1), (1, -1, 1), (1, 1, 1, 1, 1), (1, 0, 0, 0, 1), (1, 0, 2), (1, 0, 1, 0, 1)),
    *((1, -1, 1, -1, 1), (1, 0, 1, 1), (1, 0, 1, 0, 2)),
)
"""Denominators, as coefficients from the highest power down."""


def _rational(rng: Random) -> Draft:
    while True:
        below = _one(rng, _BELOW)
        if rng.randint(3) == 0:
            number, exponent = _one(rng, (-1, 1)) * rng.randint(1, 3), rng.randint(2, 5)
            whole = [math.comb(exponent, k) * number**k for k in range(exponent + 1)]
            above = f"({_total([(1, 'x1'), (number, '')])})^{exponent}"
        else:
            degree = rng.randint(3, 7)
            whole = [1] + [0] * degree
            for k in _some(rng, range(1, degree + 1), rng.randint(1, 3)):
                whole[k] = _one(rng, (1, 1, -1, 2, -2, 3, -3))
            above = f"({_written(whole)})"
        if _are_coprime(whole, below):
            return _koza(f"{above} / ({_written(below)})", 1, "E(-10, 10, 20)")


def _written(coefficients: Sequence[int]) -> str:
    highest = len(coefficients) - 1
    terms = [(c, _power("x1", highest - k) if k < highest else "") for k, c in enumerate(coefficients) if c]
    return _total(terms)


def _are_coprime(first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether two polynomials have no common factor, by Euclid's algorithm."""
    a, b = [Fraction(c) for c in first], [Fraction(c) for c in second]
    while len(b) > 1:
        while len(a) >= len(b):
            a = [c - a[0] / b[0] * (b[k] if k < len(b) else 0) for k, c in enumerate(a)][1:]
        while a and not a[0]:
            a = a[1:]
        if not a:
            return False
        a, b = b, a
    return True


# --- Livermore --------------------------------------------------------------------------------------------------------


def _wide_wave(rng: Random) -> Draft:
    number = _one(rng, ("1 / 2", "1 / 3", "1 / 4", "1", "2 / 3"))
    first, second = _power("x1", rng.randint(1, 3)), _power("x1", rng.randint(1, 3))
    return _koza(f"{number} + {first} + {_one(rng, ('sin', 'cos'))}({second})", 1, "U(-10, 10, 1000)")


def _many_powers(rng: Random) -> Draft:
    degree = rng.randint(7, 10)
    lost = set(_some(rng, range(1, degree), rng.randint(0, 3)))
    return _koza(_total([(1, _power("x1", k)) for k in range(degree, 0, -1) if k not in lost]), 1, "U(-1, 1, 20)")


def _weighted_powers(rng: Random) -> Draft:
    degree = rng.randint(2, 5)
    terms = [(rng.randint(1, 5), _power("x1", k)) for k in range(degree, 0, -1)]
    return _koza(_total(terms), 1, "U(-1, 1, 20)")


def _hyperbolic(rng: Random) -> Draft:
    argument = _one(rng, ("x1", "x1^2", "2 * x1", "x1 + x1^2", "x1^3"))
    sign = _one(rng, "+-")
    end = _one(rng, ("/ 2", "/ 2", "", "/ 3", "/ x1"))
    return _koza(f"(exp({argument}) {sign} exp(-({argument}))) {end}".strip(), 1, "U(-1, 1, 20)")


def _ratio_of_powers(rng: Random) -> Draft:
    first, second = _power("x1", rng.randint(1, 6)), _power("x2", rng.randint(1, 4))
    below = _one(rng, ("(x1 + x2)", "(x1 - x2)", "(x1^2 + x2^2)"))
    form = _one(rng, (f"{first} / {second}", f"{first} * {second} / {below}", f"{first} / {below}"))
    return _koza(form, 2, "U(-1, 1, 50)")


def _powers_and_waves(rng: Random) -> Draft:
    powers = " + ".join(_power("x1", k) for k in _some(rng, (3, 2, 1), rng.randint(1, 4)))
    first, second = _one(rng, (("x1", "x1^2"), ("x1", "x2^2"), ("x2", "x2^2"), ("x1^2", "x2")))
    waves = f"{_one(rng, ('sin', 'cos'))}({first}) + {_one(rng, ('sin', 'cos'))}({second})"
    return _koza(f"{powers} + {waves}", 2 if "x2" in waves else 1, "U(-1, 1, 20)")


def _bell(rng: Random) -> Draft:
    factor = _one(rng, ("", "", "0.5 * ", "2 * ", "(1 / 3) * "))
    before = _one(rng, ("", "", "", "x1 * ", "x1^2 * "))
    return _koza(f"{before}exp(-({factor}{_power('x1', rng.randint(1, 5))}))", 1, "U(-1, 1, 20)")


# --- Jin and Neat: constants ------------------------------------------------------------------------------------------


def _jin_polynomial(rng: Random) -> Draft:
    monomials = ("x1^4", "x1^3", "x1^2", "x1", "x2^4", "x2^3", "x2^2", "x2", "x1 * x2", "")
    drawn = _some(rng, monomials, rng.randint(2, 5))
    if not any("x2" in name for name in drawn):
        drawn.append("x2")
    if not any("x1" in name for name in drawn):
        drawn.insert(0, "x1^2")
    return _jin(_total([(_decimal(rng, 0.2, 9.0, 1), name) for name in drawn]))


def _jin_functions(rng: Random) -> Draft:
    first = _one(rng, ("exp(x1)", "sin(x1)", "cos(x1)", "x1^3", "exp(-x1)", "x1^2"))
    second = _one(rng, ("cos(x2)", "sin(x2)", "exp(x2)", "x2^2", "x2^3"))
    return _jin(_total([(_decimal(rng, 0.5, 6.0, 1), first), (_decimal(rng, 0.5, 6.0, 1), second)]))


def _jin_product(rng: Random) -> Draft:
    first = _one(rng, ("sin(x1)", "cos(x1)", "exp(-x1)", "x1^2"))
    second = _one(rng, ("cos(x2)", "sin(x2)", "exp(x2)"))
    return _jin(_total([(_decimal(rng, 0.5, 8.0, 1), f"{first} * {second}")]))


def _jin_shifted(rng: Random) -> Draft:
    a, b = (f"{_decimal(rng, 0.5, 2.0, 1):.15g}" for _ in range(2))
    wave = f"{_one(rng, ('sin', 'cos'))}((x1 - {a}) * (x2 - {b}))".replace("- -", "+ ")
    return _jin(_total([(_decimal(rng, 0.5, 6.0, 2), "x1 * x2"), (_decimal(rng, 0.5, 6.0, 1), wave)]))


def _jin(formula: str) -> Draft:
    return Draft(formula, 2, "Jin", ("U(-3, 3, 100)",), ("U(-3, 3, 30)",))


def _with_one(kind: Kind) -> Kind:
    """A kind of Nguyen's with the token 1, as in Neat."""

    def drawn(rng: Random) -> Draft:
        draft = kind(rng)
        return Draft(draft.formula, draft.variables, "KozaPlus1", draft.train)

    return drawn


def _neat_waves(rng: Random) -> Draft:
    a, b, c, d = (abs(_decimal(rng, 0.5, 4.0, 1)) for _ in range(4))
    product = f"{_one(rng, ('cos', 'sin'))}({c:.15g} * x1) * {_one(rng, ('cos', 'sin'))}({d:.15g} * x2)"
    return Draft(f"{a:.15g} - {b:.15g} * {product}", 2, "Korns", ("U(-5, 5, 200)",))


def _neat_bell(rng: Random) -> Draft:
    a, b, c = (_one(rng, choices) for choices in (("1", "2", "0.5"), ("1.2", "1", "2"), ("2.5", "1", "2")))
    return Draft(f"exp(-(x1 - {a})^2) / ({b} + (x2 - {c})^2)", 2, "Vladislavleva-B", ("U(0.3, 4, 100)",))


def _neat_steps(rng: Random) -> Draft:
    first, second = rng.randint(2, 5), rng.randint(2, 5)
    formula = f"x1^{first} / (x1^{first} + 1) {_one(rng, '++-')} x2^{second} / (x2^{second} + 1)"
    return Draft(formula, 2, "Koza", ("E(-5, 5, 20)",))


# --- Physics: laws as textbooks have them -----------------------------------------------------------------------------


def _product_law(rng: Random) -> Draft:
    count = rng.randint(2, 6)
    exponents = [_one(rng, (1, 1, 1, 2, -1, -1, -2, 0, 3)) for _ in range(count)]
    above = [_power(f"x{i + 1}", p) if p else f"sqrt(x{i + 1})" for i, p in enumerate(exponents) if p >= 0]
    below = [_power(f"x{i + 1}", -p) for i, p in enumerate(exponents) if p < 0]
    return _law(_factor(rng) + " / ".join([" * ".join(above) or "1", *below]), count)


def _law_of(forms: Sequence[tuple[str, int]]) -> Kind:
    """A form with an overall factor; {p} and {q} stand for whole exponents, {c} for a number of two digits."""

    def drawn(rng: Random) -> Draft:
        form, count = _one(rng, forms)
        p, q, c = rng.randint(2, 5), rng.randint(1, 4), abs(_decimal(rng, 0.2, 5.0, 1))
        return _law(_factor(rng) + form.format(p=p, q=q, c=f"{c:.15g}"), count)

    return drawn


_SUMS = _law_of(
    (
        ("(x1 * x2^2 + {c} * x1 * x3)", 3),
        ("(x1^2 + x2^2)^(1 / 2)", 2),
        ("(x1^2 + x2^2 + {c} * x1 * x2)^(1 / 2)", 2),
        ("x1 * (x2^{p} - x3^{p})", 3),
        ("x1 * x2 * (1 / x3 - 1 / x4)", 4),
        ("(x1 + x2 * x3 + {c} * x4 * x3^2)", 4),
        ("x1 * (1 + {c} * (x2 - x3))", 3),
        ("(x1 * x2 + x3 * x4) / (x1 + x3)", 4),
    )
)
_RATIOS = _law_of(
    (
        ("x1 * x2 / (x3 + x2)", 3),
        ("x1 / (1 + (x2 / x3)^{p})", 3),
        ("1 / (1 / x1 + 1 / x2)", 2),
        ("1 / (1 / x1 + 1 / x2 + 1 / x3)", 3),
        ("x1 * x2^{q} / (x3^2 + x4^2)", 4),
        ("(x1 - x2) / (1 + x1 * x2)", 2),
        ("x1 * x2 / (x3 - {c} * x4 / (1 + x4))^2", 4),
    )
)
_DECAYS = _law_of(
    (
        ("x1 * exp(-x2 * x3)", 3),
        ("x1 * exp(-x2 / (x3 * x4))", 4),
        ("x1 * (1 - exp(-x2 / x3))", 3),
        ("x1 / (exp(x2 / x3) - 1)", 3),
        ("x1^{q} / (exp(x1 / x2) - 1)", 2),
        ("exp(-(x1 - x2)^2 / (2 * x3^2)) / x3", 3),
        ("x1 + (x2 - x1) * exp(-x3 * {c})", 3),
        ("x1 * x2 * log(x3 / x4)", 4),
        ("x1 * log(1 + x2 / x3)", 3),
    )
)
_WAVES = _law_of(
    (
        ("x1 * sin(x2 * x3 + x4)", 4),
        ("x1 * cos({c} * x2)", 2),
        ("x1 * exp(-x2 / 5) * cos(x3 * x2)", 3),
        ("(x1 + x2 + 2 * (x1 * x2)^(1 / 2) * cos(x3))", 3),
        ("(x1^2 + x2^2 - 2 * x1 * x2 * cos(x3))^(1 / 2)", 3),
        ("x1^2 * sin(2 * x2) / x3", 3),
        ("x1 * x2 * cos(x3) + {c} * x2^2", 3),
        ("x1 * (sin(x2 * x3) / (x2 * x3))^2", 3),
    )
)


def _relativistic(rng: Random) -> Draft:
    form = _one(
        rng,
        (
            "x1 / (1 - x2^2 / x3^2)^(1 / 2)",
            "x1 * x3^2 / (1 - x2^2 / x3^2)^(1 / 2)",
            "x1 * (1 - x2^2 / x3^2)^(1 / 2)",
            "x1 * (1 + x2 / x3) / (1 - x2^2 / x3^2)^(1 / 2)",
            "(x2 + x1) / (1 + x2 * x1 / x3^2)",
        ),
    )
    return Draft(_factor(rng) + form, 3, "Default", ("U(1, 5, 200)", "U(1, 2, 200)", "U(3, 10, 200)"))


def _factor(rng: Random) -> str:
    """Draw an overall factor: often none."""
    number = f"{abs(_decimal(rng, 0.2, 9.0, 1)):.15g} * "
    return _one(
        rng, ("", "", "1 / 2 * ", "2 * ", "pi * ", "4 / 3 * pi * ", "1 / (4 * pi) * ", number.removeprefix("1 * "))
    )


def _law(formula: str, variables: int) -> Draft:
    return Draft(formula, variables, "Default", ("U(1, 5, 200)",))


FAMILIES: Mapping[str, tuple[tuple[int, Kind], ...]] = types.MappingProxyType(
    {
        "Nguyen": (
            (4, _polynomial),
            (1, _wave_product(2)),
            (1, _two_waves),
            (1, _logarithms(2)),
            (1, _root(4)),
            (1, _wave_of_each),
            (1, _scaled_waves(3)),
            (1, _free_exponent),
            (1, _plane_polynomial(10)),
        ),
        "R": ((1, _rational),),
        "Livermore": (
            (1, _wide_wave),
            (3, _wave_product(5, low=1)),
            (1, _logarithms(3)),
            (1, _plane_polynomial(1)),
            (1, _weighted_powers),
            (2, _hyperbolic),
            (2, _many_powers),
            (2, _scaled_waves(6)),
            (2, _ratio_of_powers),
            (3, _root(5)),
            (1, _powers_and_waves),
            (1, _polynomial),
            (2, _bell),
        ),
        "Jin": ((3, _jin_polynomial), (1, _jin_functions), (1, _jin_product), (1, _jin_shifted)),
        "Neat": (
            (2, _with_one(_polynomial)),
            (1, _with_one(_wave_product(2))),
            (1, _with_one(_logarithms(2))),
            (1, _scaled_waves(3)),
            (1, _neat_waves),
            (1, _neat_bell),
            (1, _neat_steps),
        ),
        "Physics": ((6, _product_law), (2, _SUMS), (2, _RATIOS), (2, _DECAYS), (2, _WAVES), (1, _relativistic)),
    }
)
"""The kinds of problem of each family, with their shares."""


def draw(family: str, rng: Random) -> Draft:
    """Draw a problem of a family."""
    kinds = FAMILIES[family]
    place = rng.randint(sum(share for share, _ in kinds))
    for share, kind in kinds:
        place -= share
        if place < 0:
            return kind(rng)
    raise AssertionError("the place is below the sum of the shares")
