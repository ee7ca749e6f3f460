#include "fit.hpp"

#include <cmath>
#include <limits>

#include "bfgs.hpp"
#include "function.hpp"
#include "prefix.hpp"

namespace symseed {
namespace {

// Quadratic model of a loss other than the square (iteratively reweighted least squares). In: residuals. Out: half the
// slope of the loss in their place, and weights with which squared residuals have the slope of the loss. For the usual
// losses the model is nowhere below the loss, so steps do not overshoot.
bool pull(const EvalOptions& options, const double* prediction, const Samples& samples, std::size_t first, int points,
          double* residual, double* bent) {
  const double* target = samples.target.data() + first;
  const double* weight = samples.weight.data() + first;
  Lines value(static_cast<std::size_t>(points)), half(static_cast<std::size_t>(points), 0.5);
  Lines slope(static_cast<std::size_t>(points));
  if (!options.loss->values(*options.kernels, target, prediction, value.data(), points)) return false;
  options.loss->backward(*options.kernels, target, prediction, value.data(), half.data(), nullptr, slope.data(),
                         points);
  for (int i = 0; i < points; ++i) {
    const double s = slope[static_cast<std::size_t>(i)];
    const double ratio = s / residual[i];
    bent[i] = ratio > 0.0 && std::isfinite(ratio) ? weight[i] * ratio : 0.0;
    residual[i] = s;
  }
  return true;
}

// Fits one row; made once per thread.
class Fitter {
 public:
  Fitter(const EvalOptions& options, const Vocabulary& vocabulary, const Samples& samples, const FitSettings& settings,
         Monitor& monitor, std::size_t stride)
      : options_(options),
        vocabulary_(vocabulary),
        samples_(samples),
        settings_(settings),
        monitor_(monitor),
        tape_(stride),
        workspace_(stride, vocabulary, samples) {
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < samples.points; ++i) {
      weight_ += samples.weight[i];
      mean += samples.weight[i] * (samples.target[i] - mean) / (weight_ > 0.0 ? weight_ : 1.0);
    }
    for (std::size_t i = 0; i < samples.points; ++i) {
      square += samples.weight[i] * (samples.target[i] - mean) * (samples.target[i] - mean);
    }
    deviation_ = square > 0.0 ? std::sqrt(square / weight_) : 1.0;
  }

  Fit run(Row row) {
    Fitting fitting(vocabulary_, row, settings_, options_.loss == nullptr);
    if (settings_.method == FitMethod::bfgs_from_ones && !fitting.places().empty()) {
      return descend_from_ones(row, fitting.places(), fitting.constants());
    }
    while (fitting.need() != Fitting::Need::nothing) {
      row.constants = fitting.constants().data();
      if (fitting.need() == Fitting::Need::error) {
        const auto [error, outcome] = evaluate(row);
        fitting.take_error(error, outcome);
      } else {
        fitting.take_linearisation(linearise(options_, vocabulary_, row, samples_, monitor_, tape_, fitting.places()));
      }
    }
    return fitting.best();
  }

 private:
  struct Score {
    double error;
    Outcome outcome;
  };

  Score evaluate(Row row) {
    double lanes[kGroup] = {};
    Score score{kNan, {}};
    for_each_block(samples_, [&](std::size_t first, int points) {
      if (!score.outcome.ok()) return;
      monitor_.check();
      workspace_.go_to(first);
      score.outcome = workspace_.run(options_, row);
      if (!score.outcome.ok()) return;
      if (!add_losses(options_, workspace_.result(), samples_, first, points, lanes)) {
        score.outcome = {Failure::no_answer, -1};
      }
    });
    if (!score.outcome.ok()) return score;
    const double error = sum_lanes(lanes);
    if (!std::isfinite(error)) return {kNan, {Failure::loss_overflow, -1}};
    return {error, {}};
  }

