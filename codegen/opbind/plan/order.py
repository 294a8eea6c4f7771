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

from collections.abc import Iterable

from .data import Parameter, Signature

_Rank = tuple[int, bool, bool, bool, int, str]


def ordered(signatures: Iterable[Signature]) -> tuple[Signature, ...]:
    """In the order in which they are tried."""
    return tuple(sorted(signatures, key=_key))


def _key(signature: Signature) -> tuple[object, ...]:
    keyword_only = sorted(signature.keyword_only, key=lambda p: p.name)
    return (
        signature.is_hidden,
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


def overlaps(first: Signature, second: Signature) -> bool:
    """Whether some call is taken by both, so that their order decides."""
    most = min(first.max_positional, second.max_positional)
    if any(_share_call(first, second, count) for count in range(most + 1)):
        return True
    return _takes_ints(first, second) or _takes_ints(second, first)


def _share_call(first: Signature, second: Signature, count: int) -> bool:
    """With `count` arguments by position, and by name what either must have."""
    pairs = zip(first.parameters[:count], second.parameters[:count], strict=True)
    if not all(one.accepts & other.accepts for one, other in pairs):
        return False
    mine, others = _by_name(first, count), _by_name(second, count)
    required = {n: p for n, p in (*mine.items(), *others.items()) if p.default is None}
    return all(
        name in mine and name in others and mine[name].accepts & others[name].accepts
        for name in required
        if name == required[name].name
    )


def _by_name(signature: Signature, count: int) -> dict[str, Parameter]:
    """What is left to be given by name, under every name."""
    rest = signature.parameters[count:]
    return {name: p for p in rest for name in (p.name, *p.aliases)}


def _takes_ints(first: Signature, second: Signature) -> bool:
    """Whether `second` takes ints one by one that are the elements of `first`'s one list."""
    if not first.varargs_int_list:
        return False
    place = first.max_positional - 1
    given = second.parameters[place : second.max_positional]
    return bool(given) and all("int" in p.accepts for p in given)


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
