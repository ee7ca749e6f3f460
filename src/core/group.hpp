// Groups of points: what every loop over numbers runs in.
#pragma once

#include <cstddef>

namespace symseed {

// As many numbers as the widest vector holds (AVX-512). A sum has so many lanes, number i in lane i % kGroup, and loops
// take whole groups only, whatever the width of a vector: so all instruction sets give the same bits.
inline constexpr int kGroup = 8;

// The numbers of the fewest groups that hold `count`: how long an array is after padding.
constexpr std::size_t whole_groups(std::size_t count) { return (count + kGroup - 1) / kGroup * kGroup; }

}  // namespace symseed
