// The effect of an operator on physical dimensions; the effect of each operator is in opcodes.hpp.
#pragma once

#include <cstdint>

namespace symseed {

struct Action {
  enum class Kind : std::uint8_t { pure, alike, product, power, compared, chosen };
  Kind kind;
  int power = 1;  // product: a * b^power; power: a^(power / root), of the arguments' dimensions
  int root = 1;
};

inline constexpr Action kPure{Action::Kind::pure};          // pure numbers give a pure number
inline constexpr Action kAlike{Action::Kind::alike};        // arguments and value have one dimension
inline constexpr Action kCompared{Action::Kind::compared};  // arguments have one dimension; the value is a pure number
inline constexpr Action kChosen{Action::Kind::chosen};      // the value has the dimension of the second argument
constexpr Action times_second_to(int power) { return {Action::Kind::product, power}; }
constexpr Action to_the(int power, int root = 1) { return {Action::Kind::power, power, root}; }

}  // namespace symseed
