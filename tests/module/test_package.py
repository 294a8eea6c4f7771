"""The built package: its symbols, its includes, and what it says where it cannot be loaded."""

from __future__ import annotations

import ctypes
import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

Run = Callable[..., "subprocess.CompletedProcess[str]"]

REPO = Path(__file__).parents[2]
BUILD = REPO / "build/demo"
GENERATED = REPO / "csrc/generated"
RUNTIME = REPO / "csrc/runtime"
# What an extension of torch links; everything else it needs is Python's.
LIBRARIES = {"libtorch_python.so", "libtorch.so", "libtorch_cpu.so", "libc10.so"}
SYSTEM_LIBRARIES = re.compile(r"(libstdc\+\+|libm|libgcc_s|libc|ld-linux[\w-]*)\.so\.\d")


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# --- symbols ----------------------------------------------------------------------------------


def _undefined(extension: Path) -> set[str]:
    """Without the weak ones: gcc's own hooks, which may be missing."""
    lines = _output("nm", "-D", "--undefined-only", extension).splitlines()
    return {line.split()[1].partition("@")[0] for line in lines if line.split()[0] == "U"}


def test_nothing_of_torchs_argument_parser(extension: Path) -> None:
    names = _output("nm", "-D", "--undefined-only", "--demangle", extension)
    assert "THPVariable_Wrap" in names
    assert "PythonArg" not in names
    assert "FunctionSignature" not in names


def test_only_the_init_function_is_exported(extension: Path) -> None:
    lines = _output("nm", "-D", "--defined-only", extension).splitlines()
    assert [line.split()[-1] for line in lines] == ["PyInit__C"]


def _dynamic_tags(extension: Path, kind: str) -> list[str]:
    with extension.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if isinstance(section, DynamicSection):
                return [getattr(tag, kind.lower()) for tag in section.iter_tags(f"DT_{kind}")]
    return []


def test_links_torch_and_the_compilers_libraries_alone(extension: Path) -> None:
    needed = _dynamic_tags(extension, "NEEDED")
    others = [name for name in needed if not SYSTEM_LIBRARIES.fullmatch(name)]
    assert "libtorch_cpu.so" in others
    assert set(others) <= LIBRARIES


@pytest.mark.parametrize("kind", ["RPATH", "RUNPATH"])
def test_no_path_of_the_building_machine(extension: Path, kind: str) -> None:
    assert _dynamic_tags(extension, kind) == []


def test_every_undefined_symbol_is_pythons_or_a_linked_librarys(extension: Path) -> None:
    folder = Path(torch.__file__).parent / "lib"
    names = _dynamic_tags(extension, "NEEDED")
    libraries = [ctypes.CDLL(str(folder / n) if (folder / n).exists() else n) for n in names]
    undefined = _undefined(extension)
    assert "PyErr_SetString" in undefined
    places = [ctypes.pythonapi, *libraries]
    assert [n for n in sorted(undefined) if not any(hasattr(p, n) for p in places)] == []


# --- includes ---------------------------------------------------------------------------------

# The only sources that may include what is under torch/csrc.
HEAVY = ("runtime/torch/autograd.cpp", "generated/demo_ops_register.cpp")


def _commands() -> Iterator[tuple[Path, str]]:
    """Every source of the extension, as the build compiles it."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        yield Path(entry["file"]), entry["command"]


def _light() -> list[tuple[Path, str]]:
    return [(p, command) for p, command in _commands() if not p.as_posix().endswith(HEAVY)]


def _included(command: str) -> str:
    """What `g++ -M` prints: every file that the source includes."""
    words = shlex.split(command)
    words = words[: words.index("-MD")] + words[words.index("-c") :]
    # The source follows; the object file, which comes last, stays as it is.
    words[words.index("-c") : words.index("-c") + 1] = ["-M"]
    return _output(*words[: words.index("-o")])


def test_light_sources_are_all_but_two() -> None:
    """What the test below covers: shards, module, core, host and kernels."""
    light = {path for path, _ in _light()}
    expected = {
        *GENERATED.glob("demo_ops_functions_*.cpp"),
        GENERATED / "demo_ops_module.cpp",
        *(RUNTIME / "core").glob("*.cpp"),
        *(RUNTIME / "torch").glob("*.cpp"),
        *(REPO / "csrc/kernels").glob("*.cpp"),
    }
    assert light == {path.resolve() for path in expected} - {RUNTIME / "torch/autograd.cpp"}
    assert len(light) == len(list(_commands())) - len(HEAVY)


@pytest.mark.parametrize("source", _light(), ids=lambda s: s[0].name)
def test_light_source_includes_nothing_under_torch_csrc(source: tuple[Path, str]) -> None:
    included = _included(source[1])
    assert str(source[0]) in included
    assert re.findall(r"\S*torch/csrc/\S*", included) == []


# --- what is said where it cannot be loaded ---------------------------------------------------

IMPORT = """
try:
    import demo_ops
except ImportError as error:
    print(type(error).__name__, error, sep=": ")
else:
    print("imported")
