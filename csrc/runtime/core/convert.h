// core/convert.h: what a Python object is taken for, and its value.
//
// `is_X` decides at match time: it converts nothing, and runs no Python code for the types of
// Python, NumPy and the host. `to_X` may assume that `is_X` was true. A conversion that runs Python
// code
// (`__index__`, `__float__`) passes its exception on as python_error, unchanged.
//
// Every function needs the GIL and borrows its argument.
#pragma once

#include <cstdint>

#include "core/error.h"
#include "core/python.h"
#include "host.h"

namespace opbind {
namespace detail {

OPBIND_COLD bool is_int_slow(PyObject* object);
OPBIND_COLD bool is_double_slow(PyObject* object);
OPBIND_COLD bool is_bool_slow(PyObject* object);
bool to_int64_slow(PyObject* object, int64_t& value);
bool to_double_slow(PyObject* object, double& value);

}  // namespace detail

/// int, NumPy integers, a 0-dim integral tensor without grad, and whatever has `__index__`; but no
/// bool of any kind.
inline bool is_int(PyObject* object) {
  return PyLong_CheckExact(object) || detail::is_int_slow(object);
}

/// Reads an int of Python's own type. False, with no exception set, for any other object, and for
/// one that does not fit into 64 bits.
inline bool to_int64_exact(PyObject* object, int64_t& value) {
  if (!PyLong_CheckExact(object)) [[unlikely]] {
    return false;
  }
  int overflow;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

/// Reads an int. False, with no exception set, when it does not fit into 64 bits.
inline bool to_int64(PyObject* object, int64_t& value) {
  return to_int64_exact(object, value) || detail::to_int64_slow(object, value);
}

/// Reads an int that may be symbolic, and stays so. False, with no exception set, when it does not
/// fit into 64 bits.
inline bool to_symint(PyObject* object, host::SymInt& value) {
  if (PyLong_CheckExact(object)) [[likely]] {
    int overflow;
    value = host::SymInt(static_cast<int64_t>(PyLong_AsLongLongAndOverflow(object, &overflow)));
    return overflow == 0;
  }
  return host::unpack_symint(object, value);
}

/// float, int, bool, NumPy's real scalars, and a 0-dim real tensor without grad.
inline bool is_double(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || detail::is_double_slow(object);
}

/// Reads a float. False, with no exception set, for an int beyond a double.
inline bool to_double(PyObject* object, double& value) {
  if (PyFloat_CheckExact(object)) [[likely]] {
    value = float_value(object);
    return true;
  }
  return detail::to_double_slow(object, value);
}

/// bool, numpy.bool_ and the host's symbolic bool; but no tensor and no int.
inline bool is_bool(PyObject* object) {
  return PyBool_Check(object) || detail::is_bool_slow(object);
}

inline bool to_bool(PyObject* object) {
  if (PyBool_Check(object)) [[likely]] {
    return object == Py_True;
  }
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) {
    throw python_error();
  }
  return truth != 0;
}

/// int, float, bool, complex, NumPy's scalars, the host's symbolic numbers, a 0-dim tensor without
/// grad.
inline bool is_scalar(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || host::is_scalar(object);
}

/// Reads what is_scalar takes as a complex number. False, with no exception set, for an int beyond
/// a double.
bool to_complex(PyObject* object, host::Complex& value);

inline bool is_str(PyObject* object) { return PyUnicode_Check(object) != 0; }

inline bool is_list_or_tuple(PyObject* object) {
  return PyTuple_Check(object) || PyList_Check(object);
}

}  // namespace opbind
