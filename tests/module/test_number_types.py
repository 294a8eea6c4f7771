"""Number-like types: what is taken, refused and given back, what stays symbolic.

The ops of tests/module/libraries/number_types give back what their kernels got.
"""

from __future__ import annotations

import importlib
import math
import operator
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libraries
import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv

# torch's own, at the first use of its fakes.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")

LIB = libraries.built("number_types")
sys.path.insert(0, str(LIB))
m: Any = importlib.import_module("number_types")

Call = Callable[[], Any]
INT_RANGE = " must lie between -2**63 and 2**63 - 1"


class Index:
    """Has `__index__` and is no int."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


INT_LIKE = [
    0,
    -1,
    2**63 - 1,
    -(2**63),
    2**62,
    -(2**62) - 1,
    np.int8(-3),
    np.uint64(7),
    Index(5),
    torch.tensor(4),
    torch.tensor(4, dtype=torch.uint8),
    torch.tensor(2**63 - 1, dtype=torch.uint64),
]
NOT_INT = [
    (True, "bool (True)"),
    (np.bool_(True), "numpy.bool"),
    (1.0, "float (1.0)"),
    (np.float64(1), "numpy.float64"),
    ("1", "str ('1')"),
    (None, "None"),
    (torch.tensor(True), "a bool tensor of shape ()"),
    (torch.tensor(1.0), "a float32 tensor of shape ()"),
    (torch.tensor([1]), "an int64 tensor of shape (1,)"),
]
TOO_LARGE = [2**63, -(2**63) - 1, 10**30, np.uint64(2**63), Index(2**63)]
TOO_LARGE.append(torch.tensor(2**63, dtype=torch.uint64))


def same(a: object, b: object) -> bool:
    """Equal in type and in every bit, 0.0 and -0.0 apart."""
    return type(a) is type(b) and repr(a) == repr(b)


# --- SymInt ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", INT_LIKE, ids=repr)
def test_a_sym_int_takes_what_has_an_index(value: Any) -> None:
    expected = value.item() if isinstance(value, torch.Tensor) else value.__index__()
    assert same(m.sym_int(value), expected)
    assert same(m.sym_int(n=value), expected)
    assert m.sym_int_optional(value) == (True, expected)
    assert m.sym_ints([0, value]) == (0, expected)
    assert m.two_sym_ints(value, more=value) == ((expected,) * 2, (expected,) * 2)


@pytest.mark.parametrize(("value", "text"), NOT_INT, ids=lambda x: x if isinstance(x, str) else "")
def test_a_sym_int_refuses_what_an_int_does(value: Any, text: str) -> None:
    refused(
        lambda: m.sym_int(value), f"sym_int(): argument 'n' (position 1) must be int, not {text}"
    )
    refused(
        lambda: m.sym_ints((1, 2, value)),
        f"sym_ints(): argument 'n' (position 1): n[2] must be int, not {text}",
    )
    if value is not None:
        refused(
            lambda: m.two_sym_ints(more=value),
            f"two_sym_ints(): argument 'more' must be int[2] or None, not {text}",
        )


def refused(call: Call, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == text


@pytest.mark.parametrize("value", TOO_LARGE, ids=repr)
def test_a_sym_int_out_of_range(value: Any) -> None:
    calls: list[tuple[Call, str]] = [
        (lambda: m.sym_int(value), "sym_int(): argument 'n' (position 1)"),
        (lambda: m.sym_ints([1, value]), "sym_ints(): argument 'n' (position 1): n[1]"),
        (lambda: m.two_sym_ints(more=value), "two_sym_ints(): argument 'more'"),
    ]
    for call, place in calls:
        with pytest.raises(OverflowError) as caught:
            call()
        assert str(caught.value) == place + INT_RANGE


def test_defaults_of_sym_ints() -> None:
    assert same(m.sym_int(), -(2**63))
    assert m.sym_ints() == (2**62, -(2**62) - 1)
    assert m.two_sym_ints() == ((3, 3), ())
    assert m.sym_int_optional() == m.sym_int_optional(None) == (False, 0)
    assert m.two_sym_ints(4, more=None).more == ()


def test_ints_one_by_one_are_a_list_of_sym_ints() -> None:
    assert m.sym_ints(1, 2, 3) == (1, 2, 3)
    assert m.sym_ints(*range(20)) == tuple(range(20))
    assert m.sym_ints(np.int64(5)) == (5,)
    assert torch.equal(m.zeros(2, 3), torch.zeros(2, 3))
    assert torch.equal(m.zeros(torch.Size([2])), torch.zeros(2))


def test_a_lone_value_stands_for_n_elements_alone() -> None:
    assert m.two_sym_ints(7).n == (7, 7)
    assert m.two_sym_ints(np.int64(7)).n == m.two_sym_ints(torch.tensor(7)).n == (7, 7)
    assert m.two_floats(1) == (1.0, 1.0)
    refused(
        lambda: m.floats(1.0),
        "floats(): argument 'x' (position 1) must be float[], not float (1.0)",
    )
    refused(
        lambda: m.three_bools(True),
        "three_bools(): argument 'mask' (position 1) must be bool[3], not bool (True)",
    )


# --- DeviceIndex, SymBool -------------------------------------------------------------------------


def test_device_index() -> None:
    assert [m.device_index(i) for i in (-128, 0, 127, Index(3))] == [-128, 0, 127, 3]
    assert m.device_index() == -1
    assert m.device_index_optional() == m.device_index_optional(None) == (False, 0)
    assert m.device_index_optional(index=np.int8(2)) == (True, 2)
    refused(
        lambda: m.device_index(True),
        "device_index(): argument 'index' (position 1) must be int, not bool (True)",
    )


@pytest.mark.parametrize("value", [128, -129, 2**70], ids=repr)
def test_a_device_index_out_of_range(value: int) -> None:
    with pytest.raises(OverflowError) as caught:
        m.device_index(value)
    assert str(caught.value) == (
        "device_index(): argument 'index' (position 1) must lie between -128 and 127"
    )
    with pytest.raises(OverflowError):
        m._cufft_get_plan_cache_size(value)


def test_sym_bool() -> None:
    assert [m.sym_bool(b) for b in (True, False, np.bool_(True))] == [True, False, True]
    assert m.sym_bool_optional() == m.sym_bool_optional(None) == (False, False)
    assert m.sym_bool_optional(b=True) == (True, True)
    for value, text in ((1, "int (1)"), (None, "None"), (torch.tensor(True), "a bool tensor")):
        with pytest.raises(TypeError, match="must be bool, not " + text.replace("(", "\\(")[:6]):
            m.sym_bool(value)


# --- float, bool and Scalar lists -----------------------------------------------------------------


def test_floats() -> None:
    given = [1, 2.5, True, np.float32(0.5), np.int8(3), torch.tensor(2.0), torch.tensor(1)]
    got = m.floats(given)
    assert got == (1.0, 2.5, 1.0, 0.5, 3.0, 2.0, 1.0)
    assert {type(x) for x in got} == {float}
    assert m.floats(x=tuple([0.1] * 50)) == (0.1,) * 50
    assert m.floats([]) == ()
    assert m.floats_optional([1]) == (True, (1.0,))
    assert m.floats_optional() == m.floats_optional(None) == (False, ())


def test_defaults_of_floats() -> None:
    assert m.floats() == (0.1, 0.0, 1.0)
    assert math.copysign(1, m.floats()[1]) == -1
    assert m.two_floats() == (0.1, 0.1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "str ('a')"),
        (1j, "complex"),
        (np.complex64(1), "numpy.complex64"),
        (None, "None"),
        (torch.tensor([1.0]), "a float32 tensor of shape (1,)"),
        (torch.tensor(1.0, requires_grad=True), "a float32 tensor of shape () that requires grad"),
        (Index(1), "Index"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_an_element_that_is_no_float(value: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        m.floats([0.0] * 9 + [value])
    where = "floats(): argument 'x' (position 1): x[9] must be float, not "
    assert str(caught.value).replace(f"{__name__}.", "") == where + text


def test_a_float_out_of_range() -> None:
    with pytest.raises(OverflowError) as caught:
        m.floats([1.0, 10**400])
    assert str(caught.value) == "floats(): argument 'x' (position 1): x[1] is too large for a float"
    with pytest.raises(OverflowError, match=r"two_floats\(\): argument 'x' \(position 1\) is too"):
        m.two_floats(10**400)


def test_bools() -> None:
    assert m.three_bools([False, True, np.bool_(True)]) == (False, True, True)
    assert m.three_bools(mask=(True,) * 3) == (True,) * 3
    assert m.three_bools() == (True, False, True)
    assert m.two_bools_optional((True, False)) == (True, True, False)
    assert m.two_bools_optional() == m.two_bools_optional(None) == (False,) * 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([True, False], " must have 3 elements, not 2"),
        ([True] * 4, " must have 3 elements, not 4"),
        ([], " must have 3 elements, not 0"),
        ([True, False, 1], ": mask[2] must be bool, not int (1)"),
        (
            [True, torch.tensor(True), False],
            ": mask[1] must be bool, not a bool tensor of shape ()",
        ),
        (None, " must be bool[3], not None"),
    ],
    ids=repr,
)
def test_bools_refused(value: Any, text: str) -> None:
    refused(lambda: m.three_bools(value), f"three_bools(): argument 'mask' (position 1){text}")


def test_scalars() -> None:
    for first, last in ((1, 2.5), (True, 1j), (np.complex64(1 + 2j), 2**64 - 1), (0.1, np.int8(3))):
        count, *got = m.scalars([first, *[0] * 9, last])
        assert count == 11
        plain = [x.item() if isinstance(x, np.generic) else x for x in (first, last)]
        assert all(map(same, got, plain))
    assert m.scalars([torch.tensor(2.5), True])[1:] == (2.5, True)
    # As in torch: an overload for tensors, where there is one, is to get it.
    refused(
        lambda: m.scalars([torch.tensor(2.5), torch.tensor(True)]),
        "scalars(): argument 's' (position 1): s[1] must be Scalar, not a bool tensor of shape ()",
    )
    assert m.scalars([])[0] == 0
    assert m.scalars_optional(s=[1] * 20) == (True, 20)
    assert m.scalars_optional() == m.scalars_optional(None) == (False, 0)
    refused(
        lambda: m.scalars([1, "x"]),
        "scalars(): argument 's' (position 1): s[1] must be Scalar, not str ('x')",
    )
    refused(
        lambda: m.scalars(1), "scalars(): argument 's' (position 1) must be Scalar[], not int (1)"
    )
    with pytest.raises(OverflowError, match=r"s\[1\] must lie between -2\*\*63 and 2\*\*64 - 1"):
        m.scalars([1, 2**64])


# --- complex --------------------------------------------------------------------------------------


def test_complex() -> None:
    for value in (2j, 1.5, 3, True, np.complex64(1 + 2j), np.float32(0.5), 2**70):
        assert same(m.complex_number(value), complex(value))
    assert same(m.complex_number(torch.tensor(1 + 2j)), 1 + 2j)
    assert same(m.complex_number(z=torch.tensor(2)), 2 + 0j)
    assert m.complex_optional(1) == (True, 1)
    assert m.complex_optional() == m.complex_optional(None) == (False, 0)


def test_complex_defaults() -> None:
    assert same(m.complex_number(), complex(0, -0.1))
    assert same(m.scalar(), 1.5j)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1j", "str ('1j')"),
        (None, "None"),
        (torch.tensor([1j]), "a complex64 tensor of shape (1,)"),
    ],
    ids=["str", "None", "tensor"],
)
def test_no_complex(value: Any, text: str) -> None:
    refused(
        lambda: m.complex_number(value),
        f"complex_number(): argument 'z' (position 1) must be complex, not {text}",
    )


def test_a_complex_out_of_range() -> None:
    with pytest.raises(OverflowError, match=r"argument 'z' \(position 1\) is too large"):
        m.complex_number(10**400)


# --- int[][] --------------------------------------------------------------------------------------


def test_lists_of_ints() -> None:
    assert m.int_lists([[1, 2], (), (Index(3), torch.tensor(4))]) == ((1, 2), (), (3, 4))
    assert m.int_lists(lists=()) == ()
    assert m.int_lists([range_of(9)] * 9) == (tuple(range(9)),) * 9


def range_of(count: int) -> list[int]:
    return list(range(count))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, " must be int[][], not int (3)"),
        ([[1], 2], ": lists[1] must be int[], not int (2)"),
        ([[1], [2, "x"]], ": lists[1][1] must be int, not str ('x')"),
        ([[True]], ": lists[0][0] must be int, not bool (True)"),
    ],
    ids=repr,
)
def test_lists_of_ints_refused(value: Any, text: str) -> None:
    refused(lambda: m.int_lists(value), f"int_lists(): argument 'lists' (position 1){text}")


def test_an_inner_int_out_of_range() -> None:
    with pytest.raises(OverflowError) as caught:
        m.int_lists([[1], [2, 2**63]])
    where = "int_lists(): argument 'lists' (position 1): lists[1][1]"
    assert str(caught.value) == where + INT_RANGE


# --- overloads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "taken_by"),
    [
        ([1, 2], "ints"),
        ([True, False], "bools"),
        ([True, False, True], "floats"),
        ([1, 2.5], "floats"),
        ([1, True], "floats"),
        ([1, 2.5, 1j], "scalars"),
        ([[1], [2]], "lists"),
        ([], "ints"),
    ],
    ids=repr,
)
def test_every_element_decides_about_the_overload(value: list[Any], taken_by: str) -> None:
    assert m.which(value) == taken_by
    assert m.which(tuple(value)) == taken_by


def test_no_overload_takes_a_mixed_list() -> None:
    with pytest.raises(TypeError) as caught:
        m.which([1, [1]])
    for text in ("x[1] must be int, not list", "x[0] must be bool", "x[0] must be int[], not int"):
        assert text in str(caught.value)


# --- torch's own ops ------------------------------------------------------------------------------

X = torch.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda: m.expand(X, (2, 3, 4)), lambda: X.expand(2, 3, 4)),
        (lambda: m.expand(X, size=[2, -1, -1]), lambda: X.expand(2, 3, 4)),
        (lambda: m.slice(X, 1, None, -1, 2), lambda: X[:, :-1:2]),
        (lambda: m.slice(X, start=torch.tensor(1)), lambda: X[1:]),
        (lambda: m.narrow(X, 1, 1, 2), lambda: X.narrow(1, 1, 2)),
        (lambda: m.roll(X, 1), lambda: X.roll(1)),
        (lambda: m.roll(X, (1, 2), (0, 1)), lambda: X.roll((1, 2), (0, 1))),
        (lambda: m.zeros((2, 3), dtype=torch.int8), lambda: torch.zeros(2, 3, dtype=torch.int8)),
        (
            lambda: m.upsample_nearest1d(X[None], None, [2.0]),
            lambda: X[None].repeat_interleave(2, 2),
        ),
        (lambda: m.upsample_nearest1d(X[None], [4], None), lambda: X[None]),
        (
            lambda: m.histogramdd(X[:, :1], [2], range=[0, 8.0]).hist,
            lambda: torch.histogramdd(X[:, :1], [2], range=[0.0, 8.0]).hist,
        ),
        (lambda: m._foreach_mul([X, X], [2, 0.5])[1], lambda: X * 0.5),
    ],
)
def test_equals_torch(ours: Call, theirs: Call) -> None:
    torch.testing.assert_close(ours(), theirs(), rtol=0, atol=0)


def test_a_mask_chooses_the_outputs() -> None:
    x, stats = torch.ones(2, 4, 3), torch.ones(2, 2)
    arguments = (x, x, stats, stats, torch.ones(4), 2, 4, 3, 2)
    got = m.native_group_norm_backward(*arguments, [True, False, True])
    expected = torch.ops.aten.native_group_norm_backward(*arguments, [True, False, True])
    torch.testing.assert_close(got[0], expected[0])
    assert got[1] is None


def test_sizes_are_plain_ints_outside_of_tracing() -> None:
    assert same(m.sym_size(X, 1), 4)
    assert same(m.stride_along(X, 0), 4)
    assert repr(tuple(m.sizes_of(X))) == "(12, (3, 4), 3, False)"


# --- what Python code does meanwhile --------------------------------------------------------------

CLEARING = """
import torch, number_types as m
class Evil:
    def __index__(self):
        target.clear()
        return 1
