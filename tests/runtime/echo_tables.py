"""What each row of typemap makes of each value of the zoo: texts and errors, by hand.

A value that a table does not have is refused, in the words that every refusal has. Lists have the
table of their elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Raises:
    """An exception, its text and its note; `{where}` is the argument or, in a list, the element."""

    type: type[BaseException]
    text: str
    note: str = ""

    def within(self, index: int) -> Raises:
        """The same of an element of a list."""
        return self._replaced("{where}", f"{{where}}[{index}]")

    def of(self, argument: str) -> Raises:
        """The same of an argument: "echo_int(): argument 'x' (position 1)"."""
        return self._replaced("{where}[", f"{argument}: x[")._replaced("{where}", argument)

    def _replaced(self, old: str, new: str) -> Raises:
        return Raises(self.type, self.text.replace(old, new), self.note.replace(old, new))


@dataclass(frozen=True, slots=True)
class Table:
    """A row's values. The optional row's are the same, and None."""

    # The type in errors.
    wanted: str
    # Expression of the zoo -> the text that the op makes of the value.
    accepted: Mapping[str, str]
    # What is taken and cannot be read.
    raises: Mapping[str, Raises] = field(default_factory=dict)
    # Names of the Python types that a result may have; any when empty.
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListTable:
    """A row of lists."""

    wanted: str
    # The row of its elements; of those that may be None the optional one.
    element: str
    # A value that this row takes.
    filler: str
    results: tuple[str, ...] = ("tuple",)


# --- numbers ------------------------------------------------------------------------------------

_SMALL_INTS = {
    "0": "0",
    "1": "1",
    "-1": "-1",
    "2**31": "2147483648",
    "np.int8(-5)": "-5",
    "np.int16(-5)": "-5",
    "np.int32(-5)": "-5",
    "np.uint8(255)": "255",
    "np.uint16(65535)": "65535",
    "np.uint32(2**32 - 1)": "4294967295",
    "np.uint64(5)": "5",
    "IntSub(5)": "5",
    "Number.SEVEN": "7",
    "Tensor(2, dim=0)": "2",
    "TensorSub(7, dim=0)": "7",
}
_SYMBOL = "nh.SymInt(5, 's0')"
_INTS = {
    **_SMALL_INTS,
    "2**63 - 1": "9223372036854775807",
    "-(2**63)": "-9223372036854775808",
    "np.int64(2**63 - 1)": "9223372036854775807",
    _SYMBOL: "5",
}
# What has `__index__` and is nobody's number.
_INDICES = {
    "np.array(3)": "3",
    "Index(3)": "3",
    "Index(True)": "1",
}
_UNREADABLE = {"Unreadable(6)": "6"}
_BEYOND_INT64 = Raises(OverflowError, "{where} must lie between -2**63 and 2**63 - 1")
_NO_INDEX = Raises(
    TypeError, "{where}: only integer scalar arrays can be converted to a scalar index"
)
_INT_RAISES = {
    **dict.fromkeys(
        ("2**63", "-(2**63) - 1", "2**64 - 1", "2**64", "10**400", "10**5000", "IntSub(2**70)"),
        _BEYOND_INT64,
    ),
    "np.uint64(2**64 - 1)": _BEYOND_INT64,
    "Index(2**63)": _BEYOND_INT64,
    "Tensor(2**63, dim=0)": _BEYOND_INT64,
    "Index(KeyError('why'))": Raises(KeyError, "'why'"),
    "Index(KeyboardInterrupt())": Raises(KeyboardInterrupt, ""),
    "Index(1.5)": Raises(TypeError, "{where}: __index__ returned non-int (type float)"),
    **dict.fromkeys(
        ("np.array([4])", "np.array([1, 2])", "np.array(2.5)", "np.array(None)"), _NO_INDEX
    ),
}

_BEYOND_INT8 = Raises(OverflowError, "{where} must lie between -128 and 127")
_DEVICE_INDICES = {
    **{value: text for value, text in _INTS.items() if len(text) < 3},
    **_UNREADABLE,
    **_INDICES,
}

_TRUE_OR_FALSE = {
    **{"True": "True", "False": "False"},
    **{"np.bool_(True)": "True", "np.bool_(False)": "False"},
}
_SYMBOLIC_BOOL = "nh.SymBool(True, 'b0')"
_BOOLS = {**_TRUE_OR_FALSE, _SYMBOLIC_BOOL: "True"}

_FLOATS = {
    "0.0": "0",
    "-0.0": "-0",
    "0.1": "0.1",
    "2.0": "2",
    "1e300": "1e+300",
    "5e-324": "5e-324",
    "float('inf')": "inf",
    "float('-inf')": "-inf",
    "float('nan')": "nan",
    "np.float16(0.5)": "0.5",
    "np.float32(0.1)": "0.10000000149011612",
    "np.float64(0.1)": "0.1",
    "np.longdouble(0.5)": "0.5",
    "FloatSub(2.5)": "2.5",
    "Tensor(2.5, dim=0)": "2.5",
}
_INTS_AS_FLOATS = {
    **_SMALL_INTS,
    "2**63 - 1": "9223372036854775808",
    "-(2**63)": "-9223372036854775808",
    "np.int64(2**63 - 1)": "9223372036854775808",
    "2**63": "9223372036854775808",
    "-(2**63) - 1": "-9223372036854775808",
    "2**64 - 1": "18446744073709551616",
    "2**64": "18446744073709551616",
    "np.uint64(2**64 - 1)": "18446744073709551616",
    "Tensor(2**63, dim=0)": "9223372036854775808",
    "IntSub(2**70)": "1180591620717411303424",
    _SYMBOL: "5",
}
_BOOLS_AS_FLOATS = {
    "True": "1",
    "False": "0",
    "np.bool_(True)": "1",
    "np.bool_(False)": "0",
    "Tensor(True, dim=0)": "1",
    _SYMBOLIC_BOOL: "1",
}
_ALL_FLOATS = {**_FLOATS, **_INTS_AS_FLOATS, **_BOOLS_AS_FLOATS}


def _too_large(type_: str) -> dict[str, Raises]:
    raises = Raises(OverflowError, f"{{where}} is too large for a {type_}")
    return {
        **dict.fromkeys(("10**400", "10**5000"), raises),
        "Unreadable(6)": Raises(KeyError, "'why'"),
    }


_COMPLEX = {
    "1 + 2j": "1 + 2j",
    "complex('-0-infj')": "-0 + -infj",
    "np.complex64(1 + 2j)": "1 + 2j",
    "np.complex128(1 + 2j)": "1 + 2j",
    "np.clongdouble(1 + 2j)": "1 + 2j",
    "ComplexSub(1 + 2j)": "1 + 2j",
    "Tensor(1j, dim=0)": "0 + 1j",
}

_UNSIGNED = {
    "2**63": "9223372036854775808",
    "2**64 - 1": "18446744073709551615",
    "np.uint64(2**64 - 1)": "18446744073709551615",
    "Tensor(2**63, dim=0)": "9223372036854775808",
}
_BEYOND_UINT64 = Raises(OverflowError, "{where} must lie between -2**63 and 2**64 - 1")


def _as(kind: str, values: Mapping[str, str]) -> dict[str, str]:
    """The texts of Scalars."""
    return {expression: f"{kind} {text}" for expression, text in values.items()}


_SCALARS = {
    **_as("bool", {**_BOOLS, "Tensor(True, dim=0)": "True"}),
    **_as("int", {**_INTS, **_UNREADABLE}),
    **_as("unsigned", _UNSIGNED),
    **_as("float", _FLOATS),
    **_as("complex", _COMPLEX),
}

# --- names ----------------------------------------------------------------------------------------

_TEXTS = {
    "''": "''",
    "'ab'": "'ab'",
    "'cpu'": "'cpu'",
    "'cuda:1'": "'cuda:1'",
    "'a\\0b'": "'a\0b'",
    "'ü€😀'": "'ü€😀'",
    "'x' * 64": f"'{'x' * 64}'",
    "'x' * 65": f"'{'x' * 65}'",
    "StrSub('ab')": "'ab'",
    "np.str_('ab')": "'ab'",
}
# Its text is made of five values, none of which could name the argument.
_LONE_SURROGATE = Raises(
    UnicodeEncodeError,
    "'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed",
    note="{where}",
)


def _no_device(name: str) -> Raises:
    return Raises(ValueError, f"{{where}}: no device is called '{name}'")


_NO_DEVICE_INDEX = Raises(ValueError, "{where}: no device has this index")

# --- the tables -----------------------------------------------------------------------------------

TABLES: dict[str, Table | ListTable] = {
    "Tensor": Table(
        "Tensor",
        {
            "Tensor(2)": "tensor of int 2",
            "Tensor(2, dim=0)": "tensor of int 2",
            "Tensor(2**63, dim=0)": "tensor of unsigned 9223372036854775808",
            "Tensor(2.5, dim=0)": "tensor of float 2.5",
            "Tensor(True, dim=0)": "tensor of bool True",
            "Tensor(1j, dim=0)": "tensor of complex 0 + 1j",
            "Tensor(2, dim=0, requires_grad=True)": "tensor of int 2",
            "TensorSub(7, dim=0)": "tensor of int 7",
        },
    ),
    "int": Table("int", {**_INTS, **_UNREADABLE, **_INDICES}, _INT_RAISES, ("int",)),
    "SymInt": Table(
        "int",
        {**_INTS, **_UNREADABLE, **_INDICES, _SYMBOL: "s0"},
        _INT_RAISES,
        ("int", "SymInt"),
    ),
    "DeviceIndex": Table(
        "int",
        _DEVICE_INDICES,
        {
            **dict.fromkeys(_INTS.keys() - _DEVICE_INDICES.keys(), _BEYOND_INT8),
            **{v: _BEYOND_INT8 if r is _BEYOND_INT64 else r for v, r in _INT_RAISES.items()},
        },
    ),
    "bool": Table("bool", _BOOLS, results=("bool",)),
    "SymBool": Table("bool", {**_BOOLS, _SYMBOLIC_BOOL: "b0"}, results=("bool", "SymBool")),
    "float": Table("float", _ALL_FLOATS, _too_large("float"), ("float",)),
    "complex": Table(
        "complex",
        {**{value: f"{text} + 0j" for value, text in _ALL_FLOATS.items()}, **_COMPLEX},
        _too_large("complex"),
        ("complex",),
    ),
    "Scalar": Table(
        "Scalar",
        _SCALARS,
        dict.fromkeys(
            ("-(2**63) - 1", "2**64", "10**400", "10**5000", "IntSub(2**70)"), _BEYOND_UINT64
        ),
        ("bool", "int", "float", "complex"),
    ),
    "str": Table("str", _TEXTS, {"'\\ud800'": _LONE_SURROGATE}, ("str",)),
    "int[]": ListTable("int[]", "int", "1"),
    "SymInt[]": ListTable("int[]", "SymInt", "1"),
    "float[]": ListTable("float[]", "float", "0.1"),
    "bool[]": ListTable("bool[]", "bool", "True"),
    "Scalar[]": ListTable("Scalar[]", "Scalar", "1"),
    "Tensor[]": ListTable("Tensor[]", "Tensor", "Tensor(2)"),
    "Tensor?[]": ListTable("Tensor?[]", "Tensor?", "Tensor(2)"),
    "int[][]": ListTable("int[][]", "int[]", "[1, 0]"),
    "str[]": ListTable("str[]", "str", "'ab'"),
    "ScalarType": Table(
        "torch.dtype",
        {
            "nh.float32": "float32",
            "nh.bool": "bool",
            "int": "int64",
            "float": "float64",
            "bool": "bool",
            "complex": "complex128",
        },
    ),
    "Layout": Table("torch.layout", {"nh.strided": "strided", "nh.sparse_coo": "sparse_coo"}),
    "MemoryFormat": Table(
        "torch.memory_format",
        {"nh.contiguous_format": "contiguous_format", "nh.channels_last": "channels_last"},
    ),
    "QScheme": Table(
        "torch.qscheme",
        {
            "nh.per_tensor_affine": "per_tensor_affine",
            "nh.per_channel_affine": "per_channel_affine",
        },
        results=("qscheme",),
    ),
    "Generator": Table(
        "torch.Generator", {"nh.Generator(3)": "generator 3"}, results=("Generator",)
    ),
    "Storage": Table(
        "torch.UntypedStorage",
        {"nh.Storage(3)": "storage 3"},
        {"nh.Storage(-1)": Raises(ValueError, "{where}: it holds no storage")},
        ("Storage",),
    ),
    "Stream": Table("torch.Stream", {"nh.Stream(3)": "stream 3"}, results=("Stream",)),
    "Device": Table(
        "torch.device",
        {
            "nh.device('cpu')": "cpu",
            "nh.device('cuda:1')": "cuda:1",
            "'cpu'": "cpu",
            "'cuda:1'": "cuda:1",
            "0": "cuda:0",
            "1": "cuda:1",
            "IntSub(5)": "cuda:5",
            "Unreadable(6)": "cuda:6",
            "Number.SEVEN": "cuda:7",
        },
        {
            "''": _no_device(""),
            "'ab'": _no_device("ab"),
            "np.str_('ab')": _no_device("ab"),
            "StrSub('ab')": _no_device("ab"),
            # The text of a C++ exception ends at a NUL.
            "'a\\0b'": Raises(ValueError, "{where}: no device is called 'a"),
            "'ü€😀'": _no_device("ü€😀"),
            "'\\ud800'": _LONE_SURROGATE,
            "'x' * 64": _no_device("x" * 64),
            "'x' * 65": _no_device("x" * 65),
            **dict.fromkeys(
                (
                    *("-1", "2**31", "2**63 - 1", "-(2**63)", "2**63", "-(2**63) - 1"),
                    *("2**64 - 1", "2**64", "10**400", "10**5000", "IntSub(2**70)"),
                ),
                _NO_DEVICE_INDEX,
            ),
        },
    ),
}

# --- defaults -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DefaultCase:
    """A default as the schema writes it, for an argument of a type, and the value's text."""

    type: str
    text: str
    shown: str


