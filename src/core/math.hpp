// exp, log, sin, atan, erf, ... over vectors, without branches.
//
// Coefficients are printed by minimax.py. Each function is accurate to 2 ulp (4 ulp for tan, tanh and those that use
// log1p or a root) on the stated arguments; for others it gives NaN, and the caller uses elementary.hpp for those lanes
// (kernels.cpp).
#pragma once

#include "vector.hpp"

namespace symseed::SYMSEED_ISA {

// Adding it to |t| < 2^51 rounds t to an integer, which is then in the low bits of the sum.
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
// pi / 2 in pieces of 33 bits and a remainder: a multiple below 2^20 of each piece is exact.
inline constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};

inline constexpr double kPi = 0x1.921fb54442d18p+1;
inline constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;  // pi / 2 - kPi / 2
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLn10 = 0x1.26bb1bbb55516p+1;
inline constexpr double kAtan[] = {-0x1.5555555555555p-2, 0x1.9999999999953p-3,  -0x1.249249248d7dcp-3,
                                   0x1.c71c71c303dbbp-4,  -0x1.745d165dc9713p-4, 0x1.3b1392d519db1p-4,
                                   -0x1.110e87b4357d2p-4, 0x1.e19a0bfa3eef9p-5,  -0x1.ac7a5a79b3f26p-5,
                                   0x1.74dccfb93fff0p-5,  -0x1.1b311bb48c215p-5, 0x1.0acd9e91a5a35p-6};
inline constexpr double kErf[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b2fp-4,
                                  -0x1.b82ce31284df1p-6,  0x1.565bcd0dba7cep-8,   -0x1.c02db3dabced8p-11,
                                  0x1.f9a321d4dab9dp-14,  -0x1.f4d1e306e0024p-17, 0x1.b9df216542643p-20,
                                  -0x1.5f1ec38082bdcp-23, 0x1.f7b46724de981p-27,  -0x1.389c36ba235e9p-30,
                                  0x1.05fccb83cf37bp-34};
inline constexpr double kErfc[] = {0x1.6e9827d229d13p-3,   -0x1.4e102b9cf85a5p-2, 0x1.f6ff2041093e1p-3,
                                   -0x1.336ffbeef903bp-3,  0x1.258b13ad6ce05p-4,  -0x1.8fa58ed8c5355p-6,
                                   0x1.17c83e8b6fa86p-8,   0x1.7310ac59cd968p-11, -0x1.390adfbd6db1fp-11,
                                   0x1.7b11cc54ccd98p-15,  0x1.0d26f8053ac47p-14, -0x1.9e12371f71c77p-17,
                                   -0x1.0dbdbbb7c9054p-17, 0x1.1c7d152b64db7p-21};
// 1 / log(2), 1 / log(10) and log10(2), each as 32 bits and a remainder: products of 21 bits with the first are exact.
inline constexpr double kLog2e[] = {0x1.71547652p+0, 0x1.705fc2eefa200p-33};
inline constexpr double kLog10e[] = {0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36};
inline constexpr double kLog10Of2[] = {0x1.3441350ap-2, -0x1.0c0219dc1da99p-39};

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

// A magnitude with the sign of x.
[[gnu::always_inline]] inline Vec with_sign_of(Vec x, Vec magnitude) {
  return from_bits(bits(magnitude) | (bits(x) & kSign));
}

// Every x; beyond 20 the result is 1 in float64.
[[gnu::always_inline]] inline Vec tanh(Vec x) {
  const Vec magnitude = absolute(x);
  const ScaledExp e = scaled_exp(choose(magnitude < 20.0, magnitude, splat(20.0)) * 2.0);
  const Vec minus_one = e.scale * e.part + (e.scale - 1.0);
  const Vec result = choose(magnitude < 20.0, minus_one / (minus_one + 2.0), splat(1.0));
  return with_sign_of(x, result);
}

// x <= 708; below -60 the result is -1 in float64.
[[gnu::always_inline]] inline Vec expm1(Vec x) {
  const ScaledExp e = scaled_exp(choose(x < -60.0, splat(-60.0), x));
  return choose(x <= 708.0, with_sign_of(x, e.scale * e.part + (e.scale - 1.0)), splat(kNan));
}

// |x| <= 708: (exp(x) - exp(-x)) / 2, of m = exp(|x|) - 1.
[[gnu::always_inline]] inline Vec sinh(Vec x) {
  const Vec m = expm1(absolute(x));
  return with_sign_of(x, 0.5 * (m + m / (m + 1.0)));
}

// |x| <= 708.
[[gnu::always_inline]] inline Vec cosh(Vec x) {
  const Vec power = exp(absolute(x));
  return 0.5 * power + 0.5 / power;
}

// Normal x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and log(1 + f) = f - (half_square - rest).
struct Logarithm {
  Vec k;
  Vec f;
  Vec half_square;
  Vec rest;
};

