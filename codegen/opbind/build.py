"""Generated files and kernels -> the extension, in a package that can be imported.

    BUILD_DIR/build.ninja             what is compiled from what; written anew, run by ninja
    BUILD_DIR/compile_commands.json   the same, for clang-tidy and editors
    BUILD_DIR/obj/                    objects, and the extension before it is checked
    BUILD_DIR/lib/, or LIB            goes on PYTHONPATH: the package, and the Python files of fakes

An extension is linked with its Python symbols undefined, so the linker cannot be told to refuse
what nobody defines: the check comes after, and only what passes it gets into the package. torch is
found, never imported.
"""

from __future__ import annotations

import compileall
import ctypes
import fcntl
import hashlib
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path

from ninja.ninja_syntax import Writer

from . import writer
from .errors import did_you_mean
from .plan import BindingPlan
from .plan.calls import aten_header
from .plan.check import location_of

_CPP_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".C"})
# For the runtime and what is generated.
_STRICT = ("-Wall", "-Wextra", "-Werror")
# How code is made.
CODE_FLAGS = (
    *("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"),
    # A call goes to torch and Python a dozen times: without the jump through a stub each.
    "-fno-plt",
    # As Python's own CFLAGS have it: without, torch's headers check what release builds do not.
    "-DNDEBUG",
)
_TORCH_LIBRARIES = ("torch_python", "torch", "torch_cpu", "c10")


class BuildError(Exception):
    """The extension was not built; the text says what to do about it."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is built, and where."""

    plan: BindingPlan
    # Folder of the generated files, and their paths below it.
    out: Path
    generated: tuple[str, ...]
    # The kernels' C++ files, and the Python files that go beside the package.
    sources: tuple[Path, ...]
    build_dir: Path
    # Compilers that run at once.
    jobs: int = 2
    # Folder of the package, unless it is that in the build folder.
    lib: Path | None = None

    @property
    def lib_dir(self) -> Path:
        return self.build_dir / "lib" if self.lib is None else self.lib


@dataclass(frozen=True, slots=True)
class Torch:
    """An installed torch, looked at from outside."""

    root: Path
    version: str

    @property
    def includes(self) -> tuple[Path, ...]:
        include = self.root / "include"
        return (include, include / "torch/csrc/api/include")

    @property
    def libraries(self) -> Path:
        return self.root / "lib"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What the machine compiles with."""

    # $CXX may hold words before the compiler: `ccache g++`.
    compiler: tuple[str, ...]
    python_include: Path
    # None where the library's host does without.
    torch: Torch | None


def build(request: Request) -> Path:
    """Compile what changed, check the result and put it into the package, whose folder is returned.

    Raises BuildError: no compiler, headers or torch; a source that does not compile; a kernel or
    another symbol that nothing defines; a disk that fails.
    """
    tools = find_toolchain(with_torch=request.plan.library.has_torch)
    if tools.torch is not None:
        check_torch_ops(request.plan, tools.torch)
    try:
        with only_build_in(request.build_dir):
            extension = _compile(request, tools)
            _check_symbols(request, tools, extension)
            return _install(request, tools, extension)
    except (OSError, writer.WriteError) as error:
        raise BuildError(f"the build folder failed: {error}") from error


@contextmanager
def only_build_in(folder: Path) -> Iterator[None]:
    """Wait for another build in `folder` to end: two at once would spoil ninja's log."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --- what the machine has ---------------------------------------------------------------------


def find_toolchain(*, with_torch: bool = True) -> Toolchain:
    """Raises BuildError that names what is missing and how it is usually installed."""
    compiler, include = _find_compiler(), _find_python_include()
    return Toolchain(compiler, include, find_torch() if with_torch else None)


