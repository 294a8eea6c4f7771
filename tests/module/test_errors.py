"""Wrong calls: the type of the exception and its whole text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import demo_ops
import numpy as np
import pytest
import torch

X = torch.ones(2, 3)


class Sub(torch.Tensor):
    """Calls are not handed to it."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "type": (
        lambda: demo_ops.scale(X, "2"),
        "scale(): argument 'alpha' (position 2) must be float, not str ('2')",
    ),
    "no tensor": (
        lambda: demo_ops.scale([1.0]),
        "scale(): argument 'input' (position 1) must be Tensor, not list",
    ),
    "none": (
        lambda: demo_ops.scale(None),
        "scale(): argument 'input' (position 1) must be Tensor, not None",
    ),
    "missing": (
        lambda: demo_ops.scale(),
        "scale(): missing required argument 'input' (position 1)",
    ),
    "missing several": (
        lambda: demo_ops.nms(X),
        "nms(): missing required arguments 'scores' (position 2), 'iou_threshold' (position 3)",
    ),
    "too many": (
        lambda: demo_ops.scale(X, 1.0, 2.0),
        "scale(): takes at most 2 positional arguments, but 3 were given",
    ),
    "keyword-only by position": (
        lambda: demo_ops.describe(X, "x", True),
        "describe(): takes at most 2 positional arguments, but 3 were given; "
        "'verbose' is keyword-only",
    ),
    "keyword": (
        lambda: demo_ops.scale(X, alhpa=2.0),
        "scale(): unexpected keyword argument 'alhpa'; did you mean 'alpha'?",
    ),
    "far keyword": (
        lambda: demo_ops.scale(X, verbosity=2.0),
        "scale(): unexpected keyword argument 'verbosity'",
    ),
    "umlaut keyword": (
        lambda: demo_ops.scale(X, **{"älpha": 2.0}),
        "scale(): unexpected keyword argument 'älpha'; did you mean 'alpha'?",
    ),
    "twice": (
        lambda: demo_ops.scale(X, 1.0, alpha=2.0),
        "scale(): multiple values for argument 'alpha' (position 2)",
    ),
    "element": (
        lambda: demo_ops.strides_of(X, [0, 2.5]),
        "strides_of(): argument 'dims' (position 2): dims[1] must be int, not float (2.5)",
    ),
    "first element bool": (
        lambda: demo_ops.strides_of(X, (True, 2)),
        "strides_of(): argument 'dims' (position 2): dims[0] must be int, not bool (True)",
    ),
    "last element bool": (
        lambda: demo_ops.strides_of(X, (2, True)),
        "strides_of(): argument 'dims' (position 2): dims[1] must be int, not bool (True)",
    ),
    "element none": (
        lambda: demo_ops.strides_of(X, (2, None)),
        "strides_of(): argument 'dims' (position 2): dims[1] must be int, not None",
    ),
    "int for int[]": (
        lambda: demo_ops.strides_of(X, 0),
        "strides_of(): argument 'dims' (position 2) must be int[] or None, not int (0)",
    ),
    "tensor element": (
        lambda: demo_ops.weighted_sum([X, 1]),
        "weighted_sum(): argument 'tensors' (position 1): tensors[1] must be Tensor, not int (1)",
    ),
    "bool for int": (
        lambda: demo_ops.busy_wait_ms(True),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not bool (True)",
    ),
    "numpy bool for int": (
        lambda: demo_ops.busy_wait_ms(np.bool_(True)),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not numpy.bool",
    ),
    "float for int": (
        lambda: demo_ops.busy_wait_ms(0.0),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not float (0.0)",
    ),
    "numpy float for int": (
        lambda: demo_ops.busy_wait_ms(np.float64(0)),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not numpy.float64",
    ),
    "float tensor for int": (
        lambda: demo_ops.busy_wait_ms(torch.tensor(2.7)),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not a float32 tensor of shape ()",
    ),
    "1-d tensor for int": (
        lambda: demo_ops.busy_wait_ms(torch.tensor([2])),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not an int64 tensor of shape (1,)",
    ),
    "tensor with grad for float": (
        lambda: demo_ops.scale(X, torch.tensor(2.0, requires_grad=True)),
        "scale(): argument 'alpha' (position 2) must be float, not a float32 tensor of shape () "
        "that requires grad",
    ),
    "parameter for int": (
        lambda: demo_ops.busy_wait_ms(torch.nn.Parameter(torch.ones(2))),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not a float32 tensor of shape "
        "(2,) that requires grad",
    ),
    "subclass for int": (
        lambda: demo_ops.busy_wait_ms(torch.ones(2).as_subclass(Sub)),
        "busy_wait_ms(): argument 'ms' (position 1) must be int, not a float32 tensor of shape "
        "(2,)",
    ),
    "complex for float": (
        lambda: demo_ops.scale(X, 1j),
        "scale(): argument 'alpha' (position 2) must be float, not complex",
    ),
    "int for bool": (
        lambda: demo_ops.describe(X, verbose=1),
        "describe(): argument 'verbose' must be bool, not int (1)",
    ),
    "bytes for str": (
        lambda: demo_ops.describe(X, b"x"),
        "describe(): argument 'prefix' (position 2) must be str, not bytes",
    ),
    "str for dtype": (
        lambda: demo_ops.cast(X, "float32"),
        "cast(): argument 'dtype' (position 2) must be torch.dtype, not str ('float32')",
    ),
    "long text is not repeated": (
        lambda: demo_ops.scale(X, "x" * 1000),
        "scale(): argument 'alpha' (position 2) must be float, not str",
    ),
}


