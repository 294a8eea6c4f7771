// core/torch_function.cpp: asking modes and overloading arguments.
#include "core/torch_function.h"

#include <algorithm>
#include <string>

namespace opbind {
namespace {

constexpr char kTorchFunction[] = "__torch_function__";

/// A call as a handler sees it.
struct HandlerCall {
  THPObjectPtr function;
  THPObjectPtr types;
  THPObjectPtr args;
  // Empty when there are no keywords: handlers then get no fourth argument, as from torch.
  THPObjectPtr kwargs;
};

THPObjectPtr make_types(const OverloadedArgs& overloaded) {
  THPObjectPtr types = checked(PyTuple_New(static_cast<Py_ssize_t>(overloaded.size())));
  for (std::size_t i = 0; i < overloaded.size(); ++i) {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(overloaded[i].get()));
    PyTuple_SetItem(types.get(), static_cast<Py_ssize_t>(i), THPObjectPtr::borrow(type).release());
  }
  return types;
}

THPObjectPtr make_args(PyObject* const* args, Py_ssize_t count) {
  THPObjectPtr tuple = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SetItem(tuple.get(), i, THPObjectPtr::borrow(args[i]).release());
  }
  return tuple;
}

THPObjectPtr make_kwargs(PyObject* const* values, PyObject* names) {
  if (names == nullptr || sequence_size(names) == 0) {
    return {};
  }
  THPObjectPtr kwargs = checked(PyDict_New());
  for (Py_ssize_t i = 0; i < sequence_size(names); ++i) {
    if (PyDict_SetItem(kwargs.get(), tuple_item(names, i), values[i]) != 0) {
      throw python_error();
    }
  }
  return kwargs;
}

/// What the `__torch_function__` of `handler` returns; NotImplemented included.
THPObjectPtr ask(PyObject* handler, const HandlerCall& call) {
  const THPObjectPtr method = checked(PyObject_GetAttrString(handler, kTorchFunction));
  // A missing fourth argument ends the list of arguments.
  return checked(PyObject_CallFunctionObjArgs(method.get(), call.function.get(), call.types.get(),
                                              call.args.get(), call.kwargs.get(), nullptr));
}

[[noreturn]] void raise_nobody_took_it(const HandlerCall& call, const OverloadedArgs& overloaded,
                                       bool mode_was_asked) {
  const THPObjectPtr types = checked(PyObject_Str(call.types.get()));
  const THPObjectPtr message = checked(PyUnicode_FromFormat(
      "Multiple dispatch failed for %R: every __torch_function__ returned NotImplemented%s; types "
      "asked: %U",
      call.function.get(), mode_was_asked ? " (an active mode was asked first)" : "",
      overloaded.empty() ? checked(PyUnicode_FromString("none")).get() : types.get()));
  PyErr_SetObject(PyExc_TypeError, message.get());
  throw python_error();
}

PyObject* dispatch(const HandlerCall& call, const OverloadedArgs& overloaded) {
  const bool mode_active = host::torch_function_mode_active();
  if (mode_active) {
    // Off the stack while its handler runs, so that what it calls reaches the next one.
    const host::TorchFunctionModeGuard guard;
    THPObjectPtr result = ask(guard.mode(), call);
    if (result.get() != Py_NotImplemented) {
      return result.release();
    }
  }
  for (const THPObjectPtr& argument : overloaded) {
    THPObjectPtr result = ask(argument.get(), call);
    if (result.get() != Py_NotImplemented) {
      return result.release();
    }
  }
  raise_nobody_took_it(call, overloaded, mode_active);
}

}  // namespace

namespace detail {

bool has_torch_function_slow(PyObject* object) {
  static PyObject* const name = checked(PyUnicode_InternFromString(kTorchFunction)).release();
  // As `ask` does: an attribute of the metaclass, which the type alone shows, nobody can call.
  const THPObjectPtr method(optional_attribute(object, name));
  if (!method && PyErr_Occurred() != nullptr) {
    throw python_error();
  }
  return method && method.get() != host::disabled_torch_function_impl();
}

}  // namespace detail

void append_overloaded_arg(OverloadedArgs& overloaded, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const auto has_same_type = [type](const THPObjectPtr& o) { return Py_TYPE(o.get()) == type; };
  if (std::any_of(overloaded.begin(), overloaded.end(), has_same_type)) {
    return;
  }
  const auto is_superclass = [type](const THPObjectPtr& other) {
    return PyType_IsSubtype(type, Py_TYPE(other.get())) != 0;
  };
  const auto place = std::find_if(overloaded.begin(), overloaded.end(), is_superclass);
  overloaded.insert(place, THPObjectPtr::borrow(object));
}

PyObject* handle_torch_function(const PythonArgs& r, PyObject* module, const char* owner,
                                const char* name, const char* own_name) {
  const CallArguments& given = r.call();
  const HandlerCall call{checked(host::public_function(module, owner, name, own_name)),
                         make_types(r.overloaded_args()),
                         make_args(given.args, given.num_positional),
                         make_kwargs(given.args + given.num_positional, given.keyword_names)};
  return dispatch(call, r.overloaded_args());
}

PyObject* handle_torch_function_noargs(PyObject* module, const char* owner, const char* name,
                                       const char* own_name) {
  const OverloadedArgs nobody;
  const HandlerCall call{checked(host::public_function(module, owner, name, own_name)),
                         make_types(nobody),
                         make_args(nullptr, 0),
                         {}};
  return dispatch(call, nobody);
}

}  // namespace opbind
