// core/signature_text.cpp: a small recursive-descent reader, run once per function.
#include "core/signature_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/ref.h"
#include "host.h"

namespace opbind {
namespace {

struct TypeName {
  // As schemas write it, without the N of a list and the last '?'.
  std::string_view text;
  ParameterType type;
};

constexpr TypeName kTypes[] = {
    {"Tensor", ParameterType::TENSOR},
    {"Scalar", ParameterType::SCALAR},
    {"int", ParameterType::INT64},
    {"SymInt", ParameterType::INT64},
    {"DeviceIndex", ParameterType::INT64},
    {"float", ParameterType::DOUBLE},
    {"complex", ParameterType::COMPLEX},
    {"bool", ParameterType::BOOL},
    {"SymBool", ParameterType::BOOL},
    {"str", ParameterType::STRING},
    {"Tensor[]", ParameterType::TENSOR_LIST},
    {"Tensor?[]", ParameterType::OPTIONAL_TENSOR_LIST},
    {"int[]", ParameterType::INT_LIST},
    {"SymInt[]", ParameterType::INT_LIST},
    {"int[][]", ParameterType::INT_LIST_LIST},
    {"float[]", ParameterType::FLOAT_LIST},
    {"bool[]", ParameterType::BOOL_LIST},
    {"Scalar[]", ParameterType::SCALAR_LIST},
    {"str[]", ParameterType::STRING_LIST},
    {"ScalarType", ParameterType::SCALARTYPE},
    {"Layout", ParameterType::LAYOUT},
    {"Device", ParameterType::DEVICE},
    {"MemoryFormat", ParameterType::MEMORY_FORMAT},
    {"QScheme", ParameterType::QSCHEME},
    {"Generator", ParameterType::GENERATOR},
    {"Storage", ParameterType::STORAGE},
    {"Stream", ParameterType::STREAM},
};

// A table counts its parameters, and a function its signatures, in a byte.
constexpr std::size_t kMost = std::numeric_limits<uint8_t>::max();
// A lone default is repeated as often as the list is long.
constexpr uint32_t kLongestList = 1000;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_letter(char c) { return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_octal(char c) { return c >= '0' && c <= '7'; }

std::string quote(std::string_view text) { return "'" + std::string(text) + "'"; }

/// A whole word as a number; nothing where it is none, or does not fit. `form` is from_chars' own.
template <class Number, class... Form>
std::optional<Number> number_of(std::string_view word, Form... form) {
  Number value{};
  const char* const begin = word.data();
  const char* const end = begin + word.size();
  const auto [stop, error] = std::from_chars(begin, end, value, form...);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> int_of(std::string_view word) {
  // at::Reduction::Mean, the one name that torch's schemas use for an int.
  return word == "Mean" ? 1 : number_of<int64_t>(word);
}

std::optional<int64_t> bool_of(std::string_view word) {
  if (word != "True" && word != "False") {
    return std::nullopt;
  }
  return word == "True" ? 1 : 0;
}

/// `0.5`, `inf`, `nan`, `0x1.8p-1`.
std::optional<double> magnitude_of(std::string_view word) {
  if (word == "inf") {
    return std::numeric_limits<double>::infinity();
  }
  if (word == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const bool is_hex = word.starts_with("0x");
  const std::string_view digits = word.substr(is_hex ? 2 : 0);
  // from_chars knows further names and the sign.
  const char first = digits.empty() ? '\0' : digits[0];
  const bool is_number = is_digit(first) || first == '.' || (is_hex && is_hex_letter(first));
  if (!is_number) {
    return std::nullopt;
  }
  return is_hex ? number_of<double>(digits, std::chars_format::hex) : number_of<double>(digits);
}

std::optional<double> double_of(std::string_view word) {
  const bool is_negative = word.starts_with('-');
  const auto magnitude = magnitude_of(word.substr(is_negative ? 1 : 0));
  return magnitude && is_negative ? -*magnitude : magnitude;
}

/// The number that a dtype, a layout or a memory format of this name has in C++.
std::optional<int64_t> enumerator_named(ParameterType type, std::string_view name) {
  PyObject* const value = host::named_value(std::string(name).c_str());
  if (type == ParameterType::SCALARTYPE && value != nullptr && host::is_dtype(value)) {
    return static_cast<int64_t>(host::unpack_dtype(value));
  }
  if (type == ParameterType::LAYOUT && value != nullptr && host::is_layout(value)) {
    return static_cast<int64_t>(host::unpack_layout(value));
  }
  if (type == ParameterType::MEMORY_FORMAT && value != nullptr && host::is_memory_format(value)) {
    return static_cast<int64_t>(host::unpack_memory_format(value));
  }
  return std::nullopt;
}

bool is_device(const std::string& name) {
  try {
    host::device_from_text(name.c_str());
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// `f(1, 2)` may stand for `f((1, 2))` where the list is the only argument by position, beside a
/// method's self.
bool takes_varargs(std::span<const FunctionParameter> parameters, std::size_t max_positional) {
  if (max_positional == 0) {
    return false;
  }
  const FunctionParameter& first = parameters[0];
  const bool has_self =
      first.type == ParameterType::TENSOR && std::string_view(first.name) == "self";
  const FunctionParameter& last = parameters[max_positional - 1];
  return max_positional == (has_self ? 2 : 1) && last.type == ParameterType::INT_LIST &&
         !last.allow_none;
}

}  // namespace

/// Reads one signature into `tables`.
class SignatureReader {
 public:
  SignatureReader(SignatureTables& tables, std::string_view text) : tables_(tables), text_(text) {}

  void read() {
    at_ = std::min(text_.find('\0'), text_.size());
    if (at_ < text_.size()) {
      text_ = text_.substr(0, at_);
      fail("a NUL byte");
    }
    at_ = 0;
    read_function_name();
    expect('(');
    while (!take(')')) {
      if (!parameters_.empty() || has_star_) {
        expect(',');
      }
      read_parameter();
    }
    finish(/*is_deprecated=*/read_returns());
  }

 private:
  void read_function_name() {
    const std::string_view name = word("the function's name");
    if (tables_.signatures_.empty()) {
      tables_.function_.name = keep(name);
    } else if (name != tables_.function_.name) {
      fail_at(last_, "all signatures are of one function, here " + quote(tables_.function_.name));
    }
  }

  void read_parameter() {
    if (take('*')) {
      if (has_star_) {
        fail("a second '*'");
      }
      has_star_ = true;
      return;
    }
    FunctionParameter parameter;
    read_type(parameter);
    read_names(parameter);
    parameter.keyword_only = has_star_;
    if (take('=')) {
      parameter.default_value = read_default(parameter);
      parameter.none_is_default = take_mark("None");
    } else if (!has_star_ && !parameters_.empty() && !parameters_.back().is_required()) {
      fail_at(last_,
              "a required argument after one with a default: give it a default, or put '*' "
              "before it");
    }
    parameters_.push_back(parameter);
  }

  // ---------------------------------------------------------------------------------------- types

  void read_type(FunctionParameter& parameter) {
    std::string key(word("a type"));
    const std::size_t start = last_;
    for (bool goes_on = true; goes_on;) {
      if (take('[')) {
        if (parameter.size > 0) {
          fail("a list in a list has no size, as int[][]");
        }
        parameter.size = read_size();
        key += "[]";
      } else if (take('?')) {
        key += '?';
      } else {
        goes_on = false;
      }
    }
    if (key.ends_with('?')) {
      parameter.allow_none = true;
      key.pop_back();
    }
    parameter.type = type_named(key, start);
    is_device_index_ = key == "DeviceIndex";
    parameter.takes_numbers = key == "Tensor" && take_mark("Scalar");
    if (parameter.type == ParameterType::BOOL_LIST && parameter.size == 0) {
      fail_at(start, "a list of bools has a size, as bool[3]");
    }
  }

  uint32_t read_size() {
    if (take(']')) {
      return 0;
    }
    const auto size = number_of<uint32_t>(literal());
    if (!size || *size == 0 || *size > kLongestList) {
      fail_at(last_, "a list's size lies between 1 and " + std::to_string(kLongestList));
    }
    expect(']');
    return *size;
  }

  ParameterType type_named(std::string_view key, std::size_t start) const {
    const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                           [key](const TypeName& row) { return row.text == key; });
    if (found != std::end(kTypes)) {
      return found->type;
    }
    std::string known;
    for (const TypeName& row : kTypes) {
      known += (known.empty() ? "" : ", ") + std::string(row.text);
    }
    fail_at(start, quote(key) + " is no type; there are " + known);
  }

  // ---------------------------------------------------------------------------------------- names

  void read_names(FunctionParameter& parameter) {
    parameter.name = keep(new_name());
    std::string aliases;
    while (peek() == '|') {
      const std::size_t mark = at_++;
      aliases += (aliases.empty() ? "" : ",") + std::string(new_name());
      hidden_.emplace_back(mark, at_);
    }
    if (!aliases.empty()) {
      parameter.aliases = keep(aliases);
    }
  }

  std::string_view new_name() {
    const std::string_view name = word("an argument's name");
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
      fail_at(last_, quote(name) + " stands twice; each argument has names of its own");
    }
    names_.push_back(name);
    return name;
  }

  // ------------------------------------------------------------------------------------- defaults

  DefaultValue read_default(FunctionParameter& parameter) {
    skip_space();
    last_ = at_;
    if (peek() == '\'' || peek() == '"') {
      return string_default(parameter);
    }
    if (take('[')) {
      return list_default(parameter);
    }
    const std::string_view value = literal();
    if (value == "None") {
      parameter.allow_none = true;
      return none();
    }
    const auto found = plain_default(parameter, value);
    if (!found) {
      fail_no_default(parameter, quote(value));
    }
    return *found;
  }

  std::optional<DefaultValue> plain_default(const FunctionParameter& parameter,
                                            std::string_view value) {
    switch (parameter.type) {
      case ParameterType::BOOL:
        return default_of(bool_of(value), of_bool);
      case ParameterType::INT64:
        return int_default(value);
      case ParameterType::DOUBLE:
        return default_of(double_of(value), of_double);
      case ParameterType::SCALAR:
        return scalar_default(value);
      case ParameterType::COMPLEX:
        return complex_default(value);
      case ParameterType::INT_LIST:
        return lone_default(parameter, int_of(value), tables_.ints_);
      case ParameterType::BOOL_LIST:
        return lone_default(parameter, bool_of(value), tables_.ints_);
      case ParameterType::FLOAT_LIST:
        return lone_default(parameter, double_of(value), tables_.doubles_);
      default:
        return default_of(enumerator_named(parameter.type, value), of_int);
    }
  }

  template <class Number, class Make>
  static std::optional<DefaultValue> default_of(std::optional<Number> value, Make make) {
    return value ? std::optional(make(*value)) : std::nullopt;
  }

  std::optional<DefaultValue> int_default(std::string_view value) const {
    const auto integer = int_of(value);
    const bool fits = integer && (!is_device_index_ || static_cast<int8_t>(*integer) == *integer);
    return fits ? default_of(integer, of_int) : std::nullopt;
  }

  std::optional<DefaultValue> scalar_default(std::string_view value) {
    if (const auto boolean = bool_of(value)) {
      return of_bool(*boolean != 0);
    }
    // An int that does not fit is none, and no float instead.
    if (value.find_first_not_of("-0123456789") == std::string_view::npos) {
      return default_of(number_of<int64_t>(value), of_int);
    }
    const auto floating = double_of(value);
    return floating ? of_double(*floating) : complex_default(value);
  }

  /// `2.5j`; schemas write imaginary numbers alone.
  std::optional<DefaultValue> complex_default(std::string_view value) {
    const bool is_imaginary = value.ends_with('j');
    const auto part = double_of(value.substr(0, value.size() - (is_imaginary ? 1 : 0)));
    if (!is_imaginary || !part) {
      return std::nullopt;
    }
    return keep(std::vector<double>{0.0, *part}, tables_.doubles_);
  }

  /// `int[2] stride=1` is [1, 1].
  template <class Number>
  std::optional<DefaultValue> lone_default(const FunctionParameter& parameter,
                                           std::optional<Number> value,
                                           std::deque<std::vector<Number>>& storage) {
    if (!value || parameter.size == 0) {
      return std::nullopt;
    }
    return keep(std::vector<Number>(parameter.size, *value), storage);
  }

  DefaultValue list_default(const FunctionParameter& parameter) {
    switch (parameter.type) {
      case ParameterType::INT_LIST:
        return elements(parameter, int_of, tables_.ints_);
      case ParameterType::FLOAT_LIST:
        return elements(parameter, double_of, tables_.doubles_);
      case ParameterType::BOOL_LIST: {
        const DefaultValue values = elements(parameter, bool_of, tables_.ints_);
        if (values.size != parameter.size) {
          fail("the list has not " + std::to_string(parameter.size) + " elements");
        }
        return values;
      }
      default:
        fail_no_default(parameter, "a list");
    }
  }

  template <class Number>
  DefaultValue elements(const FunctionParameter& parameter,
                        std::optional<Number> (*read)(std::string_view),
                        std::deque<std::vector<Number>>& storage) {
    std::vector<Number> values;
    while (!take(']')) {
      if (!values.empty()) {
        expect(',');
      }
      const auto value = read(literal());
      if (!value) {
        fail_no_default(parameter, "such an element");
      }
      values.push_back(*value);
    }
    return keep(std::move(values), storage);
  }

  DefaultValue string_default(const FunctionParameter& parameter) {
    if (parameter.type != ParameterType::STRING && parameter.type != ParameterType::DEVICE) {
      fail_no_default(parameter, "a string");
    }
    const std::string& kept = tables_.strings_.emplace_back(quoted());
    if (parameter.type == ParameterType::DEVICE && !is_device(kept)) {
      fail_no_default(parameter, quote(kept));
    }
    return of_string(kept.c_str(), kept.size());
  }

  /// A string's bytes; its escapes are those of schemas.
  std::string quoted() {
    const char mark = text_[at_++];
    std::string value;
    while (peek() != mark) {
      if (at_ == text_.size()) {
        fail_at(last_, "the string is not closed");
      }
      const char c = text_[at_++];
      value += c == '\\' ? escaped() : c;
    }
    ++at_;
    if (!THPObjectPtr(PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()),
                                           /*errors=*/nullptr))) {
      PyErr_Clear();
      fail_at(last_, "the string is no UTF-8");
    }
    return value;
  }

  char escaped() {
    constexpr std::string_view kLetters = "abfntv\\'\"\n";
    constexpr std::string_view kValues = "\a\b\f\n\t\v\\'\"\n";
    if (is_octal(peek())) {
      return octal();
    }
    const std::size_t i = kLetters.find(peek());
    if (at_ >= text_.size() || i == std::string_view::npos) {
      fail("unknown escape; write \\\\ for a backslash");
    }
    ++at_;
    return kValues[i];
  }

  char octal() {
    unsigned value = 0;
    for (int i = 0; i < 3 && is_octal(peek()); ++i) {
      value = value * 8 + static_cast<unsigned>(text_[at_++] - '0');
    }
    if (value > 0xFF) {
      fail("an octal escape is one byte: at most \\377");
    }
    return static_cast<char>(value);
  }

  // ------------------------------------------------------------------------------------- the end

  /// Whether the signature is deprecated.
  bool read_returns() {
    const bool has_returns = take('-');
    if (has_returns) {
      expect('>');
      at_ = std::min(text_.find('|', at_), text_.size());
    }
    const bool is_deprecated = take_mark("deprecated");
    skip_space();
    if (at_ < text_.size()) {
      fail("'-> RETURNS' is wanted, or the end");
    }
    return is_deprecated;
  }

  void finish(bool is_deprecated) {
    if (parameters_.size() > kMost) {
      fail("more than " + std::to_string(kMost) + " arguments");
    }
    const auto& kept = tables_.parameters_.emplace_back(std::move(parameters_));
    const auto positional =
        std::count_if(kept.begin(), kept.end(), [](const auto& p) { return !p.keyword_only; });
    FunctionSignature signature;
    signature.text = keep(shown_text());
    signature.parameters = kept.data();
    signature.num_parameters = static_cast<uint8_t>(kept.size());
    signature.max_positional = static_cast<uint8_t>(positional);
    signature.deprecated = is_deprecated;
    signature.varargs_int_list = takes_varargs(kept, signature.max_positional);
    tables_.signatures_.push_back(signature);
  }

  /// The text without what stands after a '|'.
  std::string shown_text() const {
    std::string shown;
    std::size_t from = 0;
    for (const auto& [start, end] : hidden_) {
      shown += text_.substr(from, start - from);
      from = end;
    }
    return shown + std::string(text_.substr(from));
  }

  const char* keep(std::string_view text) { return tables_.strings_.emplace_back(text).c_str(); }

  static DefaultValue keep(std::vector<int64_t> values, std::deque<std::vector<int64_t>>& storage) {
    const auto& kept = storage.emplace_back(std::move(values));
    return of_ints(kept.data(), kept.size());
  }
  static DefaultValue keep(std::vector<double> values, std::deque<std::vector<double>>& storage) {
    const auto& kept = storage.emplace_back(std::move(values));
    return of_doubles(kept.data(), kept.size());
  }

  // ---------------------------------------------------------------------------------- characters

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\n') {
      ++at_;
    }
  }

