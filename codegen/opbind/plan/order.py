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

from .data import Parameter, Signature

_Rank = tuple[int, bool, bool, bool, int, str]


def ordered(signatures: Iterable[Signature]) -> tuple[Signature, ...]:
    """In the order in which they are tried."""
    return tuple(sorted(signatures, key=_key))


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


def unreachable(signatures: Sequence[Signature]) -> Iterator[tuple[Signature, Signature]]:
    """Each that no call gets to, and the first that takes all its calls."""
    for i, second in enumerate(signatures):
        hiding = next((one for one in signatures[:i] if covers(one, second)), None)
        if hiding is not None:
            yield second, hiding


def covers(first: Signature, second: Signature) -> bool:
    """Whether `first` takes every call that `second` takes."""
    if first.varargs_int_list < second.varargs_int_list:
        return False
    if first.max_positional < second.max_positional:
        return False
    pairs = [(_counterpart(first, second, i), p) for i, p in enumerate(second.parameters)]
    if not all(one is not None and _takes(one, other) for one, other in pairs):
        return False
    required = {p.name for p in first.parameters if p.default is None}
    return required <= {one.name for one, other in pairs if one and other.default is None}


def _counterpart(first: Signature, second: Signature, index: int) -> Parameter | None:
    """The parameter of `first` that gets what `second` takes for its parameter `index`."""
    parameter = second.parameters[index]
    if index < second.max_positional:
        return first.parameters[index]
    by_name = (p for p in first.parameters[second.max_positional :] if p.name == parameter.name)
    return next(by_name, None)


def _takes(one: Parameter, other: Parameter) -> bool:
    """Whether `one` takes all values of `other`, under all its names."""
    if not other.accepts <= one.accepts:
        return False
    return {other.name, *other.aliases} <= {one.name, *one.aliases}
