"""View of a file of functions: pieces of C++ with their line breaks and margins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..cpp_text import (
    COLUMNS,
    byte_length,
    comment,
    function_head,
    string_literal,
    string_literals,
    wrapped,
)
from ..plan import (
    BindingPlan,
    Call,
    EntryKind,
    Function,
    Parameter,
    ResultKind,
    Shard,
    Signature,
    StructSeq,
)
from ..plan.names import stem


class DispatchView(NamedTuple):
    """One function that calls an op: its head, with the opening brace, and its one statement."""

    # The declaration before it that fails where torch's op has other types; '' for an own op.
    check: str
    head: str
    statement: str


class SignatureView(NamedTuple):
    """One overload: its tables, and what the entry point does for it."""

    number: int
    parameters_name: str
    # Arrays that list and string defaults stand in.
    default_arrays: tuple[str, ...]
    parameter_rows: tuple[str, ...]
    signature_row: str
    # What the statements of the entry point begin with.
    margin: str
    # How a factory's device is read, or ''.
    device: str
    # Whether `out` decides between two ops.
    has_out_choice: bool
    out_index: int
    # The statement that compares a factory's options with those of `out`, or ''.
    out_check: str
    # N when `out` is taken apart into N tensors; 0 otherwise.
    out_count: int
    # What is returned without `out`, where there is a choice.
    base_return: str
    # What is returned otherwise.
    last_return: str


class FunctionView(NamedTuple):
    """One Python function."""

    comments: tuple[str, ...]
    signatures: tuple[SignatureView, ...]
    dispatches: tuple[DispatchView, ...]
    stem: str
    table: str
    is_noargs: bool
    is_overloaded: bool
    head: str
    max_parameters: int
    torch_function: str
    doc_name: str
    doc_literals: tuple[str, ...]
    method_row: str


class StructSeqView(NamedTuple):
    """The type of named results: a C++ function that makes it once."""

    name: str
    # Their array; '' where torch has the type.
    fields: str
    # The static that holds the type.
    statement: str
    # What is done while the module is imported.
    initialization: str


class ShardView(NamedTuple):
    """One file of functions."""

    shares_frames: bool
    headers: tuple[str, ...]
    uses_kernels: bool
    kernels_header: str
    functions: tuple[FunctionView, ...]
    structseqs: tuple[StructSeqView, ...]
    table_name: str
    types_name: str


def shard_view(plan: BindingPlan, shard: Shard) -> ShardView:
    module = plan.library.module
    structseqs = dict.fromkeys(one for function in shard.functions for one in function.structseqs)
    return ShardView(
        shares_frames=plan.shares_frames,
        headers=shard.headers,
        uses_kernels=shard.uses_kernels,
        kernels_header=f"{module}_kernels.h",
        functions=tuple(_function(function) for function in shard.functions),
        structseqs=tuple(_structseq(one, module) for one in structseqs),
        table_name=table_name(module, shard),
        types_name=types_name(module, shard),
    )


def table_name(module: str, shard: Shard) -> str:
    return f"{module}_functions_{shard.index}"


def types_name(module: str, shard: Shard) -> str:
    return f"init_{module}_types_{shard.index}"


def has_structseqs(shard: Shard) -> bool:
    return any(function.structseqs for function in shard.functions)


# --- functions ------------------------------------------------------------------------------------


def _function(function: Function) -> FunctionView:
    signatures = function.signatures
    schemas = dict.fromkeys(str(call.op.schema) for call in function.calls)
    is_noargs = function.entry is EntryKind.NOARGS
    return FunctionView(
        comments=tuple(line for schema in schemas for line in comment(schema)),
        signatures=tuple(_signature(function, i, s) for i, s in enumerate(signatures)),
        dispatches=tuple(map(_dispatch, function.dispatched)),
        stem=function.stem,
        table=_table(function),
        is_noargs=is_noargs,
        is_overloaded=len(signatures) > 1,
        head=_head(function),
        max_parameters=max(len(s.parameters) for s in signatures),
        torch_function=_torch_function(function),
        doc_name=f"{function.stem}Doc",
        doc_literals=string_literals(
            f"{function.text_signature}\n--\n\n{function.doc}", COLUMNS - 5
        ),
        method_row=_method_row(function),
    )


def _table(function: Function) -> str:
    items = (
        f".name = {string_literal(function.name)}",
        f".signatures = {function.stem}Signatures",
        f".count = {len(function.signatures)}",
    )
    return wrapped(f"constexpr FunctionSignatures {function.stem} = {{", items, "};")


def _head(function: Function) -> str:
    parameters: tuple[str, ...] = ("PyObject* module", "PyObject* /*noargs*/")
    if function.entry is EntryKind.FASTCALL:
        parameters = (
            "PyObject* module",
            "PyObject* const* args",
            "Py_ssize_t nargs",
            "PyObject* kwnames",
        )
    return wrapped(f"PyObject* {function.cpp_name}(", parameters, ") {")


def _torch_function(function: Function) -> str:
    """The statement that hands a call to a `__torch_function__` handler."""
    owner = string_literal(function.torch_owner) if function.torch_owner else "nullptr"
    name = string_literal(function.torch_name or function.name)
    is_noargs = function.entry is EntryKind.NOARGS
    handler = (
        "return handle_torch_function_noargs(" if is_noargs else "return handle_torch_function("
    )
    call = () if is_noargs else ("r",)
    is_renamed = function.torch_owner and function.attribute != function.torch_name
    own_name = (string_literal(function.attribute),) if is_renamed else ()
    return wrapped(handler, (*call, "module", owner, name, *own_name), ");", 4)


def _method_row(function: Function) -> str:
    entry = function.cpp_name
    if function.gives_not_implemented:
        entry = f"TypeError_to_NotImplemented_<{entry}>"
    cast = f"castPyCFunction({entry})"
    pointer = function.cpp_name if function.entry is EntryKind.NOARGS else cast
    items = (
        string_literal(function.attribute),
        pointer,
        function.entry.value,
        f"{function.stem}Doc",
    )
    return wrapped("{", items, "},", 4)


def _structseq(one: StructSeq, module: str) -> StructSeqView:
    name = one.cpp_name
    if one.torch_name:
        maker = f"host::return_type({string_literal(one.torch_name)})"
        return StructSeqView(name, "", _static_type(maker), f"  {name}();")
    array = f"{stem(one.name)}Fields"
    fields = tuple(string_literal(field) for field in one.fields)
    qualified = string_literal(f"{module}.{one.name}")
    return StructSeqView(
        name,
        wrapped(f"constexpr const char* {array}[] = {{", fields, "};"),
        _static_type(f"new_structseq({qualified}, {array}, {len(fields)})"),
        wrapped("export_structseq(", ("module", string_literal(name), f"{name}()"), ");", 2),
    )


def _static_type(maker: str) -> str:
    head = "  static PyTypeObject* const type ="
    line = f"{head} {maker};"
    return line if _fits(line) else f"{head}\n      {maker};"


# --- signatures -----------------------------------------------------------------------------------


def _signature(function: Function, index: int, signature: Signature) -> SignatureView:
    margin = "      " if len(function.signatures) > 1 else "  "
    last = signature.out_call or signature.call
    deeper = f"{margin}  "
    name = f"{function.stem}Parameters{index}" if signature.parameters else "nullptr"
    return SignatureView(
        number=index,
        parameters_name=name,
        default_arrays=tuple(_default_arrays(name, signature)),
        parameter_rows=tuple(
            _parameter_row(name, i, p) for i, p in enumerate(signature.parameters)
        ),
        signature_row=_signature_row(name, signature),
        margin=margin,
        device=signature.device,
        has_out_choice=signature.out_call is not None,
        out_index=signature.out_index,
        out_check=_out_check(last, len(margin)),
        out_count=last.out_count,
        base_return=_return(signature.call, len(deeper)) if signature.out_call else "",
        last_return=_return(last, len(margin)),
    )


def _braced(items: tuple[str, ...]) -> str:
    """One row of a table: on one line if it fits, else one member on each."""
    line = f"    {{{', '.join(items)}}},"
    return line if len(line) <= COLUMNS and "\n" not in line else _braced_lines(items)


def _braced_lines(items: tuple[str, ...]) -> str:
    return "    {" + ",\n     ".join(items) + "},"


def _signature_row(parameters_name: str, signature: Signature) -> str:
    literals = string_literals(signature.text, COLUMNS - len("    {.text = ") - 1)
    text = ("\n" + " " * len("    {.text = ")).join(literals)
    flags = {
        "deprecated": signature.is_deprecated,
        "varargs_int_list": signature.varargs_int_list,
    }
    items = (
        f".text = {text}",
        f".parameters = {parameters_name}",
        f".num_parameters = {len(signature.parameters)}",
        f".max_positional = {signature.max_positional}",
        *_set_flags(flags),
    )
    return _braced(items)


def _parameter_row(parameters_name: str, index: int, parameter: Parameter) -> str:
    flags = {
        "allow_none": parameter.allow_none,
        "keyword_only": parameter.keyword_only,
        "none_is_default": parameter.none_is_default,
        "takes_numbers": parameter.takes_numbers,
    }
    items = [
        f".name = {string_literal(parameter.name)}",
        f".type = ParameterType::{parameter.row.tag}",
        *_set_flags(flags),
    ]
    if parameter.size:
        items.append(f".size = {parameter.size}")
    if parameter.default is not None:
        items.append(f".default_value = {_default(parameters_name, index, parameter)}")
    if parameter.aliases:
        items.append(f".aliases = {string_literal(','.join(parameter.aliases))}")
    return _braced(tuple(items))


def _set_flags(flags: Mapping[str, bool]) -> Iterator[str]:
    return (f".{flag} = true" for flag, is_set in flags.items() if is_set)


# A string default of more columns than this stands in an array of its own.
_LONGEST_INLINE = 60


def _default(parameters_name: str, index: int, parameter: Parameter) -> str:
    forms = parameter.default
    assert forms is not None
    array = _default_name(parameters_name, index)
    if forms.elements is not None:
        return f"{forms.cpp}({array if forms.elements else 'nullptr'}, {len(forms.elements)})"
    if forms.string is not None and _is_long(forms.string):
        return f"of_string({array}, {byte_length(forms.string)})"
    return forms.cpp


# What the arrays of a maker of core/signature.h hold.
_ARRAY_TYPES = {"of_ints": "int64_t", "of_doubles": "double"}


def _default_arrays(parameters_name: str, signature: Signature) -> Iterator[str]:
    for i, parameter in enumerate(signature.parameters):
        forms = parameter.default
        name = _default_name(parameters_name, i)
        if forms is not None and forms.elements:
            type_ = _ARRAY_TYPES[forms.cpp]
            yield wrapped(f"constexpr {type_} {name}[] = {{", forms.elements, "};")
        elif forms is not None and forms.string is not None and _is_long(forms.string):
            literals = string_literals(forms.string, COLUMNS - 5)
            yield f"constexpr char {name}[] =\n    " + "\n    ".join(literals) + ";"


def _default_name(parameters_name: str, index: int) -> str:
    return f"{parameters_name}Default{index}"


def _is_long(text: str) -> bool:
    return len(string_literal(text)) > _LONGEST_INLINE


# --- calls ----------------------------------------------------------------------------------------


def _dispatch(call: Call) -> DispatchView:
    parameters = tuple(map(str, call.dispatch.parameters))
    head = function_head(call.dispatch.return_type, call.dispatch_name, parameters, " {")
    return DispatchView(_check(call), head, _dispatch_statement(call))


def _check(call: Call) -> str:
    """The compiler's own words would be about templates, and name no op."""
    if not call.torch_type:
        return ""
    types = tuple(parameter.type for parameter in call.signature.parameters)
    # The first type of a tuple, or the whole name of another one.
    name, *elements = re.split(r"(?<=std::tuple<)|, ", call.signature.return_type)
    returned = wrapped(name, tuple(elements), "(", 21)
    opening = f"    host::same_types<{call.torch_type},\n{returned}"
    said = f"{call.op.schema.name} has other types in torch"
    text = "\n    ".join(string_literals(said, COLUMNS - len("    );")))
    return f"static_assert(\n{wrapped(opening, types, ')>,')}\n    {text});"


