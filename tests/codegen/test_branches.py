"""Every branch of the C++ templates, and every way to write a piece of C++, is in a golden case.

Which is to say: reviewed as text, and compiled. Of the files that the cases pin, as many are
compiled as it takes for every branch and every line to be in one.
"""

from __future__ import annotations

import inspect
import shlex
import shutil
import subprocess
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
import template_branches as branches
from opbind import loader, parser
from opbind.errors import Diagnostics
from opbind.plan import BindingPlan, EntryKind, ResultKind, plan
from opbind.render import functions, registration, render, template_files
from template_branches import Branch

REPO = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"
# Those that pin C++.
PINNING = sorted({path.parents[1].name for path in CASES.glob("*/out/*.cpp")})
TEMPLATES = [path for path in template_files() if path.name.endswith((".cpp.j2", ".h.j2"))]
# Where the pieces of C++ are written that a template puts in their places.
WRITERS: dict[str, ModuleType] = {
    "functions.cpp.j2": functions,
    "register.cpp.j2": registration,
}


@cache
def planned(case: str) -> BindingPlan:
    diagnostics = Diagnostics()
    raw = loader.read_file(CASES / case / "ops.yaml", diagnostics)
    made = plan(parser.parse_file(raw, diagnostics), diagnostics)
    assert not diagnostics.has_errors
    return made


def _path(module: ModuleType) -> Path:
    return Path(inspect.getfile(module))


@cache
def _lines_run(case: str, module: ModuleType) -> frozenset[int]:
    with branches.lines_run(_path(module)) as run:
        render(planned(case))
    return frozenset(run)


@cache
def taken(template: str) -> dict[Path, frozenset[Branch]]:
    """Pinned file -> the branches of `template` that its text went through, and lines as such."""
    found: dict[Path, frozenset[Branch]] = {}
    with branches.instrumented():
        for case in PINNING:
            files = {CASES / case / "out" / file.path: file for file in render(planned(case))}
            found |= {
                path: frozenset(branches.taken(file.text)) | _lines(case, template)
                for path, file in files.items()
                if path.exists() and f"with {template}" in file.text
            }
    return found


def _lines(case: str, template: str) -> set[Branch]:
    module = WRITERS.get(template)
    if module is None:
        return set()
    path = _path(module)
    wanted = branches.lines_of_functions(path)
    return {Branch(path.name, line, "line") for line in _lines_run(case, module) & wanted}


# --- cases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_branch_of_a_template_is_in_a_golden_case(template: Path) -> None:
    missing = branches.all_of(template).difference(*taken(template.name).values())
    assert not missing, "no golden case takes " + ", ".join(map(str, sorted(missing)))


def test_every_kind_of_function_is_in_a_golden_case() -> None:
    made = [function for case in PINNING for function in planned(case).functions]
    assert {function.entry for function in made} == set(EntryKind)
    assert {call.result for function in made for call in function.calls} == set(ResultKind)


@pytest.mark.parametrize("template", WRITERS)
def test_every_line_that_writes_cpp_runs_for_a_golden_case(template: str) -> None:
    path = _path(WRITERS[template])
    run = {one.line for found in taken(template).values() for one in found if one.kind == "line"}
    lines = path.read_text(encoding="utf-8").split("\n")
    missing = sorted(branches.lines_of_functions(path) - run)
    shown = [f"{path.name}:{number}: {lines[number - 1].strip()}" for number in missing]
    assert not missing, "no golden case runs\n" + "\n".join(shown)


# --- the compiler ---------------------------------------------------------------------------------


def chosen(template: str) -> list[Path]:
    """Pinned files that have all branches among them: each time the one that adds the most."""
    files = dict(sorted(taken(template).items()))
    found: list[Path] = []
    missing = set[Branch]().union(*files.values())
    while missing:
        found.append(max(files, key=lambda path: len(files[path] & missing)))
        missing -= files[found[-1]]
    return found


COMPILED = [path for template in TEMPLATES for path in chosen(template.name)]


def _command(file: Path) -> list[str]:
    spec = find_spec("torch")
    if spec is None or spec.origin is None or shutil.which("g++") is None:
        pytest.skip("needs torch and g++")
    torch = Path(spec.origin).parent / "include"
    runtime = REPO / "csrc/runtime"
    system = (torch, torch / "torch/csrc/api/include", sysconfig.get_path("include"))
    # A header is compiled as what includes it.
    source = ["-include", str(file), "-xc++", "/dev/null"] if file.suffix == ".h" else [str(file)]
    return [
        *shlex.split("g++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -trigraphs"),
        *(f"-I{place}" for place in (runtime, runtime / "torch", file.parent)),
        *(part for place in system for part in ("-isystem", str(place))),
        *source,
    ]


@pytest.mark.parametrize("file", COMPILED, ids=lambda path: path.name)
def test_a_compiler_accepts_it(file: Path) -> None:
    done = subprocess.run(_command(file), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
