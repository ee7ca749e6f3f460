// Linear algebra with one order of operations: the same bits on every processor, where LAPACK's depend on it.
//
// Of what is solved, nothing is a number where the input has a value that is not finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix.hpp"
#include "parallel.hpp"

namespace symseed {

// A matrix somewhere in memory; strides count numbers.
struct View {
  const double* data;
  std::size_t rows;
  std::size_t columns;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t column_stride;

  double at(std::size_t row, std::size_t column) const {
    return data[static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride];
  }
  View transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// out = a b, (a.rows, b.columns), row by row; every sum runs from the first term to the last.
void product(const Matrix& kernels, const View& a, const View& b, double* out, Monitor& monitor);

// The product of each row with a vector, in the eight lanes of `Matrix::dot`; rows are one after the other.
void dots(const Matrix& kernels, const double* rows, const double* vector, std::size_t count, std::size_t size,
          double* out, Monitor& monitor);

// The places of the smallest values, smallest first, and of equal ones the first; what is not a number comes last.
void smallest(const double* values, std::size_t size, std::size_t count, std::int64_t* places);

// The shortest x for which |matrix x - goal| is least. Directions in which the matrix is smaller than `cutoff` times
// its largest count as none (QR with pivoted columns, and again of what it leaves where columns depend on each other).
std::vector<double> least_squares(const Matrix& kernels, const View& matrix, const double* goal, double cutoff,
                                  Monitor& monitor);

// Least squares with independent columns, and the inverse of the normal matrix.
struct NormalSolution {
  std::vector<double> solution;
  std::vector<double> inverse;  // (P, P)
  double smallest;              // on the diagonal of R: how far the columns are from depending on each other
};
NormalSolution normal_solution(const Matrix& kernels, const View& matrix, const double* goal, Monitor& monitor);

// The squared error of least squares with the first column, with the first two, ..., with all.
std::vector<double> leading_errors(const Matrix& kernels, const View& matrix, const double* goal, Monitor& monitor);

// The direction in which a matrix is smallest.
struct SmallestDirection {
  std::vector<double> vector;  // of length 1
  double smallest;             // singular value, which is the one of that direction
  double largest;
};
SmallestDirection smallest_direction(const Matrix& kernels, const View& matrix, Monitor& monitor);

// Eigenvalues of a symmetric matrix, smallest first, and their vectors as columns.
struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  // (P, P)
};
Eigen symmetric_eigen(const View& matrix, Monitor& monitor);

// The complex roots of c[0] + c[1] x + ... + c[n] x^n, c[n] != 0; those of multiple roots lie around them.
struct Roots {
  std::vector<double> real;
  std::vector<double> imaginary;
};
Roots roots(const std::vector<double>& coefficients);

}  // namespace symseed
