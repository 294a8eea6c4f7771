// Autograd for own ops that have no backward, and version counters for those that mutate. Included
// by the generated registration file alone, which has torch/library.h anyway; what needs
// torch/csrc/autograd is in autograd.cpp.
//
// None of this needs the GIL or touches Python.

#pragma once

#include <ATen/DeviceGuard.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/GradMode.h>
#include <c10/util/SmallVector.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace opbind::autograd {

/// Borrowed tensors.
using TensorRefs = c10::SmallVector<const at::Tensor*, 8>;

namespace detail {

// Calls `visit` with each tensor in a value of any type that a kernel takes or returns.
template <class Visit>
void for_each_tensor(const at::Tensor& tensor, const Visit& visit) {
  visit(tensor);
}
template <class Visit>
void for_each_tensor(at::TensorList tensors, const Visit& visit) {
  for (const at::Tensor& tensor : tensors) visit(tensor);
}
template <class Visit>
void for_each_tensor(const c10::List<std::optional<at::Tensor>>& tensors, const Visit& visit) {
  // The list gives its elements by value alone; their own places are seen through an IValue.
  for (const c10::IValue& element : c10::IValue(tensors).toListRef()) {
    if (element.isTensor()) visit(element.toTensor());
  }
}
template <class Visit, class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, at::Scalar> ||
           std::is_same_v<T, c10::SymInt> || std::is_same_v<T, c10::SymBool> ||
           std::is_same_v<T, c10::complex<double>> || std::is_same_v<T, std::string> ||
           std::is_same_v<T, at::Device> || std::is_same_v<T, at::Generator> ||
           std::is_same_v<T, at::Storage> || std::is_same_v<T, at::Stream>)
void for_each_tensor(const T&, const Visit&) {}
template <class Visit, class T>
void for_each_tensor(const std::vector<T>& values, const Visit& visit);
template <class Visit, class T>
void for_each_tensor(const std::optional<T>& value, const Visit& visit) {
  if (value.has_value()) for_each_tensor(*value, visit);
}
template <class Visit, class T>
void for_each_tensor(const std::vector<T>& values, const Visit& visit) {
  for (const T& value : values) for_each_tensor(value, visit);
}
template <class Visit, class... Ts>
void for_each_tensor(const std::tuple<Ts...>& values, const Visit& visit) {
  std::apply([&](const auto&... value) { (for_each_tensor(value, visit), ...); }, values);
}

// A tensor that never met autograd has no autograd meta: nothing more to ask.
inline bool knows_autograd(const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->autograd_meta() != nullptr;
}

template <class... Values>
TensorRefs collect(const Values&... values) {
  TensorRefs tensors;
  const auto add = [&](const at::Tensor& tensor) { tensors.push_back(&tensor); };
  (for_each_tensor(values, add), ...);
  return tensors;
}

template <class... Inputs>
bool any_knows_autograd(const Inputs&... inputs) {
  bool found = false;
  const auto look = [&](const at::Tensor& tensor) { found = found || knows_autograd(tensor); };
  (for_each_tensor(inputs, look), ...);
  return found;
}

// Throws NotImplementedError that names `op` if a tensor carries a forward-mode gradient. Returns
// whether one requires grad while grad mode is on.
bool needs_backward(const char* op, const TensorRefs& inputs);

// Gives the outputs a node that leads to the inputs, and whose backward raises.
void set_no_backward(const char* op, const TensorRefs& inputs, const TensorRefs& outputs);

// As set_no_backward for tensors that were mutated; their own history comes first.
void rebase_no_backward(const char* op, const TensorRefs& inputs, const TensorRefs& mutated);

// Throws what torch throws for an in-place operation on a leaf that requires grad.
void check_in_place(const TensorRefs& mutated);

}  // namespace detail

/// The device of the first defined tensor in an argument of any form: where the kernel is to run.
template <class Value>
std::optional<at::Device> device_of(const Value& value) {
  std::optional<at::Device> device;
  detail::for_each_tensor(value, [&](const at::Tensor& tensor) {
    if (!device.has_value() && tensor.defined()) device = tensor.device();
  });
  return device;
}

/// Defines the op `_no_backward` of the library `m` (a DEF one): it raises and names an op when a
/// backward that does not exist is really run, and can be traced until then.
void define_no_backward(torch::Library& m);

/// The Autograd kernel of an op that mutates nothing and has no backward. `op` is its qualified
/// name
/// ("demo::scale", a literal), `redispatch` calls it with `ks & c10::after_autograd_keyset`,
/// `inputs` are its tensor arguments of any form.
template <class Redispatch, class... Inputs>
auto forward_only(const char* op, Redispatch&& redispatch, const Inputs&... inputs) {
  const auto call = [&] {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return redispatch();
  };
  using Result = decltype(redispatch());
  const bool needed = detail::any_knows_autograd(inputs...) &&
                      detail::needs_backward(op, detail::collect(inputs...));
  if constexpr (std::is_void_v<Result>) {
    call();
  } else {
    Result result = call();
    if (needed) {
      detail::set_no_backward(op, detail::collect(inputs...), detail::collect(result));
    }
    return result;
  }
}

/// The Autograd kernel of an op that mutates `mutated` (a std::tie of arguments, which are among
/// `inputs` too) and has no backward.
template <class... Mutated, class Redispatch, class... Inputs>
auto forward_only_mutating(const char* op, const std::tuple<Mutated...>& mutated,
                           Redispatch&& redispatch, const Inputs&... inputs) {
  const auto call = [&] {
    const at::AutoDispatchBelowAutograd guard;
    return redispatch();
  };
  if (!detail::any_knows_autograd(inputs...) ||
      !detail::needs_backward(op, detail::collect(inputs...))) {
    return call();
  }
  const TensorRefs targets = detail::collect(mutated);
  detail::check_in_place(targets);
  if constexpr (std::is_void_v<decltype(redispatch())>) {
    call();
    detail::rebase_no_backward(op, detail::collect(inputs...), targets);
  } else {
    auto result = call();
    detail::set_no_backward(op, detail::collect(inputs...), detail::collect(result));
    detail::rebase_no_backward(op, detail::collect(inputs...), targets);
    return result;
  }
}

/// The ADInplaceOrView kernel of an op that mutates `mutated` (a std::tie of arguments): bumps
/// their versions. `redispatch` calls the op with `ks & c10::after_ADInplaceOrView_keyset`.
template <class... Mutated, class Redispatch>
auto bump_versions(const std::tuple<Mutated...>& mutated, Redispatch&& redispatch) {
  const auto call = [&] {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return redispatch();
  };
  const auto bump = [](const at::Tensor& tensor) {
    if (tensor.defined()) tensor.unsafeGetTensorImpl()->bump_version();
  };
  if constexpr (std::is_void_v<decltype(redispatch())>) {
    call();
    detail::for_each_tensor(mutated, bump);
  } else {
    auto result = call();
    detail::for_each_tensor(mutated, bump);
    return result;
  }
}

}  // namespace opbind::autograd
