"""torch's own samples and error inputs (OpInfo), through torch's function and through ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from aten import Pair, pairs
from compare import UNINITIALISED, copied, difference, flat, is_unsure, outcome
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo


@dataclass(slots=True)
class Count:
    """What came of one function's samples."""

    samples: int = 0
    equal: int = 0
    errors: int = 0
    errors_same: int = 0
    different: list[str] = field(default_factory=list)
    # Where only values differ, and torch's own are not the same each time.
    unsure: list[str] = field(default_factory=list)


class Variant(NamedTuple):
    """One of our functions that an OpInfo is about."""

    pair: Pair
    # "function", "method", "in place" or "out".
    kind: str


Counts = dict[str, Count]
Arguments = tuple[list[Any], dict[str, Any]]


@cache
def _by_callable() -> dict[int, Pair]:
    return {id(pair.torch): pair for pair in pairs().values()}


def variants(op: OpInfo) -> Iterator[Variant]:
    known = _by_callable()
    found = {"function": op.op, "method": op.get_method(), "in place": op.get_inplace()}
    for kind, function in found.items():
        if id(function) in known:
            yield Variant(known[id(function)], kind)
    if op.supports_out and id(op.op) in known:
        yield Variant(known[id(op.op)], "out")


@cache
def opinfos() -> dict[str, OpInfo]:
    """Those that are about a function of ours, by their full names."""
    return {op.full_name: op for op in op_db if any(variants(op))}


def main_dtype(op: OpInfo) -> torch.dtype:
    """float32, or what the op takes in its place."""
    dtypes: set[torch.dtype] = op.supported_dtypes("cpu")
    return torch.float32 if torch.float32 in dtypes else min(dtypes, key=str)


def check(op: OpInfo) -> Counts:
    """All samples of all dtypes, and the error inputs."""
    counts: Counts = {variant.pair.name: Count() for variant in variants(op)}
    for dtype in sorted(op.supported_dtypes("cpu"), key=str):
        for sample, needs_grad in _samples(op, dtype):
            for variant in variants(op):
                if needs_grad and variant.kind == "out":
                    continue
                _check_sample(variant, op, sample, f"{op.full_name} {dtype}", counts)
    _check_errors(op, counts)
    return counts


def _samples(op: OpInfo, dtype: torch.dtype) -> Iterator[tuple[Any, bool]]:
    has_grad = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    for needs_grad in (False, True) if has_grad else (False,):
        torch.manual_seed(0)
        for sample in op.sample_inputs("cpu", dtype, requires_grad=needs_grad):
            yield sample, needs_grad


def _check_sample(variant: Variant, op: OpInfo, sample: Any, place: str, counts: Counts) -> None:
    given: Arguments = ([sample.input, *sample.args], dict(sample.kwargs))
    make = partial(_arguments, variant, given)
    if variant.kind == "out":
        make = partial(_with_out, variant, given)
    theirs, ours = (outcome(f, *make()) for f in (variant.pair.torch, variant.pair.ours))
    values = variant.pair.function.name not in UNINITIALISED
    found = difference(theirs, ours, values=values)
    count = counts[variant.pair.name]
    count.samples += 1
    count.equal += not found
    if found:
        is_known = is_unsure(variant.pair.torch, make, theirs, ours)
        listed = count.unsure if is_known else count.different
        listed.append(f"{place}, {variant.kind}: {found}")


def _arguments(variant: Variant, given: Arguments) -> Arguments:
    args, kwargs = copied(given)
    if variant.kind == "in place" and isinstance(args[0], torch.Tensor):
        # A leaf that requires grad cannot be written.
        args[0] = args[0].clone() if args[0].requires_grad else args[0]
    return args, kwargs


def _with_out(variant: Variant, given: Arguments) -> Arguments:
    args, kwargs = copied(given)
    expected = outcome(variant.pair.torch, *copied(given)).value
    outs = [torch.zeros_like(r) for r in flat(_listed(expected)) if isinstance(r, torch.Tensor)]
    kwargs["out"] = outs[0] if len(outs) == 1 else tuple(outs)
    return args, kwargs


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else [value]


def _check_errors(op: OpInfo, counts: Counts) -> None:
    if op.error_inputs_func is None:
        return
    torch.manual_seed(0)
    for wrong in op.error_inputs("cpu"):
        sample = wrong.sample_input
        for variant in variants(op):
            if variant.kind == "out":
                continue
            given: Arguments = ([sample.input, *sample.args], dict(sample.kwargs))
            ends = [
                outcome(f, *_arguments(variant, given))
                for f in (variant.pair.torch, variant.pair.ours)
            ]
            if ends[0].error is None and variant.kind != "function":
                continue
            count = counts[variant.pair.name]
            count.errors += 1
            found = difference(*ends, values=False) or _message_difference(variant.pair, *ends)
            count.errors_same += not found
            if found:
                count.different.append(f"{op.full_name}, wrong {variant.kind}: {found}")


def _message_difference(pair: Pair, theirs: Any, ours: Any) -> str:
    """Ours is as exact when it is the same, or names the function and the argument as torch's."""
    a, b = str(theirs.error), str(ours.error)
    names = {p.name for signature in pair.function.signatures for p in signature.parameters}
    named = names.intersection(re.findall(r"'(\w+)'", a))
    is_ours = b.startswith(f"{pair.function.name}(") and all(name in b for name in named)
    return "" if a == b or is_ours else f"{a[:200]!r} / {b[:200]!r}"
