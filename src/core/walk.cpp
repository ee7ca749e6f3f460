#include "walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace symseed {
namespace {

void unite(TokenSet& to, const TokenSet& from) {
  if (to.empty()) to.resize(from.size());
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
      below_argument_(vocabulary_.size() * 2),
      below_(vocabulary_.size()),
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
      operators_.push_back(token);
      below_argument_[t * 2] = below_argument_[t * 2 + 1] = below_[t] = none_;
    }
  }
  for (const Relation& relation : relations) add(relation);
  find_smallest();
}

void Rules::add(const Relation& relation) {
  if (relation.relationship == Relationship::unique_child) pairs_.push_back({relation.targets, relation.effectors});
  for (std::size_t t = 0; t < vocabulary_.size(); ++t) {
    const Token token = static_cast<Token>(t);
    const int arity = vocabulary_.arity[t];
    if (relation.relationship == Relationship::sibling) {
      if (contains(relation.effectors.data(), token)) unite(beside_[t], relation.targets);
      if (contains(relation.targets.data(), token)) unite(beside_[t], relation.effectors);
    }
    if (arity == 0 || !contains(relation.effectors.data(), token)) continue;
    switch (relation.relationship) {
      case Relationship::child:
        unite(below_argument_[t * 2], relation.targets);
        unite(below_argument_[t * 2 + 1], relation.targets);
        break;
      case Relationship::descendant:
        unite(below_[t], relation.targets);
        break;
      case Relationship::left_child:
        if (arity == 2) unite(below_argument_[t * 2], relation.targets);
        break;
      case Relationship::right_child:
        if (arity == 2) unite(below_argument_[t * 2 + 1], relation.targets);
        break;
      case Relationship::unique_child:
        if (arity == 1) unite(below_argument_[t * 2], relation.targets);
        break;
      case Relationship::sibling:
        break;
    }
  }
}

void Rules::find_smallest() {
  const std::size_t count = vocabulary_.size();
  const int none = max_length_ + 1;
  smallest_.assign(count, none);
  smallest_argument_.assign(count * 2, none);
  for (std::size_t t = 0; t < count; ++t) {
    if (vocabulary_.arity[t] == 0) smallest_[t] = 1;
  }
  // Sizes only shrink from pass to pass and are bounded, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Token op : operators_) {
      int size = 1;
      for (std::size_t argument = 0; argument < vocabulary_.arity[op]; ++argument) {
        const TokenSet& direct = below_argument_[op * 2u + argument];
        int least = none;
        for (std::size_t t = 0; t < count; ++t) {
          const Token token = static_cast<Token>(t);
          if (!contains(direct.data(), token) && !contains(below_[op].data(), token)) {
            least = std::min(least, smallest_[t]);
          }
        }
        smallest_argument_[op * 2u + argument] = least;
        size = std::min(none, size + least);
      }
      changed = changed || size != smallest_[op];
      smallest_[op] = size;
    }
  }
  smallest_root_ = *std::min_element(smallest_.begin(), smallest_.end());
  larger_than_.assign(static_cast<std::size_t>(max_length_) + 1, none_);
  for (std::size_t size = 0; size < larger_than_.size(); ++size) {
    for (std::size_t t = 0; t < count; ++t) {
      if (smallest_[t] > static_cast<int>(size)) insert(larger_than_[size], static_cast<Token>(t));
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
}

int Walker::slot_size() const {
  if (depth_ == 0) return rules_.smallest_root_;
  const Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
  return rules_.smallest_argument_[frame.token * 2u + frame.argument];
}

Word Walker::forbidden(int word) const {
  const std::size_t w = static_cast<std::size_t>(word);
  const std::size_t words = static_cast<std::size_t>(rules_.words_);
  // Length: the token's smallest expression must fit into what the other open arguments leave.
  const int room = rules_.max_length_ - length_ - (smallest_rest_ - slot_size());
  if (room < 1) return ~Word{0};
  Word set = rules_.larger_than_[static_cast<std::size_t>(room)][w];
  if (open_ == 1) {
    // A terminal would end the expression: long enough, and nothing missing?
    if (length_ + 1 < rules_.min_length_) set |= rules_.terminals_[w];
    for (std::size_t i = 0; i < met_.size(); ++i) {
      if (!met_[i]) set |= rules_.terminals_[w] & ~rules_.needed_[i][w];
    }
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] >= rules_.limits_[i].most) set |= rules_.limits_[i].tokens[w];
  }
  if (depth_ > 0) {
    const Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
    set |= rules_.below_argument_[frame.token * 2u + frame.argument][w];
    set |= below_[static_cast<std::size_t>(depth_) * words + w];
    if (frame.argument == 1) {
      const TokenSet& beside = rules_.beside_[frame.first];
      if (!beside.empty()) set |= beside[w];
      for (const Rules::Pair& pair : rules_.pairs_) {
        if (contains(pair.effectors.data(), frame.token) && contains(pair.targets.data(), frame.first)) {
          set |= pair.targets[w];
        }
      }
    }
  }
  return set;
}

