// The recurrent kernels of one instruction set; the build compiles this file once per set (SYMSEED_ISA, SYMSEED_LANES).
#include "recurrent.hpp"

#include <cmath>

#include "pack.hpp"

#define SYMSEED_JOIN_(a, b) a##b
#define SYMSEED_JOIN(a, b) SYMSEED_JOIN_(a, b)

namespace symseed {
namespace SYMSEED_ISA {
namespace {

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
