// scale: one pass over the elements, in whatever order they lie in memory.

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/util/MaybeOwned.h>

#include "checks.h"
#include "demo_ops_kernels.h"

namespace {

constexpr int64_t kGrainSize = 32768;

template <class scalar_t>
void scale_elements(const scalar_t* in, scalar_t* out, int64_t size, double alpha) {
  using opmath_t = at::opmath_type<scalar_t>;
  const auto factor = static_cast<opmath_t>(alpha);
  at::parallel_for(0, size, kGrainSize, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = static_cast<scalar_t>(static_cast<opmath_t>(in[i]) * factor);
    }
  });
}

// Its elements without gaps, in the order in which empty_like(self) has them. Borrowed if it can
// be: copying a handle costs more than a small kernel.
c10::MaybeOwned<at::Tensor> dense(const at::Tensor& self) {
  return self.is_non_overlapping_and_dense() ? c10::MaybeOwned<at::Tensor>::borrowed(self)
                                             : c10::MaybeOwned<at::Tensor>::owned(self.clone());
}

}  // namespace

at::Tensor demo::scale_cpu(const at::Tensor& self, double alpha) {
  detail::check_floating("scale", "self", self);
  at::Tensor result = at::empty_like(self);
  const c10::MaybeOwned<at::Tensor> source = dense(self);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, self.scalar_type(), "scale", [&] {
    scale_elements(source->const_data_ptr<scalar_t>(), result.mutable_data_ptr<scalar_t>(),
                   self.numel(), alpha);
  });
  return result;
}

at::Tensor demo::scale_meta(const at::Tensor& self, double /*alpha*/) {
  detail::check_floating("scale", "self", self);
  return at::empty_like(self);
}
