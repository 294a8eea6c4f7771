// core/gil.cpp: what becomes of the exceptions of work on the other side of the GIL.
#include "core/gil.h"

namespace opbind::detail {

void run_without_gil_shared(Action work, Action release) { run_without_gil(work, release); }

void run_with_gil(Action work) {
  const PyGILState_STATE state = PyGILState_Ensure();
  run_then(work, [&] { PyGILState_Release(state); });
}

}  // namespace opbind::detail
