"""Exceptions, warnings and the GIL at the boundary, on the null host."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from echo_zoo import Index, fields

_NO_STD = "an exception that is no std::exception was thrown"
KINDS = {
    "bad_alloc": (MemoryError, "std::bad_alloc"),
    "out_of_range": (IndexError, "out of range"),
    "invalid_argument": (ValueError, "invalid argument"),
    "domain_error": (ValueError, "domain error"),
    "length_error": (ValueError, "length error"),
    "range_error": (ValueError, "range error"),
    "overflow_error": (OverflowError, "overflow error"),
    "runtime_error": (RuntimeError, "runtime error"),
    "not_utf8": (IndexError, "bytes �� that are no UTF-8"),
    "int": (RuntimeError, _NO_STD),
    "custom": (RuntimeError, "an exception of the author's"),
    "alien": (RuntimeError, _NO_STD),
    "python_error": (KeyError, '"an error of Python\'s"'),
    "python_error_copied": (KeyError, '"an error of Python\'s"'),
    "python_error_unset": (SystemError, "python_error was thrown without a Python exception set"),
    "python_error_twice": (SystemError, "python_error was thrown without a Python exception set"),
}
# With a translator of the author's.
TRANSLATED = {
    "custom": (LookupError, "an exception of the author's"),
    "alien": (LookupError, "an alien"),
    "runtime_error": (RuntimeError, "runtime error"),
    "int": (RuntimeError, _NO_STD),
    "out_of_range": (IndexError, "out of range"),
    "translator throws": (RuntimeError, "the translator failed"),
    "translator raises": (LookupError, "the translator failed"),
    "translator throws an int": (RuntimeError, _NO_STD),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_becomes_pythons(echo: ModuleType, kind: str) -> None:
    with pytest.raises(KINDS[kind][0]) as error:
        echo.raise_error(kind)
    assert (type(error.value), str(error.value)) == KINDS[kind]


@pytest.mark.parametrize("kind", TRANSLATED)
def test_translators_are_asked(echo: ModuleType, kind: str) -> None:
    echo.translate(True)
    try:
        with pytest.raises(TRANSLATED[kind][0]) as error:
            echo.raise_error(kind)
    finally:
        echo.translate(False)
    assert (type(error.value), str(error.value)) == TRANSLATED[kind]


def test_an_overload_that_the_generated_code_does_not_know(echo: ModuleType) -> None:
    text = "f(): signature 7 has no case in the generated code"
    with pytest.raises(SystemError) as error:
        echo.unknown_overload(7)
    assert str(error.value) == text


def test_errors_that_nobody_shows_are_released(echo: ModuleType) -> None:
    echo.drop_errors(1)
    gc.collect()
    before = sys.getrefcount(KeyError)
    echo.drop_errors(100)
    gc.collect()
    assert sys.getrefcount(KeyError) - before < 50


# --- what changes while it is read ----------------------------------------------------------------


class Clears:
    """Empties the list that it is in while it is asked for its value."""

    def __init__(self, victim: list[Any], left: int = 0) -> None:
        self.victim = victim
        self.left = left

    def __index__(self) -> int:
        del self.victim[self.left :]
        return 5


@pytest.mark.parametrize("left", [0, 1])
def test_a_list_that_shrinks_while_it_is_read(echo: ModuleType, left: int) -> None:
    values: list[Any] = []
    values += [Clears(values, left), 2, 3]
    with pytest.raises(RuntimeError) as error:
        echo.echo_int_list(values)
    reason = "argument 'x' (position 1) changed while it was read"
    assert str(error.value) == f"echo_int_list(): {reason}"
    assert fields(error.value) == (
        "echo_int_list",
        "x",
        (("echo_int_list(int[] x) -> str", reason),),
    )


def test_a_list_whose_elements_change_while_it_is_read(echo: ModuleType) -> None:
    values: list[Any] = []

    class Replaces:
        def __index__(self) -> int:
            values[1] = "no int"
            return 5

    values += [Replaces(), 2]
    with pytest.raises(RuntimeError, match="changed while it was read"):
        echo.echo_int_list(values)


def test_a_list_that_grows_while_it_is_read_has_its_size_at_the_start(echo: ModuleType) -> None:
    values: list[Any] = []

    class Grows:
        def __index__(self) -> int:
            values.extend([8] * 1000)
            return 5

    values += [Grows(), 2]
    assert echo.echo_int_list(values) == "[5, 2]"


def test_lists_in_a_list_that_change_while_they_are_read(echo: ModuleType) -> None:
    class Runs:
        def __init__(self, change: Callable[[], None]) -> None:
            self.change = change

        def __index__(self) -> int:
            self.change()
            return 5

    inner: list[Any] = []
    inner[:] = [Runs(inner.clear), 2]
    outer: list[Any] = []
    outer[:] = [[Runs(outer.clear)], [2]]
    other: list[Any] = []
    other[:] = [[Runs(lambda: other.__setitem__(1, 2))], [2]]
    for values in ([inner], outer, other):
        with pytest.raises(RuntimeError, match="changed while it was read"):
            echo.echo_int_list_list(values)
    inner[:] = [Runs(lambda: inner.append(inner[0])), 2]
    assert echo.echo_int_list_list([inner]) == "[[5, 2]]"


class Changing:
    """Runs code when somebody looks for its `__torch_function__`."""

    change: Callable[[], None]

    @property
    def __torch_function__(self) -> Any:
        type(self).change()
        raise AttributeError


def test_a_list_of_tensors_that_changes_while_it_is_checked(
    echo: ModuleType, null_host: ModuleType
) -> None:
    class Sub(Changing, null_host.Tensor):  # type: ignore[misc, name-defined]
        pass

    values: list[Any] = [null_host.Tensor(1), Sub(2), null_host.Tensor(3)]
    Sub.change = lambda: values.__setitem__(0, "no tensor")
    with pytest.raises(RuntimeError, match=r"argument 'xs' .* changed while it was read"):
        echo.touch_all(values, 1)
    values[0] = None
    with pytest.raises(RuntimeError, match=r"argument 'x' .* changed while it was read"):
        echo.echo_tensor_or_none_list(values)
    values[0] = null_host.Tensor(1)
    Sub.change = values.clear
    assert echo.echo_tensor_list(values) == "[]"
    out = [null_host.Tensor(1), Sub(2)]
    Sub.change = out.clear
    with pytest.raises(RuntimeError, match="argument 'out' changed while it was read"):
        echo.fill_outs(1, out=out)


def test_a_wrong_call_whose_arguments_change_meanwhile(echo: ModuleType) -> None:
    """The call is matched again to learn why: by then it would be taken."""
    values: list[Any] = []

    class Wrong:
        @property
        def __torch_function__(self) -> Any:
            values[:] = [1]
            raise AttributeError

    values += [Wrong()]
    reason = "an argument changed while the call was checked"
    with pytest.raises(TypeError) as error:
        echo.echo_int_list(values)
    assert str(error.value) == f"echo_int_list(): {reason}"
    assert fields(error.value) == (
        "echo_int_list",
        None,
        (("echo_int_list(int[] x) -> str", reason),),
    )


# --- objects that are hard to describe ------------------------------------------------------------


def type_with(values: dict[str, Any]) -> Any:
    """An object whose type has these attributes; an exception among them is raised."""

    class Odd(type):
        def __getattribute__(cls, name: str) -> Any:
            value = values.get(name) or super().__getattribute__(name)
            if isinstance(value, BaseException):
                raise value
            return value

    return Odd("Named", (), {})()


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ({"__module__": ZeroDivisionError()}, "Named"),
        ({"__module__": 5}, "Named"),
        ({"__module__": "__main__"}, "Named"),
        ({"__qualname__": ZeroDivisionError()}, "test_echo_errors.?"),
        ({"__qualname__": 5}, "test_echo_errors.?"),
        ({"__qualname__": "\ud800"}, "test_echo_errors.\\ud800"),
        ({"__qualname__": "ü"}, "test_echo_errors.ü"),
    ],
)
def test_a_type_that_hides_its_name(echo: ModuleType, values: dict[str, Any], shown: str) -> None:
    with pytest.raises(TypeError) as error:
        echo.echo_int(type_with(values))
    assert str(error.value) == f"echo_int(): argument 'x' (position 1) must be int, not {shown}"


def test_an_interrupt_while_an_argument_is_read(echo: ModuleType) -> None:
    with pytest.raises(KeyboardInterrupt):
        echo.several(echo.fresh(1), Index(KeyboardInterrupt()))


# --- warnings -------------------------------------------------------------------------------------


def test_warnings_are_issued_after_the_kernel(echo: ModuleType) -> None:
    with pytest.warns(UserWarning) as caught:
        assert echo.warn("careful ü", 2) == 2
    assert [str(one.message) for one in caught] == ["careful ü"] * 2


def test_a_warning_that_is_an_error(echo: ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="careful"):
            echo.warn("careful", 2)


def test_an_error_beats_a_warning(echo: ModuleType) -> None:
    with pytest.warns(UserWarning, match="careful"), pytest.raises(IndexError):
        echo.warn("careful", 1, "out_of_range")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IndexError):
            echo.warn("careful", 1, "out_of_range")


def test_a_call_within_a_call_warns_for_itself(echo: ModuleType) -> None:
    statement = "import echo_ops; echo_ops.warn('inner')"
    with pytest.warns(UserWarning, match="inner"):
        echo.call_python(statement)


# --- the GIL --------------------------------------------------------------------------------------


def test_the_gil_is_away_in_a_kernel(echo: ModuleType) -> None:
    assert not echo.gil_state()
    assert echo.gil_state_held()


def test_a_kernel_takes_the_gil(echo: ModuleType) -> None:
    assert echo.call_python("x = 1") == 1
    assert echo.call_python_in_thread("x = 1") == 1
    for call in (echo.call_python, echo.call_python_in_thread):
        with pytest.raises(KeyError, match="mine"):
            call("raise KeyError('mine')")


def test_a_value_is_destroyed_without_the_gil(echo: ModuleType) -> None:
    assert echo.destroy_without_gil()
