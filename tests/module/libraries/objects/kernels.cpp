// Kernels that say what reached them.

#include <ATen/core/List.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gt.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "objects_ops_kernels.h"

namespace objects {

at::Tensor draw(int64_t count, std::optional<at::Generator> generator) {
  return at::empty({count}, at::kDouble).uniform_(0, 1, std::move(generator));
}

std::optional<at::Generator> same_generator(std::optional<at::Generator> generator) {
  return generator;
}

at::Storage same_storage(at::Storage storage) { return storage; }

std::optional<int64_t> bytes_of(std::optional<at::Storage> storage) {
  if (!storage) return std::nullopt;
  return static_cast<int64_t>(storage->nbytes());
}

void keep_storage(std::optional<at::Storage> storage) {
  static std::mutex mutex;
  // Never destroyed: at the end of the process Python may be gone before this module.
  static auto* const kept = new std::optional<at::Storage>();
  const std::lock_guard lock(mutex);
  // The old one goes with the argument.
  std::swap(*kept, storage);
}

void wait_with(int64_t ms, const c10::List<std::optional<at::Tensor>>& /*tensors*/,
               std::optional<at::Storage> /*storage*/) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

at::Stream same_stream(at::Stream stream) { return stream; }

std::optional<int64_t> stream_id(std::optional<at::Stream> stream) {
  if (!stream) return std::nullopt;
  return stream->id();
}

at::QScheme same_qscheme(at::QScheme qscheme) { return qscheme; }

std::optional<int64_t> qscheme_number(std::optional<at::QScheme> qscheme) {
  if (!qscheme) return std::nullopt;
  return static_cast<int64_t>(*qscheme);
}

std::vector<std::string> same_strings(at::ArrayRef<std::string> texts) { return texts.vec(); }

std::optional<std::string> join(std::string_view separator,
                                std::optional<at::ArrayRef<std::string>> texts) {
  if (!texts) return std::nullopt;
  std::string joined;
  for (const std::string& text : *texts) joined.append(text).append(separator);
  return joined;
}

std::vector<std::optional<at::Tensor>> same_tensors(
    const c10::List<std::optional<at::Tensor>>& tensors) {
  return tensors.vec();
}

at::Tensor add_defined(const c10::List<std::optional<at::Tensor>>& tensors) {
  at::Tensor sum;
  for (const std::optional<at::Tensor>& tensor : tensors.vec()) {
    if (tensor) sum = sum.defined() ? at::add(sum, *tensor) : at::add(*tensor, 0);
  }
  TORCH_CHECK_VALUE(sum.defined(), "no tensor is defined");
  return sum;
}

at::Tensor add_defined_meta(const c10::List<std::optional<at::Tensor>>& tensors) {
  return add_defined(tensors);
}

std::optional<at::Tensor> add_given(const at::Tensor& self, std::optional<at::TensorList> tensors) {
  if (!tensors) return std::nullopt;
  at::Tensor sum = at::add(self, 0);
  for (const at::Tensor& tensor : *tensors) sum = at::add(sum, tensor);
  return sum;
}

std::optional<at::Tensor> sum_given(std::optional<at::TensorList> tensors) {
  if (!tensors || tensors->empty()) return std::nullopt;
  return add_given(tensors->front(), tensors->slice(1));
}

void add_given_(at::Tensor& self, std::optional<at::TensorList> tensors) {
  for (const at::Tensor& tensor : tensors.value_or(at::TensorList())) self.add_(tensor);
}

std::string kind_generator(std::optional<at::Generator> /*x*/) { return "Generator?"; }
std::string kind_storage(at::Storage /*x*/) { return "Storage"; }
std::string kind_stream(at::Stream /*x*/) { return "Stream"; }
std::string kind_qscheme(at::QScheme /*x*/) { return "QScheme"; }
std::string kind_strings(at::ArrayRef<std::string> /*x*/) { return "str[]"; }
std::string kind_tensors(const c10::List<std::optional<at::Tensor>>& /*x*/) { return "Tensor?[]"; }

std::tuple<std::string, std::optional<std::string>> split(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {std::string(text), std::nullopt};
  return {std::string(text.substr(0, space)), std::string(text.substr(space + 1))};
}

std::tuple<std::optional<at::Tensor>, std::optional<std::vector<int64_t>>> positive(
    const at::Tensor& self) {
  const at::Tensor mask = at::gt(self, 0);
  if (!mask.any().item<bool>()) return {std::nullopt, std::nullopt};
  return {self.masked_select(mask), self.sizes().vec()};
}

std::tuple<at::Device, std::optional<at::Device>> device_of(
    const at::Tensor& self, const std::optional<at::Tensor>& other) {
  return {self.device(), other ? std::optional(other->device()) : std::nullopt};
}

}  // namespace objects
