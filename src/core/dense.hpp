// The arithmetic of a network of dense layers and attention, in float, compiled per instruction set like the kernels.
//
// Sums run from the first term to the last, or in sixteen lanes, on every instruction set: all give the same bits.
#pragma once

#include <cstddef>
#include <vector>

namespace symseed {

// Columns of a panel. Widths are multiples of it.
inline constexpr std::size_t kPanel = 16;

inline std::size_t in_whole_panels(std::size_t width) { return (width + kPanel - 1) / kPanel * kPanel; }

// A matrix for products: panels of kPanel columns one after another, each (inputs, kPanel); zeros fill the last.
struct Panels {
  std::size_t inputs = 0;
  std::size_t width = 0;
  std::vector<float> values;

  // Takes (inputs, columns) numbers whose rows are `stride` apart.
  void assign(const float* from, std::size_t rows, std::size_t columns, std::size_t stride);
  // Takes the transpose of (columns, inputs) numbers whose rows are `stride` apart.
  void assign_transposed(const float* from, std::size_t rows, std::size_t columns, std::size_t stride);
};

struct Dense {
  // out += x . matrix, for `rows` rows of x and of out, which are `x_stride` and `out_stride` apart.
  void (*add_product)(float* out, std::size_t out_stride, const float* x, std::size_t x_stride, std::size_t rows,
                      const Panels& matrix);
  // The sum of a[i] * b[i]; `count` is a multiple of kPanel, here and below.
  float (*dot)(const float* a, const float* b, std::size_t count);
  // to += factor * from.
  void (*add_scaled)(float* to, float factor, const float* from, std::size_t count);
  // out = x / root mean square of x, times a gain for each number (Zhang & Sennrich 2019).
  void (*normalise)(float* out, const float* x, const float* gain, std::size_t count);
  // x = x Phi(x), nearly (Hendrycks & Gimpel 2016): Phi is the logistic function of 1.6 x + 0.07 x^3.
  void (*gelu)(float* x, std::size_t count);
};

const Dense& dense_portable();
#ifdef SYMSEED_X86_64
const Dense& dense_avx2();
const Dense& dense_avx512();
#endif

}  // namespace symseed
