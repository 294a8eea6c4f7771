"""View of the Python package: what __init__ imports and registers, and the stub."""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ..cpp_text import COLUMNS
from ..plan import BindingPlan, Function, Parameter, Signature, StructSeq
from ..plan.order import unreachable
from ..typemap import SCALAR


class NamedTupleView(NamedTuple):
    """A named result, as the stub shows it."""

    name: str
    # A line of the class each.
    fields: tuple[str, ...]


class StubView(NamedTuple):
    """One `def` of the stub."""

    decorators: tuple[str, ...]
    # Up to and with the colon.
    head: str
    # The docstring with its quotes, or ''.
    docstring: str
    # An empty line stands before it: overloads without a doc stay together.
    is_separated: bool


class FakeView(NamedTuple):
    """A Python fake to register."""

    op: str
    path: str


class StubFileView(NamedTuple):
    """What a stub file needs beside its functions."""

    typing_names: str
    needs_builtins: bool
    needs_tensor: bool
    has_stdlib_imports: bool
    has_deprecated: bool
    named_tuples: tuple[NamedTupleView, ...]
    stubs: tuple[StubView, ...]


class ModuleView(NamedTuple):
    """One Python module: the package's own, or one of a namespace."""

    docstring: str
    # What is imported of the extension: `add`, `Tensor_add as add`.
    imports: tuple[str, ...]
    # Statements that give functions the names that torch shows: `inv = linalg_inv`.
    renamings: tuple[str, ...]
    exports: tuple[str, ...]
    # Modules of the package, imported with it.
    namespaces: tuple[str, ...]
    stub: StubFileView


class PackageView(NamedTuple):
    """What __init__.py needs beside its functions."""

    module: str
    has_torch: bool
    fakes: tuple[FakeView, ...]
    own: ModuleView


def package_view(plan: BindingPlan) -> PackageView:
    library = plan.library
    doc = library.doc.strip() or f"Functions of the library {library.namespace}."
    return PackageView(
        module=library.module,
        has_torch=plan.library.has_torch,
        fakes=tuple(FakeView(f.qualified_op, f"{f.module}:{f.function}") for f in plan.fakes),
        own=_module_view(doc, plan.functions_of(""), plan.namespaces),
    )


def namespace_views(plan: BindingPlan) -> Mapping[str, ModuleView]:
    """The modules of the package by their names."""
    return {
        name: _module_view(f"Functions of torch.{name}.", plan.functions_of(name))
        for name in plan.namespaces
    }


def _module_view(
    doc: str, functions: Sequence[Function], namespaces: tuple[str, ...] = ()
) -> ModuleView:
    names = sorted((function.name for function in functions), key=_sort_key)
    short = {short: f.name for f in functions for short in _short_names(f) if short not in names}
    attributes = {function.name: function.attribute for function in functions}
    imported = ((attributes[name], name) for name in names)
    return ModuleView(
        docstring=_docstring(doc, 0),
        imports=tuple(a if a == name else f"{a} as {name}" for a, name in imported),
        renamings=tuple(f"{name} = {short[name]}" for name in sorted(short, key=_sort_key)),
        exports=tuple(sorted([*names, *short, *namespaces], key=_sort_key)),
        namespaces=namespaces,
        stub=_stub_file(functions, namespaces),
    )


def _short_names(function: Function) -> Iterator[str]:
    """torch has `linalg_inv` as torch.linalg.inv."""
    short = function.name.removeprefix(f"{function.namespace}_")
    if short != function.name and short.isidentifier() and not keyword.iskeyword(short):
        yield short


