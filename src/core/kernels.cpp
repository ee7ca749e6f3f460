// The kernels of one instruction set; the build compiles this file once per set (SYMSEED_ISA, SYMSEED_LANES).
#include "kernels.hpp"

#include <utility>

#include "opcodes.hpp"

#define SYMSEED_JOIN_(a, b) a##b
#define SYMSEED_JOIN(a, b) SYMSEED_JOIN_(a, b)

namespace symseed {
namespace SYMSEED_ISA {
namespace {

[[gnu::always_inline]] inline bool is_finite(double value) { return value - value == 0.0; }

template <class Op>
[[gnu::always_inline]] inline Vec value_at(const double* a, const double* b, int i) {
  if constexpr (Op::arity == 2) {
    return Op::value(load(a + i), load(b + i));
  } else {
    return Op::value(load(a + i));
  }
}

// The first point whose value is not finite; `exact` is computed where the vector form gave NaN.
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
[[gnu::always_inline]] inline int apply(const double* a, const double* b, double* out, int points) {
  Seen seen{};
  for (int i = 0; i < points; i += kLanes) {
    const Vec value = value_at<Op>(a, b, i);
    store(out + i, value);
    seen = note_non_finite(seen, value);
  }
  return any_non_finite(seen) ? repair<Op>(a, b, out, points) : -1;
}

template <class Op>
int forward(const double* a, const double* b, double* out, int points) {
  return apply<Op>(a, b, out, points);
}

// If the compiler has computed jumps, every token jumps directly to the code of the next one: one jump per operator is
// easier to predict than one jump for all.
#if defined(__GNUC__)
#define SYMSEED_NEXT                              \
  if (position == 0) return {-1, stack[0], 0, 0}; \
  token = tokens[--position];                     \
  goto* labels[kinds[token]];
#else
#define SYMSEED_NEXT goto next;
#endif

#define SYMSEED_CODE(Op)                             \
  code_of_##Op : {                                   \
    const double* a = top[-1];                       \
    const double* b = top[-Op::arity];               \
    top -= Op::arity;                                \
    double* out = slots + (top - stack) * 2 * block; \
    if (out == a || out == b) out += block;          \
    const int bad = apply<Op>(a, b, out, points);    \
    if (bad >= 0) [[unlikely]]                       \
      return {position, nullptr, a[bad], b[bad]};    \
    *top++ = out;                                    \
    SYMSEED_NEXT                                     \
  }

// Goes from the last token to the first; every operator finds its arguments on the stack, the left one on top. Points
// is their number if the compiler may know it, otherwise 0; if it is known, there is no space between slots.
template <int Points>
Stop interpret(const RowBlock& row) {
  const int points = Points > 0 ? Points : row.points;
  const std::ptrdiff_t block = Points > 0 ? Points : row.block;
  const Token* const tokens = row.tokens;
  const std::uint8_t* const kinds = row.kind;
  double* const slots = row.slots;
  const double** const stack = row.stack;
  const double** top = stack;  // one past the last value
  const double* const* const leaves = row.leaf;
  int position = row.length;
  Token token;
#if defined(__GNUC__)
#define SYMSEED_LABEL(Op) &&code_of_##Op,
  static const void* const labels[] = {SYMSEED_OPERATORS(SYMSEED_LABEL) && leaf, &&leaf, &&constant};
#undef SYMSEED_LABEL
  SYMSEED_NEXT
#else
next:
  if (position == 0) return {-1, stack[0], 0, 0};
  token = tokens[--position];
#define SYMSEED_CASE(Op)             \
  case static_cast<int>(Opcode::Op): \
    goto code_of_##Op;
  switch (kinds[token]) {
    SYMSEED_OPERATORS(SYMSEED_CASE)
    case kConstant:
      goto constant;
    default:
      goto leaf;
  }
#undef SYMSEED_CASE
#endif
leaf:
  *top++ = leaves[token];
  SYMSEED_NEXT
constant:
  {
    const double value = row.constants[position];
    if (!is_finite(value)) [[unlikely]]
      return {position, nullptr, value, value};
    double* out = slots + (top - stack) * 2 * block;
    for (int i = 0; i < points; i += kLanes) store(out + i, splat(value));
    *top++ = out;
    SYMSEED_NEXT
  }
  SYMSEED_OPERATORS(SYMSEED_CODE)
}

#undef SYMSEED_CODE
#undef SYMSEED_NEXT

// The problems of the paper have 20 points, which are three groups of eight.
Stop interpret_any(const RowBlock& row) {
  return row.points == 24 && row.block == 24 ? interpret<24>(row) : interpret<0>(row);
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

// The argument that gives a desired value: by vectors, or point by point if it is defined for single numbers.
template <class Op, int Argument, class Real>
[[gnu::always_inline]] inline auto inverse_of(Real wanted, Real other)
  requires(Op::arity == 1 ? requires { Op::inverse(wanted); } : requires { Op::inverse_a(wanted, other); })
{
  if constexpr (Op::arity == 1) {
    return Op::inverse(wanted);
  } else if constexpr (Argument == 0) {
    return Op::inverse_a(wanted, other);
  } else {
    return Op::inverse_b(wanted, other);
  }
}

template <class Op>
inline constexpr bool kIsInvertible = requires { &Op::inverse; } || requires { &Op::inverse_a; };

template <class Op, int Argument>
bool inverse(const double* wanted, const double* other, double* out, int points) {
  // A definition for single numbers takes no vectors; if vectors are single numbers, both apply.
  constexpr bool is_by_vectors = requires(Vec v) { inverse_of<Op, Argument, Vec>(v, v); };
  Seen seen{};
  for (int i = 0; i < points; i += kLanes) {
    if constexpr (is_by_vectors) {
      store(out + i, inverse_of<Op, Argument, Vec>(load(wanted + i), load(other + i)));
    } else {
      for (int lane = 0; lane < kLanes; ++lane) {
        out[i + lane] = inverse_of<Op, Argument, double>(wanted[i + lane], other[i + lane]);
      }
    }
    seen = note_non_finite(seen, load(out + i));
  }
  return !any_non_finite(seen);
}

template <class Op>
constexpr std::array<Kernels::Inverse, 2> inverses() {
  if constexpr (kIsInvertible<Op>) {
    return {&inverse<Op, 0>, Op::arity == 2 ? &inverse<Op, 1> : nullptr};
  } else {
    return {nullptr, nullptr};
  }
}

// Sums term(i) in eight lanes, the same eight at every width, and adds them to those of the blocks before.
template <class Term>
[[gnu::always_inline]] inline void add_to_lanes(double* lanes, int points, Term term) {
  constexpr int kParts = kGroup / kLanes;
  Vec sums[kParts] = {};
  for (int i = 0; i < points; i += kGroup) {
    for (int part = 0; part < kParts; ++part) sums[part] = sums[part] + term(i + part * kLanes);
  }
  for (int part = 0; part < kParts; ++part) {
    double* const lane = lanes + part * kLanes;
    store(lane, load(lane) + sums[part]);
  }
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

void add_projections(const double* a, const double* weight, const double* other, int points, double* lanes) {
  add_to_lanes(lanes, points, [=](int i) { return load(weight + i) * load(a + i); });
  add_to_lanes(lanes + kGroup, points, [=](int i) { return load(other + i) * load(a + i); });
  add_to_lanes(lanes + 2 * kGroup, points, [=](int i) { return absolute(load(weight + i) * load(a + i)); });
}

template <std::size_t... I>
constexpr Kernels make_kernels(std::index_sequence<I...>) {
  return {&interpret_any,
          {&forward<std::tuple_element_t<I, Operators>>...},
          {&backward<std::tuple_element_t<I, Operators>>...},
          {inverses<std::tuple_element_t<I, Operators>>()...},
          &add_squared_error,
          &add_product,
          &add_projections};
}

constexpr Kernels kTable = make_kernels(std::make_index_sequence<kOperatorCount>{});

}  // namespace
}  // namespace SYMSEED_ISA

const Kernels& SYMSEED_JOIN(kernels_, SYMSEED_ISA)() { return SYMSEED_ISA::kTable; }

}  // namespace symseed
