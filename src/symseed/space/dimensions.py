"""Units of measurement: texts such as "kg*m/s^2" read as physical dimensions.

Only the dimension of a unit counts: "km" and "m" are both lengths, "degC" and "K" temperatures, and an angle is a pure
number. Data may therefore be in any units, and formulas are in the units of the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from symseed.errors import SettingsError, cut, did_you_mean

BASES = ("m", "kg", "s", "A", "K", "mol", "cd")
"""The SI's base dimensions: length, mass, time, current, temperature, amount, luminous intensity."""
MOST = 20
"""The largest exponent of a base dimension in a unit: far above those of physics, chosen by hand."""
LARGEST_ROOT = 12
"""The largest denominator of an exponent: it allows cube roots of square roots of square roots. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A physical dimension: powers of base dimensions. Without any power, it is that of a pure number."""

    powers: tuple[tuple[str, Fraction], ...] = ()
    """Pairs of a base and its exponent, which is not 0; the SI's bases come first. A custom base is in brackets."""

    @classmethod
    def of(cls, powers: Mapping[str, Fraction]) -> Dimension:
        """Make a dimension from the exponents of its bases, in any order."""
        own = sorted(base for base in powers if base not in BASES)
        return cls(tuple((base, powers[base]) for base in (*BASES, *own) if powers.get(base)))

    def __mul__(self, other: Dimension) -> Dimension:
        """Return the dimension of a product."""
        powers = dict(self.powers)
        for base, exponent in other.powers:
            powers[base] = powers.get(base, Fraction(0)) + exponent
        return Dimension.of(powers)

    def __truediv__(self, other: Dimension) -> Dimension:
        """Return the dimension of a quotient."""
        return self * other ** Fraction(-1)

    def __pow__(self, exponent: Fraction | int) -> Dimension:
        """Return the dimension of a power."""
        return Dimension.of({base: own * exponent for base, own in self.powers})

    def __str__(self) -> str:
        """Return a unit of this dimension, e.g. `kg*m/s^2`, that reads as the same dimension."""
        first = {"kg": 0}  # the usual order: kg*m/s^2
        ordered = sorted(self.powers, key=lambda power: first.get(power[0], 1))
        above = "*".join(_written(base, exponent) for base, exponent in ordered if exponent > 0)
        below = "".join(f"/{_written(base, -exponent)}" for base, exponent in ordered if exponent < 0)
        return (above or "1") + below


NUMBER = Dimension()
"""The dimension of a pure number."""

UnitLike: TypeAlias = str | Dimension | Sequence[float | Fraction] | None
"""A unit's text, a dimension, seven exponents in the order of `BASES`, or None for a pure number."""


def dimension(unit: UnitLike, quantity: str) -> Dimension:
    """Return the dimension of a unit; error messages name the `quantity` that has the unit.

    A text is a product of units: `kg*m/s^2`, `m s^-2`, `J/(kg*K)`, `m^0.5`, `m^(1/2)`; prefixes and numbers are
    accepted, and only the dimension is kept. A name in square brackets, `[USD]`, is a custom base dimension. "1", ""
    and None are pure numbers.

    Raises:
        SettingsError: if the unit cannot be read.
    """
    if unit is None:
        return NUMBER
    if isinstance(unit, Dimension):
        return _checked(unit, str(unit), quantity)
    if isinstance(unit, str):
        return _checked(_Reader(unit, quantity).read(), unit, quantity)
    if not isinstance(unit, Iterable) or len(unit) != len(BASES):
        raise SettingsError(
            f"The unit of `{quantity}` must be a text such as 'm/s', None for a pure number, or {len(BASES)} exponents "
            f"of {', '.join(BASES)}, but it is {cut(unit)}."
        )
    exponents = [_exponent(value, repr(unit), quantity) for value in unit]
    return _checked(Dimension.of(dict(zip(BASES, exponents, strict=True))), repr(unit), quantity)


def integers(dimensions: Sequence[Dimension]) -> list[tuple[int, ...]]:
    """Return dimensions as integer exponents of the bases that occur in them, with room for roots.

    Exponents are multiplied by a common factor, so that each can be halved eight times and divided by three four times.
    """
    bases = sorted({base for one in dimensions for base, _ in one.powers})
    roots = math.lcm(*(exponent.denominator for one in dimensions for _, exponent in one.powers))
    if len(bases) > _MOST_BASES or roots > _MOST_ROOTS:
        raise SettingsError(
            f"Units may have at most {_MOST_BASES} base dimensions, and exponents with a common denominator of at most "
            f"{_MOST_ROOTS}, but these have {len(bases)} ({', '.join(bases)}) and {roots}. Give fewer units."
        )
    scale = roots * 2**8 * 3**4
    return [tuple(int(dict(one.powers).get(base, Fraction(0)) * scale) for base in bases) for one in dimensions]


