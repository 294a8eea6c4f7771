// core/signature.h: Python signatures as constexpr tables of plain data.
//
// Generated code holds these tables in read-only memory; PythonArgParser reads them. Nothing here
// depends on Python or on a host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opbind {

/// What a parameter takes. The names are those of PyTorch's parser. Types that take the same share
/// one, and differ in the accessor that reads them: `SymInt` and `DeviceIndex` are INT64,
/// `SymInt[]` is INT_LIST, `SymBool` is BOOL.
enum class ParameterType : uint8_t {
  TENSOR,
  SCALAR,
  INT64,
  DOUBLE,
  BOOL,
  STRING,
  TENSOR_LIST,
  INT_LIST,
  SCALARTYPE,
  LAYOUT,
  DEVICE,
  MEMORY_FORMAT,
  COMPLEX,
  FLOAT_LIST,
  BOOL_LIST,
  SCALAR_LIST,
  INT_LIST_LIST,
  OPTIONAL_TENSOR_LIST,
  STRING_LIST,
  QSCHEME,
  GENERATOR,
  STORAGE,
  STREAM,
};

/// Whether an argument of the type is a tensor, or a list of tensors.
constexpr bool takes_tensors(ParameterType type) {
  return type == ParameterType::TENSOR || type == ParameterType::TENSOR_LIST ||
         type == ParameterType::OPTIONAL_TENSOR_LIST;
}

constexpr bool is_list(ParameterType type) {
  switch (type) {
    case ParameterType::TENSOR_LIST:
    case ParameterType::INT_LIST:
    case ParameterType::FLOAT_LIST:
    case ParameterType::BOOL_LIST:
    case ParameterType::SCALAR_LIST:
    case ParameterType::INT_LIST_LIST:
    case ParameterType::OPTIONAL_TENSOR_LIST:
    case ParameterType::STRING_LIST:
      return true;
    default:
      return false;
  }
}

/// A parameter's default, exact. Made by the functions below; `{}` means that there is none and an
/// argument is required.
struct DefaultValue {
  enum class Kind : uint8_t { REQUIRED, NONE, INT, DOUBLE, BOOL, STRING, INT_LIST, DOUBLE_LIST };

  Kind kind = Kind::REQUIRED;
  // Bytes of a string, elements of a list.
  uint32_t size = 0;
  union {
    int64_t integer{};  // INT, BOOL, and the value of an enum
    double floating;
    const char* text;       // UTF-8, static storage
    const int64_t* ints;    // every element, also of a list of bools
    const double* doubles;  // every element, or the two parts of a complex number
  };
};

constexpr DefaultValue none() {
  DefaultValue value;
  value.kind = DefaultValue::Kind::NONE;
  return value;
}

constexpr DefaultValue of_int(int64_t integer) {
  DefaultValue value;
  value.kind = DefaultValue::Kind::INT;
  value.integer = integer;
  return value;
}

constexpr DefaultValue of_double(double floating) {
  DefaultValue value;
  value.kind = DefaultValue::Kind::DOUBLE;
  value.floating = floating;
  return value;
}

constexpr DefaultValue of_bool(bool boolean) {
  DefaultValue value;
  value.kind = DefaultValue::Kind::BOOL;
  value.integer = boolean ? 1 : 0;
  return value;
}

constexpr DefaultValue of_string(const char* text, std::size_t size) {
  DefaultValue value;
  value.kind = DefaultValue::Kind::STRING;
  value.size = static_cast<uint32_t>(size);
  value.text = text;
  return value;
}

constexpr DefaultValue of_ints(const int64_t* ints, std::size_t size) {
  DefaultValue value;
  value.kind = DefaultValue::Kind::INT_LIST;
  value.size = static_cast<uint32_t>(size);
  value.ints = ints;
  return value;
}

constexpr DefaultValue of_doubles(const double* doubles, std::size_t size) {
  DefaultValue value;
  value.kind = DefaultValue::Kind::DOUBLE_LIST;
  value.size = static_cast<uint32_t>(size);
  value.doubles = doubles;
  return value;
}

/// One formal parameter of a Python function.
struct FunctionParameter {
  // UTF-8.
  const char* name = nullptr;
  ParameterType type = ParameterType::TENSOR;
  // None is taken: the type is optional, or the default is None.
  bool allow_none = false;
  bool keyword_only = false;
  // None is taken and stands for the default, which is not None.
  bool none_is_default = false;
  // A Python number may stand for the Tensor; read it by PythonArgs::tensor_or_number.
  bool takes_numbers = false;
  // N of `int[N]`, `bool[N]` and `Tensor[N]`; 0 for any number of elements.
  uint32_t size = 0;
  DefaultValue default_value = {};
  // Further names, separated by ','; or nullptr.
  const char* aliases = nullptr;

  constexpr bool is_required() const { return default_value.kind == DefaultValue::Kind::REQUIRED; }
  constexpr bool takes_none() const { return allow_none || none_is_default; }
};

/// One signature of a Python function.
struct FunctionSignature {
  // As the user reads it, in docs and in errors.
  const char* text = nullptr;
  const FunctionParameter* parameters = nullptr;
  uint8_t num_parameters = 0;
  // The first so many parameters may be given by position.
  uint8_t max_positional = 0;
  // Stands after all that are not, is not shown in errors, and warns when it is first chosen.
  bool deprecated = false;
  // The last positional parameter is a list of ints, and the only one but for a method's self:
  // `f(1, 2)` is `f((1, 2))`.
  bool varargs_int_list = false;
};

/// All signatures of a Python function, in the order they are tried.
struct FunctionSignatures {
  const char* name = nullptr;
  const FunctionSignature* signatures = nullptr;
  uint8_t count = 0;
};

}  // namespace opbind
