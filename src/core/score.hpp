// Scores computed once: a bounded cache from a row to its error, and scoring with it.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "fit.hpp"
#include "hash.hpp"
#include "parallel.hpp"

namespace symseed {

// Error, outcome and fitted constants by fingerprint: an open-addressed table in which a row has sixteen possible
// places. It doubles as it fills, up to a number of bytes; from then on, a row whose places are all taken replaces the
// one that its fingerprint selects. Rows with more constants than an entry has room for are not kept.
//
// Several threads may use it. Its lock is held while entries are read or changed, and never while rows are computed:
// a user's function, which is called then, may use the same cache.
class Cache {
 public:
  // Most constants of a row: more than any row has.
  static constexpr std::size_t kMostConstants = std::size_t{1} << 15;

  Cache(std::size_t max_bytes, std::size_t constants_per_row);

  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }

  struct Entry {
    Fingerprint key{};  // all zero: the entry is empty
    double error = 0.0;
    Outcome outcome;

    bool is_used() const { return key.low != 0; }
  };
  // --- With the lock held.
  // Prefetches the entry of a row that will be looked up soon.
  void prefetch(const Fingerprint& key) const { __builtin_prefetch(&entries_[place_of(key, 0)]); }
  // The index of a row in `entries`, or -1.
  std::ptrdiff_t find(const Fingerprint& key) const;
  const Entry& entry(std::ptrdiff_t place) const { return entries_[static_cast<std::size_t>(place)]; }
  const double* constants(std::ptrdiff_t place) const {
    return constants_.data() + static_cast<std::size_t>(place) * constants_per_row_;
  }
  // Adds a row that is not in the cache; `fitted` holds its `count` constants in order.
  void insert(const Fingerprint& key, double error, Outcome outcome, const double* fitted, std::size_t count);

  // Records that a batch of rows was scored, some of which were computed.
  void count(std::size_t asked, std::size_t evaluated);

  // --- Without the lock.
  struct Counts {
    std::size_t asked = 0;      // rows, repeats included
    std::size_t evaluated = 0;  // rows that were computed
    std::size_t unique = 0;     // different rows: exact until one is dropped, then an estimate (error 0.8 %)
  };
  Counts counts() const;
  std::size_t size() const;
  std::size_t bytes() const;

 private:
  std::size_t place_of(const Fingerprint& key, std::size_t i) const {
    return ((key.low >> 1) + i) & (entries_.size() - 1);
  }
  std::size_t unique() const;
  void grow();

  static constexpr std::size_t kPlaces = 16;
  mutable std::mutex mutex_;
  std::size_t max_entries_;
  std::size_t constants_per_row_;
  std::size_t size_ = 0;
  std::size_t asked_ = 0;
  std::size_t evaluated_ = 0;
  bool has_forgotten_ = false;
  std::vector<std::uint8_t> ranks_;  // HyperLogLog registers
  std::vector<Entry> entries_;
  std::vector<double> constants_;  // (entries, constants_per_row)
};

// Rows of a population that are not in a cache, each of them once, and what the cache knows of the others. Between
// `look_up` and `keep`, the rows are computed, here or on a device.
struct Lookup {
  std::size_t stride = 0;              // L
  bool fits = false;                   // whether the scores are those of fitted constants
  std::vector<std::ptrdiff_t> source;  // (N,): index among the fresh rows, or -1 if the row is in the cache
  std::vector<std::size_t> rows;       // (F,): first of equal rows
  std::vector<Fingerprint> keys;       // (F,)
  std::vector<Token> tokens;           // (F, L)
  std::vector<std::int32_t> lengths;   // (F,)
  std::vector<double> values;          // (F, L): constants; empty if no row has any
  std::vector<double> constants;       // (N, L) if scores are those of fitted constants, otherwise empty
  std::vector<double> error;           // (N,)
  std::vector<Outcome> outcome;        // (N,)

  Rows fresh() const { return {tokens.data(), lengths.data(), values.data(), lengths.size(), stride}; }
};

Lookup look_up(const Cache& cache, const Vocabulary& vocabulary, const Rows& rows, bool fits, int threads,
               Monitor& monitor);

// Takes the results of the fresh rows, with `values` their constants, into the cache, and completes those of all rows.
void keep(Cache& cache, const Vocabulary& vocabulary, Lookup& lookup, const double* values, const double* error,
          const Outcome* outcome);

// Like `fit_constants` if settings are given, otherwise like `squared_errors`; equal rows are computed once.
Lookup score(Cache& cache, const EvalOptions& options, const Vocabulary& vocabulary, const Rows& rows,
             const Samples& samples, const std::optional<FitSettings>& fit, int threads, Monitor& monitor);

}  // namespace symseed
