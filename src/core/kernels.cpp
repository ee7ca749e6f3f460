// The kernels of one instruction set; the build compiles this file once per set (SYMSEED_ISA, SYMSEED_LANES).
#include "kernels.hpp"

#include <utility>

#include "opcodes.hpp"

#define SYMSEED_JOIN_(a, b) a##b
#define SYMSEED_JOIN(a, b) SYMSEED_JOIN_(a, b)

namespace symseed {
namespace SYMSEED_ISA {
namespace {

static_assert(std::tuple_size_v<Operators> == kOperatorCount);

[[gnu::always_inline]] inline bool is_finite(double value) { return value - value == 0.0; }

template <class Op>
[[gnu::always_inline]] inline Vec value_at(const double* a, const double* b, int i) {
  if constexpr (Op::arity == 2) {
    return Op::value(load(a + i), load(b + i));
  } else {
    return Op::value(load(a + i));
  }
}

// The first point whose value is not finite, after asking the C library where the vector form gave no number.
template <class Op>
int repair(const double* a, const double* b, double* out, int points) {
  for (int i = 0; i < points; ++i) {
    if (is_finite(out[i])) continue;
    if constexpr (requires { Op::exact(0.0, 0.0); }) out[i] = Op::exact(a[i], b[i]);
    if constexpr (requires { Op::exact(0.0); }) out[i] = Op::exact(a[i]);
    if (!is_finite(out[i])) return i;
  }
  return -1;
}

template <class Op>
int forward(const double* a, const double* b, double* out, int points) {
  Bits seen{};
  for (int i = 0; i < points; i += kLanes) {
    const Vec value = value_at<Op>(a, b, i);
    store(out + i, value);
    seen = note_non_finite(seen, value);
  }
  return any_non_finite(seen) ? repair<Op>(a, b, out, points) : -1;
}

[[gnu::always_inline]] inline Vec finite_or_zero(Vec value) { return choose(value - value == 0.0, value, Vec{}); }

template <class Op>
void backward(const double* a, const double* b, const double* value, const double* grad, double* grad_a, double* grad_b,
              int points) {
  for (int i = 0; i < points; i += kLanes) {
    const Vec f = load(value + i);
    const Vec g = load(grad + i);
    if constexpr (Op::arity == 2) {
      const Vec slope_a = finite_or_zero(Op::slope_a(load(a + i), load(b + i), f));
      const Vec slope_b = finite_or_zero(Op::slope_b(load(a + i), load(b + i), f));
      store(grad_a + i, g * slope_a);
      store(grad_b + i, g * slope_b);
    } else {
      store(grad_a + i, g * finite_or_zero(Op::slope(load(a + i), f)));
    }
  }
}

// term(i) summed into eight running sums, the same eight at every width.
template <class Term>
[[gnu::always_inline]] inline void add_to_lanes(double* lanes, int points, Term term) {
  constexpr int kParts = kGroup / kLanes;
  Vec sums[kParts];
  for (int part = 0; part < kParts; ++part) sums[part] = load(lanes + part * kLanes);
  for (int i = 0; i < points; i += kGroup) {
    for (int part = 0; part < kParts; ++part) sums[part] = sums[part] + term(i + part * kLanes);
  }
  for (int part = 0; part < kParts; ++part) store(lanes + part * kLanes, sums[part]);
}

void add_squared_error(const double* prediction, const double* target, const double* weight, int points,
                       double* lanes) {
  add_to_lanes(lanes, points, [=](int i) {
    const Vec error = load(prediction + i) - load(target + i);
    return load(weight + i) * (error * error);
  });
}

void add_product(const double* a, const double* b, const double* weight, int points, double* lanes) {
  add_to_lanes(lanes, points, [=](int i) { return load(weight + i) * (load(a + i) * load(b + i)); });
}

template <std::size_t... I>
constexpr Kernels make_kernels(std::index_sequence<I...>) {
  return {{&forward<std::tuple_element_t<I, Operators>>...},
          {&backward<std::tuple_element_t<I, Operators>>...},
          &add_squared_error,
          &add_product};
}

constexpr Kernels kTable = make_kernels(std::make_index_sequence<kOperatorCount>{});

}  // namespace
}  // namespace SYMSEED_ISA

const Kernels& SYMSEED_JOIN(kernels_, SYMSEED_ISA)() { return SYMSEED_ISA::kTable; }

}  // namespace symseed
