// Rows as instructions for a device: what the core writes and the device's machine reads (machine.hpp).
//
// An instruction applies one operator; variables and numbers are arguments of instructions, not instructions. They are
// in the order in which the core's interpreter computes operators, so the first failure of a row is the same.
#pragma once

#include <cstdint>

#include "opcodes.hpp"

namespace symseed {

// Where an instruction finds an argument.
enum class Source : std::uint8_t {
  top,     // the value of the instruction before
  slot,    // the last value that was put on the stack
  column,  // a variable of the data
  number,  // a constant or a literal of the row
};

// The opcode of a row that is one variable or one number: its value is that of its argument.
inline constexpr int kCopy = kOperatorCount;

struct alignas(16) Instruction {
  std::uint8_t opcode = 0;
  Source a_source = Source::top;
  Source b_source = Source::top;
  // Whether the value of the instruction before is still needed, and goes onto the stack.
  bool pushes : 1 = false;
  // Whether an argument's subtree holds a constant.
  bool a_varies : 1 = false;
  bool b_varies : 1 = false;
  // The column or the row's number, or for a value the instruction of the row that gave it.
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t position = 0;  // of the operator in the row
};

// A row's part of the instructions and numbers of a population. Its constants are its first numbers, in order.
struct RowProgram {
  std::uint32_t first_instruction;
  std::uint32_t instructions;
  std::uint32_t first_number;
  std::uint32_t constants;
  std::uint32_t depth;  // most values on the stack
};

// No failure.
inline constexpr std::uint32_t kNone = 0xffffffffu;

// The first failure of a row in a block of points.
struct DeviceStop {
  double a;  // arguments of the operator
  double b;
  std::uint64_t instruction;
};

// A launch. All members have eight bytes, so that Python can write it as an array of them.
struct Work {
  // Samples by column, in blocks of kBlock points, the last filled up with the last point.
  const double* columns;  // (V, stride)
  const double* target;
  const double* weight;
  std::uint64_t stride;
  std::uint64_t points;       // in whole groups; those after them fill the last block, and add nothing to a sum
  std::uint64_t first_block;  // of this launch, in these arrays
  std::uint64_t blocks;       // of this launch
  std::uint64_t before;       // number of the launch's first block among all blocks of the data
  // Rows.
  const Instruction* instructions;
  const RowProgram* rows;
  const double* numbers;
  const std::uint32_t* order;      // (count,): the rows of this launch
  const std::uint32_t* first_sum;  // (count,): place of each row's first sum
  std::uint64_t count;
  std::uint64_t sums;    // of all rows of all launches that share `lanes`
  std::uint64_t memory;  // doubles of shared memory for a warp
  // Results.
  double* lanes;           // (blocks, sums, 8)
  double* totals;          // (sums, 8)
  std::uint32_t* failed;   // (N,): number of the first block in which a row failed, or kNone
  DeviceStop* block_stop;  // (blocks, N)
  DeviceStop* stop;        // (N,): of the first block in which the row failed
  std::uint64_t all_rows;  // N
  double* values;          // (count, value_stride): predictions, from the launch's first point on; or (sums,)
  std::uint64_t value_stride;
};

}  // namespace symseed
