// Operators at one point: the table that Python reads, and the IEEE flags that they raise.
#pragma once

#include <array>
#include <cstdint>

#include "action.hpp"
#include "kernels.hpp"

namespace symseed {

struct OperatorInfo {
  const char* name;
  int arity;
  int complexity;
  Action action;  // effect on physical dimensions
};

// In opcode order.
const std::array<OperatorInfo, kOperatorCount>& operator_table();

enum class Failure : std::uint8_t {
  none = 0,
  invalid = 1,         // not a number: log(-1), 0/0
  divide_by_zero = 2,  // 1/0, log(0)
  overflow = 3,        // finite arguments, an infinite value
  underflow = 4,       // strict mode: a value too small for full precision
  loss_overflow = 5,   // every prediction is finite, the sum of squared errors is not
  no_answer = 6,       // a user's operator could not be computed
};

// The operator's value.
double operator_value(int opcode, double a, double b);

// The most serious flag that the operator raises at this point ("inexact" is ignored).
Failure flag_raised(int opcode, double a, double b);

// Strict mode: the first flag among points whose values are all finite.
Failure first_flag(int opcode, const double* a, const double* b, const double* values, int points);

}  // namespace symseed
