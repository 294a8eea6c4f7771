"""Schemas and entries to the model, without torch."""

from __future__ import annotations

import math
import random

import pytest
from opbind import loader, parser, reader
from opbind.errors import Diagnostics, Location, SchemaError
from opbind.fields import ENTRY_FIELDS
from opbind.model import (
    AliasInfo,
    AutogradPolicy,
    BaseType,
    CallPolicy,
    Default,
    DefaultKind,
    DictType,
    GilPolicy,
    ListType,
    OperatorName,
    OptionalType,
    Schema,
    SchemaFile,
    TupleType,
)
from opbind.parser import parse_file, parse_schema, parse_type, read_schema_lines
from schema_samples import SchemaMaker


def _read(text: str) -> tuple[Schema, list[str]]:
    diagnostics = Diagnostics()
    schema = parse_schema(text, None, diagnostics)
    assert parse_schema(str(schema)) == schema
    return schema, [item.rule for item in diagnostics.items]


def _fault(text: str) -> tuple[str, int, str]:
    """(rule, column, message and remedy) of what is wrong."""
    with pytest.raises(SchemaError) as caught:
        parse_schema(text)
    found = caught.value.diagnostic
    return found.rule, found.location.column, f"{found.message}; {found.hint}"


def _default(text: str) -> Default:
    found = _read(f"f({text}) -> ()")[0].arguments[0].default
    assert found is not None
    return found


# ---------------------------------------------------------------- canonical text


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("f()->()", "f() -> ()"),
        ("  ns :: f . out ( Tensor self ) -> Tensor ", "ns::f.out(Tensor self) -> Tensor"),
        ("f(Tensor a,\n  int b = 1,bool c=True)\n-> (Tensor)",
         "f(Tensor a, int b=1, bool c=True) -> Tensor"),
        ("f(Tensor !x, Tensor! y, Tensor ! z) -> ()", "f(Tensor! x, Tensor! y, Tensor! z) -> ()"),
        ("f(Tensor ? x, Tensor!? y, int [ 2 ] z) -> ()",
         "f(Tensor? x, Tensor!? y, int[2] z) -> ()"),
        ("f(Tensor( a ! -> b|c )? x) -> Tensor(a)[]", "f(Tensor(a! -> b|c)? x) -> Tensor(a)[]"),
        ("f(Tensor(a!)[] x, Tensor[](b!) y) -> ()", "f(Tensor(a!)[] x, Tensor[](b!) y) -> ()"),
        ("f(Tensor(a)[](b!) x, Tensor[](a)[] y) -> ()",
         "f(Tensor(a)[](b!) x, Tensor[](a)[] y) -> ()"),
        ("f(Dict(str,Tensor)? d, (int,str)[] t) -> Dict(str,int[])",
         "f(Dict(str, Tensor)? d, (int, str)[] t) -> Dict(str, int[])"),
        ("f() -> ((int,int))", "f() -> ((int, int))"),
        ("f() -> (Tensor Z)", "f() -> Tensor Z"),
        ("f(int a, ...) -> ...", "f(int a, ...) -> ..."),
        ("f(...) -> (int, ...)", "f(...) -> (int, ...)"),
        ("f(int a, *, int b) -> (int x, int y)", "f(int a, *, int b) -> (int x, int y)"),
        ("f(int[2] a=[ 1, -2 ], str s=\"it's\") -> ()", "f(int[2] a=[1,-2], str s=\"it's\") -> ()"),
        ('f(str s="n") -> ()', "f(str s='n') -> ()"),
        ("f(float e=1e-5, float g=0.10) -> ()", "f(float e=1e-05, float g=0.1) -> ()"),
        ("f(__torch__.torch.classes.ns.C[] x) -> ()",
         "f(__torch__.torch.classes.ns.C[] x) -> ()"),
        ("f(int a) -> () # why", "f(int a) -> ()"),
        ("f(int from, Tensor type) -> ()", "f(int from, Tensor type) -> ()"),
    ],
)  # fmt: skip
def test_canonical_text(written: str, canonical: str) -> None:
    schema, rules = _read(written)
    assert str(schema) == canonical
    assert rules == []


