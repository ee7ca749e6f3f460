// Which kernels this processor can run.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dense.hpp"
#include "kernels.hpp"
#include "matrix.hpp"
#include "recurrent.hpp"

namespace symseed {

struct InstructionSet {
  std::string name;
  const Kernels* kernels;
  const Recurrent* recurrent;
  const Matrix* matrix;
  const Dense* dense;
};

// An environment variable has a value that cannot be used; the message is for users.
struct BadEnvironment : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Best first, "portable" last, but the one that SYMSEED_INSTRUCTION_SET names comes first. The environment is read
// once; if it names an unknown set, this throws BadEnvironment.
const std::vector<InstructionSet>& instruction_sets();

// The set of that name, or the first.
const InstructionSet& instruction_set(const std::optional<std::string>& name);

}  // namespace symseed
