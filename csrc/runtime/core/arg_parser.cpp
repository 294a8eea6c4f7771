// core/arg_parser.cpp: matching a call with a signature, and reading what matched.
#include "core/arg_parser.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/signature_text.h"
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

BoundSignature bound_signature(const FunctionSignature& signature) {
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

/// Tables that stay for as long as the process lives, where leak checkers see them.
const FunctionSignatures& tables_of(std::initializer_list<std::string_view> signatures) {
  // Changed with the GIL only.
  static auto* const all = new std::deque<SignatureTables>;
  return all->emplace_back(std::span(signatures)).function();
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

/// The text of a str, borrowed from it. Throws python_error, UnicodeEncodeError, for a lone
/// surrogate.
std::string_view to_utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) {
    throw python_error();
  }
  return {bytes, static_cast<std::size_t>(size)};
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

  int count_taken() { return count_positional() + count_keywords(); }

 private:
  int count_positional() {
    const Py_ssize_t count = gather_positional();
    int taken = 0;
    for (int i = 0; i < std::min<Py_ssize_t>(count, signature_.max_positional); ++i) {
      taken += check(i, call_.args[i]) ? 1 : 0;
    }
    if (varargs_) {
      const bool has_all = check(static_cast<int>(count), varargs_.get());
      taken += static_cast<int>(has_all ? call_.num_positional - count : mismatch_.element);
    }
    return taken;
  }

  int count_keywords() {
    int taken = 0;
    for (Py_ssize_t k = 0, count = call_.num_keywords(); k < count; ++k) {
      const int i = parameter_named(bound_, tuple_item(call_.keyword_names, k));
      const bool is_free = i >= call_.num_positional;
      taken += is_free && check(i, call_.args[call_.num_positional + k]) ? 1 : 0;
    }
    return taken;
  }

  bool match_positional() {
    const Py_ssize_t count = gather_positional();
    if (count > signature_.max_positional) {
      return refuse(Mismatch::Kind::TOO_MANY_POSITIONAL, -1, nullptr);
    }
    for (int i = 0; i < count; ++i) {
      if (!bind(i, call_.args[i])) {
        return false;
      }
    }
    return !varargs_ || bind(static_cast<int>(count), varargs_.get());
  }

  /// How many positional arguments stand for themselves; `varargs_` holds the rest, and nothing
  /// that another signature gathered.
  Py_ssize_t gather_positional() {
    varargs_ = THPObjectPtr();
    return signature_.varargs_int_list && gather_varargs() ? signature_.max_positional - 1
                                                           : call_.num_positional;
  }

  /// `f(1, 2)` where f's last argument by position is a list of ints: makes the tuple (1, 2). A
  /// lone int for `int[2]` stands for both of its elements, as it does everywhere.
  bool gather_varargs() {
    const int list = signature_.max_positional - 1;
    const Py_ssize_t count = call_.num_positional - list;
    const bool may_be_lone = count == 1 && signature_.parameters[list].size > 0;
    if (count <= 0 || may_be_lone || !is_int(call_.args[list])) {
      return false;
    }
    varargs_ = checked(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyTuple_SetItem(varargs_.get(), i, THPObjectPtr::borrow(call_.args[list + i]).release());
    }
    return true;
  }

  bool bind(int i, PyObject* object) {
    if (!check(i, object)) {
      return false;
    }
    into_[i] = object;
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
      if (!bind(i, value)) {
        return false;
      }
    }
    return true;
  }

  /// A None that stands for the default counts as no argument from here on.
  bool has_required() {
    for (int i = 0; i < signature_.num_parameters; ++i) {
      if (into_[i] == nullptr) {
        if (signature_.parameters[i].is_required()) {
          return refuse(Mismatch::Kind::MISSING, i, nullptr);
        }
      } else if (into_[i] == Py_None && signature_.parameters[i].none_is_default) {
        into_[i] = nullptr;
      }
    }
    return true;
  }

  /// Whether parameter `i` takes `object`.
  bool check(int i, PyObject* object) {
    const FunctionParameter& parameter = signature_.parameters[i];
    return has_exact_type(parameter.type, object) ||
           (object == Py_None && parameter.takes_none()) ||
           (may_overload(parameter.type, object) && is_overloading(object)) ||
           has_type(i, parameter, object);
  }

  /// A tensor in a number's place is its value, as in torch, whatever handles its class.
  static bool may_overload(ParameterType type, PyObject* object) {
    return takes_tensors(type) || !host::is_tensor(object);
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
    if (is_list(parameter.type) && is_list_or_tuple(object)) {
      return has_elements(i, parameter, object);
    }
    const bool is_taken = is_list(parameter.type)
                              ? parameter.size > 0 && may_stand_alone(parameter.type, object)
                              : has_plain_type(parameter.type, object);
    return is_taken || (parameter.takes_numbers && is_scalar(object)) ||
           refuse(Mismatch::Kind::WRONG_TYPE, i, object);
  }

  /// Whether one value stands for all elements of a list of known length.
  static bool may_stand_alone(ParameterType list, PyObject* object) {
    return list == ParameterType::INT_LIST     ? is_int(object)
           : list == ParameterType::FLOAT_LIST ? is_double(object)
                                               : false;
  }

  static bool has_plain_type(ParameterType type, PyObject* object) {
    switch (type) {
      case ParameterType::TENSOR:
        return host::is_tensor(object);
      case ParameterType::SCALAR:
      case ParameterType::COMPLEX:
        return is_scalar(object);
      case ParameterType::INT64:
        return is_int(object);
      case ParameterType::DOUBLE:
        return is_double(object);
      case ParameterType::BOOL:
        return is_bool(object);
      case ParameterType::STRING:
        return is_str(object);
      case ParameterType::SCALARTYPE:
        return host::is_dtype(object);
      case ParameterType::LAYOUT:
        return host::is_layout(object);
      case ParameterType::DEVICE:
        return host::is_device(object);
      case ParameterType::MEMORY_FORMAT:
        return host::is_memory_format(object);
      case ParameterType::QSCHEME:
        return host::is_qscheme(object);
      case ParameterType::GENERATOR:
        return host::is_generator(object);
      case ParameterType::STORAGE:
        return host::is_storage(object);
      case ParameterType::STREAM:
        return host::is_stream(object);
      default:
        return false;  // has_type deals with lists
    }
  }

  /// Every element is looked at, so that the overload chosen is one that takes the whole list.
  bool has_elements(int i, const FunctionParameter& parameter, PyObject* sequence) {
    const Py_ssize_t size = sequence_size(sequence);
    // `int[2]` takes a list of any length, as torch does: the operator decides. A kernel's outputs
    // and a std::array of bools are counted here, because nobody else can.
    const bool is_counted =
        parameter.type == ParameterType::TENSOR_LIST || parameter.type == ParameterType::BOOL_LIST;
    if (is_counted && parameter.size > 0 && size != parameter.size) {
      return refuse(Mismatch::Kind::WRONG_LENGTH, i, sequence, size);
    }
    // Though a tensor of no dimension stands for a number among numbers.
    bool has_only_tensors = parameter.type == ParameterType::SCALAR_LIST && size > 0;
    THPObjectPtr last;
    for (Py_ssize_t e = 0; e < size; ++e) {
      THPObjectPtr item(sequence_item(sequence, e));
      if (item && !check_element(i, parameter.type, item.get(), e)) {
        return false;
      }
      has_only_tensors = has_only_tensors && item && host::is_tensor(item.get());
      last = std::move(item);
    }
    // Then it is a `Tensor[]`, which the next overload may want.
    return !has_only_tensors || refuse(Mismatch::Kind::WRONG_ELEMENT, i, last.get(), size - 1);
  }

  bool check_element(int i, ParameterType list, PyObject* item, Py_ssize_t e) {
    if (list == ParameterType::INT_LIST_LIST) {
      return has_ints(i, item, e);
    }
    return has_element(list, item) || refuse(Mismatch::Kind::WRONG_ELEMENT, i, item, e);
  }

  /// Whether element `e` of an `int[][]` is an `int[]`.
  bool has_ints(int i, PyObject* sequence, Py_ssize_t e) {
    if (!is_list_or_tuple(sequence)) {
      return refuse(Mismatch::Kind::WRONG_ELEMENT, i, sequence, e);
    }
    for (Py_ssize_t n = 0, size = sequence_size(sequence); n < size; ++n) {
      const THPObjectPtr item(sequence_item(sequence, n));
      if (item && !has_element(ParameterType::INT_LIST, item.get())) {
        return refuse(Mismatch::Kind::WRONG_ELEMENT, i, item.get(), e, n);
      }
    }
    return true;
  }

  /// Whoever handles calls is asked before its value counts, as an argument itself is.
  bool has_element(ParameterType list, PyObject* item) {
    return is_overloading(item) || has_plain_element(list, item);
  }

  static bool has_plain_element(ParameterType list, PyObject* item) {
    switch (list) {
      case ParameterType::INT_LIST:
        return is_int(item);
      case ParameterType::FLOAT_LIST:
        return is_double(item);
      case ParameterType::BOOL_LIST:
        return is_bool(item);
      case ParameterType::SCALAR_LIST:
        return is_scalar(item);
      case ParameterType::STRING_LIST:
        return is_str(item);
      case ParameterType::OPTIONAL_TENSOR_LIST:
        return item == Py_None || host::is_tensor(item);
      default:
        return host::is_tensor(item);
    }
  }

  bool refuse(Mismatch::Kind kind, int parameter, PyObject* object, Py_ssize_t element = 0,
              Py_ssize_t inner = -1) {
    mismatch_.kind = kind;
    mismatch_.parameter = parameter;
    mismatch_.element = element;
    mismatch_.inner = inner;
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

int count_taken(const BoundSignature& bound, const CallArguments& call, bool skip_torch_function) {
  OverloadedArgs overloaded;
  THPObjectPtr varargs;
  Mismatch why;
  return Matcher(bound, call, skip_torch_function, nullptr, overloaded, varargs, why).count_taken();
}

}  // namespace detail

