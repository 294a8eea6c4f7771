// Quantization schemes, generators, storages and streams from and to Python.

#include <utility>

#include "core/error.h"
#include "core/ref.h"
#include "host.h"

namespace opbind::host {
namespace {

// What a torch.Stream holds behind its head.
struct StreamFields {
  std::int64_t id;
  std::int64_t device_type;
  std::int64_t device_index;
};

// Borrowed, never freed. Python code alone has this class.
PyTypeObject* typed_storage_class() {
  static PyObject* const type = [] {
    const THPObjectPtr module = checked(PyImport_ImportModule("torch.storage"));
    return checked(PyObject_GetAttrString(module.get(), "TypedStorage")).release();
  }();
  return reinterpret_cast<PyTypeObject*>(type);
}

bool is_untyped_storage(PyObject* object) { return detail::is_instance(object, THPStorageClass); }

}  // namespace

PyObject* wrap_qscheme(QScheme qscheme) {
  const THPObjectPtr torch = checked(PyImport_ImportModule("torch"));
  return PyObject_GetAttrString(torch.get(), c10::toString(qscheme).c_str());
}

PyObject* wrap_generator(const Generator& generator) {
  if (!generator.defined()) Py_RETURN_NONE;
  return THPGenerator_Wrap(generator);
}

bool is_storage(PyObject* object) {
  return is_untyped_storage(object) || detail::is_instance(object, typed_storage_class());
}

Storage unpack_storage(PyObject* object) {
  if (is_untyped_storage(object)) return detail::value_of<Storage>(object);
  const THPObjectPtr untyped = checked(PyObject_GetAttrString(object, "_untyped_storage"));
  if (!is_untyped_storage(untyped.get())) {
    raise_error(PyExc_TypeError, "its _untyped_storage is no torch.UntypedStorage");
  }
  return detail::value_of<Storage>(untyped.get());
}

PyObject* wrap_storage(Storage storage) { return THPStorage_Wrap(std::move(storage)); }

Stream unpack_stream(PyObject* object) {
  const auto& fields = detail::value_of<StreamFields>(object);
  return Stream::unpack3(fields.id, static_cast<c10::DeviceIndex>(fields.device_index),
                         static_cast<c10::DeviceType>(fields.device_type));
}

PyObject* wrap_stream(const Stream& stream) { return THPStream_Wrap(stream); }

}  // namespace opbind::host
