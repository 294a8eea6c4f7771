"""The stub, the signatures and the docs: they say what the functions do, and mypy agrees."""

from __future__ import annotations

import ast
import copy
import inspect
import os
import pickle
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import demo_ops
import pytest
import torch
import yaml

Run = Callable[..., "subprocess.CompletedProcess[str]"]

REPO = Path(__file__).parents[2]
FUNCTIONS = sorted(name for name in demo_ops.__all__ if callable(getattr(demo_ops, name)))


@pytest.fixture(scope="session")
def stub(package: Path) -> str:
    return (package / "__init__.pyi").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def definitions(stub: str) -> dict[str, list[ast.FunctionDef]]:
    """The stub's functions, each with its overloads."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


# --- the text ---------------------------------------------------------------------------------


def test_package_is_typed(package: Path) -> None:
    assert (package / "py.typed").is_file()


def test_stub_speaks_python(stub: str) -> None:
    ast.parse(stub)
    assert "def scale(" in stub
    assert re.findall(r"nullopt|::|at::|c10", stub) == []


def test_stub_and_module_have_the_same_functions(
    definitions: dict[str, list[ast.FunctionDef]],
) -> None:
    assert len(FUNCTIONS) >= 25
    assert sorted(definitions) == FUNCTIONS


def test_overloads_are_marked(definitions: dict[str, list[ast.FunctionDef]]) -> None:
    for nodes in definitions.values():
        marks = [[ast.unparse(d) for d in node.decorator_list] for node in nodes]
        assert marks == ([[]] if len(nodes) == 1 else [["overload"]] * len(nodes))
    assert len(definitions["add"]) > 1


def test_the_package_has_every_function_of_its_extension() -> None:
    extension = vars(demo_ops._C)
    assert sorted(n for n, value in extension.items() if inspect.isbuiltin(value)) == FUNCTIONS
    for name in FUNCTIONS:
        assert getattr(demo_ops, name) is extension[name]


# --- what mypy says, and what the call does ---------------------------------------------------

# What calls are made of, in the checked file and at run time.
PRELUDE = """\
from typing import assert_type

import torch

import demo_ops

