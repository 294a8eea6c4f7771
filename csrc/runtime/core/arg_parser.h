// core/arg_parser.h: PythonArgParser, which chooses an overload and binds a call's arguments to it.
//
//   static const PythonArgParser parser(kScale);
//   ParsedArgs<2> parsed_args;
//   auto r = parser.parse(args, nargs, kwnames, parsed_args);
//   if (r.has_torch_function()) return handle_torch_function(r, …);
//   … r.tensor(0), r.toDouble(1) …
//
// Generated code gives it a table (signature.h); in a binding written by hand it reads the
// signatures (signature_text.h):
//
//   static const PythonArgParser parser({"scale(Tensor input, float alpha=1.0) -> Tensor"});
//
// The parser is immutable once it is bound, at the first call; all that a call needs is on its
// stack. Signatures are tried in order, the first that takes every argument wins. A signature that
// does not match is a return value; only when none does is the error worked out (describe.cpp) and
// python_error thrown.
//
// All of it needs the GIL.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/convert.h"
#include "core/python.h"
#include "core/ref.h"
#include "core/signature.h"
#include "core/small_buffer.h"
#include "host.h"

namespace opbind {

/// Arguments that have `__torch_function__`, in the order in which they are asked
/// (torch_function.h). Owned: a handler may change the list that an element came from.
using OverloadedArgs = std::vector<THPObjectPtr>;

/// A call's Python arguments, as METH_FASTCALL|METH_KEYWORDS gives them.
struct CallArguments {
  PyObject* const* args;
  Py_ssize_t num_positional;
  // A tuple of str, or nullptr.
  PyObject* keyword_names;

  Py_ssize_t num_keywords() const {
    return keyword_names == nullptr ? 0 : sequence_size(keyword_names);
  }
};

/// What a call leaves on its stack beside its slots.
struct CallState {
  CallArguments call;
  OverloadedArgs overloaded;
  // The tuple made of `f(1, 2)` where the signature is f(int[] size).
  THPObjectPtr varargs;

  CallState() = default;
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;
  // Out of line: each entry point has it twice.
  ~CallState();
};

/// One slot per parameter, borrowed from the caller's frame; empty where no argument was given.
template <int N>
struct ParsedArgs : CallState {
  PyObject* args[N == 0 ? 1 : N] = {};
};

/// Why a signature does not take a call.
struct Mismatch {
  enum class Kind : uint8_t {
    NOTHING,
    TOO_MANY_POSITIONAL,
    UNEXPECTED_KEYWORD,
    MULTIPLE_VALUES,
    WRONG_TYPE,
    WRONG_ELEMENT,
    WRONG_LENGTH,
    MISSING,
  };

  Kind kind = Kind::NOTHING;
  // The parameter meant; -1 where none is.
  int parameter = -1;
  // WRONG_ELEMENT: the index of the first element refused. WRONG_LENGTH: the length given.
  Py_ssize_t element{};
  // WRONG_ELEMENT: its index in the list that stands at `element`; -1 for that list itself.
  Py_ssize_t inner = -1;
  // The object refused: an argument, an element, or the keyword's name. Owned, since an element's
  // list may change.
  THPObjectPtr object;
};

/// Where reading found an error.
struct ArgumentPlace {
  const char* function;
  const FunctionSignature* signature;
  int parameter;
  // The element of a list, and the one in the list that stands there; -1 for none.
  Py_ssize_t element;
  Py_ssize_t inner;
};

/// A signature with its names as Python strings.
struct BoundSignature {
  struct Name {
    // Interned, never released: parsers live as long as the process.
    PyObject* text;
    int parameter;
  };

  const FunctionSignature* signature = nullptr;
  // The parameters' own names in order, then the aliases.
  std::vector<Name> names;

  std::span<const FunctionParameter> parameters() const {
    return {signature->parameters, signature->num_parameters};
  }
};

/// `T[]` and `T[N]` as the kernel sees them: own storage, up to kInline elements without an
/// allocation.
template <class T>
class ValueList {
 public:
  static constexpr std::size_t kInline = 8;

  /// `fill` is given the room for `size` values.
  template <class Fill>
  ValueList(std::size_t size, Fill&& fill) : values_(size) {
    fill(std::span<T>(values_.data(), size));
  }

