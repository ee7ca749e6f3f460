// A 128-bit fingerprint of a row: its tokens and the values of its constants.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "prefix.hpp"
#include "rng.hpp"

namespace symseed {

struct Fingerprint {
  std::uint64_t high;
  std::uint64_t low;

  bool operator==(const Fingerprint&) const = default;
};

inline Fingerprint fingerprint(const Vocabulary& vocabulary, Row row) {
  Fingerprint out{0x243f6a8885a308d3u, 0x13198a2e03707344u ^ static_cast<std::uint64_t>(row.length)};
  const auto add = [&](std::uint64_t word) {
    out.high = mix(out.high ^ word);
    out.low = (out.low ^ word) * 0x9fb21c651e98df25u;
    out.low ^= out.low >> 32;
  };
  for (int begin = 0; begin < row.length; begin += 4) {
    std::uint64_t word = 0;
    const int count = row.length - begin < 4 ? row.length - begin : 4;
    std::memcpy(&word, row.tokens + begin, sizeof(Token) * static_cast<std::size_t>(count));
    add(word);
  }
  for_each_constant(vocabulary, row, [&](int position) { add(std::bit_cast<std::uint64_t>(row.constants[position])); });
  // Never all zero, which marks an empty entry.
  return {out.high, mix(out.low) | 1};
}

}  // namespace symseed
