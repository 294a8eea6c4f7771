"""Whether a call leaves anything behind: references, Python's memory, C's, and the process's.

    growth = leaks.grown(call, watched, calls=1000)
    assert not growth.faults

What is kept for later calls is taken in the calls made before counting; a leak grows with each.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Call = Callable[[], Any]

# What a leak leaves at least, in every other call: a reference, a block of Python's, an allocation.
_LEAST = 0.5
_LEAST_BYTES = 16 * _LEAST
# Python keeps some blocks for later use.
_KEPT_BLOCKS = 300
# Pages come and go: they say something after many calls only.
_KEPT_BYTES = 1 << 20
_MANY_CALLS = 10_000

# Of paths: a text and a number that nobody else holds, and objects that take calls over, or do not.
TEXT = "a text that nobody else holds"
NUMBER = 123456.75


class Handles:
    def __torch_function__(self, *arguments: Any) -> Any:
        return arguments


class Declines:
    def __torch_function__(self, *arguments: Any) -> Any:
        return NotImplemented


class Fails:
    def __torch_function__(self, *arguments: Any) -> Any:
        raise KeyError(TEXT)


class _HeapInfo(ctypes.Structure):
    """glibc's struct mallinfo2; `uordblks` are the bytes in use, of the main thread."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


_mallinfo2 = ctypes.CDLL(None).mallinfo2
_mallinfo2.restype = _HeapInfo


def heap_bytes() -> int:
    """Bytes that C and C++ code have taken and not given back."""
    return int(_mallinfo2().uordblks)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Growth:
    """How much more there is after so many calls, by what was counted."""

    calls: int
    references: dict[str, int]
    blocks: int
    heap: int
    resident: int

    @property
    def faults(self) -> list[str]:
        least, least_bytes = _LEAST * self.calls, _LEAST_BYTES * self.calls
        # A count that falls was let go once too often.
        found = [f"{n:+} {what}" for what, n in self.references.items() if abs(n) > least]
        if self.blocks > max(least, _KEPT_BLOCKS):
            found.append(f"{self.blocks:+} blocks")
        if self.heap > least_bytes:
            found.append(f"{self.heap:+} bytes in use")
        if self.calls >= _MANY_CALLS and self.resident > max(least_bytes, _KEPT_BYTES):
            found.append(f"{self.resident:+} bytes resident")
        return found


def grown(call: Call, watched: Mapping[str, Any], calls: int) -> Growth:
    """Of `calls` calls, and of a fifth as many before."""
    _repeat(call, max(calls // 5, 20))
    before = _counted(watched)
    _repeat(call, calls)
    references, *rest = _counted(watched)
    moved = {name: references[name] - before[0][name] for name in watched}
    blocks, heap, resident = (now - then for now, then in zip(rest, before[1:], strict=True))
    return Growth(calls, moved, blocks, heap, resident)


def _repeat(call: Call, calls: int) -> None:
    for _ in range(calls):
        call()


def _counted(watched: Mapping[str, Any]) -> tuple[dict[str, int], int, int, int]:
    gc.collect()
    references = {name: sys.getrefcount(one) for name, one in watched.items()}
    return references, sys.getallocatedblocks(), heap_bytes(), resident_bytes()


def failing(call: Call, *errors: type[BaseException]) -> Call:
    """The call, which must raise one of these."""

    def run() -> None:
        try:
            call()
        except errors:
            return
        raise AssertionError("the call was to fail")

    return run


def with_filter(action: Any, call: Call) -> Call:
    """The call under a filter that treats all warnings so."""

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter(action)
            call()

    return run


def faults(paths: Mapping[str, Call], watched: Mapping[str, Any], calls: int) -> dict[str, Any]:
    """What each path leaves that leaves anything."""
    gc.collect()
    gc.freeze()  # The collector need not look at what was there before.
    try:
        found = {name: grown(call, watched, calls).faults for name, call in paths.items()}
    finally:
        gc.unfreeze()
    return {name: left for name, left in found.items() if left}


def report(paths: Mapping[str, Call], watched: Mapping[str, Any], calls: int) -> int:
    """Prints the growth of each path; 1 if one leaks."""
    leaking = 0
    for name, call in paths.items():
        growth = grown(call, watched, calls)
        leaking += bool(growth.faults)
        moved = max(map(abs, growth.references.values()), default=0)
        print(
            f"{'LEAKS' if growth.faults else 'flat ':5} {name:40} references {moved:3}, "
            f"blocks {growth.blocks:+5}, heap {growth.heap:+8}, resident {growth.resident:+9}",
            *growth.faults,
            flush=True,
        )
    print(f"{len(paths)} paths of {calls} calls: {leaking} leak")
    return int(leaking > 0)


def names(objects: Iterable[Any]) -> dict[str, Any]:
    """Objects to watch, under their types and values."""
    return {f"references of {number} {one!r:.40}": one for number, one in enumerate(objects)}