@pytest.mark.parametrize(("call", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value) == text


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 10**20, np.uint64(2**63)], ids=str)
def test_ints_beyond_64_bits_are_named(number: int) -> None:
    with pytest.raises(OverflowError) as raised:
        demo_ops.busy_wait_ms(number)
    assert str(raised.value) == (
        "busy_wait_ms(): argument 'ms' (position 1) must lie between -2**63 and 2**63 - 1"
    )
    with pytest.raises(OverflowError) as raised:
        demo_ops.strides_of(X, (0, number))
    assert str(raised.value) == (
        "strides_of(): argument 'dims' (position 2): dims[1] must lie between -2**63 and 2**63 - 1"
    )


def test_numbers_beyond_a_float_or_a_scalar_are_named() -> None:
    with pytest.raises(OverflowError) as raised:
        demo_ops.scale(X, 10**400)
    assert str(raised.value) == "scale(): argument 'alpha' (position 2) is too large for a float"
    with pytest.raises(OverflowError) as raised:
        demo_ops.add(X, X, alpha=2**64)
    assert str(raised.value) == "add(): argument 'alpha' must lie between -2**63 and 2**64 - 1"


def test_overloads_name_every_candidate_with_its_reason_nearest_first() -> None:
    with pytest.raises(TypeError) as raised:
        demo_ops.add(X, X, alpha="2")
    assert str(raised.value) == (
        "add(): no signature takes these arguments; the nearest comes first:\n"
        "  add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None) -> Tensor\n"
        "    argument 'alpha' must be Scalar, not str ('2')\n"
        "  add(Tensor input, Scalar other, Scalar alpha=1) -> Tensor\n"
        "    argument 'other' (position 2) must be Scalar, not a float32 tensor of shape (2, 3)"
    )


def test_overloads_name_the_unknown_keyword() -> None:
    with pytest.raises(TypeError) as raised:
        demo_ops.sum(X, axs=0)
    assert str(raised.value) == (
        "sum(): no signature takes these arguments; the nearest comes first:\n"
        "  sum(Tensor input, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, "
        "Tensor? out=None) -> Tensor\n"
        "    unexpected keyword argument 'axs'; did you mean 'axis' (alias of 'dim')?\n"
        "  sum(Tensor input, *, ScalarType? dtype=None) -> Tensor\n"
        "    unexpected keyword argument 'axs'"
    )


def test_a_refused_call_says_to_programs_what_it_says_to_people() -> None:
    with pytest.raises(TypeError) as raised:
        demo_ops.scale(X, alhpa=2.0)
    error: Any = raised.value
    assert (error.function, error.argument) == ("scale", "alhpa")
    assert error.candidates == (
        (
            "scale(Tensor input, float alpha=1.0) -> Tensor",
            "unexpected keyword argument 'alhpa'; did you mean 'alpha'?",
        ),
    )


# --- errors while an argument is read -------------------------------------------------------------

NO_INDEX = "only integer scalar arrays can be converted to a scalar index"


def torchs_text(device: str) -> str:
    with pytest.raises(RuntimeError) as raised:
        torch.device(device)
    return str(raised.value)


