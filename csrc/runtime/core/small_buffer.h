// core/small_buffer.h: an argument's own storage, on the stack up to a stated size.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace opbind {

/// `size` values. Up to Inline of them live in the object itself, so that a call with an ordinary
/// argument allocates nothing. Neither copied nor moved: it stays where the call is.
template <class T, std::size_t Inline>
class SmallBuffer {
 public:
  // Values of a trivial type are left uninitialised: the reader fills every one of them.
  explicit SmallBuffer(std::size_t size)
      : size_(size), heap_(size > Inline ? new T[size] : nullptr) {}
  SmallBuffer(const SmallBuffer&) = delete;
  SmallBuffer& operator=(const SmallBuffer&) = delete;

  T* data() noexcept { return heap_ ? heap_.get() : inline_; }
  const T* data() const noexcept { return heap_ ? heap_.get() : inline_; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  std::span<const T> span() const noexcept { return {data(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<T[]> heap_;
  T inline_[Inline];
};

}  // namespace opbind
