// The policy: an LSTM that reads a prefix and gives the probability of each next token.
//
// At each position its inputs are the parent and the left sibling of the next token (on request also the token before
// it and the number of open arguments). It adds the priors of the rules, and gives a distribution over the tokens that
// the walker allows. The kernels of the first layer begin at zero, so the first policy is exactly the priors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel.hpp"
#include "recurrent.hpp"
#include "walk.hpp"

namespace symseed {

struct LstmShape {
  int tokens;          // T
  int hidden;          // H, units of each layer
  int layers;          // at least 1
  bool sees_previous;  // the token before, as further inputs
  bool sees_open;      // the number of open arguments, as one more input
};

// A named part of the parameters, (rows, columns).
struct Block {
  std::string name;
  std::size_t offset;
  std::size_t rows;
  std::size_t columns;
};

// The objective of a training step: sum_i weight[i] log p(row i) + sum_i entropy[i] sum_t decay^t H_t(row i), with H_t
// the entropy of the distribution at position t.
struct Objective {
  const double* weight;   // (N,)
  const double* entropy;  // (N,)
  double decay;
};

template <class Real>
class Lstm {
 public:
  Lstm(const LstmShape& shape, std::uint64_t seed);

  const LstmShape& shape() const { return shape_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  std::vector<Real>& parameters() { return parameters_; }
  const std::vector<Real>& parameters() const { return parameters_; }
  // Adam's two moments, and the number of its steps.
  std::vector<Real>& first_moment() { return first_; }
  const std::vector<Real>& first_moment() const { return first_; }
  std::vector<Real>& second_moment() { return second_; }
  const std::vector<Real>& second_moment() const { return second_; }
  std::int64_t& steps() { return steps_; }
  std::int64_t steps() const { return steps_; }

  // Draws rows like `symseed::sample`, with one stream per row. A row with dead ends in `tries` walks has length 0.
  void sample(const RecurrentKernels<Real>& kernels, const Rules& rules, std::size_t count, std::uint64_t seed,
              std::uint64_t step, int tries, int threads, Monitor& monitor, Token* tokens, std::int32_t* lengths) const;

  // log p of each row, -inf if the rules forbid it, and the entropies along it (N, L), 0 after its end.
  void log_probabilities(const RecurrentKernels<Real>& kernels, const Rules& rules, const Rows& rows, Monitor& monitor,
                         double* log_probability, double* entropy) const;

  // The probability of each token at each position of a row, (L, T): 0 from the position on where the rules forbid it.
  void distributions(const RecurrentKernels<Real>& kernels, const Rules& rules, Row row, Monitor& monitor,
                     double* probability) const;

  // The objective's gradient by the parameters. Rows that the rules forbid have weight 0.
  std::vector<Real> gradient(const RecurrentKernels<Real>& kernels, const Rules& rules, const Rows& rows,
                             const Objective& objective, Monitor& monitor) const;

  // One step of Adam up a gradient.
  void ascend(const RecurrentKernels<Real>& kernels, const std::vector<Real>& gradient, double learning_rate);

 private:
  class Runner;
  const Real* part(std::size_t block) const { return parameters_.data() + blocks_[block].offset; }

  LstmShape shape_;
  int units_;                  // H rounded up to whole vectors; additional units stay zero
  int outputs_;                // T rounded up to whole vectors
  int inputs_;                 // inputs of the first layer
  std::vector<Block> blocks_;  // each layer's input kernel, recurrent kernel, bias; then output kernel and bias
  std::vector<Real> parameters_;
  std::vector<Real> first_;
  std::vector<Real> second_;
  std::int64_t steps_ = 0;
};

}  // namespace symseed
