// Bindings and nothing else. `_core.pyi` is the manual; argument checks here guard memory, Python's give the sentences.
#include <nanobind/stl/variant.h>

#include <limits>
#include <variant>

#include "bind.hpp"
#include "function.hpp"
#include "score.hpp"
#include "vary.hpp"

namespace symseed {
namespace {

void require_counts(int threads, int iterations, int restarts) {
  require(threads >= 1 && iterations >= 0 && restarts >= 0,
          "`threads` must be at least 1, `iterations` and `restarts` at least 0.");
}

std::tuple<NewArray<std::uint8_t>, NewArray<std::int32_t>> split(const std::vector<Outcome>& outcomes) {
  std::vector<std::uint8_t> failure(outcomes.size());
  std::vector<std::int32_t> position(outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    failure[i] = static_cast<std::uint8_t>(outcomes[i].failure);
    position[i] = outcomes[i].position;
  }
  return {to_numpy(std::move(failure)), to_numpy(std::move(position))};
}

std::vector<double> copy_of(const Constants& constants) {
  return std::vector<double>(constants.data(), constants.data() + constants.size());
}

nb::tuple bind_operators() {
  nb::list out;
  for (const OperatorInfo& info : operator_table()) out.append(nb::make_tuple(info.name, info.arity, info.complexity));
  return nb::tuple(out);
}

nb::tuple bind_instruction_sets() {
  nb::list out;
  for (const InstructionSet& set : instruction_sets()) out.append(set.name);
  return nb::tuple(out);
}

Vocabulary make_vocabulary(const Array<std::uint8_t, 1>& kind, const Array<std::int32_t, 1>& variable,
                           const Array<double, 1>& value, const std::vector<std::shared_ptr<Function>>& functions) {
  const std::size_t count = kind.shape(0);
  require(count > 0 && count < 65535 && variable.shape(0) == count && value.shape(0) == count,
          "`kind`, `variable` and `value` must have the same length, from 1 to 65,534.");
  Vocabulary out;
  std::size_t next = 0;
  for (std::size_t t = 0; t < count; ++t) {
    require(kind.data()[t] <= kFunction && variable.data()[t] >= 0 && std::isfinite(value.data()[t]),
            "A token's kind, variable or value is out of range.");
    const std::uint8_t code = kind.data()[t];
    std::shared_ptr<Function> function;
    if (code == kFunction) {
      require(next < functions.size() && functions[next], "`functions` must have one for each token of that kind.");
      function = functions[next++];
    }
    const int arity = function ? function->arity() : code < kOperatorCount ? operator_table()[code].arity : 0;
    out.kind.push_back(code);
    out.arity.push_back(static_cast<std::uint8_t>(arity));
    out.function.push_back(std::move(function));
    out.variable.push_back(variable.data()[t]);
    out.value.push_back(value.data()[t]);
  }
  require(next == functions.size(), "`functions` must have one for each token of that kind.");
  return out;
}

Samples make_samples(const Array<double, 2>& X, const Array<double, 1>& y, const Array<double, 1>& weight) {
  const std::size_t points = X.shape(0);
  require(points > 0 && y.shape(0) == points && weight.shape(0) == points,
          "`X` (M, V), `y` (M,) and `weight` (M,) must have the same M, at least 1.");
  Samples out;
  out.points = points;
  out.padded = (points + 7) / 8 * 8;
  out.variables = X.shape(1);
  out.columns.resize(out.variables * out.padded);
  out.target.resize(out.padded);
  out.weight.resize(out.padded);
  for (std::size_t i = 0; i < out.padded; ++i) {
    const std::size_t from = std::min(i, points - 1);
    for (std::size_t v = 0; v < out.variables; ++v)
      out.columns[v * out.padded + i] = X.data()[from * out.variables + v];
    out.target[i] = y.data()[from];
    out.weight[i] = i < points ? weight.data()[i] : 0.0;
  }
  return out;
}

nb::tuple bind_squared_errors(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                              const Lengths& lengths, const Constants& constants, bool strict, int threads,
                              const Function* loss, const std::optional<std::string>& instruction_set) {
  const Rows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, 0, 0);
  require(loss == nullptr || loss->arity() == 2, "A loss is a function of target and prediction.");
  const Manner manner = to_manner(strict, instruction_set, loss);
  std::vector<double> error(rows.count);
  std::vector<Outcome> outcome(rows.count);
  run([&](Monitor& monitor) {
    squared_errors(manner, vocabulary, rows, samples, threads, monitor, error.data(), outcome.data());
  });
  auto [failure, position] = split(outcome);
  return nb::make_tuple(to_numpy(std::move(error)), failure, position);
}

nb::tuple bind_predictions(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                           const Lengths& lengths, const Constants& constants, bool strict, int threads,
                           const std::optional<std::string>& instruction_set) {
  const Rows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, 0, 0);
  const Manner manner = to_manner(strict, instruction_set);
  require(rows.count <= std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / samples.points,
          "The predictions are more than memory can hold.");
  NewArray<double> prediction = new_numpy<double>({rows.count, samples.points});
  std::vector<Outcome> outcome(rows.count);
  run([&](Monitor& monitor) {
    predictions(manner, vocabulary, rows, samples, threads, monitor, prediction.data(), outcome.data());
  });
  auto [failure, position] = split(outcome);
  return nb::make_tuple(prediction, failure, position);
}

