// Bindings of variation: tournaments, crossover and mutation.
#include <optional>

#include "bind.hpp"
#include "vary.hpp"

namespace symseed {
namespace {

// Most rows of a tournament, and most tries of a variation: some milliseconds, after which a signal is noticed.
constexpr int kMostTries = 1'000'000;

NewArray<std::int64_t> bind_tournament(const Array<double, 1>& reward, std::size_t count, int size, std::uint64_t seed,
                                       std::uint64_t step) {
  require(reward.shape(0) > 0 && size > 0 && size <= kMostTries,
          "A tournament needs at least one row, and a size from 1 to 1,000,000.");
  std::vector<std::int64_t> winner;
  run([&](Monitor& monitor) {
    winner = tournaments(reward.data(), reward.shape(0), count, size, seed, step, monitor);
  });
  return to_numpy(std::move(winner));
}

nb::tuple bind_crossover(const Rules& rules, const Tokens& tokens, const Lengths& lengths, const Constants& constants,
                         const VarySettings& settings, std::uint64_t seed, std::uint64_t step) {
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require(rows.count % 2 == 0, "`crossover` takes pairs of rows, so an even number of them.");
  std::optional<NewRows> children;
  run([&](Monitor& monitor) { children = crossover_pairs(rules, rows, settings, seed, step, monitor); });
  return to_tuple(std::move(*children));
}

nb::tuple bind_mutate(const Rules& rules, const Tokens& tokens, const Lengths& lengths, const Constants& constants,
                      Mutation mutation, const VarySettings& settings, std::uint64_t seed, std::uint64_t step) {
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  std::optional<NewRows> children;
  run([&](Monitor& monitor) { children = mutate_rows(rules, rows, mutation, settings, seed, step, monitor); });
  return to_tuple(std::move(*children));
}

nb::tuple bind_next_generation(const Rules& rules, const Tokens& tokens, const Lengths& lengths,
                               const Constants& constants, const Array<double, 1>& reward, const VarySettings& settings,
                               std::uint64_t seed, std::uint64_t step, int threads) {
  require(threads >= 1, "`threads` must be at least 1.");
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require(rows.count > 0 && reward.shape(0) == rows.count, "`reward` must have one value per row, at least one.");
  std::optional<Generation> next;
  run([&](Monitor& monitor) {
    next = next_generation(rules, rows, reward.data(), settings, seed, step, threads, monitor);
  });
  nb::tuple children = to_tuple(std::move(next->children));
  return nb::make_tuple(children[0], children[1], children[2], to_numpy(std::move(next->parent)),
                        to_numpy(std::move(next->touched)));
}

VarySettings make_vary_settings(double crossover, double mutation, int tournament, int new_depth, int retries,
                                const nb::sequence& given, bool any_parent) {
  const std::vector<double> weights = to_vector<double>(given);
  require(tournament >= 0 && tournament <= kMostTries && new_depth >= 0 && new_depth <= 16 && retries >= 0 &&
              retries <= kMostTries && weights.size() == kMutations,
          "A setting of variation is out of range.");
  VarySettings out{crossover, mutation, tournament, new_depth, retries, {}, any_parent};
  std::copy(weights.begin(), weights.end(), out.weights);
  return out;
}

void name_mutations(nb::enum_<Mutation>& codes) {
  codes.value("SUBTREE", Mutation::subtree)
      .value("POINT", Mutation::point)
      .value("INSERT", Mutation::insert)
      .value("SHRINK", Mutation::shrink)
      .value("NUMBER", Mutation::number)
      .value("TWICE", Mutation::twice);
}

}  // namespace

void bind_vary(nb::module_& m) {
  bind_codes<Mutation>(m, "Mutation", name_mutations, "The paper's four mutations, and two macros of ours.");
  nb::class_<VarySettings>(m, "VarySettings")
      .def(nb::new_(&make_vary_settings), "crossover"_a, "mutation"_a, "tournament"_a, "new_depth"_a, "retries"_a,
           "weights"_a, "any_parent"_a);
  m.def("tournament", &bind_tournament, "reward"_array, "count"_a, "size"_a, "seed"_a, "step"_a);
  m.def("crossover", &bind_crossover, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array, "settings"_a,
        "seed"_a, "step"_a);
  m.def("mutate", &bind_mutate, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array, "mutation"_a,
        "settings"_a, "seed"_a, "step"_a);
  m.def("next_generation", &bind_next_generation, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array,
        "reward"_array, "settings"_a, "seed"_a, "step"_a, nb::kw_only(), "threads"_a = 1);
}

}  // namespace symseed
