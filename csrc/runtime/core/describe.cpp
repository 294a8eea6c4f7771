// core/describe.cpp: every text about a wrong call. Only run when a call has failed, so it is free
// to match the call again, signature by signature, to learn why each refused it.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/arg_parser.h"

namespace opbind {
namespace {

using Kind = Mismatch::Kind;

/// The text of a str, its lone surrogates as "\ud800"; "?" where there is none, with an exception
/// set.
std::string utf8(PyObject* text) {
  const THPObjectPtr bytes(
      text == nullptr ? nullptr : PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &data, &size) < 0) {
    drop_exception();
    return "?";
  }
  return {data, static_cast<std::size_t>(size)};
}

/// The same, cut where it is longer than anybody reads: names come from anywhere.
std::string short_utf8(PyObject* text) {
  constexpr Py_ssize_t kLongest = 100;
  if (PyUnicode_GetLength(text) <= kLongest) {
    return utf8(text);
  }
  return utf8(THPObjectPtr(PyUnicode_Substring(text, 0, kLongest)).get()) + "…";
}

std::string quote(std::string_view text) { return "'" + std::string(text) + "'"; }

/// "1 element", "2 elements".
std::string counted(Py_ssize_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

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

/// An attribute that is a str; "" where there is none. A metaclass may run any code, and fail: then
/// the text does without; but Ctrl-C and the like pass.
std::string text_attribute(PyObject* object, const char* name) {
  const THPObjectPtr value(PyObject_GetAttrString(object, name));
  if (!value) {
    drop_exception();
  }
  return value && PyUnicode_Check(value.get()) ? short_utf8(value.get()) : "";
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
  constexpr std::size_t kLongest = 32;
  const bool plain = PyFloat_CheckExact(object) || PyBool_Check(object) ||
                     (PyUnicode_CheckExact(object) &&
                      static_cast<std::size_t>(PyUnicode_GetLength(object)) <= kLongest);
  int overflow = 0;
  const bool small_int = PyLong_CheckExact(object) &&
                         PyLong_AsLongLongAndOverflow(object, &overflow) != -2 && overflow == 0;
  if (!plain && !small_int) {
    return "";
  }
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
      if (i > 1 && j > 1 && a.at(i - 1) == b.at(j - 2) && a.at(i - 2) == b.at(j - 1)) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

/// Which parameters have an argument, in `filled` or by a keyword that was not looked at yet.
std::vector<bool> given_parameters(const BoundSignature& bound, const CallArguments& call,
                                   PyObject* const* filled) {
  std::vector<bool> given(filled, filled + bound.signature->num_parameters);
  for (Py_ssize_t k = 0; k < call.num_keywords(); ++k) {
    const std::string keyword = utf8(tuple_item(call.keyword_names, k));
    for (const auto& name : bound.names) {
      if (utf8(name.text) == keyword) {
        given[static_cast<std::size_t>(name.parameter)] = true;
      }
    }
  }
  return given;
}

/// The name nearest to `keyword` of a parameter that is not given, or nullptr when none is near.
const BoundSignature::Name* nearest_name(const BoundSignature& bound, const std::string& keyword,
                                         const std::vector<bool>& given) {
  constexpr std::size_t kLongest = 64;  // The table is quadratic, and keywords come from anywhere.
  if (keyword.size() > kLongest) {
    return nullptr;
  }
  std::size_t best = std::max<std::size_t>(1, keyword.size() / 3) + 1;
  const BoundSignature::Name* nearest = nullptr;
  for (const auto& name : bound.names) {
    if (given[static_cast<std::size_t>(name.parameter)]) {
      continue;
    }
    const std::string text = utf8(name.text);
    const std::size_t distance = edit_distance(keyword, text);
    // With every letter changed, one name is as near as another.
    const bool has_common = distance < std::max(keyword.size(), text.size());
    if (has_common && distance < best) {
      best = distance;
      nearest = &name;
    }
  }
  return nearest;
}

/// The name that an unexpected keyword may have meant, or nullptr.
const BoundSignature::Name* name_meant(const BoundSignature& bound, const CallArguments& call,
                                       PyObject* keyword, PyObject* const* filled) {
  return nearest_name(bound, short_utf8(keyword), given_parameters(bound, call, filled));
}

/// "'dim'", "'axis' (alias of 'dim')".
std::string name_text(const BoundSignature& bound, const BoundSignature::Name& name) {
  const std::string text = utf8(name.text);
  const std::string parameter = bound.signature->parameters[name.parameter].name;
  return quote(text) + (text == parameter ? "" : " (alias of " + quote(parameter) + ")");
}

// ------------------------------------------------------------------------------------- reasons

/// "argument 'alpha' (position 2)"; keyword-only parameters have no position.
std::string argument(const FunctionSignature& signature, int i) {
  const std::string name = "argument " + quote(signature.parameters[i].name);
  return i < signature.max_positional ? name + " (position " + std::to_string(i + 1) + ")" : name;
}

std::vector<int> missing_parameters(const FunctionSignature& signature, PyObject* const* filled) {
  std::vector<int> missing;
  for (int i = 0; i < signature.num_parameters; ++i) {
    if (filled[i] == nullptr && signature.parameters[i].is_required()) {
      missing.push_back(i);
    }
  }
  return missing;
}

std::string missing(const FunctionSignature& signature, PyObject* const* filled) {
  const std::vector<int> parameters = missing_parameters(signature, filled);
  std::string text = "missing required argument";
  text += parameters.size() == 1 ? " " : "s ";
  for (const int i : parameters) {
    text += (i == parameters.front() ? "" : ", ") +
            argument(signature, i).substr(sizeof("argument ") - 1);
  }
  return text;
}

std::string too_many(const BoundSignature& bound, const CallArguments& call) {
  const int most = bound.signature->max_positional;
  const std::string taken =
      most == 0 ? "no positional arguments" : "at most " + counted(most, "positional argument");
  std::string text = "takes " + taken + ", but " + std::to_string(call.num_positional) +
                     (call.num_positional == 1 ? " was given" : " were given");
  if (most < bound.signature->num_parameters) {
    text += "; " + quote(bound.signature->parameters[most].name) + " is keyword-only";
  }
  return text;
}

std::string unexpected_keyword(const BoundSignature& bound, const CallArguments& call,
                               PyObject* keyword, PyObject* const* filled) {
  const BoundSignature::Name* const meant = name_meant(bound, call, keyword, filled);
  return "unexpected keyword argument " + quote(short_utf8(keyword)) +
         (meant == nullptr ? "" : "; did you mean " + name_text(bound, *meant) + "?");
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
         counted(parameter.size, "element") + ", not " + std::to_string(why.element);
}

std::string reason(const BoundSignature& bound, const CallArguments& call, const Mismatch& why,
                   PyObject* const* filled) {
  switch (why.kind) {
    case Kind::TOO_MANY_POSITIONAL:
      return too_many(bound, call);
    case Kind::UNEXPECTED_KEYWORD:
      return unexpected_keyword(bound, call, why.object.get(), filled);
    case Kind::MULTIPLE_VALUES:
      return "multiple values for " + argument(*bound.signature, why.parameter);
    case Kind::WRONG_TYPE:
      return wrong_type(bound, why);
    case Kind::WRONG_ELEMENT:
      return wrong_element(bound, why);
    case Kind::WRONG_LENGTH:
      return wrong_length(bound, why);
    case Kind::MISSING:
      return missing(*bound.signature, filled);
    case Kind::NOTHING:
      break;
  }
  // Its arguments changed between the two matches.
  return "an argument changed while the call was checked";
}

/// How far a signature is from a call, where it takes as many arguments as another.
enum class Fault : uint8_t {
  // An element is wrong, or something missing.
  ELEMENT,
  // An argument has another type.
  TYPE,
  // A keyword is nearly that of a parameter.
  NAME,
  // An argument has no place.
  PLACE,
};

/// A signature and why it refused the call.
struct Candidate {
  const FunctionSignature* signature;
  std::string reason;
  // The argument meant, a str; empty where none is.
  THPObjectPtr argument;
  // Arguments of the call that have a place here and are of its type.
  int taken = 0;
  Fault fault = Fault::ELEMENT;
  // Required arguments that are missing, where nothing else is wrong.
  std::size_t missing = 0;
};

/// More arguments taken is nearer; then the lesser fault; then fewer to add.
bool is_nearer(const Candidate& a, const Candidate& b) {
  return std::tuple(-a.taken, a.fault, a.missing) < std::tuple(-b.taken, b.fault, b.missing);
}

THPObjectPtr text_object(std::string_view text) {
  return checked(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

/// The name of the argument that `why` is about, or nothing.
THPObjectPtr argument_meant(const BoundSignature& bound, const Mismatch& why) {
  if (why.kind == Kind::UNEXPECTED_KEYWORD) {
    return THPObjectPtr::borrow(why.object.get());
  }
  return why.parameter < 0 ? THPObjectPtr()
                           : text_object(bound.signature->parameters[why.parameter].name);
}

Fault fault_of(const Mismatch& why, bool is_misspelt, bool is_varargs) {
  switch (why.kind) {
    case Kind::UNEXPECTED_KEYWORD:
      return is_misspelt ? Fault::NAME : Fault::PLACE;
    case Kind::TOO_MANY_POSITIONAL:
    case Kind::MULTIPLE_VALUES:
      return Fault::PLACE;
    case Kind::WRONG_TYPE:
      return Fault::TYPE;
    default:
      return is_varargs ? Fault::TYPE : Fault::ELEMENT;
  }
}

Candidate examine(const BoundSignature& bound, const CallArguments& call,
                  bool skip_torch_function) {
  std::vector<PyObject*> filled(std::max<std::size_t>(1, bound.signature->num_parameters));
  OverloadedArgs overloaded;
  THPObjectPtr varargs;
  Mismatch why;
  detail::match(bound, call, skip_torch_function, filled.data(), overloaded, varargs, why);
  Candidate candidate{bound.signature, reason(bound, call, why, filled.data()),
                      argument_meant(bound, why)};
  candidate.taken = detail::count_taken(bound, call, skip_torch_function);
  const bool is_misspelt = why.kind == Kind::UNEXPECTED_KEYWORD &&
                           name_meant(bound, call, why.object.get(), filled.data()) != nullptr;
  candidate.fault = fault_of(why, is_misspelt, static_cast<bool>(varargs));
  if (why.kind == Kind::MISSING) {
    candidate.missing = missing_parameters(*bound.signature, filled.data()).size();
  }
  return candidate;
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
  std::stable_sort(candidates.begin(), candidates.end(), is_nearer);
  return candidates;
}

std::string mismatch_text(const std::vector<Candidate>& candidates) {
  if (candidates.size() == 1) {
    return candidates.front().reason;
  }
  std::string text = "no signature takes these arguments; the nearest comes first:";
  for (const Candidate& candidate : candidates) {
    text += "\n  " + std::string(candidate.signature->text) + "\n    " + candidate.reason;
  }
  return text;
}

// -------------------------------------------------------------------------------------- errors

/// Whether the exception was made for this error alone, by C code: what Python code raised has a
/// traceback, and what somebody else knows of is not ours to change.
bool is_changeable(PyObject* exception, PyObject* traceback) {
  return traceback == nullptr && exception != nullptr && Py_REFCNT(exception) == 1 &&
         PyErr_GivenExceptionMatches(exception, PyExc_Exception) != 0;
}

/// Changes the exception that is set, where that is allowed. Whatever fails meanwhile, for want of
/// memory or because the exception has no room for more, that exception is what counts; but Ctrl-C
/// and the like are shown.
template <class Change>
void change_error(Change change) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const THPObjectPtr owned[] = {THPObjectPtr(type), THPObjectPtr(value), THPObjectPtr(traceback)};
  if (is_changeable(value, traceback)) {
    try {
      change(value);
    } catch (const python_error& error) {
      error.restore();
      drop_exception();
    } catch (const std::bad_alloc&) {
      PyErr_Clear();
    }
  }
  Py_XINCREF(type);
  Py_XINCREF(value);
  Py_XINCREF(traceback);
  PyErr_Restore(type, value, traceback);
}

void set_field(PyObject* exception, const char* name, PyObject* value) {
  if (PyObject_SetAttrString(exception, name, value) < 0) {
    throw python_error();
  }
}

/// A tuple of pairs (signature, reason).
THPObjectPtr pairs(const std::vector<Candidate>& candidates) {
  THPObjectPtr tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(candidates.size())));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const THPObjectPtr signature = text_object(candidates[i].signature->text);
    const THPObjectPtr reason = text_object(candidates[i].reason);
    THPObjectPtr pair = checked(PyTuple_Pack(2, signature.get(), reason.get()));
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), pair.release());
  }
  return tuple;
}

