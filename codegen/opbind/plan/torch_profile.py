"""The rules by which torch gives its own operators Python names.

They hold for a plain list of entries, as native_functions.yaml is one: namespaces, entries without
a binding, out variants that torchgen derives, NumPy's names of arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .. import typemap
from ..model import AliasInfo, Argument, ListType, Op, OperatorName, Return, Schema
from . import torch_data

# The namespace of methods, which are functions that take self first.
METHODS = "Tensor"
FUNCTIONS = "torch"
# Where torch keeps its own binding of a function.
OWNERS = {
    # Some of its methods are Python functions, which handlers get.
    METHODS: "torch.Tensor",
    FUNCTIONS: "torch._C._VariableFunctions",
    **{name: f"torch._C._{name}" for name in ("nn", "linalg", "fft")},
    **{name: f"torch._C._{name}" for name in ("special", "sparse", "nested")},
}


def namespaces(op: Op) -> Iterator[str]:
    """Where Python finds the op; an op of a module of its own has no method."""
    if op.python_module:
        yield op.python_module
        return
    if "method" in op.variants:
        yield METHODS
    if "function" in op.variants:
        yield FUNCTIONS


def is_skipped(op: Op) -> bool:
    """Whether torch generates no binding."""
    # Kernels that torchgen writes are slow; those of the copies of views have always been there.
    if "generated" in op.tags and "view_copy" not in op.tags:
        return True
    if str(op.schema.name) in torch_data.SKIPPED_OVERLOADS:
        return True
    return torch_data.is_skipped(cpp_name(op))


def cpp_name(op: Op) -> str:
    """The op's C++ name, which structseqs have too: `max_out`."""
    return f"{op.schema.name.base}{'_out' if op.schema.out_arguments else ''}"


def takes_numbers(op: Op) -> bool:
    return op.schema.name.base in torch_data.NUMBERS_AS_TENSORS


def is_like_another(op: Op) -> bool:
    """Whether a factory makes a tensor like one that it is given."""
    base = op.schema.name.base
    is_called_so = base.startswith("new_") or base.endswith("_like")
    return is_called_so or op.category_override in ("new", "like")


def takes_default_device(op: Op) -> bool:
    """Whether a factory's binding fills in the device that torch has for tensors without one."""
    return not (op.is_own or is_like_another(op))


def gives_self(op: Op) -> bool:
    """Whether the function returns its first argument, the op returning nothing."""
    return op.schema.name.base.startswith(torch_data.GIVES_SELF)


def is_traceable(op: Op) -> bool:
    """Whether torch's tracer records a call of the op."""
    schema = op.schema
    if any(str(a.type) in torch_data.UNTRACED_TYPES for a in schema.arguments):
        return False
    if schema.name.base.removesuffix("_") in torch_data.UNTRACED:
        return False
    rows = (typemap.find(r.type) for r in schema.returns)
    return any(row is not None and row.is_tensor_like for row in rows)


# --- out variants that torchgen derives -----------------------------------------------------------


def with_derived(ops: Iterable[Op]) -> Iterator[Op]:
    """The ops, and of each copy of a view the out variants that its entry lists as `autogen`."""
    ops = tuple(ops)
    written = {str(op.schema.name) for op in ops}
    for op in ops:
        yield op
        for name in op.autogen if "view_copy" in op.tags else ():
            base, _, overload = name.partition(".")
            if name not in written and base == op.schema.name.base:
                schema = _out_variant(op.schema, overload)
                yield replace(op, schema=schema, variants=("function",), autogen=())


def _out_variant(schema: Schema, overload: str) -> Schema:
    """`f.out(…, *, Tensor(a!) out) -> Tensor(a!)`; a list is written and not returned."""
    (result,) = schema.returns
    is_list = isinstance(result.type, ListType)
    alias = AliasInfo(("a",), is_write=True, on_element=is_list)
    out = Argument("out", result.type, alias=alias)
    return replace(
        schema,
        name=OperatorName(schema.name.base, overload),
        keyword_only=(*schema.keyword_only, out),
        returns=() if is_list else (Return(result.type, alias=alias),),
    )
