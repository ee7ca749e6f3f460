// exp, log, sin, cos, tan, tanh over vectors, without branches.
//
// Coefficients are printed by minimax.py. Each function is good to 2 ulp (tan and tanh: 4) on the arguments that it
// takes; for the others it gives NaN, and the caller asks elementary.hpp for those lanes (kernels.cpp).
#pragma once

#include "vector.hpp"

namespace symseed::SYMSEED_ISA {

// Adding it to |t| < 2^51 rounds t to an integer, which then stands in the low bits of the sum.
inline constexpr double kRound = 0x1.8p52;
inline constexpr double kLn2High = 0x1.62e42feep-1;  // 32 bits, so that n * kLn2High is exact
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// c[0] + c[1] x + ... by Estrin's scheme: short dependency chains, a fixed order of operations.
template <int N>
[[gnu::always_inline]] inline Vec polynomial(Vec x, const double* c) {
  if constexpr (N == 1) {
    return splat(c[0]);
  } else if constexpr (N == 2) {
    return c[0] + c[1] * x;
  } else {
    constexpr int kHalf = N > 8 ? 8 : N > 4 ? 4 : 2;
    Vec power = x * x;
    if constexpr (kHalf >= 4) power = power * power;
    if constexpr (kHalf >= 8) power = power * power;
    return polynomial<kHalf>(x, c) + power * polynomial<N - kHalf>(x, c + kHalf);
  }
}

inline constexpr double kExp[] = {
    0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,  0x1.6c16c1788bd90p-10,
    0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19, 0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
inline constexpr double kSin[] = {-0x1.5555555555555p-3, 0x1.1111111110bb1p-7,   -0x1.a01a019e8357dp-13,
                                  0x1.71de37961e4c6p-19, -0x1.ae600a926c89ap-26, 0x1.5e0af186af739p-33};
inline constexpr double kLog[] = {0x1.5555555555558p-1, 0x1.9999999995273p-2, 0x1.2492492dfd86cp-2,
                                  0x1.c71c62d5e53e0p-3, 0x1.7462b91b8df65p-3, 0x1.39fdcceb4bb45p-3,
                                  0x1.2b5f68a50d903p-3};
// pi / 2 in pieces of 33 bits and a rest: a multiple below 2^20 of each piece is exact.
inline constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};

inline constexpr double kNan = __builtin_nan("");
inline constexpr std::uint64_t kLowBit = 1;

// exp(x) - 1 = scale * part + (scale - 1), with scale = 2^n and part = exp(r) - 1 for the rest r.
struct ScaledExp {
  Vec scale;
  Vec part;
};

[[gnu::always_inline]] inline ScaledExp scaled_exp(Vec x) {
  const Vec shifted = x * 0x1.71547652b82fep+0 + kRound;
  const Vec n = shifted - kRound;
  const Vec r = (x - n * kLn2High) - n * kLn2Low;
  const Vec part = r + r * r * polynomial<10>(r, kExp);
  return {from_bits((bits(shifted) << 52) + 0x3ff0000000000000u), part};
}

// |x| <= 708.
[[gnu::always_inline]] inline Vec exp(Vec x) {
  const ScaledExp e = scaled_exp(x);
  return choose(absolute(x) <= 708.0, e.scale * (1.0 + e.part), splat(kNan));
}

// Every x; beyond 20 the result is 1 in float64.
[[gnu::always_inline]] inline Vec tanh(Vec x) {
  const Vec magnitude = absolute(x);
  const ScaledExp e = scaled_exp(choose(magnitude < 20.0, magnitude, splat(20.0)) * 2.0);
  const Vec minus_one = e.scale * e.part + (e.scale - 1.0);
  const Vec result = choose(magnitude < 20.0, minus_one / (minus_one + 2.0), splat(1.0));
  return from_bits(bits(result) | (bits(x) & kSign));
}

// Normal x > 0.
[[gnu::always_inline]] inline Vec log(Vec x) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e00000000u;
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)); k is made a double by way of the mantissa of 2^52.
  const Bits offset = bits(x) - kRootHalf;
  const Bits biased = (offset + 0x3ff0000000000000u) >> 52;
  const Vec k = from_bits(biased | 0x4330000000000000u) - (0x1p52 + 1023.0);
  const Vec f = from_bits(bits(x) - (offset & 0xfff0000000000000u)) - 1.0;
  const Vec half_square = 0.5 * f * f;
  const Vec s = f / (2.0 + f);
  const Vec z = s * s;
  const Vec rest = z * polynomial<7>(z, kLog);
  const Vec result = k * kLn2High - ((half_square - (s * (half_square + rest) + k * kLn2Low)) - f);
  return choose(x >= 0x1p-1022, result, splat(kNan));
}

