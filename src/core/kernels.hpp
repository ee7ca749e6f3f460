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

// Kinds of tokens: the opcode of an operator, or one of these.
inline constexpr std::uint8_t kVariable = kOperatorCount;
inline constexpr std::uint8_t kLiteral = kOperatorCount + 1;
inline constexpr std::uint8_t kConstant = kOperatorCount + 2;
inline constexpr std::uint8_t kFunction = kOperatorCount + 3;  // a user's operator

// A row and a block of points as pointers: what `Kernels::interpret` reads, and the memory it may write.
struct RowBlock {
  const Token* tokens;        // in prefix order
  const double* constants;    // by position
  int length;                 // number of tokens
  int points;                 // number of points
  const std::uint8_t* kind;   // kind of each token of the library
  const double* const* leaf;  // the values of each variable and literal on the block
  double* slots;              // two blocks for each value on the stack, so that no output is an input
  std::ptrdiff_t block;       // distance of two slots: at least `points`
  const double** stack;       // values whose operator comes later
};

// Position at which a row failed; -1, and its values, if it did not.
struct Stop {
  int position;
  const double* values;
  // Arguments of the operator whose value is not finite.
  double a;
  double b;
};

struct Kernels {
  // out = operator(a, b); b is ignored by operators of one argument. Returns the first point whose value is not finite,
  // or -1.
  using Forward = int (*)(const double* a, const double* b, double* out, int points);
  // grad_a = grad * d operator / d a, and the same for b; derivatives that are not finite count as 0.
  using Backward = void (*)(const double* a, const double* b, const double* value, const double* grad, double* grad_a,
                            double* grad_b, int points);
  // The values of one argument for which the operator gives `wanted`; `other` is the other argument, any values if
  // there is none. Returns whether they are finite at all points.
  using Inverse = bool (*)(const double* wanted, const double* other, double* out, int points);
  // Interprets the tokens of a row, up to the first value that is not finite.
  using Interpret = Stop (*)(const RowBlock& row);
  Interpret interpret;
  std::array<Forward, kOperatorCount> forward;
  std::array<Backward, kOperatorCount> backward;
  std::array<std::array<Inverse, 2>, kOperatorCount> inverse;  // for each argument; null if there is none
  // Sums have eight lanes, number i in lane i % 8. Each lane of a block is summed from 0, and then added: a device can
  // sum blocks at the same time, and gets the same bits. lanes[i % 8] += weight[i] * (prediction[i] - target[i])^2.
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
