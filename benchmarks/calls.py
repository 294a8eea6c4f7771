"""ns per call of five bindings of the same ops: a table, the ratios, and whether targets hold.

All call the same kernels through the same registration. The bindings' rounds are interleaved,
short and many, and the minimum of each is kept: what a busy machine adds falls on all alike, and
drops out.
"""

from __future__ import annotations

import argparse
import gc
import json
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch  # Before the extensions, whose libraries it loads.

import bench_ops  # isort: skip
import bench_peers  # isort: skip
from rich.console import Console
from rich.table import Table

ROUNDS = 400
CALLS = 1_000

Call = Callable[..., object]
# ns by binding, by case.
Figures = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Target:
    """`opbind` takes at most `limit` times what `peer` takes."""

    case: str
    peer: str
    limit: float


TARGETS = (
    Target("two_tensors", "handwritten", 1.15),
    Target("two_tensors", "torchgen", 0.75),
    Target("keyword_scalar", "torchgen", 0.60),
)

# The statement that is timed, and the function's name.
CASES = {
    "two_tensors": ("f(a, b)", "add2"),
    "keyword_scalar": ("f(a, b, alpha=2)", "add2"),
    "overload": ("f(a, 2.0)", "pick"),
    "mutating": ("f(a, 2.0)", "touch_"),
}


def bindings(name: str) -> dict[str, Call]:
    """The function of that name, as each binding offers it."""
    # torch.ops is timed by its overload where there is one, by its packet where it has to choose.
    packet = getattr(torch.ops.bench, name)
    return {
        "opbind": getattr(bench_ops, name),
        "handwritten": getattr(bench_peers, f"handwritten_{name}"),
        "torchgen": getattr(bench_peers, f"torchgen_{name}"),
        "pybind11": getattr(bench_peers, f"pybind11_{name}"),
        "torch_ops": packet if name == "pick" else packet.default,
    }


def timers() -> dict[tuple[str, str], timeit.Timer]:
    """One for each case and binding; all calls of a case share their tensors."""
    made = {}
    for case, (statement, name) in CASES.items():
        tensors = {"a": torch.zeros(1), "b": torch.ones(1)}
        for binding, function in bindings(name).items():
            made[case, binding] = timeit.Timer(statement, globals={**tensors, "f": function})
    return made


def measure(rounds: int) -> Figures:
    """The least ns per call of each.

    Rounds go over everything, so that nothing is timed in a better or a worse minute than its
    peers; each starts elsewhere, so that nobody always comes after the same one.
    """
    order = list(timers().items())
    figures: Figures = {case: {} for case in CASES}
    gc.disable()
    try:
        for i in range(rounds):
            start = i % len(order)
            for (case, binding), timer in order[start:] + order[:start]:
                ns = timer.timeit(CALLS) / CALLS * 1e9
                figures[case][binding] = min(ns, figures[case].get(binding, ns))
    finally:
        gc.enable()
    return {
        case: {name: row[name] for name in bindings(CASES[case][1])}
        for case, row in figures.items()
    }


def show(figures: Figures, console: Console) -> None:
    """Print the figures, and whether each target holds."""
    table = Table("case", "call", *next(iter(figures.values())), title="ns per call")
    for case, row in figures.items():
        table.add_row(case, CASES[case][0], *(f"{ns:.0f}" for ns in row.values()))
    console.print(table)
    console.print("torch_ops: `.default`, but the packet for the overloaded function")
    for target in TARGETS:
        row = figures[target.case]
        ratio = row["opbind"] / row[target.peer]
        verdict = "holds" if ratio <= target.limit else "MISSED"
        console.print(
            f"{target.case}: {ratio:.2f}x {target.peer}, at most {target.limit:.2f}: {verdict}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True, help="file for the figures, as JSON")
    options.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = options.parse_args()
    figures = measure(arguments.rounds)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps({"cases": figures}, indent=2) + "\n", encoding="utf-8")
    show(figures, Console(width=100))


if __name__ == "__main__":
    main()
