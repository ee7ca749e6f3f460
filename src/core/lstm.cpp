#include "lstm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "elementary.hpp"

namespace symseed {
namespace {

// Most prefixes remembered at a time (and always those of one row): as many as fit into a core's cache.
constexpr std::size_t kMostPrefixes = 4096;

int in_whole_vectors(int count) { return (count + kWidth - 1) / kWidth * kWidth; }

}  // namespace

template <class Real>
Lstm<Real>::Lstm(const LstmShape& shape, std::uint64_t seed)
    : shape_(shape), units_(in_whole_vectors(shape.hidden)), outputs_(in_whole_vectors(shape.tokens)) {
  // One input per token, and one for "none", for each token that is seen.
  inputs_ = (shape.tokens + 1) * (shape.sees_previous ? 3 : 2) + (shape.sees_open ? 1 : 0);
  std::size_t size = 0;
  const auto add = [&](std::string name, int rows, int columns) {
    blocks_.push_back({std::move(name), size, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)});
    size += blocks_.back().rows * blocks_.back().columns;
  };
  for (int layer = 0; layer < shape.layers; ++layer) {
    const std::string prefix = "layer" + std::to_string(layer) + ".";
    add(prefix + "input", layer == 0 ? inputs_ : units_, 4 * units_);
    add(prefix + "recurrent", units_, 4 * units_);
    add(prefix + "bias", 1, 4 * units_);
  }
  add("output", units_, outputs_);
  add("output.bias", 1, outputs_);
  parameters_.resize(size);
  first_.resize(size);
  second_.resize(size);
  // Glorot and Bengio's uniform distribution for the output layer and between layers: with zeros there, no gradient
  // would reach the layers below. The kernels of the first layer are zero, so the network has no effect at first.
  Rng rng(seed, 0, 0);
  const auto draw = [&](const Block& block, int columns_per_unit, int real_columns, int inputs, int outputs) {
    const double bound = std::sqrt(6.0 / (inputs + outputs));
    Real* weights = parameters_.data() + block.offset;
    for (std::size_t row = 0; row < static_cast<std::size_t>(shape.hidden); ++row) {
      for (std::size_t column = 0; column < block.columns; ++column) {
        // Only real units and tokens get weights.
        if (static_cast<int>(column) % columns_per_unit >= real_columns) continue;
        weights[row * block.columns + column] = static_cast<Real>((2.0 * rng.uniform() - 1.0) * bound);
      }
    }
  };
  draw(blocks_[blocks_.size() - 2], outputs_, shape.tokens, shape.hidden, shape.tokens);
  for (std::size_t layer = 1; layer < static_cast<std::size_t>(shape.layers); ++layer) {
    draw(blocks_[layer * 3], units_, shape.hidden, shape.hidden, 4 * shape.hidden);
  }
}

// Rows passing through the network; one runner per thread. Many rows have a common beginning, most of them once a
// policy has converged: prefixes are the nodes of a tree, and the network runs once for each. In training, a node also
// stores what the backward pass needs, and the objective of the rows through it, so the backward pass visits it once.
template <class Real>
class Lstm<Real>::Runner {
 public:
  Runner(const Lstm& lstm, const RecurrentKernels<Real>& kernels, const Rules& rules, bool keeps)
      : lstm_(lstm),
        kernels_(kernels),
        walker_(rules),
        keeps_(keeps),
        longest_(static_cast<std::size_t>(rules.max_length())),
        kinds_(static_cast<std::size_t>(lstm.shape_.tokens) + 1),
        units_(static_cast<std::size_t>(lstm.units_)),
        outputs_(static_cast<std::size_t>(lstm.outputs_)),
        layers_(static_cast<std::size_t>(lstm.shape_.layers)),
        prior_(rules.vocabulary().size()) {
    if (keeps) transpose();
    grow(longest_ + 2);
    clear();
    reset();
  }

  Walker& walker() { return walker_; }
  // Whether another row fits without dropping earlier ones.
  bool has_room() const { return used_ + longest_ < kMostPrefixes; }
  void reset() {
    if (!has_room()) clear();
    walker_.reset();
    previous_ = static_cast<Token>(kinds_ - 1);
    node_ = 0;
  }

