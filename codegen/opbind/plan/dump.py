"""The plan as text: one block per function. What goldens hold and `--dump-plan` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .data import BindingPlan, Call, Function, OwnOp, Parameter, Signature, StructSeq


def dump(plan: BindingPlan) -> str:
    """Every decision of the plan, readable; equal plans give equal text."""
    library = plan.library
    head = f"module {library.module}, namespace {library.namespace}, host {library.host}"
    blocks = [f"{head}, shards {library.shards}"]
    blocks += ["\n".join(_function(function)) for function in plan.functions]
    blocks += ["\n".join(_own_op(op)) for op in plan.own_ops]
    fakes = [f"fake {fake.qualified_op} = {fake.module}:{fake.function}" for fake in plan.fakes]
    blocks += ["\n".join(fakes)] if fakes else []
    return "\n\n".join(blocks) + "\n"


def _function(function: Function) -> Iterator[str]:
    yield f"function {function.namespace}{'.' if function.namespace else ''}{function.name}"
    yield f"  c++        {function.cpp_name}, {function.stem}*"
    yield f"  entry      {function.entry.value}"
    yield f"  shard      {function.shard}"
    yield f"  signature  {function.text_signature}"
    if function.torch_owner:
        yield f"  torch      {function.torch_owner}.{function.torch_name}"
    if not function.is_traceable:
        yield "  untraced"
    for i, signature in enumerate(function.signatures):
        yield from _signature(i, signature)


def _signature(index: int, signature: Signature) -> Iterator[str]:
    varargs = ", or its ints one by one" if signature.varargs_int_list else ""
    hidden = ", deprecated" if signature.is_deprecated else ""
    yield f"  [{index}] {signature.text}{varargs}{hidden}"
    for i, parameter in enumerate(signature.parameters):
        yield f"      {i}: {_parameter(parameter)}"
    for call in signature.calls:
        yield from _call(call)


def _fields(one: StructSeq) -> str:
    origin = "torch.return_types." if one.torch_name else ""
    return f"{origin}{one.name}({', '.join(one.fields)})"


def _parameter(parameter: Parameter) -> str:
    parts = [parameter.name, parameter.row.tag + (f"[{parameter.size}]" if parameter.size else "")]
    if parameter.default is not None:
        forms = parameter.default
        elements = forms.elements
        parts.append(f"= {forms.cpp}" if elements is None else f"= [{', '.join(elements)}]")
    flags = {
        "keyword-only": parameter.keyword_only,
        "none": parameter.allow_none,
        "none is the default": parameter.none_is_default,
        "number": parameter.takes_numbers,
        "written": parameter.is_written,
    }
    parts += [flag for flag, is_set in flags.items() if is_set]
    parts += [f"alias {alias}" for alias in parameter.aliases]
    return " ".join(parts)


def _call(call: Call) -> Iterator[str]:
    gil = "" if call.releases_gil else ", holds the GIL"
    yield f"      op {call.op.schema}"
    head = f"{call.dispatch.return_type} {call.dispatch_name}"
    yield f"         {head}({_listed(call.dispatch.parameters)})"
    yield f"         {call.target}({_listed(call.target_arguments)}){gil}"
    if call.out_options:
        yield f"         out is of {_listed(call.out_options[1:])}"
    grad = f", requires_grad {call.requires_grad_index}" if call.requires_grad_index >= 0 else ""
    given = f" {call.given_index}" if call.given_index >= 0 else ""
    yield f"         {call.result.value}{given}({_listed(call.expressions)}){grad}"
    if call.structseq:
        yield f"         fields {_fields(call.structseq)}"


def _own_op(op: OwnOp) -> Iterator[str]:
    yield f"own op {op.schema}"
    head = f"{op.signature.return_type} {op.cpp_name}"
    yield f"  c++        {head}({_listed(op.signature.parameters)})"
    yield f"  autograd   {op.autograd.value}{'' if op.has_autograd_kernel else ', no kernel'}"
    if op.mutated:
        yield f"  mutated    {_listed(op.mutated)}{'' if op.has_inplace_kernel else ', no kernel'}"
    if op.tags:
        yield f"  tags       {_listed(op.tags)}"
    for kernel in op.kernels:
        guard = f", guarded by {kernel.guard_argument}" if kernel.guard_name else ""
        yield f"  kernel     {kernel.dispatch_key}: {kernel.function.qualified}{guard}"


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))