[[gnu::always_inline]] inline Logarithm log_in_parts(Vec x) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e00000000u;
  // k becomes a double through the mantissa of 2^52.
  const Bits offset = bits(x) - kRootHalf;
  const Bits biased = (offset + 0x3ff0000000000000u) >> 52;
  const Vec k = from_bits(biased | 0x4330000000000000u) - (0x1p52 + 1023.0);
  const Vec f = from_bits(bits(x) - (offset & 0xfff0000000000000u)) - 1.0;
  const Vec half_square = 0.5 * f * f;
  const Vec s = near_quotient(f, 2.0 + f);
  const Vec z = s * s;
  return {k, f, half_square, s * (half_square + z * polynomial<7>(z, kLog))};
}

// Normal x > 0.
[[gnu::always_inline]] inline Vec log(Vec x) {
  const Logarithm l = log_in_parts(x);
  const Vec result = l.k * kLn2High - ((l.half_square - (l.rest + l.k * kLn2Low)) - l.f);
  return choose(x >= 0x1p-1022, result, splat(kNan));
}

// Finite x > -1: the logarithm of 1 + x as rounded, plus a correction for the rounding.
[[gnu::always_inline]] inline Vec log1p(Vec x) {
  const Vec whole = 1.0 + x;
  const Vec part = whole - 1.0;
  const Vec lost = (1.0 - (whole - part)) + (x - part);
  const Logarithm l = log_in_parts(whole);
  const Vec low = l.k * kLn2Low + lost / whole;
  const Vec result = l.k * kLn2High - ((l.half_square - (l.rest + low)) - l.f);
  return choose(whole >= 0x1p-1022, with_sign_of(x, result), splat(kNan));
}

// Normal x > 0: k unit + log(1 + f) factor, both given in two parts. Powers of two, and of ten, are exact.
[[gnu::always_inline]] inline Vec log_to_base(Vec x, const double* unit, const double* factor) {
  constexpr std::uint64_t kHighBits = 0xffffffff00000000u;
  const Logarithm l = log_in_parts(x);
  const Vec high = from_bits(bits(l.f - l.half_square) & kHighBits);
  const Vec low = ((l.f - high) - l.half_square) + l.rest;
  const Vec whole = l.k * unit[0];
  const Vec product = high * factor[0];
  const Vec sum = whole + product;
  const Vec rest = l.k * unit[1] + (low + high) * factor[1] + low * factor[0] + ((whole - sum) + product);
  return choose(x >= 0x1p-1022, sum + rest, splat(kNan));
}

inline constexpr double kOne[] = {1.0, 0.0};
[[gnu::always_inline]] inline Vec log2(Vec x) { return log_to_base(x, kOne, kLog2e); }
[[gnu::always_inline]] inline Vec log10(Vec x) { return log_to_base(x, kLog10Of2, kLog10e); }

// Beyond this, asinh and acosh are the logarithm of 2 x, because the square would overflow.
inline constexpr double kLargeArea = 0x1p500;

// Every x.
[[gnu::always_inline]] inline Vec asinh(Vec x) {
  const Vec m = absolute(x);
  const Vec argument = choose(m < kLargeArea, m + m * m / (1.0 + square_root(1.0 + m * m)), m);
  return with_sign_of(x, log1p(argument) + choose(m < kLargeArea, Vec{}, splat(kLn2)));
}

// x >= 1.
[[gnu::always_inline]] inline Vec acosh(Vec x) {
  const Vec above = x - 1.0;
  const Vec argument = choose(x < kLargeArea, above + square_root(above * (above + 2.0)), x);
  return choose(x >= 1.0, log1p(argument) + choose(x < kLargeArea, Vec{}, splat(kLn2)), splat(kNan));
}

// |x| < 1.
[[gnu::always_inline]] inline Vec atanh(Vec x) {
  const Vec m = absolute(x);
  const Vec value = 0.5 * log1p(2.0 * m + 2.0 * m * m / (1.0 - m));
  return with_sign_of(x, choose(m < 1.0, value, splat(kNan)));
}

// Every x: of |x|, of (|x| - 1) / (|x| + 1) or of -1 / |x|, whichever is within tan(pi / 8).
[[gnu::always_inline]] inline Vec atan(Vec x) {
  const Vec m = absolute(x);
  const auto is_small = m <= 0.4142135623730951;
  const auto is_middle = m <= 2.414213562373095;
  const Vec above = choose(is_small, m, choose(is_middle, m - 1.0, splat(-1.0)));
  const Vec below = choose(is_small, splat(1.0), choose(is_middle, m + 1.0, m));
  const Vec t = above / below;
  const Vec z = t * t;
  const Vec near = t + t * (z * polynomial<12>(z, kAtan));
  const Vec base = choose(is_small, Vec{}, choose(is_middle, splat(0.25 * kPi), splat(0.5 * kPi)));
  const Vec low = choose(is_small, Vec{}, choose(is_middle, splat(0.5 * kHalfPiLow), splat(kHalfPiLow)));
  return with_sign_of(x, base + (near + low));
}

