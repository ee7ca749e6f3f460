// Bindings of scores: samples, errors, predictions, fitted constants and the cache.
#include <limits>

#include "bind.hpp"
#include "function.hpp"
#include "prefix.hpp"
#include "score.hpp"

namespace symseed {
namespace {

void require_counts(int threads, int iterations, int restarts) {
  require(threads >= 1 && iterations >= 0 && restarts >= 0,
          "`threads` must be at least 1, `iterations` and `restarts` at least 0.");
}

std::tuple<NewArray<std::uint8_t>, NewArray<std::int32_t>> split(const std::vector<Outcome>& outcomes) {
  std::vector<std::uint8_t> failure(outcomes.size());
  std::vector<std::int32_t> position(outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    failure[i] = static_cast<std::uint8_t>(outcomes[i].failure);
    position[i] = outcomes[i].position;
  }
  return {to_numpy(std::move(failure)), to_numpy(std::move(position))};
}

std::vector<double> copy_of(const Constants& constants) {
  return std::vector<double>(constants.data(), constants.data() + constants.size());
}

Samples make_samples(const Array<double, 2>& X, const Array<double, 1>& y, const Array<double, 1>& weight) {
  const std::size_t points = X.shape(0);
  require(points > 0 && y.shape(0) == points && weight.shape(0) == points,
          "`X` (M, V), `y` (M,) and `weight` (M,) must have the same M, at least 1.");
  Samples out(points, X.shape(1));
  for (std::size_t i = 0; i < points; ++i) {
    for (std::size_t v = 0; v < out.variables; ++v) out.column(v)[i] = X.data()[i * out.variables + v];
  }
  std::copy_n(y.data(), points, out.target.begin());
  std::copy_n(weight.data(), points, out.weight.begin());
  out.pad();
  return out;
}

nb::tuple bind_squared_errors(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                              const Lengths& lengths, const Constants& constants, Validity validity, int threads,
                              const Function* loss, const std::optional<std::string>& instruction_set) {
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, 0, 0);
  require(loss == nullptr || loss->arity() == 2, "A loss is a function of target and prediction.");
  const EvalOptions options = to_options(validity, instruction_set, loss);
  std::vector<double> error(rows.count);
  std::vector<Outcome> outcome(rows.count);
  run([&](Monitor& monitor) {
    squared_errors(options, vocabulary, rows, samples, threads, monitor, error.data(), outcome.data());
  });
  auto [failure, position] = split(outcome);
  return nb::make_tuple(to_numpy(std::move(error)), failure, position);
}

nb::tuple bind_predictions(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                           const Lengths& lengths, const Constants& constants, Validity validity, int threads,
                           const std::optional<std::string>& instruction_set) {
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, 0, 0);
  const EvalOptions options = to_options(validity, instruction_set);
  require(rows.count <= std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / samples.points,
          "The predictions are more than memory can hold.");
  NewArray<double> prediction = new_numpy<double>({rows.count, samples.points});
  std::vector<Outcome> outcome(rows.count);
  run([&](Monitor& monitor) {
    predictions(options, vocabulary, rows, samples, threads, monitor, prediction.data(), outcome.data());
  });
  auto [failure, position] = split(outcome);
  return nb::make_tuple(prediction, failure, position);
}

nb::tuple bind_fit_constants(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                             const Lengths& lengths, const Constants& constants, FitMethod method, int iterations,
                             int restarts, std::uint64_t seed, Validity validity, int threads, const Function* loss,
                             const std::optional<std::string>& instruction_set) {
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, iterations, restarts);
  require(loss == nullptr || loss->arity() == 2, "A loss is a function of target and prediction.");
  const EvalOptions options = to_options(validity, instruction_set, loss);
  std::vector<double> fitted = copy_of(constants);
  std::vector<double> error(rows.count);
  std::vector<Outcome> outcome(rows.count);
  run([&](Monitor& monitor) {
    fit_constants(options, vocabulary, rows, samples, {iterations, restarts, seed, method}, threads, monitor,
                  fitted.data(), error.data(), outcome.data());
  });
  auto [failure, position] = split(outcome);
  return nb::make_tuple(to_numpy(std::move(fitted), {rows.count, rows.stride}), to_numpy(std::move(error)), failure,
                        position);
}