nb::tuple bind_fit_constants(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                             const Lengths& lengths, const Constants& constants, int iterations, int restarts,
                             std::uint64_t seed, bool strict, int threads, const Function* loss,
                             const std::optional<std::string>& instruction_set) {
  const Rows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, iterations, restarts);
  require(loss == nullptr || loss->arity() == 2, "A loss is a function of target and prediction.");
  const Manner manner = to_manner(strict, instruction_set, loss);
  std::vector<double> fitted = copy_of(constants);
  std::vector<double> error(rows.count);
  std::vector<Outcome> outcome(rows.count);
  run([&](Monitor& monitor) {
    fit_constants(manner, vocabulary, rows, samples, {iterations, restarts, seed}, threads, monitor, fitted.data(),
                  error.data(), outcome.data());
  });
  auto [failure, position] = split(outcome);
  return nb::make_tuple(to_numpy(std::move(fitted), {rows.count, rows.stride}), to_numpy(std::move(error)), failure,
                        position);
}

nb::tuple bind_linearise(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                         const Lengths& lengths, const Constants& constants) {
  const Rows rows = to_rows(vocabulary, tokens, lengths, constants);
  require(rows.count == 1, "`linearise` takes one row.");
  require_columns(vocabulary, samples);
  const Manner manner = to_manner(false, std::nullopt);
  std::vector<int> places;
  for (int j = 0; j < rows[0].length; ++j) {
    if (vocabulary.kind[rows[0].tokens[j]] == kConstant) places.push_back(j);
  }
  Linearisation at;
  run([&](Monitor& monitor) {
    Tape tape(rows.stride);
    at = linearise(manner, vocabulary, rows[0], samples, monitor, tape, places);
  });
  return nb::make_tuple(at.error, to_numpy(std::move(at.gradient)),
                        to_numpy(std::move(at.curvature), {places.size(), places.size()}));
}

