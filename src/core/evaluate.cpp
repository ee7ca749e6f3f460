#include "evaluate.hpp"

#include <cmath>
#include <cstring>

#include "function.hpp"

namespace symseed {
namespace {

// Number of rows whose sums are kept while a block of data is in the cache: chosen by hand.
constexpr std::size_t kChunk = 64;

}  // namespace

Failure apply_function(const EvalOptions& options, const Function& function, const double* a, const double* b,
                       double* out, int points) {
  if (!function.values(*options.kernels, a, b, out, points)) return Failure::no_answer;
  if (options.validity == Validity::answer) return Failure::none;
  const double* bad = std::find_if_not(out, out + points, [](double value) { return std::isfinite(value); });
  if (bad == out + points) return Failure::none;
  return std::isnan(*bad) ? Failure::invalid : Failure::overflow;
}

// At most (n + 1) / 2 values wait on the stack of a prefix of length n.
Workspace::Workspace(std::size_t max_length, const Vocabulary& vocabulary, const Samples& samples)
    : vocabulary_(vocabulary),
      samples_(samples),
      has_functions_(std::find(vocabulary.kind.begin(), vocabulary.kind.end(), kFunction) != vocabulary.kind.end()),
      block_(static_cast<std::ptrdiff_t>(std::min<std::size_t>(kBlock, samples.padded))),
      slots_((max_length + 3) / 2 * 2 * static_cast<std::size_t>(block_)),
      stack_((max_length + 3) / 2),
      leaf_(vocabulary.size()),
      literals_(static_cast<std::size_t>(std::count(vocabulary.kind.begin(), vocabulary.kind.end(), kLiteral)) *
                static_cast<std::size_t>(block_)) {
  double* next = literals_.data();
  for (std::size_t t = 0; t < vocabulary.size(); ++t) {
    if (vocabulary.kind[t] != kLiteral) continue;
    std::fill(next, next + block_, vocabulary.value[t]);
    leaf_[t] = next;
    next += block_;
  }
  go_to(0);
}

void Workspace::go_to(std::size_t first) {
  points_ = static_cast<int>(std::min<std::size_t>(kBlock, samples_.padded - first));
  for (std::size_t t = 0; t < vocabulary_.size(); ++t) {
    if (vocabulary_.kind[t] == kVariable) {
      leaf_[t] = samples_.column(static_cast<std::size_t>(vocabulary_.variable[t])) + first;
    }
  }
}

Outcome Workspace::run(const EvalOptions& options, Row row) {
  const auto is_function = [&](Token token) { return vocabulary_.kind[token] == kFunction; };
  if (options.validity != Validity::values ||
      (has_functions_ && std::any_of(row.tokens, row.tokens + row.length, is_function))) {
    return run_stepwise(options, row);
  }
  const Stop stop = options.kernels->interpret({row.tokens, row.constants, row.length, points_, vocabulary_.kind.data(),
                                                leaf_.data(), slots_.data(), block_, stack_.data()});
  result_ = stop.values;
  if (stop.position < 0) return {};
  const int kind = vocabulary_.kind[row.tokens[stop.position]];
  return {kind < kOperatorCount ? flag_raised(kind, stop.a, stop.b) : Failure::invalid, stop.position};
}

// Like `interpret`, but one operator at a time, so that the flags of each can be checked, or because it is the user's
// own.
Outcome Workspace::run_stepwise(const EvalOptions& options, Row row) {
  const double** top = stack_.data();
  for (int position = row.length; position-- > 0;) {
    const Token token = row.tokens[position];
    const int kind = vocabulary_.kind[token];
    const int arity = vocabulary_.arity[token];
    const double* a = arity > 0 ? top[-1] : nullptr;
    const double* b = arity > 0 ? top[-arity] : nullptr;
    top -= arity;
    double* out = slots_.data() + (top - stack_.data()) * 2 * block_;
    if (out == a || out == b) out += block_;
    if (arity > 0) {
      const Failure failure = apply(options, vocabulary_, token, a, b, out, points_);
      if (failure != Failure::none) return {failure, position};
      *top++ = out;
    } else if (kind == kConstant) {
      if (!std::isfinite(row.constants[position])) return {Failure::invalid, position};
      std::fill(out, out + points_, row.constants[position]);
      *top++ = out;
    } else {
      *top++ = leaf_[token];
    }
  }
  result_ = stack_[0];
  for (int i = 0; options.validity == Validity::answer && i < points_; ++i) {
    if (!std::isfinite(result_[i])) return {std::isnan(result_[i]) ? Failure::invalid : Failure::overflow, 0};
  }
  return {};
}

void apply_to_any(const Kernels& kernels, int opcode, const double* a, const double* b, double* out, int points) {
  bool is_strange = kernels.forward[static_cast<std::size_t>(opcode)](a, b, out, points) >= 0;
  // A kernel needs finite arguments, and stops at the first value that is not finite.
  for (int i = 0; i < points; ++i) is_strange |= !(a[i] - a[i] == 0.0) | !(b[i] - b[i] == 0.0);
  for (int i = 0; is_strange && i < points; ++i) {
    const bool is_ordinary = std::isfinite(out[i]) && std::isfinite(a[i]) && std::isfinite(b[i]);
    if (!is_ordinary) out[i] = operator_value(opcode, a[i], b[i]);
  }
}

double sum_lanes(const double* lanes) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

bool add_function(const EvalOptions& options, const double* prediction, const Samples& samples, std::size_t first,
                  int points, double* lanes) {
  const double* weight = samples.weight.data() + first;
  Lines loss(static_cast<std::size_t>(points));
  const double* target = samples.target.data() + first;
  if (!options.loss->values(*options.kernels, target, prediction, loss.data(), points)) return false;
  double sums[kGroup] = {};
  for (int i = 0; i < points; ++i) {
    // A sample of weight 0, such as padding, adds nothing, whatever its loss.
    if (weight[i] > 0.0) sums[i % kGroup] += weight[i] * loss[static_cast<std::size_t>(i)];
  }
  for (int lane = 0; lane < kGroup; ++lane) lanes[lane] += sums[lane];
  return true;
}

void elementwise(const Kernels& kernels, int opcode, const double* a, const double* b, double* out, std::size_t count,
                 Monitor& monitor) {
  Lines left(kGroup, 1.0), right(kGroup, 1.0), last(kGroup);
  for (std::size_t first = 0; first < count;) {
    if (first % (16 * kBlock) == 0) monitor.check();
    // In whole groups; the points after the last whole group are copied into one.
    const std::size_t rest = count - first;
    const std::size_t points = rest >= kGroup ? std::min<std::size_t>(kBlock, rest / kGroup * kGroup) : rest;
    const double *x = a + first, *y = b + first;
    double* to = out + first;
    if (points < kGroup) {
      std::copy_n(x, points, left.begin());
      std::copy_n(y, points, right.begin());
      x = left.data(), y = right.data();
      to = last.data();
    }
    apply_to_any(kernels, opcode, x, y, to, static_cast<int>(whole_groups(points)));
    if (points < kGroup) std::copy_n(to, points, out + first);
    first += points;
  }
}

void squared_errors(const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                    int threads, Monitor& monitor, double* error, Outcome* outcome) {
  parallel_chunks(rows.count, kChunk, threads, monitor, [&] {
    return [&, workspace = Workspace(rows.stride, vocabulary, samples)](std::size_t begin, std::size_t end) mutable {
      double lanes[kChunk][kGroup] = {};
      std::fill(outcome + begin, outcome + end, Outcome{});
      for_each_block(samples, [&](std::size_t first, int points) {
        monitor.check();
        workspace.go_to(first);
        for (std::size_t i = begin; i < end; ++i) {
          if (!outcome[i].ok()) continue;
          if (workspace.has_functions() || options.loss != nullptr)
            monitor.check();  // a row with a user's function may take long
          outcome[i] = workspace.run(options, rows[i]);
          if (!outcome[i].ok()) continue;
          if (!add_losses(options, workspace.result(), samples, first, points, lanes[i - begin])) {
            outcome[i] = {Failure::no_answer, -1};
          }
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

void predictions(const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                 int threads, Monitor& monitor, double* prediction, Outcome* outcome) {
  parallel_chunks(rows.count, 1, threads, monitor, [&] {
    return [&, workspace = Workspace(rows.stride, vocabulary, samples)](std::size_t begin, std::size_t end) mutable {
      for (std::size_t i = begin; i < end; ++i) {
        double* out = prediction + i * samples.points;
        outcome[i] = {};
        for_each_block(samples, [&](std::size_t first, int points) {
          monitor.check();
          if (!outcome[i].ok()) return;
          workspace.go_to(first);
          outcome[i] = workspace.run(options, rows[i]);
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
