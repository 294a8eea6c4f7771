"""The whole text of each kind of wrong call, and what the exception says to programs."""

from __future__ import annotations

import _testcapi  # type: ignore[import-not-found]
import codecs
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from echo_library import RunPython
from echo_zoo import FIELDS, Index, Keeper, fields


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a call of a function with one signature is refused with."""

    # After the function's name.
    reason: str
    argument: str | None
    type: type[Exception] = TypeError


X = "argument 'x' (position 1)"


def _of_x(reason: str, type_: type[Exception] = TypeError) -> Refusal:
    """About x, the first argument."""
    return Refusal(X + reason, "x", type_)


REFUSED = {
    # none, several and too many
    "several()": Refusal(
        "missing required arguments 'input' (position 1), 'n' (position 2)", "input"
    ),
    "several(Tensor(1))": Refusal("missing required argument 'n' (position 2)", "n"),
    "numbers(1)": Refusal("missing required argument 'z'", "z"),
    "several(Tensor(1), 2, 3, True, 's')": Refusal(
        "takes at most 3 positional arguments, but 5 were given; 'b' is keyword-only", None
    ),
    "documented(1, 2)": Refusal("takes at most 1 positional argument, but 2 were given", None),
    "default_int(1)": Refusal(
        "takes no positional arguments, but 1 was given; 'd0' is keyword-only", None
    ),
    "several(Tensor(1), 2, 3.0, n=4, f=5)": Refusal(
        "multiple values for argument 'n' (position 2)", "n"
    ),
    "aliased(Tensor(1), axis=1, dim=2)": Refusal(
        "multiple values for argument 'dim' (position 2)", "dim"
    ),
    # names
    "several(Tensor(1), 2, ff=1)": Refusal(
        "unexpected keyword argument 'ff'; did you mean 'f'?", "ff"
    ),
    "several(Tensor(1), 2, **{'ü': 1})": Refusal("unexpected keyword argument 'ü'", "ü"),
    "several(Tensor(1), 2, **{'n\\ud800': 1})": Refusal(
        "unexpected keyword argument 'n\\ud800'", "n\ud800"
    ),
    "aliased(Tensor(1), diim=2)": Refusal(
        "unexpected keyword argument 'diim'; did you mean 'dim'?", "diim"
    ),
    "aliased(Tensor(1), axi=2)": Refusal(
        "unexpected keyword argument 'axi'; did you mean 'axis' (alias of 'dim')?", "axi"
    ),
    "aliased(Tensor(1), 1, keep_dims=True)": Refusal(
        "unexpected keyword argument 'keep_dims'; did you mean 'keepdims' (alias of 'keepdim')?",
        "keep_dims",
    ),
    # … of what is given already: by position, by name, by another name, further on
    "several(Tensor(1), 2, inptu=1)": Refusal("unexpected keyword argument 'inptu'", "inptu"),
    "several(Tensor(1), f=3, n=2, ff=1)": Refusal("unexpected keyword argument 'ff'", "ff"),
    "aliased(Tensor(1), 2, axi=2)": Refusal("unexpected keyword argument 'axi'", "axi"),
    "aliased(Tensor(1), axi=2, dim=3)": Refusal("unexpected keyword argument 'axi'", "axi"),
    # the argument has its own name where it was given by another
    "aliased(Tensor(1), axis='x')": Refusal(
        "argument 'dim' (position 2) must be int, not str ('x')", "dim"
    ),
    # values, as far as they are short and Python's own
    "echo_int('x' * 30)": _of_x(f" must be int, not str ('{'x' * 30}')"),
    "echo_int('x' * 31)": _of_x(" must be int, not str"),
    "echo_int('\\ud800')": _of_x(" must be int, not str ('\\ud800')"),
    "echo_int(StrSub('a'))": _of_x(" must be int, not echo_zoo.StrSub"),
    "echo_str(2**63 - 1)": _of_x(" must be str, not int (9223372036854775807)"),
    "echo_str(-2**63)": _of_x(" must be str, not int (-9223372036854775808)"),
    "echo_str(2**63)": _of_x(" must be str, not int"),
    "echo_str(10**5000)": _of_x(" must be str, not int"),
    "echo_int(2.5)": _of_x(" must be int, not float (2.5)"),
    "echo_int(np.float64(2.5))": _of_x(" must be int, not numpy.float64"),
    "echo_bool(1)": _of_x(" must be bool, not int (1)"),
    "echo_bool(None)": _of_x(" must be bool, not None"),
    "echo_bool(TensorSub(True, dim=0))": _of_x(" must be bool, not a bool tensor of 0 dimensions"),
    "echo_int(Tensor(2, dim=1))": _of_x(" must be int, not an int tensor of 1 dimensions"),
    "echo_float(Tensor(2.5, dim=0, requires_grad=True))": _of_x(
        " must be float, not a float tensor of 0 dimensions that requires grad"
    ),
    # types
    "echo_int_list_2('a')": _of_x(" must be int[2], not str ('a')"),
    "echo_tensor_or_none_list(None)": _of_x(" must be Tensor?[], not None"),
    "number_tensor([1])": _of_x(" must be Tensor or Scalar, not list"),
    "numbers(1, 2, z=3)": Refusal(
        "argument 'y' (position 2) must be Tensor or None, not int (2)", "y"
    ),
    "make([1], dtype=3)": Refusal(
        "argument 'dtype' must be torch.dtype or None, not int (3)", "dtype"
    ),
    "make([1], device=3.5)": Refusal(
        "argument 'device' must be torch.device or None, not float (3.5)", "device"
    ),
    # elements
    "echo_int_list([1, True])": _of_x(": x[1] must be int, not bool (True)"),
    "echo_int_list_list(5)": _of_x(" must be int[][], not int (5)"),
    "echo_int_list_list([[1], 2])": _of_x(": x[1] must be int[], not int (2)"),
    "echo_int_list_list([[1], [2, 'a']])": _of_x(": x[1][1] must be int, not str ('a')"),
    "echo_tensor_or_none_list([Tensor(1), None, 3])": _of_x(
        ": x[2] must be Tensor or None, not int (3)"
    ),
    "echo_bool_list_3([True])": _of_x(" must have 3 elements, not 1"),
    "echo_bool_list_3([True, 1, 2])": _of_x(": x[1] must be bool, not int (1)"),
    "sized(1, 2, 'a')": Refusal(
        "argument 'size' (position 1): size[2] must be int, not str ('a')", "size"
    ),
    # a deprecated signature is not shown
    "renewed(2, Tensor(1), 3)": Refusal(
        "takes at most 2 positional arguments, but 3 were given; 'name' is keyword-only", None
    ),
    # read, when the signature is chosen
    "echo_int(2**63)": _of_x(" must lie between -2**63 and 2**63 - 1", OverflowError),
    "echo_int_list([0, 2**63])": _of_x(
        ": x[1] must lie between -2**63 and 2**63 - 1", OverflowError
    ),
    "echo_int_list_list([[1], [2, 2**63]])": _of_x(
        ": x[1][1] must lie between -2**63 and 2**63 - 1", OverflowError
    ),
    "echo_symint(2**63)": _of_x(" must lie between -2**63 and 2**63 - 1", OverflowError),
    "echo_deviceindex(200)": _of_x(" must lie between -128 and 127", OverflowError),
    "echo_scalar(2**64)": _of_x(" must lie between -2**63 and 2**64 - 1", OverflowError),
    "echo_scalar_list([1, 2**64])": _of_x(
        ": x[1] must lie between -2**63 and 2**64 - 1", OverflowError
    ),
    "numbers(2**64, z=1)": _of_x(" must lie between -2**63 and 2**64 - 1", OverflowError),
    "echo_float(10**400)": _of_x(" is too large for a float", OverflowError),
    "echo_float_list([0, 10**400])": _of_x(": x[1] is too large for a float", OverflowError),
    "echo_complex(10**400)": _of_x(" is too large for a complex", OverflowError),
    "make([1], device='cqu')": Refusal(
        "argument 'device': no device is called 'cqu'", "device", ValueError
    ),
    "echo_int(np.array([1, 2]))": _of_x(
        ": only integer scalar arrays can be converted to a scalar index"
    ),
}


@pytest.mark.parametrize("call", REFUSED)
def test_the_text_and_the_fields_of_a_refused_call(
    keeper: Keeper, echo: ModuleType, call: str
) -> None:
    refusal, name = REFUSED[call], call.partition("(")[0]
    with pytest.raises(refusal.type) as error:
        keeper.value(f"echo_ops.{call}")
    assert type(error.value) is refusal.type
    assert str(error.value) == f"{name}(): {refusal.reason}"
    signature = getattr(echo, name).__doc__.splitlines()[0]
    expected = (name, refusal.argument, ((signature, refusal.reason),))
    assert fields(error.value) == expected


# --- overloads ------------------------------------------------------------------------------------

# Call -> the argument at fault, then what is said of the nearest: signature, reason, …
NEAREST: dict[str, tuple[str | None, tuple[str, ...]]] = {
    # more arguments taken, though the other is refused later
    "pick(1, 'a')": (
        "y",
        (
            "pick(int x, int y) -> str",
            "argument 'y' (position 2) must be int, not str ('a')",
            "pick(int[] x) -> str",
            "argument 'x' (position 1): x[1] must be int, not str ('a')",
            "pick(int x) -> str",
            "takes at most 1 positional argument, but 2 were given",
        ),
    ),
    "pick(1, 2, 'a')": (
        "x",
        (
            "pick(int[] x) -> str",
            "argument 'x' (position 1): x[2] must be int, not str ('a')",
            "pick(int x, int y) -> str",
            "takes at most 2 positional arguments, but 3 were given",
        ),
    ),
    # an element is less than a whole argument
    "pick([1, 'a'])": (
        "x",
        (
            "pick(int[] x) -> str",
            "argument 'x' (position 1): x[1] must be int, not str ('a')",
            "pick(Tensor[] x) -> str",
            "argument 'x' (position 1): x[0] must be Tensor, not int (1)",
            "pick(Tensor x) -> str",
            "argument 'x' (position 1) must be Tensor, not list",
        ),
    ),
    # a value is less than a name, in whatever order they stand
    "pick(1, y='a')": (
        "y",
        (
            "pick(int x, int y) -> str",
            "argument 'y' (position 2) must be int, not str ('a')",
            "pick(int x) -> str",
            "unexpected keyword argument 'y'",
        ),
    ),
    "pick(y=2, x='a')": (
        "x",
        (
            "pick(int x, int y) -> str",
            "argument 'x' (position 1) must be int, not str ('a')",
            "pick(str x, *, int count=1) -> str",
            "unexpected keyword argument 'y'",
        ),
    ),
    # a name is looked for in each
    "pick('a', cuont=2)": (
        "cuont",
        (
            "pick(str x, *, int count=1) -> str",
            "unexpected keyword argument 'cuont'; did you mean 'count'?",
            "pick(Tensor x) -> str",
            "argument 'x' (position 1) must be Tensor, not str ('a')",
        ),
    ),
    # … and one where it is misspelt is nearer than one without
    "pick_named(1, cuont=2)": (
        "cuont",
        (
            "pick_named(Scalar x, *, int count=1) -> str",
            "unexpected keyword argument 'cuont'; did you mean 'count'?",
            "pick_named(float x, *, int most=1) -> str",
            "unexpected keyword argument 'cuont'",
        ),
    ),
    # what is a name of another overload only
    "pick('a', y=2, count=3)": (
        "y",
        ("pick(str x, *, int count=1) -> str", "unexpected keyword argument 'y'"),
    ),
    # a value to add is less than one that has no place
    "pick(y=1)": (
        "x",
        (
            "pick(int x, int y) -> str",
            "missing required argument 'x' (position 1)",
            "pick() -> str",
            "unexpected keyword argument 'y'",
        ),
    ),
    # fewer to add
    "nearer(1)": (
        "y",
        (
            "nearer(Scalar x, int y) -> str",
            "missing required argument 'y' (position 2)",
            "nearer(float x, int y, int z) -> str",
            "missing required arguments 'y' (position 2), 'z' (position 3)",
        ),
    ),
    # the order of the signatures, where one is as near as another
    "name_of_its_own()": (
        "x",
        (
            "name_of_its_own(int x) -> str",
            "missing required argument 'x' (position 1)",
            "name_of_its_own(str x) -> str",
            "missing required argument 'x' (position 1)",
        ),
    ),
    "name_of_its_own(1, 2)": (
        None,
        (
            "name_of_its_own(int x) -> str",
            "takes at most 1 positional argument, but 2 were given",
            "name_of_its_own(str x) -> str",
            "takes at most 1 positional argument, but 2 were given",
        ),
    ),
}


@pytest.mark.parametrize("call", NEAREST)
def test_the_nearest_overload_comes_first(keeper: Keeper, echo: ModuleType, call: str) -> None:
    name = call.partition("(")[0]
    with pytest.raises(TypeError) as error:
        keeper.value(f"echo_ops.{call}")
    function, argument, candidates = fields(error.value)
    expected_argument, nearest = NEAREST[call]
    assert (function, argument) == (name, expected_argument)
    said = [text for candidate in candidates for text in candidate]
    assert tuple(said[: len(nearest)]) == nearest
    head = f"{name}(): no signature takes these arguments; the nearest comes first:"
    listed = [f"\n  {signature}\n    {reason}" for signature, reason in candidates]
    assert str(error.value) == head + "".join(listed)
    signatures = {line for line in getattr(echo, name).__doc__.splitlines() if "->" in line}
    assert {signature for signature, _ in candidates} == signatures


# --- exceptions that somebody else made -----------------------------------------------------------


def raising(function: Callable[..., Any], *arguments: Any) -> Any:
    """An index whose value is what a C function returns, or raises: without a traceback."""
    return type("Raises", (), {"__index__": functools.partial(function, *arguments)})()


@pytest.mark.parametrize("times", [1, 2])
def test_an_error_of_c_code_is_named_and_has_fields(echo: ModuleType, times: int) -> None:
    with pytest.raises(ValueError) as raised:
        echo.echo_int_list([1] * times + [raising(int, "x")])
    where = f"argument 'x' (position 1): x[{times}]"
    text = "invalid literal for int() with base 10: 'x'"
    assert str(raised.value) == f"echo_int_list(): {where}: {text}"
    signature = "echo_int_list(int[] x) -> str"
    assert fields(raised.value) == ("echo_int_list", "x", ((signature, f"{where}: {text}"),))


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, UnicodeError])
def test_an_error_that_somebody_else_knows_passes_unchanged(
    echo: ModuleType, kind: type[BaseException]
) -> None:
    error = kind("mine")
    for _ in range(2):
        with pytest.raises(kind) as raised:
            echo.echo_int_list([1, raising(codecs.strict_errors, error)])
        assert raised.value is error
        error.__traceback__ = None
    assert error.args == ("mine",)
    assert not any(hasattr(error, name) for name in (*FIELDS, "__notes__"))


def test_leaving_passes_unchanged(echo: ModuleType) -> None:
    with pytest.raises(SystemExit) as raised:
        echo.echo_int(raising(sys.exit, "bye"))
    assert raised.value.args == ("bye",)
    assert not hasattr(raised.value, "function")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs exceptions with notes")
def test_an_error_of_more_than_a_text_has_a_note_and_fields(echo: ModuleType) -> None:
    with pytest.raises(UnicodeEncodeError) as raised:
        echo.echo_str("\ud800")
    reason = f"argument 'x' (position 1): {raised.value}"
    assert fields(raised.value) == ("echo_str", "x", (("echo_str(str x) -> str", reason),))
    assert raised.value.__notes__ == ["echo_str(): argument 'x' (position 1)"]


class Stubborn(ValueError):
    """Takes no attributes."""

    def __setattr__(self, name: str, value: object) -> None:
        raise ZeroDivisionError


class Untold(ValueError):
    """Says nothing."""

    def __str__(self) -> str:
        raise ZeroDivisionError


class Interrupts(ValueError):
    """Ctrl-C while it takes an attribute."""

    def __setattr__(self, name: str, value: object) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("kind", [Stubborn, Untold])
def test_an_error_that_takes_no_fields_is_raised_all_the_same(
    echo: ModuleType, kind: type[ValueError]
) -> None:
    with pytest.raises(kind) as raised:
        echo.echo_int(raising(_testcapi.raise_exception, kind, 1))
    assert raised.value.args == (0,)
    assert raised.value.__context__ is None
    assert hasattr(raised.value, "function") == (kind is Untold)


def test_ctrl_c_while_an_error_is_worded(echo: ModuleType) -> None:
    with pytest.raises(KeyboardInterrupt):
        echo.echo_int(raising(_testcapi.raise_exception, Interrupts, 1))


def test_long_names_are_cut(echo: ModuleType) -> None:
    long = "ü" * 101
    cut = "ü" * 100 + "…"
    with pytest.raises(TypeError) as keyword:
        echo.documented(1, **{long: 1})
    assert str(keyword.value) == f"documented(): unexpected keyword argument '{cut}'"
    assert keyword.value.argument == long  # type: ignore[attr-defined]
    with pytest.raises(TypeError) as named:
        echo.documented(type(long, (), {"__module__": "builtins"})())
    where = "documented(): argument 'x' (position 1)"
    assert str(named.value) == f"{where} must be int, not {cut}"
    with pytest.raises(TypeError, match=r"must be int, not str$"):
        echo.documented("x" * 33)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TypeError, OverflowError, ValueError])
def test_an_exception_of_python_code_has_no_fields(
    keeper: Keeper, echo: ModuleType, kind: type[BaseException]
) -> None:
    calls: list[Callable[[Any], Any]] = [
        echo.echo_int,
        lambda index: echo.echo_int_list([1, index]),
        lambda index: echo.several(keeper.value("Tensor(1)"), n=index),
    ]
    for call in calls:
        with pytest.raises(kind) as raised:
            call(Index(kind("mine")))
        assert raised.value.args == ("mine",)
        assert not any(hasattr(raised.value, name) for name in FIELDS)


def test_an_exception_of_a_kernel_has_no_fields(echo: ModuleType) -> None:
    with pytest.raises(IndexError) as raised:
        echo.raise_error("out_of_range")
    assert not any(hasattr(raised.value, name) for name in FIELDS)


# Each allocation in turn fails while the error is made.
NO_MEMORY = """
import _testcapi, echo_ops

