// core/describe.cpp: every text about a wrong call. Only run when a call has failed, so it is free
// to match the call again, signature by signature, to learn why each refused it.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/arg_parser.h"

namespace opbind {
namespace {

using Kind = Mismatch::Kind;

std::string utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = text == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(text, &size);
  if (data == nullptr) {
    PyErr_Clear();  // A lone surrogate, or an exception of somebody's __repr__.
    return "?";
  }
  return {data, static_cast<std::size_t>(size)};
}

std::string quote(std::string_view text) { return "'" + std::string(text) + "'"; }

// ---------------------------------------------------------------------------------------- types

const char* element_type_name(ParameterType type) {
  switch (type) {
    case ParameterType::TENSOR:
    case ParameterType::TENSOR_LIST:
      return "Tensor";
    case ParameterType::SCALAR:
    case ParameterType::SCALAR_LIST:
      return "Scalar";
    case ParameterType::INT64:
    case ParameterType::INT_LIST:
      return "int";
    case ParameterType::INT_LIST_LIST:
      return "int[]";
    case ParameterType::DOUBLE:
    case ParameterType::FLOAT_LIST:
      return "float";
    case ParameterType::COMPLEX:
      return "complex";
    case ParameterType::BOOL:
    case ParameterType::BOOL_LIST:
      return "bool";
    case ParameterType::STRING:
      return "str";
    case ParameterType::SCALARTYPE:
      return "torch.dtype";
    case ParameterType::LAYOUT:
      return "torch.layout";
    case ParameterType::DEVICE:
      return "torch.device";
    case ParameterType::MEMORY_FORMAT:
      return "torch.memory_format";
    case ParameterType::OPTIONAL_TENSOR_LIST:
      return "Tensor or None";
    case ParameterType::STRING_LIST:
      return "str";
    case ParameterType::QSCHEME:
      return "torch.qscheme";
    case ParameterType::GENERATOR:
      return "torch.Generator";
    case ParameterType::STORAGE:
      return "torch.UntypedStorage";
    case ParameterType::STREAM:
      return "torch.Stream";
  }
  return "?";
}

std::string type_name(const FunctionParameter& parameter) {
  std::string name = element_type_name(parameter.type);
  if (parameter.type == ParameterType::OPTIONAL_TENSOR_LIST) {
    name = "Tensor?[]";
  } else if (is_list(parameter.type)) {
    name += "[" + (parameter.size > 0 ? std::to_string(parameter.size) : "") + "]";
  } else if (parameter.takes_numbers) {
    name += " or Scalar";
  }
  return name + (parameter.takes_none() ? " or None" : "");
}

/// An attribute that is a str; "" where there is none. A metaclass may run any code, and fail.
std::string text_attribute(PyObject* object, const char* name) {
  const THPObjectPtr value(PyObject_GetAttrString(object, name));
  if (!value) {
    PyErr_Clear();
  }
  return value && PyUnicode_Check(value.get()) ? utf8(value.get()) : "";
}

/// The type as Python shows it: "str", "numpy.bool".
std::string python_type_name(PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const std::string module = text_attribute(type, "__module__");
  const std::string name = text_attribute(type, "__qualname__");
  const bool shown = !module.empty() && module != "builtins" && module != "__main__";
  return (shown ? module + "." : "") + (name.empty() ? "?" : name);
}

/// The value of a small number or text, in parentheses; nothing for the rest, whose __repr__ is
/// anybody's code.
std::string short_value(PyObject* object) {
  const bool plain =
      PyFloat_CheckExact(object) || PyBool_Check(object) || PyUnicode_CheckExact(object);
  int overflow = 0;
  const bool small_int = PyLong_CheckExact(object) &&
                         PyLong_AsLongLongAndOverflow(object, &overflow) != -2 && overflow == 0;
  if (!plain && !small_int) {
    return "";
  }
  constexpr std::size_t kLongest = 32;
  const std::string text = utf8(THPObjectPtr(PyObject_Repr(object)).get());
  return text.size() > kLongest ? "" : " (" + text + ")";
}

/// "float (2.5)", "a float32 tensor of shape (2, 3)", "None".
std::string describe_object(PyObject* object) {
  if (object == Py_None) {
    return "None";
  }
  if (host::is_tensor(object)) {
    const std::string text = host::describe(host::unpack(object));
    const bool starts_with_vowel =
        std::string_view("aeiou").find(text[0]) != std::string_view::npos;
    return (starts_with_vowel ? "an " : "a ") + text;
  }
  return python_type_name(object) + short_value(object);
}

// -------------------------------------------------------------------------------- did you mean

/// Edits between two names: insert, delete, replace, swap neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t replace = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

/// The parameter name nearest to `keyword`, or "" when none is near.
std::string nearest_name(const BoundSignature& bound, const std::string& keyword) {
  constexpr std::size_t kLongest = 64;  // The table is quadratic, and keywords come from anywhere.
  if (keyword.size() > kLongest) {
    return "";
  }
  std::size_t best = std::max<std::size_t>(1, keyword.size() / 3) + 1;
  std::string nearest;
  for (const auto& name : bound.names) {
    const std::string text = utf8(name.text);
    const std::size_t distance = edit_distance(keyword, text);
    // With every letter changed, one name is as near as another.
    const bool has_common = distance < std::max(keyword.size(), text.size());
    if (has_common && distance < best) {
      best = distance;
      nearest = text;
    }
  }
  return nearest;
}

// ------------------------------------------------------------------------------------- reasons

/// "argument 'alpha' (position 2)"; keyword-only parameters have no position.
std::string argument(const FunctionSignature& signature, int i) {
  const std::string name = "argument " + quote(signature.parameters[i].name);
  return i < signature.max_positional ? name + " (position " + std::to_string(i + 1) + ")" : name;
}

std::string missing(const BoundSignature& bound, PyObject* const* filled) {
  std::vector<std::string> names;
  for (int i = 0; i < bound.signature->num_parameters; ++i) {
    if (filled[i] == nullptr && bound.parameters()[static_cast<std::size_t>(i)].is_required()) {
      names.push_back(argument(*bound.signature, i).substr(sizeof("argument ") - 1));
    }
  }
  std::string text =
      names.size() == 1 ? "missing required argument " : "missing required arguments ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

std::string too_many(const BoundSignature& bound, const CallArguments& call) {
  const int most = bound.signature->max_positional;
  std::string text = "takes at most " + std::to_string(most) + " positional argument" +
                     (most == 1 ? "" : "s") + ", but " + std::to_string(call.num_positional) +
                     (call.num_positional == 1 ? " was given" : " were given");
  if (most < bound.signature->num_parameters) {
    text += "; " + quote(bound.signature->parameters[most].name) + " is keyword-only";
  }
  return text;
}

std::string unexpected_keyword(const BoundSignature& bound, const std::string& keyword) {
  const std::string nearest = nearest_name(bound, keyword);
  return "unexpected keyword argument " + quote(keyword) +
         (nearest.empty() ? "" : "; did you mean " + quote(nearest) + "?");
}

/// ": size[1]", ": lists[1][0]"; nothing for an argument itself.
std::string element_text(const FunctionParameter& parameter, Py_ssize_t element, Py_ssize_t inner) {
  if (element < 0) {
    return "";
  }
  return std::string(": ") + parameter.name + "[" + std::to_string(element) + "]" +
         (inner < 0 ? "" : "[" + std::to_string(inner) + "]");
}

std::string wrong_element(const BoundSignature& bound, const Mismatch& why) {
  const FunctionParameter& parameter = bound.signature->parameters[why.parameter];
  const char* const wanted = why.inner < 0 ? element_type_name(parameter.type) : "int";
  return argument(*bound.signature, why.parameter) +
         element_text(parameter, why.element, why.inner) + " must be " + wanted + ", not " +
         describe_object(why.object.get());
}

std::string wrong_type(const BoundSignature& bound, const Mismatch& why) {
  const FunctionParameter& parameter = bound.signature->parameters[why.parameter];
  return argument(*bound.signature, why.parameter) + " must be " + type_name(parameter) + ", not " +
         describe_object(why.object.get());
}

std::string wrong_length(const BoundSignature& bound, const Mismatch& why) {
  const FunctionParameter& parameter = bound.signature->parameters[why.parameter];
  return argument(*bound.signature, why.parameter) + " must have " +
         std::to_string(parameter.size) + " elements, not " + std::to_string(why.element);
}

std::string reason(const BoundSignature& bound, const CallArguments& call, const Mismatch& why,
                   PyObject* const* filled) {
  switch (why.kind) {
    case Kind::TOO_MANY_POSITIONAL:
      return too_many(bound, call);
    case Kind::UNEXPECTED_KEYWORD:
      return unexpected_keyword(bound, utf8(why.object.get()));
    case Kind::MULTIPLE_VALUES:
      return "multiple values for " + argument(*bound.signature, why.parameter);
    case Kind::WRONG_TYPE:
      return wrong_type(bound, why);
    case Kind::WRONG_ELEMENT:
      return wrong_element(bound, why);
    case Kind::WRONG_LENGTH:
      return wrong_length(bound, why);
    case Kind::MISSING:
      return missing(bound, filled);
    case Kind::NOTHING:
      break;
  }
  // Its arguments changed between the two matches.
  return "an argument changed while the call was checked";
}

/// A signature and why it refused the call.
struct Candidate {
  const BoundSignature* bound;
  std::string reason;
  // Arguments that it took before it refused one: more is nearer.
  int taken;
};

Candidate examine(const BoundSignature& bound, const CallArguments& call,
                  bool skip_torch_function) {
  std::vector<PyObject*> filled(std::max<std::size_t>(1, bound.signature->num_parameters));
  OverloadedArgs overloaded;
  THPObjectPtr varargs;
  Mismatch why;
  detail::match(bound, call, skip_torch_function, filled.data(), overloaded, varargs, why);
  const auto taken =
      std::count_if(filled.begin(), filled.end(), [](auto* o) { return o != nullptr; });
  return {&bound, reason(bound, call, why, filled.data()), static_cast<int>(taken)};
}

/// Those that are not deprecated, or all of them where there is no other.
std::vector<const BoundSignature*> shown_signatures(const PythonArgParser& parser) {
  std::vector<const BoundSignature*> current;
  std::vector<const BoundSignature*> all;
  for (const BoundSignature& bound : parser.signatures()) {
    all.push_back(&bound);
    if (!bound.signature->deprecated) {
      current.push_back(&bound);
    }
  }
  return current.empty() ? all : current;
}

std::vector<Candidate> examine_all(const PythonArgParser& parser, const CallArguments& call,
                                   bool skip_torch_function) {
  std::vector<Candidate> candidates;
  for (const BoundSignature* bound : shown_signatures(parser)) {
    candidates.push_back(examine(*bound, call, skip_torch_function));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.taken > b.taken; });
  return candidates;
}

// -------------------------------------------------------------------------------------- errors

/// Whether an exception is shown by the one text it was made of.
bool is_plain_text(PyObject* exception, PyObject* args) {
  auto* const base = reinterpret_cast<PyTypeObject*>(PyExc_BaseException);
  return PyTuple_Check(args) && sequence_size(args) == 1 && PyUnicode_Check(tuple_item(args, 0)) &&
         PyType_GetSlot(Py_TYPE(exception), Py_tp_str) == PyType_GetSlot(base, Py_tp_str);
}

void name_exception(PyObject* exception, const std::string& where) {
  const THPObjectPtr args = checked(PyObject_GetAttrString(exception, "args"));
  if (!is_plain_text(exception, args.get())) {
    checked(PyObject_CallMethod(exception, "add_note", "s", where.c_str()));
    return;
  }
  const THPObjectPtr text =
      checked(PyUnicode_FromFormat("%s: %U", where.c_str(), tuple_item(args.get(), 0)));
  const THPObjectPtr named = checked(PyTuple_Pack(1, text.get()));
  if (PyObject_SetAttrString(exception, "args", named.get()) < 0) {
    throw python_error();
  }
}

std::string deprecation_text(const PythonArgParser& parser, const FunctionSignature& signature) {
  std::string text =
      "This overload of " + std::string(parser.name()) + " is deprecated:\n\t" + signature.text;
  const char* head = "\nConsider using one of the following signatures instead:";
  for (const BoundSignature& bound : parser.signatures()) {
    if (!bound.signature->deprecated) {
      text += std::string(std::exchange(head, "")) + "\n\t" + bound.signature->text;
    }
  }
  return text;
}

}  // namespace

