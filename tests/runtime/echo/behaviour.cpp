// echo/behaviour.cpp: the kernels of the echo library that do more than echo.
#include <climits>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

#include "core/runtime.h"
#include "echo.h"
#include "echo_ops_kernels.h"

namespace {

using opbind::host::Scalar;

int64_t number(const at::Tensor& tensor) { return std::get<int64_t>(tensor.impl()->value.value()); }

at::Tensor tensor_of(int64_t value) { return at::Tensor(Scalar(value)); }

void set(at::Tensor& tensor, int64_t value) { tensor.impl()->value = Scalar(value); }

}  // namespace

// -------------------------------------------------------------------------------------- results

void echo::touch_(at::Tensor& self, int64_t by) { set(self, number(self) + by); }

void echo::touch_all(at::TensorList xs, int64_t by) {
  for (const at::Tensor& tensor : xs) tensor.impl()->value = Scalar(number(tensor) + by);
}

at::Tensor echo::plus(const at::Tensor& self, int64_t by) { return tensor_of(number(self) + by); }

at::Tensor& echo::plus_out(const at::Tensor& self, int64_t by, at::Tensor& out) {
  set(out, number(self) + by);
  return out;
}

std::tuple<at::Tensor, at::Tensor> echo::split(const at::Tensor& self) {
  return {tensor_of(number(self) - 1), tensor_of(number(self) + 1)};
}

std::tuple<at::Tensor&, at::Tensor&> echo::split_out(const at::Tensor& self, at::Tensor& low,
                                                     at::Tensor& high) {
  set(low, number(self) - 1);
  set(high, number(self) + 1);
  return {low, high};
}

void echo::fill_out(int64_t by, at::Tensor& out) { set(out, by); }

void echo::fill_outs(int64_t by, at::Tensor& first, at::Tensor& second) {
  set(first, by);
  set(second, by + 1);
}

at::Tensor echo::make(at::IntArrayRef size, std::optional<at::ScalarType> /*dtype*/,
                      std::optional<at::Layout> /*layout*/, std::optional<at::Device> /*device*/,
                      std::optional<bool> /*pin_memory*/) {
  return tensor_of(static_cast<int64_t>(size.size()));
}

at::Tensor echo::undefined() { return {}; }

at::Tensor echo::fresh(int64_t value) { return tensor_of(value); }

std::string echo::bytes_of(at::IntArrayRef codes) { return {codes.begin(), codes.end()}; }

// --------------------------------------------------------------------------------------- errors

namespace {

// Known to the translator below.
struct Custom : std::exception {
  const char* what() const noexcept override { return "an exception of the author's"; }
};
struct Alien {};
// Make the translator fail in each way that it can.
struct Breaks : std::exception {
  explicit Breaks(const char* way) : way_(way) {}
  const char* what() const noexcept override { return way_; }

 private:
  const char* way_;
};

[[noreturn]] void throw_key_error() {
  opbind::with_gil([] { opbind::raise_error(PyExc_KeyError, "an error of Python's"); });
  throw std::logic_error("raise_error returned");
}

struct Kind {
  std::string_view name;
  void (*raise)();
};

constexpr Kind kKinds[] = {
    {"bad_alloc", [] { throw std::bad_alloc(); }},
    {"out_of_range", [] { throw std::out_of_range("out of range"); }},
    {"invalid_argument", [] { throw std::invalid_argument("invalid argument"); }},
    {"domain_error", [] { throw std::domain_error("domain error"); }},
    {"length_error", [] { throw std::length_error("length error"); }},
    {"range_error", [] { throw std::range_error("range error"); }},
    {"overflow_error", [] { throw std::overflow_error("overflow error"); }},
    {"runtime_error", [] { throw std::runtime_error("runtime error"); }},
    {"not_utf8", [] { throw std::out_of_range("bytes \xff\xe4 that are no UTF-8"); }},
    {"int", [] { throw 42; }},
    {"custom", [] { throw Custom(); }},
    {"alien", [] { throw Alien(); }},
    {"translator throws", [] { throw Breaks("std"); }},
    {"translator raises", [] { throw Breaks("python"); }},
    {"translator throws an int", [] { throw Breaks("int"); }},
    {"python_error", [] { throw_key_error(); }},
    {"python_error_unset", [] { opbind::with_gil([] { throw opbind::python_error(); }); }},
    {"python_error_copied",
     [] {
       try {
         throw_key_error();
       } catch (const opbind::python_error& error) {
         const opbind::python_error copy = error;
         throw copy;
       }
     }},
    {"python_error_twice",
     [] {
       try {
         throw_key_error();
       } catch (const opbind::python_error& error) {
         opbind::with_gil([&] {
           error.restore();
           PyErr_Clear();
         });
         throw;
       }
     }},
};

bool translates = false;

bool translate_custom(std::exception_ptr exception) {
  if (!translates) return false;
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const Custom& error) {
    opbind::set_error(PyExc_LookupError, error.what());
  } catch (const Alien&) {
    opbind::set_error(PyExc_LookupError, "an alien");
  } catch (const Breaks& error) {
    if (std::strcmp(error.what(), "std") == 0) throw std::out_of_range("the translator failed");
    if (std::strcmp(error.what(), "int") == 0) throw 42;
    opbind::raise_error(PyExc_LookupError, "the translator failed");
  } catch (...) {
    return false;
  }
  return true;
}

// A translator that knows nothing: asked first, since it is registered last.
bool translate_nothing(std::exception_ptr) { return false; }

}  // namespace

