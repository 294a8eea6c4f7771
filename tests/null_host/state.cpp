// null_host/state.cpp: warnings, errors, and what torch keeps for `__torch_function__`.
#include <stdexcept>

#include "core/error.h"
#include "core/ref.h"
#include "host.h"
#include "state.h"

#ifdef Py_LIMITED_API
extern "C" int PyGILState_Check(void);
#endif

namespace opbind::host {
namespace {

thread_local WarningScope* innermost = nullptr;

}  // namespace

State& state() {
  static State instance;
  return instance;
}

bool gil_held() noexcept { return !interpreter_is_ending() && PyGILState_Check() != 0; }

// ---------------------------------------------------------------------------- warnings and errors

WarningScope::WarningScope() noexcept : previous_(std::exchange(innermost, this)) {}

WarningScope::~WarningScope() { innermost = previous_; }

void warn(std::string text) { innermost->warnings_.push_back(std::move(text)); }

bool WarningScope::issue(bool with_error) {
  // Python code that a warning runs may warn again: into the scope outside.
  innermost = previous_;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  for (const std::string& text : std::exchange(warnings_, {})) {
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), /*stack_level=*/1) == 0) continue;
    if (!with_error) return false;
    PyErr_Clear();
  }
  PyErr_Restore(type, value, traceback);
  return true;
}

std::string error_text(const std::exception& error) { return error.what(); }

void translate(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    set_error(PyExc_RuntimeError, error_text(known));
  } catch (...) {
    set_error(PyExc_RuntimeError, "an exception that is no std::exception was thrown");
  }
}

// ------------------------------------------------------------------------------ __torch_function__

TorchFunctionState take_torch_function_state() {
  return {std::exchange(state().skip_next, false), torch_function_mode_active()};
}

bool torch_function_mode_active() { return !state().modes.empty(); }

bool torch_function_enabled_for_subclasses() { return state().subclasses_enabled; }

PyObject* disabled_torch_function_impl() { return state().disabled_torch_function_impl; }

TorchFunctionModeGuard::TorchFunctionModeGuard() : mode_(state().modes.back()) {
  state().modes.pop_back();
}

TorchFunctionModeGuard::~TorchFunctionModeGuard() { state().modes.push_back(mode_); }

PyObject* public_function(PyObject* module, const char* owner, const char* name,
                          const char* /*own_name*/) {
  if (owner != nullptr) throw std::logic_error("the null host has no functions of an owner");
  return checked(PyObject_GetAttrString(module, name)).release();
}

void register_structseq_pytree(PyTypeObject* type) {
  state().structseqs.push_back(reinterpret_cast<PyObject*>(type));
}

void lazy_init(std::optional<Device> device) {
  if (device.has_value()) state().lazily_initialized.push_back(name_of(*device));
}

}  // namespace opbind::host
