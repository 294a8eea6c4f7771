// core/error.h: the boundary between C++ exceptions and Python's.
//
// Inside, an error is a C++ exception; a Python error that is already set travels as python_error.
// Each entry point that Python calls is wrapped in HANDLE_TH_ERRORS … END_HANDLE_TH_ERRORS.
#pragma once

#if defined(THP_EXCEPTIONS_INC) || defined(_CATCH_GENERIC_ERROR)
#error \
    "opbind's runtime defines HANDLE_TH_ERRORS and python_error: do not include torch/csrc/Exceptions.h beside it"
#endif

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/gil.h"
#include "core/python.h"
#include "core/ref.h"
#include "host.h"

namespace opbind {

/// A Python exception on its way through C++ code. The constructor takes the error that is set from
/// the interpreter; with none set it becomes a SystemError. Copies share the exception, so it may
/// be copied and dropped with or without the GIL.
class python_error : public std::exception {
 public:
  /// The GIL is held.
  python_error();

  /// Sets the exception again in the interpreter. The GIL is held. Only the first call has one to
  /// set; a later one sets a SystemError.
  void restore() const noexcept;

  const char* what() const noexcept override { return "a Python exception is on its way"; }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Returns `object`, a new reference, or throws python_error when it is nullptr.
inline THPObjectPtr checked(PyObject* object) {
  if (object == nullptr) [[unlikely]] {
    throw python_error();
  }
  return THPObjectPtr(object);
}

/// Sets a Python exception. `text` may be any bytes: what is no UTF-8 is replaced (U+FFFD).
void set_error(PyObject* type, std::string_view text) noexcept;

/// Sets a Python exception and throws python_error.
[[noreturn]] void raise_error(PyObject* type, std::string_view text);

/// Drops the exception that is set, of work that the caller can do without. Ctrl-C and whatever
/// else is no Exception is not dropped: throws python_error with it.
void drop_exception();

/// Sets the Python exception for a C++ exception and returns true, or returns false when it is not
/// its concern. Called with the GIL; it rethrows the pointer to look at the exception.
using ExceptionTranslator = bool (*)(std::exception_ptr);

/// Asks `translator` for every exception that is not one of the runtime's own or of the standard's
/// mapped ones, before the host's translation; the last one registered is asked first. The GIL is
/// held.
void register_exception_translator(ExceptionTranslator translator);

namespace detail {

/// What is said of an exception of which nothing is known.
inline constexpr char kUnknownException[] = "an exception that is no std::exception was thrown";

/// Sets the Python exception for the C++ exception being handled. The GIL is held.
OPBIND_COLD void translate_current_exception() noexcept;

/// Issues what `warnings` collected. Returns `result`, or nullptr with an exception set (the result
/// is released then) when a warning became an exception. The GIL is held.
OPBIND_COLD PyObject* issue_warnings(host::WarningScope& warnings, PyObject* result) noexcept;

/// Runs `body`, and turns what it throws, and C++ warnings raised meanwhile, into Python's.
template <class Body>
PyObject* run_in_boundary(const Body& body) {
  host::WarningScope warnings;
  PyObject* result = nullptr;
  try {
    result = body();
  }
  OPBIND_LET_FORCED_UNWIND_PASS
  catch (...) {
    translate_current_exception();
  }
  if (warnings.has_warnings()) [[unlikely]] {
    result = issue_warnings(warnings, result);
  }
  return result;
}

/// The same, once for all: in each entry point it would be more code than its own.
PyObject* run_in_shared_boundary(PyObject* (*body)(const void*), const void* context);

template <bool kSharedFrames, class Body>
PyObject* call_boundary(const Body& body) {
  if constexpr (kSharedFrames) {
    const auto run = [](const void* context) { return (*static_cast<const Body*>(context))(); };
    return run_in_shared_boundary(run, &body);
  } else {
    return run_in_boundary(body);
  }
}

}  // namespace detail
}  // namespace opbind

// What stands between the two is the body of a lambda: it returns a new reference on every path, or
// throws. C++ warnings raised inside become Python warnings after it. Of what stands before, as the
// function's parameters, it has copies, which it cannot change.
#define HANDLE_TH_ERRORS \
  return ::opbind::detail::call_boundary<OPBIND_SHARED_FRAMES>([=]() -> PyObject* {
#define END_HANDLE_TH_ERRORS \
  });
