#include "dispatch.hpp"

namespace symseed {

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
#ifdef SYMSEED_X86_64
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    sets.push_back({"avx512", &kernels_avx512(), &recurrent_avx512()});
  }
  if (__builtin_cpu_supports("avx2")) sets.push_back({"avx2", &kernels_avx2(), &recurrent_avx2()});
#endif
  sets.push_back({"portable", &kernels_portable(), &recurrent_portable()});
  return sets;
}

}  // namespace symseed