namespace detail {

void name_error(const std::string& where) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != nullptr && traceback == nullptr) {
    try {
      name_exception(value, where);
    } catch (const std::exception&) {  // no notes, or no memory: the error itself is what counts
      PyErr_Clear();
    }
  }
  PyErr_Restore(type, value, traceback);
}

void warn_deprecated(const PythonArgParser& parser, const FunctionSignature& signature) {
  // Changed with the GIL only.
  static std::set<const FunctionSignature*> warned;
  if (!warned.insert(&signature).second) {
    return;
  }
  const std::string text = deprecation_text(parser, signature);
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), /*stack_level=*/1) < 0) {
    warned.erase(&signature);
    throw python_error();
  }
}

std::string argument_text(const char* function, const FunctionSignature& signature, int parameter,
                          Py_ssize_t element, Py_ssize_t inner) {
  return std::string(function) + "(): " + argument(signature, parameter) +
         element_text(signature.parameters[parameter], element, inner);
}

void raise_mismatch(const PythonArgParser& parser, const CallArguments& call,
                    bool skip_torch_function) {
  const std::vector<Candidate> candidates = examine_all(parser, call, skip_torch_function);
  std::string text = std::string(parser.name()) + "(): ";
  if (candidates.size() == 1) {
    raise_error(PyExc_TypeError, text + candidates.front().reason);
  }
  text += "no signature takes these arguments; the nearest comes first:";
  for (const Candidate& candidate : candidates) {
    text += "\n  " + std::string(candidate.bound->signature->text) + "\n    " + candidate.reason;
  }
  raise_error(PyExc_TypeError, text);
}

}  // namespace detail
}  // namespace opbind
