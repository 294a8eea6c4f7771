// core/numbers.h: Python's numbers and NumPy's, for hosts.
//
// A host knows its tensors and symbolic numbers; of all others it asks here. Every function needs
// the GIL and borrows its argument.
#pragma once

#include <span>

#include "core/error.h"
#include "core/python.h"
#include "host.h"

namespace opbind {

/// A type of number, found by its name in a module once somebody has imported that.
struct NumberType {
  const char* name;
  host::NumberKind kind;
  PyTypeObject* type = nullptr;  // owned, never freed
};

/// The kind of the first of `types` that `type` is derived from; not_number for none of them, and
/// as long as `module` is not imported or not complete. `loaded` is false at the first call, and
/// kept with `types`. Never fails, and never imports the module.
host::NumberKind kind_by_type(const char* module, std::span<NumberType> types, bool& loaded,
                              PyTypeObject* type) noexcept;

/// The kind of NumPy's scalars: np.bool_ is a boolean; timedelta64 is no number.
host::NumberKind numpy_kind(PyTypeObject* type) noexcept;

/// A number of that kind, not a tensor, as a Scalar. Keeps the imaginary part and all 64 bits of an
/// int or of an unsigned one; throws std::overflow_error for an int beyond those.
host::Scalar number_to_scalar(PyObject* object, host::NumberKind kind);

}  // namespace opbind
