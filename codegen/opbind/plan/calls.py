"""From an op to the C++ that calls it: dispatch function, target, reading of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import typemap
from ..model import (
    Argument,
    CallPolicy,
    Default,
    DefaultKind,
    GilPolicy,
    Library,
    Op,
    Return,
)
from ..typemap import TypeRow
from . import names
from .check import direct_kernel
from .data import Call, CppParameter, CppSignature, KernelFunction, Parameter, ResultKind
from .entries import Entry


def row_of(item: Argument | Return) -> TypeRow:
    row = typemap.find(item.type)
    assert row is not None, "the types were checked"
    return row


def is_written(item: Argument | Return) -> bool:
    return item.alias is not None and item.alias.is_write


# --- C++ signatures -------------------------------------------------------------------------------


def cpp_signature(op: Op) -> CppSignature:
    """The C++ function type of an op, its arguments in the schema's order."""
    schema = op.schema
    spelled = names.cpp_identifiers(a.name for a in schema.arguments)
    types = [cpp_type(a, const_written=op.const_written) for a in schema.arguments]
    parameters = tuple(map(CppParameter, types, spelled.values()))
    return CppSignature(return_type(schema.returns, const_written=op.const_written), parameters)


def cpp_type(argument: Argument, *, const_written: bool = False) -> str:
    row = row_of(argument)
    if is_written(argument) and row.cpp_written and not const_written:
        return row.cpp_written
    return row.cpp_with(typemap.list_size(argument.type))


def return_type(returns: Sequence[Return], *, const_written: bool = False) -> str:
    types = [_return_type(r, const_written) for r in returns]
    if len(types) == 1:
        return types[0]
    return f"std::tuple<{', '.join(types)}>" if types else "void"


def _return_type(result: Return, const_written: bool) -> str:
    row = row_of(result)
    if not is_written(result) or not row.cpp_return_written:
        return row.cpp_return
    return f"{'const ' if const_written else ''}{row.cpp_return_written}"


def overload_name(op: Op) -> str:
    """`add_Tensor`: what at::_ops calls it."""
    name = op.schema.name
    return f"{name.base}_{name.overload}" if name.overload else name.base


def own_name(op: Op) -> str:
    """The op's name in the library's namespace `ops`."""
    return names.cpp_identifier(overload_name(op))


def aten_header(op: Op) -> str:
    """An in-place op shares the header of its base: `add_ops.h` has `add_`."""
    base = op.schema.name.base
    is_dunder = base.startswith("__") and base.endswith("__")
    return f"{base if is_dunder else base.removesuffix('_')}_ops.h"


def kernel_function(name: str, library: Library) -> KernelFunction:
    """Where a kernel stands; an unqualified name is one of the library's namespace."""
    namespace, _, last = name.rpartition("::")
    return KernelFunction(namespace or library.namespace, last)


# --- calls ----------------------------------------------------------------------------------------


def make_call(
    op: Op, library: Library, dispatch_name: str, parameters: Sequence[Parameter], binding: Binding
) -> Call:
    """The call of one op from the Python signature with `parameters`."""
    signature = cpp_signature(op)
    by_name = dict(zip((a.name for a in op.schema.arguments), signature.parameters, strict=True))
    outs_first = [*binding.outs, *(a for a in op.schema.arguments if a not in binding.outs)]
    dispatch = CppSignature(signature.return_type, tuple(by_name[a.name] for a in outs_first))
    places = {p.name: i for i, p in enumerate(parameters)}
    return Call(
        op=op,
        dispatch_name=dispatch_name,
        dispatch=dispatch,
        target=_target(op, library),
        target_arguments=signature.names,
        releases_gil=op.gil is GilPolicy.RELEASE,
        held=tuple(by_name[a.name].name for a in outs_first if row_of(a).is_held),
        expressions=tuple(_expression(a, places, binding) for a in outs_first),
        result=result_kind(op, binding),
        out_count=len(binding.outs) if len(binding.outs) > 1 else 0,
    )


class Binding:
    """How an op's arguments meet the Python parameters of its signature."""

    def __init__(
        self,
        python_names: Mapping[str, str],
        outs: tuple[Argument, ...],
        *,
        constants: Mapping[str, str],
        is_factory: bool,
        returns_out: bool,
    ) -> None:
        self.python_names = python_names
        self.outs = outs
        # The op's argument -> the C++ that a deprecated signature gives it.
        self.constants = constants
        self.is_factory = is_factory
        self.returns_out = returns_out


def constants(entry: Entry) -> dict[str, str]:
    """The op's argument -> the C++ that a deprecated signature gives it."""
    fixed = {n: s for n, s in entry.sources.items() if isinstance(s, Default)}
    return {name: _constant(source) for name, source in fixed.items()}


def _constant(value: Default) -> str:
    if value.kind is DefaultKind.NONE:
        return "std::nullopt"
    return value.text.lower() if value.kind is DefaultKind.BOOL else value.text


def _target(op: Op, library: Library) -> str:
    if not op.is_own:
        return f"at::_ops::{overload_name(op)}::call"
    is_direct = op.call is CallPolicy.DIRECT or not library.has_torch
    kernel = direct_kernel(op) if is_direct else None
    if kernel is not None:
        return kernel_function(kernel.name, library).qualified
    return f"{library.namespace}::ops::{own_name(op)}"


def _expression(argument: Argument, places: Mapping[str, int], binding: Binding) -> str:
    if argument.name in binding.constants:
        return binding.constants[argument.name]
    if argument in binding.outs:
        if len(binding.outs) > 1:
            return f"out[{binding.outs.index(argument)}]"
        row = row_of(argument)
        return f"r.{row.accessor_written or row.accessor}({places[argument.name]})"
    row = row_of(argument)
    read = row.accessor_with(typemap.list_size(argument.type))
    accessor = (is_written(argument) and row.accessor_written) or read
    return f"r.{accessor}({places[binding.python_names[argument.name]]})"


def result_kind(op: Op, binding: Binding) -> ResultKind:
    """What the Python function makes of what the op returns."""
    returns = op.schema.returns
    if not returns:
        if binding.outs:
            return ResultKind.OUT if binding.returns_out else ResultKind.NONE
        return ResultKind.SELF if _gives_self(op) else ResultKind.NONE
    if binding.is_factory:
        return ResultKind.FACTORY
    return ResultKind.STRUCTSEQ if has_fields(returns) else ResultKind.WRAP


def _gives_self(op: Op) -> bool:
    """`rms_norm_(x)` is `x`, though the op returns nothing."""
    arguments = op.schema.arguments
    return op.schema.name.is_inplace and row_of(arguments[0]) is typemap.TENSOR


def has_fields(returns: Sequence[Return]) -> bool:
    return len(returns) > 1 and all(r.name is not None for r in returns)
