// The data of the native part: a library's tokens, rows of a population, and samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "group.hpp"
#include "kernels.hpp"

namespace symseed {

// Fills a row after its end; its constants are then NaN.
inline constexpr Token kPad = 65535;

class Function;

// A library as arrays over its T tokens.
struct Vocabulary {
  std::vector<std::uint8_t> kind;                         // opcode, or one of kVariable ... kFunction
  std::vector<std::uint8_t> arity;                        // 0, 1 or 2
  std::vector<std::int32_t> variable;                     // column of a variable, otherwise 0
  std::vector<double> value;                              // value of a literal, otherwise 0
  std::vector<std::shared_ptr<const Function>> function;  // (T,): of a user's operator, otherwise null

  std::size_t size() const { return kind.size(); }
  bool operator==(const Vocabulary&) const = default;
  bool has_constants() const { return std::find(kind.begin(), kind.end(), kConstant) != kind.end(); }
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

// Rows that own their arrays.
struct NewRows {
  NewRows(std::size_t count, std::size_t width, bool with_constants)
      : has_constants(with_constants),
        stride(width),
        tokens(count * width, kPad),
        lengths(count),
        constants(with_constants ? count * width : 0, kNan) {}

  bool has_constants;
  std::size_t stride;                 // L
  std::vector<Token> tokens;          // (N, L)
  std::vector<std::int32_t> lengths;  // (N,)
  std::vector<double> constants;      // (N, L); empty if they are not needed

  void set(std::size_t i, Row row) {
    lengths[i] = row.length;
    std::copy_n(row.tokens, row.length, tokens.data() + i * stride);
    if (has_constants && row.constants != nullptr) {
      std::copy_n(row.constants, row.length, constants.data() + i * stride);
    }
  }
};

// Memory aligned to cache lines, so that no vector of eight numbers crosses two of them.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  bool operator==(const LineAllocator&) const = default;
};
using Lines = std::vector<double, LineAllocator<double>>;

// Points per block, so that the results of a block stay in the first-level cache: chosen by hand.
inline constexpr int kBlock = 256;

// The core's own copy of a dataset, by column, padded to whole groups of points. Padding repeats the last point with
// weight 0, so that it fails only if the data do, and adds nothing to a sum.
struct Samples {
  Samples(std::size_t count, std::size_t columns_per_point)
      : points(count),
        padded(whole_groups(count)),
        variables(columns_per_point),
        columns(variables * padded),
        target(padded),
        weight(padded) {}

  std::size_t points;
  std::size_t padded;
  std::size_t variables;
  Lines columns;  // (variables, padded)
  Lines target;   // (padded,)
  Lines weight;   // (padded,)

  const double* column(std::size_t variable) const { return columns.data() + variable * padded; }
  double* column(std::size_t variable) { return columns.data() + variable * padded; }
  // Call it when all points are filled in.
  void pad() {
    for (std::size_t v = 0; v < variables; ++v)
      std::fill(column(v) + points, column(v) + padded, column(v)[points - 1]);
    std::fill(target.data() + points, target.data() + padded, target[points - 1]);
    std::fill(weight.data() + points, weight.data() + padded, 0.0);
  }
};

}  // namespace symseed