nb::tuple bind_score(Cache& cache, const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                     const Lengths& lengths, const Constants& constants,
                     const std::optional<std::tuple<int, int, std::uint64_t>>& fit, bool strict, int threads,
                     const Function* loss, const std::optional<std::string>& instruction_set) {
  const Rows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, fit ? std::get<0>(*fit) : 0, fit ? std::get<1>(*fit) : 0);
  require(loss == nullptr || loss->arity() == 2, "A loss is a function of target and prediction.");
  const Manner manner = to_manner(strict, instruction_set, loss);
  std::optional<FitSettings> settings;
  if (fit) settings = FitSettings{std::get<0>(*fit), std::get<1>(*fit), std::get<2>(*fit)};
  std::vector<double> fitted;
  if (fit) fitted = copy_of(constants);
  std::vector<double> error(rows.count);
  std::vector<Outcome> outcome(rows.count);
  std::vector<std::uint8_t> computed(rows.count);
  run([&](Monitor& monitor) {
    score(cache, manner, vocabulary, rows, samples, settings, threads, monitor, fitted.data(), error.data(),
          outcome.data(), computed.data());
  });
  auto [failure, position] = split(outcome);
  return nb::make_tuple(to_numpy(std::move(error)), failure, position,
                        fit ? nb::cast(to_numpy(std::move(fitted), {rows.count, rows.stride})) : nb::none(),
                        to_numpy(std::move(computed)));
}

NewArray<std::uint64_t> bind_fingerprints(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths,
                                          const Constants& constants) {
  const Rows rows = to_rows(vocabulary, tokens, lengths, constants);
  std::vector<std::uint64_t> out;
  out.reserve(rows.count * 2);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const Fingerprint key = fingerprint(vocabulary, rows[i]);
    out.push_back(key.high);
    out.push_back(key.low);
  }
  return to_numpy(std::move(out), {rows.count, 2});
}

// As wide as its last token asks for: a rule does not know the vocabulary yet.
TokenSet to_set(const std::vector<Token>& tokens) {
  TokenSet set;
  for (const Token token : tokens) {
    if (set.size() <= token / 64u) set.resize(token / 64u + 1);
    set[token / 64] |= Word{1} << (token % 64);
  }
  return set;
}

Dimensional to_dimensional(const Array<std::int32_t, 2>& exponents, bool constants_are_free) {
  const std::size_t bases = exponents.shape(1);
  require(exponents.shape(0) > 0 && bases <= kBases,
          "`exponents` must have a row for each token and one for the target, and at most 8 columns.");
  std::vector<Dimension> rows(exponents.shape(0));
  for (std::size_t t = 0; t < rows.size(); ++t) {
    for (std::size_t i = 0; i < bases; ++i) {
      const std::int32_t exponent = exponents.data()[t * bases + i];
      require(exponent >= -kMostExponent && exponent <= kMostExponent, "An exponent of a dimension is too large.");
      rows[t].exponents[i] = exponent;
    }
  }
  const Dimension target = rows.back();
  rows.pop_back();
  return {std::move(rows), target, constants_are_free};
}

using Rule = std::variant<Relation, Limit, Need, Size, Nest, Dimensional>;

// Rules by kind, with sets as wide as the vocabulary's.
struct SortedRules {
  const Vocabulary& vocabulary;
  int max_length;
  std::vector<Relation> relations{};
  std::vector<Limit> limits{};
  std::vector<Need> needs{};
  std::vector<Size> sizes{};
  std::vector<Nest> nests{};
  std::optional<Dimensions> dimensions{};

  void operator()(const Relation& rule) {
    relations.push_back({rule.relationship, whole(rule.targets), whole(rule.effectors)});
  }
  void operator()(const Limit& rule) { limits.push_back({whole(rule.tokens), rule.most}); }
  void operator()(const Need& rule) { needs.push_back({whole(rule.tokens)}); }
  void operator()(const Size& rule) {
    require(rule.op < vocabulary.size() && rule.argument >= 0 && rule.argument < vocabulary.arity[rule.op],
            "A size is of an argument that an operator has.");
    sizes.push_back(rule);
  }
  void operator()(const Nest& rule) { nests.push_back({whole(rule.outer), whole(rule.inner), rule.most}); }
  void operator()(const Dimensional& rule) {
    require(!dimensions, "At most one rule is about dimensions.");
    require(rule.tokens.size() == vocabulary.size(),
            "`exponents` must have a row for each token and one for the target.");
    std::vector<Dimension> tokens = rule.tokens;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      tokens[t].is_any = rule.constants_are_free && vocabulary.kind[t] == kConstant;
    }
    dimensions.emplace(vocabulary, std::move(tokens), rule.target, max_length + 1);
  }

 private:
  TokenSet whole(TokenSet set) const {
    const std::size_t words = (vocabulary.size() + 63) / 64;
    const std::size_t rest = vocabulary.size() % 64;
    require(set.size() < words || (set.size() == words && (rest == 0 || set.back() >> rest == 0)),
            "Each token of a rule must be one of the library's.");
    set.resize(words);
    return set;
  }
};

