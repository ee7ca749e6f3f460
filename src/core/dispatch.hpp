// Which kernels this processor can run.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.hpp"
#include "matrix.hpp"
#include "recurrent.hpp"

namespace symseed {

struct InstructionSet {
  std::string name;
  const Kernels* kernels;
  const Recurrent* recurrent;
  const Matrix* matrix;
};

// A variable of the environment has a value that cannot be used; the message is for users.
struct BadEnvironment : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Best first, "portable" last; but the one that SYMSEED_INSTRUCTION_SET names comes before all others. The environment
// is read once. All functions use the first, unless they are told another.
const std::vector<InstructionSet>& instruction_sets();

}  // namespace symseed
