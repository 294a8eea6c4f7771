"""Processes that exit while four daemon threads are inside ops: `make exits`.

.venv/bin/python tests/support/daemon_exits.py 50     so many runs of each kind of op
"""

from __future__ import annotations

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


def codes(kind: str, runs: int) -> Counter[int]:
    """How the process ended: its return codes."""
    program, folder = PROGRAM.format(call=CALLS[kind]), libraries.built("faults")
    return Counter(programs.run(program, folder).returncode for _ in range(runs))


def main(runs: int) -> int:
    ended = {kind: codes(kind, runs) for kind in CALLS}
    for kind, counted in ended.items():
        print(f"{kind}: {counted[0]} of {runs} exit with 0; {dict(counted)}", flush=True)
    return int(any(set(counted) != {0} for counted in ended.values()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
