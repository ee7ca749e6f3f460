// Bindings of the policy's network.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <variant>

#include "bind.hpp"
#include "dispatch.hpp"
#include "lstm.hpp"

namespace symseed {
namespace {

// Most walks that reach a dead end before a row is given up: chosen by hand.
constexpr int kTries = 1000;

// A network of either precision.
using Network = std::variant<Lstm<float>, Lstm<double>>;

// The current network. A change replaces it by a new one, so threads that use the old one are not affected; the lock is
// held only to read or replace the pointer.
class Learner {
 public:
  explicit Learner(Network first) : now_(std::make_shared<const Network>(std::move(first))) {}

  std::shared_ptr<const Network> now() const {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  template <class Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<Network>(*now_);
    change(*next);
    now_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Network> now_;
};

const RecurrentKernels<float>& kernels_for(const Lstm<float>&) { return instruction_set({}).recurrent->single; }
const RecurrentKernels<double>& kernels_for(const Lstm<double>&) { return instruction_set({}).recurrent->twice; }

Network make_network(int tokens, int hidden, int layers, bool sees_previous, bool sees_open, bool is_double,
                     std::uint64_t seed) {
  require(tokens >= 1 && tokens < 65535 && hidden >= 1 && hidden <= 4096 && layers >= 1 && layers <= 16,
          "A size of the network is out of range.");
  const LstmShape shape{tokens, hidden, layers, sees_previous, sees_open};
  if (is_double) return Lstm<double>(shape, seed);
  return Lstm<float>(shape, seed);
}

void require_same_tokens(const LstmShape& shape, const Rules& rules) {
  require(static_cast<std::size_t>(shape.tokens) == rules.vocabulary().size(),
          "The network and the rules must have the same number of tokens.");
}

nb::list bind_blocks(const Learner& learner) {
  const auto network = learner.now();
  nb::list out;
  std::visit(
      [&](const auto& lstm) {
        for (const Block& block : lstm.blocks()) {
          out.append(nb::make_tuple(block.name, block.offset, block.rows, block.columns));
        }
      },
      *network);
  return out;
}

nb::tuple bind_sample(const Learner& learner, const Rules& rules, std::size_t count, std::uint64_t seed,
                      std::uint64_t step, int threads) {
  require(threads >= 1, "`threads` must be at least 1.");
  const auto network = learner.now();
  NewRows drawn(count, static_cast<std::size_t>(rules.max_length()), false);
  std::visit(
      [&](const auto& lstm) {
        require_same_tokens(lstm.shape(), rules);
        run([&](Monitor& monitor) {
          lstm.sample(kernels_for(lstm), rules, count, seed, step, kTries, threads, monitor, drawn.tokens.data(),
                      drawn.lengths.data());
        });
      },
      *network);
  return tokens_and_lengths(std::move(drawn));
}

nb::tuple bind_log_probabilities(const Learner& learner, const Rules& rules, const Tokens& tokens,
                                 const Lengths& lengths, const Constants& constants) {
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  const auto network = learner.now();
  std::vector<double> log_probability(rows.count);
  std::vector<double> entropy(rows.count * rows.stride);
  std::visit(
      [&](const auto& lstm) {
        require_same_tokens(lstm.shape(), rules);
        run([&](Monitor& monitor) {
          lstm.log_probabilities(kernels_for(lstm), rules, rows, monitor, log_probability.data(), entropy.data());
        });
      },
      *network);
  return nb::make_tuple(to_numpy(std::move(log_probability)), to_numpy(std::move(entropy), {rows.count, rows.stride}));
}

nb::object bind_distributions(const Learner& learner, const Rules& rules, const Tokens& tokens, const Lengths& lengths,
                              const Constants& constants) {
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require(rows.count == 1, "`distributions` takes one row.");
  const auto network = learner.now();
  const auto length = static_cast<std::size_t>(rows[0].length);
  const std::size_t kinds = rules.vocabulary().size();
  std::vector<double> probability(length * kinds);
  std::visit(
      [&](const auto& lstm) {
        require_same_tokens(lstm.shape(), rules);
        run([&](Monitor& monitor) {
          lstm.distributions(kernels_for(lstm), rules, rows[0], monitor, probability.data());
        });
      },
      *network);
  return nb::cast(to_numpy(std::move(probability), {length, kinds}));
}

nb::object bind_gradient(const Learner& learner, const Rules& rules, const Tokens& tokens, const Lengths& lengths,
                         const Constants& constants, const Array<double, 1>& weight, const Array<double, 1>& entropy,
                         double decay) {
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require(weight.shape(0) == rows.count && entropy.shape(0) == rows.count,
          "`weight` and `entropy` must have one value per row.");
  const auto network = learner.now();
  return std::visit(
      [&](const auto& lstm) {
        require_same_tokens(lstm.shape(), rules);
        auto gradient = lstm.parameters();
        run([&](Monitor& monitor) {
          gradient = lstm.gradient(kernels_for(lstm), rules, rows, {weight.data(), entropy.data(), decay}, monitor);
        });
        return nb::cast(to_numpy(std::move(gradient)));
      },
      *network);
}

// One step of Adam.
void bind_ascend(Learner& learner, const Rules& rules, const Tokens& tokens, const Lengths& lengths,
                 const Constants& constants, const Array<double, 1>& weight, const Array<double, 1>& entropy,
                 double decay, double learning_rate) {
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require(weight.shape(0) == rows.count && entropy.shape(0) == rows.count,
          "`weight` and `entropy` must have one value per row.");
  const auto network = learner.now();
  std::visit(
      [&](const auto& lstm) {
        require_same_tokens(lstm.shape(), rules);
        run([&](Monitor& monitor) {
          const auto gradient =
              lstm.gradient(kernels_for(lstm), rules, rows, {weight.data(), entropy.data(), decay}, monitor);
          // A step that another thread has taken in the meantime is kept.
          learner.change([&](Network& next) {
            std::get<std::decay_t<decltype(lstm)>>(next).ascend(kernels_for(lstm), gradient, learning_rate);
          });
        });
      },
      *network);
}

// Parameters and both moments of Adam, (3, P) as float64, and its steps: all that the network has learnt.
nb::tuple bind_state(const Learner& learner) {
  const auto network = learner.now();
  return std::visit(
      [&](const auto& lstm) {
        const std::size_t size = lstm.parameters().size();
        std::vector<double> all;
        all.reserve(3 * size);
        for (const auto* part : {&lstm.parameters(), &lstm.first_moment(), &lstm.second_moment()}) {
          all.insert(all.end(), part->begin(), part->end());
        }
        return nb::make_tuple(to_numpy(std::move(all), {3, size}), lstm.steps());
      },
      *network);
}

void bind_set_state(Learner& learner, const Array<double, 2>& state, std::int64_t steps) {
  const auto set = [&](auto& lstm) {
    const std::size_t size = lstm.parameters().size();
    require(state.shape(0) == 3 && state.shape(1) == size && steps >= 0 && steps <= (std::int64_t{1} << 53),
            "A network's state is (3, parameters), and its steps are from 0 to 2**53.");
    const double* from = state.data();
    require(std::all_of(from, from + state.size(), [](double x) { return std::isfinite(x); }),
            "A network's state must be finite.");
    for (auto* part : {&lstm.parameters(), &lstm.first_moment(), &lstm.second_moment()}) {
      using Real = typename std::remove_reference_t<decltype(*part)>::value_type;
      std::transform(from, from + size, part->begin(), [](double x) { return static_cast<Real>(x); });
      from += size;
    }
    lstm.steps() = steps;
  };
  learner.change([&](Network& next) { std::visit(set, next); });
}

}  // namespace

void bind_lstm(nb::module_& m) {
  nb::class_<Learner>(m, "Lstm")
      .def(
          "__init__",
          [](Learner* self, int tokens, int hidden, int layers, bool sees_previous, bool sees_open, bool is_double,
             std::uint64_t seed) {
            new (self) Learner(make_network(tokens, hidden, layers, sees_previous, sees_open, is_double, seed));
          },
          "tokens"_a, "hidden"_a, "layers"_a, "sees_previous"_a, "sees_open"_a, "is_double"_a, "seed"_a)
      .def("blocks", &bind_blocks)
      .def("sample", &bind_sample, "rules"_a, "count"_a, "seed"_a, "step"_a, "threads"_a)
      .def("log_probabilities", &bind_log_probabilities, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array)
      .def("distributions", &bind_distributions, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array)
      .def("gradient", &bind_gradient, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array, "weight"_array,
           "entropy"_array, "decay"_a)
      .def("ascend", &bind_ascend, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array, "weight"_array,
           "entropy"_array, "decay"_a, "learning_rate"_a)
      .def("state", &bind_state)
      .def("set_state", &bind_set_state, "state"_array, "steps"_a);
}

}  // namespace symseed
