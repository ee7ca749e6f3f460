// Fits constants by the Levenberg-Marquardt method or by BFGS, with exact derivatives.
#pragma once

#include <cstdint>
#include <vector>

#include "descent.hpp"

namespace symseed {

// Buffers for the values and derivatives at every position of one row, on one block of points.
class Tape {
 public:
  explicit Tape(std::size_t max_length);

  // Forward, then backward: afterwards `derivative(position)` is d row / d (value at position), for every position
  // whose subtree holds a constant.
  Outcome run(const EvalOptions& options, const Vocabulary& vocabulary, Row row, const Samples& samples,
              std::size_t first, int points);
  const double* value(int position) const { return values_[static_cast<std::size_t>(position)]; }
  const double* derivative(int position) const { return slot(derivative_buffer_, position); }

 private:
  void find_subtrees(const Vocabulary& vocabulary, Row row);
  static const double* slot(const Lines& buffer, int position) {
    return buffer.data() + static_cast<std::size_t>(position) * kBlock;
  }
  static double* slot(Lines& buffer, int position) {
    return buffer.data() + static_cast<std::size_t>(position) * kBlock;
  }

  Lines value_buffer_;
  Lines derivative_buffer_;
  std::vector<const double*> values_;  // values of each position; those of a variable are the data
  std::vector<int> ends_;              // one past the last position of each subtree
  std::vector<std::uint8_t> varies_;   // whether the subtree holds a constant
  std::vector<double> unused_;         // derivatives that are not needed
};

// `places` are the positions of the row's constants.
Linearisation linearise(const EvalOptions& options, const Vocabulary& vocabulary, Row row, const Samples& samples,
                        Monitor& monitor, Tape& tape, const std::vector<int>& places);

// Fits the constants of each row in place and gives its error, as `squared_errors` does; its constants stay finite. By
// Levenberg-Marquardt the error of a row never grows, and a row that cannot be evaluated from any start keeps its
// constants. BFGS forgets the constants that a row had.
void fit_constants(const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                   const FitSettings& settings, int threads, Monitor& monitor, double* constants, double* error,
                   Outcome* outcome);

}  // namespace symseed
