// The dense kernels of one instruction set; the build compiles this file once per set (SYMSEED_ISA, SYMSEED_LANES).
#include "dense.hpp"

#include <algorithm>
#include <cmath>

#include "pack.hpp"

#define SYMSEED_JOIN_(a, b) a##b
#define SYMSEED_JOIN(a, b) SYMSEED_JOIN_(a, b)

namespace symseed {
namespace SYMSEED_ISA {
namespace {

using Single = V<float>;
constexpr int kSingles = kStep<float>;
constexpr int kVectors = static_cast<int>(kPanel) / kSingles;
// Rows whose sums are in registers together: about twelve registers of sums.
constexpr int kRows = 12 / kVectors > 0 ? 12 / kVectors : 1;
// Rows that pass one panel after another while they stay in the cache.
constexpr std::size_t kBlock = 96;
// Added to a mean square before its root.
constexpr float kEpsilon = 1e-6f;

template <int Rows>
[[gnu::always_inline]] inline void add_block(float* out, std::size_t out_stride, const float* x, std::size_t x_stride,
                                             const float* panel, std::size_t inputs) {
  Single sums[Rows][kVectors];
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      sums[i][j] = at(out + static_cast<std::size_t>(i) * out_stride + j * kSingles);
    }
  }
  for (std::size_t k = 0; k < inputs; ++k) {
    Single right[kVectors];
    for (int j = 0; j < kVectors; ++j) right[j] = at(panel + k * kPanel + j * kSingles);
    for (int i = 0; i < Rows; ++i) {
      const float left = x[static_cast<std::size_t>(i) * x_stride + k];
      for (int j = 0; j < kVectors; ++j) sums[i][j] += left * right[j];
    }
  }
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      at(out + static_cast<std::size_t>(i) * out_stride + j * kSingles) = sums[i][j];
    }
  }
}

void add_product(float* out, std::size_t out_stride, const float* x, std::size_t x_stride, std::size_t rows,
                 const Panels& matrix) {
  for (std::size_t begin = 0; begin < rows; begin += kBlock) {
    const std::size_t end = std::min(rows, begin + kBlock);
    for (std::size_t column = 0; column < matrix.width; column += kPanel) {
      const float* panel = matrix.values.data() + column * matrix.inputs;
      std::size_t i = begin;
      for (; i + kRows <= end; i += kRows) {
        add_block<kRows>(out + i * out_stride + column, out_stride, x + i * x_stride, x_stride, panel, matrix.inputs);
      }
      for (; i < end; ++i) {
        add_block<1>(out + i * out_stride + column, out_stride, x + i * x_stride, x_stride, panel, matrix.inputs);
      }
    }
  }
}

// Sixteen lanes, added in halves.
[[gnu::always_inline]] inline float fold(const Single* sums) {
  float lanes[kPanel];
  for (int j = 0; j < kVectors; ++j) at(lanes + j * kSingles) = sums[j];
  for (std::size_t half = kPanel / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

float dot(const float* a, const float* b, std::size_t count) {
  Single sums[kVectors] = {};
  for (std::size_t i = 0; i < count; i += kPanel) {
    for (int j = 0; j < kVectors; ++j) sums[j] += at(a + i + j * kSingles) * at(b + i + j * kSingles);
  }
  return fold(sums);
}

void add_scaled(float* to, float factor, const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kSingles) at(to + i) += factor * at(from + i);
}

void normalise(float* out, const float* x, const float* gain, std::size_t count) {
  const float scale = 1.0f / std::sqrt(dot(x, x, count) / static_cast<float>(count) + kEpsilon);
  for (std::size_t i = 0; i < count; i += kSingles) at(out + i) = (at(x + i) * scale) * at(gain + i);
}

void gelu(float* x, std::size_t count) {
  constexpr float kLinear = -1.5957691216057308f, kCubic = 0.044715f;  // -2 sqrt(2 / pi)
  for (std::size_t i = 0; i < count; i += kSingles) {
    const Single value = at(x + i);
    const Single power = kLinear * (value + kCubic * (value * value * value));
    at(x + i) = value / (1.0f + exp_of<float>(power));
  }
}

constexpr Dense kTable = {&add_product, &dot, &add_scaled, &normalise, &gelu};

}  // namespace
}  // namespace SYMSEED_ISA

const Dense& SYMSEED_JOIN(dense_, SYMSEED_ISA)() { return SYMSEED_ISA::kTable; }

}  // namespace symseed
