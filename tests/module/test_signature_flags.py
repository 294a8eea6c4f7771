"""Numbers for tensors, deprecated signatures, None for a default: what a signature's table can say.

The functions are hand-written, in tests/module/libraries/objects/hand_written.cpp.
"""

from __future__ import annotations

import gc
import itertools
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import libraries
import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode

Run = Callable[..., "subprocess.CompletedProcess[str]"]

# torch's own, at the first use of its fakes.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")

X = torch.arange(3.0)

# --- numbers for tensors --------------------------------------------------------------------------

DTYPES = (
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.uint8,
    torch.int64,
    torch.bool,
    torch.complex64,
)
TENSORS = [torch.ones(2, dtype=dtype) for dtype in DTYPES]
TENSORS += [torch.tensor(1, dtype=torch.int8), torch.tensor(1.5, dtype=torch.float16)]
# numpy.bool_ and numpy.complex64 are other numbers for torch: see below.
NUMBERS: list[Any] = [2, -1, 2**40, 2**63, 2.5, 1e300, math.inf, True, False, 2 + 1j]
NUMBERS += [np.int8(3), np.uint8(200), np.float32(2.5), np.float64(0.1), np.complex128(1j)]


def outcome(add: Callable[[Any, Any], torch.Tensor], pair: tuple[Any, Any]) -> Any:
    """The value with its dtype and shape, or the error."""
    try:
        result = add(*pair)
    except RuntimeError as error:
        return type(error), str(error)
    return result.dtype, result.shape, str(result.tolist())


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("tensor", TENSORS, ids=lambda t: f"{t.dtype}, {t.dim()}-dim")
def test_promotion_is_torchs(tensor: torch.Tensor, objects: Any) -> None:
    for number in NUMBERS:
        for pair in ((tensor, number), (number, tensor)):
            assert outcome(objects.add, pair) == outcome(torch.add, pair), pair


def test_two_numbers_are_a_tensor(objects: Any) -> None:
    for pair in itertools.product(NUMBERS, repeat=2):
        assert outcome(objects.add, pair) == outcome(torch.add, pair), pair


def test_numbers_that_torch_reads_wrong(objects: Any) -> None:
    """It makes a float of both."""
    ints = torch.ones(2, dtype=torch.int8)
    assert objects.add(ints, np.bool_(True)).dtype is torch.int8
    assert objects.add(X, np.complex64(1 + 2j)).tolist() == [1 + 2j, 2 + 2j, 3 + 2j]


def test_the_tensor_of_a_number(objects: Any) -> None:
    for number, dtype in (
        (2, torch.int64),
        (2**63, torch.uint64),
        (2.5, torch.float64),
        (True, torch.bool),
        (1j, torch.complex128),
    ):
        tensor, is_number = objects.as_tensor(number)
        assert is_number
        assert (tensor.dtype, tensor.shape, tensor.device.type) == (dtype, (), "cpu")
        assert tensor.item() == number


class Subclass(torch.Tensor):
    pass


def test_a_tensor_stays_itself(objects: Any) -> None:
    plain, zero = torch.ones(2), torch.tensor(2.0)
    for tensor in (plain, zero, torch.nn.Parameter(plain)):
        result, is_number = objects.as_tensor(tensor)
        assert result is tensor
        assert not is_number
    with torch._C.DisableTorchFunctionSubclass():
        subclass = torch.ones(2).as_subclass(Subclass)
        assert objects.as_tensor(subclass)[0] is subclass


def test_a_number_by_keyword(objects: Any) -> None:
    assert objects.add(X, other=2, alpha=3).tolist() == [6, 7, 8]
    assert objects.add(input=1, other=X).tolist() == [1, 2, 3]


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "str": (
        lambda m: m.as_tensor("2"),
        "as_tensor(): argument 'input' (position 1) must be Tensor or Scalar, not str ('2')",
    ),
    "none": (
        lambda m: m.as_tensor(None),
        "as_tensor(): argument 'input' (position 1) must be Tensor or Scalar, not None",
    ),
    "list": (
        lambda m: m.as_tensor([2]),
        "as_tensor(): argument 'input' (position 1) must be Tensor or Scalar, not list",
    ),
    "array": (
        lambda m: m.add(X, np.ones(2)),
        "add(): argument 'other' (position 2) must be Tensor or Scalar, not numpy.ndarray",
    ),
}


