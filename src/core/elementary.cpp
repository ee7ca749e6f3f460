#include "elementary.hpp"

#define SYMSEED_ISA single
#define SYMSEED_LANES 1

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "math.hpp"

namespace symseed::elementary {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallestNormal = 0x1p-1022;

// Operations that raise a flag; volatile, so that the compiler does not evaluate them.
double overflow(double sign) {
  const volatile double huge = 0x1p1023;
  return sign * huge * huge;
}
double underflow(double sign) {
  const volatile double tiny = 0x1p-1022;
  return sign * tiny * tiny;
}
// A value, with the flag raised if it is subnormal.
double flagged(double value) {
  if (value != 0.0 && std::fabs(value) < kSmallestNormal) {
    [[maybe_unused]] const volatile double raised = underflow(1.0);
  }
  return value;
}
double divide_by_zero(double sign) {
  const volatile double zero = 0.0;
  return sign / zero;
}
double invalid() {
  const volatile double zero = 0.0;
  return zero / zero;
}

// An unevaluated sum of two numbers, the second below half a unit of the first's last place.
struct Double {
  double high;
  double low;
};

constexpr Double quick_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
constexpr Double sum(double a, double b) {
  const double high = a + b;
  const double part = high - a;
  return {high, (a - (high - part)) + (b - part)};
}
constexpr Double product(double a, double b) {
  constexpr double kSplit = 0x1p27 + 1.0;
  const double a_high = kSplit * a - (kSplit * a - a), a_low = a - a_high;
  const double b_high = kSplit * b - (kSplit * b - b), b_low = b - b_high;
  const double high = a * b;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}
constexpr Double operator+(Double a, Double b) {
  const Double high = sum(a.high, b.high);
  return quick_sum(high.high, high.low + (a.low + b.low));
}
constexpr Double operator*(Double a, Double b) {
  const Double high = product(a.high, b.high);
  return quick_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}
constexpr Double divided(Double a, double b) {
  const double first = a.high / b;
  const Double back = product(first, b);
  return quick_sum(first, ((a.high - back.high) - back.low + a.low) / b);
}

// 2 atanh(1 / x) = log((x + 1) / (x - 1)), for x of at least 3.
constexpr Double log_ratio(double x) {
  const Double inverse = divided({1.0, 0.0}, x);
  const Double square = inverse * inverse;
  Double power = inverse, total{0.0, 0.0};
  for (int i = 1; i < 80; i += 2) {
    total = total + divided(power, i);
    power = power * square;
  }
  return {2.0 * total.high, 2.0 * total.low};
}

constexpr Double kLn2 = log_ratio(3.0);
constexpr double kPi = single::kPi;
constexpr Double kHalfPiPair = {0.5 * kPi, single::kHalfPiLow};

// log(i / 64) for i from 45 to 91.
constexpr int kLeast = 45, kMost = 91;
constexpr auto kLogs = [] {
  std::array<Double, kMost - kLeast + 1> out{};
  out[64 - kLeast] = {0.0, 0.0};
  for (int i = 64; i < kMost; ++i) out[i + 1 - kLeast] = out[i - kLeast] + log_ratio(2.0 * i + 1.0);
  for (int i = 64; i > kLeast; --i) {
    const Double step = log_ratio(2.0 * i - 1.0);
    out[i - 1 - kLeast] = out[i - kLeast] + Double{-step.high, -step.low};
  }
  return out;
}();

// 2^(i / 32) for i from 0 to 31.
constexpr auto kRoots = [] {
  std::array<Double, 32> out{};
  for (int i = 0; i < 32; ++i) {
    const Double x = kLn2 * Double{i / 32.0, 0.0};
    Double term{1.0, 0.0}, total{0.0, 0.0};
    for (int n = 1; n < 40; ++n) {
      total = total + term;
      term = divided(term * x, n);
    }
    out[i] = total;
  }
  return out;
}();

// log(x) to about 70 bits, for finite x > 0.
Double log_pair(double x) {
  int k = 0;
  if (x < kSmallestNormal) {
    x *= 0x1p54;
    k = -54;
  }
  const std::uint64_t offset = std::bit_cast<std::uint64_t>(x) - 0x3fe6a09e00000000u;
  k += static_cast<int>(static_cast<std::int64_t>(offset) >> 52);
  const double m = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) - (offset & 0xfff0000000000000u));
  // m = c (1 + r), and r to twice the precision: (m - c) is exact.
  const int i = static_cast<int>(m * 64.0 + 0.5);
  const double c = i / 64.0;
  const Double r = divided({m - c, 0.0}, c);
  const Double square = r * r;
  constexpr double kTail[] = {1.0 / 3.0, -1.0 / 4.0, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0, -1.0 / 8.0, 1.0 / 9.0};
  const double tail = r.high * square.high * single::polynomial<7>(r.high, kTail);
  const Double near = r + Double{-0.5 * square.high, -0.5 * square.low} + Double{tail, 0.0};
  const Double whole = Double{k * single::kLn2High, 0.0} + Double{k * single::kLn2Low, 0.0};
  return whole + kLogs[static_cast<std::size_t>(i - kLeast)] + near;
}

