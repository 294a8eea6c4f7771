"""Objects whose hooks do what nobody expects while an argument is read, for every type of argument.

A cell is a hook, what it does, and a type that it is a hook of. In each, every function of the echo
library that takes one argument is called with such an object: alone, by keyword, and in a list.
What must come of it follows from the same call with a hook that does nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

import echo_library
import pytest
from echo_tables import TABLES, ListTable
from echo_zoo import Keeper


@dataclass(slots=True)
class Scene:
    """The call that is being made, as a hook finds it."""

    act: Callable[[Scene], None]
    # The list that is being read.
    items: list[Any] = field(default_factory=list)
    # Makes the same call once more, with another object of the kind.
    again: Callable[[], object] = object
    # What a hook raises.
    error: BaseException = field(default_factory=Exception)
    asked: int = 0


scene = Scene(act=lambda scene: None)


def asked(default: Any) -> Any:
    """The body of every hook."""
    scene.asked += 1
    scene.act(scene)
    if isinstance(default, type) and issubclass(default, BaseException):
        raise default
    return default


# --- what hooks do --------------------------------------------------------------------------------

ERRORS = (KeyError, TypeError, OverflowError, KeyboardInterrupt, SystemExit, GeneratorExit)
THREADS = ThreadPoolExecutor(1)


def raises(scene: Scene) -> None:
    raise scene.error


def recurses(scene: Scene) -> None:
    scene.again()


def re_enters(scene: Scene) -> None:
    if scene.asked == 1:
        scene.again()


def clears(scene: Scene) -> None:
    scene.items.clear()


def shrinks(scene: Scene) -> None:
    del scene.items[2:]


def clears_in_another_thread(scene: Scene) -> None:
    THREADS.submit(scene.items.clear).result()


def replaces(scene: Scene) -> None:
    scene.items[:] = [object()] * len(scene.items)


def grows(scene: Scene) -> None:
    if len(scene.items) < 10:
        scene.items.extend(scene.items[:1] * 1000)


def drops(scene: Scene) -> None:
    """The only reference to the object, but for the call's own."""
    if len(scene.items) > 1:
        scene.items[1] = scene.items[0]


# What is read after one of these is no longer there.
TAKING = (clears, shrinks, clears_in_another_thread, replaces)
MUTATING = (*TAKING, grows, drops)

# --- hooks ----------------------------------------------------------------------------------------

# A hook and what it gives when it does nothing else.
METHODS = {
    "__index__": 1,
    "__bool__": True,
    "__float__": 1.5,
    "__complex__": 1j,
    "__eq__": False,
    "__hash__": 1,
    "__iter__": iter(()),
    "__len__": 1,
    "__getitem__": 1,
    "__str__": "text",
    "__repr__": "text",
}
OVERRIDES = ("method", "classmethod", "attribute", "property")
HOOKS = (*METHODS, *OVERRIDES, "__class__", "__instancecheck__")
BASES: dict[str, Any] = {
    **{"object": (object,), "int": (int, 3), "float": (float, 3.5), "complex": (complex, 3j)},
    **{"str": (str, "cpu"), "list": (list, [1]), "tuple": (tuple, (1,)), "dict": (dict, {1: 1})},
    "Tensor": (None, 3),
}


def body(hook: str) -> dict[str, Any]:
    """What a class with the hook has."""
    if hook in METHODS:
        return {hook: lambda *_: asked(METHODS[hook])}
    if hook == "__class__":
        return {hook: property(lambda _: asked(int))}
    override: dict[str, Any] = {
        "method": lambda *_: asked("handled"),
        "classmethod": classmethod(lambda *_: asked("handled")),
        "attribute": staticmethod(lambda *_: asked("handled")),
        "property": property(lambda _: asked(AttributeError)),
    }
    return {"__torch_function__": override[hook]} if hook in override else {}


@cache
def maker(hook: str, base: str) -> Callable[[], Any]:
    """Makes objects of a class with that base and hook."""
    import null_host

    type_, *value = BASES[base]
    checks = {"__instancecheck__": lambda *_: asked(True)} if hook == "__instancecheck__" else {}
    metaclass = type("Meta", (type,), checks)
    cls = metaclass("Hostile", (type_ or null_host.Tensor,), body(hook))
    return lambda: cls(*value)


# --- calls ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Way:
    """A function, and how it is given an object."""

    function: str
    # Given the function, an object and the list to put it into.
    call: Callable[[Any, Callable[[], Any], list[Any]], Any]
    # A value that may stand beside the object in a list.
    filler: str = ""

    @property
    def is_list(self) -> bool:
        return self.filler != ""


def alone(function: Any, make: Callable[[], Any], items: list[Any]) -> Any:
    return function(make())


def by_keyword(function: Any, make: Callable[[], Any], items: list[Any]) -> Any:
    return function(**{"x": make()})


def in_a_list(function: Any, make: Callable[[], Any], items: list[Any]) -> Any:
    items.insert(1, make())
    return function(items)


def in_an_inner_list(function: Any, make: Callable[[], Any], items: list[Any]) -> Any:
    items.insert(1, make())
    return function([[1], items])


