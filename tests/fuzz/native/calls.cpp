// native/calls.cpp: any bytes as calls of functions with parameters of every type. The parser takes
// or refuses them; what it takes is read. References balance, and the quick way of binding a call
// agrees with the thorough one.
#include <fuzzer/FuzzedDataProvider.h>

#include <deque>
#include <string>
#include <vector>

#include "fuzz.h"

namespace {

using opbind::CallArguments;
using opbind::FunctionParameter;
using opbind::ParameterType;
using opbind::PythonArgParser;
using opbind::PythonArgs;
using opbind::THPObjectPtr;

constexpr int kMostParameters = 8;
using Slots = opbind::ParsedArgs<kMostParameters>;

// The functions that are called: never freed, as parsers are.
const std::vector<const PythonArgParser*>& parsers() {
  static const auto* const all = new std::vector<const PythonArgParser*>{
      new PythonArgParser({"a(Tensor x, float alpha=1.5, *, Tensor? out=None)"}),
      new PythonArgParser({"b(Tensor|Scalar x, Tensor[] xs, Tensor?[] optional, Tensor[2]? out)"}),
      new PythonArgParser({"c(int x, SymInt s|y=2, DeviceIndex d=1, int? o=None, SymInt? p=3)"}),
      new PythonArgParser({"d(int[] x, SymInt[2] s=1, int[2]? o=None, int[][] nested=None)"}),
      new PythonArgParser({"e(bool x, bool? y=None, bool[2] z=True, SymBool s=None, float? f=0)"}),
      new PythonArgParser({"f(float[] x, float[2] y=0.5, Scalar[] s=None, complex c=1j)"}),
      new PythonArgParser({"g(str x, str? y='q', str[] z=None, Scalar a=1, Scalar? b=2.5)"}),
      new PythonArgParser({"h(ScalarType x, Layout l=strided, MemoryFormat m=contiguous_format, "
                           "Device d='cpu', ScalarType n=long|None, Device? o=None)"}),
      new PythonArgParser({"i(QScheme? x, Generator? g=None, Storage? s=None, Stream? t=None)"}),
      new PythonArgParser({"j(int[] size)", "j(int x, *, int k=0)", "j(str x) -> ()|deprecated"}),
      new PythonArgParser({"k(Tensor self, int[] size)", "k(Tensor self, ScalarType dtype|t)",
                           "k(Tensor self, Scalar other)", "k(Tensor self, Tensor other)"}),
      new PythonArgParser({"l(Tensor x, int dim|axis|axes)",
                           "l(Tensor x, int[1]? dim=None, "
                           "bool keepdim|keepdims=False)",
                           "l(float x, float y)"}),
  };
  return *all;
}

PyObject* values() {
  static PyObject* const module = PyImport_ImportModule("values");
  check(module != nullptr, "values.py is found");
  return module;
}

THPObjectPtr must(PyObject* object) {
  check(object != nullptr, "a value can be made");
  return THPObjectPtr(object);
}

// --------------------------------------------------------------------------------------- arguments

/// Makes Python values of the fuzzer's bytes.
class Maker {
 public:
  explicit Maker(FuzzedDataProvider& data) : data_(data) {}
  Maker(const Maker&) = delete;
  Maker& operator=(const Maker&) = delete;
  // A hostile object may stand in the list that it knows: a cycle, of which nobody else takes care.
  ~Maker() {
    for (const THPObjectPtr& list : lists_) PyList_SetSlice(list.get(), 0, PY_SSIZE_T_MAX, nullptr);
  }

  // An object was made that may change others: counts of references say nothing then.
  bool is_hostile() const { return is_hostile_; }

  THPObjectPtr value(int depth = 0) {
    switch (data_.ConsumeIntegralInRange<int>(0, 7)) {
      case 0:
        return must(PyLong_FromLongLong(data_.ConsumeIntegral<int64_t>()));
      case 1:
        return must(PyFloat_FromDouble(data_.ConsumeFloatingPoint<double>()));
      case 2:
        return must(text());
      case 3:
      case 4:
        return depth < 3 ? sequence(depth) : known();
      case 5:
        return hostile();
      default:
        return known();
    }
  }

  /// A keyword: often one that there is, then often not the interned object.
  THPObjectPtr keyword(const PythonArgParser& parser) {
    const auto& bound =
        data_.PickValueInArray({&parser.signatures().front(), &parser.signatures().back()});
    if (bound->names.empty() || data_.ConsumeProbability<float>() < 0.1F) return must(text());
    const std::size_t i = data_.ConsumeIntegralInRange<std::size_t>(0, bound->names.size() - 1);
    PyObject* const name = bound->names[i].text;
    if (data_.ConsumeBool()) return THPObjectPtr::borrow(name);
    return must(PyUnicode_FromFormat("%U%s", name, data_.ConsumeBool() ? "" : "x"));
  }

 private:
  THPObjectPtr known() {
    static PyObject* const all = must(PyObject_GetAttrString(values(), "VALUES")).release();
    const Py_ssize_t last = PyList_Size(all) - 1;
    return THPObjectPtr::borrow(
        PyList_GetItem(all, data_.ConsumeIntegralInRange<Py_ssize_t>(0, last)));
  }

