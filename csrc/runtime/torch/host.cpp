// Tensors, dtypes, devices, layouts and memory formats from and to Python, and the check at import
// that torch's objects have the layout that host.h reads. Other objects are in objects.cpp.

#include "host.h"

#include <c10/util/ExclusivelyOwnedTensorTraits.h>
#include <torch/headeronly/version.h>

#include <cstddef>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "core/error.h"
#include "core/ref.h"

namespace opbind::host {
namespace {
struct TensorCount;
}
}  // namespace opbind::host

// The strong count of a tensor, without what c10 does at 1 and 2. c10 lets this template in. The
// results are c10's combined counts.
template <>
struct c10::ExclusivelyOwnedTensorTraits<opbind::host::TensorCount> {
  static std::uint64_t increment(intrusive_ptr_target* target) {
    return c10::detail::atomic_combined_refcount_increment(target->combined_refcount_,
                                                           c10::detail::kReferenceCountOne);
  }
  static std::uint64_t decrement(intrusive_ptr_target* target) {
    return c10::detail::atomic_combined_refcount_decrement(target->combined_refcount_,
                                                           c10::detail::kReferenceCountOne);
  }
};

namespace opbind::host {
namespace {

struct TensorCount : c10::ExclusivelyOwnedTensorTraits<TensorCount> {};

// The word or enum right behind the head of `object`, if it is large enough to hold one.
template <class T>
bool holds(PyObject* object, const T& value) {
  if (Py_TYPE(object)->tp_basicsize < static_cast<Py_ssize_t>(sizeof(detail::ValueObject<T>))) {
    return false;
  }
  static_assert(offsetof(detail::ValueObject<T>, value) == sizeof(PyObject));
  return std::memcmp(reinterpret_cast<const char*>(object) + sizeof(PyObject), &value, sizeof(T)) ==
         0;
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error("this module was built for another torch: " + what +
                           " does not have the layout that torch " TORCH_VERSION
                           " has; rebuild it with this torch");
}

// The address of the C++ object inside, by the object's own account.
void* cdata_of(PyObject* object) {
  const THPObjectPtr cdata = checked(PyObject_GetAttrString(object, "_cdata"));
  void* const address = PyLong_AsVoidPtr(cdata.get());
  if (address == nullptr && PyErr_Occurred()) throw python_error();
  return address;
}

void verify_tensor() {
  const THPObjectPtr torch = checked(PyImport_ImportModule("torch"));
  const THPObjectPtr tensor = checked(PyObject_CallMethod(torch.get(), "empty", "i", 0));
  if (!is_tensor_exact(tensor.get()) || !holds(tensor.get(), cdata_of(tensor.get()))) {
    refuse("torch.Tensor");
  }
}

void verify_dtypes() {
  for (int i = 0; i < static_cast<int>(ScalarType::NumOptions); ++i) {
    const auto dtype = static_cast<ScalarType>(i);
    if (dtype == ScalarType::Undefined) continue;
    auto* const object = reinterpret_cast<PyObject*>(torch::getTHPDtype(dtype));
    if (object == nullptr) continue;  // a ScalarType without a Python dtype
    if (!is_dtype(object) || !holds(object, dtype)) refuse("torch.dtype");
  }
}

void verify_device() {
  for (const Device device : {Device(at::kCPU), Device(at::kCUDA, 3), Device(at::kMeta, 1)}) {
    const THPObjectPtr object = checked(THPDevice_New(device));
    if (Py_TYPE(object.get()) != &THPDeviceType || !holds(object.get(), device)) {
      refuse("torch.device");
    }
  }
}

void verify_layouts() {
  for (const Layout layout : {Layout::Strided, Layout::Sparse, Layout::SparseCsr}) {
    auto* const object = reinterpret_cast<PyObject*>(torch::getTHPLayout(layout));
    if (!is_layout(object) || !holds(object, layout)) refuse("torch.layout");
  }
}

void verify_memory_formats() {
  for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::Preserve,
                                    MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    PyObject* const object = torch::utils::getTHPMemoryFormat(format);
    if (!is_memory_format(object) || !holds(object, format)) refuse("torch.memory_format");
  }
}

// What torch_symbols.h takes pybind11's casters for.
void verify_symbolic_numbers() {
  const THPObjectPtr seven = checked(PyLong_FromLong(7));
  c10::SymInt integer;
  c10::SymBool boolean;
  c10::SymFloat floating;
  const bool is_loaded =
      THPSymInt_load(&integer, seven.get(), false) && integer == 7 &&
      THPSymBool_load(&boolean, Py_True, false) && boolean.maybe_as_bool() == true &&
      THPSymFloat_load(&floating, seven.get(), false) && floating.as_float_unchecked() == 7.0;
  const THPObjectPtr cast = checked(THPSymInt_cast(integer, 0, nullptr));
  if (!is_loaded || PyLong_AsLong(cast.get()) != 7) refuse("torch.SymInt");
}

THPObjectPtr torch_attribute(const char* name) {
  const THPObjectPtr torch = checked(PyImport_ImportModule("torch"));
  return checked(PyObject_GetAttrString(torch.get(), name));
}

void verify_qschemes() {
  for (int i = 0; i < at::COMPILE_TIME_NUM_QSCHEMES; ++i) {
    const auto qscheme = static_cast<QScheme>(i);
    const THPObjectPtr object = torch_attribute(c10::toString(qscheme).c_str());
    if (!is_qscheme(object.get()) || !holds(object.get(), qscheme)) refuse("torch.qscheme");
  }
}

void verify_generator() {
  const THPObjectPtr object = torch_attribute("default_generator");
  if (!is_generator(object.get()) ||
      !holds(object.get(), THPGenerator_Unwrap(object.get()).unsafeGetGeneratorImpl())) {
    refuse("torch.Generator");
  }
}

void verify_storage() {
  const THPObjectPtr type = torch_attribute("UntypedStorage");
  const THPObjectPtr object = checked(PyObject_CallFunction(type.get(), "i", 0));
  if (!is_storage(object.get()) || !holds(object.get(), cdata_of(object.get()))) {
    refuse("torch.UntypedStorage");
  }
}

void verify_stream() {
  const Stream stream(Stream::UNSAFE, Device(at::kCUDA, 3), 5);
  const THPObjectPtr object = checked(THPStream_Wrap(stream));
  if (!is_stream(object.get()) || unpack_stream(object.get()) != stream) refuse("torch.Stream");
}

PyObject* new_reference(PyObject* borrowed) {
  Py_XINCREF(borrowed);
  return borrowed;
}

void release_one(c10::TensorImpl* tensor, bool owes) {
  const std::uint64_t combined = TensorCount::decrement(tensor);
  const std::uint32_t count = c10::detail::refcount(combined);
  if (owes && count >= 2) tensor->incref_pyobject();
  if (!owes && count == 1 && c10::detail::has_pyobject(combined)) tensor->decref_pyobject();
}

}  // namespace

