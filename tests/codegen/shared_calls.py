"""Which calls two overloads share: where their order decides."""

from __future__ import annotations

from opbind.plan import Parameter, Signature


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
