// core/ref.h: owned references.
//
// A raw PyObject* is borrowed everywhere in the runtime, except where a comment says "new
// reference"; what is owned is held by a THPPointer.
#pragma once

#include <utility>

#include "core/python.h"

namespace opbind {

/// An owned reference to a Python object; empty is allowed. Made from a new reference, which it
/// takes over. The GIL must be held where it is destroyed or assigned, unless it is empty.
template <class T>
class THPPointer {
 public:
  THPPointer() = default;
  explicit THPPointer(T* new_reference) noexcept : ptr_(new_reference) {}
  THPPointer(THPPointer&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  THPPointer(const THPPointer&) = delete;
  THPPointer& operator=(const THPPointer&) = delete;
  THPPointer& operator=(THPPointer&& other) noexcept {
    // The old object goes last: its destructor may run Python code that sees this pointer.
    THPPointer old(std::exchange(ptr_, std::exchange(other.ptr_, nullptr)));
    return *this;
  }
  ~THPPointer() { Py_XDECREF(reinterpret_cast<PyObject*>(ptr_)); }

  /// Shares an object that somebody else owns.
  static THPPointer borrow(T* borrowed) noexcept {
    Py_XINCREF(reinterpret_cast<PyObject*>(borrowed));
    return THPPointer(borrowed);
  }

  T* get() const noexcept { return ptr_; }
  /// Gives the reference away; the caller owns it then.
  [[nodiscard]] T* release() noexcept { return std::exchange(ptr_, nullptr); }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }

 private:
  T* ptr_ = nullptr;
};

using THPObjectPtr = THPPointer<PyObject>;

}  // namespace opbind
