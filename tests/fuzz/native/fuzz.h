// native/fuzz.h: what the two libFuzzer targets share.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "core/runtime.h"

/// Ends the process where the runtime broke a rule: libFuzzer keeps the input.
[[noreturn]] inline void broken(const char* rule) {
  std::fprintf(stderr, "broken: %s\n", rule);
  if (PyErr_Occurred() != nullptr) PyErr_Print();
  std::abort();
}

inline void check(bool holds, const char* rule) {
  if (!holds) broken(rule);
}

/// Starts Python with the null host. $PYTHONPATH is where it looks for modules.
inline void start_python() {
  Py_InitializeEx(/*initsigs=*/0);
  try {
    opbind::host::initialize();
  } catch (...) {
    broken("the null host starts");
  }
}
