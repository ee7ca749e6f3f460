// Bindings for devices: the source of the kernels, rows as programs, fits that a device computes, and failures.
#include <algorithm>
#include <cstring>
#include <optional>

#include "bind.hpp"
#include "fit.hpp"
#include "lower.hpp"

namespace symseed {

// Name and text of each file, written by the build.
extern const std::pair<const char*, const char*> kKernelSources[];
extern const std::size_t kKernelSourceCount;

namespace {

nb::dict bind_kernel_sources() {
  nb::dict out;
  for (std::size_t i = 0; i < kKernelSourceCount; ++i) out[kKernelSources[i].first] = kKernelSources[i].second;
  return out;
}

// Some hundred microseconds of work, which is what a few threads take to start.
constexpr std::size_t kRows = 1024;

// Calls visit(i) for the numbers below `count`, on several threads if they are many.
template <class Visit>
void each_row(std::size_t count, int threads, Monitor& monitor, Visit visit, std::size_t chunk = kRows) {
  parallel_chunks(count, chunk, threads, monitor, [&] {
    return [&](std::size_t begin, std::size_t end) {
      monitor.check();
      for (std::size_t i = begin; i < end; ++i) visit(i);
    };
  });
}

// An array that is written.
template <class T>
using Writable = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = Array<std::uint32_t, 1>;

// Memory of at least `bytes`, as the caller wants it to be.
Writable<std::uint8_t> allocated(const nb::callable& allocate, const char* name, std::size_t bytes) {
  Writable<std::uint8_t> memory = nb::cast<Writable<std::uint8_t>>(allocate(name, bytes));
  require(memory.size() >= bytes && reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(Instruction) == 0,
          "`allocate` must return as many bytes as it is asked for, aligned to 16.");
  return memory;
}

nb::tuple bind_programs(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths,
                        const Constants& constants, const nb::callable& allocate, int threads) {
  require(threads >= 1, "`threads` must be at least 1.");
  const HeldRows rows = to_unchecked_rows(tokens, lengths, constants);
  NewArray<std::uint32_t> programs = new_numpy<std::uint32_t>({rows.count, sizeof(RowProgram) / 4});
  NewArray<std::uint8_t> is_ordinary = new_numpy<std::uint8_t>({rows.count});
  RowProgram* const places = reinterpret_cast<RowProgram*>(programs.data());
  ProgramSizes sizes{};
  run([&](Monitor& monitor) {
    each_row(rows.count, threads, monitor, [&](std::size_t i) { check_row(vocabulary, rows[i], rows.stride); });
    sizes = count_programs(vocabulary, rows, places, threads, monitor);
  });
  const std::size_t bytes = sizes.instructions * sizeof(Instruction), more_bytes = sizes.numbers * sizeof(double);
  const Writable<std::uint8_t> instructions = allocated(allocate, "instructions", bytes);
  const Writable<std::uint8_t> numbers = allocated(allocate, "numbers", more_bytes);
  const Programs to{reinterpret_cast<Instruction*>(instructions.data()), reinterpret_cast<double*>(numbers.data()),
                    places, is_ordinary.data()};
  run([&](Monitor& monitor) { write_programs(vocabulary, rows, to, threads, monitor); });
  return nb::make_tuple(sizes.instructions, sizes.numbers, programs, is_ordinary);
}

// The order of launches of rows: by `key`, and in the order of `rows` where it is the same.
nb::tuple bind_launch_order(const Array<std::uint16_t, 1>& key, const Array<std::int64_t, 1>& memory,
                            const Array<std::uint32_t, 1>& sums, const Indices& rows, int group_shift) {
  const std::size_t count = rows.size();
  require(memory.size() == key.size() && sums.size() == key.size(),
          "`key`, `memory` and `sums` must have the same length.");
  require(group_shift >= 0 && group_shift < 16, "`group_shift` must be from 0 to 15.");
  std::vector<std::uint32_t> own(rows.data(), rows.data() + count), first(count), order(count), placed(2 * count);
  std::vector<std::uint16_t> keys(count);
  std::vector<std::size_t> ends;
  std::vector<std::int64_t> most;
  std::uint64_t total = 0;
  run([&](Monitor&) {
    for (std::size_t n = 0; n < count; ++n) {
      require(own[n] < key.size(), "Each of `rows` must be a row.");
      first[n] = static_cast<std::uint32_t>(total);
      keys[n] = key.data()[own[n]];
      total += sums.data()[own[n]];
    }
    constexpr std::size_t kFew = 1024;  // below it, sorting by comparisons is sooner done than counting all keys
    if (count < kFew) {
      for (std::size_t n = 0; n < count; ++n) order[n] = static_cast<std::uint32_t>(n);
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    } else {
      std::vector<std::uint32_t> places((1 << 16) + 1);
      for (std::size_t n = 0; n < count; ++n) ++places[keys[n] + std::size_t{1}];
      for (std::size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
      for (std::size_t n = 0; n < count; ++n) order[places[keys[n]]++] = static_cast<std::uint32_t>(n);
    }
    int group = -1;
    for (std::size_t n = 0; n < count; ++n) {
      const std::uint32_t row = own[order[n]];
      placed[n] = row, placed[count + n] = first[order[n]];
      const int own_group = keys[order[n]] >> group_shift;
      if (own_group != group) ends.push_back(n), most.push_back(0);
      group = own_group;
      ends.back() = n + 1;
      most.back() = std::max(most.back(), memory.data()[row]);
    }
  });
  nb::list group_ends, group_most;
  for (const std::size_t end : ends) group_ends.append(end);
  for (const std::int64_t each : most) group_most.append(each);
  return nb::make_tuple(to_numpy(std::move(order)), to_numpy(std::move(placed)), group_ends, group_most, total);
}

NewArray<std::uint8_t> bind_failures(const Array<std::uint8_t, 1>& opcode, const Array<double, 1>& a,
                                     const Array<double, 1>& b) {
  require(a.size() == opcode.size() && b.size() == opcode.size(), "`opcode`, `a` and `b` must have the same length.");
  std::vector<std::uint8_t> out(opcode.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    require(opcode.data()[i] < kOperatorCount, "Each opcode must be that of an operator.");
    out[i] = static_cast<std::uint8_t>(flag_raised(opcode.data()[i], a.data()[i], b.data()[i]));
  }
  return to_numpy(std::move(out));
}

// The fits of all rows of a population; each goes its own way. What is asked for in every round lies together, as the
// fits themselves are more than a cache holds.
class Fittings {
 public:
  Fittings(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths, const Constants& constants,
           int iterations, int restarts, std::uint64_t seed, int threads)
      : stride_(tokens.shape(1)), threads_(threads), constants_(constants.data(), constants.data() + constants.size()) {
    const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
    require(iterations >= 0 && restarts >= 0, "`iterations` and `restarts` must be at least 0.");
    require(threads >= 1, "`threads` must be at least 1.");
    fits_.resize(rows.count);
    needs_.resize(rows.count);
    each(rows.count,
         [&](std::size_t i) { fits_[i].emplace(vocabulary, rows[i], FitSettings{iterations, restarts, seed}, true); });
    first_.reserve(rows.count + 1);
    for (const std::optional<Fitting>& fit : fits_) first_.push_back(first_.back() + fit->places().size());
    trial_.resize(first_.back());
    each(rows.count, [&](std::size_t i) { note(i); });
  }

  NewArray<std::uint32_t> asking(int need) const {
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if (needs_[i] == need) out.push_back(static_cast<std::uint32_t>(i));
    }
    return to_numpy(std::move(out));
  }

  void write_constants(const Indices& rows, const Array<std::uint32_t, 2>& programs, const Indices& places,
                       const Writable<double>& numbers) const {
    require(programs.shape(1) == sizeof(RowProgram) / 4 && places.size() == rows.size(),
            "`programs` must be those of `_core.programs`, and `places` one of them for each of `rows`.");
    check(rows, Fitting::Need::error);
    each(
        rows.size(),
        [&](std::size_t n) {
          const std::size_t row = rows.data()[n], place = places.data()[n];
          require(place < programs.shape(0), "Each of `places` must be a program.");
          RowProgram program;
          std::memcpy(&program, programs.data() + place * programs.shape(1), sizeof program);
          const std::size_t count = first_[row + 1] - first_[row];
          require(program.constants == count && program.first_number + count <= numbers.size(),
                  "Each program must be that of its row.");
          std::copy_n(trial_.data() + first_[row], count, numbers.data() + program.first_number);
        },
        kCopied);
  }

  void take_errors(const Indices& rows, const Array<double, 1>& error, const Array<std::uint8_t, 1>& failure,
                   const Array<std::int32_t, 1>& position) {
    require(error.size() == rows.size() && failure.size() == rows.size() && position.size() == rows.size(),
            "`error`, `failure` and `position` must have one value for each row.");
    check(rows, Fitting::Need::error);
    each(rows.size(), [&](std::size_t n) {
      require(failure.data()[n] <= static_cast<std::uint8_t>(Failure::no_answer), "Each failure must be a `Failure`.");
      const Outcome outcome{static_cast<Failure>(failure.data()[n]), position.data()[n]};
      const std::size_t row = rows.data()[n];
      fits_[row]->take_error(error.data()[n], outcome);
      note(row);
    });
  }

  void take_linearisations(const Indices& rows, const Array<double, 1>& sums) {
    check(rows, Fitting::Need::linearisation);
    std::vector<std::size_t> first{0};
    first.reserve(rows.size() + 1);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const std::size_t row = rows.data()[n], k = first_[row + 1] - first_[row];
      first.push_back(first.back() + 1 + k * (k + 3) / 2);
    }
    require(sums.size() == first.back(), "`sums` must have one value for each sum of each row.");
    each(rows.size(), [&](std::size_t n) {
      const std::size_t row = rows.data()[n];
      fits_[row]->take_linearisation(sums.data() + first[n]);
      note(row);
    });
  }

