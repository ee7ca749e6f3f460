#include "gp.hpp"

#include <algorithm>
#include <cmath>

#include "elementary.hpp"
#include "group.hpp"

namespace symseed {
namespace {

constexpr double kTwoPi = 6.283185307179586476925;

// Rows one after another, each followed by zeros to whole steps of the exponential.
class Table {
 public:
  Table(std::size_t rows, std::size_t columns)
      : stride_((columns + kWidth - 1) / kWidth * kWidth), values_(rows * stride_) {}

  std::size_t stride() const { return stride_; }
  double* operator[](std::size_t row) { return values_.data() + row * stride_; }
  const double* operator[](std::size_t row) const { return values_.data() + row * stride_; }

 private:
  std::size_t stride_;
  std::vector<double> values_;
};

// The first number of the group that holds number i: loops over a row of a triangle begin there, and meet zeros.
std::size_t group_of(std::size_t i) { return i / kGroup * kGroup; }

// The process on its rows: correlations R and the factor U of R + ratio noise = U^T U, both upper triangles.
class Process {
 public:
  Process(const InstructionSet& set, const ProcessData& data, Monitor& monitor)
      : matrix_(*set.matrix),
        exponential_(set.recurrent->twice.exponential),
        data_(data),
        monitor_(monitor),
        places_(data.columns, data.count),
        correlation_(data.count, data.count),
        upper_(data.count, data.count),
        ones_(1, data.count),
        weights_(1, data.count) {
    for (std::size_t j = 0; j < data.columns; ++j) {
      for (std::size_t i = 0; i < data.count; ++i) places_[j][i] = data.inputs[j * data.count + i] / data.scales[j];
    }
    fill();
    is_positive_ = factor();
    if (is_positive_) solve();
  }

  bool is_positive() const { return is_positive_; }
  // The variance of the process, s^2.
  double variance() const { return square_ / static_cast<double>(data_.count); }

  double log_likelihood() const {
    const auto count = static_cast<double>(data_.count);
    double logs = 0.0;
    for (std::size_t i = 0; i < data_.count; ++i) logs += elementary::log(upper_[i][i]);
    return -0.5 * count * (elementary::log(kTwoPi * variance()) + 1.0) - logs;
  }

  // Computes the inverse of U, which the functions below need.
  void invert() {
    const std::size_t count = data_.count, stride = upper_.stride();
    inverse_ = Table(count, count);
    std::vector<double> rest(stride);
    for (std::size_t i = 0; i < count; ++i) {
      monitor_.check();
      std::fill(rest.begin(), rest.end(), 0.0);
      rest[i] = 1.0;
      double* const row = inverse_[i];
      for (std::size_t k = i; k < count; ++k) {
        row[k] = rest[k] / upper_[k][k];
        const std::size_t from = group_of(k);
        matrix_.add_scaled(rest.data() + from, -row[k], upper_[k] + from, stride - from);
      }
    }
  }

  // The entry (i, j) of the inverse of R + ratio noise, i <= j.
  double inverse(std::size_t i, std::size_t j) const {
    const std::size_t from = group_of(j);
    return matrix_.dot(inverse_[i] + from, inverse_[j] + from, upper_.stride() - from);
  }

  std::vector<double> gradient() const {
    const std::size_t count = data_.count, stride = upper_.stride();
    std::vector<double> out(data_.columns + 1), pull(stride), squares(stride);
    const double factor = 1.0 / variance();
    for (std::size_t i = 0; i < count; ++i) {
      monitor_.check();
      const double* const weight = weights_[0];
      out.back() += 0.5 * data_.ratio * data_.noise[i] * (factor * weight[i] * weight[i] - inverse(i, i));
      const std::size_t from = group_of(i);
      std::fill(pull.begin() + static_cast<std::ptrdiff_t>(from), pull.begin() + static_cast<std::ptrdiff_t>(i + 1),
                0.0);
      for (std::size_t j = i + 1; j < count; ++j) {
        pull[j] = (factor * weight[i] * weight[j] - inverse(i, j)) * correlation_[i][j];
      }
      for (std::size_t v = 0; v < data_.columns; ++v) {
        std::fill(squares.begin() + static_cast<std::ptrdiff_t>(from), squares.end(), 0.0);
        matrix_.add_squared_distance(squares.data() + from, places_[v] + from, places_[v][i], stride - from);
        out[v] += matrix_.dot(pull.data() + from, squares.data() + from, stride - from);
      }
    }
    return out;
  }

  void predict(const double* points, std::size_t count, Prediction& out) const {
    const std::size_t stride = upper_.stride();
    std::vector<double> near(stride), solved(stride);
    for (std::size_t q = 0; q < count; ++q) {
      monitor_.check();
      std::fill(near.begin(), near.end(), 0.0);
      for (std::size_t v = 0; v < data_.columns; ++v) {
        const double at = points[v * count + q] / data_.scales[v];
        matrix_.add_squared_distance(near.data(), places_[v], at, stride);
      }
      correlate(near.data(), 0);
      out.mean[q] = mean_ + matrix_.dot(near.data(), weights_[0], stride);
      solved = near;
      forward(solved.data());
      const double explained = matrix_.dot(solved.data(), solved.data(), stride);
      out.variance[q] = variance() * std::max(1.0 - explained, 0.0);
    }
    for (std::size_t i = 0; i < data_.count; ++i) {
      const double own = inverse(i, i);
      out.left_out_mean[i] = data_.goal[i] - weights_[0][i] / own;
      out.left_out_variance[i] = variance() / own;
    }
    out.noise = variance() * data_.ratio;
  }

