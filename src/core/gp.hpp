// Gaussian-process regression (Rasmussen & Williams 2006) with a fixed order of operations: the same bits on every
// processor.
//
// The process has the covariance s^2 (k(z, z') + r v), where k = exp(-1/2 sum_j ((z_j - z'_j) / l_j)^2), r is the ratio
// of the noise's variance to s^2, and v the noise factor of a row. Its mean and s^2 are those of greatest likelihood.
#pragma once

#include <cstddef>
#include <vector>

#include "dispatch.hpp"
#include "parallel.hpp"

namespace symseed {

struct ProcessData {
  const double* inputs;  // (V, M), column by column of the data
  const double* goal;    // (M,)
  const double* noise;   // (M,), noise factors, positive
  const double* scales;  // (V,), length scales, positive
  double ratio;          // positive
  std::size_t columns;   // V
  std::size_t count;     // M
};

struct Evidence {
  double value;  // log marginal likelihood; NaN if the covariance is not positive definite
  std::vector<double>
      gradient;  // by the logarithms of the length scales and of the ratio, (V + 1,); empty if not asked
};
Evidence evidence(const InstructionSet& set, const ProcessData& data, bool has_gradient, Monitor& monitor);

// Of the process without noise, at other points; and of each row's noisy value, by all other rows. All are NaN if the
// covariance is not positive definite.
struct Prediction {
  std::vector<double> mean;               // (Q,)
  std::vector<double> variance;           // (Q,)
  std::vector<double> left_out_mean;      // (M,)
  std::vector<double> left_out_variance;  // (M,)
  double noise;                           // variance of the noise of a row whose factor is 1
};
// `points` is (V, Q), column by column.
Prediction prediction(const InstructionSet& set, const ProcessData& data, const double* points, std::size_t count,
                      Monitor& monitor);

}  // namespace symseed
