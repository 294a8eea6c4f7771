"""The table of types: complete rows, and every default bit-exact in each language."""

from __future__ import annotations

import ast
import math
import struct

import pytest
from opbind import typemap
from opbind.cpp_text import comment, string_literal, string_literals, wrapped
from opbind.model import DefaultKind, ListType, OptionalType
from opbind.parser import parse_schema, parse_type
from opbind.typemap import DefaultFault, DefaultForms


def _forms(argument: str) -> DefaultForms:
    (parsed,) = parse_schema(f"f({argument}) -> ()").arguments
    row = typemap.find(parsed.type)
    assert row is not None and parsed.default is not None
    return row.default_forms(parsed.default, typemap.list_size(parsed.type))


def _fault(argument: str) -> tuple[str, str, str]:
    with pytest.raises(DefaultFault) as caught:
        _forms(argument)
    return caught.value.rule, caught.value.message, caught.value.hint


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(typemap.ROWS))
def test_a_row_is_complete_and_found_by_its_type(name: str) -> None:
    row = typemap.ROWS[name]
    assert typemap.find(parse_type(name.replace("bool[]", "bool[3]"))) is row
    for text in (row.cpp_argument, row.accessor, row.tag, row.stub_argument, row.ownership):
        assert text
    assert ("{N}" in row.accessor) == ("{N}" in row.cpp_argument) == row.is_array
    assert bool(row.cpp_return) == bool(row.stub_return)
    assert bool(row.cpp_written) == bool(row.accessor_written)
    assert row.is_optional == name.endswith("?") == ("None" in row.accepts)


def test_an_array_has_its_size_in_its_type() -> None:
    row = typemap.find(parse_type("bool[3]"))
    assert row is not None and row.cpp_with(3) == "std::array<bool, 3>"
    assert row.accessor_with(3) == "boolarray<3>"
    optional = typemap.find(parse_type("bool[2]?"))
    assert optional is not None
    assert optional.cpp_with(2) == "std::optional<std::array<bool, 2>>"
    assert optional.accessor_with(2) == "boolarrayOptional<2>"


def test_ranks_are_a_total_order_of_the_types_themselves() -> None:
    ranks = [row.rank for row in typemap.ROWS.values() if not row.is_optional]
    assert len(set(ranks)) == len(ranks)


def test_a_type_that_takes_less_is_tried_first() -> None:
    rows = [row for row in typemap.ROWS.values() if not row.is_optional]
    for one in rows:
        for other in rows:
            if one.accepts < other.accepts:
                assert one.rank < other.rank, f"{one.schema} before {other.schema}"


def test_the_size_of_a_list_is_not_part_of_its_row() -> None:
    assert typemap.find(parse_type("int[2]")) is typemap.find(parse_type("int[]"))
    assert typemap.list_size(parse_type("int[2]?")) == 2
    assert typemap.list_size(parse_type("int[]")) == 0


@pytest.mark.parametrize(
    "text",
    ["DimVector", "complex[]", "Tensor[2]", "Scalar[2]", "bool[]", "bool[][]", "int?[]", "Any"],
)
def test_a_type_without_a_row_is_not_found(text: str) -> None:
    assert typemap.find(parse_type(text)) is None


def test_types_of_the_model_are_told_apart_without_their_names() -> None:
    assert typemap.key(OptionalType(ListType(typemap.TENSOR_TYPE, 3))) == "Tensor[]?"


