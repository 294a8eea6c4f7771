"""`__torch_function__` through every function of aten_ops: a handler sees what torch shows it.

Every signature is called in several forms with handlers in every place. No call reaches an op, so
that the other arguments may be anything that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import pytest
import torch
from aten import Pair, pairs
from opbind.plan import Parameter, Signature
from torch.overrides import (
    TorchFunctionMode,
    get_overridable_functions,
    get_testing_overrides,
)
from torch.testing._internal.generated.annotated_fn_args import annotated_args

# Deprecated overloads say so.
pytestmark = pytest.mark.filterwarnings("ignore")

# --- where aten_ops differs from torch ------------------------------------------------------------

_MODES = "torch calls the op past every mode, aten_ops asks the mode"
WITHOUT_PARAMETERS: dict[str, str] = {
    "torch._nnpack_available": _MODES,
    "torch._use_cudnn_rnn_flatten_weight": _MODES,
    "torch.is_vulkan_available": _MODES,
}

SELF_ALONE = "of a method with self alone torch tells a mode self's type, aten_ops tells it none"
SUBCLASS_AS_NUMBER = (
    "torch takes any tensor for an int[] until it reads it, and asks the mode before"
)
OUTS_COUNTED = "outs are counted before a handler is asked; torch leaves them to the handler"

# --------------------------------------------------------------------------------------------------

# What torch calls of an argument, past the function itself, to see whether it is an int.
PROBES = {torch.Tensor.__index__}

X = torch.ones(2, 3)


# --- handlers -------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """One call of a handler."""

    who: str
    func: Any
    types: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any] | None


SEEN: list[Asked] = []


class Duck:
    """No tensor, but it takes calls over."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        SEEN.append(Asked("Duck", func, types, args, kwargs))
        return "handled"


class Base(torch.Tensor):
    answer: ClassVar[Any] = "handled"

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        SEEN.append(Asked(cls.__name__, func, types, args, kwargs))
        if isinstance(cls.answer, Exception):
            raise cls.answer
        return cls.answer


class Derived(Base):
    pass


class Other(Base):
    """Neither Derived's subclass nor its superclass."""


class Refusing(Base):
    answer = NotImplemented


class DerivedRefusing(Base):
    answer = NotImplemented


class Failing(Base):
    answer = ZeroDivisionError("on purpose")


class Mode(TorchFunctionMode):
    """Takes every call over."""

    def __init__(self, name: str = "Mode", answer: Any = "handled") -> None:
        super().__init__()
        self.name = name
        self.answer = answer

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        SEEN.append(Asked(self.name, func, types, args, kwargs))
        return self.answer


DUCK = Duck()
BASE = X.as_subclass(Base)
DERIVED = X.as_subclass(Derived)
REFUSING = X.as_subclass(Refusing)
DERIVED_REFUSING = X.as_subclass(DerivedRefusing)
OTHER = X.as_subclass(Other)
FAILING = X.as_subclass(Failing)
PARAMETER = torch.nn.Parameter(X)


# --- calls ----------------------------------------------------------------------------------------


class Call(NamedTuple):
    """The arguments of one call, by position and by name."""

    text: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


VALUES: dict[str, Any] = {
    "Tensor": X,
    "bool": True,
    "int": 1,
    "Scalar": 1.5,
    "SymInt": 1,
    "float": 0.5,
    "ScalarType": torch.float32,
    "Layout": torch.strided,
    "Device": torch.device("cpu"),
    "DeviceIndex": 0,
    "str": "mean",
    "Generator": torch.Generator(),
    "MemoryFormat": torch.contiguous_format,
    "Stream": torch.Stream(stream_id=0, device_index=0, device_type=1),
}


def value(parameter: Parameter) -> Any:
    """What the parameter takes."""
    element, is_list, _ = parameter.row.schema.partition("[")
    one = VALUES[element.removesuffix("?")]
    return [one] * (parameter.size or 2) if is_list else one