void PythonArgParser::bind() const {
  const std::span all(function_->signatures, function_->count);
  auto bound = std::make_unique<BoundSignature[]>(all.size());
  std::transform(all.begin(), all.end(), bound.get(), bound_signature);
  for (const FunctionSignature& signature : all) {
    width_ = std::max<std::size_t>(width_, signature.num_parameters);
  }
  bound_ = bound.release();
}

PythonArgParser::PythonArgParser(std::initializer_list<std::string_view> signatures)
    : PythonArgParser(tables_of(signatures)) {}

void PythonArgParser::raise_too_narrow(std::size_t slots) const {
  throw std::length_error(std::string(name()) + "(): ParsedArgs<" + std::to_string(slots) +
                          "> is too small, take ParsedArgs<" + std::to_string(width_) + ">");
}

CallState::~CallState() = default;

PythonArgs PythonArgParser::parse(std::span<PyObject*> slots, CallState& state) const {
  const CallArguments& call = state.call;
  PyObject** const into = slots.data();
  const std::span<const BoundSignature> all = signatures();
  if (slots.size() < width_) [[unlikely]] {
    raise_too_narrow(slots.size());
  }
  // Taken once per call, whether or not anything overloads it.
  const host::TorchFunctionState overrides = host::take_torch_function_state();
  for (const BoundSignature& bound : all) {
    Mismatch ignored;
    if (bind_exactly(bound, call, into) ||
        detail::match(bound, call, overrides.skip_next, into, state.overloaded, state.varargs,
                      ignored)) {
      if (bound.signature->deprecated) [[unlikely]] {
        detail::warn_deprecated(*this, *bound.signature);
      }
      const auto index = static_cast<int>(&bound - all.data());
      return PythonArgs(index, *bound.signature, name(), state, into,
                        overrides.mode_active && !overrides.skip_next);
    }
    state.overloaded.clear();
    std::fill_n(into, bound.signature->num_parameters, nullptr);
  }
  detail::raise_mismatch(*this, call, overrides.skip_next);
}

