// The hardware's limit: the least work that evaluates prefix rows. No checks, no failures, no weights, no threads.
//
// With BARE_OWN_MATH, exp, log, sin and cos are those of src/core; else they are loops that the compiler turns into
// calls of its vector library. For GCC and Clang: every token jumps straight to the code of the next.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#ifdef BARE_OWN_MATH
#include "math.hpp"
using namespace symseed::SYMSEED_ISA;
#else
using std::cos, std::exp, std::log, std::sin;
#endif

namespace {

constexpr long kChunk = 64;  // rows that share a block of data while it is in the cache

struct Problem {
  const std::uint16_t* tokens;  // (rows, stride): x1 x2 add sub mul div sin cos exp log
  const std::int32_t* lengths;  // (rows,)
  long rows;
  long stride;
  const double* columns;  // (2, padded), padded to whole groups of eight points
  const double* target;   // (points,)
  long points;
  long padded;
  long block;  // points that are evaluated at a time: whole groups too
};

// Memory for the values of one row on one block.
struct Room {
  struct alignas(64) Group {
    double value[8];
  };
  std::vector<Group> slots;          // a block for each value that waits
  std::vector<const double*> stack;  // the values that wait for their operator

  explicit Room(const Problem& problem)
      : slots(static_cast<std::size_t>((problem.stride / 2 + 1) * problem.block / 8)),
        stack(static_cast<std::size_t>(problem.stride / 2 + 1)) {}
};

// `out` may be one of the arguments.
template <class Operator>
[[gnu::always_inline]] inline void apply(const double* a, const double* b, double* out, long points, Operator value) {
#ifdef BARE_OWN_MATH
  for (long i = 0; i < points; i += kLanes) store(out + i, value(load(a + i), load(b + i)));
#else
#pragma GCC ivdep
  for (long i = 0; i < points; ++i) out[i] = value(a[i], b[i]);
#endif
}

#define NEXT                        \
  if (at == begin) return stack[0]; \
  token = *--at;                    \
  goto* labels[token];

#define OPERATOR(label, arity, expression)                                                                 \
  label:                                                                                                   \
  {                                                                                                        \
    top -= arity;                                                                                          \
    double* const out = slots + (top - stack) * block;                                                     \
    apply(top[arity - 1], top[0], out, count, [](auto a, [[maybe_unused]] auto b) { return expression; }); \
    *top++ = out;                                                                                          \
    NEXT                                                                                                   \
  }

// Values of a row at points first, first + 1, ...; Fixed is their number where the compiler may know it, else 0.
template <long Fixed>
const double* run(const Problem& problem, Room& room, long row, long first, long points) {
  static const void* const labels[] = {&&variable, &&variable, &&add,    &&sub,   &&mul,
                                       &&div,      &&sine,     &&cosine, &&power, &&logarithm};
  const long count = Fixed ? Fixed : points;
  const long block = problem.block;
  const std::uint16_t* const begin = problem.tokens + row * problem.stride;
  const std::uint16_t* at = begin + problem.lengths[row];
  double* const slots = room.slots.data()->value;
  const double** const stack = room.stack.data();
  const double** top = stack;
  long token;
  NEXT variable : * top++ = problem.columns + token * problem.padded + first;
  NEXT OPERATOR(add, 2, a + b) OPERATOR(sub, 2, a - b) OPERATOR(mul, 2, a * b) OPERATOR(div, 2, a / b)
      OPERATOR(sine, 1, sin(a)) OPERATOR(cosine, 1, cos(a)) OPERATOR(power, 1, exp(a)) OPERATOR(logarithm, 1, log(a))
}

double squared_error(const double* prediction, const double* target, long points) {
  double sum = 0.0;
  for (long i = 0; i < points; ++i) {
    const double error = prediction[i] - target[i];
    sum += error * error;
  }
  return sum;
}

template <long Fixed>
void errors(const Problem& problem, double* error) {
  Room room(problem);
  std::fill(error, error + problem.rows, 0.0);
  for (long begin = 0; begin < problem.rows; begin += kChunk) {
    const long end = std::min(problem.rows, begin + kChunk);
    for (long first = 0; first < problem.padded; first += problem.block) {
      const long padded = std::min(problem.block, problem.padded - first);
      const long points = std::min(problem.block, problem.points - first);
      for (long row = begin; row < end; ++row) {
        error[row] += squared_error(run<Fixed>(problem, room, row, first, padded), problem.target + first, points);
      }
    }
  }
}

}  // namespace

extern "C" void bare_errors(const std::uint16_t* tokens, const std::int32_t* lengths, long rows, long stride,
                            const double* columns, const double* target, long points, long padded, long block,
                            double* error) {
  const Problem problem{tokens, lengths, rows, stride, columns, target, points, padded, block};
  padded == 24 ? errors<24>(problem, error) : errors<0>(problem, error);
}
