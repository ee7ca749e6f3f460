// Scores that are computed once: a bounded cache from a row to its error, and scoring through it.
#pragma once

#include <optional>
#include <vector>

#include "fit.hpp"
#include "hash.hpp"

namespace symseed {

// Error, outcome and fitted constants by fingerprint: an open-addressed table in which a row stands in one of sixteen
// places. It doubles as it fills, up to a number of bytes; from then on, a row whose places are all taken gets the one
// that its own fingerprint names. Rows with more constants than an entry has room for are not kept.
class Cache {
 public:
  Cache(std::size_t max_bytes, std::size_t constants_per_row);

  struct Entry {
    Fingerprint key{};  // all zero: nothing is kept here
    double error = 0.0;
    Outcome outcome;

    bool is_used() const { return key.low != 0; }
  };
  // Asks the memory for the place of a row that is to be found soon.
  void prefetch(const Fingerprint& key) const { __builtin_prefetch(&entries_[place_of(key, 0)]); }
  // The place of a row in `entries`, or -1.
  std::ptrdiff_t find(const Fingerprint& key) const;
  const Entry& entry(std::ptrdiff_t place) const { return entries_[static_cast<std::size_t>(place)]; }
  const double* constants(std::ptrdiff_t place) const {
    return constants_.data() + static_cast<std::size_t>(place) * constants_per_row_;
  }
  // Keeps a row that is not there yet; `fitted` holds its `count` constants in order.
  void insert(const Fingerprint& key, double error, Outcome outcome, const double* fitted, std::size_t count);

  std::size_t size() const { return size_; }
  // Different rows ever inserted: exact until the first one is given up, then an estimate (standard error 0.8 %).
  std::size_t unique() const;
  std::size_t capacity() const { return entries_.size(); }
  std::size_t bytes() const { return entries_.capacity() * sizeof(Entry) + constants_.capacity() * sizeof(double); }

 private:
  std::size_t place_of(const Fingerprint& key, std::size_t i) const {
    return ((key.low >> 1) + i) & (entries_.size() - 1);
  }
  void grow();

  static constexpr std::size_t kPlaces = 16;
  std::size_t max_entries_;
  std::size_t constants_per_row_;
  std::size_t size_ = 0;
  bool has_forgotten_ = false;
  std::vector<std::uint8_t> ranks_;  // HyperLogLog registers
  std::vector<Entry> entries_;
  std::vector<double> constants_;  // (entries, constants_per_row)
};

// As `fit_constants` where settings are given (only then is `constants` written), else as `squared_errors`; equal rows
// are computed once. `computed` says which rows were not known.
void score(Cache& cache, const Manner& manner, const Vocabulary& vocabulary, const Rows& rows, const Samples& samples,
           const std::optional<FitSettings>& fit, int threads, Monitor& monitor, double* constants, double* error,
           Outcome* outcome, std::uint8_t* computed);

}  // namespace symseed
