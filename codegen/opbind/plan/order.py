"""The order in which a function's overloads are tried, and when one hides another.

The first signature that takes a call gets it, so a signature must come before all that take more:

1. Deprecated signatures come last.
2. Parameters are compared from left to right by their types' rank: exact before coercing (a tensor
   of no dimension is a Tensor before it is a Scalar; an int is an int before it is a float).
3. `int[]` comes before `int[2]`, which takes a lone int too; `T` before `T?`; a required parameter
   before one with a default; one without aliases before one that has them; of two with a default
   the one whose name comes first, as in torch.
4. A signature that ends where another goes on comes first: it takes fewer calls.
5. What is equal so far is told apart by keyword-only parameters in the same way, at last by text.

Nothing of it depends on the order in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from .data import Parameter, Signature

_Rank = tuple[int, bool, bool, bool, int, str]


def ordered(signatures: Iterable[Signature]) -> tuple[Signature, ...]:
    """In the order in which they are tried."""
    found = tuple(signatures)
    return found if len(found) == 1 else tuple(sorted(found, key=_key))


def _key(signature: Signature) -> tuple[object, ...]:
    keyword_only = sorted(signature.keyword_only, key=lambda p: p.name)
    return (
        signature.is_deprecated,
        tuple(map(_rank, signature.positional)),
        len(keyword_only),
        tuple((p.name, _rank(p)) for p in keyword_only),
        signature.text,
        str(signature.call.op.schema),
    )


def _rank(parameter: Parameter) -> _Rank:
    return (
        parameter.row.rank,
        parameter.size > 0,
        parameter.allow_none,
        parameter.default is not None,
        len(parameter.aliases),
        # A call may leave out what has a default: then nothing but the name tells them apart.
        "" if parameter.default is None else parameter.name,
    )


class Shape(Protocol):
    """What of a signature says which calls it takes."""

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def max_positional(self) -> int: ...
    @property
    def varargs_int_list(self) -> bool: ...


_Shape = TypeVar("_Shape", bound=Shape)


def unreachable(signatures: Sequence[_Shape]) -> Iterator[tuple[_Shape, _Shape]]:
    """Each that no call gets to, and the first that takes all its calls."""
    for i, second in enumerate(signatures):
        hiding = next((one for one in signatures[:i] if covers(one, second)), None)
        if hiding is not None:
            yield second, hiding


def covers(first: Shape, second: Shape) -> bool:
    """Whether `first` takes every call that `second` takes."""
    if first.varargs_int_list < second.varargs_int_list:
        return False
    if first.max_positional < second.max_positional:
        return False
    given = set()
    for i, other in enumerate(second.parameters):
        one = _counterpart(first, second, i)
        if one is None or not _takes(one, other):
            return False
        if other.default is None:
            given.add(one.name)
    return all(p.default is not None or p.name in given for p in first.parameters)


def _counterpart(first: Shape, second: Shape, index: int) -> Parameter | None:
    """The parameter of `first` that gets what `second` takes for its parameter `index`."""
    parameter = second.parameters[index]
    if index < second.max_positional:
        return first.parameters[index]
    by_name = (p for p in first.parameters[second.max_positional :] if p.name == parameter.name)
    return next(by_name, None)


def _takes(one: Parameter, other: Parameter) -> bool:
    """Whether `one` takes all values of `other`, under all its names."""
    if not {other.name, *other.aliases} <= {one.name, *one.aliases}:
        return False
    return other.accepts <= one.accepts