// x = rest + n pi/2 with |rest| <= pi/4; the low bits of `quadrant` are those of n. |x| <= 2^20.
struct Turned {
  Vec rest;
  Bits quadrant;
};

[[gnu::always_inline]] inline Turned less_half_pi(Vec x) {
  const Vec shifted = x * 0x1.45f306dc9c883p-1 + kRound;  // x / (pi/2)
  const Vec n = shifted - kRound;
  // The first product is taken off exactly; what the second one rounds away is given to the third.
  const Vec first = x - n * kHalfPi[0];
  const Vec second = first - n * kHalfPi[1];
  const Vec lost = (first - second) - n * kHalfPi[1];
  return {(second - (n * kHalfPi[2] - lost)) - n * kHalfPi[3], bits(shifted)};
}

// sin(r) for |r| <= pi/4.
[[gnu::always_inline]] inline Vec sin_of_rest(Vec r) {
  const Vec z = r * r;
  return r + r * (z * polynomial<6>(z, kSin));
}

// sin(rest + quadrant pi/2); NaN where |x| is too large. In odd quadrants that is cos(rest) = 1 - 2 sin(rest/2)^2, up
// to its sign, so that one polynomial does for both.
[[gnu::always_inline]] inline Vec sin_of_turned(Vec x, Vec rest, Bits quadrant) {
  const Vec half_if_odd = from_bits(0x3ff0000000000000u - ((quadrant & kLowBit) << 52));
  const Vec s = sin_of_rest(rest * half_if_odd);
  const Vec result = choose(half_if_odd < 1.0, 1.0 - 2.0 * (s * s), s);
  return choose(absolute(x) <= 0x1p20, from_bits(bits(result) ^ ((quadrant << 62) & kSign)), splat(kNan));
}

// |x| <= 2^20.
[[gnu::always_inline]] inline Vec sin(Vec x) {
  const Turned t = less_half_pi(x);
  return sin_of_turned(x, t.rest, t.quadrant);
}

// |x| <= 2^20: cos(x) = sin(x + pi/2).
[[gnu::always_inline]] inline Vec cos(Vec x) {
  const Turned t = less_half_pi(x);
  return sin_of_turned(x, t.rest, t.quadrant + kLowBit);
}

// tan(rest), or -1 / tan(rest) in odd quadrants.
[[gnu::always_inline]] inline Vec tan_of_turned(const Turned& t) {
  const Vec half = sin_of_rest(t.rest * 0.5);
  const Vec sine = sin_of_rest(t.rest);
  const Vec cosine = 1.0 - 2.0 * (half * half);
  const auto is_even = from_bits(0x3ff0000000000000u - ((t.quadrant & kLowBit) << 52)) == 1.0;
  return choose(is_even, sine, -cosine) / choose(is_even, cosine, sine);
}

// |x| <= 2^20.
[[gnu::always_inline]] inline Vec tan(Vec x) {
  return choose(absolute(x) <= 0x1p20, tan_of_turned(less_half_pi(x)), splat(kNan));
}

}  // namespace symseed::SYMSEED_ISA
