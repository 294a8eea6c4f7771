// Numbers: what is one, and Scalar from and to Python.

#include <ATen/core/Tensor.h>

#include <cmath>
#include <limits>
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

NumberKind detail::number_kind_slow(PyObject* object) {
  if (PyComplex_Check(object)) return NumberKind::complex;
  if (is_tensor(object)) return tensor_kind(unpack(object));
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

namespace {

// The value of a symbol is not asked for, since whoever traces would then depend on it: torch puts
// the same ones into its place.
Scalar placeholder(NumberKind kind) {
  switch (kind) {
    case NumberKind::integer:
      return Scalar(7777777);
    case NumberKind::floating:
      return Scalar(std::numeric_limits<double>::quiet_NaN());
    default:
      return Scalar(true);
  }
}

// torch's fake tensors and tracers read the symbol from this attribute.
void remember_symbol(const Tensor& tensor, PyObject* symbol) {
  const THPObjectPtr object = checked(wrap(tensor));
  if (PyObject_SetAttrString(object.get(), "_wrapped_number", symbol) < 0) throw python_error();
}

}  // namespace

Tensor tensor_of_number(PyObject* object) {
  const NumberKind symbol = symbolic_kind(Py_TYPE(object));
  const bool is_symbol = symbol != NumberKind::not_number;
  const Scalar number = is_symbol ? placeholder(symbol) : unpack_scalar(object);
  Tensor tensor = at::detail::scalar_tensor_static(number, number.type(), at::kCPU);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  if (is_symbol) remember_symbol(tensor, object);
  return tensor;
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
