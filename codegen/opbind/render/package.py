"""View of the Python package: what __init__ imports and registers, and the stub."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..cpp_text import COLUMNS
from ..plan import BindingPlan, Function, Parameter, Signature, StructSeq
from ..plan.names import python_identifiers


@dataclass(frozen=True, slots=True)
class NamedTupleView:
    """A named result, as the stub shows it."""

    name: str
    # A line of the class each.
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StubView:
    """One `def` of the stub."""

    is_overload: bool
    # Up to and with the colon.
    head: str
    # The docstring with its quotes, or ''.
    docstring: str
    # An empty line stands before it: overloads without a doc stay together.
    is_separated: bool


@dataclass(frozen=True, slots=True)
class FakeView:
    """A Python fake to register."""

    op: str
    path: str


@dataclass(frozen=True, slots=True)
class PackageView:
    """What __init__.py and __init__.pyi need."""

    module: str
    docstring: str
    functions: tuple[str, ...]
    fakes: tuple[FakeView, ...]
    typing_names: str
    named_tuples: tuple[NamedTupleView, ...]
    stubs: tuple[StubView, ...]


def package_view(plan: BindingPlan) -> PackageView:
    library = plan.library
    stubs = tuple(stub for function in plan.functions for stub in _stubs(function))
    named = tuple(_named_tuple(one) for one in plan.structseqs if _has_class(one))
    typing = [*(["NamedTuple"] if named else []), *(["overload"] if _has_overload(stubs) else [])]
    doc = library.doc.strip() or f"Functions of the library {library.namespace}."
    return PackageView(
        module=library.module,
        docstring=_docstring(doc, 0),
        functions=tuple(sorted(function.name for function in plan.functions)),
        fakes=tuple(FakeView(f.qualified_op, f"{f.module}:{f.function}") for f in plan.fakes),
        typing_names=", ".join(typing),
        named_tuples=named,
        stubs=stubs,
    )


def _has_overload(stubs: Iterable[StubView]) -> bool:
    return any(stub.is_overload for stub in stubs)


def _docstring(text: str, indent: int) -> str:
    """`text` in triple quotes; the lines after the first are indented."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    margin = " " * indent
    printable = ["".join(map(_printable, line)) for line in escaped.split("\n")]
    head, *rest = [piece for line in printable for piece in _wrapped(line, COLUMNS - indent - 3)]
    tail = [f"{margin}{line}" if line else "" for line in rest]
    end = [margin] if rest or head.endswith('"') else []
    return '"""' + "\n".join([head, *tail, *end]) + '"""'


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _wrapped(line: str, width: int) -> list[str]:
    """A line that is too long as several, further in; anything else as it is."""
    if len(line) <= width:
        return [line]
    deeper = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=deeper,
        break_long_words=False,
        break_on_hyphens=False,
    )


# --- named results --------------------------------------------------------------------------------

# A field of these names hides a method of tuple.
_TUPLE_METHODS = ("count", "index")


def _class_name(one: StructSeq) -> str:
    return f"_{one.name}"


def _has_class(one: StructSeq) -> bool:
    """Whether NamedTuple can have the fields."""
    return not any(keyword.iskeyword(f) or f.startswith("_") for f in one.fields)


def _named_tuple(one: StructSeq) -> NamedTupleView:
    fields = tuple(map(_field, one.fields, one.stub_types))
    return NamedTupleView(_class_name(one), fields)


def _field(name: str, type_: str) -> str:
    ignore = "  # type: ignore[assignment]" if name in _TUPLE_METHODS else ""
    return f"    {name}: {type_}{ignore}"


# --- functions ------------------------------------------------------------------------------------


def _stubs(function: Function) -> Iterator[StubView]:
    """The overloads in the order in which they are tried; the doc stands at the first."""
    doc = _docstring(function.doc, 4)
    heads = [head for s in function.signatures for head in _heads(function, s)]
    for i, head in enumerate(heads):
        yield StubView(len(heads) > 1, head, doc if i == 0 else "", is_separated=i < 2)


def _heads(function: Function, signature: Signature) -> Iterator[str]:
    returns = _returns(signature)
    spelled = python_identifiers(p.name for p in signature.parameters)
    yield _head(function.name, _parameters(signature, spelled), returns)
    if signature.varargs_int_list:
        yield _head(function.name, _varargs(signature, spelled), returns)
    most = max((len(p.aliases) for p in signature.parameters), default=0)
    for i in range(most):
        yield _head(function.name, _aliased(signature, spelled, i), returns)


def _returns(signature: Signature) -> str:
    one = signature.structseq
    return _class_name(one) if one is not None and _has_class(one) else signature.stub_return


def _head(name: str, parameters: Sequence[str], returns: str) -> str:
    line = f"def {name}({', '.join(parameters)}) -> {returns}:"
    if len(line) + len(" ...") <= COLUMNS:
        return line
    rows = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"def {name}(\n{rows}) -> {_broken(returns)}:"


def _broken(type_: str) -> str:
    """The type of a long tuple with each element on a line."""
    if len(f") -> {type_}: ...") <= COLUMNS or not type_.startswith("tuple["):
        return type_
    elements = re.split(r", (?![^\[]*\])", type_[len("tuple[") : -1])
    return "tuple[\n" + "".join(f"    {element},\n" for element in elements) + "]"


def _parameters(signature: Signature, spelled: dict[str, str]) -> list[str]:
    parts = [_parameter(p, spelled[p.name]) for p in signature.parameters]
    if signature.max_positional < len(parts):
        parts.insert(signature.max_positional, "*")
    return parts


def _parameter(parameter: Parameter, name: str, *, required: bool = False) -> str:
    type_ = parameter.row.stub_with(parameter.size)
    if parameter.is_written and parameter.size:
        type_ = _tuple_of_outs(parameter.size)
    if parameter.allow_none and not type_.endswith("| None"):
        type_ += " | None"
    default = "" if parameter.default is None or required else f" = {parameter.default.stub}"
    return f"{name}: {type_}{default}"


def _tuple_of_outs(size: int) -> str:
    return f"tuple[{', '.join(['Tensor'] * size)}] | list[Tensor]"


def _varargs(signature: Signature, spelled: dict[str, str]) -> list[str]:
    """`f(1, 2)` for `f((1, 2))`."""
    first, *rest = signature.parameters
    return [f"*{spelled[first.name]}: int", *(_parameter(p, spelled[p.name]) for p in rest)]


def _aliased(signature: Signature, spelled: dict[str, str], index: int) -> list[str]:
    """The signature under further names, which are given by keyword; the first of them must be."""
    parts: list[str] = []
    found = False
    for i, parameter in enumerate(signature.parameters):
        has_alias = index < len(parameter.aliases)
        if "*" not in parts and (has_alias or i >= signature.max_positional):
            parts.append("*")
        name = parameter.aliases[index] if has_alias else spelled[parameter.name]
        parts.append(_parameter(parameter, name, required=has_alias and not found))
        found = found or has_alias
    return parts