  // Runs the network at the walker's position; gives unnormalised probabilities, 0 for tokens that are not allowed, and
  // stores their sum. False if nothing is allowed.
  bool look() {
    const std::size_t known = children_[node_ * kinds_ + previous_];
    node_ = known != 0 ? known : compute();
    return total() > 0;
  }

  void take(Token token) {
    previous_ = token;
    walker_.push(token);
  }

  const Real* weights() const { return weights_.data() + node_ * outputs_; }
  const Real* relative() const { return relative_.data() + node_ * outputs_; }
  Real total() const { return totals_[node_]; }
  // Logarithm of the normalised probability, even if the probability itself underflows.
  double log_probability(Token token) const {
    return static_cast<double>(relative()[token]) - elementary::log(static_cast<double>(total()));
  }
  double entropy() const {
    // H = -sum p log p, with p = w / total; log w is known.
    double sum = 0.0;
    for (std::size_t t = 0; t < outputs_; ++t) {
      const double w = static_cast<double>(weights()[t]);
      if (w > 0.0) sum += w * static_cast<double>(relative()[t]);
    }
    const double total_weight = static_cast<double>(total());
    return elementary::log(total_weight) - sum / total_weight;
  }

  // Adds weight * log p(token) + entropy * H at the position where the network ran last.
  void add_objective(Token token, double weight, double entropy) {
    log_weights_[node_ * outputs_ + token] += weight;
    log_totals_[node_] += weight;
    entropies_[node_] += entropy;
  }

  // Adds the objective's gradient, and drops the rows.
  void go_back(std::vector<Real>& out) {
    grad_logits_.resize(outputs_);
    grad_z_.resize(4 * units_);
    grad_last_.resize(units_);
    grad_below_.resize(units_);
    grad_hidden_.assign(used_ * layers_ * units_, Real{0});
    grad_cell_.assign(used_ * layers_ * units_, Real{0});
    const std::size_t last_blocks = layers_ * 3;
    Real* output = out.data() + lstm_.blocks_[last_blocks].offset;
    Real* output_bias = out.data() + lstm_.blocks_[last_blocks + 1].offset;
    // Nodes after a prefix were made later.
    for (std::size_t at = used_; at-- > 1;) {
      const std::size_t last = parents_[at];
      node_ = at;
      logits_gradient();
      const Real* top = state(hidden_, at, layers_ - 1);
      kernels_.add_outer(output, top, grad_logits_.data(), width(), static_cast<int>(outputs_));
      kernels_.add(output_bias, grad_logits_.data(), static_cast<int>(outputs_));
      kernels_.product(grad_below_.data(), grad_logits_.data(), transposed_part(last_blocks),
                       static_cast<int>(outputs_), width());
      for (std::size_t layer = layers_; layer-- > 0;) {
        Real* grad_hidden = state(grad_hidden_, at, layer);
        Real* grad_cell = state(grad_cell_, at, layer);
        kernels_.add(grad_hidden, grad_below_.data(), width());
        kernels_.cell_backward(gates(at, layer), state(cells_, last, layer), state(tanh_cells_, at, layer), grad_hidden,
                               grad_cell, grad_z_.data(), width());
        kernels_.add(state(grad_cell_, last, layer), grad_cell, width());
        Real* input = out.data() + lstm_.blocks_[layer * 3].offset;
        Real* recurrent = out.data() + lstm_.blocks_[layer * 3 + 1].offset;
        kernels_.add(out.data() + lstm_.blocks_[layer * 3 + 2].offset, grad_z_.data(), 4 * width());
        kernels_.add_outer(recurrent, state(hidden_, last, layer), grad_z_.data(), width(), 4 * width());
        kernels_.product(grad_last_.data(), grad_z_.data(), transposed_part(layer * 3 + 1), 4 * width(), width());
        kernels_.add(state(grad_hidden_, last, layer), grad_last_.data(), width());
        if (layer > 0) {
          kernels_.add_outer(input, state(hidden_, at, layer - 1), grad_z_.data(), width(), 4 * width());
          kernels_.product(grad_below_.data(), grad_z_.data(), transposed_part(layer * 3), 4 * width(), width());
        } else {
          add_input_gradient(input, seen_[at]);
        }
      }
    }
    clear();
  }

 private:
  // Inputs of the network at one position: tokens, T for "none".
  struct Seen {
    std::size_t parent;
    std::size_t sibling;
    std::size_t previous;
    Real open;
  };

