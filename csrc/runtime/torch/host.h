// The torch host: what the core of the runtime needs to know about PyTorch. Core includes "host.h",
// and the include path decides which host that is. Nothing here may include a header under
// torch/csrc.
//
// Unless said otherwise a function needs the GIL, throws opbind::python_error when a Python error
// is set, and may throw any exception that the error boundary translates.

#pragma once

#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymInt.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>
#include <c10/util/complex.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/python.h"
#include "torch_symbols.h"

namespace opbind::host {

using Tensor = at::Tensor;
using Scalar = at::Scalar;
using Complex = c10::complex<double>;
using SymInt = c10::SymInt;
using SymBool = c10::SymBool;
using ScalarType = at::ScalarType;
using Device = at::Device;
using DeviceIndex = at::DeviceIndex;
using Layout = at::Layout;
using MemoryFormat = at::MemoryFormat;
using QScheme = at::QScheme;
using Generator = at::Generator;
using Storage = at::Storage;
using Stream = at::Stream;
template <class T>
using ArrayRef = at::ArrayRef<T>;
using OptionalIntArrayRef = at::OptionalIntArrayRef;
using OptionalSymIntArrayRef = at::OptionalSymIntArrayRef;

namespace detail {

// A Python object of torch: its value lies right behind the head. initialize() verifies this.
template <class T>
struct ValueObject {
  PyObject head;
  T value;
};

template <class T>
inline T& value_of(PyObject* object) {
  return reinterpret_cast<ValueObject<T>*>(object)->value;
}

inline bool has_type(PyObject* object, const PyTypeObject* type) { return Py_TYPE(object) == type; }

// Of the type or of a subclass. It looks at the type and not at `__class__`, because an object that
// only claims to be one has no value to unpack.
inline bool is_instance(PyObject* object, PyTypeObject* type) {
  return PyType_IsSubtype(Py_TYPE(object), type) != 0;
}

}  // namespace detail

/// Verifies that torch is imported and that its objects have the layout this host reads. Call it
/// once, from the module's init; throws std::runtime_error that says what differs.
void initialize();

/// Whether this thread holds the GIL of a live interpreter. Needs no GIL. False during and after
/// finalization, when nothing that belongs to Python may be touched.
bool gil_held() noexcept;

// ------------------------------------------------------------------------------------------ Tensor

/// Exactly torch.Tensor or torch.nn.Parameter. Never fails.
inline bool is_tensor_exact(PyObject* object) {
  return detail::has_type(object, reinterpret_cast<PyTypeObject*>(THPVariableClass)) ||
         detail::has_type(object, reinterpret_cast<PyTypeObject*>(ParameterClass));
}

/// A tensor or an instance of a subclass. Never fails.
inline bool is_tensor(PyObject* object) {
  return is_tensor_exact(object) ||
         detail::is_instance(object, reinterpret_cast<PyTypeObject*>(THPVariableClass));
}

/// The tensor inside a Python tensor, borrowed: alive as long as the object is.
inline const Tensor& unpack(PyObject* object) { return detail::value_of<Tensor>(object); }
inline Tensor& unpack_mutable(PyObject* object) { return detail::value_of<Tensor>(object); }

/// New reference to the Python object of a tensor, the same one for the same tensor; None if it is
/// undefined; nullptr with an error set.
inline PyObject* wrap(Tensor&& tensor) { return ::THPVariable_Wrap(std::move(tensor)); }
inline PyObject* wrap(const Tensor& tensor) { return ::THPVariable_Wrap(tensor); }

/// "float32 tensor of shape (2, 3)", " that requires grad" if it does; for error texts. Never
/// throws, never empty.
std::string describe(const Tensor& tensor);

/// While it is alive, nothing of this thread is recorded for autograd.
using FactoryGuard = at::AutoDispatchBelowADInplaceOrView;

/// Sets requires_grad of a fresh tensor, as torch's factory functions do.
Tensor set_requires_grad(Tensor tensor, bool requires_grad);

/// Throws c10::Error if what was given beside a factory's `out` is not what `out` has, as torch's
/// factory functions do; of a device its type counts. Needs no GIL.
void check_out_options(const Tensor& out, std::optional<ScalarType> dtype,
                       std::optional<Layout> layout, std::optional<Device> device);

/// A borrowed `std::optional<at::Tensor>` that touches no reference count. The tensor it was made
/// of must outlive it.
class OptionalTensorRef {
 public:
  OptionalTensorRef() = default;
  explicit OptionalTensorRef(const Tensor& tensor)
      : value_(std::in_place, Traits::createBorrow(tensor)) {}
  OptionalTensorRef(const OptionalTensorRef&) = delete;
  OptionalTensorRef& operator=(const OptionalTensorRef&) = delete;
  ~OptionalTensorRef() {
    if (value_.has_value()) Traits::destroyBorrow(*value_);
  }

