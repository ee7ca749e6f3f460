// Operators of the user's own: their values, from an expansion or from outside, and their slopes, by differences.
#pragma once

#include <memory>

#include "rows.hpp"

namespace symseed {

class Function {
 public:
  explicit Function(int arity) : arity_(arity) {}
  virtual ~Function() = default;

  int arity() const { return arity_; }
  // The function over the core's operators, or null where only its values are known.
  virtual const Vocabulary* expansion() const { return nullptr; }
  // out = function(a, b) at every point, finite or not; b is ignored by functions of one argument. False where it could
  // not be computed.
  virtual bool values(const Kernels& kernels, const double* a, const double* b, double* out, int points) const = 0;
  // As `Kernels::Backward`, by central differences, or one-sided ones where one side has no value; null for what is not
  // wanted.
  void backward(const Kernels& kernels, const double* a, const double* b, const double* value, const double* grad,
                double* grad_a, double* grad_b, int points) const;

 private:
  int arity_;
};

// A function that is an expression over the core's operators: `expansion` holds its tokens in prefix order, where
// variables are the arguments. Values are what plain arithmetic gives: an infinite value on the way may come to
// nothing.
class Expanded : public Function {
 public:
  Expanded(int arity, Vocabulary expansion) : Function(arity), expansion_(std::move(expansion)) {}
  const Vocabulary* expansion() const override { return &expansion_; }
  bool values(const Kernels& kernels, const double* a, const double* b, double* out, int points) const override;

 private:
  Vocabulary expansion_;
};

}  // namespace symseed