def attempt(call, wanted):
    try:
        print(call())
    except wanted as error:
        print(error)
for function in (m.sym_ints, m.two_sym_ints, lambda x: m.expand(torch.ones(1), x)):
    target = [0, Evil(), 2, 3]
    attempt(lambda: function(target), RuntimeError)
target = [1, Evil(), 2]
attempt(lambda: m.int_lists([[1], target, [2]]), RuntimeError)
class Growing:
    def __index__(self):
        target.append(self)
        return len(target)
target = [Growing()]
attempt(lambda: m.int_lists([target]), RuntimeError)
target = [[Evil()], [1], [2]]
attempt(lambda: m.int_lists(target), RuntimeError)
"""


def test_an_index_that_changes_the_list() -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", CLEARING],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(LIB)},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines.pop(4) == "((2,),)"
    assert len(lines) == 5
    assert lines[0] == "sym_ints(): argument 'n' (position 1) changed while it was read"
    assert all("changed while it was read" in line for line in lines)


class Failing:
    def __index__(self) -> int:
        raise KeyError("from __index__")


@pytest.mark.parametrize(
    "call",
    [
        lambda: m.sym_int(Failing()),
        lambda: m.sym_ints([1, Failing()]),
        lambda: m.device_index(Failing()),
        lambda: m.int_lists([[Failing()]]),
    ],
)
def test_an_exception_of_index_passes_unchanged(call: Call) -> None:
    with pytest.raises(KeyError, match="from __index__"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda value: m.sym_ints([value, value]),
        lambda value: m.floats([1.0, value]),
        lambda value: m.scalars([1, value]),
        lambda value: m.int_lists([[value]]),
        lambda value: m.sym_int(value),
        lambda value: m.complex_number(value),
    ],
)
def test_references_are_balanced(call: Callable[[Any], Any]) -> None:
    good, bad = 123456789, "no number"
    before = [sys.getrefcount(good), sys.getrefcount(bad)]
    for _ in range(1000):
        call(good)
        with pytest.raises(TypeError):
            call(bad)
    after = [sys.getrefcount(good), sys.getrefcount(bad)]
    assert all(abs(a - b) < 100 for a, b in zip(after, before, strict=True))


# --- registration, stub ---------------------------------------------------------------------------

ECHOES: list[tuple[str, tuple[Any, ...]]] = [
    ("sym_int", (7,)),
    ("sym_int_optional", (7,)),
    ("sym_ints", ([1, 2],)),
    ("two_sym_ints", ([1, 2],)),
    ("device_index", (3,)),
    ("device_index_optional", (3,)),
    ("sym_bool", (True,)),
    ("sym_bool_optional", (True,)),
    ("floats", ([0.5, 2.0],)),
    ("floats_optional", ([0.5],)),
    ("two_floats", ([0.5, 1.0],)),
    ("three_bools", ([False, True, True],)),
    ("two_bools_optional", ([True, False],)),
    ("scalar", (2j,)),
    ("scalars", ([1, 2.5],)),
    ("scalars_optional", ([1],)),
    ("complex_number", (1 + 2j,)),
    ("complex_optional", (1j,)),
    ("int_lists", ([[1, 2], []],)),
]
# Without arguments all but these, which have no default; a complex one torch reads as 0 - 0.1j.
REQUIRED = {"sym_bool", "scalars", "int_lists"}


def as_tuples(value: Any) -> Any:
    return tuple(map(as_tuples, value)) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize(("name", "arguments"), ECHOES, ids=[name for name, _ in ECHOES])
def test_torch_ops_gives_the_same(name: str, arguments: tuple[Any, ...]) -> None:
    ours, theirs = getattr(m, name), getattr(torch.ops.number_types, name)
    for given in [arguments, *([] if name in REQUIRED else [()])]:
        assert same(as_tuples(ours(*given)), as_tuples(theirs(*given)))


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("add_int", 2),
        ("add_ints", [2]),
        ("add_sym_int", 2),
        ("add_sym_ints", [2, 3]),
        ("add_scalar", 2.5),
        ("add_if", True),
    ],
)
def test_opcheck(name: str, number: Any) -> None:
    op = getattr(torch.ops.number_types, name).default
    results = torch.library.opcheck(op, (torch.ones(3, 4), number))
    assert set(results.values()) == {"SUCCESS"}


PROGRAM = """\
from typing import assert_type
import torch
import number_types as m
def symbolic(n: torch.SymInt) -> None:
    assert_type(m.sym_int(n), int | torch.SymInt)
    assert_type(m.sym_ints(1, n), tuple[int | torch.SymInt, ...])
    assert_type(m.sym_bool(n > 2), bool | torch.SymBool)