@pytest.mark.parametrize(("call", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_number(call: Callable[[Any], Any], text: str, objects: Any) -> None:
    with pytest.raises(TypeError) as raised:
        call(objects)
    assert str(raised.value) == text


def test_a_number_that_no_tensor_holds(objects: Any) -> None:
    with pytest.raises(OverflowError) as raised:
        objects.add(X, 2**64)
    assert str(raised.value) == (
        "add(): argument 'other' (position 2) must lie between -2**63 and 2**64 - 1"
    )


def test_autograd_keeps_a_number(objects: Any) -> None:
    """The kernel keeps what the call only held, and which has no Python object."""
    x = X.clone().requires_grad_()
    product = objects.mul(x, 2.5)
    gc.collect()
    product.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.5] * 3


@pytest.mark.parametrize("number", [2, 2.5, 1j, True], ids=str)
def test_fake_tensors_take_numbers_as_torchs_do(number: Any, objects: Any) -> None:
    with FakeTensorMode() as mode:
        for tensor in TENSORS:
            fake = mode.from_tensor(tensor)
            ours, theirs = objects.add(fake, number), torch.add(fake, number)
            assert (type(ours), ours.dtype, ours.shape) == (type(fake), theirs.dtype, theirs.shape)


TRACED: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "int": lambda m, x: m.add(x, 2),
    "float": lambda m, x: m.add(x, 2.5),
    "complex": lambda m, x: m.add(x, 1j),
    "symbolic int": lambda m, x: m.add(x, x.shape[0]),
    "symbolic float": lambda m, x: m.add(x, x.shape[0] * 0.5),
    "symbolic bool": lambda m, x: m.add(x, x.shape[0] > 2),
    "first": lambda m, x: m.add(x.shape[0], x),
}


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.parametrize("call", TRACED.values(), ids=TRACED.keys())
def test_a_trace_is_torchs(
    call: Callable[[Any, torch.Tensor], torch.Tensor], mode: Any, objects: Any
) -> None:
    def traced(module: Any) -> str:
        return make_fx(lambda x: call(module, x), tracing_mode=mode)(X).code

    ours, theirs = traced(objects), traced(torch)
    assert ours == theirs
    assert "aten.add.Tensor" in ours


class Recorder(TorchFunctionMode):
    seen: Any = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen = (func, args, kwargs)
        return "handled"


def test_a_handler_gets_the_number_itself(objects: Any) -> None:
    number = 123.5
    with Recorder() as recorder:
        assert objects.add(X, number) == "handled"
    func, args, kwargs = recorder.seen
    assert func is objects.add
    assert args[1] is number
    assert kwargs is None


def test_numbers_leave_nothing_behind(objects: Any) -> None:
    number = 123456.5

    def blocks_after(calls: int) -> int:
        for _ in range(calls):
            objects.add(X, number)
        gc.collect()
        return sys.getallocatedblocks()

    before = blocks_after(50), sys.getrefcount(number)
    after = blocks_after(500), sys.getrefcount(number)
    assert after[0] - before[0] < 200
    assert after[1] == before[1]


# --- deprecated signatures ------------------------------------------------------------------------

WARNED = """
import json, sys, warnings
import objects_ops, torch
objects_ops.install("objects_ops")
x = torch.ones(2)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = [objects_ops.add(x, 3, x) for _ in range(3)]
    results += [objects_ops.add(9, x, 2, x), objects_ops.add(9, x, 2, x)]
    objects_ops.add(x, x)
    objects_ops.old(1)
    torch.add(x, 1, x)
print(json.dumps([r.tolist() for r in results]))
print(json.dumps([[w.category.__name__, w.filename, str(w.message)] for w in caught]))
"""


