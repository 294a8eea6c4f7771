// core/dispatch.h: calling an op without the GIL.
#pragma once

#include <type_traits>
#include <utility>

#include "core/gil.h"
#include "core/python.h"
#include "host.h"

// All ops of one type share the code: torch has 2,777 of 727 types.
#if OPBIND_SHARED_FRAMES
#define OPBIND_DISPATCH OPBIND_NOINLINE
#else
#define OPBIND_DISPATCH inline
#endif

namespace opbind {

/// Calls `op` without the GIL, which the caller holds and holds again afterwards. What the caller
/// borrowed is held meanwhile: its Tensor and Tensor? arguments (host::hold). Throws what
/// `op` throws.
template <class Result, class... Arguments>
OPBIND_DISPATCH Result call_without_gil(Result (*op)(Arguments...),
                                        std::type_identity_t<Arguments>... arguments) {
  return without_gil<OPBIND_SHARED_FRAMES>(host::hold(arguments...), [&]() -> Result {
    return op(std::forward<Arguments>(arguments)...);
  });
}

/// The same of what a tensor tells without the dispatcher (at::Tensor::is_complex).
template <class Result, class Owner>
OPBIND_DISPATCH Result call_without_gil(Result (Owner::*method)() const, const host::Tensor& self) {
  return without_gil<OPBIND_SHARED_FRAMES>(host::hold(self),
                                           [&]() -> Result { return (self.*method)(); });
}

/// The same for ATen's factories, below what records views and gradients: a composite one such as
/// empty_permuted would give a view of a tensor that nobody has. As torch's own factory functions
/// (torch/csrc/autograd/generated/variable_factories.h).
template <class Result, class... Arguments>
OPBIND_DISPATCH Result make_without_gil(Result (*op)(Arguments...),
                                        std::type_identity_t<Arguments>... arguments) {
  return without_gil<OPBIND_SHARED_FRAMES>(host::hold(arguments...), [&]() -> Result {
    const host::FactoryGuard guard;
    return op(std::forward<Arguments>(arguments)...);
  });
}

}  // namespace opbind
