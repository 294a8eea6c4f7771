// rms_norm and rms_norm_: each row of the last dimension divided by its root mean square, times a
// weight; in one pass over memory that is read once and written once.

#include <ATen/AccumulateType.h>
#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>

#include "checks.h"
#include "demo_ops_kernels.h"

namespace {

constexpr int64_t kGrainSize = 32768;

void check(const char* op, const at::Tensor& self, const at::Tensor& weight) {
  demo::detail::check_floating(op, "self", self);
  demo::detail::check_same_dtype(op, "weight", weight, self);
  TORCH_CHECK_VALUE(self.dim() >= 1, op, ": self must have at least one dimension");
  TORCH_CHECK_VALUE(weight.dim() == 1, op, ": weight must have one dimension, not ", weight.dim());
  TORCH_CHECK_VALUE(weight.sym_size(0) == self.sym_size(-1), op, ": weight must have ",
                    self.sym_size(-1), " elements, as the last dimension of self, not ",
                    weight.sym_size(0));
}

// `in` and `out` may be the same.
template <class scalar_t>
void normalize_row(const scalar_t* in, const scalar_t* weight, scalar_t* out, int64_t size,
                   double eps) {
  using acc_t = at::acc_type<scalar_t, /*is_cuda=*/false>;
  acc_t sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const auto value = static_cast<acc_t>(in[i]);
    sum += value * value;
  }
  const acc_t factor = 1 / std::sqrt(sum / static_cast<acc_t>(size) + static_cast<acc_t>(eps));
  for (int64_t i = 0; i < size; ++i) {
    out[i] =
        static_cast<scalar_t>(static_cast<acc_t>(in[i]) * factor * static_cast<acc_t>(weight[i]));
  }
}

// All three contiguous; `in` and `out` may be the same.
void normalize(const at::Tensor& in, const at::Tensor& weight, const at::Tensor& out, double eps) {
  const int64_t columns = in.size(-1);
  if (in.numel() == 0) return;
  const int64_t rows = in.numel() / columns;
  const int64_t grain_size = std::max<int64_t>(1, kGrainSize / columns);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rms_norm", [&] {
    const auto* const from = in.const_data_ptr<scalar_t>();
    const auto* const weights = weight.const_data_ptr<scalar_t>();
    auto* const to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, grain_size, [=](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        normalize_row(from + row * columns, weights, to + row * columns, columns, eps);
      }
    });
  });
}

}  // namespace

at::Tensor demo::rms_norm_cpu(const at::Tensor& self, const at::Tensor& weight, double eps) {
  check("rms_norm", self, weight);
  at::Tensor result = at::empty_like(self, at::MemoryFormat::Contiguous);
  normalize(*self.expect_contiguous(), *weight.expect_contiguous(), result, eps);
  return result;
}

at::Tensor demo::rms_norm_meta(const at::Tensor& self, const at::Tensor& weight, double /*eps*/) {
  check("rms_norm", self, weight);
  return at::empty_like(self, at::MemoryFormat::Contiguous);
}

void demo::rms_norm_out_cpu(at::Tensor& self, const at::Tensor& weight, double eps) {
  check("rms_norm_", self, weight);
  at::assert_no_internal_overlap(self);
  at::assert_no_overlap(self, weight);
  if (self.is_contiguous()) {
    return normalize(self, *weight.expect_contiguous(), self, eps);
  }
  const at::Tensor copy = self.contiguous();
  normalize(copy, *weight.expect_contiguous(), copy, eps);
  self.copy_(copy);
}

void demo::rms_norm_out_meta(at::Tensor& self, const at::Tensor& weight, double /*eps*/) {
  check("rms_norm_", self, weight);
}
