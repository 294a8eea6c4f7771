// The autograd node of ops without a backward. The one source of the runtime that includes headers
// of torch/csrc.

#include "autograd.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/new_empty_ops.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opbind::autograd {
namespace {

namespace ta = torch::autograd;

constexpr char kSchema[] =
    "_no_backward(Tensor grad, SymInt[] size, ScalarType dtype, str op) -> Tensor";
using Signature = at::Tensor(const at::Tensor&, c10::SymIntArrayRef, at::ScalarType,
                             std::string_view);

at::Tensor raise_no_backward(const at::Tensor& /*grad*/, c10::SymIntArrayRef /*size*/,
                             at::ScalarType /*dtype*/, std::string_view op) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, op,
      " has no backward: call it under torch.no_grad() or on detached tensors; or say "
      "`autograd: external` and register a formula with torch.library.register_autograd");
}

// What tracing sees: a gradient of the right shape, so that the raise stays in the traced backward.
at::Tensor trace_no_backward(const at::Tensor& grad, c10::SymIntArrayRef size, at::ScalarType dtype,
                             std::string_view /*op*/) {
  return at::_ops::new_empty::call(grad, size, dtype, std::nullopt, std::nullopt, std::nullopt);
}

// An erroring node would make torch.compile fail for forward-only use too, because tracing runs a
// backward through every output. So the node calls an op, and the op raises when it really runs.
class NoBackward final : public ta::Node {
 public:
  NoBackward(std::string op, ta::edge_list&& inputs)
      : ta::Node(std::move(inputs)), op_(std::move(op)) {}

  // With a dot: a tensor's repr shows what follows the last "::".
  std::string name() const override {
    std::string op = op_;
    return "NoBackward[" + op.replace(op.find("::"), 2, ".") + "]";
  }

  ta::variable_list apply(ta::variable_list&& grads) override {
    ta::variable_list results(num_outputs());
    const auto grad = std::find_if(grads.begin(), grads.end(),
                                   [](const at::Tensor& tensor) { return tensor.defined(); });
    if (grad == grads.end()) return results;
    const auto op = no_backward_op();
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (task_should_compute_output(i)) results[i] = call(op, *grad, next_edge(i));
    }
    return results;
  }

 private:
  c10::TypedOperatorHandle<Signature> no_backward_op() const {
    const std::string library = op_.substr(0, op_.find("::"));
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow((library + "::_no_backward").c_str(), "")
        .typed<Signature>();
  }

  at::Tensor call(const c10::TypedOperatorHandle<Signature>& op, const at::Tensor& grad,
                  const ta::Edge& edge) const {
    const ta::InputMetadata& input = edge.function->input_metadata(edge.input_nr);
    const auto dtype = c10::typeMetaToScalarType(input.dtype());
    const at::Tensor moved = grad.device() == input.device() ? grad : grad.to(input.device());
    return op.call(moved, input.shape_as_dim_vector(), dtype, op_);
  }

  std::string op_;
};

bool is_differentiable(const at::Tensor& tensor) {
  return tensor.defined() && ta::isDifferentiableType(tensor.scalar_type());
}

// `first` leads, because an in-place operation on a view replaces the first edge by its base's.
ta::edge_list edges_of(const TensorRefs& inputs, const at::Tensor* first = nullptr) {
  ta::edge_list edges;
  edges.reserve(inputs.size());
  if (first != nullptr) edges.push_back(ta::impl::gradient_edge(*first));
  for (const at::Tensor* input : inputs) {
    if (input == first) continue;
    edges.push_back(input->defined() ? ta::impl::gradient_edge(*input) : ta::Edge());
  }
  return edges;
}

void refuse_input_as_output(const char* op, const TensorRefs& inputs, const at::Tensor& output) {
  for (const at::Tensor* input : inputs) {
    TORCH_CHECK(!input->is_same(output), op,
                " returns one of its arguments, which its schema does not say: return a clone");
  }
}

}  // namespace

namespace detail {

bool needs_backward(const char* op, const TensorRefs& inputs) {
  bool needed = false;
  for (const at::Tensor* input : inputs) {
    TORCH_CHECK_NOT_IMPLEMENTED(!input->defined() || !input->_fw_grad(/*level=*/0).defined(), op,
                                " has no forward-mode automatic differentiation");
    needed = needed || (input->defined() && input->requires_grad());
  }
  return needed && c10::GradMode::is_enabled();
}

void set_no_backward(const char* op, const TensorRefs& inputs, const TensorRefs& outputs) {
  c10::intrusive_ptr<ta::Node> node;
  for (const at::Tensor* output : outputs) {
    if (!is_differentiable(*output)) continue;
    refuse_input_as_output(op, inputs, *output);
    if (!node) node = c10::make_intrusive<NoBackward>(op, edges_of(inputs));
    ta::set_history(*output, node);
  }
}

void rebase_no_backward(const char* op, const TensorRefs& inputs, const TensorRefs& mutated) {
  // Every node is made before the first history changes, so that all lead to what was before.
  std::vector<std::pair<const at::Tensor*, c10::intrusive_ptr<ta::Node>>> nodes;
  for (const at::Tensor* tensor : mutated) {
    if (!is_differentiable(*tensor)) continue;
    nodes.emplace_back(tensor, c10::make_intrusive<NoBackward>(op, edges_of(inputs, tensor)));
  }
  for (const auto& [tensor, node] : nodes) ta::rebase_history(*tensor, node);
}

void check_in_place(const TensorRefs& mutated) {
  for (const at::Tensor* tensor : mutated) {
    if (tensor->defined()) ta::check_inplace(*tensor, /*requires_grad=*/true);
  }
}

}  // namespace detail

void define_no_backward(torch::Library& m) {
  const std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag};
  m.def(kSchema, tags);
  m.impl("_no_backward",
         torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(raise_no_backward)));
  m.impl("_no_backward", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(trace_no_backward)));
  m.impl("_no_backward",
         torch::dispatch(c10::DispatchKey::Autograd, torch::CppFunction::makeFallthrough()));
}

}  // namespace opbind::autograd
