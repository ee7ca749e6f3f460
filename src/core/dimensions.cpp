#include "dimensions.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "function.hpp"
#include "prefix.hpp"

namespace symseed {
namespace {

// Most pairs of dimensions examined for products, so that compiling rules takes milliseconds: chosen by hand.
constexpr std::size_t kPairs = 10'000;

// No dimension: of arguments that do not match, or with exponents too large to represent.
Dimension nowhere() {
  Dimension out;
  out.exponents.fill(std::numeric_limits<std::int32_t>::min());
  return out;
}

bool is_nowhere(const Dimension& a) { return a.exponents[0] == std::numeric_limits<std::int32_t>::min(); }

// a^(power / root); a is not "any".
Dimension raised(const Dimension& a, int power, int root) {
  if (is_nowhere(a)) return a;
  Dimension out;
  for (std::size_t i = 0; i < kBases; ++i) {
    const std::int64_t exponent = std::int64_t{a.exponents[i]} * power;
    if (exponent % root != 0 || std::abs(exponent / root) > kMostExponent) return nowhere();
    out.exponents[i] = static_cast<std::int32_t>(exponent / root);
  }
  return out;
}

// a * b^power, where power is 1 or -1.
Dimension product(const Dimension& a, const Dimension& b, int power) {
  if (is_nowhere(a) || is_nowhere(b)) return nowhere();
  Dimension out;
  for (std::size_t i = 0; i < kBases; ++i) {
    out.exponents[i] = a.exponents[i] + power * b.exponents[i];
    if (std::abs(std::int64_t{out.exponents[i]}) > kMostExponent) return nowhere();
  }
  return out;
}

constexpr Dimension kAny{{}, true};
constexpr Dimension kNumber{};

Dimension value_after(const Action& act, int arity, const Dimension& a, const Dimension& b) {
  switch (act.kind) {
    case Action::Kind::pure:
      return a.meets(kNumber) && (arity == 1 || b.meets(kNumber)) ? kNumber : nowhere();
    case Action::Kind::alike:
      return a.is_any ? b : a.meets(b) ? a : nowhere();
    case Action::Kind::product:
      return a.is_any || b.is_any ? kAny : product(a, b, act.power);
    case Action::Kind::compared:
      return !is_nowhere(a) && (arity == 1 || a.meets(b)) ? kNumber : nowhere();
    case Action::Kind::chosen:
      return is_nowhere(a) ? a : b;
    case Action::Kind::power:
      break;
  }
  return a.is_any ? kAny : raised(a, act.power, act.root);
}

// The dimension of an expansion's value, given those of its arguments.
Dimension value_of(const Vocabulary& expansion, const Dimension& a, const Dimension& b) {
  std::vector<Dimension> stack;
  for (std::size_t position = expansion.size(); position-- > 0;) {
    const int kind = expansion.kind[position];
    if (kind >= kOperatorCount) {
      stack.push_back(kind == kLiteral ? kNumber : expansion.variable[position] == 0 ? a : b);
      continue;
    }
    const int arity = expansion.arity[position];
    const Dimension first = stack.back();
    const Dimension second = stack[stack.size() - static_cast<std::size_t>(arity)];
    stack.resize(stack.size() - static_cast<std::size_t>(arity));
    stack.push_back(value_after(operator_table()[static_cast<std::size_t>(kind)].action, arity, first, second));
  }
  return stack.back();
}

// The action of a user's function: that of its expansion if it is one of the known kinds. Otherwise, and without an
// expansion, the function is one of pure numbers, which every expansion accepts.
Action action_of(const Function& function) {
  const Vocabulary* expansion = function.expansion();
  if (expansion == nullptr) return kPure;
  // Two dimensions that occur nowhere else, for the arguments, with room for roots.
  constexpr std::int32_t kUnit = 256 * 81;
  const Dimension a{{kUnit, 0}}, b{{0, kUnit}};
  if (function.arity() == 1) {
    const Dimension value = value_of(*expansion, a, a);
    const std::int32_t power = value.exponents[0];
    if (is_nowhere(value) || power == 0) return kPure;
    const std::int32_t common = std::gcd(power, kUnit);
    return to_the(power / common, kUnit / common);
  }
  const Dimension value = value_of(*expansion, a, b);
  for (const int power : {1, -1}) {
    if (value == product(a, b, power)) return times_second_to(power);
  }
  return value_of(*expansion, a, a) == a ? kAlike : kPure;
}

Action action_in(const Vocabulary& vocabulary, std::size_t token) {
  if (vocabulary.arity[token] == 0) return kPure;
  if (vocabulary.kind[token] == kFunction) return action_of(*vocabulary.function[token]);
  return operator_table()[vocabulary.kind[token]].action;
}

}  // namespace

Dimension Dimensions::value(Token op, const Dimension& a, const Dimension& b) const {
  return value_after(action(op), vocabulary_.arity[op], a, b);
}

Dimension Dimensions::first(Token op, const Dimension& need) const {
  const Action& act = action(op);
  switch (act.kind) {
    case Action::Kind::pure:
      return kNumber;
    case Action::Kind::alike:
      return need;
    case Action::Kind::product:
    case Action::Kind::compared:
    case Action::Kind::chosen:
      return kAny;
    case Action::Kind::power:
      break;
  }
  return need.is_any ? kAny : raised(need, act.root, act.power);
}

Dimension Dimensions::second(Token op, const Dimension& need, const Dimension& first) const {
  const Action& act = action(op);
  if (act.kind == Action::Kind::pure) return kNumber;
  if (act.kind == Action::Kind::alike) return need.is_any ? first : need;
  if (act.kind == Action::Kind::compared) return first;
  if (act.kind == Action::Kind::chosen) return need;
  if (need.is_any || first.is_any) return kAny;
  return act.power > 0 ? product(need, first, -1) : product(first, need, -1);
}

Dimension Dimensions::first_beside(Token op, const Dimension& need, const Dimension& second) const {
  const Action& act = action(op);
  if (act.kind == Action::Kind::pure) return kNumber;
  if (act.kind == Action::Kind::alike) return need.is_any ? second : need;
  if (act.kind == Action::Kind::compared) return second;
  if (act.kind == Action::Kind::chosen) return kAny;
  return need.is_any || second.is_any ? kAny : product(need, second, -act.power);
}

int Dimensions::least_of_factors(const Dimension& together, int factors) const {
  if (together.is_any) return factors;
  if (factors == 1) return least(together);
  if (!can_join_) return factors;
  // With one token less than factors, they make one expression; other rules may forbid it, and its dimension may be
  // unreachable.
  const int size = std::min({simple_[row(together)], simple_[row(raised(together, -1, 1))], reach_ + 1});
  return std::max(factors, size - (factors - 1));
}

std::size_t Dimensions::Hash::operator()(const Dimension& dimension) const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < kBases; i += 2) {
    const std::uint64_t pair = static_cast<std::uint32_t>(dimension.exponents[i]);
    hash = mix(hash ^ (pair << 32 | static_cast<std::uint32_t>(dimension.exponents[i + 1])));
  }
  return static_cast<std::size_t>(hash);
}

