"""The plan's own faults: what is right in every entry alone and wrong together.

- an overload that no call reaches, since an earlier one takes all that it takes;
- two overloads that no call tells apart;
- one C++ name for two things;
- a function's name that the package or its stub needs for something else;
- an op that torch.compile cannot trace (a warning).
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator
from types import ModuleType

from .errors import Diagnostics, Location
from .plan import BindingPlan, Function, OwnOp, Signature, StructSeq
from .plan.check import location_of
from .plan.keys import is_composite_key
from .plan.order import covers, unreachable

# What the package's own __init__ and its stub use, and what a module object has.
_MODULE_NAMES = frozenset(
    {"__all__", "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__"}
    | {"__package__", "__path__", "__spec__", "__version__", "_C", "NamedTuple", "Tensor"}
    | {"builtins", "deprecated", "overload", "torch", "getattr"}
    | {"_built_for", "_check_stamp", "_error", "_importlib", "_json", "_pathlib", "_register_fake"}
    | {"_sys", "_sysconfig", "_torch", "__getattr__", *dir(ModuleType)}
)
_MOST_PARAMETERS = 255


def verify(plan: BindingPlan, diagnostics: Diagnostics) -> None:
    """Report every fault of the plan."""
    made = {one.cpp_name for one in plan.structseqs if not one.torch_name}
    taken = _MODULE_NAMES | made | {one.stub_name for one in plan.structseqs}
    for function in plan.functions:
        _verify_overloads(function, plan.library.is_torch, diagnostics)
        _verify_sizes(function, diagnostics)
        _verify_module_name(function, taken, diagnostics)
    _verify_cpp_names(plan, diagnostics)
    _verify_kernels(plan, diagnostics)
    # Advice, for a library that is otherwise good.
    is_registered = plan.library.has_torch and not diagnostics.has_errors
    for op in plan.own_ops if is_registered else ():
        _verify_fake(op, diagnostics)


def _place(signature: Signature) -> Location:
    return location_of(signature.call.op)


# --- overloads ------------------------------------------------------------------------------------


def _verify_overloads(function: Function, is_torch: bool, diagnostics: Diagnostics) -> None:
    """Of torch's own overloads it is a warning: nobody can change them here."""
    report = diagnostics.warning if is_torch else diagnostics.error
    for second, first in unreachable(function.signatures):
        name = first.call.op.schema.name
        if covers(second, first):
            rule, message = "ambiguous-overload", f"no call tells it apart from '{name}'"
        else:
            rule, message = "unreachable-overload", f"'{name}' takes every call that it takes"
        report(
            _place(second),
            f"{message}: '{first.text}' is tried first",
            subject=str(second.call.op.schema.name),
            hint="" if is_torch else "leave one out, or give it a python_name of its own",
            rule=rule,
        )


def _verify_sizes(function: Function, diagnostics: Diagnostics) -> None:
    for signature in function.signatures:
        count = len(signature.parameters)
        seen: set[str] = set()
        for name in (n for p in signature.parameters for n in (p.name, *p.aliases)):
            if name in seen:
                diagnostics.error(
                    _place(signature),
                    f"the Python function would have two parameters '{name}'",
                    subject=function.name,
                    hint="rename the argument",
                    rule="duplicate-argument",
                )
            seen.add(name)
        if count > _MOST_PARAMETERS:
            diagnostics.error(
                _place(signature),
                f"{count} parameters are more than {_MOST_PARAMETERS}",
                subject=function.name,
                rule="too-many-arguments",
            )


# --- names ----------------------------------------------------------------------------------------


def _verify_module_name(
    function: Function, taken: frozenset[str], diagnostics: Diagnostics
) -> None:
    builtin = getattr(builtins, function.attribute, None)
    is_exception = isinstance(builtin, type) and issubclass(builtin, BaseException)
    if function.attribute in taken or is_exception:
        diagnostics.error(
            _place(function.signatures[0]),
            f"the package needs the name '{function.name}' for itself",
            subject=function.name,
            hint=f"give the function another: python_name: {function.name}_",
            rule="module-attribute",
        )


