// The module `_core`: what belongs to the whole process, and the order in which the parts are bound. `_core.pyi` is the
// manual; argument checks of the bindings guard memory, those of Python give the messages.
#include "bind.hpp"

namespace symseed {
namespace {

nb::tuple bind_instruction_sets() {
  nb::list out;
  for (const InstructionSet& set : instruction_sets()) out.append(set.name);
  return nb::tuple(out);
}

// The interpreter's own objects are released last, before its lock. If the module is loaded again, the watch stays.
void watch_interpreter() {
  const nb::dict kept = nb::borrow<nb::dict>(PyInterpreterState_GetDict(PyInterpreterState_Get()));
  if (kept.contains("symseed._core")) return;
  kept["symseed._core"] = nb::capsule(&is_interpreter_gone, [](void*) noexcept { is_interpreter_gone = true; });
}

}  // namespace
}  // namespace symseed

NB_MODULE(_core, m) {
  using namespace symseed;
  m.doc() = "Native core of symseed; see _core.pyi.";
  // Objects that live until the interpreter ends are not leaks that deserve a page of warnings.
  nb::set_leak_warnings(false);
  watch_interpreter();
  bind_vocabulary(m);
  bind_function(m);
  bind_score(m);
  bind_device(m);
  bind_space(m);
  bind_vary(m);
  bind_complete(m);
  bind_linear(m);
  bind_gp(m);
  bind_lstm(m);
  bind_reader(m);
  m.def("instruction_sets", &bind_instruction_sets);
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const BadEnvironment& error) {
      PyErr_SetString(nb::module_::import_("symseed.errors").attr("SettingsError").ptr(), error.what());
    }
  });
}