Dimensions::Dimensions(const Vocabulary& vocabulary, std::vector<Dimension> tokens, const Dimension& target, int none)
    : vocabulary_(vocabulary), tokens_(std::move(tokens)), target_(target), none_(none) {
  for (std::size_t t = 0; t < vocabulary_.size(); ++t) actions_.push_back(action_in(vocabulary_, t));
  find_sizes();
}

// The state of the search for dimensions, layer after layer.
struct Dimensions::Layers {
  explicit Layers(int none) : compared(static_cast<std::size_t>(none)), by_size(2), both(2, {none, none}) {}

  bool has_any = false;                         // whether a terminal may have any dimension
  std::vector<Action> powers;                   // actions of the library's operators
  std::vector<int> products;                    // powers of the second argument of the library's products: 1 or -1
  std::size_t compared;                         // the least tokens of a comparison: a pure number
  std::vector<std::vector<Dimension>> by_size;  // by the least number of tokens
  // By row, and by the product's power: the least number of tokens of a product's two arguments together.
  std::vector<std::array<int, 2>> both;

  int& together(std::size_t row, int power) { return both[row][power > 0 ? 0 : 1]; }
  int together(std::size_t row, int power) const { return both[row][power > 0 ? 0 : 1]; }
};

std::size_t Dimensions::add(const Dimension& found, std::size_t size, Layers& layers) {
  const auto [place, is_new] = rows_.try_emplace(found, least_.size());
  if (is_new) {
    layers.by_size[size].push_back(found);
    least_.push_back(static_cast<int>(size));
    layers.both.push_back({none_, none_});
  }
  return place->second;
}

template <class Visit>
void Dimensions::for_each_row(Visit visit) const {
  visit(kAny, kAnywhere);
  visit(nowhere(), kBeyond);
  for (const auto& [dimension, row] : rows_) visit(dimension, row);
}

void Dimensions::find_sizes() {
  Layers layers(none_);
  least_ = {1, none_};
  find_terminals(layers);
  if (!layers.has_any) {
    find_layers(layers);
    find_target(layers);
  }
  // Unreachable dimensions count as none, because a walk to one of them could hardly be completed.
  is_free_ = layers.has_any;
  if (layers.has_any) least_[1] = 1;
  sizes_.resize(least_.size() * tokens_.size());
  for_each_row([&](const Dimension& need, std::size_t row) {
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      const int size = std::min(none_, size_of(static_cast<Token>(t), need, row, layers));
      sizes_[row * tokens_.size() + t] = static_cast<std::uint16_t>(size);
    }
  });
}

