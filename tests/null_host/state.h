// null_host/state.h: what the functions of the module null_host set and show.
#pragma once

#include <string>
#include <vector>

#include "core/python.h"

namespace opbind::host {

/// Of the process. Changed with the GIL.
struct State {
  bool skip_next = false;
  bool subclasses_enabled = true;
  // Owned; the innermost is the last.
  std::vector<PyObject*> modes;
  PyObject* disabled_torch_function_impl = nullptr;
  std::vector<std::string> lazily_initialized;
  // Borrowed: types of results are never freed.
  std::vector<PyObject*> structseqs;
};

State& state();

}  // namespace opbind::host
