"""View of a library: its kernels' declarations, their registration, and the module's init."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..cpp_text import (
    COLUMNS,
    broken_type,
    comment,
    function_head,
    string_literal,
    string_literals,
    wrapped,
)
from ..model import AutogradPolicy
from ..plan import BindingPlan, CppParameter, KernelPlan, OwnOp
from .functions import has_structseqs, table_name, types_name


class NamespaceView(NamedTuple):
    """Kernels of one namespace."""

    name: str
    # The schema of an op, and the declarations of its kernels.
    declarations: tuple[str, ...]


class WrapperView(NamedTuple):
    """A C++ function of the registration: its head, with the opening brace, and its statements."""

    head: str
    statements: str


class OpView(NamedTuple):
    """One own op."""

    comments: tuple[str, ...]
    # Its declaration in the namespace `ops`, and its definition there.
    declaration: str
    caller: WrapperView
    # The function that gives its handle.
    handle: str
    handle_type: str
    find: str
    # Its tags' definition, or ''.
    tags: str
    # Autograd, ADInplaceOrView and device kernels.
    wrappers: tuple[WrapperView, ...]
    # Statements of register_ops.
    registrations: tuple[str, ...]


class LibraryView(NamedTuple):
    """What module, kernels' header and registration need."""

    namespace: str
    module: str
    # Statements: an import fails, a torch::Library is made.
    raise_import_error: str
    refuse_interpreter: str
    make_library: str
    doc_literals: tuple[str, ...]
    kernels_header: str
    # What the kernels' header includes.
    kernel_headers: tuple[str, ...]
    kernel_namespaces: tuple[NamespaceView, ...]
    # Ops to register with torch.
    has_ops: bool
    needs_no_backward: bool
    ops: tuple[OpView, ...]
    tables: tuple[str, ...]
    table_list: str
    type_makers: tuple[str, ...]


def library_view(plan: BindingPlan) -> LibraryView:
    library = plan.library
    tables = tuple(table_name(library.module, shard) for shard in plan.shards)
    with_types = (shard for shard in plan.shards if has_structseqs(shard))
    return LibraryView(
        namespace=library.namespace,
        module=library.module,
        raise_import_error=_raise_import_error(library.module),
        refuse_interpreter=_refuse_interpreter(library.module),
        make_library=_make_library(plan),
        doc_literals=string_literals(library.doc.strip(), 92),
        kernels_header=f"{library.module}_kernels.h",
        kernel_headers=plan.kernel_headers,
        kernel_namespaces=tuple(_kernel_namespaces(plan.own_ops)),
        has_ops=plan.library.has_torch and bool(plan.own_ops),
        needs_no_backward=any(map(_needs_no_backward, plan.own_ops)),
        ops=tuple(_op(op, library.namespace) for op in plan.own_ops),
        tables=tables,
        table_list=wrapped("for (PyMethodDef* functions : {", tables, "}) {", 2),
        type_makers=tuple(types_name(library.module, shard) for shard in with_types),
    )


def _refuse_interpreter(module: str) -> str:
    text = string_literal(f"{module} works in the main interpreter alone")
    return wrapped("raise_error(", ("PyExc_ImportError", text), ");", 4)


def _raise_import_error(module: str) -> str:
    text = string_literal(f"{module} cannot be loaded: ")
    return wrapped("raise_error(", ("PyExc_ImportError", f"{text} + reason"), ");", 2)


def _make_library(plan: BindingPlan) -> str:
    items = (
        "torch::Library::DEF",
        string_literal(plan.library.namespace),
        "std::nullopt",
        string_literal(plan.source),
        "0",
    )
    return wrapped("m = std::make_unique<torch::Library>(", items, ");", 2)


def _needs_no_backward(op: OwnOp) -> bool:
    return op.has_autograd_kernel and op.autograd is AutogradPolicy.ERROR


# --- declarations ---------------------------------------------------------------------------------


def _kernel_namespaces(ops: Sequence[OwnOp]) -> Iterable[NamespaceView]:
    names = dict.fromkeys(k.function.namespace for op in ops for k in op.kernels)
    for name in sorted(names):
        yield NamespaceView(name, tuple(_declarations(ops, name)))


def _declarations(ops: Sequence[OwnOp], namespace: str) -> Iterable[str]:
    """The schema above the kernels of an op; a kernel of several ops is declared once."""
    declared: set[str] = set()
    for op in ops:
        functions = (k.function for k in op.kernels if k.function.namespace == namespace)
        names = [f.name for f in dict.fromkeys(functions) if f.name not in declared]
        declared.update(names)
        lines = [_head(op, name, ";") for name in names]
        if lines:
            yield "\n".join([*comment(op.schema), *lines])


def _head(op: OwnOp, name: str, tail: str, first: tuple[str, ...] = ()) -> str:
    parameters = (*first, *map(str, op.signature.parameters))
    return function_head(op.signature.return_type, name, parameters, tail)


# --- ops ------------------------------------------------------------------------------------------


