// core/numbers.cpp: which types are numbers, and Scalars of them.
#include "core/numbers.h"

#include <algorithm>
#include <stdexcept>

#include "core/convert.h"

namespace opbind {
namespace {

using host::NumberKind;
using host::Scalar;

// The type `module.name`, a new reference; nullptr without an error if there is none.
PyTypeObject* find_type(PyObject* module, const char* name) {
  THPObjectPtr type(PyObject_GetAttrString(module, name));
  if (!type) {
    PyErr_Clear();
    return nullptr;
  }
  return PyType_Check(type.get()) ? reinterpret_cast<PyTypeObject*>(type.release()) : nullptr;
}

// Whether all types are found.
bool load_types(const char* module_name, std::span<NumberType> types) {
  PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), module_name);
  if (module == nullptr) {
    return false;
  }
  for (NumberType& row : types) {
    if (row.type == nullptr) {
      row.type = find_type(module, row.name);
    }
    if (row.type == nullptr) {
      return false;
    }
  }
  return true;
}

Scalar integer_to_scalar(PyObject* object) {
  const THPObjectPtr index = checked(PyNumber_Index(object));
  int overflow;
  const long long value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow == 0) {
    return Scalar(static_cast<int64_t>(value));
  }
  const unsigned long long large = PyLong_AsUnsignedLongLong(index.get());
  if (PyErr_Occurred() == nullptr) {
    return Scalar(static_cast<uint64_t>(large));
  }
  PyErr_Clear();
  throw std::overflow_error("the number fits neither a signed nor an unsigned 64-bit integer");
}

Scalar floating_to_scalar(PyObject* object) {
  double value = 0;
  to_double(object, value);
  return Scalar(value);
}

Scalar complex_to_scalar(PyObject* object) {
  host::Complex value;
  to_complex(object, value);
  return Scalar(value);
}

}  // namespace

NumberKind kind_by_type(const char* module, std::span<NumberType> types, bool& loaded,
                        PyTypeObject* type) noexcept {
  loaded = loaded || load_types(module, types);
  if (!loaded) {
    return NumberKind::not_number;
  }
  const auto row = std::find_if(types.begin(), types.end(), [type](const NumberType& one) {
    return PyType_IsSubtype(type, one.type) != 0;
  });
  return row == types.end() ? NumberKind::not_number : row->kind;
}

NumberKind numpy_kind(PyTypeObject* type) noexcept {
  // timedelta64 is derived from signedinteger, and is no number.
  static NumberType types[] = {{"timedelta64", NumberKind::not_number},
                               {"bool_", NumberKind::boolean},
                               {"integer", NumberKind::integer},
                               {"floating", NumberKind::floating},
                               {"complexfloating", NumberKind::complex}};
  static bool loaded = false;
  return kind_by_type("numpy", types, loaded, type);
}

Scalar number_to_scalar(PyObject* object, NumberKind kind) {
  switch (kind) {
    case NumberKind::floating:
      return floating_to_scalar(object);
    case NumberKind::integer:
      return integer_to_scalar(object);
    case NumberKind::boolean:
      return Scalar(to_bool(object));
    case NumberKind::complex:
      return complex_to_scalar(object);
    case NumberKind::not_number:
      break;
  }
  throw std::logic_error("number_to_scalar was called on an object that is no number");
}

}  // namespace opbind