  /// With lone surrogates where the bytes are no UTF-8.
  PyObject* text() {
    const std::string bytes = data_.ConsumeRandomLengthString(20);
    return PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()),
                                "surrogateescape");
  }

  THPObjectPtr sequence(int depth) {
    const bool is_tuple = data_.ConsumeBool();
    THPObjectPtr list = must(PyList_New(0));
    if (!is_tuple) lists_.push_back(THPObjectPtr::borrow(list.get()));
    for (int left = data_.ConsumeIntegralInRange<int>(0, 10); left > 0; --left) {
      const THPObjectPtr item = value(depth + 1);
      check(PyList_Append(list.get(), item.get()) == 0, "a list grows");
    }
    return is_tuple ? must(PyList_AsTuple(list.get())) : std::move(list);
  }

  /// Its victim is a list made before, maybe the one that it stands in.
  THPObjectPtr hostile() {
    is_hostile_ = true;
    const THPObjectPtr victim =
        lists_.empty() ? must(PyList_New(0)) : THPObjectPtr::borrow(lists_.back().get());
    return must(PyObject_CallMethod(values(), "hostile", "iO", data_.ConsumeIntegral<uint8_t>(),
                                    victim.get()));
  }

  FuzzedDataProvider& data_;
  std::deque<THPObjectPtr> lists_;
  bool is_hostile_ = false;
};

/// The arguments of a call; each is owned here, as by the caller's frame.
struct Arguments {
  std::vector<THPObjectPtr> owned;
  std::vector<PyObject*> args;
  THPObjectPtr keyword_names;
  Py_ssize_t num_positional = 0;

  CallArguments call() const { return {args.data(), num_positional, keyword_names.get()}; }

  std::vector<Py_ssize_t> counts() const {
    std::vector<Py_ssize_t> found;
    for (PyObject* const object : args) found.push_back(Py_REFCNT(object));
    return found;
  }
};

Arguments arguments_of(FuzzedDataProvider& data, Maker& maker, const PythonArgParser& parser) {
  Arguments made;
  made.num_positional = data.ConsumeIntegralInRange<Py_ssize_t>(0, 5);
  for (Py_ssize_t i = 0; i < made.num_positional; ++i) made.owned.push_back(maker.value());
  // CPython gives each keyword once.
  const THPObjectPtr names = must(PyList_New(0));
  for (int left = data.ConsumeIntegralInRange<int>(0, 4); left > 0; --left) {
    const THPObjectPtr name = maker.keyword(parser);
    if (PySequence_Contains(names.get(), name.get()) != 0) continue;
    check(PyList_Append(names.get(), name.get()) == 0, "a list grows");
    made.owned.push_back(maker.value());
  }
  if (PyList_Size(names.get()) > 0) made.keyword_names = must(PyList_AsTuple(names.get()));
  for (const THPObjectPtr& object : made.owned) made.args.push_back(object.get());
  return made;
}

// --------------------------------------------------------------------------------------- reading

/// Reads an argument as the generated code of its type does.
void read(const PythonArgs& r, int i, const FunctionParameter& parameter) {
  const bool none = parameter.allow_none;
  switch (parameter.type) {
    case ParameterType::TENSOR:
      if (parameter.takes_numbers) {
        static_cast<void>(r.tensor_or_number(i));
      } else {
        static_cast<void>(r.optionalTensor(i));
      }
      break;
    case ParameterType::SCALAR:
      none ? static_cast<void>(r.scalarOptional(i)) : static_cast<void>(r.scalar(i));
      break;
    case ParameterType::COMPLEX:
      none ? static_cast<void>(r.toComplexOptional(i)) : static_cast<void>(r.toComplex(i));
      break;
    case ParameterType::INT64:
      static_cast<void>(r.toSymIntOptional(i));
      static_cast<void>(r.toInt64Optional(i));
      static_cast<void>(r.toDeviceIndexOptional(i));
      break;
    case ParameterType::DOUBLE:
      none ? static_cast<void>(r.toDoubleOptional(i)) : static_cast<void>(r.toDouble(i));
      break;
    case ParameterType::BOOL:
      static_cast<void>(r.toBoolOptional(i));
      if (!r.isNone(i)) static_cast<void>(r.toSymBoolOptional(i));
      break;
    case ParameterType::STRING:
      none ? static_cast<void>(r.stringOptional(i)) : static_cast<void>(r.string(i));
      break;
    case ParameterType::TENSOR_LIST:
      static_cast<void>(r.tensorlistOptional(i));
      break;
    case ParameterType::OPTIONAL_TENSOR_LIST:
      if (!r.isNone(i)) static_cast<void>(r.list_of_optional_tensors(i));
      break;
    case ParameterType::INT_LIST:
      static_cast<void>(r.intlistOptional(i));
      static_cast<void>(r.symintlistOptional(i));
      break;
    case ParameterType::INT_LIST_LIST:
      if (!r.isNone(i)) static_cast<void>(r.intlists(i));
      break;
    case ParameterType::FLOAT_LIST:
      static_cast<void>(r.doublelistOptional(i));
      break;
    case ParameterType::BOOL_LIST:
      static_cast<void>(r.boolarrayOptional<2>(i));
      break;
    case ParameterType::SCALAR_LIST:
      static_cast<void>(r.scalarlistOptional(i));
      break;
    case ParameterType::STRING_LIST:
      static_cast<void>(r.stringlistOptional(i));
      break;
    case ParameterType::SCALARTYPE:
      static_cast<void>(r.scalartypeOptional(i));
      break;
    case ParameterType::LAYOUT:
      static_cast<void>(r.layoutOptional(i));
      break;
    case ParameterType::MEMORY_FORMAT:
      static_cast<void>(r.memoryformatOptional(i));
      break;
    case ParameterType::DEVICE:
      static_cast<void>(r.deviceOptional(i));
      break;
    case ParameterType::QSCHEME:
      static_cast<void>(r.toQSchemeOptional(i));
      break;
    case ParameterType::GENERATOR:
      static_cast<void>(r.generatorOptional(i));
      break;
    case ParameterType::STORAGE:
      static_cast<void>(r.storageOptional(i));
      break;
    case ParameterType::STREAM:
      static_cast<void>(r.streamOptional(i));
      break;
  }
}

