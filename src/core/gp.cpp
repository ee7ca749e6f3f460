#include "gp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "elementary.hpp"
#include "group.hpp"

namespace symseed {
namespace {

constexpr double kTwoPi = 6.283185307179586476925;

// Zeros in memory that a thread uses again: fresh memory of this size takes longer than the arithmetic on it.
class Zeros {
 public:
  explicit Zeros(std::size_t count) {
    if (kept_ > 0) values_ = std::move(spare_[--kept_]);
    values_.assign(count, 0.0);
  }
  Zeros(Zeros&& other) noexcept : values_(std::move(other.values_)) {}
  Zeros& operator=(Zeros&& other) noexcept {
    std::swap(values_, other.values_);
    return *this;
  }
  ~Zeros() {
    if (kept_ < spare_.size() && values_.capacity() > 0) spare_[kept_++] = std::move(values_);
  }

  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }

 private:
  static thread_local std::array<std::vector<double>, 8> spare_;
  static thread_local std::size_t kept_;
  std::vector<double> values_;
};
thread_local std::array<std::vector<double>, 8> Zeros::spare_;
thread_local std::size_t Zeros::kept_ = 0;

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
  Zeros values_;
};

// The first number of the group that holds number i: loops over a row of a triangle begin there, and meet zeros.
std::size_t group_of(std::size_t i) { return i / kGroup * kGroup; }

// Terms that are subtracted at a time: so many rows of a factor stay in the nearest cache. Chosen by hand.
constexpr std::size_t kDepth = 16;
static_assert(kWidth % kMostTileColumns == 0 && kDepth % kGroup == 0);

// Rows `from` to `to` of a table, transposed in strips as wide as a tile, so that a tile reads its numbers in order.
class Strips {
 public:
  Strips(const Matrix& matrix, std::size_t width, std::size_t depth)
      : matrix_(matrix), depth_(depth), values_((width + kWidth - 1) / kWidth * kWidth * depth) {}

  double* operator[](std::size_t column) { return values_.data() + column * depth_; }

  // Adds the first `terms` products of `left`, as many numbers for each term as a tile has rows, and of the strips from
  // that of column `from` on to the first `rows` rows at `to`.
  void add_products(const double* left, std::size_t terms, std::size_t from, double* to, std::size_t rows,
                    std::size_t stride) const {
    const std::size_t wide = matrix_.tile_columns;
    double tile[kMostTileRows * kMostTileColumns] = {};
    for (std::size_t j = from / wide * wide; j < stride; j += wide) {
      for (std::size_t r = 0; r < rows; ++r) std::copy_n(to + r * stride + j, wide, tile + r * wide);
      matrix_.add_tile(left, values_.data() + j * depth_, terms, tile);
      for (std::size_t r = 0; r < rows; ++r) std::copy_n(tile + r * wide, wide, to + r * stride + j);
    }
  }

  // The same with the terms from that of a strip's own first column on: those before it are 0.
  void add_last_products(const double* left, std::size_t terms, std::size_t from, double* to, std::size_t rows,
                         std::size_t stride) const {
    const std::size_t wide = matrix_.tile_columns, high = matrix_.tile_rows;
    double tile[kMostTileRows * kMostTileColumns];
    for (std::size_t j = from / wide * wide; j < terms; j += wide) {
      std::fill(tile, tile + high * wide, 0.0);
      matrix_.add_tile(left + j * high, values_.data() + j * depth_ + j * wide, terms - j, tile);
      for (std::size_t r = 0; r < rows; ++r) std::copy_n(tile + r * wide, wide, to + r * stride + j);
    }
  }

  // Takes some rows of a table, `terms` of them.
  void take(const double* rows, std::size_t terms, std::size_t from, std::size_t stride) {
    const std::size_t wide = matrix_.tile_columns;
    for (std::size_t j = from / wide * wide; j < stride; j += wide) {
      double* const strip = (*this)[j];
      for (std::size_t k = 0; k < terms; ++k) std::copy_n(rows + k * stride + j, wide, strip + k * wide);
    }
  }

