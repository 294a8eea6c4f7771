"""All of torch's own functions rendered: the text holds together, and checkers accept the stub."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from opbind import build
from opbind.render import render
from opbind.typemap import ROWS

pytest.importorskip("torch")

from torch_files import ours

REPO = Path(__file__).parents[2]


@cache
def files() -> dict[str, str]:
    return {file.path: file.text for file in render(ours())}


def _functions() -> str:
    return files()["aten_ops_functions_0.cpp"]


def _module(name: str) -> str:
    """The module of a namespace; the package's own for ''."""
    return f"aten_ops/{name or '__init__'}"


# --- C++ ------------------------------------------------------------------------------------------

# The type of each parameter of a table, and what is called on `r` in the body of its signature.
_TABLE = re.compile(r"FunctionParameter (k\w+)Parameters(\d+)\[\] = \{\n(.*?)^\};", re.M | re.S)
_TYPE = re.compile(r"\.name = \"\w+\",\s+\.type = ParameterType::(\w+)")
_BODY = re.compile(
    r"PythonArgParser parser\((k\w+)\);\n.*?^  \}\n(.*?)^  END_HANDLE_TH_ERRORS", re.M | re.S
)
_CASE = re.compile(r"^    case (\d+): \{\n(.*?)^    \}", re.M | re.S)
_READ = re.compile(r"\br\.(\w+)(?:<\d+>)?\((\d+)\)")
# Of any type.
_ANY = {"isNone", "given"}


def _accessors() -> dict[str, set[str]]:
    """By the type of a parameter: what may read it."""
    found: dict[str, set[str]] = {}
    for row in ROWS.values():
        names = {row.accessor, row.accessor_written, row.accessor_number}
        found.setdefault(row.tag, set(_ANY)).update(names)
    found["TENSOR_LIST"].add("tensorlist_n")
    return found


def _tables() -> dict[tuple[str, int], list[str]]:
    found = _TABLE.finditer(_functions())
    return {(m[1], int(m[2])): _TYPE.findall(m[3]) for m in found}


def _bodies() -> Iterator[tuple[tuple[str, int], str]]:
    for match in _BODY.finditer(_functions()):
        cases = _CASE.findall(match[2]) or [("0", match[2])]
        yield from (((match[1], int(number)), text) for number, text in cases)


def test_every_argument_is_read_as_what_it_is() -> None:
    tables, accessors = _tables(), _accessors()
    seen = 0
    for key, body in _bodies():
        types = tables.get(key, [])
        reads = _READ.findall(body)
        seen += 1
        assert {int(i) for _, i in reads} == set(range(len(types))), key
        assert all(name in accessors[types[int(i)]] for name, i in reads), key
    with_parameters = [f for f in ours().functions if any(s.parameters for s in f.signatures)]
    assert seen == sum(len(function.signatures) for function in with_parameters)


def test_every_dispatch_function_is_there_once_and_called() -> None:
    text = _functions()
    defined = re.findall(r"^(?! )(?:[\w:&<>, ]+ )?(dispatch_\w+)\(", text, re.M)
    assert len(defined) == len(set(defined)) > 2_500
    called = set(re.findall(r"\b(dispatch_\w+)\(", text))
    assert called == set(defined)


def test_rows_say_what_the_plan_says() -> None:
    text = _functions()
    signatures = [s for function in ours().functions for s in function.signatures]
    parameters = [p for s in signatures for p in s.parameters]
    for flag, count in (
        (".deprecated = true", sum(s.is_deprecated for s in signatures)),
        (".varargs_int_list = true", sum(s.varargs_int_list for s in signatures)),
        (".takes_numbers = true", sum(p.takes_numbers for p in parameters)),
        (".none_is_default = true", sum(p.none_is_default for p in parameters)),
    ):
        assert text.count(flag) == count > 10, flag


def test_every_schema_has_the_types_of_torchs_op(tmp_path: Path) -> None:
    """The checks that stand before dispatch functions, compiled without the functions."""
    text = _functions()
    includes = re.findall(r"^#include <ATen/ops/.*$", text, re.M)
    checks = re.findall(r"^static_assert\(\n.*?\);$", text, re.M | re.S)
    assert len(checks) > 2_500
    lines = ['#include "core/runtime.h"', *includes, "namespace opbind {", *checks, "}\n"]
    source = tmp_path / "checks.cpp"
    source.write_text("\n".join(lines), encoding="utf-8")
    tools = build.find_toolchain()
    flags = build._compile_flags(build.Request(ours(), tmp_path, (), (), tmp_path), tools)
    command = [*tools.compiler, *flags, "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    build.check_torch_ops(ours(), build.find_torch())


def test_no_line_is_too_long() -> None:
    for path, text in files().items():
        assert max(map(len, text.split("\n"))) <= 100, path


# --- the stub -------------------------------------------------------------------------------------


def test_the_stubs_have_every_function() -> None:
    assert ours().namespaces == ("Tensor", "fft", "linalg", "nested", "nn", "sparse", "special")
    for name in ("", *ours().namespaces):
        nodes = ast.parse(files()[f"{_module(name)}.pyi"]).body
        defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        assert defined == {function.name for function in ours().functions_of(name)}


@pytest.mark.parametrize("name", ["", "linalg"])
def test_a_module_exports_what_its_stub_does(name: str) -> None:
    module, stub = (ast.parse(files()[f"{_module(name)}{end}"]) for end in (".py", ".pyi"))
    assert _exports(module) == _exports(stub)
    assert len(_exports(stub)) == len(set(_exports(stub)))


def _exports(module: ast.Module) -> list[str]:
    (value,) = (
        node.value
        for node in module.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return [str(name) for name in ast.literal_eval(value)]


def test_a_namespace_has_torchs_short_names() -> None:
    stub = files()["aten_ops/linalg.pyi"]
    assert "\ninv = linalg_inv\n" in stub
    assert {"linalg_inv", "inv"} <= set(_exports(ast.parse(stub)))


def test_mypy_accepts_the_stub(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy")
    (tmp_path / "aten_ops").mkdir()
    for path, text in files().items():
        if path.endswith(".pyi"):
            (tmp_path / path).write_text(text, encoding="utf-8")
    # The cache that the whole project is checked with: reading torch takes half a minute.
    options = ["--strict", "--config-file=", f"--cache-dir={REPO / '.mypy_cache'}"]
    command = [sys.executable, "-m", "mypy", *options, "-p", "aten_ops"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
