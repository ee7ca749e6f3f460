#define SYMSEED_ISA scalar
#define SYMSEED_LANES 1

#include "scalar.hpp"

#include <cfenv>
#include <cmath>
#include <utility>

#include "opcodes.hpp"

namespace symseed {
namespace {

using scalar::Operators;

template <class Op>
double value_of(double a, double b) {
  if constexpr (requires { Op::exact(a, b); }) {
    return Op::exact(a, b);
  } else if constexpr (requires { Op::exact(a); }) {
    return Op::exact(a);
  } else if constexpr (Op::arity == 2) {
    return Op::value(a, b);
  } else {
    return Op::value(a);
  }
}

template <class Op>
constexpr bool hides_flags() {
  if constexpr (requires { Op::hides_flags; }) return Op::hides_flags;
  return false;
}

template <class Make, std::size_t... I>
constexpr auto for_operators(Make make, std::index_sequence<I...>) {
  return std::array{make.template operator()<std::tuple_element_t<I, Operators>>()...};
}
template <class Make>
constexpr auto for_operators(Make make) {
  return for_operators(make, std::make_index_sequence<kOperatorCount>{});
}

constexpr auto kInfo =
    for_operators([]<class Op>() { return OperatorInfo{Op::name, Op::arity, Op::complexity, Op::action}; });
constexpr auto kValue = for_operators([]<class Op>() { return &value_of<Op>; });
constexpr auto kHidesFlags = for_operators([]<class Op>() { return hides_flags<Op>(); });

}  // namespace

const std::array<OperatorInfo, kOperatorCount>& operator_table() { return kInfo; }

double operator_value(int opcode, double a, double b) { return kValue[static_cast<std::size_t>(opcode)](a, b); }

Failure flag_raised(int opcode, double a, double b) {
  // Volatile, and called through a table, so that the compiler cannot move the operation past the two checks of flags.
  const volatile double x = a;
  const volatile double y = b;
  std::feclearexcept(FE_ALL_EXCEPT);
  const volatile double value = kValue[static_cast<std::size_t>(opcode)](x, y);
  const int flags = std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW);
  std::feclearexcept(FE_ALL_EXCEPT);
  if ((flags & FE_INVALID) || value != value) return Failure::invalid;
  if (flags & FE_DIVBYZERO) return Failure::divide_by_zero;
  if ((flags & FE_OVERFLOW) || value - value != 0.0) return Failure::overflow;
  return flags & FE_UNDERFLOW ? Failure::underflow : Failure::none;
}

Failure first_flag(int opcode, const double* a, const double* b, const double* values, int points) {
  const bool every_point = kHidesFlags[static_cast<std::size_t>(opcode)];
  for (int i = 0; i < points; ++i) {
    // A flag without a non-finite value is an underflow, and its value is zero or subnormal.
    if (!every_point && std::fabs(values[i]) >= 0x1p-1022) continue;
    const Failure flag = flag_raised(opcode, a[i], b[i]);
    if (flag != Failure::none) return flag;
  }
  return Failure::none;
}

}  // namespace symseed
