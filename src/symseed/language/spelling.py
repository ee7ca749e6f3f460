"""Numbers as people write them: to some digits, as fractions, and as multiples of pi."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

DIGITS = 4
"""Significant digits of numbers if nothing tells how many they deserve."""
ALL_DIGITS = 17
"""Significant digits that tell every float64 from every other."""
_PLAIN = (-4, 6)
"""Powers of ten between which numbers are written without one."""
_DENOMINATORS = (3, 6, 7, 9, 12)
"""Denominators of fractions that are no short decimals."""
_HALVES = (2, 4, 8, 16)
"""Denominators of proper fractions; other multiples of them are short decimals."""
_OF_PI = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
_LARGEST = 99
"""Largest numerator, and largest simple integer: chosen by hand; 1634/7 is easier to read as a decimal."""


@dataclass(frozen=True, slots=True)
class Simple:
    """The number p / q, times pi if `is_pi`."""

    p: int
    q: int
    is_pi: bool = False

    @classmethod
    def of(cls, value: float, tolerance: float = 0.0) -> Simple | None:
        """Return a number that is not negative as a simple one; None if it is not one.

        Args:
            tolerance: share by which it may differ; at 0 the simple number as a float64 is the very same.
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
    """Return a number with so many significant digits; the largest float64, which could become infinite, as it is."""
    short = value if digits >= ALL_DIGITS else float(f"{value:.{digits}g}")
    return value if math.isinf(short) else short


def mantissa_and_exponent(value: float) -> tuple[str, int]:
    """Return a number as its shortest mantissa and its power of ten, which is 0 if the number is written plainly."""
    sign, figures, _ = (number := Decimal(repr(value))).as_tuple()
    exponent = number.adjusted() if value else 0
    text = "".join(map(str, figures)).rstrip("0") or "0"
    if _PLAIN[0] <= exponent <= _PLAIN[1]:
        return f"{Decimal(repr(value)).normalize() + 0:f}", 0
    return f"{'-' * sign}{text[0]}{'.' * (len(text) > 1)}{text[1:]}", exponent


def decimal(value: float, digits: int = ALL_DIGITS) -> str:
    """Return a number to so many significant digits, as short as it can be written."""
    mantissa, exponent = mantissa_and_exponent(rounded(value, digits))
    plain = f"{Decimal(mantissa).scaleb(exponent):f}"
    return plain if not exponent or len(plain) <= len(f"{mantissa}e{exponent}") else f"{mantissa}e{exponent}"