def _verify_cpp_names(plan: BindingPlan, diagnostics: Diagnostics) -> None:
    for shard in plan.shards:
        names = ((n, f) for f in shard.functions for n in _cpp_names(f))
        _report_repeats(names, diagnostics)
    _verify_structseqs(plan, diagnostics)
    seen: set[str] = set()
    for op in plan.own_ops:
        if op.cpp_name in seen:
            _report_name(op.cpp_name, location_of(op.op), diagnostics)
        seen.add(op.cpp_name)


def _cpp_names(function: Function) -> Iterator[str]:
    """All that a function puts into its file's namespace."""
    yield function.cpp_name
    yield from (f"{function.stem}{suffix}" for suffix in ("", "Signatures", "Doc"))
    yield from (f"{function.stem}Parameters{i}" for i in range(len(function.signatures)))
    yield from dict.fromkeys(call.dispatch_name for call in function.calls)


def _verify_structseqs(plan: BindingPlan, diagnostics: Diagnostics) -> None:
    """Functions share a type by its name, in C++ and in the stub: it must be the same."""
    seen: dict[str, StructSeq] = {}
    for function in plan.functions:
        for one in function.structseqs:
            if any(seen.setdefault(name, one) != one for name in (one.name, one.stub_name)):
                _report_name(one.cpp_name, _place(function.signatures[0]), diagnostics)


def _report_repeats(names: Iterable[tuple[str, Function]], diagnostics: Diagnostics) -> None:
    owners: dict[str, Function] = {}
    reported: set[str] = set()
    for name, function in names:
        if owners.setdefault(name, function) is not function and function.name not in reported:
            reported.add(function.name)
            _report_name(name, _place(function.signatures[0]), diagnostics)


def _report_name(name: str, location: Location, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        location,
        f"two things would have the C++ name '{name}'",
        hint="rename an op or an overload",
        rule="cpp-name",
    )


def _verify_kernels(plan: BindingPlan, diagnostics: Diagnostics) -> None:
    """A kernel may serve several ops of one C++ type, not of several; and is no namespace."""
    kernels = [kernel.function for op in plan.own_ops for kernel in op.kernels]
    namespaces = {f"{plan.library.namespace}::ops", *(k.namespace for k in kernels)}
    prefixes = {n[: i.start()] for n in namespaces for i in re.finditer("::|$", n)}
    types: dict[str, str] = {}
    for op in plan.own_ops:
        for name in dict.fromkeys(kernel.function.qualified for kernel in op.kernels):
            type_ = op.signature.function_type
            if name in prefixes:
                _report_name(name, location_of(op.op), diagnostics)
            if types.setdefault(name, type_) != type_:
                diagnostics.error(
                    location_of(op.op),
                    f"kernel '{name}' would be {type_} here and {types[name]} elsewhere",
                    subject=str(op.op.schema.name),
                    hint="give each its own name",
                    rule="cpp-name",
                )


# --- what can be traced ---------------------------------------------------------------------------


def _verify_fake(own: OwnOp, diagnostics: Diagnostics) -> None:
    op, keys = own.op, [kernel.dispatch_key for kernel in own.kernels]
    has_fake = op.fake or any(is_composite_key(k) or k.endswith("Meta") for k in keys)
    # A number that is read from data has no shape to tell.
    if has_fake or not all("Tensor" in str(result.type) for result in op.schema.returns):
        return
    diagnostics.warning(
        op.kernels[0].location or location_of(op),
        "nothing says what shapes the op gives: torch.compile and meta tensors refuse it",
        subject=str(op.schema.name),
        hint="add a kernel for Meta to dispatch, or fake: module:function",
        rule="no-fake",
    )
