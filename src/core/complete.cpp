#include "complete.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hash.hpp"
#include "prefix.hpp"

namespace symseed {
namespace {

// Relative difference, on their own scale, up to which values are equal. float64 arithmetic leaves 1e-16 of an exact
// match, and inverses some thousand times as much.
constexpr double kTolerance = 0x1p-30;

// Number of rows processed together, so that memory accesses for their keys overlap: chosen by hand.
constexpr std::size_t kAhead = 8;

// The points at which values are compared: at most `most`, spread evenly over those with a target that is not 0.
std::vector<std::size_t> pick_points(const Samples& samples, std::size_t most) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < samples.points; ++i) {
    if (samples.target[i] != 0.0 && samples.weight[i] > 0.0) all.push_back(i);
  }
  if (all.empty()) {
    for (std::size_t i = 0; i < samples.points; ++i) all.push_back(i);
  }
  if (all.size() <= most) return all;
  std::vector<std::size_t> some(most);
  for (std::size_t i = 0; i < most; ++i) some[i] = all[i * all.size() / most];
  return some;
}

// A dataset's own copy of some of its points.
Samples choose_points(const Samples& samples, const std::vector<std::size_t>& points) {
  Samples out(points.size(), samples.variables);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t v = 0; v < out.variables; ++v) out.column(v)[i] = samples.column(v)[points[i]];
    out.target[i] = samples.target[points[i]];
    out.weight[i] = samples.weight[points[i]];
  }
  out.pad();
  return out;
}

}  // namespace

Semantics::Semantics(const Vocabulary& vocabulary, const Samples& samples)
    : vocabulary_(vocabulary), samples_(samples) {}

bool Semantics::run(const EvalOptions& options, Row row) {
  if (!run_forward(options, row)) return false;
  run_back(options, row);
  return true;
}

bool Semantics::run_forward(const EvalOptions& options, Row row) {
  const std::size_t length = static_cast<std::size_t>(row.length);
  if (values_.size() < length) {
    values_.resize(length);
    desired_.resize(length);
    ends_.resize(length);
    has_constants_.resize(length);
    value_buffer_.resize(length * samples_.padded);
    desired_buffer_.resize(length * samples_.padded);
  }
  subtree_ends(vocabulary_.arity.data(), row.tokens, row.length, ends_.data());
  const std::size_t block = samples_.padded;
  for (int position = row.length; position-- > 0;) {
    const std::size_t at = static_cast<std::size_t>(position);
    const Token token = row.tokens[position];
    const int kind = vocabulary_.kind[token];
    const int arity = vocabulary_.arity[token];
    double* out = value_buffer_.data() + at * block;
    values_[at] = out;
    has_constants_[at] = kind == kConstant;
    if (arity > 0) {
      const std::size_t first = at + 1;
      const std::size_t last = static_cast<std::size_t>(last_argument(ends_.data(), position, arity));
      has_constants_[at] = has_constants_[first] | has_constants_[last];
      const int points = static_cast<int>(block);
      const double* a = values_[first];
      const double* b = values_[last];
      const bool is_finite =
          kind == kFunction ? apply_function(options, *vocabulary_.function[token], a, b, out, points) == Failure::none
                            : options.kernels->forward[static_cast<std::size_t>(kind)](a, b, out, points) < 0;
      if (!is_finite) return false;
    } else if (kind == kVariable) {
      values_[at] = samples_.column(static_cast<std::size_t>(vocabulary_.variable[token]));
    } else {
      const double value = kind == kConstant ? row.constants[position] : vocabulary_.value[token];
      if (!std::isfinite(value)) return false;
      std::fill(out, out + block, value);
    }
  }
  return true;
}

void Semantics::run_back(const EvalOptions& options, Row row) {
  const std::size_t block = samples_.padded;
  std::fill_n(desired_.begin(), row.length, nullptr);
  desired_[0] = samples_.target.data();
  for (int position = 0; position < row.length; ++position) {
    const std::size_t at = static_cast<std::size_t>(position);
    const Token token = row.tokens[position];
    const int arity = vocabulary_.arity[token];
    // A user's operator has no known inverse.
    if (arity == 0 || desired_[at] == nullptr || vocabulary_.kind[token] == kFunction) continue;
    const std::size_t first = at + 1;
    const std::size_t last = static_cast<std::size_t>(last_argument(ends_.data(), position, arity));
    const auto& inverse = options.kernels->inverse[vocabulary_.kind[token]];
    for (std::size_t argument = 0; argument < static_cast<std::size_t>(arity); ++argument) {
      if (inverse[argument] == nullptr) continue;
      const std::size_t child = argument == 0 ? first : last;
      const std::size_t other = argument == 0 ? last : first;
      double* out = desired_buffer_.data() + child * block;
      if (!inverse[argument](desired_[at], values_[other], out, static_cast<int>(block))) continue;
      const double* a = argument == 0 ? out : values_[first];
      const double* b = argument == 0 ? values_[last] : out;
      if (gives(options, vocabulary_.kind[token], a, b, desired_[at])) desired_[child] = out;
    }
  }
}