// --------------------------------------------------------------------------------------- the rules

/// The first signature that the thorough way takes is the one that was chosen, with the same slots.
void check_choice(const PythonArgParser& parser, const CallArguments& call, int chosen,
                  PyObject* const* slots) {
  const auto signatures = parser.signatures();
  for (int s = 0; s <= chosen; ++s) {
    Slots again;
    opbind::Mismatch why;
    const auto& bound = signatures[static_cast<std::size_t>(s)];
    const bool is_taken =
        opbind::detail::match(bound, call, false, again.args, again.overloaded, again.varargs, why);
    check(is_taken == (s == chosen), "the first signature that takes the call is chosen");
    for (int i = 0; is_taken && i < bound.signature->num_parameters; ++i) {
      const bool is_gathered = again.varargs && again.args[i] == again.varargs.get();
      check(is_gathered || again.args[i] == slots[i], "both ways bind the same arguments");
    }
  }
}

/// One call, up to where the kernel would run. Throws what the runtime throws.
void call_function(const PythonArgParser& parser, const Arguments& made, bool is_hostile) {
  const CallArguments call = made.call();
  Slots slots;
  const PythonArgs r = parser.parse(call.args, call.num_positional, call.keyword_names, slots);
  check(PyErr_Occurred() == nullptr, "no Python error is left by a call that is taken");
  if (!is_hostile) check_choice(parser, call, r.idx, slots.args);
  if (r.has_torch_function()) {
    // What handlers are told is called does not matter to them.
    must(handle_torch_function(r, Py_None, nullptr, "__class__"));
    return;
  }
  const auto& signature = *parser.signatures()[static_cast<std::size_t>(r.idx)].signature;
  for (int i = 0; i < signature.num_parameters; ++i) {
    read(r, i, signature.parameters[i]);
    check(PyErr_Occurred() == nullptr, "no Python error is left by reading");
  }
}

/// An error of the runtime's own: its type, and a text without addresses.
void check_error(bool is_hostile) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  check(type != nullptr, "an error is set where one was thrown");
  PyErr_NormalizeException(&type, &value, &traceback);
  const THPObjectPtr text(PyObject_Str(value));
  check(static_cast<bool>(text), "the error has a text");
  const bool is_known = PyErr_GivenExceptionMatches(type, PyExc_TypeError) != 0 ||
                        PyErr_GivenExceptionMatches(type, PyExc_OverflowError) != 0 ||
                        PyErr_GivenExceptionMatches(type, PyExc_ValueError) != 0;
  // What Python code raised has a traceback, and passes as it is.
  check(is_hostile || is_known || traceback != nullptr,
        "a wrong call is a TypeError, an OverflowError or a ValueError");
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}

void check_references(const Arguments& made, const std::vector<Py_ssize_t>& before,
                      bool is_hostile) {
  const std::vector<Py_ssize_t> after = made.counts();
  // None, small ints and the like are held all over Python, which lets go of some at any time.
  constexpr Py_ssize_t kShared = 1000;
  for (std::size_t i = 0; !is_hostile && i < after.size(); ++i) {
    if (after[i] == before[i] || before[i] > kShared) continue;
    std::fprintf(stderr, "%+zd references: ", after[i] - before[i]);
    PyObject_Print(made.args[i], stderr, 0);
    broken("references balance");
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  start_python();
  values();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider bytes(data, size);
  Maker maker(bytes);
  const PythonArgParser& parser =
      *parsers()[bytes.ConsumeIntegralInRange<std::size_t>(0, parsers().size() - 1)];
  const Arguments made = arguments_of(bytes, maker, parser);
  const std::vector<Py_ssize_t> before = made.counts();
  try {
    call_function(parser, made, maker.is_hostile());
  } catch (...) {
    opbind::detail::translate_current_exception();
    check_error(maker.is_hostile());
  }
  PyErr_Clear();
  check_references(made, before, maker.is_hostile());
  return 0;
}
