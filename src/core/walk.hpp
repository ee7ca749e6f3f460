// The rules of a search space: one walker over a prefix decides which tokens may come next and whether an expression is
// legal.
//
// Both decisions read the same tables, so that samples and the results of evolution obey the same rules.
// A set of tokens is `words` 64-bit words, one bit per token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dimensions.hpp"
#include "parallel.hpp"
#include "rng.hpp"
#include "rows.hpp"

namespace symseed {

using Word = std::uint64_t;
using TokenSet = std::vector<Word>;

inline bool contains(const Word* set, Token token) { return (set[token / 64] >> (token % 64)) & 1; }

// Relationships of a target to an effector that a rule can forbid.
enum class Relationship : std::uint8_t {
  child = 0,
  descendant = 1,
  sibling = 2,
  left_child = 3,    // first argument of an operator that takes two
  right_child = 4,   // second argument
  unique_child = 5,  // the only kind of argument: the one of an operator that takes one, or both of two
};

struct Relation {
  Relationship relationship;
  TokenSet targets;
  TokenSet effectors;
};

// At most `most` tokens of the set in an expression.
struct Limit {
  TokenSet tokens;
  int most;
};

// At least one token of the set in an expression.
struct Need {
  TokenSet tokens;
};

// At most `most` tokens in one argument of an operator.
struct Size {
  Token op;
  int argument;
  int most;
};

// Below a token of `outer`, no path from it downwards holds more than `most` tokens of `inner`.
struct Nest {
  TokenSet outer;
  TokenSet inner;
  int most;
};

// Adds to the logits of a sampler; a legal expression stays legal.
struct Priors {
  std::vector<double> bias;  // (T,): always added
  double soft_location = 0;  // expected length; below it, tokens that would end the expression lose ...
  double soft_variance = 0;  // ... and from it on, operators do: (t - location)^2 / (2 variance). 0: off
};

// The compiled rules of a search space.
class Rules {
 public:
  Rules(Vocabulary vocabulary, int min_length, int max_length, std::vector<Relation> relations,
        std::vector<Limit> limits, std::vector<Need> needs, const std::vector<Size>& sizes, std::vector<Nest> nests,
        std::optional<Dimensions> dimensions, Priors priors);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::uint8_t* arity() const { return vocabulary_.arity.data(); }
  int max_length() const { return max_length_; }
  // Whether the walker may use its fast path (`Walker::Plain`).
  bool is_plain() const { return is_plain_; }
  // Tokens of one arity, for operators that draw new ones.
  std::span<const Token> of_arity(int arity) const { return by_arity_[static_cast<std::size_t>(arity)]; }
  std::span<const Token> operators() const { return operators_; }
  // The dimensions that expressions must have, or null.
  const Dimensions* dimensions() const { return dimensions_ ? &*dimensions_ : nullptr; }

 private:
  friend class Walker;
  // A unique_child relation, checked when the first of two arguments is known.
  struct Pair {
    TokenSet targets;
    TokenSet effectors;
  };
  void add(const Relation& relation);
  void find_smallest();

  Vocabulary vocabulary_;
  int min_length_;
  int max_length_;
  int words_;
  bool is_plain_ = false;
  TokenSet none_;                     // the empty set
  TokenSet terminals_;                // tokens without arguments
  std::vector<int> place_;            // (T,): index of an operator in operators_
  std::vector<Word> below_argument_;  // (operators, 2, words): forbidden as argument 0 or 1
  std::vector<Word> below_;           // (operators, words): forbidden anywhere below
  std::vector<TokenSet> beside_;      // (T,): forbidden as right sibling of a token; empty if all are allowed
  std::vector<Pair> pairs_;
  std::vector<Limit> limits_;
  std::vector<Need> needs_;
  std::vector<int> most_;  // (operators, 2): most tokens of an argument; empty if none is limited
  std::vector<Nest> nests_;
  std::optional<Dimensions> dimensions_;
  Priors priors_;
  // Size of the smallest expression below a token that its argument rules allow, and of the smallest argument; a size
  // above max_length_ means that there is none.
  std::vector<int> smallest_;           // (T,)
  std::vector<int> smallest_argument_;  // (operators, 2)
  int smallest_root_ = 1;
  std::vector<Word> larger_than_;  // (max_length_ + 1, words): tokens whose smallest expression exceeds that size
  std::vector<std::vector<Token>> by_arity_;
  std::vector<Token> operators_;
};

// A prefix under construction.
class Walker {
 public:
  // Kinds of rules: any; or those of most spaces: up to 64 tokens, relations to parents and ancestors only.
  struct Any {
    static constexpr int words = 0;
    static constexpr bool is_plain = false;
  };
  struct Plain {
    static constexpr int words = 1;
    static constexpr bool is_plain = true;
  };
  explicit Walker(const Rules& rules);

