// Bindings of semantic completion.
#include "bind.hpp"
#include "complete.hpp"

namespace symseed {
namespace {

std::unique_ptr<Completion> make_completion(const Vocabulary& vocabulary, const Samples& samples, std::size_t max_bytes,
                                            int longest, int points) {
  require_columns(vocabulary, samples);
  require(longest >= 1 && longest <= Completion::kLongest && points >= 1, "`longest` or `points` is out of range.");
  return std::make_unique<Completion>(vocabulary, samples, max_bytes, longest, points);
}

void require_same(const Rules& rules, const Vocabulary& vocabulary) {
  require(rules.vocabulary() == vocabulary, "The rules must be of the same library.");
}

void require_chosen(const Array<std::int64_t, 1>& chosen, const Rows& rows) {
  for (std::size_t i = 0; i < chosen.shape(0); ++i) {
    require(chosen.data()[i] >= 0 && static_cast<std::size_t>(chosen.data()[i]) < rows.count,
            "`chosen` must be rows of the population.");
  }
}

nb::tuple bind_completions(Completion& completion, const Rules& rules, const Tokens& tokens, const Lengths& lengths,
                           const Constants& constants, const Array<std::int64_t, 1>& chosen,
                           const std::optional<std::string>& instruction_set) {
  const HeldRows rows = to_rows(rules.vocabulary(), tokens, lengths, constants);
  require_same(rules, completion.vocabulary());
  require_chosen(chosen, rows);
  const EvalOptions options = to_options(Validity::values, instruction_set);
  const std::size_t stride = child_stride(rules, rows);
  Completion::Found found;
  run([&](Monitor& monitor) {
    found = completion.complete(options, rules, rows, chosen.data(), chosen.shape(0), stride, rows.count, monitor);
  });
  const std::size_t count = found.parent.size();
  return nb::make_tuple(to_numpy(std::move(found.tokens), {count, stride}), to_numpy(std::move(found.lengths)),
                        to_numpy(std::move(found.constants), {count, stride}), to_numpy(std::move(found.parent)));
}

nb::tuple bind_semantics(const Vocabulary& vocabulary, const Samples& samples, const Tokens& tokens,
                         const Lengths& lengths, const Constants& constants,
                         const std::optional<std::string>& instruction_set) {
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  require(rows.count == 1, "`semantics` takes one row.");
  require_columns(vocabulary, samples);
  const EvalOptions options = to_options(Validity::values, instruction_set);
  const std::size_t length = static_cast<std::size_t>(rows.lengths[0]);
  std::vector<double> values(length * samples.points, kNan);
  std::vector<double> desired = values;
  write_semantics(options, vocabulary, samples, rows[0], values.data(), desired.data());
  return nb::make_tuple(to_numpy(std::move(values), {length, samples.points}),
                        to_numpy(std::move(desired), {length, samples.points}));
}

}  // namespace

void bind_complete(nb::module_& m) {
  m.attr("LONGEST_KEPT") = Completion::kLongest;
  nb::class_<Completion>(m, "Completion")
      .def(nb::new_(&make_completion), "vocabulary"_a, "samples"_a, "max_bytes"_a, "longest"_a, "points"_a)
      .def("complete", &bind_completions, "rules"_a, "tokens"_array, "lengths"_array, "constants"_array, "chosen"_array,
           nb::kw_only(), "instruction_set"_a = nb::none())
      .def_prop_ro("lookups", [](const Completion& self) { return self.counts().lookups; })
      .def_prop_ro("hits", [](const Completion& self) { return self.counts().hits; })
      .def_prop_ro("splices", [](const Completion& self) { return self.counts().splices; })
      .def_prop_ro("size", &Completion::size)
      .def_prop_ro("bytes", &Completion::bytes);
  m.def("semantics", &bind_semantics, "vocabulary"_a, "samples"_a, "tokens"_array, "lengths"_array, "constants"_array,
        nb::kw_only(), "instruction_set"_a = nb::none());
}

}  // namespace symseed
