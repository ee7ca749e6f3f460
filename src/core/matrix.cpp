// Matrix arithmetic of one instruction set; the build compiles this file once per set (SYMSEED_ISA, SYMSEED_LANES).
#include "matrix.hpp"

#include "vector.hpp"

#define SYMSEED_JOIN_(a, b) a##b
#define SYMSEED_JOIN(a, b) SYMSEED_JOIN_(a, b)

namespace symseed {
namespace SYMSEED_ISA {
namespace {

constexpr std::size_t kTileRows = kLanes == 8 ? 8 : 4;
constexpr std::size_t kTileVectors = 2;
constexpr std::size_t kTileColumns = kTileVectors * kLanes;
static_assert(kTileRows <= kMostTileRows && kTileColumns <= kMostTileColumns);

void add_tile(const double* a, const double* b, std::size_t depth, double* tile) {
  Vec sums[kTileRows][kTileVectors];
  for (std::size_t i = 0; i < kTileRows; ++i) {
    for (std::size_t j = 0; j < kTileVectors; ++j) sums[i][j] = load(tile + i * kTileColumns + j * kLanes);
  }
  for (std::size_t k = 0; k < depth; ++k) {
    Vec right[kTileVectors];
    for (std::size_t j = 0; j < kTileVectors; ++j) right[j] = load(b + k * kTileColumns + j * kLanes);
    for (std::size_t i = 0; i < kTileRows; ++i) {
      const double left = a[k * kTileRows + i];
      for (std::size_t j = 0; j < kTileVectors; ++j) sums[i][j] = sums[i][j] + left * right[j];
    }
  }
  for (std::size_t i = 0; i < kTileRows; ++i) {
    for (std::size_t j = 0; j < kTileVectors; ++j) store(tile + i * kTileColumns + j * kLanes, sums[i][j]);
  }
}

void add_row(const double* a, const double* b, std::size_t depth, double* sums) {
  Vec total[kTileVectors];
  for (std::size_t j = 0; j < kTileVectors; ++j) total[j] = load(sums + j * kLanes);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t j = 0; j < kTileVectors; ++j) {
      total[j] = total[j] + a[k] * load(b + k * kTileColumns + j * kLanes);
    }
  }
  for (std::size_t j = 0; j < kTileVectors; ++j) store(sums + j * kLanes, total[j]);
}

double dot(const double* a, const double* b, std::size_t count) {
  constexpr int kParts = kGroup / kLanes;
  Vec sums[kParts] = {};
  for (std::size_t i = 0; i < count; i += kGroup) {
    for (int part = 0; part < kParts; ++part) {
      sums[part] = sums[part] + load(a + i + part * kLanes) * load(b + i + part * kLanes);
    }
  }
  double lanes[kGroup];
  for (int part = 0; part < kParts; ++part) store(lanes + part * kLanes, sums[part]);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

void add_scaled(double* to, double factor, const double* from, std::size_t count) {
  const Vec by = splat(factor);
  for (std::size_t i = 0; i < count; i += kLanes) store(to + i, load(to + i) + by * load(from + i));
}

void rotate(double* a, double* b, double c, double s, std::size_t count) {
  const Vec cosine = splat(c), sine = splat(s);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Vec x = load(a + i), y = load(b + i);
    store(a + i, cosine * x - sine * y);
    store(b + i, sine * x + cosine * y);
  }
}

void add_squared_distance(double* to, const double* values, double at, std::size_t count) {
  const Vec here = splat(at);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const Vec distance = load(values + i) - here;
    store(to + i, load(to + i) + distance * distance);
  }
}

constexpr Matrix kTable = {kTileRows, kTileColumns, &add_tile, &add_row,
                           &dot,      &add_scaled,  &rotate,   &add_squared_distance};

}  // namespace
}  // namespace SYMSEED_ISA

const Matrix& SYMSEED_JOIN(matrix_, SYMSEED_ISA)() { return SYMSEED_ISA::kTable; }

}  // namespace symseed
