// What both peers of the errors page bind: the ops of the example library, which demo_ops has
// registered, and some of torch's.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/frexp.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace peers {

using Pair = std::tuple<at::Tensor, at::Tensor>;

template <class Signature>
auto op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

inline at::Tensor scale(const at::Tensor& input, double alpha) {
  return op<at::Tensor(const at::Tensor&, double)>("demo::scale").call(input, alpha);
}

inline at::Tensor nms(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold) {
  return op<at::Tensor(const at::Tensor&, const at::Tensor&, double)>("demo::nms")
      .call(boxes, scores, iou_threshold);
}

inline std::string describe(const at::Tensor& input, const std::string& prefix, bool verbose) {
  return op<std::string(const at::Tensor&, std::string_view, bool)>("demo::describe")
      .call(input, prefix, verbose);
}

inline std::vector<int64_t> strides_of(const at::Tensor& input,
                                       const std::optional<std::vector<int64_t>>& dims) {
  at::OptionalIntArrayRef view;
  if (dims) view = *dims;
  return op<std::vector<int64_t>(const at::Tensor&, at::OptionalIntArrayRef)>("demo::strides_of")
      .call(input, view);
}

inline at::Tensor weighted_sum(const std::vector<at::Tensor>& tensors,
                               const std::optional<at::Tensor>& weight) {
  return op<at::Tensor(at::TensorList, const std::optional<at::Tensor>&)>("demo::weighted_sum")
      .call(tensors, weight);
}

inline at::Tensor cast(const at::Tensor& input, at::ScalarType dtype,
                       std::optional<at::Device> device) {
  using Signature = at::Tensor(const at::Tensor&, at::ScalarType, std::optional<at::Device>);
  return op<Signature>("demo::cast").call(input, dtype, device);
}

inline void busy_wait_ms(int64_t ms) { op<void(int64_t)>("demo::busy_wait_ms").call(ms); }

inline void raise_error(const std::string& kind) {
  op<void(std::string_view)>("demo::raise_error").call(kind);
}

inline at::Tensor add_tensor(const at::Tensor& input, const at::Tensor& other, double alpha) {
  return at::add(input, other, alpha);
}

inline at::Tensor add_scalar(const at::Tensor& input, double other, double alpha) {
  return at::add(input, other, alpha);
}

inline at::Tensor sum_all(const at::Tensor& input, std::optional<at::ScalarType> dtype) {
  return at::sum(input, dtype);
}

inline at::Tensor sum_dim(const at::Tensor& input, const std::optional<std::vector<int64_t>>& dim,
                          bool keepdim, std::optional<at::ScalarType> dtype) {
  at::OptionalIntArrayRef view;
  if (dim) view = *dim;
  return at::sum(input, view, keepdim, dtype);
}

inline Pair frexp(const at::Tensor& input, std::optional<Pair> out) {
  if (!out) return at::frexp(input);
  at::frexp_out(std::get<0>(*out), std::get<1>(*out), input);
  return *out;
}

inline at::Tensor bernoulli(const at::Tensor& input, std::optional<at::Generator> generator) {
  return at::bernoulli(input, std::move(generator));
}

inline at::Tensor zeros_like(const at::Tensor& input, std::optional<at::ScalarType> dtype,
                             std::optional<at::Layout> layout) {
  return at::zeros_like(input, dtype, layout, std::nullopt, std::nullopt, std::nullopt);
}

}  // namespace peers
