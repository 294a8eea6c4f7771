// core/python.h: the only place that includes <Python.h>, and the only one that tells the full API
// from the limited one (Py_LIMITED_API). What is faster in the full API is chosen here.
//
// Unless a function says otherwise, the GIL is held by the caller, a PyObject* argument is borrowed
// and a PyObject* result is borrowed.
#pragma once

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#if defined(__GNUC__)
#define OPBIND_COLD __attribute__((noinline, cold))
#define OPBIND_NOINLINE __attribute__((noinline))
#else
#define OPBIND_COLD
#define OPBIND_NOINLINE
#endif

// Generated code says this before it includes anything. True: what entry points and dispatch
// functions do around their own few calls stands once, behind pointers, for a library of thousands
// of functions. False: each has it in its own frame, which is larger and takes some 100
// instructions less.
#ifndef OPBIND_SHARED_FRAMES
#define OPBIND_SHARED_FRAMES false
#endif

namespace opbind {

/// Element `i` of a tuple; the tuple owns it. Precondition: 0 <= i < size.
inline PyObject* tuple_item(PyObject* tuple, Py_ssize_t i) {
#ifdef Py_LIMITED_API
  return PyTuple_GetItem(tuple, i);
#else
  return PyTuple_GET_ITEM(tuple, i);
#endif
}

/// Number of elements of a tuple or a list.
inline Py_ssize_t sequence_size(PyObject* sequence) {
#ifdef Py_LIMITED_API
  return PyTuple_Check(sequence) ? PyTuple_Size(sequence) : PyList_Size(sequence);
#else
  return Py_SIZE(sequence);
#endif
}

/// Element `i` of a tuple or a list as a new reference, or nullptr without an error when a list has
/// become shorter meanwhile. Owned, because Python code may run before the caller is done with it.
inline PyObject* sequence_item(PyObject* sequence, Py_ssize_t i) {
  if (i >= sequence_size(sequence)) {
    return nullptr;
  }
#ifdef Py_LIMITED_API
  PyObject* item =
      PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, i) : PyList_GetItem(sequence, i);
#else
  PyObject* item =
      PyTuple_Check(sequence) ? PyTuple_GET_ITEM(sequence, i) : PyList_GET_ITEM(sequence, i);
#endif
  Py_XINCREF(item);
  return item;
}

/// An attribute, a new reference; nullptr where there is none, and with an error set where looking
/// it up raised another than AttributeError.
inline PyObject* optional_attribute(PyObject* object, PyObject* name) {
#if defined(Py_LIMITED_API)
  PyObject* const value = PyObject_GetAttr(object, name);
  if (value == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
    PyErr_Clear();
  }
#else
  // No AttributeError is made where it would be cleared.
  PyObject* value = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  PyObject_GetOptionalAttr(object, name, &value);
#else
  _PyObject_LookupAttr(object, name, &value);
#endif
#endif
  return value;
}

inline double float_value(PyObject* exact_float) {
#ifdef Py_LIMITED_API
  return PyFloat_AsDouble(exact_float);
#else
  return PyFloat_AS_DOUBLE(exact_float);
#endif
}

/// True once the interpreter has begun to end: taking the GIL would then end this thread.
/// The GIL need not be held.
inline bool interpreter_is_ending() {
#if defined(Py_LIMITED_API)
  return !Py_IsInitialized();
#elif PY_VERSION_HEX >= 0x030D0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

/// Whether the caller runs in the main interpreter. The GIL is held.
inline bool in_main_interpreter() {
  return PyInterpreterState_GetID(PyInterpreterState_Get()) == 0;
}

using FastcallFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

/// A METH_FASTCALL|METH_KEYWORDS function in the form that PyMethodDef holds.
inline PyCFunction castPyCFunction(FastcallFunction function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// A binary operator of Python's: where `Function` raises TypeError it gives NotImplemented, and
/// Python asks the other operand.
template <FastcallFunction Function>
PyObject* TypeError_to_NotImplemented_(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                       PyObject* kwnames) {
  PyObject* const result = Function(self, args, nargs, kwnames);
  if (result != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
    return result;
  }
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

}  // namespace opbind
