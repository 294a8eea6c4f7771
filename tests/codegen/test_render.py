"""Rendering: the shape of each kind of file, and that compilers and checkers accept it."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from opbind.errors import Diagnostics
from opbind.plan import plan
from opbind.render import render, template_files
from planning import funcs, planned, read, rendered

REPO = Path(__file__).parents[2]

# All that a schema of this step can hold, with every kind of text that could break a file.
EVERYTHING = r'''
- func: all_types(Tensor self, Tensor? a, Tensor[] b, int c, int? d, float e, float? f, bool g,
        bool? h, Scalar i, Scalar? j, str k, str? l, int[] m, int[]? n, int[2] o, int[2]? p,
        ScalarType q, ScalarType? r, Device s, Device? t, Layout u, Layout? v, MemoryFormat w,
        MemoryFormat? x) -> Tensor
  dispatch: {CPU: all_types_cpu, CUDA: all_types_cuda, Meta: other::all_types_meta}
- func: all_defaults(*, Tensor? a=None, int c=-9223372036854775808, int? d=None, float e=1e-300,
        float? f=0.1, bool g=True, bool? h=None, Scalar i=True, Scalar? j=-0.5,
        str k="a\"b\\c\nd??/g%s{{x}}*/é\t", str? l=None, int[] m=[], int[3] o=7, int[2]? p=None,
        ScalarType q=long, Device s='cuda:1', Layout u=strided, MemoryFormat? x=contiguous_format,
        str y="a string that is far too long to stand in a row of the table, so it has its own")
        -> Tensor
  dispatch: {CompositeExplicitAutograd: all_defaults}
  doc: |
    Quotes "here" and """there""", a backslash \, ??/ and %s {{ }} {% x %} */ // é ends in "
  examples: [">>> all_defaults()\n1"]
- func: reserved(Tensor self, int register, int NULL, int args, int r, int errno, int std) -> ()
  dispatch: {CPU: reserved_cpu}
  gil: hold
- func: returns(Tensor x) -> (Tensor, Tensor[], int, float, bool, Scalar, str, int[])
  dispatch: {CPU: returns_cpu}
  tags: [pt2_compliant_tag, pointwise]
- func: returns_dtype(Tensor x) -> ScalarType
  dispatch: {CPU: returns_dtype_cpu}
- func: named(Tensor x) -> (Tensor count, int low)
  dispatch: {CPU: named_cpu}
  autograd: none
- func: named.out(Tensor x, *, Tensor(a!) p, Tensor(b!) q) -> ()
  dispatch: {CPU: named_out}
- func: sized(int[] size, *, int n=1) -> Tensor
  dispatch: {CompositeExplicitAutograd: sized}
- func: update_(Tensor(a!) self, Tensor(b!)[] others, Tensor(c!)? more=None, *, Tensor(d!) out)
        -> ()
  dispatch: {CPU: update_cpu}
- func: direct(Tensor self, int from) -> Tensor
  dispatch: {CompositeExplicitAutograd: direct_any}
  call: direct
  autograd: none
- func: nothing() -> ()
  dispatch: {CompositeExplicitAutograd: nothing}
- func: over.a(Tensor x, int n=1) -> str
  dispatch: {CPU: over_a}
  autograd: external
- func: over.b(Tensor x, Tensor n) -> str
  dispatch: {CPU: over_b}
  aliases: {n: [m, k], x: [y]}
- func: over.c() -> str
  dispatch: {CompositeExplicitAutograd: over_c}
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
- func: max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!)
        max_values) -> (Tensor(a!) values, Tensor(b!) indices)
- func: empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None,
        Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor
- func: relu_(Tensor(a!) self) -> Tensor(a!)
- func: cat(Tensor[] tensors, int dim=0) -> Tensor
'''


@pytest.fixture(scope="module")
def everything() -> dict[str, str]:
    return rendered(EVERYTHING)


@pytest.fixture(scope="module")
def folder(everything: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("generated")
    for path, text in everything.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def _cpp(files: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((path, text) for path, text in files.items() if path.endswith((".cpp", ".h")))


def _only(schema: str) -> str:
    """The file of functions for one op of torch's."""
    return rendered(funcs([schema]))["demo_ops_functions_0.cpp"]


