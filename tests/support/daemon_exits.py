"""Processes that exit while four daemon threads are inside ops: `make exits`.

.venv/bin/python tests/support/daemon_exits.py 50     so many runs of each kind of op
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import libraries
import programs

# What the threads do, by the op's end. A new tensor is not among it: where a thread drops the last
# reference to one, torch gives the GIL away to free it, and aborts when it takes it back.
CALLS = {
    "returns": "ops.gil(X, 1)",
    "returns what it was given": "ops.same(X)",
    "in place": "ops.gil_(X, 1)",
    "text": "ops.gil_str(X, 1)",
    "throws": "ops.gil_throw(X, 1)",
}

PROGRAM = """
import threading, time, torch, faults_ops as ops
X = torch.ones(2)
def loop():
    while True:
        try: {call}
        except RuntimeError: pass
for _ in range(4):
    threading.Thread(target=loop, daemon=True).start()
time.sleep(0.1)
"""


def ends(kind: str, runs: int) -> Counter[str]:
    """How the processes ended: "0", or the return code and the last thing that was said."""
    program, folder = PROGRAM.format(call=CALLS[kind]), libraries.built("faults")
    return Counter(_end(programs.run(program, folder)) for _ in range(runs))


def _end(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.returncode} {(done.stderr.splitlines() or [''])[-1]}".strip()


def main(runs: int) -> int:
    failed = 0
    for kind in CALLS:
        counted = ends(kind, runs)
        failed += runs - counted["0"]
        print(f"{kind}: {counted['0']} of {runs} exit with 0; {dict(counted)}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