// sign * exp(x) for |x.high| < 800.
double exp_of_pair(Double x, double sign) {
  const double n = std::nearbyint(x.high * (32.0 * 0x1.71547652b82fep+0));
  const double r = ((x.high - n * (single::kLn2High / 32.0)) - n * (single::kLn2Low / 32.0)) + x.low;
  constexpr double kTail[] = {1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0};
  const double part = r + r * r * single::polynomial<6>(r, kTail);
  const int whole = static_cast<int>(n);
  const Double root = kRoots[static_cast<std::size_t>(whole & 31)];
  return flagged(std::ldexp(sign * (root.high + (root.low + root.high * part)), whole >> 5));
}

// 2 / pi: 64 bits before the point, all 0, and 1,216 after it.
constexpr std::uint64_t kTwoOverPi[] = {0x0u,
                                        0xa2f9836e4e441529u,
                                        0xfc2757d1f534ddc0u,
                                        0xdb6295993c439041u,
                                        0xfe5163abdebbc561u,
                                        0xb7246e3a424dd2e0u,
                                        0x06492eea09d1921cu,
                                        0xfe1deb1cb129a73eu,
                                        0xe88235f52ebb4484u,
                                        0xe99c7026b45f7e41u,
                                        0x3991d639835339f4u,
                                        0x9c845f8bbdf9283bu,
                                        0x1ff897ffde05980fu,
                                        0xef2f118b5a0a6d1fu,
                                        0x6d367ecf27cb09b7u,
                                        0x4f463f669e5fea2du,
                                        0x7527bac7ebe5f17bu,
                                        0x3d0739f78a5292eau,
                                        0x6bfb5fb11f8d5d08u,
                                        0x56033046fc7b6babu};

// The 64 bits from a place on.
std::uint64_t bits_from(int place) {
  const std::uint64_t* const word = kTwoOverPi + place / 64;
  const int shift = place % 64;
  return shift == 0 ? word[0] : word[0] << shift | word[1] >> (64 - shift);
}

struct Wide {
  std::uint64_t high;
  std::uint64_t low;
};

Wide product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMask = 0xffffffffu;
  const std::uint64_t low = (a & kMask) * (b & kMask), first = (a >> 32) * (b & kMask) + (low >> 32);
  const std::uint64_t second = (a & kMask) * (b >> 32) + (first & kMask);
  return {(a >> 32) * (b >> 32) + (first >> 32) + (second >> 32), second << 32 | (low & kMask)};
}

