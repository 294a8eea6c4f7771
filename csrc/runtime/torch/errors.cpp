// From C++ exceptions to Python's.

#include "errors.h"

#include <c10/util/Exception.h>

#include "core/error.h"
#include "core/ref.h"
#include "host.h"

namespace opbind::host {

bool detail::is_utf8(const std::string& text) noexcept {
  const THPObjectPtr decoded(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"));
  if (!decoded) PyErr_Clear();
  return static_cast<bool>(decoded);
}

std::string detail::to_utf8(const std::string& text) {
  const THPObjectPtr decoded =
      checked(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(decoded.get(), &size);
  if (bytes == nullptr) throw python_error();
  return std::string(bytes, static_cast<std::size_t>(size));
}

std::string error_text(const std::exception& error) {
  const auto* const torch_error = dynamic_cast<const c10::Error*>(&error);
  if (torch_error == nullptr || torch::get_cpp_stacktraces_enabled()) return error.what();
  return torch_error->what_without_backtrace();
}

namespace {

template <class E>
bool is(const std::exception& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

// The name in torch._C of the exception that torch has for an error; nullptr if Python's own fits.
const char* torch_exception_name(const std::exception& error) {
  if (is<c10::LinAlgError>(error)) return "_LinAlgError";
  if (is<c10::OutOfMemoryError>(error)) return "OutOfMemoryError";
  if (is<c10::AcceleratorError>(error)) return "AcceleratorError";
  if (is<c10::DistBackendError>(error)) return "_DistBackendError";
  if (is<c10::DistNetworkError>(error)) return "_DistNetworkError";
  if (is<c10::DistQueueEmptyError>(error)) return "_DistQueueEmptyError";
  if (is<c10::DistStoreError>(error)) return "_DistStoreError";
  if (is<c10::DistError>(error)) return "_DistError";
  return nullptr;
}

PyObject* python_exception(const std::exception& error) {
  if (is<c10::IndexError>(error)) return PyExc_IndexError;
  if (is<c10::ValueError>(error)) return PyExc_ValueError;
  if (is<c10::TypeError>(error)) return PyExc_TypeError;
  if (is<c10::NotImplementedError>(error)) return PyExc_NotImplementedError;
  if (is<c10::BufferError>(error)) return PyExc_BufferError;
  if (is<c10::SyntaxError>(error)) return PyExc_SyntaxError;
  return PyExc_RuntimeError;
}

// torch itself turns a text that is no UTF-8 into UnicodeDecodeError, and the type is lost: the
// same map again, with the text made readable.
void translate_replaced(const std::exception& error, const std::string& text) {
  const char* const name = torch_exception_name(error);
  if (name != nullptr) {
    const THPObjectPtr torch_c(PyImport_ImportModule("torch._C"));
    const THPObjectPtr type(torch_c ? PyObject_GetAttrString(torch_c.get(), name) : nullptr);
    if (type) return set_error(type.get(), text);
    PyErr_Clear();
  }
  set_error(python_exception(error), text);
}

void translate_known(const std::exception_ptr& pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const std::exception& error) {
    const std::string text = error_text(error);
    if (detail::is_utf8(text)) {
      torch::translate_exception_to_python(pointer);
    } else {
      translate_replaced(error, text);
    }
  }
}

}  // namespace

void translate(const std::exception_ptr& error) noexcept {
  try {
    translate_known(error);
  } catch (const std::exception& failure) {
    set_error(PyExc_RuntimeError, failure.what());
  } catch (...) {
    set_error(PyExc_RuntimeError, opbind::detail::kUnknownException);
  }
}

}  // namespace opbind::host