def _defaults(type_: str, texts: Mapping[str, str]) -> tuple[DefaultCase, ...]:
    return tuple(DefaultCase(type_, text, shown) for text, shown in texts.items())


_INT_DEFAULTS = {
    "0": "0",
    "-1": "-1",
    "9223372036854775807": "9223372036854775807",
    "-9223372036854775808": "-9223372036854775808",
}
_FLOAT_DEFAULTS = {
    "1": "1",
    "-3": "-3",
    "0.125": "0.125",
    "-0.0": "-0",
    "1e-05": "1e-05",
    "0.1": "0.1",
    "1e+300": "1e+300",
    "5e-324": "5e-324",
    "inf": "inf",
    "-inf": "-inf",
    "nan": "nan",
}
_STR_DEFAULTS = {
    "''": "''",
    "'q'": "'q'",
    '"it\'s"': "'it's'",
    "'a, b'": "'a, b'",
    "'a\\nb\\\\c'": "'a\nb\\c'",
    "'??/ ü€😀'": "'??/ ü€😀'",
    f"'{'long ' * 20}'": f"'{'long ' * 20}'",
}


def _int_list_defaults(element: str) -> tuple[DefaultCase, ...]:
    least = "-9223372036854775808"
    nine = str([5] * 9)
    return (
        *_defaults(f"{element}[]", {"[]": "[]", "[0, -1]": "[0, -1]", nine: nine}),
        *_defaults(f"{element}[]", {f"[{least}]": f"[{least}]"}),
        *_defaults(f"{element}[2]", {"3": "[3, 3]", "[4, 5]": "[4, 5]"}),
        *_defaults(f"{element}[1]", {least: f"[{least}]"}),
    )


