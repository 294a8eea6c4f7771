// null_host/numbers.cpp: which objects are numbers, and Scalar from and to Python.
#include "core/numbers.h"

#include "core/convert.h"
#include "host.h"
#include "objects.h"

namespace opbind::host {
namespace {

// A function object for std::visit.
struct ToPython {
  PyObject* operator()(bool value) const { return PyBool_FromLong(value ? 1 : 0); }
  PyObject* operator()(int64_t value) const { return PyLong_FromLongLong(value); }
  PyObject* operator()(uint64_t value) const { return PyLong_FromUnsignedLongLong(value); }
  PyObject* operator()(double value) const { return PyFloat_FromDouble(value); }
  PyObject* operator()(Complex value) const {
    return PyComplex_FromDoubles(value.real(), value.imag());
  }
};

NumberKind tensor_kind(const Tensor& tensor) {
  // By the alternatives of Scalar::Value.
  constexpr NumberKind kKinds[] = {NumberKind::boolean, NumberKind::integer, NumberKind::integer,
                                   NumberKind::floating, NumberKind::complex};
  const TensorImpl& impl = *tensor.impl();
  const bool is_number = impl.dim == 0 && !impl.requires_grad;
  return is_number ? kKinds[impl.value.value().index()] : NumberKind::not_number;
}

}  // namespace

NumberKind number_kind(PyObject* object) noexcept {
  if (PyFloat_Check(object)) return NumberKind::floating;
  if (PyBool_Check(object)) return NumberKind::boolean;
  if (PyLong_Check(object)) return NumberKind::integer;
  if (PyComplex_Check(object)) return NumberKind::complex;
  if (is_tensor(object)) return tensor_kind(unpack(object));
  if (is_symint(object)) return NumberKind::integer;
  if (is_symbool(object)) return NumberKind::boolean;
  return numpy_kind(Py_TYPE(object));
}

Scalar unpack_scalar(PyObject* object) {
  if (is_tensor(object)) return unpack(object).impl()->value;
  return number_to_scalar(object, number_kind(object));
}

Tensor tensor_of_number(PyObject* object) { return Tensor(unpack_scalar(object), /*dim=*/0); }

bool unpack_symint(PyObject* object, SymInt& value) {
  if (is_symint(object)) {
    value = symint_value(object);
    return true;
  }
  return to_int64(object, value.value);
}

SymBool unpack_symbool(PyObject* object) {
  return is_symbool(object) ? symbool_value(object) : SymBool{to_bool(object), ""};
}

PyObject* wrap(const Scalar& scalar) { return std::visit(ToPython(), scalar.value()); }

}  // namespace opbind::host
