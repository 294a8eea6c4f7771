// core/wrap.h: THPVariable_Wrap, from a kernel's result to a Python object.
//
// Every overload gives a new reference, or nullptr with an exception set; all need the GIL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/python.h"
#include "core/ref.h"
#include "host.h"

namespace opbind {

/// The same tensor gives the same Python object; an undefined one gives None.
inline PyObject* THPVariable_Wrap(host::Tensor&& tensor) { return host::wrap(std::move(tensor)); }
inline PyObject* THPVariable_Wrap(const host::Tensor& tensor) { return host::wrap(tensor); }
/// A Python int, float, bool or complex.
inline PyObject* THPVariable_Wrap(const host::Scalar& scalar) { return host::wrap(scalar); }
inline PyObject* THPVariable_Wrap(int64_t value) { return PyLong_FromLongLong(value); }
inline PyObject* THPVariable_Wrap(double value) { return PyFloat_FromDouble(value); }
inline PyObject* THPVariable_Wrap(host::Complex value) {
  return PyComplex_FromDoubles(value.real(), value.imag());
}
/// A plain int or bool when it is concrete, a symbolic one otherwise.
inline PyObject* THPVariable_Wrap(const host::SymInt& value) { return host::wrap(value); }
inline PyObject* THPVariable_Wrap(const host::SymBool& value) { return host::wrap(value); }
// A template, since anything converts to bool.
template <class Bool>
  requires std::is_same_v<Bool, bool>
PyObject* THPVariable_Wrap(Bool value) {
  return PyBool_FromLong(value ? 1 : 0);
}
/// UTF-8; other bytes are a UnicodeDecodeError.
inline PyObject* THPVariable_Wrap(std::string_view text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}
inline PyObject* THPVariable_Wrap(const std::string& text) {
  return THPVariable_Wrap(std::string_view(text));
}
inline PyObject* THPVariable_Wrap(host::ScalarType dtype) { return host::wrap_dtype(dtype); }
inline PyObject* THPVariable_Wrap(host::Device device) { return host::wrap_device(device); }
inline PyObject* THPVariable_Wrap(host::Layout layout) { return host::wrap_layout(layout); }
inline PyObject* THPVariable_Wrap(host::MemoryFormat format) {
  return host::wrap_memory_format(format);
}

inline PyObject* THPVariable_Wrap(host::QScheme qscheme) { return host::wrap_qscheme(qscheme); }
/// None for an undefined one.
inline PyObject* THPVariable_Wrap(const host::Generator& generator) {
  return host::wrap_generator(generator);
}
inline PyObject* THPVariable_Wrap(host::Storage storage) {
  return host::wrap_storage(std::move(storage));
}
inline PyObject* THPVariable_Wrap(const host::Stream& stream) { return host::wrap_stream(stream); }

template <class T>
PyObject* THPVariable_Wrap(std::vector<T>&& values);

/// None where there is no value.
template <class T>
PyObject* THPVariable_Wrap(std::optional<T>&& value) {
  if (!value.has_value()) {
    Py_RETURN_NONE;
  }
  return THPVariable_Wrap(*std::move(value));
}

/// A list of values gives a tuple, as torch's lists of tensors do.
template <class T>
PyObject* THPVariable_Wrap(std::vector<T>&& values) {
  THPObjectPtr tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i) {
    // By value_type and not by auto&&: vector<bool> holds no bool.
    T value = std::move(values[i]);
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i),
                    checked(THPVariable_Wrap(std::move(value))).release());
  }
  return tuple.release();
}

namespace detail {

/// Calls `set(index, new reference)` for each element of a tuple.
template <class Tuple, class Set, std::size_t... I>
void wrap_elements(Tuple&& values, Set set, std::index_sequence<I...>) {
  (set(static_cast<Py_ssize_t>(I),
       checked(THPVariable_Wrap(std::get<I>(std::forward<Tuple>(values)))).release()),
   ...);
}

template <class... T>
constexpr auto indices_of(const std::tuple<T...>&) {
  return std::index_sequence_for<T...>();
}

}  // namespace detail

/// Several results give a tuple.
template <class... T>
PyObject* THPVariable_Wrap(std::tuple<T...>&& values) {
  THPObjectPtr tuple = checked(PyTuple_New(sizeof...(T)));
  detail::wrap_elements(
      std::move(values),
      [&](Py_ssize_t i, PyObject* value) { PyTuple_SetItem(tuple.get(), i, value); },
      std::index_sequence_for<T...>());
  return tuple.release();
}

/// Named results give an instance of a structseq type.
template <class... T>
PyObject* THPVariable_Wrap(PyTypeObject* type, std::tuple<T...>&& values) {
  THPObjectPtr result = checked(PyStructSequence_New(type));
  detail::wrap_elements(
      std::move(values),
      [&](Py_ssize_t i, PyObject* value) { PyStructSequence_SetItem(result.get(), i, value); },
      std::index_sequence_for<T...>());
  return result.release();
}

/// Makes a structseq type for named results and makes it known to the host's tree utilities.
/// `name` is "MODULE.TYPE". A new reference, which the caller keeps for ever; throws python_error.
PyTypeObject* new_structseq(const char* name, const char* const* fields, int num_fields);

/// Makes `type` the attribute `name` of `module`, and tells pickle to look for it there: under the
/// type's own name stands the function that returns it. Throws python_error.
void export_structseq(PyObject* module, const char* name, PyTypeObject* type);

}  // namespace opbind
