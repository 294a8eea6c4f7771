// core/gil.cpp: what becomes of the exceptions of work on the other side of the GIL.
#include "core/gil.h"

namespace opbind::detail {
namespace {

// Runs `work`, then `leave` whatever happened (but for a forced unwind), then throws again.
template <class Leave>
void run_then(Action work, Leave leave) {
  std::exception_ptr failure;
  try {
    work();
  }
  OPBIND_LET_FORCED_UNWIND_PASS
  catch (...) {
    failure = std::current_exception();
  }
  leave();
  if (failure) [[unlikely]] {
    std::rethrow_exception(std::move(failure));
  }
}

}  // namespace

void run_without_gil(Action work, Action release) {
  PyThreadState* const state = PyEval_SaveThread();
  run_then(work, [&] {
    PyEval_RestoreThread(state);
    release();
  });
}

void run_with_gil(Action work) {
  const PyGILState_STATE state = PyGILState_Ensure();
  run_then(work, [&] { PyGILState_Release(state); });
}

}  // namespace opbind::detail
