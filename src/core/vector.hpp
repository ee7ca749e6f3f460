// Vectors of float64 that the kernels are written in: one source, as many lanes as the instruction set has.
//
// SYMSEED_ISA names the namespace and SYMSEED_LANES the width (1, 2, 4 or 8); both come from the build, which compiles
// the kernels once per instruction set. Everything here is in that namespace and inlined, so that no code made for
// a newer processor can be linked into the path of an older one.
//
// Only IEEE operations that are rounded the same everywhere are used (+ - * / sqrt, comparisons, integer operations;
// no fused multiply-add), so every width gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "group.hpp"

namespace symseed::SYMSEED_ISA {

#if SYMSEED_LANES == 1
using Vec = double;
using Bits = std::uint64_t;
using LooseVec = double;
#else
typedef double Vec __attribute__((vector_size(8 * SYMSEED_LANES)));
typedef std::uint64_t Bits __attribute__((vector_size(8 * SYMSEED_LANES)));
// The same vector without alignment beyond that of a double.
typedef double LooseVec __attribute__((vector_size(8 * SYMSEED_LANES), aligned(8), may_alias));
#endif

inline constexpr int kLanes = SYMSEED_LANES;

inline constexpr std::uint64_t kSign = 0x8000000000000000u;
inline constexpr std::uint64_t kExponent = 0x7ff0000000000000u;
inline constexpr std::uint64_t kExponentOne = 0x0010000000000000u;

[[gnu::always_inline]] inline Vec load(const double* from) { return *reinterpret_cast<const LooseVec*>(from); }
[[gnu::always_inline]] inline void store(double* to, Vec value) { *reinterpret_cast<LooseVec*>(to) = value; }
// A difference, because a sum with 0 would change the sign of -0.
[[gnu::always_inline]] inline Vec splat(double value) { return value - Vec{}; }

[[gnu::always_inline]] inline Bits bits(Vec value) {
  Bits out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}
[[gnu::always_inline]] inline Vec from_bits(Bits value) {
  Vec out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

// `mask ? a : b`, lane by lane; a mask is what a comparison of two Vec gives.
template <class Mask>
[[gnu::always_inline]] inline Vec choose(Mask mask, Vec a, Vec b) {
  return mask ? a : b;
}

[[gnu::always_inline]] inline Vec absolute(Vec value) { return from_bits(bits(value) & ~kSign); }

[[gnu::always_inline]] inline Vec square_root(Vec value) {
#if SYMSEED_LANES == 1
  return __builtin_sqrt(value);
#else
  for (int lane = 0; lane < kLanes; ++lane) value[lane] = __builtin_sqrt(value[lane]);
  return value;
#endif
}

// a / b, and the same where b is in [1, 4) and `a` is 0 or its magnitude in [2^-60, 1].
//
// A device divides by a subroutine, before and after which the code of one point cannot be mixed with that of another.
// Its short form is therefore written out. It is the subroutine's own: an approximate reciprocal, refined twice, and a
// quotient whose remainder is exact, so that it is rounded as IEEE asks; the fused operations are part of it. If the
// subroutine would leave its short form, `quotient` is NaN, and `exact_value` of machine.hpp divides.
#if defined(__CUDACC__)
inline double near_quotient(double a, double b) {
  double reciprocal;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(b));
  reciprocal = __hiloint2double(__double2hiint(reciprocal), 1);
  const double wrong = __fma_rn(-b, reciprocal, 1.0);
  reciprocal = __fma_rn(reciprocal, __fma_rn(wrong, wrong, wrong), reciprocal);
  reciprocal = __fma_rn(reciprocal, __fma_rn(-b, reciprocal, 1.0), reciprocal);
  const double first = __dmul_rn(reciprocal, a);
  return __fma_rn(reciprocal, __fma_rn(-b, first, a), first);
}
inline double quotient(double a, double b) {
  const double result = near_quotient(a, b);
  // The upper halves as float32 numbers: that of `a` is far from the subnormal ones, that of the result is normal, and
  // `b` is below 2^1017.
  const float top_a = __int_as_float(__double2hiint(a)), top_b = __int_as_float(__double2hiint(b));
  const float top = __fmaf_rn(0.0f, top_b, __int_as_float(__double2hiint(result)));
  const bool is_short = !(__int_as_float(__float_as_int(top_a) & 0x7fffffff) < 0x1.cp-121f) &&
                        __int_as_float(__float_as_int(top) & 0x7fffffff) > 0x1p-129f;
  return is_short ? result : __longlong_as_double(0x7ff8000000000000);
}
#else
[[gnu::always_inline]] inline Vec near_quotient(Vec a, Vec b) { return a / b; }
[[gnu::always_inline]] inline Vec quotient(Vec a, Vec b) { return a / b; }
#endif

// Records whether any value so far was infinite or NaN.
#if SYMSEED_LANES == 8 && defined(__AVX512DQ__)
using Seen = __mmask8;
[[gnu::always_inline]] inline Seen note_non_finite(Seen seen, Vec value) {
  constexpr int kNansAndInfinities = 0x99;
  return static_cast<Seen>(seen | _mm512_fpclass_pd_mask(value, kNansAndInfinities));
}
[[gnu::always_inline]] inline bool any_non_finite(Seen seen) { return seen != 0; }
#else
// The top bit is set once the exponent of a value was all ones.
using Seen = Bits;
[[gnu::always_inline]] inline Seen note_non_finite(Seen seen, Vec value) {
  return seen | ((bits(value) & kExponent) + kExponentOne);
}
[[gnu::always_inline]] inline bool any_non_finite(Seen seen) {
#if SYMSEED_LANES == 1
  return (seen & kSign) != 0;
#elif SYMSEED_LANES == 4 && defined(__AVX2__)
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(seen)) != 0;
#elif SYMSEED_LANES == 2 && defined(__SSE2__)
  return _mm_movemask_pd(reinterpret_cast<__m128d>(seen)) != 0;
#else
  std::uint64_t all = 0;
  for (int lane = 0; lane < kLanes; ++lane) all |= seen[lane];
  return (all & kSign) != 0;
#endif
}
#endif

}  // namespace symseed::SYMSEED_ISA