def ways() -> Iterator[Way]:
    for form in echo_library.forms():
        function = f"echo_{form.slug}"
        yield Way(function, alone)
        yield Way(function, by_keyword)
        table = TABLES[form.row.schema.removesuffix("?")]
        if isinstance(table, ListTable):
            yield Way(function, in_a_list, table.filler)
    yield Way("echo_int_list_list", in_an_inner_list, "1")
    # With overloads of which each looks at the object.
    yield Way("pick", alone)
    yield Way("pick", in_a_list, "1")


WAYS = tuple(ways())


def _stem(function: str) -> str:
    """The type of the argument, or of its elements."""
    return re.sub(r"^echo_|(_list|_or_none|_\d+)+$", "", function)


Outcome = str | BaseException


class Caller:
    """Makes calls with hostile objects."""

    def __init__(self, echo: ModuleType, keeper: Keeper) -> None:
        self._functions = {way.function: getattr(echo, way.function) for way in WAYS}
        self._fillers = {way.filler: keeper.value(way.filler or "None") for way in WAYS}

    def outcome(self, way: Way, make: Callable[[], Any], act: Callable[[Scene], None]) -> Outcome:
        """The result, or the exception; how often the hook was asked is then in `scene`."""

        def call() -> Any:
            # The sized forms that are counted take three.
            scene.items = [self._fillers[way.filler]] * 2 if way.is_list else []
            return way.call(self._functions[way.function], make, scene.items)

        scene.act, scene.again, scene.asked = act, call, 0
        try:
            return str(call())
        except BaseException as error:
            return error
        finally:
            scene.act = lambda _: None


@pytest.fixture(scope="module")
def caller(echo: ModuleType, keeper: Keeper) -> Caller:
    return Caller(echo, keeper)


def nothing(scene: Scene) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Cell:
    """One call with a hook that does nothing."""

    way: Way
    make: Callable[[], Any]
    calm: Outcome
    asked: int

    def __str__(self) -> str:
        return f"{self.way.function}, {self.way.call.__name__}"


@cache
def cells(caller: Caller, hook: str, base: str) -> tuple[Cell, ...]:
    make = maker(hook, base)
    calms = ((way, caller.outcome(way, make, nothing), scene.asked) for way in WAYS)
    return tuple(Cell(way, make, calm, times) for way, calm, times in calms)


def is_same(one: Outcome, other: Outcome) -> bool:
    if isinstance(one, BaseException):
        return type(one) is type(other) and str(one) == str(other)
    return one == other


CELLS = tuple(itertools.product(HOOKS, BASES))

# Hook -> the types that it may be a hook of -> the arguments that ask it.
_INTS = {"int", "symint", "deviceindex", "pick"}
ASKED: dict[str, tuple[set[str], set[str]]] = {
    # What is an int itself is not asked for another.
    "__index__": ({"object", "str", "list", "tuple", "dict"}, _INTS),
    "__float__": ({"int"}, {"float", "complex"}),
    "__complex__": ({"complex"}, {"complex", "scalar", "pick"}),
    **dict.fromkeys(OVERRIDES, (set(BASES), {_stem(way.function) for way in WAYS})),
}


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_is_asked_where_it_counts(caller: Caller, hook: str) -> None:
    bases, stems = ASKED.get(hook, (set(), set()))
    asked = [(b, _stem(c.way.function)) for b in BASES for c in cells(caller, hook, b) if c.asked]
    assert {base for base, _ in asked} == bases
    assert {stem for _, stem in asked} == stems


@pytest.mark.parametrize(("hook", "base"), CELLS)
def test_an_exception_of_a_hook_passes_unchanged(caller: Caller, hook: str, base: str) -> None:
    for cell in cells(caller, hook, base):
        # One is enough where nobody hears of it.
        for error in ERRORS if cell.asked else ERRORS[:1]:
            scene.error = error("why", 1)
            got = caller.outcome(cell.way, cell.make, raises)
            if not cell.asked:
                assert is_same(got, cell.calm), cell
                continue
            # No other overload is tried, nothing is added to it.
            assert (got, scene.asked) == (scene.error, 1), cell
            assert (scene.error.args, hasattr(got, "__notes__")) == (("why", 1), False), cell


@pytest.mark.parametrize(("hook", "base"), CELLS)
def test_a_hook_that_calls_the_function_again(caller: Caller, hook: str, base: str) -> None:
    for cell in cells(caller, hook, base):
        assert is_same(caller.outcome(cell.way, cell.make, re_enters), cell.calm), cell
        endless = caller.outcome(cell.way, cell.make, recurses)
        if cell.asked:
            assert isinstance(endless, RecursionError), cell
        else:
            assert is_same(endless, cell.calm), cell


@pytest.mark.parametrize("act", MUTATING, ids=lambda act: act.__name__)
@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_changes_the_list(
    caller: Caller, hook: str, act: Callable[[Scene], None]
) -> None:
    for base in BASES:
        for cell in cells(caller, hook, base):
            got = caller.outcome(cell.way, cell.make, act)
            if hook == "property":
                # Asked before the list is read: what is left is read, or refused.
                assert isinstance(got, str | TypeError), cell
            elif cell.asked and cell.way.is_list and act in TAKING and hook not in OVERRIDES:
                assert isinstance(got, RuntimeError), cell
                assert "changed while it was read" in str(got), cell
            else:
                assert is_same(got, cell.calm), cell