nb::tuple bind_linearise(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                         const Lengths& lengths, const Constants& constants, const Function* loss) {
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  require(rows.count == 1, "`linearise` takes one row.");
  require_columns(vocabulary, samples);
  require(loss == nullptr || loss->arity() == 2, "A loss is a function of target and prediction.");
  const EvalOptions options = to_options(Validity::values, std::nullopt, loss);
  const std::vector<int> places = constant_places(vocabulary, rows[0]);
  Linearisation at;
  run([&](Monitor& monitor) {
    Tape tape(rows.stride);
    at = linearise(options, vocabulary, rows[0], samples, monitor, tape, places);
  });
  return nb::make_tuple(at.error, to_numpy(std::move(at.gradient)),
                        to_numpy(std::move(at.curvature), {places.size(), places.size()}));
}

// Errors, failures, positions, constants if they were fitted, and whether each row was computed.
nb::tuple bind_lookup(Lookup&& lookup) {
  std::vector<std::uint8_t> computed(lookup.source.size());
  for (const std::size_t i : lookup.rows) computed[i] = 1;
  auto [failure, position] = split(lookup.outcome);
  const std::size_t count = lookup.source.size();
  return nb::make_tuple(
      to_numpy(std::move(lookup.error)), failure, position,
      lookup.fits ? nb::cast(to_numpy(std::move(lookup.constants), {count, lookup.stride})) : nb::none(),
      to_numpy(std::move(computed)));
}

nb::tuple bind_cached_score(Cache& cache, const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                            const Lengths& lengths, const Constants& constants,
                            const std::optional<std::tuple<int, int, std::uint64_t, FitMethod>>& fit, Validity validity,
                            int threads, const Function* loss, const std::optional<std::string>& instruction_set) {
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  require_columns(vocabulary, samples);
  require_counts(threads, fit ? std::get<0>(*fit) : 0, fit ? std::get<1>(*fit) : 0);
  require(loss == nullptr || loss->arity() == 2, "A loss is a function of target and prediction.");
  const EvalOptions options = to_options(validity, instruction_set, loss);
  std::optional<FitSettings> settings;
  if (fit) settings = FitSettings{std::get<0>(*fit), std::get<1>(*fit), std::get<2>(*fit), std::get<3>(*fit)};
  Lookup lookup;
  run([&](Monitor& monitor) { lookup = score(cache, options, vocabulary, rows, samples, settings, threads, monitor); });
  return bind_lookup(std::move(lookup));
}

nb::tuple bind_look_up(const Cache& cache, const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths,
                       const Constants& constants, bool fits, int threads) {
  require_counts(threads, 0, 0);
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  auto lookup = std::make_unique<Lookup>();
  run([&](Monitor& monitor) { *lookup = look_up(cache, vocabulary, rows, fits, threads, monitor); });
  const std::size_t count = lookup->lengths.size(), stride = lookup->stride;
  auto fresh_tokens = lookup->tokens;
  auto fresh_lengths = lookup->lengths;
  auto fresh_constants = lookup->values;
  fresh_constants.resize(count * stride, kNan);
  return nb::make_tuple(std::move(lookup), to_numpy(std::move(fresh_tokens), {count, stride}),
                        to_numpy(std::move(fresh_lengths)), to_numpy(std::move(fresh_constants), {count, stride}));
}

nb::tuple bind_keep(Cache& cache, const Vocabulary& vocabulary, const Lookup& lookup, const Constants& constants,
                    const Array<double, 1>& error, const Array<std::uint8_t, 1>& failure,
                    const Array<std::int32_t, 1>& position) {
  const std::size_t count = lookup.lengths.size();
  require(constants.shape(0) == count && constants.shape(1) == lookup.stride && error.size() == count &&
              failure.size() == count && position.size() == count,
          "`constants`, `error`, `failure` and `position` must have one row for each row that was asked for.");
  std::vector<Outcome> outcome;
  for (std::size_t i = 0; i < count; ++i) {
    require(failure.data()[i] <= static_cast<std::uint8_t>(Failure::no_answer), "Each failure must be a `Failure`.");
    outcome.push_back({static_cast<Failure>(failure.data()[i]), position.data()[i]});
  }
  Lookup all = lookup;
  run([&](Monitor&) { keep(cache, vocabulary, all, constants.data(), error.data(), outcome.data()); });
  return bind_lookup(std::move(all));
}