void Dimensions::find_terminals(Layers& layers) {
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    const Token token = static_cast<Token>(t);
    if (vocabulary_.arity[t] == 0) {
      layers.has_any = layers.has_any || tokens_[t].is_any;
      if (!tokens_[t].is_any) add(tokens_[t], 1, layers);
    } else if (action(token).kind == Action::Kind::power) {
      layers.powers.push_back(action(token));
    } else if (action(token).kind == Action::Kind::product) {
      layers.products.push_back(action(token).power);
    } else if (action(token).kind == Action::Kind::compared) {
      layers.compared = std::min<std::size_t>(layers.compared, 1u + vocabulary_.arity[t]);
    }
  }
  const auto has = [&](int power) { return std::count(layers.products.begin(), layers.products.end(), power) > 0; };
  can_join_ = has(1) && has(-1);
  // A constant can be a pure number too.
  if (layers.has_any) add(kNumber, 1, layers);
}

void Dimensions::find_layers(Layers& layers) {
  std::size_t pairs = 0;
  std::size_t last = 1;  // the last layer that has a dimension
  for (std::size_t size = 2; size < static_cast<std::size_t>(none_); ++size) {
    if (size > 2 * last + 1) {
      // No two of the dimensions give another one.
      reach_ = none_ - 1;
      break;
    }
    for (std::size_t i = 1; i + 1 < size; ++i) {
      pairs += layers.by_size[i].size() * layers.by_size[size - 1 - i].size() * layers.products.size();
    }
    if (pairs > kPairs) break;
    layers.by_size.emplace_back();
    if (size == layers.compared) add(kNumber, size, layers);
    for (const Dimension& below : layers.by_size[size - 1]) {
      for (const Action& act : layers.powers) {
        const Dimension found = raised(below, act.power, act.root);
        if (!is_nowhere(found)) add(found, size, layers);
      }
    }
    for (std::size_t i = 1; i + 1 < size; ++i) {
      for (const Dimension& a : layers.by_size[i]) {
        for (const Dimension& b : layers.by_size[size - 1 - i]) {
          for (const int power : layers.products) {
            const Dimension found = product(a, b, power);
            if (is_nowhere(found)) continue;
            int& together = layers.together(add(found, size, layers), power);
            together = std::min(together, static_cast<int>(size) - 1);
          }
        }
      }
    }
    reach_ = static_cast<int>(size);
    if (!layers.by_size[size].empty()) last = size;
  }
}

// The target may be one step further: a combination of two dimensions that were found.
void Dimensions::find_target(Layers& layers) {
  if (rows_.contains(target_)) return;
  std::array<int, 2> met{none_, none_};
  for (std::size_t i = 1; i < layers.by_size.size(); ++i) {
    for (const Dimension& a : layers.by_size[i]) {
      for (const int power : layers.products) {
        const auto b = rows_.find(power > 0 ? product(target_, a, -1) : product(a, target_, -1));
        if (b == rows_.end()) continue;
        int& size = met[power > 0 ? 0 : 1];
        size = std::min(size, static_cast<int>(i) + least_[b->second]);
      }
    }
  }
  const int together = std::min(met[0], met[1]);
  if (together >= none_ - 1) return;
  layers.by_size.resize(static_cast<std::size_t>(none_) + 1);
  layers.both[add(target_, static_cast<std::size_t>(1 + together), layers)] = met;
}

// A lower bound of the tokens of an expression that begins with this token; `row` is that of the needed dimension.
int Dimensions::size_of(Token token, const Dimension& need, std::size_t row, const Layers& layers) const {
  const int arity = vocabulary_.arity[token];
  if (arity == 0) return tokens_[token].meets(need) ? 1 : none_;
  switch (action(token).kind) {
    case Action::Kind::power:
      return 1 + least(first(token, need));
    case Action::Kind::alike:
      return 1 + 2 * (layers.has_any ? 1 : least_[row]);
    case Action::Kind::product: {
      if (layers.has_any || need.is_any) return 3;
      const int together = layers.together(row, action(token).power);
      // Two arguments that were not found take at least `reach_` tokens.
      return 1 + (together < none_ ? together : std::max(2, reach_));
    }
    case Action::Kind::chosen:
      return 2 + (layers.has_any ? 1 : least_[row]);
    case Action::Kind::compared:
      return kNumber.meets(need) ? 1 + arity : none_;
    case Action::Kind::pure:
      break;
  }
  return kNumber.meets(need) ? 1 + arity * least(kNumber) : none_;
}

