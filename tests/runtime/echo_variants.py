"""The tests of the runtime with an echo library built in another way.

    make sanitize        sanitized: AddressSanitizer, LeakSanitizer, UBSan
    make coverage        coverage: then the lines of core that were reached
    make test-limited    limited: core and host with Py_LIMITED_API

Each runs this file with the variant's name. Further words go to pytest.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import libraries

HERE = Path(__file__).parent
CORE = libraries.REPO / "csrc/runtime/core"

# Compiles in a way of its own, and calls nothing.
_NO_ECHO = HERE / "test_core_compiles.py"


@dataclass(frozen=True, slots=True)
class Variant:
    """How the library is compiled and linked."""

    compile: str
    link: str = ""

    def environment(self) -> dict[str, str]:
        flags = {"CXXFLAGS": self.compile, "LDFLAGS": self.link}
        return {name: f"{os.environ.get(name, '')} {value}" for name, value in flags.items()}


_SANITIZERS = "-fsanitize=address,undefined"
VARIANTS = {
    "sanitized": Variant(
        f"{_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g", _SANITIZERS
    ),
    # Counters that threads may share.
    "coverage": Variant("--coverage -fprofile-update=atomic -O0 -g", "--coverage"),
    "limited": Variant("-DPy_LIMITED_API=0x030A0000 -O1"),
}


def main(words: Sequence[str]) -> int:
    name, *more = words
    tests = HERE.parent
    folders = (HERE, tests / "support", tests / "codegen", libraries.REPO / "codegen")
    paths = {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    library = _build(name, paths)
    if name == "coverage":
        _forget(library.parent)
    is_sanitized = name == "sanitized"
    extra = ["-p", "leak_watch", str(HERE / "sanitized_echo.py")] if is_sanitized else []
    pytest = [sys.executable, "-m", "pytest", str(HERE), f"--ignore={_NO_ECHO}", *extra, *more]
    environment = {**os.environ, **paths, "OPBIND_ECHO": str(library)}
    if is_sanitized:
        environment |= _sanitizers()
    done = subprocess.run(pytest, env=environment)
    if name == "coverage" and done.returncode == 0:
        return _report(library.parent)
    return done.returncode


def _build(name: str, paths: dict[str, str]) -> Path:
    program = f"import echo_library; print(echo_library.build('echo-{name}'))"
    built = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **paths, **VARIANTS[name].environment()},
        stdout=subprocess.PIPE,
        text=True,
    )
    if built.returncode:
        raise SystemExit(built.returncode)
    return Path(built.stdout.splitlines()[-1])


# --- sanitizers -----------------------------------------------------------------------------------


_ASAN_OPTIONS = ("detect_leaks=1", "detect_stack_use_after_return=1")


def _sanitizers() -> dict[str, str]:
    return {
        # Python itself is not instrumented: the sanitizers' libraries must be there before it.
        "LD_PRELOAD": " ".join(_library(f"lib{kind}.so") for kind in ("asan", "ubsan")),
        # Python's own allocator would hide what becomes of an object.
        "PYTHONMALLOC": "malloc",
        # Where a leak was taken is shown with fast_unwind_on_malloc=0, ten times as slow.
        "ASAN_OPTIONS": ":".join([*_ASAN_OPTIONS, os.environ.get("ASAN_OPTIONS", "")]),
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def _library(name: str) -> str:
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    command = [*compiler, f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# --- coverage -------------------------------------------------------------------------------------


# Percent of core's lines. What is left are failures of Python's own, such as want of memory.
_LEAST_COVERAGE = 95


def _forget(folder: Path) -> None:
    """What earlier runs have counted."""
    for path in folder.rglob("*.gcda"):
        path.unlink()


def _report(folder: Path) -> int:
    """Lines of core that the tests reach. Templates are counted once, however often made."""
    gcovr = [sys.executable, "-m", "gcovr", "--root", str(CORE), "--filter", f"{CORE}/"]
    options = ["--merge-lines", "--exclude-throw-branches", f"--fail-under-line={_LEAST_COVERAGE}"]
    # An object may be left whose source is gone.
    gone = [f"--gcov-ignore-errors={e}" for e in ("source_not_found", "no_working_dir_found")]
    return subprocess.run([*gcovr, *options, *gone, str(folder / "obj")], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
