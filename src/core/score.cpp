#include "score.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace symseed {
namespace {

constexpr int kRankBits = 14;

// Finds equal fingerprints within one batch: an open-addressed table of indices into a growing list.
class BatchIndex {
 public:
  explicit BatchIndex(std::size_t count) : table_(std::bit_ceil(count * 2 + 1), -1) {}

  // The index in `keys` of a key equal to `key`; -1 if there is none, and the key then gets `place`.
  std::ptrdiff_t find_or_add(const std::vector<Fingerprint>& keys, const Fingerprint& key, std::ptrdiff_t place) {
    std::size_t at = key.high;
    for (;; ++at) {
      std::ptrdiff_t& cell = table_[at & (table_.size() - 1)];
      if (cell < 0) {
        cell = place;
        return -1;
      }
      if (keys[static_cast<std::size_t>(cell)] == key) return cell;
    }
  }

 private:
  std::vector<std::ptrdiff_t> table_;
};

}  // namespace

Cache::Cache(std::size_t max_bytes, std::size_t constants_per_row)
    : constants_per_row_(constants_per_row), ranks_(std::size_t{1} << kRankBits) {
  if (constants_per_row > kMostConstants) {
    throw std::invalid_argument("`constants_per_row` must be at most " + std::to_string(kMostConstants) +
                                ", but it is " + std::to_string(constants_per_row) + ".");
  }
  const std::size_t per_entry = sizeof(Entry) + constants_per_row * sizeof(double);
  max_entries_ = std::bit_floor(std::max(max_bytes / per_entry, kPlaces));
  entries_.resize(std::min<std::size_t>(max_entries_, 4096));
  constants_.resize(entries_.size() * constants_per_row);
}

std::ptrdiff_t Cache::find(const Fingerprint& key) const {
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const Entry& entry = entries_[place_of(key, i)];
    if (!entry.is_used()) return -1;
    if (entry.key == key) return static_cast<std::ptrdiff_t>(place_of(key, i));
  }
  return -1;
}

void Cache::insert(const Fingerprint& key, double error, Outcome outcome, const double* fitted, std::size_t count) {
  std::uint8_t& rank = ranks_[key.high & (ranks_.size() - 1)];
  rank = std::max(rank, static_cast<std::uint8_t>(std::countl_zero(key.high | 1) + 1));
  if (count > constants_per_row_) {
    has_forgotten_ = true;
    return;
  }
  if (size_ * 2 >= entries_.size() && entries_.size() < max_entries_) grow();
  std::size_t i = 0;
  while (i < kPlaces && entries_[place_of(key, i)].is_used()) ++i;
  if (i == kPlaces && entries_.size() < max_entries_) {
    grow();
    return insert(key, error, outcome, fitted, count);
  }
  if (i == kPlaces) {
    i = (key.high >> 60) % kPlaces;
    has_forgotten_ = true;
  } else {
    ++size_;
  }
  const std::size_t place = place_of(key, i);
  entries_[place] = {key, error, outcome};
  std::copy(fitted, fitted + count, constants_.begin() + static_cast<std::ptrdiff_t>(place * constants_per_row_));
}

void Cache::count(std::size_t asked, std::size_t evaluated) {
  asked_ += asked;
  evaluated_ += evaluated;
}

Cache::Counts Cache::counts() const {
  const auto held = lock();
  return {asked_, evaluated_, unique()};
}

std::size_t Cache::size() const {
  const auto held = lock();
  return size_;
}

std::size_t Cache::bytes() const {
  const auto held = lock();
  return entries_.capacity() * sizeof(Entry) + constants_.capacity() * sizeof(double);
}

// The improved raw estimator of Ertl 2017 ("New cardinality estimation algorithms for HyperLogLog sketches", eq. 14):
// it has no bias at any size, whereas the original has 2 % at two to three rows per register.
std::size_t Cache::unique() const {
  if (!has_forgotten_) return size_;
  const double registers = static_cast<double>(ranks_.size());
  double sum = 0.0;
  double empty = 0.0;
  for (const std::uint8_t rank : ranks_) {
    if (rank > 0) sum += std::ldexp(1.0, -rank);
    empty += rank == 0;
  }
  // sigma(x) = x + x^2 + 2 x^4 + 4 x^8 + ... of the share x of empty registers, which is below 1 after one dropped row.
  double power = empty / registers;
  double sigma = power;
  for (double factor = 1.0, last = -1.0; sigma != last; factor *= 2.0) {
    power *= power;
    last = sigma;
    sigma += power * factor;
  }
  const double estimate = registers * registers / (2.0 * std::numbers::ln2) / (registers * sigma + sum);
  return std::max(size_, static_cast<std::size_t>(std::lround(estimate)));
}