void detail::hold_tensors(std::span<c10::TensorImpl* const> tensors, std::span<bool> owes) {
  // Of a tensor without a Python object, as one made of a number, nothing is owed.
  constexpr std::uint64_t kOwes = c10::detail::kHasPyObject | 2U;
  constexpr std::uint64_t kMask = c10::detail::kHasPyObject | UINT32_MAX;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    owes[i] = tensors[i] != nullptr && (TensorCount::increment(tensors[i]) & kMask) == kOwes;
  }
}

void detail::release_tensors(std::span<c10::TensorImpl* const> tensors,
                             std::span<const bool> owes) {
  // Backwards: of a tensor that is given twice, the hold that owes is released last.
  for (std::size_t i = tensors.size(); i-- > 0;) {
    if (tensors[i] != nullptr) release_one(tensors[i], owes[i]);
  }
}

void initialize() {
  if (THPVariableClass == nullptr || ParameterClass == nullptr) {
    throw std::runtime_error("torch is not initialized: import torch before this module");
  }
  verify_tensor();
  verify_dtypes();
  verify_device();
  verify_layouts();
  verify_memory_formats();
  verify_symbolic_numbers();
  verify_qschemes();
  verify_generator();
  verify_storage();
  verify_stream();
}

PyObject* named_value(const char* name) {
  // Not imported: that may run Python code, and whoever asks may hold the guard of a static.
  PyObject* const torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  return torch == nullptr ? nullptr : PyDict_GetItemString(PyModule_GetDict(torch), name);
}

