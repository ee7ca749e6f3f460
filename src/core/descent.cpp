#include "descent.hpp"

#include <cmath>
#include <utility>

#include "elementary.hpp"
#include "hash.hpp"
#include "prefix.hpp"

namespace symseed {
namespace {

// Solves (curvature + damping * its diagonal) step = -gradient by Cholesky; false if that matrix is not positive
// definite. A constant without effect gets a step of 0.
bool damped_step(const Linearisation& at, double damping, std::vector<double>& factor, std::vector<double>& step) {
  const std::size_t k = at.gradient.size();
  factor = at.curvature;
  for (std::size_t i = 0; i < k; ++i) {
    const double diagonal = at.curvature[i * k + i];
    factor[i * k + i] = diagonal > 0.0 ? diagonal * (1.0 + damping) : 1.0;
  }
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = factor[i * k + j];
      for (std::size_t m = 0; m < j; ++m) sum -= factor[i * k + m] * factor[j * k + m];
      if (i == j) {
        if (!(sum > 0.0)) return false;
        factor[i * k + i] = std::sqrt(sum);
      } else {
        factor[i * k + j] = sum / factor[j * k + j];
      }
    }
  }
  step.resize(k);
  for (std::size_t i = 0; i < k; ++i) {
    double sum = -at.gradient[i];
    for (std::size_t m = 0; m < i; ++m) sum -= factor[i * k + m] * step[m];
    step[i] = sum / factor[i * k + i];
  }
  for (std::size_t i = k; i-- > 0;) {
    double sum = step[i];
    for (std::size_t m = i + 1; m < k; ++m) sum -= factor[m * k + i] * step[m];
    step[i] = sum / factor[i * k + i];
  }
  return true;
}

}  // namespace

// The starts depend on the row only, not on its place in a population.
Fitting::Fitting(const Vocabulary& vocabulary, Row row, const FitSettings& settings, bool is_squared)
    : settings_(settings),
      is_squared_(is_squared),
      places_(constant_places(vocabulary, row)),
      given_(row.constants, row.constants + row.length),
      rng_(settings.seed, 0, fingerprint(vocabulary, row).high) {
  begin(given_);
}

void Fitting::begin(std::vector<double> constants) {
  trial_ = std::move(constants);
  is_start_ = true;
  need_ = Need::error;
}

void Fitting::keep_trial(double error, Outcome outcome) {
  at_.constants = trial_;
  at_.error = error;
  at_.outcome = outcome;
}

void Fitting::take_error(double error, Outcome outcome) {
  if (is_start_) {
    keep_trial(error, outcome);
    is_start_ = false;
    if (places_.empty() || !outcome.ok()) return end_descent();
    iteration_ = 0;
    damping_ = 1e-3;
    need_ = Need::linearisation;
    return;
  }
  ++iteration_;
  if (!outcome.ok() || !(error < at_.error)) {
    damping_ *= 10.0;
    return step();
  }
  // Squared errors end at 0 and converge fast; another loss may be negative, and gains little in the last steps.
  const double least_gain = is_squared_ ? 1e-15 : 1e-9;
  const bool is_done = at_.error - error <= least_gain * std::fabs(at_.error);
  keep_trial(error, outcome);
  if (is_done) return end_descent();
  damping_ = std::max(damping_ * 0.1, 1e-12);
  need_ = Need::linearisation;
}

void Fitting::take_linearisation(Linearisation linearisation) {
  linear_ = std::move(linearisation);
  step();
}

void Fitting::take_linearisation(const double* sums) {
  const std::size_t k = places_.size();
  const double* next = sums + 1;
  linear_.error = sums[0];
  linear_.gradient.assign(next, next + k);
  linear_.curvature.resize(k * k);
  next += k;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) linear_.curvature[i * k + j] = linear_.curvature[j * k + i] = *next++;
  }
  step();
}

void Fitting::step() {
  for (; iteration_ < settings_.iterations && (at_.error > 0.0 || !is_squared_) && damping_ < 1e12; ++iteration_) {
    if (!damped_step(linear_, damping_, factor_, change_)) {
      damping_ *= 10.0;
      continue;
    }
    trial_ = at_.constants;
    bool is_moved = false;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      double& constant = trial_[static_cast<std::size_t>(places_[k])];
      const double changed = constant + change_[k];
      is_moved = is_moved || changed != constant;
      constant = changed;
    }
    if (!is_moved) break;  // The step is below the precision of the constants.
    need_ = Need::error;
    return;
  }
  end_descent();
}

void Fitting::end_descent() {
  if (!has_best_ || (at_.outcome.ok() && (!best_.outcome.ok() || at_.error < best_.error))) best_ = at_;
  has_best_ = true;
  const bool is_failed = !best_.outcome.ok();
  if (places_.empty() || !(restart_ < settings_.restarts || (restart_ == 0 && is_failed))) {
    need_ = Need::nothing;
    return;
  }
  std::vector<double> fresh = given_;
  for (const int place : places_) {
    // The first try after a failure is all ones; later tries are values of either sign between 0.01 and 100.
    const double value = elementary::pow(10.0, 4.0 * rng_.uniform() - 2.0) * (rng_.chance(0.5) ? 1.0 : -1.0);
    fresh[static_cast<std::size_t>(place)] = restart_ == 0 && is_failed ? 1.0 : value;
  }
  ++restart_;
  begin(std::move(fresh));
}

}  // namespace symseed
