#include "lstm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symseed {
namespace {

// Libraries of more tokens than this do not remember how rows begin: pairs of tokens would be too many.
constexpr std::size_t kFewTokens = 32;

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
  // Glorot and Bengio's uniform distribution, for the output layer and between layers: with zeros there, no gradient
  // would ever reach the layers below. The first layer's kernels are zero, so nothing comes through at first.
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

// One prefix on its way through the network; one per thread. In training it keeps what the way back needs.
template <class Real>
class Lstm<Real>::Runner {
 public:
  Runner(const Lstm& lstm, const RecurrentKernels<Real>& kernels, const Rules& rules, bool keeps)
      : lstm_(lstm),
        kernels_(kernels),
        walker_(rules),
        keeps_(keeps),
        units_(static_cast<std::size_t>(lstm.units_)),
        outputs_(static_cast<std::size_t>(lstm.outputs_)),
        layers_(static_cast<std::size_t>(lstm.shape_.layers)),
        prior_(rules.vocabulary().size()) {
    const std::size_t positions = keeps ? static_cast<std::size_t>(rules.max_length()) + 1 : 2;
    gates_.resize(positions * layers_ * 4 * units_);
    cells_.resize(positions * layers_ * units_);
    tanh_cells_.resize(positions * layers_ * units_);
    hidden_.resize(positions * layers_ * units_);
    weights_.resize(positions * outputs_);
    relative_.resize(positions * outputs_);
    totals_.resize(positions);
    seen_.resize(positions);
    if (keeps) transpose();
    reset();
  }

  Walker& walker() { return walker_; }
  void reset() {
    walker_.reset();
    // Position 0 of the states is "before the first token".
    std::fill_n(cells_.begin(), layers_ * units_, Real{0});
    std::fill_n(hidden_.begin(), layers_ * units_, Real{0});
    previous_ = static_cast<Token>(lstm_.shape_.tokens);
    slot_ = 0;
  }

  // Runs the network at the walker's position; gives unnormalised probabilities, 0 where a token is not allowed, and
  // keeps their sum. False where nothing is allowed.
  bool look() {
    // Many rows begin alike: what follows the same few tokens is computed once.
    Beginning* beginning = keeps_ ? nullptr : find_beginning();
    if (beginning == nullptr) return compute();
    if (!beginning->is_known) {
      beginning->is_allowed = compute();
      beginning->is_known = true;
      beginning->hidden.assign(state(hidden_, slot_, 0), state(hidden_, slot_, 0) + layers_ * units_);
      beginning->cells.assign(state(cells_, slot_, 0), state(cells_, slot_, 0) + layers_ * units_);
      beginning->weights.assign(weights(), weights() + outputs_);
      beginning->total = total();
      return beginning->is_allowed;
    }
    slot_ = 1 - slot_;
    std::copy(beginning->hidden.begin(), beginning->hidden.end(), state(hidden_, slot_, 0));
    std::copy(beginning->cells.begin(), beginning->cells.end(), state(cells_, slot_, 0));
    std::copy(beginning->weights.begin(), beginning->weights.end(),
              weights_.begin() + static_cast<std::ptrdiff_t>(slot_ * outputs_));
    totals_[slot_] = beginning->total;
    return beginning->is_allowed;
  }

  // The same, always from the network; afterwards `log_probability` can be asked for.
  bool compute() {
    const std::size_t from = slot_;
    const std::size_t to = keeps_ ? slot_ + 1 : 1 - slot_;
    see();
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      Real* z = gates(to, layer);
      std::copy_n(lstm_.part(layer * 3 + 2), 4 * units_, z);
      if (layer == 0) {
        add_inputs(z);
      } else {
        kernels_.add_product(z, state(hidden_, to, layer - 1), lstm_.part(layer * 3), width(), 4 * width());
      }
      kernels_.add_product(z, state(hidden_, from, layer), lstm_.part(layer * 3 + 1), width(), 4 * width());
      kernels_.cell(z, state(cells_, from, layer), state(cells_, to, layer), state(tanh_cells_, to, layer),
                    state(hidden_, to, layer), width());
    }
    slot_ = to;
    return weigh();
  }

  void take(Token token) {
    before_ = previous_;
    previous_ = token;
    walker_.push(token);
  }

  const Real* weights() const { return weights_.data() + slot_ * outputs_; }
  const Real* relative() const { return relative_.data() + slot_ * outputs_; }
  Real total() const { return totals_[slot_]; }
  // log of the normalised probability, also where the probability itself is too small to be a number.
  double log_probability(Token token) const {
    return static_cast<double>(relative()[token]) - std::log(static_cast<double>(total()));
  }
  double entropy() const {
    // H = -sum p log p, with p = w / total; log w is known.
    double sum = 0.0;
    for (std::size_t t = 0; t < outputs_; ++t) {
      const double w = static_cast<double>(weights()[t]);
      if (w > 0.0) sum += w * static_cast<double>(relative()[t]);
    }
    const double total_weight = static_cast<double>(total());
    return std::log(total_weight) - sum / total_weight;
  }

