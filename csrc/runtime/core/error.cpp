// core/error.cpp: python_error and the map from C++ exceptions to Python's.
#include "core/error.h"

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <vector>

namespace opbind {

// Owned references; released when the last copy goes.
struct python_error::State {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;

  State() { PyErr_Fetch(&type, &value, &traceback); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (type == nullptr || interpreter_is_ending()) {
      return;  // An interpreter that is ending has no use for it, and taking the GIL could abort.
    }
    const PyGILState_STATE gil = PyGILState_Ensure();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    PyGILState_Release(gil);
  }
};

python_error::python_error() : state_(std::make_shared<State>()) {}

void python_error::restore() const noexcept {
  if (state_->type == nullptr) {
    PyErr_SetString(PyExc_SystemError, "python_error was thrown without a Python exception set");
    return;
  }
  PyErr_Restore(std::exchange(state_->type, nullptr), std::exchange(state_->value, nullptr),
                std::exchange(state_->traceback, nullptr));
}

void set_error(PyObject* type, std::string_view text) noexcept {
  const THPObjectPtr message(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (message) {
    PyErr_SetObject(type, message.get());
  }
}

void drop_exception() {
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) {
    throw python_error();
  }
  PyErr_Clear();
}

void raise_error(PyObject* type, std::string_view text) {
  set_error(type, text);
  throw python_error();
}

namespace {

// Changed with the GIL only.
std::vector<ExceptionTranslator>& translators() {
  static std::vector<ExceptionTranslator> instance;
  return instance;
}

bool translate_registered(const std::exception_ptr& exception) {
  const auto& all = translators();
  for (auto translator = all.rbegin(); translator != all.rend(); ++translator) {
    if ((*translator)(exception)) {
      return true;
    }
  }
  return false;
}

// Exceptions of the standard library, then what translators and the host know of.
void translate_standard() {
  try {
    throw;
  } catch (const std::bad_alloc& e) {
    set_error(PyExc_MemoryError, e.what());
  } catch (const std::out_of_range& e) {
    set_error(PyExc_IndexError, e.what());
  } catch (const std::invalid_argument& e) {
    set_error(PyExc_ValueError, e.what());
  } catch (const std::domain_error& e) {
    set_error(PyExc_ValueError, e.what());
  } catch (const std::length_error& e) {
    set_error(PyExc_ValueError, e.what());
  } catch (const std::range_error& e) {
    set_error(PyExc_ValueError, e.what());
  } catch (const std::overflow_error& e) {
    set_error(PyExc_OverflowError, e.what());
  } catch (const std::exception&) {
    const std::exception_ptr exception = std::current_exception();
    if (!translate_registered(exception)) {
      host::translate(exception);
    }
  } catch (...) {
    if (!translate_registered(std::current_exception())) {
      set_error(PyExc_RuntimeError, detail::kUnknownException);
    }
  }
}

}  // namespace

void register_exception_translator(ExceptionTranslator translator) {
  translators().push_back(translator);
}

namespace detail {

void translate_current_exception() noexcept {
  try {
    throw;
  } catch (const python_error& e) {
    e.restore();
  } catch (...) {
    // A translator of the user's may itself throw: that exception is then the one to show.
    try {
      translate_standard();
    } catch (const python_error& e) {
      e.restore();
    } catch (const std::exception& e) {
      set_error(PyExc_RuntimeError, e.what());
    } catch (...) {
      set_error(PyExc_RuntimeError, detail::kUnknownException);
    }
  }
}

PyObject* issue_warnings(host::WarningScope& warnings, PyObject* result) noexcept {
  try {
    if (warnings.issue(/*with_error=*/result == nullptr)) {
      return result;
    }
  } catch (...) {
    translate_current_exception();
  }
  Py_XDECREF(result);
  return nullptr;
}

PyObject* run_in_shared_boundary(PyObject* (*body)(const void*), const void* context) {
  return run_in_boundary([=] { return body(context); });
}

}  // namespace detail
}  // namespace opbind