void Cache::grow() {
  std::vector<Entry> old_entries(entries_.size() * 2);
  std::vector<double> old_constants(old_entries.size() * constants_per_row_);
  old_entries.swap(entries_);
  old_constants.swap(constants_);
  size_ = 0;
  for (std::size_t i = 0; i < old_entries.size(); ++i) {
    const Entry& entry = old_entries[i];
    if (!entry.is_used()) continue;
    insert(entry.key, entry.error, entry.outcome, old_constants.data() + i * constants_per_row_, constants_per_row_);
  }
}

Lookup look_up(const Cache& cache, const Vocabulary& vocabulary, const Rows& rows, bool fits, int threads,
               Monitor& monitor) {
  const std::size_t stride = rows.stride;
  const bool has_constants = vocabulary.has_constants();
  Lookup out;
  out.stride = stride, out.fits = fits;
  out.source.assign(rows.count, -1);
  out.error.resize(rows.count);
  out.outcome.resize(rows.count);
  if (fits) out.constants.assign(rows.constants, rows.constants + rows.count * stride);
  BatchIndex in_batch(rows.count);
  std::vector<Fingerprint> keys(rows.count);
  // Rows of a part: some hundred microseconds of work, which is what a few threads take to start.
  constexpr std::size_t kRows = 2048;
  parallel_chunks(rows.count, kRows, threads, monitor, [&] {
    return [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) keys[i] = fingerprint(vocabulary, rows[i]);
    };
  });
  {
    const auto held = cache.lock();
    for (std::size_t i = 0; i < rows.count; ++i) {
      constexpr std::size_t kAhead = 8;
      if (i + kAhead < rows.count) cache.prefetch(keys[i + kAhead]);
      const std::ptrdiff_t place = cache.find(keys[i]);
      if (place >= 0) {
        out.error[i] = cache.entry(place).error;
        out.outcome[i] = cache.entry(place).outcome;
        if (fits && has_constants) {
          const double* known = cache.constants(place);
          for_each_constant(vocabulary, rows[i],
                            [&](int j) { out.constants[i * stride + static_cast<std::size_t>(j)] = *known++; });
        }
        continue;
      }
      const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(out.rows.size());
      out.source[i] = in_batch.find_or_add(out.keys, keys[i], next);
      if (out.source[i] >= 0) continue;
      out.source[i] = next;
      out.rows.push_back(i);
      out.keys.push_back(keys[i]);
    }
  }
  const std::size_t count = out.rows.size();
  out.tokens.resize(count * stride);
  out.lengths.resize(count);
  out.values.resize(has_constants || fits ? count * stride : 0);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t i = out.rows[n];
    out.lengths[n] = rows.lengths[i];
    std::copy_n(rows.tokens + i * stride, stride, out.tokens.data() + n * stride);
    if (!out.values.empty()) std::copy_n(rows.constants + i * stride, stride, out.values.data() + n * stride);
  }
  return out;
}

void keep(Cache& cache, const Vocabulary& vocabulary, Lookup& lookup, const double* values, const double* error,
          const Outcome* outcome) {
  const std::size_t stride = lookup.stride;
  const std::size_t count = lookup.rows.size();
  for (std::size_t i = 0; i < lookup.source.size(); ++i) {
    if (lookup.source[i] < 0) continue;
    const std::size_t n = static_cast<std::size_t>(lookup.source[i]);
    lookup.error[i] = error[n];
    lookup.outcome[i] = outcome[n];
    if (lookup.fits) std::copy_n(values + n * stride, stride, lookup.constants.data() + i * stride);
  }
  const bool has_constants = vocabulary.has_constants();
  const Rows batch = lookup.fresh();
  std::vector<double> fitted;
  const auto held = cache.lock();
  cache.count(lookup.source.size(), count);
  for (std::size_t n = 0; n < count; ++n) {
    if (cache.find(lookup.keys[n]) >= 0) continue;  // Another thread has scored the same row, with the same result.
    fitted.clear();
    if (has_constants) {
      const double* row = values + n * stride;
      for_each_constant(vocabulary, batch[n], [&](int j) { fitted.push_back(row[j]); });
    }
    cache.insert(lookup.keys[n], error[n], outcome[n], fitted.data(), fitted.size());
  }
}

Lookup score(Cache& cache, const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows,
             const Samples& samples, const std::optional<FitSettings>& fit, int threads, Monitor& monitor) {
  Lookup lookup = look_up(cache, vocabulary, rows, fit.has_value(), threads, monitor);
  Rows batch = lookup.fresh();
  if (lookup.values.empty()) batch.constants = rows.constants;  // not read
  std::vector<double> values = lookup.values, error(batch.count);
  std::vector<Outcome> outcome(batch.count);
  if (fit) {
    fit_constants(options, vocabulary, batch, samples, *fit, threads, monitor, values.data(), error.data(),
                  outcome.data());
  } else {
    squared_errors(options, vocabulary, batch, samples, threads, monitor, error.data(), outcome.data());
  }
  keep(cache, vocabulary, lookup, values.data(), error.data(), outcome.data());
  return lookup;
}

}  // namespace symseed
