// Matrix arithmetic, compiled per instruction set like the kernels: the loops in which linear.cpp spends its time.
//
// Each sum has one order on every instruction set: sums of a product run from the first term to the last, those of
// `dot` in eight lanes. All instruction sets therefore give the same bits.
#pragma once

#include <cstddef>

namespace symseed {

inline constexpr std::size_t kMostTileRows = 8;
inline constexpr std::size_t kMostTileColumns = 16;

struct Matrix {
  // Rows and columns of a tile, the part of a product that is summed in registers.
  std::size_t tile_rows;
  std::size_t tile_columns;
  // tile += a b over `depth` terms, in order. For each term, `a` has the tile's rows and `b` its columns.
  void (*add_tile)(const double* a, const double* b, std::size_t depth, double* tile);
  // The same for a tile of one row.
  void (*add_row)(const double* a, const double* b, std::size_t depth, double* tile);
  // The sum of a[i] * b[i], in lane i % 8; `count` is a multiple of kGroup, 8, here and below.
  double (*dot)(const double* a, const double* b, std::size_t count);
  // to += factor * from.
  void (*add_scaled)(double* to, double factor, const double* from, std::size_t count);
  // (a, b) = (c a - s b, s a + c b).
  void (*rotate)(double* a, double* b, double c, double s, std::size_t count);
  // to += (values - at)^2.
  void (*add_squared_distance)(double* to, const double* values, double at, std::size_t count);
};

const Matrix& matrix_portable();
#ifdef SYMSEED_X86_64
const Matrix& matrix_avx2();
const Matrix& matrix_avx512();
#endif

}  // namespace symseed