m.sym_int(3)
m.sym_ints([1, 2])
m.two_sym_ints(3, more=4)
m.two_sym_ints((3, 4), more=None)
assert_type(m.device_index(3), int)
assert_type(m.floats([1, 2.5]), tuple[float, ...])
m.two_floats(0.5)
m.floats_optional(None)
m.three_bools((True, False, True))
m.scalars([1, 2.5, 1j])
assert_type(m.complex_number(1j), complex)
assert_type(m.int_lists([[1], [2, 3]]), tuple[tuple[int, ...], ...])
m.int_lists(((1,), [2, 3]))
m.sym_int("3")  # type: ignore[arg-type]
m.sym_ints(["3"])  # type: ignore[list-item]
m.floats(0.5)  # type: ignore[arg-type]
m.three_bools(True)  # type: ignore[arg-type]
m.complex_number("1j")  # type: ignore[arg-type]
m.int_lists([1, 2])  # type: ignore[arg-type]
"""


CACHE = libraries.REPO / "build/mypy"


def test_mypy_agrees(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            f"--cache-dir={CACHE}",
            program,
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(LIB)},
        check=False,
    )
    assert result.returncode == 0, result.stdout


# --- symbolic numbers -----------------------------------------------------------------------------

Traced = Callable[[torch.Tensor], Any]


def arguments_in_graph(function: Traced) -> tuple[tuple[Any, ...], list[str]]:
    """Of the last op: its arguments after the tensor; and the guards of the trace."""
    graph: Any = make_fx(function, tracing_mode="symbolic")(torch.ones(3, 4))
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    last = [node for node in calls if node.target is not operator.getitem][-1]
    return last.args[1:], [str(guard.expr) for guard in graph.shape_env.guards]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: m.add_int(x, x.shape[0]), (3,)),
        (lambda x: m.add_ints(x, [x.shape[0]]), ([3],)),
        (lambda x: m.add_ints(x, x.shape[0]), ([3],)),
        (lambda x: m.add_int(x, n=x.shape[0]), (3,)),
    ],
)
def test_an_int_is_made_concrete(call: Traced, expected: tuple[Any, ...]) -> None:
    arguments, guards = arguments_in_graph(call)
    assert arguments == expected
    assert len(guards) == 1 and guards[0].endswith(", 3)")


@pytest.mark.fault("P15")
@pytest.mark.parametrize(
    "call",
    [
        lambda x: m.add_sym_int(x, x.shape[0]),
        lambda x: m.add_sym_int(x, n=x.shape[0] * 2),
        lambda x: m.add_sym_ints(x, [x.shape[0], 7, x.shape[1]]),
        lambda x: m.add_sym_ints(x, x.shape),
        lambda x: m.add_scalar(x, x.shape[0]),
        lambda x: m.add_scalar(x, x.shape[0] / 2),
        lambda x: m.add_if(x, x.shape[0] > 2),
        lambda x: m.expand(x, (x.shape[0], *x.shape)),
        lambda x: m.roll(x, x.shape[0], 0),
        lambda x: m._foreach_mul([x], [x.shape[0]])[0],
        lambda x: m.add_sym_int(x, m.sym_size(x, 0)),
        lambda x: m.add_sym_int(x, m.stride_along(x, 0)),
        lambda x: m.add_sym_ints(x, m.sizes_of(x).sizes),
        lambda x: m.add_scalar(x, m.sizes_of(x).first),
        lambda x: m.add_if(x, m.sizes_of(x).is_square),
    ],
)
def test_symbolic_numbers_stay_symbolic(call: Traced) -> None:
    arguments, guards = arguments_in_graph(call)
    leaves = torch.utils._pytree.tree_leaves(arguments)
    assert any(isinstance(leaf, torch.fx.Node) for leaf in leaves), arguments
    assert guards == []


def test_ints_one_by_one_stay_symbolic() -> None:
    graph = make_fx(lambda x: m.zeros(x.shape[0], 2), tracing_mode="symbolic")(torch.ones(3, 4))
    (zeros,) = (n for n in graph.graph.nodes if "zeros" in n.name)
    (size,) = zeros.args
    assert isinstance(size[0], torch.fx.Node) and size[1] == 2


def test_a_traced_function_runs_for_other_sizes() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = m.expand(x, (2, *x.shape))
        result = m.add_sym_ints(result, [x.shape[0], x.shape[1]])
        return result

    graph = make_fx(function, tracing_mode="symbolic")(torch.ones(3, 4))
    for shape in ((3, 4), (5, 7)):
        x = torch.randn(shape)
        torch.testing.assert_close(graph(x), function(x))


def fake(value: torch.Tensor) -> torch.Tensor:
    mode = FakeTensorMode(shape_env=ShapeEnv(allow_scalar_outputs=True))
    return mode.from_tensor(value)


def test_returns_are_symbolic_where_sizes_are() -> None:
    x: Any = fake(torch.ones(3, 4))
    result = m.sizes_of(x)
    assert type(result.numel) is torch.SymInt
    assert [type(size) for size in result.sizes] == [torch.SymInt] * 2
    assert type(result.first) is torch.SymInt
    assert type(result.is_square) is torch.SymBool
    assert type(m.sym_size(x, 0)) is torch.SymInt
    # The node goes through C++ and back.
    assert m.sym_int(x.shape[0]).node is x.shape[0].node
    assert m.sym_ints(x.shape)[1].node is x.shape[1].node


def test_what_a_fake_tensor_holds_is_a_symbolic_int() -> None:
    number = fake(torch.tensor(3))
    assert type(m.sym_int(number)) is torch.SymInt
    with pytest.raises(Exception, match="data-dependent"):
        m.add_int(torch.ones(2), number)
