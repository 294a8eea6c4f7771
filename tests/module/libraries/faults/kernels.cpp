// Kernels that give back what they got, or fail.

// First, for Python.h.
#include "core/error.h"
#include "core/gil.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "faults_ops_kernels.h"

using at::Tensor;

namespace {

std::vector<int64_t> copy(at::IntArrayRef values) { return values.vec(); }

std::atomic<int64_t> last_state = -1;

/// Waits, and says whether this thread holds the GIL.
int64_t waited(int64_t ms) {
  last_state = PyGILState_Check();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return last_state;
}

std::mutex held_mutex;
Tensor held;

}  // namespace

namespace faults {

int64_t as_int(const Tensor&, int64_t k) { return k; }
bool as_bool(const Tensor&, bool b) { return b; }
double as_float(const Tensor&, double f) { return f; }
at::Scalar as_scalar(const Tensor&, const at::Scalar& s) { return s; }
std::vector<int64_t> as_ints(const Tensor&, at::IntArrayRef s) { return copy(s); }
std::vector<int64_t> as_pair(const Tensor&, at::IntArrayRef k) { return copy(k); }
std::vector<int64_t> as_maybe(const Tensor&, at::OptionalIntArrayRef d) {
  return d ? copy(*d) : std::vector<int64_t>{-1};
}
int64_t count_of(at::TensorList tensors) { return static_cast<int64_t>(tensors.size()); }
Tensor same(const Tensor& x) { return x; }

std::tuple<at::Scalar, double, int64_t, bool, std::vector<int64_t>, std::string, bool> defaults(
    const Tensor&, const at::Scalar& a, double e, int64_t n, bool b, at::IntArrayRef l,
    std::string_view s, std::optional<double> o) {
  return {a, e, n, b, copy(l), std::string(s), o.has_value()};
}
bool needs(const Tensor&, const std::optional<Tensor>& m) { return m.has_value(); }
bool needs_number(const Tensor&, std::optional<double> f) { return f.has_value(); }
std::tuple<double, double, at::Scalar, at::Scalar, int64_t, std::string> exact(
    const Tensor&, double tiny, double tenth, const at::Scalar& big, const at::Scalar& minus,
    int64_t low, std::string_view text) {
  return {tiny, tenth, big, minus, low, std::string(text)};
}
int64_t keywords(const Tensor&, int64_t d, int64_t z) { return 10 * d + z; }

std::string pick_i(const Tensor&, int64_t) { return "i"; }
std::string pick_l(const Tensor&, at::IntArrayRef) { return "l"; }
std::string pick_s(const Tensor&, const at::Scalar&) { return "s"; }
std::string pick_t(const Tensor&, const Tensor&) { return "t"; }
std::string either_a(const Tensor&, bool) { return "a"; }
std::string either_b(const Tensor&, at::IntArrayRef) { return "b"; }
std::string list_or_tensor_l(const Tensor&, at::IntArrayRef) { return "l"; }
std::string list_or_tensor_t(const Tensor&, at::TensorList) { return "t"; }

int64_t gil(const Tensor&, int64_t ms) { return waited(ms); }
std::string gil_str(const Tensor&, int64_t ms) { return std::to_string(waited(ms)); }
std::vector<Tensor> gil_list(at::TensorList x, int64_t ms) {
  waited(ms);
  return x.vec();
}
std::tuple<Tensor, int64_t> gil_pair(const Tensor& x, int64_t ms) { return {x, waited(ms)}; }
void gil_(Tensor&, int64_t ms) { waited(ms); }
void gil_into(const Tensor&, int64_t ms, Tensor&) { waited(ms); }
void gil_nothing(int64_t ms) { waited(ms); }
Tensor gil_throw(const Tensor&, int64_t ms) {
  waited(ms);
  throw std::runtime_error("thrown after waiting");
}
int64_t last_gil() { return last_state; }

void boom(std::string_view kind) {
  if (kind == "42") throw 42;
  if (kind == "text") throw "text";
  if (kind == "nested") {
    try {
      throw std::runtime_error("inner");
    } catch (...) {
      std::throw_with_nested(std::out_of_range("outer"));
    }
  }
  TORCH_CHECK_VALUE(false, "no kind '", kind, "'");
}

void hold(const Tensor& x) {
  const std::lock_guard lock(held_mutex);
  held = x;
}
Tensor take() {
  const std::lock_guard lock(held_mutex);
  TORCH_CHECK_VALUE(held.defined(), "nothing is held");
  return std::move(held);
}
void clear_held() {
  const std::lock_guard lock(held_mutex);
  held = Tensor();
}

}  // namespace faults
