// The Levenberg-Marquardt method for one row: what to compute next, and what follows from it.
//
// It computes nothing on the samples itself. `fit.cpp` answers it with the core's kernels, and a device answers many at
// once: both get the same constants.
#pragma once

#include <cstdint>
#include <vector>

#include "evaluate.hpp"
#include "rng.hpp"

namespace symseed {

enum class FitMethod : std::uint8_t {
  levenberg_marquardt = 0,  // from the constants of a row
  bfgs_from_ones = 1,       // on the reward 1 / (1 + NRMSE), which is 0 where a row fails; on another loss itself
};

struct FitSettings {
  int iterations;      // accepted or rejected steps per start
  int restarts;        // further starts from random values, of Levenberg-Marquardt only
  std::uint64_t seed;  // seed of those values
  FitMethod method = FitMethod::levenberg_marquardt;
};

// The squared error of a row around its constants: error + 2 gradient.d + d.curvature.d for a small change d.
struct Linearisation {
  Outcome outcome;
  double error;
  std::vector<double> gradient;   // (K,): weighted sum of residual * derivative
  std::vector<double> curvature;  // (K, K): weighted sum of derivative * derivative
};

// One row with its constants and their error.
struct Fit {
  std::vector<double> constants;  // (L,), as in the row
  double error = kNan;
  Outcome outcome;
};

class Fitting {
 public:
  enum class Need : std::uint8_t { nothing, error, linearisation };

  // `is_squared` tells whether the loss is the squared error.
  Fitting(const Vocabulary& vocabulary, Row row, const FitSettings& settings, bool is_squared);

  Need need() const { return need_; }
  // The positions of the row's constants.
  const std::vector<int>& places() const { return places_; }
  // The constants, (L,), whose error or linearisation is needed. A linearisation is always that of the constants whose
  // error was computed last.
  const std::vector<double>& constants() const { return need_ == Need::error ? trial_ : at_.constants; }
  void take_error(double error, Outcome outcome);
  void take_linearisation(Linearisation linearisation);
  // The same by sums: the error, the gradient, and the curvature for j <= i, i by i. It allocates once at most.
  void take_linearisation(const double* sums);
  // The best constants, once nothing is needed.
  const Fit& best() const { return best_; }

 private:
  void begin(std::vector<double> constants);
  void keep_trial(double error, Outcome outcome);
  void step();
  void end_descent();

  FitSettings settings_;
  bool is_squared_;
  std::vector<int> places_;
  std::vector<double> given_;
  Rng rng_;
  Need need_ = Need::nothing;
  bool has_best_ = false;
  bool is_start_ = true;  // whether `trial_` is the start of a descent, not a step of it
  int restart_ = 0;       // further starts so far
  int iteration_ = 0;
  double damping_ = 0.0;
  Fit best_;
  Fit at_;  // where the descent is
  std::vector<double> trial_;
  Linearisation linear_;
  std::vector<double> factor_;
  std::vector<double> change_;
};

}  // namespace symseed
