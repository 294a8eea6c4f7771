"""Functions of aten_ops inside torch's transforms and modes: what comes out is what torch's give.

A sample of torch's OpInfos, as functions, methods and in place. OPBIND_SEED chooses another one,
OPBIND_ALL=1 takes all.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from typing import Any, Literal, NamedTuple

import pytest
import torch
from aten import Pair, pairs
from samples import main_dtype, opinfos, variants
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.opinfo.core import OpInfo
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

# What torch and aten_ops warn of is no outcome.
pytestmark = pytest.mark.filterwarnings("ignore")

SEED = int(os.environ.get("OPBIND_SEED", "2026"))
ALL = os.environ.get("OPBIND_ALL") == "1"
OPS, SAMPLES, LARGEST = 60, 2, 2_000

NOT_TRACED = (
    "torch.compile traces torch's functions alone: any other of a C module breaks the graph"
)

# Their values are whatever was in memory.
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty"}
UNINITIALISED |= {"new_empty_strided", "resize_", "resize_as_"}

# LAPACK gives torch itself other last digits each time.
INEXACT = {"linalg_lstsq"}

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
# Calls a function with arguments of its own under some transform; the last is Case.kind.
Transform = Callable[[Callable[..., Any], Arguments, str], Any]


# --- samples --------------------------------------------------------------------------------------


class Case(NamedTuple):
    """One function with one sample of its arguments."""

    pair: Pair
    # "function", "method" or "in place".
    kind: str
    arguments: Arguments


@cache
def chosen() -> list[OpInfo]:
    """One OpInfo in eight, or all."""
    ops = sorted(opinfos().values(), key=lambda op: str(op.full_name))
    return ops if ALL else random.Random(SEED).sample(ops, OPS)


@cache
def cases() -> list[Case]:
    return [
        Case(variant.pair, variant.kind, arguments)
        for op in chosen()
        for arguments in samples(op)
        for variant in variants(op)
        if variant.kind != "out"
    ]


def samples(op: OpInfo) -> list[Arguments]:
    """A few small ones."""
    torch.manual_seed(SEED)
    made = islice(op.sample_inputs("cpu", main_dtype(op)), 20)
    small = [s for s in made if sum(t.numel() for t in tensors(sample_arguments(s))) < LARGEST]
    few = random.Random(f"{SEED} {op.full_name}").sample(small, min(SAMPLES, len(small)))
    return [sample_arguments(sample) for sample in few]


def sample_arguments(sample: Any) -> Arguments:
    return (sample.input, *sample.args), dict(sample.kwargs)


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def by_floats(function: Callable[..., Any], given: Arguments, kind: str) -> Callable[..., Any]:
    """A function of the floating tensors alone; what is written in place is a copy."""
    leaves, spec = tree_flatten(given)

    def call(*floats: Any) -> Any:
        rest = iter(floats)
        args, kwargs = tree_unflatten([next(rest) if is_float(x) else x for x in leaves], spec)
        if kind == "in place" and isinstance(args[0], torch.Tensor):
            args = (args[0].clone(), *args[1:])
        return function(*args, **kwargs)

    return call


def floats(given: Arguments) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(given)[0] if is_float(leaf)]


def copied(value: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda t: t.detach().clone(), value)


# --- comparison -----------------------------------------------------------------------------------


def outcome(call: Callable[[], Any]) -> Any:
    """A result, or the type of an exception."""
    torch.manual_seed(SEED)
    try:
        return call()
    except Exception as error:
        return type(error)


def difference(theirs: Any, ours: Any, name: str) -> str:
    """The first difference of two results of the function in words, or ''."""
    (a, spec_a), (b, spec_b) = tree_flatten(theirs), tree_flatten(ours)
    if spec_a != spec_b:
        return f"{shown(theirs)} / {shown(ours)}"
    found = (leaf_difference(x, y, name) for x, y in zip(a, b, strict=True))
    return next((text for text in found if text), "")


def shown(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else str(type(value))


def leaf_difference(a: Any, b: Any, name: str) -> str:
    values = name not in UNINITIALISED
    if type(a) is not type(b):
        return f"{shown(a)} / {shown(b)}"
    if not isinstance(a, torch.Tensor):
        return "" if a == b or a != a or not values else f"{a!r} / {b!r}"
    if properties(a) != properties(b):
        return f"{properties(a)} / {properties(b)}"
    if not values or a.is_meta or torch._C._functorch.is_functorch_wrapped_tensor(a):
        return ""
    tolerance = None if name in INEXACT else 0.0
    try:
        torch.testing.assert_close(b, a, rtol=tolerance, atol=tolerance, equal_nan=True)
    except AssertionError as error:
        return str(error)
    return ""


def properties(t: torch.Tensor) -> tuple[Any, ...]:
    strides = t.stride() if t.layout == torch.strided else None
    graph = type(t.grad_fn).__name__
    flags = (t.requires_grad, t.is_leaf, graph, t.is_inference(), t.is_conj(), t.is_neg())
    return (t.dtype, tuple(t.shape), strides, t.layout, t.device, *flags)


def differences(transform: Transform) -> dict[str, str]:
    """The transform of torch's function beside that of ours, for all cases."""
    found: dict[str, str] = {}
    ended_well = 0
    for pair, kind, arguments in cases():
        theirs, ours = (
            outcome(partial(transform, function, copied(arguments), kind))
            for function in (pair.torch, pair.ours)
        )
        if text := difference(theirs, ours, pair.function.name):
            found.setdefault(pair.name, f"{kind}: {text}")
        ended_well += not isinstance(theirs, type)
    # Two errors are alike; a transform that fails alone shows nothing.
    assert ended_well > len(cases()) // 2
    return found