String::String(std::string_view text) : bytes_(text.size()) {
  std::copy(text.begin(), text.end(), bytes_.data());
}

template <class Read>
auto PythonArgs::reading(int i, Read read, Py_ssize_t element, Py_ssize_t inner) const
    -> decltype(read()) {
  try {
    return read();
  } catch (const std::overflow_error&) {
    throw;  // The caller knows the range.
  }
  OPBIND_LET_FORCED_UNWIND_PASS
  catch (...) {
    detail::translate_current_exception();
    detail::name_error(place(i, element, inner));
    throw python_error();
  }
}

host::OptionalTensorRef PythonArgs::optionalTensor(int i) const {
  return isNone(i) ? host::OptionalTensorRef() : host::OptionalTensorRef(tensor(i));
}

OptionalTensorList PythonArgs::tensorlistOptional(int i) const {
  return is_absent(i) ? OptionalTensorList() : OptionalTensorList(tensorlist(i));
}

std::optional<host::Complex> PythonArgs::toComplexOptional(int i) const {
  return optional(i, [&] { return toComplex(i); });
}

int64_t PythonArgs::toInt64(int i) const {
  return args_[i] == nullptr ? default_of(i).integer : read_int(i, args_[i]);
}

std::optional<int64_t> PythonArgs::toInt64Optional(int i) const {
  return optional(i, [&] { return toInt64(i); });
}

