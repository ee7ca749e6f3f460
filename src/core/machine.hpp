// The device's machine: one warp of 32 threads computes a row's instructions on one block of points.
//
// The operators are those of the core, compiled with one lane (SYMSEED_LANES 1) and without fused multiply-adds but for
// those of a division, so a point has the same value to the last bit. Sums are those of kernels.cpp: eight lanes in a
// block, and blocks are added from the first to the last.
//
// What a warp does is written as phases, each of which every thread runs before any thread begins the next: on a device
// at once, and elsewhere one thread after another. The same source is therefore tested without a device.
#pragma once

#include "elementary.cpp"
#include "program.hpp"

#ifndef SYMSEED_POINTS
#define SYMSEED_POINTS 4
#endif

// Arrays of a thread's points are registers if no index of them is left when the program runs.
#if defined(__CUDACC__)
#define SYMSEED_COLD __noinline__
#define SYMSEED_UNROLL _Pragma("unroll")
#else
#define SYMSEED_COLD [[gnu::noinline]]
#define SYMSEED_UNROLL
#endif

namespace symseed::device {

using namespace symseed::single;

inline constexpr int kBlockPoints = 256;  // kBlock of rows.hpp
inline constexpr int kWarp = 32;
inline constexpr int kQuarters = kWarp / kGroup;
// Points of a thread that go through an instruction together, and through one of a linearisation.
inline constexpr int kPoints = SYMSEED_POINTS;

#if defined(__CUDACC__)
inline constexpr int kStates = 1;
template <class Phase>
inline void each_lane(Phase phase) {
  phase(static_cast<int>(threadIdx.x % kWarp), 0);
  __syncwarp();
}
inline void put_least(std::uint32_t* at, std::uint32_t value) { atomicMin(at, value); }
#else
inline constexpr int kStates = kWarp;
template <class Phase>
inline void each_lane(Phase phase) {
  for (int lane = 0; lane < kWarp; ++lane) phase(lane, lane);
}
inline void put_least(std::uint32_t* at, std::uint32_t value) {
  if (value < *at) *at = value;
}
#endif

inline bool is_finite(double value) { return value - value == 0.0; }
inline double finite_or_zero(double value) { return is_finite(value) ? value : 0.0; }

// The place in its block of a thread's point: number `i` of its points. Neighbouring numbers of one lane are in one
// thread, and neighbouring threads read neighbouring points.
template <int Points>
inline int place_of(int lane, int i) {
  return (i / Points * (Points * kQuarters) + lane / kGroup * Points + i % Points) * kGroup + lane % kGroup;
}

// The values of an operator by the vector forms: NaN where `exact_value` is needed.
template <class Op>
inline double value_of(double a, double b) {
  if constexpr (Op::arity == 2) {
    return Op::value(a, b);
  } else {
    return Op::value(a);
  }
}

template <int Points>
inline void apply(int opcode, const double (&a)[Points], const double (&b)[Points], double (&out)[Points]) {
#define SYMSEED_VALUES(Op)                                              \
  case static_cast<int>(Opcode::Op):                                    \
    for (int k = 0; k < Points; ++k) out[k] = value_of<Op>(a[k], b[k]); \
    break;
  switch (opcode) {
    SYMSEED_OPERATORS(SYMSEED_VALUES)
    default:
      for (int k = 0; k < Points; ++k) out[k] = a[k];
  }
#undef SYMSEED_VALUES
}

template <class Op>
inline double exact_of(double a, double b) {
  if constexpr (requires { Op::exact(a, b); }) {
    return Op::exact(a, b);
  } else if constexpr (requires { Op::exact(a); }) {
    return Op::exact(a);
  } else {
    return kNan;
  }
}

template <>
inline double exact_of<Div>(double a, double b) {
  return a / b;
}
template <>
inline double exact_of<Inv>(double a, double) {
  return 1.0 / a;
}

// The value where the vector form gave none; NaN if the operator has no other form.
SYMSEED_COLD inline double exact_value(int opcode, double a, double b) {
#define SYMSEED_EXACT(Op)            \
  case static_cast<int>(Opcode::Op): \
    return exact_of<Op>(a, b);
  switch (opcode) {
    SYMSEED_OPERATORS(SYMSEED_EXACT)
    default:
      return kNan;
  }
#undef SYMSEED_EXACT
}

// The first point whose value is not finite, or -1.
template <int Points>
inline int repair(int opcode, const double (&a)[Points], const double (&b)[Points], double (&out)[Points]) {
  // If all bits of an exponent are ones, one more changes the sign.
  std::uint32_t changed = 0;
  for (int k = 0; k < Points; ++k) {
    const std::uint32_t high = static_cast<std::uint32_t>(bits(out[k]) >> 32);
    changed |= high ^ (high + 0x00100000u);
  }
  if ((changed & 0x80000000u) == 0) return -1;
  int bad = -1;
  SYMSEED_UNROLL
  for (int k = Points - 1; k >= 0; --k) {
    if (!is_finite(out[k])) out[k] = exact_value(opcode, a[k], b[k]);
    if (!is_finite(out[k])) bad = k;
  }
  return bad;
}

template <class Op>
inline void slopes_of(double a, double b, double value, double& slope_a, double& slope_b) {
  if constexpr (Op::arity == 2) {
    slope_a = finite_or_zero(Op::slope_a(a, b, value));
    slope_b = finite_or_zero(Op::slope_b(a, b, value));
  } else {
    slope_a = finite_or_zero(Op::slope(a, value));
    slope_b = 0.0;
  }
}

inline void slopes(int opcode, double a, double b, double value, double& slope_a, double& slope_b) {
#define SYMSEED_SLOPES(Op)                        \
  case static_cast<int>(Opcode::Op):              \
    slopes_of<Op>(a, b, value, slope_a, slope_b); \
    break;
  switch (opcode) {
    SYMSEED_OPERATORS(SYMSEED_SLOPES)
    default:
      slope_a = 1.0, slope_b = 0.0;
  }
#undef SYMSEED_SLOPES
}

// --- Values ----------------------------------------------------------------------------------------------------------

// The first failure of a thread: the instruction above, the point in its block below.
struct Failed {
  std::uint32_t key = kNone;
  double a = 0.0;
  double b = 0.0;
};

// The values of a row at some points of a thread, the first of which is `first`, eight apart. `slots` is the thread's
// stack. Returns whether they are all finite.
template <int Points>
inline bool run(const Work& work, const RowProgram& row, std::uint64_t first, int place, double* slots,
                double (&top)[Points], Failed& failed) {
  const Instruction* const instructions = work.instructions + row.first_instruction;
  const double* const numbers = work.numbers + row.first_number;
  const double* const columns = work.columns + first;
  int depth = 0;
  for (std::uint32_t i = 0; i < row.instructions; ++i) {
    const Instruction in = instructions[i];
    double a[Points], b[Points];
    const auto fetch = [&](Source source, std::uint32_t index, double (&out)[Points]) {
      if (source == Source::top) {
        for (int k = 0; k < Points; ++k) out[k] = top[k];
      } else if (source == Source::column) {
        const double* const column = columns + index * work.stride;
        for (int k = 0; k < Points; ++k) out[k] = column[k * kGroup];
      } else if (source == Source::number) {
        const double number = numbers[index];
        for (int k = 0; k < Points; ++k) out[k] = number;
      } else {
        --depth;
        for (int k = 0; k < Points; ++k) out[k] = slots[(depth * Points + k) * kWarp];
      }
    };
    if (in.pushes) {
      for (int k = 0; k < Points; ++k) slots[(depth * Points + k) * kWarp] = top[k];
      ++depth;
    }
    fetch(in.a_source, in.a, a);
    fetch(in.b_source, in.b, b);
    apply(in.opcode, a, b, top);
    const int bad = repair(in.opcode, a, b, top);
    if (bad < 0) continue;
    const std::uint32_t key = i << 8 | static_cast<std::uint32_t>(place + bad * kGroup);
    if (key < failed.key) {
      failed.key = key;
      SYMSEED_UNROLL
      for (int k = 0; k < Points; ++k) {
        if (k == bad) failed.a = a[k], failed.b = b[k];
      }
    }
    return false;
  }
  return true;
}

// --- What a warp does ------------------------------------------------------------------------------------------------

// Doubles of shared memory that a warp needs.
inline std::uint64_t evaluation_memory(std::uint64_t depth) { return kBlockPoints + 1 + depth * kPoints * kWarp; }

// Number `warp` of a launch: row `warp / blocks`, block `warp % blocks`. Its sum of squared errors goes to `lanes`, or,
// if there is room for them, its values to `values`.
inline void evaluate(const Work& work, std::uint64_t warp, double* memory) {
  const std::uint64_t at = warp / work.blocks, block = warp % work.blocks;
  const std::uint32_t index = work.order[at];
  const RowProgram row = work.rows[index];
  const std::uint32_t number = static_cast<std::uint32_t>(work.before + block);
  const std::uint64_t first = (work.first_block + block) * kBlockPoints;
  double* const terms = memory;
  std::uint32_t* const shared = reinterpret_cast<std::uint32_t*>(memory + kBlockPoints);
  double* const slots = memory + kBlockPoints + 1;
  Failed failed[kStates];

  // A row that failed in an earlier block need not be computed.
  each_lane([&](int lane, int) {
    if (lane == 0) shared[0] = kNone, shared[1] = work.failed[index] < number;
  });
  if (shared[1]) return;
  each_lane([&](int lane, int state) {
    for (int i = 0; i < kBlockPoints / kWarp; i += kPoints) {
      const int place = place_of<kPoints>(lane, i);
      double top[kPoints] = {};
      const bool is_ok =
          run<kPoints>(work, row, first + static_cast<std::uint64_t>(place), place, slots + lane, top, failed[state]);
      for (int k = 0; k < kPoints; ++k) {
        const int here = place + k * kGroup;
        const std::uint64_t point = first + static_cast<std::uint64_t>(here);
        if (work.values != nullptr) {
          if (is_ok && point < work.points) {
            work.values[at * work.value_stride + block * kBlockPoints + static_cast<std::uint64_t>(here)] = top[k];
          }
        } else {
          const double error = is_ok ? top[k] - work.target[point] : 0.0;
          terms[here] = point < work.points ? work.weight[point] * (error * error) : 0.0;
        }
      }
    }
    if (failed[state].key != kNone) put_least(shared, failed[state].key);
  });
  each_lane([&](int lane, int state) {
    const Failed& mine = failed[state];
    if (mine.key != kNone && mine.key == shared[0]) {
      put_least(work.failed + index, number);
      work.block_stop[block * work.all_rows + index] = {mine.a, mine.b, mine.key >> 8};
    }
    if (work.values == nullptr && lane < kGroup) {
      double sum = 0.0;
      for (int j = 0; j < kBlockPoints; j += kGroup) sum = sum + terms[j + lane];
      work.lanes[(block * work.sums + work.first_sum[at]) * kGroup + static_cast<std::uint64_t>(lane)] = sum;
    }
  });
}

// Sums of a row's linearisation: one of squared residuals, then those of residual * derivative, then those of
// derivative i * derivative j for j <= i, i by i.
inline std::uint64_t linearisation_sums(std::uint64_t constants) { return 1 + constants * (constants + 3) / 2; }

inline std::uint64_t linearisation_memory(std::uint64_t instructions, std::uint64_t constants) {
  return (1 + constants) * kWarp + linearisation_sums(constants) * kGroup + 2 * instructions * kWarp;
}

// The sums of number `warp` of a launch, a row that does not fail. A point of each thread is added to the sums before
// the next is computed: so a warp needs little memory, and many of them run at once.
inline void linearise(const Work& work, std::uint64_t warp, double* memory) {
  const std::uint64_t at = warp / work.blocks, block = warp % work.blocks;
  const RowProgram row = work.rows[work.order[at]];
  const std::uint64_t first = (work.first_block + block) * kBlockPoints;
  const Instruction* const instructions = work.instructions + row.first_instruction;
  const double* const numbers = work.numbers + row.first_number;
  const std::uint32_t sums = static_cast<std::uint32_t>(linearisation_sums(row.constants));
  double* const factors = memory;  // residuals, and the derivatives by each constant
  double* const so_far = memory + (1 + row.constants) * kWarp;
  double* const values = so_far + sums * kGroup;
  double* const derivatives = values + row.instructions * static_cast<std::uint32_t>(kWarp);

  for (int begin = 0; begin < kBlockPoints; begin += kWarp) {
    each_lane([&](int lane, int) {
      double* const value = values + lane;
      double* const derivative = derivatives + lane;
      const std::uint64_t point = first + static_cast<std::uint64_t>(begin + lane);
      const auto fetch = [&](Source source, std::uint32_t index) {
        if (source == Source::column) return work.columns[index * work.stride + point];
        return source == Source::number ? numbers[index] : value[index * kWarp];
      };
      for (std::uint32_t n = 0; n < row.instructions; ++n) {
        const Instruction in = instructions[n];
        const double a[1] = {fetch(in.a_source, in.a)}, b[1] = {fetch(in.b_source, in.b)};
        double out[1];
        apply(in.opcode, a, b, out);
        repair(in.opcode, a, b, out);
        value[n * kWarp] = out[0];
      }
      const std::uint32_t last = row.instructions - 1;
      factors[lane] = value[last * kWarp] - work.target[point];
      derivative[last * kWarp] = 1.0;
      for (std::uint32_t n = row.instructions; n-- > 0;) {
        const Instruction in = instructions[n];
        if (!in.a_varies && !in.b_varies) continue;
        const double up = derivative[n * kWarp];
        double slope_a, slope_b;
        slopes(in.opcode, fetch(in.a_source, in.a), fetch(in.b_source, in.b), value[n * kWarp], slope_a, slope_b);
        const auto pass = [&](Source source, std::uint32_t index, double slope) {
          double* const to =
              source == Source::number ? factors + (1 + index) * kWarp + lane : derivative + index * kWarp;
          *to = up * slope;
        };
        if (in.a_varies) pass(in.a_source, in.a, slope_a);
        if (in.b_varies) pass(in.b_source, in.b, slope_b);
      }
    });
    each_lane([&](int lane, int) {
      // Four sums at a time, each by the eight threads of its lanes.
      const int lane_of_sum = lane % kGroup;
      std::uint32_t i = 0, j = static_cast<std::uint32_t>(lane / kGroup);
      for (std::uint32_t s = j; s < sums; s += kQuarters, j += kQuarters) {
        // From sum to sum: (0, 0) ... (0, K), then (1, 1), (2, 1), (2, 2), ...
        if (i == 0 && j > row.constants) i = 1, j -= row.constants;
        while (i > 0 && j > i) j -= i++;
        double sum = begin == 0 ? 0.0 : so_far[s * kGroup + static_cast<std::uint32_t>(lane_of_sum)];
        for (int k = lane_of_sum; k < kWarp; k += kGroup) {
          const std::uint64_t point = first + static_cast<std::uint64_t>(begin + k);
          const double product = factors[i * kWarp + k] * factors[j * kWarp + k];
          sum = sum + (point < work.points ? work.weight[point] * product : 0.0);
        }
        so_far[s * kGroup + static_cast<std::uint32_t>(lane_of_sum)] = sum;
      }
    });
  }
  each_lane([&](int lane, int) {
    double* const out = work.lanes + (block * work.sums + work.first_sum[at]) * kGroup;
    for (std::uint32_t n = static_cast<std::uint32_t>(lane); n < sums * kGroup; n += kWarp) out[n] = so_far[n];
  });
}

// --- What a thread does ----------------------------------------------------------------------------------------------

// Adds a lane of a sum over the launch's blocks to its total.
inline void add_blocks(const Work& work, std::uint64_t lane) {
  const std::uint64_t lanes = work.sums * kGroup;
  double total = work.totals[lane];
  for (std::uint64_t block = 0; block < work.blocks; ++block) total = total + work.lanes[block * lanes + lane];
  work.totals[lane] = total;
}

// Keeps the stop of a row that failed first in one of the launch's blocks.
inline void keep_stop(const Work& work, std::uint64_t at) {
  const std::uint32_t index = work.order[at];
  const std::uint64_t failed = work.failed[index];
  if (failed < work.before || failed - work.before >= work.blocks) return;
  work.stop[index] = work.block_stop[(failed - work.before) * work.all_rows + index];
}

}  // namespace symseed::device
