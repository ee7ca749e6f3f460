#include "vary.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "prefix.hpp"
#include "scalar.hpp"

namespace symseed {
namespace {

Token draw(Rng& rng, std::span<const Token> tokens) {
  return tokens[rng.below(static_cast<std::uint32_t>(tokens.size()))];
}

// The opcode of an operator that every build has.
int opcode_of(std::string_view name) {
  const auto& table = operator_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const OperatorInfo& op) { return op.name == name; });
  return static_cast<int>(found - table.begin());
}

const int kAdd = opcode_of("add");
const int kSub = opcode_of("sub");
const int kMul = opcode_of("mul");
const int kDiv = opcode_of("div");

int draw_position(Rng& rng, int first, int end) {
  return first + static_cast<int>(rng.below(static_cast<std::uint32_t>(end - first)));
}

}  // namespace

std::size_t Variation::tournament(Rng& rng, const double* reward, std::size_t count, int size) {
  std::size_t best = rng.below(static_cast<std::uint32_t>(count));
  for (int i = 1; i < size; ++i) {
    const std::size_t other = rng.below(static_cast<std::uint32_t>(count));
    if (reward[other] > reward[best]) best = other;
  }
  return best;
}

void Variation::clear(Child& child) {
  child.tokens.clear();
  child.constants.clear();
}

void Variation::append(Row row, int begin, int end, Child& child) const {
  child.tokens.insert(child.tokens.end(), row.tokens + begin, row.tokens + end);
  if (has_constants_) child.constants.insert(child.constants.end(), row.constants + begin, row.constants + end);
}

void Variation::copy(Row row, Child& child) const {
  clear(child);
  append(row, 0, row.length, child);
}

void Variation::append_new(Token token, Child& child) const {
  child.tokens.push_back(token);
  if (has_constants_) child.constants.push_back(rules_.vocabulary().kind[token] == kConstant ? 1.0 : kNan);
}

Token Variation::draw_opcode(Rng& rng, std::initializer_list<int> opcodes) const {
  const std::vector<std::uint8_t>& kinds = rules_.vocabulary().kind;
  Token drawn = kPad;
  std::uint32_t count = 0;
  for (std::size_t t = 0; t < kinds.size(); ++t) {
    if (std::find(opcodes.begin(), opcodes.end(), kinds[t]) == opcodes.end()) continue;
    if (rng.below(++count) == 0) drawn = static_cast<Token>(t);
  }
  return drawn;
}

bool Variation::append_number(Rng& rng, Child& child) const {
  const Vocabulary& vocabulary = rules_.vocabulary();
  constexpr double kNumbers[] = {1.0, 2.0, 3.0, 0.5};
  const std::uint32_t which = rng.below(4);
  for (std::size_t t = 0; t < vocabulary.size(); ++t) {
    if (vocabulary.kind[t] != kLiteral || vocabulary.value[t] != kNumbers[which]) continue;
    append_new(static_cast<Token>(t), child);
    return true;
  }
  const Token variable = draw_opcode(rng, {kVariable});
  const Token add = draw_opcode(rng, {kAdd});
  const Token div = draw_opcode(rng, {kDiv});
  if (variable == kPad || div == kPad || (which > 0 && add == kPad)) return false;
  const auto append_all = [&](std::initializer_list<Token> tokens) {
    for (const Token token : tokens) append_new(token, child);
  };
  if (which == 0) append_all({div, variable, variable});
  if (which == 1) append_all({div, add, variable, variable, variable});
  if (which == 2) append_all({div, add, variable, add, variable, variable, variable});
  if (which == 3) append_all({div, variable, add, variable, variable});
  return true;
}

// Appends a full tree: operators down to `height`, then terminals.
void Variation::append_tree(Rng& rng, int height, Child& child) const {
  if (height == 0 || rules_.operators().empty()) return append_new(draw(rng, rules_.of_arity(0)), child);
  const Token op = draw(rng, rules_.operators());
  append_new(op, child);
  for (int argument = 0; argument < rules_.arity()[op]; ++argument) append_tree(rng, height - 1, child);
}

// Appends a grown tree: any token below the root, but only operators above `least`, and only terminals at `most`.
void Variation::append_grown(Rng& rng, int least, int most, Child& child) const {
  const std::size_t operators = rules_.operators().size();
  const std::size_t terminals = rules_.of_arity(0).size();
  const bool may_end = least <= 0;
  const bool must_end = most == 0 || operators == 0;
  const std::size_t choices = operators + terminals;
  if (must_end || (may_end && rng.below(static_cast<std::uint32_t>(choices)) < terminals)) {
    return append_new(draw(rng, rules_.of_arity(0)), child);
  }
  const Token op = draw(rng, rules_.operators());
  append_new(op, child);
  for (int argument = 0; argument < rules_.arity()[op]; ++argument) append_grown(rng, least - 1, most - 1, child);
}