  // Drops all prefixes. Node 0 is the one before the first run of the network.
  void clear() {
    used_ = 0;
    add_node(0);
    std::fill_n(state(cells_, 0, 0), layers_ * units_, Real{0});
    std::fill_n(state(hidden_, 0, 0), layers_ * units_, Real{0});
  }

  std::size_t add_node(std::size_t parent) {
    if (used_ == parents_.size()) grow(2 * used_);
    const std::size_t node = used_++;
    parents_[node] = static_cast<std::uint32_t>(parent);
    std::fill_n(children_.begin() + static_cast<std::ptrdiff_t>(node * kinds_), kinds_, 0u);
    if (keeps_) {
      std::fill_n(log_weights_.begin() + static_cast<std::ptrdiff_t>(node * outputs_), outputs_, 0.0);
      log_totals_[node] = entropies_[node] = 0.0;
    }
    return node;
  }

  void grow(std::size_t nodes) {
    parents_.resize(nodes);
    children_.resize(nodes * kinds_);
    cells_.resize(nodes * layers_ * units_);
    hidden_.resize(nodes * layers_ * units_);
    weights_.resize(nodes * outputs_);
    relative_.resize(nodes * outputs_);
    totals_.resize(nodes);
    const std::size_t kept = keeps_ ? nodes : 1;
    gates_.resize(kept * layers_ * 4 * units_);
    tanh_cells_.resize(kept * layers_ * units_);
    seen_.resize(kept);
    if (!keeps_) return;
    log_weights_.resize(nodes * outputs_);
    log_totals_.resize(nodes);
    entropies_.resize(nodes);
  }

