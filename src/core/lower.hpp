// A population as programs for a device (program.hpp).
#pragma once

#include <vector>

#include "parallel.hpp"
#include "program.hpp"
#include "rows.hpp"

namespace symseed {

struct Programs {
  std::vector<Instruction> instructions;
  std::vector<double> numbers;
  std::vector<RowProgram> rows;
  // Whether a device can compute the row: not if it has a user's operator, or a constant that is not finite.
  std::vector<std::uint8_t> is_ordinary;
};

// In parts of consecutive rows, whose instructions and numbers follow one another.
std::vector<Programs> make_programs(const Vocabulary& vocabulary, const Rows& rows, int threads, Monitor& monitor);

}  // namespace symseed