# --- tests ----------------------------------------------------------------------------------------


def test_a_sample_is_taken() -> None:
    print(f"seed {SEED}: {[op.full_name for op in chosen()]}")
    assert len(cases()) > 100


def test_vmap() -> None:
    def vmapped(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        stacked = [torch.stack([t, t + 1]) for t in floats(given)]
        call = by_floats(function, given, kind)
        return torch.func.vmap(call, randomness="different")(*stacked) if stacked else call()

    assert differences(vmapped) == {}


def loss(value: Any) -> torch.Tensor:
    """One real number that depends on all floating results."""
    parts = [t.abs().sum() for t in tensors(value) if is_float(t)]
    return torch.stack(parts).sum()


def test_grad() -> None:
    def graded(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        inputs = floats(given)
        call = by_floats(function, given, kind)
        return torch.func.grad(lambda *xs: loss(call(*xs)), argnums=tuple(range(len(inputs))))(
            *inputs
        )

    assert differences(graded) == {}


def test_vmap_of_grad() -> None:
    def both(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        stacked = [torch.stack([t, t + 1]) for t in floats(given)]
        call = by_floats(function, given, kind)
        graded = torch.func.grad(lambda *xs: loss(call(*xs)))
        return torch.func.vmap(graded, randomness="different")(*stacked)

    assert differences(both) == {}


def test_jvp() -> None:
    def pushed(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        inputs = tuple(floats(given))
        call = by_floats(function, given, kind)
        return torch.func.jvp(call, inputs, tuple(torch.ones_like(t) for t in inputs))

    assert differences(pushed) == {}


def test_functionalize() -> None:
    def functional(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        return torch.func.functionalize(by_floats(function, given, kind))(*floats(given))

    assert differences(functional) == {}


def test_fake_tensors() -> None:
    def faked(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        # What the first call leaves there the second would find.
        FakeTensorMode.cache_clear()
        with FakeTensorMode() as mode:
            args, kwargs = tree_map_only(torch.Tensor, mode.from_tensor, given)
            made = function(*args, **kwargs)
        fakes = [(type(t), properties(t)) for t in tensors(made)]
        return [repr(one) for one in fakes] if fakes else made

    assert differences(faked) == {}


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_make_fx(mode: Literal["real", "fake", "symbolic"]) -> None:
    """Graphs with the same nodes."""

    def traced(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        call = by_floats(function, given, kind)
        graph = make_fx(call, tracing_mode=mode)(*floats(given)).graph
        return [(n.op, str(n.target), str(n.args), str(n.kwargs)) for n in graph.nodes]

    assert differences(traced) == {}


class Dispatched(TorchDispatchMode):
    """Notes the ops that reach it, with all that is no tensor."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = tree_map_only(torch.Tensor, lambda t: (t.dtype, t.shape), (args, kwargs or {}))
        self.ops.append(f"{func} {given}")
        return func(*args, **(kwargs or {}))


def test_dispatched_ops() -> None:
    def noted(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        args, kwargs = given
        with Dispatched() as mode:
            ended = outcome(partial(function, *args, **kwargs))
        return mode.ops, ended if isinstance(ended, type) else None

    assert differences(noted) == {}


def test_inference_mode() -> None:
    def inferred(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        with torch.inference_mode():
            args, kwargs = copied(given)
            return function(*args, **kwargs)

    assert differences(inferred) == {}


def test_tensors_from_inference_mode_outside_it() -> None:
    def later(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        with torch.inference_mode():
            args, kwargs = copied(given)
        return function(*args, **kwargs)

    assert differences(later) == {}


def test_no_grad() -> None:
    def without(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        inputs = [t.requires_grad_() for t in floats(given)]
        with torch.no_grad():
            return by_floats(function, given, kind)(*inputs)

    assert differences(without) == {}


def test_backward() -> None:
    def gradients(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        inputs = [t.requires_grad_() for t in floats(given)]
        made = by_floats(function, given, kind)(*inputs)
        loss(made).backward()
        return made, [t.grad for t in inputs]

    assert differences(gradients) == {}


def test_leaves_written_in_place() -> None:
    """What autograd refuses, and what it takes."""

    def written(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        for t in floats(given):
            t.requires_grad_()
        args, kwargs = given
        return function(*args, **kwargs)

    assert differences(written) == {}


def test_autocast() -> None:
    def cast(function: Callable[..., Any], given: Arguments, kind: str) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return by_floats(function, given, kind)(*floats(given))

    assert differences(cast) == {}


# --- what differs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["torch.conj", "torch.Tensor.conj"])
def test_vmap_of_conj(name: str) -> None:
    pair = pairs()[name]
    x = torch.ones(2, 3, dtype=torch.complex64)
    theirs, ours = (outcome(partial(torch.func.vmap(f), x)) for f in (pair.torch, pair.ours))
    assert difference(theirs, ours, name) == ""


@pytest.mark.parametrize("name", ["torch.linspace", "torch.logspace", "torch.randint_like"])
def test_factories_of_tensors_with_gradients(name: str) -> None:
    pair = pairs()[name]
    x = torch.tensor(0.0, requires_grad=True)
    args = (x, 2) if name == "torch.randint_like" else (x, 2, 3)
    theirs, ours = (outcome(partial(f, *args)) for f in (pair.torch, pair.ours))
    assert difference(theirs, ours, name) == ""


# --- a default device -----------------------------------------------------------------------------

FACTORIES: dict[str, tuple[Any, ...]] = {
    "torch._efficientzerotensor": ((2, 3),),
    "torch.arange": (3,),
    "torch.bartlett_window": (3,),
    "torch.blackman_window": (3,),
    "torch.empty": ((2, 3),),
    "torch.empty_permuted": ((2, 3), (1, 0)),
    "torch.empty_strided": ((2, 3), (1, 2)),
    "torch.eye": (3,),
    "torch.fft.fft_fftfreq": (4,),
    "torch.fft.fft_rfftfreq": (4,),
    "torch.full": ((2, 3), 1.5),
    "torch.hamming_window": (3,),
    "torch.hann_window": (3,),
    "torch.kaiser_window": (3,),
    "torch.linspace": (0, 1, 3),
    "torch.logspace": (0, 1, 3),
    "torch.normal": (0.0, 1.0, (2, 3)),
    "torch.ones": ((2, 3),),
    "torch.rand": ((2, 3),),
    "torch.randint": (0, 5, (2, 3)),
    "torch.randn": ((2, 3),),
    "torch.randperm": (4,),
    "torch.scalar_tensor": (1.5,),
    "torch.tril_indices": (3, 3),
    "torch.triu_indices": (3, 3),
    "torch.zeros": ((2, 3),),
}


@pytest.mark.parametrize("kwargs", [{}, {"device": "cpu"}, {"dtype": torch.float64}], ids=str)
def test_a_default_device(kwargs: dict[str, Any]) -> None:
    """Which factories go by it, and that a device of the call's own comes first."""
    found = {}
    for name, args in FACTORIES.items():
        pair = pairs()[name]
        made = []
        for function in (pair.torch, pair.ours):
            with torch.device("meta"):
                made.append(outcome(partial(function, *args, **kwargs)))
        if text := difference(made[0], made[1], pair.function.name):
            found[name] = text
    assert found == {}


def test_dispatched_factories() -> None:
    """A mode sees what the op is told: the default device, too."""
    found = {}
    for name, args in FACTORIES.items():
        pair = pairs()[name]
        noted = []
        for function in (pair.torch, pair.ours):
            with Dispatched() as mode:
                function(*args)
            noted.append(mode.ops)
        if noted[0] != noted[1]:
            found[name] = f"{noted[0]} / {noted[1]}"
    assert found == {}


def test_a_default_dtype() -> None:
    found = {}
    for name, args in FACTORIES.items():
        pair = pairs()[name]
        torch.set_default_dtype(torch.float64)
        try:
            made = [outcome(partial(function, *args)) for function in (pair.torch, pair.ours)]
        finally:
            torch.set_default_dtype(torch.float32)
        if text := difference(made[0], made[1], pair.function.name):
            found[name] = text
    assert found == {}


# --- torch.compile --------------------------------------------------------------------------------

X = torch.arange(6.0).reshape(2, 3)
COMPILED: dict[str, tuple[Any, ...]] = {
    "torch.add": (X, X),
    "torch.Tensor.mul_": (X.clone(), 2),
    "torch.cat": ([X, X], 1),
    "torch.linalg.linalg_vector_norm": (X,),
    "torch.nn.gelu": (X,),
    "torch.special.special_erf": (X,),
    "torch.max": (X, 1),
}


def compiled(function: Callable[..., Any], args: tuple[Any, ...], backend: str, full: bool) -> Any:
    """What a program returns that calls it and then another op."""
    torch._dynamo.reset()

    def program(*given: Any) -> Any:
        return tree_map_only(torch.Tensor, torch.neg, function(*given))

    inputs = copied(args)
    return torch.compile(program, backend=backend, fullgraph=full)(*inputs)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", COMPILED)
def test_compile(name: str, backend: str) -> None:
    """Across a break of the graph."""
    pair = pairs()[name]
    theirs, ours = (
        outcome(partial(compiled, function, COMPILED[name], backend, False))
        for function in (pair.torch, pair.ours)
    )
    assert not isinstance(theirs, type)
    assert difference(theirs, ours, pair.function.name) == ""


def _traced_shape(function: Callable[..., Any]) -> torch.Size:
    traced = torch.jit.trace(
        lambda x: function(x.shape[0], 3), (torch.rand(3, 3),), check_trace=False
    )
    shape: torch.Size = traced(torch.rand(2, 2)).shape
    return shape


def test_sizes_that_torch_jit_traces() -> None:
    assert _traced_shape(pairs()["torch.zeros"].torch) == (2, 3)


@pytest.mark.xfail(reason="torch's parser tells torch.jit.trace where an int came from")
def test_sizes_that_torch_jit_traces_of_ours() -> None:
    assert _traced_shape(pairs()["torch.zeros"].ours) == (2, 3)


@pytest.mark.xfail(reason=NOT_TRACED)
@pytest.mark.parametrize("name", COMPILED)
def test_compile_as_one_graph(name: str) -> None:
    pair = pairs()[name]
    theirs, ours = (
        outcome(partial(compiled, function, COMPILED[name], "eager", True))
        for function in (pair.torch, pair.ours)
    )
    assert not isinstance(theirs, type)
    assert difference(theirs, ours, pair.function.name) == ""


@pytest.mark.parametrize("name", COMPILED)
def test_compile_as_one_graph_where_that_is_allowed(name: str) -> None:
    """With torch.compiler.allow_in_graph, which torch.compile's warning names."""
    pair = pairs()[name]
    allowed = torch.compiler.allow_in_graph(pair.ours)
    theirs, ours = (
        outcome(partial(compiled, function, COMPILED[name], "aot_eager", True))
        for function in (pair.torch, allowed)
    )
    assert not isinstance(theirs, type)
    assert difference(theirs, ours, pair.function.name) == ""