void Dimensions::measure(const Token* tokens, int length, Measures& out) const {
  const std::size_t count = static_cast<std::size_t>(length);
  out.values.resize(count);
  out.needs.resize(count);
  std::vector<int> ends(count);
  subtree_ends(vocabulary_.arity.data(), tokens, length, ends.data());
  for (std::size_t i = count; i-- > 0;) {
    out.values[i] = of(tokens[i]);
    if (vocabulary_.arity[tokens[i]] == 1) out.values[i] = value(tokens[i], out.values[i + 1], {});
    if (vocabulary_.arity[tokens[i]] == 2) {
      out.values[i] = value(tokens[i], out.values[i + 1], out.values[static_cast<std::size_t>(ends[i + 1])]);
    }
  }
  out.needs[0] = target_;
  for (std::size_t i = 0; i < count; ++i) {
    if (vocabulary_.arity[tokens[i]] == 1) out.needs[i + 1] = first(tokens[i], out.needs[i]);
    if (vocabulary_.arity[tokens[i]] == 2) {
      const std::size_t second_at = static_cast<std::size_t>(ends[i + 1]);
      out.needs[i + 1] = first_beside(tokens[i], out.needs[i], out.values[second_at]);
      out.needs[second_at] = second(tokens[i], out.needs[i], out.values[i + 1]);
    }
  }
}

int Dimensions::smallest(Token op, std::size_t argument, const Dimension& need, const Bars& bars) const {
  const std::uint16_t* below = sizes(need);
  const std::size_t count = tokens_.size();
  int size = none_;
  for (std::size_t t = 0; t < count; ++t) {
    if (below[t] < size && !bars(op, argument, static_cast<Token>(t))) size = below[t];
  }
  return size;
}

int Dimensions::smallest_pair(Token op, const Dimension& need, const Bars& bars, const BarsPair& bars_pair) const {
  const std::uint16_t* below = sizes(need);
  const std::size_t count = tokens_.size();
  int size = none_;
  for (std::size_t a = 0; a < count; ++a) {
    if (below[a] >= size || bars(op, 0, static_cast<Token>(a))) continue;
    for (std::size_t b = 0; b < count; ++b) {
      if (below[a] + below[b] >= size || bars(op, 1, static_cast<Token>(b))) continue;
      if (!bars_pair(op, static_cast<Token>(a), static_cast<Token>(b))) size = below[a] + below[b];
    }
  }
  return size;
}

bool Dimensions::raise(const Dimension& need, std::size_t row, const Bars& bars, const BarsPair& bars_pair) {
  const std::size_t count = tokens_.size();
  bool changed = false;
  int least_here = none_;
  for (std::size_t t = 0; t < count; ++t) {
    std::uint16_t& size = sizes_[row * count + t];
    const Token op = static_cast<Token>(t);
    if (vocabulary_.arity[t] > 0 && size < none_) {
      int larger = size;
      const Action::Kind kind = action(op).kind;
      if (kind == Action::Kind::power && row == kBeyond) {
        // An unreachable dimension may be a power of a reachable one.
      } else if (vocabulary_.arity[t] == 1) {
        larger = 1 + smallest(op, 0, first(op, need), bars);
      } else if (kind == Action::Kind::pure) {
        larger = 1 + smallest_pair(op, kNumber, bars, bars_pair);
      } else if (kind == Action::Kind::alike && !need.is_any) {
        larger = 1 + smallest_pair(op, need, bars, bars_pair);
      } else if (kind == Action::Kind::compared) {
        larger = 1 + smallest_pair(op, kAny, bars, bars_pair);
      } else if (kind == Action::Kind::chosen) {
        larger = 1 + smallest(op, 0, kAny, bars) + smallest(op, 1, need, bars);
      }
      larger = std::min(larger, none_);
      changed = changed || larger > size;
      size = std::max(size, static_cast<std::uint16_t>(larger));
    }
    least_here = std::min(least_here, static_cast<int>(size));
  }
  least_[row] = std::max(least_[row], least_here);
  return changed;
}

void Dimensions::obey(const Bars& bars, const BarsPair& bars_pair) {
  simple_ = least_;
  // Bounds only grow, and each pass leaves valid bounds, so the loop may end after any pass.
  constexpr int kPasses = 4;
  bool changed = true;
  for (int pass = 0; pass < kPasses && changed; ++pass) {
    changed = false;
    for_each_row(
        [&](const Dimension& need, std::size_t row) { changed = raise(need, row, bars, bars_pair) || changed; });
  }
  least_below_.assign(sizes_.size(), 1);
  for_each_row([&](const Dimension& need, std::size_t row) {
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      if (vocabulary_.arity[t] != 1) continue;
      const int size = smallest(static_cast<Token>(t), 0, need, bars);
      least_below_[row * tokens_.size() + t] = static_cast<std::uint16_t>(size);
    }
  });
}

}  // namespace symseed