std::unique_ptr<Rules> make_rules(const Vocabulary& vocabulary, const std::vector<Rule>& rules, int min_length,
                                  int max_length, const Array<double, 1>& bias, double soft_location,
                                  double soft_variance) {
  require(min_length >= 1 && min_length <= max_length && max_length <= 32767,
          "Lengths must satisfy 1 <= min_length <= max_length <= 32767.");
  require(bias.shape(0) == vocabulary.size(), "`bias` must have one value per token.");
  SortedRules sorted{vocabulary, max_length};
  for (const Rule& rule : rules) std::visit(sorted, rule);
  Priors priors{std::vector<double>(bias.data(), bias.data() + bias.size()), soft_location, soft_variance};
  return std::make_unique<Rules>(vocabulary, min_length, max_length, std::move(sorted.relations),
                                 std::move(sorted.limits), std::move(sorted.needs), sorted.sizes,
                                 std::move(sorted.nests), std::move(sorted.dimensions), std::move(priors));
}

void bind_rules(nb::module_& m) {
  using Ids = const std::vector<Token>&;
  nb::class_<Relation>(m, "Relation")
      .def(nb::new_([](Relationship relationship, Ids targets, Ids effectors) {
             return Relation{relationship, to_set(targets), to_set(effectors)};
           }),
           "relationship"_a, "targets"_a, "effectors"_a);
  nb::class_<Limit>(m, "Limit")
      .def(nb::new_([](Ids tokens, int most) { return Limit{to_set(tokens), most}; }), "tokens"_a, "most"_a);
  nb::class_<Need>(m, "Need").def(nb::new_([](Ids tokens) { return Need{to_set(tokens)}; }), "tokens"_a);
  nb::class_<Size>(m, "Size").def(nb::new_([](Token op, int argument, int most) { return Size{op, argument, most}; }),
                                  "operator"_a, "argument"_a, "most"_a);
  nb::class_<Nest>(m, "Nest").def(
      nb::new_([](Ids outer, Ids inner, int most) { return Nest{to_set(outer), to_set(inner), most}; }), "outer"_a,
      "inner"_a, "most"_a);
  nb::class_<Dimensional>(m, "Dimensional").def(nb::new_(&to_dimensional), "exponents"_array, "constants_are_free"_a);
}

NewArray<double> bind_logits(const Rules& rules, const Array<Token, 1>& prefix) {
  Walker walker(rules);
  for (std::size_t i = 0; i < prefix.shape(0); ++i) {
    const Token token = prefix.data()[i];
    require(token < rules.vocabulary().size() && !walker.is_complete() && walker.allows(token),
            "`prefix` must be the beginning of a legal expression, and not a complete one.");
    walker.push(token);
  }
  require(!walker.is_complete(), "`prefix` must be the beginning of a legal expression, and not a complete one.");
  std::vector<double> out(rules.vocabulary().size());
  walker.logits(out.data());
  return to_numpy(std::move(out));
}