  const Rules& rules() const { return rules_; }
  void reset();
  // Begins a subtree with a needed dimension, in a row that has `taken` other tokens.
  void reset(const Dimension& need, int taken);
  bool is_complete() const { return open_ == 0; }
  int length() const { return length_; }
  int open() const { return open_; }
  int depth() const { return depth_; }
  // Parent and left sibling of the next token, -1 if there is none.
  int parent() const { return depth_ > 0 ? frames_[static_cast<std::size_t>(depth_ - 1)].token : -1; }
  int sibling() const {
    if (depth_ == 0 || frames_[static_cast<std::size_t>(depth_ - 1)].argument == 0) return -1;
    return frames_[static_cast<std::size_t>(depth_ - 1)].first;
  }
  // Whether a token may come next; not for a complete expression. Kind tells the compiler what the rules are.
  template <class Kind = Any>
  bool allows(Token token) const {
    if ((barred<Kind>(Kind::words == 1 ? 0 : token / 64) >> (token % 64)) & 1) return false;
    return Kind::is_plain || !rules_.dimensions_ || fits(token);
  }
  // Adds the next token, allowed or not.
  template <class Kind = Any>
  void push(Token token);
  // The priors' logits of each token here, -inf if it may not come next.
  void logits(double* out) const;
  // The same as unnormalised probabilities, 0 if a token may not come next. Returns their sum, 0 if nothing is allowed.
  double weights(double* out) const;

 private:
  struct Frame {
    Token token;
    Token first;  // root of the first argument, once it is known
    std::uint8_t arity;
    std::uint8_t argument;  // which argument comes next
    std::uint16_t place;    // index of the token among the operators
  };
  // The needed dimension of an operator in `frames_`, and the dimension of its first argument.
  struct Measure {
    Dimension need;
    Dimension first;
    int reserve;  // tokens that its second argument takes beyond what smallest_argument_ says
  };
  void clear();
  void begin(const Dimension& need);
  // Word `word` of the set of tokens that rules other than dimensions forbid next.
  template <class Kind>
  Word barred(int word) const;
  // Whether a token can have the needed dimension, with the tokens that are left.
  bool fits(Token token) const { return estimate(token) <= rules_.max_length_ - length_; }
  // A lower bound of the tokens to the end of the expression if this one is next.
  int estimate(Token token) const;
  // A lower bound of the tokens that come after the next argument if it has this dimension; or, if it `is_open`, of its
  // own and those after it.
  int after(Dimension value, bool is_open) const;
  // The part of dimensions in the logits.
  void weigh(double* logits) const;
  // Updates dimensions, before the token is added.
  void measure(Token token);
  // Length at which an argument that begins here must have ended.
  int end_of(std::size_t place, std::size_t argument) const {
    const int most = rules_.most_[place * 2 + argument];
    return most > rules_.max_length_ ? kNoEnd : length_ + most;
  }
  // Most tokens of the next argument, by the limits of the arguments that it is part of.
  int room_in_arguments() const;
  // Call it when the next slot has changed.
  void find_room() {
    int slot = rules_.smallest_root_;
    if (depth_ > 0) {
      const Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
      slot = rules_.smallest_argument_[frame.place * 2u + frame.argument];
    }
    slot_size_ = slot;
    int room = rules_.max_length_ - length_ - (smallest_rest_ - slot);
    if (!ends_.empty()) room = std::min(room, room_in_arguments());
    room_ = static_cast<std::size_t>(room > 0 ? room : 0);
  }

