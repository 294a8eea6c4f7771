"""The build: what it asks of the machine, what it says when something is missing, the wheel."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from opbind import build
from opbind.build import BuildError
from opbind.cli import main

REPO = Path(__file__).parents[2]
DEMO = REPO / "build/demo"
KERNELS = sorted((REPO / "csrc/kernels").glob("*.[cp][py]*"))

HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="needs torch, which this Python has not")
needs_demo = pytest.mark.skipif(
    not HAS_TORCH or not (DEMO / "lib/demo_ops/_stamp.json").exists(),
    reason="needs torch and build/demo: make test",
)

Build = Callable[[list[Path]], Result]


@pytest.fixture
def rebuild(tmp_path: Path) -> Build:
    """Builds the demo again in a copy of its build folder, where nothing is left to compile."""
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder)
    shutil.rmtree(folder / "lib")

    def run(sources: list[Path]) -> Result:
        words = ["build", REPO / "ops.yaml", "--out", REPO / "csrc/generated"]
        words += ["--build-dir", folder, "--jobs", "1", *sources]
        return CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)

    return run


@needs_demo
def test_the_package_goes_where_it_shall(tmp_path: Path) -> None:
    folder, lib = tmp_path / "demo", tmp_path / "elsewhere"
    shutil.copytree(DEMO, folder)
    stale = lib / "demo_ops/linalg.py"
    stale.parent.mkdir(parents=True)
    stale.write_text("from ._C import what_is_no_more")
    words = ["build", REPO / "ops.yaml", "--out", REPO / "csrc/generated", "--lib", lib]
    words += ["--build-dir", folder, "--jobs", "1", *KERNELS]
    result = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{lib / 'demo_ops'}\n"
    assert (lib / "demo_ops/_stamp.json").is_file() and (lib / "demo_fakes.py").is_file()
    assert not stale.exists()
    # Reading the Python files would take longer than loading the extension.
    assert list((lib / "demo_ops/__pycache__").glob("__init__.*.pyc"))


@needs_demo
def test_the_package_holds_what_it_needs(rebuild: Build, tmp_path: Path) -> None:
    objects = {path: path.stat().st_mtime_ns for path in (tmp_path / "demo/obj").glob("*.o")}
    result = rebuild(KERNELS)
    assert result.exit_code == 0, result.output
    package = tmp_path / "demo/lib/demo_ops"
    assert result.stdout == f"{package}\n"
    assert {path: path.stat().st_mtime_ns for path in objects} == objects, "compiled again"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    assert sorted(path.name for path in package.iterdir()) == sorted(
        [f"_C{suffix}", "__init__.py", "__init__.pyi", "__pycache__", "_stamp.json", "py.typed"]
    )
    assert (package.parent / "demo_fakes.py").is_file()
    assert json.loads((package / "_stamp.json").read_text()) == build.stamp(build.find_torch())


@needs_demo
def test_a_missing_kernel_fails_and_names_its_op(rebuild: Build, tmp_path: Path) -> None:
    result = rebuild([path for path in KERNELS if path.name != "nms.cpp"])
    assert result.exit_code == 1
    assert "demo::nms" in result.stderr or ": nms, " in result.stderr
    assert "dispatch key CPU: define" in result.stderr
    assert (
        "at::Tensor demo::nms_cpu(const at::Tensor& boxes, const at::Tensor& scores, "
        "double iou_threshold)" in result.stderr
    )
    assert not (tmp_path / "demo/lib").exists(), "what does not load must not be importable"


@needs_demo
def test_another_missing_symbol_is_named(rebuild: Build, tmp_path: Path) -> None:
    source = tmp_path / "more.cpp"
    source.write_text("int nowhere(int);\nint here(int x) { return nowhere(x); }\n")
    source.write_text(source.read_text() + "int (*keep)(int) = here;\n")
    result = rebuild([*KERNELS, source])
    assert result.exit_code == 1
    assert "in no source and no library" in result.stderr
    assert "nowhere(int)" in result.stderr


@needs_demo
def test_a_source_that_does_not_compile(rebuild: Build, tmp_path: Path) -> None:
    source = tmp_path / "wrong.cpp"
    # A kernel of another signature than the one that was generated.
    source.write_text('#include "demo_ops_kernels.h"\nvoid demo::scale_cpu(int) {}\n')
    result = rebuild([*KERNELS, source])
    assert result.exit_code == 1
    assert "demo_ops does not compile" in result.stderr


WRONG_OPS = """\
library: {namespace: n, module: wrong_ops}
functions:
- func: add.Tensor(Tensor self, Tensor other, *, int alpha=1) -> Tensor
- func: addd(Tensor self) -> Tensor
- func: add.Tensr(Tensor self, Tensor other) -> Tensor
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
"""


@needs_torch
def test_ops_that_torch_has_not_are_named(tmp_path: Path) -> None:
    ops = tmp_path / "ops.yaml"
    ops.write_text(WRONG_OPS)
    words = ["build", ops, "--out", tmp_path / "out", "--build-dir", tmp_path / "build"]
    result = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    assert result.exit_code == 1
    head, *lines = result.stderr[result.stderr.index("opbind build:") :].splitlines()
    assert head == f"opbind build: torch {build.find_torch().version} has no such ops:"
    assert lines == [
        f"  {ops}:4:9: addd; did you mean 'add'?",
        f"  {ops}:5:9: add.Tensr; it has add.Scalar, add.Scalar_out, add.Tensor, add.out, "
        "add_.Scalar, add_.Tensor",
    ]
    assert not (tmp_path / "build").exists(), "nothing was compiled"


@needs_torch
def test_a_schema_that_differs_from_torchs_does_not_compile(tmp_path: Path) -> None:
    from opbind import cli

    ops = tmp_path / "ops.yaml"
    known = [
        line for line in WRONG_OPS.splitlines(True) if "addd" not in line and "Tensr" not in line
    ]
    ops.write_text("".join(known))
    generated = cli._generated(cli.Input(ops))
    request = build.Request(generated.plan, tmp_path, (), (), tmp_path / "build")
    build.check_torch_ops(request.plan, build.find_torch())
    (shard,) = (file for file in generated.files if "functions" in file.path)
    source = tmp_path / shard.path
    source.write_text(shard.text)
    tools = build.find_toolchain()
    flags = [*build._compile_flags(request, tools), f"-I{tmp_path}"]
    command = [*tools.compiler, *flags, "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    asserted = [line for line in done.stderr.splitlines() if "static assertion" in line]
    (line,) = asserted
    assert "add.Tensor has other types in torch" in line


STRANGE = (Path("k $1.cpp"), Path("$x/a$ b:c '\"$$.cpp"))


def ninja_text(
    monkeypatch: pytest.MonkeyPatch,
    ops: Path = REPO / "ops.yaml",
    sources: tuple[Path, ...] = STRANGE,
) -> str:
    from opbind import cli

    monkeypatch.setenv("CXX", "c++")
    generated = cli._generated(cli.Input(ops))
    paths = tuple(file.path for file in generated.files)
    request = build.Request(generated.plan, Path("out $dir"), paths, sources, Path("b"))
    tools = build.find_toolchain(with_torch=generated.plan.library.has_torch)
    return build.ninja_text(request, tools, "obj/_C.so")


@needs_torch
def test_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(ninja_text(monkeypatch).replace("$\n", "").split())
    for flag in (
        *("-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"),
        f"-isystem {build.find_torch().root / 'include'}",
    ):
        assert flag in text
    assert "rpath" not in text
    assert f"-I{build.find_torch().root}" not in text


@needs_torch
def test_paths_of_all_kinds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "build.ninja").write_text(ninja_text(monkeypatch))
    command = [sys.executable, "-m", "ninja", "-C", str(tmp_path), "-t", "commands"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    compiled = [shlex.split(line) for line in done.stdout.splitlines() if " -c " in line]
    sources = {words[words.index("-c") + 1] for words in compiled}
    assert {str(path.resolve()) for path in STRANGE} <= sources
    includes = {word for words in compiled for word in words if word.endswith("$dir")}
    assert includes == {f"-I{Path('out $dir').resolve()}"}


@needs_torch
def test_a_path_that_ninja_cannot_have(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BuildError, match=r"no path with \| .*a\|b\.cpp"):
        ninja_text(monkeypatch, sources=(Path("a|b.cpp"),))


def test_a_compiler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "ccache no-such-compiler")
    with pytest.raises(BuildError, match=r"CXX names is not there: .*no-such-compiler"):
        build.find_toolchain()


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match=r"no C\+\+ compiler: install g\+\+"):
        build.find_toolchain()


def test_no_python_headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(BuildError, match=r"no Python\.h in .*python3-dev"):
        build.find_toolchain()


def test_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BuildError, match="pip install torch"):
        build.find_torch()


def test_the_null_host_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert (build.host_dir("null") / "host.h").is_file()
    monkeypatch.setattr(build, "runtime_dir", lambda: tmp_path / "opbind/runtime")
    with pytest.raises(BuildError, match="for opbind's own tests, and not installed"):
        build.host_dir("null")


def test_a_library_on_the_null_host_is_built_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    text = ninja_text(monkeypatch, REPO / "tests/codegen/cases/null_library/ops.yaml")
    assert "null_host" in text
    assert "torch" not in text.replace("torch_function", "")


@needs_torch
def test_torch_is_found_without_importing_it() -> None:
    program = (
        "import sys; from opbind import build; build.find_torch(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="needs the wheel's backend")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", str(folder), str(REPO)], check=True)
    (path,) = folder.iterdir()
    return path


def test_the_wheel_is_pure_and_whole(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, inside in (("codegen/opbind", "opbind"), ("templates", "opbind/templates")):
        sources = (path for path in (REPO / folder).rglob("*") if path.suffix in (".py", ".j2"))
        assert {f"{inside}/{path.relative_to(REPO / folder)}" for path in sources} <= names
    runtime = [path for path in (REPO / "csrc/runtime").rglob("*") if path.is_file()]
    assert {f"opbind/runtime/{p.relative_to(REPO / 'csrc/runtime')}" for p in runtime} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]


def test_the_wheel_generates_the_same(wheel: Path, tmp_path: Path) -> None:
    """Installed elsewhere: templates and runtime come from the package, not from the checkout."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "opbind", "gen", str(REPO / "ops.yaml"), "--out"]
    command += [str(REPO / "csrc/generated"), "--check"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    program = "from opbind import build; print(build.runtime_dir())"
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)
    assert found.stdout.decode().strip() == str(tmp_path / "site/opbind/runtime")