// |x| <= 1.
[[gnu::always_inline]] inline Vec asin(Vec x) { return atan(x / square_root((1.0 - x) * (1.0 + x))); }
[[gnu::always_inline]] inline Vec acos(Vec x) { return 2.0 * atan(square_root((1.0 - x) / (1.0 + x))); }

// Every y and x that are not both 0: the angle of the point (x, y).
[[gnu::always_inline]] inline Vec atan2(Vec y, Vec x) {
  const Vec value = atan(absolute(y) / absolute(x));
  return with_sign_of(y, choose(x < 0.0, kPi - value, value));
}

// Every x: near 0 by a polynomial, elsewhere 1 - erfc(x), which is 1 in float64 from 6 on.
[[gnu::always_inline]] inline Vec erf(Vec x) {
  const Vec m = absolute(x);
  const Vec bounded = choose(m < 6.0, m, splat(6.0));
  const Vec square = bounded * bounded;
  const Vec near = m + m * polynomial<13>(square, kErf);
  const ScaledExp e = scaled_exp(-square);
  const Vec t = (bounded - 3.0) / (bounded + 3.0);
  const Vec far = 1.0 - e.scale * (1.0 + e.part) * polynomial<14>(t, kErfc);
  return with_sign_of(x, choose(m <= 1.0, near, far));
}

// Every x.
[[gnu::always_inline]] inline Vec floor(Vec x) {
  const Vec m = absolute(x);
  const Vec nearest = with_sign_of(x, (m + 0x1p52) - 0x1p52);
  return choose(m < 0x1p52, nearest - choose(nearest > x, splat(1.0), Vec{}), x);
}

// a - b floor(a / b), rounded once, with the sign of b; for quotients below 2^52, and arguments that are not very large
// or small. After rounding, the quotient may be one too large; its product with b is subtracted exactly in two parts
// (Dekker).
[[gnu::always_inline]] inline Vec modulo(Vec a, Vec b) {
  constexpr double kSplit = 0x1p27 + 1.0;
  const Vec q = floor(a / b);
  const Vec q_high = kSplit * q - (kSplit * q - q), q_low = q - q_high;
  const Vec b_high = kSplit * b - (kSplit * b - b), b_low = b - b_high;
  const Vec product = q * b;
  const Vec lost = ((q_high * b_high - product) + q_high * b_low + q_low * b_high) + q_low * b_low;
  const Vec first = (a - product) - lost;
  const Vec rest = first + choose(first * b < 0.0, b, Vec{});
  const Vec result = choose(rest == 0.0, with_sign_of(b, Vec{}), rest);
  const Vec reach = choose(absolute(b) >= 0x1p-450, absolute(b), splat(kNan)) + absolute(a);
  return choose(absolute(q) < 0x1p52, choose(reach <= 0x1p450, result, splat(kNan)), splat(kNan));
}

// Where the squares neither overflow nor underflow.
[[gnu::always_inline]] inline Vec hypot(Vec a, Vec b) {
  const Vec square = a * a + b * b;
  const Vec root = square_root(square);
  return choose(square >= 0x1p-800, choose(square <= 0x1p1000, root, splat(kNan)), splat(kNan));
}

// x = rest + n pi/2 with |rest| <= pi/4; the low bits of `quadrant` are those of n. |x| <= 2^20.
struct Turned {
  Vec rest;
  Bits quadrant;
};

[[gnu::always_inline]] inline Turned less_half_pi(Vec x) {
  const Vec shifted = x * 0x1.45f306dc9c883p-1 + kRound;  // x / (pi/2)
  const Vec n = shifted - kRound;
  // The first product is subtracted exactly; the rounding of the second is added to the third.
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

// sin(rest + quadrant pi/2); NaN if |x| is too large. In odd quadrants it is cos(rest) = 1 - 2 sin(rest/2)^2, up to its
// sign, so one polynomial serves both.
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

// The derivative of log gamma(x): by its series from 10 on, reached by steps of 1, and below 1/2 by reflection.
[[gnu::always_inline]] inline Vec digamma(Vec x) {
  constexpr double kSeries[] = {-1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0, 691.0 / 32760.0};
  const auto is_reflected = x < 0.5;
  Vec y = choose(is_reflected, 1.0 - x, x);
  Vec steps = splat(0.0);
  for (int i = 0; i < 10; ++i) {
    const auto is_near = y < 10.0;
    steps = steps + choose(is_near, 1.0 / y, Vec{});
    y = choose(is_near, y + 1.0, y);
  }
  const Vec z = 1.0 / (y * y);
  const Vec value = log(y) - 0.5 / y + z * polynomial<6>(z, kSeries) - steps;
  return choose(is_reflected, value - kPi / tan(kPi * x), value);
}

}  // namespace symseed::SYMSEED_ISA