  static constexpr int kNoEnd = 1 << 30;
  const Rules& rules_;
  std::vector<Frame> frames_;      // operators with open arguments
  std::vector<Word> below_;        // (frames + 1, words): forbidden below each of them
  std::vector<int> counts_;        // tokens counted for each limit
  std::vector<std::uint8_t> met_;  // whether each needed set has occurred
  std::vector<int> ends_;          // (frames): length at which the current argument must have ended; or empty
  std::vector<int> nested_;        // (frames + 1, nests): inner tokens on the path, -1 if no outer one is above
  int depth_ = 0;
  int length_ = 0;
  int open_ = 1;
  int smallest_rest_ = 1;  // fewest tokens of all open arguments together
  int slot_size_ = 1;      // fewest tokens of the next argument
  std::size_t room_ = 0;   // most tokens of the next argument
  // Only if the rules have dimensions.
  std::vector<Measure> measures_;  // by frame
  Dimension need_;                 // of the next argument
  const std::uint16_t* sizes_ = nullptr;
  int after_ = 0;  // result of `after` for the next argument
};

template <class Kind>
inline Word Walker::barred(int word) const {
  const std::size_t w = static_cast<std::size_t>(word);
  const std::size_t words = static_cast<std::size_t>(Kind::words > 0 ? Kind::words : rules_.words_);
  // Length: the token's smallest expression must fit into what the other open arguments leave.
  Word set = rules_.larger_than_[room_ * words + w];
  if (open_ == 1) {
    // A terminal would end the expression: check the least length and the needed tokens.
    if (length_ + 1 < rules_.min_length_) set |= rules_.terminals_[w];
    for (std::size_t i = 0; !Kind::is_plain && i < met_.size(); ++i) {
      if (!met_[i]) set |= rules_.terminals_[w] & ~rules_.needs_[i].tokens[w];
    }
  }
  for (std::size_t i = 0; !Kind::is_plain && i < counts_.size(); ++i) {
    if (counts_[i] >= rules_.limits_[i].most) set |= rules_.limits_[i].tokens[w];
  }
  for (std::size_t i = 0; !Kind::is_plain && i < rules_.nests_.size(); ++i) {
    const Nest& nest = rules_.nests_[i];
    if (nested_[static_cast<std::size_t>(depth_) * rules_.nests_.size() + i] >= nest.most) set |= nest.inner[w];
  }
  if (depth_ == 0) return set;
  const Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
  set |= rules_.below_argument_[(frame.place * 2u + frame.argument) * words + w];
  set |= below_[static_cast<std::size_t>(depth_) * words + w];
  if (!Kind::is_plain && frame.argument == 1) {
    const TokenSet& beside = rules_.beside_[frame.first];
    if (!beside.empty()) set |= beside[w];
    for (const Rules::Pair& pair : rules_.pairs_) {
      if (contains(pair.effectors.data(), frame.token) && contains(pair.targets.data(), frame.first)) {
        set |= pair.targets[w];
      }
    }
  }
  return set;
}

template <class Kind>
inline void Walker::push(Token token) {
  if constexpr (!Kind::is_plain) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += contains(rules_.limits_[i].tokens.data(), token);
    for (std::size_t i = 0; i < met_.size(); ++i) met_[i] |= contains(rules_.needs_[i].tokens.data(), token);
    if (rules_.dimensions_) measure(token);
  }
  const int arity = rules_.vocabulary_.arity[token];
  smallest_rest_ -= slot_size_;
  ++length_;
  open_ += arity - 1;
  if (depth_ > 0) {
    Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
    if (frame.argument == 0) frame.first = token;
  }
  if (arity > 0) {
    const std::size_t words = static_cast<std::size_t>(Kind::words > 0 ? Kind::words : rules_.words_);
    const std::size_t place = static_cast<std::size_t>(rules_.place_[token]);
    for (std::size_t argument = 0; argument < static_cast<std::size_t>(arity); ++argument) {
      smallest_rest_ += rules_.smallest_argument_[place * 2 + argument];
    }
    // At depth 0 there is no parent, and nothing is forbidden.
    Word* below = below_.data() + static_cast<std::size_t>(depth_ + 1) * words;
    for (std::size_t w = 0; w < words; ++w) below[w] = (below - words)[w] | rules_.below_[place * words + w];
    if constexpr (!Kind::is_plain) {
      if (!ends_.empty()) ends_[static_cast<std::size_t>(depth_)] = end_of(place, 0);
      for (std::size_t i = 0; i < rules_.nests_.size(); ++i) {
        const int* above = nested_.data() + static_cast<std::size_t>(depth_) * rules_.nests_.size();
        const int own = above[i] < 0 ? (contains(rules_.nests_[i].outer.data(), token) ? 0 : -1)
                                     : above[i] + contains(rules_.nests_[i].inner.data(), token);
        nested_[(static_cast<std::size_t>(depth_) + 1) * rules_.nests_.size() + i] = own;
      }
    }
    frames_[static_cast<std::size_t>(depth_++)] = {token, 0, static_cast<std::uint8_t>(arity), 0,
                                                   static_cast<std::uint16_t>(place)};
  } else {
    // A terminal ends its argument, and every operator whose last argument that was.
    while (depth_ > 0) {
      Frame& frame = frames_[static_cast<std::size_t>(depth_ - 1)];
      if (++frame.argument < frame.arity) {
        if (!Kind::is_plain && !ends_.empty()) {
          ends_[static_cast<std::size_t>(depth_ - 1)] = end_of(frame.place, frame.argument);
        }
        break;
      }
      --depth_;
    }
  }
  find_room();
  if constexpr (!Kind::is_plain) {
    if (rules_.dimensions_) after_ = after(need_, need_.is_any);
  }
}