# --- files ----------------------------------------------------------------------------------------


def test_the_files_of_a_library(everything: dict[str, str]) -> None:
    assert sorted(everything) == [
        "demo_ops/__init__.py",
        "demo_ops/__init__.pyi",
        "demo_ops/py.typed",
        "demo_ops_functions_0.cpp",
        "demo_ops_kernels.h",
        "demo_ops_module.cpp",
        "demo_ops_register.cpp",
    ]


def test_every_file_says_what_it_is_made_from(everything: dict[str, str]) -> None:
    templates = set()
    for text in everything.values():
        first = text.split("\n", 1)[0]
        match = re.fullmatch(r"(//|#) @" r"generated by opbind from ops\.yaml with (\S+)", first)
        assert match is not None
        templates.add(match[2])
    assert templates == {path.name for path in template_files()}


def test_the_text_of_files_is_tidy(everything: dict[str, str]) -> None:
    for path, text in everything.items():
        assert text.endswith("\n") and not text.endswith("\n\n"), path
        assert "\r" not in text and "\t" not in text, path
        assert "\n\n\n\n" not in text, path
        assert not re.search(r"[ \t]$", text, re.MULTILINE), path


def test_no_line_of_cpp_is_too_long(everything: dict[str, str]) -> None:
    for path, text in _cpp(everything):
        for number, line in enumerate(text.split("\n"), 1):
            assert len(line) <= 100, f"{path}:{number}"
            assert line.isascii() or line.startswith("//"), f"{path}:{number}"


def test_a_new_function_changes_one_file_of_functions() -> None:
    entries = funcs(f"f{i}(Tensor x) -> Tensor" for i in range(8))
    before = rendered(entries, shards=4)
    after = rendered(entries + funcs(["f_new(Tensor x) -> Tensor"]), shards=4)
    changed = [path for path in after if before[path] != after[path]]
    assert len([path for path in changed if "_functions_" in path]) == 1
    assert not [path for path in changed if path.endswith(("module.cpp", "register.cpp", ".h"))]


def test_a_library_without_functions_is_complete() -> None:
    files = render(plan(replace(read(funcs(["f() -> int"])), ops=()), Diagnostics()))
    texts = {file.path: file.text for file in files}
    assert "void register_ops() {}" in texts["demo_ops_register.cpp"]
    assert "autograd.h" not in texts["demo_ops_register.cpp"]


# --- functions ------------------------------------------------------------------------------------


def test_the_shape_of_a_function() -> None:
    text = _only("scale(Tensor self, float alpha=1.0) -> Tensor")
    start = text.index("// scale(")
    assert text[start : text.index("}  // namespace")] == (
        """\
// scale(Tensor self, float alpha=1.0) -> Tensor
constexpr FunctionParameter kScaleParameters0[] = {
    {.name = "input", .type = ParameterType::TENSOR},
    {.name = "alpha", .type = ParameterType::DOUBLE, .default_value = of_double(1.0)},
};
constexpr FunctionSignature kScaleSignatures[] = {
    {.text = "scale(Tensor input, float alpha=1.0) -> Tensor",
     .parameters = kScaleParameters0,
     .num_parameters = 2,
     .max_positional = 2},
};
constexpr FunctionSignatures kScale = {.name = "scale", .signatures = kScaleSignatures, .count = 1};

at::Tensor dispatch_scale(const at::Tensor& self, double alpha) {
  return without_gil(host::hold(self), [&] { return at::_ops::scale::call(self, alpha); });
}

PyObject* THPVariable_scale(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames) {
  HANDLE_TH_ERRORS
  static const PythonArgParser parser(kScale);
  ParsedArgs<2> parsed_args;
  auto r = parser.parse(args, nargs, kwnames, parsed_args);
  if (r.has_torch_function()) {
    return handle_torch_function(
        r, args, nargs, kwnames,
        host::public_function(module, "torch._C._VariableFunctions", "scale"));
  }
  return THPVariable_Wrap(dispatch_scale(r.tensor(0), r.toDouble(1)));
  END_HANDLE_TH_ERRORS
}

constexpr char kScaleDoc[] =
    "scale($module, /, input, alpha=1.0)\\n"
    "--\\n"
    "\\n"
    "scale(Tensor input, float alpha=1.0) -> Tensor";

"""
    )