// Whether the operator gives the desired values, within the tolerance; false if they are lost beside a larger argument.
bool Semantics::gives(const EvalOptions& options, int opcode, const double* a, const double* b, const double* desired) {
  const int points = static_cast<int>(samples_.padded);
  trial_.resize(samples_.padded);
  if (options.kernels->forward[static_cast<std::size_t>(opcode)](a, b, trial_.data(), points) >= 0) return false;
  double error[kGroup] = {};
  double size[kGroup] = {};
  options.kernels->add_squared_error(trial_.data(), desired, samples_.weight.data(), points, error);
  options.kernels->add_product(desired, desired, samples_.weight.data(), points, size);
  return sum_lanes(error) <= kTolerance * kTolerance * sum_lanes(size);
}

void write_semantics(const EvalOptions& options, const Vocabulary& vocabulary, const Samples& samples, Row row,
                     double* values, double* desired) {
  Semantics semantics(vocabulary, samples);
  if (!semantics.run(options, row)) return;
  for (int position = 0; position < row.length; ++position) {
    const std::size_t at = static_cast<std::size_t>(position) * samples.points;
    std::copy_n(semantics.value(position), samples.points, values + at);
    const double* here = semantics.desired(position);
    if (here != nullptr) std::copy_n(here, samples.points, desired + at);
  }
}

Completion::Completion(Vocabulary vocabulary, const Samples& samples, std::size_t max_bytes, int longest, int points)
    : vocabulary_(std::move(vocabulary)),
      samples_(choose_points(samples, pick_points(samples, static_cast<std::size_t>(points)))),
      first_(samples_.padded),
      second_(samples_.padded),
      max_entries_(std::bit_floor(std::max<std::size_t>(max_bytes / sizeof(Entry), 2))),
      longest_(longest),
      entries_(std::min<std::size_t>(max_entries_, 4096)) {
  // Any fixed directions are suitable, as long as no two formulas of interest agree in both.
  Rng rng(0x636f6d706c657465u, 0, 0);
  for (std::size_t i = 0; i < samples_.points; ++i) {
    first_[i] = (0.5 + rng.uniform()) * (rng.chance(0.5) ? 1.0 : -1.0);
    second_[i] = (0.5 + rng.uniform()) * (rng.chance(0.5) ? 1.0 : -1.0);
  }
}

Completion::Counts Completion::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::size_t Completion::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

std::size_t Completion::bytes() const {
  const std::lock_guard lock(mutex_);
  return entries_.capacity() * sizeof(Entry);
}

Completion::Key Completion::key_of(const EvalOptions& options, const double* values) const {
  double lanes[3 * kGroup] = {};
  options.kernels->add_projections(values, first_.data(), second_.data(), static_cast<int>(samples_.padded), lanes);
  const double scale = sum_lanes(lanes + 2 * kGroup);
  if (!(scale > 1e-280) || !std::isfinite(scale)) return {};
  const double cell_width = std::ldexp(kTolerance, std::ilogb(scale));
  const double cell = std::floor(sum_lanes(lanes) / cell_width + 0.5);
  const std::uint64_t hash = mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(cell)) ^
                                 mix(static_cast<std::uint64_t>(std::ilogb(scale))));
  return {hash | 1, sum_lanes(lanes + kGroup), 2.0 * cell_width};
}

void Completion::prefetch(std::uint64_t cell) const {
  const Entry* pair = &entries_[bucket(cell)];
  __builtin_prefetch(pair);
  __builtin_prefetch(pair + 1);
}

const Completion::Entry* Completion::find(const Key& key) const {
  const Entry* pair = &entries_[bucket(key.cell)];
  for (int i = 0; i < 2; ++i) {
    if (pair[i].cell == key.cell && std::fabs(pair[i].check - key.check) <= key.tolerance) return pair + i;
  }
  return nullptr;
}

