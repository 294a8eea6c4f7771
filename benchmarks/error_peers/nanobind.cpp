// nanobind, which knows nothing of torch: with the casters that a user writes for its types.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/Layout.h>
#include <torch/csrc/autograd/python_variable.h>

#include "ops.h"

namespace nb = nanobind;

namespace {

// c10::Device has no default, which a caster's value needs.
struct AnyDevice {
  at::Device device = at::kCPU;
};

template <class Object>
Object* object_of(nb::handle source) {
  return reinterpret_cast<Object*>(source.ptr());
}

at::Tensor cast(const at::Tensor& input, at::ScalarType dtype, std::optional<AnyDevice> device) {
  return peers::cast(input, dtype, device ? std::optional(device->device) : std::nullopt);
}

}  // namespace

namespace nanobind::detail {

template <>
struct type_caster<at::Tensor> {
  NB_TYPE_CASTER(at::Tensor, const_name("torch.Tensor"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!THPVariable_Check(source.ptr())) return false;
    value = THPVariable_Unpack(source.ptr());
    return true;
  }
  static handle from_cpp(const at::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return THPVariable_Wrap(tensor);
  }
};

template <>
struct type_caster<at::ScalarType> {
  NB_TYPE_CASTER(at::ScalarType, const_name("torch.dtype"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!THPDtype_Check(source.ptr())) return false;
    value = object_of<THPDtype>(source)->scalar_type;
    return true;
  }
};

template <>
struct type_caster<at::Layout> {
  NB_TYPE_CASTER(at::Layout, const_name("torch.layout"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!THPLayout_Check(source.ptr())) return false;
    value = object_of<THPLayout>(source)->layout;
    return true;
  }
};

template <>
struct type_caster<AnyDevice> {
  NB_TYPE_CASTER(AnyDevice, const_name("torch.device"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!THPDevice_Check(source.ptr())) return false;
    value.device = object_of<THPDevice>(source)->device;
    return true;
  }
};

template <>
struct type_caster<at::Generator> {
  NB_TYPE_CASTER(at::Generator, const_name("torch.Generator"))

  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!THPGenerator_Check(source.ptr())) return false;
    value = object_of<THPGenerator>(source)->cdata;
    return true;
  }
};

}  // namespace nanobind::detail

NB_MODULE(error_nanobind, module) {
  using nb::arg;
  module.def("scale", peers::scale, arg("input"), arg("alpha") = 1.0);
  module.def("nms", peers::nms, arg("boxes"), arg("scores"), arg("iou_threshold"));
  module.def("describe", peers::describe, arg("input"), arg("prefix") = "tensor", nb::kw_only(),
             arg("verbose") = false);
  module.def("strides_of", peers::strides_of, arg("input"), arg("dims") = nb::none());
  module.def("weighted_sum", peers::weighted_sum, arg("tensors"), arg("weight") = nb::none());
  module.def("cast", cast, arg("input"), arg("dtype"), nb::kw_only(), arg("device") = nb::none());
  module.def("busy_wait_ms", peers::busy_wait_ms, arg("ms"));
  module.def("raise_error", peers::raise_error, arg("kind"));
  module.def("add", peers::add_tensor, arg("input"), arg("other"), nb::kw_only(),
             arg("alpha") = 1.0);
  module.def("add", peers::add_scalar, arg("input"), arg("other"), arg("alpha") = 1.0);
  module.def("sum", peers::sum_all, arg("input"), nb::kw_only(), arg("dtype") = nb::none());
  module.def("sum", peers::sum_dim, arg("input"), arg("dim").none(), arg("keepdim") = false,
             nb::kw_only(), arg("dtype") = nb::none());
  module.def("frexp", peers::frexp, arg("input"), nb::kw_only(), arg("out") = nb::none());
  module.def("bernoulli", peers::bernoulli, arg("input"), nb::kw_only(),
             arg("generator") = nb::none());
  module.def("zeros_like", peers::zeros_like, arg("input"), nb::kw_only(),
             arg("dtype") = nb::none(), arg("layout") = nb::none());
}
