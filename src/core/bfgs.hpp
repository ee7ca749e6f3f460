// Minimises a smooth function by BFGS (Nocedal & Wright 2006, algorithms 3.5, 3.6 and 6.1).
#pragma once

#include <functional>
#include <vector>

namespace symseed {

// Gives the value at `x`, and writes the gradient there.
using Objective = std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;

// Moves `x` downhill, by at most `iterations` steps that satisfy the strong Wolfe conditions; returns the value there.
// It ends where no component of the gradient exceeds 1e-5, or where no such step is found.
double minimise(const Objective& objective, std::vector<double>& x, int iterations);

}  // namespace symseed