a = torch.ones(2, 3)
b = torch.ones(2, 3)
w = torch.ones(3)
mask = a > 0
boxes = torch.zeros(2, 4)
scores = torch.ones(2)
"""
# Right calls, with the type that the stub gives them.
ACCEPTED = {
    "demo_ops.add(a, b)": "torch.Tensor",
    "demo_ops.add(a, 1)": "torch.Tensor",
    "demo_ops.add(a, 1.5, alpha=2)": "torch.Tensor",
    "demo_ops.add(a, b, alpha=2, out=b)": "torch.Tensor",
    "demo_ops.add(input=a, other=b)": "torch.Tensor",
    "demo_ops.sum(a)": "torch.Tensor",
    "demo_ops.sum(a, 0)": "torch.Tensor",
    "demo_ops.sum(a, [0, 1], True)": "torch.Tensor",
    "demo_ops.sum(a, dim=(0,), dtype=torch.float64)": "torch.Tensor",
    "demo_ops.sum(a, None)": "torch.Tensor",
    "demo_ops.max(a)": "torch.Tensor",
    "demo_ops.max(a, b)": "torch.Tensor",
    "demo_ops.cat([a, b])": "torch.Tensor",
    "demo_ops.cat((a, b), dim=1)": "torch.Tensor",
    "demo_ops.where(mask, a, b)": "torch.Tensor",
    "demo_ops.where(mask, a, 0.0)": "torch.Tensor",
    "demo_ops.where(mask, 1, 0)": "torch.Tensor",
    "demo_ops.norm(a)": "torch.Tensor",
    "demo_ops.norm(a, 2, [1], keepdim=True)": "torch.Tensor",
    "demo_ops.clamp(a, 0, 1)": "torch.Tensor",
    "demo_ops.clamp(a, max=1)": "torch.Tensor",
    "demo_ops.empty_like(a, dtype=torch.int32, device='cpu')": "torch.Tensor",
    "demo_ops.empty_like(a, requires_grad=True)": "torch.Tensor",
    "demo_ops.empty_like(a, memory_format=torch.contiguous_format)": "torch.Tensor",
    "demo_ops.scale(a)": "torch.Tensor",
    "demo_ops.scale(a, 2)": "torch.Tensor",
    "demo_ops.scale(input=a, alpha=2.5)": "torch.Tensor",
    "demo_ops.rms_norm(a, w)": "torch.Tensor",
    "demo_ops.rms_norm_(a, w, eps=1e-5)": "torch.Tensor",
    "demo_ops.nms(boxes, scores, 0.5)": "torch.Tensor",
    "demo_ops.busy_wait_ms(0)": "None",
    "demo_ops.keep(a)": "None",
    "demo_ops.take()": "torch.Tensor",
    "demo_ops.chunk(a, 2, dim=1)": "tuple[torch.Tensor, ...]",
    "demo_ops.squeeze(a, 0)": "torch.Tensor",
    "demo_ops.weighted_sum([a, b], torch.ones(2))": "torch.Tensor",
    "demo_ops.weighted_sum([a, b])": "torch.Tensor",
    "demo_ops.numel(a)": "int",
    "demo_ops.equal(a, b)": "bool",
    "demo_ops.describe(a)": "str",
    "demo_ops.describe(a, 'x', verbose=True)": "str",
    "demo_ops.result_type(a, 1)": "torch.dtype",
    "demo_ops.cast(a, torch.float64, device=torch.device('cpu'))": "torch.Tensor",
    "demo_ops.max(a, 0).indices": "torch.Tensor",
    "demo_ops.max(a, dim=0, keepdim=True).values": "torch.Tensor",
    "demo_ops.aminmax(a, dim=0).min": "torch.Tensor",
    "demo_ops.frexp(a)[1]": "torch.Tensor",
    "demo_ops.min_max(a).max": "torch.Tensor",
    "demo_ops.bounds(a).low": "float",
    "demo_ops.bounds(a)[2]": "int",
    "demo_ops.linspace(0, 1.0, 5, dtype=torch.float64)": "torch.Tensor",
    "demo_ops.full_like(a, 2)": "torch.Tensor",
    "demo_ops.add(a, y=b)": "torch.Tensor",
    "demo_ops.sum(a, axis=0, keepdims=True)": "torch.Tensor",
}
# Wrong calls: mypy refuses each, and so does the function.
REFUSED = [
    "demo_ops.add(a)",
    "demo_ops.add(a, 'b')",
    "demo_ops.add(a, b, 2)",
    "demo_ops.add(a, b, alhpa=2)",
    "demo_ops.add(a, None)",
    "demo_ops.add(a, b, input=a)",
    "demo_ops.add(a, b, alpha=None)",
    "demo_ops.sum(a, 'x')",
    "demo_ops.sum(a, [0.5])",
    "demo_ops.sum(a, keepdim=True)",
    "demo_ops.sum(a, dtype='float')",
    "demo_ops.max(a, 0, 1, 2)",
    "demo_ops.cat(a)",
    "demo_ops.cat([a, 1])",
    "demo_ops.where(mask, a)",
    "demo_ops.clamp(a, 'low')",
    "demo_ops.empty_like(a, device=1.5)",
    "demo_ops.empty_like(a, dtype=3)",
    "demo_ops.empty_like(a, torch.int32)",
    "demo_ops.scale()",
    "demo_ops.scale(a, None)",
    "demo_ops.scale(a, 'big')",
    "demo_ops.scale(a, 1.0, 2.0)",
    "demo_ops.scale(2.0)",
    "demo_ops.rms_norm(a)",
    "demo_ops.rms_norm(a, None)",
    "demo_ops.nms(boxes, scores)",
    "demo_ops.busy_wait_ms(0.5)",
    "demo_ops.busy_wait_ms('1')",
    "demo_ops.keep(None)",
    "demo_ops.take(a)",
    "demo_ops.take(x=1)",
    "demo_ops.chunk(a, 2.0)",
    "demo_ops.weighted_sum([a, None])",
    "demo_ops.weighted_sum([a], 1.0)",
    "demo_ops.describe(a, 'x', True)",
    "demo_ops.describe(a, None)",
    "demo_ops.describe(a, b'x')",
    "demo_ops.describe(a, verbose=None)",
    "demo_ops.cast(a)",
    "demo_ops.cast(a, None)",
    "demo_ops.cast(a, 'float64')",
    "demo_ops.strides_of(a, [None])",
    "demo_ops.linspace(0, 1)",
    "demo_ops.full_like(a)",
    "demo_ops.sum(a, dim=0, axis=0)",
]
# Right calls whose results have no attribute of that name.
NO_ATTRIBUTE = ["demo_ops.max(a, 0).max", "demo_ops.bounds(a).mean"]
# Parameters of every type, and values for them: the stub and the function agree about each pair.
PROBES = [
    "busy_wait_ms({})",
    "scale(a, {})",
    "full_like(a, {})",
    "describe(a, {})",
    "describe(a, verbose={})",
    "strides_of(a, {})",
    "cast(a, {})",
    "cast(a, torch.int32, device={})",
    "cat({})",
    "keep({})",
    "weighted_sum([a], {})",
    "sum(a, {})",
    "argmax(a, {})",
    "empty_like(a, dtype={})",
    "empty_like(a, layout={})",
    "empty_like(a, memory_format={})",
    "add(a, {})",
    "add(a, b, out={})",
    "clamp(a, {})",
    "where(mask, a, {})",
    "norm(a, {})",
    "result_type({}, 1)",
]
VALUES = [
    *("1", "1.5", "1j", "None", "'cpu'", "b'cpu'", "a", "object()", "range(1)"),
    *("[]", "()", "[1]", "(1,)", "[a]", "(a,)", "[1.5]", "[None]", "[[1]]"),
    *("torch.float64", "float", "torch.strided", "torch.device('cpu')", "torch.preserve_format"),
]
# What types cannot say: a bool is an int to them, and a tensor may hold a number.
ONLY_MYPY_TAKES = ["demo_ops.busy_wait_ms(True)", "demo_ops.sum(a, [True])"]
ONLY_THE_FUNCTION_TAKES = ["demo_ops.scale(a, torch.tensor(1))", "demo_ops.sum(a, torch.tensor(1))"]


def _probe(probe: str, value: str) -> str:
    return f"demo_ops.{probe.replace('{}', value)}"


PROBED = [_probe(probe, value) for probe in PROBES for value in VALUES]


def _run_mypy(path: Path, lib: Path) -> str:
    done = subprocess.run(
        # A configuration of its own; torch's types are read once and kept with the build.
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"),
            *("--cache-dir", str(REPO / "build/mypy"), str(path)),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(lib)},
        cwd=path.parent,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def complaints(lib: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """mypy's errors, by the call in whose line they are."""
    others = [*REFUSED, *NO_ATTRIBUTE, *PROBED, *ONLY_MYPY_TAKES, *ONLY_THE_FUNCTION_TAKES]
    asserted = [f"assert_type({call}, {type_})" for call, type_ in ACCEPTED.items()]
    path = tmp_path_factory.mktemp("typing") / "calls.py"
    path.write_text("\n".join([PRELUDE, *asserted, *others, ""]), encoding="utf-8")
    lines = dict(enumerate([*ACCEPTED, *others], PRELUDE.count("\n") + 2))
    found: dict[str, str] = {}
    for number, text in re.findall(r"^calls\.py:(\d+): error: (.*)$", _run_mypy(path, lib), re.M):
        # An error in the prelude fails here.
        found[lines[int(number)]] = text
    return found


