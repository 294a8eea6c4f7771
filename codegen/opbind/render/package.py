"""View of the Python package: what __init__ imports and registers, and the stub."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..cpp_text import COLUMNS
from ..plan import BindingPlan, Function, Parameter, Signature, StructSeq


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
    needs_builtins: bool
    has_stdlib_imports: bool
    named_tuples: tuple[NamedTupleView, ...]
    stubs: tuple[StubView, ...]


def package_view(plan: BindingPlan) -> PackageView:
    library = plan.library
    types = _types(plan)
    stubs = tuple(stub for function in plan.functions for stub in _stubs(function, types))
    named = tuple(_named_tuple(one, types) for one in plan.structseqs if _has_class(one))
    typing = [*(["NamedTuple"] if named else []), *(["overload"] if _has_overload(stubs) else [])]
    doc = library.doc.strip() or f"Functions of the library {library.namespace}."
    return PackageView(
        module=library.module,
        docstring=_docstring(doc, 0),
        functions=tuple(sorted((function.attribute for function in plan.functions), key=_sort_key)),
        fakes=tuple(FakeView(f.qualified_op, f"{f.module}:{f.function}") for f in plan.fakes),
        typing_names=", ".join(typing),
        needs_builtins=bool(types.hidden),
        has_stdlib_imports=bool(types.hidden or typing),
        named_tuples=named,
        stubs=stubs,
    )


def _sort_key(name: str) -> tuple[object, ...]:
    """The order of isort: CONSTANTS, Classes, others; log1p before log10."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    parts = re.split(r"(\d+)", name)
    return (kind, [_part_key(part) for part in parts], name)


def _part_key(part: str) -> tuple[int, str]:
    """Numbers by value, before words; they may have more digits than int() takes."""
    digits = part.lstrip("0")
    return (len(digits), digits) if part.isdigit() else (-1, part)


def _has_overload(stubs: Iterable[StubView]) -> bool:
    return any(stub.is_overload for stub in stubs)