def find_torch() -> Torch:
    """The torch that this Python would import, without importing it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise BuildError("torch is not installed for this Python: pip install torch")
    root = Path(spec.origin).parent
    try:
        text = (root / "version.py").read_text(encoding="utf-8")
    except OSError as error:
        raise BuildError(f"torch's version cannot be read: {error}") from error
    match = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    if match is None:
        raise BuildError(f"{root / 'version.py'} holds no __version__")
    if not (root / "include/ATen/core/Tensor.h").is_file():
        raise BuildError(f"torch at {root} has no C++ headers: install it from a wheel")
    return Torch(root, match[1])


def _find_compiler() -> tuple[str, ...]:
    try:
        named = shlex.split(os.environ.get("CXX", ""))
    except ValueError as error:
        raise BuildError(f"CXX cannot be read: {error}: {os.environ['CXX']}") from None
    for words in [named] if named else [["c++"], ["g++"], ["clang++"]]:
        # Options, and the words that belong to them, come after the programs.
        programs = takewhile(lambda word: not word.startswith("-"), words)
        if all(map(shutil.which, programs)):
            return tuple(words)
    if named:
        raise BuildError(f"the compiler that CXX names is not there: {shlex.join(named)}")
    raise BuildError(
        "no C++ compiler: install g++ 11 or later (Debian: apt install g++), or name one in CXX"
    )


def _find_python_include() -> Path:
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        raise BuildError(
            f"no Python.h in {include}: install Python's headers (Debian: apt install python3-dev)"
        )
    return include


def runtime_dir() -> Path:
    """The runtime's sources: in the installed package, or in the checkout it is linked to."""
    package = Path(__file__).resolve().parent
    for place in (package / "runtime", package.parents[1] / "csrc/runtime"):
        if place.is_dir():
            return place
    raise BuildError(f"the runtime's sources are missing from {package}: install opbind again")


def host_dir(host: str) -> Path:
    """The host's sources. Those of the null host lie with the tests, in a checkout alone."""
    runtime = runtime_dir()
    if host != "null":
        return runtime / host
    folder = runtime.parents[1] / "tests/null_host"
    if not folder.is_dir():
        raise BuildError("the null host is for opbind's own tests, and not installed")
    return folder


# --- torch's ops ------------------------------------------------------------------------------


def check_torch_ops(plan: BindingPlan, torch: Torch) -> None:
    """Raise BuildError that names the ops that are called and torch has not.

    The compiler would name a header, or a member of a namespace.
    """
    folder = torch.root / "include/ATen/ops"
    lost: set[tuple[int, str]] = set()
    for call in (call for function in plan.functions for call in function.calls):
        struct = call.torch_type.removesuffix("::schema").rpartition("::")[2]
        known = _declared_ops(folder / aten_header(call.op)) if struct else {}
        if struct and struct not in known:
            place, name = location_of(call.op), call.op.schema.name
            lost.add((place.line, f"  {place}: {name}{_torch_has(name.base, known, folder)}"))
    if lost:
        lines = [line for _, line in sorted(lost)]
        raise BuildError("\n".join([f"torch {torch.version} has no such ops:", *lines]))


@cache
def _declared_ops(header: Path) -> Mapping[str, str]:
    """Schemas by the structs of at::_ops that one header declares; none if it is not there."""
    try:
        text = header.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    pattern = r'struct TORCH_API (\w+) \{.*?schema_str = "((?:[^"\\]|\\.)*)"'
    return dict(re.findall(pattern, text, re.DOTALL))


def _torch_has(base: str, known: Mapping[str, str], folder: Path) -> str:
    """What the op's name may have meant."""
    names = sorted({schema.partition("(")[0] for schema in known.values()})
    if names:
        return f"; it has {', '.join(names)}"
    hint = did_you_mean(base, (path.name.removesuffix("_ops.h") for path in folder.glob("*_ops.h")))
    return f"; {hint}" if hint else ""


# --- compile ----------------------------------------------------------------------------------


def _compile(request: Request, tools: Toolchain) -> Path:
    """Run ninja; the extension, not yet checked."""
    folder = request.build_dir.resolve()
    extension = f"obj/_C{sysconfig.get_config_var('EXT_SUFFIX')}"
    writer.write_text(folder / "build.ninja", ninja_text(request, tools, extension))
    ninja = [sys.executable, "-m", "ninja", "-C", str(folder)]
    commands = subprocess.run([*ninja, "-t", "compdb", "cxx"], capture_output=True, text=True)
    # The first line says which folder ninja entered.
    listing = commands.stdout[commands.stdout.find("[") :]
    writer.write_text(folder / "compile_commands.json", listing)
    done = subprocess.run([*ninja, "-j", str(request.jobs), "--quiet"])
    if done.returncode:
        raise BuildError(f"{request.plan.library.module} does not compile; see above")
    return folder / extension


