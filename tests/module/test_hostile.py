"""Hostile names, defaults and docs: generated, compiled, and called."""

from __future__ import annotations

import ast
import importlib
import inspect
import keyword
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import hostile
import libraries
import pytest
import torch
from hostile import OPS, Echo
from opbind.writer import write_text

Definitions = dict[str, ast.FunctionDef]


@pytest.fixture(scope="session")
def lib() -> Path:
    folder = libraries.REPO / "build/tests/hostile"
    folder.mkdir(parents=True, exist_ok=True)
    ops, kernels = folder / "ops.yaml", folder / "kernels.cpp"
    # What is the same is not compiled again.
    write_text(ops, hostile.yaml_text())
    write_text(kernels, hostile.cpp_text())
    return libraries.build("hostile", ops, [kernels])


@pytest.fixture(scope="session")
def module(lib: Path) -> Iterator[ModuleType]:
    sys.path.insert(0, str(lib))
    yield importlib.import_module(hostile.MODULE)
    sys.path.remove(str(lib))


@pytest.fixture(scope="session")
def definitions(lib: Path) -> Definitions:
    """The stub's functions."""
    text = (lib / hostile.MODULE / "__init__.pyi").read_text(encoding="utf-8")
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def _exactly(value: Any) -> Any:
    """Something that is equal for the same value of the same type alone."""
    if isinstance(value, tuple | list):
        return tuple(map(_exactly, value))
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, complex):
        return _exactly(value.real), _exactly(value.imag)
    return type(value), value


def _returned(value: Any, op: Echo) -> Any:
    """What a function returned, as a tuple of all returns."""
    return value if len(op.returns) > 1 else (value,)


def _check(result: Any, op: Echo, values: Sequence[Any]) -> None:
    assert _exactly(_returned(result, op)) == _exactly(op.expected(values))


def _shown(value: Any) -> Any:
    """As `_exactly`, but that Python reads -1j as -0.0-1j."""
    return _exactly(value + 0 if isinstance(value, complex) else value)


each_op = pytest.mark.parametrize("op", OPS, ids=lambda op: op.function[:40])


# --- the module's functions -------------------------------------------------------------------


@each_op
def test_defaults_arrive(module: ModuleType, op: Echo) -> None:
    _check(getattr(module, op.function)(), op, [a.value for a in op.args])


@each_op
def test_arguments_arrive_by_position(module: ModuleType, op: Echo) -> None:
    values = [a.other for a in op.args]
    _check(getattr(module, op.function)(*values), op, values)


@each_op
def test_arguments_arrive_by_keyword(module: ModuleType, op: Echo) -> None:
    function = getattr(module, op.function)
    _check(function(**{a.name: a.other for a in op.args}), op, [a.other for a in op.args])
    for i, given in enumerate(op.args):
        values = [a.value for a in op.args]
        values[i] = given.other
        _check(function(**{given.name: given.other}), op, values)


@each_op
def test_fields_have_the_names(module: ModuleType, op: Echo) -> None:
    if not op.has_fields:
        return
    result = getattr(module, op.function)()
    for i, arg in enumerate(op.args):
        assert _exactly(getattr(result, arg.name)) == _exactly(result[i]), arg.name


@each_op
def test_python_source_can_name_the_arguments(module: ModuleType, op: Echo) -> None:
    keywords = {a.spelled: a.other for a in op.args}
    assert not any(map(keyword.iskeyword, keywords))
    _check(getattr(module, op.function)(**keywords), op, [a.other for a in op.args])


# --- tensors ----------------------------------------------------------------------------------


def _tensors(names: Sequence[str]) -> dict[str, torch.Tensor]:
    return {name: torch.full((2,), float(i)) for i, name in enumerate(names)}


@pytest.mark.parametrize(("op", "names"), hostile.CLONES.items(), ids=hostile.CLONES)
def test_tensors_arrive(module: ModuleType, op: str, names: Sequence[str]) -> None:
    given = _tensors(names)
    for requires_grad in (False, True):
        for result in (
            getattr(module, op)(*given.values()),
            getattr(module, op)(**given),
            getattr(torch.ops.hostile, op)(**given),
        ):
            assert [t.tolist() for t in result] == [t.tolist() for t in given.values()]
            assert {t.requires_grad for t in result} == {requires_grad}
        given[names[-1]].requires_grad_()