def test_fields() -> None:
    schema, _ = _read(
        "ns::foo_.out(Tensor(a!) self, int[2]? k=None, *, Tensor! out) -> (Tensor(a!) r)"
    )
    assert schema.name == OperatorName("foo_", "out", "ns")
    assert [a.name for a in schema.positional] == ["self", "k"]
    assert [a.name for a in schema.keyword_only] == ["out"]
    assert schema.positional[0].alias == AliasInfo(("a",), None, True)
    assert schema.positional[1].type == OptionalType(ListType(BaseType("int"), 2))
    assert schema.keyword_only[0].alias == AliasInfo(is_write=True)
    assert schema.out_arguments == schema.keyword_only
    assert schema.returns[0].name == "r"


def test_types() -> None:
    assert parse_type("Tensor?[]") == ListType(OptionalType(BaseType("Tensor")))
    assert parse_type("(int, Dict(str, int))") == TupleType(
        (BaseType("int"), DictType(BaseType("str"), BaseType("int")))
    )
    assert parse_type("int??") == OptionalType(BaseType("int"))
    for text in ("Tensor(a!)", "int x", ""):
        with pytest.raises(SchemaError):
            parse_type(text)


def test_marks_of_lists_and_elements_are_told_apart() -> None:
    schema, _ = _read("f(Tensor(a!)[] x, Tensor[](a!) y, Tensor(a)[](b) z, Tensor[](a!)[] w) -> ()")
    x, y, z, w = (argument.alias for argument in schema.arguments)
    assert x == AliasInfo(("a",), None, True, on_element=True)
    assert y == AliasInfo(("a",), None, True)
    assert z == AliasInfo(("b",), element=AliasInfo(("a",)))
    assert w is not None and w.writes and not w.is_write
    assert [argument.is_write for argument in schema.arguments] == [True, True, False, True]


# ---------------------------------------------------------------- defaults


@pytest.mark.parametrize(
    ("text", "kind", "value", "canonical"),
    [
        ("int x=9223372036854775807", DefaultKind.INT, 2**63 - 1, "9223372036854775807"),
        ("int x=- 5", DefaultKind.INT, -5, "-5"),
        ("int x=010", DefaultKind.INT, 10, "10"),
        ("int x=0x2FFFFFF", DefaultKind.INT, 0x2FFFFFF, "50331647"),
        ("int x=100000000000000000000", DefaultKind.INT, 10**20, "100000000000000000000"),
        ("float x=1", DefaultKind.INT, 1, "1"),
        ("float x=-0", DefaultKind.FLOAT, -0.0, "-0.0"),
        ("float x=1e-5", DefaultKind.FLOAT, 1e-5, "1e-05"),
        ("float x=.5", DefaultKind.FLOAT, 0.5, "0.5"),
        ("float x=5.", DefaultKind.FLOAT, 5.0, "5.0"),
        ("float x=0.1", DefaultKind.FLOAT, 0.1, "0.1"),
        ("float x=0x1.8p3", DefaultKind.FLOAT, 12.0, "12.0"),
        ("float x=inf", DefaultKind.FLOAT, math.inf, "inf"),
        ("float x=-inf", DefaultKind.FLOAT, -math.inf, "-inf"),
        ("Scalar x=1j", DefaultKind.COMPLEX, 1j, "1j"),
        ("complex x=-1.5j", DefaultKind.COMPLEX, -1.5j, "-1.5j"),
        ("bool x=True", DefaultKind.BOOL, True, "True"),
        ("Tensor? x=None", DefaultKind.NONE, None, "None"),
        ("int x=Mean", DefaultKind.NAME, "Mean", "Mean"),
        ("str x='a, b=)'", DefaultKind.STRING, "a, b=)", "'a, b=)'"),
        (r"str x='it\'s'", DefaultKind.STRING, "it's", '"it\'s"'),
        (r"str x='\n\\\t'", DefaultKind.STRING, "\n\\\t", r"'\n\\\t'"),
        (r"str x='\101\303\251'", DefaultKind.STRING, "Aé", "'Aé'"),
        (r"str x='\x41\u00e9\r'", DefaultKind.STRING, "Aé\r", r"'Aé\015'"),
        ("str x='''it's'''", DefaultKind.STRING, "it's", '"it\'s"'),
        ("str x=''", DefaultKind.STRING, "", "''"),
        ("str x=''''''", DefaultKind.STRING, "", "''"),
        ("str x='\u2028'", DefaultKind.STRING, "\u2028", r"'\342\200\250'"),
    ],
)
def test_defaults(text: str, kind: DefaultKind, value: object, canonical: str) -> None:
    assert _default(text) == Default(kind, value, canonical)
    assert type(_default(text).value) is type(value)