  // The fits end with it, and give their memory back on all threads.
  nb::tuple best() {
    require(!is_ended_, "`best` ends the fits, so it can be called once.");
    is_ended_ = true;
    std::fill(needs_.begin(), needs_.end(), static_cast<std::uint8_t>(Fitting::Need::nothing));
    std::vector<double> constants = constants_, error(fits_.size());
    std::vector<std::uint8_t> failure(fits_.size());
    std::vector<std::int32_t> position(fits_.size());
    each(fits_.size(), [&](std::size_t i) {
      const Fit& fit = fits_[i]->best();
      std::copy(fit.constants.begin(), fit.constants.end(),
                constants.begin() + static_cast<std::ptrdiff_t>(i * stride_));
      error[i] = fit.error;
      failure[i] = static_cast<std::uint8_t>(fit.outcome.failure);
      position[i] = fit.outcome.position;
      fits_[i].reset();
    });
    return nb::make_tuple(to_numpy(std::move(constants), {fits_.size(), stride_}), to_numpy(std::move(error)),
                          to_numpy(std::move(failure)), to_numpy(std::move(position)));
  }

 private:
  static constexpr std::size_t kCopied = 8 * kRows;  // rows that are only copied take less time

  template <class Visit>
  void each(std::size_t count, Visit visit, std::size_t chunk = kRows) const {
    run([&](Monitor& monitor) { each_row(count, threads_, monitor, visit, chunk); });
  }

