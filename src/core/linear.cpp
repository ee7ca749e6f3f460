#include "linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "elementary.hpp"
#include "group.hpp"

namespace symseed {
namespace {

constexpr double kPrecision = std::numeric_limits<double>::epsilon();

std::vector<double> nothing(std::size_t count) { return std::vector<double>(count, kNan); }

// Sizes of the pieces of the two factors that are packed, so that a tile reads its numbers in order: chosen by hand.
constexpr std::size_t kDepth = 256, kRowsAtOnce = 128, kColumnsAtOnce = 512;

std::size_t whole(std::size_t count, std::size_t step) { return (count + step - 1) / step * step; }

// Packs a piece of a factor in strips of `width` rows: for each column `width` numbers, 0 beyond the last row.
void pack(const View& m, std::size_t width, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
          double* to) {
  for (std::size_t strip = 0; strip < rows; strip += width) {
    for (std::size_t i = 0; i < width; ++i) {
      if (strip + i < rows) {
        const double* from = &m.data[static_cast<std::ptrdiff_t>(row + strip + i) * m.row_stride +
                                     static_cast<std::ptrdiff_t>(column) * m.column_stride];
        for (std::size_t k = 0; k < columns; ++k, from += m.column_stride) to[k * width + i] = *from;
      } else {
        for (std::size_t k = 0; k < columns; ++k) to[k * width + i] = 0.0;
      }
    }
    to += width * columns;
  }
}

// A piece of the product; all its tiles get `depth` further terms.
struct Piece {
  double* corner;
  std::size_t rows;
  std::size_t columns;
  std::size_t stride;
};

void add_piece(const Matrix& kernels, const double* left, const double* right, std::size_t depth, const Piece& piece) {
  const bool is_row = piece.rows == 1;
  const std::size_t high = is_row ? 1 : kernels.tile_rows, wide = kernels.tile_columns;
  double tile[kMostTileRows * kMostTileColumns];
  for (std::size_t j = 0; j < piece.columns; j += wide) {
    const std::size_t columns = std::min(piece.columns - j, wide);
    for (std::size_t i = 0; i < piece.rows; i += high) {
      const std::size_t rows = std::min(piece.rows - i, high);
      double* const corner = piece.corner + i * piece.stride + j;
      std::fill(tile, tile + high * wide, 0.0);
      for (std::size_t r = 0; r < rows; ++r) std::copy_n(corner + r * piece.stride, columns, tile + r * wide);
      (is_row ? kernels.add_row : kernels.add_tile)(left + i * depth, right + j * depth, depth, tile);
      for (std::size_t r = 0; r < rows; ++r) std::copy_n(tile + r * wide, columns, corner + r * piece.stride);
    }
  }
}

// Columns one after another, each followed by zeros, so that groups can be read from any position.
class Columns {
 public:
  Columns(const Matrix& kernels, std::size_t rows, std::size_t count)
      : kernels_(kernels), rows_(rows), stride_(whole_groups(rows) + kGroup), values_(stride_ * count) {}

  std::size_t rows() const { return rows_; }
  double* operator[](std::size_t column) { return values_.data() + column * stride_; }
  const double* operator[](std::size_t column) const { return values_.data() + column * stride_; }

  // Dot product of two columns, or of a column and a vector followed by zeros, from a row on.
  double dot(const double* a, const double* b, std::size_t from = 0) const {
    return kernels_.dot(a + from, b + from, whole_groups(rows_ - from));
  }
  void add_scaled(double* to, double factor, const double* column, std::size_t from = 0) const {
    kernels_.add_scaled(to + from, factor, column + from, whole_groups(rows_ - from));
  }
  void rotate(std::size_t a, std::size_t b, double c, double s) {
    kernels_.rotate((*this)[a], (*this)[b], c, s, whole_groups(rows_));
  }