def test_signs_of_zero_and_nan() -> None:
    zero, nan = _default("float x=-0.0").value, _default("float x=nan").value
    assert isinstance(zero, float) and math.copysign(1, zero) == -1
    assert isinstance(nan, float) and math.isnan(nan)


def test_lists_hold_defaults() -> None:
    found = _default("float[] x=[1, -2.5]")
    assert found.kind is DefaultKind.LIST
    assert isinstance(found.value, tuple)
    assert [item.value for item in found.value] == [1, -2.5]


# ---------------------------------------------------------------- warnings


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("f(int x=0x2F) -> ()", "torch-misreads"),
        ("f(Scalar x=1E5) -> ()", "torch-misreads"),
        ("f(float? x=1E5) -> ()", "torch-misreads"),
        ("f(complex x=12) -> ()", "torch-misreads"),
        ("f(int[2.5] x) -> ()", "torch-misreads"),
        ("f(int a, int a) -> ()", "duplicate-argument"),
        ("f() -> (int a, int a)", "duplicate-return"),
        ("f() -> None", "returns-none"),
        ("f(int a=1, int b) -> ()", "default-order"),
        ("f() -> (int a, int)", "partial-names"),
        ("f(int a, *) -> ()", "idle-star"),
        ("f(*, int a, *, int b) -> ()", "idle-star"),
        ("f((Tensor(a), int) x) -> ()", "alias-dropped"),
        ("f(double x) -> ()", "type-variable"),
        ("f(Dimname x) -> ()", "torch-refuses"),
        ("f(int in) -> ()", "torch-refuses"),
        ("f(int größe) -> ()", "torch-refuses"),
        ("f.default() -> ()", "torch-refuses"),
        ("f.__x() -> ()", "torch-refuses"),
        ("f(float x=inf) -> ()", "torch-refuses"),
        ("f(int x=+1) -> ()", "torch-refuses"),
        ("f(int x=9223372036854775808) -> ()", "torch-refuses"),
        ("f(str x='\\r') -> ()", "torch-refuses"),
        ("f(int x=abc) -> ()", "torch-refuses"),
        ("f(bool x=1) -> ()", "default-type"),
        ("f(int x=1.5) -> ()", "default-type"),
        ("f(int x=None) -> ()", "default-type"),
        ("f(Tensor x=1) -> ()", "default-type"),
        ("f(str x=1) -> ()", "default-type"),
        ("f(int[2] x=['a']) -> ()", "default-type"),
    ],
)
def test_warnings(text: str, rule: str) -> None:
    _, rules = _read(text)
    assert rules == [rule]
    assert rule in reader.RULES


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "rule", "column", "words"),
    [
        ("", "syntax", 1, "operator's name"),
        ("f", "syntax", 2, "'('"),
        ("f(int a)", "no-returns", 9, "'-> ()'"),
        ("f(int a) ()", "syntax", 10, "'->'"),
        ("f(int a) → ()", "bad-token", 10, "'->'"),
        ("f(int a) - > ()", "syntax", 10, "'->'"),
        ("f(int a) -> ();", "bad-token", 15, "ends after its returns"),
        ("f(int a) -> () x", "syntax", 16, "the end of the schema"),
        ("f(int a,) -> ()", "trailing-comma", 8, "delete it"),
        ("f(int[2] a=[1,]) -> ()", "trailing-comma", 14, "delete it"),
        ("f(int a int b) -> ()", "syntax", 9, "',' or ')'"),
        ("f(int) -> ()", "no-argument-name", 6, "int NAME"),
        ("f(int a=) -> ()", "syntax", 9, "a default"),
        ("f(int a=1=2) -> ()", "syntax", 10, "',' or ')'"),
        ("f(int a=(1, 2)) -> ()", "syntax", 9, "[1, 2]"),
        ("f(int a=1_000) -> ()", "bad-token", 9, "is no number"),
        ("f(int a=0b1) -> ()", "bad-token", 9, "is no number"),
        ("f(int a=12:30) -> ()", "syntax", 11, "',' or ')'"),
        ("f(float a=1e999) -> ()", "bad-literal", 11, "inf"),
        ("f(str a='x) -> ()", "bad-token", 9, "not closed"),
        ("f(str a='\\q') -> ()", "bad-literal", 10, "backslash"),
        ("f(str a='\\777') -> ()", "bad-literal", 10, "377"),
        ("f(str a='\\377') -> ()", "bad-literal", 9, "UTF-8"),
        ("f(Tenser a) -> ()", "unknown-type", 3, "'Tensor'"),
        ("f(Optional[int] a) -> ()", "unknown-type", 3, "T?"),
        ("f(List[int] a) -> ()", "unknown-type", 3, "T[]"),
        ("f(const Tensor& a) -> ()", "bad-token", 15, "C++"),
        ("f(Tensor?(a!) x) -> ()", "misplaced-alias", 10, "T(a!)?"),
        ("f(Tensor() x) -> ()", "syntax", 10, "(a!)"),
        ("f(Tensor(a!|b) x) -> ()", "syntax", 12, "alias mark"),
        ("f(int[-1] a) -> ()", "syntax", 7, "[3]"),
        ("f(int[4294967296] a) -> ()", "bad-literal", 7, "[3]"),
        ("f(Dict(str) a) -> ()", "syntax", 7, "Dict(str, int)"),
        ("f(__torch__.Cls a) -> ()", "unknown-type", 3, "__torch__.torch.classes"),
        ("f(..., int a) -> ()", "last-dots", 8, "last argument"),
        ("f() -> (..., int)", "last-dots", 14, "last return"),
        ("a::b::f() -> ()", "namespace-depth", 5, "NAMESPACE::NAME"),
        ("1foo() -> ()", "bad-token", 1, "is no number"),
        ("float$scale(int a) -> ()", "bad-token", 6, "'$'"),
        ("f(int\u00a0a) -> ()", "bad-token", 6, "no-break"),
        (f"f({'(' * 500}int a) -> ()", "too-deep", 27, "deep"),
        (f"f(int{'[]' * 500} a) -> ()", "too-deep", 54, "deep"),
        (f"f(int a={'[' * 500}) -> ()", "too-deep", 34, "deep"),
        (f"f(int a={'9' * 5000}) -> ()", "bad-literal", 9, "5000"),
    ],
)
def test_errors(text: str, rule: str, column: int, words: str) -> None:
    found = _fault(text)
    assert found[:2] == (rule, column)
    assert words in found[2]
    assert rule in reader.RULES


