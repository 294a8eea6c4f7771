// core/convert.cpp: the conversions off the common path.
#include "core/convert.h"

namespace opbind {
namespace {

// Clears an OverflowError of Python's own. One with a traceback was raised by somebody's
// `__float__`, and stays.
bool clear_own_overflow() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  const bool is_own =
      PyErr_GivenExceptionMatches(type, PyExc_OverflowError) != 0 && traceback == nullptr;
  PyErr_Restore(type, value, traceback);
  if (is_own) {
    PyErr_Clear();
  }
  return is_own;
}

}  // namespace

namespace detail {

bool is_int_slow(PyObject* object) {
  switch (host::number_kind(object)) {
    case host::NumberKind::integer:
      return true;
    case host::NumberKind::not_number:
      // A tensor has `__index__` too, but only those that are a number count. NumPy's arrays and
      // anybody's own type are asked when they are read.
      return PyIndex_Check(object) != 0 && !host::is_tensor(object);
    default:
      return false;
  }
}

bool is_double_slow(PyObject* object) {
  switch (host::number_kind(object)) {
    case host::NumberKind::not_number:
    case host::NumberKind::complex:
      return false;
    default:
      return true;
  }
}

bool is_bool_slow(PyObject* object) {
  return host::number_kind(object) == host::NumberKind::boolean && !host::is_tensor(object);
}

bool to_int64_slow(PyObject* object, int64_t& value) {
  const THPObjectPtr index = checked(PyNumber_Index(object));
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (value == -1 && overflow == 0 && PyErr_Occurred() != nullptr) {
    throw python_error();
  }
  return overflow == 0;
}

bool to_double_slow(PyObject* object, double& value) {
  value = PyFloat_AsDouble(object);
  if (value != -1.0 || PyErr_Occurred() == nullptr) {
    return true;
  }
  if (!PyLong_Check(object) || !clear_own_overflow()) {
    throw python_error();
  }
  return false;
}

}  // namespace detail

bool to_complex(PyObject* object, host::Complex& value) {
  if (host::number_kind(object) != host::NumberKind::complex) {
    double real = 0;
    const bool fits = to_double(object, real);
    value = host::Complex(real, 0);
    return fits;
  }
  // np.complex64 is no subclass of complex: PyComplex_RealAsDouble would drop its imaginary part.
  auto* const type = reinterpret_cast<PyObject*>(&PyComplex_Type);
  const THPObjectPtr exact = checked(PyObject_CallFunctionObjArgs(type, object, nullptr));
  value = host::Complex(PyComplex_RealAsDouble(exact.get()), PyComplex_ImagAsDouble(exact.get()));
  return true;
}

}  // namespace opbind
