// Bindings of users' operators.
#include <cstring>

#include "bind.hpp"
#include "function.hpp"

namespace symseed {
namespace {

// A function that a Python callable computes. The callable receives copies, which it may keep, and returns an array of
// float64, or None if it fails; an exception ends the whole call.
class Callback : public Function {
 public:
  Callback(int arity, nb::callable call) : Function(arity), call_(std::move(call)) {}

  bool values(const Kernels&, const double* a, const double* b, double* out, int points) const override {
    const PythonLock lock;
    const std::size_t count = static_cast<std::size_t>(points);
    const auto copy = [&](const double* from) { return nb::cast(to_numpy(std::vector<double>(from, from + count))); };
    const nb::object first = copy(a);
    const nb::object second = arity() == 1 ? nb::object() : copy(b);  // a null object ends the argument list
    const nb::object answer = nb::steal(
        call_python([&] { return PyObject_CallFunctionObjArgs(call_.ptr(), first.ptr(), second.ptr(), nullptr); }));
    if (!answer.is_valid()) throw nb::python_error();
    if (answer.is_none()) return false;
    const auto values = nb::cast<Array<double, 1>>(answer);
    require(values.shape(0) == count, "A function must give as many values as it was given.");
    std::memcpy(out, values.data(), count * sizeof(double));
    return true;
  }

 private:
  nb::callable call_;
};

void require_arity(int arity) { require(arity == 1 || arity == 2, "A function has one or two arguments."); }

std::shared_ptr<Function> make_callback(int arity, nb::callable call) {
  require_arity(arity);
  return std::make_shared<Callback>(arity, std::move(call));
}

std::shared_ptr<Function> make_expanded(int arity, const Vocabulary& expansion) {
  require_arity(arity);
  int open = 1;
  for (std::size_t t = 0; t < expansion.size(); ++t) {
    require(
        open > 0 && expansion.kind[t] <= kLiteral && (expansion.kind[t] != kVariable || expansion.variable[t] < arity),
        "An expansion must be one expression in prefix order over operators, literals and the arguments.");
    open += expansion.arity[t] - 1;
  }
  require(open == 0, "An expansion must be complete.");
  return std::make_shared<Expanded>(arity, expansion);
}

NewArray<double> bind_values(const Function& function, const Array<double, 1>& a, const Array<double, 1>& b) {
  const std::size_t count = a.shape(0);
  require(b.shape(0) == count, "`a` and `b` must have the same length.");
  const EvalOptions options = to_options(Validity::values, std::nullopt);
  auto values = function.evaluate(*options.kernels, a.data(), b.data(), count);
  require(values.has_value(), "The function has no answer.");
  return to_numpy(std::move(*values));
}

}  // namespace

void bind_function(nb::module_& m) {
  nb::class_<Function>(m, "Function")
      .def_static("of_callable", &make_callback, "arity"_a, "call"_a)
      .def_static("of_expansion", &make_expanded, "arity"_a, "expansion"_a)
      .def("values", &bind_values, "a"_array, "b"_array);
}

}  // namespace symseed
