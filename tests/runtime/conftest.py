"""Builds the echo library and imports it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import echo_library
import programs
import pytest
from echo_library import RunPython
from echo_zoo import Keeper


@pytest.fixture(scope="session")
def echo_lib() -> Path:
    """The folder with the package."""
    return echo_library.built()


@pytest.fixture(scope="session")
def echo(echo_lib: Path) -> ModuleType:
    sys.path.insert(0, str(echo_lib))
    return importlib.import_module(echo_library.MODULE)


@pytest.fixture(scope="session")
def null_host(echo: ModuleType) -> ModuleType:
    """The host's own module, with its types."""
    return sys.modules["null_host"]


@pytest.fixture(scope="session")
def keeper(echo: ModuleType) -> Keeper:
    return Keeper()


@pytest.fixture(scope="session")
def run_python(echo_lib: Path) -> RunPython:
    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return programs.run(program, echo_lib, flags=("-W", "error"), variables=environment)

    return run