def is_tensors(parameter: Parameter) -> bool:
    return parameter.row.schema.startswith("Tensor")


def is_list(parameter: Parameter) -> bool:
    return "[" in parameter.row.schema


def with_handler(parameter: Parameter, handler: Any) -> Any:
    """`handler` as the parameter's argument; in a list of tensors, as its last element."""
    if not (is_list(parameter) and is_tensors(parameter)):
        return handler
    return [*value(parameter)[:-1], handler]


def made(pair: Pair, signature: Signature, form: str, given: dict[int, Any] | None = None) -> Call:
    """A call in one form; `given` replaces arguments by their index.

    A method's self is given by position, as torch's methods want it.
    """
    given = given or {}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for i, parameter in enumerate(signature.parameters):
        argument = given.get(i, value(parameter))
        if form == "required" and parameter.default is not None and i not in given:
            continue
        skipped = len(args) < i and not kwargs
        is_self = i == 0 and pair.name.startswith("torch.Tensor.")
        by_position = i < signature.max_positional and form in ("required", "all")
        if is_self or (by_position and not kwargs and not skipped):
            args.append(argument)
        else:
            # The spelling of a name that is a keyword of Python is aten_ops's own.
            names = (parameter.name, *parameter.further_names)
            kwargs[names[-1 if form == "by other names" else 0]] = argument
    places = ", ".join(str(signature.parameters[i].name) for i in given)
    return Call(f"{signature.text}, {form}, handler for {places or 'none'}", tuple(args), kwargs)


FORMS = ("required", "all", "by name", "by other names")


def calls(
    pair: Pair, handlers: Sequence[Any], only: Callable[[Parameter], bool] = is_tensors
) -> Iterator[Call]:
    """Every signature in every form, with each handler in each place of its own."""
    is_method = pair.name.startswith("torch.Tensor.")
    for signature in pair.function.signatures:
        for i, parameter in enumerate(signature.parameters):
            for handler in handlers if only(parameter) else ():
                if is_method and i == 0 and not isinstance(handler, torch.Tensor):
                    continue  # torch's methods are those of a tensor
                given = {i: with_handler(parameter, handler)}
                yield from (made(pair, signature, form, given) for form in FORMS)


def calls_with_two(pair: Pair, first: Any, second: Any) -> Iterator[Call]:
    """Every signature with a handler in two places, or twice in a list."""
    for signature in pair.function.signatures:
        tensors = [i for i, p in enumerate(signature.parameters) if is_tensors(p)]
        for i, j in pairwise(tensors):
            a, b = signature.parameters[i], signature.parameters[j]
            given = {i: with_handler(a, first), j: with_handler(b, second)}
            yield from (made(pair, signature, form, given) for form in FORMS)
        for i in tensors:
            if is_list(signature.parameters[i]):
                given = {i: [*value(signature.parameters[i])[:-2], first, second]}
                yield from (made(pair, signature, form, given) for form in FORMS)


def plain_calls(pair: Pair) -> Iterator[Call]:
    """Every signature in every form, with no handler among the arguments."""
    for signature in pair.function.signatures:
        yield from (made(pair, signature, form) for form in FORMS)


# --- outcomes -------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    result: Any
    asked: list[Asked]
    message: str = ""


def outcome(pair: Pair, function: Callable[..., Any], call: Call) -> Outcome:
    SEEN.clear()
    try:
        result = function(*call.args, **call.kwargs)
    except Exception as error:
        return Outcome(type(error), asked(), str(error))
    # torch's __and__ and the like return this where other functions raise.
    if result is NotImplemented and pair.function.name.startswith("__"):
        return Outcome(TypeError, asked())
    return Outcome(result, asked())


def asked() -> list[Asked]:
    return [one for one in SEEN if one.func not in PROBES]


