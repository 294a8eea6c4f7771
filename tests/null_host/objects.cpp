// null_host/objects.cpp: Tensor, the enumerations, device, Generator, Storage and Stream, from and
// to Python.
#include "objects.h"

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

#include "core/error.h"
#include "core/ref.h"
#include "host.h"

namespace opbind::host {

PyTypeObject* tensor_type = nullptr;

namespace {

PyObject* text(const std::string& utf8) {
  return PyUnicode_FromStringAndSize(utf8.data(), static_cast<Py_ssize_t>(utf8.size()));
}

/// A new type, which becomes an attribute of `module`: spec.name is "null_host.NAME".
PyTypeObject* make_type(PyObject* module, PyType_Spec& spec) {
  const char* const attribute = spec.name + sizeof("null_host.") - 1;
  THPObjectPtr type = checked(PyType_FromSpec(&spec));
  if (PyObject_SetAttrString(module, attribute, type.get()) < 0) throw python_error();
  return reinterpret_cast<PyTypeObject*>(type.release());
}

/// A new object of `type`, whose memory is zero beyond the head.
PyObject* allocate(PyTypeObject* type) {
  const auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  return checked(alloc(type, 0)).release();
}

/// The end of a dealloc: of an object of a type made here, or of one derived from it.
void free_object(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  const auto free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(self);
  Py_DECREF(type);
}

// ----------------------------------------------------------------------------------------- Tensor

PyObject* new_tensor_object(PyTypeObject* type, const Tensor& tensor) {
  PyObject* const self = allocate(type);
  new (&unpack_mutable(self)) Tensor(tensor);
  tensor.impl()->object = self;
  return self;
}

/// Tensor(value=0, *, dim=1, requires_grad=False)
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  HANDLE_TH_ERRORS
  static const char* names[] = {"value", "dim", "requires_grad", nullptr};
  PyObject* value = nullptr;
  long long dim = 1;
  int requires_grad = 0;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|O$Lp:Tensor", const_cast<char**>(names), &value,
                                  &dim, &requires_grad) == 0) {
    throw python_error();
  }
  const Scalar number = value == nullptr ? Scalar(int64_t{0}) : unpack_scalar(value);
  return new_tensor_object(type, Tensor(number, dim, requires_grad != 0));
  END_HANDLE_TH_ERRORS
}

void tensor_dealloc(PyObject* self) {
  unpack(self).impl()->object = nullptr;
  unpack_mutable(self).~Tensor();
  free_object(self);
}

PyObject* tensor_repr(PyObject* self) {
  HANDLE_TH_ERRORS
  const THPObjectPtr value = checked(wrap(unpack(self).impl()->value));
  return PyUnicode_FromFormat("<%s with %R>", describe(unpack(self)).c_str(), value.get());
  END_HANDLE_TH_ERRORS
}

PyObject* tensor_value(PyObject* self, void*) { return wrap(unpack(self).impl()->value); }
PyObject* tensor_dim(PyObject* self, void*) {
  return PyLong_FromLongLong(unpack(self).impl()->dim);
}
PyObject* tensor_requires_grad(PyObject* self, void*) {
  return PyBool_FromLong(unpack(self).impl()->requires_grad ? 1 : 0);
}

// As torch's: a number of any dimension converts, where its type does.
PyObject* tensor_index(PyObject* self) {
  const THPObjectPtr value(wrap(unpack(self).impl()->value));
  return value ? PyNumber_Index(value.get()) : nullptr;
}
PyObject* tensor_float(PyObject* self) {
  const THPObjectPtr value(wrap(unpack(self).impl()->value));
  return value ? PyNumber_Float(value.get()) : nullptr;
}
int tensor_bool(PyObject* self) {
  const THPObjectPtr value(wrap(unpack(self).impl()->value));
  return value ? PyObject_IsTrue(value.get()) : -1;
}
PyObject* tensor_complex(PyObject* self, PyObject*) {
  const THPObjectPtr value(wrap(unpack(self).impl()->value));
  auto* const type = reinterpret_cast<PyObject*>(&PyComplex_Type);
  return value ? PyObject_CallFunctionObjArgs(type, value.get(), nullptr) : nullptr;
}