  operator const std::optional<Tensor>&() const { return value_; }
  bool has_value() const { return value_.has_value(); }

 private:
  using Traits = c10::MaybeOwnedTraits<Tensor>;
  std::optional<Tensor> value_;
};

namespace detail {
template <class Argument>
inline constexpr bool is_borrowed =
    std::is_same_v<Argument, Tensor> || std::is_same_v<Argument, std::optional<Tensor>>;

inline void put_borrowed(c10::TensorImpl**& into, const Tensor& tensor) {
  *into++ = tensor.defined() ? tensor.unsafeGetTensorImpl() : nullptr;
}
inline void put_borrowed(c10::TensorImpl**& into, const std::optional<Tensor>& tensor) {
  *into++ = tensor.has_value() && tensor->defined() ? tensor->unsafeGetTensorImpl() : nullptr;
}
template <class Argument>
void put_borrowed(c10::TensorImpl**& /*into*/, const Argument& /*other*/) {}

// What TensorHold does, for any number of tensors; those that are nullptr are passed over.
void hold_tensors(std::span<c10::TensorImpl* const> tensors, std::span<bool> owes);
void release_tensors(std::span<c10::TensorImpl* const> tensors, std::span<const bool> owes);
}  // namespace detail

/// Holds borrowed tensors while a kernel runs without the GIL, so that copies of them that the
/// kernel makes and drops never want it.
///
/// c10 keeps a tensor's Python object alive from C++ as long as its count is 2 or more: the step
/// from 1 to 2 increments the object's count and the step back decrements it, and for that c10
/// takes the GIL. In a kernel that costs 150 ns for each copied handle, and in a daemon thread at
/// interpreter exit it ends the process (taking the GIL unwinds the thread, inside a noexcept
/// function). A hold takes the step to 2 itself, silently: the caller's frame holds the Python
/// object anyway. When it is released and somebody else has kept the tensor, the increment that was
/// left out is made up for. Between the two the count stays at 2 or more, so nobody else takes a
/// step meanwhile, and both ends run with the GIL, without which c10 can change no Python count.
///
/// Made and released with the GIL. It has no destructor: see without_gil.
template <std::size_t N>
class TensorHold {
 public:
  template <class... Arguments>
  explicit TensorHold(const Arguments&... arguments) {
    [[maybe_unused]] c10::TensorImpl** into = tensors_.data();
    (detail::put_borrowed(into, arguments), ...);
    detail::hold_tensors(tensors_, owes_);
  }
  void release() { detail::release_tensors(tensors_, owes_); }

 private:
  std::array<c10::TensorImpl*, N> tensors_;
  std::array<bool, N> owes_;
};

/// Holds the Tensor and Tensor? arguments of a call. The elements of a list are owned anyway.
template <class... Arguments>
auto hold(const Arguments&... arguments) {
  return TensorHold<(std::size_t{0} + ... + detail::is_borrowed<Arguments>)>(arguments...);
}

/// The tensors of a list argument. The handles are owned, because another thread may clear the
/// Python list while the kernel runs; up to four need no allocation.
class TensorList {
 public:
  TensorList() = default;
  TensorList(TensorList&&) = default;
  TensorList(const TensorList&) = delete;
  TensorList& operator=(const TensorList&) = delete;
  TensorList& operator=(TensorList&&) = delete;
  ~TensorList() {
    // A thread that is unwound at interpreter exit has no GIL, and dropping the last handle of a
    // tensor that has a Python object takes it: leak rather than hang or abort.
    if (!handles_.empty() && !gil_held()) abandon();
  }