UNREADABLE: dict[str, tuple[Callable[[], Any], type[Exception], str, str]] = {
    "array for int": (
        lambda: demo_ops.busy_wait_ms(np.array([1, 2])),
        TypeError,
        "ms",
        f"argument 'ms' (position 1): {NO_INDEX}",
    ),
    "array in a list": (
        lambda: demo_ops.strides_of(X, [0, np.array([1, 2])]),
        TypeError,
        "dims",
        f"argument 'dims' (position 2): dims[1]: {NO_INDEX}",
    ),
    "no device": (
        lambda: demo_ops.cast(X, torch.int8, device="cqu"),
        RuntimeError,
        "device",
        f"argument 'device': {torchs_text('cqu')}",
    ),
    "no device's index": (
        lambda: demo_ops.cast(X, torch.int8, device="cpu:x"),
        RuntimeError,
        "device",
        f"argument 'device': {torchs_text('cpu:x')}",
    ),
}


@pytest.mark.parametrize(
    ("call", "expected", "argument", "reason"), UNREADABLE.values(), ids=UNREADABLE.keys()
)
def test_an_error_while_reading_names_the_argument(
    call: Callable[[], Any], expected: type[Exception], argument: str, reason: str
) -> None:
    with pytest.raises(expected) as raised:
        call()
    assert type(raised.value) is expected
    error: Any = raised.value
    assert str(error) == f"{error.function}(): {reason}"
    assert error.argument == argument
    ((signature, said),) = error.candidates
    assert signature == getattr(demo_ops, error.function).__doc__.splitlines()[0]
    assert said == reason


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs exceptions with notes")
def test_an_error_of_more_than_a_text_gets_a_note() -> None:
    with pytest.raises(UnicodeEncodeError) as raised:
        demo_ops.describe(X, "\ud800")
    assert raised.value.object == "\ud800"
    assert raised.value.__notes__ == ["describe(): argument 'prefix' (position 2)"]


class Own(Exception):
    pass


class Loud:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __index__(self) -> int:
        raise self.error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TypeError, OverflowError, Own])
def test_exceptions_of_python_code_pass_unchanged(kind: type[BaseException]) -> None:
    calls: list[Callable[[Loud], Any]] = [
        lambda loud: demo_ops.busy_wait_ms(loud),
        lambda loud: demo_ops.sum(X, [0, loud]),
    ]
    for call in calls:
        error = kind("mine")
        with pytest.raises(kind) as raised:
            call(Loud(error))
        assert raised.value is error
        assert error.args == ("mine",)
        assert not hasattr(error, "__notes__")
        assert error.__cause__ is None
        assert error.__context__ is None


@pytest.mark.fault("E2")
@pytest.mark.parametrize(
    ("kind", "expected", "text"),
    [
        ("error", LookupError, "foreign: no std::exception"),
        ("interrupt", InterruptedError, "interrupt"),
        ("timeout", TimeoutError, "too late"),
        ("unlisted", RuntimeError, "not listed"),
        ("translator", RuntimeError, "the translator failed"),
    ],
)
def test_translators_know_another_librarys_exceptions(
    kind: str, expected: type[Exception], text: str, objects: Any
) -> None:
    """The last that was registered is asked first; what one throws itself is shown."""
    with pytest.raises(expected) as raised:
        objects.raise_foreign(kind)
    assert type(raised.value) is expected
    assert str(raised.value) == text


# --- exceptions of kernels ------------------------------------------------------------------------

KINDS: dict[str, type[BaseException]] = {
    "error": RuntimeError,
    "index_error": IndexError,
    "value_error": ValueError,
    "type_error": TypeError,
    "not_implemented": NotImplementedError,
    "out_of_memory": torch.OutOfMemoryError,
    "runtime_error": RuntimeError,
    "out_of_range": IndexError,
    "invalid_argument": ValueError,
    "domain_error": ValueError,
    "length_error": ValueError,
    "range_error": ValueError,
    "overflow_error": OverflowError,
    "system_error": RuntimeError,
    "bad_alloc": MemoryError,
    "python_error": KeyError,
    "int": RuntimeError,
}


@pytest.mark.fault("E1")
@pytest.mark.parametrize(("kind", "expected"), KINDS.items(), ids=KINDS.keys())
def test_exceptions_of_kernels(kind: str, expected: type[BaseException]) -> None:
    with pytest.raises(expected) as raised:
        demo_ops.raise_error(kind)
    assert type(raised.value) is expected
    text = str(raised.value)
    assert "frame #" not in text
    assert "Exception raised from" not in text
    assert "no known kind" not in text


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        demo_ops.raise_error("nonsense")


def test_text_that_is_no_utf8_keeps_its_type() -> None:
    with pytest.raises(ValueError, match="\ufffd"):
        demo_ops.raise_error("not_utf8")


def test_a_failed_call_leaves_the_module_usable() -> None:
    for _ in range(100):
        with pytest.raises(IndexError):
            demo_ops.sum(X, 7)
    assert demo_ops.sum(X).item() == 6
