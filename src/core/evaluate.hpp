// A population on a dataset: predictions or errors, and why a row failed.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "rows.hpp"
#include "scalar.hpp"

namespace symseed {

// The first failure, and its position in the row; -1 if it has no single position.
struct Outcome {
  Failure failure = Failure::none;
  std::int32_t position = -1;

  bool ok() const { return failure == Failure::none; }
};

// What a row must be to have a value.
enum class Validity : std::uint8_t {
  values = 0,  // every token has a finite value
  flags = 1,   // and no operator raises an IEEE flag but "inexact"
  answer = 2,  // only the row itself must have finite values, whatever its parts have
};

// How to evaluate.
struct EvalOptions {
  const Kernels* kernels;
  Validity validity;
  const Function* loss = nullptr;  // function of target and prediction; null: squared error
};

// Computes the values of a user's operator, and returns its failure or success.
Failure apply_function(const EvalOptions& options, const Function& function, const double* a, const double* b,
                       double* out, int points);

// out = operator(a, b) for any numbers, whose values need not be finite either, at whole groups of points.
void apply_to_any(const Kernels& kernels, int opcode, const double* a, const double* b, double* out, int points);

// The same for any operator.
inline Failure apply(const EvalOptions& options, const Vocabulary& vocabulary, Token token, const double* a,
                     const double* b, double* out, int points) {
  const int kind = vocabulary.kind[token];
  if (kind == kFunction) [[unlikely]]
    return apply_function(options, *vocabulary.function[token], a, b, out, points);
  if (options.validity == Validity::answer) [[unlikely]] {
    apply_to_any(*options.kernels, kind, a, b, out, points);
    for (int i = 0; i < points; ++i) {
      if (std::isnan(a[i]) || std::isnan(b[i])) out[i] = kNan;  // the maximum of 0 and NaN may be 0
    }
    return Failure::none;
  }
  const int bad = options.kernels->forward[static_cast<std::size_t>(kind)](a, b, out, points);
  if (bad >= 0) return flag_raised(kind, a[bad], b[bad]);
  return options.validity == Validity::flags ? first_flag(kind, a, b, out, points) : Failure::none;
}

// Buffers for the values of rows of up to `max_length` tokens, on one block of points at a time.
class Workspace {
 public:
  Workspace(std::size_t max_length, const Vocabulary& vocabulary, const Samples& samples);

  // Moves to the block of points that begins at `first`.
  void go_to(std::size_t first);
  // Evaluates a row on that block. On success `result` points to its values.
  Outcome run(const EvalOptions& options, Row row);
  const double* result() const { return result_; }
  bool has_functions() const { return has_functions_; }

 private:
  Outcome run_stepwise(const EvalOptions& options, Row row);

  const Vocabulary& vocabulary_;
  const Samples& samples_;
  bool has_functions_;    // whether the library has users' functions
  std::ptrdiff_t block_;  // points of the largest block
  int points_ = 0;
  Lines slots_;                       // two per depth of the stack, so that no output is an input
  std::vector<const double*> stack_;  // values that wait for their operator
  std::vector<const double*> leaf_;   // (T,): values of each variable and literal on the block
  Lines literals_;                    // a block for each literal
  const double* result_ = nullptr;
};

// Calls visit(first, points) for the blocks of `samples` in order.
template <class Visit>
void for_each_block(const Samples& samples, Visit visit) {
  for (std::size_t first = 0; first < samples.padded; first += kBlock) {
    visit(first, static_cast<int>(std::min<std::size_t>(kBlock, samples.padded - first)));
  }
}

// The eight sums of a kernel, always added in the same order.
double sum_lanes(const double* lanes);

// Adds the weighted losses of a block of predictions, by a user's function, to eight sums, as the kernels do. False
// if the function fails.
bool add_function(const EvalOptions& options, const double* prediction, const Samples& samples, std::size_t first,
                  int points, double* lanes);

// The same for any loss.
inline bool add_losses(const EvalOptions& options, const double* prediction, const Samples& samples, std::size_t first,
                       int points, double* lanes) {
  if (options.loss != nullptr) [[unlikely]]
    return add_function(options, prediction, samples, first, points, lanes);
  options.kernels->add_squared_error(prediction, samples.target.data() + first, samples.weight.data() + first, points,
                                     lanes);
  return true;
}

// out[i] = operator(a[i], b[i]) for any numbers, even if the value is not finite; operators of one argument ignore
// b.
void elementwise(const Kernels& kernels, int opcode, const double* a, const double* b, double* out, std::size_t count,
                 Monitor& monitor);

// Weighted sum of squared errors, or of losses, of each row, NaN where it failed.
void squared_errors(const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                    int threads, Monitor& monitor, double* error, Outcome* outcome);

// Values of each row at each point, (N, M); NaN at every point of a row that failed.
void predictions(const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                 int threads, Monitor& monitor, double* prediction, Outcome* outcome);

}  // namespace symseed