def ninja_text(request: Request, tools: Toolchain, extension: str) -> str:
    """build.ninja: one object for each source, and the extension from them.

    Outputs are named from the build folder, so that a copy of the folder has nothing to compile.
    """
    buffer = io.StringIO()
    ninja = Writer(buffer, width=100)
    ninja.variable("builddir", "obj")
    # What a make file calls by these names, for whoever needs more.
    for name in ("CXXFLAGS", "LDFLAGS"):
        ninja.variable(name, os.environ.get(name, "").replace("$", "$$"))
    # Of paths, where the writer escapes all other signs.
    ninja.variable("dollar", "$$")
    ninja.rule(
        "cxx",
        command=_command([*tools.compiler, *_compile_flags(request, tools)])
        + " $flags $CXXFLAGS -MD -MF $out.d -c $in -o $out",
        description="compile $in",
        depfile="$out.d",
        deps="gcc",
    )
    ninja.rule(
        "link",
        command=_command([*tools.compiler, "-shared", "-o"])
        + f" $out $in -Wl,--version-script=$rspfile {_command(_link_flags(tools))} $LDFLAGS",
        description="link $out",
        # Hidden visibility alone leaves what torch's headers and the C++ library mark as exported.
        rspfile="$out.exports",
        rspfile_content="{ global: PyInit__C; local: *; };",
    )
    sources = _cpp_sources(request)
    objects = [_ninja_path(_object(source)) for source in sources]
    for (source, flags), made in zip(sources.items(), objects, strict=True):
        given = _ninja_path(str(source))
        ninja.build(made, "cxx", given, variables={"flags": _command(flags)})
    ninja.build(extension, "link", objects)
    return buffer.getvalue()


def _ninja_path(path: str) -> str:
    return path.replace("$", "${dollar}")


def _cpp_sources(request: Request) -> dict[Path, tuple[str, ...]]:
    """What is compiled, with the flags that not all sources have.

    The runtime knows nothing of the library, so its objects are alike in all build folders.
    """
    folders = (runtime_dir() / "core", host_dir(request.plan.library.host))
    runtime = [path for folder in folders for path in sorted(folder.glob("*.cpp"))]
    generated = [request.out / path for path in request.generated if path.endswith(".cpp")]
    theirs = [path for path in request.sources if path.suffix != ".py"]
    strange = [str(path) for path in theirs if path.suffix not in _CPP_SUFFIXES]
    if strange:
        raise BuildError(f"no C++ or Python source by its name: {', '.join(strange)}")
    include = f"-I{request.out.resolve()}"
    # What warnings a library's own sources may have is their author's affair.
    groups = ((runtime, _STRICT), (generated, (*_STRICT, include)), (theirs, (include,)))
    # Named twice, it is compiled once.
    sources: dict[Path, tuple[str, ...]] = {
        path.resolve(): flags for paths, flags in groups for path in paths
    }
    for name in map(str, sources):
        if "|" in name or "\n" in name:
            raise BuildError(f"ninja can build from no path with | or a line's end in it: {name!r}")
    return sources


def _object(source: Path) -> str:
    # Two sources may have one name.
    digest = hashlib.sha1(str(source).encode()).hexdigest()[:8]
    return f"obj/{source.stem}-{digest}.o"


def _compile_flags(request: Request, tools: Toolchain) -> list[str]:
    torch = tools.torch
    ours = (runtime_dir(), host_dir(request.plan.library.host))
    # torch's headers do not pass -Wextra as our own.
    theirs = (*(torch.includes if torch else ()), tools.python_include)
    return [
        *CODE_FLAGS,
        # In the command so that another torch in the same place compiles everything anew.
        *([f'-DOPBIND_TORCH_VERSION="{torch.version}"'] if torch else ()),
        *(f"-I{path}" for path in ours),
        *(word for path in theirs for word in ("-isystem", str(path))),
    ]


def _link_flags(tools: Toolchain) -> list[str]:
    # No rpath: the package imports torch before the extension, which finds its libraries loaded.
    if tools.torch is None:
        return []
    return [f"-L{tools.torch.libraries}", *(f"-l{name}" for name in _TORCH_LIBRARIES)]


def _command(words: Iterable[str]) -> str:
    """Words for ninja's shell."""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str | Path) -> str:
    return shlex.quote(str(word)).replace("$", "$$")


# --- check ------------------------------------------------------------------------------------


def _check_symbols(request: Request, tools: Toolchain, extension: Path) -> None:
    """Raise BuildError if loading `extension` would miss a symbol, naming the ops it belongs to."""
    missing = [
        name for name in _undefined(extension, tools.torch) if not hasattr(ctypes.pythonapi, name)
    ]
    if missing:
        raise BuildError(describe_missing(request.plan, _demangled(missing)))


