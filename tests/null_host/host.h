// null_host/host.h: the smallest host, for compiling core without torch.
//
// Types and is_tensor only: what core calls is declared, so that every line of core is checked, and
// nothing is linked.
#pragma once

#include <complex>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/python.h"

namespace opbind::host {

struct Tensor {
  int64_t number = 0;
};

using Complex = std::complex<double>;

struct Scalar {
  Scalar() = default;
  explicit Scalar(int64_t) {}
  explicit Scalar(double) {}
  explicit Scalar(bool) {}
  explicit Scalar(Complex) {}
};

struct SymInt {
  SymInt() = default;
  SymInt(int64_t integer) : value(integer) {}  // NOLINT(google-explicit-constructor): as c10's
  int64_t value = 0;
};
struct SymBool {
  bool value = false;
};

enum class ScalarType : int8_t {};
enum class Layout : int8_t {};
enum class MemoryFormat : int8_t {};
enum class QScheme : uint8_t {};
struct Device {};
struct Generator {};
struct Storage {};
struct Stream {};
using DeviceIndex = int8_t;
template <class T>
using ArrayRef = std::span<const T>;
using OptionalIntArrayRef = std::optional<ArrayRef<int64_t>>;
using OptionalSymIntArrayRef = std::optional<ArrayRef<SymInt>>;
enum class NumberKind : uint8_t { not_number, boolean, integer, floating, complex };

extern PyTypeObject* const kTensorType;

struct TensorObject {
  PyObject head;
  Tensor tensor;
};

inline bool is_tensor_exact(PyObject* object) { return Py_TYPE(object) == kTensorType; }
inline bool is_tensor(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), kTensorType) != 0;
}
inline Tensor& unpack_mutable(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}
inline const Tensor& unpack(PyObject* object) { return unpack_mutable(object); }
PyObject* wrap(Tensor&& tensor);
PyObject* wrap(const Tensor& tensor);
std::string describe(const Tensor& tensor);

class OptionalTensorRef {
 public:
  OptionalTensorRef() = default;
  explicit OptionalTensorRef(const Tensor& tensor) : tensor_(&tensor) {}

 private:
  const Tensor* tensor_ = nullptr;
};

class TensorList {
 public:
  void reserve(std::size_t size) { tensors_.reserve(size); }
  void push_back(const Tensor& tensor) { tensors_.push_back(tensor); }
  std::size_t size() const { return tensors_.size(); }
  operator ArrayRef<Tensor>() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
};

using ListOfOptionalTensors = std::vector<std::optional<Tensor>>;

class TensorOrNumber {
 public:
  explicit TensorOrNumber(const Tensor& borrowed) : tensor_(&borrowed) {}
  explicit TensorOrNumber(Tensor&& made) : made_(made), tensor_(&made_) {}
  TensorOrNumber(const TensorOrNumber&) = delete;
  TensorOrNumber& operator=(const TensorOrNumber&) = delete;

  operator const Tensor&() const { return *tensor_; }

 private:
  Tensor made_;
  const Tensor* tensor_;
};

NumberKind number_kind(PyObject* object);
bool is_scalar(PyObject* object);
Scalar unpack_scalar(PyObject* object);
PyObject* wrap(const Scalar& scalar);
bool unpack_symint(PyObject* object, SymInt& value);
SymBool unpack_symbool(PyObject* object);
PyObject* wrap(const SymInt& value);
PyObject* wrap(const SymBool& value);
Tensor tensor_of_number(PyObject* object);
bool is_dtype(PyObject* object);
ScalarType unpack_dtype(PyObject* object);
PyObject* wrap_dtype(ScalarType dtype);
bool is_device(PyObject* object);
Device unpack_device(PyObject* object);
Device device_from_text(const char* text);
PyObject* wrap_device(Device device);
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
Storage unpack_storage(PyObject* object);
PyObject* wrap_storage(Storage storage);
bool is_stream(PyObject* object);
Stream unpack_stream(PyObject* object);
PyObject* wrap_stream(const Stream& stream);

class WarningScope {
 public:
  bool has_warnings() const { return false; }
  bool issue(bool with_error);
};

void translate(std::exception_ptr error) noexcept;
bool torch_function_mode_active();
bool torch_function_enabled_for_subclasses();
struct TorchFunctionState {
  bool skip_next;
  bool mode_active;
};
TorchFunctionState take_torch_function_state();
PyObject* disabled_torch_function_impl();
void register_structseq_pytree(PyTypeObject* type);

class TorchFunctionModeGuard {
 public:
  TorchFunctionModeGuard();
  PyObject* mode() const;
};

}  // namespace opbind::host