@pytest.mark.parametrize(("op", "names"), hostile.WRITERS.items(), ids=hostile.WRITERS)
def test_written_tensors_arrive(module: ModuleType, op: str, names: Sequence[str]) -> None:
    given = _tensors(names)
    assert getattr(module, op)(**given) is None
    assert [t.tolist() for t in given.values()] == [[2.0 * i + 1] * 2 for i in range(len(names))]
    assert {t._version for t in given.values()} == {1}


# --- torch's registration -------------------------------------------------------------------


def _registered(op: Echo) -> Any:
    return torch._C._get_operation_overload(f"{hostile.NAMESPACE}::{op.name}", op.overload)[0]


def _plain(op: Echo, values: Sequence[Any]) -> tuple[Any, ...]:
    return op.expected([a.in_torch(v) for a, v in zip(op.args, values, strict=True)])


@each_op
def test_torch_has_the_defaults(module: ModuleType, op: Echo) -> None:
    result = _returned(_registered(op)(), op)
    assert _exactly(result) == _exactly(_plain(op, [a.value for a in op.args]))


@each_op
def test_torch_takes_the_arguments(module: ModuleType, op: Echo) -> None:
    result = _returned(_registered(op)(**{a.name: a.other for a in op.args}), op)
    assert _exactly(result) == _exactly(_plain(op, [a.other for a in op.args]))


def test_torch_ops_has_them_by_name(module: ModuleType) -> None:
    for op in OPS:
        packet = getattr(getattr(torch.ops, hostile.NAMESPACE), op.name)
        overload = getattr(packet, op.overload or "default")
        assert overload._schema.name == f"{hostile.NAMESPACE}::{op.name}"


# --- signatures, docs, the stub -----------------------------------------------------------------


@each_op
def test_inspect_shows_the_defaults(module: ModuleType, op: Echo) -> None:
    shown = inspect.signature(getattr(module, op.function)).parameters
    assert list(shown) == [a.spelled for a in op.args]
    for arg in op.args:
        default = shown[arg.spelled].default
        assert default is ... or _shown(default) == _shown(arg.shown), arg.name
        assert (default is ...) == arg.is_enum


@each_op
def test_the_doc_is_whole(module: ModuleType, op: Echo) -> None:
    assert op.doc in (getattr(module, op.function).__doc__ or "")


@each_op
def test_the_stub_shows_the_defaults(definitions: Definitions, op: Echo) -> None:
    node = definitions[op.function]
    assert [a.arg for a in node.args.args] == [a.spelled for a in op.args]
    for arg, default in zip(op.args, node.args.defaults, strict=True):
        if arg.is_enum and not isinstance(arg.value, str):
            assert ast.unparse(default).startswith("torch.")
            assert getattr(torch, ast.unparse(default).removeprefix("torch.")) is arg.value
        else:
            assert _shown(ast.literal_eval(default)) == _shown(arg.shown), arg.name
    doc = ast.get_docstring(node, clean=False) or ""
    # Long lines are broken.
    assert "".join(op.doc.split()) in "".join(doc.split())


def test_the_librarys_doc_is_whole(lib: Path, module: ModuleType) -> None:
    assert hostile.DOC.strip() in (module._C.__doc__ or "")
    assert "".join(hostile.DOC.split()) in "".join((module.__doc__ or "").split())
    stub = ast.parse((lib / hostile.MODULE / "__init__.pyi").read_text(encoding="utf-8"))
    assert ast.get_docstring(stub, clean=False) == module.__doc__


# --- mypy -------------------------------------------------------------------------------------


def _client(ops: Sequence[Echo]) -> str:
    """Calls with every argument that has a literal in Python, by its spelled name."""
    lines = ["import torch", f"import {hostile.MODULE} as m"]
    for op in ops:
        # To a type checker, what begins with two underscores is given by position.
        checked = [a for a in op.args if not a.name.startswith("__") and op.name != "__abs__"]
        named = (f"{a.spelled}={a.other!r}" for a in checked if len(repr(a.other)) < 1000)
        lines.append(f"m.{op.function}({', '.join(named)})")
        positional = ", ".join(repr(a.value) for a in op.args if len(repr(a.value)) < 1000)
        lines.append(f"m.{op.function}({positional})")
    return "\n".join(lines) + "\n"


def test_mypy_takes_the_stub_and_the_calls(lib: Path, tmp_path: Path) -> None:
    client = tmp_path / "client.py"
    client.write_text(_client(OPS), encoding="utf-8")
    stub = lib / hostile.MODULE / "__init__.pyi"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", client, stub],
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(lib), "PATH": ""},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
