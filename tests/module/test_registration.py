"""Own ops in torch's dispatcher: fakes, autograd, compilation, version counters, schemas."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import demo_ops
import pytest
import torch
import yaml
from torch.autograd import backward
from torch.fx.experimental.proxy_tensor import make_fx

# torch's own, at the first use of its fakes.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Args = tuple[Any, ...]

# Its functions have no types.
FORWARD_AD: Any = torch.autograd.forward_ad

OPS_YAML = Path(__file__).parents[2] / "ops.yaml"
ENTRIES: list[dict[str, Any]] = yaml.safe_load(OPS_YAML.read_text(encoding="utf-8"))["functions"]
OWN_SCHEMAS = [entry["func"] for entry in ENTRIES if "dispatch" in entry]
OWN_NAMES = [schema.partition("(")[0] for schema in OWN_SCHEMAS]


def _x(requires_grad: bool = False, device: str = "cpu") -> torch.Tensor:
    x = torch.linspace(-2.0, 3.0, 12, device=device).reshape(3, 4)
    return x.requires_grad_(requires_grad)


def _weight(requires_grad: bool = False, device: str = "cpu") -> torch.Tensor:
    return torch.linspace(0.5, 1.5, 4, device=device).requires_grad_(requires_grad)


def _boxes(requires_grad: bool = False, device: str = "cpu") -> torch.Tensor:
    # The second overlaps the first by two thirds, the third stands alone.
    corners = [[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 8.0], [20.0, 20.0, 30.0, 30.0]]
    return torch.tensor(corners, device=device).requires_grad_(requires_grad)


def _scores(requires_grad: bool = False, device: str = "cpu") -> torch.Tensor:
    return torch.tensor([0.9, 0.8, 0.7], device=device).requires_grad_(requires_grad)


# The arguments of a right call; every floating tensor requires grad if asked, save the one that is
# written in place, where a leaf may not.
ARGUMENTS: dict[str, Callable[[bool], Args]] = {
    "scale": lambda grad: (_x(grad), 2.5),
    "rms_norm": lambda grad: (_x(grad), _weight(grad)),
    "rms_norm_": lambda grad: (_x(), _weight(grad)),
    "nms": lambda grad: (_boxes(grad), _scores(grad), 0.5),
}
OPS = list(ARGUMENTS)
# Those with a floating output.
DIFFERENTIABLE = ["scale", "rms_norm"]


def op(name: str) -> Any:
    return getattr(torch.ops.demo, name).default


# --- schemas ----------------------------------------------------------------------------------


def test_the_example_has_own_ops() -> None:
    assert set(OPS) <= set(OWN_NAMES)


@pytest.mark.parametrize("schema", OWN_SCHEMAS, ids=OWN_NAMES)
def test_registered_schema_is_that_of_the_file(schema: str) -> None:
    name, _, overload = schema.partition("(")[0].partition(".")
    registered = getattr(getattr(torch.ops.demo, name), overload or "default")._schema
    assert str(registered) == str(torch._C.parse_schema(f"demo::{schema}"))


def test_every_own_op_is_a_function_of_the_module() -> None:
    assert {name.partition(".")[0] for name in OWN_NAMES} <= set(demo_ops.__all__)


# --- opcheck ----------------------------------------------------------------------------------

WITHOUT_GRAD = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
)


@pytest.mark.parametrize("name", OPS)
def test_opcheck_without_grad(name: str) -> None:
    result = torch.library.opcheck(op(name), ARGUMENTS[name](False), test_utils=WITHOUT_GRAD)
    assert result == dict.fromkeys(WITHOUT_GRAD, "SUCCESS")


@pytest.mark.parametrize("name", OPS)
def test_opcheck_with_grad(name: str) -> None:
    """The fourth test runs a backward, which these ops do not have."""
    tests = WITHOUT_GRAD[:3]
    result = torch.library.opcheck(op(name), ARGUMENTS[name](True), test_utils=tests)
    assert result == dict.fromkeys(tests, "SUCCESS")


# --- the same results, by either way ----------------------------------------------------------


@pytest.mark.parametrize("name", OPS)
def test_function_gives_what_torch_ops_gives(name: str) -> None:
    ours, theirs = ARGUMENTS[name](False), ARGUMENTS[name](False)
    result, expected = getattr(demo_ops, name)(*ours), op(name)(*theirs)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    if name == "rms_norm_":
        # () in the schema, for torch.compile; the function returns what it wrote.
        assert expected is None
        assert result is ours[0]
        assert not torch.equal(result, ARGUMENTS[name](False)[0])
    else:
        torch.testing.assert_close(result, expected, rtol=0, atol=0)


def test_results_are_right() -> None:
    x, weight = _x(), _weight()
    expected = torch.nn.functional.rms_norm(x, (4,), weight, 1e-6)
    torch.testing.assert_close(torch.ops.demo.rms_norm(x, weight), expected)
    torch.testing.assert_close(torch.ops.demo.scale(x, 2.5), x * 2.5)
    assert torch.ops.demo.nms(_boxes(), _scores(), 0.5).tolist() == [0, 2]
    torch.ops.demo.rms_norm_(x, weight)
    torch.testing.assert_close(x, expected)


def test_several_outputs_by_either_way() -> None:
    low, high = torch.ops.demo.min_max(_x())
    named = demo_ops.min_max(_x())
    assert (named.min.item(), named.max.item()) == (low.item(), high.item()) == (-2.0, 3.0)


# --- fakes and tracing ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scale", "rms_norm", "rms_norm_"])
def test_meta_tensors(name: str) -> None:
    arguments = [a.to("meta") if isinstance(a, torch.Tensor) else a for a in ARGUMENTS[name](False)]
    result = getattr(demo_ops, name)(*arguments)
    assert (result.device.type, result.shape, result.dtype) == ("meta", (3, 4), torch.float32)


def test_fake_tensors_of_a_size_that_depends_on_data() -> None:
    graph = make_fx(torch.ops.demo.nms, tracing_mode="symbolic")(_boxes(), _scores(), 0.5)
    (node,) = graph.graph.find_nodes(op="call_function", target=op("nms"))
    size = node.meta["val"].shape[0]
    assert isinstance(size, torch.SymInt)
    assert node.meta["val"].dtype == torch.int64


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.parametrize("function", [torch.ops.demo.scale, demo_ops.scale], ids=["ops", "module"])
def test_make_fx_records_the_op(function: Callable[..., Any], mode: Any) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(function(x, 2.0))

    graph = make_fx(program, tracing_mode=mode)(_x())
    (node,) = graph.graph.find_nodes(op="call_function", target=op("scale"))
    assert node.args[1] == 2.0
    torch.testing.assert_close(graph(_x() + 1), torch.relu((_x() + 1) * 2.0))


# --- autograd ---------------------------------------------------------------------------------


def _compiled(name: str) -> Callable[..., Any]:
    torch._dynamo.reset()

    def program(*arguments: Any) -> Any:
        return getattr(torch.ops.demo, name)(*arguments)

    return torch.compile(program, backend="aot_eager", fullgraph=name != "nms")


@pytest.mark.parametrize("name", ["scale", "rms_norm", "nms"])
@pytest.mark.filterwarnings("error")
def test_forward_only_use_compiles_with_grad(name: str) -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        result = _compiled(name)(*ARGUMENTS[name](True))
    torch.testing.assert_close(result, op(name)(*ARGUMENTS[name](True)), rtol=0, atol=0)
    assert result.requires_grad == (name in DIFFERENTIABLE)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("how", ["function", "torch.ops", "compiled"])
def test_backward_raises_and_names_the_op(name: str, how: str) -> None:
    if how == "compiled":
        function = _compiled(name)
    else:
        function = getattr(demo_ops, name) if how == "function" else op(name)
    result = function(*ARGUMENTS[name](True))
    assert result.requires_grad
    with pytest.raises(NotImplementedError, match=rf"demo::{name} has no backward"):
        backward(result.sum())


@pytest.mark.parametrize("needed", range(2), ids=["self", "weight"])
def test_backward_raises_whichever_input_requires_grad(needed: int) -> None:
    arguments = [_x(needed == 0), _weight(needed == 1)]
    result = demo_ops.rms_norm(*arguments)
    with pytest.raises(NotImplementedError, match="demo::rms_norm has no backward"):
        torch.autograd.grad(result.sum(), arguments[needed])


def test_a_compiled_backward_raises_beside_other_gradients() -> None:
    """The op's gradient is not silently zero where a second path leads to the same input."""
    torch._dynamo.reset()

    def program(x: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = torch.ops.demo.scale(x, 2.0)
        return scaled + x.sin()

    result = torch.compile(program, backend="aot_eager", fullgraph=True)(_x(True))
    with pytest.raises(NotImplementedError, match="demo::scale has no backward"):
        backward(result.sum())


def test_a_detached_result_leaves_other_gradients_alone() -> None:
    x = _x(True)
    backward((demo_ops.scale(x, 2.0).detach() * x).sum())
    assert x.grad is not None
    torch.testing.assert_close(x.grad, x.detach() * 2.0)


def test_every_floating_output_of_several_requires_grad() -> None:
    outputs = demo_ops.min_max(_x(True))
    assert [output.requires_grad for output in outputs] == [True, True]
    for output in outputs:
        with pytest.raises(NotImplementedError, match="demo::min_max has no backward"):
            backward(output, retain_graph=True)
    assert not any(output.requires_grad for output in demo_ops.min_max(_x()))


def test_a_composite_op_has_the_gradients_of_what_it_calls() -> None:
    tensors = [_x(True).double(), _x(True).double()]
    weight = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    result = demo_ops.weighted_sum(tensors, weight)
    gradients = torch.autograd.grad(result.sum(), [*tensors, weight])
    expected = [torch.full((3, 4), 2.0), torch.full((3, 4), 3.0), _x().sum().expand(2)]
    for gradient, value in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, value.double())