 private:
  const Matrix& kernels_;
  std::size_t rows_;
  std::size_t stride_;
  std::vector<double> values_;
};

// The power of 2 by which numbers are divided so that the largest is about 1; 0 if all are 0, NaN if one is not
// finite.
double unit_of(const View& matrix) {
  double largest = 0.0;
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.columns; ++j) {
      const double size = std::fabs(matrix.at(i, j));
      if (!(size <= std::numeric_limits<double>::max())) return kNan;
      largest = std::max(largest, size);
    }
  }
  return largest == 0.0 ? 0.0 : std::ldexp(1.0, std::clamp(std::ilogb(largest), -1020, 1020));
}

View column_of(const double* values, std::size_t count) { return {values, count, 1, 1, 1}; }

// At least as many rows as columns; those beyond the matrix are 0.
Columns columns_of(const Matrix& kernels, const View& matrix, double unit) {
  Columns out(kernels, std::max(matrix.rows, matrix.columns), matrix.columns);
  for (std::size_t j = 0; j < matrix.columns; ++j) {
    for (std::size_t i = 0; i < matrix.rows; ++i) out[j][i] = matrix.at(i, j) / unit;
  }
  return out;
}

Columns goal_of(const Matrix& kernels, const double* goal, const View& matrix, double unit) {
  Columns out(kernels, std::max(matrix.rows, matrix.columns), 1);
  for (std::size_t i = 0; i < matrix.rows; ++i) out[0][i] = goal[i] / unit;
  return out;
}

// Turns column k into a Householder reflection that makes all entries below row k 0, and stores it there: rows from k
// on are the vector v of 1 - v v^T. Returns the new diagonal entry; 0, and no reflection, for a column of zeros.
double reflect(Columns& columns, std::size_t k) {
  double* const v = columns[k];
  const double square = columns.dot(v, v, k);
  const double length = std::sqrt(square);
  if (length == 0.0) return 0.0;
  const double diagonal = v[k] > 0.0 ? -length : length;
  // |v - diagonal e|^2 = 2 (square - diagonal v[k]), and 1 - v v^T needs a vector of squared length 2.
  const double scale = 1.0 / std::sqrt(square - diagonal * v[k]);
  v[k] -= diagonal;
  for (std::size_t i = k; i < columns.rows(); ++i) v[i] *= scale;
  return diagonal;
}

// Applies the reflection of column k to another column.
void apply(const Columns& columns, std::size_t k, double* to) {
  columns.add_scaled(to, -columns.dot(columns[k], to, k), columns[k], k);
}

// A = Q R by Householder reflections. Above row k, column k holds R; from row k on, its reflection.
struct Factored {
  Columns columns;
  std::vector<double> diagonal;

  // Applies Q^T.
  void turn(double* to) const {
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      if (diagonal[k] != 0.0) apply(columns, k, to);
    }
  }
  // Applies Q.
  void turn_back(double* to) const {
    for (std::size_t k = diagonal.size(); k-- > 0;) {
      if (diagonal[k] != 0.0) apply(columns, k, to);
    }
  }
  double r(std::size_t row, std::size_t column) const {
    return row == column ? diagonal[row] : row < column ? columns[column][row] : 0.0;
  }
};

Factored factored(Columns columns, std::size_t count, Monitor& monitor) {
  std::vector<double> diagonal(count);
  for (std::size_t k = 0; k < count; ++k) {
    monitor.check();
    diagonal[k] = reflect(columns, k);
    for (std::size_t j = k + 1; j < count && diagonal[k] != 0.0; ++j) apply(columns, k, columns[j]);
  }
  return {std::move(columns), std::move(diagonal)};
}

