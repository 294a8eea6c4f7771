// Bindings written by hand, in the shape of the generated ones: install(module) adds them. They
// hold what the signature tables can say and no schema of this library does.

#include "core/runtime.h"

#include <ATen/ops/add_ops.h>
#include <ATen/ops/mul_ops.h>

#include "objects_ops_kernels.h"

namespace opbind {
namespace {

// --- numbers for tensors, deprecated signatures -------------------------------------------------

constexpr FunctionParameter kAddParameters0[] = {
    {.name = "input", .takes_numbers = true},
    {.name = "other", .takes_numbers = true},
    {.name = "alpha",
     .type = ParameterType::SCALAR,
     .keyword_only = true,
     .default_value = of_int(1)},
};
constexpr FunctionParameter kAddParameters1[] = {
    {.name = "input"},
    {.name = "alpha", .type = ParameterType::SCALAR},
    {.name = "other"},
};
constexpr FunctionParameter kAddParameters2[] = {
    {.name = "scale", .type = ParameterType::SCALAR},
    {.name = "input"},
    {.name = "alpha", .type = ParameterType::SCALAR},
    {.name = "other"},
};
constexpr FunctionSignature kAddSignatures[] = {
    {.text = "add(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor",
     .parameters = kAddParameters0,
     .num_parameters = 3,
     .max_positional = 2},
    {.text = "add(Tensor input, Scalar alpha, Tensor other) -> Tensor",
     .parameters = kAddParameters1,
     .num_parameters = 3,
     .max_positional = 3,
     .deprecated = true},
    {.text = "add(Scalar scale, Tensor input, Scalar alpha, Tensor other) -> Tensor",
     .parameters = kAddParameters2,
     .num_parameters = 4,
     .max_positional = 4,
     .deprecated = true},
};
constexpr FunctionSignatures kAdd = {.name = "add", .signatures = kAddSignatures, .count = 3};

at::Tensor dispatch_add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  return call_without_gil(at::_ops::add_Tensor::call, self, other, alpha);
}

PyObject* add(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const PythonArgParser parser(kAdd);
  ParsedArgs<4> parsed_args;
  auto r = parser.parse(args, nargs, kwnames, parsed_args);
  if (r.has_torch_function()) {
    return handle_torch_function(r, module, nullptr, "add");
  }
  switch (r.idx) {
    case 0:
      return THPVariable_Wrap(
          dispatch_add(r.tensor_or_number(0), r.tensor_or_number(1), r.scalar(2)));
    case 1:
      return THPVariable_Wrap(dispatch_add(r.tensor(0), r.tensor(2), r.scalar(1)));
    case 2:
      return THPVariable_Wrap(dispatch_add(r.tensor(1), r.tensor(3), r.scalar(2)));
  }
  return unreachable_overload(r);
  END_HANDLE_TH_ERRORS
}

constexpr FunctionParameter kMulParameters[] = {
    {.name = "input", .takes_numbers = true},
    {.name = "other", .takes_numbers = true},
};
constexpr FunctionSignature kMulSignatures[] = {
    {.text = "mul(Tensor input, Tensor other) -> Tensor",
     .parameters = kMulParameters,
     .num_parameters = 2,
     .max_positional = 2}};
constexpr FunctionSignatures kMul = {.name = "mul", .signatures = kMulSignatures, .count = 1};

at::Tensor dispatch_mul(const at::Tensor& self, const at::Tensor& other) {
  return without_gil(host::hold(self, other),
                     [&] { return at::_ops::mul_Tensor::call(self, other); });
}

PyObject* mul(PyObject* /*module*/, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const PythonArgParser parser(kMul);
  ParsedArgs<2> parsed_args;
  auto r = parser.parse(args, nargs, kwnames, parsed_args);
  return THPVariable_Wrap(dispatch_mul(r.tensor_or_number(0), r.tensor_or_number(1)));
  END_HANDLE_TH_ERRORS
}

// The tensor that a number becomes, and whether it is marked as one.
constexpr FunctionParameter kAsTensorParameters[] = {{.name = "input", .takes_numbers = true}};
constexpr FunctionSignature kAsTensorSignatures[] = {{.text = "as_tensor(Tensor input) -> Tensor",
                                                      .parameters = kAsTensorParameters,
                                                      .num_parameters = 1,
                                                      .max_positional = 1}};
constexpr FunctionSignatures kAsTensor = {
    .name = "as_tensor", .signatures = kAsTensorSignatures, .count = 1};

PyObject* as_tensor(PyObject* /*module*/, PyObject* const* args, Py_ssize_t nargs,
                    PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const PythonArgParser parser(kAsTensor);
  ParsedArgs<1> parsed_args;
  auto r = parser.parse(args, nargs, kwnames, parsed_args);
  const auto number = r.tensor_or_number(0);
  const at::Tensor& tensor = number;
  const bool is_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  return THPVariable_Wrap(std::tuple<at::Tensor, bool>(tensor, is_number));
  END_HANDLE_TH_ERRORS
}

constexpr FunctionParameter kOldParameters[] = {{.name = "n", .type = ParameterType::INT64}};
constexpr FunctionSignature kOldSignatures[] = {{.text = "old(int n) -> int",
                                                 .parameters = kOldParameters,
                                                 .num_parameters = 1,
                                                 .max_positional = 1,
                                                 .deprecated = true}};
constexpr FunctionSignatures kOld = {.name = "old", .signatures = kOldSignatures, .count = 1};

PyObject* old(PyObject* /*module*/, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const PythonArgParser parser(kOld);
  ParsedArgs<1> parsed_args;
  auto r = parser.parse(args, nargs, kwnames, parsed_args);
  return THPVariable_Wrap(r.toInt64(0));
  END_HANDLE_TH_ERRORS
}

// --- None for a default -------------------------------------------------------------------------

constexpr int64_t kSizeDefault[] = {3, 4};
constexpr FunctionParameter kDefaultsParameters[] = {
    {.name = "n",
     .type = ParameterType::INT64,
     .none_is_default = true,
     .default_value = of_int(7)},
    {.name = "size",
     .type = ParameterType::INT_LIST,
     .none_is_default = true,
     .size = 2,
     .default_value = of_ints(kSizeDefault, 2)},
    {.name = "x",
     .type = ParameterType::DOUBLE,
     .keyword_only = true,
     .none_is_default = true,
     .default_value = of_double(0.5)},
    {.name = "flag",
     .type = ParameterType::BOOL,
     .keyword_only = true,
     .none_is_default = true,
     .default_value = of_bool(true)},
    {.name = "text",
     .type = ParameterType::STRING,
     .keyword_only = true,
     .none_is_default = true,
     .default_value = of_string("q", 1)},
    {.name = "alpha",
     .type = ParameterType::SCALAR,
     .keyword_only = true,
     .none_is_default = true,
     .default_value = of_double(0.25)},
    {.name = "dtype",
     .type = ParameterType::SCALARTYPE,
     .keyword_only = true,
     .none_is_default = true,
     .default_value = of_int(static_cast<int64_t>(at::ScalarType::Long))},
    {.name = "device",
     .type = ParameterType::DEVICE,
     .keyword_only = true,
     .none_is_default = true,
     .default_value = of_string("meta", 4)},
};
constexpr FunctionSignature kDefaultsSignatures[] = {
    {.text = "defaults(int n=7, int[2] size=[3,4], *, float x=0.5, bool flag=True, str text='q', "
             "Scalar alpha=0.25, ScalarType dtype=long, Device device='meta')",
     .parameters = kDefaultsParameters,
     .num_parameters = 8,
     .max_positional = 2}};
constexpr FunctionSignatures kDefaults = {
    .name = "defaults", .signatures = kDefaultsSignatures, .count = 1};

PyObject* defaults(PyObject* /*module*/, PyObject* const* args, Py_ssize_t nargs,
                   PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const PythonArgParser parser(kDefaults);
  ParsedArgs<8> parsed_args;
  auto r = parser.parse(args, nargs, kwnames, parsed_args);
  const auto size = r.intlist(1);
  const auto text = r.string(4);
  return THPVariable_Wrap(std::make_tuple(
      r.toInt64(0), host::ArrayRef<int64_t>(size).vec(), r.toDouble(2), r.toBool(3),
      std::string(std::string_view(text)), r.scalar(5), r.scalartype(6), r.device(7)));
  END_HANDLE_TH_ERRORS
}

PyMethodDef functions[] = {
    {"add", castPyCFunction(add), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"mul", castPyCFunction(mul), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"as_tensor", castPyCFunction(as_tensor), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"old", castPyCFunction(old), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"defaults", castPyCFunction(defaults), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace
}  // namespace opbind

void objects::install(std::string_view module_) {
  const opbind::THPObjectPtr module =
      opbind::checked(PyImport_ImportModule(std::string(module_).c_str()));
  if (PyModule_AddFunctions(module.get(), opbind::functions) < 0) throw opbind::python_error();
}
