// Kernels of the library that tests/module/test_results.py builds.
#include <ATen/ops/empty.h>

#include "results_ops_kernels.h"

void results::clear_cpu(at::TensorList self) {
  for (const at::Tensor& tensor : self) {
    tensor.zero_();
  }
}

at::Tensor results::make(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout> layout, std::optional<at::Device> device,
                         std::optional<bool> pin_memory) {
  return at::empty(size, dtype, layout, device, pin_memory, std::nullopt).zero_();
}

void results::make_out(at::IntArrayRef size, at::Tensor& out) {
  out.resize_(size);
  out.zero_();
}
