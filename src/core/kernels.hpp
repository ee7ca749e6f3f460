// The table of kernels of one instruction set: every operator over a block of points.
//
// `points` is always a multiple of 8. An output is never one of the inputs. All instruction sets give the same bits.
#pragma once

#include <array>

namespace symseed {

inline constexpr int kOperatorCount = 23;

struct Kernels {
  // out = operator(a, b); b is ignored by operators of one argument. Returns the first point whose value is not finite,
  // or -1.
  using Forward = int (*)(const double* a, const double* b, double* out, int points);
  // grad_a = grad * d operator / d a, and likewise for b; non-finite slopes count as 0.
  using Backward = void (*)(const double* a, const double* b, const double* value, const double* grad, double* grad_a,
                            double* grad_b, int points);
  std::array<Forward, kOperatorCount> forward;
  std::array<Backward, kOperatorCount> backward;
  // lanes[i % 8] += weight[i] * (prediction[i] - target[i])^2.
  void (*add_squared_error)(const double* prediction, const double* target, const double* weight, int points,
                            double* lanes);
  // lanes[i % 8] += a[i] * b[i] * weight[i].
  void (*add_product)(const double* a, const double* b, const double* weight, int points, double* lanes);
};

const Kernels& kernels_portable();
#ifdef SYMSEED_X86_64
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
#endif

}  // namespace symseed