  // For the argument of the kernel that is called in the same full expression.
  operator host::ArrayRef<T>() const {  // NOLINT(google-explicit-constructor): stands for the list
    return {values_.data(), values_.size()};
  }

 private:
  SmallBuffer<T, kInline> values_;
};

/// `T[]?` and `T[N]?`; the kernel takes an OptionalRef.
template <class T, class OptionalRef>
class OptionalValueList {
 public:
  OptionalValueList() = default;
  template <class Fill>
  OptionalValueList(std::size_t size, Fill&& fill) : values_(std::in_place, size, fill) {}

  operator OptionalRef() const {  // NOLINT(google-explicit-constructor): as ValueList
    if (!values_) {
      return std::nullopt;
    }
    return static_cast<host::ArrayRef<T>>(*values_);
  }

 private:
  std::optional<ValueList<T>> values_;
};

using IntList = ValueList<int64_t>;
using OptionalIntList = OptionalValueList<int64_t, host::OptionalIntArrayRef>;
using SymIntList = ValueList<host::SymInt>;
using OptionalSymIntList = OptionalValueList<host::SymInt, host::OptionalSymIntArrayRef>;
using DoubleList = ValueList<double>;
using OptionalDoubleList = OptionalValueList<double, std::optional<host::ArrayRef<double>>>;
using ScalarList = ValueList<host::Scalar>;
using OptionalScalarList =
    OptionalValueList<host::Scalar, std::optional<host::ArrayRef<host::Scalar>>>;
using StringList = ValueList<std::string>;
using OptionalStringList =
    OptionalValueList<std::string, std::optional<host::ArrayRef<std::string>>>;

/// `str`: a copy of the UTF-8 text, up to kInline bytes without an allocation.
class String {
 public:
  static constexpr std::size_t kInline = 64;

  explicit String(std::string_view text);

  operator std::string_view() const {  // NOLINT(google-explicit-constructor): stands for the text
    return {bytes_.data(), bytes_.size()};
  }

 private:
  SmallBuffer<char, kInline> bytes_;
};

/// `str?`.
class OptionalString {
 public:
  OptionalString() = default;
  explicit OptionalString(std::string_view text) { text_.emplace(text); }

  operator std::optional<std::string_view>() const {  // NOLINT(google-explicit-constructor)
    if (!text_) {
      return std::nullopt;
    }
    return static_cast<std::string_view>(*text_);
  }

 private:
  std::optional<String> text_;
};

/// A Tensor argument for which a number may stand: the caller's tensor, borrowed, or a tensor made
/// of the number, owned.
class TensorOrNumber {
 public:
  explicit TensorOrNumber(const host::Tensor& borrowed) : tensor_(&borrowed) {}
  explicit TensorOrNumber(host::Tensor&& made) : made_(std::move(made)), tensor_(&made_) {}
  TensorOrNumber(const TensorOrNumber&) = delete;
  TensorOrNumber& operator=(const TensorOrNumber&) = delete;

  // For the argument of the kernel that is called in the same full expression.
  operator const host::Tensor&() const {  // NOLINT(google-explicit-constructor): stands for it
    return *tensor_;
  }

 private:
  host::Tensor made_;
  const host::Tensor* tensor_;
};

/// `Tensor[]?`.
class OptionalTensorList {
 public:
  using View = host::ArrayRef<host::Tensor>;

  OptionalTensorList() = default;
  explicit OptionalTensorList(host::TensorList&& tensors) : tensors_(std::move(tensors)) {}

  operator std::optional<View>() const {  // NOLINT(google-explicit-constructor): as ValueList
    if (!tensors_) {
      return std::nullopt;
    }
    return static_cast<View>(*tensors_);
  }

 private:
  std::optional<host::TensorList> tensors_;
};

class PythonArgParser;

/// A call bound to one signature. Parameter numbers are those of that signature. Each accessor is
/// for its own parameter type, gives the default where no argument stands, and may throw
/// python_error: an int that does not fit, an exception of `__index__`. The error names the
/// function and the argument, unless somebody's Python code raised it: such an exception passes
/// unchanged.
class PythonArgs {
 public:
  /// Which signature matched.
  int idx;

