"""Tensors whose hooks raise, call again or change what is read. Other objects: tests/runtime."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import demo_ops
import pytest
import torch

X = torch.arange(6.0).reshape(2, 3)
ERRORS = (KeyError, RuntimeError, OverflowError, KeyboardInterrupt, SystemExit, GeneratorExit)


@dataclass(slots=True)
class Scene:
    """What a hook does, and the list that is being read."""

    act: Callable[[], object] = object
    items: list[Any] = field(default_factory=list)
    asked: int = 0


scene = Scene()


def asked() -> None:
    scene.asked += 1
    scene.act()


class ByProperty(torch.Tensor):
    @property
    def __torch_function__(self) -> Any:
        asked()
        raise AttributeError


class ByClassmethod(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
        asked()
        return super().__torch_function__(*args, **kwargs)  # type: ignore[no-untyped-call]


class ByDispatch(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        asked()
        with torch._C._DisableTorchDispatch():
            return func(*args, **(kwargs or {}))


def made(kind: type[torch.Tensor], value: torch.Tensor) -> torch.Tensor:
    tensor: torch.Tensor = torch.Tensor._make_subclass(kind, value)
    return tensor


def listed(*values: torch.Tensor) -> list[Any]:
    """The list has the only reference to them."""
    scene.items = list(values)
    return scene.items


KINDS = (ByProperty, ByClassmethod, ByDispatch)
Make = Callable[[torch.Tensor], torch.Tensor]
CALLS: dict[str, Callable[[Make], Any]] = {
    "argument": lambda make: demo_ops.add(make(X), X),
    "number": lambda make: demo_ops.clamp(X, make(torch.tensor(1.5))),
    "int": lambda make: demo_ops.sum(X, make(torch.tensor(1))),
    "int in a list": lambda make: demo_ops.sum(X, listed(make(torch.tensor(1)), torch.tensor(0))),
    "list": lambda make: demo_ops.cat(listed(X.clone(), make(X), X.clone())),
    "out": lambda make: demo_ops.add(X, X, out=make(torch.empty(2, 3))),
    "outs": lambda make: demo_ops.max(
        X, 1, out=listed(make(torch.empty(2)), torch.empty(2, dtype=torch.int64))
    ),
}
# Nobody looks for the property of a tensor that stands for an int.
CELLS = [(k, c) for k in KINDS for c in CALLS if (k, c) != (ByProperty, "int")]


def outcome(kind: type[torch.Tensor], call: str, act: Callable[[], object]) -> Any:
    """The result, or the exception."""

    def make(value: torch.Tensor) -> torch.Tensor:
        tensor = made(kind, value)
        scene.act, scene.asked = act, 0
        return tensor

    try:
        return CALLS[call](make)
    except BaseException as error:
        return error
    finally:
        scene.act = object


@pytest.mark.parametrize(("kind", "call"), CELLS)
def test_an_exception_of_a_hook_passes_unchanged(kind: type[torch.Tensor], call: str) -> None:
    for error in ERRORS:
        raised = error("why", 1)

        def act(raised: BaseException = raised) -> None:
            raise raised

        assert outcome(kind, call, act) is raised
        assert scene.asked == 1
        assert (raised.args, hasattr(raised, "__notes__")) == (("why", 1), False)


@pytest.mark.parametrize(("kind", "call"), CELLS)
def test_a_hook_that_calls_the_function_again(kind: type[torch.Tensor], call: str) -> None:
    def recurse() -> None:
        CALLS[call](lambda value: made(kind, value))

    def once() -> None:
        scene.act = object
        recurse()

    assert not isinstance(outcome(kind, call, once), BaseException)
    assert isinstance(outcome(kind, call, recurse), RecursionError)


def replace(value: object) -> None:
    scene.items[:] = [value] * len(scene.items)


CHANGES: dict[str, Callable[[], object]] = {
    "cleared": lambda: scene.items.clear(),
    "cut": lambda: scene.items.__delitem__(slice(1, None)),
    "replaced": lambda: scene.items.__setitem__(slice(None), ["no tensor"] * len(scene.items)),
    "dropped": lambda: (
        scene.items.__setitem__(slice(None), [X] * len(scene.items)),
        gc.collect(0),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize(("kind", "call"), [cell for cell in CELLS if "list" in cell[1]])
def test_a_hook_that_changes_the_list(
    kind: type[torch.Tensor], call: str, change: Callable[[], object]
) -> None:
    """A result, or one of the runtime's own refusals."""
    for _ in range(50):
        got = outcome(kind, call, change)
        assert isinstance(got, torch.Tensor | TypeError | RuntimeError | ValueError), got
        assert scene.asked


class Sizes(torch.Tensor):
    """Says its sizes in Python."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls) -> Any:
        return torch.Tensor._make_wrapper_subclass(
            cls, (2, 3), dispatch_sizes_strides_policy="sizes"
        )

    @classmethod
    def __torch_dispatch__(cls, *args: Any, **kwargs: Any) -> Any:
        scene.act()
        raise NotImplementedError


@pytest.mark.parametrize("error", [KeyboardInterrupt, KeyError])
def test_a_tensor_that_fails_while_it_is_described(error: type[BaseException]) -> None:
    """The text does without its shape; Ctrl-C is no part of a text."""

    def act() -> None:
        raise error

    value = Sizes()
    scene.act = act
    try:
        with pytest.raises(TypeError if error is KeyError else error) as raised:
            demo_ops.describe(X, value)
    finally:
        scene.act = object
    if error is KeyError:
        text = "describe(): argument 'prefix' (position 2) must be str, not a tensor"
        assert str(raised.value) == text


ASKED: dict[str, Callable[[torch.Tensor], Any]] = {
    "number": lambda value: demo_ops.clamp(X, max=1, min=value),
    "number in place of a tensor": lambda value: demo_ops.add(X, X, alpha=value),
    "int": lambda value: demo_ops.sum(X, value),
    "int in a list": lambda value: demo_ops.sum(X, [0, value]),
}


@pytest.mark.parametrize("call", ASKED)
def test_what_a_tensor_raises_whose_dimension_is_asked(call: str) -> None:
    """A tensor stands for a number if it has no dimension; torch passes it on as well."""
    for error in ERRORS:
        raised = error("why", 1)

        def act(raised: BaseException = raised) -> None:
            raise raised

        value = Sizes()
        scene.act = act
        try:
            ASKED[call](value)
        except BaseException as got:
            assert got is raised
        else:
            pytest.fail("the call went through")
        finally:
            scene.act = object