# The names that torch's schemas have, and the dtypes that they mean.
_SAME_DTYPES = """
    uint8 int8 int16 int32 int64 float16 float32 float64 bfloat16 bool complex32 complex64
    complex128 qint8 quint8 qint32 quint4x2 quint2x4 float8_e5m2 float8_e4m3fn float8_e5m2fnuz
    float8_e4m3fnuz float8_e8m0fnu float4_e2m1fn_x2 uint16 uint32 uint64
"""
_DTYPE_DEFAULTS = {
    **{name: name for name in _SAME_DTYPES.split()},
    **{"short": "int16", "int": "int32", "long": "int64"},
    **{"half": "float16", "float": "float32", "double": "float64"},
    **{"chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128"},
}

_DEFAULTS_OF_BASES = {
    "int": _defaults("int", {**_INT_DEFAULTS, "Mean": "1"}),
    "SymInt": _defaults("SymInt", {**_INT_DEFAULTS, "Mean": "1"}),
    "DeviceIndex": _defaults("DeviceIndex", {"0": "0", "-128": "-128", "127": "127"}),
    "bool": _defaults("bool", {"True": "True", "False": "False"}),
    "float": _defaults("float", _FLOAT_DEFAULTS),
    "complex": _defaults("complex", {"1j": "0 + 1j", "-0.0j": "0 + -0j", "1e-05j": "0 + 1e-05j"}),
    "Scalar": _defaults(
        "Scalar",
        {
            "1": "int 1",
            "-9223372036854775808": "int -9223372036854775808",
            "0.125": "float 0.125",
            "-0.0": "float -0",
            "True": "bool True",
            "False": "bool False",
            "2.5j": "complex 0 + 2.5j",
        },
    ),
    "str": _defaults("str", _STR_DEFAULTS),
    "int[]": _int_list_defaults("int"),
    "SymInt[]": _int_list_defaults("SymInt"),
    "float[]": (
        *_defaults("float[]", {"[]": "[]", "[0.125, -0.0, 3]": "[0.125, -0, 3]"}),
        *_defaults("float[2]", {"0.5": "[0.5, 0.5]", "2": "[2, 2]", "[4.0, 5]": "[4, 5]"}),
    ),
    "bool[]": (
        *_defaults("bool[3]", {"True": "[True, True, True]"}),
        *_defaults("bool[2]", {"[True, False]": "[True, False]"}),
    ),
    "ScalarType": _defaults("ScalarType", _DTYPE_DEFAULTS),
    "Layout": _defaults("Layout", {"strided": "strided"}),
    "MemoryFormat": _defaults("MemoryFormat", {"contiguous_format": "contiguous_format"}),
    "Device": _defaults("Device", {"'cpu'": "cpu", "'cuda:1'": "cuda:1"}),
}


def _of_optional(base: str, cases: tuple[DefaultCase, ...]) -> tuple[DefaultCase, ...]:
    same = (DefaultCase(f"{case.type}?", case.text, case.shown) for case in cases)
    # The N of an array is no part of the row's name.
    first = cases[0].type if cases else base
    return (DefaultCase(f"{first}?", "None", "None"), *same)


# By row.
DEFAULTS = {
    **_DEFAULTS_OF_BASES,
    **{f"{base}?": _of_optional(base, _DEFAULTS_OF_BASES.get(base, ())) for base in TABLES},
}
