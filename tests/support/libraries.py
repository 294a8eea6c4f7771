"""Libraries that tests build for themselves, with the real generator and the real compiler.

    tests/module/libraries/faults/ops.yaml     the ops
    tests/module/libraries/faults/*.cpp        their kernels
    tests/module/libraries/faults/linked/*     a C++ library of its own that the kernels link
    build/tests/faults/lib/faults_ops          the package, built when it is first asked for

What did not change is not compiled again, and the runtime not at all where the demo has it.
"""

from __future__ import annotations

import importlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from opbind.build import only_build_in

REPO = Path(__file__).parents[2]
LIBRARIES = REPO / "tests/module/libraries"
DEMO = REPO / "build/demo"


@cache
def built(name: str) -> Path:
    """Builds the library of a folder of tests/module/libraries; what to put on sys.path."""
    folder = LIBRARIES / name
    sources = sorted(folder.glob("linked/*.cpp"))
    flags = _linked(name, sources) if sources else ""
    return build(name, folder / "ops.yaml", sorted(folder.glob("*.cpp")), flags)


def imported(name: str) -> Any:
    """The package of such a library."""
    path = str(built(name))
    if path not in sys.path:
        sys.path.insert(0, path)
    return importlib.import_module(f"{name}_ops")


def build(
    name: str,
    ops: Path,
    kernels: Sequence[Path],
    link_flags: str = "",
    *,
    has_demos_host: bool = True,
) -> Path:
    """Builds `ops` with `kernels` in build/tests/NAME; `link_flags` join $LDFLAGS."""
    target = REPO / "build/tests" / name
    command = [sys.executable, "-m", "opbind", "build", ops, *kernels]
    options = ["--out", target / "generated", "--build-dir", target]
    if has_demos_host:
        _begin(target)
    flags = f"{os.environ.get('LDFLAGS', '')} {link_flags}".strip()
    _run([*command, *options], {**os.environ, "LDFLAGS": flags})
    return target / "lib"


def _begin(target: Path) -> None:
    """Copies the demo's objects into a new build folder: those of the runtime are the same."""
    with only_build_in(DEMO), only_build_in(target):
        if not (DEMO / "obj").is_dir() or (target / "obj").exists():
            return
        # A copy that is cut off must not look whole; ninja goes by the times, which are kept.
        with TemporaryDirectory(dir=target) as folder:
            copy = shutil.copytree(DEMO / "obj", Path(folder) / "obj")
            copy.rename(target / "obj")


def _linked(name: str, sources: Sequence[Path]) -> str:
    """Builds a shared library with hidden visibility; the linker's flags for it."""
    target = REPO / "build/tests" / name
    target.mkdir(parents=True, exist_ok=True)
    compiler = shlex.split(os.environ.get("CXX", "")) or ["c++"]
    options = ["-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden"]
    _run([*compiler, *options, *sources, "-o", target / f"lib{name}_linked.so"], {**os.environ})
    return f"-L{target} -l{name}_linked -Wl,-rpath,{target}"


def _run(command: Sequence[object], environment: dict[str, str]) -> None:
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, env=environment
    )
    assert result.returncode == 0, result.stdout + result.stderr
