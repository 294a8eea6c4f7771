// min_max and bounds.

#include <ATen/Dispatch.h>
#include <ATen/NumericUtils.h>
#include <ATen/core/Tensor.h>

#include <algorithm>

#include "checks.h"
#include "demo_ops_kernels.h"

namespace {

template <class scalar_t>
struct Range {
  scalar_t low, high;
};

// At least one element. A NaN is both the least and the greatest, as in torch.
template <class scalar_t>
Range<scalar_t> find_range(const scalar_t* data, int64_t size) {
  Range<scalar_t> range{data[0], data[0]};
  for (int64_t i = 0; i < size; ++i) {
    if (at::_isnan(data[i])) return {data[i], data[i]};
    range.low = std::min(range.low, data[i]);
    range.high = std::max(range.high, data[i]);
  }
  return range;
}

void check_range(const char* op, const at::Tensor& self) {
  TORCH_CHECK_TYPE(!self.is_complex(), op, ": self must have a real dtype, not ",
                   demo::detail::dtype_name(self));
  TORCH_CHECK_VALUE(self.sym_numel() != 0, op, ": self must have at least one element");
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> demo::min_max_cpu(const at::Tensor& self) {
  check_range("min_max", self);
  const auto data = self.expect_contiguous();
  at::Tensor low = self.new_empty({});
  at::Tensor high = self.new_empty({});
  AT_DISPATCH_ALL_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "min_max", [&] {
        const auto range = find_range(data->const_data_ptr<scalar_t>(), data->numel());
        *low.mutable_data_ptr<scalar_t>() = range.low;
        *high.mutable_data_ptr<scalar_t>() = range.high;
      });
  return {std::move(low), std::move(high)};
}

std::tuple<at::Tensor, at::Tensor> demo::min_max_meta(const at::Tensor& self) {
  check_range("min_max", self);
  return {self.new_empty({}), self.new_empty({})};
}

std::tuple<double, double, int64_t> demo::bounds_cpu(const at::Tensor& self) {
  check_range("bounds", self);
  const auto data = self.expect_contiguous();
  double low = 0;
  double high = 0;
  AT_DISPATCH_ALL_TYPES_AND3(
      at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "bounds", [&] {
        const auto range = find_range(data->const_data_ptr<scalar_t>(), data->numel());
        low = static_cast<double>(range.low);
        high = static_cast<double>(range.high);
      });
  return {low, high, self.numel()};
}