std::optional<host::DeviceIndex> PythonArgs::toDeviceIndexOptional(int i) const {
  return optional(i, [&] { return toDeviceIndex(i); });
}

std::optional<host::SymInt> PythonArgs::toSymIntOptional(int i) const {
  return optional(i, [&] { return toSymInt(i); });
}

double PythonArgs::toDouble(int i) const {
  return args_[i] == nullptr ? default_of(i).floating : read_double(i, args_[i]);
}

std::optional<double> PythonArgs::toDoubleOptional(int i) const {
  return optional(i, [&] { return toDouble(i); });
}

bool PythonArgs::toBool(int i) const {
  return args_[i] == nullptr ? default_of(i).integer != 0 : read_bool(i, args_[i]);
}

std::optional<bool> PythonArgs::toBoolOptional(int i) const {
  return optional(i, [&] { return toBool(i); });
}

std::optional<host::SymBool> PythonArgs::toSymBoolOptional(int i) const {
  return optional(i, [&] { return toSymBool(i); });
}

String PythonArgs::string(int i) const { return String(read_string(i)); }

OptionalString PythonArgs::stringOptional(int i) const {
  return is_absent(i) ? OptionalString() : OptionalString(read_string(i));
}

StringList PythonArgs::stringlist(int i) const {
  return StringList(list_size(i), [&](std::span<std::string> into) { read_strings(i, into); });
}

OptionalStringList PythonArgs::stringlistOptional(int i) const {
  const auto fill = [&](std::span<std::string> into) { read_strings(i, into); };
  return is_absent(i) ? OptionalStringList() : OptionalStringList(list_size(i), fill);
}

IntList PythonArgs::intlist(int i) const {
  return IntList(list_size(i), [&](std::span<int64_t> into) { read_ints(i, into); });
}

OptionalIntList PythonArgs::intlistOptional(int i) const {
  const auto fill = [&](std::span<int64_t> into) { read_ints(i, into); };
  return is_absent(i) ? OptionalIntList() : OptionalIntList(list_size(i), fill);
}

SymIntList PythonArgs::symintlist(int i) const {
  return SymIntList(list_size(i), [&](std::span<host::SymInt> into) { read_symints(i, into); });
}

OptionalSymIntList PythonArgs::symintlistOptional(int i) const {
  const auto fill = [&](std::span<host::SymInt> into) { read_symints(i, into); };
  return is_absent(i) ? OptionalSymIntList() : OptionalSymIntList(list_size(i), fill);
}

