// Work over many rows: in chunks, on several threads, and able to stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace symseed {

// Thrown out of a loop that was told to stop.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// Asks the caller's `is_stop_wanted` at most every 20 ms, and only on the thread that made it; other threads see the
// answer. Loops call `check` at least every few milliseconds.
class Monitor {
 public:
  using Question = bool (*)();
  explicit Monitor(Question is_stop_wanted)
      : is_stop_wanted_(is_stop_wanted), owner_(std::this_thread::get_id()), last_(Clock::now()) {}

  void check() {
    if (std::this_thread::get_id() == owner_) {
      const auto now = Clock::now();
      if (now - last_ > std::chrono::milliseconds(20)) {
        last_ = now;
        if (is_stop_wanted_()) stopped_ = true;
      }
    }
    if (stopped_.load(std::memory_order_relaxed)) throw Interrupted{};
  }

 private:
  using Clock = std::chrono::steady_clock;
  Question is_stop_wanted_;
  std::thread::id owner_;
  Clock::time_point last_;
  std::atomic<bool> stopped_{false};
};

// Calls work(begin, end) for chunks of 0 ... count - 1 on up to `threads` threads, this one among them. `make_work` is
// called once on each thread, so that each has its own workspace. Chunks must not depend on one another. The first
// exception of any thread is thrown here.
template <class MakeWork>
void parallel_chunks(std::size_t count, std::size_t chunk, int threads, MakeWork make_work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto loop = [&] {
    try {
      auto work = make_work();
      for (;;) {
        const std::size_t begin = next.fetch_add(chunk);
        if (begin >= count || failed.load(std::memory_order_relaxed)) return;
        work(begin, std::min(count, begin + chunk));
      }
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
  };
  const std::size_t chunks = (count + chunk - 1) / chunk;
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(chunks, static_cast<std::size_t>(threads)); ++i) {
    try {
      others.emplace_back(loop);
    } catch (const std::system_error&) {
      break;  // No more threads to be had: those there are do the work.
    }
  }
  loop();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace symseed