  void reserve(std::size_t size) { handles_.reserve(size); }
  void push_back(const Tensor& tensor) { handles_.push_back(tensor); }
  std::size_t size() const { return handles_.size(); }
  Tensor& operator[](std::size_t index) { return handles_[index]; }
  const Tensor& operator[](std::size_t index) const { return handles_[index]; }

  operator at::TensorList() const { return {handles_.data(), handles_.size()}; }
  operator at::ITensorListRef() const { return at::ITensorListRef(at::TensorList(*this)); }

 private:
  void abandon() noexcept {
    for (Tensor& handle : handles_) handle.unsafeReleaseTensorImpl();
  }

  c10::SmallVector<Tensor, 4> handles_;
};

/// The tensors of a list argument some of which may be None, owned, in ATen's own container.
using ListOfOptionalTensors = c10::List<std::optional<Tensor>>;

// ---------------------------------------------- dtype, device, layout, format, and other objects
// is_X tells whether an object is accepted for X and never fails; unpack_X may be called only if it
// is; wrap_X gives a new reference.

/// What `torch.NAME` is, for the dtypes, layouts and memory formats that signatures name; nullptr
/// where there is no such attribute. Borrowed from torch.
PyObject* named_value(const char* name);

/// A torch.dtype, or one of Python's types float, int, bool and complex, as torch's parser takes.
inline bool is_dtype(PyObject* object) {
  return detail::has_type(object, &THPDtypeType) ||
         object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}
ScalarType unpack_dtype(PyObject* object);
PyObject* wrap_dtype(ScalarType dtype);

/// A torch.device, a str ("cuda:1"), or an int that is no bool (an index of the accelerator).
inline bool is_device(PyObject* object) {
  return detail::has_type(object, &THPDeviceType) || PyUnicode_Check(object) ||
         (PyLong_Check(object) && !PyBool_Check(object));
}
/// Throws torch's own readable errors for a str or an int that names no device.
Device unpack_device(PyObject* object);
PyObject* wrap_device(Device device);
/// The device that a default such as "cpu" or "cuda:1" names. Throws torch's own error.
inline Device device_from_text(const char* text) { return Device(std::string(text)); }

inline bool is_layout(PyObject* object) { return detail::has_type(object, &THPLayoutType); }
inline Layout unpack_layout(PyObject* object) { return detail::value_of<Layout>(object); }
PyObject* wrap_layout(Layout layout);

inline bool is_memory_format(PyObject* object) {
  return detail::has_type(object, &THPMemoryFormatType);
}
inline MemoryFormat unpack_memory_format(PyObject* object) {
  return detail::value_of<MemoryFormat>(object);
}
PyObject* wrap_memory_format(MemoryFormat format);

inline bool is_qscheme(PyObject* object) { return detail::has_type(object, &THPQSchemeType); }
inline QScheme unpack_qscheme(PyObject* object) { return detail::value_of<QScheme>(object); }
PyObject* wrap_qscheme(QScheme qscheme);

/// A torch.Generator or an instance of a subclass; by its type, as is_tensor. A reference of its
/// own.
inline bool is_generator(PyObject* object) {
  return detail::is_instance(object, reinterpret_cast<PyTypeObject*>(THPGeneratorClass));
}
inline Generator unpack_generator(PyObject* object) { return detail::value_of<Generator>(object); }
/// None for an undefined one.
PyObject* wrap_generator(const Generator& generator);

/// A torch.UntypedStorage, a torch.TypedStorage (which holds one), or an instance of a subclass. A
/// reference of its own; throws python_error for a TypedStorage that holds none.
bool is_storage(PyObject* object);
Storage unpack_storage(PyObject* object);
PyObject* wrap_storage(Storage storage);

/// A torch.Stream or an instance of a subclass, such as torch.cuda.Stream.
inline bool is_stream(PyObject* object) { return detail::is_instance(object, THPStreamClass); }
Stream unpack_stream(PyObject* object);
/// Always a torch.Stream, as from torch's own functions.
PyObject* wrap_stream(const Stream& stream);

/// The device of a tensor that torch's factory functions make: their bindings tell it to the op,
/// which a mode sees. torch.set_default_tensor_type is behind it; torch.device as a context, and
/// torch.set_default_device, are modes of `__torch_function__`.
inline Device device_or_default(std::optional<Device> device) {
  return device.has_value() ? *device : torch::tensors::get_default_device();
}

/// Initializes the device's runtime if its type has a lazy one; nothing for CPU and meta.
void lazy_init(std::optional<Device> device);

// ----------------------------------------------------------------------------------------- numbers

enum class NumberKind : std::uint8_t { not_number, boolean, integer, floating, complex };

namespace detail {
NumberKind number_kind_slow(PyObject* object);
}

/// What kind of number an object is: Python's own, NumPy's scalars (np.bool_ is a boolean;
/// timedelta64 is none), torch's SymInt, SymFloat and SymBool, and tensors with no dimension that
/// require no grad, by their dtype. `__index__` and `__float__` of other types are not looked at.
/// Never imports NumPy. Throws what a subclass that says its sizes in Python raises, as
/// python_error.
inline NumberKind number_kind(PyObject* object) {
  if (PyFloat_Check(object)) return NumberKind::floating;
  if (PyBool_Check(object)) return NumberKind::boolean;
  if (PyLong_Check(object)) return NumberKind::integer;
  return detail::number_kind_slow(object);
}

inline bool is_scalar(PyObject* object) { return number_kind(object) != NumberKind::not_number; }
/// Of any object with a number_kind. Keeps the imaginary part and all 64 bits of an int or of an
/// unsigned one; throws std::overflow_error for an int beyond those. Symbolic numbers stay
/// symbolic.
Scalar unpack_scalar(PyObject* object);
/// New reference to a Python float, int, bool or complex, or to a symbolic number.
PyObject* wrap(const Scalar& scalar);

/// Of what is_int takes: a torch.SymInt, and what a fake tensor holds, stay symbolic. False, with
/// no exception set, when an int does not fit into 64 bits.
bool unpack_symint(PyObject* object, SymInt& value);
/// Of what is_bool takes.
SymBool unpack_symbool(PyObject* object);
/// New reference to an int or bool, or to a torch.SymInt or torch.SymBool.
PyObject* wrap(const SymInt& value);
PyObject* wrap(const SymBool& value);

/// A CPU tensor of no dimension made of any object with a number_kind that is no tensor. It is
/// marked as a number, and takes part in type promotion as one; of a symbolic number it carries the
/// symbol, for whoever traces. Throws std::overflow_error as unpack_scalar.
Tensor tensor_of_number(PyObject* object);

// ---------------------------------------------------------------------------- warnings and errors

/// Whether a warning that is given once is given each time: torch.set_warn_always.
inline bool warns_always() noexcept { return c10::WarningUtils::get_warnAlways(); }

/// Collects the C++ warnings of this thread while it is alive. Construction and destruction need no
/// GIL and cannot fail, so that the thread may be unwound at any point.
class WarningScope {
 public:
  WarningScope() noexcept : previous_(c10::WarningUtils::get_warning_handler()) {
    c10::WarningUtils::set_warning_handler(&buffer_);
  }
  ~WarningScope() { c10::WarningUtils::set_warning_handler(previous_); }
  WarningScope(const WarningScope&) = delete;
  WarningScope& operator=(const WarningScope&) = delete;

