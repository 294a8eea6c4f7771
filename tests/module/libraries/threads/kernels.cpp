// Kernels that hold locks, start threads and call back into Python.

// First, for Python.h.
#include "core/error.h"
#include "core/gil.h"
#include "core/ref.h"

#include <ATen/ops/mul.h>

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "threads_ops_kernels.h"

namespace {

std::mutex mutex;

/// thread_callbacks.callback(), an int; the caller has the GIL.
int64_t callback() {
  using opbind::checked;
  const opbind::THPObjectPtr module = checked(PyImport_ImportModule("thread_callbacks"));
  const opbind::THPObjectPtr result =
      checked(PyObject_CallMethod(module.get(), "callback", nullptr));
  const long long value = PyLong_AsLongLong(result.get());
  if (value == -1 && PyErr_Occurred()) throw opbind::python_error();
  return value;
}

/// What a thread of its own found out, or failed with.
struct Outcome {
  int64_t sum = 0;
  std::exception_ptr failure;
};

void run(Outcome& outcome, int64_t calls) {
  try {
    for (int64_t i = 0; i < calls; ++i) outcome.sum += opbind::with_gil(callback);
  } catch (...) {
    outcome.failure = std::current_exception();
  }
}

}  // namespace

namespace threads {

int64_t lock_and_call(int64_t ms) {
  const std::lock_guard lock(mutex);
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return opbind::with_gil(callback);
}

void lock_with_gil() { const std::lock_guard lock(mutex); }

int64_t call_from_threads(int64_t count, int64_t calls) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(count));
  std::vector<std::thread> workers;
  for (Outcome& outcome : outcomes) workers.emplace_back(run, std::ref(outcome), calls);
  for (std::thread& worker : workers) worker.join();
  int64_t sum = 0;
  for (const Outcome& outcome : outcomes) {
    if (outcome.failure) std::rethrow_exception(outcome.failure);
    sum += outcome.sum;
  }
  return sum;
}

int64_t call_back() { return opbind::with_gil(callback); }
void sleep(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
at::Tensor double_(const at::Tensor& x) { return at::mul(x, 2); }

}  // namespace threads
