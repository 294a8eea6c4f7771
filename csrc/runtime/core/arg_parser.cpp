// core/arg_parser.cpp: matching a call with a signature, and reading what matched.
#include "core/arg_parser.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/torch_function.h"

namespace opbind {
namespace {

PyObject* interned(std::string_view text) {
  PyObject* name = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (name == nullptr) {
    throw python_error();
  }
  PyUnicode_InternInPlace(&name);
  return name;
}

void add_aliases(std::vector<BoundSignature::Name>& names, std::string_view aliases,
                 int parameter) {
  while (!aliases.empty()) {
    const std::size_t comma = std::min(aliases.find(','), aliases.size());
    names.push_back({interned(aliases.substr(0, comma)), parameter});
    aliases.remove_prefix(std::min(comma + 1, aliases.size()));
  }
}

BoundSignature bind(const FunctionSignature& signature) {
  BoundSignature bound{&signature, {}};
  for (int i = 0; i < signature.num_parameters; ++i) {
    bound.names.push_back({interned(signature.parameters[i].name), i});
  }
  for (int i = 0; i < signature.num_parameters; ++i) {
    const char* aliases = signature.parameters[i].aliases;
    add_aliases(bound.names, aliases == nullptr ? "" : aliases, i);
  }
  return bound;
}

/// The parameter that a keyword names, or -1; by identity. Keywords in source code are interned, so
/// this nearly always decides.
inline int parameter_interned(const BoundSignature& bound, PyObject* keyword) {
  for (const auto& name : bound.names) {
    if (name.text == keyword) {
      return name.parameter;
    }
  }
  return -1;
}

/// The parameter that a keyword names, or -1.
int parameter_named(const BoundSignature& bound, PyObject* keyword) {
  const int interned = parameter_interned(bound, keyword);
  if (interned >= 0) {
    return interned;
  }
  for (const auto& name : bound.names) {
    const int order = PyUnicode_Compare(name.text, keyword);
    if (order == 0) {
      return name.parameter;
    }
    if (order == -1 && PyErr_Occurred() != nullptr) {
      throw python_error();
    }
  }
  return -1;
}

/// Whether a parameter from `first` on is required and has no argument.
inline bool misses_required(const FunctionSignature& signature, PyObject* const* into, int first) {
  for (int i = first; i < signature.num_parameters; ++i) {
    if (into[i] == nullptr && signature.parameters[i].is_required()) {
      return true;
    }
  }
  return false;
}

/// The types that nearly every argument has. None of them defines `__torch_function__`.
inline bool has_exact_type(ParameterType type, PyObject* object) {
  if (type == ParameterType::TENSOR) {
    return host::is_tensor_exact(object);
  }
  switch (type) {
    case ParameterType::INT64:
      return PyLong_CheckExact(object);
    case ParameterType::SCALAR:
    case ParameterType::DOUBLE:
      return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
    case ParameterType::BOOL:
      return PyBool_Check(object);
    default:
      return false;
  }
}

/// Binds the common call: every argument has exactly its parameter's type, every keyword is the
/// interned name. `into` is empty. False means that Matcher has to look, which knows all the rest
/// and gives reasons.
inline bool bind_exactly(const BoundSignature& bound, const CallArguments& call, PyObject** into) {
  const FunctionSignature& signature = *bound.signature;
  if (call.num_positional > signature.max_positional) {
    return false;
  }
  for (Py_ssize_t i = 0; i < call.num_positional; ++i) {
    if (!has_exact_type(signature.parameters[i].type, call.args[i])) {
      return false;
    }
    into[i] = call.args[i];
  }
  PyObject* const* value = call.args + call.num_positional;
  for (Py_ssize_t k = 0, count = call.num_keywords(); k < count; ++k, ++value) {
    const int i = parameter_interned(bound, tuple_item(call.keyword_names, k));
    if (i < 0 || into[i] != nullptr || !has_exact_type(signature.parameters[i].type, *value)) {
      return false;
    }
    into[i] = *value;
  }
  return !misses_required(signature, into, static_cast<int>(call.num_positional));
}

/// Matches one call with one signature. A member function returns false with `mismatch_` filled.
class Matcher {
 public:
  Matcher(const BoundSignature& bound, const CallArguments& call, bool skip_torch_function,
          PyObject** into, OverloadedArgs& overloaded, THPObjectPtr& varargs, Mismatch& mismatch)
      : bound_(bound),
        signature_(*bound.signature),
        call_(call),
        skip_torch_function_(skip_torch_function),
        into_(into),
        overloaded_(overloaded),
        varargs_(varargs),
        mismatch_(mismatch) {}

