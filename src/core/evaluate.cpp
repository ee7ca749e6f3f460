#include "evaluate.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace symseed {
namespace {

// Rows whose running sums stay at hand while a block of data is in the cache.
constexpr std::size_t kChunk = 64;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Failure judge(const Manner& manner, int opcode, const double* a, const double* b, const double* values, int points,
              int bad) {
  if (bad >= 0) return flag_raised(opcode, a[bad], b[bad]);
  return manner.strict ? first_flag(opcode, a, b, values, points) : Failure::none;
}

// A prefix of length n has at most (n + 1) / 2 values waiting.
Workspace::Workspace(std::size_t max_length)
    : buffer_((max_length + 3) / 2 * 2 * kBlock), stack_((max_length + 3) / 2) {}

Outcome Workspace::run(const Manner& manner, const Vocabulary& vocabulary, Row row, const Samples& samples,
                       std::size_t first, int points) {
  const double** top = stack_.data();  // one past the last value
  // From the last token to the first, every operator finds its arguments on the stack, the left one on top.
  for (int position = row.length; position-- > 0;) {
    const Token token = row.tokens[position];
    const int kind = vocabulary.kind[token];
    double* slot = buffer_.data() + (top - stack_.data()) * 2 * kBlock;
    if (kind == kVariable) {
      *top++ = samples.column(static_cast<std::size_t>(vocabulary.variable[token])) + first;
    } else if (kind >= kLiteral) {
      const double value = kind == kLiteral ? vocabulary.value[token] : row.constants[position];
      if (!std::isfinite(value)) return {Failure::invalid, position};
      std::fill(slot, slot + points, value);
      *top++ = slot;
    } else {
      const int arity = vocabulary.arity[token];
      const double* a = top[-1];
      const double* b = top[-arity];
      top -= arity;
      slot -= arity * 2 * kBlock;
      if (slot == a || slot == b) slot += kBlock;
      const int bad = manner.kernels->forward[static_cast<std::size_t>(kind)](a, b, slot, points);
      if (bad >= 0 || manner.strict) [[unlikely]] {
        const Failure failure = judge(manner, kind, a, b, slot, points, bad);
        if (failure != Failure::none) return {failure, position};
      }
      *top++ = slot;
    }
  }
  result_ = stack_[0];
  return {};
}

double sum_lanes(const double* lanes) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

void squared_errors(const Manner& manner, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                    int threads, Monitor& monitor, double* error, Outcome* outcome) {
  parallel_chunks(rows.count, kChunk, threads, [&] {
    return [&, workspace = Workspace(rows.stride)](std::size_t begin, std::size_t end) mutable {
      double lanes[kChunk][8] = {};
      std::fill(outcome + begin, outcome + end, Outcome{});
      for_each_block(samples, [&](std::size_t first, int points) {
        monitor.check();
        for (std::size_t i = begin; i < end; ++i) {
          if (!outcome[i].ok()) continue;
          outcome[i] = workspace.run(manner, vocabulary, rows[i], samples, first, points);
          if (!outcome[i].ok()) continue;
          manner.kernels->add_squared_error(workspace.result(), samples.target.data() + first,
                                            samples.weight.data() + first, points, lanes[i - begin]);
        }
      });
      for (std::size_t i = begin; i < end; ++i) {
        error[i] = outcome[i].ok() ? sum_lanes(lanes[i - begin]) : kNan;
        if (outcome[i].ok() && !std::isfinite(error[i])) {
          outcome[i] = {Failure::loss_overflow, -1};
          error[i] = kNan;
        }
      }
    };
  });
}

void predictions(const Manner& manner, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                 int threads, Monitor& monitor, double* prediction, Outcome* outcome) {
  parallel_chunks(rows.count, 1, threads, [&] {
    return [&, workspace = Workspace(rows.stride)](std::size_t begin, std::size_t end) mutable {
      for (std::size_t i = begin; i < end; ++i) {
        double* out = prediction + i * samples.points;
        outcome[i] = {};
        for_each_block(samples, [&](std::size_t first, int points) {
          monitor.check();
          if (!outcome[i].ok()) return;
          outcome[i] = workspace.run(manner, vocabulary, rows[i], samples, first, points);
          if (!outcome[i].ok()) return;
          const std::size_t real = std::min<std::size_t>(static_cast<std::size_t>(points), samples.points - first);
          std::memcpy(out + first, workspace.result(), real * sizeof(double));
        });
        if (!outcome[i].ok()) std::fill(out, out + samples.points, kNan);
      }
    };
  });
}

}  // namespace symseed
