// core/torch_function.h: `__torch_function__`, by NEP 18's rules.
//
// An active mode is asked first; then the arguments that have `__torch_function__`, left to right,
// subclasses before their superclasses, one of each type. All of it needs the GIL.
#pragma once

#include "core/arg_parser.h"
#include "core/python.h"
#include "core/ref.h"
#include "host.h"

namespace opbind {
namespace detail {

OPBIND_COLD bool has_torch_function_slow(PyObject* object);

/// Types that everybody passes and that never define `__torch_function__`.
inline bool is_basic_type(const PyTypeObject* type) {
  return type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type ||
         type == &PyUnicode_Type || type == &PyTuple_Type || type == &PyList_Type ||
         type == Py_TYPE(Py_None);
}

}  // namespace detail

/// Whether the object has `__torch_function__`, of its type or of its own, and takes part: a plain
/// tensor, a Parameter and types with the disabled implementation do not. Throws python_error when
/// looking it up raises anything but AttributeError.
inline bool has_torch_function(PyObject* object) {
  return !host::is_tensor_exact(object) && !detail::is_basic_type(Py_TYPE(object)) &&
         detail::has_torch_function_slow(object);
}

/// Adds `object` in the place that NEP 18 gives it, unless one of its type is there already.
OPBIND_COLD void append_overloaded_arg(OverloadedArgs& overloaded, PyObject* object);

/// For a function without parameters, in place of PythonArgs::has_torch_function.
inline bool torch_function_mode_active() {
  const host::TorchFunctionState state = host::take_torch_function_state();
  return state.mode_active && !state.skip_next;
}

/// Hands the call to the mode or the overloading arguments; what they are told is called is
/// host::public_function(module, owner, name, own_name). A new reference, or throws python_error;
/// TypeError when every handler returned NotImplemented.
OPBIND_COLD PyObject* handle_torch_function(const PythonArgs& r, PyObject* module,
                                            const char* owner, const char* name,
                                            const char* own_name = nullptr);

/// The same for a function without parameters.
OPBIND_COLD PyObject* handle_torch_function_noargs(PyObject* module, const char* owner,
                                                   const char* name,
                                                   const char* own_name = nullptr);

}  // namespace opbind
