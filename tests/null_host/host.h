// null_host/host.h: a host without torch, for running the runtime's core alone, under sanitizers
// for one.
//
// The types have torch's names (namespaces at and c10 at the end), so that generated code is the
// same as for the torch host. Python finds their types in the module `null_host`, which
// initialize() makes: Tensor, dtype, layout, memory_format, qscheme, device, Generator, Storage,
// Stream, and functions that set what torch keeps for a thread.
//
// Unless said otherwise a function needs the GIL, throws opbind::python_error when a Python error
// is set, and may throw any exception that the error boundary translates.
#pragma once

#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/python.h"

namespace opbind::host {

/// Makes the Python module null_host, once; throws std::runtime_error when another module of this
/// host has made it, whose types would be others.
void initialize();

/// Whether this thread holds the GIL. Needs no GIL.
bool gil_held() noexcept;

// ----------------------------------------------------------------------------------------- numbers

using Complex = std::complex<double>;

class Scalar {
 public:
  using Value = std::variant<bool, int64_t, uint64_t, double, Complex>;

  Scalar() : value_(int64_t{0}) {}
  explicit Scalar(bool value) : value_(value) {}
  explicit Scalar(int64_t value) : value_(value) {}
  explicit Scalar(uint64_t value) : value_(value) {}
  explicit Scalar(double value) : value_(value) {}
  explicit Scalar(Complex value) : value_(value) {}

  const Value& value() const { return value_; }

 private:
  Value value_;
};

/// A number, or a symbol that stands for one.
struct SymInt {
  SymInt() = default;
  SymInt(int64_t number) : value(number) {}  // NOLINT(google-explicit-constructor): as c10's
  SymInt(int64_t number, std::string name) : value(number), symbol(std::move(name)) {}

  int64_t value = 0;
  // "" for a plain number.
  std::string symbol;
};

struct SymBool {
  bool value = false;
  std::string symbol;
};

enum class NumberKind : uint8_t { not_number, boolean, integer, floating, complex };

/// Python's and NumPy's numbers, symbols, and a tensor of no dimension that requires no grad.
NumberKind number_kind(PyObject* object) noexcept;
inline bool is_scalar(PyObject* object) { return number_kind(object) != NumberKind::not_number; }
Scalar unpack_scalar(PyObject* object);
PyObject* wrap(const Scalar& scalar);

/// Of what is_int takes; a null_host.SymInt stays one. False, with no exception set, when an int
/// does not fit into 64 bits.
bool unpack_symint(PyObject* object, SymInt& value);
/// Of what is_bool takes; a null_host.SymBool stays one.
SymBool unpack_symbool(PyObject* object);
PyObject* wrap(const SymInt& value);
PyObject* wrap(const SymBool& value);

// ------------------------------------------------------------------------------------------ Tensor

/// What handles of one tensor share: a value, which is all that it holds.
struct TensorImpl {
  std::atomic<int64_t> count = 1;
  Scalar value;
  int64_t dim;
  bool requires_grad;
  // Its Python object as long as there is one; read and written with the GIL.
  PyObject* object = nullptr;

  TensorImpl(Scalar number, int64_t dimensions, bool grad)
      : value(number), dim(dimensions), requires_grad(grad) {}
};

/// A counted handle. Needs no GIL.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Scalar value, int64_t dim = 1, bool requires_grad = false)
      : impl_(new TensorImpl(value, dim, requires_grad)) {}
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) {
    if (impl_ != nullptr) ++impl_->count;
  }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Tensor() {
    if (impl_ != nullptr && --impl_->count == 0) delete impl_;
  }

  bool defined() const { return impl_ != nullptr; }
  TensorImpl* impl() const { return impl_; }

 private:
  TensorImpl* impl_ = nullptr;
};

struct TensorObject {
  PyObject head;
  Tensor tensor;
};

// Made by initialize().
extern PyTypeObject* tensor_type;

inline bool is_tensor_exact(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline bool is_tensor(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), tensor_type) != 0;
}
inline Tensor& unpack_mutable(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}
inline const Tensor& unpack(PyObject* object) { return unpack_mutable(object); }
/// New reference to the Python object of a tensor, the same one for the same tensor; None if it is
/// undefined; nullptr with an error set.
PyObject* wrap(const Tensor& tensor);
inline PyObject* wrap(Tensor&& tensor) { return wrap(std::as_const(tensor)); }
/// "int tensor of 0 dimensions", " that requires grad" if it does.
std::string describe(const Tensor& tensor);
Tensor set_requires_grad(Tensor tensor, bool requires_grad);