NewArray<double> bind_logits_along(const Rules& rules, const Tokens& tokens, const Lengths& lengths) {
  require(lengths.shape(0) == tokens.shape(0), "`tokens` (N, L) and `lengths` (N,) must have the same N.");
  const std::size_t width = tokens.shape(1);
  const std::size_t size = rules.vocabulary().size();
  std::vector<double> out(tokens.shape(0) * width * size, 0.0);
  run([&](Monitor& monitor) {
    for (std::size_t i = 0; i < tokens.shape(0); ++i) {
      if (i % 64 == 0) monitor.check();
      const Token* row = tokens.data() + i * width;
      const std::int32_t length = lengths.data()[i];
      require(length >= 0 && static_cast<std::size_t>(length) <= width, "Each length must be from 0 to L.");
      Walker walker(rules);
      for (std::int32_t j = 0; j < length; ++j) {
        require(row[j] < size && !walker.is_complete() && walker.allows(row[j]),
                "Each row must be the beginning of a legal expression.");
        walker.logits(out.data() + (i * width + static_cast<std::size_t>(j)) * size);
        walker.push(row[j]);
      }
    }
  });
  return to_numpy(std::move(out), {tokens.shape(0), width, size});
}

NewArray<std::int32_t> bind_violations(const Rules& rules, const Tokens& tokens, const Lengths& lengths) {
  require(lengths.shape(0) == tokens.shape(0), "`tokens` (N, L) and `lengths` (N,) must have the same N.");
  std::vector<std::int32_t> out(tokens.shape(0));
  run([&](Monitor& monitor) {
    Walker walker(rules);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i % 64 == 0) monitor.check();
      const Token* row = tokens.data() + i * tokens.shape(1);
      const std::int32_t length = lengths.data()[i];
      require(length >= 1 && static_cast<std::size_t>(length) <= tokens.shape(1), "Each length must be from 1 to L.");
      for (std::int32_t j = 0; j < length; ++j) {
        require(row[j] < rules.vocabulary().size(), "Each token must be one of the library's.");
      }
      out[i] = first_violation(walker, row, length);
    }
  });
  return to_numpy(std::move(out));
}

nb::tuple bind_sample(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int tries) {
  const std::size_t stride = static_cast<std::size_t>(rules.max_length());
  std::vector<Token> tokens(count * stride, kPad);
  std::vector<std::int32_t> lengths(count);
  run([&](Monitor& monitor) {
    PriorRunner runner(rules);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 64 == 0) monitor.check();
      Rng rng(seed, step, i);
      lengths[i] = sample(runner, rng, tries, tokens.data() + i * stride);
    }
  });
  return nb::make_tuple(to_numpy(std::move(tokens), {count, stride}), to_numpy(std::move(lengths)));
}

nb::tuple bind_random_trees(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int least,
                            int most, int tries) {
  require(least >= 0 && least <= most && most <= 16, "Heights must satisfy 0 <= least <= most <= 16.");
  const std::size_t stride = static_cast<std::size_t>(rules.max_length());
  std::vector<Token> tokens(count * stride, kPad);
  std::vector<std::int32_t> lengths(count);
  run([&](Monitor& monitor) {
    const VarySettings settings;
    Variation variation(rules, settings);
    PriorRunner runner(rules);
    Child child;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 64 == 0) monitor.check();
      Rng rng(seed, step, i);
      if (variation.random_tree(rng, least, most, child)) {
        lengths[i] = child.length();
        std::copy(child.tokens.begin(), child.tokens.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i * stride));
      } else {
        lengths[i] = sample(runner, rng, tries, tokens.data() + i * stride);
      }
    }
  });
  return nb::make_tuple(to_numpy(std::move(tokens), {count, stride}), to_numpy(std::move(lengths)));
}

NewArray<std::int64_t> bind_tournament(const Array<double, 1>& reward, std::size_t count, int size, std::uint64_t seed,
                                       std::uint64_t step) {
  require(reward.shape(0) > 0 && size > 0, "A tournament needs at least one row, and a size of at least 1.");
  std::vector<std::int64_t> winner(count);
  run([&](Monitor& monitor) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 64 == 0) monitor.check();
      Rng rng(seed, step, i);
      winner[i] = static_cast<std::int64_t>(Variation::tournament(rng, reward.data(), reward.shape(0), size));
    }
  });
  return to_numpy(std::move(winner));
}

