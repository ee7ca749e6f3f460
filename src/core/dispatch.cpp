#include "dispatch.hpp"

#include <algorithm>
#include <cstdlib>

namespace symseed {

namespace {

constexpr const char* kInstructionSetVariable = "SYMSEED_INSTRUCTION_SET";

// Best first.
std::vector<InstructionSet> found_here() {
  std::vector<InstructionSet> sets;
#ifdef SYMSEED_X86_64
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    sets.push_back({"avx512", &kernels_avx512(), &recurrent_avx512(), &matrix_avx512(), &dense_avx512()});
  }
  if (__builtin_cpu_supports("avx2"))
    sets.push_back({"avx2", &kernels_avx2(), &recurrent_avx2(), &matrix_avx2(), &dense_avx2()});
#endif
  sets.push_back({"portable", &kernels_portable(), &recurrent_portable(), &matrix_portable(), &dense_portable()});
  return sets;
}

const std::vector<InstructionSet>& supported() {
  static const std::vector<InstructionSet> sets = found_here();
  return sets;
}

// With the one that the environment names first.
std::vector<InstructionSet> in_the_order_asked_for(std::vector<InstructionSet> sets) {
  const char* const asked = std::getenv(kInstructionSetVariable);
  if (asked == nullptr || *asked == '\0') return sets;
  const auto found = std::find_if(sets.begin(), sets.end(), [=](const auto& set) { return set.name == asked; });
  if (found == sets.end()) {
    std::string names;
    for (const InstructionSet& set : sets) names += (names.empty() ? "" : ", ") + set.name;
    throw BadEnvironment(std::string(kInstructionSetVariable) + " must be one of " + names +
                         ", which is what this processor can run, but it is `" + std::string(asked).substr(0, 60) +
                         "`. Change it, or unset it: then the first is used.");
  }
  std::rotate(sets.begin(), found, found + 1);
  return sets;
}

}  // namespace

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = in_the_order_asked_for(supported());
  return sets;
}

const InstructionSet& instruction_set(const std::optional<std::string>& name) {
  if (!name) return instruction_sets().front();
  for (const InstructionSet& set : supported()) {
    if (set.name == *name) return set;
  }
  throw std::invalid_argument("`instruction_set` must be one of `instruction_sets()`.");
}

}  // namespace symseed