def _dispatch_statement(call: Call) -> str:
    returns = "" if call.dispatch.return_type == "void" else "return "
    if not call.releases_gil:
        return wrapped(f"{returns}{call.target}(", call.target_arguments, ");", 2)
    caller = "make_without_gil" if call.is_unrecorded else "call_without_gil"
    return wrapped(f"{returns}{caller}(", (call.target, *call.target_arguments), ");", 2)


def _out_check(call: Call, indent: int) -> str:
    if not call.out_options:
        return ""
    return wrapped("host::check_out_options(", call.out_options, ");", indent)


def _return(call: Call, indent: int) -> str:
    """What the entry point does with one call: at most two statements."""
    if call.result is ResultKind.WRAP:
        if call.requires_grad_index >= 0:
            return _wrap_factory(call, indent)
        structseq = call.structseq
        return _wrap_structseq(call, structseq, indent) if structseq else _wrap(call, indent)
    statement = wrapped(f"{call.dispatch_name}(", call.expressions, ");", indent)
    return f"{statement}\n{' ' * indent}{_return_given(call)}"


_WRAP = "return THPVariable_Wrap("


def _wrap(call: Call, indent: int) -> str:
    margin = " " * indent
    dispatched = f"{call.dispatch_name}({', '.join(call.expressions)})"
    for line in (f"{margin}{_WRAP}{dispatched});", f"{margin}{_WRAP}\n{margin}    {dispatched});"):
        if _fits(line):
            return line
    return wrapped(f"{_WRAP}{call.dispatch_name}(", call.expressions, "));", indent)