DoubleList PythonArgs::doublelist(int i) const {
  return DoubleList(list_size(i), [&](std::span<double> into) { read_doubles(i, into); });
}

OptionalDoubleList PythonArgs::doublelistOptional(int i) const {
  const auto fill = [&](std::span<double> into) { read_doubles(i, into); };
  return is_absent(i) ? OptionalDoubleList() : OptionalDoubleList(list_size(i), fill);
}

ScalarList PythonArgs::scalarlist(int i) const {
  return ScalarList(list_size(i), [&](std::span<host::Scalar> into) { read_scalars(i, into); });
}

OptionalScalarList PythonArgs::scalarlistOptional(int i) const {
  const auto fill = [&](std::span<host::Scalar> into) { read_scalars(i, into); };
  return is_absent(i) ? OptionalScalarList() : OptionalScalarList(list_size(i), fill);
}

host::ScalarType PythonArgs::scalartype(int i) const {
  return enumeration<host::ScalarType>(i, host::unpack_dtype);
}

std::optional<host::ScalarType> PythonArgs::scalartypeOptional(int i) const {
  return optional(i, [&] { return scalartype(i); });
}

host::Layout PythonArgs::layout(int i) const {
  return enumeration<host::Layout>(i, host::unpack_layout);
}

std::optional<host::Layout> PythonArgs::layoutOptional(int i) const {
  return optional(i, [&] { return layout(i); });
}

host::MemoryFormat PythonArgs::memoryformat(int i) const {
  return enumeration<host::MemoryFormat>(i, host::unpack_memory_format);
}

std::optional<host::MemoryFormat> PythonArgs::memoryformatOptional(int i) const {
  return optional(i, [&] { return memoryformat(i); });
}

std::optional<host::Device> PythonArgs::deviceOptional(int i) const {
  return optional(i, [&] { return device(i); });
}

host::QScheme PythonArgs::toQScheme(int i) const { return host::unpack_qscheme(args_[i]); }

std::optional<host::QScheme> PythonArgs::toQSchemeOptional(int i) const {
  return optional(i, [&] { return toQScheme(i); });
}

host::Generator PythonArgs::generator(int i) const { return host::unpack_generator(args_[i]); }

std::optional<host::Generator> PythonArgs::generatorOptional(int i) const {
  return optional(i, [&] { return generator(i); });
}

std::optional<host::Storage> PythonArgs::storageOptional(int i) const {
  return optional(i, [&] { return storage(i); });
}

host::Stream PythonArgs::stream(int i) const { return host::unpack_stream(args_[i]); }

std::optional<host::Stream> PythonArgs::streamOptional(int i) const {
  return optional(i, [&] { return stream(i); });
}

TensorOrNumber PythonArgs::tensor_or_number(int i) const {
  if (host::is_tensor(args_[i])) {
    return TensorOrNumber(tensor(i));
  }
  try {
    return TensorOrNumber(reading(i, [&] { return host::tensor_of_number(args_[i]); }));
  } catch (const std::overflow_error&) {
    raise_overflow(i, kScalarRange);
  }
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

host::ListOfOptionalTensors PythonArgs::list_of_optional_tensors(int i) const {
  host::ListOfOptionalTensors tensors;
  const Py_ssize_t size = sequence_size(args_[i]);
  tensors.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t e = 0; e < size; ++e) {
    const THPObjectPtr item(sequence_item(args_[i], e));
    if (item && item.get() == Py_None) {
      tensors.push_back(std::nullopt);
    } else if (item && host::is_tensor(item.get())) {
      tensors.push_back(host::unpack(item.get()));
    } else {
      raise_changed(i);
    }
  }
  return tensors;
}

