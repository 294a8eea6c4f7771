// null_host/objects.h: the Python types of the host.
#pragma once

#include "core/python.h"
#include "host.h"

namespace opbind::host {

/// Makes the types and the values of the enumerations, as attributes of `module`. The GIL is held;
/// throws python_error.
void add_types(PyObject* module);

/// A null_host.SymInt, a null_host.SymBool; and what it holds.
bool is_symint(PyObject* object);
bool is_symbool(PyObject* object);
SymInt symint_value(PyObject* object);
SymBool symbool_value(PyObject* object);

}  // namespace opbind::host
