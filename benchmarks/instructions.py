"""Instructions of a call, by callgrind: what no load of the machine moves.

    .venv/bin/python benchmarks/instructions.py build/bench/lib          per call
    .venv/bin/python benchmarks/instructions.py OLD/build/bench/lib build/bench/lib

The folders hold bench_ops, as benchmarks/build.py builds it; with two, their ratio is told. What is
counted is the binding's function with all that it calls, the kernel included. Needs valgrind.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile

COUNT = 2000
CALLS = ("add2(x, y)", "add2(x, y, alpha=2)", "pick(x, y)", "pick(x, 2.0)", "touch_(x)")
PARAMETERS = "_object*, _object* const*, long, _object*"
PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
import torch, bench_ops
x, y = torch.rand(1), torch.rand(1)
for _ in range({count}):
    bench_ops.{call}
"""


def instructions(folder: str, call: str) -> float:
    """Of one call; making the parser is a small part of the first."""
    function = call.partition("(")[0]
    program = PROGRAM.format(folder=folder, count=COUNT, call=call)
    with tempfile.NamedTemporaryFile() as out:
        # The whole name: what it is made of has it within theirs.
        entry = f"opbind::(anonymous namespace)::THPVariable_{function}({PARAMETERS})"
        options = [f"--callgrind-out-file={out.name}", f"--toggle-collect={entry}"]
        command = ["valgrind", "--tool=callgrind", *options, sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    (collected,) = re.findall(r"Collected : (\d+)", done.stderr)
    return int(collected) / COUNT


def main(folders: list[str]) -> None:
    for call in CALLS:
        counts = [instructions(folder, call) for folder in folders]
        ratio = f"  {counts[-1] / counts[0] - 1:+.1%}" if len(counts) > 1 else ""
        print(f"{call:20}", *(f"{count:9.0f}" for count in counts), ratio, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
