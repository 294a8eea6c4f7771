"""Deprecated signatures: which op each calls, and with what.

    - name: addmm(Scalar beta, Tensor self, Tensor mat1, Tensor mat2) -> Tensor
      aten: addmm(self, mat1, mat2, beta, 1)

The call's arguments are names of the signature's and constants, in the order of the op's arguments,
an out variant's outs first. The op is the one whose types they have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .. import typemap
from ..errors import Diagnostics, Location
from ..model import Argument, Default, DefaultKind, Deprecated
from .entries import Entry, Source

_CALL = re.compile(r"(\w+)\((.*)\)\Z", re.DOTALL)
_INT = re.compile(r"[+-]?\d+\Z")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?\Z")
_WORDS = {
    "None": Default(DefaultKind.NONE, None, "None"),
    "True": Default(DefaultKind.BOOL, True, "True"),
    "False": Default(DefaultKind.BOOL, False, "False"),
}


def entries(
    deprecated: Iterable[Deprecated], current: Sequence[Entry], diagnostics: Diagnostics
) -> list[Entry]:
    """A hidden entry for each signature, under every name of the op that it calls."""
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
    name, _, _ = _call(one)
    overloads = dict.fromkeys(str(entry.op.schema) for entry in by_base.get(name, ()))
    diagnostics.error(
        one.location or one.schema.location or Location("<unknown>"),
        f"no op takes the call {one.aten}",
        subject=str(one.schema.name),
        hint=f"there are: {'; '.join(overloads)}" if overloads else f"the file has no op '{name}'",
        rule="deprecated-call",
    )


def _call(one: Deprecated) -> tuple[str, list[str], bool]:
    """The op's base name, the arguments, and whether its out variant is called."""
    match = _CALL.match(one.aten)
    assert match is not None, "the call was checked"
    name, inner = match.groups()
    arguments = [text.strip() for text in inner.split(",")] if inner.strip() else []
    return name.removesuffix("_out"), arguments, name.endswith("_out")


def _matching(one: Deprecated, by_base: dict[str, list[Entry]]) -> Iterator[Entry]:
    name, arguments, is_out = _call(one)
    for entry in by_base.get(name, ()):
        outs = entry.op.schema.out_arguments
        if bool(outs) != is_out or entry.op.schema.returns != one.schema.returns:
            continue
        rest = [a for a in entry.op.schema.arguments if a not in outs]
        sources = _sources([*outs, *rest], arguments, one)
        if sources is not None:
            yield replace(entry, schema=one.schema, sources=sources, is_hidden=True)


def _sources(
    parameters: Sequence[Argument], given: Sequence[str], one: Deprecated
) -> dict[str, Source] | None:
    """What each argument of the op is given; None if it does not fit."""
    if len(given) > len(parameters):
        return None
    by_name = {a.name: a for a in one.schema.arguments}
    sources: dict[str, Source] = {}
    for i, parameter in enumerate(parameters):
        text = given[i] if i < len(given) else None
        source = parameter.default if text is None else _source(text, parameter, by_name)
        if source is None:
            return None
        sources[parameter.name] = source
    return sources


def _source(text: str, parameter: Argument, by_name: dict[str, Argument]) -> Source | None:
    argument = by_name.get(text)
    if argument is not None:
        is_same = (argument.type, argument.alias) == (parameter.type, parameter.alias)
        return text if is_same else None
    constant = _constant(text)
    row = typemap.find(parameter.type)
    return constant if constant and row and constant.kind in row.defaults else None


def _constant(text: str) -> Default | None:
    if _INT.match(text):
        return Default(DefaultKind.INT, int(text), text)
    if _FLOAT.match(text):
        return Default(DefaultKind.FLOAT, float(text), text)
    return _WORDS.get(text)
