"""Kernels on the CPU for those of torch's ops that have none: they tell what reached them.

Without, an op of CUDA's refuses all calls, and only refusals could be compared.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from compare import HEARD
from made import shown
from torch_files import ours

# Where an op that a machine without a GPU can call has a kernel.
_KEYS = (
    *("CPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU", "MkldnnCPU", "NestedTensorCPU"),
    *("CompositeImplicitAutograd", "CompositeImplicitAutogradNestedTensor"),
    *("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
)


@contextmanager
def registered() -> Iterator[None]:
    """Of this process alone, and only so long."""
    with torch.library._scoped_library("aten", "IMPL") as library:
        for op in without_kernel():
            library.impl(op, _kernel(op), "CPU")
        yield


def without_kernel() -> Iterator[torch._ops.OpOverload]:
    """Of the ops that our functions call; without those that view, which are nested tensors'."""
    names = {call.op.schema.name for function in ours().functions for call in function.calls}
    for name in sorted(map(str, names)):
        has_kernel = partial(torch._C._dispatch_has_kernel_for_dispatch_key, f"aten::{name}")
        op = _op(name)
        if not any(map(has_kernel, _KEYS)) and not any(map(_is_view, op._schema.returns)):
            yield op


def _op(name: str) -> torch._ops.OpOverload:
    base, _, overload = name.partition(".")
    found = getattr(getattr(torch.ops.aten, base), overload or "default")
    assert isinstance(found, torch._ops.OpOverload)
    return found


def _is_written(argument: torch.Argument) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _is_view(result: torch.Argument) -> bool:
    return result.alias_info is not None and not result.alias_info.is_write


def _kernel(op: torch._ops.OpOverload) -> Callable[..., Any]:
    """Tells what it was given (compare.HEARD); returns what it writes to, or plain results."""
    schema = op._schema
    names = [argument.name for argument in schema.arguments]

    def run(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        HEARD.append(f"{op}({', '.join(f'{k}={_told(v)}' for k, v in given.items())})")
        written = (given[argument.name] for argument in schema.arguments if _is_written(argument))
        results = [
            next(written) if _is_written(result) else _RESULTS[str(result.type)](place)
            for place, result in enumerate(schema.returns)
        ]
        return tuple(results) if len(results) > 1 else next(iter(results), None)

    return run


# By the place among the results: no two are the same.
_RESULTS: Mapping[str, Callable[[int], Any]] = {
    "Tensor": lambda place: torch.tensor(place, dtype=torch.float64),
    "int": int,
    "bool": bool,
}


def _told(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_told, value))}]"
    if isinstance(value, torch.Generator):
        return f"Generator {zlib.crc32(value.get_state().numpy().tobytes())}"
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and value.is_cpu:
        return f"{shown(value)} {value.stride()} {value.tolist()}"
    return shown(value)
