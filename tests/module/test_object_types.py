"""Generators, storages, streams, quantization schemes, lists of str and of optional tensors.

The library is tests/module/libraries/objects: its ops say what reached their kernels.
"""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libraries
import pytest
import torch
from torch._subclasses import FakeTensorMode

Call = Callable[[Any], Any]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor"),
    # torch's own, at the first use of its fakes.
    pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated"),
]

X = torch.arange(6.0).reshape(2, 3)
SCHEMES = (
    torch.per_tensor_affine,
    torch.per_channel_affine,
    torch.per_tensor_symmetric,
    torch.per_channel_symmetric,
    torch.per_channel_affine_float_qparams,
)


class OwnGenerator(torch.Generator):
    pass


class OwnStream(torch.Stream):
    pass


OwnStorage: Any = type("OwnStorage", (torch.UntypedStorage,), {})


def generator(seed: int = 7) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def stream(number: int = 5) -> torch.Stream:
    return torch.Stream(stream_id=number, device_index=1, device_type=1)


def storage() -> torch.UntypedStorage:
    return torch.arange(4.0).untyped_storage()


GENERATOR, STREAM, STORAGE = generator(), stream(), storage()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    TYPED = torch.arange(4.0).storage()
    FLOATS = torch.FloatStorage(3)


def drawn(seed: int) -> list[float]:
    return torch.rand(3, dtype=torch.float64, generator=generator(seed)).tolist()


# --- accepted -------------------------------------------------------------------------------------

# A call and its result; tensors are compared by their values.
ACCEPTED: dict[str, tuple[Call, Any]] = {
    "generator by position": (lambda m: m.draw(3, generator()).tolist(), drawn(7)),
    "generator by keyword": (lambda m: m.draw(3, generator=generator(8)).tolist(), drawn(8)),
    "generator subclass": (
        lambda m: m.draw(3, OwnGenerator().manual_seed(7)).tolist(),
        drawn(7),
    ),
    "generator default": (lambda m: m.draw(3).shape, (3,)),
    "generator none": (lambda m: m.draw(3, None).shape, (3,)),
    "generator returned": (
        lambda m: m.same_generator(generator(9)).initial_seed(),
        9,
    ),
    "no generator returned": (lambda m: m.same_generator(None), None),
    "storage": (lambda m: m.same_storage(STORAGE) is STORAGE, True),
    "storage keyword": (lambda m: m.same_storage(storage=STORAGE) is STORAGE, True),
    "storage of another type": (lambda m: m.same_storage(TYPED).tolist(), TYPED.untyped().tolist()),
    "typed storage": (lambda m: m.bytes_of(storage=TYPED), 16),
    "typed storage subclass": (lambda m: m.bytes_of(storage=FLOATS), 12),
    "storage subclass": (lambda m: m.bytes_of(storage=OwnStorage(6)), 6),
    "storage default": (lambda m: m.bytes_of(), None),
    "storage none": (lambda m: m.bytes_of(storage=None), None),
    "empty storage": (lambda m: m.bytes_of(storage=torch.UntypedStorage(0)), 0),
    "stream": (lambda m: m.same_stream(STREAM), STREAM),
    "stream keyword": (lambda m: m.same_stream(stream=STREAM), STREAM),
    "stream subclass": (
        lambda m: m.same_stream(OwnStream(stream_id=2, device_index=0, device_type=1)),
        torch.Stream(stream_id=2, device_index=0, device_type=1),
    ),
    "stream of the cpu": (
        lambda m: m.same_stream(torch.Stream(device="cpu")),
        torch.Stream(device="cpu"),
    ),
    "stream optional": (lambda m: m.stream_id(stream=stream(2**40)), 2**40),
    "stream negative": (lambda m: m.stream_id(stream=stream(-3)), -3),
    "stream default": (lambda m: m.stream_id(), None),
    "stream none": (lambda m: m.stream_id(stream=None), None),
    "schemes": (lambda m: [m.same_qscheme(s) is s for s in SCHEMES], [True] * 5),
    "scheme keyword": (
        lambda m: m.same_qscheme(qscheme=torch.per_channel_affine),
        torch.per_channel_affine,
    ),
    "scheme numbers": (lambda m: [m.qscheme_number(qscheme=s) for s in SCHEMES], [0, 1, 2, 3, 4]),
    "scheme default": (lambda m: m.qscheme_number(), None),
    "scheme none": (lambda m: m.qscheme_number(qscheme=None), None),
    "strings": (lambda m: m.same_strings(["a", "", "ä\0漢😀"]), ("a", "", "ä\0漢😀")),
    "strings in a tuple": (lambda m: m.same_strings(texts=("x" * 1000,) * 3), ("x" * 1000,) * 3),
    "no strings": (lambda m: m.same_strings([]), ()),
    "optional strings": (lambda m: m.join("-", ["a", "b"]), "a-b-"),
    "optional strings empty": (lambda m: m.join("-", texts=()), ""),
    "optional strings default": (lambda m: m.join("-"), None),
    "optional strings none": (lambda m: m.join("-", None), None),
    "tensors and none": (lambda m: m.same_tensors([X, None])[0] is X, True),
    "tensors and none in a tuple": (lambda m: m.same_tensors(tensors=(None, X))[0], None),
    "many tensors": (lambda m: len(m.same_tensors([X, None] * 50)), 100),
    "no tensors": (lambda m: m.same_tensors([]), ()),
    "defined tensors": (lambda m: m.add_defined([None, X, None, X]).tolist(), (X + X).tolist()),
    "parameter in a list": (
        lambda m: m.add_defined([torch.nn.Parameter(X)]).tolist(),
        X.tolist(),
    ),
    "optional list": (lambda m: m.add_given(X, [X, X]).tolist(), (3 * X).tolist()),
    "optional list keyword": (lambda m: m.add_given(X, tensors=(X,)).tolist(), (2 * X).tolist()),
    "optional list empty": (lambda m: m.add_given(X, []).tolist(), X.tolist()),
    "optional list default": (lambda m: m.add_given(X), None),
    "optional list none": (lambda m: m.add_given(X, None), None),
    "optional list alone": (lambda m: m.sum_given(tensors=[X, X]).tolist(), (2 * X).tolist()),
    "optional list alone empty": (lambda m: m.sum_given(tensors=[]), None),
    "in place": (lambda m: m.add_given_(torch.ones(2), [torch.ones(2)]).tolist(), [2, 2]),
    "in place none": (lambda m: m.add_given_(torch.ones(2), None).tolist(), [1, 1]),
    "optional str": (lambda m: tuple(m.split("a b c")), ("a", "b c")),
    "optional str none": (lambda m: tuple(m.split("a")), ("a", None)),
    "optional results": (lambda m: m.positive(X).sizes, (2, 3)),
    "optional tensor in a tuple": (lambda m: m.positive(X).values.tolist(), [1, 2, 3, 4, 5]),
    "devices": (
        lambda m: tuple(m.device_of(X, X.to("meta"))),
        (torch.device("cpu"), torch.device("meta")),
    ),
    "optional device none": (lambda m: m.device_of(X).second, None),
    "optional results none": (lambda m: tuple(m.positive(-X)), (None, None)),
}