def _wrap_structseq(call: Call, structseq: StructSeq, indent: int) -> str:
    margin = " " * indent
    type_ = f"{structseq.cpp_name}()"
    dispatched = f"{call.dispatch_name}({', '.join(call.expressions)})"
    aligned = " " * (indent + len(_WRAP))
    for line in (
        f"{margin}{_WRAP}{type_}, {dispatched});",
        f"{margin}{_WRAP}{type_},\n{aligned}{dispatched});",
    ):
        if _fits(line):
            return line
    inner = wrapped(f"{call.dispatch_name}(", call.expressions, "));", indent + 4)
    return f"{margin}{_WRAP}\n{margin}    {type_},\n{inner}"


def _wrap_factory(call: Call, indent: int) -> str:
    margin = " " * indent
    inner = wrapped(f"{call.dispatch_name}(", call.expressions, "),", indent + 4)
    head = f"{margin}{_WRAP}host::set_requires_grad("
    return f"{head}\n{inner}\n{margin}    r.toBool({call.requires_grad_index})));"


def _fits(text: str) -> bool:
    return all(len(line) <= COLUMNS for line in text.split("\n"))


def _return_given(call: Call) -> str:
    """What a function returns whose op returns nothing."""
    if call.result is ResultKind.NONE:
        return "Py_RETURN_NONE;"
    if call.result is ResultKind.OUTS:
        tensors = f"std::tie({', '.join(f'out[{i}]' for i in range(call.out_count))})"
        type_ = f"{call.structseq.cpp_name}(), " if call.structseq else ""
        return f"return THPVariable_Wrap({type_}{tensors});"
    if call.requires_grad_index < 0:
        return f"return r.given({call.given_index});"
    made = f"r.tensor({call.given_index}), r.toBool({call.requires_grad_index})"
    return f"return THPVariable_Wrap(host::set_requires_grad({made}));"
