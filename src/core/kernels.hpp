// The table of kernels of one instruction set: every operator over a block of points.
//
// `points` is always a multiple of kGroup, which is 8. An output is never one of the inputs. All instruction sets give
// the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "opcodes.hpp"

namespace symseed {

using Token = std::uint16_t;

// What a token is: an operator's opcode, or one of these.
inline constexpr std::uint8_t kVariable = kOperatorCount;
inline constexpr std::uint8_t kLiteral = kOperatorCount + 1;
inline constexpr std::uint8_t kConstant = kOperatorCount + 2;
inline constexpr std::uint8_t kFunction = kOperatorCount + 3;  // an operator of the user's own

// A row on a block of points, as plain pointers: what `Kernels::interpret` reads and where it may write.
struct Passage {
  const Token* tokens;        // in prefix order
  const double* constants;    // beside them
  int length;                 // of the row
  int points;                 // of the block
  const std::uint8_t* kind;   // of each token of the library
  const double* const* leaf;  // the values of each variable and literal on the block
  double* slots;              // two blocks for each value that waits, so that no output is an input
  std::ptrdiff_t block;       // from one slot to the next: at least `points`
  const double** stack;       // values that wait for their operator
};

// Where a row stopped: -1, and its values, if it did not.
struct Stop {
  int position;
  const double* values;
  // Of the operator that gave no finite value: its arguments there.
  double a;
  double b;
};

struct Kernels {
  // out = operator(a, b); b is ignored by operators of one argument. Returns the first point whose value is not finite,
  // or -1.
  using Forward = int (*)(const double* a, const double* b, double* out, int points);
  // grad_a = grad * d operator / d a, and likewise for b; non-finite slopes count as 0.
  using Backward = void (*)(const double* a, const double* b, const double* value, const double* grad, double* grad_a,
                            double* grad_b, int points);
  // The values that one argument should have for the operator's to be `wanted`; `other` is the other argument, any
  // values where there is none. Returns whether they are finite at all points.
  using Inverse = bool (*)(const double* wanted, const double* other, double* out, int points);
  // Every token of a row, up to the first value that is not finite.
  using Interpret = Stop (*)(const Passage& passage);
  Interpret interpret;
  std::array<Forward, kOperatorCount> forward;
  std::array<Backward, kOperatorCount> backward;
  std::array<std::array<Inverse, 2>, kOperatorCount> inverse;  // by each argument; null where there is none
  // lanes[i % 8] += weight[i] * (prediction[i] - target[i])^2.
  void (*add_squared_error)(const double* prediction, const double* target, const double* weight, int points,
                            double* lanes);
  // lanes[i % 8] += a[i] * b[i] * weight[i].
  void (*add_product)(const double* a, const double* b, const double* weight, int points, double* lanes);
  // lanes[i % 8] += weight[i] * a[i], lanes[8 + i % 8] += other[i] * a[i], lanes[16 + i % 8] += |weight[i] * a[i]|.
  void (*add_projections)(const double* a, const double* weight, const double* other, int points, double* lanes);
};

const Kernels& kernels_portable();
#ifdef SYMSEED_X86_64
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
#endif

}  // namespace symseed