"""


@pytest.fixture
def copied(lib: Path, tmp_path: Path) -> Path:
    """A copy of the folder that is on sys.path, to spoil."""
    copy = tmp_path / "lib"
    shutil.copytree(lib, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _restamp(copied: Path, **values: str) -> None:
    path = copied / "demo_ops/_stamp.json"
    stamp: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert set(values) <= set(stamp)
    path.write_text(json.dumps(stamp | values), encoding="utf-8")


def test_a_copy_of_the_package_works_anywhere(copied: Path, run_python: Run) -> None:
    done = run_python(IMPORT, copied)
    assert (done.stdout, done.stderr) == ("imported\n", "")


def test_the_file_name_carries_pythons_abi(extension: Path) -> None:
    assert extension.name == f"_C{sysconfig.get_config_var('EXT_SUFFIX')}"


def test_the_stamp_says_what_it_was_built_for(package: Path) -> None:
    stamp = json.loads((package / "_stamp.json").read_text(encoding="utf-8"))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    abi = sysconfig.get_config_var("SOABI")
    assert stamp == {"torch": torch.__version__, "python": python, "abi": abi}


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"torch": "1.2.3"}, torch.__version__),
        ({"python": "3.99"}, f"{sys.version_info.major}.{sys.version_info.minor}"),
        ({"abi": "cpython-399"}, sysconfig.get_config_var("SOABI")),
    ],
    ids=["torch", "python", "abi"],
)
def test_another_stamp_is_an_import_error_with_both_values(
    copied: Path, run_python: Run, values: dict[str, str], found: str
) -> None:
    _restamp(copied, **values)
    done = run_python(IMPORT, copied)
    assert done.stdout.startswith("ImportError: demo_ops "), done.stderr
    (built,) = values.values()
    assert built in done.stdout
    assert found in done.stdout


@pytest.mark.parametrize(
    "content", [None, "no json", "{}", "[]"], ids=["missing", "spoilt", "empty", "list"]
)
def test_a_bad_stamp_is_an_import_error(copied: Path, run_python: Run, content: str | None) -> None:
    stamp = copied / "demo_ops/_stamp.json"
    stamp.unlink()
    if content is not None:
        stamp.write_text(content, encoding="utf-8")
    done = run_python(IMPORT, copied)
    assert done.stdout.startswith("ImportError: demo_ops is not built (_stamp.json: "), done.stderr
    assert "opbind build" in done.stdout
    assert content is not None or "_stamp.json" in done.stdout


def test_a_missing_extension_is_an_import_error(copied: Path, run_python: Run) -> None:
    next(copied.glob("demo_ops/_C.*.so")).unlink()
    done = run_python(IMPORT, copied)
    assert re.match(r"ImportError: demo_ops\b", done.stdout), done.stderr
    assert "_C" in done.stdout


def test_a_missing_fake_is_an_import_error(copied: Path, run_python: Run) -> None:
    (copied / "demo_fakes.py").unlink()
    done = run_python(IMPORT, copied)
    assert re.match(r"ImportError: demo_ops\b", done.stdout), done.stderr
    assert "demo_fakes" in done.stdout


BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def test_without_torch_is_an_import_error_that_names_it(run_python: Run) -> None:
    done = run_python(BLOCKED.format(name="torch") + IMPORT)
    assert re.match(r"ImportError: demo_ops\b", done.stdout), done.stderr
    assert "torch" in done.stdout


def test_opbind_is_not_needed_where_the_module_runs(run_python: Run) -> None:
    program = "import demo_ops, torch; print(demo_ops.scale(torch.ones(2), 3.0).tolist())"
    done = run_python(BLOCKED.format(name="opbind") + program)
    assert done.stdout == "[3.0, 3.0]\n", done.stderr


def test_import_order_does_not_matter(run_python: Run) -> None:
    """The package imports torch itself, before its extension."""
    program = "import sys, demo_ops; print('torch' in sys.modules, demo_ops.take.__module__)"
    done = run_python(program)
    assert done.stdout.startswith("True "), done.stderr


def test_the_extension_alone_says_that_torch_comes_first(extension: Path, run_python: Run) -> None:
    """Without the package nothing has loaded torch's libraries: an ImportError, no crash."""
    program = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("_C", {str(extension)!r})
try:
    importlib.util.module_from_spec(spec)
except ImportError as error:
    print(error)
"""
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert "torch" in done.stdout


# --- what the build refuses -------------------------------------------------------------------


KERNEL_SIGNATURES = """
#include "demo_ops_kernels.h"
at::Tensor demo::scale_cpu(const at::Tensor& self, double) { return self; }
at::Tensor demo::scale_meta(const at::Tensor& self, float) { return self; }
"""


def test_a_kernel_of_another_signature_does_not_compile(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cpp"
    source.write_text(KERNEL_SIGNATURES, encoding="utf-8")
    command = next(c for p, c in _commands() if p.name == "scale.cpp")
    words = shlex.split(command)
    done = subprocess.run(
        [*words[: words.index("-MD")], "-fsyntax-only", str(source)],
        capture_output=True,
        text=True,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )
    # The third line is right, the fourth is not.
    assert re.findall(r"kernel\.cpp:(\d+):\d+: error", done.stderr) == ["4"], done.stderr
    assert "scale_meta" in done.stderr
