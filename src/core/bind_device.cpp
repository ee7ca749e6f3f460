// Bindings for devices: the source of the kernels, rows as programs, fits that a device computes, and failures.
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

// What one member of all parts holds, as rows of numbers.
template <class To, class From>
NewArray<To> joined(const std::vector<Programs>& parts, std::vector<From> Programs::* member) {
  static_assert(sizeof(From) % sizeof(To) == 0);
  std::size_t count = 0;
  for (const Programs& part : parts) count += (part.*member).size();
  NewArray<To> out = new_numpy<To>({count, sizeof(From) / sizeof(To)});
  To* to = out.data();
  for (const Programs& part : parts) {
    const std::vector<From>& items = part.*member;
    if (!items.empty()) std::memcpy(to, items.data(), items.size() * sizeof(From));
    to += items.size() * (sizeof(From) / sizeof(To));
  }
  return out;
}

nb::tuple bind_programs(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths,
                        const Constants& constants, int threads) {
  require(threads >= 1, "`threads` must be at least 1.");
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  std::vector<Programs> parts;
  run([&](Monitor& monitor) { parts = make_programs(vocabulary, rows, threads, monitor); });
  return nb::make_tuple(joined<std::uint8_t>(parts, &Programs::instructions), joined<double>(parts, &Programs::numbers),
                        joined<std::uint32_t>(parts, &Programs::rows),
                        joined<std::uint8_t>(parts, &Programs::is_ordinary));
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
           int iterations, int restarts, std::uint64_t seed)
      : stride_(tokens.shape(1)), constants_(constants.data(), constants.data() + constants.size()) {
    const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
    require(iterations >= 0 && restarts >= 0, "`iterations` and `restarts` must be at least 0.");
    fits_.reserve(rows.count);
    for (std::size_t i = 0; i < rows.count; ++i) {
      fits_.emplace_back(vocabulary, rows[i], FitSettings{iterations, restarts, seed}, true);
    }
  }

  NewArray<std::uint8_t> needs() const {
    std::vector<std::uint8_t> out;
    out.reserve(fits_.size());
    for (const Fitting& fit : fits_) out.push_back(static_cast<std::uint8_t>(fit.need()));
    return to_numpy(std::move(out));
  }

  using Indices = Array<std::uint32_t, 1>;

  NewArray<double> constants(const Indices& rows) const {
    std::vector<double> out;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const Fitting& fit = at(rows, n, Fitting::Need::error);
      for (const int place : fit.places()) out.push_back(fit.constants()[static_cast<std::size_t>(place)]);
    }
    return to_numpy(std::move(out));
  }

  void take_errors(const Indices& rows, const Array<double, 1>& error, const Array<std::uint8_t, 1>& failure,
                   const Array<std::int32_t, 1>& position) {
    require(error.size() == rows.size() && failure.size() == rows.size() && position.size() == rows.size(),
            "`error`, `failure` and `position` must have one value for each row.");
    for (std::size_t n = 0; n < rows.size(); ++n) {
      require(failure.data()[n] <= static_cast<std::uint8_t>(Failure::no_answer), "Each failure must be a `Failure`.");
      const Outcome outcome{static_cast<Failure>(failure.data()[n]), position.data()[n]};
      at(rows, n, Fitting::Need::error).take_error(error.data()[n], outcome);
    }
  }

  void take_linearisations(const Indices& rows, const Array<double, 1>& sums) {
    std::size_t wanted = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const std::size_t k = at(rows, n, Fitting::Need::linearisation).places().size();
      wanted += 1 + k * (k + 3) / 2;
    }
    require(sums.size() == wanted, "`sums` must have one value for each sum of each row.");
    const double* next = sums.data();
    for (std::size_t n = 0; n < rows.size(); ++n) {
      Fitting& fit = at(rows, n, Fitting::Need::linearisation);
      const std::size_t k = fit.places().size();
      Linearisation linear{{}, *next, {next + 1, next + 1 + k}, std::vector<double>(k * k)};
      next += 1 + k;
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j <= i; ++j) linear.curvature[i * k + j] = linear.curvature[j * k + i] = *next++;
      }
      fit.take_linearisation(std::move(linear));
    }
  }

  nb::tuple best() const {
    std::vector<double> constants = constants_, error;
    std::vector<std::uint8_t> failure;
    std::vector<std::int32_t> position;
    for (std::size_t i = 0; i < fits_.size(); ++i) {
      const Fit& fit = fits_[i].best();
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
  const Fitting& at(const Indices& rows, std::size_t n, Fitting::Need need) const {
    const std::size_t row = rows.data()[n];
    require(row < fits_.size() && fits_[row].need() == need, "Each of `rows` must be a row that needs this.");
    return fits_[row];
  }
  Fitting& at(const Indices& rows, std::size_t n, Fitting::Need need) {
    return const_cast<Fitting&>(static_cast<const Fittings*>(this)->at(rows, n, need));
  }

  std::size_t stride_;
  std::vector<double> constants_;
  std::vector<Fitting> fits_;
};

}  // namespace

void bind_device(nb::module_& m) {
  m.def("kernel_sources", &bind_kernel_sources);
  m.def("programs", &bind_programs, "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array, nb::kw_only(),
        "threads"_a);
  m.def("failures", &bind_failures, "opcode"_array, "a"_array, "b"_array);
  nb::class_<Fittings>(m, "Fittings")
      .def(nb::init<const Vocabulary&, const Tokens&, const Lengths&, const Constants&, int, int, std::uint64_t>(),
           "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array, nb::kw_only(), "iterations"_a,
           "restarts"_a, "seed"_a)
      .def("needs", &Fittings::needs)
      .def("constants", &Fittings::constants, "rows"_array)
      .def("take_errors", &Fittings::take_errors, "rows"_array, "error"_array, "failure"_array, "position"_array)
      .def("take_linearisations", &Fittings::take_linearisations, "rows"_array, "sums"_array)
      .def("best", &Fittings::best);
}

}  // namespace symseed
