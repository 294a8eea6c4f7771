// The functions and objects of libtorch_python that the torch host uses. They are declared here,
// and only here, because the headers that declare them cost 14 s and 0.9 GB of compile time for
// each file. Every one of them is exported; the layouts behind the type objects are verified at
// import.

#pragma once

#include <ATen/core/TensorBase.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <exception>

#include "core/python.h"

namespace c10::impl {
struct PyInterpreter;
}

struct THPDtype;
struct THPLayout;

extern PyObject* THPVariableClass;  // torch.Tensor; nullptr before torch is imported
extern PyObject* ParameterClass;    // torch.nn.Parameter

extern PyTypeObject THPDtypeType;
extern PyTypeObject THPDeviceType;
extern PyTypeObject THPLayoutType;
extern PyTypeObject THPMemoryFormatType;

/// New references; None for an undefined tensor. All need the GIL.
PyObject* THPVariable_Wrap(at::TensorBase&& tensor);
PyObject* THPVariable_Wrap(const at::TensorBase& tensor);
PyObject* THPDevice_New(const at::Device& device);

c10::impl::PyInterpreter* getPyInterpreter();

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