  bool match() {
    std::fill_n(into_, signature_.num_parameters, nullptr);
    return match_positional() && match_keywords() && has_required();
  }

 private:
  bool match_positional() {
    if (signature_.varargs_int_list && gather_varargs()) {
      into_[0] = varargs_.get();
      return check(0, varargs_.get());
    }
    if (call_.num_positional > signature_.max_positional) {
      return refuse(Mismatch::Kind::TOO_MANY_POSITIONAL, -1, nullptr);
    }
    for (int i = 0; i < call_.num_positional; ++i) {
      if (!check(i, call_.args[i])) {
        return false;
      }
      into_[i] = call_.args[i];
    }
    return true;
  }

  /// `f(1, 2)` where f takes one list of ints by position: makes the tuple (1, 2).
  bool gather_varargs() {
    const Py_ssize_t count = call_.num_positional;
    if (count == 0 || !is_int(call_.args[0])) {
      return false;
    }
    varargs_ = checked(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyTuple_SetItem(varargs_.get(), i, THPObjectPtr::borrow(call_.args[i]).release());
    }
    return true;
  }

  bool match_keywords() {
    const Py_ssize_t count = call_.num_keywords();
    for (Py_ssize_t k = 0; k < count; ++k) {
      PyObject* name = tuple_item(call_.keyword_names, k);
      PyObject* value = call_.args[call_.num_positional + k];
      const int i = parameter_named(bound_, name);
      if (i < 0) {
        return refuse(Mismatch::Kind::UNEXPECTED_KEYWORD, -1, name);
      }
      if (into_[i] != nullptr) {
        return refuse(Mismatch::Kind::MULTIPLE_VALUES, i, nullptr);
      }
      if (!check(i, value)) {
        return false;
      }
      into_[i] = value;
    }
    return true;
  }

  bool has_required() {
    for (int i = 0; i < signature_.num_parameters; ++i) {
      if (into_[i] == nullptr && signature_.parameters[i].is_required()) {
        return refuse(Mismatch::Kind::MISSING, i, nullptr);
      }
    }
    return true;
  }

  /// Whether parameter `i` takes `object`.
  bool check(int i, PyObject* object) {
    const FunctionParameter& parameter = signature_.parameters[i];
    return has_exact_type(parameter.type, object) || (object == Py_None && parameter.allow_none) ||
           is_overloading(object) || has_type(i, parameter, object);
  }

  /// Whether `object` takes the call over by `__torch_function__`. Remembers it.
  bool is_overloading(PyObject* object) {
    if (skip_torch_function_ || !has_torch_function(object) ||
        !host::torch_function_enabled_for_subclasses()) {
      return false;
    }
    append_overloaded_arg(overloaded_, object);
    return true;
  }

  bool has_type(int i, const FunctionParameter& parameter, PyObject* object) {
    switch (parameter.type) {
      case ParameterType::TENSOR_LIST:
        return is_list_or_tuple(object) ? has_elements(i, parameter, object)
                                        : refuse(Mismatch::Kind::WRONG_TYPE, i, object);
      case ParameterType::INT_LIST:
        if (is_list_or_tuple(object)) {
          return has_elements(i, parameter, object);
        }
        // One int stands for all elements of a list of known length.
        return (parameter.size > 0 && is_int(object)) ||
               refuse(Mismatch::Kind::WRONG_TYPE, i, object);
      default:
        return has_plain_type(parameter.type, object) ||
               refuse(Mismatch::Kind::WRONG_TYPE, i, object);
    }
  }

