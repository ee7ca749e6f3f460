// What is allowed: one walker over a prefix, which says which tokens may come next and whether an expression is legal.
//
// Both questions read the same tables, so that what is sampled and what evolution makes obey the same rules.
// A set of tokens is `words` 64-bit words, one bit per token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rng.hpp"
#include "rows.hpp"

namespace symseed {

using Word = std::uint64_t;
using TokenSet = std::vector<Word>;

inline bool contains(const Word* set, Token token) { return (set[token / 64] >> (token % 64)) & 1; }

// How a target may not stand to an effector.
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
        std::vector<Limit> limits, std::vector<TokenSet> needed, Priors priors);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::uint8_t* arity() const { return vocabulary_.arity.data(); }
  int max_length() const { return max_length_; }
  int words() const { return words_; }
  // Tokens of one arity, for operators that draw new ones.
  std::span<const Token> of_arity(int arity) const { return by_arity_[static_cast<std::size_t>(arity)]; }
  std::span<const Token> operators() const { return operators_; }

 private:
  friend class Walker;
  // A unique_child relation, looked at when the first of two arguments is known.
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
  TokenSet none_;                         // the empty set
  TokenSet terminals_;                    // tokens without arguments
  std::vector<TokenSet> below_argument_;  // (T * 2): forbidden as argument 0 or 1 of a token; empty for terminals
  std::vector<TokenSet> below_;           // (T,): forbidden anywhere below a token
  std::vector<TokenSet> beside_;          // (T,): forbidden as right sibling of a token; empty where all are allowed
  std::vector<Pair> pairs_;
  std::vector<Limit> limits_;
  std::vector<TokenSet> needed_;  // an expression holds at least one token of each
  Priors priors_;
  // Size of the smallest expression below a token that its argument rules allow, and of the smallest argument; a size
  // above max_length_ means that there is none.
  std::vector<int> smallest_;           // (T,)
  std::vector<int> smallest_argument_;  // (T * 2)
  int smallest_root_ = 1;
  std::vector<TokenSet> larger_than_;  // (max_length_ + 1): tokens whose smallest expression exceeds that size
  std::vector<std::vector<Token>> by_arity_;
  std::vector<Token> operators_;
};

// A prefix under construction.
class Walker {
 public:
  explicit Walker(const Rules& rules);

  const Rules& rules() const { return rules_; }
  void reset();
  bool is_complete() const { return open_ == 0; }
  int length() const { return length_; }
  // Word `word` of the set of tokens that may not come next. Not for a complete expression.
  Word forbidden(int word) const;
  bool allows(Token token) const { return !((forbidden(token / 64) >> (token % 64)) & 1); }
  // The next token, whether allowed or not.
  void push(Token token);
  // What the priors say of each token here, -inf where it may not come next.
  void logits(double* out) const;

 private:
  struct Frame {
    Token token;
    std::uint8_t argument;  // which argument comes next
    Token first;            // root of the first argument, once it is known
  };
  int slot_size() const;

  const Rules& rules_;
  std::vector<Frame> frames_;      // operators with arguments to come
  std::vector<Word> below_;        // (frames + 1, words): forbidden below each of them
  std::vector<int> counts_;        // of each limit
  std::vector<std::uint8_t> met_;  // of each needed set
  int depth_ = 0;
  int length_ = 0;
  int open_ = 1;
  int smallest_rest_ = 1;  // least number of tokens that all open arguments take together
};

// The first position whose token is not allowed there; the length where the expression is not complete or goes on after
// it is; -1 for a legal row.
int first_violation(Walker& walker, const Token* tokens, int length);

// Draws a legal expression, each token with probability proportional to exp(prior logits) among those allowed. Gives
// its length, or 0 where `tries` walks all ended where nothing was allowed.
int sample(Walker& walker, Rng& rng, int tries, Token* tokens);

}  // namespace symseed