  // Runs the network at a new prefix, and returns its node.
  std::size_t compute() {
    const std::size_t from = node_;
    const std::size_t to = add_node(from);
    const std::size_t kept = keeps_ ? to : 0;
    children_[from * kinds_ + previous_] = static_cast<std::uint32_t>(to);
    see(seen_[kept]);
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      Real* z = gates(kept, layer);
      std::copy_n(lstm_.part(layer * 3 + 2), 4 * units_, z);
      if (layer == 0) {
        add_inputs(z, seen_[kept]);
      } else {
        kernels_.add_product(z, state(hidden_, to, layer - 1), lstm_.part(layer * 3), width(), 4 * width());
      }
      kernels_.add_product(z, state(hidden_, from, layer), lstm_.part(layer * 3 + 1), width(), 4 * width());
      kernels_.cell(z, state(cells_, from, layer), state(cells_, to, layer), state(tanh_cells_, kept, layer),
                    state(hidden_, to, layer), width());
    }
    totals_[to] = weigh(to);
    return to;
  }

  void transpose() {
    transposed_.resize(lstm_.parameters_.size());
    for (std::size_t i = 0; i < lstm_.blocks_.size(); ++i) {
      const Block& block = lstm_.blocks_[i];
      if (i == 0 || block.rows == 1) continue;  // tokens and biases pass no gradient on
      Real* to = transposed_.data() + block.offset;
      for (std::size_t row = 0; row < block.rows; ++row) {
        for (std::size_t column = 0; column < block.columns; ++column) {
          to[column * block.rows + row] = lstm_.part(i)[row * block.columns + column];
        }
      }
    }
  }
  const Real* transposed_part(std::size_t block) const { return transposed_.data() + lstm_.blocks_[block].offset; }

  int width() const { return static_cast<int>(units_); }
  Real* gates(std::size_t node, std::size_t layer) { return gates_.data() + (node * layers_ + layer) * 4 * units_; }
  Real* state(std::vector<Real>& of, std::size_t node, std::size_t layer) {
    return of.data() + (node * layers_ + layer) * units_;
  }

  void see(Seen& seen) const {
    const std::size_t none = static_cast<std::size_t>(lstm_.shape_.tokens);
    const int parent = walker_.parent();
    const int sibling = walker_.sibling();
    seen = {parent < 0 ? none : static_cast<std::size_t>(parent),
            sibling < 0 ? none : static_cast<std::size_t>(sibling), previous_, static_cast<Real>(walker_.open())};
  }

  // Calls visit(row of the input kernel, value of that input) for the inputs that are not 0.
  template <class Visit>
  void for_each_input(const Seen& seen, Visit visit) const {
    const std::size_t kinds = static_cast<std::size_t>(lstm_.shape_.tokens) + 1;
    visit(seen.parent, Real{1});
    visit(kinds + seen.sibling, Real{1});
    if (lstm_.shape_.sees_previous) visit(2 * kinds + seen.previous, Real{1});
    if (lstm_.shape_.sees_open) visit(static_cast<std::size_t>(lstm_.inputs_) - 1, seen.open);
  }
  void add_inputs(Real* z, const Seen& seen) const {
    for_each_input(seen, [&](std::size_t row, Real value) {
      kernels_.add_product(z, &value, lstm_.part(0) + row * 4 * units_, 1, 4 * width());
    });
  }
  void add_input_gradient(Real* input, const Seen& seen) const {
    for_each_input(seen, [&](std::size_t row, Real value) {
      kernels_.add_outer(input + row * 4 * units_, &value, grad_z_.data(), 1, 4 * width());
    });
  }

  // Fills the weights of a node and returns their sum, 0 if nothing is allowed.
  Real weigh(std::size_t node) {
    Real* weights = weights_.data() + node * outputs_;
    std::copy_n(lstm_.part(layers_ * 3 + 1), outputs_, weights);
    kernels_.add_product(weights, state(hidden_, node, layers_ - 1), lstm_.part(layers_ * 3), width(),
                         static_cast<int>(outputs_));
    walker_.logits(prior_.data());
    Real largest = -std::numeric_limits<Real>::infinity();
    for (std::size_t t = 0; t < prior_.size(); ++t) {
      weights[t] += static_cast<Real>(prior_[t]);
      largest = std::max(largest, weights[t]);
    }
    if (std::isinf(largest)) return 0;
    for (std::size_t t = 0; t < prior_.size(); ++t) weights[t] -= largest;
    std::fill(weights + prior_.size(), weights + outputs_, -std::numeric_limits<Real>::infinity());
    std::copy_n(weights, outputs_, relative_.data() + node * outputs_);
    kernels_.exponential(weights, static_cast<int>(outputs_));
    Real total = 0;
    for (std::size_t t = 0; t < prior_.size(); ++t) total += weights[t];
    return total;
  }

  // Gradient of the sum of weight * log p(token) + entropy * H: d log p(token) = one(token) - p; d H = -p (log p + H).
  void logits_gradient() {
    const double total_weight = static_cast<double>(total());
    const double log_total = elementary::log(total_weight);
    const double entropy = entropies_[node_];
    const double here = entropy != 0.0 ? this->entropy() : 0.0;
    for (std::size_t t = 0; t < outputs_; ++t) {
      const double p = static_cast<double>(weights()[t]) / total_weight;
      const double taken = log_weights_[node_ * outputs_ + t];
      double gradient = taken * (1.0 - p) - (log_totals_[node_] - taken) * p;
      if (entropy != 0.0 && p > 0.0) gradient -= entropy * p * (static_cast<double>(relative()[t]) - log_total + here);
      grad_logits_[t] = static_cast<Real>(gradient);
    }
  }

  const Lstm& lstm_;
  const RecurrentKernels<Real>& kernels_;
  Walker walker_;
  bool keeps_;
  std::size_t longest_;  // length of a row
  std::size_t kinds_;    // number of last tokens: T, and none
  std::size_t units_, outputs_, layers_;
  std::size_t node_ = 0;  // at which the network ran last
  Token previous_ = 0;    // the token added since then
  std::vector<double> prior_;
  std::size_t used_ = 0;  // number of nodes
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> children_;            // (nodes, kinds); 0: not seen yet
  std::vector<Real> cells_, hidden_;               // (nodes, layers, units)
  std::vector<Real> relative_, weights_, totals_;  // (nodes, outputs): logits less the largest, exp; (nodes,)
  // In training one for each node, otherwise only the newest.
  std::vector<Real> gates_, tanh_cells_;
  std::vector<Seen> seen_;
  // In training only.
  std::vector<double> log_weights_, log_totals_, entropies_;  // (nodes, outputs); (nodes,)
  std::vector<Real> transposed_;                              // the kernels of the backward pass
  std::vector<Real> grad_hidden_, grad_cell_;                 // (nodes, layers, units)
  std::vector<Real> grad_logits_, grad_z_, grad_last_, grad_below_;
};