PyMethodDef tensor_methods[] = {
    {"__complex__", tensor_complex, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef tensor_attributes[] = {
    {"value", tensor_value, nullptr, nullptr, nullptr},
    {"dim", tensor_dim, nullptr, nullptr, nullptr},
    {"requires_grad", tensor_requires_grad, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot tensor_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(tensor_repr)},
    {Py_tp_methods, tensor_methods},
    {Py_tp_getset, tensor_attributes},
    {Py_nb_index, reinterpret_cast<void*>(tensor_index)},
    {Py_nb_float, reinterpret_cast<void*>(tensor_float)},
    {Py_nb_bool, reinterpret_cast<void*>(tensor_bool)},
    {0, nullptr},
};
PyType_Spec tensor_spec = {"null_host.Tensor", sizeof(TensorObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, tensor_slots};

// ---------------------------------------------------------------------------------------- symbols

struct SymbolObject {
  PyObject head;
  long long value;
  std::string name;
};

PyTypeObject* symint_type = nullptr;
PyTypeObject* symbool_type = nullptr;

SymbolObject& symbol_of(PyObject* object) { return *reinterpret_cast<SymbolObject*>(object); }

PyObject* new_symbol(PyTypeObject* type, long long value, const std::string& name) {
  PyObject* const self = allocate(type);
  symbol_of(self).value = value;
  new (&symbol_of(self).name) std::string(name);
  return self;
}

/// SymInt(5, "s0"), SymBool(True, "b0")
PyObject* symbol_new(PyTypeObject* type, PyObject* args, PyObject*) {
  HANDLE_TH_ERRORS
  long long value = 0;
  const char* name = nullptr;
  if (PyArg_ParseTuple(args, "Ls", &value, &name) == 0) throw python_error();
  return new_symbol(type, value, name);
  END_HANDLE_TH_ERRORS
}

void symbol_dealloc(PyObject* self) {
  std::destroy_at(&symbol_of(self).name);
  free_object(self);
}

PyObject* symbol_repr(PyObject* self) { return PyUnicode_FromString(symbol_of(self).name.c_str()); }
PyObject* symint_index(PyObject* self) { return PyLong_FromLongLong(symbol_of(self).value); }
PyObject* symint_float(PyObject* self) {
  return PyFloat_FromDouble(static_cast<double>(symbol_of(self).value));
}
int symbol_bool(PyObject* self) { return symbol_of(self).value != 0 ? 1 : 0; }

PyType_Slot symint_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(symbol_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(symbol_dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(symbol_repr)},
    {Py_nb_index, reinterpret_cast<void*>(symint_index)},
    {Py_nb_float, reinterpret_cast<void*>(symint_float)},
    {Py_nb_bool, reinterpret_cast<void*>(symbol_bool)},
    {0, nullptr},
};
PyType_Slot symbool_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(symbol_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(symbol_dealloc)},
    {Py_tp_repr, reinterpret_cast<void*>(symbol_repr)},
    {Py_nb_bool, reinterpret_cast<void*>(symbol_bool)},
    // As torch's: a float may be made of it.
    {Py_nb_float, reinterpret_cast<void*>(symint_float)},
    {0, nullptr},
};
PyType_Spec symint_spec = {"null_host.SymInt", sizeof(SymbolObject), 0, Py_TPFLAGS_DEFAULT,
                           symint_slots};
PyType_Spec symbool_spec = {"null_host.SymBool", sizeof(SymbolObject), 0, Py_TPFLAGS_DEFAULT,
                            symbool_slots};

// ----------------------------------------------------------------------------------- enumerations

/// A value of an enumeration. There is one object of each, which is never freed.
struct EnumObject {
  PyObject head;
  const char* name;
  int8_t value;
};

PyObject* enum_repr(PyObject* self) {
  return PyUnicode_FromFormat("null_host.%s", reinterpret_cast<EnumObject*>(self)->name);
}

PyType_Slot enum_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(enum_repr)},
    {0, nullptr},
};

/// A C++ enumeration and its Python type.
template <class Enum, std::size_t N>
struct Enumeration {
  // "null_host.dtype"
  const char* type_name;
  std::array<std::pair<Enum, const char*>, N> values;
  PyTypeObject* type = nullptr;
  std::array<PyObject*, N> objects = {};