void Variation::append_of(Rng& rng, const Dimension& need, int height, int taken, Child& child) {
  const std::size_t count = weights_.size();
  walker_.reset(need, taken);
  while (!walker_.is_complete()) {
    const double total = walker_.weights(weights_.data());
    if (total == 0.0) return;
    // Operators above the height and terminals from there on, if there are any that are allowed.
    const bool wants_operator = walker_.depth() < height;
    double wanted = 0.0;
    for (std::size_t t = 0; t < count; ++t) {
      if ((rules_.arity()[t] > 0) == wants_operator) wanted += weights_[t];
    }
    double rest = rng.uniform() * (wanted > 0.0 ? wanted : total);
    std::size_t drawn = 0;
    for (std::size_t t = 0; t < count; ++t) {
      if (weights_[t] == 0.0 || (wanted > 0.0 && (rules_.arity()[t] > 0) != wants_operator)) continue;
      drawn = t;
      rest -= weights_[t];
      if (rest < 0.0) break;
    }
    append_new(static_cast<Token>(drawn), child);
    walker_.push(static_cast<Token>(drawn));
  }
}

int Variation::draw_partner(Rng& rng, int begin, int length) {
  const std::size_t own = static_cast<std::size_t>(begin);
  for (const bool both : {true, false}) {
    partners_.clear();
    for (int i = 1; i < length; ++i) {
      const std::size_t other = static_cast<std::size_t>(i);
      const bool to_first = second_.values[other].meets(first_.needs[own]);
      const bool to_second = first_.values[own].meets(second_.needs[other]);
      if (both ? to_first && to_second : to_first || to_second) partners_.push_back(i);
    }
    if (!partners_.empty()) return partners_[rng.below(static_cast<std::uint32_t>(partners_.size()))];
  }
  return -1;
}

int Variation::tries() const {
  constexpr int kMore = 20;
  return settings_.retries + 1 + (dimensions_ != nullptr ? kMore : 0);
}

bool Variation::random_tree(Rng& rng, int least, int most, Child& child) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    clear(child);
    const int height = draw_position(rng, least, most + 1);
    if (dimensions_ != nullptr) {
      append_of(rng, dimensions_->target(), height, 0, child);
    } else if (rng.chance(0.5)) {
      append_tree(rng, height, child);
    } else {
      append_grown(rng, least, height, child);
    }
    if (is_legal(child)) return true;
  }
  return false;
}

void Variation::crossover(Rng& rng, Row first, Row second, Child& first_child, Child& second_child) {
  const auto splice = [&](Row row, int begin, int end, Row donor, int donor_begin, int donor_end, Child& child) {
    clear(child);
    append(row, 0, begin, child);
    append(donor, donor_begin, donor_end, child);
    append(row, end, row.length, child);
  };
  bool is_first_done = false;
  bool is_second_done = false;
  if (dimensions_ != nullptr) {
    dimensions_->measure(first.tokens, first.length, first_);
    dimensions_->measure(second.tokens, second.length, second_);
  }
  for (int i = 0; i < tries() && first.length > 1 && second.length > 1; ++i) {
    const int begin_1 = draw_position(rng, 1, first.length);
    const int begin_2 =
        dimensions_ != nullptr ? draw_partner(rng, begin_1, second.length) : draw_position(rng, 1, second.length);
    if (begin_2 < 0) continue;
    const int end_1 = subtree_end(rules_.arity(), first.tokens, begin_1);
    const int end_2 = subtree_end(rules_.arity(), second.tokens, begin_2);
    if (!is_first_done) {
      splice(first, begin_1, end_1, second, begin_2, end_2, first_child);
      is_first_done = is_legal(first_child);
    }
    if (!is_second_done) {
      splice(second, begin_2, end_2, first, begin_1, end_1, second_child);
      is_second_done = is_legal(second_child);
    }
    if (is_first_done && is_second_done) return;
  }
  // Two children that both break a rule become both parents, in random order. A token alone has nothing to swap.
  const bool is_undone = first.length > 1 && second.length > 1 && !(is_first_done && is_second_done);
  const bool is_swapped = settings_.any_parent && is_undone && rng.chance(0.5);
  if (!is_first_done) copy(is_swapped ? second : first, first_child);
  if (!is_second_done) copy(is_swapped ? first : second, second_child);
}

