// Physical dimensions: which dimension each part of an expression may have, so that the whole has the target's.
//
// A dimension is a vector of exponents, in a unit that Python chose so that roots stay whole. Numbers fitted to the
// data may take any dimension, and with them so does what they multiply: "any". As a demand, "any" asks for nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "rng.hpp"
#include "rows.hpp"
#include "scalar.hpp"

namespace symseed {

inline constexpr std::size_t kBases = 8;
// Far below what 32 bits hold, so that no sum of two exponents overflows.
inline constexpr std::int32_t kMostExponent = 1 << 29;

struct Dimension {
  std::array<std::int32_t, kBases> exponents{};
  bool is_any = false;

  bool operator==(const Dimension&) const = default;
  // Whether a value of this dimension satisfies the need.
  bool meets(const Dimension& need) const { return is_any || need.is_any || *this == need; }
};

// Each expression has the dimension of the target.
struct Dimensional {
  std::vector<Dimension> tokens;  // (T,): dimension of each terminal
  Dimension target;
  bool constants_are_free;
};

class Dimensions {
 public:
  // `tokens` (T,): dimension of each terminal. `none` is a size that no expression has.
  Dimensions(const Vocabulary& vocabulary, std::vector<Dimension> tokens, const Dimension& target, int none);

  // Tightens the bounds of sizes by the tokens that may not be arguments of an operator (a pair of them, for two).
  using Bars = std::function<bool(Token op, std::size_t argument, Token below)>;
  using BarsPair = std::function<bool(Token op, Token first, Token second)>;
  void obey(const Bars& bars, const BarsPair& bars_pair);

  const Dimension& target() const { return target_; }
  const Dimension& of(Token terminal) const { return tokens_[terminal]; }
  // The dimension of an operator's value; no value has it if the arguments' dimensions do not match.
  Dimension value(Token op, const Dimension& a, const Dimension& b) const;
  // The needed dimension of the first argument, and of the second given the first.
  Dimension first(Token op, const Dimension& need) const;
  Dimension second(Token op, const Dimension& need, const Dimension& first) const;
  // The needed dimension of the first argument, given the second.
  Dimension first_beside(Token op, const Dimension& need, const Dimension& second) const;
  // The dimension of every subtree of a row, and the dimension that a replacement must have.
  struct Measures {
    std::vector<Dimension> values;
    std::vector<Dimension> needs;
  };
  void measure(const Token* tokens, int length, Measures& out) const;
  // A lower bound of the tokens that an expression of this dimension takes, by its first token (T,), and over all.
  const std::uint16_t* sizes(const Dimension& need) const { return sizes_.data() + row(need) * tokens_.size(); }
  int least(const Dimension& need) const { return least_[row(need)]; }
  // The same for the argument of an operator that takes one, without the tokens that the rules forbid there.
  int least_below(Token op, const Dimension& need) const { return least_below_[row(need) * tokens_.size() + op]; }
  // Whether fitted constants have whatever dimension is needed, so that every prefix can be completed.
  bool is_free() const { return is_free_; }
  // A lower bound of the tokens of several factors, or divisors, that together have this dimension or its inverse.
  int least_of_factors(const Dimension& together, int factors) const;
  bool is_power(Token token) const { return vocabulary_.arity[token] > 0 && action(token).kind == Action::Kind::power; }
  // Whether the value of an operator is a pure number whatever its arguments are.
  bool gives_number(Token op) const {
    return action(op).kind == Action::Kind::pure || action(op).kind == Action::Kind::compared;
  }
  const Action& action(Token op) const { return actions_[op]; }

 private:
  struct Hash {
    std::size_t operator()(const Dimension& dimension) const;
  };
  // Rows of the tables: of "any", of all unreachable dimensions, then of each reachable dimension.
  static constexpr std::size_t kAnywhere = 0, kBeyond = 1;
  std::size_t row(const Dimension& need) const {
    if (need.is_any) return kAnywhere;
    const auto found = rows_.find(need);
    return found == rows_.end() ? kBeyond : found->second;
  }
  // Calls visit(dimension, row) for each reachable dimension.
  template <class Visit>
  void for_each_row(Visit visit) const;
  struct Layers;
  void find_sizes();
  void find_terminals(Layers& layers);
  void find_layers(Layers& layers);
  void find_target(Layers& layers);
  // The row of a dimension; a new one if it is found for the first time, in expressions of `size` tokens.
  std::size_t add(const Dimension& found, std::size_t size, Layers& layers);
  int size_of(Token token, const Dimension& need, std::size_t row, const Layers& layers) const;
  // The smallest argument that an operator's rules allow, and the smallest two of one dimension.
  int smallest(Token op, std::size_t argument, const Dimension& need, const Bars& bars) const;
  int smallest_pair(Token op, const Dimension& need, const Bars& bars, const BarsPair& bars_pair) const;
  // Raises the bounds of a row to the sizes of its operators' arguments; returns whether any changed.
  bool raise(const Dimension& need, std::size_t row, const Bars& bars, const BarsPair& bars_pair);

  Vocabulary vocabulary_;
  std::vector<Dimension> tokens_;
  std::vector<Action> actions_;  // (T,): actions of operators
  Dimension target_;
  int none_;
  std::unordered_map<Dimension, std::size_t, Hash> rows_;
  std::vector<int> least_;
  std::vector<std::uint16_t> sizes_;        // (rows, T)
  std::vector<std::uint16_t> least_below_;  // (rows, T)
  bool is_free_ = false;
  int reach_ = 1;            // all dimensions of expressions up to this size are known
  std::vector<int> simple_;  // least_ without the other rules
  bool can_join_ = false;    // whether the library can write products and quotients
};

}  // namespace symseed
