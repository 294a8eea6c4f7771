// null_host/module.cpp: the module null_host, by which Python tests the host.
#include <stdexcept>

#include "core/error.h"
#include "core/ref.h"
#include "host.h"
#include "objects.h"
#include "state.h"

namespace opbind::host {
namespace {

PyObject* push_mode(PyObject*, PyObject* mode) {
  state().modes.push_back(THPObjectPtr::borrow(mode).release());
  Py_RETURN_NONE;
}

PyObject* pop_mode(PyObject*, PyObject*) {
  const THPObjectPtr mode(state().modes.back());
  state().modes.pop_back();
  Py_RETURN_NONE;
}

PyObject* skip_next(PyObject*, PyObject*) {
  state().skip_next = true;
  Py_RETURN_NONE;
}

PyObject* enable_subclasses(PyObject*, PyObject* enabled) {
  state().subclasses_enabled = enabled == Py_True;
  Py_RETURN_NONE;
}

PyObject* lazily_initialized(PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  THPObjectPtr names = checked(PyList_New(0));
  for (const std::string& name : std::exchange(state().lazily_initialized, {})) {
    const THPObjectPtr text = checked(PyUnicode_FromString(name.c_str()));
    if (PyList_Append(names.get(), text.get()) < 0) throw python_error();
  }
  return names.release();
  END_HANDLE_TH_ERRORS
}

PyObject* structseqs(PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  THPObjectPtr types = checked(PyList_New(0));
  for (PyObject* type : state().structseqs) {
    if (PyList_Append(types.get(), type) < 0) throw python_error();
  }
  return types.release();
  END_HANDLE_TH_ERRORS
}

PyMethodDef functions[] = {
    {"push_mode", push_mode, METH_O, "Make an object with __torch_function__ the innermost mode."},
    {"pop_mode", pop_mode, METH_NOARGS, "Remove the innermost mode."},
    {"skip_next", skip_next, METH_NOARGS, "Let the next check for __torch_function__ find none."},
    {"enable_subclasses", enable_subclasses, METH_O,
     "Whether the __torch_function__ of arguments counts."},
    {"lazily_initialized", lazily_initialized, METH_NOARGS,
     "The devices that were initialized since the last call."},
    {"structseqs", structseqs, METH_NOARGS, "The types of named results."},
    {nullptr, nullptr, 0, nullptr},
};

constexpr const char* kName = "null_host";

void add(PyObject* module, const char* name, PyObject* object) {
  if (PyObject_SetAttrString(module, name, object) < 0) throw python_error();
}

}  // namespace

PyObject* named_value(const char* name) {
  return PyDict_GetItemString(PyModule_GetDict(PyImport_AddModule(kName)), name);
}

void initialize() {
  static bool done = false;
  if (done) return;
  if (PyDict_GetItemString(PyImport_GetModuleDict(), kName) != nullptr) {
    throw std::runtime_error("another module has made null_host");
  }
  PyObject* const module = PyImport_AddModule(kName);
  if (module == nullptr || PyModule_AddFunctions(module, functions) < 0) throw python_error();
  add_types(module);
  auto* const object_type = reinterpret_cast<PyObject*>(&PyBaseObject_Type);
  state().disabled_torch_function_impl =
      checked(PyObject_CallFunctionObjArgs(object_type, nullptr)).release();
  add(module, "disabled_torch_function_impl", state().disabled_torch_function_impl);
  done = true;
}

}  // namespace opbind::host