  /// True when a TorchFunctionMode is on or an argument overloads the call; the function then
  /// returns handle_torch_function(…) and reads no argument.
  bool has_torch_function() const { return mode_asks_ || !state_->overloaded.empty(); }
  const OverloadedArgs& overloaded_args() const { return state_->overloaded; }
  /// All arguments as they were given.
  const CallArguments& call() const { return state_->call; }
  const char* function_name() const { return function_name_; }

  /// No argument was given, or None.
  bool isNone(int i) const { return args_[i] == nullptr || args_[i] == Py_None; }
  /// New reference to the object that was given, of a required parameter: what a function returns
  /// that gives an argument back.
  PyObject* given(int i) const { return THPObjectPtr::borrow(args_[i]).release(); }

  /// Borrowed straight out of the Python object, which the caller's frame keeps alive.
  const host::Tensor& tensor(int i) const { return host::unpack(args_[i]); }
  host::Tensor& mutable_tensor(int i) const { return host::unpack_mutable(args_[i]); }
  host::OptionalTensorRef optionalTensor(int i) const;
  /// Where the parameter takes numbers.
  TensorOrNumber tensor_or_number(int i) const;
  /// Owned handles: another thread may change the list while the kernel runs.
  host::TensorList tensorlist(int i) const;
  OptionalTensorList tensorlistOptional(int i) const;
  host::ListOfOptionalTensors list_of_optional_tensors(int i) const;
  /// The N tensors of `Tensor[N]`: the outputs of an op that has several.
  template <int N>
  host::TensorList tensorlist_n(int i) const {
    host::TensorList tensors = tensorlist(i);
    if (tensors.size() != N) {
      raise_changed(i);
    }
    return tensors;
  }

  host::Scalar scalar(int i) const;
  std::optional<host::Scalar> scalarOptional(int i) const;
  host::Complex toComplex(int i) const;
  std::optional<host::Complex> toComplexOptional(int i) const;

  int64_t toInt64(int i) const;
  std::optional<int64_t> toInt64Optional(int i) const;
  host::DeviceIndex toDeviceIndex(int i) const;
  std::optional<host::DeviceIndex> toDeviceIndexOptional(int i) const;
  /// A symbolic int stays symbolic, where toInt64 asks for its value.
  host::SymInt toSymInt(int i) const;
  std::optional<host::SymInt> toSymIntOptional(int i) const;
  double toDouble(int i) const;
  std::optional<double> toDoubleOptional(int i) const;
  bool toBool(int i) const;
  std::optional<bool> toBoolOptional(int i) const;

  /// A symbolic bool stays symbolic. It has no default.
  host::SymBool toSymBool(int i) const;
  std::optional<host::SymBool> toSymBoolOptional(int i) const;

  String string(int i) const;
  OptionalString stringOptional(int i) const;
  StringList stringlist(int i) const;
  OptionalStringList stringlistOptional(int i) const;

  IntList intlist(int i) const;
  OptionalIntList intlistOptional(int i) const;
  SymIntList symintlist(int i) const;
  OptionalSymIntList symintlistOptional(int i) const;
  DoubleList doublelist(int i) const;
  OptionalDoubleList doublelistOptional(int i) const;
  ScalarList scalarlist(int i) const;
  OptionalScalarList scalarlistOptional(int i) const;
  template <std::size_t N>
  std::array<bool, N> boolarray(int i) const {
    std::array<bool, N> values = {};
    read_bools(i, values);
    return values;
  }
  template <std::size_t N>
  std::optional<std::array<bool, N>> boolarrayOptional(int i) const {
    return optional(i, [&] { return boolarray<N>(i); });
  }
  std::vector<std::vector<int64_t>> intlists(int i) const;

  host::ScalarType scalartype(int i) const;
  std::optional<host::ScalarType> scalartypeOptional(int i) const;
  host::Layout layout(int i) const;
  std::optional<host::Layout> layoutOptional(int i) const;
  host::MemoryFormat memoryformat(int i) const;
  std::optional<host::MemoryFormat> memoryformatOptional(int i) const;
  host::Device device(int i) const;
  std::optional<host::Device> deviceOptional(int i) const;