def test_integer_outputs_have_no_gradient() -> None:
    kept = demo_ops.nms(_boxes(True), _scores(True), 0.5)
    assert kept.dtype == torch.int64
    assert not kept.requires_grad
    assert kept.grad_fn is None


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_grad_mode_nothing_is_recorded(name: str, mode: Callable[[], Any]) -> None:
    with mode():
        result = getattr(demo_ops, name)(*ARGUMENTS[name](True))
    assert not result.requires_grad
    assert result.is_inference() == (mode is torch.inference_mode)


@pytest.mark.parametrize("name", OPS)
def test_forward_mode_raises_and_names_the_op(name: str) -> None:
    first, *rest = ARGUMENTS[name](False)
    with FORWARD_AD.dual_level():
        dual = FORWARD_AD.make_dual(first, torch.ones_like(first))
        with pytest.raises(NotImplementedError, match=rf"demo::{name} has no forward-mode"):
            getattr(demo_ops, name)(dual, *rest)


def test_jvp_raises_and_names_the_op() -> None:
    with pytest.raises(NotImplementedError, match="demo::scale has no forward-mode"):
        torch.func.jvp(lambda x: torch.ops.demo.scale(x, 2.0), (_x(),), (torch.ones(3, 4),))


def test_func_grad_raises_and_names_the_op() -> None:
    with pytest.raises(NotImplementedError, match="demo::scale has no backward"):
        torch.func.grad(lambda x: torch.ops.demo.scale(x, 2.0).sum())(_x())


