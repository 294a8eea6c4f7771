"""The faults of other bindings, one test each: docs/faults.md says what they are.

The ops of libraries/faults give back what they got: what is compared is the value that arrived.
Faults whose tests stand elsewhere are marked there.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import daemon_exits
import libraries
import numpy as np
import planning
import programs
import pytest
import torch
from programs import in_threads

LIB = libraries.built("faults")
ops = libraries.imported("faults")

X = torch.ones(2)
REPO = Path(__file__).parents[2]


class Refused(NamedTuple):
    """What a wrong call must raise, and what its text must say."""

    error: type[BaseException]
    texts: tuple[str, ...]


def type_error(*texts: str) -> Refused:
    return Refused(TypeError, texts)


def overflow(*texts: str) -> Refused:
    return Refused(OverflowError, texts)


def check(call: Callable[[], Any], expected: object) -> None:
    """The call gives exactly `expected`, type and bits; or is refused as it says."""
    if not isinstance(expected, Refused):
        got = call()
        assert type(got) is type(expected)
        assert repr(got) == repr(expected)  # repr tells -0.0 from 0.0, and nan is nan
        return
    with pytest.raises(expected.error) as raised:
        call()
    assert type(raised.value) is expected.error
    for text in expected.texts:
        assert text in str(raised.value)


def run(program: str) -> subprocess.CompletedProcess[str]:
    return programs.run(f"import torch, faults_ops as ops\n{program}", LIB)


class Index:
    """An object that is an int by `__index__`."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value() if callable(self.value) else self.value  # type: ignore[return-value]


class Float:
    def __float__(self) -> float:
        return 1.5


# --- the GIL --------------------------------------------------------------------------------------

OUT = torch.ones(2)


def thrown(ms: object) -> None:
    with pytest.raises(RuntimeError, match="thrown after waiting"):
        ops.gil_throw(X, ms)


RELEASING: dict[str, Callable[[int], Any]] = {
    "int": lambda ms: ops.gil(X, ms),
    "str": lambda ms: ops.gil_str(X, ms),
    "list": lambda ms: ops.gil_list([X, X], ms),
    "pair": lambda ms: ops.gil_pair(X, ms),
    "in place": lambda ms: ops.gil_(X, ms),
    "out": lambda ms: ops.gil_into(X, ms, out=OUT),
    "nothing": lambda ms: ops.gil_nothing(ms),
    "throws": thrown,
}


@pytest.mark.fault("G1")
@pytest.mark.parametrize("call", RELEASING.values(), ids=RELEASING.keys())
def test_other_threads_run_while_a_kernel_does(call: Callable[[int], Any]) -> None:
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        time.sleep(0.02)
        before = counted[0]
        call(150)
        during = counted[0] - before
    finally:
        stop.set()
        thread.join()
    assert ops.last_gil() == 0
    # Held, the GIL lets the other thread in at most at both ends of the call.
    assert during > 20


def test_every_dispatch_releases_the_gil_once() -> None:
    generated = (LIB.parent / "generated/faults_ops_functions_0.cpp").read_text()
    dispatches = re.findall(r" dispatch_\w+\([^{;]*\{\n  .*?\n\}\n", generated, re.DOTALL)
    assert len(dispatches) >= 30
    assert [d for d in dispatches if d.count("without_gil(") != 1] == []


