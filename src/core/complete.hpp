// Semantic completion: every expression is compared with every sub-expression seen.
//
// A table leads from the values that a sub-expression takes at the samples to the shortest sub-expression seen with
// them. The desired values of a node are those with which the whole row would be the target. They are computed from the
// root downwards (semantic backpropagation, Pawlak et al. 2015) and looked up: a hit, put in that node's place, makes
// the row the target.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "evaluate.hpp"
#include "vary.hpp"
#include "walk.hpp"

namespace symseed {

// Values and desired values of one row at every position, on few points.
class Semantics {
 public:
  Semantics(const Vocabulary& vocabulary, const Samples& samples);

  // Computes both; returns false if the row has a value that is not finite.
  bool run(const EvalOptions& options, Row row);
  const double* value(int position) const { return values_[static_cast<std::size_t>(position)]; }
  // The desired values at a position, or null if no inverse reaches it.
  const double* desired(int position) const { return desired_[static_cast<std::size_t>(position)]; }
  // One past the last position of the subtree at a position.
  int end(int position) const { return ends_[static_cast<std::size_t>(position)]; }
  bool has_constants(int position) const { return has_constants_[static_cast<std::size_t>(position)]; }

 private:
  bool run_forward(const EvalOptions& options, Row row);
  void run_back(const EvalOptions& options, Row row);
  bool gives(const EvalOptions& options, int opcode, const double* a, const double* b, const double* desired);

  const Vocabulary& vocabulary_;
  const Samples& samples_;
  Lines value_buffer_, desired_buffer_, trial_;
  std::vector<const double*> values_, desired_;
  std::vector<int> ends_;
  std::vector<std::uint8_t> has_constants_;
};

// Writes values and desired values of a row into (L, M) arrays that begin as NaN, which stays where there are none.
void write_semantics(const EvalOptions& options, const Vocabulary& vocabulary, const Samples& samples, Row row,
                     double* values, double* desired);

// Several threads may use it, and so may a user's function: its lock is held while entries are read or changed, never
// while values are computed or signals are checked.
class Completion {
 public:
  // Sub-expressions of more tokens than this are not kept, so that an entry is one cache line.
  static constexpr int kLongest = 23;

  // `max_bytes` limits the table, `points` the samples whose values are compared (spread evenly over those with a
  // target that is not 0: for a target of 0, a factor may have any value).
  Completion(Vocabulary vocabulary, const Samples& samples, std::size_t max_bytes, int longest, int points);

  struct Counts {
    std::int64_t lookups = 0;
    std::int64_t hits = 0;     // look-ups that found another sub-expression
    std::int64_t splices = 0;  // hits that the rules allow
  };
  struct Found {
    std::vector<Token> tokens;          // (K, L)
    std::vector<std::int32_t> lengths;  // (K,)
    std::vector<double> constants;      // (K, L)
    std::vector<std::int64_t> parent;   // (K,): the row that was completed
  };
  // Adds the sub-expressions of the chosen rows, then completes each of these rows. Rows that cannot be evaluated are
  // left out. Gives at most `limit` completions.
  Found complete(const EvalOptions& options, const Rules& rules, const Rows& rows, const std::int64_t* chosen,
                 std::size_t count, std::size_t stride, std::size_t limit, Monitor& monitor);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  Counts counts() const;
  std::size_t size() const;
  std::size_t bytes() const;

 private:
  // Represents a vector of values: a cell of a grid as wide as the tolerance, and a check.
  struct Key {
    std::uint64_t cell = 0;  // 0: the values are all 0, or too small to differ from it
    double check = 0.0;
    double tolerance = 0.0;
  };
  struct Entry {
    std::uint64_t cell = 0;  // 0: the entry is empty
    double check = 0.0;
    std::uint16_t length = 0;
    Token tokens[kLongest] = {};
  };
  static_assert(sizeof(Entry) == 64);
  // A sub-expression to keep, or desired values to look up.
  struct Place {
    std::size_t row;
    int begin;
    int end;
    Key key;
  };

  struct Places {
    std::vector<Place> kept;
    std::vector<Place> desired;
  };

  Key key_of(const EvalOptions& options, const double* values) const;
  // Places of both kinds in the chosen rows.
  Places places_of(const EvalOptions& options, const Rows& rows, const std::int64_t* chosen, std::size_t count,
                   Monitor& monitor) const;
  // Adds a row with an entry in place of one of its subtrees, if the rules allow it.
  void splice(const Rules& rules, Walker& walker, Row row, const Place& place, const Entry& entry, std::size_t stride,
              Found& found);
  std::size_t bucket(std::uint64_t cell) const { return (cell >> 8 << 1) & (entries_.size() - 1); }
  void prefetch(std::uint64_t cell) const;
  const Entry* find(const Key& key) const;
  void keep(const Key& key, const Token* tokens, int length);
  void put(const Entry& entry);
  void grow();

  Vocabulary vocabulary_;
  Samples samples_;       // the points that are compared
  Lines first_, second_;  // weights of the two projections, 0 at padding
  std::size_t max_entries_;
  int longest_;
  mutable std::mutex mutex_;  // guards all members below
  Counts counts_;
  std::size_t size_ = 0;
  std::vector<Entry> entries_;  // in pairs: the bucket of a cell
};

}  // namespace symseed
