// weighted_sum and cast: made of ops that torch can differentiate, so they can be differentiated.

#include <ATen/core/Tensor.h>

#include "demo_ops_kernels.h"

namespace {

void check(at::TensorList tensors, const std::optional<at::Tensor>& weight) {
  TORCH_CHECK_VALUE(!tensors.empty(), "weighted_sum: tensors must not be empty");
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    TORCH_CHECK_VALUE(tensors[i].sym_sizes() == tensors[0].sym_sizes(), "weighted_sum: tensors[", i,
                      "] must have the shape of tensors[0], ", tensors[0].sym_sizes(), ", not ",
                      tensors[i].sym_sizes());
  }
  if (!weight.has_value()) return;
  const auto count = static_cast<int64_t>(tensors.size());
  TORCH_CHECK_VALUE(weight->dim() == 1 && weight->sym_size(0) == count,
                    "weighted_sum: weight must have shape [", count,
                    "], an element for each tensor, not ", weight->sym_sizes());
}

}  // namespace

at::Tensor demo::weighted_sum(at::TensorList tensors, const std::optional<at::Tensor>& weight) {
  check(tensors, weight);
  const auto term = [&](std::size_t i) {
    return tensors[i].mul(weight->select(0, static_cast<int64_t>(i)));
  };
  at::Tensor sum = weight.has_value() ? term(0) : tensors[0].clone();
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    sum = sum.add(weight.has_value() ? term(i) : tensors[i]);
  }
  return sum;
}

at::Tensor demo::cast(const at::Tensor& self, at::ScalarType dtype,
                      std::optional<at::Device> device) {
  // Always a copy: the schema says that the result does not alias self.
  return self.to(device.value_or(self.device()), dtype, /*non_blocking=*/false, /*copy=*/true);
}
