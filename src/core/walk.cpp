#include "walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "elementary.hpp"

namespace symseed {
namespace {

void unite(Word* to, const TokenSet& from) {
  for (std::size_t w = 0; w < from.size(); ++w) to[w] |= from[w];
}

void insert(TokenSet& set, Token token) { set[token / 64] |= Word{1} << (token % 64); }

}  // namespace

Rules::Rules(Vocabulary vocabulary, int min_length, int max_length, std::vector<Relation> relations,
             std::vector<Limit> limits, std::vector<Need> needs, const std::vector<Size>& sizes,
             std::vector<Nest> nests, std::optional<Dimensions> dimensions, Priors priors)
    : vocabulary_(std::move(vocabulary)),
      min_length_(min_length),
      max_length_(max_length),
      words_(static_cast<int>((vocabulary_.size() + 63) / 64)),
      none_(static_cast<std::size_t>(words_)),
      terminals_(none_),
      place_(vocabulary_.size()),
      beside_(vocabulary_.size()),
      limits_(std::move(limits)),
      needs_(std::move(needs)),
      nests_(std::move(nests)),
      dimensions_(std::move(dimensions)),
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
  if (!sizes.empty()) most_.assign(operators_.size() * 2, max_length_ + 1);
  for (const Size& size : sizes) {
    int& most = most_[static_cast<std::size_t>(place_[size.op] * 2 + size.argument)];
    most = std::min(most, size.most);
  }
  find_smallest();
  if (dimensions_) {
    const auto at = [&](Token op) { return static_cast<std::size_t>(place_[op] * words_); };
    dimensions_->obey(
        [&](Token op, std::size_t argument, Token below) {
          return contains(below_.data() + at(op), below) ||
                 contains(below_argument_.data() + 2 * at(op) + argument * static_cast<std::size_t>(words_), below);
        },
        [&](Token op, Token first, Token second) {
          return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
            return contains(pair.effectors.data(), op) && contains(pair.targets.data(), first) &&
                   contains(pair.targets.data(), second);
          });
        });
  }
  const bool has_siblings =
      std::any_of(beside_.begin(), beside_.end(), [](const TokenSet& set) { return !set.empty(); });
  is_plain_ = words_ == 1 && limits_.empty() && needs_.empty() && pairs_.empty() && !has_siblings && !dimensions_ &&
              most_.empty() && nests_.empty();
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
        if (!most_.empty() && least > most_[place * 2 + argument]) size = none;
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
      met_(rules.needs_.size()),
      ends_(rules.most_.empty() ? 0 : frames_.size()),
      nested_((frames_.size() + 1) * rules.nests_.size(), -1),
      measures_(rules.dimensions_ ? frames_.size() : 0) {
  reset();
}

void Walker::reset() {
  clear();
  if (rules_.dimensions_) begin(rules_.dimensions_->target());
}

void Walker::reset(const Dimension& need, int taken) {
  clear();
  length_ = taken;
  find_room();
  begin(need);
}

void Walker::clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  std::fill(met_.begin(), met_.end(), std::uint8_t{0});
  depth_ = 0;
  length_ = 0;
  open_ = 1;
  smallest_rest_ = rules_.smallest_root_;
  find_room();
}

int Walker::room_in_arguments() const {
  int room = rules_.max_length_;
  int pending = 0;  // tokens that must follow the next argument within the current one
  for (int depth = depth_ - 1; depth >= 0; --depth) {
    const Frame& frame = frames_[static_cast<std::size_t>(depth)];
    const int end = ends_[static_cast<std::size_t>(depth)];
    if (end != kNoEnd) room = std::min(room, end - length_ - pending);
    for (std::size_t argument = frame.argument + 1u; argument < frame.arity; ++argument) {
      pending += rules_.smallest_argument_[frame.place * 2u + argument];
    }
  }
  return room;
}

void Walker::begin(const Dimension& need) {
  need_ = need;
  sizes_ = rules_.dimensions_->sizes(need_);
  after_ = after(need_, need_.is_any);
}