 private:
  const Matrix& matrix_;
  std::size_t depth_;
  Zeros values_;
};

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

  // Computes the inverse of U, which the functions below need: each row is solved for a unit vector.
  void invert() {
    const std::size_t count = data_.count, stride = upper_.stride(), high = matrix_.tile_rows;
    inverse_ = Table(count, count);
    for (std::size_t i = 0; i < count; ++i) inverse_[i][i] = 1.0;
    Strips above(matrix_, stride, kDepth);
    std::vector<double> left(kDepth * high);
    for (std::size_t begin = 0; begin < count; begin += kDepth) {
      monitor_.check();
      const std::size_t end = std::min(begin + kDepth, count);
      above.take(upper_[begin], end - begin, end, stride);
      for (std::size_t first = 0; first < end; first += high) {
        const std::size_t rows = std::min(high, count - first);
        for (std::size_t r = 0; r < rows; ++r) {
          double* const row = inverse_[first + r];
          for (std::size_t k = begin; k < end; ++k) {
            const double solved = row[k] / upper_[k][k];
            for (std::size_t j = k + 1; j < end; ++j) row[j] -= solved * upper_[k][j];
            row[k] = solved;
            left[(k - begin) * high + r] = -solved;
          }
        }
        if (end < count) above.add_products(left.data(), end - begin, end, inverse_[first], rows, stride);
      }
    }
  }

  // The entry (i, i) of the inverse of R + ratio noise.
  double inverse(std::size_t i) const {
    const std::size_t from = group_of(i);
    return matrix_.dot(inverse_[i] + from, inverse_[i] + from, upper_.stride() - from);
  }

  std::vector<double> gradient() const {
    const std::size_t count = data_.count, stride = upper_.stride(), high = matrix_.tile_rows;
    std::vector<double> out(data_.columns + 1), pull(stride), squares(stride);
    const double factor = 1.0 / variance();
    const double* const weight = weights_[0];
    Strips turned(matrix_, stride, stride);
    for (std::size_t j = 0; j < count; ++j) {
      double* const strip = turned[j / matrix_.tile_columns * matrix_.tile_columns] + j % matrix_.tile_columns;
      for (std::size_t k = j; k < count; ++k) strip[k * matrix_.tile_columns] = inverse_[j][k];
    }
    std::vector<double> left(stride * high), products(stride * high);
    for (std::size_t first = 0; first < count; first += high) {
      monitor_.check();
      const std::size_t rows = std::min(high, count - first);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t k = 0; k < count; ++k) left[k * high + r] = inverse_[first + r][k];
      }
      std::fill(products.begin(), products.end(), 0.0);
      turned.add_last_products(left.data(), count, first, products.data(), rows, stride);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t i = first + r, from = group_of(i);
        const double* const inverse = products.data() + r * stride;
        out.back() += 0.5 * data_.ratio * data_.noise[i] * (factor * weight[i] * weight[i] - inverse[i]);
        std::fill(pull.begin() + static_cast<std::ptrdiff_t>(from), pull.begin() + static_cast<std::ptrdiff_t>(i + 1),
                  0.0);
        for (std::size_t j = i + 1; j < count; ++j) {
          pull[j] = (factor * weight[i] * weight[j] - inverse[j]) * correlation_[i][j];
        }
        for (std::size_t v = 0; v < data_.columns; ++v) {
          std::fill(squares.begin() + static_cast<std::ptrdiff_t>(from), squares.end(), 0.0);
          matrix_.add_squared_distance(squares.data() + from, places_[v] + from, places_[v][i], stride - from);
          out[v] += matrix_.dot(pull.data() + from, squares.data() + from, stride - from);
        }
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
      const double own = inverse(i);
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

  // Cholesky's factor: every entry is reduced by the products of the rows above it, from the first on, some at a time.
  bool factor() {
    const std::size_t count = data_.count, stride = upper_.stride(), high = matrix_.tile_rows;
    Strips above(matrix_, stride, kDepth);
    std::vector<double> left(kDepth * high);
    for (std::size_t begin = 0; begin < count; begin += kDepth) {
      monitor_.check();
      const std::size_t end = std::min(begin + kDepth, count);
      for (std::size_t k = begin; k < end; ++k) {
        double* const row = upper_[k];
        if (!(row[k] > 0.0)) return false;
        const double diagonal = std::sqrt(row[k]);
        std::fill(row, row + k, 0.0);
        row[k] = diagonal;
        for (std::size_t j = k + 1; j < count; ++j) row[j] /= diagonal;
        for (std::size_t i = k + 1; i < end; ++i) {
          const std::size_t from = group_of(i);
          matrix_.add_scaled(upper_[i] + from, -row[i], row + from, stride - from);
        }
      }
      above.take(upper_[begin], end - begin, end, stride);
      for (std::size_t first = end; first < count; first += high) {
        const std::size_t rows = std::min(high, count - first);
        for (std::size_t k = begin; k < end; ++k) {
          for (std::size_t r = 0; r < rows; ++r) left[(k - begin) * high + r] = -upper_[k][first + r];
        }
        above.add_products(left.data(), end - begin, first, upper_[first], rows, stride);
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