@pytest.mark.fault("G2")
def test_arguments_are_read_and_results_made_with_the_gil() -> None:
    holds_gil = ctypes.PyDLL(None).PyGILState_Check
    seen: list[int] = []

    def observed() -> int:
        seen.append(holds_gil())
        return 0

    index = Index(observed)
    calls: list[Callable[[], Any]] = [
        lambda: ops.gil(X, index),
        lambda: ops.gil_str(X, index),
        lambda: ops.gil_list([X, X], index),
        lambda: ops.gil_pair(X, index),
        lambda: thrown(index),
    ]
    for call in calls:
        call()
        assert ops.last_gil() == 0
    assert seen == [1] * len(calls)
    # Counts that all threads change would drift if one were touched without the GIL.
    gc.collect()
    before = [sys.getrefcount(X), sys.getrefcount(OUT)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert in_threads(lambda _: [call() for call in calls for _ in range(200)], count=6) == []
    finally:
        sys.setswitchinterval(interval)
    gc.collect()
    assert [sys.getrefcount(X), sys.getrefcount(OUT)] == before


@pytest.mark.fault("G3")
@pytest.mark.parametrize("kind", daemon_exits.CALLS)
def test_daemon_threads_inside_ops_at_exit(kind: str) -> None:
    """More of them: make exits."""
    assert daemon_exits.ends(kind, runs=2) == {"0": 2}


# --- numbers --------------------------------------------------------------------------------------

NO_INT = type_error("as_int(): argument 'k' (position 2) must be int, not ")
NO_BOOL = type_error("as_bool(): argument 'b' (position 2) must be bool, not ")
NO_FLOAT = type_error("as_float(): argument 'f' (position 2) must be float, not ")
NO_SCALAR = type_error("as_scalar(): argument 's' (position 2) must be Scalar, not ")

NUMPY_NUMBERS: list[tuple[Callable[[Any], Any], object, object]] = [
    *((lambda v: ops.as_int(X, v), getattr(np, f"{sign}int{bits}")(2), 2)
      for sign in ("", "u") for bits in (8, 16, 32, 64)),
    (lambda v: ops.as_int(X, v), np.array(2), 2),
    (lambda v: ops.as_int(X, v), np.intp(-3), -3),
    (lambda v: ops.as_int(X, v), np.bool_(True), NO_INT),
    (lambda v: ops.as_int(X, v), np.float64(2), NO_INT),
    (lambda v: ops.as_int(X, v), np.float16(2), NO_INT),
    (lambda v: ops.as_int(X, v), np.timedelta64(2), NO_INT),
    (lambda v: ops.as_bool(X, v), np.bool_(True), True),
    (lambda v: ops.as_bool(X, v), np.bool_(False), False),
    (lambda v: ops.as_bool(X, v), np.int64(1), NO_BOOL),
    (lambda v: ops.as_float(X, v), np.bool_(True), 1.0),
    (lambda v: ops.as_float(X, v), np.float16(0.5), 0.5),
    (lambda v: ops.as_float(X, v), np.float32(0.1), float(np.float32(0.1))),
    (lambda v: ops.as_float(X, v), np.int8(-3), -3.0),
    (lambda v: ops.as_float(X, v), np.timedelta64(2), NO_FLOAT),
    (lambda v: ops.as_scalar(X, v), np.bool_(True), True),
    (lambda v: ops.as_scalar(X, v), np.uint64(2**64 - 1), 2**64 - 1),
    (lambda v: ops.as_scalar(X, v), np.int64(-2), -2),
    (lambda v: ops.as_scalar(X, v), np.float32(0.5), 0.5),
    (lambda v: ops.as_scalar(X, v), np.timedelta64(2), NO_SCALAR),
]  # fmt: skip


@pytest.mark.fault("P1")
@pytest.mark.parametrize(("call", "value", "expected"), NUMPY_NUMBERS, ids=repr)
def test_numpy_numbers(call: Callable[[Any], Any], value: object, expected: object) -> None:
    check(lambda: call(value), expected)


BOOLS: list[tuple[Callable[[], Any], object]] = [
    (lambda: ops.as_int(X, True), type_error("'k' (position 2) must be int, not bool (True)")),
    (lambda: ops.as_int(X, k=False), type_error("'k' (position 2) must be int, not bool (False)")),
    (lambda: ops.as_int(X, torch.tensor(True)), NO_INT),
    (lambda: ops.as_ints(X, (1, True)), type_error("s[1] must be int, not bool (True)")),
    (lambda: ops.as_ints(X, [True]), type_error("s[0] must be int, not bool (True)")),
    (lambda: ops.as_pair(X, True), type_error("must be int[2], not bool (True)")),
    (lambda: ops.as_bool(X, 1), type_error("'b' (position 2) must be bool, not int (1)")),
    (lambda: ops.as_bool(X, 0.0), NO_BOOL),
    (lambda: ops.as_bool(X, None), NO_BOOL),
    (lambda: ops.as_bool(X, torch.tensor(True)), NO_BOOL),
    (lambda: ops.as_bool(X, "True"), NO_BOOL),
    (lambda: ops.either(X, True), "a"),
    (lambda: ops.either(X, 1), "b"),
    (lambda: ops.either(X, [1]), "b"),
    (lambda: ops.either(X, np.bool_(True)), "a"),
]


@pytest.mark.fault("P2")
@pytest.mark.parametrize(("call", "expected"), BOOLS)
def test_a_bool_is_no_int(call: Callable[[], Any], expected: object) -> None:
    check(call, expected)


BAD_ELEMENTS: list[tuple[Any, object]] = [
    ((True, 2), type_error("s[0] must be int, not bool (True)")),
    ((2, True), type_error("s[1] must be int, not bool (True)")),
    ((2, 6.0), type_error("s[1] must be int, not float (6.0)")),
    ((2, None), type_error("s[1] must be int, not None")),
    ([2, 3, np.float64(6)], type_error("s[2] must be int, not numpy.float64")),
    ((2, torch.tensor(2.5)), type_error("s[1] must be int, not a float32 tensor")),
    ((2, [3]), type_error("s[1] must be int, not list")),
    ((2, "3"), type_error("s[1] must be int, not str ('3')")),
    ((2, Index(3)), [2, 3]),
    ((Index(2), 3), [2, 3]),
    ((2, torch.tensor(3)), [2, 3]),
    ([np.int8(2), np.uint64(3)], [2, 3]),
]


@pytest.mark.fault("P3")
@pytest.mark.parametrize(("value", "expected"), BAD_ELEMENTS, ids=repr)
def test_every_element_is_checked(value: Any, expected: object) -> None:
    expected = tuple(expected) if isinstance(expected, list) else expected
    check(lambda: ops.as_ints(X, value), expected)


def test_a_bad_later_element_leaves_the_call_to_the_next_overload() -> None:
    assert ops.list_or_tensor(X, [1, 2]) == "l"
    assert ops.list_or_tensor(X, [X, X]) == "t"
    with pytest.raises(TypeError, match=r"n\[1\] must be int, not a float32 tensor") as raised:
        ops.list_or_tensor(X, [1, X])
    assert "n[0] must be Tensor, not int (1)" in str(raised.value)


RANGE = "must lie between -2**63 and 2**63 - 1"
LARGE: list[tuple[Callable[[], Any], object]] = [
    (lambda: ops.as_int(X, 2**63 - 1), 2**63 - 1),
    (lambda: ops.as_int(X, -(2**63)), -(2**63)),
    (lambda: ops.as_int(X, 2**63), overflow("as_int(): argument 'k' (position 2)", RANGE)),
    (lambda: ops.as_int(X, -(2**63) - 1), overflow("as_int(): argument 'k'", RANGE)),
    (lambda: ops.as_int(X, 10**400), overflow("as_int(): argument 'k'", RANGE)),
    (lambda: ops.as_int(X, np.uint64(2**63)), overflow("as_int(): argument 'k'", RANGE)),
    (lambda: ops.as_int(X, Index(2**64)), overflow("as_int(): argument 'k'", RANGE)),
    (lambda: ops.as_ints(X, (1, 10**20)), overflow("as_ints(): argument 's'", "s[1]", RANGE)),
    (lambda: ops.as_ints(X, [2**63 - 1, -(2**63)]), (2**63 - 1, -(2**63))),
    (lambda: ops.as_pair(X, 2**63), overflow("as_pair(): argument 'k'", RANGE)),
    (lambda: ops.as_maybe(X, [0, -(2**70)]), overflow("as_maybe(): argument 'd'", "d[1]", RANGE)),
    (lambda: ops.pick(X, 2**63), overflow("pick(): argument 'n'", RANGE)),
    (lambda: ops.as_scalar(X, 2**64 - 1), 2**64 - 1),
    (lambda: ops.as_scalar(X, 2**64), overflow("as_scalar(): argument 's' (position 2)")),
    (lambda: ops.as_float(X, 10**400), overflow("as_float(): argument 'f' (position 2)")),
]


@pytest.mark.fault("P4")
@pytest.mark.parametrize(("call", "expected"), LARGE)
def test_numbers_that_do_not_fit_are_named(call: Callable[[], Any], expected: object) -> None:
    check(call, expected)


TENSORS_AS_NUMBERS: list[tuple[Callable[[], Any], object]] = [
    (lambda: ops.as_int(X, torch.tensor(2)), 2),
    (lambda: ops.as_int(X, torch.tensor(-3, dtype=torch.int8)), -3),
    (lambda: ops.as_int(X, torch.tensor(2.7)), NO_INT),
    (lambda: ops.as_int(X, torch.tensor(2.0)), NO_INT),
    (lambda: ops.as_int(X, torch.tensor([2])), NO_INT),
    (lambda: ops.as_int(X, torch.tensor(True)), NO_INT),
    (lambda: ops.as_int(X, torch.tensor(1j)), NO_INT),
    (lambda: ops.as_float(X, torch.tensor(2.5)), 2.5),
    (lambda: ops.as_float(X, torch.tensor(2)), 2.0),
    (lambda: ops.as_float(X, torch.tensor(2.0, requires_grad=True)), NO_FLOAT),
    (lambda: ops.as_float(X, torch.tensor([2.0])), NO_FLOAT),
    (lambda: ops.as_float(X, torch.tensor(1j)), NO_FLOAT),
    (lambda: ops.as_scalar(X, torch.tensor(1j)), 1j),
    (lambda: ops.as_scalar(X, torch.tensor(True)), True),
    (lambda: ops.as_scalar(X, torch.tensor(2.0, requires_grad=True)), NO_SCALAR),
]


@pytest.mark.fault("P6")
@pytest.mark.parametrize(("call", "expected"), TENSORS_AS_NUMBERS)
def test_a_tensor_is_no_other_number(call: Callable[[], Any], expected: object) -> None:
    check(call, expected)


LONE: list[tuple[Callable[[], Any], object]] = [
    (lambda: ops.as_pair(X, 3), (3, 3)),
    (lambda: ops.as_pair(X, np.int64(3)), (3, 3)),
    (lambda: ops.as_pair(X, torch.tensor(3)), (3, 3)),
    (lambda: ops.as_pair(X, Index(3)), (3, 3)),
    (lambda: ops.as_pair(X, k=3), (3, 3)),
    (lambda: ops.as_pair(X, [3, 4]), (3, 4)),
    (lambda: ops.as_pair(X, torch.tensor(3.0)), type_error("must be int[2], not a float32 tensor")),
    (lambda: ops.as_pair(X, 3.0), type_error("must be int[2], not float (3.0)")),
    (lambda: ops.as_maybe(X, 2), (2, 2)),
    (lambda: ops.as_maybe(X, torch.tensor(2)), (2, 2)),
    (lambda: ops.as_maybe(X, np.uint8(2)), (2, 2)),
    (lambda: ops.as_maybe(X, None), (-1,)),
    (lambda: ops.as_maybe(X), (-1,)),
    (lambda: ops.as_ints(X, 3), type_error("must be int[], not int (3)")),
    (lambda: ops.as_ints(X, torch.tensor(3)), type_error("must be int[], not an int64 tensor")),
]


@pytest.mark.fault("P7")
@pytest.mark.parametrize(("call", "expected"), LONE)
def test_one_int_stands_for_a_list_of_known_length(
    call: Callable[[], Any], expected: object
) -> None:
    check(call, expected)


PICKED: list[tuple[object, str]] = [
    (3, "i"),
    ([3], "l"),
    ((), "l"),
    (3.0, "s"),
    (torch.tensor(3.0), "t"),
    (torch.tensor(3), "t"),
    (np.int64(3), "i"),
    (np.float32(3), "s"),
    (True, "s"),
    (np.bool_(True), "s"),
    (1j, "s"),
    (Index(3), "i"),
    (torch.Size([3]), "l"),
]


@pytest.mark.fault("P9")
@pytest.mark.parametrize(("value", "expected"), PICKED, ids=repr)
def test_the_overload_of_the_exact_type_is_chosen(value: object, expected: str) -> None:
    assert ops.pick(X, value) == expected
    assert ops.pick(X, n=value) == expected


def test_the_order_of_the_file_has_no_part_in_the_choice() -> None:
    entries = [
        f"- func: pick.{name}(Tensor x, {type_} n) -> str\n"
        f"  dispatch: {{CompositeExplicitAutograd: pick_{name}}}\n"
        for name, type_ in {"i": "int", "l": "int[]", "s": "Scalar", "t": "Tensor"}.items()
    ]
    orders = {
        planning.rendered("".join(order))["demo_ops_functions_0.cpp"]
        for order in itertools.permutations(entries)
    }
    assert len(orders) == 1


def test_pairs_that_no_call_tells_apart_are_refused() -> None:
    dispatch = "\n  dispatch: {{CompositeExplicitAutograd: f_{}}}\n"
    entries = [
        f"- func: f.{name}(Tensor x, {type_} n) -> str" + dispatch.format(name)
        for name, type_ in {"a": "int", "b": "int"}.items()
    ]
    assert planning.faults("".join(entries)) != []


# --- calls ----------------------------------------------------------------------------------------

BY_NUMBER: Any = {1: 0}
WRONG_CALLS: list[tuple[Callable[[], Any], object]] = [
    (lambda: ops.keywords(X, 3), 30),
    (lambda: ops.keywords(X, 3, z=1), 31),
    (lambda: ops.keywords(z=1, d=3, x=X), 31),
    (lambda: ops.keywords(X, 0, 1), type_error("keywords(): takes at most 2 positional", "'z'")),
    (lambda: ops.keywords(X, 0, d=0), type_error("keywords(): multiple values", "'d'")),
    (lambda: ops.keywords(X, 0, q=1), type_error("keywords(): unexpected keyword argument 'q'")),
    (lambda: ops.keywords(X), type_error("keywords(): missing required argument 'd'")),
    (lambda: ops.keywords(), type_error("missing required arguments 'x'", "'d'")),
    (lambda: ops.keywords(X, **BY_NUMBER), type_error("keywords must be strings")),
    (
        lambda: ops.keywords(X, **{"d\u0308": 0}),
        type_error("unexpected keyword argument 'd\u0308'"),
    ),
    (lambda: ops.keywords(X, 0, zz=1), type_error("'zz'; did you mean 'z'?")),
    (lambda: ops.pick(X, 3, q=1), type_error("pick(): ", "unexpected keyword argument 'q'")),
    (lambda: ops.pick(X, 3, 4), type_error("pick(): ", "takes at most 2 positional")),
    (lambda: ops.pick(X, 3, n=4), type_error("pick(): ", "multiple values for argument 'n'")),
    (lambda: ops.pick(x=X), type_error("pick(): ", "missing required argument 'n'")),
]


@pytest.mark.fault("P10")
@pytest.mark.parametrize(("call", "expected"), WRONG_CALLS)
def test_a_wrong_call_names_the_culprit(call: Callable[[], Any], expected: object) -> None:
    check(call, expected)


@pytest.mark.fault("P11")
def test_defaults_arrive_bit_exact() -> None:
    assert repr(tuple(ops.defaults(X))) == repr((0.125, 1e-5, -1, False, (0, 1), "q", False))
    assert ops.defaults(X, o=None).has_o is False
    assert ops.defaults(X, o=0.0).has_o is True
    low, text = -(2**63), 'it\'s \\ "q" \n, ) = %s'
    assert repr(tuple(ops.exact(X))) == repr((5e-308, 0.1, 2**63 - 1, -0.0, low, text))
    registered = torch.ops.faults.exact(X)
    assert (registered[0], registered[1], registered[4], registered[5]) == (5e-308, 0.1, low, text)


REQUIRED: list[tuple[Callable[[], Any], object]] = [
    (lambda: ops.needs(X), type_error("needs(): missing required argument 'm' (position 2)")),
    (lambda: ops.needs(X, None), False),
    (lambda: ops.needs(X, X), True),
    (lambda: ops.needs(X, m=None), False),
    (lambda: ops.needs_number(X), type_error("missing required argument 'f' (position 2)")),
    (lambda: ops.needs_number(X, None), False),
    (lambda: ops.needs_number(X, 0.0), True),
]


@pytest.mark.parametrize(("call", "expected"), REQUIRED)
def test_an_optional_without_default_is_required(call: Callable[[], Any], expected: object) -> None:
    check(call, expected)


COMPLEX: list[tuple[Callable[[], Any], object]] = [
    (lambda: ops.as_scalar(X, 1j), 1j),
    (lambda: ops.as_scalar(X, np.complex64(2 + 1j)), 2 + 1j),
    (lambda: ops.as_scalar(X, np.complex128(1j)), 1j),
    (lambda: ops.as_scalar(X, complex(-0.0, -1.5)), complex(-0.0, -1.5)),
    (lambda: ops.as_float(X, 1j), NO_FLOAT),
    (lambda: ops.as_float(X, np.complex64(1j)), NO_FLOAT),
    (lambda: ops.as_float(X, np.complex128(2)), NO_FLOAT),
    (lambda: ops.as_int(X, np.complex64(1)), NO_INT),
    (lambda: ops.as_int(X, 1 + 0j), NO_INT),
    (lambda: ops.as_bool(X, 1j), NO_BOOL),
]


@pytest.mark.fault("P12")
@pytest.mark.parametrize(("call", "expected"), COMPLEX)
def test_no_imaginary_part_is_lost(call: Callable[[], Any], expected: object) -> None:
    check(call, expected)


CHANGING = {
    "cleared": "lambda: l.clear()",
    "cut": "lambda: l.__delitem__(slice(1, None))",
    "grown": "lambda: l.extend([7] * 1000)",
    "filled with something else": "lambda: l.__setitem__(slice(None), [None] * len(l))",
    "emptied of its last reference": "lambda: (l.__setitem__(0, 5), gc.collect())",
}


@pytest.mark.fault("P14")
@pytest.mark.parametrize("change", CHANGING.values(), ids=CHANGING.keys())
def test_a_list_that_changes_while_it_is_read(change: str) -> None:
    program = f"""
import faulthandler, gc
faulthandler.enable()
X = torch.ones(2)
l = []
change = {change}
class Evil:
    def __index__(self):
        change()
        return 1
class EvilTensor:
    @property
    def __torch_function__(self):
        change()
        raise AttributeError
def attempt(call, items):
    l[:] = items
    try: call()
    except (TypeError, RuntimeError, ValueError, AttributeError): pass
for _ in range(100):
    attempt(lambda: ops.as_ints(X, l), [0, Evil(), 2, 3])
    attempt(lambda: ops.as_ints(X, l), [Evil(), Evil(), 2] + list(range(20)))
    attempt(lambda: ops.as_pair(X, l), [Evil(), 2])
    attempt(lambda: ops.as_maybe(X, l), [1, Evil()])
    attempt(lambda: ops.pick(X, l), [Evil(), 1, 2])
    attempt(lambda: ops.list_or_tensor(X, l), [Evil(), 1, 2])
    attempt(lambda: ops.count_of(l), [torch.ones(1), EvilTensor(), torch.ones(1)])
    attempt(lambda: ops.gil_list(l), [EvilTensor(), torch.ones(1), torch.ones(1)])
print("done")
"""
    result = run(program)
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


# --- interrupts -----------------------------------------------------------------------------------


@pytest.mark.fault("E4")
def test_ctrl_c_is_raised_when_the_op_returns() -> None:
    program = """
import signal, threading, time, os
X = torch.ones(2)
for call in (lambda: ops.gil(X, 600), lambda: ops.gil_nothing(600), lambda: ops.gil_list([X], 600),
             lambda: ops.gil_throw(X, 600)):
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        call()
        time.sleep(0)  # a bytecode boundary, where Python looks for signals
        print("lost")
    except KeyboardInterrupt:
        print("interrupted", ops.as_int(X, 3))
    except RuntimeError:
        print("swallowed")
"""
    result = run(program)
    # The last: the op has failed, and Python raises the interrupt in the handler of that error.
    assert result.stdout.split("\n")[:3] == ["interrupted 3"] * 3, result.stderr
    assert "KeyboardInterrupt" in result.stderr or result.stdout.count("interrupted 3") == 4


def test_an_interrupt_while_arguments_are_read_passes_unchanged() -> None:
    asked: list[int] = []
    interrupt = KeyboardInterrupt()

    def interrupted() -> int:
        asked.append(1)
        raise interrupt

    calls: list[Callable[[], Any]] = [
        lambda: ops.as_int(X, Index(interrupted)),
        lambda: ops.as_ints(X, [1, Index(interrupted)]),
        lambda: ops.as_pair(X, Index(interrupted)),
        # No second overload is tried.
        lambda: ops.pick(X, Index(interrupted)),
    ]
    for call in calls:
        asked.clear()
        with pytest.raises(KeyboardInterrupt) as raised:
            call()
        assert raised.value is interrupt
        assert asked == [1]


def test_a_signal_handler_that_raises_is_not_lost() -> None:
    def handler(_number: int, _frame: object) -> None:
        raise LookupError("raised by the handler")

    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(LookupError, match="raised by the handler"):
            ops.gil_nothing(200)
            time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert ops.as_int(X, 3) == 3


# --- objects --------------------------------------------------------------------------------------


class Tagged(torch.Tensor):
    tag: str
    # Its attributes and its type are looked at, not its own handling of functions.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]


def through_hold(x: torch.Tensor) -> Any:
    ops.hold(x)
    return ops.take()


ROUND_TRIPS: dict[str, Callable[[torch.Tensor], Any]] = {
    "held": through_hold,
    "returned": lambda x: ops.same(x),
    "in a list": lambda x: ops.gil_list([X, x])[1],
    "in a tuple": lambda x: ops.gil_pair(x)[0],
    "in place": lambda x: ops.gil_(x),
    "out": lambda x: ops.gil_into(X, out=x),
}
OBJECTS: dict[str, Callable[[], torch.Tensor]] = {
    "tensor": lambda: torch.ones(3),
    "subclass": lambda: torch.ones(3).as_subclass(Tagged),
    "parameter": lambda: torch.nn.Parameter(torch.ones(3)),
    "view": lambda: torch.ones(3)[1:],
}


@pytest.mark.fault("O1")
@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS.keys())
@pytest.mark.parametrize("trip", ROUND_TRIPS.values(), ids=ROUND_TRIPS.keys())
def test_the_same_object_comes_back(
    trip: Callable[[torch.Tensor], Any], make: Callable[[], torch.Tensor]
) -> None:
    x: Any = make()
    x.tag = "mine"
    kind = type(x)
    with torch.no_grad():
        back = trip(x)
    assert back is x
    assert (type(back), back.tag) == (kind, "mine")