  bool take(char mark) {
    skip_space();
    if (peek() != mark) {
      return false;
    }
    ++at_;
    return true;
  }

  void expect(char mark) {
    if (!take(mark)) {
      fail("'" + std::string(1, mark) + "' is wanted");
    }
  }

  /// Takes `|word`, if a '|' comes next.
  bool take_mark(std::string_view wanted) {
    const std::size_t start = at_;
    if (peek() != '|') {
      return false;
    }
    ++at_;
    if (word("a word") != wanted) {
      fail_at(last_, "only " + quote(wanted) + " may stand here after a '|'");
    }
    hidden_.emplace_back(start, at_);
    return true;
  }

  std::string_view word(const char* what) {
    skip_space();
    last_ = at_;
    if (!is_name_start(peek())) {
      fail(std::string(what) + " is wanted");
    }
    while (is_name_start(peek()) || is_digit(peek())) {
      ++at_;
    }
    return text_.substr(last_, at_ - last_);
  }

  /// A name or a number, with what may stand inside of one.
  std::string_view literal() {
    skip_space();
    last_ = at_;
    while (is_name_start(peek()) || is_digit(peek()) || peek() == '.' || peek() == '-' ||
           (peek() == '+' && at_ > last_)) {
      ++at_;
    }
    if (at_ == last_) {
      fail("a value is wanted");
    }
    return text_.substr(last_, at_ - last_);
  }

