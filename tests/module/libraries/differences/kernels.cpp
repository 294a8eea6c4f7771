// Gives back what it got.
#include "differences_ops_kernels.h"

std::tuple<bool, int64_t, at::Scalar> differences::given(bool b, int64_t k, const at::Scalar& s) {
  return {b, k, s};
}