def _call(expression: str) -> object:
    names: dict[str, Any] = {}
    exec(PRELUDE, names)
    names["demo_ops"].keep(torch.ones(1))
    return eval(expression, names)


def _is_of(value: object, type_: str) -> bool:
    if type_ == "None":
        return value is None
    if type_ == "tuple[torch.Tensor, ...]":
        return isinstance(value, tuple) and all(isinstance(v, torch.Tensor) for v in value)
    return type(value) is eval(type_, {"torch": torch})


@pytest.mark.parametrize("call", ACCEPTED)
def test_right_call_passes_mypy_and_runs(call: str, complaints: dict[str, str]) -> None:
    assert call not in complaints, complaints[call]
    assert _is_of(_call(call), ACCEPTED[call])


@pytest.mark.parametrize("call", REFUSED)
def test_wrong_call_is_refused_by_mypy_and_by_the_function(
    call: str, complaints: dict[str, str]
) -> None:
    assert call in complaints
    with pytest.raises(TypeError):
        _call(call)


def _takes(call: str) -> bool:
    """Whether the arguments are taken; the kernel may still refuse what they hold."""
    try:
        _call(call)
    except TypeError:
        return False
    except (RuntimeError, ValueError, IndexError):
        return True
    return True


@pytest.mark.parametrize("probe", PROBES)
def test_stub_and_function_take_the_same(probe: str, complaints: dict[str, str]) -> None:
    calls = [_probe(probe, value) for value in VALUES]
    taken = [call for call in calls if _takes(call)]
    assert len(taken) < len(calls)
    assert [call for call in calls if call not in complaints] == taken


@pytest.mark.parametrize("call", [*ONLY_MYPY_TAKES, *ONLY_THE_FUNCTION_TAKES])
def test_where_types_cannot_say(call: str, complaints: dict[str, str]) -> None:
    assert (call in complaints) == (call in ONLY_THE_FUNCTION_TAKES) == _takes(call)


@pytest.mark.parametrize("call", NO_ATTRIBUTE)
def test_wrong_attribute_is_refused_by_mypy_and_is_missing(
    call: str, complaints: dict[str, str]
) -> None:
    assert "has no attribute" in complaints[call]
    with pytest.raises(AttributeError):
        _call(call)


# --- signatures and docs ----------------------------------------------------------------------


