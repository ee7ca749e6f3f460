// Which kernels this processor can run.
#pragma once

#include <string>
#include <vector>

#include "kernels.hpp"

namespace symseed {

struct InstructionSet {
  std::string name;
  const Kernels* kernels;
};

// Best first; the last runs on any processor that the build is for.
std::vector<InstructionSet> instruction_sets();

}  // namespace symseed
