#include "function.hpp"

#include <cmath>

#include "scalar.hpp"

namespace symseed {
namespace {

// Relative step with the smallest error of a central difference: errors of rounding and of curvature are equal.
constexpr double kStep = 6e-6;

}  // namespace

std::optional<std::vector<double>> Function::evaluate(const Kernels& kernels, const double* a, const double* b,
                                                      std::size_t count) const {
  const std::size_t padded = whole_groups(count);
  Lines first(padded, 1.0), second(padded, 1.0), out(padded, 0.0);
  std::copy_n(a, count, first.begin());
  std::copy_n(b, count, second.begin());
  if (!values(kernels, first.data(), second.data(), out.data(), static_cast<int>(padded))) return std::nullopt;
  return std::vector<double>(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
}

void Function::backward(const Kernels& kernels, const double* a, const double* b, const double* value,
                        const double* grad, double* grad_a, double* grad_b, int points) const {
  const std::size_t count = static_cast<std::size_t>(points);
  Lines moved(count), width(count), above(count), below(count);
  for (int argument = 0; argument < arity_; ++argument) {
    const double* from = argument == 0 ? a : b;
    double* out = argument == 0 ? grad_a : grad_b;
    if (out == nullptr) continue;
    const auto evaluate = [&](double sign, Lines& to) {
      for (std::size_t i = 0; i < count; ++i) {
        moved[i] = from[i] + sign * kStep * std::fmax(std::fabs(from[i]), 0.1);
        width[i] = std::fabs(moved[i] - from[i]);  // after rounding
      }
      const double* first = argument == 0 ? moved.data() : a;
      const double* second = argument == 0 ? b : moved.data();
      if (!values(kernels, first, second, to.data(), points)) {
        std::fill(to.begin(), to.end(), kNan);
      }
    };
    evaluate(1.0, above);
    for (std::size_t i = 0; i < count; ++i) above[i] = (above[i] - value[i]) / width[i];
    evaluate(-1.0, below);
    for (std::size_t i = 0; i < count; ++i) {
      below[i] = (value[i] - below[i]) / width[i];
      double slope = 0.5 * above[i] + 0.5 * below[i];
      if (!std::isfinite(slope)) slope = std::isfinite(above[i]) ? above[i] : below[i];
      out[i] = std::isfinite(slope) ? grad[i] * slope : 0.0;
    }
  }
}

bool Expanded::values(const Kernels& kernels, const double* a, const double* b, double* out, int points) const {
  const std::size_t count = static_cast<std::size_t>(points);
  Lines slots(expansion_.size() * count);
  std::vector<const double*> stack;
  bool is_finite = true;  // whether all values so far are finite
  for (std::size_t position = expansion_.size(); position-- > 0;) {
    const int kind = expansion_.kind[position];
    double* to = position == 0 ? out : slots.data() + position * count;
    if (kind == kVariable) {
      stack.push_back(expansion_.variable[position] == 0 ? a : b);
      continue;
    }
    if (kind == kLiteral) {
      std::fill_n(to, count, expansion_.value[position]);
      stack.push_back(to);
      continue;
    }
    const std::size_t arity = expansion_.arity[position];
    const double* x = stack[stack.size() - 1];
    const double* y = stack[stack.size() - arity];
    stack.resize(stack.size() - arity);
    const int bad = kernels.forward[static_cast<std::size_t>(kind)](x, y, to, points);
    is_finite = is_finite && bad < 0;
    // A kernel stops at the first value that is not finite, and the maximum of 0 and NaN may be 0.
    for (std::size_t i = 0; !is_finite && i < count; ++i) {
      if (!std::isfinite(to[i])) to[i] = operator_value(kind, x[i], y[i]);
      if (std::isnan(x[i]) || std::isnan(y[i])) to[i] = kNan;
    }
    stack.push_back(to);
  }
  if (stack[0] != out) std::copy_n(stack[0], count, out);
  return true;
}

}  // namespace symseed
