"""The generator's stages may import only what stands before them; and no function grows long."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PACKAGE = REPO / "codegen/opbind"

# What each stage may import of the package; a helper of one stage stands before it. A new module
# gets a row here first.
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": set(),
    "errors": set(),
    "model": {"errors"},
    "cpp_text": set(),
    "fields": set(),
    "editor_schema": {"fields"},
    "reference": {"fields", "typemap"},
    "words": set(),
    "tokens": {"errors", "model"},
    "loader": {"errors", "model", "fields"},
    "reader": {"errors", "model", "tokens", "words"},
    "parser": {"errors", "model", "fields", "loader", "reader"},
    "typemap": {"errors", "model", "cpp_text"},
    "plan": {"errors", "model", "cpp_text", "typemap"},
    "verify": {"errors", "model", "typemap", "plan"},
    "render": {"errors", "model", "cpp_text", "typemap", "plan"},
    "writer": set(),
    "build": {"errors", "model", "plan", "writer"},
    "cli": {"errors", "loader", "parser", "plan", "verify", "render", "writer", "build"}
    | {"editor_schema", "reference"},
    "__main__": {"cli"},
}
# What each may import from outside the standard library.
THIRD_PARTY: dict[str, set[str]] = {
    "loader": {"yaml"},
    "render": {"jinja2"},
    "build": {"ninja"},
    "cli": {"click"},
}
LONGEST_FUNCTION = 60
FOLDERS = ("codegen", "tests", "benchmarks", "examples")

MODULES = sorted(PACKAGE.rglob("*.py"))


def _stage(path: Path) -> str:
    """The first name below the package: a stage may be a module or a folder."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(top-level name, whether it is the package's own); not what is inside the same stage."""
    depth = len(path.relative_to(PACKAGE).parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0], False
        elif isinstance(node, ast.ImportFrom) and node.level >= depth:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ((name.partition(".")[0], True) for name in names)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_only_what_stands_before(path: Path) -> None:
    stage = _stage(path)
    assert stage in MAY_IMPORT, f"{stage} has no row in MAY_IMPORT"
    for name, is_own in _imports(path):
        if is_own:
            assert name in MAY_IMPORT[stage] | {stage}, f"{stage} imports {name}"
        else:
            known = sys.stdlib_module_names | THIRD_PARTY.get(stage, set())
            assert name in known, f"{stage} imports {name} from outside"


def test_generating_never_imports_torch() -> None:
    program = "import sys, opbind.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_only_cli_prints() -> None:
    for path in MODULES:
        calls = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call))
        names = {n.func.id for n in calls if isinstance(n.func, ast.Name)}
        assert _stage(path) in ("cli", "__main__") or "print" not in names, path


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_function_is_long(folder: str) -> None:
    for path in sorted((REPO / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= LONGEST_FUNCTION, f"{path}:{node.lineno} {node.name}: {length}"
