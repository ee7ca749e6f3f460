// Bindings of a library's tokens, and of the fingerprints of rows.
#include <cmath>

#include "bind.hpp"
#include "function.hpp"
#include "hash.hpp"

namespace symseed {
namespace {

nb::tuple bind_operators() {
  nb::list out;
  for (const OperatorInfo& info : operator_table()) out.append(nb::make_tuple(info.name, info.arity, info.complexity));
  return nb::tuple(out);
}

Vocabulary make_vocabulary(const Array<std::uint8_t, 1>& kind, const Array<std::int32_t, 1>& variable,
                           const Array<double, 1>& value, const nb::sequence& given) {
  const std::vector<std::shared_ptr<Function>> functions = to_vector<std::shared_ptr<Function>>(given);
  const std::size_t count = kind.shape(0);
  require(count > 0 && count < 65535 && variable.shape(0) == count && value.shape(0) == count,
          "`kind`, `variable` and `value` must have the same length, from 1 to 65,534.");
  Vocabulary out;
  std::size_t next = 0;
  for (std::size_t t = 0; t < count; ++t) {
    require(kind.data()[t] <= kFunction && variable.data()[t] >= 0 && std::isfinite(value.data()[t]),
            "A token's kind, variable or value is out of range.");
    const std::uint8_t code = kind.data()[t];
    std::shared_ptr<Function> function;
    if (code == kFunction) {
      require(next < functions.size() && functions[next], "`functions` must have one for each token of that kind.");
      function = functions[next++];
    }
    const int arity = function ? function->arity() : code < kOperatorCount ? operator_table()[code].arity : 0;
    out.kind.push_back(code);
    out.arity.push_back(static_cast<std::uint8_t>(arity));
    out.function.push_back(std::move(function));
    out.variable.push_back(variable.data()[t]);
    out.value.push_back(value.data()[t]);
  }
  require(next == functions.size(), "`functions` must have one for each token of that kind.");
  return out;
}

NewArray<std::uint64_t> bind_fingerprints(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths,
                                          const Constants& constants) {
  const HeldRows rows = to_rows(vocabulary, tokens, lengths, constants);
  std::vector<std::uint64_t> out;
  out.reserve(rows.count * 2);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const Fingerprint key = fingerprint(vocabulary, rows[i]);
    out.push_back(key.high);
    out.push_back(key.low);
  }
  return to_numpy(std::move(out), {rows.count, 2});
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
  m.attr("VARIABLE") = static_cast<int>(kVariable);
  m.attr("LITERAL") = static_cast<int>(kLiteral);
  m.attr("CONSTANT") = static_cast<int>(kConstant);
  m.attr("FUNCTION") = static_cast<int>(kFunction);
  m.def("operators", &bind_operators);
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(
          "__init__",
          [](Vocabulary* self, const Array<std::uint8_t, 1>& kind, const Array<std::int32_t, 1>& variable,
             const Array<double, 1>& value, const nb::sequence& functions) {
            new (self) Vocabulary(make_vocabulary(kind, variable, value, functions));
          },
          "kind"_array, "variable"_array, "value"_array, "functions"_a = nb::list());
  m.def("fingerprints", &bind_fingerprints, "vocabulary"_a, "tokens"_array, "lengths"_array, "constants"_array);
}

}  // namespace symseed
