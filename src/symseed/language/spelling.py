"""Numbers as people write them: to some digits, as fractions, and as multiples of pi."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

DIGITS = 4
"""Significant digits of numbers whose precision is not known: chosen by hand."""
ALL_DIGITS = 17
"""Significant digits that distinguish all float64 numbers."""
_PLAIN = (-4, 6)
"""Exponents of ten between which numbers are written without a power of ten: chosen by hand."""
_DENOMINATORS = (3, 6, 7, 9, 12)
"""Denominators of fractions that are not short decimals: chosen by hand."""
_HALVES = (2, 4, 8, 16)
"""Denominators of fractions below 1 only: above 1, the same fractions are short decimals. Chosen by hand."""
_OF_PI = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
"""Denominators of multiples of pi: chosen by hand."""
_LARGEST = 99
"""Largest numerator, and largest simple integer: chosen by hand; 1634/7 is easier to read as a decimal."""


_ROUNDING = 1e-9
"""Share of a number below which its standard error is rounding: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Simple:
    """The number p / q, times pi if `is_pi`."""

    p: int
    q: int
    is_pi: bool = False

    @classmethod
    def of(cls, value: float, tolerance: float = 0.0) -> Simple | None:
        """Return a number of at least 0 as a simple number; None if it is not one.

        Args:
            tolerance: largest relative difference; at 0 the simple number must equal the value as a float64.
        """
        if value.is_integer():
            return cls(int(value), 1) if value <= _LARGEST else None
        kinds = [
            *((q, 1.0, q - 1) for q in _HALVES),
            *((q, 1.0, _LARGEST) for q in _DENOMINATORS),
            *((q, math.pi, _LARGEST) for q in _OF_PI),
        ]
        for q, unit, largest in kinds:
            ratio = value / unit * q
            p = round(ratio) if ratio < _LARGEST + 1.0 else 0
            if 0 < p <= largest and math.gcd(p, q) == 1 and abs(p * unit / q - value) <= tolerance * value:
                return cls(p, q, unit != 1.0)
        return None


def rounded(value: float, digits: int) -> float:
    """Round a number to `digits` significant digits; a number that would overflow stays as it is."""
    short = value if digits >= ALL_DIGITS else float(f"{value:.{digits}g}")
    return value if math.isinf(short) else short


def mantissa_and_exponent(value: float) -> tuple[str, int]:
    """Return a number as its shortest mantissa and its power of ten, which is 0 if there is none."""
    sign, figures, _ = (number := Decimal(repr(value))).as_tuple()
    exponent = number.adjusted() if value else 0
    text = "".join(map(str, figures)).rstrip("0") or "0"
    if _PLAIN[0] <= exponent <= _PLAIN[1]:
        return f"{Decimal(repr(value)).normalize() + 0:f}", 0
    return f"{'-' * sign}{text[0]}{'.' * (len(text) > 1)}{text[1:]}", exponent


def decimal(value: float, digits: int = ALL_DIGITS) -> str:
    """Return a number to `digits` significant digits, as short as possible."""
    mantissa, exponent = mantissa_and_exponent(rounded(value, digits))
    plain = f"{Decimal(mantissa).scaleb(exponent):f}"
    return plain if not exponent or len(plain) <= len(f"{mantissa}e{exponent}") else f"{mantissa}e{exponent}"


def _power(value: float, digits: int) -> int:
    """The power of ten of a number's first digit, once it is rounded to some digits after the first."""
    return int(f"{value:.{digits}e}".partition("e")[2])


def plus_minus(value: float, error: float) -> str:
    """Write a number with its standard error, such as 2.44 ± 0.06: the error to two digits, the number as precisely.

    A number whose error is 0 or rounding is written alone, and so is one with an infinite error, with a question mark.
    """
    if not math.isfinite(error):
        return f"{decimal(value, DIGITS)} ± ?"
    if error <= _ROUNDING * abs(value):
        return decimal(value, DIGITS)
    low = _power(error, 1) - 1  # the power of ten of the error's second digit
    if _PLAIN[0] <= low + 1 and max(abs(value), error) < 10.0 ** _PLAIN[1]:
        return f"{value:.{max(-low, 0)}f} ± {error:.{max(-low, 0)}f}"
    power = max(_power(value, 16) if value else low, low + 1)
    places = power - low
    return f"({value / 10.0**power:.{places}f} ± {error / 10.0**power:.{places}f})e{power}"
