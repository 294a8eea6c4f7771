"""Hosts: what the generated code of a library depends on its host for."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Library


@dataclass(frozen=True, slots=True)
class Host:
    """What gives a library's module its Tensor type."""

    # Ops are registered with torch's dispatcher and called through it; the package imports torch,
    # and its stub speaks of torch's types. Without, the bindings call the kernels themselves.
    has_torch: bool
    # What declares the C++ types of kernels, as #include has it.
    kernel_headers: tuple[str, ...]


_HOSTS = {
    "torch": Host(True, ("<ATen/core/Tensor.h>", "<c10/util/OptionalArrayRef.h>")),
    # For testing the runtime's core without torch: the types have torch's names there.
    "null": Host(False, ('"host.h"',)),
}


def host_of(library: Library) -> Host:
    return _HOSTS[library.host]