  bool has_warnings() const noexcept { return !buffer_.warnings.empty(); }

  /// With the GIL: issues what was collected as Python warnings. Without a pending error, false
  /// means that a warning became an exception, which is set. With one, all warnings are issued, the
  /// pending error stays whatever becomes of them, and the result is true.
  bool issue(bool with_error);

 private:
  struct Buffer final : c10::WarningHandler {
    void process(const c10::Warning& warning) override;
    std::vector<c10::Warning> warnings;
  };

  Buffer buffer_;
  c10::WarningHandler* previous_;
};

/// The text of an exception as torch would show it: what() of a c10::Error carries the C++
/// backtrace, and finding its symbols takes seconds. Needs no GIL.
std::string error_text(const std::exception& error);

/// Sets the Python error for an exception that core's boundary does not know. The text is made
/// UTF-8, the exception type is kept, and there is no C++ backtrace unless torch is told to show
/// it. Never throws.
void translate(const std::exception_ptr& error) noexcept;

// ------------------------------------------------------------------------------ __torch_function__

namespace detail {
// An explicit instantiation may name private members: this is how torch's own fields are read where
// the accessor would cost a call each.
template <auto SkipNext, auto Stack>
struct TorchFunctionFields {
  friend constexpr auto skip_next_member() { return SkipNext; }
  friend constexpr auto mode_stack_member() { return Stack; }
};
constexpr auto skip_next_member();
constexpr auto mode_stack_member();
template struct TorchFunctionFields<&at::impl::PythonTorchFunctionTLS::skip_next_,
                                    &at::impl::PythonTorchFunctionTLS::stack_>;
}  // namespace detail

/// The state that torch keeps for each thread. Needs no GIL.
struct TorchFunctionState {
  // The next check is to find nothing.
  bool skip_next;
  // A mode is on, and not disabled.
  bool mode_active;
};

/// Reads the state and consumes skip_next, once per check: torch's own accessors for both, in one
/// look-up of the thread's storage.
inline TorchFunctionState take_torch_function_state() {
  using at::impl::PythonTorchFunctionTLS;
  const PythonTorchFunctionTLS& tls = PythonTorchFunctionTLS::get_state();
  const bool skip_next = tls.*detail::skip_next_member();
  if (skip_next) [[unlikely]] {
    PythonTorchFunctionTLS::exchange_skip_next(false);
  }
  return {skip_next,
          !(tls.*detail::mode_stack_member()).empty() && at::impl::torch_function_mode_enabled()};
}

/// Whether a TorchFunctionMode is active and not disabled. Needs no GIL.
inline bool torch_function_mode_active() { return at::impl::torch_function_mode_enabled(); }

/// False inside torch._C.DisableTorchFunctionSubclass and DisableTorchFunction. Needs no GIL.
inline bool torch_function_enabled_for_subclasses() {
  return at::impl::PythonTorchFunctionTLS::get_disabled_state() ==
         at::impl::TorchFunctionDisabledState::ENABLED;
}

/// torch._C._disabled_torch_function_impl, borrowed, never freed: a type whose
/// `__torch_function__` it is takes no part.
PyObject* disabled_torch_function_impl();

/// Takes the innermost TorchFunctionMode off the stack while its handler runs.
class TorchFunctionModeGuard {
 public:
  TorchFunctionModeGuard();
  ~TorchFunctionModeGuard();
  TorchFunctionModeGuard(const TorchFunctionModeGuard&) = delete;
  TorchFunctionModeGuard& operator=(const TorchFunctionModeGuard&) = delete;