void Walker::measure(Token token) {
  const Dimensions& dimensions = *rules_.dimensions_;
  const std::size_t depth = static_cast<std::size_t>(depth_);
  if (rules_.vocabulary_.arity[token] > 0) {
    Measure& own = measures_[depth] = {need_, {}, 0};
    need_ = dimensions.first(token, own.need);
    if (rules_.vocabulary_.arity[token] == 2) {
      // The need of the second argument is known already, unless it depends on the first.
      const Dimension second = dimensions.second(token, own.need, {{}, true});
      const std::size_t place = static_cast<std::size_t>(rules_.place_[token]);
      own.reserve = std::max(0, dimensions.least(second) - rules_.smallest_argument_[place * 2 + 1]);
      smallest_rest_ += own.reserve;
    }
  } else {
    Dimension value = dimensions.of(token);
    for (std::size_t i = depth; i-- > 0;) {
      const Frame& frame = frames_[i];
      Measure& own = measures_[i];
      if (frame.argument + 1 < frame.arity) {
        own.first = value;
        need_ = dimensions.second(frame.token, own.need, value);
        smallest_rest_ -= own.reserve;
        break;
      }
      value =
          frame.arity == 1 ? dimensions.value(frame.token, value, {}) : dimensions.value(frame.token, own.first, value);
    }
  }
  sizes_ = dimensions.sizes(need_);
}

int Walker::after(Dimension value, bool is_open) const {
  const Dimensions& dimensions = *rules_.dimensions_;
  int total = smallest_rest_ - slot_size_ + is_open;
  if (dimensions.is_free()) return total;
  // The value of each operator above, as far as it is known: `value` times `factors` that are not chosen yet, for which
  // `total` has `counted` tokens.
  int factors = is_open;
  int counted = is_open;
  int roots = 0;
  for (std::size_t i = static_cast<std::size_t>(depth_); i-- > 0;) {
    const Frame& frame = frames_[i];
    const Measure& own = measures_[i];
    const Action::Kind kind = dimensions.action(frame.token).kind;
    if (frame.argument + 1 < frame.arity) {
      const int second = rules_.smallest_argument_[frame.place * 2u + 1] + own.reserve;
      if (kind == Action::Kind::product && own.need.is_any) {
        ++factors;
        counted += second;
      } else if (kind == Action::Kind::product) {
        const Dimension rest = dimensions.second(frame.token, own.need, value);
        total += std::max(0, dimensions.least_of_factors(rest, factors + 1) - roots - counted - second);
      } else if (kind == Action::Kind::alike && own.need.is_any && factors == 0) {
        total += std::max(0, dimensions.least(value) - second);
      } else if (kind == Action::Kind::compared && factors == 0) {
        total += std::max(0, dimensions.least(value) - second);
      }
      if (kind == Action::Kind::compared || kind == Action::Kind::chosen) {
        // A comparison gives a pure number; otherwise the value has the dimension of the second argument.
        value = {{}, kind == Action::Kind::chosen};
        factors = counted = roots = 0;
      }
    } else if (own.need.is_any && factors > 0 && kind == Action::Kind::power) {
      value = dimensions.value(frame.token, value, {});
      roots += dimensions.action(frame.token).power != dimensions.action(frame.token).root;
    } else if (own.need.is_any) {
      value =
          frame.arity == 1 ? dimensions.value(frame.token, value, {}) : dimensions.value(frame.token, own.first, value);
      if (kind == Action::Kind::compared) factors = counted = roots = 0;
    }
    if (!own.need.is_any) {
      value = own.need;
      factors = counted = roots = 0;
    } else if (factors == 0 && dimensions.least(value) > rules_.max_length_) {
      return rules_.max_length_;
    }
  }
  return total;
}

int Walker::estimate(Token token) const {
  const Dimensions& dimensions = *rules_.dimensions_;
  int size = sizes_[token];
  if (dimensions.is_free() && !need_.is_any && dimensions.is_power(token)) {
    size = std::max(size, 1 + dimensions.least_below(token, dimensions.first(token, need_)));
  }
  if (size > static_cast<int>(room_)) return rules_.max_length_ + 1;
  if (!need_.is_any) return size + after_;
  if (rules_.vocabulary_.arity[token] == 0) return 1 + after(dimensions.of(token), false);
  if (dimensions.gives_number(token)) return size + after({}, false);
  return std::max(after_, size + smallest_rest_ - slot_size_);
}