// x less a multiple of pi / 2, for finite x > 2^20 (Payne and Hanek 1983): x = mantissa 2^e, and only the bits of 2 /
// pi that change x 2 / pi modulo 4, or its first 137 bits after the point, are multiplied.
single::Turned less_half_pi(double x) {
  const std::uint64_t pattern = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t mantissa = (pattern & 0x000fffffffffffffu) | 0x0010000000000000u;
  const int e = static_cast<int>(pattern >> 52) - 1075;
  const int place = 64 + e - 2;
  const Wide last = product(mantissa, bits_from(place + 128));
  const Wide middle = product(mantissa, bits_from(place + 64));
  std::uint64_t words[3] = {mantissa * bits_from(place) + middle.high, middle.low + last.high, last.low};
  words[0] += words[1] < last.high;
  const std::uint64_t quadrant = (words[0] >> 62) + ((words[0] >> 61) & 1u);
  // The rest is from -1/2 to 1/2, in units of pi / 2, with 190 bits after the point.
  const bool is_negative = (words[0] >> 61) & 1u;
  words[0] <<= 2, words[0] |= words[1] >> 62, words[1] <<= 2, words[1] |= words[2] >> 62, words[2] <<= 2;
  if (is_negative) {
    words[2] = ~words[2] + 1u;
    words[1] = ~words[1] + (words[2] == 0u);
    words[0] = ~words[0] + (words[2] == 0u && words[1] == 0u);
  }
  Double rest{0.0, 0.0};
  double unit = 0x1p-32;
  for (const std::uint64_t word : words) {
    rest = rest + Double{static_cast<double>(word >> 32) * unit, 0.0};
    rest = rest + Double{static_cast<double>(word & 0xffffffffu) * (unit * 0x1p-32), 0.0};
    unit *= 0x1p-64;
  }
  const double value = (rest * kHalfPiPair).high;
  return {is_negative ? -value : value, quadrant};
}

constexpr double kLargestTurned = 0x1p20;

single::Turned turned(double magnitude) {
  return magnitude <= kLargestTurned ? single::less_half_pi(magnitude) : less_half_pi(magnitude);
}

bool is_whole(double x) { return std::fabs(x) >= 0x1p52 || std::nearbyint(x) == x; }
bool is_odd(double x) { return std::fabs(x) < 0x1p53 && is_whole(x) && !is_whole(0.5 * x); }

// |x|^y where x is 0 or infinite and y is not 0.
double power_of_end(double magnitude, double y, double sign) {
  if (magnitude == 0.0) return y < 0.0 ? (std::isinf(y) ? kInfinity : divide_by_zero(sign)) : sign * 0.0;
  return y < 0.0 ? sign * 0.0 : sign * kInfinity;
}

constexpr double kTiny = 0x1p-54;  // below it, expm1(x), log1p(x), sinh(x), ... are x to the last bit

// sign * exp(x) / 2 for x from 708 on.
double half_exp(double x, double sign) {
  if (x > 711.0) return overflow(sign);
  return exp_of_pair(Double{x, 0.0} + Double{-kLn2.high, -kLn2.low}, sign);
}

// log(gamma(x)) for x.high >= 12, by Stirling's series; x.low moves it by the series' derivative.
Double log_gamma_of_large(Double x) {
  constexpr double kSeries[] = {1.0 / 12.0,   -1.0 / 360.0,      1.0 / 1260.0, -1.0 / 1680.0,
                                1.0 / 1188.0, -691.0 / 360360.0, 1.0 / 156.0,  -3617.0 / 122400.0};
  constexpr Double kHalfLogTwoPi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  const Double log_x = log_pair(x.high);
  const double inverse = 1.0 / x.high;
  const double tail = inverse * single::polynomial<8>(inverse * inverse, kSeries);
  const double moved = x.low * (log_x.high - 0.5 * inverse);
  return Double{x.high - 0.5, 0.0} * log_x + Double{-x.high, 0.0} + kHalfLogTwoPi + Double{tail, 0.0} +
         Double{moved, 0.0};
}

// gamma(x) for x > 0; for small x by gamma(x + n) / (x (x + 1) ... (x + n - 1)).
double gamma_of_positive(double x) {
  if (x > 171.7) return overflow(1.0);
  Double steps{1.0, 0.0};
  int count = 0;
  for (; x + count < 12.0; ++count) steps = steps * sum(x, count);
  const double value = exp_of_pair(log_gamma_of_large(sum(x, count)), 1.0);
  if (count == 0) return value;
  const double first = value / steps.high;
  const Double back = product(first, steps.high);
  return first + ((value - back.high) - back.low - first * steps.low) / steps.high;
}

