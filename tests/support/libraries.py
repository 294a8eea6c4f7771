"""Libraries that tests build for themselves, with the real generator and the real compiler.

    tests/module/libraries/faults/ops.yaml     the ops
    tests/module/libraries/faults/*.cpp        their kernels
    build/tests/faults/lib/faults_ops          the package, built when it is first asked for

What did not change is not compiled again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

REPO = Path(__file__).parents[2]
LIBRARIES = REPO / "tests/module/libraries"


@cache
def built(name: str) -> Path:
    """Builds the library of a folder of tests/module/libraries; what to put on sys.path."""
    folder = LIBRARIES / name
    return build(name, folder / "ops.yaml", sorted(folder.glob("*.cpp")))


def build(name: str, ops: Path, kernels: Sequence[Path]) -> Path:
    """Builds `ops` with `kernels` in build/tests/NAME."""
    target = REPO / "build/tests" / name
    command = [sys.executable, "-m", "opbind", "build", ops, *kernels]
    options = ["--out", target / "generated", "--build-dir", target]
    result = subprocess.run(
        list(map(str, [*command, *options])), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return target / "lib"