  void add_to(PyObject* module) {
    PyType_Spec spec = {type_name, sizeof(EnumObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, enum_slots};
    type = make_type(module, spec);
    for (std::size_t i = 0; i < N; ++i) {
      objects[i] = allocate(type);
      *reinterpret_cast<EnumObject*>(objects[i]) = {*objects[i], values[i].second,
                                                    static_cast<int8_t>(values[i].first)};
      if (PyObject_SetAttrString(module, values[i].second, objects[i]) < 0) throw python_error();
    }
  }
  bool has(PyObject* object) const { return Py_TYPE(object) == type; }
  std::size_t place(Enum value) const {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [value](const auto& row) { return row.first == value; });
    if (found == values.end()) throw std::logic_error(std::string("no such ") + type_name);
    return static_cast<std::size_t>(found - values.begin());
  }
  PyObject* wrap(Enum value) const { return THPObjectPtr::borrow(objects[place(value)]).release(); }
};

template <class Enum>
Enum enum_value(PyObject* object) {
  return static_cast<Enum>(reinterpret_cast<EnumObject*>(object)->value);
}

Enumeration<ScalarType, 27> dtypes = {"null_host.dtype",
                                      {{{ScalarType::Byte, "uint8"},
                                        {ScalarType::Char, "int8"},
                                        {ScalarType::Short, "int16"},
                                        {ScalarType::Int, "int32"},
                                        {ScalarType::Long, "int64"},
                                        {ScalarType::Half, "float16"},
                                        {ScalarType::Float, "float32"},
                                        {ScalarType::Double, "float64"},
                                        {ScalarType::ComplexHalf, "complex32"},
                                        {ScalarType::ComplexFloat, "complex64"},
                                        {ScalarType::ComplexDouble, "complex128"},
                                        {ScalarType::Bool, "bool"},
                                        {ScalarType::QInt8, "qint8"},
                                        {ScalarType::QUInt8, "quint8"},
                                        {ScalarType::QInt32, "qint32"},
                                        {ScalarType::BFloat16, "bfloat16"},
                                        {ScalarType::QUInt4x2, "quint4x2"},
                                        {ScalarType::QUInt2x4, "quint2x4"},
                                        {ScalarType::Float8_e5m2, "float8_e5m2"},
                                        {ScalarType::Float8_e4m3fn, "float8_e4m3fn"},
                                        {ScalarType::Float8_e5m2fnuz, "float8_e5m2fnuz"},
                                        {ScalarType::Float8_e4m3fnuz, "float8_e4m3fnuz"},
                                        {ScalarType::UInt16, "uint16"},
                                        {ScalarType::UInt32, "uint32"},
                                        {ScalarType::UInt64, "uint64"},
                                        {ScalarType::Float8_e8m0fnu, "float8_e8m0fnu"},
                                        {ScalarType::Float4_e2m1fn_x2, "float4_e2m1fn_x2"}}}};

/// Names of dtypes that schemas have beside those that Python shows.
constexpr std::pair<const char*, ScalarType> kFurtherDtypes[] = {
    {"short", ScalarType::Short},
    {"int", ScalarType::Int},
    {"long", ScalarType::Long},
    {"half", ScalarType::Half},
    {"float", ScalarType::Float},
    {"double", ScalarType::Double},
    {"chalf", ScalarType::ComplexHalf},
    {"cfloat", ScalarType::ComplexFloat},
    {"cdouble", ScalarType::ComplexDouble}};

Enumeration<Layout, 2> layouts = {"null_host.layout",
                                  {{{Layout::Strided, "strided"}, {Layout::Sparse, "sparse_coo"}}}};

Enumeration<MemoryFormat, 3> memory_formats = {"null_host.memory_format",
                                               {{{MemoryFormat::Contiguous, "contiguous_format"},
                                                 {MemoryFormat::Preserve, "preserve_format"},
                                                 {MemoryFormat::ChannelsLast, "channels_last"}}}};

Enumeration<QScheme, 3> qschemes = {"null_host.qscheme",
                                    {{{QScheme::PER_TENSOR_AFFINE, "per_tensor_affine"},
                                      {QScheme::PER_CHANNEL_AFFINE, "per_channel_affine"},
                                      {QScheme::PER_TENSOR_SYMMETRIC, "per_tensor_symmetric"}}}};

// ----------------------------------------------------------------------------------------- device

struct DeviceObject {
  PyObject head;
  Device device;
};

PyTypeObject* device_type = nullptr;

struct DeviceName {
  const char* name;
  DeviceType type;
};
constexpr DeviceName kDeviceNames[] = {
    {"cpu", DeviceType::cpu}, {"cuda", DeviceType::cuda}, {"meta", DeviceType::meta}};

PyObject* device_repr(PyObject* self) {
  HANDLE_TH_ERRORS
  return text("device('" + name_of(reinterpret_cast<DeviceObject*>(self)->device) + "')");
  END_HANDLE_TH_ERRORS
}