/// What a program may ask the exception for; the nearest candidate comes first.
void set_fields(PyObject* exception, const char* function,
                const std::vector<Candidate>& candidates) {
  PyObject* const argument = candidates.front().argument.get();
  set_field(exception, "function", text_object(function).get());
  set_field(exception, "argument", argument == nullptr ? Py_None : argument);
  set_field(exception, "candidates", pairs(candidates).get());
}

/// The same of an error found while reading: one signature was chosen.
void set_fields(PyObject* exception, const ArgumentPlace& place, const std::string& reason) {
  const char* const name = place.signature->parameters[place.parameter].name;
  std::vector<Candidate> chosen;
  chosen.push_back({place.signature, reason, text_object(name)});
  set_fields(exception, place.function, chosen);
}

/// "argument 'dims' (position 2): dims[1]"
std::string place_text(const ArgumentPlace& place) {
  return argument(*place.signature, place.parameter) +
         element_text(place.signature->parameters[place.parameter], place.element, place.inner);
}

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
  set_field(exception, "args", named.get());
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

void name_error(const ArgumentPlace& place) {
  const std::string where = place_text(place);
  change_error([&](PyObject* exception) {
    const THPObjectPtr text(PyObject_Str(exception));
    set_fields(exception, place, where + ": " + utf8(text.get()));
  });
  change_error([&](PyObject* exception) {
    name_exception(exception, std::string(place.function) + "(): " + where);
  });
}

void raise_at(PyObject* type, const ArgumentPlace& place, const char* what) {
  const std::string reason = place_text(place) + what;
  set_error(type, std::string(place.function) + "(): " + reason);
  change_error([&](PyObject* exception) { set_fields(exception, place, reason); });
  throw python_error();
}

void warn_deprecated(const PythonArgParser& parser, const FunctionSignature& signature) {
  // Changed with the GIL only.
  static std::set<const FunctionSignature*> warned;
  if (!warned.insert(&signature).second && !host::warns_always()) {
    return;
  }
  const std::string text = deprecation_text(parser, signature);
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), /*stack_level=*/1) < 0) {
    warned.erase(&signature);
    throw python_error();
  }
}

void raise_mismatch(const PythonArgParser& parser, const CallArguments& call,
                    bool skip_torch_function) {
  const std::vector<Candidate> candidates = examine_all(parser, call, skip_torch_function);
  set_error(PyExc_TypeError, std::string(parser.name()) + "(): " + mismatch_text(candidates));
  change_error([&](PyObject* e) { set_fields(e, parser.name(), candidates); });
  throw python_error();
}

}  // namespace detail
}  // namespace opbind
