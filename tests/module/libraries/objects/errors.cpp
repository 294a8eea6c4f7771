// raise_foreign: another library's exceptions, translated; count_on_thread: work that ends on a
// thread that needs the GIL.

// First, for Python.h.
#include "core/error.h"

#include <atomic>
#include <memory>
#include <thread>

#include "linked/foreign.h"
#include "objects_ops_kernels.h"

namespace {

bool translate_foreign(std::exception_ptr exception) {
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const foreign::Error& e) {
    if (e.text == "translator") throw std::domain_error("the translator failed");
    opbind::set_error(PyExc_LookupError, "foreign: " + e.text);
    return true;
  } catch (const foreign::Timeout& e) {
    opbind::set_error(PyExc_TimeoutError, e.what());
    return true;
  } catch (...) {
    return false;
  }
}

// Asked first, as the last that was registered: it takes one kind of what the other would take.
bool translate_interrupt(std::exception_ptr exception) {
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const foreign::Error& e) {
    if (e.text != "interrupt") return false;
    opbind::set_error(PyExc_InterruptedError, e.text);
    return true;
  } catch (...) {
    return false;
  }
}

// While the module is imported, which is with the GIL.
[[maybe_unused]] const bool registered =
    (opbind::register_exception_translator(translate_foreign),
     opbind::register_exception_translator(translate_interrupt), true);

// A thread that takes the GIL for each step; the destructor waits for it.
class Counter {
 public:
  Counter(int64_t count, std::atomic<int64_t>& steps)
      : thread_([count, &steps] {
          for (int64_t i = 0; i < count; ++i) {
            opbind::with_gil([&] { steps += PyGILState_Check(); });
          }
        }) {}
  ~Counter() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace

void objects::raise_foreign(std::string_view text) { foreign::fail(std::string(text)); }

int64_t objects::count_on_thread(int64_t count) {
  std::atomic<int64_t> steps = 0;
  opbind::destroy_without_gil(std::make_unique<Counter>(count, steps));
  return steps;
}