// QR with pivoted columns: the longest remaining column comes next, as long as it is longer than `cutoff` times the
// first; `order` gives the order of the columns.
Factored factored_by_length(Columns columns, std::size_t count, double cutoff, std::vector<std::size_t>& order,
                            Monitor& monitor) {
  std::vector<double> diagonal, square(count), known(count);
  for (std::size_t j = 0; j < count; ++j) square[j] = known[j] = columns.dot(columns[j], columns[j]);
  for (std::size_t k = 0; k < count; ++k) {
    monitor.check();
    const auto longest = static_cast<std::size_t>(
        std::max_element(square.begin() + static_cast<std::ptrdiff_t>(k), square.end()) - square.begin());
    if (longest != k) {
      std::swap_ranges(columns[k], columns[k] + columns.rows(), columns[longest]);
      std::swap(square[k], square[longest]);
      std::swap(known[k], known[longest]);
      std::swap(order[k], order[longest]);
    }
    const double here = reflect(columns, k);
    if (here == 0.0 || (k > 0 && std::fabs(here) <= cutoff * std::fabs(diagonal[0]))) break;
    diagonal.push_back(here);
    for (std::size_t j = k + 1; j < count; ++j) {
      apply(columns, k, columns[j]);
      square[j] -= columns[j][k] * columns[j][k];
      // The remainder of a difference may be rounding.
      if (square[j] <= 1e-8 * known[j]) square[j] = known[j] = columns.dot(columns[j], columns[j], k + 1);
    }
  }
  return {std::move(columns), std::move(diagonal)};
}

// Solves R x = c with the first `rank` rows and columns of R.
void solve_upper(const Factored& qr, std::size_t rank, double* x) {
  for (std::size_t i = rank; i-- > 0;) {
    for (std::size_t j = i + 1; j < rank; ++j) x[i] -= qr.r(i, j) * x[j];
    x[i] /= qr.r(i, i);
  }
}

// The shortest x with [R S] x = c, if the columns beyond the rank depend on the others: with [R S]^T = Q T, it is Q z
// where T^T z = c.
std::vector<double> shortest(const Matrix& kernels, const Factored& qr, std::size_t rank, std::size_t count,
                             const double* c, Monitor& monitor) {
  Columns flat(kernels, count, rank), out(kernels, count, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    for (std::size_t j = i; j < count; ++j) flat[i][j] = qr.r(i, j);
  }
  const Factored t = factored(std::move(flat), rank, monitor);
  double* const z = out[0];
  for (std::size_t i = 0; i < rank; ++i) {
    z[i] = c[i];
    for (std::size_t j = 0; j < i; ++j) z[i] -= t.r(j, i) * z[j];
    z[i] /= t.r(i, i);
  }
  t.turn_back(z);
  return std::vector<double>(z, z + count);
}

// The rotation that makes a symmetric matrix [[a, c], [c, b]] diagonal (Rutishauser).
struct Rotation {
  double cosine;
  double sine;
  double tangent;
};
Rotation rotation(double a, double b, double c) {
  const double half = (b - a) / (2.0 * c);
  const double tangent = (half >= 0.0 ? 1.0 : -1.0) / (std::fabs(half) + std::sqrt(1.0 + half * half));
  const double cosine = 1.0 / std::sqrt(1.0 + tangent * tangent);
  return {cosine, tangent * cosine, tangent};
}

constexpr int kMostSweeps = 60;

}  // namespace

void product(const Matrix& kernels, const View& a, const View& b, double* out, Monitor& monitor) {
  const std::size_t inner = a.columns, deepest = std::min(inner, kDepth);
  std::fill_n(out, a.rows * b.columns, 0.0);
  std::vector<double> left(whole(std::min(a.rows, kRowsAtOnce), kernels.tile_rows) * deepest);
  std::vector<double> right(whole(std::min(b.columns, kColumnsAtOnce), kernels.tile_columns) * deepest);
  for (std::size_t column = 0; column < b.columns; column += kColumnsAtOnce) {
    const std::size_t columns = std::min(b.columns - column, kColumnsAtOnce);
    for (std::size_t k = 0; k < inner; k += kDepth) {
      const std::size_t depth = std::min(inner - k, kDepth);
      pack(b.transposed(), kernels.tile_columns, column, columns, k, depth, right.data());
      for (std::size_t row = 0; row < a.rows; row += kRowsAtOnce) {
        monitor.check();
        const std::size_t rows = std::min(a.rows - row, kRowsAtOnce);
        pack(a, rows == 1 ? 1 : kernels.tile_rows, row, rows, k, depth, left.data());
        add_piece(kernels, left.data(), right.data(), depth,
                  {out + row * b.columns + column, rows, columns, b.columns});
      }
    }
  }
}