bool gil_held() noexcept { return !interpreter_is_ending() && PyGILState_Check() != 0; }

std::string describe(const Tensor& tensor) {
  try {
    if (!tensor.defined()) return "undefined tensor";
    std::ostringstream text;
    text << c10::getDtypeNames(tensor.scalar_type()).first << " tensor";
    if (tensor.is_nested()) return text.str();
    text << " of shape (";
    const c10::SymIntArrayRef sizes = tensor.sym_sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i) text << (i == 0 ? "" : ", ") << sizes[i];
    text << (sizes.size() == 1 ? ",)" : ")");
    if (tensor.requires_grad()) text << " that requires grad";
    return text.str();
  } catch (const std::exception&) {  // a subclass whose sizes are computed in Python
    translate(std::current_exception());
    drop_exception();
    return "tensor";
  }
}

Tensor set_requires_grad(Tensor tensor, bool requires_grad) {
  if (requires_grad) tensor.set_requires_grad(true);
  return tensor;
}

void check_out_options(const Tensor& out, std::optional<ScalarType> dtype,
                       std::optional<Layout> layout, std::optional<Device> device) {
  TORCH_CHECK(!dtype || *dtype == out.scalar_type(), "the dtype given is ",
              c10::getDtypeNames(*dtype).first, ", and that of out is ",
              c10::getDtypeNames(out.scalar_type()).first);
  TORCH_CHECK(!layout || *layout == out.layout(), "the layout given is ", *layout,
              ", and that of out is ", out.layout());
  TORCH_CHECK(!device || device->type() == out.device().type(), "the device given is ", *device,
              ", and that of out is ", out.device());
}

ScalarType unpack_dtype(PyObject* object) {
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return ScalarType::Double;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return ScalarType::Long;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return ScalarType::Bool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return ScalarType::ComplexDouble;
  return detail::value_of<ScalarType>(object);
}

PyObject* wrap_dtype(ScalarType dtype) {
  return new_reference(reinterpret_cast<PyObject*>(torch::getTHPDtype(dtype)));
}

Device unpack_device(PyObject* object) {
  if (detail::has_type(object, &THPDeviceType)) return detail::value_of<Device>(object);
  if (PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) throw python_error();
    return Device(std::string(text, static_cast<std::size_t>(size)));
  }
  // An index: torch.device alone knows which accelerator is meant.
  auto* const type = reinterpret_cast<PyObject*>(&THPDeviceType);
  const THPObjectPtr device = checked(PyObject_CallFunctionObjArgs(type, object, nullptr));
  return detail::value_of<Device>(device.get());
}

PyObject* wrap_device(Device device) { return THPDevice_New(device); }

PyObject* wrap_layout(Layout layout) {
  return new_reference(reinterpret_cast<PyObject*>(torch::getTHPLayout(layout)));
}

PyObject* wrap_memory_format(MemoryFormat format) {
  return new_reference(torch::utils::getTHPMemoryFormat(format));
}

void lazy_init(std::optional<Device> device) {
  if (!device.has_value()) return;
  switch (device->type()) {
    case at::DeviceType::CUDA:
    case at::DeviceType::XPU:
    case at::DeviceType::HPU:
    case at::DeviceType::MTIA:
    case at::DeviceType::PrivateUse1:
      torch::utils::device_lazy_init(device->type());
      break;
    default:
      break;
  }
}

}  // namespace opbind::host