/// A `std::optional<Tensor>` that has a handle of its own.
class OptionalTensorRef {
 public:
  OptionalTensorRef() = default;
  explicit OptionalTensorRef(const Tensor& tensor) : value_(tensor) {}

  operator const std::optional<Tensor>&() const { return value_; }

 private:
  std::optional<Tensor> value_;
};

class TensorList {
 public:
  void reserve(std::size_t size) { handles_.reserve(size); }
  void push_back(const Tensor& tensor) { handles_.push_back(tensor); }
  std::size_t size() const { return handles_.size(); }
  Tensor& operator[](std::size_t index) { return handles_[index]; }

  operator std::span<const Tensor>() const { return handles_; }

 private:
  std::vector<Tensor> handles_;
};

using ListOfOptionalTensors = std::vector<std::optional<Tensor>>;

/// Of what is_scalar takes: of no dimension. Throws as unpack_scalar.
Tensor tensor_of_number(PyObject* object);

/// Handles of a call's tensors while the GIL is away. It has no destructor: see without_gil.
class TensorHold {
 public:
  void add(const Tensor& tensor) {
    if (tensor.impl() != nullptr) {
      ++tensor.impl()->count;
      tensors_.push_back(tensor.impl());
    }
  }
  void add(const std::optional<Tensor>& tensor) {
    if (tensor.has_value()) add(*tensor);
  }
  template <class Other>
  void add(const Other& /*other*/) {}

  void release() {
    for (TensorImpl* tensor : tensors_) {
      if (--tensor->count == 0) delete tensor;
    }
  }

 private:
  std::vector<TensorImpl*> tensors_;
};

struct FactoryGuard {};

template <class... Arguments>
TensorHold hold(const Arguments&... arguments) {
  TensorHold held;
  (held.add(arguments), ...);
  return held;
}

// ------------------------------------------------------------------------- dtype, device, others

// The numbers are torch's own.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  Float8_e8m0fnu = 44,
  Float4_e2m1fn_x2 = 45,
};
enum class Layout : int8_t { Strided = 0, Sparse = 1 };
enum class MemoryFormat : int8_t { Contiguous = 0, Preserve = 1, ChannelsLast = 2 };
enum class QScheme : uint8_t {
  PER_TENSOR_AFFINE = 0,
  PER_CHANNEL_AFFINE = 1,
  PER_TENSOR_SYMMETRIC = 2,
};
enum class DeviceType : int8_t { cpu = 0, cuda = 1, meta = 14 };
struct Device {
  DeviceType type = DeviceType::cpu;
  // -1 for the current one.
  int8_t index = -1;
};

/// What torch counts references to has a number here, which is all that tells two apart.
struct Generator {
  int64_t number = 0;
};
struct Storage {
  int64_t number = 0;
};
struct Stream {
  int64_t number = 0;
};

using DeviceIndex = int8_t;
template <class T>
using ArrayRef = std::span<const T>;
using OptionalIntArrayRef = std::optional<ArrayRef<int64_t>>;
using OptionalSymIntArrayRef = std::optional<ArrayRef<SymInt>>;

/// The names of the values in Python: "float32", "strided", "contiguous_format",
/// "per_tensor_affine", "cuda:1".
std::string name_of(ScalarType dtype);
std::string name_of(Layout layout);
std::string name_of(MemoryFormat format);
std::string name_of(QScheme qscheme);
std::string name_of(Device device);

/// What `null_host.NAME` is: a dtype, a layout or a memory format that a signature names; nullptr
/// where there is no such attribute. Borrowed from the module.
PyObject* named_value(const char* name);

/// A null_host.dtype, or one of Python's types float, int, bool and complex.
bool is_dtype(PyObject* object);
ScalarType unpack_dtype(PyObject* object);
PyObject* wrap_dtype(ScalarType dtype);

/// A null_host.device, a str ("cuda:1"), or an int that is no bool (an index of cuda).
bool is_device(PyObject* object);
/// Throws std::invalid_argument for a str or an int that names no device.
Device unpack_device(PyObject* object);
PyObject* wrap_device(Device device);
Device device_from_text(const std::string& text);