  static bool has_plain_type(ParameterType type, PyObject* object) {
    switch (type) {
      case ParameterType::TENSOR:
        return host::is_tensor(object);
      case ParameterType::SCALAR:
        return is_scalar(object);
      case ParameterType::INT64:
        return is_int(object);
      case ParameterType::DOUBLE:
        return is_double(object);
      case ParameterType::BOOL:
        return is_bool(object);
      case ParameterType::STRING:
        return PyUnicode_Check(object) != 0;
      case ParameterType::SCALARTYPE:
        return host::is_dtype(object);
      case ParameterType::LAYOUT:
        return host::is_layout(object);
      case ParameterType::DEVICE:
        return host::is_device(object);
      case ParameterType::MEMORY_FORMAT:
        return host::is_memory_format(object);
      case ParameterType::TENSOR_LIST:
      case ParameterType::INT_LIST:
        break;  // has_type deals with lists
    }
    return false;
  }

  /// Every element is looked at, so that the overload chosen is one that takes the whole list.
  bool has_elements(int i, const FunctionParameter& parameter, PyObject* sequence) {
    const Py_ssize_t size = sequence_size(sequence);
    // `int[2]` takes a list of any length, as torch does: the operator decides. A kernel's outputs
    // are counted here, because nobody else can.
    if (parameter.type == ParameterType::TENSOR_LIST && parameter.size > 0 &&
        size != parameter.size) {
      return refuse(Mismatch::Kind::WRONG_LENGTH, i, sequence, size);
    }
    for (Py_ssize_t e = 0; e < size; ++e) {
      const THPObjectPtr item(sequence_item(sequence, e));
      if (item && !has_element(parameter.type, item.get())) {
        return refuse(Mismatch::Kind::WRONG_ELEMENT, i, item.get(), e);
      }
    }
    return true;
  }

  bool has_element(ParameterType list, PyObject* item) {
    if (list == ParameterType::INT_LIST) {
      return is_int(item) || is_overloading(item);
    }
    return host::is_tensor_exact(item) || is_overloading(item) || host::is_tensor(item);
  }

  bool refuse(Mismatch::Kind kind, int parameter, PyObject* object, Py_ssize_t element = 0) {
    mismatch_.kind = kind;
    mismatch_.parameter = parameter;
    mismatch_.element = element;
    mismatch_.object = THPObjectPtr::borrow(object);
    return false;
  }

  const BoundSignature& bound_;
  const FunctionSignature& signature_;
  const CallArguments& call_;
  const bool skip_torch_function_;
  PyObject** into_;
  OverloadedArgs& overloaded_;
  THPObjectPtr& varargs_;
  Mismatch& mismatch_;
};

}  // namespace

namespace detail {

bool match(const BoundSignature& bound, const CallArguments& call, bool skip_torch_function,
           PyObject** into, OverloadedArgs& overloaded, THPObjectPtr& varargs, Mismatch& mismatch) {
  return Matcher(bound, call, skip_torch_function, into, overloaded, varargs, mismatch).match();
}

}  // namespace detail

PythonArgParser::PythonArgParser(const FunctionSignatures& signatures) : name_(signatures.name) {
  signatures_.reserve(signatures.count);
  for (int i = 0; i < signatures.count; ++i) {
    signatures_.push_back(bind(signatures.signatures[i]));
  }
}

PythonArgs PythonArgParser::parse(const CallArguments& call, PyObject** into,
                                  OverloadedArgs& overloaded, THPObjectPtr& varargs) const {
  // Taken once per call, whether or not anything overloads it.
  const host::TorchFunctionState state = host::take_torch_function_state();
  for (const BoundSignature& bound : signatures_) {
    Mismatch ignored;
    if (bind_exactly(bound, call, into) ||
        detail::match(bound, call, state.skip_next, into, overloaded, varargs, ignored)) {
      const auto index = static_cast<int>(&bound - signatures_.data());
      return PythonArgs(index, *bound.signature, name_, into, overloaded,
                        state.mode_active && !state.skip_next);
    }
    overloaded.clear();
    std::fill_n(into, bound.signature->num_parameters, nullptr);
  }
  detail::raise_mismatch(*this, call, state.skip_next);
}

String::String(std::string_view text) : bytes_(text.size()) {
  std::copy(text.begin(), text.end(), bytes_.data());
}

host::TensorList PythonArgs::tensorlist(int i) const {
  host::TensorList tensors;
  const Py_ssize_t size = sequence_size(args_[i]);
  tensors.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t e = 0; e < size; ++e) {
    const THPObjectPtr item(sequence_item(args_[i], e));
    if (!item || !host::is_tensor(item.get())) {
      raise_changed(i);
    }
    tensors.push_back(host::unpack(item.get()));
  }
  return tensors;
}