_MOST_BASES = 8
"""Most base dimensions of one problem: the seven of the SI and a custom one; the core has room for eight."""
_MOST_ROOTS = 60
"""Largest common denominator of exponents, a bound on the integers of the core: chosen by hand."""


def spans(dimensions: Iterable[Dimension], target: Dimension) -> bool:
    """Return whether a product of powers of the dimensions is the target."""
    rows: list[dict[str, Fraction]] = []  # each has a base that no later one has

    def reduced(one: Dimension) -> dict[str, Fraction]:
        rest = dict(one.powers)
        for row in rows:
            pivot = next(iter(row))
            share = rest.get(pivot, Fraction(0)) / row[pivot]
            rest = {base: rest.get(base, Fraction(0)) - share * row.get(base, Fraction(0)) for base in {**rest, **row}}
        return {base: exponent for base, exponent in rest.items() if exponent}

    for one in dimensions:
        rest = reduced(one)
        if rest:
            rows.append(rest)
    return not reduced(target)


def _written(base: str, exponent: Fraction) -> str:
    if exponent == 1:
        return base
    return f"{base}^{exponent}" if exponent.denominator == 1 else f"{base}^({exponent})"


def _exponent(value: float | Fraction | str, text: str, quantity: str) -> Fraction:
    """An exponent as a fraction with a small denominator."""
    try:
        exact = Fraction(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise SettingsError(
            f"The exponent {cut(value)} in the unit {cut(text)} of `{quantity}` must be a number."
        ) from None
    if abs(exact) > MOST:
        raise SettingsError(f"Exponents of a unit must be at most {MOST}, but {cut(text)} of `{quantity}` has {value}.")
    found = exact.limit_denominator(LARGEST_ROOT)
    if abs(found - exact) > Fraction(1, 1000):
        raise SettingsError(
            f"Exponents of a unit must be fractions with a denominator of at most {LARGEST_ROOT}, but the unit "
            f"{cut(text)} of `{quantity}` has {value}. Write, for example, m^(1/3)."
        )
    return found


def _checked(found: Dimension, text: str, quantity: str) -> Dimension:
    for base, exponent in found.powers:
        if abs(exponent) > MOST or exponent.denominator > LARGEST_ROOT:
            raise SettingsError(
                f"Exponents of a unit must be at most {MOST}, with a denominator of at most {LARGEST_ROOT}, but the "
                f"unit {cut(text)} of `{quantity}` has {base} to the power of {exponent}."
            )
    return found


# --- Texts -----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<own>\[\s*[^\[\]\s][^\[\]]*\])
      | (?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?(?![0-9])|\.[0-9]+)
      | (?P<name>[%°]?[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹]+|[%°])
      | (?P<raised>[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)
      | (?P<sign>\*\*|[*·⋅×/^()+\-])
    )""",
    re.VERBOSE,
)
_LONGEST = 200
"""Most characters of a unit: chosen by hand."""
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_PREFIXES = ("da", *"yzafpnuµμmcdhkMGTPEZY")
_UNITS: tuple[tuple[tuple[int, ...], str, str], ...] = (
    ((), "rad sr", "radian deg degree ° % ppm ppb dimensionless"),
    ((1,), "m pc", "meter metre au AU ly Å angstrom inch ft yd mile"),
    ((2,), "", "ha acre"),
    ((3,), "L l", "liter litre gallon"),
    ((0, 1), "g t u Da", "gram kilogram lb oz"),
    ((0, 0, 1), "s", "sec second min minute h hr hour d day week yr year"),
    ((0, 0, 0, 1), "A", "ampere"),
    ((0, 0, 0, 0, 1), "K", "kelvin degC degF °C °F"),
    ((0, 0, 0, 0, 0, 1), "mol", "mole"),
    ((0, 0, 0, 0, 0, 0, 1), "cd lm", "candela lumen"),
    ((0, 0, -1), "Hz Bq", "hertz rpm"),
    ((1, 0, -1), "", "mph knot"),
    ((1, 1, -2), "N dyn", "newton lbf"),
    ((-1, 1, -2), "Pa bar", "pascal atm psi mmHg torr"),
    ((2, 1, -2), "J eV cal Wh erg", "joule"),
    ((2, 1, -3), "W", "watt hp"),
    ((0, 0, 1, 1), "C", "coulomb"),
    ((2, 1, -3, -1), "V", "volt"),
    ((-2, -1, 4, 2), "F", "farad"),
    ((2, 1, -3, -2), "Ω Ω ohm", ""),
    ((-2, -1, 3, 2), "S", "siemens"),
    ((2, 1, -2, -1), "Wb", "weber"),
    ((0, 1, -2, -1), "T", "tesla gauss"),
    ((2, 1, -2, -2), "H", "henry"),
    ((-2, 0, 0, 0, 0, 0, 1), "lx", "lux"),
    ((2, 0, -2), "Gy Sv", ""),
    ((0, 0, -1, 0, 0, 1), "kat", ""),
)
"""For each dimension: exponents of `BASES`, names that take a prefix such as k, and names that do not."""


def _of_exponents(exponents: Sequence[int]) -> Dimension:
    return Dimension.of({base: Fraction(exponent) for base, exponent in zip(BASES, exponents, strict=False)})


_PREFIXED = {name: _of_exponents(exponents) for exponents, names, _ in _UNITS for name in names.split()}
_KNOWN = _PREFIXED | {name: _of_exponents(exponents) for exponents, _, names in _UNITS for name in names.split()}


class _Reader:
    """Recursive-descent parser of one unit: a product of factors, each with an optional exponent."""

    def __init__(self, text: str, quantity: str) -> None:
        self._text, self._quantity = text, quantity
        self._at = 0

    def read(self) -> Dimension:
        if self._text.strip() in ("", "-"):
            return NUMBER
        if len(self._text) > _LONGEST:
            raise self._error(f"it is longer than {_LONGEST} characters")
        found = self._product()
        if self._at < len(self._text.rstrip()):
            raise self._error(f"`{self._text[self._at :].strip()}` was not expected")
        return found

    def _product(self) -> Dimension:
        found = self._factor()
        divided = False
        while True:
            sign = self._take("sign", "*", "·", "⋅", "×", "/")
            if sign is None and self._next("name", "own", "number", "sign") in (None, "+", "-", "^", "**", ")"):
                return found
            if sign is None and divided:
                raise self._error("a space after a division is ambiguous; write `*` and parentheses")
            factor = self._factor()
            divided = divided or sign == "/"
            found = found / factor if sign == "/" else found * factor

    def _factor(self) -> Dimension:
        if self._take("sign", "(") is not None:
            found = self._product()
            if self._take("sign", ")") is None:
                raise self._error("a parenthesis is not closed")
        elif (own := self._take("own")) is not None:
            found = Dimension.of({f"[{own[1:-1].strip()}]": Fraction(1)})
        elif self._take("number") is not None:
            found = NUMBER
        elif (name := self._take("name")) is not None:
            found = self._unit(name)
            # As in `m s-2`: a number directly after a name is an exponent.
            power = re.match(r"[+-]?[0-9]+(?![0-9.])", self._text[self._at :])
            if power is not None:
                self._at += power.end()
                return found ** int(power[0])
        else:
            raise self._error("a unit was expected" + (f", not `{rest}`" if (rest := self._text[self._at :]) else ""))
        raised = self._take("raised")
        if raised is not None:
            return found ** self._fraction(raised.translate(_RAISED))
        if self._take("sign", "^", "**") is not None:
            return found ** self._power()
        return found

    def _power(self) -> Fraction:
        opened = self._take("sign", "(") is not None
        sign = self._take("sign", "+", "-")
        number = self._take("number")
        if number is None:
            raise self._error("an exponent was expected after `^`")
        exponent = self._fraction(number)
        if opened and self._take("sign", "/") is not None:
            below = self._take("number")
            if below is None or float(below) == 0.0:
                raise self._error("a number other than 0 was expected after `/` in an exponent")
            exponent = self._fraction(str(Fraction(number) / Fraction(below)))
        if opened and self._take("sign", ")") is None:
            raise self._error("the parenthesis of an exponent is not closed")
        return -exponent if sign == "-" else exponent

    def _fraction(self, number: str) -> Fraction:
        return _exponent(number, self._text, self._quantity)

    def _unit(self, name: str) -> Dimension:
        if name in _KNOWN:
            return _KNOWN[name]
        for prefix in _PREFIXES:
            if name.startswith(prefix) and name[len(prefix) :] in _PREFIXED:
                return _PREFIXED[name[len(prefix) :]]
        meant = did_you_mean(name, ("kJ", "kPa", "mm", "cm", "km", "kg", *reversed(_KNOWN)))
        raise SettingsError(
            f"`{name}`, in the unit {cut(self._text)} of `{self._quantity}`, is not a known unit.{meant} "
            f"Write [{name}] for a custom base dimension."
        )

    def _next(self, *kinds: str) -> str | None:
        found = _TOKEN.match(self._text, self._at)
        return next((found[kind] for kind in kinds if found[kind] is not None), None) if found else None

    def _take(self, kind: str, *texts: str) -> str | None:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found[kind] is None or (texts and found[kind] not in texts):
            return None
        self._at = found.end()
        return found[kind]

    def _error(self, what: str) -> SettingsError:
        return SettingsError(f"The unit {cut(self._text)} of `{self._quantity}` cannot be read: {what}.")