bool is_layout(PyObject* object);
Layout unpack_layout(PyObject* object);
PyObject* wrap_layout(Layout layout);

bool is_memory_format(PyObject* object);
MemoryFormat unpack_memory_format(PyObject* object);
PyObject* wrap_memory_format(MemoryFormat format);

bool is_qscheme(PyObject* object);
QScheme unpack_qscheme(PyObject* object);
PyObject* wrap_qscheme(QScheme qscheme);

bool is_generator(PyObject* object);
Generator unpack_generator(PyObject* object);
PyObject* wrap_generator(const Generator& generator);

bool is_storage(PyObject* object);
/// Throws std::invalid_argument for a negative number, which stands for a storage that holds none.
Storage unpack_storage(PyObject* object);
PyObject* wrap_storage(Storage storage);

bool is_stream(PyObject* object);
Stream unpack_stream(PyObject* object);
PyObject* wrap_stream(const Stream& stream);

/// Notes the device for null_host.lazily_initialized().
void lazy_init(std::optional<Device> device);

// ---------------------------------------------------------------------------- warnings and errors

/// This host gives a warning once, if it is to be given once.
constexpr bool warns_always() noexcept { return false; }

/// Collects the warnings of this thread while it is alive. Made and destroyed without the GIL.
class WarningScope {
 public:
  WarningScope() noexcept;
  ~WarningScope();
  WarningScope(const WarningScope&) = delete;
  WarningScope& operator=(const WarningScope&) = delete;

  bool has_warnings() const noexcept { return !warnings_.empty(); }
  /// As of the torch host: an error beats a warning.
  bool issue(bool with_error);

 private:
  friend void warn(std::string text);

  std::vector<std::string> warnings_;
  WarningScope* previous_;
};

/// For kernels: a warning of this thread's innermost scope. Needs no GIL.
void warn(std::string text);

std::string error_text(const std::exception& error);

/// RuntimeError with the exception's text. Never throws.
void translate(const std::exception_ptr& error) noexcept;

// ------------------------------------------------------------------------------ __torch_function__
// One state for the process, where torch has one for each thread.

struct TorchFunctionState {
  bool skip_next;
  bool mode_active;
};

/// Reads the state and consumes skip_next.
TorchFunctionState take_torch_function_state();
bool torch_function_mode_active();
bool torch_function_enabled_for_subclasses();
/// null_host.disabled_torch_function_impl, borrowed, never freed.
PyObject* disabled_torch_function_impl();

/// Takes the innermost mode off the stack while its handler runs.
class TorchFunctionModeGuard {
 public:
  TorchFunctionModeGuard();
  ~TorchFunctionModeGuard();
  TorchFunctionModeGuard(const TorchFunctionModeGuard&) = delete;
  TorchFunctionModeGuard& operator=(const TorchFunctionModeGuard&) = delete;

  /// Borrowed.
  PyObject* mode() const { return mode_; }

 private:
  PyObject* mode_;
};

/// New reference to attribute `name` of `module`; this host has no functions of an `owner`.
PyObject* public_function(PyObject* module, const char* owner, const char* name,
                          const char* own_name = nullptr);

/// Notes the type for null_host.structseqs().
void register_structseq_pytree(PyTypeObject* type);

}  // namespace opbind::host

namespace at {
using opbind::host::ArrayRef;
using opbind::host::Device;
using opbind::host::DeviceIndex;
using opbind::host::Generator;
using opbind::host::Layout;
using opbind::host::MemoryFormat;
using opbind::host::OptionalIntArrayRef;
using opbind::host::OptionalSymIntArrayRef;
using opbind::host::QScheme;
using opbind::host::Scalar;
using opbind::host::ScalarType;
using opbind::host::Storage;
using opbind::host::Stream;
using opbind::host::Tensor;
using IntArrayRef = ArrayRef<int64_t>;
using TensorList = ArrayRef<Tensor>;
}  // namespace at

namespace c10 {
using opbind::host::SymBool;
using opbind::host::SymInt;
template <class T>
using complex = std::complex<T>;
template <class T>
using List = std::vector<T>;
using SymIntArrayRef = at::ArrayRef<SymInt>;
}  // namespace c10