def test_places_in_text_of_several_lines() -> None:
    with pytest.raises(SchemaError) as caught:
        parse_schema("f(Tensor a,\n  Tenser b) -> ()", Location("x.yaml", 7, 5, "f(Tensor a,"))
    assert caught.value.diagnostic.location == Location("x.yaml", 8, 3, "  Tenser b) -> ()")


def test_arguments_know_their_places() -> None:
    schema = parse_schema("f(Tensor a, *, int b) -> int r", Location("x", 3, 9, "- func:  f(...)"))
    places = [*(a.location for a in schema.arguments), *(r.location for r in schema.returns)]
    assert [(p.line, p.column) for p in places if p is not None] == [(3, 11), (3, 24), (3, 34)]
    assert schema.location == Location("x", 3, 9, "- func:  f(...)")


# ---------------------------------------------------------------- one schema a line


def test_status_lines() -> None:
    lines = [
        "\ufefff()->()\r\n",
        "f() -> None\n",
        "f(int) -> ()\n",
        "\n",
        "f(str s='\t\u2028') -> ()\n",
    ]
    assert [line.status_text for line in read_schema_lines(lines)] == [
        "ok\tf() -> ()",
        "warn\tf() -> None\t'-> None' is one return of type None, not zero returns; write '-> ()'",
        "error\t6\texpected the argument's name after its type 'int', found ')'; write 'int NAME'",
        "error\t1\texpected an operator's name, found the end",
        r"ok" + "\t" + r"f(str s='\t\342\200\250') -> ()",
    ]


