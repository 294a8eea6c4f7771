"""`__torch_function__` on the null host: who is asked, in which order, and what it gets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

import pytest


class Handler:
    """Takes calls over; each class has a log of its own."""

    log: list[tuple[Any, ...]]

    def __init_subclass__(cls) -> None:
        cls.log = []

    def __torch_function__(self, *arguments: Any) -> Any:
        type(self).log.append(arguments)
        return "handled"


class First(Handler):
    pass


class Second(Handler):
    pass


class Derived(First):
    pass


class Refuses(Handler):
    def __torch_function__(self, *arguments: Any) -> Any:
        type(self).log.append(arguments)
        return NotImplemented


HANDLERS = (First, Second, Derived, Refuses)


@pytest.fixture(autouse=True)
def empty_logs() -> None:
    for handler in HANDLERS:
        handler.log.clear()


def asked() -> list[type]:
    return [handler for handler in HANDLERS if handler.log]


def test_a_handler_gets_the_call(echo: ModuleType) -> None:
    one = First()
    assert echo.several(one, 2, s="t") == "handled"
    ((function, types, args, kwargs),) = First.log
    assert function is echo.several
    assert (types, args, kwargs) == ((First,), (one, 2), {"s": "t"})


def test_without_keywords_there_is_no_fourth_argument(echo: ModuleType) -> None:
    one = First()
    assert echo.echo_tensor(one) == "handled"
    assert First.log == [(echo.echo_tensor, (First,), (one,))]


@pytest.mark.parametrize(
    "call",
    [
        lambda e, h: e.echo_int(h),
        lambda e, h: e.echo_int(x=h),
        lambda e, h: e.echo_int_list([1, h]),
        lambda e, h: e.echo_int_list(1, h),
        lambda e, h: e.echo_int_list(h),
        lambda e, h: e.echo_tensor_list([h]),
        lambda e, h: e.echo_tensor_or_none_list([None, h]),
        lambda e, h: e.echo_str_list(["a", h]),
        lambda e, h: e.echo_generator(h),
        lambda e, h: e.number_tensor(h),
        lambda e, h: e.echo_device(h),
        lambda e, h: e.optionals(s=h),
        lambda e, h: e.plus(e.fresh(1), out=h),
        lambda e, h: e.split(e.fresh(1), out=[e.fresh(1), h]),
        lambda e, h: e.pick(h),
    ],
)
def test_any_argument_counts(echo: ModuleType, call: Any) -> None:
    assert call(echo, First()) == "handled"


def test_a_subclass_is_asked_first_and_each_type_once(echo: ModuleType) -> None:
    class RefusesDerived(Refuses):
        pass

    values = [Refuses(), RefusesDerived(), Refuses(), First()]
    assert echo.echo_tensor_list(values) == "handled"
    (call,) = First.log
    assert call[1] == (RefusesDerived, Refuses, First)
    assert len(Refuses.log) == len(RefusesDerived.log) == 1


def test_nobody_takes_it(echo: ModuleType) -> None:
    with pytest.raises(TypeError) as error:
        echo.echo_tensor(Refuses())
    assert str(error.value) == (
        f"Multiple dispatch failed for {echo.echo_tensor!r}: every __torch_function__ returned "
        f"NotImplemented; types asked: ({Refuses!r},)"
    )


def test_an_exception_of_a_handler(echo: ModuleType) -> None:
    class Raises:
        def __torch_function__(self, *arguments: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        echo.echo_tensor(Raises())


class Silent:
    """Handles calls and remembers none."""

    def __torch_function__(self, *arguments: Any) -> Any:
        return None


class Declines(Silent):
    def __torch_function__(self, *arguments: Any) -> Any:
        return NotImplemented


@pytest.mark.parametrize("handlers", [(Silent,), (Declines,), (Silent, Declines)])
def test_no_reference_is_kept(echo: ModuleType, handlers: tuple[type, ...]) -> None:
    values = [handler() for handler in handlers]
    keywords = {"x": values}
    watched = [*values, *handlers, values, keywords, echo.echo_tensor_list]
    before = [sys.getrefcount(one) for one in watched]
    for _ in range(10):
        with suppress(TypeError):
            echo.echo_tensor_list(values)
        with suppress(TypeError):
            echo.echo_tensor_list(**keywords)
    assert [sys.getrefcount(one) for one in watched] == before


def test_an_exception_while_the_attribute_is_looked_up(echo: ModuleType) -> None:
    class Odd:
        @property
        def __torch_function__(self) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        echo.echo_tensor(Odd())


def test_an_attribute_of_the_object_counts(echo: ModuleType) -> None:
    class Plain:
        pass

    plain = Plain()
    plain.__torch_function__ = lambda *arguments: arguments[2]  # type: ignore[attr-defined]
    assert echo.echo_tensor(plain) == (plain,)


def test_an_attribute_of_the_metaclass_does_not(echo: ModuleType) -> None:
    class Meta(type):
        __torch_function__ = None

    class Plain(metaclass=Meta):
        pass

    with pytest.raises(TypeError, match="must be Tensor"):
        echo.echo_tensor(Plain())


def test_a_property_that_finds_nothing_is_no_handler(echo: ModuleType) -> None:
    class Plain:
        @property
        def __torch_function__(self) -> Any:
            raise AttributeError

    with pytest.raises(TypeError, match="must be Tensor"):
        echo.echo_tensor(Plain())


def test_an_exception_while_the_keywords_are_gathered(echo: ModuleType) -> None:
    class Name(str):
        asked = 0

        def __hash__(self) -> int:
            self.asked += 1
            if self.asked > 1:
                raise ZeroDivisionError
            return hash(str(self))

        __eq__ = str.__eq__

    with pytest.raises(ZeroDivisionError):
        echo.echo_tensor(**{Name("x"): First()})


def test_what_a_wrong_call_does_not_reach(echo: ModuleType) -> None:
    """An argument that overloads makes no other argument right."""
    with pytest.raises(TypeError, match=r"argument 'n' .* must be int"):
        echo.several(First(), "two")
    assert not asked()


def test_the_disabled_implementation_takes_no_part(echo: ModuleType, null_host: ModuleType) -> None:
    class Plain(null_host.Tensor):  # type: ignore[misc, name-defined]
        __torch_function__ = null_host.disabled_torch_function_impl

    assert echo.echo_tensor(Plain(3)) == "tensor of int 3"


def test_a_tensor_that_handles_calls(echo: ModuleType, null_host: ModuleType) -> None:
    class Handles(First, null_host.Tensor):  # type: ignore[misc, name-defined]
        pass

    assert echo.echo_tensor(Handles(3)) == "handled"
    null_host.enable_subclasses(False)
    try:
        assert echo.echo_tensor(Handles(3)) == "tensor of int 3"
    finally:
        null_host.enable_subclasses(True)


def test_the_next_check_may_be_skipped(echo: ModuleType, null_host: ModuleType) -> None:
    class Handles(First, null_host.Tensor):  # type: ignore[misc, name-defined]
        pass

    tensor = Handles(3)
    null_host.skip_next()
    assert echo.echo_tensor(tensor) == "tensor of int 3"
    assert echo.echo_tensor(tensor) == "handled"
    null_host.skip_next()
    with pytest.raises(TypeError, match=r"must be Tensor, not test_echo_overrides\.First"):
        echo.echo_tensor(First())


# --- modes ----------------------------------------------------------------------------------------


@contextmanager
def mode(null_host: ModuleType, handler: Any) -> Iterator[None]:
    null_host.push_mode(handler)
    try:
        yield
    finally:
        null_host.pop_mode()


def test_a_mode_is_asked_first(echo: ModuleType, null_host: ModuleType) -> None:
    with mode(null_host, First()):
        assert echo.echo_int(1) == "handled"
        assert echo.echo_tensor(Second()) == "handled"
        assert echo.nothing() == "handled"
    assert not Second.log
    assert First.log[0] == (echo.echo_int, (), (1,))
    assert First.log[1][1] == (Second,)
    assert First.log[2] == (echo.nothing, (), ())


def test_a_mode_that_does_not_want_a_call(echo: ModuleType, null_host: ModuleType) -> None:
    with mode(null_host, Refuses()):
        assert echo.echo_tensor(First()) == "handled"
        for call in (lambda: echo.echo_int(1), echo.nothing):
            with pytest.raises(TypeError, match=r"\(an active mode was asked first\); .* none$"):
                call()


def test_modes_stand_one_in_another(echo: ModuleType, null_host: ModuleType) -> None:
    class Passes:
        def __torch_function__(self, function: Any, types: Any, args: Any = ()) -> Any:
            return f"passed {function(*args)}"

    with mode(null_host, First()), mode(null_host, Passes()):
        assert echo.echo_int(1) == "passed handled"
        assert echo.nothing() == "passed handled"
    with mode(null_host, Passes()):
        assert echo.echo_int(1) == "passed 1"


def test_a_mode_may_be_skipped(echo: ModuleType, null_host: ModuleType) -> None:
    with mode(null_host, First()):
        null_host.skip_next()
        assert echo.echo_int(1) == "1"
        null_host.skip_next()
        assert echo.nothing() == ""
        assert echo.nothing() == "handled"
