// Work over many rows: in chunks, on several threads, and able to stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace symseed {

// Thrown by a loop that was stopped.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// Calls the caller's `is_stop_wanted` at most every 20 ms, and only on the thread that made it; other threads read the
// result. Loops call `check` at least every few milliseconds.
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
  // Makes every further check, on any thread, throw.
  void stop() { stopped_ = true; }

 private:
  using Clock = std::chrono::steady_clock;
  Question is_stop_wanted_;
  std::thread::id owner_;
  Clock::time_point last_;
  std::atomic<bool> stopped_{false};
};

// Calls work(begin, end) for chunks of 0 ... count - 1 on up to `threads` threads, this one among them. `make_work` is
// called once on each thread, so that each has its own workspace. Chunks must not depend on one another. The first
// exception of any thread is thrown here. `monitor` is this thread's.
template <class MakeWork>
void parallel_chunks(std::size_t count, std::size_t chunk, int threads, Monitor& monitor, MakeWork make_work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t running = 0;
  std::exception_ptr error;
  const auto guarded = [&](auto task) {
    try {
      task();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      failed = true;
      monitor.stop();
    }
  };
  const auto loop = [&] {
    auto work = make_work();
    for (;;) {
      const std::size_t begin = next.fetch_add(chunk);
      if (begin >= count || failed.load(std::memory_order_relaxed)) return;
      work(begin, std::min(count, begin + chunk));
    }
  };
  const auto loop_elsewhere = [&] {
    guarded(loop);
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_one();
  };
  const std::size_t chunks = (count + chunk - 1) / chunk;
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(chunks, static_cast<std::size_t>(threads)); ++i) {
    const std::lock_guard lock(mutex);
    try {
      others.emplace_back(loop_elsewhere);
      ++running;
    } catch (const std::exception&) {
      break;  // No more threads, or no memory for one, are available: the others do the work.
    }
  }
  guarded(loop);
  // All chunks have begun, but others may take long, and only this thread can notice a signal.
  guarded([&] {
    std::unique_lock lock(mutex);
    while (running > 0) {
      ended.wait_for(lock, std::chrono::milliseconds(20));
      lock.unlock();
      monitor.check();
      lock.lock();
    }
  });
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace symseed
