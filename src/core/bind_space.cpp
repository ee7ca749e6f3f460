// Bindings of the search space: rules, and walks under them.
#include "bind.hpp"
#include "vary.hpp"

namespace symseed {
namespace {

// As wide as its largest token needs: a rule does not know the vocabulary yet.
TokenSet to_set(const nb::sequence& tokens) {
  TokenSet set;
  for (const Token token : to_vector<Token>(tokens)) {
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

// Rules by kind, with sets of the vocabulary's width.
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

// Calls a function with the rule that an object of Python is, if it is one of these kinds.
template <class... Kinds>
bool visit_rule(nb::handle rule, SortedRules& sorted) {
  const auto visited = [&]<class Kind>(Kind*) {
    if (!nb::isinstance<Kind>(rule)) return false;
    sorted(nb::cast<const Kind&>(rule));
    return true;
  };
  return (visited(static_cast<Kinds*>(nullptr)) || ...);
}

std::unique_ptr<Rules> make_rules(const Vocabulary& vocabulary, const nb::sequence& rules, int min_length,
                                  int max_length, const Array<double, 1>& bias, double soft_location,
                                  double soft_variance) {
  require(min_length >= 1 && min_length <= max_length && max_length <= 32767,
          "Lengths must satisfy 1 <= min_length <= max_length <= 32767.");
  require(bias.shape(0) == vocabulary.size(), "`bias` must have one value per token.");
  SortedRules sorted{vocabulary, max_length};
  for (const nb::handle rule : rules) {
    if (!visit_rule<Relation, Limit, Need, Size, Nest, Dimensional>(rule, sorted)) {
      throw nb::type_error("Each rule must be of one of the kinds of rules.");
    }
  }
  Priors priors{std::vector<double>(bias.data(), bias.data() + bias.size()), soft_location, soft_variance};
  return std::make_unique<Rules>(vocabulary, min_length, max_length, std::move(sorted.relations),
                                 std::move(sorted.limits), std::move(sorted.needs), sorted.sizes,
                                 std::move(sorted.nests), std::move(sorted.dimensions), std::move(priors));
}

void bind_rules(nb::module_& m) {
  using Ids = const nb::sequence&;
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

// Beginnings of rows, of at least `least` tokens each, that are safe to read; they have no constants. `unknown` is the
// message for a token that the library lacks.
HeldRows to_beginnings(const Rules& rules, const Tokens& tokens, const Lengths& lengths, int least,
                       const char* unknown) {
  HeldRows rows(tokens, lengths, nullptr);
  require(lengths.shape(0) == rows.count, "`tokens` (N, L) and `lengths` (N,) must have the same N.");
  for (std::size_t i = 0; i < rows.count; ++i) {
    const Row row = rows[i];
    require(row.length >= least && row.length <= static_cast<std::int64_t>(rows.stride),
            "Each length must be at least 0, or 1 if violations are asked for, and at most L.");
    for (int j = 0; j < row.length; ++j) {
      require(row.tokens[j] < rules.vocabulary().size(), unknown);
    }
  }
  return rows;
}

NewArray<double> bind_logits_along(const Rules& rules, const Tokens& tokens, const Lengths& lengths) {
  constexpr const char* kIllegal = "Each row must be the beginning of a legal expression.";
  const HeldRows rows = to_beginnings(rules, tokens, lengths, 0, kIllegal);
  const std::size_t size = rules.vocabulary().size();
  std::vector<double> out(rows.count * rows.stride * size, 0.0);
  bool is_legal = true;
  run([&](Monitor& monitor) { is_legal = logits_along(rules, rows, monitor, out.data()); });
  require(is_legal, kIllegal);
  return to_numpy(std::move(out), {rows.count, rows.stride, size});
}

NewArray<std::int32_t> bind_violations(const Rules& rules, const Tokens& tokens, const Lengths& lengths) {
  const HeldRows rows = to_beginnings(rules, tokens, lengths, 1, "Each token must be one of the library's.");
  std::vector<std::int32_t> out(rows.count);
  run([&](Monitor& monitor) { first_violations(rules, rows, monitor, out.data()); });
  return to_numpy(std::move(out));
}

nb::tuple bind_sample(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int tries) {
  std::optional<NewRows> drawn;
  run([&](Monitor& monitor) { drawn = sample_rows(rules, count, seed, step, tries, monitor); });
  return tokens_and_lengths(std::move(*drawn));
}

nb::tuple bind_random_trees(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int least,
                            int most, int tries) {
  require(least >= 0 && least <= most && most <= 16, "Heights must satisfy 0 <= least <= most <= 16.");
  require(!rules.of_arity(0).empty(), "Random trees need a token without arguments.");
  std::optional<NewRows> drawn;
  run([&](Monitor& monitor) { drawn = random_trees(rules, count, seed, step, least, most, tries, monitor); });
  return tokens_and_lengths(std::move(*drawn));
}

void name_relationships(nb::enum_<Relationship>& codes) {
  codes.value("CHILD", Relationship::child)
      .value("DESCENDANT", Relationship::descendant)
      .value("SIBLING", Relationship::sibling)
      .value("LEFT_CHILD", Relationship::left_child)
      .value("RIGHT_CHILD", Relationship::right_child)
      .value("UNIQUE_CHILD", Relationship::unique_child);
}

}  // namespace

void bind_space(nb::module_& m) {
  bind_codes<Relationship>(m, "Relationship", name_relationships, "Relationships that a rule can forbid.");
  bind_rules(m);
  nb::class_<Rules>(m, "Rules")
      .def(nb::new_(&make_rules), "vocabulary"_a, "rules"_a, nb::kw_only(), "min_length"_a, "max_length"_a,
           "bias"_array, "soft_location"_a, "soft_variance"_a)
      .def("logits", &bind_logits, "prefix"_array)
      .def("logits_along", &bind_logits_along, "tokens"_array, "lengths"_array)
      .def("violations", &bind_violations, "tokens"_array, "lengths"_array)
      .def("sample", &bind_sample, "count"_a, "seed"_a, "step"_a, "tries"_a)
      .def("random_trees", &bind_random_trees, "count"_a, "seed"_a, "step"_a, "least"_a, "most"_a, "tries"_a);
}

}  // namespace symseed
