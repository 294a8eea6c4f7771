"""core knows Python only: it compiles without torch, in the full API and in the limited one."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "csrc" / "runtime" / "core"
CXX = os.environ.get("CXX", "g++").split()
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"]
INCLUDES = [
    f"-isystem{sysconfig.get_path('include')}",
    f"-I{ROOT / 'csrc' / 'runtime'}",
    f"-I{ROOT / 'tests' / 'null_host'}",
]
LIMITED = "-DPy_LIMITED_API=0x030A0000"


def compile_source(source: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [*CXX, *FLAGS, *INCLUDES, *flags, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("api", [(), (LIMITED,)], ids=["full-api", "limited-api"])
@pytest.mark.parametrize("source", sorted(CORE.glob("*.cpp")), ids=lambda p: p.name)
def test_source_compiles_on_the_null_host(source: Path, api: tuple[str, ...]) -> None:
    result = compile_source(source, "-fsyntax-only", *api)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("header", sorted(CORE.glob("*.h")), ids=lambda p: p.name)
def test_header_stands_alone(header: Path, tmp_path: Path) -> None:
    source = tmp_path / "alone.cpp"
    source.write_text(f'#include "core/{header.name}"\n')
    result = compile_source(source, "-fsyntax-only")
    assert result.returncode == 0, result.stderr


# The order of runtime.h, which is the law: a header includes only earlier ones.
ORDER = re.findall(r'#include "core/(\w+\.h)"', (CORE / "runtime.h").read_text())


def test_every_header_has_its_place() -> None:
    assert {p.name for p in CORE.glob("*.h")} == {*ORDER, "runtime.h"}


@pytest.mark.parametrize("header", ORDER)
def test_header_includes_only_earlier_ones(header: str) -> None:
    included = re.findall(r'#include "core/(\w+\.h)"', (CORE / header).read_text())
    assert set(included) <= set(ORDER[: ORDER.index(header)])


@pytest.mark.parametrize("source", sorted(CORE.glob("*.*")), ids=lambda p: p.name)
def test_core_names_python_in_one_place_and_torch_nowhere(source: Path) -> None:
    includes = re.findall(r"#include [<\"]([^>\"]+)[>\"]", source.read_text())
    assert ("Python.h" in includes) == (source.name == "python.h")
    assert not [name for name in includes if name.startswith(("torch/", "ATen/", "c10/"))]


def test_limited_api_is_really_limited() -> None:
    """A probe that must fail, so that the flag is known to work."""
    probe = ROOT / "tests" / "runtime" / "needs_full_api.cpp"
    assert compile_source(probe, "-fsyntax-only").returncode == 0
    assert compile_source(probe, "-fsyntax-only", LIMITED).returncode != 0


# --- the C++ of docs/building.md ------------------------------------------------------------------

PAGE = (ROOT / "docs/building.md").read_text()


def test_the_binding_by_hand_compiles(tmp_path: Path) -> None:
    (example,) = re.findall(r"```cpp\n(.*?)```", PAGE.partition("## Binding by hand")[2], re.S)
    source = tmp_path / "by_hand.cpp"
    source.write_text(example)
    result = compile_source(source, "-fsyntax-only")
    assert result.returncode == 0, result.stderr


def test_the_kernel_that_calls_python_compiles(tmp_path: Path) -> None:
    (example,) = re.findall(r"```cpp\n(#include[^`]*int64_t mine::[^`]*)```", PAGE)
    head = "#include <mutex>\nstd::mutex mutex;\nint64_t ask_python(int64_t);\n"
    declared = "namespace mine { int64_t lock_and_call(int64_t x); }\n"
    source = tmp_path / "locks.cpp"
    source.write_text(example.replace("\n\n", f"\n{head}{declared}", 1))
    result = compile_source(source, "-fsyntax-only")
    assert result.returncode == 0, result.stderr