void dots(const Matrix& kernels, const double* rows, const double* vector, std::size_t count, std::size_t size,
          double* out, Monitor& monitor) {
  const std::size_t groups = size / kGroup * kGroup;
  double tail[kGroup] = {}, beside[kGroup] = {};
  std::copy(vector + groups, vector + size, beside);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 64 == 0) monitor.check();
    const double* const row = rows + i * size;
    std::copy(row + groups, row + size, tail);
    out[i] = kernels.dot(row, vector, groups) + kernels.dot(tail, beside, kGroup);
  }
}

void smallest(const double* values, std::size_t size, std::size_t count, std::int64_t* places) {
  const auto is_before = [&](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size && count > 0; ++i) {
    if (kept == count && !is_before(values[i], values[places[kept - 1]])) continue;
    if (kept < count) ++kept;
    std::size_t place = kept - 1;
    for (; place > 0 && is_before(values[i], values[places[place - 1]]); --place) places[place] = places[place - 1];
    places[place] = static_cast<std::int64_t>(i);
  }
}

std::vector<double> least_squares(const Matrix& kernels, const View& matrix, const double* goal, double cutoff,
                                  Monitor& monitor) {
  const std::size_t count = matrix.columns;
  const double unit = unit_of(matrix), goal_unit = unit_of(column_of(goal, matrix.rows));
  if (std::isnan(unit) || std::isnan(goal_unit)) return nothing(count);
  if (unit == 0.0 || goal_unit == 0.0) return std::vector<double>(count, 0.0);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Factored qr = factored_by_length(columns_of(kernels, matrix, unit), count, cutoff, order, monitor);
  Columns c = goal_of(kernels, goal, matrix, goal_unit);
  qr.turn(c[0]);
  const std::size_t rank = qr.diagonal.size();
  std::vector<double> found(c[0], c[0] + count);
  if (rank == count) {
    solve_upper(qr, rank, found.data());
  } else {
    found = shortest(kernels, qr, rank, count, c[0], monitor);
  }
  std::vector<double> out(count);
  for (std::size_t k = 0; k < count; ++k) out[order[k]] = found[k] * goal_unit / unit;
  return out;
}

NormalSolution normal_solution(const Matrix& kernels, const View& matrix, const double* goal, Monitor& monitor) {
  const std::size_t count = matrix.columns;
  if (std::isnan(unit_of(matrix)) || std::isnan(unit_of(column_of(goal, matrix.rows)))) {
    return {nothing(count), nothing(count * count), kNan};
  }
  const Factored qr = factored(columns_of(kernels, matrix, 1.0), count, monitor);
  NormalSolution out{std::vector<double>(count), std::vector<double>(count * count), 0.0};
  out.smallest = count == 0 ? 0.0 : std::numeric_limits<double>::infinity();
  for (const double value : qr.diagonal) out.smallest = std::min(out.smallest, std::fabs(value));
  if (out.smallest == 0.0) return {nothing(count), nothing(count * count), 0.0};
  Columns c = goal_of(kernels, goal, matrix, 1.0);
  qr.turn(c[0]);
  std::copy_n(c[0], count, out.solution.begin());
  solve_upper(qr, count, out.solution.data());
  // Row i of the inverse of R, as a column; the inverse of R^T R consists of their products.
  Columns rows(kernels, count, count);
  for (std::size_t j = 0; j < count; ++j) {
    rows[j][j] = 1.0 / qr.r(j, j);
    for (std::size_t i = j; i-- > 0;) {
      double sum = 0.0;
      for (std::size_t k = i + 1; k <= j; ++k) sum += qr.r(i, k) * rows[k][j];
      rows[i][j] = -sum / qr.r(i, i);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      out.inverse[i * count + j] = out.inverse[j * count + i] = rows.dot(rows[i], rows[j], i);
    }
  }
  return out;
}