def _docstring(text: str, indent: int) -> str:
    """`text` in triple quotes; the lines after the first are indented."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    margin = " " * indent
    printable = ["".join(map(_printable, line)) for line in escaped.split("\n")]
    head, *rest = [piece for line in printable for piece in _wrapped(line, COLUMNS - indent - 6)]
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


# --- types ----------------------------------------------------------------------------------------

_BUILTIN_TYPES = re.compile(r"\b(bool|complex|float|int|list|str|tuple|type)\b")


@dataclass(frozen=True, slots=True)
class _Types:
    """Types as the stub spells them where a function or a field is called like a builtin one."""

    hidden: frozenset[str]

    def spelled(self, text: str) -> str:
        """`complex` is `builtins.complex` where torch.complex has the name."""
        return _BUILTIN_TYPES.sub(self._qualified, text) if self.hidden else text

    def _qualified(self, match: re.Match[str]) -> str:
        return f"builtins.{match[0]}" if match[0] in self.hidden else match[0]


def _types(plan: BindingPlan) -> _Types:
    names = {function.attribute for function in plan.functions}
    names |= {field for one in plan.structseqs for field in one.fields}
    return _Types(frozenset(name for name in names if _BUILTIN_TYPES.fullmatch(name)))


# --- named results --------------------------------------------------------------------------------

# A field of these names hides a method of tuple.
_TUPLE_METHODS = ("count", "index")


def _has_class(one: StructSeq) -> bool:
    """Whether NamedTuple can have the fields."""
    return not any(keyword.iskeyword(f) or f.startswith("_") for f in one.fields)


def _named_tuple(one: StructSeq, types: _Types) -> NamedTupleView:
    typed = zip(one.fields, map(types.spelled, one.stub_types), strict=True)
    return NamedTupleView(one.stub_name, tuple(_field(name, type_) for name, type_ in typed))


def _field(name: str, type_: str) -> str:
    ignore = "  # type: ignore[assignment]" if name in _TUPLE_METHODS else ""
    return f"    {name}: {type_}{ignore}"


# --- functions ------------------------------------------------------------------------------------


def _stubs(function: Function, types: _Types) -> Iterator[StubView]:
    """The overloads in the order in which they are tried; the doc stands at the first."""
    doc = _docstring(function.doc, 4)
    makers = (_Overload(function.attribute, signature, types) for signature in function.signatures)
    heads = [head for maker in makers for head in maker.heads()]
    for i, head in enumerate(heads):
        yield StubView(len(heads) > 1, head, doc if i == 0 else "", is_separated=i < 2)


@dataclass(frozen=True, slots=True)
class _Overload:
    """One signature, which may need several `def`s: for lone ints and for further names."""

    name: str
    signature: Signature
    types: _Types

    def heads(self) -> Iterator[str]:
        parameters = self.signature.parameters
        yield self._head(self._parameters())
        if self.signature.varargs_int_list:
            yield self._head(self._varargs())
        for i in range(max((len(p.further_names) for p in parameters), default=0)):
            yield self._head(self._aliased(i))

    def _head(self, parameters: Sequence[str]) -> str:
        returns = self._returns()
        line = f"def {self.name}({', '.join(parameters)}) -> {returns}:"
        if len(line) + len(" ...") <= COLUMNS:
            return line
        rows = "".join(f"    {parameter},\n" for parameter in parameters)
        return f"def {self.name}(\n{rows}) -> {_broken(returns)}:"

    def _returns(self) -> str:
        one = self.signature.structseq
        if one is not None and _has_class(one):
            return one.stub_name
        return self.types.spelled(self.signature.stub_return)

    def _parameters(self) -> list[str]:
        parts = [self._parameter(p, p.spelled) for p in self.signature.parameters]
        if self.signature.max_positional < len(parts):
            parts.insert(self.signature.max_positional, "*")
        return parts

    def _varargs(self) -> list[str]:
        """`f(1, 2)` for `f((1, 2))`."""
        first, *rest = self.signature.parameters
        lone = f"*{first.spelled}: {self.types.spelled(first.row.stub_lone)}"
        return [lone, *(self._parameter(p, p.spelled) for p in rest)]

    def _aliased(self, index: int) -> list[str]:
        """Under further names, which are given by keyword; the first of them must be."""
        parts: list[str] = []
        found = False
        for i, parameter in enumerate(self.signature.parameters):
            has_alias = index < len(parameter.further_names)
            if "*" not in parts and (has_alias or i >= self.signature.max_positional):
                parts.append("*")
            name = parameter.further_names[index] if has_alias else parameter.spelled
            parts.append(self._parameter(parameter, name, required=has_alias and not found))
            found = found or has_alias
        return parts

    def _parameter(self, parameter: Parameter, name: str, *, required: bool = False) -> str:
        type_ = self.types.spelled(_parameter_type(parameter))
        if parameter.default is None or required:
            return f"{name}: {type_}"
        default = parameter.default.stub
        # The one default that is a call.
        if default.startswith("float("):
            default = self.types.spelled(default)
        return f"{name}: {type_} = {default}"


def _parameter_type(parameter: Parameter) -> str:
    type_ = parameter.row.stub_with(parameter.size)
    if parameter.is_written and parameter.size:
        type_ = f"tuple[{', '.join(['Tensor'] * parameter.size)}] | list[Tensor]"
    is_none_missing = parameter.allow_none and not parameter.row.is_optional
    return f"{type_} | None" if is_none_missing else type_


def _broken(type_: str) -> str:
    """The type of a long tuple with each element on a line."""
    head, bracket, rest = type_.partition("[")
    if len(f") -> {type_}: ...") <= COLUMNS or not head.endswith("tuple"):
        return type_
    elements = re.split(r", (?![^\[]*\])", rest[:-1])
    return head + bracket + "\n" + "".join(f"    {element},\n" for element in elements) + "]"
