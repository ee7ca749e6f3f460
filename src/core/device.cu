// The kernels of a CUDA device. NVRTC compiles them with the core's own headers, all functions for the device.
#include "machine.hpp"

namespace device = symseed::device;

// Blocks of threads that a multiprocessor holds at a time, which bounds the registers of a thread: more of them hide
// more waiting, and fewer have more registers. Measured by `perf/gpu.py --sweep`.
#ifndef SYMSEED_RESIDENT
#define SYMSEED_RESIDENT 6
#endif
#define SYMSEED_BOUNDS __launch_bounds__(128, SYMSEED_RESIDENT)

namespace {

// Calls work(number, memory) for the warps of a launch; each has its part of the shared memory.
template <class Warp>
inline void each_warp(const symseed::Work& work, Warp warp) {
  extern __shared__ double memory[];
  const unsigned here = threadIdx.x / device::kWarp;
  const std::uint64_t number = static_cast<std::uint64_t>(blockIdx.x) * (blockDim.x / device::kWarp) + here;
  if (number < work.count * work.blocks) warp(number, memory + here * work.memory);
}

inline std::uint64_t thread_number() { return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

}  // namespace

extern "C" __global__ void SYMSEED_BOUNDS symseed_evaluate(const symseed::Work work) {
  each_warp(work, [&](std::uint64_t warp, double* memory) { device::evaluate(work, warp, memory); });
}

extern "C" __global__ void SYMSEED_BOUNDS symseed_linearise(const symseed::Work work) {
  each_warp(work, [&](std::uint64_t warp, double* memory) { device::linearise(work, warp, memory); });
}

extern "C" __global__ void symseed_add_blocks(const symseed::Work work) {
  if (thread_number() < work.sums * symseed::kGroup) device::add_blocks(work, thread_number());
}

extern "C" __global__ void symseed_keep_stops(const symseed::Work work) {
  if (thread_number() < work.count) device::keep_stop(work, thread_number());
}