void name_failures(nb::enum_<Failure>& codes) {
  codes.value("NONE", Failure::none, "The expression has a finite value at every sample.")
      .value("INVALID", Failure::invalid, "The expression is not a number at some sample, such as log(-1) or 0/0.")
      .value("DIVIDE_BY_ZERO", Failure::divide_by_zero,
             "The expression divides by zero at some sample, or takes log(0).")
      .value("OVERFLOW", Failure::overflow, "A value of the expression is too large for float64 at some sample.")
      .value("UNDERFLOW", Failure::underflow,
             "A value of the expression is too small for float64 at some sample (strict mode).")
      .value("LOSS_OVERFLOW", Failure::loss_overflow,
             "The predictions are finite, but their squared error, or other loss, is not.")
      .value("NO_ANSWER", Failure::no_answer,
             "An operator or a loss of your own raised an exception, or gave something else than numbers.")
      .def_prop_ro("sentence", [](nb::handle self) { return self.doc(); }, "The reason as a sentence for users.");
}

void name_validities(nb::enum_<Validity>& codes) {
  codes.value("VALUES", Validity::values, "Each of its tokens has a finite value at every sample.")
      .value("FLAGS", Validity::flags,
             "No operator raises an IEEE flag either, underflow included: the authors' code of December 2021.")
      .value("ANSWER", Validity::answer,
             "Only the row itself has finite values, whatever its parts have: the authors' code of March 2021.");
}

void name_fit_methods(nb::enum_<FitMethod>& codes) {
  codes.value("LEVENBERG_MARQUARDT", FitMethod::levenberg_marquardt, "From the constants that a row has.")
      .value("BFGS_FROM_ONES", FitMethod::bfgs_from_ones,
             "BFGS on the paper's reward, or on another loss, from constants of 1: as the authors' released code.");
}

}  // namespace

void bind_score(nb::module_& m) {
  bind_codes<Validity>(m, "Validity", name_validities, "What a row must be to have a value.");
  bind_codes<FitMethod>(m, "FitMethod", name_fit_methods, "How constants are fitted.");
  bind_codes<Failure>(m, "Failure", name_failures, nb::is_arithmetic(), "Reasons why a row has no score.");
  nb::class_<Samples>(m, "Samples")
      .def(
          "__init__",
          [](Samples* self, const Array<double, 2>& X, const Array<double, 1>& y, const Array<double, 1>& weight) {
            new (self) Samples(make_samples(X, y, weight));
          },
          "X"_array, "y"_array, "weight"_array);
  nb::class_<Lookup>(m, "Lookup");
  nb::class_<Cache>(m, "Cache")
      .def(nb::init<std::size_t, std::size_t>(), "max_bytes"_a, "constants_per_row"_a)
      .def("score", &bind_cached_score, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array, "constants"_array,
           nb::kw_only(), "fit"_a, "validity"_a, "threads"_a, "loss"_a.none() = nb::none(),
           "instruction_set"_a = nb::none())
      .def("look_up", &bind_look_up, "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array, nb::kw_only(),
           "fits"_a, "threads"_a)
      .def("keep", &bind_keep, "vocabulary"_a, "lookup"_a, "constants"_array, "error"_array, "failure"_array,
           "position"_array)
      .def_prop_ro("counts",
                   [](const Cache& self) {
                     const Cache::Counts counts = self.counts();
                     return nb::make_tuple(counts.asked, counts.evaluated, counts.unique);
                   })
      .def_prop_ro("size", &Cache::size)
      .def_prop_ro("bytes", &Cache::bytes);
  m.def("squared_errors", &bind_squared_errors, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array,
        "constants"_array, nb::kw_only(), "validity"_a, "threads"_a, "loss"_a.none() = nb::none(),
        "instruction_set"_a = nb::none());
  m.def("predictions", &bind_predictions, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array,
        "constants"_array, nb::kw_only(), "validity"_a, "threads"_a, "instruction_set"_a = nb::none());
  m.def("fit_constants", &bind_fit_constants, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array,
        "constants"_array, nb::kw_only(), "method"_a, "iterations"_a, "restarts"_a, "seed"_a, "validity"_a, "threads"_a,
        "loss"_a.none() = nb::none(), "instruction_set"_a = nb::none());
  m.def("linearise", &bind_linearise, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array, "constants"_array,
        nb::kw_only(), "loss"_a.none() = nb::none());
}

}  // namespace symseed