  // Adds the gradient of weight * log p(row) + entropy * sum_t decay^t H_t for the row just walked along.
  void go_back(const Token* tokens, int length, double weight, double entropy, double decay, std::vector<Real>& out) {
    grad_logits_.resize(outputs_);
    powers_.resize(static_cast<std::size_t>(length), 1.0);
    for (std::size_t t = 1; t < powers_.size(); ++t) powers_[t] = powers_[t - 1] * decay;
    grad_z_.resize(4 * units_);
    grad_hidden_.assign(layers_ * units_, Real{0});
    grad_cell_.assign(layers_ * units_, Real{0});
    grad_below_.assign(units_, Real{0});
    const std::size_t last_blocks = layers_ * 3;
    Real* output = out.data() + lstm_.blocks_[last_blocks].offset;
    Real* output_bias = out.data() + lstm_.blocks_[last_blocks + 1].offset;
    for (int position = length; position-- > 0;) {
      const std::size_t at = static_cast<std::size_t>(position) + 1;
      slot_ = at;
      logits_gradient(tokens[position], weight, entropy * powers_[at - 1]);
      const Real* top = state(hidden_, at, layers_ - 1);
      kernels_.add_outer(output, top, grad_logits_.data(), width(), static_cast<int>(outputs_));
      kernels_.add(output_bias, grad_logits_.data(), static_cast<int>(outputs_));
      kernels_.product(grad_below_.data(), grad_logits_.data(), transposed_part(last_blocks),
                       static_cast<int>(outputs_), width());
      for (std::size_t layer = layers_; layer-- > 0;) {
        Real* grad_hidden = grad_hidden_.data() + layer * units_;
        kernels_.add(grad_hidden, grad_below_.data(), width());
        kernels_.cell_backward(gates(at, layer), state(cells_, at - 1, layer), state(tanh_cells_, at, layer),
                               grad_hidden, grad_cell_.data() + layer * units_, grad_z_.data(), width());
        Real* input = out.data() + lstm_.blocks_[layer * 3].offset;
        Real* recurrent = out.data() + lstm_.blocks_[layer * 3 + 1].offset;
        kernels_.add(out.data() + lstm_.blocks_[layer * 3 + 2].offset, grad_z_.data(), 4 * width());
        kernels_.add_outer(recurrent, state(hidden_, at - 1, layer), grad_z_.data(), width(), 4 * width());
        kernels_.product(grad_hidden, grad_z_.data(), transposed_part(layer * 3 + 1), 4 * width(), width());
        if (layer > 0) {
          kernels_.add_outer(input, state(hidden_, at, layer - 1), grad_z_.data(), width(), 4 * width());
          kernels_.product(grad_below_.data(), grad_z_.data(), transposed_part(layer * 3), 4 * width(), width());
        } else {
          add_input_gradient(input, seen_[at]);
        }
      }
    }
  }

 private:
  // What the network sees at one position: tokens, T where there is none.
  struct Seen {
    std::size_t parent;
    std::size_t sibling;
    std::size_t previous;
    Real open;
  };

  // The state and distribution after one of the shortest prefixes.
  struct Beginning {
    bool is_known = false;
    bool is_allowed = false;
    std::vector<Real> hidden, cells, weights;
    Real total = 0;
  };

  // The place of the walker's prefix among those of up to two tokens, or none.
  Beginning* find_beginning() {
    const std::size_t tokens = static_cast<std::size_t>(lstm_.shape_.tokens);
    if (walker_.length() > 2 || tokens > kFewTokens) return nullptr;
    if (beginnings_.empty()) beginnings_.resize(1 + tokens + tokens * tokens);
    if (walker_.length() == 0) return &beginnings_[0];
    if (walker_.length() == 1) return &beginnings_[1 + previous_];
    return &beginnings_[1 + tokens + before_ * tokens + previous_];
  }