def test_a_status_line_is_one_line() -> None:
    lines = [
        "f(\x85) -> ()",
        "f(\udcff) -> ()",
        "f(\u2028) -> ()",
        "f(\t\x0b$) -> ()",
        "f(int a='\udcff') -> ()",
    ]
    for line in read_schema_lines(lines):
        assert line.status == "error"
        assert len(line.status_text.splitlines()) == 1
        assert line.status_text.count("\t") == 2
        line.status_text.encode()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_stands_there(seed: int) -> None:
    maker, chance = SchemaMaker(seed), random.Random(seed)
    for _ in range(1500):
        text = maker.mutated(maker.schema())
        noise = "".join(chr(chance.randrange(0x110000)) for _ in range(3))
        for line in read_schema_lines([text, text[::-1], noise + text, text + noise]):
            assert line.status in ("ok", "warn", "error")
            if line.canonical:
                assert str(parse_schema(line.canonical)) == line.canonical
            assert all(item.rule in reader.RULES for item in line.diagnostics)


# ---------------------------------------------------------------- files

LIBRARY = "library: {namespace: demo}\nfunctions:\n"
SCALE = "- func: scale(Tensor self, float alpha=1.0) -> Tensor\n"


def _file(text: str) -> tuple[SchemaFile, list[tuple[str, int, int]]]:
    diagnostics = Diagnostics()
    file = parse_file(loader.load(text, "some/ops.yaml", diagnostics), diagnostics)
    known = {**loader.RULES, **reader.RULES, **parser.RULES}
    assert all(item.rule in known for item in diagnostics.items)
    places = [(i.rule, i.location.line, i.location.column) for i in diagnostics.items]
    return file, places


def test_own_and_aten_ops() -> None:
    file, faults = _file(
        "library: {namespace: demo, module: demo_ops, shards: 2, host: torch, doc: All.}\n"
        "functions:\n"
        "- func: demo::scale(Tensor self, float alpha=1.0) -> Tensor\n"
        "  dispatch:\n"
        "    CPU, CUDA: scale_any\n"
        "    Meta: impl::scale_meta\n"
        "  gil: hold\n"
        "  call: direct\n"
        "  autograd: none\n"
        "  fake: demo.fakes:scale\n"
        "  device_guard: False\n"
        "  numbers_as_tensors: true\n"
        "  aliases: {alpha: [a, b], self: input, x: y}\n".replace(", x: y", "")
        + "  python_name: no\n"
        "  doc: on\n"
        "  examples: ['scale(x)', 'a, b']\n"
        "- func: aten::add.Tensor(Tensor self, Tensor other) -> Tensor\n"
        "  variants: function, method\n"
        "  tags: [core, pointwise]\n"
        "  python_module: nn\n"
    )
    assert faults == []
    assert (file.name, file.library.module, file.library.shards) == ("ops.yaml", "demo_ops", 2)
    assert (file.library.host, file.library.doc) == ("torch", "All.")
    own, aten = file.ops
    assert str(own.schema.name) == "scale" and str(aten.schema.name) == "add.Tensor"
    assert (own.is_own, aten.is_own) == (True, False)
    assert [(k.dispatch_key, k.name) for k in own.kernels] == [
        ("CPU", "scale_any"), ("CUDA", "scale_any"), ("Meta", "impl::scale_meta"),
    ]  # fmt: skip
    assert (own.gil, own.call, own.autograd) == (
        GilPolicy.HOLD, CallPolicy.DIRECT, AutogradPolicy.NONE,
    )  # fmt: skip
    assert (own.fake, own.device_guard, own.numbers_as_tensors) == ("demo.fakes:scale", False, True)
    assert own.aliases == (("alpha", ("a", "b")), ("self", ("input",)))
    assert (own.python_name, own.doc) == ("no", "on")
    assert own.examples == ("scale(x)", "a, b")
    assert aten.variants == ("function", "method")
    assert (aten.tags, aten.python_module) == (("core", "pointwise"), "nn")
    assert aten.kernels == () and aten.device_guard


