"""What torch's own functions make of a call, and what ours make of the same: docs/differences.md.

Each test calls both and says what each does, so that it fails when a difference is gone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import libraries
import numpy as np
import programs
import pytest
import torch

LIB = libraries.built("differences")
ours = libraries.imported("differences")

X = torch.arange(6.0).reshape(2, 3)
# torch's own: an imaginary part that is lost, and an output that is resized.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Casting complex values to real"),
    pytest.mark.filterwarnings("ignore:An output with one or more elements was resized"),
]
# Takes the module that is called: torch, or the one that was built.
Call = Callable[[Any], Any]


class Index:
    """Has `__index__`, which gives what it was made with, or raises that."""

    def __init__(self, value: int | BaseException) -> None:
        self.value = value

    def __index__(self) -> int:
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


def outcome(call: Callable[[], Any]) -> Any:
    """The result, or the type of the exception."""
    try:
        return call()
    except BaseException as error:
        return type(error)


def is_same(got: object, expected: object) -> bool:
    if isinstance(got, torch.Tensor) and isinstance(expected, torch.Tensor):
        return got.dtype == expected.dtype and torch.equal(got, expected)
    return type(got) is type(expected) and bool(got == expected)


def called(call: Call, module: Any) -> Any:
    return outcome(lambda: call(module))


def check(call: Call, theirs: object, here: object, peer: Any = torch) -> None:
    """The call gives `theirs` there and `here` here: a result, or the type of an exception."""
    assert not is_same(theirs, here)
    for module, expected in ((peer, theirs), (ours, here)):
        got = called(call, module)
        assert is_same(got, expected), f"{module.__name__}: {got!r}, not {expected!r}"


def text_of(call: Callable[[], Any]) -> str:
    with pytest.raises(Exception) as raised:
        call()
    return str(raised.value)


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.difference("D1")
@pytest.mark.parametrize(
    "value", [2**63, -(2**63) - 1, 2**64, 10**400, np.uint64(2**63)], ids=lambda v: str(v)[:25]
)
def test_an_int_beyond_64_bits(value: Any) -> None:
    check(lambda m: m.cumsum(X, value), ValueError, OverflowError)
    check(lambda m: m.sum(X, value), ValueError, OverflowError)
    check(lambda m: m.roll(X, [0, value], [0, 1]), TypeError, OverflowError)
    assert "'dim'" not in text_of(lambda: torch.cumsum(X, value))
    assert "'dim'" in text_of(lambda: ours.cumsum(X, value))


@pytest.mark.difference("D2")
@pytest.mark.parametrize("value", [Index(1), np.array(1)], ids=["__index__", "array"])
def test_what_has_index_is_an_int(value: Any) -> None:
    check(lambda m: m.cumsum(X, value), TypeError, X.cumsum(1))
    # One that stands for all elements.
    check(lambda m: m.sum(X, value), RuntimeError, X.sum(1))
    check(lambda m: m.roll(X, value, 0), RuntimeError, X.roll(1, 0))
    assert "INTERNAL ASSERT" in text_of(lambda: torch.sum(X, value))


@pytest.mark.difference("D3")
def test_a_bool_behind_an_int() -> None:
    check(lambda m: m.sum(X, [0, True]), X.sum(), TypeError)
    assert outcome(lambda: torch.sum(X, [True, 0])) is TypeError
    check(lambda m: m.zeros(2, True), torch.zeros(2, 1), TypeError)


@pytest.mark.difference("D4")
@pytest.mark.parametrize("value", [torch.tensor([1]), torch.tensor([[1]])], ids=["1-dim", "2-dim"])
def test_a_tensor_of_one_element(value: Any) -> None:
    check(lambda m: m.sum(X, value), X.sum(1), TypeError)
    check(lambda m: m.sum(X, [value]), X.sum(1), TypeError)
    check(lambda m: m.roll(X, value, 0), X.roll(1, 0), TypeError)
    assert outcome(lambda: torch.cumsum(X, value)) is TypeError


def test_a_bool_tensor() -> None:
    value: Any = torch.tensor(True)
    check(lambda m: m.sum(X, value), X.sum(1), TypeError)
    check(lambda m: m.roll(X, value, 0), X.roll(1, 0), TypeError)
    check(lambda m: m.sum(X, [0, value]), X.sum(), TypeError)
    check(lambda m: m.roll(X, [value], 0), RuntimeError, TypeError)
    assert "Could this error message be improved" in text_of(lambda: torch.roll(X, [value], 0))


@pytest.mark.difference("D6")
def test_a_bool_of_numpys() -> None:
    value = np.bool_(True)
    check(lambda m: m.sum(X, 0, value), TypeError, X.sum(0, keepdim=True))
    check(lambda m: m.full((1,), value), torch.tensor([1.0]), torch.tensor([True]))


@pytest.mark.difference("D7")
def test_the_imaginary_part_of_complex64() -> None:
    value: Any = np.complex64(1 + 2j)
    check(lambda m: m.full((1,), value), torch.tensor([1.0]), torch.tensor([1 + 2j]))
    check(lambda m: m.add(X, X, alpha=value), X + X, RuntimeError)


@pytest.mark.parametrize("value", [np.complex64(1j), np.complex128(1j), np.timedelta64(1)])
def test_what_is_no_float(value: Any) -> None:
    check(lambda m: m.allclose(X, X, value), True, TypeError)


def test_a_complex_tensor_is_no_float() -> None:
    check(lambda m: m.allclose(X, X, torch.tensor(1j)), RuntimeError, TypeError)


@pytest.mark.difference("D9")
def test_a_large_unsigned_int_of_numpys() -> None:
    value: Any = np.uint64(2**63)
    check(lambda m: m.add(X, X, alpha=value), TypeError, X + X * 2.0**63)
    assert torch.equal(torch.add(X, X, alpha=2**63), X + X * 2.0**63)


def test_a_device_index_beyond_8_bits() -> None:
    check(lambda m: m._cufft_get_plan_cache_size(2**31), RuntimeError, OverflowError)
    # There it reaches the kernel, as another number.
    assert "cuFFT" in text_of(lambda: torch._cufft_get_plan_cache_size(2**31))


@pytest.mark.difference("D5")
def test_the_default_of_reduction() -> None:
    check(lambda m: m.l1_loss(X, -X), 2 * X, (2 * X).mean(), peer=torch._C._nn)
    # Which is 1; torch.nn.functional gives it always.
    given: Any = 1
    assert torch.equal(torch._C._nn.l1_loss(X, -X, given), (2 * X).mean())


@pytest.mark.difference("D8")
def test_none_in_a_list_of_optional_tensors() -> None:
    rows: Any = [None, torch.tensor([0])]
    expected = torch.tensor([[7.0, 1, 2], [7, 4, 5]])
    check(lambda m: m.index_put(X, rows, torch.tensor(7.0)), TypeError, expected)


@pytest.mark.difference("D10")
def test_exceptions_of_the_cpp_library() -> None:
    check(lambda m: m._add_batch_dim(X, -1, 1), RuntimeError, IndexError)
    texts = [text_of(lambda m=m: m._add_batch_dim(X, -1, 1)) for m in (torch, ours)]  # type: ignore[misc]
    assert texts[0] == texts[1]


@pytest.mark.difference("D13")
def test_arguments_of_a_function_without_parameters() -> None:
    expected = torch._nnpack_available()
    check(lambda m: m._nnpack_available(out=1), expected, TypeError)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.difference("D11")
def test_bytes_are_no_text() -> None:
    check(lambda m: m.div(X, 2 * X + 1, rounding_mode=b"floor"), torch.zeros(2, 3), TypeError)
    check(lambda m: m.zeros(1, device=b"cpu"), torch.zeros(1), TypeError)


@pytest.mark.difference("D12")
def test_a_lone_surrogate() -> None:
    check(lambda m: m.div(X, X, rounding_mode="\ud800"), RuntimeError, UnicodeEncodeError)
    check(lambda m: m.zeros(1, device="\ud800"), RuntimeError, UnicodeEncodeError)


def test_an_int_of_numpys_is_no_device() -> None:
    check(lambda m: m.zeros(1, device=np.int64(-1)), RuntimeError, TypeError)
    # An int of Python's own is one to both.
    assert outcome(lambda: ours.zeros(1, device=-1)) is RuntimeError


# --- which overload -------------------------------------------------------------------------------


@pytest.mark.difference("D14")
def test_a_list_whose_first_element_decides() -> None:
    tensors = [X, X]
    scalars: Any = [1.5, torch.tensor(2.0)]
    expected = (X * 1.5, X * 2)
    assert outcome(lambda: torch._foreach_mul(tensors, scalars)) is TypeError
    assert all(map(torch.equal, ours._foreach_mul(tensors, scalars), expected))
    assert all(map(torch.equal, torch._foreach_mul(tensors, [1.5, 2.0]), expected))


@pytest.mark.difference("D15")
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, KeyError])
def test_an_exception_of_index(error: type[BaseException]) -> None:
    check(lambda m: m.sum(X, [0, Index(error())]), TypeError, error)
    check(lambda m: m.roll(X, [Index(error())], 0), TypeError, error)


# --- objects --------------------------------------------------------------------------------------


@pytest.mark.difference("D16")
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_exception_of_the_lookup_of_torch_function(error: type[BaseException]) -> None:
    class Odd:
        @property
        def __torch_function__(self) -> Any:
            raise error

    check(lambda m: m.add(X, Odd()), TypeError, error)


TWO = ("torch", "differences_ops")

CHANGING = """
import torch, differences_ops
X = torch.ones(2, 2)
class Clears:
    def __index__(self):
        numbers.clear()
        return 1
