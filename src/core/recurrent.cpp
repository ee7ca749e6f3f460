// The recurrent kernels of one instruction set; the build compiles this file once per set (SYMSEED_ISA, SYMSEED_LANES).
#include "recurrent.hpp"

#include <cmath>
#include <cstdint>

#include "math.hpp"

#define SYMSEED_JOIN_(a, b) a##b
#define SYMSEED_JOIN(a, b) SYMSEED_JOIN_(a, b)

namespace symseed {
namespace SYMSEED_ISA {
namespace {

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

template <class Real>
[[gnu::always_inline]] inline V<Real> sigmoid_of(V<Real> x) {
  return static_cast<Real>(1) / (static_cast<Real>(1) + exp_of<Real>(-x));
}
template <class Real>
[[gnu::always_inline]] inline V<Real> tanh_of(V<Real> x) {
  return static_cast<Real>(1) - static_cast<Real>(2) / (exp_of<Real>(x + x) + static_cast<Real>(1));
}

template <class Real>
void add(Real* z, const Real* row, int width) {
  for (int j = 0; j < width; j += kStep<Real>) at(z + j) += at(row + j);
}

// Kinds outputs at a time stay in registers during the loop over inputs.
template <class Real, int Kinds>
[[gnu::always_inline]] inline void add_product_block(Real* z, const Real* x, const Real* matrix, int inputs,
                                                     int width) {
  V<Real> sum[Kinds];
  for (int i = 0; i < Kinds; ++i) sum[i] = at(z + i * kStep<Real>);
  for (int k = 0; k < inputs; ++k) {
    const Real* row = matrix + static_cast<std::ptrdiff_t>(k) * width;
    for (int i = 0; i < Kinds; ++i) sum[i] += x[k] * at(row + i * kStep<Real>);
  }
  for (int i = 0; i < Kinds; ++i) at(z + i * kStep<Real>) = sum[i];
}

template <class Real>
void add_product(Real* z, const Real* x, const Real* matrix, int inputs, int width) {
  int j = 0;
  for (; j + 8 * kStep<Real> <= width; j += 8 * kStep<Real>) {
    add_product_block<Real, 8>(z + j, x, matrix + j, inputs, width);
  }
  for (; j < width; j += kStep<Real>) add_product_block<Real, 1>(z + j, x, matrix + j, inputs, width);
}

// Four sums per lane, so that additions do not wait for one another; their order is the same for every lane count.
template <class Real>
void product(Real* out, const Real* x, const Real* matrix, int inputs, int width) {
  constexpr int kSums = 4;
  for (int j = 0; j < width; j += kStep<Real>) {
    V<Real> sum[kSums] = {};
    for (int k = 0; k < inputs; k += kSums) {
      for (int i = 0; i < kSums; ++i) {
        sum[i] += x[k + i] * at(matrix + static_cast<std::ptrdiff_t>(k + i) * width + j);
      }
    }
    at(out + j) = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

template <class Real>
void add_outer(Real* matrix, const Real* x, const Real* z, int inputs, int width) {
  for (int k = 0; k < inputs; ++k) {
    Real* row = matrix + static_cast<std::ptrdiff_t>(k) * width;
    for (int j = 0; j < width; j += kStep<Real>) at(row + j) += x[k] * at(z + j);
  }
}

template <class Real>
void cell(Real* z, const Real* last_cell, Real* new_cell, Real* tanh_cell, Real* output, int hidden) {
  for (int j = 0; j < hidden; j += kStep<Real>) {
    const V<Real> input = sigmoid_of<Real>(at(z + j));
    const V<Real> candidate = tanh_of<Real>(at(z + hidden + j));
    // The forget gate begins open, because 1 is added to its input.
    const V<Real> forget = sigmoid_of<Real>(at(z + 2 * hidden + j) + static_cast<Real>(1));
    const V<Real> out = sigmoid_of<Real>(at(z + 3 * hidden + j));
    const V<Real> state = forget * at(last_cell + j) + input * candidate;
    const V<Real> squashed = tanh_of<Real>(state);
    at(z + j) = input;
    at(z + hidden + j) = candidate;
    at(z + 2 * hidden + j) = forget;
    at(z + 3 * hidden + j) = out;
    at(new_cell + j) = state;
    at(tanh_cell + j) = squashed;
    at(output + j) = out * squashed;
  }
}

template <class Real>
void cell_backward(const Real* gates, const Real* last_cell, const Real* tanh_cell, const Real* grad_output,
                   Real* grad_cell, Real* grad_z, int hidden) {
  constexpr Real one = 1;
  for (int j = 0; j < hidden; j += kStep<Real>) {
    const V<Real> input = at(gates + j);
    const V<Real> candidate = at(gates + hidden + j);
    const V<Real> forget = at(gates + 2 * hidden + j);
    const V<Real> out = at(gates + 3 * hidden + j);
    const V<Real> squashed = at(tanh_cell + j);
    const V<Real> above = at(grad_output + j);
    const V<Real> state = at(grad_cell + j) + above * out * (one - squashed * squashed);
    at(grad_z + j) = state * candidate * input * (one - input);
    at(grad_z + hidden + j) = state * input * (one - candidate * candidate);
    at(grad_z + 2 * hidden + j) = state * at(last_cell + j) * forget * (one - forget);
    at(grad_z + 3 * hidden + j) = above * squashed * out * (one - out);
    at(grad_cell + j) = state * forget;
  }
}

template <class Real>
void exponential(Real* values, int width) {
  for (int j = 0; j < width; j += kStep<Real>) {
    const V<Real> x = at(values + j);
    at(values + j) = x < -Format<Real>::limit ? V<Real>{} : exp_of<Real>(x);
  }
}

template <class Real>
void adam(Real* parameter, Real* first, Real* second, const Real* gradient, std::size_t count,
          const AdamStep<Real>& step) {
  for (std::size_t i = 0; i < count; ++i) {
    const Real g = gradient[i];
    first[i] = step.decay_first * first[i] + (1 - step.decay_first) * g;
    second[i] = step.decay_second * second[i] + (1 - step.decay_second) * g * g;
    parameter[i] += step.rate * first[i] / (std::sqrt(second[i]) + step.epsilon);
  }
}

template <class Real>
constexpr RecurrentKernels<Real> make_table() {
  return {&add<Real>,  &add_product<Real>,   &product<Real>,     &add_outer<Real>,
          &cell<Real>, &cell_backward<Real>, &exponential<Real>, &adam<Real>};
}

constexpr Recurrent kRecurrent = {make_table<float>(), make_table<double>()};

}  // namespace
}  // namespace SYMSEED_ISA

const Recurrent& SYMSEED_JOIN(recurrent_, SYMSEED_ISA)() { return SYMSEED_ISA::kRecurrent; }

}  // namespace symseed
