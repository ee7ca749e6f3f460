// Shared by the bindings: arrays in and out, rows that are safe to read, and work without the interpreter's lock, which
// a signal can end and which survives the end of the interpreter.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>

#include "dispatch.hpp"
#include "evaluate.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace nanobind::detail {

// Arrays whose numbers do not lie at multiples of their size, such as those of packed records, are not accepted.
template <class Aligned, class Any>
struct AlignedCaster {
  NB_TYPE_CASTER(Aligned, Any::Name)

  template <class Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
    Any any;
    if (!any.from_python(source, flags, cleanup)) return false;
    if (reinterpret_cast<std::uintptr_t>(any.value.data()) % alignof(typename Aligned::Scalar) != 0) return false;
    value = Aligned(any.value);
    return true;
  }
};

// The caster that is not replaced is that of the same array, whose type has its parts in another order.
template <class T, ssize_t... Shape>
struct type_caster<ndarray<const T, shape<Shape...>, c_contig, device::cpu>>
    : AlignedCaster<ndarray<const T, shape<Shape...>, c_contig, device::cpu>,
                    type_caster<ndarray<const T, shape<Shape...>, device::cpu, c_contig>>> {};

template <class T, ssize_t... Shape>
struct type_caster<ndarray<const T, shape<Shape...>, device::cpu>>
    : AlignedCaster<ndarray<const T, shape<Shape...>, device::cpu>,
                    type_caster<ndarray<const T, device::cpu, shape<Shape...>>>> {};

}  // namespace nanobind::detail

namespace symseed {

template <class T, std::size_t Dimensions>
using Array = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
template <class T>
using NewArray = nb::ndarray<T, nb::numpy, nb::c_contig>;
using Tokens = Array<Token, 2>;
using Lengths = Array<std::int32_t, 1>;
using Constants = Array<double, 2>;

// An array that is not converted: a conversion could silently change a token's value.
inline auto operator""_array(const char* name, std::size_t) { return nb::arg(name).noconvert(); }

inline void require(bool condition, const char* sentence) {
  if (!condition) [[unlikely]]
    throw std::invalid_argument(sentence);
}

// The items of a list, each converted. nanobind's own conversion of lists ends the process if memory runs out in it.
template <class T>
std::vector<T> to_vector(const nb::sequence& items) {
  std::vector<T> out;
  out.reserve(nb::len(items));
  for (const nb::handle item : items) {
    T value{};
    if (!nb::try_cast<T>(item, value)) throw nb::type_error("An item of a list has the wrong type.");
    out.push_back(std::move(value));
  }
  return out;
}

// A NumPy array that owns its memory, uninitialised, for results too large to be written twice.
template <class T>
NewArray<T> new_numpy(std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (const std::size_t axis : shape) size *= axis;
  std::unique_ptr<T[]> owned(new T[size]);
  T* data = owned.get();
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return NewArray<T>(data, shape, owner);
}

// A NumPy array that owns the content of a vector.
template <class T>
NewArray<T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owned->data();
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return NewArray<T>(data, shape, owner);
}