  [[noreturn]] void fail_no_default(const FunctionParameter& parameter,
                                    const std::string& what) const {
    fail_at(last_, what + " is no default for " + quote(parameter.name));
  }

  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }

  [[noreturn]] void fail_at(std::size_t column, const std::string& what) const {
    throw std::invalid_argument("signature " + quote(text_) + ", column " +
                                std::to_string(column + 1) + ": " + what);
  }

  SignatureTables& tables_;
  std::string_view text_;
  std::size_t at_ = 0;
  // Where the last word or literal began.
  std::size_t last_ = 0;
  bool has_star_ = false;
  // The parameter's type is INT64 for Python, with fewer values.
  bool is_device_index_ = false;
  std::vector<FunctionParameter> parameters_;
  std::vector<std::string_view> names_;
  // From where to where the text is not shown.
  std::vector<std::pair<std::size_t, std::size_t>> hidden_;
};

SignatureTables::SignatureTables(std::span<const std::string_view> texts) {
  if (texts.empty() || texts.size() > kMost) {
    throw std::invalid_argument("a function has between 1 and " + std::to_string(kMost) +
                                " signatures");
  }
  for (const std::string_view text : texts) {
    SignatureReader(*this, text).read();
  }
  function_.signatures = signatures_.data();
  function_.count = static_cast<uint8_t>(signatures_.size());
}

}  // namespace opbind