  /// Borrowed.
  PyObject* mode() const;

 private:
  std::shared_ptr<c10::SafePyObject> mode_;
};

/// New reference to the function object that a handler gets: attribute `name` of the dotted path
/// `owner` (such as "torch._C._VariableFunctions"). Without an owner, or where torch binds no such
/// op (sym_size is one), the function of `module` itself, whose name is `own_name` if it is
/// another.
PyObject* public_function(PyObject* module, const char* owner, const char* name,
                          const char* own_name = nullptr);

// ------------------------------------------------------------------------------------ return types

/// torch.return_types.NAME, borrowed, never freed. Throws python_error if torch has none.
PyTypeObject* return_type(const char* name);

/// Lets torch.utils._pytree look into a structseq type, as into torch.return_types.
void register_structseq_pytree(PyTypeObject* type);

/// Whether a schema's types are those of torch's op, which has one more for lists of tensors.
template <class Torchs, class Schemas>
inline constexpr bool same_types = false;
template <class Result, class... Torchs, class... Schemas>
  requires(sizeof...(Torchs) == sizeof...(Schemas))
inline constexpr bool same_types<Result(Torchs...), Result(Schemas...)> =
    ((std::is_same_v<Torchs, Schemas> || (std::is_same_v<Torchs, const at::ITensorListRef&> &&
                                          std::is_same_v<Schemas, at::TensorList>)) &&
     ...);

}  // namespace opbind::host