def test_defaults_of_a_library() -> None:
    assert _file(LIBRARY + SCALE)[0].library.module == "demo_ops"
    assert _file(SCALE)[0].library.namespace == "aten"


def test_in_a_list_all_ops_are_atens() -> None:
    file, faults = _file(SCALE + "  dispatch: {CPU: f, Nonsense: g}\n")
    assert faults == []
    assert not file.ops[0].is_own and file.ops[0].kernels == ()


@pytest.mark.parametrize(
    ("text", "rule", "line", "column"),
    [
        (SCALE + SCALE, "duplicate-op", 2, 3),
        (LIBRARY + SCALE + "  dispatch:\n    CPU, CUDA: f\n    Meta, CPU: g\n",
         "duplicate-dispatch-key", 6, 11),
        (LIBRARY + SCALE + "  dispatch: {CPUU: f}\n", "unknown-dispatch-key", 4, 14),
        (LIBRARY + SCALE + "  dispatch: {CPU: a-b}\n", "bad-kernel-name", 4, 19),
        (LIBRARY + SCALE + "  dispatch: {}\n", "no-kernels", 4, 13),
        (LIBRARY + SCALE + "  fake: a:b\n", "own-op-key", 4, 9),
        (SCALE + "  autograd: none\n", "own-op-key", 2, 13),
        ("functions:\n" + SCALE + "  dispatch: {CPU: f}\n", "no-library", 2, 3),
        (LIBRARY + "- func: other::f() -> ()\n  dispatch: {CPU: f}\n", "foreign-namespace", 3, 9),
        (LIBRARY + SCALE + "  dispatch: {CPU: f}\n  fake: nowhere\n", "bad-fake", 5, 9),
        (LIBRARY + SCALE + "  aliases: {alhpa: a}\n", "bad-alias", 4, 13),
        (LIBRARY + SCALE + "  aliases: {alpha: self}\n", "bad-alias", 4, 20),
        (LIBRARY + SCALE + "  aliases: {alpha: [a, 1x]}\n", "bad-alias", 4, 24),
        (SCALE + "  tags: [core, pointwis]\n", "unknown-tag", 2, 16),
        ("- {name: f() -> (), aten: g}\n", "bad-deprecated", 1, 28),
        ("- {name: f() -> (), aten: 'g(1, )'}\n", "bad-deprecated", 1, 31),
        ("- {name: f() -> (), aten: g() h}\n", "bad-deprecated", 1, 31),
        ("- func: f(int) -> ()\n", "no-argument-name", 1, 14),
        ("- func: f(int a=1=2) -> ()\n", "syntax", 1, 18),
        ("- {name: f(int) -> (), aten: g()}\n", "no-argument-name", 1, 15),
    ],
)  # fmt: skip
def test_faults_of_entries(text: str, rule: str, line: int, column: int) -> None:
    assert _file(text)[1] == [(rule, line, column)]


def test_all_faults_are_told_and_good_entries_kept() -> None:
    file, faults = _file("- func: f(\n- func: g() -> ()\n- func: h(Tenser x) -> ()\n")
    assert [str(op.schema.name) for op in file.ops] == ["g"]
    assert [rule for rule, *_ in faults] == ["syntax", "unknown-type"]


def test_of_very_many_faults_the_first_have_a_guess() -> None:
    diagnostics = Diagnostics()
    keys = "".join(f"    CPUX{i}: k\n" for i in range(5_000))
    text = f"{LIBRARY}- func: f(Tensor x) -> Tensor\n  dispatch:\n{keys}"
    parse_file(loader.load(text, "ops.yaml", diagnostics), diagnostics)
    hints = [item.hint for item in diagnostics.items]
    assert len(hints) == 5_000
    assert hints[0] == "did you mean 'CPU'?" and 100 < sum(map(bool, hints)) < 2_000