def difference(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> str:
    """The first difference in words, or ''."""
    found = ""
    if theirs.result is not ours.result and theirs.result != ours.result:
        found = f"{theirs.result} {theirs.message!r} / {ours.result} {ours.message!r}"
    elif [a.who for a in theirs.asked] != [a.who for a in ours.asked]:
        found = f"asked {[a.who for a in theirs.asked]} / {[a.who for a in ours.asked]}"
    else:
        for a, b in zip(theirs.asked, ours.asked, strict=True):
            found = found or shown_difference(a, b)
    return f"{call.text}: {found}" if found else ""


def shown_difference(a: Asked, b: Asked) -> str:
    if a.func is not b.func and a.func != b.func:
        return f"func {a.func} / {b.func}"
    if type(a.types) is not type(b.types) or a.types != b.types:
        return f"types {a.types} / {b.types}"
    if type(a.args) is not type(b.args) or not same(a.args, b.args):
        return f"{len(a.args)} args / {len(b.args)} args"
    mine, others = b.kwargs or {}, a.kwargs or {}
    if list(mine) != list(others) or not same(list(mine.values()), list(others.values())):
        return f"kwargs {list(others)} / {list(mine)}"
    return ""


def same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """The very objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


class Found(NamedTuple):
    """What all calls of all functions came to."""

    different: dict[str, str]
    # Functions of which a handler was asked in at least one call, and the number of such calls.
    handled: set[str]
    calls: int
    # Who was asked in one call, in the order of asking.
    orders: set[tuple[str, ...]]


def compared(
    make: Callable[[Pair], Iterable[Call]], context: Callable[[], Any] = nullcontext
) -> Found:
    """Both ways of every call that `make` gives."""
    found = Found({}, set(), 0, set())
    for name, pair in pairs().items():
        for call in make(pair):
            with context():
                theirs = outcome(pair, pair.torch, call)
                ours = outcome(pair, pair.ours, call)
            if text := difference(pair, call, theirs, ours):
                found.different.setdefault(name, text)
            if ours.asked:
                found.handled.add(name)
                found.orders.add(tuple(one.who for one in ours.asked))
                found = found._replace(calls=found.calls + 1)
    return found


@cache
def with_tensors() -> set[str]:
    """Functions with a parameter for tensors."""
    return {
        name
        for name, pair in pairs().items()
        if any(is_tensors(p) for s in pair.function.signatures for p in s.parameters)
    }


def takes_self_alone(pair: Pair) -> bool:
    is_method = pair.name.startswith("torch.Tensor.")
    return is_method and all(len(s.parameters) == 1 for s in pair.function.signatures)


def is_asked_by_modes(pair: Pair) -> bool:
    """Not one of those that differ under a mode: they have tests of their own."""
    return pair.name not in WITHOUT_PARAMETERS and not takes_self_alone(pair)


# --- tests ----------------------------------------------------------------------------------------


def test_a_handler_in_each_tensors_place_gets_what_torch_gives() -> None:
    found = compared(lambda pair: calls(pair, (DUCK, BASE)))
    assert found.different == {}
    assert found.handled == with_tensors()
    assert found.calls > 25_000
    assert found.orders == {("Duck",), ("Base",)}


def test_a_duck_is_asked_wherever_torch_asks_it() -> None:
    """Anything but a tensor that has a handler may stand for an int or a bool too."""
    found = compared(lambda pair: calls(pair, (DUCK,), lambda p: not is_tensors(p)))
    assert found.different == {}
    assert found.calls > 10_000


@pytest.mark.xfail(reason=SUBCLASS_AS_NUMBER)
def test_a_tensor_is_not_asked_where_no_tensor_belongs() -> None:
    """Under a mode, for a tensor that is taken as a number would reach the op."""
    found = compared(lambda pair: calls(pair, (BASE,), lambda p: not is_tensors(p)), Mode)
    assert found.different == {}


@pytest.mark.xfail(reason="a tensor is a number there, and has no say; torch asks its handler")
def test_a_subclass_for_a_size() -> None:
    pair = pairs()["torch.zeros"]
    size = Call("", (torch.tensor([1]).as_subclass(Base),), {})
    theirs, ours = (outcome(pair, f, size) for f in (pair.torch, pair.ours))
    assert theirs.asked and len(ours.asked) == len(theirs.asked)


def test_a_method_that_torch_has_in_python() -> None:
    """Handlers get torch.Tensor.norm, not the method below it."""
    for name in ("istft", "norm", "split", "stft", "unflatten"):
        pair = pairs()[f"torch.Tensor.{name}"]
        asked = outcome(pair, pair.ours, next(calls(pair, (BASE,)))).asked[0]
        assert asked.func is getattr(torch.Tensor, name) is not pair.torch


def test_torchs_testing_overrides_take_the_calls() -> None:
    """Each function of torch.overrides's table is answered by the table's own dummy."""
    overrides = get_testing_overrides()
    listed: dict[Any, list[Any]] = get_overridable_functions()
    known = {function for functions in listed.values() for function in functions}
    different = {}
    answered = set()
    for name, pair in pairs().items():
        if pair.torch not in overrides and pair.torch not in known:
            continue
        call = annotated(pair)
        theirs, ours = (outcome(pair, f, call) for f in (pair.torch, pair.ours))
        if found := difference(pair, call, theirs, ours):
            different[name] = found
        if any(is_taken(overrides.get(one.func), one) for one in ours.asked):
            answered.add(name)
    assert different == {}
    assert len(answered) > 1_000


def is_taken(dummy: Callable[..., Any] | None, one: Asked) -> bool:
    """Some dummies have fewer parameters than the function."""
    try:
        return dummy is not None and dummy(*one.args, **(one.kwargs or {})) == -1
    except TypeError:
        return False


def annotated(pair: Pair) -> Call:
    """The call that torch's own test makes: a tensor of a subclass for every tensor."""
    listed: Any = annotated_args
    taken = [a for a in listed.get(pair.torch, []) if a["is_kwarg_only"] == "False"]
    args = [annotated_value(a["simple_type"], a.get("size", 2)) for a in taken]
    if not args and pair.name.startswith("torch.Tensor."):
        args = [BASE]
    return Call("as annotated", tuple(args), {})


def annotated_value(simple_type: str, size: int) -> Any:
    return ANNOTATED[simple_type.removesuffix("?")](size)


ANNOTATED: dict[str, Callable[[int], Any]] = {
    "Tensor": lambda _: BASE,
    "TensorList": lambda size: [BASE] * size,
    "c10::List<::std::optional<Tensor>>": lambda size: [BASE] * size,
    "int64_t": lambda _: 1,
    "SymInt": lambda _: 1,
    "DeviceIndex": lambda _: 0,
    "IntArrayRef": lambda size: [1] * size,
    "SymIntArrayRef": lambda size: [1] * size,
    "bool": lambda _: True,
    "Scalar": lambda _: 1.5,
    "ScalarList": lambda size: [1.5] * size,
    "double": lambda _: 0.5,
    "ArrayRef<double>": lambda size: [0.5] * size,
    "c10::string_view": lambda _: "mean",
    "ScalarType": lambda _: torch.float32,
    "Generator": lambda _: VALUES["Generator"],
    "Device": lambda _: VALUES["Device"],
    "Layout": lambda _: torch.strided,
    "Stream": lambda _: VALUES["Stream"],
}


def test_a_mode_gets_every_call() -> None:
    """Of factories too."""
    found = compared(lambda pair: plain_calls(pair) if is_asked_by_modes(pair) else [], Mode)
    assert found.different == {}
    assert found.handled == {name for name, pair in pairs().items() if is_asked_by_modes(pair)}
    assert found.orders == {("Mode",)}


def test_functions_without_parameters_ask_modes() -> None:
    """The table holds no row that is no longer true."""
    for name in WITHOUT_PARAMETERS:
        pair = pairs()[name]
        assert not any(signature.parameters for signature in pair.function.signatures)
        with Mode():
            theirs, ours = (outcome(pair, f, Call("", (), {})) for f in (pair.torch, pair.ours))
        assert not theirs.asked
        assert len(ours.asked) == 1


@pytest.mark.xfail(reason=SELF_ALONE)
@pytest.mark.parametrize("tensor", [X, PARAMETER], ids=["plain", "parameter"])
def test_a_mode_is_told_selfs_type(tensor: torch.Tensor) -> None:
    """Of methods with self alone, which has no handler."""
    found = compared(lambda p: calls(p, (tensor,)) if takes_self_alone(p) else [], Mode)
    assert found.different == {}


@pytest.mark.parametrize("handler", [BASE, DUCK, PARAMETER], ids=["tensor", "duck", "parameter"])
def test_a_mode_is_told_the_types_that_have_handlers(handler: Any) -> None:
    found = compared(lambda p: calls(p, (handler,)) if is_asked_by_modes(p) else [], Mode)
    assert found.different == {}
    assert found.orders == {("Mode",)}


def test_the_innermost_mode_is_asked_alone() -> None:
    found = compared(
        lambda pair: plain_calls(pair) if is_asked_by_modes(pair) else [],
        lambda: both(Mode("outer"), Mode("inner")),
    )
    assert found.different == {}
    assert found.orders == {("inner",)}


@contextmanager
def both(outer: Mode, inner: Mode) -> Iterator[None]:
    with outer, inner:
        yield


def test_a_mode_that_refuses_is_followed_by_the_handlers() -> None:
    refusing = Mode(answer=NotImplemented)
    found = compared(lambda p: calls(p, (DUCK,)) if is_asked_by_modes(p) else [], lambda: refusing)
    assert found.different == {}
    assert found.orders == {("Mode", "Duck")}


def test_a_derived_class_is_asked_first() -> None:
    for first, second in ((BASE, DERIVED), (DERIVED, BASE)):
        found = compared(partial(calls_with_two, first=first, second=second))
        assert found.different == {}
        assert found.orders == {("Derived",)}
        assert len(found.handled) > 1_000


def test_unrelated_classes_are_asked_from_the_left() -> None:
    found = compared(partial(calls_with_two, first=DERIVED, second=OTHER))
    assert found.different == {}
    assert found.orders == {("Derived",)}


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [
        (REFUSING, BASE, ("Refusing", "Base")),
        (BASE, REFUSING, ("Refusing", "Base")),
        (REFUSING, DERIVED, ("Refusing", "Derived")),
    ],
)
def test_the_next_is_asked_after_one_that_refuses(
    first: Base, second: Base, order: tuple[str, ...]
) -> None:
    found = compared(partial(calls_with_two, first=first, second=second))
    assert found.different == {}
    assert found.orders == {order}


def test_nobody_takes_it() -> None:
    """Each function raises TypeError, as torch's."""
    two = compared(partial(calls_with_two, first=REFUSING, second=DERIVED_REFUSING))
    assert two.different == {}
    assert two.orders == {("Refusing", "DerivedRefusing")}
    one = compared(lambda pair: calls(pair, (REFUSING,)))
    assert one.different == {}
    assert one.handled == with_tensors()


def test_a_handlers_exception_passes_unchanged() -> None:
    found = compared(lambda pair: calls(pair, (FAILING,)))
    assert found.different == {}
    assert found.handled == with_tensors()


@pytest.mark.xfail(reason=OUTS_COUNTED)
def test_a_handler_sees_outs_of_any_number() -> None:
    found = compared(calls_with_too_many_outs)
    assert found.different == {}


def calls_with_too_many_outs(pair: Pair) -> Iterator[Call]:
    for signature in pair.function.signatures:
        for i, parameter in enumerate(signature.parameters):
            if is_tensors(parameter) and parameter.size:
                yield made(pair, signature, "all", {i: [BASE] * (parameter.size + 1)})
