// The shape of what torchgen prints for torch's own functions: torch's PythonArgParser, a lambda
// that releases the GIL and calls the dispatcher, wrap.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/utils/wrap_outputs.h>
#include <torch/csrc/utils/python_arg_parser.h>

#include "ops.h"

namespace {

using torch::ParsedArgs;
using torch::PythonArgParser;
using torch::autograd::utils::wrap;

// libtorch_python does not export the handler that torch's own functions call here.
PyObject* refuse_torch_function() { throw torch::TypeError("no __torch_function__ here"); }

PyObject* add2(PyObject*, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static PythonArgParser parser({"add2(Tensor input, Tensor other, *, Scalar alpha=1)"}, true);
  ParsedArgs<3> parsed_args;
  auto _r = parser.parse(nullptr, args, kwargs, parsed_args);
  if (_r.has_torch_function()) return refuse_torch_function();
  auto dispatch_add2 = [](const at::Tensor& self, const at::Tensor& other,
                          const at::Scalar& alpha) -> at::Tensor {
    pybind11::gil_scoped_release no_gil;
    return peers::add2_op().call(self, other, alpha);
  };
  return wrap(dispatch_add2(_r.tensor(0), _r.tensor(1), _r.scalar(2)));
  END_HANDLE_TH_ERRORS
}

PyObject* pick(PyObject*, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static PythonArgParser parser(
      {"pick(Tensor input, Tensor other)", "pick(Tensor input, Scalar other)"}, true);
  ParsedArgs<2> parsed_args;
  auto _r = parser.parse(nullptr, args, kwargs, parsed_args);
  if (_r.has_torch_function()) return refuse_torch_function();
  switch (_r.idx) {
    case 0: {
      auto dispatch_pick = [](const at::Tensor& self, const at::Tensor& other) -> at::Tensor {
        pybind11::gil_scoped_release no_gil;
        return peers::pick_tensor_op().call(self, other);
      };
      return wrap(dispatch_pick(_r.tensor(0), _r.tensor(1)));
    }
    case 1: {
      auto dispatch_pick = [](const at::Tensor& self, const at::Scalar& other) -> at::Tensor {
        pybind11::gil_scoped_release no_gil;
        return peers::pick_scalar_op().call(self, other);
      };
      return wrap(dispatch_pick(_r.tensor(0), _r.scalar(1)));
    }
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

PyObject* touch_(PyObject*, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static PythonArgParser parser({"touch_(Tensor input, double value=1.0)"}, true);
  ParsedArgs<2> parsed_args;
  auto _r = parser.parse(nullptr, args, kwargs, parsed_args);
  if (_r.has_torch_function()) return refuse_torch_function();
  auto dispatch_touch_ = [](at::Tensor self, double value) -> at::Tensor {
    pybind11::gil_scoped_release no_gil;
    peers::touch_op().call(self, value);
    return self;
  };
  return wrap(dispatch_touch_(_r.tensor(0), _r.toDouble(1)));
  END_HANDLE_TH_ERRORS
}

template <class Function>
PyCFunction method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"torchgen_add2", method(add2), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"torchgen_pick", method(pick), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"torchgen_touch_", method(touch_), METH_VARARGS | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyMethodDef* torchgen_methods() { return methods; }