host::Scalar PythonArgs::scalar(int i) const {
  if (args_[i] != nullptr) {
    try {
      return host::unpack_scalar(args_[i]);
    } catch (const std::overflow_error&) {
      raise_error(PyExc_OverflowError, detail::argument_text(function_name_, *signature_, i) +
                                           " must lie between -2**63 and 2**64 - 1");
    }
  }
  const DefaultValue& value = default_of(i);
  switch (value.kind) {
    case DefaultValue::Kind::DOUBLE:
      return host::Scalar(value.floating);
    case DefaultValue::Kind::BOOL:
      return host::Scalar(value.integer != 0);
    default:
      return host::Scalar(value.integer);
  }
}

std::optional<host::Scalar> PythonArgs::scalarOptional(int i) const {
  return optional(i, [&] { return scalar(i); });
}

double PythonArgs::read_double(int i) const {
  double value = 0;
  if (!to_double(args_[i], value)) [[unlikely]] {
    raise_error(PyExc_OverflowError, detail::argument_text(function_name_, *signature_, i) +
                                         " is too large for a float");
  }
  return value;
}

std::string_view PythonArgs::read_string(int i) const {
  if (args_[i] == nullptr) {
    return {default_of(i).text, default_of(i).size};
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(args_[i], &size);
  if (text == nullptr) {
    throw python_error();  // UnicodeEncodeError: a lone surrogate
  }
  return {text, static_cast<std::size_t>(size)};
}

std::size_t PythonArgs::int_list_size(int i) const {
  if (args_[i] == nullptr) {
    const DefaultValue& value = default_of(i);
    return value.kind == DefaultValue::Kind::INT_LIST ? value.size : parameter(i).size;
  }
  return is_list_or_tuple(args_[i]) ? static_cast<std::size_t>(sequence_size(args_[i]))
                                    : parameter(i).size;
}

void PythonArgs::read_ints(int i, std::span<int64_t> into) const {
  PyObject* argument = args_[i];
  if (argument == nullptr) {
    const DefaultValue& value = default_of(i);
    if (value.kind == DefaultValue::Kind::INT_LIST) {
      std::copy_n(value.ints, into.size(), into.begin());
    } else {
      std::fill(into.begin(), into.end(), value.integer);
    }
    return;
  }
  if (!is_list_or_tuple(argument)) {
    std::fill(into.begin(), into.end(), read_int(i, argument));
    return;
  }
  for (std::size_t e = 0; e < into.size(); ++e) {
    // `__index__` of an earlier element may have changed the list.
    const THPObjectPtr item(sequence_item(argument, static_cast<Py_ssize_t>(e)));
    if (!item || !is_int(item.get())) {
      raise_changed(i);
    }
    into[e] = read_int(i, item.get(), static_cast<Py_ssize_t>(e));
  }
}

void PythonArgs::raise_out_of_range(int i, Py_ssize_t element) const {
  // The number itself is not shown: Python refuses to print an int of many digits.
  raise_error(PyExc_OverflowError, detail::argument_text(function_name_, *signature_, i, element) +
                                       " must lie between -2**63 and 2**63 - 1");
}

void PythonArgs::raise_changed(int i) const {
  raise_error(PyExc_RuntimeError,
              detail::argument_text(function_name_, *signature_, i) + " changed while it was read");
}

PyObject* unreachable_overload(const PythonArgs& r) {
  set_error(PyExc_SystemError, std::string(r.function_name()) + "(): signature " +
                                   std::to_string(r.idx) + " has no case in the generated code");
  return nullptr;
}

}  // namespace opbind