// Children in new arrays, as wide as the longest one may be.
class Brood {
 public:
  Brood(std::size_t count, std::size_t stride)
      : count_(count),
        stride_(stride),
        tokens_(count * stride, kPad),
        lengths_(count),
        constants_(count * stride, std::numeric_limits<double>::quiet_NaN()) {}

  void set(std::size_t i, const Child& child) {
    lengths_[i] = child.length();
    std::copy(child.tokens.begin(), child.tokens.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(i * stride_));
    std::copy(child.constants.begin(), child.constants.end(),
              constants_.begin() + static_cast<std::ptrdiff_t>(i * stride_));
  }
  nb::tuple take() {
    return nb::make_tuple(to_numpy(std::move(tokens_), {count_, stride_}), to_numpy(std::move(lengths_)),
                          to_numpy(std::move(constants_), {count_, stride_}));
  }

 private:
  std::size_t count_, stride_;
  std::vector<Token> tokens_;
  std::vector<std::int32_t> lengths_;
  std::vector<double> constants_;
};

std::size_t brood_stride(const Rules& rules, const Rows& rows) {
  return std::max(rows.stride, static_cast<std::size_t>(rules.max_length()));
}

nb::tuple bind_crossover(const Rules& rules, const Tokens& tokens, const Lengths& lengths, const Constants& constants,
                         const VarySettings& settings, std::uint64_t seed, std::uint64_t step) {
  const Rows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require(rows.count % 2 == 0, "`crossover` takes pairs of rows, so an even number of them.");
  Brood brood(rows.count, brood_stride(rules, rows));
  run([&](Monitor& monitor) {
    Variation variation(rules, settings);
    Child first, second;
    for (std::size_t i = 0; i < rows.count; i += 2) {
      if (i % 64 == 0) monitor.check();
      Rng rng(seed, step, i);
      variation.crossover(rng, rows[i], rows[i + 1], first, second);
      brood.set(i, first);
      brood.set(i + 1, second);
    }
  });
  return brood.take();
}

nb::tuple bind_mutate(const Rules& rules, const Tokens& tokens, const Lengths& lengths, const Constants& constants,
                      Mutation mutation, const VarySettings& settings, std::uint64_t seed, std::uint64_t step) {
  const Rows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  Brood brood(rows.count, brood_stride(rules, rows));
  run([&](Monitor& monitor) {
    Variation variation(rules, settings);
    Child child;
    for (std::size_t i = 0; i < rows.count; ++i) {
      if (i % 64 == 0) monitor.check();
      Rng rng(seed, step, i);
      variation.mutate(rng, rows[i], mutation, child);
      brood.set(i, child);
    }
  });
  return brood.take();
}

nb::tuple bind_next_generation(const Rules& rules, const Tokens& tokens, const Lengths& lengths,
                               const Constants& constants, const Array<double, 1>& reward, const VarySettings& settings,
                               std::uint64_t seed, std::uint64_t step) {
  const Rows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require(rows.count > 0 && reward.shape(0) == rows.count, "`reward` must have one value per row, at least one.");
  const std::size_t stride = brood_stride(rules, rows);
  Generation next;
  run([&](Monitor& monitor) {
    next = next_generation(rules, rows, reward.data(), settings, seed, step, stride, monitor);
  });
  return nb::make_tuple(to_numpy(std::move(next.tokens), {rows.count, stride}), to_numpy(std::move(next.lengths)),
                        rules.vocabulary().has_constants()
                            ? nb::cast(to_numpy(std::move(next.constants), {rows.count, stride}))
                            : nb::none(),
                        to_numpy(std::move(next.parent)), to_numpy(std::move(next.touched)));
}

// What the interpreter keeps for itself goes last, before its lock. The module may be loaded again; the watch stays.
void watch_interpreter() {
  const nb::dict kept = nb::borrow<nb::dict>(PyInterpreterState_GetDict(PyInterpreterState_Get()));
  if (kept.contains("symseed._core")) return;
  kept["symseed._core"] = nb::capsule(&is_interpreter_gone, [](void*) noexcept { is_interpreter_gone = true; });
}

