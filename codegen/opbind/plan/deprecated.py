"""Deprecated signatures: which op each calls, and with what.

    - name: addmm(Scalar beta, Tensor self, Tensor mat1, Tensor mat2) -> Tensor
      aten: addmm(self, mat1, mat2, beta, 1)

The call's arguments are names of the signature's and constants, in the order of the op's arguments,
an out variant's outs first. The op is the one whose types they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from .. import typemap
from ..errors import Diagnostics, Location
from ..model import Argument, Default, DefaultKind, Deprecated
from .entries import Entry, Source
from .signatures import out_arguments


def entries(
    deprecated: Iterable[Deprecated], current: Sequence[Entry], diagnostics: Diagnostics
) -> list[Entry]:
    """A deprecated entry for each signature, under every name of the op that it calls."""
    by_base: dict[str, list[Entry]] = {}
    for entry in current:
        by_base.setdefault(entry.op.schema.name.base, []).append(entry)
    found = []
    for one in sorted(deprecated, key=lambda one: str(one.schema)):
        matching = list(_matching(one, by_base))
        found += matching
        if not matching:
            _report(one, by_base, diagnostics)
    return found


def _report(one: Deprecated, by_base: dict[str, list[Entry]], diagnostics: Diagnostics) -> None:
    name = one.called.removesuffix("_out")
    overloads = dict.fromkeys(str(entry.op.schema) for entry in by_base.get(name, ()))
    hint = f"there are: {'; '.join(overloads)}" if overloads else f"the file has no op '{name}'"
    if overloads and name != one.schema.name.base:
        hint = f"an old signature has the name of the op that it calls: name: {name}(...)"
    diagnostics.error(
        one.location or one.schema.location or Location("<unknown>"),
        f"no op takes the call {one.call}",
        subject=str(one.schema.name),
        hint=hint,
        rule="deprecated-call",
    )


def _matching(one: Deprecated, by_base: dict[str, list[Entry]]) -> Iterator[Entry]:
    """The entries of the function's own name whose op takes the call."""
    name, outs = one.schema.name.base, out_arguments(one.schema)
    if one.called != (f"{name}_out" if outs else name):
        return
    for entry in by_base.get(name, ()):
        schema = entry.op.schema
        if out_arguments(schema) != outs or schema.returns != one.schema.returns:
            continue
        rest = [a for a in schema.arguments if a not in outs]
        sources = _sources([*outs, *rest], one)
        if sources is not None and all(sources[a.name] == a.name for a in outs):
            yield entry._replace(schema=one.schema, sources=sources, is_deprecated=True)


def _sources(parameters: Sequence[Argument], one: Deprecated) -> dict[str, Source] | None:
    """What each argument of the op is given; None if it does not fit."""
    if len(one.arguments) > len(parameters):
        return None
    by_name = {a.name: a for a in one.schema.arguments}
    sources: dict[str, Source] = {}
    for i, parameter in enumerate(parameters):
        is_given = i < len(one.arguments)
        source = _source(one.arguments[i], parameter, by_name) if is_given else parameter.default
        if source is None:
            return None
        sources[parameter.name] = source
    return sources


def _source(given: Default, parameter: Argument, by_name: Mapping[str, Argument]) -> Source | None:
    argument = by_name.get(given.text) if given.kind is DefaultKind.NAME else None
    if argument is not None:
        is_same = (argument.type, argument.alias) == (parameter.type, parameter.alias)
        return argument.name if is_same else None
    row = typemap.find(parameter.type)
    assert row is not None, "the types were checked"
    try:
        row.default_forms(given, typemap.list_size(parameter.type))
    except typemap.DefaultFault:
        return None
    return given