def test_each_deprecated_signature_warns_once(objects: Any, run_python: Run) -> None:
    result = run_python(WARNED, libraries.built("objects"))
    assert result.returncode == 0, result.stderr
    results, caught = map(json.loads, result.stdout.splitlines())
    assert results == [[4, 4]] * 3 + [[3, 3]] * 2
    first, second, old, torchs = (text for *_, text in caught)
    assert [where for *where, _ in caught] == [["UserWarning", "<string>"]] * 4
    instead = (
        "Consider using one of the following signatures instead:\n"
        "\tadd(Tensor input, Tensor other, *, Scalar alpha=1) -> Tensor"
    )
    assert first == (
        "This overload of add is deprecated:\n"
        f"\tadd(Tensor input, Scalar alpha, Tensor other) -> Tensor\n{instead}"
    )
    assert second == (
        "This overload of add is deprecated:\n"
        f"\tadd(Scalar scale, Tensor input, Scalar alpha, Tensor other) -> Tensor\n{instead}"
    )
    assert old == "This overload of old is deprecated:\n\told(int n) -> int"
    # A filter for torch's text takes ours.
    assert first.splitlines()[0] == torchs.splitlines()[0]
    assert first.splitlines()[2] == torchs.splitlines()[2]


def test_what_warns_once_warns_each_time_where_torch_does(objects: Any, run_python: Run) -> None:
    program = """
import warnings
import objects_ops, torch
objects_ops.install("objects_ops")
x = torch.ones(2)
for is_always in (False, True):
    torch.set_warn_always(is_always)
    for module in (torch, objects_ops):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                module.add(x, 2, x)
        print(len(caught))
"""
    result = run_python(program, libraries.built("objects"))
    assert result.stdout.split() == ["1", "1", "3", "3"], result.stderr


def test_a_warning_that_is_an_error_is_raised_by_each_call(objects: Any, run_python: Run) -> None:
    program = """
import warnings
import objects_ops, torch
objects_ops.install("objects_ops")
x = torch.ones(2)
for _ in range(2):
    try:
        objects_ops.add(x, 3, x)
    except UserWarning as error:
        print(str(error).splitlines()[0])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(objects_ops.add(x, 3, x).tolist(), len(caught))
print(objects_ops.add(x, 3, x).tolist())
"""
    result = run_python(program, libraries.built("objects"))
    assert result.returncode == 0, result.stderr
    head = "This overload of add is deprecated:"
    assert result.stdout.splitlines() == [head, head, "[4.0, 4.0] 1", "[4.0, 4.0]"]


def test_deprecated_signatures_are_not_shown_in_errors(objects: Any) -> None:
    with pytest.raises(TypeError) as raised:
        objects.add(X, 2, "x")
    assert str(raised.value) == (
        "add(): takes at most 2 positional arguments, but 3 were given; 'alpha' is keyword-only"
    )


def test_where_all_are_deprecated_they_are_shown(objects: Any) -> None:
    with pytest.raises(TypeError) as raised:
        objects.old("1")
    assert str(raised.value) == "old(): argument 'n' (position 1) must be int, not str ('1')"


def test_an_ordinary_call_warns_of_nothing(objects: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert objects.add(X, X, alpha=2).tolist() == (3 * X).tolist()


# --- None for a default ---------------------------------------------------------------------------

DEFAULTS = (7, (3, 4), 0.5, True, "q", 0.25, torch.int64, torch.device("meta"))
NAMES = ("n", "size", "x", "flag", "text", "alpha", "dtype", "device")
GIVEN = (1, (5,), 1.5, False, "other", 2, torch.float32, torch.device("cpu"))


def test_defaults(objects: Any) -> None:
    assert objects.defaults() == DEFAULTS


def test_none_stands_for_the_default(objects: Any) -> None:
    assert objects.defaults(**dict.fromkeys(NAMES)) == DEFAULTS
    assert objects.defaults(None, None) == DEFAULTS
    for place, name in enumerate(NAMES):
        given = {**dict(zip(NAMES, GIVEN, strict=True)), name: None}
        expected = (*GIVEN[:place], DEFAULTS[place], *GIVEN[place + 1 :])
        assert objects.defaults(**given) == expected


def test_none_counts_as_an_argument(objects: Any) -> None:
    with pytest.raises(TypeError, match=r"multiple values for argument 'n' \(position 1\)"):
        objects.defaults(None, n=1)


def test_an_error_says_that_none_is_taken(objects: Any) -> None:
    with pytest.raises(TypeError) as raised:
        objects.defaults(n="1")
    assert str(raised.value) == (
        "defaults(): argument 'n' (position 1) must be int or None, not str ('1')"
    )
