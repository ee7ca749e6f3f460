#include "bfgs.hpp"

#include <algorithm>
#include <cmath>

namespace symseed {
namespace {

// Constants of SciPy's BFGS, which the authors' released code calls.
constexpr double kFlat = 1e-5;      // largest component of the gradient of a minimum
constexpr double kDecrease = 1e-4;  // share of the predicted decrease that a step must have
constexpr double kCurvature = 0.9;  // share of the slope that may be left after a step
constexpr int kTries = 20;          // most steps that are tried in one direction
constexpr double kMargin = 0.1;     // least distance of a try from the ends of an interval, as a share of it

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// A point on a line from `x` in a direction.
struct Try {
  double step = 0.0;
  double value = 0.0;
  double slope = 0.0;
  std::vector<double> x;
  std::vector<double> gradient;
};

class Line {
 public:
  Line(const Objective& objective, const Try& from, const std::vector<double>& direction)
      : objective_(objective), from_(from), direction_(direction) {}

  // Finds a step with the strong Wolfe conditions; false if there is none among those tried.
  bool search(double first, Try& found) const {
    Try low = from_;
    Try high = at(first);
    for (int i = 0; i < kTries; ++i) {
      if (is_too_high(high) || (i > 0 && high.value >= low.value)) return zoom(low, high, found);
      if (is_flat(high)) return accept(high, found);
      if (high.slope >= 0.0) return zoom(high, low, found);
      low = std::move(high);
      high = at(2.0 * low.step);
    }
    return false;
  }

 private:
  Try at(double step) const {
    Try out{step, 0.0, 0.0, from_.x, from_.gradient};
    for (std::size_t i = 0; i < out.x.size(); ++i) out.x[i] += step * direction_[i];
    out.value = objective_(out.x, out.gradient);
    out.slope = dot(out.gradient, direction_);
    return out;
  }
  // Negated, so that NaN is too high.
  bool is_too_high(const Try& point) const {
    return !(point.value <= from_.value + kDecrease * point.step * from_.slope);
  }
  bool is_flat(const Try& point) const { return std::fabs(point.slope) <= -kCurvature * from_.slope; }
  static bool accept(Try& point, Try& found) {
    found = std::move(point);
    return true;
  }

  // `low` has the least value so far and slopes towards `high`.
  bool zoom(Try low, Try high, Try& found) const {
    for (int i = 0; i < kTries; ++i) {
      const double width = high.step - low.step;
      // The minimum of the parabola through both values and the slope at `low`, well inside the interval.
      double share = -0.5 * low.slope * width / (high.value - low.value - low.slope * width);
      if (!(share > kMargin && share < 1.0 - kMargin)) share = 0.5;
      Try middle = at(low.step + share * width);
      if (is_too_high(middle) || middle.value >= low.value) {
        high = std::move(middle);
        continue;
      }
      if (is_flat(middle)) return accept(middle, found);
      if (middle.slope * width >= 0.0) high = std::move(low);
      low = std::move(middle);
    }
    return false;
  }

  const Objective& objective_;
  const Try& from_;
  const std::vector<double>& direction_;
};

double largest(const std::vector<double>& values) {
  double out = 0.0;
  for (const double value : values) out = std::max(out, std::fabs(value));
  return out;
}

// The estimate of the inverse of the second derivatives, after a step with a change of the gradient.
void update(std::vector<double>& inverse, const std::vector<double>& step, const std::vector<double>& change) {
  const std::size_t k = step.size();
  const double product = dot(step, change);
  if (!(product > 0.0)) return;  // A step with the Wolfe conditions has a positive one, but for rounding.
  std::vector<double> image(k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) image[i] += inverse[i * k + j] * change[j];
  }
  const double factor = (1.0 + dot(change, image) / product) / product;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      inverse[i * k + j] += factor * step[i] * step[j] - (image[i] * step[j] + step[i] * image[j]) / product;
    }
  }
}

}  // namespace

double minimise(const Objective& objective, std::vector<double>& x, int iterations) {
  const std::size_t k = x.size();
  Try now{0.0, 0.0, 0.0, x, std::vector<double>(k)};
  now.value = objective(now.x, now.gradient);
  std::vector<double> inverse(k * k), direction(k), step(k), change(k);
  for (std::size_t i = 0; i < k; ++i) inverse[i * k + i] = 1.0;
  double before = now.value + 0.5 * std::sqrt(dot(now.gradient, now.gradient));
  for (int i = 0; i < iterations && largest(now.gradient) > kFlat; ++i) {
    for (std::size_t row = 0; row < k; ++row) {
      direction[row] = 0.0;
      for (std::size_t j = 0; j < k; ++j) direction[row] -= inverse[row * k + j] * now.gradient[j];
    }
    now.step = 0.0;
    now.slope = dot(now.gradient, direction);
    if (!(now.slope < 0.0)) break;
    const double first = std::min(1.0, 2.02 * (now.value - before) / now.slope);
    Try next;
    if (!Line(objective, now, direction).search(first > 0.0 ? first : 1.0, next)) break;
    for (std::size_t j = 0; j < k; ++j) {
      step[j] = next.x[j] - now.x[j];
      change[j] = next.gradient[j] - now.gradient[j];
    }
    update(inverse, step, change);
    before = now.value;
    now = std::move(next);
  }
  x = now.x;
  return now.value;
}

}  // namespace symseed
