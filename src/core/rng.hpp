// Randomness by counting: one stream per (seed, step, row), so any number of threads gives the same answer.
//
// The k-th number of a stream is a hash of k under the stream's 128-bit key, so streams share no state.
#pragma once

#include <cstdint>

namespace symseed {

// David Stafford's 13th variant of the MurmurHash3 finaliser: a bijection of 64 bits in which every bit matters.
inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Rng {
 public:
  Rng(std::uint64_t seed, std::uint64_t step, std::uint64_t row)
      : offset_(mix(mix(mix(seed + kGolden) + step) + row)),
        key_(mix(mix(row + kGolden) ^ mix(seed) ^ (step * kGolden))) {}

  // `mix` with the second half of the key mixed in between its two multiplications.
  std::uint64_t next() {
    std::uint64_t x = offset_ + kGolden * ++count_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27) ^ key_) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }
  // Uniform in 0 ... bound - 1, bound > 0. 32 bits times a bound far below 2^32: the bias is below 2^-32 * bound.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
  std::uint64_t offset_;
  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

}  // namespace symseed
