// native/signatures.cpp: any bytes as signatures. They are read or refused with a place, and what
// is read, read again as it is shown, gives the same parameters.
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz.h"

namespace {

using opbind::FunctionParameter;
using opbind::FunctionSignature;
using opbind::ParameterType;
using opbind::SignatureTables;

/// One signature on each line.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\v'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void check_parameter(const FunctionParameter& parameter) {
  check(parameter.name != nullptr && parameter.name[0] != '\0', "each parameter has a name");
  check(parameter.size == 0 || is_list(parameter.type), "lists alone have a size");
  check(!parameter.takes_numbers || parameter.type == ParameterType::TENSOR,
        "numbers stand for tensors alone");
  check(parameter.type != ParameterType::BOOL_LIST || parameter.size > 0, "a bool list has a size");
}

void check_signature(const FunctionSignature& signature) {
  check(signature.max_positional <= signature.num_parameters, "max_positional is one of them");
  for (int i = 0; i < signature.num_parameters; ++i) {
    check_parameter(signature.parameters[i]);
    check(signature.parameters[i].keyword_only == (i >= signature.max_positional),
          "keyword-only ones come last");
  }
}

/// What is shown has neither aliases nor flags, and is else the same.
void check_again(const FunctionSignature& signature) {
  const std::string_view shown(signature.text);
  const SignatureTables tables(std::span(&shown, 1));
  const FunctionSignature& again = tables.function().signatures[0];
  check(shown == again.text, "the text shown is shown as it is");
  check(again.num_parameters == signature.num_parameters, "the text shown has all parameters");
  for (int i = 0; i < again.num_parameters; ++i) {
    const FunctionParameter& a = signature.parameters[i];
    const FunctionParameter& b = again.parameters[i];
    const bool is_same = std::strcmp(a.name, b.name) == 0 && a.type == b.type && a.size == b.size &&
                         a.allow_none == b.allow_none &&
                         a.default_value.kind == b.default_value.kind &&
                         a.default_value.size == b.default_value.size;
    check(is_same, "the text shown has the same parameters");
  }
}

/// A parser takes every table that was read.
void check_parser(const SignatureTables& tables) {
  for (int i = 0; i < tables.function().count; ++i) {
    check_signature(tables.function().signatures[i]);
    check_again(tables.function().signatures[i]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  start_python();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A text of more than this takes longer, and says no more.
  constexpr size_t kLongest = 4096;
  if (size > kLongest) return -1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Texts are C strings where they are shown.
  if (text.find('\0') != std::string_view::npos) return -1;
  try {
    check_parser(SignatureTables(lines_of(text)));
  } catch (const std::invalid_argument& e) {
    const bool names_place = std::strstr(e.what(), ", column ") != nullptr ||
                             std::strstr(e.what(), "a function has between") != nullptr ||
                             std::strstr(e.what(), "device") != nullptr;
    check(names_place, "a refusal names its place");
  }
  check(PyErr_Occurred() == nullptr, "no Python error is left");
  return 0;
}
