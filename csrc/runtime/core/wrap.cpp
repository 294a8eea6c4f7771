// core/wrap.cpp: structseq types for named results.
#include "core/wrap.h"

namespace opbind {

PyTypeObject* new_structseq(const char* name, const char* const* fields, int num_fields) {
  std::vector<PyStructSequence_Field> rows;
  rows.reserve(static_cast<std::size_t>(num_fields) + 1);
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

void export_structseq(PyObject* module, const char* name, PyTypeObject* type) {
  auto* const object = reinterpret_cast<PyObject*>(type);
  const THPObjectPtr module_name = checked(PyObject_GetAttrString(module, "__name__"));
  const THPObjectPtr qualified = checked(PyUnicode_FromString(name));
  if (PyObject_SetAttrString(object, "__module__", module_name.get()) < 0 ||
      PyObject_SetAttrString(object, "__qualname__", qualified.get()) < 0 ||
      PyObject_SetAttrString(module, name, object) < 0) {
    throw python_error();
  }
}

}  // namespace opbind
