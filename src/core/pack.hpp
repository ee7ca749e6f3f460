// Vectors of float or double that the networks' kernels are written in, and exp of them.
//
// Compiled per instruction set like the kernels; as in vector.hpp, every width gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "math.hpp"

namespace symseed::SYMSEED_ISA {

template <class Real>
struct Pack;
#if SYMSEED_LANES == 1
template <>
struct Pack<float> {
  using Vec = float;
  using Bits = std::uint32_t;
};
template <>
struct Pack<double> {
  using Vec = double;
  using Bits = std::uint64_t;
};
#else
template <>
struct Pack<float> {
  typedef float Vec __attribute__((vector_size(8 * SYMSEED_LANES), aligned(4), may_alias));
  typedef std::uint32_t Bits __attribute__((vector_size(8 * SYMSEED_LANES)));
};
template <>
struct Pack<double> {
  typedef double Vec __attribute__((vector_size(8 * SYMSEED_LANES), aligned(8), may_alias));
  typedef std::uint64_t Bits __attribute__((vector_size(8 * SYMSEED_LANES)));
};
#endif

template <class Real>
using V = typename Pack<Real>::Vec;

template <class Real>
inline constexpr int kStep = sizeof(V<Real>) / sizeof(Real);

template <class Real>
[[gnu::always_inline]] inline V<Real>& at(Real* p) {
  return *reinterpret_cast<V<Real>*>(p);
}
template <class Real>
[[gnu::always_inline]] inline const V<Real>& at(const Real* p) {
  return *reinterpret_cast<const V<Real>*>(p);
}

// Constants of exp for float and double.
template <class Real>
struct Format;
template <>
struct Format<float> {
  static constexpr float round = 0x1.8p23f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f, limit = 80.0f;
  static constexpr float coefficient[] = {0x1p-1f,        0x1.555556p-3f,  0x1.555556p-5f,
                                          0x1.111112p-7f, 0x1.6c16c2p-10f, 0x1.a01a02p-13f};
  static constexpr int count = 6, mantissa = 23;
  static constexpr std::uint32_t one = 0x3f800000u;
};
template <>
struct Format<double> {
  static constexpr double round = kRound, ln2_high = kLn2High, ln2_low = kLn2Low, limit = 700.0;
  static constexpr const double* coefficient = kExp;
  static constexpr int count = 10, mantissa = 52;
  static constexpr std::uint64_t one = 0x3ff0000000000000u;
};

// exp(x) for |x| <= limit; a larger x counts as the limit.
template <class Real>
[[gnu::always_inline]] inline V<Real> exp_of(V<Real> x) {
  using F = Format<Real>;
  const V<Real> high = V<Real>{} + F::limit;
  x = x > high ? high : x;
  x = x < -high ? -high : x;
  const V<Real> shifted = x * static_cast<Real>(0x1.71547652b82fep+0) + F::round;
  const V<Real> n = shifted - F::round;
  const V<Real> r = (x - n * F::ln2_high) - n * F::ln2_low;
  V<Real> sum = V<Real>{} + F::coefficient[F::count - 1];
  for (int i = F::count - 2; i >= 0; --i) sum = sum * r + F::coefficient[i];
  typename Pack<Real>::Bits power;
  std::memcpy(&power, &shifted, sizeof power);
  power = (power << F::mantissa) + F::one;
  V<Real> scale;
  std::memcpy(&scale, &power, sizeof scale);
  return scale + scale * (r + r * r * sum);
}

}  // namespace symseed::SYMSEED_ISA
