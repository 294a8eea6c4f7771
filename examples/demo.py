"""What `make demo` shows: demo_ops at work beside torch. Exits 1 when something is wrong."""

from __future__ import annotations

import sys
import threading
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass, field

import demo_ops
import torch
from rich.console import Console
from rich.markup import escape
from rich.table import Table

# More than this of torch's own time is a fault, also on a busy machine.
SLOWEST_RATIO = 1.5


@dataclass
class Demo:
    """Prints each part, and remembers what went wrong."""

    console: Console = field(default_factory=Console)
    faults: list[str] = field(default_factory=list)

    def part(self, title: str) -> None:
        self.console.rule(f"[bold]{title}", align="left")

    def check(self, good: bool, what: str) -> None:
        if not good:
            self.faults.append(what)


def equal(ours: object, theirs: object) -> bool:
    """The same values, tensor by tensor."""
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
        return torch.equal(ours, theirs)
    return ours == theirs


def brief(value: object) -> str:
    """A value on one line."""
    if isinstance(value, torch.Tensor):
        numbers = [round(number, 3) for number in value.flatten().tolist()]
        return f"{value.dtype} {tuple(value.shape)} {numbers}".replace("torch.", "")
    if isinstance(value, tuple):
        return ", ".join(map(brief, value))
    return repr(value)


def results(demo: Demo) -> None:
    demo.part("results, beside torch's")
    a = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    b = torch.tensor([[0.5, 0.5], [1.0, 2.0]])
    calls: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        (
            "add(a, b, alpha=2)",
            lambda: demo_ops.add(a, b, alpha=2),
            lambda: torch.add(a, b, alpha=2),
        ),
        ("add(a, 1)", lambda: demo_ops.add(a, 1), lambda: torch.add(a, 1)),
        ("sum(a, dim=[0])", lambda: demo_ops.sum(a, dim=[0]), lambda: torch.sum(a, dim=[0])),
        ("max(a, dim=1)", lambda: demo_ops.max(a, dim=1), lambda: torch.max(a, dim=1)),
        ("cat([a, b])", lambda: demo_ops.cat([a, b]), lambda: torch.cat([a, b])),
        (
            "where(a > 0, a, 0.0)",
            lambda: demo_ops.where(a > 0, a, 0.0),
            lambda: torch.where(a > 0, a, 0.0),
        ),
        ("clamp(a, max=1)", lambda: demo_ops.clamp(a, max=1), lambda: torch.clamp(a, max=1)),
        ("scale(a, 3.0)", lambda: demo_ops.scale(a, 3.0), lambda: a * 3.0),
    ]
    table = Table("call", "demo_ops", "same as torch")
    for text, ours, theirs in calls:
        value = ours()
        same = equal(value, theirs())
        demo.check(same, f"{text} differs from torch's")
        table.add_row(escape(text), escape(brief(value)), "yes" if same else "NO")
    weight = torch.ones(2)
    ours_norm = demo_ops.rms_norm(a, weight)
    same = torch.allclose(ours_norm, torch.nn.functional.rms_norm(a, (2,), weight, 1e-6))
    demo.check(same, "rms_norm is far from torch's")
    table.add_row("rms_norm(a, ones)", escape(brief(ours_norm)), "close" if same else "NO")
    demo.console.print(table)


def errors(demo: Demo) -> None:
    demo.part("a wrong call's error, beside torch's: add(a, b, alhpa=2)")
    a = torch.ones(2)
    functions: list[tuple[str, Callable[..., object]]]
    functions = [("demo_ops", demo_ops.add), ("torch", torch.add)]
    for name, function in functions:
        try:
            function(a, a, alhpa=2)
        except TypeError as error:
            demo.console.print(f"[bold]{name}[/]: {escape(str(error))}")
            demo.check(name == "torch" or "alpha" in str(error), "no hint at 'alpha'")
        else:
            demo.check(False, f"{name}.add took an unknown keyword")


def gil(demo: Demo) -> None:
    demo.part("a Python thread, while a kernel is busy for 300 ms")
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks
    demo_ops.busy_wait_ms(300)
    during = ticks - before
    done.set()
    thread.join()
    demo.console.print(f"ticks of 1 ms during busy_wait_ms(300): {during}")
    demo.check(during >= 50, "the kernel held the GIL")


def identity(demo: Demo) -> None:
    demo.part("a tensor kept in C++ and taken back")
    kept = torch.arange(3)
    number = id(kept)
    demo_ops.keep(kept)
    same = demo_ops.take() is kept
    demo.console.print(f"take() is kept: {same}")
    # Python's last reference goes while C++ holds the tensor: the object survives with it.
    demo_ops.keep(kept)
    kept.note = "still me"  # type: ignore[attr-defined]
    del kept
    back = demo_ops.take()
    survived = id(back) == number and getattr(back, "note", "") == "still me"
    demo.console.print(f"the same object after Python let go of it: {survived}")
    demo.check(same and survived, "a kept tensor lost its identity")


def speed(demo: Demo) -> None:
    demo.part("time of a call, as a ratio to torch's own")
    a, b = torch.ones(1), torch.ones(1)
    for text in ("f(a, b)", "f(a, b, alpha=2)"):
        timers = [
            timeit.Timer(text, globals={"f": f, "a": a, "b": b}) for f in (demo_ops.add, torch.add)
        ]
        rounds = [[timer.timeit(5_000) for timer in timers] for _ in range(20)]
        ours, theirs = (min(column) / 5_000 * 1e9 for column in zip(*rounds, strict=True))
        ratio = ours / theirs
        demo.console.print(
            f"add: {text:<17} {ours:5.0f} ns, torch {theirs:5.0f} ns: {ratio:.2f} of torch's time"
        )
        demo.check(ratio <= SLOWEST_RATIO, f"{text} is slower than torch's own")


def main() -> int:
    demo = Demo()
    for part in (results, errors, gil, identity, speed):
        part(demo)
    for fault in demo.faults:
        demo.console.print(f"[red]wrong[/]: {escape(fault)}")
    return 1 if demo.faults else 0


if __name__ == "__main__":
    sys.exit(main())