// gamma(x) for negative x that is not whole, by gamma(x) gamma(-x) = -pi / (x sin(pi x)).
double gamma_of_negative(double x) {
  if (x < -200.0) return underflow(1.0);
  const double nearest = std::nearbyint(x);
  // The remainder of x after whole steps is exact.
  const Double angle = Double{2.0 * kHalfPiPair.high, 2.0 * kHalfPiPair.low} * Double{x - nearest, 0.0};
  const double sine = (is_odd(nearest) ? -1.0 : 1.0) * sin(angle.high);
  const double above = -kPi / (x * sine);
  if (x > -170.0) return above / gamma_of_positive(-x);
  // gamma(-x) may overflow where gamma(x) does not.
  const Double below = log_gamma_of_large({-x, 0.0});
  return exp_of_pair(log_pair(std::fabs(above)) + Double{-below.high, -below.low}, std::copysign(1.0, above));
}

}  // namespace

double exp(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude < 0x1p-54) return 1.0 + x;
  if (magnitude <= 708.0) return single::exp(x);
  if (x != x || x == kInfinity) return x + x;
  if (x > 709.79) return overflow(1.0);
  if (x < -745.2) return x == -kInfinity ? 0.0 : underflow(1.0);
  const double n = x * 0x1.71547652b82fep+0 + single::kRound - single::kRound;
  return flagged(std::ldexp(1.0 + single::scaled_exp(x).part, static_cast<int>(n)));
}

double log(double x) {
  if (x >= kSmallestNormal && x < kInfinity) return single::log(x);
  if (x != x || x == kInfinity) return x + x;
  if (x < 0.0) return invalid();
  if (x == 0.0) return divide_by_zero(-1.0);
  const Double value = log_pair(x);
  return value.high + value.low;
}

double sin(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude < 0x1p-27) return flagged(x);  // x itself, to the last bit
  if (magnitude <= kLargestTurned) return single::sin(x);
  if (x - x != 0.0) return x == x ? invalid() : x;
  const single::Turned t = turned(magnitude);
  return std::copysign(1.0, x) * single::sin_of_turned(0.0, t.rest, t.quadrant);
}

double cos(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude <= kLargestTurned) return single::cos(x);
  if (x - x != 0.0) return x == x ? invalid() : x;
  const single::Turned t = turned(magnitude);
  return single::sin_of_turned(0.0, t.rest, t.quadrant + 1u);
}

double tan(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude < 0x1p-27) return flagged(x);  // x itself, to the last bit
  if (magnitude <= kLargestTurned) return single::tan(x);
  if (x - x != 0.0) return x == x ? invalid() : x;
  return std::copysign(1.0, x) * single::tan_of_turned(turned(magnitude));
}

double expm1(double x) {
  if (std::fabs(x) < kTiny) return flagged(x);
  return x > 708.0 ? exp(x) : x == x ? single::expm1(x) : x;
}

double sinh(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude < kTiny) return flagged(x);
  if (x - x != 0.0) return x;
  return magnitude <= 708.0 ? single::sinh(x) : half_exp(magnitude, std::copysign(1.0, x));
}

double cosh(double x) {
  const double magnitude = std::fabs(x);
  if (x - x != 0.0) return x == x ? kInfinity : x;
  return magnitude <= 708.0 ? single::cosh(x) : half_exp(magnitude, 1.0);
}

double log1p(double x) {
  if (std::fabs(x) < kTiny) return flagged(x);
  if (x != x || x == kInfinity) return x;
  if (x < -1.0) return invalid();
  return x == -1.0 ? divide_by_zero(-1.0) : single::log1p(x);
}

double log2(double x) {
  if (!(x > 0.0 && x < kSmallestNormal)) return x >= kSmallestNormal && x < kInfinity ? single::log2(x) : log(x);
  return single::log2(x * 0x1p54) - 54.0;
}

