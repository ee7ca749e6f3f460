// A population as programs for a device (program.hpp).
#pragma once

#include <vector>

#include "parallel.hpp"
#include "program.hpp"
#include "rows.hpp"

namespace symseed {

// Where programs are written.
struct Programs {
  Instruction* instructions;
  double* numbers;
  RowProgram* rows;
  // Whether a device can compute the row: not if it has a user's operator, or a constant that is not finite.
  std::uint8_t* is_ordinary;
};

// Of all rows.
struct ProgramSizes {
  std::uint32_t instructions;
  std::uint32_t numbers;
};

// Says in `out` where each row begins; those of `Programs::rows` say so when the programs are written.
ProgramSizes count_programs(const Vocabulary& vocabulary, const Rows& rows, RowProgram* out, int threads,
                            Monitor& monitor);
void write_programs(const Vocabulary& vocabulary, const Rows& rows, const Programs& to, int threads, Monitor& monitor);

}  // namespace symseed
