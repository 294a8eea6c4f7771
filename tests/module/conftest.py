"""Puts the built example package where tests can import it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libraries
import programs
import pytest

REPO = Path(__file__).parents[2]
LIB = REPO / "build/demo/lib"

if not list(LIB.glob("demo_ops/_C.*")):
    raise pytest.UsageError(f"{LIB} holds no built demo_ops: run make build-demo")
sys.path.insert(0, str(LIB))

# Runs a program in a Python of its own, with the folders on its path; `-W error` is on.
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def lib() -> Path:
    """The folder to put on sys.path: the package, and the Python files of its fakes."""
    return LIB


@pytest.fixture(scope="session")
def package(lib: Path) -> Path:
    return lib / "demo_ops"


@pytest.fixture(scope="session")
def extension(package: Path) -> Path:
    (path,) = package.glob("_C.*.so")
    return path


@pytest.fixture(scope="session")
def objects() -> Any:
    """The library of tests/module/libraries/objects, with its hand-written functions."""
    module = libraries.imported("objects")
    module.install("objects_ops")
    return module


@pytest.fixture(scope="session")
def run_python() -> RunPython:
    """run_python(program, *folders): `folders` (by default the built one) go on its path."""

    def run(program: str, *folders: Path) -> subprocess.CompletedProcess[str]:
        return programs.run(program, *(folders or (LIB,)), flags=("-W", "error"))

    return run
