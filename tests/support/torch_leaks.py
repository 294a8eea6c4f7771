"""Paths of calls with tensors of torch's, and whether one leaves anything: `make leaks`.

    .venv/bin/python tests/support/torch_leaks.py 100000     so many calls of each path

The example library must be on the path.
"""

from __future__ import annotations

import gc
import sys
from functools import partial
from typing import Any

import demo_ops
import leaks
import torch
from leaks import NUMBER, TEXT, Call, Declines, Fails, Handles, failing, with_filter


class Index:
    def __index__(self) -> int:
        raise KeyError(TEXT)


class Sub(torch.Tensor):
    pass


X, OUT, RESIZED = torch.ones(2, 3), torch.empty(2, 3), torch.empty(7)
VALUES, INDICES = torch.empty(2), torch.empty(2, dtype=torch.int64)
TENSORS, INTS, FAR = [torch.ones(2), torch.ones(2)], [0, 1], [123456]
HANDLER, RAISES, DECLINES, SUB = Handles(), Fails(), Declines(), X.as_subclass(Sub)
LARGE = 2**64

_OWN = (X, OUT, VALUES, INDICES, *TENSORS, TENSORS, INTS, FAR, *FAR, HANDLER, RAISES, DECLINES)
_TYPES = (Handles, Sub, torch.float64, torch.return_types.max, TypeError, RuntimeError, KeyError)
WATCHED = leaks.names((*_OWN, *_TYPES, TEXT, NUMBER, None, True, demo_ops.add))

# What kernels throw: csrc/kernels/behaviour.cpp.
KERNEL_ERRORS = (
    *("value_error", "type_error", "not_implemented", "buffer_error", "linalg_error"),
    *("out_of_memory", "runtime_error", "out_of_range", "invalid_argument", "domain_error"),
    *("length_error", "range_error", "overflow_error", "system_error", "bad_alloc"),
    *("unknown_exception", "int", "not_utf8", "not_utf8_out_of_memory", "python_error"),
    *("python_error_unset",),
)


def resized() -> Any:
    RESIZED.resize_(7)
    return demo_ops.add(X, X, out=RESIZED)


def in_mode() -> None:
    with Mode():
        demo_ops.add(X, X)


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, *args: Any, **kwargs: Any) -> Any:
        raise KeyError(TEXT)


TAKEN: dict[str, Call] = {
    "unnamed tuple": lambda: demo_ops.var_mean(X),
    "success": lambda: demo_ops.add(X, X, alpha=NUMBER),
    "list": lambda: demo_ops.cat(TENSORS, 0),
    "ints": lambda: demo_ops.sum(X, INTS, dtype=torch.float64),
    "text": lambda: demo_ops.describe(X, TEXT),
    "None": lambda: demo_ops.clamp(X, None, NUMBER),
    "a tensor as a number": lambda: demo_ops.clamp(X, torch.tensor(1.5)),
    "named tuple": lambda: demo_ops.max(X, 1),
    "own named tuple": lambda: demo_ops.min_max(X),
    "numbers": lambda: demo_ops.bounds(X),
    "list of tensors": lambda: demo_ops.chunk(X, 2),
    "list of ints": lambda: demo_ops.strides_of(X, INTS),
    "factory": lambda: demo_ops.linspace(0, 1, 3, requires_grad=True),
    "dtype": lambda: demo_ops.result_type(X, X),
    "handled": lambda: demo_ops.add(X, HANDLER),
    "handled keywords": lambda: demo_ops.add(HANDLER, X, alpha=NUMBER),
    "handled by torch": lambda: demo_ops.add(SUB, X),
    "nothing": lambda: demo_ops.busy_wait_ms(0),
    "out": lambda: demo_ops.add(X, X, out=OUT),
    "outs": lambda: demo_ops.max(X, 1, out=(VALUES, INDICES)),
    "in place": lambda: demo_ops.clamp_(OUT, 0, 1),
    "warning": with_filter("ignore", resized),
}

REFUSED: dict[str, Call] = {
    "wrong type": lambda: demo_ops.add(X, TEXT),
    "unexpected keyword": lambda: demo_ops.scale(X, **{TEXT: NUMBER}),
    "multiple values": lambda: demo_ops.scale(X, NUMBER, alpha=NUMBER),
    "missing": lambda: demo_ops.cat(),
    "too many": lambda: demo_ops.numel(X, X),
    "wrong element": lambda: demo_ops.cat([X, TEXT]),
    "wrong length": lambda: demo_ops.max(X, 1, out=[OUT]),
    "wrong out": lambda: demo_ops.add(X, X, out=TEXT),
    "dimension": lambda: demo_ops.sum(X, FAR),
    "overflow": lambda: demo_ops.sum(X, [0, LARGE]),
    "large Scalar": lambda: demo_ops.clamp(X, LARGE),
    "large float": lambda: demo_ops.scale(X, 10**400),
    "__index__ raises": lambda: demo_ops.sum(X, [0, Index()]),
    "surrogate": lambda: demo_ops.describe(X, "\ud800"),
    "no such device": lambda: demo_ops.cast(X, torch.float64, device=TEXT),
    "kernel refuses": lambda: demo_ops.cat([X, torch.ones(7, 7)]),
    "handler raises": lambda: demo_ops.add(X, RAISES),
    "handler declines": lambda: demo_ops.cat([X, DECLINES]),
    "mode raises": in_mode,
    "requires grad, out": lambda: demo_ops.add(X.clone().requires_grad_(), X, out=OUT),
    "warning as an error": with_filter("error", resized),
    "warning, then an error": with_filter("error", lambda: demo_ops.raise_error(_WARNS)),
    **{f"kernel: {kind}": partial(demo_ops.raise_error, kind) for kind in KERNEL_ERRORS},
}
_WARNS = "warning_then_error"

PATHS: dict[str, Call] = {
    **TAKEN,
    **{name: failing(call, Exception) for name, call in REFUSED.items()},
}


def live_tensors() -> int:
    """After every path has been taken once, which fills caches."""
    for call in PATHS.values():
        call()
    gc.collect()
    return sum(issubclass(type(one), torch.Tensor) for one in gc.get_objects())


def main(calls: int) -> int:
    before = live_tensors()
    leaking = leaks.report(PATHS, WATCHED, calls)
    print(f"live tensors: {live_tensors() - before:+}")
    return leaking or int(live_tensors() > before)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
