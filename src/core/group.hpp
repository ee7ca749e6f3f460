// Groups of points, in which all loops over numbers run, and the mark of a number that is missing.
#pragma once

#include <cstddef>
#include <limits>

namespace symseed {

// The size of the widest vector (AVX-512). A sum has this many lanes, number i in lane i % kGroup, and loops take whole
// groups only, whatever the width of a vector. All instruction sets therefore give the same bits.
inline constexpr int kGroup = 8;

// The size of the fewest groups that hold `count` numbers: the length of an array after padding.
constexpr std::size_t whole_groups(std::size_t count) { return (count + kGroup - 1) / kGroup * kGroup; }

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace symseed