// The first position whose token is not allowed; the length if the expression is not complete or continues after its
// end; -1 for a legal row.
int first_violation(Walker& walker, const Token* tokens, int length);

// A sampler that follows the priors alone.
class PriorRunner {
 public:
  explicit PriorRunner(const Rules& rules) : walker_(rules), weights_(rules.vocabulary().size()) {}

  Walker& walker() { return walker_; }
  void reset() { walker_.reset(); }
  // Unnormalised probabilities of the next token, 0 if it is not allowed; false if nothing is.
  bool look() { return (total_ = walker_.weights(weights_.data())) > 0.0; }
  const double* weights() const { return weights_.data(); }
  double total() const { return total_; }
  void take(Token token) { walker_.push(token); }

 private:
  Walker walker_;
  std::vector<double> weights_;
  double total_ = 0.0;
};

// Draws a legal expression token by token, in proportion to the runner's weights. Gives its length, or 0 if `tries`
// walks reached dead ends.
template <class Runner>
int sample(Runner& runner, Rng& rng, int tries, Token* tokens) {
  const std::size_t count = runner.walker().rules().vocabulary().size();
  for (int i = 0; i < tries; ++i) {
    runner.reset();
    while (!runner.walker().is_complete() && runner.look()) {
      const auto* weights = runner.weights();
      double rest = rng.uniform() * static_cast<double>(runner.total());
      // Rounding may leave a little of `rest` after the last token; then the last possible one is drawn.
      std::size_t drawn = 0;
      for (std::size_t t = 0; t < count; ++t) {
        if (weights[t] <= 0) continue;
        drawn = t;
        rest -= static_cast<double>(weights[t]);
        if (rest < 0.0) break;
      }
      tokens[runner.walker().length()] = static_cast<Token>(drawn);
      runner.take(static_cast<Token>(drawn));
    }
    if (runner.walker().is_complete()) return runner.walker().length();
  }
  return 0;
}

// Width of the arrays for rows that are made from others: rows may become as long as the rules allow.
inline std::size_t child_stride(const Rules& rules, const Rows& rows) {
  return std::max(rows.stride, static_cast<std::size_t>(rules.max_length()));
}

// --- All rows of a population, without their constants ---

// Writes the first violation of each row into `out` (N,).
void first_violations(const Rules& rules, const Rows& rows, Monitor& monitor, std::int32_t* out);
// Writes the logits before each token into `out` (N, L, T), 0 after a row's end; false if a row is not the beginning of
// a legal expression.
bool logits_along(const Rules& rules, const Rows& rows, Monitor& monitor, double* out);
// Draws rows from the priors.
NewRows sample_rows(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int tries,
                    Monitor& monitor);

}  // namespace symseed