  void transpose() {
    transposed_.resize(lstm_.parameters_.size());
    for (std::size_t i = 0; i < lstm_.blocks_.size(); ++i) {
      const Block& block = lstm_.blocks_[i];
      if (i == 0 || block.rows == 1) continue;  // no gradient of tokens, or by a bias
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
  Real* gates(std::size_t slot, std::size_t layer) { return gates_.data() + (slot * layers_ + layer) * 4 * units_; }
  Real* state(std::vector<Real>& of, std::size_t slot, std::size_t layer) {
    return of.data() + (slot * layers_ + layer) * units_;
  }

  void see() {
    const std::size_t none = static_cast<std::size_t>(lstm_.shape_.tokens);
    const int parent = walker_.parent();
    const int sibling = walker_.sibling();
    now_ = {parent < 0 ? none : static_cast<std::size_t>(parent),
            sibling < 0 ? none : static_cast<std::size_t>(sibling), previous_, static_cast<Real>(walker_.open())};
    if (keeps_) seen_[slot_ + 1] = now_;
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
  void add_inputs(Real* z) const {
    for_each_input(now_, [&](std::size_t row, Real value) {
      kernels_.add_product(z, &value, lstm_.part(0) + row * 4 * units_, 1, 4 * width());
    });
  }
  void add_input_gradient(Real* input, const Seen& seen) const {
    for_each_input(seen, [&](std::size_t row, Real value) {
      kernels_.add_outer(input + row * 4 * units_, &value, grad_z_.data(), 1, 4 * width());
    });
  }

  bool weigh() {
    Real* weights = weights_.data() + slot_ * outputs_;
    std::copy_n(lstm_.part(layers_ * 3 + 1), outputs_, weights);
    kernels_.add_product(weights, state(hidden_, slot_, layers_ - 1), lstm_.part(layers_ * 3), width(),
                         static_cast<int>(outputs_));
    walker_.logits(prior_.data());
    Real largest = -std::numeric_limits<Real>::infinity();
    for (std::size_t t = 0; t < prior_.size(); ++t) {
      weights[t] += static_cast<Real>(prior_[t]);
      largest = std::max(largest, weights[t]);
    }
    if (std::isinf(largest)) return false;
    for (std::size_t t = 0; t < prior_.size(); ++t) weights[t] -= largest;
    std::fill(weights + prior_.size(), weights + outputs_, -std::numeric_limits<Real>::infinity());
    std::copy_n(weights, outputs_, relative_.data() + slot_ * outputs_);
    kernels_.exponential(weights, static_cast<int>(outputs_));
    Real total = 0;
    for (std::size_t t = 0; t < prior_.size(); ++t) total += weights[t];
    totals_[slot_] = total;
    return true;
  }

  // d log p(token) = one(token) - p; d H = -p (log p + H).
  void logits_gradient(Token token, double weight, double entropy) {
    const double total_weight = static_cast<double>(total());
    const double log_total = std::log(total_weight);
    const double here = entropy != 0.0 ? this->entropy() : 0.0;
    for (std::size_t t = 0; t < outputs_; ++t) {
      const double p = static_cast<double>(weights()[t]) / total_weight;
      double gradient = weight * ((t == token ? 1.0 : 0.0) - p);
      if (entropy != 0.0 && p > 0.0) gradient -= entropy * p * (static_cast<double>(relative()[t]) - log_total + here);
      grad_logits_[t] = static_cast<Real>(gradient);
    }
  }

  const Lstm& lstm_;
  const RecurrentKernels<Real>& kernels_;
  Walker walker_;
  bool keeps_;
  std::size_t units_, outputs_, layers_;
  std::size_t slot_ = 0;  // which of the states is the newest
  Token previous_ = 0;    // the newest token, and the one before it
  Token before_ = 0;
  std::vector<Beginning> beginnings_;
  Seen now_{};
  std::vector<double> prior_;
  std::vector<Real> gates_, cells_, tanh_cells_, hidden_;  // (slots, layers, ...)
  std::vector<Real> relative_, weights_, totals_;          // (slots, outputs): logits less the largest, exp; (slots,)
  std::vector<Real> transposed_;                           // the kernels that gradients go back through
  std::vector<Seen> seen_;
  std::vector<double> powers_;  // of an entropy's decay
  std::vector<Real> grad_logits_, grad_z_, grad_hidden_, grad_cell_, grad_below_;
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
      runner.compute();
      log_probability[i] += runner.log_probability(row.tokens[position]);
      entropy[i * rows.stride + static_cast<std::size_t>(position)] = runner.entropy();
      runner.take(row.tokens[position]);
    }
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
    runner.reset();
    for (int position = 0; position < row.length; ++position) {
      runner.compute();
      runner.take(row.tokens[position]);
    }
    runner.go_back(row.tokens, row.length, objective.weight[i], objective.entropy[i], objective.decay, out);
  }
  return out;
}

template <class Real>
void Lstm<Real>::ascend(const RecurrentKernels<Real>& kernels, const std::vector<Real>& gradient,
                        double learning_rate) {
  constexpr double kFirst = 0.9;
  constexpr double kSecond = 0.999;
  ++steps_;
  const double steps = static_cast<double>(steps_);
  const double rate = learning_rate * std::sqrt(1.0 - std::pow(kSecond, steps)) / (1.0 - std::pow(kFirst, steps));
  kernels.adam(
      parameters_.data(), first_.data(), second_.data(), gradient.data(), parameters_.size(),
      {static_cast<Real>(rate), static_cast<Real>(kFirst), static_cast<Real>(kSecond), static_cast<Real>(1e-8)});
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace symseed