  Fit descend_from_ones(Row row, const std::vector<int>& places, std::vector<double> constants) {
    const auto put = [&](const std::vector<double>& x) {
      for (std::size_t k = 0; k < x.size(); ++k) constants[static_cast<std::size_t>(places[k])] = x[k];
      row.constants = constants.data();
    };
    const auto objective = [&](const std::vector<double>& x, std::vector<double>& gradient) {
      put(x);
      std::fill(gradient.begin(), gradient.end(), 0.0);
      const Score at = evaluate(row);
      if (!at.outcome.ok()) return options_.loss == nullptr ? 0.0 : std::numeric_limits<double>::infinity();
      const Linearisation line = linearise(options_, vocabulary_, row, samples_, monitor_, tape_, places);
      // The slope of the objective by the sum of squared errors, twice, or of the losses.
      double slope = 2.0;
      double value = at.error;
      if (options_.loss == nullptr) {
        const double nrmse = std::sqrt(at.error / weight_) / deviation_;
        value = -1.0 / (1.0 + nrmse);
        slope = at.error > 0.0 ? value * value / (std::sqrt(at.error * weight_) * deviation_) : 0.0;
      }
      if (line.outcome.ok()) {
        for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] = slope * line.gradient[k];
      }
      return value;
    };
    std::vector<double> x(places.size(), 1.0);
    minimise(objective, x, settings_.iterations);
    put(x);
    const Score last = evaluate(row);
    return {std::move(constants), last.error, last.outcome};
  }

  const EvalOptions& options_;
  const Vocabulary& vocabulary_;
  const Samples& samples_;
  const FitSettings& settings_;
  Monitor& monitor_;
  Tape tape_;
  Workspace workspace_;
  double weight_ = 0.0;  // sum of all weights
  double deviation_;     // of the target
};

}  // namespace

Tape::Tape(std::size_t max_length)
    : value_buffer_(max_length * kBlock),
      derivative_buffer_(max_length * kBlock),
      values_(max_length),
      ends_(max_length),
      varies_(max_length),
      unused_(kBlock) {}

void Tape::find_subtrees(const Vocabulary& vocabulary, Row row) {
  subtree_ends(vocabulary.arity.data(), row.tokens, row.length, ends_.data());
  for (int position = row.length; position-- > 0;) {
    const Token token = row.tokens[position];
    const std::size_t at = static_cast<std::size_t>(position);
    const int arity = vocabulary.arity[token];
    varies_[at] = vocabulary.kind[token] == kConstant || (arity > 0 && varies_[at + 1]) ||
                  (arity == 2 && varies_[static_cast<std::size_t>(ends_[at + 1])]);
  }
}

Outcome Tape::run(const EvalOptions& options, const Vocabulary& vocabulary, Row row, const Samples& samples,
                  std::size_t first, int points) {
  find_subtrees(vocabulary, row);
  for (int position = row.length; position-- > 0;) {
    const Token token = row.tokens[position];
    const int kind = vocabulary.kind[token];
    double* out = slot(value_buffer_, position);
    values_[static_cast<std::size_t>(position)] = out;
    if (kind == kVariable) {
      values_[static_cast<std::size_t>(position)] =
          samples.column(static_cast<std::size_t>(vocabulary.variable[token])) + first;
    } else if (kind == kLiteral || kind == kConstant) {
      std::fill(out, out + points, kind == kLiteral ? vocabulary.value[token] : row.constants[position]);
    } else {
      const double* a = value(position + 1);
      const double* b = value(last_argument(ends_.data(), position, vocabulary.arity[token]));
      const Failure failure = apply(options, vocabulary, token, a, b, out, points);
      if (failure != Failure::none) return {failure, position};
    }
  }
  double* root = slot(derivative_buffer_, 0);
  std::fill(root, root + points, 1.0);
  for (int position = 0; position < row.length; ++position) {
    const Token token = row.tokens[position];
    const int arity = vocabulary.arity[token];
    if (arity == 0 || !varies_[static_cast<std::size_t>(position)]) continue;
    const int left = position + 1;
    const int right = last_argument(ends_.data(), position, arity);
    double* grad_left = varies_[static_cast<std::size_t>(left)] ? slot(derivative_buffer_, left) : unused_.data();
    double* grad_right =
        arity == 2 && varies_[static_cast<std::size_t>(right)] ? slot(derivative_buffer_, right) : unused_.data();
    if (vocabulary.kind[token] == kFunction) [[unlikely]] {
      const auto wanted = [&](double* grad) { return grad == unused_.data() ? nullptr : grad; };
      vocabulary.function[token]->backward(*options.kernels, value(left), value(right), value(position),
                                           derivative(position), wanted(grad_left), wanted(grad_right), points);
      continue;
    }
    options.kernels->backward[vocabulary.kind[token]](value(left), value(right), value(position), derivative(position),
                                                      grad_left, grad_right, points);
  }
  return {};
}