def _op(op: OwnOp, namespace: str) -> OpView:
    handle = f"handle_{op.cpp_name}"
    qualified = f"{namespace}::{op.name}"
    find = (string_literal(qualified), string_literal(op.overload))
    return OpView(
        comments=comment(op.schema),
        declaration=_head(op, op.cpp_name, ";"),
        caller=WrapperView(
            _head(op, op.cpp_name, " {"),
            wrapped(f"return opbind::{handle}().call(", op.signature.names, ");", 2),
        ),
        handle=handle,
        handle_type=_function_type(op),
        find=wrapped("static const auto handle = find_op<Op>(", find, ");", 2),
        tags=_tags(op) if op.tags else "",
        wrappers=tuple(_wrappers(op, qualified)),
        registrations=tuple(_registrations(op)),
    )


def _function_type(op: OwnOp) -> str:
    types = tuple(parameter.type for parameter in op.signature.parameters)
    line = wrapped(f"using Op = {op.signature.return_type}(", types, ");", 2)
    if all(len(part) <= COLUMNS for part in line.split("\n")):
        return line
    result = broken_type(op.signature.return_type, 6)
    return f"  using Result =\n{result};\n{wrapped('using Op = Result(', types, ');', 2)}"


def _wrappers(op: OwnOp, qualified: str) -> Iterable[WrapperView]:
    if op.has_autograd_kernel and op.autograd is AutogradPolicy.ERROR:
        yield _autograd(op, qualified)
    if op.has_inplace_kernel:
        yield _inplace(op)
    yield from (_guarded(op, kernel) for kernel in op.kernels if kernel.guard_name)


_KEYS = (str(CppParameter("c10::DispatchKeySet", "ks")),)


def _autograd(op: OwnOp, qualified: str) -> WrapperView:
    name = string_literal(qualified)
    function = "forward_only_mutating" if op.mutated else "forward_only"
    first = [name, f"std::tie({', '.join(op.mutated)})"] if op.mutated else [name]
    items = [
        f"      {', '.join(first)},\n",
        f"{_redispatch(op, 'c10::after_autograd_keyset', 6)},\n",
        wrapped("", op.tensors, ");", 6),
    ]
    statements = f"  return autograd::{function}(\n{''.join(items)}"
    return WrapperView(_head(op, f"autograd_{op.cpp_name}", " {", _KEYS), statements)


def _inplace(op: OwnOp) -> WrapperView:
    mutated = f"std::tie({', '.join(op.mutated)})"
    redispatch = _redispatch(op, "c10::after_ADInplaceOrView_keyset", 6)
    statements = f"  return autograd::bump_versions(\n      {mutated},\n{redispatch});"
    return WrapperView(_head(op, f"inplace_{op.cpp_name}", " {", _KEYS), statements)


def _redispatch(op: OwnOp, keys: str, indent: int) -> str:
    """A lambda that calls the op again, below `keys`."""
    margin = " " * indent
    items = (f"ks & {keys}", *op.signature.names)
    head = f"return handle_{op.cpp_name}().redispatch("
    line = f"{margin}[&] {{ {head}{', '.join(items)}); }}"
    # Room for the comma or bracket that follows.
    if len(line) + 2 <= COLUMNS:
        return line
    return f"{margin}[&] {{\n{wrapped(head, items, ');', indent + 2)}\n{margin}}}"


def _guarded(op: OwnOp, kernel: KernelPlan) -> WrapperView:
    guard = f"  const c10::OptionalDeviceGuard guard(autograd::device_of({kernel.guard_argument}));"
    call = wrapped(f"return {kernel.function.absolute}(", op.signature.names, ");", 2)
    return WrapperView(_head(op, kernel.guard_name, " {"), f"{guard}\n{call}")


# --- registrations --------------------------------------------------------------------------------


def _registrations(op: OwnOp) -> Iterable[str]:
    tags = f", {_tags_name(op)}" if op.tags else ""
    indent = " " * len("  m->def(")
    schema = f"\n{indent}".join(string_literals(op.schema, COLUMNS - len(f"{indent}{tags});")))
    yield f"  m->def({schema}{tags});"
    for kernel in op.kernels:
        yield _impl(op, kernel.dispatch_key, f"TORCH_FN({_registered(kernel)})")
    if op.has_autograd_kernel:
        has_kernel = op.autograd is AutogradPolicy.ERROR
        fallthrough = "torch::CppFunction::makeFallthrough()"
        kernel_text = f"TORCH_FN(autograd_{op.cpp_name})" if has_kernel else fallthrough
        yield _impl(op, "Autograd", kernel_text)
    if op.has_inplace_kernel:
        yield _impl(op, "ADInplaceOrView", f"TORCH_FN(inplace_{op.cpp_name})")


def _tags_name(op: OwnOp) -> str:
    return f"tags_{op.cpp_name}"


def _tags(op: OwnOp) -> str:
    """torch::Library::def takes an lvalue alone."""
    items = tuple(f"at::Tag::{tag}" for tag in op.tags)
    return wrapped(f"const std::vector<at::Tag> {_tags_name(op)} = {{", items, "};")


def _registered(kernel: KernelPlan) -> str:
    return kernel.guard_name or kernel.function.absolute


def _impl(op: OwnOp, key: str, function: str) -> str:
    name = string_literal(f"{op.name}.{op.overload}" if op.overload else op.name)
    dispatch = f"torch::dispatch(c10::DispatchKey::{key}, {function})"
    return wrapped("m->impl(", (name, dispatch), ");", 2)
