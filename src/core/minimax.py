"""Print the polynomial coefficients of `math.hpp` and `elementary.cpp`.

Each function is written so that a polynomial P carries only a small correction (see the forms below). P is the
interpolant of the correction at Chebyshev points, computed with 60 digits and rounded once to float64: within a
factor of two of the best polynomial of that degree.

Run: `python src/core/minimax.py` (needs mpmath).
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60


def interpolate(function: Callable[[mp.mpf], mp.mpf], low: mp.mpf, high: mp.mpf, degree: int) -> list[float]:
    """Return the coefficients, lowest power first, of the Chebyshev interpolant of `function` on [low, high]."""
    count = degree + 1
    angles = [mp.pi * (2 * k + 1) / (2 * count) for k in range(count)]
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(angle) for angle in angles]
    matrix = mp.matrix(count, count)
    for row, node in enumerate(nodes):
        for power in range(count):
            matrix[row, power] = node**power
    return [float(c) for c in mp.lu_solve(matrix, mp.matrix([function(node) for node in nodes]))]


def exp_correction(r: mp.mpf) -> mp.mpf:
    """exp(r) = 1 + r + r^2 P(r)."""
    return (mp.expm1(r) - r) / r**2 if r else mp.mpf(1) / 2


def sin_correction(z: mp.mpf) -> mp.mpf:
    """sin(r) = r + r z P(z), z = r^2."""
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


def log_correction(z: mp.mpf) -> mp.mpf:
    """log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def atan_correction(z: mp.mpf) -> mp.mpf:
    """atan(t) = t + t z P(z), z = t^2."""
    t = mp.sqrt(z)
    return (mp.atan(t) / t - 1) / z


def erf_correction(z: mp.mpf) -> mp.mpf:
    """erf(x) = x + x P(z), z = x^2."""
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1


def erfc_factor(t: mp.mpf) -> mp.mpf:
    """erfc(x) = exp(-x^2) P(t), t = (x - 3) / (x + 3)."""
    x = 3 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x)


def in_two(value: mp.mpf, bits: int) -> tuple[float, float]:
    """Return the first bits of a number, and the remainder."""
    scale = mp.mpf(2) ** (bits - 1 - mp.floor(mp.log(value, 2)))
    first = mp.nint(value * scale) / scale
    return float(first), float(value - first)


def words_of_two_over_pi(count: int) -> list[str]:
    """Return 2 / pi after the point, in words of 64 bits."""
    with mp.workprec(64 * count + 64):
        whole = int(mp.floor(mp.ldexp(2 / mp.pi, 64 * count)))
    return [f"0x{(whole >> 64 * (count - 1 - i)) % 2**64:016x}u" for i in range(count)]


def main() -> None:
    """Print every table."""
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0001")
    quarter_pi = mp.pi / 4 * mp.mpf("1.0001")
    bound = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.001")
    tables = {
        "kExp": interpolate(exp_correction, -half_ln2, half_ln2, 9),
        "kSin": interpolate(sin_correction, mp.mpf(0), quarter_pi**2, 5),
        "kLog": interpolate(log_correction, mp.mpf(0), bound, 6),
        "kAtan": interpolate(atan_correction, mp.mpf(0), mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.0001"), 11),
        "kErf": interpolate(erf_correction, mp.mpf(0), mp.mpf("1.0001"), 12),
        "kErfc": interpolate(erfc_factor, mp.mpf(-0.5), mp.mpf(1) / 3, 13),
    }
    for name, coefficients in tables.items():
        print(f"{name}:")
        for coefficient in coefficients:
            print(f"    {coefficient.hex()},  // {coefficient!r}")
    print("kHalfPi, pi / 2 in pieces of 33 bits, the last of 53:")
    rest = mp.pi / 2
    for _ in range(3):
        scale = mp.mpf(2) ** (32 - mp.floor(mp.log(rest, 2)))
        piece = mp.floor(rest * scale) / scale
        print(f"    {float(piece).hex()},")
        rest -= piece
    print(f"    {float(rest).hex()},")
    pairs = {"kLog2e": 1 / mp.log(2), "kLog10e": 1 / mp.log(10), "kLog10Of2": mp.log10(2)}
    for name, value in pairs.items():
        print(f"{name}: {', '.join(part.hex() for part in in_two(value, 32))}")
    print("kTwoOverPi, after the 64 bits before the point:")
    for word in words_of_two_over_pi(19):
        print(f"    {word},")


if __name__ == "__main__":
    main()