def _undefined(extension: Path, torch: Torch | None) -> list[str]:
    """Symbols that `extension` needs and none of its libraries has; Python's are among them."""
    libraries = [str(torch.libraries)] if torch else []
    paths = [*libraries, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    done = subprocess.run(
        ["ldd", "-r", str(extension)],
        capture_output=True,
        text=True,
        env={**os.environ, "LD_LIBRARY_PATH": ":".join(paths), "LC_ALL": "C"},
    )
    lost = re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)
    if lost:
        raise BuildError(f"libraries that are linked but not found: {', '.join(sorted(set(lost)))}")
    # glibc reports on both streams, by version; other libraries' own symbols are not ours to judge.
    lines = (done.stdout + done.stderr).splitlines()
    pattern = re.compile(rf"undefined symbol:\s+(\S+)\s+\({re.escape(str(extension))}\)")
    return sorted({match[1] for line in lines if (match := pattern.search(line))})


def _demangled(symbols: Sequence[str]) -> list[str]:
    tool = shutil.which("c++filt")
    if tool is None:
        return list(symbols)
    done = subprocess.run([tool], input="\n".join(symbols), capture_output=True, text=True)
    return done.stdout.splitlines()


def _declared_kernels(plan: BindingPlan) -> dict[str, str]:
    """What to say of each kernel that the author writes, by its qualified C++ name."""
    texts: dict[str, str] = {}
    for op in plan.own_ops:
        place = f"{op.op.location}: " if op.op.location else ""
        parameters = ", ".join(map(str, op.signature.parameters))
        for kernel in op.kernels:
            name = kernel.function.qualified
            head = f"  {place}{op.op.schema.name}, dispatch key {kernel.dispatch_key}: define"
            declaration = f"    {op.signature.return_type} {name}({parameters})"
            # A kernel may serve several keys.
            texts[name] = "\n".join(filter(None, [texts.get(name), head, declaration]))
    return texts


def describe_missing(plan: BindingPlan, symbols: Iterable[str]) -> str:
    """What to do about symbols (demangled) that nothing defines: the kernels among them by op."""
    kernels: dict[str, str] = {}
    others: list[str] = []
    declared = _declared_kernels(plan)
    for symbol in symbols:
        # `demo::scale_cpu(at::Tensor const&, double)`; a symbol that stays mangled is its own name.
        name = symbol.partition("(")[0]
        if name in declared:
            kernels[name] = declared[name]
        else:
            others.append(f"  {symbol}")
    parts = []
    if kernels:
        head = "these kernels are declared and nowhere defined (is a file missing from SOURCES?)"
        parts.append("\n".join([f"{head}:", *kernels.values()]))
    if others:
        head = (
            "these symbols are in no source and no library (add the file, or a library to LDFLAGS)"
        )
        parts.append("\n".join([f"{head}:", *others]))
    return "\n".join(parts)


# --- install ----------------------------------------------------------------------------------


def _install(request: Request, tools: Toolchain, extension: Path) -> Path:
    """Put the package together: what can be imported is always what passed the check."""
    module = request.plan.library.module
    package = request.lib_dir / module
    package.mkdir(parents=True, exist_ok=True)
    _remove_others(package, request.generated)
    for path in request.generated:
        if path.startswith(f"{module}/"):
            _copy(request.out / path, request.lib_dir / path)
    for source in request.sources:
        if source.suffix == ".py":
            _copy(source, request.lib_dir / source.name)
    _copy(extension, package / extension.name)
    writer.write_text(package / "_stamp.json", json.dumps(stamp(tools.torch)) + "\n")
    # Reading the Python files takes longer than loading the extension.
    compileall.compile_dir(package, quiet=2)
    return package


def _remove_others(package: Path, generated: Iterable[str]) -> None:
    """Modules of an earlier build, which would import what the extension has no more."""
    kept = {Path(path).name for path in generated}
    for pattern in ("*.py", "*.pyi"):
        for path in package.glob(pattern):
            if path.name not in kept:
                path.unlink()


def stamp(torch: Torch | None) -> Mapping[str, str]:
    """What the extension was built for; the package compares it with what it finds."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions = {"torch": torch.version} if torch else {}
    return {**versions, "python": python, "abi": sysconfig.get_config_var("SOABI")}


def _copy(source: Path, target: Path) -> None:
    """Replace `target` unless it holds the same; a process that has it loaded keeps the old one."""
    data = source.read_bytes()
    if target.is_file() and target.read_bytes() == data:
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        shutil.copymode(source, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
