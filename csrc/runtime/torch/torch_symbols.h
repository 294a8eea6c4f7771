// The functions and objects of libtorch_python that the torch host uses. They are declared here,
// and only here, because the headers that declare them cost 14 s and 0.9 GB of compile time for
// each file. Every one of them is exported; the layouts behind the type objects are verified at
// import.

#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/TensorBase.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymFloat.h>
#include <c10/core/SymInt.h>

#include <cstdint>
#include <exception>
#include <optional>

#include "core/python.h"

namespace c10::impl {
struct PyInterpreter;
}

struct THPDtype;
struct THPLayout;

extern PyObject* THPVariableClass;  // torch.Tensor; nullptr before torch is imported
extern PyObject* ParameterClass;    // torch.nn.Parameter
extern PyObject* THPGeneratorClass;
extern PyTypeObject* THPStorageClass;  // torch.UntypedStorage
extern PyTypeObject* THPStreamClass;

extern PyTypeObject THPDtypeType;
extern PyTypeObject THPDeviceType;
extern PyTypeObject THPLayoutType;
extern PyTypeObject THPMemoryFormatType;
extern PyTypeObject THPQSchemeType;

/// New references; None for an undefined tensor. All need the GIL.
PyObject* THPVariable_Wrap(at::TensorBase&& tensor);
PyObject* THPVariable_Wrap(const at::TensorBase& tensor);
PyObject* THPDevice_New(const at::Device& device);
PyObject* THPGenerator_Wrap(const at::Generator& generator);
PyObject* THPStorage_Wrap(c10::Storage storage);
PyObject* THPStream_Wrap(const c10::Stream& stream);

/// Of a torch.Generator.
at::Generator THPGenerator_Unwrap(PyObject* object);

c10::impl::PyInterpreter* getPyInterpreter();

// Symbolic numbers: pybind11's casters for them, which libtorch_python exports. They are members of
// class templates and are declared by symbol. A caster is the value that it loads, and a handle is
// a PyObject*; this is verified at import.
//
// load: `value` is default-made; reads a torch.SymInt, …, or a Python number. False if it is none.
// cast: a new reference to a torch.SymInt, …, or to a Python number. Policy and parent are not
// used. All need the GIL and may throw.
#define OPBIND_CASTER(type, name) __asm__("_ZN8pybind116detail11type_casterIN3c10" type "EvE" name)
bool THPSymInt_load(c10::SymInt* value, PyObject* object, bool convert)
    OPBIND_CASTER("6SymInt", "4loadENS_6handleEb");
bool THPSymBool_load(c10::SymBool* value, PyObject* object, bool convert)
    OPBIND_CASTER("7SymBool", "4loadENS_6handleEb");
bool THPSymFloat_load(c10::SymFloat* value, PyObject* object, bool convert)
    OPBIND_CASTER("8SymFloat", "4loadENS_6handleEb");
PyObject* THPSymInt_cast(const c10::SymInt& value, std::uint8_t policy, PyObject* parent)
    OPBIND_CASTER("6SymInt", "4castERKS3_NS_19return_value_policyENS_6handleE");
PyObject* THPSymBool_cast(const c10::SymBool& value, std::uint8_t policy, PyObject* parent)
    OPBIND_CASTER("7SymBool", "4castERKS3_NS_19return_value_policyENS_6handleE");
PyObject* THPSymFloat_cast(const c10::SymFloat& value, std::uint8_t policy, PyObject* parent)
    OPBIND_CASTER("8SymFloat", "4castERKS3_NS_19return_value_policyENS_6handleE");
#undef OPBIND_CASTER

namespace at {
class Tensor;
namespace detail {
/// Exported by libtorch_cpu: a tensor of no dimension. Reaches no dispatcher and no tracer; needs
/// no GIL. Its header, ATen/ScalarOps.h, costs as much as all others of the host together.
Tensor scalar_tensor_static(const Scalar& number, std::optional<ScalarType> dtype,
                            std::optional<Device> device);
}  // namespace detail
}  // namespace at

namespace torch {

/// Borrowed references.
THPDtype* getTHPDtype(at::ScalarType dtype);
THPLayout* getTHPLayout(at::Layout layout);

/// Sets the Python error for any std::exception; needs the GIL.
void translate_exception_to_python(const std::exception_ptr& error);

/// Exported by libtorch_cpu: whether texts carry a C++ backtrace (TORCH_SHOW_CPP_STACKTRACES).
bool get_cpp_stacktraces_enabled();

namespace utils {

/// Borrowed reference.
PyObject* getTHPMemoryFormat(at::MemoryFormat format);

/// Runs `torch.<device>._lazy_init()` once; needs the GIL.
void device_lazy_init(at::DeviceType type);

}  // namespace utils
}  // namespace torch

namespace torch::tensors {
/// Of the tensor type that torch.set_default_tensor_type names; without an index.
at::Device get_default_device();
}  // namespace torch::tensors