std::vector<double> leading_errors(const Matrix& kernels, const View& matrix, const double* goal, Monitor& monitor) {
  const std::size_t count = matrix.columns;
  if (std::isnan(unit_of(matrix)) || std::isnan(unit_of(column_of(goal, matrix.rows)))) return nothing(count);
  Columns columns = columns_of(kernels, matrix, 1.0);
  Columns rest = goal_of(kernels, goal, matrix, 1.0);
  std::vector<double> out(count);
  double error = columns.dot(rest[0], rest[0]);
  std::size_t rank = 0;
  for (std::size_t k = 0; k < count; ++k) {
    monitor.check();
    // The part of this column outside the span of those before it. If that is rounding, the column explains nothing.
    const double before = columns.dot(columns[k], columns[k]);
    for (std::size_t i = 0; i < rank; ++i) apply(columns, i, columns[k]);
    const double left = columns.dot(columns[k], columns[k], rank);
    if (rank < matrix.rows && left > 1e-28 * before) {
      if (rank != k) std::copy_n(columns[k], columns.rows(), columns[rank]);
      reflect(columns, rank);
      apply(columns, rank, rest[0]);
      ++rank;
      error = columns.dot(rest[0], rest[0], rank);
    }
    out[k] = error;
  }
  return out;
}

SmallestDirection smallest_direction(const Matrix& kernels, const View& matrix, Monitor& monitor) {
  const std::size_t count = matrix.columns;
  const double unit = unit_of(matrix);
  if (std::isnan(unit) || count == 0) return {nothing(count), kNan, kNan};
  const Factored qr = factored(columns_of(kernels, matrix, unit == 0.0 ? 1.0 : unit), count, monitor);
  // One-sided Jacobi: rotations make the columns of R orthogonal, and the same rotations make V (Hestenes 1958).
  Columns r(kernels, count, count), v(kernels, count, count);
  double total = 0.0;
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i <= j; ++i) r[j][i] = qr.r(i, j);
    v[j][j] = 1.0;
    total += r.dot(r[j], r[j]);
  }
  bool is_turned = true;
  for (int sweep = 0; is_turned && sweep < kMostSweeps; ++sweep) {
    is_turned = false;
    for (std::size_t p = 0; p + 1 < count; ++p) {
      monitor.check();
      for (std::size_t q = p + 1; q < count; ++q) {
        const double a = r.dot(r[p], r[p]), b = r.dot(r[q], r[q]), c = r.dot(r[p], r[q]);
        if (std::fabs(c) <= kPrecision * std::sqrt(a * b) + 1e-34 * total) continue;
        is_turned = true;
        const Rotation turn = rotation(a, b, c);
        r.rotate(p, q, turn.cosine, turn.sine);
        v.rotate(p, q, turn.cosine, turn.sine);
      }
    }
  }
  std::vector<double> squares(count);
  for (std::size_t j = 0; j < count; ++j) squares[j] = r.dot(r[j], r[j]);
  const auto [least, most] = std::minmax_element(squares.begin(), squares.end());
  const double* const vector = v[static_cast<std::size_t>(least - squares.begin())];
  return {std::vector<double>(vector, vector + count), std::sqrt(*least) * unit, std::sqrt(*most) * unit};
}

