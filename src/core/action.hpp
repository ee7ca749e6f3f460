// How an operator acts on physical dimensions; each operator's own is in opcodes.hpp.
#pragma once

#include <cstdint>

namespace symseed {

struct Action {
  enum class Kind : std::uint8_t { pure, alike, product, power, compared, chosen };
  Kind kind;
  int power = 1;  // product: the first argument's times the second's to this; power: the argument's to power / root
  int root = 1;
};

inline constexpr Action kPure{Action::Kind::pure};          // of pure numbers, a pure number
inline constexpr Action kAlike{Action::Kind::alike};        // arguments and value have one dimension
inline constexpr Action kCompared{Action::Kind::compared};  // arguments have one dimension, whichever; a pure number
inline constexpr Action kChosen{Action::Kind::chosen};      // the second argument's, whatever the first has
constexpr Action times_second_to(int power) { return {Action::Kind::product, power}; }
constexpr Action to_the(int power, int root = 1) { return {Action::Kind::power, power, root}; }

}  // namespace symseed