void echo::raise_error(std::string_view kind) {
  for (const Kind& known : kKinds) {
    if (known.name == kind) return known.raise();
  }
  throw std::invalid_argument("no such kind: " + std::string(kind));
}

void echo::translate(bool on) {
  static bool registered = false;
  if (!registered) {
    opbind::register_exception_translator(translate_custom);
    opbind::register_exception_translator(translate_nothing);
    registered = true;
  }
  translates = on;
}

// What generated code ends with that does not know the signature that the parser chose.
void echo::unknown_overload(int64_t index) {
  using namespace opbind;
  static constexpr FunctionSignature kSignatures[] = {{.text = "f()"}};
  static constexpr FunctionSignatures kFunction = {
      .name = "f", .signatures = kSignatures, .count = 1};
  static const PythonArgParser parser(kFunction);
  ParsedArgs<0> parsed_args;
  PythonArgs r = parser.parse(nullptr, 0, nullptr, parsed_args);
  r.idx = static_cast<int>(index);
  checked(unreachable_overload(r));
}

int64_t echo::warn(std::string_view text, int64_t times, std::optional<std::string_view> then) {
  for (int64_t i = 0; i < times; ++i) opbind::host::warn(std::string(text));
  if (then.has_value()) raise_error(*then);
  return times;
}

// -------------------------------------------------------------------------------------- the GIL

bool echo::gil_state() { return opbind::host::gil_held(); }

bool echo::gil_state_held() { return opbind::host::gil_held(); }

int64_t echo::call_python(std::string_view statement) {
  return opbind::with_gil([&]() -> int64_t {
    using opbind::checked;
    const opbind::THPObjectPtr builtins = checked(PyImport_ImportModule("builtins"));
    const opbind::THPObjectPtr scope = checked(PyDict_New());
    const opbind::THPObjectPtr text = checked(opbind::THPVariable_Wrap(statement));
    const opbind::THPObjectPtr exec = checked(PyObject_GetAttrString(builtins.get(), "exec"));
    checked(PyObject_CallFunctionObjArgs(exec.get(), text.get(), scope.get(), nullptr));
    return opbind::host::gil_held() ? 1 : 0;
  });
}

int64_t echo::call_python_in_thread(std::string_view statement) {
  int64_t result = 0;
  std::exception_ptr failure;
  std::thread([&] {
    try {
      result = call_python(statement);
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return result;
}

void echo::drop_errors(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    try {
      throw_key_error();
    } catch (const opbind::python_error& error) {
      const opbind::python_error copy =
          error;  // NOLINT(performance-unnecessary-copy-initialization)
    }
  }
}

namespace {

struct Probe {
  bool* has_gil;
  explicit Probe(bool* into) : has_gil(into) {}
  Probe(Probe&& other) noexcept : has_gil(std::exchange(other.has_gil, nullptr)) {}
  ~Probe() {
    if (has_gil != nullptr) *has_gil = opbind::host::gil_held();
  }
};

}  // namespace

bool echo::destroy_without_gil() {
  bool has_gil = true;
  opbind::destroy_without_gil(Probe(&has_gil));
  return !has_gil && opbind::host::gil_held();
}

// ---------------------------------------------------------------------------- planted faults

namespace {

int64_t use_after_free() {
  auto* const number = new volatile int64_t(1);
  delete number;
  return *number;
}

// The element of a list, used after the list has dropped it. Of a type that Python frees at once:
// tuples, lists and numbers it keeps for later use, which hides such a fault.
int64_t stale_object() {
  const opbind::THPObjectPtr list = opbind::checked(PyList_New(1));
  PyObject* const item = PyBytes_FromStringAndSize(nullptr, 100);
  PyList_SetItem(list.get(), 0, item);
  PyList_SetSlice(list.get(), 0, 1, nullptr);
  return PyBytes_Check(item) ? 1 : 0;
}

int64_t out_of_bounds(at::IntArrayRef numbers) {
  const opbind::IntList list(numbers.size(), [&](std::span<int64_t> into) {
    for (std::size_t i = 0; i <= numbers.size(); ++i) into.data()[i] = 1;
  });
  return static_cast<at::IntArrayRef>(list)[0];
}

int64_t signed_overflow() {
  volatile int largest = INT_MAX;
  return largest + 1;
}

// New references that nobody releases. The collector knows a list, so that it is no leak to the
// sanitizer: the tests count such objects themselves.
int64_t leaked_bytes() { return PyBytes_Size(PyBytes_FromStringAndSize(nullptr, 100)); }
int64_t leaked_list() { return PyList_Size(PyList_New(3)); }
// Memory that Python knows nothing of.
int64_t leaked_cpp() { return *new volatile int64_t(3); }

}  // namespace

std::string echo::sanitizers() {
#if defined(__SANITIZE_ADDRESS__)
  return "address, undefined";
#else
  return "";
#endif
}

int64_t echo::plant(std::string_view fault) {
  if (fault == "use after free") return use_after_free();
  if (fault == "stale object") return stale_object();
  if (fault == "out of bounds") return out_of_bounds(std::array<int64_t, 9>{});
  if (fault == "signed overflow") return signed_overflow();
  if (fault == "leaked bytes") return leaked_bytes();
  if (fault == "leaked list") return leaked_list();
  if (fault == "leaked C++") return leaked_cpp();
  throw std::invalid_argument("no such fault: " + std::string(fault));
}
