// keep and take: one tensor that C++ holds between two calls, whatever Python does with its object.

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <mutex>
#include <utility>

#include "demo_ops_kernels.h"

namespace {

struct Slot {
  std::mutex mutex;
  at::Tensor tensor;

  // Gives back what was there. Handles are only moved while the mutex is held: copying or dropping
  // one may take the GIL, and a thread that has the GIL may be waiting for the mutex.
  at::Tensor exchange(at::Tensor value) {
    const std::scoped_lock lock(mutex);
    std::swap(tensor, value);
    return value;
  }
};

// Never destroyed: at exit there is no interpreter left to drop the kept tensor's object.
Slot& slot() {
  static auto* const instance = new Slot;
  return *instance;
}

}  // namespace

void demo::keep(const at::Tensor& self) { slot().exchange(self); }

at::Tensor demo::take() {
  at::Tensor kept = slot().exchange(at::Tensor());
  TORCH_CHECK(kept.defined(), "take: there is no tensor; keep one first");
  return kept;
}
