// Which kernels this processor can run.
#pragma once

#include <string>
#include <vector>

#include "kernels.hpp"
#include "recurrent.hpp"

namespace symseed {

struct InstructionSet {
  std::string name;
  const Kernels* kernels;
  const Recurrent* recurrent;
};

// Best first; the last runs on any processor that the build is for.
std::vector<InstructionSet> instruction_sets();

}  // namespace symseed
