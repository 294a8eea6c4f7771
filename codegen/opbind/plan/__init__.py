"""Schemas -> everything that is decided about what is generated, as frozen data.

Where each part of the output is decided, on the function of one op:

    // add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor      Op.schema
    constexpr FunctionParameter kAddParameters0[] = {                          names.stem
        {.name = "input", .type = ParameterType::TENSOR},                      signatures.layout
        {.name = "other", …}, {.name = "alpha", …},                            typemap's rows
        {.name = "out", .allow_none = true, .default_value = none()},          signatures
    };                                                                           .out_parameter
    constexpr FunctionSignature kAddSignatures[] = {                           order.ordered
        {.text = "add(Tensor input, …, Tensor? out=None) -> Tensor", …},       docs.signature_text
    };

    at::Tensor dispatch_add_Tensor(const at::Tensor& self, …) {                calls.make_call
      return without_gil([&] { return at::_ops::add_Tensor::call(self, …); });
    }

    PyObject* THPVariable_add(PyObject* module, …) {                           functions.function
      …
      if (r.isNone(3)) {                                                       functions (pairs)
        return THPVariable_Wrap(dispatch_add_Tensor(r.tensor(0), …));          calls.result_kind
      }
    }

    constexpr char kAddDoc[] = "add($module, /, input, other, *, …)\\n--\\n\\n…"  docs

    at::Tensor demo::scale_cpu(const at::Tensor& self, double alpha);          registration
    m->impl("scale", torch::dispatch(c10::DispatchKey::CPU, …));
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..errors import Diagnostics
from ..model import SchemaFile
from . import calls, deprecated, entries, functions, registration
from .check import check_library, check_op
from .data import (
    BindingPlan,
    Call,
    CppParameter,
    CppSignature,
    EntryKind,
    FakePlan,
    Function,
    KernelFunction,
    KernelPlan,
    OwnOp,
    Parameter,
    ResultKind,
    Shard,
    Signature,
    StructSeq,
)
from .dump import dump

__all__ = [
    "BindingPlan",
    "Call",
    "CppParameter",
    "CppSignature",
    "EntryKind",
    "FakePlan",
    "Function",
    "KernelFunction",
    "KernelPlan",
    "OwnOp",
    "Parameter",
    "ResultKind",
    "Shard",
    "Signature",
    "StructSeq",
    "dump",
    "plan",
    "select",
]


# What declares the C++ types of kernels. The null host's have torch's names.
_TORCH_TYPES = ("<ATen/core/Tensor.h>", "<c10/util/OptionalArrayRef.h>")
_NULL_TYPES = ('"host.h"',)


def plan(file: SchemaFile, diagnostics: Diagnostics) -> BindingPlan:
    """Decide everything. Entries that no code can be made from are reported and left out."""
    library = file.library
    check_library(library, any(op.is_own for op in file.ops), diagnostics)
    ops = [op for op in file.ops if check_op(op, library, diagnostics)]
    current = entries.entries(ops, library)
    hidden = deprecated.entries(file.deprecated, current, diagnostics)
    groups = functions.by_name([*current, *hidden])
    planned = tuple(functions.function(group, library) for group in groups)
    own = sorted((op for op in ops if op.is_own), key=lambda op: str(op.schema.name))
    own_ops = tuple(registration.own_op(op, library) for op in own)
    return BindingPlan(
        source=file.name,
        library=library,
        kernel_headers=_kernel_headers(own_ops) if library.has_torch else _NULL_TYPES,
        functions=planned,
        shards=tuple(_shard(i, planned) for i in range(library.shards)),
        own_ops=own_ops,
        fakes=registration.fakes(own, library),
        structseqs=_structseqs(planned),
    )


def select(planned: BindingPlan, is_wanted: Callable[[Function], bool]) -> BindingPlan:
    """The plan with those functions alone. What is registered with torch stays."""
    chosen = tuple(filter(is_wanted, planned.functions))
    return replace(
        planned,
        functions=chosen,
        shards=tuple(_shard(shard.index, chosen) for shard in planned.shards),
        structseqs=_structseqs(chosen),
    )


def _kernel_headers(ops: Iterable[OwnOp]) -> tuple[str, ...]:
    further = {f"<{header}>" for op in ops for header in op.headers}
    return (*sorted(further), *_TORCH_TYPES)


def _shard(index: int, planned: Sequence[Function]) -> Shard:
    members = tuple(function for function in planned if function.shard == index)
    ops = [call.op for function in members for call in function.calls]
    headers = {calls.aten_header(op) for op in ops if not op.is_own}
    return Shard(index, members, tuple(sorted(headers)), any(op.is_own for op in ops))


def _structseqs(planned: Iterable[Function]) -> tuple[StructSeq, ...]:
    return tuple(dict.fromkeys(one for function in planned for one in function.structseqs))