# --- in place ---------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["function", "torch.ops"])
def test_in_place_bumps_the_version_once(by: str) -> None:
    x = _x()
    version = x._version
    (demo_ops.rms_norm_ if by == "function" else torch.ops.demo.rms_norm_)(x, _weight())
    assert x._version == version + 1


def test_in_place_on_a_view_bumps_the_base() -> None:
    base = torch.stack([_x(), _x()])
    version = base._version
    demo_ops.rms_norm_(base[0], _weight())
    assert base._version == version + 1


def test_pure_ops_bump_no_version() -> None:
    x, weight = _x(), _weight()
    demo_ops.rms_norm(x, weight)
    demo_ops.scale(x)
    assert (x._version, weight._version) == (_x()._version, _weight()._version)


def test_in_place_spoils_a_saved_tensor() -> None:
    """What the version counter is for: a backward that needs the old values says so."""
    leaf = _x(True)
    saved = leaf * 1.0
    result = (saved * saved).sum()
    with torch.no_grad():
        demo_ops.rms_norm_(saved, _weight())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        backward(result)


def test_in_place_on_a_leaf_is_refused_as_torch_does() -> None:
    x = _x(True)
    with pytest.raises(RuntimeError) as theirs:
        x.mul_(2)
    with pytest.raises(RuntimeError) as ours:
        demo_ops.rms_norm_(x, _weight())
    assert str(ours.value) == str(theirs.value)
    torch.testing.assert_close(x.detach(), _x(), rtol=0, atol=0)


