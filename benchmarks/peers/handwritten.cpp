// What a careful author writes by hand for each function: METH_FASTCALL, exact types first, the GIL
// released around the op, C++ warnings handed to Python, `__torch_function__` looked for.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <ATen/PythonTorchFunctionTLS.h>

#include <string>
#include <utility>

#include "ops.h"

namespace {

// A subclass or a mode would send the call to Python: not part of what is timed, so refused.
const at::Tensor* tensor_or_null(PyObject* object) {
  return THPVariable_CheckExact(object) ? &THPVariable_Unpack(object) : nullptr;
}

at::Tensor& require_tensor(PyObject* object, const char* name) {
  if (const at::Tensor* tensor = tensor_or_null(object)) return const_cast<at::Tensor&>(*tensor);
  throw torch::TypeError(std::string(name) + " must be a Tensor");
}

void refuse_torch_function_mode() {
  if (at::impl::torch_function_mode_enabled()) throw torch::TypeError("no modes here");
}

bool scalar_from(PyObject* object, at::Scalar& out) {
  if (PyFloat_CheckExact(object)) {
    out = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) return false;
    out = static_cast<int64_t>(value);
    return true;
  }
  return false;
}

// The value of the only keyword, which must be `name`; null when there is none.
PyObject* only_keyword(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject* name) {
  if (kwnames == nullptr || PyTuple_GET_SIZE(kwnames) == 0) return nullptr;
  PyObject* given = PyTuple_GET_ITEM(kwnames, 0);
  const bool same = given == name || PyUnicode_Compare(given, name) == 0;
  if (PyTuple_GET_SIZE(kwnames) > 1 || !same) throw torch::TypeError("unexpected keyword");
  return args[nargs];
}

PyObject* add2(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static PyObject* const alpha_name = PyUnicode_InternFromString("alpha");
  if (nargs != 2) throw torch::TypeError("add2 takes 2 positional arguments");
  const at::Tensor& self = require_tensor(args[0], "input");
  const at::Tensor& other = require_tensor(args[1], "other");
  at::Scalar alpha = 1;
  if (PyObject* given = only_keyword(args, nargs, kwnames, alpha_name)) {
    if (!scalar_from(given, alpha)) throw torch::TypeError("alpha must be a number");
  }
  refuse_torch_function_mode();
  at::Tensor result;
  {
    pybind11::gil_scoped_release no_gil;
    result = peers::add2_op().call(self, other, alpha);
  }
  return THPVariable_Wrap(std::move(result));
  END_HANDLE_TH_ERRORS
}

PyObject* pick(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  if (nargs != 2 || kwnames != nullptr) throw torch::TypeError("pick takes 2 arguments");
  const at::Tensor& self = require_tensor(args[0], "input");
  const at::Tensor* other = tensor_or_null(args[1]);
  at::Scalar number;
  if (other == nullptr && !scalar_from(args[1], number)) {
    throw torch::TypeError("other must be a Tensor or a number");
  }
  refuse_torch_function_mode();
  at::Tensor result;
  {
    pybind11::gil_scoped_release no_gil;
    result = other != nullptr ? peers::pick_tensor_op().call(self, *other)
                              : peers::pick_scalar_op().call(self, number);
  }
  return THPVariable_Wrap(std::move(result));
  END_HANDLE_TH_ERRORS
}

PyObject* touch_(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  if (nargs < 1 || nargs > 2 || kwnames != nullptr) throw torch::TypeError("touch_(input, value)");
  at::Tensor& self = require_tensor(args[0], "input");
  double value = 1.0;
  if (nargs == 2) {
    if (!PyFloat_CheckExact(args[1])) throw torch::TypeError("value must be a float");
    value = PyFloat_AS_DOUBLE(args[1]);
  }
  refuse_torch_function_mode();
  {
    pybind11::gil_scoped_release no_gil;
    peers::touch_op().call(self, value);
  }
  return Py_NewRef(args[0]);
  END_HANDLE_TH_ERRORS
}

template <class Function>
PyCFunction method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"handwritten_add2", method(add2), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"handwritten_pick", method(pick), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"handwritten_touch_", method(touch_), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyMethodDef* handwritten_methods() { return methods; }
