// Bindings of the search space: rules, and walks under them.
#include <nanobind/stl/variant.h>

#include <variant>

#include "bind.hpp"
#include "vary.hpp"

namespace symseed {
namespace {

// As wide as its largest token needs: a rule does not know the vocabulary yet.
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