def test_in_place_on_a_leaf_without_grad_mode_works() -> None:
    x = _x(True)
    with torch.no_grad():
        assert demo_ops.rms_norm_(x, _weight()) is x
    assert x.requires_grad
    assert x.is_leaf


@pytest.mark.parametrize("case", ["self", "weight", "view"])
def test_backward_through_in_place_raises_and_names_the_op(case: str) -> None:
    leaf = _x(case != "weight")
    x = leaf * 1.0
    target = x[:2] if case == "view" else x
    assert demo_ops.rms_norm_(target, _weight(case == "weight")) is target
    assert x.requires_grad
    with pytest.raises(NotImplementedError, match="demo::rms_norm_ has no backward"):
        backward(x.sum())


def test_in_place_compiles_without_grad() -> None:
    torch._dynamo.reset()

    def program(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        y = x + 1
        torch.ops.demo.rms_norm_(y, weight)
        torch.ops.demo.rms_norm_(x, weight)
        return y

    ours, theirs = _x(), _x()
    result = torch.compile(program, backend="aot_eager", fullgraph=True)(ours, _weight())
    torch.testing.assert_close(result, program(theirs, _weight()))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("case", ["self", "weight"])
def test_in_place_compiles_with_grad_and_its_backward_raises(case: str) -> None:
    torch._dynamo.reset()

    def program(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        y = x * 1.0
        torch.ops.demo.rms_norm_(y, weight)
        return y * 2.0

    arguments = _x(case == "self"), _weight(case == "weight")
    result = torch.compile(program, backend="aot_eager", fullgraph=True)(*arguments)
    assert result.requires_grad
    torch.testing.assert_close(result, program(*arguments))
    with pytest.raises(NotImplementedError, match="demo::rms_norm_ has no backward"):
        backward(result.sum())


# --- the library's life -----------------------------------------------------------------------

AGAIN = r"""
import sys, torch, demo_ops
first = demo_ops.scale
for name in [name for name in sys.modules if name.partition(".")[0] == "demo_ops"]:
    del sys.modules[name]
import demo_ops
assert demo_ops.scale is not None and demo_ops.__name__ == "demo_ops"
x = torch.ones(2)
functions = first, demo_ops.scale, torch.ops.demo.scale
print(*(function(x, 2.0).tolist() for function in functions), sep="\n")
"""


def test_a_second_import_works(run_python: Run) -> None:
    """The ops are registered once for the process; the module may be made again."""
    done = run_python(AGAIN)
    assert done.returncode == 0, done.stderr
    assert done.stdout == 3 * "[2.0, 2.0]\n"


TAKEN = """
import torch
library = torch.library.Library("demo", "DEF")
library.define("scale(Tensor self, float alpha=1.0) -> Tensor")
try:
    import demo_ops
except ImportError as error:
    print(error)
"""


def test_a_namespace_that_is_taken_is_an_import_error(run_python: Run) -> None:
    done = run_python(TAKEN)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout
