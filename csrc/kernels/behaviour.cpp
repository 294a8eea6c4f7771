// busy_wait_ms and raise_error: kernels that take their time, or fail in every way a kernel can.

// First, for Python.h: a kernel that calls into Python uses the runtime as bindings do.
#include "core/error.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "demo_ops_kernels.h"

namespace {

// An exception that nobody but this file knows.
struct UnknownException : std::exception {
  const char* what() const noexcept override { return "an exception of the library's own"; }
};

[[noreturn]] void raise_python_error() {
  opbind::with_gil([] {
    PyErr_SetString(PyExc_KeyError, "set by the kernel");
    throw opbind::python_error();
  });
  std::terminate();  // with_gil has thrown
}

struct Kind {
  std::string_view name;
  void (*raise)();
};

constexpr Kind kKinds[] = {
    {"error", [] { TORCH_CHECK(false, "raised by TORCH_CHECK"); }},
    {"index_error", [] { TORCH_CHECK_INDEX(false, "raised by TORCH_CHECK_INDEX"); }},
    {"value_error", [] { TORCH_CHECK_VALUE(false, "raised by TORCH_CHECK_VALUE"); }},
    {"type_error", [] { TORCH_CHECK_TYPE(false, "raised by TORCH_CHECK_TYPE"); }},
    {"not_implemented",
     [] { TORCH_CHECK_NOT_IMPLEMENTED(false, "raised by TORCH_CHECK_NOT_IMPLEMENTED"); }},
    {"buffer_error", [] { TORCH_CHECK_BUFFER(false, "raised by TORCH_CHECK_BUFFER"); }},
    {"linalg_error", [] { TORCH_CHECK_LINALG(false, "raised by TORCH_CHECK_LINALG"); }},
    {"out_of_memory",
     [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "raised by TORCH_CHECK_WITH"); }},
    {"runtime_error", [] { throw std::runtime_error("std::runtime_error"); }},
    {"out_of_range", [] { throw std::out_of_range("std::out_of_range"); }},
    {"invalid_argument", [] { throw std::invalid_argument("std::invalid_argument"); }},
    {"domain_error", [] { throw std::domain_error("std::domain_error"); }},
    {"length_error", [] { throw std::length_error("std::length_error"); }},
    {"range_error", [] { throw std::range_error("std::range_error"); }},
    {"overflow_error", [] { throw std::overflow_error("std::overflow_error"); }},
    {"system_error",
     [] { throw std::system_error(ENOENT, std::generic_category(), "std::system_error"); }},
    {"bad_alloc", [] { throw std::bad_alloc(); }},
    {"unknown_exception", [] { throw UnknownException(); }},
    {"int", [] { throw 42; }},  // NOLINT(bugprone-std-exception-baseclass): that is the point
    {"not_utf8", [] { TORCH_CHECK_VALUE(false, "bytes \xff\xe4 that are no UTF-8"); }},
    {"not_utf8_out_of_memory",
     [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "bytes \xff\xe4 that are no UTF-8"); }},
    {"python_error", [] { raise_python_error(); }},
    {"python_error_unset", [] { opbind::with_gil([] { throw opbind::python_error(); }); }},
    {"warning_then_error",
     [] {
       TORCH_WARN("a warning before the error");
       throw std::runtime_error("an error after the warning");
     }},
};

}  // namespace

void demo::busy_wait_ms(int64_t ms) {
  TORCH_CHECK_VALUE(ms >= 0, "busy_wait_ms: ms must not be negative, but is ", ms);
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

void demo::raise_error(std::string_view kind) {
  std::ostringstream names;
  for (const Kind& known : kKinds) {
    if (known.name == kind) return known.raise();
    names << ' ' << known.name;
  }
  TORCH_CHECK_VALUE(false, "raise_error: '", kind, "' is no known kind; there are", names.str());
}