@pytest.mark.parametrize(("call", "expected"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(call: Call, expected: Any, objects: Any) -> None:
    result = call(objects)
    assert result == expected
    assert type(result) is type(expected) or isinstance(expected, tuple)


def test_a_generator_comes_back_with_its_state(objects: Any) -> None:
    for given in (generator(), torch.default_generator):
        back = objects.same_generator(given)
        state = given.get_state()
        objects.draw(3, back)
        assert torch.equal(back.get_state(), given.get_state())
        assert not torch.equal(state, given.get_state())


def test_a_stream_comes_back_whole(objects: Any) -> None:
    back = objects.same_stream(STREAM)
    assert (back.stream_id, back.device) == (5, torch.device("cuda:1"))


def test_overloads_tell_these_types_apart(objects: Any) -> None:
    values = {
        "Generator?": [GENERATOR, None],
        "Storage": [STORAGE, TYPED],
        "Stream": [STREAM],
        "QScheme": [torch.per_tensor_affine],
        "str[]": [["a"], ("a", "b")],
        "Tensor?[]": [[X], [None], (X, None), []],
    }
    for kind, given in values.items():
        assert [objects.kind(value) for value in given] == [kind] * len(given)


# --- torch's ops ----------------------------------------------------------------------------------

ROWS, COLUMNS = torch.tensor([1, 0, 1]), torch.tensor([2, 2])


def storage_of(tensor: torch.Tensor) -> Any:
    return tensor.untyped_storage()


TORCH_OPS: dict[str, tuple[Call, Callable[[], torch.Tensor]]] = {
    "index": (lambda m: m.index(X, [ROWS]), lambda: X[ROWS]),
    "index none": (lambda m: m.index(X, [None, COLUMNS]), lambda: X[:, COLUMNS]),
    "index both": (lambda m: m.index(X, (ROWS[:2], COLUMNS)), lambda: X[ROWS[:2], COLUMNS]),
    "index_put": (
        lambda m: m.index_put(X, [None, COLUMNS], torch.tensor(9.0), accumulate=True),
        lambda: torch.index_put(X, (torch.tensor([[0], [1]]), COLUMNS), torch.tensor(9.0), True),
    ),
    "index_put_": (
        lambda m: m.index_put_(X.clone(), [ROWS], torch.tensor(9.0)),
        lambda: X.clone().index_put_([ROWS], torch.tensor(9.0)),
    ),
    "bernoulli": (
        lambda m: m.bernoulli(X / 6, generator=generator()),
        lambda: torch.bernoulli(X / 6, generator=generator()),
    ),
    "bernoulli p": (
        lambda m: m.bernoulli(X, 0.5, generator=generator()),
        lambda: torch.bernoulli(X, 0.5, generator=generator()),
    ),
    "normal_": (
        lambda m: m.normal_(X.clone(), 1.0, std=2, generator=generator()),
        lambda: X.clone().normal_(1.0, std=2, generator=generator()),
    ),
    "set_": (
        lambda m: m.set_(torch.empty(0), storage_of(X)),
        lambda: torch.empty(0).set_(storage_of(X)),
    ),
    "set_ typed": (
        lambda m: m.set_(torch.empty(0), source=X.storage()),
        lambda: torch.empty(0).set_(X.storage()),
    ),
}


@pytest.mark.parametrize(("ours", "theirs"), TORCH_OPS.values(), ids=TORCH_OPS.keys())
def test_equals_torch(ours: Call, theirs: Callable[[], torch.Tensor], objects: Any) -> None:
    torch.testing.assert_close(ours(objects), theirs(), rtol=0, atol=0)


def test_set_shares_the_storage(objects: Any) -> None:
    x = torch.empty(0)
    assert objects.set_(x, STORAGE) is x
    assert x.untyped_storage() is STORAGE


def test_a_stream_reaches_torch(objects: Any) -> None:
    """There is no kernel for the CPU, and torch says so."""
    for call in (X.record_stream, lambda s: objects.record_stream(X, s)):
        with pytest.raises(NotImplementedError, match=r"aten::record_stream"):
            call(STREAM)


def test_a_scheme_comes_from_torch(objects: Any) -> None:
    q = torch.quantize_per_tensor(X, 0.1, 0, torch.quint8)
    assert objects.qscheme(q) is q.qscheme() is torch.per_tensor_affine


# --- refused --------------------------------------------------------------------------------------


class Liar:
    """Says that it is a generator, a storage and a stream; it has the value of none."""

    def __init__(self, claimed: type) -> None:
        self.claimed = claimed

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.claimed


REFUSED: dict[str, tuple[Call, str]] = {
    "generator": (
        lambda m: m.draw(3, 7),
        "draw(): argument 'generator' (position 2) must be torch.Generator or None, not int (7)",
    ),
    "generator class": (
        lambda m: m.draw(3, generator=OwnStorage),
        "draw(): argument 'generator' (position 2) must be torch.Generator or None, not type",
    ),
    "generator missing": (
        lambda m: m.same_generator(),
        "same_generator(): missing required argument 'generator' (position 1)",
    ),
    "generator by claim": (
        lambda m: m.draw(3, Liar(torch.Generator)),
        "draw(): argument 'generator' (position 2) must be torch.Generator or None, not "
        "test_object_types.Liar",
    ),
    "storage": (
        lambda m: m.same_storage(torch.ones(2)),
        "same_storage(): argument 'storage' (position 1) must be torch.UntypedStorage, not a "
        "float32 tensor of shape (2,)",
    ),
    "storage none": (
        lambda m: m.same_storage(None),
        "same_storage(): argument 'storage' (position 1) must be torch.UntypedStorage, not None",
    ),
    "storage optional": (
        lambda m: m.bytes_of(storage=b"x"),
        "bytes_of(): argument 'storage' must be torch.UntypedStorage or None, not bytes",
    ),
    "storage by claim": (
        lambda m: m.bytes_of(storage=Liar(torch.UntypedStorage)),
        "bytes_of(): argument 'storage' must be torch.UntypedStorage or None, not "
        "test_object_types.Liar",
    ),
    "stream": (
        lambda m: m.same_stream(0),
        "same_stream(): argument 'stream' (position 1) must be torch.Stream, not int (0)",
    ),
    "stream by claim": (
        lambda m: m.same_stream(Liar(torch.Stream)),
        "same_stream(): argument 'stream' (position 1) must be torch.Stream, not "
        "test_object_types.Liar",
    ),
    "stream event": (
        lambda m: m.stream_id(stream=torch.device("cpu")),
        "stream_id(): argument 'stream' must be torch.Stream or None, not torch.device",
    ),
    "scheme": (
        lambda m: m.same_qscheme("per_tensor_affine"),
        "same_qscheme(): argument 'qscheme' (position 1) must be torch.qscheme, not str "
        "('per_tensor_affine')",
    ),
    "scheme optional": (
        lambda m: m.qscheme_number(qscheme=torch.strided),
        "qscheme_number(): argument 'qscheme' must be torch.qscheme or None, not torch.layout",
    ),
    "str for strings": (
        lambda m: m.same_strings("ab"),
        "same_strings(): argument 'texts' (position 1) must be str[], not str ('ab')",
    ),
    "first string": (
        lambda m: m.same_strings([b"a", "b"]),
        "same_strings(): argument 'texts' (position 1): texts[0] must be str, not bytes",
    ),
    "last string": (
        lambda m: m.join("-", texts=("a", None)),
        "join(): argument 'texts' (position 2): texts[1] must be str, not None",
    ),
    "optional strings": (
        lambda m: m.join("-", 1),
        "join(): argument 'texts' (position 2) must be str[] or None, not int (1)",
    ),
    "tensor for a list": (
        lambda m: m.same_tensors(X),
        "same_tensors(): argument 'tensors' (position 1) must be Tensor?[], not a float32 tensor "
        "of shape (2, 3)",
    ),
    "none for a list": (
        lambda m: m.same_tensors(None),
        "same_tensors(): argument 'tensors' (position 1) must be Tensor?[], not None",
    ),
    "tensor element": (
        lambda m: m.same_tensors([X, None, 2]),
        "same_tensors(): argument 'tensors' (position 1): tensors[2] must be Tensor or None, not "
        "int (2)",
    ),
    "optional list": (
        lambda m: m.add_given(X, X),
        "add_given(): argument 'tensors' (position 2) must be Tensor[] or None, not a float32 "
        "tensor of shape (2, 3)",
    ),
    "optional list element": (
        lambda m: m.add_given(X, [X, None]),
        "add_given(): argument 'tensors' (position 2): tensors[1] must be Tensor, not None",
    ),
}


@pytest.mark.parametrize(("call", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(call: Call, text: str, objects: Any) -> None:
    with pytest.raises(TypeError) as raised:
        call(objects)
    assert str(raised.value) == text


def test_overloads_name_every_type(objects: Any) -> None:
    with pytest.raises(TypeError) as raised:
        objects.kind(3)
    lines = [line.strip() for line in str(raised.value).splitlines()]
    wanted = {lines[i]: lines[i + 1] for i in range(1, len(lines), 2)}
    assert wanted == {
        f"kind({schema} x) -> str": f"argument 'x' (position 1) must be {printed}, not int (3)"
        for schema, printed in {
            "Generator?": "torch.Generator or None",
            "Storage": "torch.UntypedStorage",
            "Stream": "torch.Stream",
            "QScheme": "torch.qscheme",
            "str[]": "str[]",
            "Tensor?[]": "Tensor?[]",
        }.items()
    }


def test_a_typed_storage_without_a_storage(objects: Any) -> None:
    empty = torch.TypedStorage.__new__(torch.TypedStorage)
    with pytest.raises(
        AttributeError, match=r"bytes_of\(\): argument 'storage': .*_untyped_storag"
    ):
        objects.bytes_of(storage=empty)
    empty._untyped_storage = X
    with pytest.raises(TypeError, match=r"'storage': its _untyped_storage is no torch.UntypedStor"):
        objects.bytes_of(storage=empty)


# --- life -----------------------------------------------------------------------------------------


def test_a_kept_storage_holds_its_python_object_once(objects: Any) -> None:
    s = torch.UntypedStorage(8)
    count = sys.getrefcount(s)
    for _ in range(3):
        objects.keep_storage(s)
        assert sys.getrefcount(s) == count + 1
        objects.keep_storage()
        assert sys.getrefcount(s) == count


def test_a_kept_storage_lives_as_long_as_it_is_kept(objects: Any) -> None:
    s = torch.UntypedStorage(8)
    seen = weakref.ref(s)
    objects.keep_storage(s)
    del s
    gc.collect()
    assert seen() is not None
    objects.keep_storage(None)
    assert seen() is None


FAILING: dict[str, Call] = {
    "strings": lambda m: m.same_strings(["a", "\ud800"]),
    "tensors": lambda m: m.same_tensors([X, None, 2]),
    "storage": lambda m: m.bytes_of(storage=X),
    "typed storage": lambda m: m.bytes_of(storage=torch.TypedStorage.__new__(torch.TypedStorage)),
    "defined": lambda m: m.add_defined([X, torch.ones(7)]),
}
BALANCED = {name: call for name, (call, _) in ACCEPTED.items()} | FAILING


@pytest.mark.parametrize("call", BALANCED.values(), ids=BALANCED.keys())
def test_nothing_is_left_behind(call: Call, objects: Any) -> None:
    """Neither a reference to an argument nor memory of the call's own."""
    watched = [X, GENERATOR, STREAM, STORAGE, TYPED, FLOATS, SCHEMES[1], torch.default_generator]

    def blocks_after(calls: int) -> int:
        for _ in range(calls):
            try:
                call(objects)
            except (TypeError, ValueError, AttributeError, RuntimeError):
                continue
        gc.collect()
        return sys.getallocatedblocks()

    before = blocks_after(50), [sys.getrefcount(o) for o in watched]
    after = blocks_after(400), [sys.getrefcount(o) for o in watched]
    assert after[0] - before[0] < 200
    assert all(abs(a - b) < 100 for a, b in zip(after[1], before[1], strict=True))


def test_a_list_that_changes_while_it_is_looked_at(objects: Any, run_python: Run) -> None:
    """An element clears the list when it is asked for `__torch_function__`."""
    program = """
import objects_ops, torch
class Evil(torch.Tensor):
    @property
    def __torch_function__(self):
        shared.clear()
        raise AttributeError
evil = torch.ones(2).as_subclass(Evil)
for call in (objects_ops.same_tensors, lambda tensors: objects_ops.add_given(evil, tensors)):
    for rest in ([], [None], [torch.ones(2)] * 3):
        shared = [evil, *rest]
        try:
            print(len(call(shared) or ()))
        except (RuntimeError, TypeError) as error:
            print(type(error).__name__)
"""
    result = run_python(program, libraries.built("objects"))
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.split()) == 6


def test_daemon_threads_with_these_types_at_exit(objects: Any, run_python: Run) -> None:
    program = """
import threading, time, objects_ops, torch
def loop(call):
    x, s, g = torch.ones(3), torch.UntypedStorage(8), torch.Generator()
    while True: call(x, s, g)
calls = [lambda x, s, g: objects_ops.wait_with(1, [], storage=s),
         lambda x, s, g: objects_ops.wait_with(1, [x, None, x]),
         lambda x, s, g: objects_ops.add_given_(x, [x, x]),
         lambda x, s, g: objects_ops.normal_(x, generator=g),
         lambda x, s, g: objects_ops.same_strings(["a" * 100] * 3)]
for call in calls:
    threading.Thread(target=loop, args=(call,), daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(5):
        result = run_python(program, libraries.built("objects"))
        assert result.returncode == 0, result.stderr


# --- dispatcher, autograd -------------------------------------------------------------------------

BOXED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "generator": ("draw", (3, torch.default_generator)),
    "generator none": ("same_generator", (None,)),
    "storage": ("bytes_of", ()),
    "stream": ("same_stream", (STREAM,)),
    "strings": ("same_strings", (["a", "b"],)),
    "optional strings": ("join", ("-", ["a"])),
    "tensors": ("add_defined", ([None, X, X],)),
    "optional list": ("add_given", (X, [X, X])),
    "optional list none": ("add_given", (X, None)),
    "optional results": ("positive", (X,)),
}


def plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.shape if value.dtype is torch.float64 else value.tolist()
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize(("name", "args"), BOXED.values(), ids=BOXED.keys())
def test_torch_ops_gives_the_same(name: str, args: tuple[Any, ...], objects: Any) -> None:
    boxed = getattr(torch.ops.objects, name)(*args)
    assert plain(boxed) == plain(getattr(objects, name)(*args))


CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor")


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", ["add_defined", "add_given"])
def test_opcheck(name: str, grad: bool, objects: Any) -> None:
    x = X.clone().requires_grad_(grad)
    args = ([None, x, X],) if name == "add_defined" else (X, [x, x])
    op = getattr(torch.ops.objects, name).default
    assert torch.library.opcheck(op, args, test_utils=CHECKS) == dict.fromkeys(CHECKS, "SUCCESS")


def test_gradients_are_refused_in_every_form_of_list(objects: Any) -> None:
    x = X.clone().requires_grad_()
    calls: list[Callable[[], torch.Tensor]] = [
        lambda: objects.add_defined([None, X, x]),
        lambda: objects.add_given(X, [X, x]),
        lambda: objects.positive(x).values,
    ]
    for call in calls:
        result = call()
        assert result.requires_grad
        with pytest.raises(NotImplementedError, match="has no backward"):
            torch.autograd.backward(result.sum())
    assert not objects.add_defined([None, X]).requires_grad
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        objects.add_given_(x, [X])


def test_gradients_flow_through_an_op_made_of_others(objects: Any) -> None:
    x = X.clone().requires_grad_()
    objects.sum_given(tensors=[x, X, x]).sum().backward()
    assert x.grad is not None
    assert x.grad.eq(2).all()


def test_a_written_tensor_has_its_version_bumped(objects: Any) -> None:
    x = X.clone()
    before = x._version
    objects.add_given_(x, [X])
    assert x._version > before


def test_fake_tensors_in_every_form_of_list(objects: Any) -> None:
    with FakeTensorMode() as mode:
        x = mode.from_tensor(X)
        assert objects.add_defined([None, x]).shape == (2, 3)
        assert objects.add_given(x, [x]).shape == (2, 3)
        assert objects.index(x, [None, mode.from_tensor(COLUMNS)]).shape == (2, 2)


class Recorder:
    """Takes every call over."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (func.__name__, args, kwargs)


def test_an_element_may_take_the_call_over(objects: Any) -> None:
    recorder = Recorder()
    given = [None, X, recorder]
    assert objects.add_defined(given) == ("add_defined", (given,), None)
    assert objects.add_given(X, tensors=given[1:]) == ("add_given", (X,), {"tensors": given[1:]})
    assert objects.draw(3, recorder) == ("draw", (3, recorder), None)
    assert objects.same_storage(recorder) == ("same_storage", (recorder,), None)


# --- the built package ----------------------------------------------------------------------------


def test_nothing_of_torchs_argument_parser(objects: Any) -> None:
    (extension,) = Path(objects.__path__[0]).glob("_C.*.so")
    command = ["nm", "-D", "--undefined-only", "--demangle", str(extension)]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "THPStorage_Wrap" in names
    assert "PythonArg" not in names


def test_the_stub_says_what_is_taken_and_returned(objects: Any) -> None:
    stub = (Path(objects.__path__[0]) / "__init__.pyi").read_text(encoding="utf-8")
    definitions = {n.name: n for n in ast.parse(stub).body if isinstance(n, ast.FunctionDef)}
    optional_list = "tuple[Tensor | None, ...] | list[Tensor | None]"
    for name, arguments, result in (
        ("draw", "count: int, generator: torch.Generator | None=None", "Tensor"),
        ("same_generator", "generator: torch.Generator | None", "torch.Generator | None"),
        ("same_stream", "stream: torch.Stream", "torch.Stream"),
        ("same_qscheme", "qscheme: torch.qscheme", "torch.qscheme"),
        (
            "bytes_of",
            "*, storage: torch.UntypedStorage | torch.TypedStorage | None=None",
            "int | None",
        ),
        ("same_strings", "texts: tuple[str, ...] | list[str]", "tuple[str, ...]"),
        ("same_tensors", f"tensors: {optional_list}", "tuple[Tensor | None, ...]"),
        (
            "add_given",
            "input: Tensor, tensors: tuple[Tensor, ...] | list[Tensor] | None=None",
            "Tensor | None",
        ),
    ):
        found = definitions[name]
        assert found.returns is not None
        assert (ast.unparse(found.args), ast.unparse(found.returns)) == (arguments, result)
