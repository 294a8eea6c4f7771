// core/wrap.cpp: structseq types for named results.
#include "core/wrap.h"

namespace opbind {

PyTypeObject* new_structseq(const char* name, const char* const* fields, int num_fields) {
  std::vector<PyStructSequence_Field> rows;
  for (int i = 0; i < num_fields; ++i) {
    rows.push_back({fields[i], nullptr});
  }
  rows.push_back({nullptr, nullptr});
  PyStructSequence_Desc description{name, nullptr, rows.data(), num_fields};
  THPPointer<PyTypeObject> type(PyStructSequence_NewType(&description));
  if (!type) {
    throw python_error();
  }
  host::register_structseq_pytree(type.get());
  return type.release();
}

}  // namespace opbind
