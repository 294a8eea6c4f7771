"""`make fuzz`: as many random schemas and broken YAML files as asked for; figures, or the input
that broke something."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import schema_fuzz
import yaml_fuzz


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    count, seed = arguments.count, arguments.seed
    print(f"seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="opbind-fuzz-"))
    os.chdir(folder)
    is_good = _report("schemas", lambda: schema_fuzz.run(count, seed))
    is_good &= _report("YAML files", lambda: yaml_fuzz.run(count, seed, folder))
    if not is_good:
        print(f"what broke it: {folder}", file=sys.stderr)
    return 0 if is_good else 1


def _report(name: str, run: Callable[[], Counter[str]]) -> bool:
    start = time.perf_counter()
    try:
        results = run()
    except AssertionError as fault:
        print(f"{name}: {fault}", file=sys.stderr)
        return False
    print(f"{name}, {time.perf_counter() - start:.0f} s")
    for what, number in results.most_common():
        print(f"  {number:7} {what}")
    return True


if __name__ == "__main__":
    sys.exit(main())
