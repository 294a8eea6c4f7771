"""From an op to the C++ that calls it: dispatch function, target, reading of arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import typemap
from ..model import (
    Argument,
    CallPolicy,
    Default,
    GilPolicy,
    Library,
    Op,
    Return,
)
from ..typemap import TypeRow
from . import names, torch_profile
from .check import direct_kernel
from .data import (
    Call,
    CppParameter,
    CppSignature,
    KernelFunction,
    Parameter,
    ResultKind,
    StructSeq,
)
from .signatures import TENSOR_OPTIONS, Layout


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
    """`add_ops.h` has `add_` too, and `and_ops.h` both `__and__` and `__iand__`."""
    base = op.schema.name.base
    if base.startswith("__") and base.endswith("__"):
        return f"{base[2 + op.schema.name.is_inplace : -2]}_ops.h"
    return f"{base.removesuffix('_')}_ops.h"


def kernel_function(name: str, library: Library) -> KernelFunction:
    """Where a kernel stands; an unqualified name is one of the library's namespace."""
    namespace, _, last = name.rpartition("::")
    return KernelFunction(namespace or library.namespace, last)


# --- calls ----------------------------------------------------------------------------------------


class Binding(NamedTuple):
    """How an op's arguments meet the Python parameters of its signature."""

    one: Layout
    # What `one` is the out variant of; `one` itself if it stands alone.
    base: Layout
    parameters: tuple[Parameter, ...]

    @property
    def is_merged(self) -> bool:
        return self.one is not self.base

    @property
    def gives_back(self) -> tuple[Argument, ...]:
        """The arguments that a function returns whose op returns nothing."""
        op, outs = self.one.op, self.one.outs
        if op.schema.returns:
            return ()
        if not outs:
            return op.schema.arguments[:1] if _gives_self(op) else ()
        has_plain_outs = op.is_own or all(a.type == typemap.TENSOR_TYPE for a in outs)
        is_out = self.is_merged or len(outs) > 1 or outs[0].name == "out"
        return outs if has_plain_outs and is_out else ()

    @property
    def result(self) -> ResultKind:
        if self.one.op.schema.returns:
            return ResultKind.WRAP
        given = self.gives_back
        if not given:
            return ResultKind.NONE
        return ResultKind.GIVEN if len(given) == 1 else ResultKind.OUTS

    def place(self, name: str) -> int:
        return next(i for i, p in enumerate(self.parameters) if p.name == name)

    def expression(self, argument: Argument) -> str:
        """How the op's argument is read, or the constant that it is given."""
        source = self.one.entry.sources.get(argument.name)
        row, size = row_of(argument), typemap.list_size(argument.type)
        if isinstance(source, Default):
            return row.default_forms(source, size).value
        outs = self.one.outs
        if argument in outs and len(outs) > 1:
            return f"out[{outs.index(argument)}]"
        if argument.name == "device" and self.has_default_device:
            return self.device
        place = self.given_place(argument)
        if self.parameters[place].takes_numbers:
            return f"r.{row.accessor_number}({place})"
        accessor = (is_written(argument) and row.accessor_written) or row.accessor_with(size)
        return f"r.{accessor}({place})"

    @property
    def has_default_device(self) -> bool:
        return self.base.is_factory and torch_profile.takes_default_device(self.base.op)

    @property
    def device(self) -> str:
        """How a factory's device is read; '' of other functions."""
        if not self.base.is_factory:
            return ""
        given = f"r.deviceOptional({self.place('device')})"
        return f"host::device_or_default({given})" if self.has_default_device else given

    def given_place(self, argument: Argument) -> int:
        name = argument.name
        return self.place(name if argument in self.one.outs else self.one.python_names[name])

    @property
    def requires_grad_index(self) -> int:
        return self.place("requires_grad") if self.base.is_factory else -1

    def out_options(self) -> Iterator[str]:
        """A factory's `out`, and what of dtype, layout and device was given beside it."""
        if not (self.is_merged and self.base.is_factory):
            return
        yield f"r.tensor({self.place(self.one.outs[0].name)})"
        for name, type_ in TENSOR_OPTIONS[:3]:
            place = self.place(name)
            read = f"r.{typemap.ROWS[f'{type_}?'].accessor}({place})"
            default = self.parameters[place].default
            has_default = default is not None and default is not typemap.NONE
            yield f"r.isNone({place}) ? std::nullopt : {read}" if has_default else read


def make_call(
    binding: Binding, library: Library, dispatch_name: str, structseq: StructSeq | None
) -> Call:
    """The call of one op from a Python signature."""
    op, outs, result = binding.one.op, binding.one.outs, binding.result
    signature = cpp_signature(op)
    by_name = dict(zip((a.name for a in op.schema.arguments), signature.parameters, strict=True))
    outs_first = [*outs, *(a for a in op.schema.arguments if a not in outs)]
    dispatch = CppSignature(signature.return_type, tuple(by_name[a.name] for a in outs_first))
    is_given = result is ResultKind.GIVEN
    return Call(
        op=op,
        dispatch_name=dispatch_name,
        dispatch=dispatch,
        target=_target(op, library),
        signature=signature,
        torch_type="" if op.is_own else f"at::_ops::{overload_name(op)}::schema",
        target_arguments=signature.names,
        releases_gil=op.gil is GilPolicy.RELEASE,
        is_unrecorded=binding.requires_grad_index >= 0 and _is_torchs_factory(binding.one),
        expressions=tuple(map(binding.expression, outs_first)),
        result=result,
        given_index=binding.given_place(binding.gives_back[0]) if is_given else -1,
        structseq=structseq,
        requires_grad_index=binding.requires_grad_index,
        out_options=tuple(binding.out_options()),
        out_count=len(outs) if len(outs) > 1 else 0,
    )


def _is_torchs_factory(one: Layout) -> bool:
    """Methods such as new_ones are recorded, and give no views; an own op has its own rules."""
    return not (one.op.is_own or one.outs or "method" in one.op.variants)


def _target(op: Op, library: Library) -> str:
    if not op.is_own:
        call = f"at::_ops::{overload_name(op)}::call"
        return f"&at::Tensor::{op.schema.name.base}" if _is_told_by_tensor(op) else call
    is_direct = op.call is CallPolicy.DIRECT or not library.has_torch
    kernel = direct_kernel(op) if is_direct else None
    if kernel is not None:
        return kernel_function(kernel.name, library).absolute
    return f"::{library.namespace}::ops::{own_name(op)}"


def _is_told_by_tensor(op: Op) -> bool:
    """torch's own functions call a method that is written by hand, too: conj, is_complex."""
    is_method = op.manual_cpp_binding and "method" in op.variants
    return is_method and len(op.schema.arguments) == 1


def _gives_self(op: Op) -> bool:
    """`rms_norm_(x)` is `x`, though the op returns nothing."""
    arguments = op.schema.arguments
    if not op.schema.name.is_inplace or not row_of(arguments[0]).is_tensor_like:
        return False
    return op.is_own or torch_profile.gives_self(op)


def has_fields(returns: Sequence[Return]) -> bool:
    return len(returns) > 1 and all(r.name is not None for r in returns)
