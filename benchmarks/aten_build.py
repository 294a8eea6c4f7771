"""What it costs to compile all of torch's bindings: opbind's generated files and torchgen's.

    .venv/bin/python benchmarks/aten_build.py --out build/bench/aten.json

Both are generated from the installed torchgen's files and compiled with the same flags, one after
the other: CPU seconds of the compilers, the most memory that one took, bytes of their objects. Of
opbind's package, which `make aten` builds, also the time of its import, after torch's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from generation import GENERATORS
from opbind import build

REPO = Path(__file__).resolve().parents[1]
FOLDER = REPO / "build/bench/aten"
PACKAGE = REPO / "build/aten/aten_ops"
SHARDS = ("--shards", "4")
# Of torchgen's build time and text.
TIME_LIMIT, TEXT_LIMIT = 0.4, 0.5
IMPORT_LIMIT = 10.0
IMPORT = """
import sys, time, torch
sys.path.insert(0, {folder!r})
start = time.perf_counter()
import aten_ops
print((time.perf_counter() - start) * 1e3)
"""


@dataclass(slots=True)
class Cost:
    """Of the files of one generator."""

    # CPU seconds of all compilers.
    seconds: float = 0.0
    # Most memory of one compiler, in MiB.
    memory: float = 0.0
    # Bytes of code and constants, as `size` counts them; of code alone.
    text: int = 0
    code: int = 0
    files: list[str] = field(default_factory=list)


def generate(name: str) -> list[Path]:
    """The C++ files of one generator, without what holds no binding."""
    out = FOLDER / name
    out.mkdir(parents=True, exist_ok=True)
    more = SHARDS if name == "opbind" else ()
    subprocess.run([*GENERATORS[name](out), *more], check=True, capture_output=True)
    if name == "torchgen":
        # Where torch's build has it.
        header = out / "torch/csrc/autograd/generated/python_return_types.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text((out / header.name).read_text())
    # torchgen writes the functions of torch twice: all in one file, and in three.
    return sorted(path for path in out.glob("*.cpp") if "Everything" not in path.name)


def compile_one(source: Path, flags: list[str], cost: Cost) -> None:
    command = [*build.find_toolchain().compiler, *flags, "-c", str(source)]
    process = subprocess.Popen([*command, "-o", str(source.with_suffix(".o"))])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{source} does not compile")
    cost.seconds += usage.ru_utime + usage.ru_stime
    cost.memory = max(cost.memory, usage.ru_maxrss / 1024)
    cost.files.append(source.name)
    _add_size(source.with_suffix(".o"), cost)


def _add_size(path: Path, cost: Cost) -> None:
    whole = subprocess.run(["size", path], capture_output=True, text=True, check=True).stdout
    cost.text += int(whole.splitlines()[1].split()[0])
    parts = subprocess.run(["size", "-A", path], capture_output=True, text=True, check=True).stdout
    cost.code += sum(int(n) for n in re.findall(r"^\.text\S*\s+(\d+)", parts, re.MULTILINE))


def measure(name: str) -> Cost:
    tools = build.find_toolchain()
    assert tools.torch is not None
    runtime = build.runtime_dir()
    ours = (runtime, build.host_dir("torch"), FOLDER / name)
    theirs = (*tools.torch.includes, tools.python_include)
    flags = [*build.CODE_FLAGS, "-DAT_PER_OPERATOR_HEADERS", *(f"-I{path}" for path in ours)]
    flags += [word for path in theirs for word in ("-isystem", str(path))]
    cost = Cost()
    for source in generate(name):
        compile_one(source, flags, cost)
    return cost


def import_time(rounds: int = 11) -> float:
    """Milliseconds, the median."""
    program = IMPORT.format(folder=str(PACKAGE.parent))
    command = [sys.executable, "-c", program]
    runs = (subprocess.run(command, capture_output=True, text=True) for _ in range(rounds))
    return statistics.median(float(run.stdout) for run in runs)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True, help="file for the figures, as JSON")
    arguments = options.parse_args()
    if not PACKAGE.is_dir():
        options.error(f"{PACKAGE} is not there: `make aten` builds it, and its import is timed")
    costs = {name: measure(name) for name in GENERATORS}
    ours, theirs = costs["opbind"], costs["torchgen"]
    for name, cost in costs.items():
        print(
            f"{name:9} {len(cost.files):2} files  {cost.seconds:5.0f} s CPU  {cost.memory:5.0f} MiB"
            f"  text {cost.text:,}  code {cost.code:,}"
        )
    ratios = {
        "build time": (ours.seconds / theirs.seconds, TIME_LIMIT),
        "text": (ours.text / theirs.text, TEXT_LIMIT),
        "code": (ours.code / theirs.code, TEXT_LIMIT),
    }
    for what, (ratio, limit) in ratios.items():
        verdict = "holds" if ratio <= limit else "MISSED"
        print(f"{what}: {ratio:.2f}x torchgen's, at most {limit}: {verdict}")
    took = import_time()
    print(f"import: {took:.1f} ms, under {IMPORT_LIMIT:.0f}: {took < IMPORT_LIMIT}")
    result = {**{name: asdict(cost) for name, cost in costs.items()}, "import ms": took}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
