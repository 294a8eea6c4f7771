"""What is registered for the library's own ops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..model import AutogradPolicy, Kernel, Library, Op, OperatorName
from . import calls, keys
from .data import FakePlan, KernelPlan, OwnOp


def own_op(op: Op, library: Library) -> OwnOp:
    """The registration of one own op, whose entry has passed the checks."""
    schema = op.schema
    signature = calls.cpp_signature(op)
    arguments = list(zip(schema.arguments, signature.names, strict=True))
    tensors = tuple(name for a, name in arguments if calls.row_of(a).is_tensor_like)
    mutated = tuple(name for a, name in arguments if a.is_write)
    is_implicit = any(keys.is_implicit_key(k.dispatch_key) for k in op.kernels)
    has_policy = op.autograd is not AutogradPolicy.EXTERNAL
    bare = OperatorName(schema.name.base, schema.name.overload)
    return OwnOp(
        op=op,
        schema=str(replace(schema, name=bare)),
        name=schema.name.base,
        overload=schema.name.overload,
        cpp_name=calls.own_name(op),
        signature=signature,
        tags=op.tags,
        kernels=tuple(_kernel(op, k, library, tensors) for k in op.kernels),
        autograd=op.autograd,
        has_autograd_kernel=bool(tensors) and has_policy and not is_implicit,
        has_inplace_kernel=bool(mutated) and not is_implicit,
        mutated=mutated,
        tensors=tensors,
        headers=tuple(sorted({calls.row_of(a).header for a in schema.arguments} - {""})),
    )


def _kernel(op: Op, kernel: Kernel, library: Library, tensors: tuple[str, ...]) -> KernelPlan:
    function = calls.kernel_function(kernel.name, library)
    key = kernel.dispatch_key
    if not (op.device_guard and tensors and keys.needs_device_guard(key)):
        return KernelPlan(key, function)
    return KernelPlan(key, function, f"guarded_{calls.own_name(op)}_{key}", tensors[0])


def fakes(ops: Iterable[Op], library: Library) -> tuple[FakePlan, ...]:
    """In the order of the ops' names."""
    return tuple(_fake(op, library) for op in ops if op.fake)


def _fake(op: Op, library: Library) -> FakePlan:
    module, _, function = op.fake.partition(":")
    name = OperatorName(op.schema.name.base, op.schema.name.overload, library.namespace)
    return FakePlan(str(name), module, function)
