#include "walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symseed {
namespace {

void unite(Word* to, const TokenSet& from) {
  for (std::size_t w = 0; w < from.size(); ++w) to[w] |= from[w];
}

void insert(TokenSet& set, Token token) { set[token / 64] |= Word{1} << (token % 64); }

}  // namespace

Rules::Rules(Vocabulary vocabulary, int min_length, int max_length, std::vector<Relation> relations,
             std::vector<Limit> limits, std::vector<TokenSet> needed, Priors priors)
    : vocabulary_(std::move(vocabulary)),
      min_length_(min_length),
      max_length_(max_length),
      words_(static_cast<int>((vocabulary_.size() + 63) / 64)),
      none_(static_cast<std::size_t>(words_)),
      terminals_(none_),
      place_(vocabulary_.size()),
      beside_(vocabulary_.size()),
      limits_(std::move(limits)),
      needed_(std::move(needed)),
      priors_(std::move(priors)),
      by_arity_(3) {
  for (std::size_t t = 0; t < vocabulary_.size(); ++t) {
    const Token token = static_cast<Token>(t);
    by_arity_[vocabulary_.arity[t]].push_back(token);
    if (vocabulary_.arity[t] == 0) {
      insert(terminals_, token);
    } else {
      place_[t] = static_cast<int>(operators_.size());
      operators_.push_back(token);
    }
  }
  below_argument_.resize(operators_.size() * 2 * static_cast<std::size_t>(words_));
  below_.resize(operators_.size() * static_cast<std::size_t>(words_));
  for (const Relation& relation : relations) add(relation);
  find_smallest();
  const bool has_siblings =
      std::any_of(beside_.begin(), beside_.end(), [](const TokenSet& set) { return !set.empty(); });
  is_plain_ = words_ == 1 && limits_.empty() && needed_.empty() && pairs_.empty() && !has_siblings;
}

void Rules::add(const Relation& relation) {
  if (relation.relationship == Relationship::unique_child) pairs_.push_back({relation.targets, relation.effectors});
  if (relation.relationship == Relationship::sibling) {
    for (std::size_t t = 0; t < vocabulary_.size(); ++t) {
      const Token token = static_cast<Token>(t);
      const auto forbid = [&](const TokenSet& others) {
        if (beside_[t].empty()) beside_[t] = none_;
        unite(beside_[t].data(), others);
      };
      if (contains(relation.effectors.data(), token)) forbid(relation.targets);
      if (contains(relation.targets.data(), token)) forbid(relation.effectors);
    }
  }
  const std::size_t words = static_cast<std::size_t>(words_);
  for (std::size_t place = 0; place < operators_.size(); ++place) {
    if (!contains(relation.effectors.data(), operators_[place])) continue;
    const bool is_binary = vocabulary_.arity[operators_[place]] == 2;
    Word* first = below_argument_.data() + place * 2 * words;
    Word* second = first + words;
    switch (relation.relationship) {
      case Relationship::child:
        unite(first, relation.targets);
        unite(second, relation.targets);
        break;
      case Relationship::descendant:
        unite(below_.data() + place * words, relation.targets);
        break;
      case Relationship::left_child:
        if (is_binary) unite(first, relation.targets);
        break;
      case Relationship::right_child:
        if (is_binary) unite(second, relation.targets);
        break;
      case Relationship::unique_child:
        if (!is_binary) unite(first, relation.targets);
        break;
      case Relationship::sibling:
        break;
    }
  }
}

