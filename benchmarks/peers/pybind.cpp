// pybind11 with torch's casters, and the module of all peers. torch's caster for Scalar cannot read
// a value, so numbers come as double.
#include <torch/csrc/utils/pybind.h>

#include "ops.h"

namespace py = pybind11;

PyMethodDef* handwritten_methods();
PyMethodDef* torchgen_methods();

namespace {

at::Tensor add2(const at::Tensor& self, const at::Tensor& other, double alpha) {
  return peers::add2_op().call(self, other, alpha);
}

at::Tensor pick_tensor(const at::Tensor& self, const at::Tensor& other) {
  return peers::pick_tensor_op().call(self, other);
}

at::Tensor pick_scalar(const at::Tensor& self, double other) {
  return peers::pick_scalar_op().call(self, other);
}

at::Tensor touch_(at::Tensor self, double value) {
  peers::touch_op().call(self, value);
  return self;
}

}  // namespace

PYBIND11_MODULE(bench_peers, module) {
  using no_gil = py::call_guard<py::gil_scoped_release>;
  module.def("pybind11_add2", add2, py::arg("input"), py::arg("other"), py::kw_only(),
             py::arg("alpha") = 1.0, no_gil());
  module.def("pybind11_pick", pick_tensor, py::arg("input"), py::arg("other"), no_gil());
  module.def("pybind11_pick", pick_scalar, py::arg("input"), py::arg("other"), no_gil());
  module.def("pybind11_touch_", touch_, py::arg("input"), py::arg("value") = 1.0, no_gil());
  if (PyModule_AddFunctions(module.ptr(), handwritten_methods()) != 0 ||
      PyModule_AddFunctions(module.ptr(), torchgen_methods()) != 0) {
    throw py::error_already_set();
  }
}
