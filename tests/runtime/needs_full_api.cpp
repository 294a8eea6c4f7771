// runtime/needs_full_api.cpp: compiles with the full API only.
#include "core/python.h"

PyObject* first(PyObject* tuple);

PyObject* first(PyObject* tuple) { return PyTuple_GET_ITEM(tuple, 0); }
