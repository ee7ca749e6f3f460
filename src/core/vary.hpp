// Variation: (random source, parents) -> child. Operators of the paper's genetic programming, over prefix rows.
//
// A child that breaks a rule is made again, up to `retries` times, and then becomes a copy of its parent. Constants
// move with their tokens; a new constant starts at 1. If the rules have dimensions, which few changes preserve,
// subtrees are swapped for those of the same dimension, new ones are grown with the walker, and there are more retries.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "parallel.hpp"
#include "rng.hpp"
#include "walk.hpp"

namespace symseed {

enum class Mutation : std::uint8_t { subtree = 0, point = 1, insert = 2, shrink = 3, number = 4, twice = 5 };
inline constexpr int kMutations = static_cast<int>(Mutation::twice) + 1;

// A row that owns its arrays.
struct Child {
  std::vector<Token> tokens;
  std::vector<double> constants;  // empty if the library has none

  int length() const { return static_cast<int>(tokens.size()); }
  Row row() const { return {tokens.data(), constants.empty() ? nullptr : constants.data(), length()}; }
};

struct VarySettings {
  double crossover = 0.5;  // probability that a pair crosses
  double mutation = 0.5;   // probability that a row mutates
  int tournament = 5;      // rows drawn, the best of which becomes a parent; 0: each row is its own
  int new_depth = 3;       // greatest height of a new subtree
  int retries = 0;         // most times that a child that breaks a rule is made again
  double weights[kMutations] = {1, 1, 1, 1, 0, 0};  // relative probability of each Mutation
  bool any_parent = false;  // whether a child of a crossover that breaks a rule becomes a random one of its parents
};

// Makes children; one per thread. `parent` and `child` are never the same.
class Variation {
 public:
  Variation(const Rules& rules, const VarySettings& settings)
      : rules_(rules),
        settings_(settings),
        has_constants_(rules.vocabulary().has_constants()),
        walker_(rules),
        dimensions_(rules.dimensions()),
        weights_(rules.vocabulary().size()) {}

  // The best of `size` rows drawn with replacement; the first drawn of equal ones.
  static std::size_t tournament(Rng& rng, const double* reward, std::size_t count, int size);

  // Swaps a subtree of each parent, but never a whole parent. Each child is legal or a copy of its parent.
  void crossover(Rng& rng, Row first, Row second, Child& first_child, Child& second_child);
  void mutate(Rng& rng, Row parent, Mutation mutation, Child& child);
  Mutation draw_mutation(Rng& rng) const;
  // A new tree of a height from `least` to `most`, full or grown; false if 100 of them broke a rule.
  bool random_tree(Rng& rng, int least, int most, Child& child);
  void copy(Row row, Child& child) const;

 private:
  bool is_legal(const Child& child) {
    // Most violations are of length, and need no walk.
    return child.length() <= rules_.max_length() && first_violation(walker_, child.tokens.data(), child.length()) == -1;
  }
  // Writes a mutation of the parent, legal or not, into an empty child; a copy if the parent has no place for it.
  void apply(Rng& rng, Row parent, Mutation mutation, Child& child);
  void replace_subtree(Rng& rng, Row parent, Child& child);
  void replace_token(Rng& rng, Row parent, Child& child) const;
  void insert_operator(Rng& rng, Row parent, Child& child) const;
  // Replaces an operator by one of its arguments.
  void shrink(Rng& rng, Row parent, Child& child) const;
  // Combines a subtree with itself or with a number, by an operator of arithmetic.
  void join(Rng& rng, Row parent, bool with_itself, Child& child) const;
  void append_tree(Rng& rng, int height, Child& child) const;
  void append_grown(Rng& rng, int least, int most, Child& child) const;
  void append_new(Token token, Child& child) const;
  void append(Row row, int begin, int end, Child& child) const;
  // Appends 1, 2, 3 or 1/2: a literal of that value, or an expression of a variable; false if neither is possible.
  bool append_number(Rng& rng, Child& child) const;
  // A token of one of these opcodes, drawn evenly; kPad if the library has none.
  Token draw_opcode(Rng& rng, std::initializer_list<int> opcodes) const;
  static void clear(Child& child);
  // Appends a tree of about this height with a dimension, for a row that has `taken` other tokens.
  void append_of(Rng& rng, const Dimension& need, int height, int taken, Child& child);
  // A subtree of `other` that may replace the one at `begin` of the other row, and if possible the other way round too;
  // -1 if there is none.
  int draw_partner(Rng& rng, int begin, int length);
  int tries() const;

  const Rules& rules_;
  const VarySettings& settings_;
  bool has_constants_;  // if not, a child's constants are left empty
  Walker walker_;
  const Dimensions* dimensions_;  // null if there is no rule of dimensions
  Dimensions::Measures first_;    // measures of a parent
  Dimensions::Measures second_;   // measures of its partner
  std::vector<double> weights_;
  std::vector<int> partners_;
};

// --- All rows of a population ---

// The winner of each of `count` tournaments among `rows` rows.
std::vector<std::int64_t> tournaments(const double* reward, std::size_t rows, std::size_t count, int size,
                                      std::uint64_t seed, std::uint64_t step, Monitor& monitor);
// Crosses each pair of rows.
NewRows crossover_pairs(const Rules& rules, const Rows& rows, const VarySettings& settings, std::uint64_t seed,
                        std::uint64_t step, Monitor& monitor);
// Mutates each row in the same way.
NewRows mutate_rows(const Rules& rules, const Rows& rows, Mutation mutation, const VarySettings& settings,
                    std::uint64_t seed, std::uint64_t step, Monitor& monitor);
// New trees of a height from `least` to `most`. A row for which 100 of them broke a rule is drawn from the priors.
NewRows random_trees(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int least, int most,
                     int tries, Monitor& monitor);

// Flags of `Generation::touched`.
inline constexpr int kCrossed = 1;
inline constexpr int kMutated = 2;

// One generation: as many children as rows, from tournament winners, pairs crossed, rows mutated.
struct Generation {
  NewRows children;                   // with constants if the library has any
  std::vector<std::int64_t> parent;   // (N,): the row each child began as
  std::vector<std::uint8_t> touched;  // (N,): the flags of what was done to each, even if it was undone
};

Generation next_generation(const Rules& rules, const Rows& rows, const double* reward, const VarySettings& settings,
                           std::uint64_t seed, std::uint64_t step, int threads, Monitor& monitor);

}  // namespace symseed