void Completion::keep(const Key& key, const Token* tokens, int length) {
  Entry entry;
  entry.cell = key.cell;
  entry.check = key.check;
  entry.length = static_cast<std::uint16_t>(length);
  std::copy_n(tokens, length, entry.tokens);
  if (Entry* known = const_cast<Entry*>(find(key))) {
    if (length < known->length) *known = entry;
    return;
  }
  if (size_ * 2 >= entries_.size() && entries_.size() < max_entries_) grow();
  put(entry);
}

// If both places of its bucket hold other values, the longer of the two is replaced, the second if they are equal.
void Completion::put(const Entry& entry) {
  Entry* pair = &entries_[bucket(entry.cell)];
  Entry* place = pair[0].length > pair[1].length ? pair : pair + 1;
  for (int i = 1; i >= 0; --i) {
    if (pair[i].cell == 0) place = pair + i;
  }
  if (place->cell == 0) ++size_;
  *place = entry;
}

void Completion::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  size_ = 0;
  for (const Entry& entry : old) {
    if (entry.cell != 0) put(entry);
  }
}

Completion::Places Completion::places_of(const EvalOptions& options, const Rows& rows, const std::int64_t* chosen,
                                         std::size_t count, Monitor& monitor) const {
  Places out;
  Semantics semantics(vocabulary_, samples_);
  const auto add = [&](std::vector<Place>& to, std::size_t row, int begin, const double* values) {
    const Key key = key_of(options, values);
    if (key.cell != 0) to.push_back({row, begin, semantics.end(begin), key});
  };
  for (std::size_t n = 0; n < count; ++n) {
    if (n % 64 == 0) monitor.check();
    const std::size_t i = static_cast<std::size_t>(chosen[n]);
    const Row row = rows[i];
    if (!semantics.run(options, row)) continue;
    for (int position = 0; position < row.length; ++position) {
      const int length = semantics.end(position) - position;
      const double* desired = semantics.desired(position);
      const bool is_known = position == 0 && !out.desired.empty();  // those of the root are the same for every row
      if (length <= longest_ && !semantics.has_constants(position)) {
        add(out.kept, i, position, semantics.value(position));
      }
      if (desired != nullptr && !is_known) add(out.desired, i, position, desired);
    }
  }
  return out;
}

void Completion::splice(const Rules& rules, Walker& walker, Row row, const Place& place, const Entry& entry,
                        std::size_t stride, Found& found) {
  const int length = row.length - (place.end - place.begin) + entry.length;
  if (length > rules.max_length()) return;
  const std::size_t at = found.tokens.size();
  found.tokens.resize(at + stride, kPad);
  Token* tokens = found.tokens.data() + at;
  std::copy_n(row.tokens, place.begin, tokens);
  std::copy_n(entry.tokens, entry.length, tokens + place.begin);
  std::copy(row.tokens + place.end, row.tokens + row.length, tokens + place.begin + entry.length);
  if (first_violation(walker, tokens, length) != -1) return found.tokens.resize(at);
  ++counts_.splices;
  found.constants.resize(at + stride, kNan);
  double* constants = found.constants.data() + at;
  std::copy_n(row.constants, place.begin, constants);
  std::copy(row.constants + place.end, row.constants + row.length, constants + place.begin + entry.length);
  found.lengths.push_back(length);
  found.parent.push_back(static_cast<std::int64_t>(place.row));
}

Completion::Found Completion::complete(const EvalOptions& options, const Rules& rules, const Rows& rows,
                                       const std::int64_t* chosen, std::size_t count, std::size_t stride,
                                       std::size_t limit, Monitor& monitor) {
  const auto [kept, desired] = places_of(options, rows, chosen, count, monitor);
  std::unique_lock lock(mutex_);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (k + kAhead < kept.size()) prefetch(kept[k + kAhead].key.cell);
    const Place& place = kept[k];
    keep(place.key, rows[place.row].tokens + place.begin, place.end - place.begin);
  }
  Found found;
  Walker walker(rules);
  for (std::size_t k = 0; k < desired.size() && found.parent.size() < limit; ++k) {
    if (k % 1024 == 0) {
      lock.unlock();
      monitor.check();
      lock.lock();
    }
    if (k + kAhead < desired.size()) prefetch(desired[k + kAhead].key.cell);
    const Place& place = desired[k];
    ++counts_.lookups;
    const Entry* entry = find(place.key);
    if (entry == nullptr) continue;
    const Row row = rows[place.row];
    const bool is_itself = entry->length == place.end - place.begin &&
                           std::equal(entry->tokens, entry->tokens + entry->length, row.tokens + place.begin);
    if (is_itself) continue;
    ++counts_.hits;
    splice(rules, walker, row, place, *entry, stride, found);
  }
  return found;
}

}  // namespace symseed