def outcome(call, failing):
    _testcapi.set_nomemory(failing, failing + 1)
    try:
        call()
    except (TypeError, OverflowError) as error:
        _testcapi.remove_mem_hooks()
        assert "argument 'x' (position 1)" in str(error), error
        return "with fields" if hasattr(error, "candidates") else "without"
    except (MemoryError, SystemError):  # the latter of Python itself, for a traceback's frame
        return "no memory"
    finally:
        _testcapi.remove_mem_hooks()

for value in ["a", 2**63]:
    print(sorted({outcome(lambda: echo_ops.echo_int(value), i) for i in range(200)}))
"""


def test_want_of_memory_while_an_error_is_made(run_python: RunPython) -> None:
    pytest.importorskip("_testcapi")
    done = run_python(NO_MEMORY)
    assert done.stdout == "['no memory', 'with fields', 'without']\n" * 2, done.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, KeyError])
def test_a_metaclass_that_fails_while_its_name_is_asked(
    echo: ModuleType, error: type[BaseException]
) -> None:
    """The text does without the name; Ctrl-C is no part of a text."""

    class Meta(type):
        @property
        def __module__(cls) -> str:  # type: ignore[override]
            raise error

    value = Meta("Named", (), {})()
    with pytest.raises(TypeError if error is KeyError else error) as raised:
        echo.documented(value)
    if error is KeyError:
        expected = "documented(): argument 'x' (position 1) must be int, not Named"
        assert str(raised.value) == expected
