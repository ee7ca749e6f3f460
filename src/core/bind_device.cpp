// Bindings for devices: the source of the kernels, rows as programs, fits that a device computes, and failures.
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

// Calls visit(i) for the numbers below `count`, on several threads if they are many.
template <class Visit>
void each_row(std::size_t count, int threads, Monitor& monitor, Visit visit) {
  // Some hundred microseconds of work, which is what a few threads take to start.
  constexpr std::size_t kRows = 1024;
  parallel_chunks(count, kRows, threads, monitor, [&] {
    return [&](std::size_t begin, std::size_t end) {
      monitor.check();
      for (std::size_t i = begin; i < end; ++i) visit(i);
    };
  });
}

nb::tuple bind_programs(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths,
                        const Constants& constants, int threads) {
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
  // NumPy's memory is aligned to 16 bytes.
  NewArray<std::uint8_t> instructions = new_numpy<std::uint8_t>({sizes.instructions, sizeof(Instruction)});
  NewArray<double> numbers = new_numpy<double>({sizes.numbers});
  const Programs to{reinterpret_cast<Instruction*>(instructions.data()), numbers.data(), places, is_ordinary.data()};
  run([&](Monitor& monitor) { write_programs(vocabulary, rows, to, threads, monitor); });
  return nb::make_tuple(instructions, numbers, programs, is_ordinary);
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

// The fits of all rows of a population; each goes its own way.
class Fittings {
 public:
  Fittings(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths, const Constants& constants,
           int iterations, int restarts, std::uint64_t seed, int threads)
      : stride_(tokens.shape(1)), threads_(threads), constants_(constants.data(), constants.data() + constants.size()) {
    const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
    require(iterations >= 0 && restarts >= 0, "`iterations` and `restarts` must be at least 0.");
    require(threads >= 1, "`threads` must be at least 1.");
    fits_.resize(rows.count);
    each(rows.count,
         [&](std::size_t i) { fits_[i].emplace(vocabulary, rows[i], FitSettings{iterations, restarts, seed}, true); });
  }

  NewArray<std::uint8_t> needs() const {
    std::vector<std::uint8_t> out;
    out.reserve(fits_.size());
    for (const std::optional<Fitting>& fit : fits_) out.push_back(static_cast<std::uint8_t>(fit->need()));
    return to_numpy(std::move(out));
  }

  using Indices = Array<std::uint32_t, 1>;

  NewArray<double> constants(const Indices& rows) const {
    const std::vector<std::size_t> first = places(rows, Fitting::Need::error, [](std::size_t k) { return k; });
    NewArray<double> out = new_numpy<double>({first.back()});
    double* const to = out.data();
    each(rows.size(), [&](std::size_t n) {
      const Fitting& fit = *fits_[rows.data()[n]];
      double* next = to + first[n];
      for (const int place : fit.places()) *next++ = fit.constants()[static_cast<std::size_t>(place)];
    });
    return out;
  }

  void take_errors(const Indices& rows, const Array<double, 1>& error, const Array<std::uint8_t, 1>& failure,
                   const Array<std::int32_t, 1>& position) {
    require(error.size() == rows.size() && failure.size() == rows.size() && position.size() == rows.size(),
            "`error`, `failure` and `position` must have one value for each row.");
    places(rows, Fitting::Need::error, [](std::size_t) { return 0; });
    each(rows.size(), [&](std::size_t n) {
      require(failure.data()[n] <= static_cast<std::uint8_t>(Failure::no_answer), "Each failure must be a `Failure`.");
      const Outcome outcome{static_cast<Failure>(failure.data()[n]), position.data()[n]};
      fits_[rows.data()[n]]->take_error(error.data()[n], outcome);
    });
  }

  void take_linearisations(const Indices& rows, const Array<double, 1>& sums) {
    const std::vector<std::size_t> first =
        places(rows, Fitting::Need::linearisation, [](std::size_t k) { return 1 + k * (k + 3) / 2; });
    require(sums.size() == first.back(), "`sums` must have one value for each sum of each row.");
    each(rows.size(), [&](std::size_t n) {
      Fitting& fit = *fits_[rows.data()[n]];
      const std::size_t k = fit.places().size();
      const double* next = sums.data() + first[n];
      Linearisation linear{{}, *next, {next + 1, next + 1 + k}, std::vector<double>(k * k)};
      next += 1 + k;
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j <= i; ++j) linear.curvature[i * k + j] = linear.curvature[j * k + i] = *next++;
      }
      fit.take_linearisation(std::move(linear));
    });
  }

  nb::tuple best() const {
    std::vector<double> constants = constants_, error;
    std::vector<std::uint8_t> failure;
    std::vector<std::int32_t> position;
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      const Fit& fit = fits_[i]->best();
      std::copy(fit.constants.begin(), fit.constants.end(),
                constants.begin() + static_cast<std::ptrdiff_t>(i * stride_));
      error.push_back(fit.error);
      failure.push_back(static_cast<std::uint8_t>(fit.outcome.failure));
      position.push_back(fit.outcome.position);
    }
    return nb::make_tuple(to_numpy(std::move(constants), {fits_.size(), stride_}), to_numpy(std::move(error)),
                          to_numpy(std::move(failure)), to_numpy(std::move(position)));
  }

 private:
  template <class Visit>
  void each(std::size_t count, Visit visit) const {
    run([&](Monitor& monitor) { each_row(count, threads_, monitor, visit); });
  }

  // Where the values of each row begin if each has size(number of its constants) of them, and where the last ends. The
  // rows must be different ones with this need.
  template <class Size>
  std::vector<std::size_t> places(const Indices& rows, Fitting::Need need, Size size) const {
    std::vector<std::size_t> out{0};
    out.reserve(rows.size() + 1);
    std::size_t least = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const std::size_t row = rows.data()[n];
      require(row >= least && row < fits_.size(), "`rows` must be rows in ascending order.");
      require(fits_[row]->need() == need, "Each of `rows` must be a row that needs this.");
      least = row + 1;
      out.push_back(out.back() + size(fits_[row]->places().size()));
    }
    return out;
  }

  std::size_t stride_;
  int threads_;
  std::vector<double> constants_;
  std::vector<std::optional<Fitting>> fits_;
};

}  // namespace

void bind_device(nb::module_& m) {
  m.def("kernel_sources", &bind_kernel_sources);
  m.def("programs", &bind_programs, "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array, nb::kw_only(),
        "threads"_a);
  m.def("failures", &bind_failures, "opcode"_array, "a"_array, "b"_array);
  nb::class_<Fittings>(m, "Fittings")
      .def(nb::init<const Vocabulary&, const Tokens&, const Lengths&, const Constants&, int, int, std::uint64_t, int>(),
           "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array, nb::kw_only(), "iterations"_a,
           "restarts"_a, "seed"_a, "threads"_a)
      .def("needs", &Fittings::needs)
      .def("constants", &Fittings::constants, "rows"_array)
      .def("take_errors", &Fittings::take_errors, "rows"_array, "error"_array, "failure"_array, "position"_array)
      .def("take_linearisations", &Fittings::take_linearisations, "rows"_array, "sums"_array)
      .def("best", &Fittings::best);
}

}  // namespace symseed
