"""Keywords whose names and dicts run code, on the null host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import pytest

ERRORS = (KeyError, AttributeError, KeyboardInterrupt, SystemExit, GeneratorExit)


class Name(str):
    """A keyword that runs code where it is compared or hashed, once it is armed."""

    act: Callable[[], object] = object

    def __eq__(self, other: object) -> bool:
        type(self).act()
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        type(self).act()
        return str.__hash__(self)


class Index:
    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __index__(self) -> int:
        self.act()
        return 5


class Handler:
    def __torch_function__(self, *arguments: Any) -> Any:
        return "handled"


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    Name.act = object


def raising(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


@pytest.mark.parametrize("error", ERRORS)
def test_names_are_compared_as_the_text_that_they_are(
    echo: ModuleType, error: type[BaseException]
) -> None:
    right: dict[str, Any] = {Name("x"): 5}
    wrong: dict[str, Any] = {Name("y"): 5}
    Name.act = raising(error())
    assert echo.echo_int(**right) == "5"
    for function in (echo.echo_int, echo.pick):
        with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
            function(**wrong)


@pytest.mark.parametrize("error", ERRORS)
def test_an_exception_of_a_name_on_its_way_to_a_handler(
    echo: ModuleType, error: type[BaseException]
) -> None:
    keywords = {Name("x"): Handler()}
    raised = error()
    Name.act = raising(raised)
    with pytest.raises(error) as caught:
        echo.echo_int(**keywords)
    assert caught.value is raised


def test_a_name_that_calls_the_function_again(echo: ModuleType) -> None:
    keywords: dict[str, Any] = {Name("x"): Handler()}
    seen: list[str] = []
    Name.act = lambda: seen.append(echo.echo_int(x=5))
    assert echo.echo_int(**keywords) == "handled"
    assert set(seen) == {"5"}


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "cleared": lambda d: d.clear(),
    "grown": lambda d: d.update({f"k{i}": i for i in range(100)}),
    "replaced": lambda d: d.update(dict.fromkeys(d, "no int")),
    "dropped": lambda d: d.pop("n", None),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_keywords_that_change_while_they_are_read(
    echo: ModuleType, change: Callable[[dict[str, Any]], object]
) -> None:
    """A call has what its keywords were when it was made."""
    for _ in range(20):
        keywords: dict[str, Any] = {}
        keywords |= {"n": Index(partial(change, keywords)), "size": [1, Index(object)], "s": "t"}
        assert echo.optionals(**keywords) == "t=None, n=5, size=[1, 5], s='t'"


class Odd(dict):  # type: ignore[type-arg]
    """Its keys and values are what its hooks say."""

    act: Callable[[], object] = object

    def keys(self) -> Any:
        self.act()
        return iter(["x"])

    def __iter__(self) -> Iterator[str]:
        return iter(["nobody's"])

    def __len__(self) -> int:
        return 99

    def __getitem__(self, name: object) -> Any:
        self.act()
        return 5


@pytest.mark.parametrize("error", ERRORS)
def test_a_dict_of_its_own_kind(echo: ModuleType, error: type[BaseException]) -> None:
    odd = Odd(y=1)
    assert echo.echo_int(**odd) == "5"
    raised = error()
    odd.act = raising(raised)
    with pytest.raises((error, TypeError)) as caught:
        echo.echo_int(**odd)
    # Python itself makes a TypeError of an AttributeError: such an object is no mapping.
    assert caught.value is raised or error is AttributeError