for _ in range(100):
    numbers = [0]
    numbers += [Clears(), *range(2, 2000)]
    try: {module}.sum(X, numbers)
    except (RuntimeError, TypeError): pass
print("done")
"""


@pytest.mark.difference("D17")
def test_a_list_that_is_emptied_while_it_is_read() -> None:
    theirs, here = (programs.run(CHANGING.format(module=m), LIB) for m in TWO)
    assert theirs.returncode < 0  # ended by a signal
    assert (here.returncode, here.stdout) == (0, "done\n"), here.stderr


AT_EXIT = """
import threading, time, torch, differences_ops
X = torch.ones(2)
def loop():
    # A result that the thread drops is freed by torch, which aborts then too.
    while True: {module}.add(X, X, out=X)
for _ in range(4):
    threading.Thread(target=loop, daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.difference("D18")
def test_a_daemon_thread_inside_a_function_at_exit() -> None:
    theirs, here = ([exit_code(AT_EXIT.format(module=m)) for _ in range(2)] for m in TWO)
    assert min(theirs) < 0  # aborted
    assert here == [0, 0]


def exit_code(program: str) -> int:
    return programs.run(program, LIB).returncode


@pytest.mark.difference("D26")
def test_an_int_among_results() -> None:
    heads = torch.empty(1, 2, 3, 8, device="meta")
    check(
        lambda m: m._scaled_dot_product_flash_attention(heads, heads, heads)[4], torch.tensor(3), 3
    )


# --- what torch keeps in code, and a library says in its YAML -------------------------------------


@pytest.mark.difference("D19")
def test_numpys_names_of_arguments() -> None:
    check(lambda m: m.sum(X, axis=0), X.sum(0), TypeError)
    check(lambda m: m.cumsum(x=X, dim=0), X.cumsum(0), TypeError)
    assert outcome(lambda: ours.sum(X, dim=0)).shape == (3,)


@pytest.mark.difference("D20")
def test_a_number_for_a_tensor() -> None:
    check(lambda m: m.mul(X, 2), X * 2, TypeError)
    # Even to write into.
    check(lambda m: m.add(X, X, out=0.5), (X + X).double(), TypeError)


@pytest.mark.difference("D21")
@pytest.mark.filterwarnings("ignore:This overload of add is deprecated")
def test_old_signatures() -> None:
    check(lambda m: m.add(X, 2, X), X + 2 * X, TypeError)


@pytest.mark.difference("D22")
def test_none_for_a_list_whose_default_is_empty() -> None:
    check(lambda m: m.roll(X, 1, None), X.roll(1), TypeError)
    assert torch.equal(ours.roll(X, 1), X.roll(1))


# --- what is said ---------------------------------------------------------------------------------


@pytest.mark.difference("D23")
def test_a_misspelled_keyword() -> None:
    wrong: Any = {"dimm": 0}
    theirs = text_of(lambda: torch.cumsum(X, **wrong))
    here = text_of(lambda: ours.cumsum(X, **wrong))
    assert "dimm" not in theirs
    assert "did you mean 'dim'" in here


@pytest.mark.difference("D24")
def test_a_signature_that_python_can_read() -> None:
    check(lambda m: str(inspect.signature(m.cumsum)), ValueError, "(input, dim, *, dtype=None)")


# --- own ops --------------------------------------------------------------------------------------


@pytest.mark.difference("D25")
def test_what_torch_ops_makes_of_an_argument() -> None:
    def given(**arguments: Any) -> Call:
        return lambda m: tuple(m.given(**arguments))

    def differs(theirs: object, here: object, **arguments: Any) -> None:
        check(given(**arguments), theirs, here, peer=torch.ops.differences)

    differs((True, 0, 0), TypeError, b=1.5)
    differs((False, 0, 0), TypeError, b=None)
    differs((False, 1, 0), TypeError, k=True)
    differs((False, 2, 0), TypeError, k=torch.tensor(2.7))
    differs(RuntimeError, OverflowError, k=2**63)
    differs(RuntimeError, (False, 0, 2), s=np.int64(2))
