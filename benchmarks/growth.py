"""Seconds that `opbind gen` takes, process start to exit, for libraries of growing size."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (100, 1_000, 10_000)
ROUNDS = 2
ENTRY = """\
- func: op{i}(Tensor self, Tensor other, int n=1, *, Scalar alpha=1) -> Tensor
  dispatch: {{CPU: op{i}_cpu, Meta: op{i}_meta}}
"""


def seconds(size: int, folder: Path) -> float:
    """The least of a few runs, each into an empty folder."""
    file = folder / f"ops{size}.yaml"
    head = "library: {namespace: grow, module: grow_ops, shards: 16}\nfunctions:\n"
    file.write_text(head + "".join(ENTRY.format(i=i) for i in range(size)), encoding="utf-8")
    best = float("inf")
    for i in range(ROUNDS):
        command = [sys.executable, "-m", "opbind", "gen", str(file)]
        start = time.perf_counter()
        subprocess.run(
            [*command, "--out", str(folder / f"out{size}-{i}")], check=True, capture_output=True
        )
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            print(f"{size:6} ops: {seconds(size, Path(folder)):.2f} s")


if __name__ == "__main__":
    main()
