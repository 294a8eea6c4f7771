// Checks that several kernels share. They hold for symbolic sizes too, so that a Meta kernel
// refuses what the CPU kernel refuses.

#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <string_view>

namespace demo::detail {

/// "float32"
inline std::string_view dtype_name(const at::Tensor& tensor) {
  return c10::getDtypeNames(tensor.scalar_type()).first;
}

/// Throws TypeError unless the tensor has a real floating point dtype.
inline void check_floating(const char* op, const char* argument, const at::Tensor& tensor) {
  TORCH_CHECK_TYPE(c10::isFloatingType(tensor.scalar_type()), op, ": ", argument,
                   " must have a floating point dtype, not ", dtype_name(tensor));
}

/// Throws TypeError unless `tensor` has the dtype of `self`.
inline void check_same_dtype(const char* op, const char* argument, const at::Tensor& tensor,
                             const at::Tensor& self) {
  TORCH_CHECK_TYPE(tensor.scalar_type() == self.scalar_type(), op, ": ", argument,
                   " must have the dtype of the first tensor, ", dtype_name(self), ", not ",
                   dtype_name(tensor));
}

}  // namespace demo::detail