/// device("cuda:1")
PyObject* device_new(PyTypeObject*, PyObject* args, PyObject*) {
  HANDLE_TH_ERRORS
  const char* name = nullptr;
  if (PyArg_ParseTuple(args, "s:device", &name) == 0) throw python_error();
  return wrap_device(device_from_text(name));
  END_HANDLE_TH_ERRORS
}

PyType_Slot device_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(device_new)},
    {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
    {0, nullptr},
};
PyType_Spec device_spec = {"null_host.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT,
                           device_slots};

Device device_of_index(PyObject* object) {
  int overflow = 0;
  const long index = PyLong_AsLongAndOverflow(object, &overflow);
  if (overflow != 0 || index < 0 || index > INT8_MAX) {
    throw std::invalid_argument("no device has this index");
  }
  return {DeviceType::cuda, static_cast<int8_t>(index)};
}

// --------------------------------------------------------------------- Generator, Storage, Stream

/// A C++ type that is a number, and its Python type.
template <class Value>
struct Numbered {
  struct Object {
    PyObject head;
    Value value;
  };

  static inline PyTypeObject* type = nullptr;

  /// `name` is "null_host.NAME".
  static void add_to(PyObject* module, const char* name) {
    PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)}, {0, nullptr}};
    PyType_Spec spec = {name, sizeof(Object), 0, Py_TPFLAGS_DEFAULT, slots};
    type = make_type(module, spec);
  }

  /// Generator(5)
  static PyObject* create(PyTypeObject*, PyObject* args, PyObject*) {
    HANDLE_TH_ERRORS
    long long number = 0;
    if (PyArg_ParseTuple(args, "L", &number) == 0) throw python_error();
    return wrap({static_cast<int64_t>(number)});
    END_HANDLE_TH_ERRORS
  }

  static bool has(PyObject* object) { return Py_TYPE(object) == type; }
  static Value value_of(PyObject* object) { return reinterpret_cast<Object*>(object)->value; }
  static PyObject* wrap(Value value) {
    PyObject* const object = allocate(type);
    reinterpret_cast<Object*>(object)->value = value;
    return object;
  }
};

}  // namespace

void add_types(PyObject* module) {
  tensor_type = make_type(module, tensor_spec);
  symint_type = make_type(module, symint_spec);
  symbool_type = make_type(module, symbool_spec);
  dtypes.add_to(module);
  for (const auto& [name, dtype] : kFurtherDtypes) {
    const THPObjectPtr object(dtypes.wrap(dtype));
    if (PyObject_SetAttrString(module, name, object.get()) < 0) throw python_error();
  }
  layouts.add_to(module);
  memory_formats.add_to(module);
  qschemes.add_to(module);
  device_type = make_type(module, device_spec);
  Numbered<Generator>::add_to(module, "null_host.Generator");
  Numbered<Storage>::add_to(module, "null_host.Storage");
  Numbered<Stream>::add_to(module, "null_host.Stream");
}

PyObject* wrap(const Tensor& tensor) {
  if (!tensor.defined()) return THPObjectPtr::borrow(Py_None).release();
  PyObject* const known = tensor.impl()->object;
  return known != nullptr ? THPObjectPtr::borrow(known).release()
                          : new_tensor_object(tensor_type, tensor);
}

std::string describe(const Tensor& tensor) {
  constexpr const char* kKinds[] = {"bool", "int", "unsigned int", "float", "complex"};
  const TensorImpl& impl = *tensor.impl();
  return std::string(kKinds[impl.value.value().index()]) + " tensor of " +
         std::to_string(impl.dim) + " dimensions" +
         (impl.requires_grad ? " that requires grad" : "");
}

Tensor set_requires_grad(Tensor tensor, bool requires_grad) {
  tensor.impl()->requires_grad = requires_grad;
  return tensor;
}

bool is_symint(PyObject* object) { return Py_TYPE(object) == symint_type; }
bool is_symbool(PyObject* object) { return Py_TYPE(object) == symbool_type; }

SymInt symint_value(PyObject* object) {
  return {static_cast<int64_t>(symbol_of(object).value), symbol_of(object).name};
}
SymBool symbool_value(PyObject* object) {
  return {symbol_of(object).value != 0, symbol_of(object).name};
}