Linearisation linearise(const EvalOptions& options, const Vocabulary& vocabulary, Row row, const Samples& samples,
                        Monitor& monitor, Tape& tape, const std::vector<int>& places) {
  const std::size_t k = places.size();
  std::vector<double> gradient_lanes(k * kGroup);
  std::vector<double> curvature_lanes(k * k * kGroup);
  std::vector<double> residual(kBlock), bent(options.loss != nullptr ? kBlock : 0);
  double error_lanes[kGroup] = {};
  Linearisation at{{}, kNan, std::vector<double>(k), std::vector<double>(k * k)};
  for_each_block(samples, [&](std::size_t first, int points) {
    if (!at.outcome.ok()) return;
    monitor.check();
    at.outcome = tape.run(options, vocabulary, row, samples, first, points);
    if (!at.outcome.ok()) return;
    const double* weight = samples.weight.data() + first;
    const double* bend = weight;
    for (int i = 0; i < points; ++i) {
      residual[static_cast<std::size_t>(i)] = tape.value(0)[i] - samples.target[first + static_cast<std::size_t>(i)];
    }
    options.kernels->add_product(residual.data(), residual.data(), weight, points, error_lanes);
    if (options.loss != nullptr) {
      if (!pull(options, tape.value(0), samples, first, points, residual.data(), bent.data())) {
        at.outcome = {Failure::no_answer, -1};
        return;
      }
      bend = bent.data();
    }
    for (std::size_t i = 0; i < k; ++i) {
      const double* derivative = tape.derivative(places[i]);
      options.kernels->add_product(residual.data(), derivative, weight, points, &gradient_lanes[i * kGroup]);
      for (std::size_t j = 0; j <= i; ++j) {
        options.kernels->add_product(derivative, tape.derivative(places[j]), bend, points,
                                     &curvature_lanes[(i * k + j) * kGroup]);
      }
    }
  });
  if (!at.outcome.ok()) return at;
  at.error = sum_lanes(error_lanes);
  for (std::size_t i = 0; i < k; ++i) {
    at.gradient[i] = sum_lanes(&gradient_lanes[i * kGroup]);
    for (std::size_t j = 0; j <= i; ++j) {
      at.curvature[i * k + j] = at.curvature[j * k + i] = sum_lanes(&curvature_lanes[(i * k + j) * kGroup]);
    }
  }
  return at;
}

void fit_constants(const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
                   const FitSettings& settings, int threads, Monitor& monitor, double* constants, double* error,
                   Outcome* outcome) {
  parallel_chunks(rows.count, 1, threads, monitor, [&] {
    return [&, fitter = Fitter(options, vocabulary, samples, settings, monitor, rows.stride)](std::size_t begin,
                                                                                              std::size_t end) mutable {
      for (std::size_t i = begin; i < end; ++i) {
        const Fit fit = fitter.run(rows[i]);
        std::copy(fit.constants.begin(), fit.constants.end(), constants + i * rows.stride);
        error[i] = fit.error;
        outcome[i] = fit.outcome;
      }
    };
  });
}

}  // namespace symseed
