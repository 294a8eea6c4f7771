"""Strictness: what an entry must be for code to be generated from it.

The parser reads whatever torch reads, and checks the keys beside the schema. Here is refused what
would give wrong or no code. Every fault of an entry is reported, with its rule and place, and the
entry is left out of the plan.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .. import typemap
from ..errors import Diagnostics, Location, did_you_mean
from ..model import (
    Argument,
    AutogradPolicy,
    CallPolicy,
    Kernel,
    Library,
    ListType,
    Op,
    OptionalType,
    Return,
)
from . import names
from .keys import is_autograd_key, is_composite_key, is_implicit_key


@dataclass(frozen=True, slots=True)
class Fault:
    rule: str
    message: str
    hint: str = ""
    location: Location | None = None
    is_warning: bool = False


_Check = Callable[[Op, Library], Iterator[Fault]]


def check_op(op: Op, library: Library, diagnostics: Diagnostics) -> bool:
    """Report every fault of an entry; whether it can be planned."""
    faults = [fault for check in _CHECKS for fault in check(op, library)]
    for fault in faults:
        location = fault.location or location_of(op)
        report = diagnostics.warning if fault.is_warning else diagnostics.error
        report(
            location, fault.message, subject=str(op.schema.name), hint=fault.hint, rule=fault.rule
        )
    return all(fault.is_warning for fault in faults)


def location_of(op: Op) -> Location:
    return op.schema.location or op.location or Location("<unknown>")


# --- names --------------------------------------------------------------------------------------


def python_name(op: Op) -> str:
    return op.python_name or op.schema.name.base


def _check_names(op: Op, library: Library) -> Iterator[Fault]:
    name = op.schema.name
    yield from _identifier_faults("the op's name", name.base)
    if name.overload:
        yield from _identifier_faults("the overload's name", name.overload)
    for argument in op.schema.arguments:
        subject = f"argument '{argument.name}'"
        yield from _identifier_faults(subject, argument.name, argument.location)
    for result in op.schema.returns:
        if result.name is not None:
            subject = f"return '{result.name}'"
            yield from _identifier_faults(subject, result.name, result.location)


def _identifier_faults(
    subject: str, name: str, location: Location | None = None
) -> Iterator[Fault]:
    if not names.is_identifier(name):
        yield Fault(
            "invalid-name",
            f"{subject} is '{name}', which neither C++ nor Python can spell",
            "use ASCII letters, digits and underscores, and no digit first",
            location,
        )


def _check_python_name(op: Op, library: Library) -> Iterator[Fault]:
    name = python_name(op)
    if op.python_name and not names.is_identifier(name):
        yield Fault(
            "invalid-name",
            f"python_name is '{name}', which Python cannot spell",
            "use ASCII letters, digits and underscores, and no digit first",
        )
    if keyword.iskeyword(name):
        yield Fault(
            "keyword-name",
            f"Python cannot call a function '{name}'",
            f"give it another name: python_name: {name}_",
        )


def _check_namespace(op: Op, library: Library) -> Iterator[Fault]:
    if op.schema.name.namespace:
        yield Fault(
            "foreign-namespace",
            f"there is no way to call an op of the namespace '{op.schema.name.namespace}'",
            "name an op of torch's own, or one of this library with dispatch",
        )


def _check_duplicates(op: Op, library: Library) -> Iterator[Fault]:
    seen: set[str] = set()
    for argument in op.schema.arguments:
        if argument.name in seen:
            yield Fault(
                "duplicate-argument",
                f"argument '{argument.name}' stands twice",
                "each needs a name of its own",
                argument.location,
            )
        seen.add(argument.name)
    seen = set()
    for result in op.schema.returns:
        if result.name in seen:
            yield Fault(
                "duplicate-return", f"return '{result.name}' stands twice", "", result.location
            )
        seen |= {result.name} if result.name else set()


# What the types of named results have themselves.
_NO_FIELD = re.compile(r"__\w+__|n_(sequence_|unnamed_)?fields")


def _check_fields(op: Op, library: Library) -> Iterator[Fault]:
    for result in op.schema.returns if op.is_own else ():
        if _NO_FIELD.fullmatch(result.name or ""):
            yield Fault(
                "taken-name",
                f"Python's tuples need the name '{result.name}' for themselves",
                "give the return another",
                result.location,
            )


# --- types and defaults -------------------------------------------------------------------------


# Of `T[N]`: one value for all stands for so many, in a call and in a default.
_MAX_SIZE = 1000


def _check_types(op: Op, library: Library) -> Iterator[Fault]:
    for argument in op.schema.arguments:
        if typemap.find(argument.type) is None:
            yield Fault(
                "unsupported-type",
                f"argument '{argument.name}' has type {argument.type}, which is not supported",
                typemap.supported_arguments(),
                argument.location,
            )
        if typemap.list_size(argument.type) > _MAX_SIZE:
            yield Fault(
                "unsupported-type",
                f"argument '{argument.name}' has type {argument.type}",
                f"a list has a fixed size of {_MAX_SIZE} at most: leave the number out",
                argument.location,
            )
        yield from _unregistrable(f"argument '{argument.name}'", argument, op, library)
    for i, result in enumerate(op.schema.returns):
        what = f"return '{result.name}'" if result.name else f"return {i + 1}"
        if not _is_returnable(result):
            yield Fault(
                "unsupported-type",
                f"{what} has type {result.type}, which is not supported",
                typemap.supported_returns(),
                result.location,
            )
        yield from _unregistrable(what, result, op, library)
    if op.schema.is_vararg or op.schema.is_varret:
        yield Fault("unsupported-type", "'...' is not supported", "list the arguments and returns")


def _unregistrable(what: str, item: Argument | Return, op: Op, library: Library) -> Iterator[Fault]:
    row = typemap.find(item.type)
    is_registered = op.is_own and library.has_torch
    if is_registered and row is not None and not row.is_registrable:
        yield Fault(
            "unsupported-type",
            f"{what} has type {item.type}, which torch registers no kernel with",
            f"write {item.type}?",
            item.location,
        )


def _is_returnable(result: Return) -> bool:
    row = typemap.find(result.type)
    return row is not None and bool(row.cpp_return) and not typemap.list_size(result.type)


def _check_defaults(op: Op, library: Library) -> Iterator[Fault]:
    for argument in op.schema.arguments:
        yield from _default_faults(argument)
    has_default = ""
    for argument in op.schema.positional:
        if argument.default is not None:
            has_default = argument.name
        elif has_default:
            yield Fault(
                "required-after-default",
                f"argument '{argument.name}' is required and stands after '{has_default}', "
                "which has a default",
                "give it a default, or move it before, or make it keyword-only with '*'",
                argument.location,
            )


def _default_faults(argument: Argument) -> Iterator[Fault]:
    row, size = typemap.find(argument.type), typemap.list_size(argument.type)
    if row is None or argument.default is None or size > _MAX_SIZE:
        return
    subject = f"argument '{argument.name}'"
    try:
        row.default_forms(argument.default, size)
    except typemap.DefaultFault as fault:
        hint = did_you_mean(str(argument.default), fault.candidates) or fault.hint
        if argument.default.text == "None" and not isinstance(argument.type, OptionalType):
            optional = replace(argument, type=OptionalType(argument.type))
            hint = f"write {optional}"
        yield Fault(fault.rule, f"{subject}: {fault.message}", hint, argument.default_location)


# --- mutation -----------------------------------------------------------------------------------


def _check_mutation(op: Op, library: Library) -> Iterator[Fault]:
    arguments = op.schema.arguments
    if op.schema.name.is_inplace and (not arguments or not arguments[0].is_write):
        first = arguments[0].name if arguments else "self"
        yield Fault(
            "undeclared-mutation",
            f"the name says that the op writes '{first}', the schema does not",
            f"write Tensor(a!) {first}, or rename the op",
            arguments[0].location if arguments else None,
        )
    for argument in op.schema.arguments:
        if argument.is_write and typemap.find(argument.type) and not _holds_tensors(argument):
            yield Fault(
                "written-value",
                f"argument '{argument.name}' is marked as written, and {argument.type} is a value",
                "only tensors are written: leave the mark out, and return the new value",
                argument.location,
            )
    for argument in op.schema.keyword_only:
        if argument.name == "out" and not argument.is_write and _holds_tensors(argument):
            yield Fault(
                "undeclared-mutation",
                "'out' is not declared as written",
                "write Tensor(a!) out, or rename the argument",
                argument.location,
            )


def _holds_tensors(argument: Argument) -> bool:
    row = typemap.find(argument.type)
    return row is not None and row.is_tensor_like


def _check_own_mutation(op: Op, library: Library) -> Iterator[Fault]:
    if not op.is_own or not library.has_torch:
        return
    written = [argument.name for argument in op.schema.arguments if argument.is_write]
    if written and op.schema.returns:
        yield Fault(
            "mutation-returns",
            f"the op writes '{written[0]}' and returns something",
            "an op that writes is registered with -> () alone: leave what it returns to another "
            "op; a function whose name ends in _ returns its first argument all the same",
        )
    for result in op.schema.returns:
        if result.alias is not None and not written:
            yield Fault(
                "alias-return",
                f"a return shares memory ({result}), which torch.compile refuses",
                "return a new tensor, and leave the mark out",
                result.location,
            )


# --- own ops ------------------------------------------------------------------------------------


def _check_kernels(op: Op, library: Library) -> Iterator[Fault]:
    if not op.is_own:
        return
    for kernel in op.kernels:
        yield from _kernel_faults(kernel, op, library)
    if library.has_torch and not any(map(_chooses_kernel, op.schema.arguments)):
        yield from _choiceless(op)


def _choiceless(op: Op) -> Iterator[Fault]:
    """Faults of an op none of whose arguments tells torch a device, nor autograd."""
    first = op.kernels[0]
    if any(map(_holds_tensors, op.schema.arguments)):
        # Neither a kernel of a device nor one for autograd would be called.
        if not _is_implicit(op):
            yield Fault(
                "no-tensor-key",
                "torch chooses no kernel by a Tensor[]?, and the op has no other tensor argument",
                "take Tensor[], or write a kernel for CompositeImplicitAutograd",
                first.location,
            )
    elif not any(is_composite_key(kernel.dispatch_key) for kernel in op.kernels):
        yield Fault(
            "no-tensor-key",
            "the op has no tensor argument by which torch could choose a kernel",
            f"write dispatch: {{CompositeExplicitAutograd: {first.name}}}",
            first.location,
        )


def _chooses_kernel(argument: Argument) -> bool:
    """Whether torch looks for tensors in it; of a type without a row, whether it may."""
    type_ = argument.type
    is_optional_list = isinstance(type_, OptionalType) and isinstance(type_.element, ListType)
    return "Tensor" in str(type_) and not is_optional_list


def _kernel_faults(kernel: Kernel, op: Op, library: Library) -> Iterator[Fault]:
    yield from _kernel_key_faults(kernel, op)
    yield from _kernel_name_faults(kernel, library)


def _kernel_key_faults(kernel: Kernel, op: Op) -> Iterator[Fault]:
    key = kernel.dispatch_key
    if is_autograd_key(key) and op.autograd is not AutogradPolicy.EXTERNAL:
        yield Fault(
            "autograd-key",
            f"a kernel for {key} and autograd: {op.autograd.value} exclude each other",
            "write autograd: external",
            kernel.location,
        )
    if key == "ADInplaceOrView":
        yield Fault(
            "taken-name",
            "the library registers at ADInplaceOrView itself",
            "what the schema marks as written, (a!), has its version bumped",
            kernel.location,
        )


def _kernel_name_faults(kernel: Kernel, library: Library) -> Iterator[Fault]:
    *namespaces, _ = parts = kernel.name.split("::")
    # There the library puts the functions that call its ops.
    is_taken = namespaces[:2] == [library.namespace, "ops"]
    if is_taken or names.hides_others(namespaces):
        yield Fault(
            "invalid-name",
            f"the namespace '{'::'.join(namespaces)}' cannot hold a kernel",
            "it is taken, or has the name of something that generated code needs",
            kernel.location,
        )
    if not all(map(names.is_cpp_name, parts)):
        capitals = any(map(str.isupper, parts))
        yield Fault(
            "invalid-name",
            f"'{kernel.name}' is no name of a C++ function",
            "names in capitals are macros'" if capitals else "it is a keyword, or a macro's name",
            kernel.location,
        )


def _check_direct(op: Op, library: Library) -> Iterator[Fault]:
    if not (op.is_own and op.call is CallPolicy.DIRECT and library.has_torch):
        return
    if direct_kernel(op) is None:
        yield Fault(
            "direct-call",
            "call: direct goes past the dispatcher, which alone tells devices apart",
            "name one kernel that serves all: dispatch: {CompositeExplicitAutograd: ...}",
        )
    elif any(map(_holds_tensors, op.schema.arguments)) and not _is_implicit(op):
        yield from _past_autograd(op)


def _past_autograd(op: Op) -> Iterator[Fault]:
    """What a direct call of a kernel that is not made of differentiable ops loses."""
    if any(argument.is_write for argument in op.schema.arguments):
        yield Fault(
            "direct-call",
            "call: direct goes past the version counters of what the op writes",
            "leave it out",
        )
    elif op.autograd is AutogradPolicy.ERROR:
        yield Fault(
            "direct-autograd",
            "call: direct goes past autograd: a backward through the function raises nothing",
            "say autograd: none if that is meant",
            is_warning=True,
        )


def direct_kernel(op: Op) -> Kernel | None:
    """The kernel that `call: direct` calls: the only one, and for all devices."""
    kernel = op.kernels[0] if len(op.kernels) == 1 else None
    return kernel if kernel and is_composite_key(kernel.dispatch_key) else None


def _check_host(op: Op, library: Library) -> Iterator[Fault]:
    if library.has_torch:
        return
    if direct_kernel(op) is None or op.fake:
        yield Fault(
            "no-dispatcher",
            f"the {library.host} host has no dispatcher",
            "an op has one kernel there, and no fake: dispatch: {CompositeExplicitAutograd: ...}",
        )


def _is_implicit(op: Op) -> bool:
    return any(is_implicit_key(kernel.dispatch_key) for kernel in op.kernels)


def _check_own_autograd(op: Op, library: Library) -> Iterator[Fault]:
    written = [argument.name for argument in op.schema.arguments if argument.is_write]
    if op.is_own and op.autograd is AutogradPolicy.NONE and written and not _is_implicit(op):
        yield Fault(
            "mutation-autograd",
            f"the op writes '{written[0]}', and with autograd: none nothing tells autograd of it",
            "write dispatch: {CompositeImplicitAutograd: ...} for a kernel made of torch's ops, "
            "or leave autograd out",
        )
    if op.is_own and op.fake and _is_implicit(op):
        yield Fault(
            "fake-implicit",
            "an op with a CompositeImplicitAutograd kernel has no use for a fake",
            "torch traces the ops that the kernel calls: leave fake out",
        )
    if op.is_own and op.schema.name.base == "_no_backward":
        yield Fault(
            "taken-name", "the library defines an op '_no_backward' itself", "give it another name"
        )


_CHECKS: tuple[_Check, ...] = (
    _check_names,
    _check_python_name,
    _check_namespace,
    _check_duplicates,
    _check_fields,
    _check_types,
    _check_defaults,
    _check_mutation,
    _check_own_mutation,
    _check_kernels,
    _check_direct,
    _check_host,
    _check_own_autograd,
)


# --- the library ----------------------------------------------------------------------------------


def check_library(library: Library, has_own_ops: bool, diagnostics: Diagnostics) -> None:
    location = library.location or Location("<unknown>")
    if has_own_ops and not names.is_namespace(library.namespace):
        diagnostics.error(
            location,
            f"the namespace '{library.namespace}' cannot hold a library's ops",
            hint="choose a C++ name that is not taken",
            rule="library-name",
        )
    if not names.is_identifier(library.module) or keyword.iskeyword(library.module):
        diagnostics.error(
            location,
            f"'{library.module}' cannot be the name of a Python module",
            hint="use ASCII letters, digits and underscores, and no digit first",
            rule="library-name",
        )
    elif library.module in {"torch", *sys.stdlib_module_names}:
        diagnostics.error(
            location,
            f"a package '{library.module}' would hide the module of that name",
            hint=f"choose another: module: {library.module}_ops",
            rule="library-name",
        )