template <class T>
NewArray<T> to_numpy(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

inline nb::tuple tokens_and_lengths(NewRows&& rows) {
  const std::size_t count = rows.lengths.size();
  return nb::make_tuple(to_numpy(std::move(rows.tokens), {count, rows.stride}), to_numpy(std::move(rows.lengths)));
}

// Tokens, lengths, and constants or None.
inline nb::tuple to_tuple(NewRows&& rows) {
  nb::object constants = nb::none();
  if (rows.has_constants) {
    constants = nb::cast(to_numpy(std::move(rows.constants), {rows.lengths.size(), rows.stride}));
  }
  const nb::tuple others = tokens_and_lengths(std::move(rows));
  return nb::make_tuple(others[0], others[1], constants);
}

// Rows with tokens and lengths of their own: once they are checked, nobody can change them while they are read without
// the interpreter's lock. Constants may change, as any number is safe to read.
class HeldRows : public Rows {
 public:
  HeldRows(const Tokens& tokens, const Lengths& lengths, const double* constants)
      : Rows{nullptr, nullptr, constants, tokens.shape(0), tokens.shape(1)},
        own_tokens_(tokens.data(), tokens.data() + tokens.size()),
        own_lengths_(lengths.data(), lengths.data() + lengths.size()) {
    Rows::tokens = own_tokens_.data();
    Rows::lengths = own_lengths_.data();
  }
  HeldRows(HeldRows&&) = default;
  HeldRows(const HeldRows&) = delete;
  HeldRows& operator=(const HeldRows&) = delete;

 private:
  std::vector<Token> own_tokens_;
  std::vector<std::int32_t> own_lengths_;
};

// Each row must be one complete expression of tokens of the library.
inline void check_row(const Vocabulary& vocabulary, Row row, std::size_t stride) {
  require(row.length >= 1 && static_cast<std::size_t>(row.length) <= stride,
          "Each length must be at least 1 and at most L.");
  const std::uint8_t* const arity = vocabulary.arity.data();
  int open = 1;
  bool is_early = false;
  for (int j = 0; j < row.length; ++j) {
    require(row.tokens[j] < vocabulary.size(), "Each token must be one of the library's.");
    is_early |= open == 0;
    open += arity[row.tokens[j]] - 1;
  }
  require(open == 0 && !is_early, "Each row must be one complete expression in prefix order.");
}

// Rows whose tokens are not checked yet.
inline HeldRows to_unchecked_rows(const Tokens& tokens, const Lengths& lengths, const Constants& constants) {
  HeldRows rows(tokens, lengths, constants.data());
  require(lengths.shape(0) == rows.count && constants.shape(0) == rows.count && constants.shape(1) == rows.stride,
          "`tokens` (N, L), `lengths` (N,) and `constants` (N, L) must have the same N and L.");
  return rows;
}

// Rows that are safe to read: each is one complete expression of tokens of the library.
inline HeldRows to_rows(const Vocabulary& vocabulary, const Tokens& tokens, const Lengths& lengths,
                        const Constants& constants) {
  HeldRows rows = to_unchecked_rows(tokens, lengths, constants);
  for (std::size_t i = 0; i < rows.count; ++i) check_row(vocabulary, rows[i], rows.stride);
  return rows;
}

inline void require_columns(const Vocabulary& vocabulary, const Samples& samples) {
  for (std::size_t t = 0; t < vocabulary.size(); ++t) {
    require(vocabulary.kind[t] != kVariable || static_cast<std::size_t>(vocabulary.variable[t]) < samples.variables,
            "The library has a variable that is not a column of the data.");
  }
}

inline EvalOptions to_options(Validity validity, const std::optional<std::string>& instruction_set,
                              const Function* loss = nullptr) {
  return {symseed::instruction_set(instruction_set).kernels, validity, loss};
}

// When the interpreter ends, it ends every other thread that asks for its lock: before Python 3.14 by pthread_exit,
// which unwinds the thread's frames. Frames of this core and of nanobind cannot be unwound in that way (destructors,
// `catch (...)`), and the process would abort. Such a thread therefore waits until the process has ended and keeps its
// frames, in which other threads may still be working. This happens to daemon threads.

[[noreturn]] inline void wait_for_exit() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Calls functions of Python that may wait for the lock. It holds nothing with a destructor, and must not be called
// while an exception is handled.
template <class Call>
auto call_python(Call call) {
  try {
    return call();
  } catch (...) {
    if (std::current_exception() != nullptr) throw;  // The end of a thread is not a C++ exception.
    wait_for_exit();
  }
}

// Set when the interpreter has ended. From then on, its lock does not exist either.
inline std::atomic<bool> is_interpreter_gone{false};

// The interpreter's lock, for native work on any thread that does not hold it.
class PythonLock {
 public:
  PythonLock() {
    if (is_interpreter_gone) wait_for_exit();
    state_ = call_python([] { return PyGILState_Ensure(); });
  }
  ~PythonLock() { PyGILState_Release(state_); }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

 private:
  PyGILState_STATE state_;
};

// Returns whether Python has a signal to handle (Ctrl-C). Its handler runs here; its exception stays set for `run`.
inline bool has_signal() {
  const PythonLock lock;
  return PyErr_CheckSignals() != 0;
}

// Runs native work without the interpreter's lock; a signal that arrives meanwhile ends it with the handler's
// exception.
template <class Work>
void run(Work work) {
  bool is_interrupted = false;
  std::exception_ptr error;
  PyThreadState* const thread = PyEval_SaveThread();
  try {
    Monitor monitor(&has_signal);
    work(monitor);
  } catch (const Interrupted&) {
    is_interrupted = true;
  } catch (...) {
    error = std::current_exception();
  }
  // Not in a destructor: a thread cannot be ended there.
  call_python([&] { PyEval_RestoreThread(thread); });
  if (is_interrupted) throw nb::python_error();
  if (error) std::rethrow_exception(error);
}

// One enum that Python and the core share; `fill` names its members. If the module is loaded again, nanobind has the
// enum already and accepts no name twice. nanobind's `__repr__` and `__str__` are removed, so that members print like
// those of other enums.
template <class T, class Fill, class... Extra>
void bind_codes(nb::module_& m, const char* name, const Fill& fill, const Extra&... extra) {
  if (const nb::handle known = nb::type<T>(); known.is_valid()) {
    m.attr(name) = known;
    return;
  }
  nb::enum_<T> codes(m, name, extra...);
  fill(codes);
  nb::delattr(codes, "__repr__");
  nb::delattr(codes, "__str__");
}

void bind_complete(nb::module_& m);
void bind_device(nb::module_& m);
void bind_function(nb::module_& m);
void bind_gp(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_lstm(nb::module_& m);
void bind_reader(nb::module_& m);
void bind_score(nb::module_& m);
void bind_space(nb::module_& m);
void bind_vary(nb::module_& m);
void bind_vocabulary(nb::module_& m);

}  // namespace symseed
