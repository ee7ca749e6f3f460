// What the native part works on: a library's tokens, rows of a population, and samples of data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace symseed {

using Token = std::uint16_t;
// What stands in a row after its end.
inline constexpr Token kPad = 65535;

// What a token is: an operator's opcode, or one of these.
inline constexpr std::uint8_t kVariable = kOperatorCount;
inline constexpr std::uint8_t kLiteral = kOperatorCount + 1;
inline constexpr std::uint8_t kConstant = kOperatorCount + 2;

// A library as arrays over its T tokens.
struct Vocabulary {
  std::vector<std::uint8_t> kind;      // opcode, kVariable, kLiteral or kConstant
  std::vector<std::uint8_t> arity;     // 0, 1 or 2
  std::vector<std::int32_t> variable;  // column of a variable, else 0
  std::vector<double> value;           // value of a literal, else 0

  std::size_t size() const { return kind.size(); }
};

// One expression: a prefix of tokens and, aligned with it, the values of its constants.
struct Row {
  const Token* tokens;
  const double* constants;
  int length;
};

// A borrowed view of a population's arrays.
struct Rows {
  const Token* tokens;          // (N, L)
  const std::int32_t* lengths;  // (N,)
  const double* constants;      // (N, L)
  std::size_t count;            // N
  std::size_t stride;           // L

  Row operator[](std::size_t i) const {
    return {tokens + i * stride, constants + i * stride, static_cast<int>(lengths[i])};
  }
};

// Points per block: results of a block stay in the first-level cache.
inline constexpr int kBlock = 256;

// A dataset's own copy, by column, padded to whole groups of eight points. Padding repeats the last point with weight
// 0, so that it never fails where the data do not and adds nothing to a sum.
struct Samples {
  std::size_t points;
  std::size_t padded;
  std::size_t variables;
  std::vector<double> columns;  // (variables, padded)
  std::vector<double> target;   // (padded,)
  std::vector<double> weight;   // (padded,)

  const double* column(std::size_t variable) const { return columns.data() + variable * padded; }
};

}  // namespace symseed