VarySettings make_vary_settings(double crossover, double mutation, int tournament, int new_depth, int retries,
                                const std::vector<double>& weights) {
  require(tournament >= 0 && new_depth >= 0 && new_depth <= 16 && retries >= 0 && weights.size() == kMutations,
          "A setting of variation is out of range.");
  VarySettings out{crossover, mutation, tournament, new_depth, retries, {}};
  std::copy(weights.begin(), weights.end(), out.weights);
  return out;
}

// One list of codes that Python and the core share; `fill` names them. Where the module is loaded again, nanobind has
// the enum and takes no name twice. It would write members its own way; without that they read as those of any other
// enum.
template <class T, class Fill, class... Extra>
void bind_codes(nb::module_& m, const char* name, const Fill& fill, const Extra&... extra) {
  if (const nb::handle known = nb::type<T>(); known.is_valid()) {
    m.attr(name) = known;
    return;
  }
  nb::enum_<T> codes(m, name, extra...);
  fill(codes);
  nb::delattr(codes, "__repr__");
  nb::delattr(codes, "__str__");
}

void name_relationships(nb::enum_<Relationship>& codes) {
  codes.value("CHILD", Relationship::child)
      .value("DESCENDANT", Relationship::descendant)
      .value("SIBLING", Relationship::sibling)
      .value("LEFT_CHILD", Relationship::left_child)
      .value("RIGHT_CHILD", Relationship::right_child)
      .value("UNIQUE_CHILD", Relationship::unique_child);
}

void name_mutations(nb::enum_<Mutation>& codes) {
  codes.value("SUBTREE", Mutation::subtree)
      .value("POINT", Mutation::point)
      .value("INSERT", Mutation::insert)
      .value("SHRINK", Mutation::shrink)
      .value("NUMBER", Mutation::number)
      .value("TWICE", Mutation::twice);
}

void name_failures(nb::enum_<Failure>& codes) {
  codes.value("NONE", Failure::none, "The expression has a finite value at every sample.")
      .value("INVALID", Failure::invalid, "The expression is not a number at some sample, such as log(-1) or 0/0.")
      .value("DIVIDE_BY_ZERO", Failure::divide_by_zero,
             "The expression divides by zero at some sample, or takes log(0).")
      .value("OVERFLOW", Failure::overflow, "A value of the expression is too large for float64 at some sample.")
      .value("UNDERFLOW", Failure::underflow,
             "A value of the expression is too small for float64 at some sample (strict mode).")
      .value("LOSS_OVERFLOW", Failure::loss_overflow,
             "The predictions are finite, but their squared error, or other loss, is not.")
      .value("NO_ANSWER", Failure::no_answer,
             "An operator or a loss of your own raised an exception, or gave something else than numbers.")
      .def_prop_ro("sentence", [](nb::handle self) { return self.doc(); }, "What to tell a person.");
}

}  // namespace
}  // namespace symseed