void Rules::find_smallest() {
  const std::size_t count = vocabulary_.size();
  const std::size_t words = static_cast<std::size_t>(words_);
  const int none = max_length_ + 1;
  smallest_.assign(count, none);
  smallest_argument_.assign(operators_.size() * 2, none);
  for (std::size_t t = 0; t < count; ++t) {
    if (vocabulary_.arity[t] == 0) smallest_[t] = 1;
  }
  // Sizes only shrink from pass to pass and are bounded, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t place = 0; place < operators_.size(); ++place) {
      const Token op = operators_[place];
      const Word* anywhere = below_.data() + place * words;
      int size = 1;
      for (std::size_t argument = 0; argument < vocabulary_.arity[op]; ++argument) {
        const Word* direct = below_argument_.data() + (place * 2 + argument) * words;
        int least = none;
        for (std::size_t t = 0; t < count; ++t) {
          const Token token = static_cast<Token>(t);
          if (!contains(direct, token) && !contains(anywhere, token)) least = std::min(least, smallest_[t]);
        }
        smallest_argument_[place * 2 + argument] = least;
        size = std::min(none, size + least);
      }
      changed = changed || size != smallest_[op];
      smallest_[op] = size;
    }
  }
  smallest_root_ = *std::min_element(smallest_.begin(), smallest_.end());
  larger_than_.resize((static_cast<std::size_t>(max_length_) + 1) * words);
  for (std::size_t size = 0; size <= static_cast<std::size_t>(max_length_); ++size) {
    for (std::size_t t = 0; t < count; ++t) {
      if (smallest_[t] > static_cast<int>(size)) larger_than_[size * words + t / 64] |= Word{1} << (t % 64);
    }
  }
}

Walker::Walker(const Rules& rules)
    : rules_(rules),
      frames_(static_cast<std::size_t>(rules.max_length_) + 1),
      below_((static_cast<std::size_t>(rules.max_length_) + 2) * static_cast<std::size_t>(rules.words_)),
      counts_(rules.limits_.size()),
      met_(rules.needed_.size()) {
  reset();
}

void Walker::reset() {
  std::fill(counts_.begin(), counts_.end(), 0);
  std::fill(met_.begin(), met_.end(), std::uint8_t{0});
  depth_ = 0;
  length_ = 0;
  open_ = 1;
  smallest_rest_ = rules_.smallest_root_;
  find_room();
}

void Walker::logits(double* out) const {
  const Priors& priors = rules_.priors_;
  // The first token has no length to speak of yet.
  const bool is_soft = priors.soft_variance > 0.0 && length_ > 0;
  const double distance = length_ - priors.soft_location;
  // Finite, so that a prior forbids nothing.
  const double penalty =
      is_soft ? std::min(distance * distance / (2.0 * priors.soft_variance), std::numeric_limits<double>::max() / 2)
              : 0.0;
  const std::size_t count = rules_.vocabulary_.size();
  Word set = 0;
  for (std::size_t t = 0; t < count; ++t) {
    if (t % 64 == 0) set = forbidden(static_cast<int>(t / 64));
    const bool is_terminal = rules_.vocabulary_.arity[t] == 0;
    const bool is_penalised = distance < 0.0 ? is_terminal && open_ == 1 : !is_terminal;
    out[t] = (set >> (t % 64)) & 1 ? -std::numeric_limits<double>::infinity()
                                   : priors.bias[t] - (is_penalised ? penalty : 0.0);
  }
}

namespace {

template <class Kind>
int first_violation_in(Walker& walker, const Token* tokens, int length) {
  for (int position = 0; position < length; ++position) {
    if (walker.is_complete()) return length;
    if (!walker.allows<Kind>(tokens[position])) return position;
    walker.push<Kind>(tokens[position]);
  }
  return walker.is_complete() ? -1 : length;
}

}  // namespace

int first_violation(Walker& walker, const Token* tokens, int length) {
  walker.reset();
  return walker.rules().is_plain() ? first_violation_in<Walker::Plain>(walker, tokens, length)
                                   : first_violation_in<Walker::Any>(walker, tokens, length);
}

bool PriorRunner::look() {
  walker_.logits(weights_.data());
  const double largest = *std::max_element(weights_.begin(), weights_.end());
  if (std::isinf(largest)) return false;
  total_ = 0.0;
  for (double& weight : weights_) total_ += weight = std::exp(weight - largest);
  return true;
}

}  // namespace symseed