  host::QScheme toQScheme(int i) const;
  std::optional<host::QScheme> toQSchemeOptional(int i) const;
  /// References of their own, as the kernel wants them.
  host::Generator generator(int i) const;
  std::optional<host::Generator> generatorOptional(int i) const;
  host::Storage storage(int i) const;
  std::optional<host::Storage> storageOptional(int i) const;
  host::Stream stream(int i) const;
  std::optional<host::Stream> streamOptional(int i) const;

 private:
  friend class PythonArgParser;

  PythonArgs(int index, const FunctionSignature& signature, const char* function_name,
             const CallState& state, PyObject* const* args, bool mode_asks)
      : idx(index),
        signature_(&signature),
        function_name_(function_name),
        state_(&state),
        args_(args),
        mode_asks_(mode_asks) {}

  ArgumentPlace place(int i, Py_ssize_t element = -1, Py_ssize_t inner = -1) const {
    return {function_name_, signature_, i, element, inner};
  }
  const FunctionParameter& parameter(int i) const { return signature_->parameters[i]; }
  const DefaultValue& default_of(int i) const { return parameter(i).default_value; }
  /// None was given, or nothing where the default is None.
  bool is_absent(int i) const {
    return args_[i] == Py_None ||
           (args_[i] == nullptr && default_of(i).kind == DefaultValue::Kind::NONE);
  }
  template <class Read>
  auto optional(int i, Read read) const -> std::optional<decltype(read())> {
    if (is_absent(i)) {
      return std::nullopt;
    }
    return read();
  }
  template <class Enum>
  Enum enumeration(int i, Enum (*unpack)(PyObject*)) const {
    return args_[i] == nullptr ? static_cast<Enum>(default_of(i).integer) : unpack(args_[i]);
  }

  int64_t read_int(int i, PyObject* object, Py_ssize_t element = -1, Py_ssize_t inner = -1) const {
    int64_t value = 0;
    if (!to_int64_exact(object, value)) [[unlikely]] {
      value = read_int_slow(i, object, element, inner);
    }
    return value;
  }
  bool read_bool(int i, PyObject* object, Py_ssize_t element = -1) const {
    return PyBool_Check(object) ? object == Py_True : read_bool_slow(i, object, element);
  }
  int64_t read_int_slow(int i, PyObject* object, Py_ssize_t element, Py_ssize_t inner) const;
  bool read_bool_slow(int i, PyObject* object, Py_ssize_t element) const;
  host::SymInt read_symint(int i, PyObject* object, Py_ssize_t element = -1) const;
  double read_double(int i, PyObject* object, Py_ssize_t element = -1) const;
  host::Scalar read_scalar(int i, PyObject* object, Py_ssize_t element = -1) const;
  std::string_view read_string(int i) const;
  std::size_t list_size(int i) const;
  void read_ints(int i, std::span<int64_t> into) const;
  void read_symints(int i, std::span<host::SymInt> into) const;
  void read_doubles(int i, std::span<double> into) const;
  void read_scalars(int i, std::span<host::Scalar> into) const;
  void read_bools(int i, std::span<bool> into) const;
  void read_strings(int i, std::span<std::string> into) const;
  /// What `read` returns; its errors get the name of the argument.
  template <class Read>
  auto reading(int i, Read read, Py_ssize_t element = -1, Py_ssize_t inner = -1) const
      -> decltype(read());
  /// Reads the list that was given, or the value that stands for all of its elements:
  /// `read(object, index)`, with index -1 for such a value.
  template <class T, class Read>
  void read_given(int i, std::span<T> into, bool (*is_element)(PyObject*), Read read) const;
  /// The same where the list may have a default, which is that member of it.
  template <class T, class Element, class Read>
  void read_list(int i, std::span<T> into, const Element* DefaultValue::* elements,
                 bool (*is_element)(PyObject*), Read read) const;
  template <class T, class Read>
  void read_elements(int i, PyObject* list, std::span<T> into, bool (*is_element)(PyObject*),
                     Read read) const;
  static constexpr const char* kInt64Range = " must lie between -2**63 and 2**63 - 1";
  static constexpr const char* kScalarRange = " must lie between -2**63 and 2**64 - 1";
  [[noreturn]] OPBIND_COLD void raise_overflow(int i, const char* what, Py_ssize_t element = -1,
                                               Py_ssize_t inner = -1) const;
  [[noreturn]] OPBIND_COLD void raise_changed(int i) const;