def test_every_entry_point_is_inside_the_boundary(everything: dict[str, str]) -> None:
    texts = [text for path, text in everything.items() if "_functions_" in path]
    pattern = re.compile(r"^PyObject\* THPVariable_.*?^}", re.M | re.S)
    entries = [entry for text in texts for entry in pattern.findall(text)]
    assert len(entries) == 16
    for entry in entries:
        assert entry.count("  HANDLE_TH_ERRORS\n") == 1
        assert entry.endswith("  END_HANDLE_TH_ERRORS\n}")


def test_the_gil_is_released_once_in_every_dispatch(everything: dict[str, str]) -> None:
    texts = [text for path, text in everything.items() if "_functions_" in path]
    pattern = re.compile(r"^(?:\S[^\n]* )?dispatch_(.*?^})", re.M | re.S)
    bodies = [body for text in texts for body in pattern.findall(text)]
    released = {body.partition("(")[0]: body.count("without_gil") for body in bodies}
    assert released.pop("reserved") == 0
    assert set(released.values()) == {1}
    assert not any("without_gil" in pattern.sub("", text) for text in texts)


def test_a_function_without_parameters() -> None:
    text = _only("rand() -> Tensor")
    assert "PythonArgParser" not in text
    assert "if (torch_function_mode_active()) {" in text
    assert '{"rand", THPVariable_rand, METH_NOARGS, kRandDoc},' in text


def test_the_choice_between_base_and_out_variant(everything: dict[str, str]) -> None:
    (text,) = (t for t in everything.values() if "THPVariable_max(" in t)
    start = text.index("  if (r.isNone(3)) {", text.index("THPVariable_max("))
    assert text[start : text.index("END_HANDLE", start)] == (
        """\
  if (r.isNone(3)) {
    return THPVariable_Wrap(return_type_max(),
                            dispatch_max(r.tensor(0), r.toInt64(1), r.toBool(2)));
  }
  auto out = r.tensorlist_n<2>(3);
  return THPVariable_Wrap(return_type_max_out(),
                          dispatch_max_out(out[0], out[1], r.tensor(0), r.toInt64(1), r.toBool(2)));
  """
    )


# --- what compilers and checkers say --------------------------------------------------------------


def _compiler_flags(folder: Path) -> list[str]:
    spec = find_spec("torch")
    if spec is None or spec.origin is None or shutil.which("g++") is None:
        pytest.skip("no torch or no g++")
    torch = Path(spec.origin).parent / "include"
    runtime = REPO / "csrc/runtime"
    system = (torch, torch / "torch/csrc/api/include", sysconfig.get_path("include"))
    return [
        *shlex.split("-std=c++20 -fsyntax-only -Wall -Wextra -Werror -trigraphs"),
        *(f"-I{place}" for place in (runtime, runtime / "torch", folder)),
        *(part for place in system for part in ("-isystem", str(place))),
    ]


