// A CUDA driver without a device: the calls that symseed uses, and its kernels run on the processor, warp by warp.
//
// Memory has other content than zeros at first, so that a read of what nobody wrote is seen. `emulator_set` makes
// memory scarce, or the device disappear.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "machine.hpp"

namespace device = symseed::device;

namespace {

enum Code { kDone = 0, kInvalid = 1, kOutOfMemory = 2, kNoDevice = 100, kNotReady = 600, kGone = 719 };

struct State {
  std::size_t limit = std::size_t{1} << 40;
  long launches_left = -1;  // until the device is gone; -1: it stays
  int devices = 1;
  int version = 12040;
  bool is_busy = false;  // whether launches never end
  std::size_t held = 0;
  std::map<char*, std::size_t> sizes;
} state;

using Kernel = void (*)(const symseed::Work&, std::uint64_t, double*);
struct Function {
  const char* name;
  bool by_warps;
  Kernel run;
};
const Function kFunctions[] = {
    {"symseed_evaluate", true, [](const symseed::Work& w, std::uint64_t i, double* m) { device::evaluate(w, i, m); }},
    {"symseed_linearise", true, [](const symseed::Work& w, std::uint64_t i, double* m) { device::linearise(w, i, m); }},
    {"symseed_add_blocks", false,
     [](const symseed::Work& w, std::uint64_t i, double*) {
       if (i < w.sums * symseed::kGroup) device::add_blocks(w, i);
     }},
    {"symseed_add_lanes", false,
     [](const symseed::Work& w, std::uint64_t i, double*) {
       if (i < w.sums) device::add_lanes(w, i);
     }},
    {"symseed_keep_stops", false,
     [](const symseed::Work& w, std::uint64_t i, double*) {
       if (i < w.count) device::keep_stop(w, i);
     }},
};

bool is_gone() { return state.launches_left == 0; }

}  // namespace

extern "C" {

void emulator_set(std::size_t limit, long launches, int devices, int version, bool is_busy) {
  state.limit = limit, state.launches_left = launches, state.devices = devices, state.version = version;
  state.is_busy = is_busy;
}
std::size_t emulator_held() { return state.held; }

int cuInit(unsigned) { return state.devices < 0 ? 3 : state.devices == 0 ? kNoDevice : kDone; }
int cuDriverGetVersion(int* version) { return *version = state.version, kDone; }
int cuDeviceGetCount(int* count) { return *count = state.devices, kDone; }
int cuDeviceGet(int* out, int ordinal) { return *out = ordinal, kDone; }
int cuDeviceGetName(char* name, int size, int) { return std::snprintf(name, size, "emulated"), kDone; }
int cuDeviceTotalMem_v2(std::size_t* size, int) { return *size = state.limit, kDone; }
int cuDeviceGetAttribute(int* out, int attribute, int) {
  return *out = attribute == 75 ? 9 : attribute == 76 ? 0 : 232448, kDone;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &state, kDone; }
int cuCtxSetCurrent(void*) { return is_gone() ? kGone : kDone; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return *free = state.limit - state.held, *total = state.limit, kDone;
}
int cuMemAlloc_v2(std::uint64_t* out, std::size_t size) {
  if (is_gone()) return kGone;
  if (state.held + size > state.limit) return kOutOfMemory;
  char* const memory = static_cast<char*>(std::aligned_alloc(256, (size + 255) / 256 * 256));
  std::memset(memory, 0xab, size);
  state.held += size;
  state.sizes[memory] = size;
  *out = reinterpret_cast<std::uint64_t>(memory);
  return kDone;
}
int cuMemFree_v2(std::uint64_t address) {
  char* const memory = reinterpret_cast<char*>(address);
  if (state.sizes.count(memory) == 0) return kInvalid;
  state.held -= state.sizes[memory];
  state.sizes.erase(memory);
  std::free(memory);
  return kDone;
}
int cuMemAllocHost_v2(void** out, std::size_t size) {
  *out = std::aligned_alloc(256, (size + 255) / 256 * 256);
  std::memset(*out, 0xab, size);
  return kDone;
}
int cuMemFreeHost(void* memory) { return std::free(memory), kDone; }
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t size) {
  return std::memcpy(reinterpret_cast<void*>(to), from, size), is_gone() ? kGone : kDone;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t size) {
  return std::memcpy(to, reinterpret_cast<const void*>(from), size), is_gone() ? kGone : kDone;
}
int cuMemsetD8_v2(std::uint64_t to, unsigned char value, std::size_t size) {
  return std::memset(reinterpret_cast<void*>(to), value, size), is_gone() ? kGone : kDone;
}
int cuModuleLoadData(void** module, const char* image) {
  return *module = &state, std::strcmp(image, "emulated") == 0 ? kDone : kInvalid;
}
int cuModuleGetFunction(const Function** out, void*, const char* name) {
  for (const Function& function : kFunctions) {
    if (std::strcmp(function.name, name) == 0) return *out = &function, kDone;
  }
  return kInvalid;
}
int cuFuncSetAttribute(void*, int, int) { return kDone; }
int cuStreamQuery(void*) { return is_gone() ? kGone : state.is_busy ? kNotReady : kDone; }

int cuLaunchKernel(const Function* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned shared, void*, void** arguments, void**) {
  if (is_gone()) return kGone;
  if (state.launches_left > 0 && --state.launches_left == 0) return kGone;
  if (blocks == 0 || threads == 0 || threads > 1024 || shared > 232448) return kInvalid;
  const symseed::Work work = *static_cast<const symseed::Work*>(arguments[0]);
  const std::uint64_t each = function->by_warps ? threads / device::kWarp : threads;
  const std::size_t doubles = shared / sizeof(double);
  double* const memory = static_cast<double*>(std::malloc(shared + 8));
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < doubles; ++i) memory[i] = -1e300;
    for (std::uint64_t i = 0; i < each; ++i) {
      const std::uint64_t number = block * each + i;
      if (!function->by_warps) {
        function->run(work, number, nullptr);
      } else if (number < work.count * work.blocks) {
        if ((i + 1) * work.memory > doubles) std::abort();
        function->run(work, number, memory + i * work.memory);
      }
    }
  }
  std::free(memory);
  return kDone;
}

}  // extern "C"
