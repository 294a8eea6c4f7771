// From C++ warnings to Python's.

#include <c10/util/Exception.h>

#include "core/error.h"
#include "core/python.h"
#include "errors.h"
#include "host.h"

namespace opbind::host {
namespace {

PyObject* category_of(const c10::Warning& warning) {
  const c10::Warning::warning_variant_t type = warning.type();
  return std::holds_alternative<c10::DeprecationWarning>(type) ? PyExc_DeprecationWarning
                                                               : PyExc_UserWarning;
}

// Issues one warning as torch does; false with an error set if it became an exception.
bool issue_one(const c10::Warning& warning) {
  PyObject* const category = category_of(warning);
  const c10::SourceLocation& where = warning.source_location();
  std::string text = detail::to_utf8(warning.msg());
  if (where.file != nullptr && warning.verbatim()) {
    return PyErr_WarnExplicit(category, text.c_str(), where.file, static_cast<int>(where.line),
                              /*module=*/nullptr, /*registry=*/nullptr) == 0;
  }
  if (where.file != nullptr) {
    text += " (Triggered internally at " + std::string(where.file) + ":" +
            std::to_string(where.line) + ".)";
  }
  return PyErr_WarnEx(category, text.c_str(), /*stack_level=*/1) == 0;
}

bool issue_all(const std::vector<c10::Warning>& warnings) {
  for (const c10::Warning& warning : warnings) {
    if (!issue_one(warning)) return false;
  }
  return true;
}

// With an error on its way: an error beats a warning, also one that a filter makes an exception.
void issue_beside_error(const std::vector<c10::Warning>& warnings) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  for (const c10::Warning& warning : warnings) {
    try {
      if (!issue_one(warning)) PyErr_Clear();
    } catch (const std::exception&) {  // python_error, which took the error, or no memory
      PyErr_Clear();
    }
  }
  PyErr_Restore(type, value, traceback);
}

}  // namespace

void WarningScope::Buffer::process(const c10::Warning& warning) { warnings.push_back(warning); }

bool WarningScope::issue(bool with_error) {
  // Python code that a warning runs may warn again: into the handler outside, not into this buffer.
  c10::WarningUtils::set_warning_handler(previous_);
  const std::vector<c10::Warning> warnings = std::exchange(buffer_.warnings, {});
  if (with_error) {
    issue_beside_error(warnings);
    return true;
  }
  return issue_all(warnings);
}

}  // namespace opbind::host
