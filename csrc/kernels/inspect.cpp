// describe and strides_of: kernels that return no tensor.

#include <ATen/core/Tensor.h>
#include <c10/core/WrapDimMinimal.h>

#include <sstream>

#include "checks.h"
#include "demo_ops_kernels.h"

std::string demo::describe(const at::Tensor& self, std::string_view prefix, bool verbose) {
  std::ostringstream text;
  text << prefix << ": " << detail::dtype_name(self) << ' ' << self.sym_sizes() << " on "
       << self.device();
  if (verbose) {
    text << ", strides " << self.sym_strides() << ", layout " << self.layout()
         << (self.requires_grad() ? ", requires grad" : "");
  }
  return text.str();
}

std::vector<int64_t> demo::strides_of(const at::Tensor& self, at::OptionalIntArrayRef dims) {
  if (!dims.has_value()) return self.strides().vec();
  std::vector<int64_t> strides;
  strides.reserve(dims->size());
  for (const int64_t dim : *dims) {
    strides.push_back(self.stride(c10::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false)));
  }
  return strides;
}