template <class Real>
void Lstm<Real>::sample(const RecurrentKernels<Real>& kernels, const Rules& rules, std::size_t count,
                        std::uint64_t seed, std::uint64_t step, int tries, int threads, Monitor& monitor, Token* tokens,
                        std::int32_t* lengths) const {
  const std::size_t stride = static_cast<std::size_t>(rules.max_length());
  parallel_chunks(count, 16, threads, monitor, [&] {
    return [&, runner = Runner(*this, kernels, rules, false)](std::size_t begin, std::size_t end) mutable {
      monitor.check();
      for (std::size_t i = begin; i < end; ++i) {
        Rng rng(seed, step, i);
        lengths[i] = symseed::sample(runner, rng, tries, tokens + i * stride);
      }
    };
  });
}

template <class Real>
void Lstm<Real>::log_probabilities(const RecurrentKernels<Real>& kernels, const Rules& rules, const Rows& rows,
                                   Monitor& monitor, double* log_probability, double* entropy) const {
  Runner runner(*this, kernels, rules, false);
  Walker legal(rules);
  std::fill(entropy, entropy + rows.count * rows.stride, 0.0);
  for (std::size_t i = 0; i < rows.count; ++i) {
    monitor.check();
    const Row row = rows[i];
    log_probability[i] = 0.0;
    if (first_violation(legal, row.tokens, row.length) != -1) {
      log_probability[i] = -std::numeric_limits<double>::infinity();
      continue;
    }
    runner.reset();
    for (int position = 0; position < row.length; ++position) {
      runner.look();
      log_probability[i] += runner.log_probability(row.tokens[position]);
      entropy[i * rows.stride + static_cast<std::size_t>(position)] = runner.entropy();
      runner.take(row.tokens[position]);
    }
  }
}

template <class Real>
void Lstm<Real>::distributions(const RecurrentKernels<Real>& kernels, const Rules& rules, Row row, Monitor& monitor,
                               double* probability) const {
  Runner runner(*this, kernels, rules, false);
  const auto tokens = static_cast<std::size_t>(shape_.tokens);
  const int longest = std::min(row.length, rules.max_length());
  std::fill(probability, probability + static_cast<std::size_t>(row.length) * tokens, 0.0);
  runner.reset();
  for (int position = 0; position < longest; ++position) {
    monitor.check();
    if (!runner.look()) return;
    const double total = static_cast<double>(runner.total());
    double* here = probability + static_cast<std::size_t>(position) * tokens;
    for (std::size_t t = 0; t < tokens; ++t) here[t] = static_cast<double>(runner.weights()[t]) / total;
    const Token next = row.tokens[position];
    if (here[next] == 0.0) return;
    runner.take(next);
  }
}

template <class Real>
std::vector<Real> Lstm<Real>::gradient(const RecurrentKernels<Real>& kernels, const Rules& rules, const Rows& rows,
                                       const Objective& objective, Monitor& monitor) const {
  std::vector<Real> out(parameters_.size());
  Runner runner(*this, kernels, rules, true);
  Walker legal(rules);
  for (std::size_t i = 0; i < rows.count; ++i) {
    monitor.check();
    const Row row = rows[i];
    if (objective.weight[i] == 0.0 && objective.entropy[i] == 0.0) continue;
    if (first_violation(legal, row.tokens, row.length) != -1) continue;
    if (!runner.has_room()) runner.go_back(out);
    runner.reset();
    double decay = 1.0;
    for (int position = 0; position < row.length; ++position) {
      runner.look();
      runner.add_objective(row.tokens[position], objective.weight[i], objective.entropy[i] * decay);
      runner.take(row.tokens[position]);
      decay *= objective.decay;
    }
  }
  runner.go_back(out);
  return out;
}

template <class Real>
void Lstm<Real>::ascend(const RecurrentKernels<Real>& kernels, const std::vector<Real>& gradient,
                        double learning_rate) {
  constexpr double kFirst = 0.9;
  constexpr double kSecond = 0.999;
  ++steps_;
  const double steps = static_cast<double>(steps_);
  const double rate =
      learning_rate * std::sqrt(1.0 - elementary::pow(kSecond, steps)) / (1.0 - elementary::pow(kFirst, steps));
  kernels.adam(
      parameters_.data(), first_.data(), second_.data(), gradient.data(), parameters_.size(),
      {static_cast<Real>(rate), static_cast<Real>(kFirst), static_cast<Real>(kSecond), static_cast<Real>(1e-8)});
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace symseed