# --- defaults -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "cpp", "python", "stub"),
    [
        ("int a=-1", "of_int(-1)", "-1", "-1"),
        ("int a=9223372036854775807", "of_int(9223372036854775807)", *["9223372036854775807"] * 2),
        (
            "int a=-9223372036854775808",
            "of_int(-9223372036854775807 - 1)",
            *["-9223372036854775808"] * 2,
        ),
        ("int a=Mean", "of_int(1)", "1", "1"),
        (
            "SymInt a=-9223372036854775808",
            "of_int(-9223372036854775807 - 1)",
            *["-9223372036854775808"] * 2,
        ),
        ("DeviceIndex a=-128", "of_int(-128)", "-128", "-128"),
        ("float a=1", "of_double(1.0)", "1.0", "1.0"),
        ("float a=1e-5", "of_double(1e-05)", "1e-05", "1e-05"),
        ("float a=-0.0", "of_double(-0.0)", "-0.0", "-0.0"),
        ("bool a=True", "of_bool(true)", "True", "True"),
        ("Scalar a=1", "of_int(1)", "1", "1"),
        ("Scalar a=0.125", "of_double(0.125)", "0.125", "0.125"),
        ("Scalar a=False", "of_bool(false)", "False", "False"),
        ("Tensor? a=None", "none()", "None", "None"),
        ("float? a=None", "none()", "None", "None"),
        ("str a='q'", 'of_string("q", 1)', "'q'", "'q'"),
        ("Device a='cuda:1'", 'of_string("cuda:1", 6)', "'cuda:1'", "'cuda:1'"),
        (
            "ScalarType a=long",
            "of_int(static_cast<int64_t>(at::ScalarType::Long))",
            "...",
            "torch.long",
        ),
        (
            "MemoryFormat? a=contiguous_format",
            "of_int(static_cast<int64_t>(at::MemoryFormat::Contiguous))",
            "...",
            "torch.contiguous_format",
        ),
        (
            "Layout a=strided",
            "of_int(static_cast<int64_t>(at::Layout::Strided))",
            "...",
            "torch.strided",
        ),
        (
            "float a=inf",
            "of_double(std::numeric_limits<double>::infinity())",
            "...",
            'float("inf")',
        ),
    ],
)
def test_a_default_in_each_language(argument: str, cpp: str, python: str, stub: str) -> None:
    forms = _forms(argument)
    assert (forms.cpp, forms.python, forms.stub) == (cpp, python, stub)


@pytest.mark.parametrize(
    ("argument", "maker", "elements", "python"),
    [
        ("int[] a=[0, 1]", "of_ints", ("0", "1"), "(0, 1)"),
        ("int[] a=[]", "of_ints", (), "()"),
        ("int[1] a=[7]", "of_ints", ("7",), "[7]"),
        ("int[2] a=3", "of_ints", ("3", "3"), "3"),
        ("int[2]? a=[1,2]", "of_ints", ("1", "2"), "(1, 2)"),
        ("SymInt[2] a=3", "of_ints", ("3", "3"), "3"),
        (
            "SymInt[] a=[-9223372036854775808]",
            "of_ints",
            ("-9223372036854775807 - 1",),
            "[-9223372036854775808]",
        ),
        ("float[] a=[0.1, -0.0, 1]", "of_doubles", ("0.1", "-0.0", "1.0"), "(0.1, -0.0, 1.0)"),
        ("float[2] a=0.1", "of_doubles", ("0.1", "0.1"), "0.1"),
        ("float[2] a=1", "of_doubles", ("1.0", "1.0"), "1.0"),
        ("float[]? a=[]", "of_doubles", (), "()"),
        ("bool[2] a=[True, False]", "of_ints", ("1", "0"), "(True, False)"),
        ("bool[3] a=True", "of_ints", ("1", "1", "1"), "(True, True, True)"),
        ("bool[1] a=[False]", "of_ints", ("0",), "[False]"),
        ("complex a=1.5j", "of_doubles", ("0.0", "1.5"), "1.5j"),
        ("complex a=-1j", "of_doubles", ("0.0", "-1.0"), "-1.0j"),
        ("Scalar? a=2j", "of_doubles", ("0.0", "2.0"), "2.0j"),
    ],
)
def test_a_default_in_an_array(
    argument: str, maker: str, elements: tuple[str, ...], python: str
) -> None:
    forms = _forms(argument)
    assert (forms.cpp, forms.elements) == (maker, elements)
    assert (forms.python, forms.stub) == (python, python)