  // Notes what a row needs next, and the constants whose error it needs.
  void note(std::size_t row) {
    const Fitting& fit = *fits_[row];
    needs_[row] = static_cast<std::uint8_t>(fit.need());
    if (fit.need() != Fitting::Need::error) return;
    double* next = trial_.data() + first_[row];
    for (const int place : fit.places()) *next++ = fit.constants()[static_cast<std::size_t>(place)];
  }

  // The rows must be different ones with this need.
  void check(const Indices& rows, Fitting::Need need) const {
    std::size_t least = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const std::size_t row = rows.data()[n];
      require(row >= least && row < fits_.size(), "`rows` must be rows in ascending order.");
      require(needs_[row] == static_cast<std::uint8_t>(need), "Each of `rows` must be a row that needs this.");
      least = row + 1;
    }
  }

  std::size_t stride_;
  int threads_;
  bool is_ended_ = false;
  std::vector<double> constants_;
  std::vector<std::optional<Fitting>> fits_;
  std::vector<std::uint8_t> needs_;    // (N,): a `Fitting::Need` each
  std::vector<std::size_t> first_{0};  // (N + 1,): where each row's part of `trial_` begins
  std::vector<double> trial_;          // constants whose errors are needed
};

}  // namespace

void bind_device(nb::module_& m) {
  m.def("kernel_sources", &bind_kernel_sources);
  m.def("programs", &bind_programs, "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array, nb::kw_only(),
        "allocate"_a, "threads"_a);
  m.def("launch_order", &bind_launch_order, "key"_array, "memory"_array, "sums"_array, "rows"_array, nb::kw_only(),
        "group_shift"_a);
  m.def("failures", &bind_failures, "opcode"_array, "a"_array, "b"_array);
  nb::class_<Fittings>(m, "Fittings")
      .def(nb::init<const Vocabulary&, const Tokens&, const Lengths&, const Constants&, int, int, std::uint64_t, int>(),
           "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array, nb::kw_only(), "iterations"_a,
           "restarts"_a, "seed"_a, "threads"_a)
      .def("asking", &Fittings::asking, "need"_a)
      .def("write_constants", &Fittings::write_constants, "rows"_array, "programs"_array, "places"_array,
           "numbers"_array)
      .def("take_errors", &Fittings::take_errors, "rows"_array, "error"_array, "failure"_array, "position"_array)
      .def("take_linearisations", &Fittings::take_linearisations, "rows"_array, "sums"_array)
      .def("best", &Fittings::best);
}

}  // namespace symseed