NB_MODULE(_core, m) {
  using namespace symseed;
  m.doc() = "Native core of symseed; see _core.pyi.";
  // Objects that live until the interpreter ends are no leak worth a page of warnings.
  nb::set_leak_warnings(false);
  watch_interpreter();
  bind_codes<Relationship>(m, "Relationship", name_relationships, "How a target may not stand to an effector.");
  bind_codes<Mutation>(m, "Mutation", name_mutations, "The paper's four mutations, and two macros of ours.");
  bind_codes<Failure>(m, "Failure", name_failures, nb::is_arithmetic(), "Why a row has no score; `sentence` says it.");
  bind_complete(m);
  bind_function(m);
  bind_linear(m);
  bind_lstm(m);
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const BadEnvironment& error) {
      PyErr_SetString(nb::module_::import_("symseed.errors").attr("SettingsError").ptr(), error.what());
    }
  });
  m.attr("VARIABLE") = static_cast<int>(kVariable);
  m.attr("LITERAL") = static_cast<int>(kLiteral);
  m.attr("CONSTANT") = static_cast<int>(kConstant);
  m.attr("FUNCTION") = static_cast<int>(kFunction);

  m.def("operators", &bind_operators);
  m.def("instruction_sets", &bind_instruction_sets);

  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(
          "__init__",
          [](Vocabulary* self, const Array<std::uint8_t, 1>& kind, const Array<std::int32_t, 1>& variable,
             const Array<double, 1>& value, const std::vector<std::shared_ptr<Function>>& functions) {
            new (self) Vocabulary(make_vocabulary(kind, variable, value, functions));
          },
          "kind"_array, "variable"_array, "value"_array, "functions"_a = nb::list());
  nb::class_<Samples>(m, "Samples")
      .def(
          "__init__",
          [](Samples* self, const Array<double, 2>& X, const Array<double, 1>& y, const Array<double, 1>& weight) {
            new (self) Samples(make_samples(X, y, weight));
          },
          "X"_array, "y"_array, "weight"_array);
  bind_rules(m);
  nb::class_<Rules>(m, "Rules")
      .def(nb::new_(&make_rules), "vocabulary"_a, "rules"_a, nb::kw_only(), "min_length"_a, "max_length"_a,
           "bias"_array, "soft_location"_a, "soft_variance"_a)
      .def("logits", &bind_logits, "prefix"_array)
      .def("logits_along", &bind_logits_along, "tokens"_array, "lengths"_array)
      .def("violations", &bind_violations, "tokens"_array, "lengths"_array)
      .def("sample", &bind_sample, "count"_a, "seed"_a, "step"_a, "tries"_a)
      .def("random_trees", &bind_random_trees, "count"_a, "seed"_a, "step"_a, "least"_a, "most"_a, "tries"_a);
  nb::class_<VarySettings>(m, "VarySettings")
      .def(nb::new_(&make_vary_settings), "crossover"_a, "mutation"_a, "tournament"_a, "new_depth"_a, "retries"_a,
           "weights"_a);
  nb::class_<Cache>(m, "Cache")
      .def(nb::init<std::size_t, std::size_t>(), "max_bytes"_a, "constants_per_row"_a)
      .def("score", &bind_score, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array, "constants"_array,
           nb::kw_only(), "fit"_a, "strict"_a, "threads"_a, "loss"_a.none() = nb::none(),
           "instruction_set"_a = nb::none())
      .def_prop_ro("counts",
                   [](const Cache& self) {
                     const Cache::Counts counts = self.counts();
                     return nb::make_tuple(counts.asked, counts.evaluated, counts.unique);
                   })
      .def_prop_ro("size", &Cache::size)
      .def_prop_ro("bytes", &Cache::bytes);

  m.def("squared_errors", &bind_squared_errors, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array,
        "constants"_array, nb::kw_only(), "strict"_a, "threads"_a, "loss"_a.none() = nb::none(),
        "instruction_set"_a = nb::none());
  m.def("predictions", &bind_predictions, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array,
        "constants"_array, nb::kw_only(), "strict"_a, "threads"_a, "instruction_set"_a = nb::none());
  m.def("fit_constants", &bind_fit_constants, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array,
        "constants"_array, nb::kw_only(), "iterations"_a, "restarts"_a, "seed"_a, "strict"_a, "threads"_a,
        "loss"_a.none() = nb::none(), "instruction_set"_a = nb::none());
  m.def("linearise", &bind_linearise, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array, "constants"_array);
  m.def("fingerprints", &bind_fingerprints, "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array);
  m.def("tournament", &bind_tournament, "reward"_array, "count"_a, "size"_a, "seed"_a, "step"_a);
  m.def("crossover", &bind_crossover, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array, "settings"_a,
        "seed"_a, "step"_a);
  m.def("mutate", &bind_mutate, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array, "mutation"_a,
        "settings"_a, "seed"_a, "step"_a);
  m.def("next_generation", &bind_next_generation, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array,
        "reward"_array, "settings"_a, "seed"_a, "step"_a);
}
