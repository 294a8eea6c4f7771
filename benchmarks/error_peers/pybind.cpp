// pybind11, with torch's casters.
#include <torch/csrc/utils/pybind.h>

#include "ops.h"

namespace py = pybind11;

PYBIND11_MODULE(error_pybind11, module) {
  using py::arg;
  module.def("scale", peers::scale, arg("input"), arg("alpha") = 1.0);
  module.def("nms", peers::nms, arg("boxes"), arg("scores"), arg("iou_threshold"));
  module.def("describe", peers::describe, arg("input"), arg("prefix") = "tensor", py::kw_only(),
             arg("verbose") = false);
  module.def("strides_of", peers::strides_of, arg("input"), arg("dims") = py::none());
  module.def("weighted_sum", peers::weighted_sum, arg("tensors"), arg("weight") = py::none());
  module.def("cast", peers::cast, arg("input"), arg("dtype"), py::kw_only(),
             arg("device") = py::none());
  module.def("busy_wait_ms", peers::busy_wait_ms, arg("ms"));
  module.def("raise_error", peers::raise_error, arg("kind"));
  module.def("add", peers::add_tensor, arg("input"), arg("other"), py::kw_only(),
             arg("alpha") = 1.0);
  module.def("add", peers::add_scalar, arg("input"), arg("other"), arg("alpha") = 1.0);
  module.def("sum", peers::sum_all, arg("input"), py::kw_only(), arg("dtype") = py::none());
  module.def("sum", peers::sum_dim, arg("input"), arg("dim"), arg("keepdim") = false, py::kw_only(),
             arg("dtype") = py::none());
  module.def("frexp", peers::frexp, arg("input"), py::kw_only(), arg("out") = py::none());
  module.def("bernoulli", peers::bernoulli, arg("input"), py::kw_only(),
             arg("generator") = py::none());
  module.def("zeros_like", peers::zeros_like, arg("input"), py::kw_only(),
             arg("dtype") = py::none(), arg("layout") = py::none());
}
