// core/gil.h: leaving and taking the GIL around a piece of work.
//
// None of these is a guard object. At interpreter exit, taking the GIL ends a daemon thread by a
// forced unwind; from a destructor, while an exception is in flight, that aborts the process. So
// the work's result or exception is set aside, the GIL is taken (or left) in straight-line code,
// and only then does the result or the exception go on.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

#include "core/python.h"

// Stands before `catch (...)`: a thread that is being ended unwinds through and is not an
// exception.
#if defined(__GLIBCXX__)
#define OPBIND_LET_FORCED_UNWIND_PASS     \
  catch (const ::abi::__forced_unwind&) { \
    throw;                                \
  }
#else
#define OPBIND_LET_FORCED_UNWIND_PASS
#endif

namespace opbind {
namespace detail {

/// Room for one result. It is not destroyed in a forced unwind: a tensor in it could want the GIL.
template <class Result>
class Outcome {
 public:
  Outcome() noexcept {}
  ~Outcome() {}
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;

  template <class Work>
  void run(Work& work) {
    ::new (static_cast<void*>(std::addressof(value_))) Result(work());
  }
  Result take() {
    Result result = std::move(value_);
    std::destroy_at(std::addressof(value_));
    return result;
  }

 private:
  union {
    Result value_;
  };
};

/// Numbers and the like. They are made at once, since nothing happens when they are destroyed.
template <class Result>
  requires(std::is_trivially_destructible_v<Result> && std::is_default_constructible_v<Result>)
class Outcome<Result> {
 public:
  template <class Work>
  void run(Work& work) {
    value_ = work();
  }
  Result take() { return value_; }

 private:
  Result value_{};
};

/// Such as a stream, of which there is none to begin with. The bytes are, so that no compiler sees
/// a way to read what was never written.
template <class Result>
  requires(std::is_trivially_destructible_v<Result> && !std::is_default_constructible_v<Result>)
class Outcome<Result> {
 public:
  template <class Work>
  void run(Work& work) {
    ::new (static_cast<void*>(bytes_)) Result(work());
  }
  Result take() { return *std::launder(reinterpret_cast<Result*>(bytes_)); }

 private:
  alignas(Result) unsigned char bytes_[sizeof(Result)] = {};
};

template <class Result>
class Outcome<Result&> {
 public:
  template <class Work>
  void run(Work& work) {
    value_ = std::addressof(work());
  }
  Result& take() { return *value_; }

 private:
  Result* value_ = nullptr;
};

template <>
class Outcome<void> {
 public:
  template <class Work>
  void run(Work& work) {
    work();
  }
  void take() {}
};

/// A function and what it is called with. Handlers of exceptions are code of their own behind it,
/// not a copy of it in each caller.
struct Action {
  void (*function)(void*);
  void* context;

  template <class Body>
  static Action of(Body& body) {
    return {[](void* context) { (*static_cast<Body*>(context))(); }, &body};
  }
  template <class Hold>
  static Action release(Hold& hold) {
    return {[](void* context) { static_cast<Hold*>(context)->release(); }, &hold};
  }
  void operator()() const { function(context); }
};

struct NoHold {
  void release() {}
};

/// Runs `work`, then `leave` whatever happened (but for a forced unwind), then throws again.
template <class Work, class Leave>
void run_then(const Work& work, const Leave& leave) {
  std::exception_ptr failure;
  try {
    work();
  }
  OPBIND_LET_FORCED_UNWIND_PASS
  catch (...) {
    failure = std::current_exception();
  }
  leave();
  if (failure) [[unlikely]] {
    std::rethrow_exception(std::move(failure));
  }
}

/// Runs `work` without the GIL, then `release` with it whatever happened (but for a forced unwind),
/// then throws again what `work` threw.
template <class Work, class Release>
void run_without_gil(const Work& work, const Release& release) {
  PyThreadState* const state = PyEval_SaveThread();
  run_then(work, [&] {
    PyEval_RestoreThread(state);
    release();
  });
}
/// The same, once for all.
void run_without_gil_shared(Action work, Action release);
/// Runs `work` with the GIL, then throws again what it threw.
void run_with_gil(Action work);

}  // namespace detail

/// Runs `work` without the GIL, which the caller holds and holds again afterwards, while `hold`
/// keeps what the call borrowed. `hold` was made with the GIL and its release() is called with it,
/// in straight-line code: a thread that is ended here releases nothing.
template <bool kSharedFrames = false, class Hold, class Work>
std::invoke_result_t<Work&> without_gil(Hold hold, Work&& work) {
  detail::Outcome<std::invoke_result_t<Work&>> outcome;
  auto run = [&work, &outcome] { outcome.run(work); };
  if constexpr (kSharedFrames) {
    detail::run_without_gil_shared(detail::Action::of(run), detail::Action::release(hold));
  } else {
    detail::run_without_gil(run, [&hold] { hold.release(); });
  }
  return outcome.take();
}

/// The same where nothing is borrowed.
template <class Work>
std::invoke_result_t<Work&> without_gil(Work&& work) {
  return without_gil(detail::NoHold(), std::forward<Work>(work));
}

/// Runs `work` with the GIL, from any thread, one that Python never saw included. A kernel that
/// holds a mutex must not call this while a thread that holds the GIL may wait for the same mutex.
template <class Work>
std::invoke_result_t<Work&> with_gil(Work&& work) {
  detail::Outcome<std::invoke_result_t<Work&>> outcome;
  auto run = [&work, &outcome] { outcome.run(work); };
  detail::run_with_gil(detail::Action::of(run));
  return outcome.take();
}

/// Destroys `value` without the GIL, which the caller holds: for one whose destructor may wait for
/// a thread that needs the GIL.
template <class T>
void destroy_without_gil(T&& value) {
  static_assert(!std::is_lvalue_reference_v<T>, "give the value away: std::move(value)");
  without_gil([&value] { T dying(std::move(value)); });
}

}  // namespace opbind
