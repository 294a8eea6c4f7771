// What core's NEP 18 code needs of torch, and torch's named return types.

#include <ATen/PythonTorchFunctionTLS.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/ref.h"
#include "host.h"

namespace opbind::host {
namespace {

// Attribute of an importable module, a new reference.
PyObject* module_attribute(const char* module_name, const char* name) {
  const THPObjectPtr module = checked(PyImport_ImportModule(module_name));
  return checked(PyObject_GetAttrString(module.get(), name)).release();
}

// The object at a dotted path; its first part is a module. New reference.
THPObjectPtr resolve(std::string_view path) {
  THPObjectPtr object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string part(path.substr(0, dot));
    object = checked(object ? PyObject_GetAttrString(object.get(), part.c_str())
                            : PyImport_ImportModule(part.c_str()));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return object;
}

}  // namespace

PyObject* disabled_torch_function_impl() {
  static PyObject* const function = module_attribute("torch._C", "_disabled_torch_function_impl");
  return function;
}

TorchFunctionModeGuard::TorchFunctionModeGuard()
    : mode_(at::impl::PythonTorchFunctionTLS::pop_stack()) {}

TorchFunctionModeGuard::~TorchFunctionModeGuard() {
  at::impl::PythonTorchFunctionTLS::push_onto_stack(std::move(mode_));
}

PyObject* TorchFunctionModeGuard::mode() const { return mode_->ptr(getPyInterpreter()); }

PyObject* public_function(PyObject* module, const char* owner, const char* name,
                          const char* own_name) {
  if (owner != nullptr) {
    const THPObjectPtr object = resolve(owner);
    PyObject* const function = PyObject_GetAttrString(object.get(), name);
    if (function != nullptr) return function;
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw python_error();
    PyErr_Clear();
  }
  const char* const attribute = own_name == nullptr ? name : own_name;
  return checked(PyObject_GetAttrString(module, attribute)).release();
}

PyTypeObject* return_type(const char* name) {
  THPObjectPtr type(module_attribute("torch.return_types", name));
  if (!PyType_Check(type.get())) {
    throw std::runtime_error("torch.return_types." + std::string(name) + " is no type");
  }
  return reinterpret_cast<PyTypeObject*>(type.release());
}

void register_structseq_pytree(PyTypeObject* type) {
  const THPObjectPtr function(module_attribute("torch.return_types", "pytree_register_structseq"));
  auto* const argument = reinterpret_cast<PyObject*>(type);
  checked(PyObject_CallFunctionObjArgs(function.get(), argument, nullptr));
}

}  // namespace opbind::host
