// Numbers: what is one, and Scalar from and to Python.

#include <ATen/core/Tensor.h>

#include <stdexcept>

#include "core/convert.h"
#include "core/gil.h"
#include "core/numbers.h"
#include "host.h"

namespace opbind::host {
namespace {

NumberKind symbolic_kind(PyTypeObject* type) {
  static NumberType types[] = {{"SymInt", NumberKind::integer},
                               {"SymFloat", NumberKind::floating},
                               {"SymBool", NumberKind::boolean}};
  static bool loaded = false;
  return kind_by_type("torch", types, loaded, type);
}

NumberKind tensor_kind(const Tensor& tensor) {
  if (!tensor.defined() || tensor.dim() != 0 || tensor.requires_grad()) {
    return NumberKind::not_number;
  }
  const ScalarType dtype = tensor.scalar_type();
  if (dtype == ScalarType::Bool) return NumberKind::boolean;
  if (c10::isIntegralType(dtype, /*includeBool=*/false)) return NumberKind::integer;
  if (c10::isComplexType(dtype)) return NumberKind::complex;
  return c10::isFloatingType(dtype) ? NumberKind::floating : NumberKind::not_number;
}

// Reading a value off a device waits for it, and other threads may run meanwhile.
Scalar item(const Tensor& tensor) {
  if (tensor.device().is_cpu()) return tensor.item();
  return without_gil([&] { return tensor.item(); });
}

// The symbolic number of a torch.SymInt, …
template <class Symbol>
Symbol load(bool (*loader)(Symbol*, PyObject*, bool), PyObject* object) {
  Symbol value;
  if (!loader(&value, object, false)) throw std::logic_error("this is no symbolic number");
  return value;
}

Scalar symbolic_to_scalar(PyObject* object, NumberKind kind) {
  switch (kind) {
    case NumberKind::integer:
      return Scalar(load(THPSymInt_load, object));
    case NumberKind::floating:
      return Scalar(load(THPSymFloat_load, object));
    default:
      return Scalar(load(THPSymBool_load, object));
  }
}

PyObject* wrap_symbolic(const Scalar& scalar) {
  if (scalar.isSymInt()) return THPSymInt_cast(scalar.toSymInt(), 0, nullptr);
  if (scalar.isSymFloat()) return THPSymFloat_cast(scalar.toSymFloat(), 0, nullptr);
  return THPSymBool_cast(scalar.toSymBool(), 0, nullptr);
}

}  // namespace

NumberKind detail::number_kind_slow(PyObject* object) noexcept {
  if (PyComplex_Check(object)) return NumberKind::complex;
  if (is_tensor(object)) {
    try {
      return tensor_kind(unpack(object));
    } catch (const std::exception&) {  // a subclass with a size policy of its own may refuse
      PyErr_Clear();
      return NumberKind::not_number;
    }
  }
  PyTypeObject* const type = Py_TYPE(object);
  const NumberKind kind = numpy_kind(type);
  return kind != NumberKind::not_number ? kind : symbolic_kind(type);
}

Scalar unpack_scalar(PyObject* object) {
  if (PyFloat_Check(object)) return number_to_scalar(object, NumberKind::floating);
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (PyLong_Check(object)) return number_to_scalar(object, NumberKind::integer);
  if (is_tensor(object)) return item(unpack(object));
  const NumberKind symbolic = symbolic_kind(Py_TYPE(object));
  return symbolic == NumberKind::not_number ? number_to_scalar(object, number_kind(object))
                                            : symbolic_to_scalar(object, symbolic);
}

PyObject* wrap(const Scalar& scalar) {
  if (scalar.isSymbolic()) return wrap_symbolic(scalar);
  if (scalar.isBoolean()) return PyBool_FromLong(scalar.toBool() ? 1 : 0);
  if (scalar.isIntegral(/*includeBool=*/false)) {
    // A negative one is no unsigned one; only what exceeds int64 is stored as unsigned.
    if (scalar.type() == ScalarType::UInt64) return PyLong_FromUnsignedLongLong(scalar.toUInt64());
    return PyLong_FromLongLong(scalar.toLong());
  }
  if (scalar.isComplex()) {
    const c10::complex<double> value = scalar.toComplexDouble();
    return PyComplex_FromDoubles(value.real(), value.imag());
  }
  return PyFloat_FromDouble(scalar.toDouble());
}

bool unpack_symint(PyObject* object, SymInt& value) {
  if (is_tensor(object)) {
    const Scalar scalar = item(unpack(object));
    if (scalar.type() == ScalarType::UInt64) return false;  // only what exceeds int64 is stored so
    value = scalar.toSymInt();
    return true;
  }
  if (symbolic_kind(Py_TYPE(object)) == NumberKind::integer) {
    value = load(THPSymInt_load, object);
    return true;
  }
  std::int64_t integer = 0;
  const bool fits = to_int64(object, integer);
  value = integer;
  return fits;
}

SymBool unpack_symbool(PyObject* object) {
  const bool is_symbolic = symbolic_kind(Py_TYPE(object)) == NumberKind::boolean;
  return is_symbolic ? load(THPSymBool_load, object) : SymBool(to_bool(object));
}

PyObject* wrap(const SymInt& value) {
  if (value.is_heap_allocated()) return THPSymInt_cast(value, 0, nullptr);
  return PyLong_FromLongLong(value.as_int_unchecked());
}

PyObject* wrap(const SymBool& value) {
  if (value.is_heap_allocated()) return THPSymBool_cast(value, 0, nullptr);
  return PyBool_FromLong(value.as_bool_unchecked() ? 1 : 0);
}

}  // namespace opbind::host
