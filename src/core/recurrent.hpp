// The arithmetic of a recurrent network, compiled per instruction set like the kernels, in float and in double.
//
// Loops run over outputs and never reorder a sum, so all instruction sets give the same bits. Widths are multiples of
// kWidth, and so are the inputs of `product`; matrices are row-major, (inputs, outputs).
#pragma once

#include <cstddef>

namespace symseed {

inline constexpr int kWidth = 16;

// Constants of one step of Adam (Kingma and Ba 2015); `rate` includes the bias corrections.
template <class Real>
struct AdamStep {
  Real rate;
  Real decay_first;
  Real decay_second;
  Real epsilon;
};

template <class Real>
struct RecurrentKernels {
  // z += row.
  void (*add)(Real* z, const Real* row, int width);
  // z += x . matrix.
  void (*add_product)(Real* z, const Real* x, const Real* matrix, int inputs, int width);
  // out = x . matrix.
  void (*product)(Real* out, const Real* x, const Real* matrix, int inputs, int width);
  // matrix += x z^T.
  void (*add_outer)(Real* matrix, const Real* x, const Real* z, int inputs, int width);
  // One LSTM cell of `hidden` units. In: gate inputs z (4 * hidden: input, candidate, forget, output) and the last
  // cell. Out: the gates' activations in place of z, the new cell, its tanh, and the output.
  void (*cell)(Real* z, const Real* last_cell, Real* new_cell, Real* tanh_cell, Real* output, int hidden);
  // Its derivative. In: inputs and results of `cell`, the gradients of its output and of its new cell. Out: the
  // gradient of z, and the gradient of the last cell in place of that of the new cell.
  void (*cell_backward)(const Real* gates, const Real* last_cell, const Real* tanh_cell, const Real* grad_output,
                        Real* grad_cell, Real* grad_z, int hidden);
  // values = exp(values), for values of at most 0; below -80 (float) or -700 (double) it gives 0.
  void (*exponential)(Real* values, int width);
  // One step of gradient ascent.
  void (*adam)(Real* parameter, Real* first, Real* second, const Real* gradient, std::size_t count,
               const AdamStep<Real>& step);
};

// The float and the double form of one instruction set.
struct Recurrent {
  RecurrentKernels<float> single;
  RecurrentKernels<double> twice;
};

const Recurrent& recurrent_portable();
#ifdef SYMSEED_X86_64
const Recurrent& recurrent_avx2();
const Recurrent& recurrent_avx512();
#endif

}  // namespace symseed