host::Scalar PythonArgs::scalar(int i) const {
  if (PyObject* const object = args_[i]; object != nullptr) {
    if (PyFloat_CheckExact(object)) {
      return host::Scalar(PyFloat_AsDouble(object));
    }
    int64_t integer = 0;
    return to_int64_exact(object, integer) ? host::Scalar(integer) : read_scalar(i, object);
  }
  const DefaultValue& value = default_of(i);
  switch (value.kind) {
    case DefaultValue::Kind::DOUBLE:
      return host::Scalar(value.floating);
    case DefaultValue::Kind::BOOL:
      return host::Scalar(value.integer != 0);
    case DefaultValue::Kind::DOUBLE_LIST:
      return host::Scalar(host::Complex(value.doubles[0], value.doubles[1]));
    default:
      return host::Scalar(value.integer);
  }
}

host::Scalar PythonArgs::read_scalar(int i, PyObject* object, Py_ssize_t element) const {
  try {
    return reading(i, [&] { return host::unpack_scalar(object); }, element);
  } catch (const std::overflow_error&) {
    raise_overflow(i, kScalarRange, element);
  }
}

std::optional<host::Scalar> PythonArgs::scalarOptional(int i) const {
  return optional(i, [&] { return scalar(i); });
}

host::Complex PythonArgs::toComplex(int i) const {
  if (args_[i] == nullptr) {
    const double* const parts = default_of(i).doubles;
    return {parts[0], parts[1]};
  }
  host::Complex value;
  if (!reading(i, [&] { return to_complex(args_[i], value); })) {
    raise_overflow(i, " is too large for a complex");
  }
  return value;
}

host::DeviceIndex PythonArgs::toDeviceIndex(int i) const {
  int64_t value = default_of(i).integer;
  const bool fits = args_[i] == nullptr || reading(i, [&] { return to_int64(args_[i], value); });
  const auto index = static_cast<host::DeviceIndex>(value);
  if (!fits || index != value) {
    raise_overflow(i, " must lie between -128 and 127");
  }
  return index;
}

host::SymInt PythonArgs::toSymInt(int i) const {
  return args_[i] == nullptr ? host::SymInt(default_of(i).integer) : read_symint(i, args_[i]);
}

host::SymInt PythonArgs::read_symint(int i, PyObject* object, Py_ssize_t element) const {
  host::SymInt value;
  if (!reading(i, [&] { return to_symint(object, value); }, element)) {
    raise_overflow(i, kInt64Range, element);
  }
  return value;
}

double PythonArgs::read_double(int i, PyObject* object, Py_ssize_t element) const {
  double value = 0;
  if (!reading(i, [&] { return to_double(object, value); }, element)) [[unlikely]] {
    raise_overflow(i, " is too large for a float", element);
  }
  return value;
}

std::string_view PythonArgs::read_string(int i) const {
  if (args_[i] == nullptr) {
    return {default_of(i).text, default_of(i).size};
  }
  return reading(i, [&] { return to_utf8(args_[i]); });
}

host::SymBool PythonArgs::toSymBool(int i) const {
  return reading(i, [&] { return host::unpack_symbool(args_[i]); });
}

host::Device PythonArgs::device(int i) const {
  if (args_[i] == nullptr) {
    return host::device_from_text(default_of(i).text);
  }
  return reading(i, [&] { return host::unpack_device(args_[i]); });
}

host::Storage PythonArgs::storage(int i) const {
  return reading(i, [&] { return host::unpack_storage(args_[i]); });
}

int64_t PythonArgs::read_int_slow(int i, PyObject* object, Py_ssize_t element,
                                  Py_ssize_t inner) const {
  int64_t value = 0;
  if (!reading(i, [&] { return to_int64(object, value); }, element, inner)) {
    raise_overflow(i, kInt64Range, element, inner);
  }
  return value;
}

bool PythonArgs::read_bool_slow(int i, PyObject* object, Py_ssize_t element) const {
  return reading(i, [&] { return to_bool(object); }, element);
}

std::size_t PythonArgs::list_size(int i) const {
  if (args_[i] == nullptr) {
    return default_of(i).size;
  }
  return is_list_or_tuple(args_[i]) ? static_cast<std::size_t>(sequence_size(args_[i]))
                                    : parameter(i).size;
}