Eigen symmetric_eigen(const View& matrix, Monitor& monitor) {
  const std::size_t n = matrix.rows;
  const double unit = unit_of(matrix);
  if (std::isnan(unit)) return {nothing(n), nothing(n * n)};
  std::vector<double> a(n * n), v(n * n);
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i * n + j] = matrix.at(i, j) / (unit == 0.0 ? 1.0 : unit);
    for (std::size_t j = 0; j < n; ++j) total += a[i * n + j] * a[i * n + j];
    v[i * n + i] = 1.0;
  }
  const double limit = 0.5 * kPrecision * kPrecision * total / std::max<double>(1.0, static_cast<double>(n * n));
  bool is_turned = true;
  for (int sweep = 0; is_turned && sweep < kMostSweeps; ++sweep) {
    monitor.check();
    is_turned = false;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double c = a[p * n + q];
        if (c * c <= limit) continue;
        is_turned = true;
        const Rotation turn = rotation(a[p * n + p], a[q * n + q], c);
        const auto rotate = [&](double& x, double& y) {
          const double old = x;
          x = turn.cosine * old - turn.sine * y;
          y = turn.sine * old + turn.cosine * y;
        };
        for (std::size_t k = 0; k < n; ++k) rotate(a[k * n + p], a[k * n + q]);
        for (std::size_t k = 0; k < n; ++k) rotate(a[p * n + k], a[q * n + k]);
        for (std::size_t k = 0; k < n; ++k) rotate(v[k * n + p], v[k * n + q]);
        a[p * n + q] = a[q * n + p] = 0.0;
      }
    }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i * n + i] < a[j * n + j]; });
  Eigen out{std::vector<double>(n), std::vector<double>(n * n)};
  for (std::size_t j = 0; j < n; ++j) {
    out.values[j] = a[order[j] * n + order[j]] * unit;
    for (std::size_t i = 0; i < n; ++i) out.vectors[i * n + j] = v[i * n + order[j]];
  }
  return out;
}

namespace {

// Complex numbers without the special cases of std::complex, whose treatment of infinities depends on the compiler.
struct Complex {
  double real;
  double imaginary;
};
Complex operator+(Complex a, Complex b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
Complex operator-(Complex a, Complex b) { return {a.real - b.real, a.imaginary - b.imaginary}; }
Complex operator*(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
double square_of(Complex a) { return a.real * a.real + a.imaginary * a.imaginary; }
Complex operator/(Complex a, Complex b) {
  const Complex above = a * Complex{b.real, -b.imaginary};
  return {above.real / square_of(b), above.imaginary / square_of(b)};
}

constexpr int kMostSteps = 400;

}  // namespace

// All roots at once, by Newton's step for the polynomial divided by the factors of the other roots (Aberth 1973).
Roots roots(const std::vector<double>& coefficients) {
  const std::size_t degree = coefficients.size() - 1;
  double largest = 0.0;
  for (std::size_t i = 0; i < degree; ++i) {
    largest = std::max(largest, std::fabs(coefficients[i] / coefficients[degree]));
  }
  if (!std::isfinite(largest)) return {nothing(degree), nothing(degree)};
  // Start from a circle whose radius is the geometric mean of the roots, rotated so that no two points are mirrored.
  const double product = std::fabs(coefficients[0] / coefficients[degree]);
  const double radius = product > 0.0 ? elementary::pow(product, 1.0 / static_cast<double>(degree)) : 1.0;
  std::vector<Complex> z(degree);
  for (std::size_t i = 0; i < degree; ++i) {
    const double angle = 6.283185307179586 * static_cast<double>(i) / static_cast<double>(degree) + 0.4;
    z[i] = {radius * elementary::cos(angle), radius * elementary::sin(angle)};
  }
  for (int step = 0; step < kMostSteps; ++step) {
    bool is_moving = false;
    for (std::size_t i = 0; i < degree; ++i) {
      Complex value{0.0, 0.0}, slope{0.0, 0.0}, others{0.0, 0.0};
      for (std::size_t k = degree + 1; k-- > 0;) {
        slope = slope * z[i] + value;
        value = value * z[i] + Complex{coefficients[k], 0.0};
      }
      if (square_of(value) == 0.0) continue;
      for (std::size_t j = 0; j < degree; ++j) {
        const Complex apart = z[i] - z[j];
        if (j != i && square_of(apart) > 0.0) others = others + Complex{1.0, 0.0} / apart;
      }
      const Complex move = value / (slope - value * others);
      if (!std::isfinite(square_of(move))) continue;
      z[i] = z[i] - move;
      is_moving = is_moving || square_of(move) > 1e-31 * square_of(z[i]);
    }
    if (!is_moving) break;
  }
  Roots out;
  for (const Complex root : z) {
    out.real.push_back(root.real);
    out.imaginary.push_back(root.imaginary);
  }
  return out;
}

}  // namespace symseed
