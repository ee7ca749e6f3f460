// Users' operators: their values, from an expansion or from outside, and their derivatives, by differences.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "rows.hpp"

namespace symseed {

class Function {
 public:
  explicit Function(int arity) : arity_(arity) {}
  virtual ~Function() = default;

  int arity() const { return arity_; }
  // The function in terms of the core's operators, or null if only its values are known.
  virtual const Vocabulary* expansion() const { return nullptr; }
  // out = function(a, b) at every point, finite or not; b is ignored by functions of one argument. False if it cannot
  // be computed.
  virtual bool values(const Kernels& kernels, const double* a, const double* b, double* out, int points) const = 0;
  // The values at any number of points, or nothing if they cannot be computed.
  std::optional<std::vector<double>> evaluate(const Kernels& kernels, const double* a, const double* b,
                                              std::size_t count) const;
  // As `Kernels::Backward`, by central differences, or one-sided ones if one side has no value; null for a derivative
  // that is not needed.
  void backward(const Kernels& kernels, const double* a, const double* b, const double* value, const double* grad,
                double* grad_a, double* grad_b, int points) const;

 private:
  int arity_;
};

// A function that is an expression over the core's operators: `expansion` holds its tokens in prefix order; its
// variables are the arguments. Values are those of IEEE arithmetic: an infinite intermediate value may give a finite
// value.
class Expanded : public Function {
 public:
  Expanded(int arity, Vocabulary expansion) : Function(arity), expansion_(std::move(expansion)) {}
  const Vocabulary* expansion() const override { return &expansion_; }
  bool values(const Kernels& kernels, const double* a, const double* b, double* out, int points) const override;

 private:
  Vocabulary expansion_;
};

}  // namespace symseed