template <class T, class Read>
void PythonArgs::read_given(int i, std::span<T> into, bool (*is_element)(PyObject*),
                            Read read) const {
  if (is_list_or_tuple(args_[i])) {
    read_elements(i, args_[i], into, is_element, read);
  } else {
    std::fill(into.begin(), into.end(), read(args_[i], -1));
  }
}

template <class T, class Read>
void PythonArgs::read_elements(int i, PyObject* list, std::span<T> into,
                               bool (*is_element)(PyObject*), Read read) const {
  for (std::size_t e = 0; e < into.size(); ++e) {
    // Reading an earlier element may have run Python code that changed the list.
    const auto index = static_cast<Py_ssize_t>(e);
    const THPObjectPtr item(sequence_item(list, index));
    if (!item || !is_element(item.get())) {
      raise_changed(i);
    }
    into[e] = read(item.get(), index);
  }
}

template <class T, class Element, class Read>
void PythonArgs::read_list(int i, std::span<T> into, const Element* DefaultValue::* elements,
                           bool (*is_element)(PyObject*), Read read) const {
  if (args_[i] == nullptr) {
    std::copy_n(default_of(i).*elements, into.size(), into.begin());
  } else {
    read_given(i, into, is_element, read);
  }
}

void PythonArgs::read_ints(int i, std::span<int64_t> into) const {
  read_list(i, into, &DefaultValue::ints, is_int,
            [&](PyObject* o, Py_ssize_t e) { return read_int(i, o, e); });
}

void PythonArgs::read_symints(int i, std::span<host::SymInt> into) const {
  read_list(i, into, &DefaultValue::ints, is_int,
            [&](PyObject* o, Py_ssize_t e) { return read_symint(i, o, e); });
}

void PythonArgs::read_doubles(int i, std::span<double> into) const {
  read_list(i, into, &DefaultValue::doubles, is_double,
            [&](PyObject* o, Py_ssize_t e) { return read_double(i, o, e); });
}

void PythonArgs::read_scalars(int i, std::span<host::Scalar> into) const {
  read_given(i, into, is_scalar, [&](PyObject* o, Py_ssize_t e) { return read_scalar(i, o, e); });
}

void PythonArgs::read_bools(int i, std::span<bool> into) const {
  read_list(i, into, &DefaultValue::ints, is_bool,
            [&](PyObject* o, Py_ssize_t e) { return read_bool(i, o, e); });
}

void PythonArgs::read_strings(int i, std::span<std::string> into) const {
  read_given(i, into, is_str, [&](PyObject* o, Py_ssize_t e) {
    return std::string(reading(i, [&] { return to_utf8(o); }, e));
  });
}

std::vector<std::vector<int64_t>> PythonArgs::intlists(int i) const {
  std::vector<std::vector<int64_t>> lists(list_size(i));
  for (std::size_t e = 0; e < lists.size(); ++e) {
    const auto index = static_cast<Py_ssize_t>(e);
    const THPObjectPtr list(sequence_item(args_[i], index));
    if (!list || !is_list_or_tuple(list.get())) {
      raise_changed(i);
    }
    // As long as it is now: an element that makes its list longer would have no end.
    lists[e].resize(static_cast<std::size_t>(sequence_size(list.get())));
    read_elements(i, list.get(), std::span(lists[e]), is_int,
                  [&](PyObject* o, Py_ssize_t n) { return read_int(i, o, index, n); });
  }
  return lists;
}

void PythonArgs::raise_overflow(int i, const char* what, Py_ssize_t element,
                                Py_ssize_t inner) const {
  // The number itself is not shown: Python refuses to print an int of many digits.
  detail::raise_at(PyExc_OverflowError, place(i, element, inner), what);
}

void PythonArgs::raise_changed(int i) const {
  detail::raise_at(PyExc_RuntimeError, place(i), " changed while it was read");
}

PyObject* unreachable_overload(const PythonArgs& r) {
  set_error(PyExc_SystemError, std::string(r.function_name()) + "(): signature " +
                                   std::to_string(r.idx) + " has no case in the generated code");
  return nullptr;
}

}  // namespace opbind
