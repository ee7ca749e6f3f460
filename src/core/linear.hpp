// Linear algebra with a fixed order of operations: the same bits on every processor, unlike LAPACK.
//
// If the input has a value that is not finite, all results are NaN.
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

// Indices of the smallest values, smallest first; equal values in order of index; NaN comes last.
void smallest(const double* values, std::size_t size, std::size_t count, std::int64_t* places);

// The shortest x for which |matrix x - goal| is smallest. Directions in which the matrix is smaller than `cutoff` times
// its largest count as 0 (QR with pivoted columns; a second QR of the result if columns are dependent).
std::vector<double> least_squares(const Matrix& kernels, const View& matrix, const double* goal, double cutoff,
                                  Monitor& monitor);

// Least squares with independent columns, and the inverse of the normal matrix.
struct NormalSolution {
  std::vector<double> solution;
  std::vector<double> inverse;  // (P, P)
  double smallest;              // smallest diagonal entry of R: near 0, columns are dependent
};
NormalSolution normal_solution(const Matrix& kernels, const View& matrix, const double* goal, Monitor& monitor);

// The squared error of least squares with the first column, with the first two, ..., with all.
std::vector<double> leading_errors(const Matrix& kernels, const View& matrix, const double* goal, Monitor& monitor);

// The direction in which a matrix is smallest.
struct SmallestDirection {
  std::vector<double> vector;  // of length 1
  double smallest;             // singular value of that direction
  double largest;
};
SmallestDirection smallest_direction(const Matrix& kernels, const View& matrix, Monitor& monitor);

// Eigenvalues of a symmetric matrix, smallest first, and their vectors as columns.
struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  // (P, P)
};
Eigen symmetric_eigen(const View& matrix, Monitor& monitor);

// The complex roots of c[0] + c[1] x + ... + c[n] x^n, c[n] != 0; approximations of a multiple root lie around it.
struct Roots {
  std::vector<double> real;
  std::vector<double> imaginary;
};
Roots roots(const std::vector<double>& coefficients);

}  // namespace symseed