  const FunctionSignature* signature_;
  const char* function_name_;
  const CallState* state_;
  // Borrowed, one of each parameter.
  PyObject* const* args_;
  // A TorchFunctionMode wants to see the call.
  bool mode_asks_;
};

/// The signatures of one Python function: a function-local static, never destroyed, since a call
/// may still be under way when the process ends.
class PythonArgParser {
 public:
  /// `signatures` has static storage. Nothing is done before the first call: such an object is
  /// there from the start, and needs no guard.
  explicit constexpr PythonArgParser(const FunctionSignatures& signatures)
      : function_(&signatures) {}
  /// The same of signatures as text, in the order in which they are tried. Throws
  /// std::invalid_argument where a text is wrong: ValueError, behind HANDLE_TH_ERRORS.
  explicit PythonArgParser(std::initializer_list<std::string_view> signatures);

  /// Binds a call. `into` lives as long as the result. Throws python_error (TypeError) when no
  /// signature takes the call, and std::length_error when N is less than a signature's parameters.
  template <int N>
  PythonArgs parse(PyObject* const* args, Py_ssize_t num_positional, PyObject* keyword_names,
                   ParsedArgs<N>& into) const {
    into.call = {args, num_positional, keyword_names};
    return parse(into.args, into);
  }

  const char* name() const { return function_->name; }
  /// Made at first use, with the GIL. Throws python_error when memory runs out.
  std::span<const BoundSignature> signatures() const {
    if (bound_ == nullptr) [[unlikely]] {
      bind();
    }
    return {bound_, function_->count};
  }

 private:
  PythonArgs parse(std::span<PyObject*> slots, CallState& state) const;
  OPBIND_COLD void bind() const;
  [[noreturn]] OPBIND_COLD void raise_too_narrow(std::size_t slots) const;

  const FunctionSignatures* function_;
  // Never freed, and changed with the GIL only, once.
  mutable const BoundSignature* bound_ = nullptr;
  // Parameters of the widest signature.
  mutable std::size_t width_ = 0;
};
static_assert(std::is_trivially_destructible_v<PythonArgParser>);

namespace detail {

/// Binds `call` to `bound`, slot by slot. False, with `mismatch` filled, when it does not take it.
/// With `skip_torch_function` no argument's `__torch_function__` counts.
bool match(const BoundSignature& bound, const CallArguments& call, bool skip_torch_function,
           PyObject** into, OverloadedArgs& overloaded, THPObjectPtr& varargs, Mismatch& mismatch);

/// Sets the TypeError for a call that no signature takes, and throws python_error. The exception
/// has fields for programs: `function`, its name; `argument`, the name of the argument at fault or
/// None; `candidates`, pairs of signature and reason, the nearest first. describe.cpp
[[noreturn]] OPBIND_COLD void raise_mismatch(const PythonArgParser& parser,
                                             const CallArguments& call, bool skip_torch_function);

/// Warns that `signature`, which the call chose, is deprecated, and shows those of the parser that
/// are not: once in a process, unless host::warns_always. Throws python_error when the warning is
/// an error: then the next call warns again. describe.cpp
OPBIND_COLD void warn_deprecated(const PythonArgParser& parser, const FunctionSignature& signature);

/// How many of the call's arguments have a place in `bound` whose type takes them, one by one; for
/// errors.
OPBIND_COLD int count_taken(const BoundSignature& bound, const CallArguments& call,
                            bool skip_torch_function);

/// Names the place before the text of the Python error that is set, "scale(): argument 'alpha'
/// (position 2)", of the same exception object; as a note where it has more than a text, and Python
/// has notes. Gives it the fields of raise_mismatch. An exception that Python code raised stays as
/// it is: it has a traceback. describe.cpp
OPBIND_COLD void name_error(const ArgumentPlace& place);

/// Sets an exception whose text is the place and `what`, with the fields of raise_mismatch, and
/// throws python_error. describe.cpp
[[noreturn]] OPBIND_COLD void raise_at(PyObject* type, const ArgumentPlace& place,
                                       const char* what);

}  // namespace detail

/// For the end of a function that dispatches on `r.idx`: the parser gave a signature that the
/// function does not know. Sets a SystemError and returns nullptr.
OPBIND_COLD PyObject* unreachable_overload(const PythonArgs& r);

}  // namespace opbind