void Walker::push(Token token) {
  const std::size_t words = static_cast<std::size_t>(rules_.words_);
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += contains(rules_.limits_[i].tokens.data(), token);
  for (std::size_t i = 0; i < met_.size(); ++i) met_[i] |= contains(rules_.needed_[i].data(), token);
  const int arity = rules_.vocabulary_.arity[token];
  smallest_rest_ -= slot_size();
  for (int argument = 0; argument < arity; ++argument) {
    smallest_rest_ += rules_.smallest_argument_[token * 2u + static_cast<unsigned>(argument)];
  }
  ++length_;
  open_ += arity - 1;
  if (depth_ > 0) {
    Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
    if (frame.argument == 0) frame.first = token;
  }
  if (arity > 0) {
    Word* below = below_.data() + static_cast<std::size_t>(depth_ + 1) * words;
    const Word* inherited = depth_ > 0 ? below - words : rules_.none_.data();
    for (std::size_t w = 0; w < words; ++w) below[w] = inherited[w] | rules_.below_[token][w];
    frames_[static_cast<std::size_t>(depth_++)] = {token, 0, 0};
    return;
  }
  // A terminal ends its argument, and every operator whose last argument that was.
  while (depth_ > 0) {
    Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
    if (++frame.argument < rules_.vocabulary_.arity[frame.token]) break;
    --depth_;
  }
}

void Walker::logits(double* out) const {
  const Priors& priors = rules_.priors_;
  // The first token has no length to speak of yet.
  const bool is_soft = priors.soft_variance > 0.0 && length_ > 0;
  const double distance = length_ - priors.soft_location;
  const double penalty = is_soft ? distance * distance / (2.0 * priors.soft_variance) : 0.0;
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

int first_violation(Walker& walker, const Token* tokens, int length) {
  walker.reset();
  for (int position = 0; position < length; ++position) {
    if (walker.is_complete()) return length;
    if (!walker.allows(tokens[position])) return position;
    walker.push(tokens[position]);
  }
  return walker.is_complete() ? -1 : length;
}

int sample(Walker& walker, Rng& rng, int tries, Token* tokens) {
  const std::size_t count = walker.rules().vocabulary().size();
  std::vector<double> weight(count);
  for (int i = 0; i < tries; ++i) {
    walker.reset();
    while (!walker.is_complete()) {
      walker.logits(weight.data());
      const double largest = *std::max_element(weight.begin(), weight.end());
      if (std::isinf(largest)) break;
      double total = 0.0;
      for (double& w : weight) total += w = std::exp(w - largest);
      double rest = rng.uniform() * total;
      std::size_t token = count;
      for (std::size_t t = 0; t < count; ++t) {
        if (weight[t] == 0.0) continue;
        token = t;
        rest -= weight[t];
        if (rest < 0.0) break;
      }
      tokens[walker.length()] = static_cast<Token>(token);
      walker.push(static_cast<Token>(token));
    }
    if (walker.is_complete()) return walker.length();
  }
  return 0;
}

}  // namespace symseed