Mutation Variation::draw_mutation(Rng& rng) const {
  double total = 0.0;
  for (const double weight : settings_.weights) total += weight;
  double rest = rng.uniform() * total;
  // Rounding may leave a little of `rest` after the last weight; then the last possible one is drawn.
  Mutation drawn = Mutation::subtree;
  for (int i = 0; i < kMutations; ++i) {
    if (settings_.weights[i] <= 0.0) continue;
    drawn = static_cast<Mutation>(i);
    rest -= settings_.weights[i];
    if (rest < 0.0) break;
  }
  return drawn;
}

void Variation::apply(Rng& rng, Row parent, Mutation mutation, Child& child) {
  clear(child);
  switch (mutation) {
    case Mutation::subtree:
      return replace_subtree(rng, parent, child);
    case Mutation::point:
      return replace_token(rng, parent, child);
    case Mutation::insert:
      return insert_operator(rng, parent, child);
    case Mutation::shrink:
      return shrink(rng, parent, child);
    case Mutation::number:
    case Mutation::twice:
      return join(rng, parent, mutation == Mutation::twice, child);
  }
}

void Variation::replace_subtree(Rng& rng, Row parent, Child& child) {
  const int begin = draw_position(rng, 0, parent.length);
  const int height = draw_position(rng, 0, settings_.new_depth + 1);
  const int end = subtree_end(rules_.arity(), parent.tokens, begin);
  append(parent, 0, begin, child);
  if (dimensions_ != nullptr) {
    append_of(rng, first_.needs[static_cast<std::size_t>(begin)], height, parent.length - (end - begin), child);
  } else {
    append_tree(rng, height, child);
  }
  append(parent, end, parent.length, child);
}

void Variation::replace_token(Rng& rng, Row parent, Child& child) const {
  if (parent.length == 1) return copy(parent, child);
  const int at = draw_position(rng, 1, parent.length);
  append(parent, 0, at, child);
  append_new(draw(rng, rules_.of_arity(rules_.arity()[parent.tokens[at]])), child);
  append(parent, at + 1, parent.length, child);
}

void Variation::insert_operator(Rng& rng, Row parent, Child& child) const {
  if (rules_.operators().empty()) return copy(parent, child);
  const int begin = draw_position(rng, 0, parent.length);
  const int end = subtree_end(rules_.arity(), parent.tokens, begin);
  const Token op = draw(rng, rules_.operators());
  const int arity = rules_.arity()[op];
  const int kept = draw_position(rng, 0, arity);
  append(parent, 0, begin, child);
  append_new(op, child);
  for (int argument = 0; argument < arity; ++argument) {
    if (argument == kept) {
      append(parent, begin, end, child);
    } else {
      append_new(draw(rng, rules_.of_arity(0)), child);
    }
  }
  append(parent, end, parent.length, child);
}

void Variation::shrink(Rng& rng, Row parent, Child& child) const {
  const std::uint8_t* arity = rules_.arity();
  const auto is_operator = [&](Token token) { return arity[token] > 0; };
  const auto count = std::count_if(parent.tokens + 1, parent.tokens + parent.length, is_operator);
  if (count == 0) return copy(parent, child);
  int skip = draw_position(rng, 0, static_cast<int>(count));
  int begin = 1;
  while (!is_operator(parent.tokens[begin]) || skip-- > 0) ++begin;
  const int kept = draw_position(rng, 0, arity[parent.tokens[begin]]);
  const int second = subtree_end(arity, parent.tokens, begin + 1);
  const int kept_begin = kept == 0 ? begin + 1 : second;
  append(parent, 0, begin, child);
  append(parent, kept_begin, subtree_end(arity, parent.tokens, kept_begin), child);
  append(parent, subtree_end(arity, parent.tokens, begin), parent.length, child);
}

void Variation::join(Rng& rng, Row parent, bool with_itself, Child& child) const {
  const Token op = with_itself ? draw_opcode(rng, {kAdd, kMul}) : draw_opcode(rng, {kAdd, kSub, kMul, kDiv});
  if (op == kPad) return copy(parent, child);
  const int begin = draw_position(rng, 0, parent.length);
  const int end = subtree_end(rules_.arity(), parent.tokens, begin);
  append(parent, 0, begin, child);
  append_new(op, child);
  append(parent, begin, end, child);
  if (with_itself) {
    append(parent, begin, end, child);
  } else if (!append_number(rng, child)) {
    return copy(parent, child);
  }
  append(parent, end, parent.length, child);
}

void Variation::mutate(Rng& rng, Row parent, Mutation mutation, Child& child) {
  if (dimensions_ != nullptr) dimensions_->measure(parent.tokens, parent.length, first_);
  for (int i = 0; i < tries(); ++i) {
    apply(rng, parent, mutation, child);
    if (is_legal(child)) return;
  }
  copy(parent, child);
}