 private:
  // From squared distances to correlations; numbers before the first and after the last become 0.
  void correlate(double* row, std::size_t first) const {
    const std::size_t from = group_of(first) / kWidth * kWidth, stride = upper_.stride();
    for (std::size_t j = from; j < stride; ++j) row[j] *= -0.5;
    exponential_(row + from, static_cast<int>(stride - from));
    std::fill(row + from, row + first, 0.0);
    std::fill(row + data_.count, row + stride, 0.0);
  }

  void fill() {
    const std::size_t stride = upper_.stride();
    for (std::size_t i = 0; i < data_.count; ++i) {
      monitor_.check();
      double* const row = correlation_[i];
      const std::size_t from = group_of(i);
      for (std::size_t v = 0; v < data_.columns; ++v) {
        matrix_.add_squared_distance(row + from, places_[v] + from, places_[v][i], stride - from);
      }
      correlate(row, i);
      std::copy_n(row, stride, upper_[i]);
      upper_[i][i] += data_.ratio * data_.noise[i];
    }
  }

  // Cholesky's factor, row by row: every entry is reduced by the products of the rows above it, from the first on.
  bool factor() {
    const std::size_t count = data_.count, stride = upper_.stride();
    for (std::size_t k = 0; k < count; ++k) {
      monitor_.check();
      double* const row = upper_[k];
      if (!(row[k] > 0.0)) return false;
      const double diagonal = std::sqrt(row[k]);
      row[k] = diagonal;
      for (std::size_t j = k + 1; j < count; ++j) row[j] /= diagonal;
      for (std::size_t i = k + 1; i < count; ++i) {
        const std::size_t from = group_of(i);
        matrix_.add_scaled(upper_[i] + from, -row[i], row + from, stride - from);
        std::fill(upper_[i] + from, upper_[i] + i, 0.0);
      }
    }
    return true;
  }

  // Solves U^T x = values, in place.
  void forward(double* values) const {
    const std::size_t stride = upper_.stride();
    for (std::size_t k = 0; k < data_.count; ++k) {
      const double solved = values[k] / upper_[k][k];
      const std::size_t from = group_of(k);
      matrix_.add_scaled(values + from, -solved, upper_[k] + from, stride - from);
      values[k] = solved;
    }
  }

  // Solves U x = values, in place.
  void backward(double* values) const {
    const std::size_t stride = upper_.stride();
    for (std::size_t k = data_.count; k-- > 0;) {
      const double value = values[k];
      const std::size_t from = group_of(k);
      values[k] = 0.0;
      values[k] = (value - matrix_.dot(upper_[k] + from, values + from, stride - from)) / upper_[k][k];
    }
  }

  void solve() {
    const std::size_t count = data_.count, stride = upper_.stride();
    std::fill_n(ones_[0], count, 1.0);
    std::copy_n(data_.goal, count, weights_[0]);
    forward(ones_[0]);
    forward(weights_[0]);
    // The mean of greatest likelihood is that of generalised least squares.
    mean_ = matrix_.dot(ones_[0], weights_[0], stride) / matrix_.dot(ones_[0], ones_[0], stride);
    matrix_.add_scaled(weights_[0], -mean_, ones_[0], stride);
    square_ = matrix_.dot(weights_[0], weights_[0], stride);
    backward(weights_[0]);
  }

  const Matrix& matrix_;
  void (*exponential_)(double* values, int width);
  const ProcessData& data_;
  Monitor& monitor_;
  Table places_;       // inputs in units of their length scales
  Table correlation_;  // R
  Table upper_;        // U
  Table inverse_{0, 0};
  Table ones_;     // 1, solved forward
  Table weights_;  // (R + ratio noise)^-1 (goal - mean)
  double mean_ = kNan;
  double square_ = kNan;
  bool is_positive_ = false;
};

}  // namespace

Evidence evidence(const InstructionSet& set, const ProcessData& data, bool has_gradient, Monitor& monitor) {
  Process process(set, data, monitor);
  if (!process.is_positive()) {
    return {kNan, std::vector<double>(has_gradient ? data.columns + 1 : 0, kNan)};
  }
  Evidence out{process.log_likelihood(), {}};
  if (has_gradient) {
    process.invert();
    out.gradient = process.gradient();
  }
  return out;
}

Prediction prediction(const InstructionSet& set, const ProcessData& data, const double* points, std::size_t count,
                      Monitor& monitor) {
  Process process(set, data, monitor);
  const auto nothing = [](std::size_t size) { return std::vector<double>(size, kNan); };
  Prediction out{nothing(count), nothing(count), nothing(data.count), nothing(data.count), kNan};
  if (process.is_positive()) {
    process.invert();
    process.predict(points, count, out);
  }
  return out;
}

}  // namespace symseed
