// The ops of bench_ops.yaml as every peer calls them: typed handles, found once.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace peers {

inline auto& add2_op() {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("bench::add2", "")
          .typed<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)>();
  return op;
}

inline auto& pick_tensor_op() {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("bench::pick", "Tensor")
                             .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  return op;
}

inline auto& pick_scalar_op() {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("bench::pick", "Scalar")
                             .typed<at::Tensor(const at::Tensor&, const at::Scalar&)>();
  return op;
}

inline auto& touch_op() {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("bench::touch_", "")
                             .typed<void(at::Tensor&, double)>();
  return op;
}

}  // namespace peers