void Walker::logits(double* out) const {
  const Priors& priors = rules_.priors_;
  // The first token is free of the length prior.
  const bool is_soft = priors.soft_variance > 0.0 && length_ > 0;
  const double distance = length_ - priors.soft_location;
  // Finite, so that a prior forbids nothing.
  const double penalty =
      is_soft ? std::min(distance * distance / (2.0 * priors.soft_variance), std::numeric_limits<double>::max() / 2)
              : 0.0;
  const std::size_t count = rules_.vocabulary_.size();
  Word set = 0;
  for (std::size_t t = 0; t < count; ++t) {
    if (t % 64 == 0) set = barred<Any>(static_cast<int>(t / 64));
    const bool is_terminal = rules_.vocabulary_.arity[t] == 0;
    const bool is_penalised = distance < 0.0 ? is_terminal && open_ == 1 : !is_terminal;
    out[t] = (set >> (t % 64)) & 1 ? -std::numeric_limits<double>::infinity()
                                   : priors.bias[t] - (is_penalised ? penalty : 0.0);
  }
  if (rules_.dimensions_) weigh(out);
}

double Walker::weights(double* out) const {
  const std::size_t count = rules_.vocabulary_.size();
  logits(out);
  const double largest = *std::max_element(out, out + count);
  if (std::isinf(largest)) return 0.0;
  double total = 0.0;
  for (std::size_t t = 0; t < count; ++t) total += out[t] = elementary::exp(out[t] - largest);
  return total;
}

void Walker::weigh(double* logits) const {
  // Few terminals have the needed dimension, and most beginnings lead away from it: without a correction, nearly every
  // walk would continue up to the length limit. Terminals that fit therefore get the weight of all terminals, and other
  // tokens less weight for each token that they need beyond their arguments. Both numbers are chosen by hand.
  constexpr double kDetour = 1.5;
  // The dimension of an operator's value, and so what must come after it, is not known before its arguments are.
  constexpr double kUnknown = 7.0;
  const bool is_open = need_.is_any && !rules_.dimensions_->is_free();
  const int least = smallest_rest_ - slot_size_ + 1;
  int terminals = 0;
  int fitting = 0;
  for (std::size_t t = 0; t < rules_.vocabulary_.size(); ++t) {
    if (std::isinf(logits[t])) continue;
    const int total = estimate(static_cast<Token>(t));
    const bool is_terminal = rules_.vocabulary_.arity[t] == 0;
    terminals += is_terminal;
    if (total > rules_.max_length_ - length_) {
      logits[t] = -std::numeric_limits<double>::infinity();
    } else {
      fitting += is_terminal;
      logits[t] -= kDetour * std::max(0, total - least - rules_.vocabulary_.arity[t]);
      const bool is_unknown = is_open && !is_terminal && !rules_.dimensions_->gives_number(static_cast<Token>(t));
      if (is_unknown) logits[t] -= kUnknown;
    }
  }
  for (std::size_t t = 0; fitting > 0 && t < rules_.vocabulary_.size(); ++t) {
    if (rules_.vocabulary_.arity[t] == 0) logits[t] += elementary::log(static_cast<double>(terminals) / fitting);
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

void first_violations(const Rules& rules, const Rows& rows, Monitor& monitor, std::int32_t* out) {
  Walker walker(rules);
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (i % 64 == 0) monitor.check();
    out[i] = first_violation(walker, rows[i].tokens, rows[i].length);
  }
}

bool logits_along(const Rules& rules, const Rows& rows, Monitor& monitor, double* out) {
  const std::size_t size = rules.vocabulary().size();
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (i % 64 == 0) monitor.check();
    Walker walker(rules);
    for (int j = 0; j < rows[i].length; ++j) {
      const Token token = rows[i].tokens[j];
      if (walker.is_complete() || !walker.allows(token)) return false;
      walker.logits(out + (i * rows.stride + static_cast<std::size_t>(j)) * size);
      walker.push(token);
    }
  }
  return true;
}

NewRows sample_rows(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int tries,
                    Monitor& monitor) {
  NewRows out(count, static_cast<std::size_t>(rules.max_length()), false);
  PriorRunner runner(rules);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 64 == 0) monitor.check();
    Rng rng(seed, step, i);
    out.lengths[i] = sample(runner, rng, tries, out.tokens.data() + i * out.stride);
  }
  return out;
}

}  // namespace symseed