PyObject* wrap(const SymInt& value) {
  return value.symbol.empty() ? PyLong_FromLongLong(value.value)
                              : new_symbol(symint_type, value.value, value.symbol);
}
PyObject* wrap(const SymBool& value) {
  return value.symbol.empty() ? PyBool_FromLong(value.value ? 1 : 0)
                              : new_symbol(symbool_type, value.value ? 1 : 0, value.symbol);
}

std::string name_of(ScalarType dtype) { return dtypes.values[dtypes.place(dtype)].second; }
std::string name_of(Layout layout) { return layouts.values[layouts.place(layout)].second; }
std::string name_of(MemoryFormat format) {
  return memory_formats.values[memory_formats.place(format)].second;
}
std::string name_of(QScheme qscheme) { return qschemes.values[qschemes.place(qscheme)].second; }

std::string name_of(Device device) {
  const auto* const row =
      std::find_if(std::begin(kDeviceNames), std::end(kDeviceNames),
                   [device](const DeviceName& one) { return one.type == device.type; });
  return row->name + (device.index < 0 ? "" : ":" + std::to_string(device.index));
}

bool is_dtype(PyObject* object) {
  return dtypes.has(object) || object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

ScalarType unpack_dtype(PyObject* object) {
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return ScalarType::Double;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return ScalarType::Long;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return ScalarType::Bool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return ScalarType::ComplexDouble;
  return enum_value<ScalarType>(object);
}

PyObject* wrap_dtype(ScalarType dtype) { return dtypes.wrap(dtype); }

bool is_layout(PyObject* object) { return layouts.has(object); }
Layout unpack_layout(PyObject* object) { return enum_value<Layout>(object); }
PyObject* wrap_layout(Layout layout) { return layouts.wrap(layout); }

bool is_memory_format(PyObject* object) { return memory_formats.has(object); }
MemoryFormat unpack_memory_format(PyObject* object) { return enum_value<MemoryFormat>(object); }
PyObject* wrap_memory_format(MemoryFormat format) { return memory_formats.wrap(format); }

bool is_qscheme(PyObject* object) { return qschemes.has(object); }
QScheme unpack_qscheme(PyObject* object) { return enum_value<QScheme>(object); }
PyObject* wrap_qscheme(QScheme qscheme) { return qschemes.wrap(qscheme); }

bool is_device(PyObject* object) {
  return Py_TYPE(object) == device_type || PyUnicode_Check(object) ||
         (PyLong_Check(object) && !PyBool_Check(object));
}

Device unpack_device(PyObject* object) {
  if (Py_TYPE(object) == device_type) return reinterpret_cast<DeviceObject*>(object)->device;
  if (!PyUnicode_Check(object)) return device_of_index(object);
  Py_ssize_t size = 0;
  const char* const name = PyUnicode_AsUTF8AndSize(object, &size);
  if (name == nullptr) throw python_error();
  return device_from_text(std::string(name, static_cast<std::size_t>(size)));
}

PyObject* wrap_device(Device device) {
  PyObject* const object = allocate(device_type);
  reinterpret_cast<DeviceObject*>(object)->device = device;
  return object;
}

Device device_from_text(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  const std::string index = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool has_index = index.size() == 1 && index[0] >= '0' && index[0] <= '9';
  for (const DeviceName& row : kDeviceNames) {
    if (name == row.name && (has_index || colon == std::string::npos)) {
      return {row.type, static_cast<int8_t>(has_index ? index[0] - '0' : -1)};
    }
  }
  throw std::invalid_argument("no device is called '" + text + "'");
}

bool is_generator(PyObject* object) { return Numbered<Generator>::has(object); }
Generator unpack_generator(PyObject* object) { return Numbered<Generator>::value_of(object); }
PyObject* wrap_generator(const Generator& generator) {
  return Numbered<Generator>::wrap(generator);
}

bool is_storage(PyObject* object) { return Numbered<Storage>::has(object); }
Storage unpack_storage(PyObject* object) {
  const Storage storage = Numbered<Storage>::value_of(object);
  if (storage.number < 0) throw std::invalid_argument("it holds no storage");
  return storage;
}
PyObject* wrap_storage(Storage storage) { return Numbered<Storage>::wrap(storage); }

bool is_stream(PyObject* object) { return Numbered<Stream>::has(object); }
Stream unpack_stream(PyObject* object) { return Numbered<Stream>::value_of(object); }
PyObject* wrap_stream(const Stream& stream) { return Numbered<Stream>::wrap(stream); }

}  // namespace opbind::host