def _documented(name: str) -> list[list[str]]:
    """The parameters' names of every signature in the doc, which starts with them."""
    found = []
    for line in getattr(demo_ops, name).__doc__.splitlines():
        signature = re.fullmatch(rf"{name}\((.*)\) -> .+", line)
        if signature is None:
            break
        parts = [p for p in signature[1].split(", ") if p not in ("", "*")]
        found.append([re.split(r"[ =]", part)[1] for part in parts])
    return found


ANYTHING = "(*args, **kwargs)"
OVERLOADED = [n for n in FUNCTIONS if str(inspect.signature(getattr(demo_ops, n))) == ANYTHING]
SINGLE = [name for name in FUNCTIONS if name not in OVERLOADED]


def test_functions_with_overloads_take_anything(
    definitions: dict[str, list[ast.FunctionDef]],
) -> None:
    assert {name for name in definitions if len(_documented(name)) > 1} == set(OVERLOADED)
    assert {"add", "max", "where"} <= set(OVERLOADED)


def _parameters(node: ast.FunctionDef) -> list[tuple[str, str, bool]]:
    """(name, kind, whether it may be left out) of a function in the stub."""
    arguments = node.args
    names = [*arguments.posonlyargs, *arguments.args]
    required = len(names) - len(arguments.defaults)
    found = [(a.arg, "POSITIONAL_OR_KEYWORD", i >= required) for i, a in enumerate(names)]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append((argument.arg, "KEYWORD_ONLY", default is not None))
    return found


@pytest.mark.parametrize("name", SINGLE)
def test_signature_is_that_of_the_stub(
    name: str, definitions: dict[str, list[ast.FunctionDef]]
) -> None:
    parameters = inspect.signature(getattr(demo_ops, name)).parameters.values()
    found = [(p.name, p.kind.name, p.default is not p.empty) for p in parameters]
    # Further overloads in the stub spell aliases of arguments.
    assert found == _parameters(definitions[name][0])


def test_signature_has_the_defaults() -> None:
    assert str(inspect.signature(demo_ops.scale)) == "(input, alpha=1.0)"
    assert str(inspect.signature(demo_ops.describe)) == "(input, prefix='tensor', *, verbose=False)"
    assert str(inspect.signature(demo_ops.take)) == "()"
    assert inspect.signature(demo_ops.rms_norm).parameters["eps"].default == 1e-6


@pytest.mark.parametrize("name", FUNCTIONS)
def test_doc_lists_the_signatures_of_the_stub(
    name: str, definitions: dict[str, list[ast.FunctionDef]]
) -> None:
    documented = _documented(name)
    known = {parameter for names in documented for parameter in names}
    stubbed = [[p[0] for p in _parameters(node)] for node in definitions[name]]
    # What an alias gives its argument's place to is said by the stub alone.
    assert [names for names in stubbed if set(names) <= known] == documented


@pytest.mark.parametrize(
    ("name", "alias"), [("add", "y"), ("sum", "axis"), ("mean", "keepdims"), ("cat", "axis")]
)
def test_aliases_are_in_the_stub(
    name: str, alias: str, definitions: dict[str, list[ast.FunctionDef]]
) -> None:
    assert any(alias in (p[0] for p in _parameters(node)) for node in definitions[name])


def test_doc_holds_the_text_of_the_file() -> None:
    entries = yaml.safe_load((REPO / "ops.yaml").read_text(encoding="utf-8"))["functions"]
    for entry in entries:
        if "doc" in entry:
            name = re.split(r"[.(]", entry["func"])[0]
            doc = getattr(demo_ops, name).__doc__
            assert entry["doc"].strip() in doc
            examples = textwrap.dedent(doc.partition("Examples:\n")[2])
            assert all(example.strip() in examples for example in entry.get("examples", []))


# --- functions as values ----------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_pickle_by_name(name: str) -> None:
    function = getattr(demo_ops, name)
    assert function.__name__ == name
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert copy.deepcopy(function) is function


def test_a_pickled_function_loads_in_a_fresh_process(run_python: Run) -> None:
    program = f"""
import pickle
function = pickle.loads({pickle.dumps(demo_ops.scale)!r})
import torch
print(function(torch.ones(2), 3.0).tolist())
"""
    done = run_python(program)
    assert done.stdout == "[3.0, 3.0]\n", done.stderr


@pytest.mark.parametrize("name", ["max", "min_max", "bounds"])
def test_named_results_pickle_and_copy(name: str) -> None:
    x = torch.tensor([[1.0, 3.0], [2.0, 0.0]])
    result = demo_ops.max(x, 0) if name == "max" else getattr(demo_ops, name)(x)
    assert (type(result) is torch.return_types.max) == (name == "max")
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert type(other) is type(result)
        torch.testing.assert_close(tuple(other), tuple(result), rtol=0, atol=0)