def test_what_only_cpp_holds_keeps_its_python_side() -> None:
    x: Any = torch.ones(3).as_subclass(Tagged)
    x.tag = "mine"
    identity = id(x)
    ops.hold(x)
    del x
    gc.collect()
    back: Any = ops.take()
    assert (id(back), type(back), back.tag) == (identity, Tagged, "mine")


def by_attribute(x: torch.Tensor) -> None:
    x.self = x  # type: ignore[attr-defined]


def by_closure(x: torch.Tensor) -> None:
    x.read = lambda: x  # type: ignore[attr-defined]


def by_another(x: torch.Tensor) -> None:
    x.other = torch.ones(1)  # type: ignore[attr-defined]
    x.other.other = x  # type: ignore[attr-defined]


def by_list(x: torch.Tensor) -> None:
    x.items = [x, [x]]  # type: ignore[attr-defined]


@pytest.mark.fault("O4")
@pytest.mark.parametrize("tie", [by_attribute, by_closure, by_another, by_list])
def test_a_cycle_is_collected_once_cpp_lets_go(tie: Callable[[torch.Tensor], None]) -> None:
    x = torch.ones(3)
    tie(x)
    seen = weakref.ref(x)
    ops.hold(x)
    del x
    gc.collect()
    assert seen() is not None
    ops.clear_held()
    gc.collect()
    assert seen() is None
