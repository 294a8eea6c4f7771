"""`__torch_function__`: what a handler gets, who is asked, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import demo_ops
import pytest
import torch
from torch.overrides import TorchFunctionMode

X = torch.ones(2, 3)
Handled = tuple[Any, tuple[type, ...], tuple[Any, ...], dict[str, Any] | None]


class Recorder:
    """No tensor, but it takes calls over."""

    seen: list[Handled]

    def __init__(self) -> None:
        self.seen = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        self.seen.append((func, types, args, kwargs))
        return "handled"


def recorded(call: Callable[[Any, Recorder], Any], module: Any) -> Handled:
    recorder = Recorder()
    assert call(module, recorder) == "handled"
    (seen,) = recorder.seen
    return seen


CALLS: dict[str, Callable[[Any, Recorder], Any]] = {
    "first": lambda m, r: m.add(r, X),
    "second": lambda m, r: m.add(X, r, alpha=2),
    "keyword": lambda m, r: m.add(input=X, other=r),
    "in a list": lambda m, r: m.cat([X, r], dim=1),
    "in an int list": lambda m, r: m.sum(X, r),
    "out": lambda m, r: m.add(X, X, out=r),
    "clamp": lambda m, r: m.clamp(r, 0, max=1),
    "factory": lambda m, r: m.empty_like(r, dtype=torch.int32),
    "where": lambda m, r: m.where(r),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_the_handler_gets_what_torch_gives(call: Callable[[Any, Recorder], Any]) -> None:
    ours, theirs = recorded(call, demo_ops), recorded(call, torch)
    assert ours[0] is theirs[0]
    assert ours[1] == theirs[1] == (Recorder,)
    assert plain(ours[2]) == plain(theirs[2])
    assert plain(ours[3]) == plain(theirs[3])


def plain(value: Any) -> Any:
    """Something that can be compared: tensors by identity, recorders by type."""
    if isinstance(value, Recorder):
        return Recorder
    if isinstance(value, torch.Tensor):
        return id(value)
    if isinstance(value, (list, tuple)):
        return type(value), [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def test_norm_hands_over_the_builtin() -> None:
    """torch.norm is a Python function; its binding hands over the one below."""
    func, *_ = recorded(lambda m, r: m.norm(r), demo_ops)
    assert func is torch._C._VariableFunctions.norm  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "call",
    [lambda r: demo_ops.scale(r, 2.0), lambda r: demo_ops.scale(X, r)],
    ids=["tensor", "number"],
)
def test_own_ops_hand_over_the_function_itself(call: Callable[[Recorder], Any]) -> None:
    func, types, args, kwargs = recorded(lambda _, r: call(r), demo_ops)
    assert func is demo_ops.scale
    assert types == (Recorder,)
    assert len(args) == 2
    assert kwargs is None


class Base(torch.Tensor):
    log: ClassVar[list[str]] = []  # type: ignore[assignment]  # hides Tensor.log
    answer: Any = "taken"

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        cls.log.append(cls.__name__)
        return cls.answer


class Derived(Base):
    answer = NotImplemented


class Other(Base):
    answer = NotImplemented


class Plain(torch.Tensor):
    pass


def asked(*args: torch.Tensor) -> list[str]:
    Base.log.clear()
    assert demo_ops.add(*args) == "taken"
    return list(Base.log)


def test_subclasses_are_asked_before_their_superclasses() -> None:
    base, derived = X.as_subclass(Base), X.as_subclass(Derived)
    assert asked(base, derived) == ["Derived", "Base"]
    assert asked(derived, base) == ["Derived", "Base"]


def test_unrelated_types_are_asked_from_the_left() -> None:
    base, other = X.as_subclass(Base), X.as_subclass(Recording)
    assert asked(base, other) == ["Base"]
    assert asked(other, base) == ["Recording"]


class Recording(torch.Tensor):
    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        Base.log.append(cls.__name__)
        return "taken"


def test_each_type_is_asked_once() -> None:
    x = X.as_subclass(Plain)
    assert recorded_types(x, x) == (Plain,)


def recorded_types(*args: torch.Tensor) -> tuple[type, ...]:
    class Mode(TorchFunctionMode):
        types: tuple[type, ...] = ()

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            self.types = types
            return func(*args, **(kwargs or {}))

    with Mode() as mode:
        demo_ops.add(*args)
    types: tuple[type, ...] = mode.types
    return types


def test_nobody_takes_it() -> None:
    with pytest.raises(TypeError, match=r"Multiple dispatch failed.*NotImplemented"):
        demo_ops.add(X.as_subclass(Derived), X.as_subclass(Other))


def test_subclasses_come_through() -> None:
    result = demo_ops.add(X.as_subclass(Plain), X)
    assert type(result) is Plain
    assert torch.equal(result.as_subclass(torch.Tensor), X + X)


class Mode(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_every_call() -> None:
    with Mode() as mode:
        demo_ops.add(X, X)
        demo_ops.scale(X)
        demo_ops.busy_wait_ms(0)
        demo_ops.keep(X)
        demo_ops.take()
    ours = [demo_ops.scale, demo_ops.busy_wait_ms, demo_ops.keep, demo_ops.take]
    assert mode.seen == [torch.add, *ours]


def test_nested_modes_are_asked_from_the_inside() -> None:
    with Mode() as outer, Mode() as inner:
        demo_ops.add(X, X)
    assert inner.seen == outer.seen == [torch.add]


def test_disabled_states() -> None:
    x = X.as_subclass(Derived)
    with torch._C.DisableTorchFunctionSubclass():
        assert torch.equal(demo_ops.add(x, x), X + X)
    with Mode() as mode, torch._C.DisableTorchFunction():
        demo_ops.add(x, x)
    assert mode.seen == []


def test_a_recorder_is_refused_where_handlers_are_disabled() -> None:
    with torch._C.DisableTorchFunctionSubclass(), pytest.raises(TypeError, match="must be Tensor"):
        demo_ops.scale(Recorder())


def test_parameters_are_plain_tensors() -> None:
    parameter = torch.nn.Parameter(X)
    assert type(demo_ops.add(parameter, X)) is torch.Tensor


class Angry(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
        raise LookupError("angry")


def test_the_handlers_exception_passes_unchanged() -> None:
    with pytest.raises(LookupError, match="angry"):
        demo_ops.add(X.as_subclass(Angry), X)


def test_the_default_device_mode() -> None:
    with torch.device("meta"):
        assert demo_ops.empty_like(X).device.type == "cpu"
        assert demo_ops.add(X, X).device.type == "cpu"