@pytest.mark.parametrize(
    ("argument", "rule"),
    [
        ("int a=1.5", "default-type"),
        ("int a=9223372036854775808", "default-range"),
        ("int a=-9223372036854775809", "default-range"),
        ("int a=abc", "default-name"),
        ("bool a=1", "default-type"),
        ("Tensor a=1", "default-type"),
        ("Tensor a=None", "default-type"),
        ("float a=True", "default-type"),
        (f"float a={10**320}", "default-range"),
        ("float a='x'", "default-type"),
        ("str a=1", "default-type"),
        ("int[] a=3", "default-type"),
        ("int[] a=[1.5]", "default-type"),
        ("int[] a=[9223372036854775808]", "default-range"),
        ("Tensor[] a=[]", "default-type"),
        ("ScalarType a=lnog", "default-name"),
        ("Layout a=sparse", "default-name"),
        ("Scalar a='1'", "default-type"),
        ("complex a=1", "default-type"),
        ("complex a=None", "default-type"),
        ("DeviceIndex a=128", "default-range"),
        ("SymInt a=1.5", "default-type"),
        ("SymInt a=9223372036854775808", "default-range"),
        ("SymInt[] a=3", "default-type"),
        ("SymBool a=True", "default-type"),
        ("float[] a=0.5", "default-type"),
        ("float[] a=['x']", "default-type"),
        ("float[] a=[inf]", "default-range"),
        ("bool[2] a=[1]", "default-type"),
        ("bool[2] a=[True]", "default-type"),
        ("Scalar[] a=[]", "default-type"),
        ("int[][] a=[]", "default-type"),
    ],
)
def test_a_default_that_its_type_does_not_take(argument: str, rule: str) -> None:
    found, message, hint = _fault(argument)
    assert found == rule
    assert argument.split("=")[1].strip("[]") in message
    assert hint


def test_a_float_default_keeps_every_bit() -> None:
    for bits in (1, 0x3FB999999999999A, 0x7FEFFFFFFFFFFFFF, 0x8000000000000001):
        (value,) = struct.unpack("<d", struct.pack("<Q", bits))
        forms = _forms(f"float a={value!r}")
        assert struct.pack("<d", ast.literal_eval(forms.python)) == struct.pack("<d", value)
        assert forms.cpp == f"of_double({value!r})"


def test_the_stub_can_show_what_is_no_number() -> None:
    assert eval(_forms("float a=-inf").stub) == -math.inf
    assert math.isnan(eval(_forms("float a=nan").stub))


def test_every_default_kind_of_a_row_has_a_text_for_messages() -> None:
    for row in typemap.ROWS.values():
        assert (row.defaults_text == "no default") == (not row.defaults)
        assert DefaultKind.NONE not in row.defaults or row.is_optional


# --- C++ text -------------------------------------------------------------------------------------


def _value_of(literals: tuple[str, ...]) -> bytes:
    """What a C++ compiler makes of adjacent literals; Python's escapes are the same here."""
    text = "".join(literal[1:-1] for literal in literals)
    text = text.replace("\\?", "?")
    return text.encode("ascii").decode("unicode_escape").encode("latin-1")


NASTY = 'a"b\\c\nd\te\rf??/g?%s{{x}}*/h\x00\x01é漢😀0" ??=' + "x" * 300 + " y" * 100


@pytest.mark.parametrize("text", ["", "plain", NASTY, "\n\n", "?" * 200, "é" * 150, "a b " * 80])
def test_a_literal_has_the_bytes_of_the_text(text: str) -> None:
    assert _value_of(string_literals(text)) == text.encode()
    assert _value_of((string_literal(text),)) == text.encode()
    assert all(len(literal) <= 100 for literal in string_literals(text))
    assert all("??" not in literal for literal in string_literals(text))
    assert all(literal.isascii() for literal in string_literals(text))


@pytest.mark.parametrize("piece", ["x", "ab ", "é"])
def test_a_long_text_is_whole(piece: str) -> None:
    text = piece * 70_000
    literals = string_literals(text)
    assert _value_of(literals) == text.encode()
    assert all(len(literal) <= 100 for literal in literals)


def test_a_character_wider_than_the_line_stands_alone() -> None:
    assert string_literals("a😀", 12) == ('"a"', '"\\360\\237\\230\\200"')


def test_a_comment_stays_on_its_lines() -> None:
    for text in ("a\nb", "ends in \\", "ends in ??/", "é\x07", "word " * 60, "x" * 90 + "\\ " * 30):
        for line in comment(text):
            assert line.startswith("//") and line.isascii() and "\n" not in line
            assert not line.rstrip().endswith(("\\", "??/"))
    assert all(len(line) <= 100 for line in comment("word " * 60))


def test_a_long_call_is_wrapped_at_its_bracket() -> None:
    items = tuple(f"argument_{i}" for i in range(12))
    text = wrapped("call(", items, ");", 2)
    assert all(len(line) <= 100 for line in text.split("\n"))
    assert text.replace("\n", " ").split() == f"  call({', '.join(items)});".split()
    assert {len(line) - len(line.lstrip()) for line in text.split("\n")[1:]} == {7}
    assert wrapped("call(", ("a", "b"), ");", 2) == "  call(a, b);"
