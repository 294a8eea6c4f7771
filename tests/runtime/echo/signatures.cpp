// echo/signatures.cpp: the two ways of making a parser compared, and functions bound by hand.
#include "signatures.h"

#include <bit>
#include <cstring>

#include "core/runtime.h"
#include "echo_ops_kernels.h"

namespace {

using opbind::DefaultValue;
using opbind::FunctionParameter;
using opbind::FunctionSignature;

/// Both absent, or the same text.
bool equal_text(const char* a, const char* b) {
  return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
}

template <class T>
bool equal_bits(const T* a, const T* b, std::size_t size) {
  return size == 0 || std::memcmp(a, b, size * sizeof(T)) == 0;
}

bool equal(const DefaultValue& a, const DefaultValue& b) {
  if (a.kind != b.kind || a.size != b.size) return false;
  switch (a.kind) {
    case DefaultValue::Kind::REQUIRED:
    case DefaultValue::Kind::NONE:
      return true;
    case DefaultValue::Kind::INT:
    case DefaultValue::Kind::BOOL:
      return a.integer == b.integer;
    case DefaultValue::Kind::DOUBLE:
      return std::bit_cast<uint64_t>(a.floating) == std::bit_cast<uint64_t>(b.floating);
    case DefaultValue::Kind::STRING:
      return equal_bits(a.text, b.text, a.size);
    case DefaultValue::Kind::INT_LIST:
      return equal_bits(a.ints, b.ints, a.size);
    case DefaultValue::Kind::DOUBLE_LIST:
      return equal_bits(a.doubles, b.doubles, a.size);
  }
  return false;
}

bool equal(const FunctionParameter& a, const FunctionParameter& b) {
  return equal_text(a.name, b.name) && a.type == b.type && a.allow_none == b.allow_none &&
         a.keyword_only == b.keyword_only && a.none_is_default == b.none_is_default &&
         a.takes_numbers == b.takes_numbers && a.size == b.size &&
         equal(a.default_value, b.default_value) && equal_text(a.aliases, b.aliases);
}

/// What differs: the first parameter's name, a member's, or "".
std::string difference(const FunctionSignature& a, const FunctionSignature& b) {
  if (!equal_text(a.text, b.text)) return std::string("text ") + b.text;
  if (a.num_parameters != b.num_parameters) return "num_parameters";
  if (a.max_positional != b.max_positional) return "max_positional";
  if (a.deprecated != b.deprecated) return "deprecated";
  if (a.varargs_int_list != b.varargs_int_list) return "varargs_int_list";
  for (int i = 0; i < a.num_parameters; ++i) {
    if (!equal(a.parameters[i], b.parameters[i])) return a.parameters[i].name;
  }
  return "";
}

/// One line per signature that differs.
std::string differences(const Pair& pair) {
  const opbind::SignatureTables read(pair.texts);
  const opbind::FunctionSignatures& a = *pair.generated;
  const opbind::FunctionSignatures& b = read.function();
  if (!equal_text(a.name, b.name) || a.count != b.count) return std::string(a.name) + "\n";
  std::string lines;
  for (int i = 0; i < a.count; ++i) {
    const std::string found = difference(a.signatures[i], b.signatures[i]);
    lines += found.empty() ? "" : std::string(a.signatures[i].text) + ": " + found + "\n";
  }
  return lines;
}

// ------------------------------------------------------------------------------ bound by hand

PyObject* add_by_hand(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const opbind::PythonArgParser parser({
      "add(int a, int b|addend=2, *, str unit='m') -> str",
      "add(int[] values|items) -> str",
  });
  opbind::ParsedArgs<3> parsed_args;
  const auto r = parser.parse(args, nargs, kwnames, parsed_args);
  if (r.idx == 1) {
    const opbind::IntList values = r.intlist(0);
    const at::IntArrayRef list = values;
    return PyUnicode_FromFormat("%zd values", static_cast<Py_ssize_t>(list.size()));
  }
  const std::string unit(static_cast<std::string_view>(r.string(2)));
  return PyUnicode_FromFormat("%lld %s", static_cast<long long>(r.toInt64(0) + r.toInt64(1)),
                              unit.c_str());
  END_HANDLE_TH_ERRORS
}

/// A method's own tensor stands before the ints.
PyObject* view_by_hand(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const opbind::PythonArgParser parser({
      "view(Tensor self, int[] size) -> str",
      "view(Tensor self, int[] first, int second) -> str",
      "view(Tensor self, int scale, *, bool grow) -> str",
  });
  opbind::ParsedArgs<3> parsed_args;
  const auto r = parser.parse(args, nargs, kwnames, parsed_args);
  if (r.idx == 2) return PyLong_FromLongLong(r.toInt64(1));
  const opbind::IntList values = r.intlist(1);
  const at::IntArrayRef list = values;
  return PyUnicode_FromFormat("%d: %zd values", r.idx, static_cast<Py_ssize_t>(list.size()));
  END_HANDLE_TH_ERRORS
}

PyObject* too_narrow(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const opbind::PythonArgParser parser({"narrow(int a)", "narrow(int a, int b, int c)"});
  opbind::ParsedArgs<2> parsed_args;
  return PyLong_FromLong(parser.parse(args, nargs, kwnames, parsed_args).idx);
  END_HANDLE_TH_ERRORS
}

PyObject* misspelt(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const opbind::PythonArgParser parser({"misspelt(itn a)"});
  opbind::ParsedArgs<1> parsed_args;
  return PyLong_FromLong(parser.parse(args, nargs, kwnames, parsed_args).idx);
  END_HANDLE_TH_ERRORS
}

PyMethodDef by_hand(const char* name, opbind::FastcallFunction function) {
  return {name, opbind::castPyCFunction(function), METH_FASTCALL | METH_KEYWORDS, nullptr};
}

}  // namespace

std::string echo::compare_signatures() {
  std::string lines;
  for (const Pair& pair : pairs()) lines += differences(pair);
  return lines;
}

int64_t echo::count_signatures() {
  int64_t found = 0;
  for (const Pair& pair : pairs()) found += pair.generated->count;
  return found;
}

std::string echo::read_signatures(at::ArrayRef<std::string> texts) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const opbind::SignatureTables tables(views);
  std::string shown;
  for (int i = 0; i < tables.function().count; ++i) {
    shown += std::string(tables.function().signatures[i].text) + "\n";
  }
  return shown;
}

void echo::install_by_hand() {
  static PyMethodDef functions[] = {
      by_hand("add_by_hand", add_by_hand), by_hand("view_by_hand", view_by_hand),
      by_hand("too_narrow", too_narrow),   by_hand("misspelt", misspelt),
      {nullptr, nullptr, 0, nullptr},
  };
  if (PyModule_AddFunctions(PyImport_AddModule("null_host"), functions) < 0) {
    throw opbind::python_error();
  }
}