def test_both_lines_of_a_duplicate_are_named() -> None:
    diagnostics = Diagnostics()
    parse_file(loader.load(SCALE + "\n" + SCALE, "ops.yaml", diagnostics), diagnostics)
    assert diagnostics.items[0].location.line == 3
    assert "line 1" in diagnostics.items[0].message


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("- func: f(Tensor a, Tenser b) -> ()\n", 1, 21),
        ("- func: 'f(str a=''x'', Tenser b) -> ()'\n", 1, 25),
        ('- func: "f(str a=\\"x\\", Tenser b) -> ()"\n', 1, 25),
        ("- func: \"f(str a='\\u00e9\\x41', Tenser b) -> ()\"\n", 1, 32),
        ("- func: f(Tensor a,\n    Tenser b) -> ()\n", 2, 5),
        ("- func: f(Tensor a,\n\n    Tenser b) -> ()\n", 3, 5),
        ('- func: "f(Tensor a, \\\n    Tenser b) -> ()"\n', 2, 5),
        ('- func: "f(Tensor a,\n    Tenser b) -> ()"\n', 2, 5),
        ("- func: |\n    f(Tensor a,\n      Tenser b) -> ()\n", 3, 7),
        ("- func: >-\n    f(Tensor a,\n    Tenser b) -> ()\n", 3, 5),
        ("- func: |2\n    f(Tensor a,\n    Tenser b) -> ()\n", 3, 5),
        ("- {func: 'f(Tenser a) -> ()'}\n", 1, 13),
        ("- func: f(str é='\U0001f600', Tenser b) -> ()\n", 1, 22),
    ],
)
def test_columns_in_every_style_of_scalar(text: str, line: int, column: int) -> None:
    _, faults = _file(text)
    assert faults[-1] == ("unknown-type", line, column)


def test_every_rule_is_a_kebab_case_word() -> None:
    rules = [*loader.RULES, *reader.RULES, *parser.RULES]
    assert len(rules) == len(set(rules))
    assert all(rule == rule.lower() and " " not in rule for rule in rules)


def test_every_key_has_a_text_for_the_docs() -> None:
    assert all(field.doc.endswith(".") for field in ENTRY_FIELDS)


@pytest.mark.parametrize(
    "text",
    [
        "f(int a=1, ...) -> ()",
        "f(*, int a=1, int b, ...) -> ()",
        "f(int[2][] a) -> ()",
        "f(int[2]?? a) -> ()",
        "f((int[2], int) a) -> ()",
        "f(None? a) -> ()",
        "f((int, int)(a) x) -> ()",
        "f(Future(int)! x) -> ()",
        "f(int[]? a=[1]) -> ()",
        "f(int[] a=None) -> ()",
        "f(int[2] a=Mean) -> ()",
        "f(int a=int8) -> ()",
        "f(SymInt[2] a=[1, int8]) -> ()",
        "f(str[] a=['x']) -> ()",
        "f(Scalar[] a=[]) -> ()",
        "f(number a=1) -> ()",
        "f(Storage a=None) -> ()",
        "f(float a=1e-310) -> ()",
        "f(float a=1e-999) -> ()",
        "f(complex a=7) -> ()",
    ],
)
def test_what_only_pytorch_refuses_is_a_warning(text: str) -> None:
    diagnostics = Diagnostics()
    schema = parse_schema(text, None, diagnostics)
    assert "torch-refuses" in {item.rule for item in diagnostics.items}
    assert parse_schema(str(schema)) == schema


@pytest.mark.parametrize(
    "text",
    [
        "f(int a, ...) -> ()",
        "f(int[][2] a) -> int[2]?",
        "f(int[2] a=[Mean]) -> ()",
        "f(ScalarType[2] a=1) -> ()",
        "f(ScalarType? a=int8) -> ()",
        "f(Dict(str, int)(a!) x) -> ()",
        "f(Tensor a=None, Generator b=None) -> ()",
        "f(float a=2.2250738585072014e-308, float b=0e-999) -> ()",
    ],
)
def test_what_pytorch_reads_is_no_warning(text: str) -> None:
    diagnostics = Diagnostics()
    parse_schema(text, None, diagnostics)
    assert diagnostics.items == []