std::vector<std::int64_t> tournaments(const double* reward, std::size_t rows, std::size_t count, int size,
                                      std::uint64_t seed, std::uint64_t step, Monitor& monitor) {
  std::vector<std::int64_t> winner(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 64 == 0) monitor.check();
    Rng rng(seed, step, i);
    winner[i] = static_cast<std::int64_t>(Variation::tournament(rng, reward, rows, size));
  }
  return winner;
}

NewRows crossover_pairs(const Rules& rules, const Rows& rows, const VarySettings& settings, std::uint64_t seed,
                        std::uint64_t step, Monitor& monitor) {
  NewRows out(rows.count, child_stride(rules, rows), true);
  Variation variation(rules, settings);
  Child first, second;
  for (std::size_t i = 0; i < rows.count; i += 2) {
    if (i % 64 == 0) monitor.check();
    Rng rng(seed, step, i);
    variation.crossover(rng, rows[i], rows[i + 1], first, second);
    out.set(i, first.row());
    out.set(i + 1, second.row());
  }
  return out;
}

NewRows mutate_rows(const Rules& rules, const Rows& rows, Mutation mutation, const VarySettings& settings,
                    std::uint64_t seed, std::uint64_t step, Monitor& monitor) {
  NewRows out(rows.count, child_stride(rules, rows), true);
  Variation variation(rules, settings);
  Child child;
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (i % 64 == 0) monitor.check();
    Rng rng(seed, step, i);
    variation.mutate(rng, rows[i], mutation, child);
    out.set(i, child.row());
  }
  return out;
}

NewRows random_trees(const Rules& rules, std::size_t count, std::uint64_t seed, std::uint64_t step, int least, int most,
                     int tries, Monitor& monitor) {
  NewRows out(count, static_cast<std::size_t>(rules.max_length()), false);
  const VarySettings settings;
  Variation variation(rules, settings);
  PriorRunner runner(rules);
  Child child;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 64 == 0) monitor.check();
    Rng rng(seed, step, i);
    if (variation.random_tree(rng, least, most, child)) {
      out.set(i, child.row());
    } else {
      out.lengths[i] = sample(runner, rng, tries, out.tokens.data() + i * out.stride);
    }
  }
  return out;
}

Generation next_generation(const Rules& rules, const Rows& rows, const double* reward, const VarySettings& settings,
                           std::uint64_t seed, std::uint64_t step, int threads, Monitor& monitor) {
  Generation out{NewRows(rows.count, child_stride(rules, rows), rules.vocabulary().has_constants()),
                 std::vector<std::int64_t>(rows.count), std::vector<std::uint8_t>(rows.count)};
  // Pairs of a part: some hundred microseconds of work, which is what a few threads take to start.
  constexpr std::size_t kPairs = 512;
  parallel_chunks((rows.count + 1) / 2, kPairs, threads, monitor, [&] {
    return [&, variation = Variation(rules, settings), children = std::array<Child, 2>(), mutant = Child()](
               std::size_t begin, std::size_t end) mutable {
      for (std::size_t first = 2 * begin; first < std::min(2 * end, rows.count); first += 2) {
        if (first % 64 == 0) monitor.check();
        const std::size_t pair = std::min<std::size_t>(2, rows.count - first);
        Rng rng(seed, step, first);
        for (std::size_t i = 0; i < pair; ++i) {
          const std::size_t own = first + i;
          out.parent[own] = static_cast<std::int64_t>(
              settings.tournament == 0 ? own : Variation::tournament(rng, reward, rows.count, settings.tournament));
        }
        const Row a = rows[static_cast<std::size_t>(out.parent[first])];
        const Row b = rows[static_cast<std::size_t>(out.parent[first + pair - 1])];
        const bool is_crossed = pair == 2 && rng.chance(settings.crossover);
        if (is_crossed) {
          variation.crossover(rng, a, b, children[0], children[1]);
        } else {
          variation.copy(a, children[0]);
          variation.copy(b, children[1]);
        }
        for (std::size_t i = 0; i < pair; ++i) {
          const bool is_mutated = rng.chance(settings.mutation);
          if (is_mutated) {
            variation.mutate(rng, children[i].row(), variation.draw_mutation(rng), mutant);
            std::swap(children[i], mutant);
          }
          out.touched[first + i] = static_cast<std::uint8_t>((is_crossed ? kCrossed : 0) | (is_mutated ? kMutated : 0));
          out.children.set(first + i, children[i].row());
        }
      }
    };
  });
  return out;
}

}  // namespace symseed