def _stub_file(functions: Sequence[Function], namespaces: Sequence[str]) -> StubFileView:
    structseqs = dict.fromkeys(one for function in functions for one in function.structseqs)
    types = _types(functions, structseqs, namespaces)
    stubs = tuple(stub for function in functions for stub in _stubs(function, types))
    named = tuple(_named_tuple(one, types) for one in structseqs if _has_class(one))
    is_overloaded = any("@overload" in stub.decorators for stub in stubs)
    typing = [*(["NamedTuple"] if named else []), *(["overload"] if is_overloaded else [])]
    needs_builtins = not types.hidden <= {"Tensor"}
    return StubFileView(
        typing_names=", ".join(typing),
        needs_builtins=needs_builtins,
        needs_tensor="Tensor" not in types.hidden,
        has_stdlib_imports=needs_builtins or bool(typing),
        has_deprecated=any(s.is_deprecated for f in functions for s in f.signatures),
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


def _docstring(text: str, indent: int) -> str:
    """`text` in triple quotes; the lines after the first are indented."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    margin = " " * indent
    lines = escaped.split("\n")
    printable = [s if s.isprintable() else "".join(map(_printable, s)) for s in lines]
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

_TYPES = re.compile(r"(?<!\.)\b(bool|complex|float|int|list|str|tuple|type|Tensor)\b")


class _Types(NamedTuple):
    """Types as the stub spells them where a function, a field or a namespace is called so."""

    hidden: frozenset[str]

    def spelled(self, text: str) -> str:
        """`complex` is `builtins.complex` where torch.complex has the name."""
        return _spelled(text, self.hidden) if self.hidden else text


@cache
def _spelled(text: str, hidden: frozenset[str]) -> str:
    def qualified(match: re.Match[str]) -> str:
        owner = "torch" if match[0] == "Tensor" else "builtins"
        return f"{owner}.{match[0]}" if match[0] in hidden else match[0]

    return _TYPES.sub(qualified, text)


def _types(
    functions: Iterable[Function], structseqs: Iterable[StructSeq], namespaces: Iterable[str]
) -> _Types:
    names = {function.name for function in functions} | set(namespaces)
    names |= {field for one in structseqs for field in one.fields}
    return _Types(frozenset(name for name in names if _TYPES.fullmatch(name)))


# --- named results --------------------------------------------------------------------------------

# A field of these names hides a method of tuple.
_TUPLE_METHODS = ("count", "index")


def _has_class(one: StructSeq) -> bool:
    """Whether NamedTuple can have the fields."""
    taken = ("Tensor", "torch")
    return not any(keyword.iskeyword(f) or f.startswith("_") or f in taken for f in one.fields)


def _named_tuple(one: StructSeq, types: _Types) -> NamedTupleView:
    typed = zip(one.fields, map(types.spelled, one.stub_types), strict=True)
    return NamedTupleView(one.stub_name, tuple(_field(name, type_) for name, type_ in typed))


def _field(name: str, type_: str) -> str:
    ignore = "  # type: ignore[assignment]" if name in _TUPLE_METHODS else ""
    return f"    {name}: {type_}{ignore}"


# --- functions ------------------------------------------------------------------------------------


class _Form(NamedTuple):
    """One `def`: a signature needs several for lone ints and for further names."""

    signature: Signature
    # Without further names.
    parameters: tuple[Parameter, ...]
    max_positional: int
    varargs_int_list: bool = False


def _stubs(function: Function, types: _Types) -> Iterator[StubView]:
    """The overloads in the order in which they are tried; the doc stands at the first."""
    doc = _docstring(function.doc, 4)
    forms = [form for signature in function.signatures for form in _forms(signature)]
    # A type checker refuses an overload that no call gets to.
    hidden = [id(form) for form, _ in unreachable(forms)]
    shown = [form for form in forms if id(form) not in hidden]
    overload = ("@overload",) if len(shown) > 1 else ()
    for i, form in enumerate(shown):
        yield StubView(
            (*overload, *_deprecated(function, form.signature)),
            _head(function.name, form, types),
            doc if i == 0 else "",
            is_separated=i < 2,
        )


def _deprecated(function: Function, signature: Signature) -> Iterator[str]:
    """What a type checker says of a call with an old signature."""
    if signature.is_deprecated:
        op = signature.call.op
        current = next(s for s in function.signatures if s.call.op is op)
        yield _decorator("deprecated", f"use {current.text}")


def _decorator(name: str, text: str) -> str:
    line = f"@{name}({_literal(text)})"
    if len(line) <= COLUMNS:
        return line
    pieces = textwrap.wrap(text, COLUMNS - 10, drop_whitespace=False, break_on_hyphens=False)
    rows = "".join(f"    {_literal(piece)}\n" for piece in pieces)
    return f"@{name}(\n{rows})"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _forms(signature: Signature) -> Iterator[_Form]:
    most = max((len(p.further_names) for p in signature.parameters), default=0)
    parameters = tuple(map(_without_aliases, signature.parameters))
    yield _Form(signature, parameters, signature.max_positional)
    if signature.varargs_int_list:
        yield _Form(signature, parameters, signature.max_positional, varargs_int_list=True)
    for i in range(most):
        yield _renamed(signature, i)


def _without_aliases(parameter: Parameter) -> Parameter:
    if not parameter.aliases:
        return parameter
    return parameter._replace(name=parameter.spelled, aliases=())


def _renamed(signature: Signature, index: int) -> _Form:
    """Under further names, which are given by keyword; the first of them must be."""
    parameters: list[Parameter] = []
    first = -1
    for i, parameter in enumerate(signature.parameters):
        if index < len(parameter.further_names):
            default = parameter.default if first >= 0 else None
            first = i if first < 0 else first
            name = parameter.further_names[index]
            parameter = parameter._replace(name=name, default=default, aliases=())
        parameters.append(_without_aliases(parameter))
    return _Form(signature, tuple(parameters), min(first, signature.max_positional))


def _head(name: str, form: _Form, types: _Types) -> str:
    parameters, returns = _parameters(form, types), _returns(form.signature, types)
    line = f"def {name}({', '.join(parameters)}) -> {returns}:"
    if len(line) + len(" ...") <= COLUMNS:
        return line
    rows = "".join(f"    {_broken_parameter(parameter)},\n" for parameter in parameters)
    return f"def {name}(\n{rows}) -> {_broken(returns)}:"


def _returns(signature: Signature, types: _Types) -> str:
    """A call with `out` may give a named tuple of another type."""
    unnamed = types.spelled(signature.stub_return)
    named = [call.structseq for call in signature.calls]
    found = (one.stub_name if one and _has_class(one) else unnamed for one in named)
    return " | ".join(dict.fromkeys(found))


def _parameters(form: _Form, types: _Types) -> list[str]:
    """`f(1, 2)` for `f((1, 2))`: the last that may be given by position is the list."""
    parts = [_parameter(p, types) for p in form.parameters]
    last = form.max_positional
    if form.varargs_int_list:
        size = form.parameters[last - 1]
        parts[last - 1] = f"*{size.name}: {types.spelled(size.row.stub_lone)}"
    elif last < len(parts):
        parts.insert(last, "*")
    return parts


def _parameter(parameter: Parameter, types: _Types) -> str:
    type_ = types.spelled(_parameter_type(parameter))
    if parameter.default is None:
        return f"{parameter.name}: {type_}"
    default = parameter.default.stub
    # The one default that is a call.
    if default.startswith("float("):
        default = types.spelled(default)
    return f"{parameter.name}: {type_} = {default}"


def _parameter_type(parameter: Parameter) -> str:
    type_ = parameter.row.stub_with(parameter.size)
    if parameter.is_written and parameter.size:
        type_ = f"tuple[{', '.join(['Tensor'] * parameter.size)}] | list[Tensor]"
    if parameter.takes_numbers:
        type_ = f"{type_} | {SCALAR.stub_argument}"
    takes_none = parameter.allow_none or parameter.none_is_default
    return f"{type_} | None" if takes_none and not parameter.row.is_optional else type_


def _broken_parameter(text: str) -> str:
    """A long one with each alternative of its type on a line."""
    return text if len(text) + 5 <= COLUMNS else re.sub(r" \| (?![^\[]*\])", "\n    | ", text)


def _broken(type_: str) -> str:
    """The type of a long tuple with each element on a line."""
    head, bracket, rest = type_.partition("[")
    if len(f") -> {type_}: ...") <= COLUMNS or not head.endswith("tuple"):
        return type_
    elements = re.split(r", (?![^\[]*\])", rest[:-1])
    return head + bracket + "\n" + "".join(f"    {element},\n" for element in elements) + "]"
