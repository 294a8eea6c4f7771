"""PyTorch's own reading of a schema, and whether ours is the same, field by field."""

from __future__ import annotations

from typing import Any

import pytest
from opbind.model import (
    AliasInfo,
    Argument,
    BaseType,
    Default,
    DefaultKind,
    DictType,
    ListType,
    OptionalType,
    Return,
    Schema,
    TupleType,
    Type,
)
from opbind.parser import parse_type

torch = pytest.importorskip("torch")

# Names by which torch's types call themselves.
_TORCH_NAMES = {
    "Scalar": "number",
    "None": "NoneType",
    "SymInt": "int",
    "SymBool": "bool",
    "DeviceIndex": "int",
    "ConstQuantizerPtr": "int",
}


def torch_schema(text: str) -> Any:
    """torch's reading; None where it has none."""
    try:
        return torch._C.parse_schema(text)
    # stoll's and stod's errors come out as IndexError and ValueError.
    except (RuntimeError, IndexError, ValueError):
        return None


def _torch_type(type_: Type) -> str:
    match type_:
        case OptionalType(element):
            return f"Optional[{_torch_type(element)}]"
        case ListType(element):
            return f"List[{_torch_type(element)}]"
        case TupleType(elements):
            return f"Tuple[{', '.join(map(_torch_type, elements)) or '()'}]"
        case DictType(key, value):
            return f"Dict[{_torch_type(key)}, {_torch_type(value)}]"
        case BaseType(name):
            if "(" in name:
                generic, _, part = name.removesuffix(")").partition("(")
                parts = _torch_type(parse_type(f"({part})"))
                return f"{generic}[{parts.removeprefix('Tuple[')}"
            return _TORCH_NAMES.get(name, name)


def _alias_sets(alias: AliasInfo | None) -> tuple[set[str], set[str], bool] | None:
    """What torch shows of a mark: the outermost list's, or only the write if it has no name."""
    if alias is None:
        return None
    if alias.on_element or not alias.before:
        return set(), set(), alias.writes
    after = alias.before if alias.after is None else alias.after
    return set(alias.before), set(after), alias.is_write


def _torch_alias_sets(alias: Any) -> tuple[set[str], set[str], bool] | None:
    if alias is None:
        return None
    before = {name for name in alias.before_set if not name.startswith("$")}
    return before, set(alias.after_set), alias.is_write


def _plain(default: Default, type_: Type) -> object:
    """A default's value as torch gives it: names are integers there."""
    if isinstance(type_, OptionalType) and isinstance(type_.element, ListType):
        type_ = type_.element
        # torch does not look into optional lists: a device stays a text.
        if default.kind is DefaultKind.STRING:
            return default.value
    if isinstance(type_, ListType):
        if isinstance(default.value, tuple):
            return [_plain(item, type_.element) for item in default.value]
        if default.kind is not DefaultKind.NONE and type_.size is not None:
            return [_plain(default, type_.element)] * type_.size
    if default.kind is DefaultKind.NAME:
        name = str(default.value)
        return _NAME_VALUES.get(name, name)
    if type_ == BaseType("Device") and default.kind is DefaultKind.STRING:
        return torch.device(default.value)
    if type_ == BaseType("float") and isinstance(default.value, int):
        return float(default.value)
    return default.value


_NAME_VALUES = {
    **{"Mean": 1, "contiguous_format": 0, "strided": 0},
    **{"int8": 1, "long": 4, "float": 6, "complex64": 9, "bool": 11},
}


def _check_argument(ours: Argument | Return, theirs: Any) -> None:
    assert (ours.name or "") == theirs.name
    assert _torch_type(ours.type) == str(theirs.real_type)
    assert _alias_sets(ours.alias) == _torch_alias_sets(theirs.alias_info)
    bare = ours.type.element if isinstance(ours.type, OptionalType) else ours.type
    size = bare.size if isinstance(bare, ListType) else None
    assert size == theirs.N


def _check_default(ours: Argument, theirs: Any) -> None:
    assert theirs.has_default_value() == (ours.default is not None)
    if ours.default is not None:
        wanted, found = _plain(ours.default, ours.type), theirs.default_value
        # torch keeps one value for the whole of an optional list of fixed size.
        if isinstance(wanted, list) and not isinstance(found, list):
            wanted = wanted[0]
        assert wanted == found
        assert isinstance(wanted, bool) == isinstance(found, bool)


def check_against_torch(ours: Schema, theirs: Any) -> None:
    name = f"{ours.name.namespace}::" if ours.name.namespace else ""
    assert (f"{name}{ours.name.base}", ours.name.overload) == (theirs.name, theirs.overload_name)
    star = len(ours.positional)
    assert all(a.kwarg_only == (i >= star) for i, a in enumerate(theirs.arguments))
    assert len(ours.arguments) == len(theirs.arguments)
    assert len(ours.returns) == len(theirs.returns)
    for mine, other in zip(ours.arguments, theirs.arguments, strict=True):
        _check_argument(mine, other)
        _check_default(mine, other)
    for result, other in zip(ours.returns, theirs.returns, strict=True):
        _check_argument(result, other)
    # What torch's Python objects do not show is in its text.
    again = torch_schema(str(ours))
    assert str(again) == str(theirs)