@pytest.mark.parametrize("name", ["functions_0", "module", "register"])
def test_a_compiler_accepts_it(folder: Path, name: str) -> None:
    command = ["g++", *_compiler_flags(folder), str(folder / f"demo_ops_{name}.cpp")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_mypy_accepts_the_stub(folder: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy")
    # The cache that the whole project is checked with: reading torch takes half a minute.
    options = ["--strict", "--config-file=", f"--cache-dir={REPO / '.mypy_cache'}"]
    command = [sys.executable, "-m", "mypy", *options, "-p", "demo_ops"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout


def test_ruff_accepts_the_package(folder: Path) -> None:
    pytest.importorskip("ruff", reason="needs ruff")
    options = ["--isolated", "--no-cache", "--line-length=100", "--target-version=py310"]
    rules = "--select=E,F,W,I,B,UP,SIM,RUF"
    command = [sys.executable, "-m", "ruff", "check", *options, rules, "demo_ops"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout


# --- the package ----------------------------------------------------------------------------------


def _stub(everything: dict[str, str]) -> ast.Module:
    return ast.parse(everything["demo_ops/__init__.pyi"])


def test_the_stub_speaks_python(everything: dict[str, str]) -> None:
    text = re.sub(r'""".*?"""', "", everything["demo_ops/__init__.pyi"], flags=re.S)
    assert "::" not in text and "nullopt" not in text and "at." not in text


def test_the_stub_has_every_function_and_no_other(everything: dict[str, str]) -> None:
    defined = {node.name for node in _stub(everything).body if isinstance(node, ast.FunctionDef)}
    made = planned(EVERYTHING)
    assert defined == {function.name for function in made.functions}


def test_defaults_of_the_stub_are_those_of_the_schema(everything: dict[str, str]) -> None:
    functions = {n.name: n for n in _stub(everything).body if isinstance(n, ast.FunctionDef)}
    arguments = functions["all_defaults"].args
    defaults = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    values = {a.arg: ast.unparse(d) for a, d in defaults if d is not None}
    assert ast.literal_eval(values["k"]) == 'a"b\\c\nd??/g%s{{x}}*/é\t'
    assert ast.literal_eval(values["c"]) == -(2**63)
    assert values["q"] == "torch.long"
    assert values["p"] == "None"


def test_docs_are_the_same_in_cpp_and_stub(everything: dict[str, str]) -> None:
    functions = {n.name: n for n in _stub(everything).body if isinstance(n, ast.FunctionDef)}
    (doc,) = (f.doc for f in planned(EVERYTHING).functions if f.name == "all_defaults")
    shown = ast.get_docstring(functions["all_defaults"], clean=True)
    assert shown is not None
    assert " ".join(shown.split()) == " ".join(doc.replace("\n\n", "\n").split())


def test_a_tuple_of_fields_that_hides_a_method(everything: dict[str, str]) -> None:
    assert "    count: Tensor  # type: ignore[assignment]\n" in everything["demo_ops/__init__.pyi"]


def test_varargs_and_aliases_have_overloads_of_their_own(everything: dict[str, str]) -> None:
    stub = everything["demo_ops/__init__.pyi"]
    assert "def sized(*size: int, n: int = 1) -> Tensor: ..." in stub
    assert "def over(*, y: Tensor, m: Tensor) -> str: ..." in stub
    assert "def over(x: Tensor, *, k: Tensor) -> str: ..." in stub


def test_what_inspect_makes_of_a_text_signature() -> None:
    for function in planned(EVERYTHING).functions:
        if len(function.signatures) > 1:
            continue
        stand_in = SimpleNamespace(__text_signature__=function.text_signature)
        text = stand_in.__text_signature__.partition("(")[2]
        made = inspect._signature_fromstr(inspect.Signature, print, f"({text}")  # type: ignore[attr-defined]
        names = [p.name for p in function.signatures[0].parameters]
        assert [name.removesuffix("_") for name in made.parameters] == [
            name.removesuffix("_") for name in names
        ]


def test_a_function_named_like_a_type_leaves_the_type_its_meaning() -> None:
    entries = funcs(
        [
            "complex(Tensor real, Tensor imag) -> Tensor",
            "f(Scalar int, float x=inf, str s='complex') -> (float str, int complex)",
        ]
    )
    stub = rendered(entries)["demo_ops/__init__.pyi"]
    assert "import builtins\n" in stub
    assert "    str: float\n    complex: int\n" in stub
    assert "    int: int | float | builtins.complex,\n" in stub or (
        "int: int | float | builtins.complex, x: float" in stub
    )
    assert """s: builtins.str = 'complex'""" in stub


def test_a_fake_is_registered_by_the_package() -> None:
    entries = """\
        - func: f(Tensor x) -> Tensor
          dispatch: {CPU: f_cpu}
          fake: fakes:f
        """
    text = rendered(entries)["demo_ops/__init__.py"]
    assert '_register_fake("demo::f", "fakes:f")' in text
    assert "_register_fake" not in rendered(funcs(["f() -> int"]))["demo_ops/__init__.py"]