double log10(double x) {
  if (!(x > 0.0 && x < kSmallestNormal)) return x >= kSmallestNormal && x < kInfinity ? single::log10(x) : log(x);
  return single::log10(x * 0x1p54) - 54.0 * (single::kLog10Of2[0] + single::kLog10Of2[1]);
}

double asinh(double x) {
  if (std::fabs(x) < kTiny) return flagged(x);
  return x - x == 0.0 ? single::asinh(x) : x;
}

double acosh(double x) {
  if (x != x || x == kInfinity) return x;
  return x < 1.0 ? invalid() : single::acosh(x);
}

double atanh(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude < kTiny) return flagged(x);
  if (magnitude > 1.0) return invalid();
  return magnitude == 1.0 ? divide_by_zero(x) : x == x ? single::atanh(x) : x;
}

double atan(double x) {
  if (std::fabs(x) < 0x1p-27) return flagged(x);
  return x == x ? single::atan(x) : x;
}

double asin(double x) {
  if (std::fabs(x) < 0x1p-27) return flagged(x);
  return std::fabs(x) > 1.0 ? invalid() : single::asin(x);
}

double acos(double x) { return std::fabs(x) > 1.0 ? invalid() : single::acos(x); }

double atan2(double y, double x) {
  if (x == 0.0 && y == 0.0) return std::signbit(x) ? std::copysign(kPi, y) : y;
  return single::atan2(y, x);
}

double erf(double x) { return x == x ? flagged(single::erf(x)) : x; }

double gamma(double x) {
  if (x == 0.0) return divide_by_zero(std::copysign(1.0, x));
  if (std::fabs(x) < kTiny) return 1.0 / x;
  if (x > 0.0 || x != x) return x < kInfinity ? gamma_of_positive(x) : x;
  return is_whole(x) ? invalid() : gamma_of_negative(x);
}

double mod(double a, double b) {
  if (b == 0.0 || std::isinf(a)) return a == a ? invalid() : a;
  const double rest = std::fmod(a, b);  // exact, so the same on every processor
  if (rest == 0.0) return std::copysign(0.0, b);
  return (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

double hypot(double a, double b) {
  const double large = std::fmax(std::fabs(a), std::fabs(b));
  if (std::isinf(large)) return large;
  if (a == 0.0 || b == 0.0 || a != a || b != b) return std::fabs(a) + std::fabs(b);
  const double scale = large > 0x1p500 ? 0x1p-600 : large < 0x1p-400 ? 0x1p600 : 1.0;
  const double x = a * scale, y = b * scale;
  return std::sqrt(x * x + y * y) / scale;
}

double cbrt(double x) {
  if (x == 0.0 || x - x != 0.0) return x;
  const double magnitude = std::fabs(x);
  if (magnitude < 0x1p-900) return 0x1p-40 * cbrt(x * 0x1p120);  // otherwise the cube below would lose digits
  const double near = pow(magnitude, 1.0 / 3.0);
  return std::copysign(near - (near * near * near - magnitude) / (3.0 * near * near), x);
}

double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const double magnitude = std::fabs(x);
  const double sign = std::signbit(x) && is_odd(y) ? -1.0 : 1.0;
  if (magnitude == 0.0 || std::isinf(x)) return power_of_end(magnitude, y, sign);
  if (std::isinf(y)) return magnitude == 1.0 ? 1.0 : (magnitude > 1.0) == (y > 0.0) ? kInfinity : 0.0;
  if (x < 0.0 && !is_whole(y)) return invalid();
  const Double log_x = log_pair(magnitude);
  const double exponent = log_x.high * y;
  if (exponent > 709.79) return overflow(sign);
  if (exponent < -745.2) return underflow(sign);
  // Products of pairs cannot be split if a factor is very large or the product very small.
  if (std::fabs(exponent) < 0x1p-60) return sign * (1.0 + exponent);
  const bool is_large = std::fabs(y) > 0x1p900;
  const Double scaled = is_large ? product(log_x.high * 0x1p100, y * 0x1p-100) : product(log_x.high, y);
  return exp_of_pair(quick_sum(scaled.high, scaled.low + log_x.low * y), sign);
}

}  // namespace symseed::elementary
