"""What is known of each schema type, one row per type.

    int[2] stride=1
    |  |          |
    |  |          +--- row.defaults: which ways of writing a default the type takes, and its C++,
    |  |               Python and stub text
    |  +-------------- `size`: of the parameter, not of the row; `int[]` and `int[2]` share a row
    +----------------- row.cpp_argument `at::IntArrayRef`, row.accessor `intlist`,
                       row.tag `INT_LIST`, row.stub_argument, row.accepts, row.rank

The C++ of the bindings, the stubs, the printed signatures and the order of overloads all come from
here, so they cannot disagree. A type is added by adding its row; nothing else knows it by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from . import cpp_text
from .errors import did_you_mean
from .model import BaseType, Default, DefaultKind, ListType, OptionalType, Type

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
# torch keeps a device's index in a byte.
_LAST_DEVICE = 127


class DefaultFault(Exception):
    """A default that its type does not take: `rule`, what is wrong, and what is allowed."""

    def __init__(
        self, rule: str, message: str, hint: str, candidates: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.hint = hint
        # Names to choose from, when the fault is an unknown one.
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class DefaultForms:
    """One default in every language that shows it."""

    # A maker of core/signature.h: `of_double(0.5)`; of what stands in an array, the maker's name.
    cpp: str
    # As an argument of a C++ function: `0.5`.
    value: str
    # As __text_signature__ may hold it; `...` where Python cannot read the value back.
    python: str
    # As the stub shows it.
    stub: str
    # As the signature's text shows it: the schema's own words.
    text: str
    # What the array holds, in C++: a list's elements, or the parts of a complex number. None for
    # other defaults.
    elements: tuple[str, ...] | None = None
    # The text of a string default, which may be too long for one line.
    string: str | None = None


# Default of an argument -> its forms; `size` is N of `T[N]`, or 0. Raises DefaultFault.
DefaultRule = Callable[[Default, int], DefaultForms]


@dataclass(frozen=True, slots=True)
class TypeRow:
    """All that is known of one schema type."""

    # The type without the N of a list: "int[]?".
    schema: str
    # Type of a C++ parameter.
    cpp_argument: str
    # Member of PythonArgs that reads it; `{N}` stands in it as in the C++ type.
    accessor: str
    # Its ParameterType.
    tag: str
    # What a stub says of a parameter.
    stub_argument: str
    # The kinds of Python values that a parameter takes.
    accepts: frozenset[str]
    # Among overloads: a lower rank is tried first, as its type is more exact.
    rank: int
    # Who keeps the value alive while the kernel runs without the GIL.
    ownership: str
    # Header of the C++ type, where that of at::Tensor lacks it.
    header: str = ""
    # C++ type of a return; '' if the type cannot be returned.
    cpp_return: str = ""
    # What a stub says of a return.
    stub_return: str = ""
    # C++ type and accessor of a written argument, where they differ.
    cpp_written: str = ""
    accessor_written: str = ""
    # Accessor of an argument that a number may stand for.
    accessor_number: str = ""
    # C++ type of a written return, where it differs.
    cpp_return_written: str = ""
    # The optional form is allowed to be None.
    is_optional: bool = False
    is_tensor_like: bool = False
    # torch registers kernels with it.
    is_registrable: bool = True
    # What may stand alone for a list of N; empty where nothing may.
    lone: frozenset[str] = frozenset()
    # A list whose N is part of its type, so that it is always given: `{N}` in the C++ type.
    is_array: bool = False
    # `f(1, 2)` may stand for `f((1, 2))`.
    takes_varargs: bool = False
    # `self` of this type is called `input` in a function.
    renames_self: bool = False
    # What a lone value adds to a stub's parameter type.
    stub_lone: str = ""
    defaults: Mapping[DefaultKind, DefaultRule] = field(default_factory=dict)
    # What the defaults may be, for messages.
    defaults_text: str = "no default"

    @property
    def broadcasts(self) -> bool:
        """Whether a lone value may stand for a list of N."""
        return bool(self.lone)

    def accepts_with(self, size: int) -> frozenset[str]:
        """The kinds of values that a parameter of `T[size]` takes."""
        return self.accepts | self.lone if size else self.accepts

    def cpp_with(self, size: int) -> str:
        """C++ type of a parameter of `T[size]`."""
        return self.cpp_argument.replace("{N}", str(size))

    def accessor_with(self, size: int) -> str:
        """What reads a parameter of `T[size]`."""
        return self.accessor.replace("{N}", str(size))

    def stub_with(self, size: int) -> str:
        """The stub's type of a parameter of `T[size]`."""
        return (
            f"{self.stub_lone} | {self.stub_argument}"
            if size and self.stub_lone
            else (self.stub_argument)
        )

    def default_forms(self, default: Default, size: int) -> DefaultForms:
        """The default's forms. Raises DefaultFault if the type does not take it."""
        rule = self.defaults.get(default.kind)
        if rule is None:
            raise DefaultFault(
                "default-type",
                f"{default} is no default for {self.schema}",
                f"{self.schema} takes {self.defaults_text}",
            )
        return rule(default, size)


# --- defaults -----------------------------------------------------------------------------------

NONE = DefaultForms("none()", "std::nullopt", "None", "None", "None")
TRUE = DefaultForms("of_bool(true)", "true", "True", "True", "True")
FALSE = DefaultForms("of_bool(false)", "false", "False", "False", "False")


def _none(_default: Default, _size: int) -> DefaultForms:
    return NONE


def _bool(default: Default, _size: int) -> DefaultForms:
    return TRUE if default.value else FALSE


def _checked_int(default: Default) -> int:
    value = default.value
    assert isinstance(value, int)
    if not INT64_MIN <= value <= INT64_MAX:
        raise DefaultFault(
            "default-range",
            f"{default} is out of range",
            f"an int lies between {INT64_MIN} and {INT64_MAX}",
        )
    return value


def cpp_int(value: int) -> str:
    # C++ reads -9223372036854775808 as the negation of a number that no type holds.
    return f"{value + 1} - 1" if value == INT64_MIN else str(value)


def _int(default: Default, _size: int) -> DefaultForms:
    value = _checked_int(default)
    cpp = cpp_int(value)
    return DefaultForms(f"of_int({cpp})", cpp, str(value), str(value), default.text)


def _device_index(default: Default, size: int) -> DefaultForms:
    if not -128 <= _checked_int(default) <= 127:
        raise DefaultFault(
            "default-range", f"{default} is out of range", "a DeviceIndex lies between -128 and 127"
        )
    return _int(default, size)


def _float(default: Default, _size: int) -> DefaultForms:
    value = _as_float(default)
    if math.isfinite(value):
        return DefaultForms(
            f"of_double({value!r})", repr(value), repr(value), repr(value), default.text
        )
    return _non_finite(value, default.text)


def _as_float(default: Default) -> float:
    assert isinstance(default.value, (int, float))
    try:
        return float(default.value)
    except OverflowError:
        raise DefaultFault(
            "default-range", f"{default} is out of range", "a float is an IEEE double"
        ) from None


def _non_finite(value: float, text: str) -> DefaultForms:
    sign = "-" if value < 0 else ""
    name = "quiet_NaN" if math.isnan(value) else "infinity"
    cpp = f"{sign}std::numeric_limits<double>::{name}()"
    stub = f'float("{value}")'
    return DefaultForms(f"of_double({cpp})", cpp, "...", stub, text)


def _string(default: Default, _size: int) -> DefaultForms:
    value = default.value
    assert isinstance(value, str)
    arguments = f"{cpp_text.string_literal(value)}, {cpp_text.byte_length(value)}"
    cpp = f"of_string({arguments})", f"std::string_view({arguments})"
    # inspect reads ASCII alone.
    return DefaultForms(*cpp, ascii(value), repr(value), default.text, string=value)


# Device types that torch's schema parser takes.
_DEVICES = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga"),
    *("maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)


def _device(default: Default, size: int) -> DefaultForms:
    found = re.fullmatch(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]{0,2}))?", str(default.value))
    if found is None or int(found[2] or 0) > _LAST_DEVICE:
        hint = f"write 'cuda', or 'cuda:1' with an index up to {_LAST_DEVICE}"
        raise DefaultFault("default-name", f"{default} is no device", hint)
    if found[1] not in _DEVICES:
        message = f"torch has no device '{found[1]}' before some backend brings it"
        hint = did_you_mean(found[1], _DEVICES) or "take Device? and None"
        raise DefaultFault("default-name", message, hint)
    forms = _string(default, size)
    return replace(forms, value=f"at::Device({cpp_text.string_literal(forms.string or '')})")


def _complex(default: Default, _size: int) -> DefaultForms:
    value = default.value
    assert isinstance(value, complex)
    parts = (repr(value.real), repr(value.imag))
    # The language writes imaginary numbers alone. repr(-1j) is '(-0-1j)'.
    python = f"{value.imag!r}j"
    return DefaultForms(
        "of_doubles",
        f"c10::complex<double>({', '.join(parts)})",
        python,
        python,
        default.text,
        elements=parts,
    )


@dataclass(frozen=True, slots=True)
class _ListDefault:
    """The defaults of a list type."""

    # "int[]"
    schema: str
    # Its C++ type, and the maker of what stands for it in a table.
    cpp: str
    maker: str
    # How an element is written.
    kinds: tuple[DefaultKind, ...]
    # An element -> its C++ and its Python.
    element: Callable[[Default], tuple[str, str]]
    # N of `T[N]` is part of the type.
    is_array: bool = False

    @property
    def rules(self) -> dict[DefaultKind, DefaultRule]:
        return {DefaultKind.LIST: self._whole, **dict.fromkeys(self.kinds, self._lone)}

    def _whole(self, default: Default, size: int) -> DefaultForms:
        elements = default.value
        assert isinstance(elements, tuple)
        for element in elements:
            if element.kind not in self.kinds:
                name = self.schema.removesuffix("[]")
                raise DefaultFault(
                    "default-type",
                    f"{element} is no {name}",
                    f"the elements of {self.schema} are {name}s",
                )
        if self.is_array and len(elements) != size:
            raise DefaultFault(
                "default-type", f"{default} has not {size} elements", f"write {size} elements"
            )
        return self._forms([self.element(one) for one in elements], default)

    def _lone(self, default: Default, size: int) -> DefaultForms:
        """One value for all elements of `T[N]`."""
        if not size:
            raise DefaultFault(
                "default-type",
                f"{default} is no default for {self.schema}",
                f"a lone value may stand for {self.schema[:-1]}N] only; write [{default}]",
            )
        element = self.element(default)
        forms = self._forms([element] * size, default)
        return forms if self.is_array else replace(forms, python=element[1], stub=element[1])

    def _forms(self, elements: Sequence[tuple[str, str]], default: Default) -> DefaultForms:
        joined = ", ".join(python for _, python in elements)
        # inspect drops the comma of (1,) and would show 1.
        python = f"[{joined}]" if len(elements) == 1 else f"({joined})"
        values = tuple(cpp for cpp, _ in elements)
        return DefaultForms(
            self.maker,
            f"{self.cpp.replace('{N}', str(len(values)))}{{{', '.join(values)}}}",
            python,
            python,
            default.text,
            elements=values,
        )


def _int_element(default: Default) -> tuple[str, str]:
    value = _checked_int(default)
    return cpp_int(value), str(value)


def _float_element(default: Default) -> tuple[str, str]:
    value = _as_float(default)
    if not math.isfinite(value):
        raise DefaultFault(
            "default-range", f"{default} is not finite", "take float[]? and None for it"
        )
    return repr(value), repr(value)


def _bool_element(default: Default) -> tuple[str, str]:
    return ("1" if default.value else "0"), str(default.value)


def _name_rule(kind: str, names: dict[str, tuple[str, str]]) -> DefaultRule:
    """A rule for an enum's names: name -> (C++ enumerator, Python expression)."""

    def forms(default: Default, _size: int) -> DefaultForms:
        if default.text not in names:
            allowed = ", ".join(sorted(names)) if len(names) < 8 else f"the names of {kind}s"
            raise DefaultFault(
                "default-name",
                f"{default} is no {kind}",
                f"allowed are {allowed}",
                tuple(sorted(names)),
            )
        enumerator, python = names[default.text]
        cpp = f"of_int(static_cast<int64_t>({enumerator}))"
        return DefaultForms(cpp, enumerator, "...", python, default.text)

    return forms


def _reduction(default: Default, _size: int) -> DefaultForms:
    # at::Reduction::Mean, the one name that torch's schemas use for an int.
    if default.text != "Mean":
        raise DefaultFault(
            "default-name", f"{default} is no int", "an int takes a number or Mean", ("Mean",)
        )
    return DefaultForms("of_int(1)", "1", "1", "1", default.text)


# Schema name -> C++ enumerator: what torch's own schema parser reads.
_SCALAR_TYPES = {
    **{"uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long"},
    **{"short": "Short", "int": "Int", "long": "Long"},
    **{"float16": "Half", "float32": "Float", "float64": "Double", "bfloat16": "BFloat16"},
    **{"half": "Half", "float": "Float", "double": "Double", "bool": "Bool"},
    **{"complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble"},
    **{"chalf": "ComplexHalf", "cfloat": "ComplexFloat", "cdouble": "ComplexDouble"},
    **{"qint8": "QInt8", "quint8": "QUInt8", "qint32": "QInt32"},
    **{"quint4x2": "QUInt4x2", "quint2x4": "QUInt2x4"},
    **{"float8_e5m2": "Float8_e5m2", "float8_e4m3fn": "Float8_e4m3fn"},
    **{"float8_e5m2fnuz": "Float8_e5m2fnuz", "float8_e4m3fnuz": "Float8_e4m3fnuz"},
    **{"float8_e8m0fnu": "Float8_e8m0fnu", "float4_e2m1fn_x2": "Float4_e2m1fn_x2"},
    **{"uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64"},
}

_INT_RULES = {DefaultKind.INT: _int, DefaultKind.NAME: _reduction}
_FLOAT_RULES = {DefaultKind.INT: _float, DefaultKind.FLOAT: _float}
_BOOL_RULES = {DefaultKind.BOOL: _bool}
_COMPLEX_RULES = {DefaultKind.COMPLEX: _complex}
_SCALAR_RULES = {
    DefaultKind.INT: _int,
    DefaultKind.FLOAT: _float,
    DefaultKind.BOOL: _bool,
    **_COMPLEX_RULES,
}
_STRING_RULES = {DefaultKind.STRING: _string}
_DEVICE_RULES = {DefaultKind.STRING: _device}
_INTS_RULES = _ListDefault(
    "int[]", "at::IntArrayRef", "of_ints", (DefaultKind.INT,), _int_element
).rules
_SYMINTS_RULES = _ListDefault(
    "int[]", "c10::SymIntArrayRef", "of_ints", (DefaultKind.INT,), _int_element
).rules
_FLOATS_RULES = _ListDefault(
    "float[]",
    "at::ArrayRef<double>",
    "of_doubles",
    (DefaultKind.INT, DefaultKind.FLOAT),
    _float_element,
).rules
_BOOLS_RULES = _ListDefault(
    "bool[]",
    "std::array<bool, {N}>",
    "of_ints",
    (DefaultKind.BOOL,),
    _bool_element,
    is_array=True,
).rules
_SCALARTYPE_RULES = {
    DefaultKind.NAME: _name_rule(
        "ScalarType",
        {name: (f"at::ScalarType::{cpp}", f"torch.{name}") for name, cpp in _SCALAR_TYPES.items()},
    )
}
_LAYOUT_RULES = {
    DefaultKind.NAME: _name_rule("Layout", {"strided": ("at::Layout::Strided", "torch.strided")})
}
_MEMORY_FORMAT_RULES = {
    DefaultKind.NAME: _name_rule(
        "MemoryFormat",
        {"contiguous_format": ("at::MemoryFormat::Contiguous", "torch.contiguous_format")},
    )
}

# --- what Python values a type takes --------------------------------------------------------------

# A tensor of no dimension may stand for a number of its dtype.
_TENSOR = frozenset({"tensor", "0-dim int tensor", "0-dim float tensor", "0-dim bool tensor"})
_INT = frozenset({"int", "index", "0-dim int tensor"})
_SYMINT = _INT | {"symbolic int"}
_BOOL = frozenset({"bool"})
_NUMBERS = frozenset({"int", "bool", "float", "complex"})
_SCALAR = _NUMBERS | frozenset(
    {"0-dim int tensor", "0-dim float tensor", "0-dim bool tensor", "symbolic int"}
)
_FLOAT = _SCALAR - {"complex"}
_INTS = frozenset({"list of ints", "empty list"})
_SYMINTS = _INTS | {"list of symbolic ints"}
_FLOATS = _SYMINTS | frozenset({"list of floats", "list of bools"})
_SCALARS = _FLOATS | {"list of complex numbers"}
_TENSORS = frozenset({"list of tensors", "empty list"})
_OPTIONAL_TENSORS = _TENSORS | {"list of tensors and None"}
_STR = frozenset({"str"})
_DTYPE = frozenset({"dtype", "Python type"})
_DEVICE = frozenset({"device", "str", "int"})


# --- the table ------------------------------------------------------------------------------------

_BORROWED = "borrowed from the Python object, which the caller's frame holds"
_VALUE = "a value"
_SYMBOLIC = "a value, which shares the symbolic node"
_REFERENCE = "a reference of its own"

_BASE_ROWS = (
    TypeRow(
        schema="Tensor",
        cpp_argument="const at::Tensor&",
        accessor="tensor",
        cpp_written="at::Tensor&",
        accessor_written="mutable_tensor",
        accessor_number="tensor_or_number",
        tag="TENSOR",
        cpp_return="at::Tensor",
        cpp_return_written="at::Tensor&",
        stub_argument="Tensor",
        stub_return="Tensor",
        accepts=_TENSOR,
        rank=0,
        ownership=_BORROWED,
        is_tensor_like=True,
        renames_self=True,
    ),
    TypeRow(
        schema="int",
        cpp_argument="int64_t",
        accessor="toInt64",
        tag="INT64",
        cpp_return="int64_t",
        stub_argument="int",
        stub_return="int",
        accepts=_INT,
        rank=1,
        ownership=_VALUE,
        defaults=_INT_RULES,
        defaults_text="an int",
    ),
    TypeRow(
        schema="DeviceIndex",
        cpp_argument="at::DeviceIndex",
        accessor="toDeviceIndex",
        tag="INT64",
        stub_argument="int",
        accepts=_INT,
        rank=2,
        ownership=_VALUE,
        defaults={DefaultKind.INT: _device_index},
        defaults_text="an int",
    ),
    TypeRow(
        schema="SymInt",
        cpp_argument="c10::SymInt",
        accessor="toSymInt",
        tag="INT64",
        cpp_return="c10::SymInt",
        stub_argument="int | torch.SymInt",
        stub_return="int | torch.SymInt",
        accepts=_SYMINT,
        rank=3,
        ownership=_SYMBOLIC,
        defaults=_INT_RULES,
        defaults_text="an int",
    ),
    # A lone int may stand for `int[N]`; as in torch, such a list comes before other numbers.
    TypeRow(
        schema="int[]",
        cpp_argument="at::IntArrayRef",
        accessor="intlist",
        tag="INT_LIST",
        cpp_return="std::vector<int64_t>",
        stub_argument="tuple[int, ...] | list[int]",
        stub_return="tuple[int, ...]",
        accepts=_INTS,
        rank=4,
        ownership="a copy, on the stack up to 8 elements",
        lone=_INT,
        takes_varargs=True,
        stub_lone="int",
        defaults=_INTS_RULES,
        defaults_text="a list of ints",
    ),
    TypeRow(
        schema="SymInt[]",
        cpp_argument="c10::SymIntArrayRef",
        accessor="symintlist",
        tag="INT_LIST",
        cpp_return="std::vector<c10::SymInt>",
        stub_argument="tuple[int | torch.SymInt, ...] | list[int | torch.SymInt]",
        stub_return="tuple[int | torch.SymInt, ...]",
        accepts=_SYMINTS,
        rank=5,
        ownership="a copy, on the stack up to 8 elements",
        lone=_SYMINT,
        takes_varargs=True,
        stub_lone="int | torch.SymInt",
        defaults=_SYMINTS_RULES,
        defaults_text="a list of ints",
    ),
    TypeRow(
        schema="bool",
        cpp_argument="bool",
        accessor="toBool",
        tag="BOOL",
        cpp_return="bool",
        stub_argument="bool",
        stub_return="bool",
        accepts=_BOOL,
        rank=7,
        ownership=_VALUE,
        defaults=_BOOL_RULES,
        defaults_text="True or False",
    ),
    TypeRow(
        schema="float",
        cpp_argument="double",
        accessor="toDouble",
        tag="DOUBLE",
        cpp_return="double",
        stub_argument="float",
        stub_return="float",
        accepts=_FLOAT,
        rank=8,
        ownership=_VALUE,
        defaults=_FLOAT_RULES,
        defaults_text="a number",
    ),
    TypeRow(
        schema="Scalar",
        cpp_argument="const at::Scalar&",
        accessor="scalar",
        tag="SCALAR",
        cpp_return="at::Scalar",
        stub_argument="int | float | complex",
        stub_return="int | float | complex",
        accepts=_SCALAR,
        rank=9,
        ownership=_VALUE,
        defaults=_SCALAR_RULES,
        defaults_text="a number or a bool",
    ),
    TypeRow(
        schema="complex",
        cpp_argument="c10::complex<double>",
        accessor="toComplex",
        tag="COMPLEX",
        cpp_return="c10::complex<double>",
        stub_argument="complex",
        stub_return="complex",
        accepts=_SCALAR,
        rank=11,
        ownership=_VALUE,
        defaults=_COMPLEX_RULES,
        defaults_text="an imaginary number such as 1j",
    ),
    TypeRow(
        schema="float[]",
        cpp_argument="at::ArrayRef<double>",
        accessor="doublelist",
        tag="FLOAT_LIST",
        cpp_return="std::vector<double>",
        stub_argument="tuple[float, ...] | list[float]",
        stub_return="tuple[float, ...]",
        accepts=_FLOATS,
        rank=10,
        ownership="a copy, on the stack up to 8 elements",
        lone=_FLOAT,
        stub_lone="float",
        defaults=_FLOATS_RULES,
        defaults_text="a list of numbers",
    ),
    TypeRow(
        schema="bool[]",
        cpp_argument="std::array<bool, {N}>",
        accessor="boolarray<{N}>",
        tag="BOOL_LIST",
        stub_argument="tuple[bool, ...] | list[bool]",
        accepts=frozenset({"list of bools"}),
        rank=6,
        ownership=_VALUE,
        is_array=True,
        defaults=_BOOLS_RULES,
        defaults_text="a list of N bools",
    ),
    TypeRow(
        schema="Scalar[]",
        cpp_argument="at::ArrayRef<at::Scalar>",
        accessor="scalarlist",
        tag="SCALAR_LIST",
        stub_argument="tuple[int | float | complex, ...] | list[int | float | complex]",
        accepts=_SCALARS,
        rank=12,
        ownership="a copy, on the stack up to 8 elements",
    ),
    # An empty list says nothing of its elements; as in torch, other lists come first.
    TypeRow(
        schema="Tensor[]",
        cpp_argument="at::TensorList",
        accessor="tensorlist",
        tag="TENSOR_LIST",
        cpp_return="std::vector<at::Tensor>",
        stub_argument="tuple[Tensor, ...] | list[Tensor]",
        stub_return="tuple[Tensor, ...]",
        accepts=_TENSORS,
        rank=13,
        ownership="each element is owned: another thread may clear the list",
        is_tensor_like=True,
    ),
    TypeRow(
        schema="Tensor?[]",
        cpp_argument="const c10::List<std::optional<at::Tensor>>&",
        accessor="list_of_optional_tensors",
        tag="OPTIONAL_TENSOR_LIST",
        cpp_return="std::vector<std::optional<at::Tensor>>",
        stub_argument="tuple[Tensor | None, ...] | list[Tensor | None]",
        stub_return="tuple[Tensor | None, ...]",
        accepts=_OPTIONAL_TENSORS,
        rank=14,
        ownership="each element is owned: another thread may clear the list",
        header="ATen/core/List.h",
        is_tensor_like=True,
    ),
    TypeRow(
        schema="str",
        cpp_argument="std::string_view",
        accessor="string",
        tag="STRING",
        cpp_return="std::string",
        stub_argument="str",
        stub_return="str",
        accepts=_STR,
        rank=15,
        ownership="a copy, on the stack up to 64 bytes",
        defaults=_STRING_RULES,
        defaults_text="a quoted string",
    ),
    TypeRow(
        schema="ScalarType",
        cpp_argument="at::ScalarType",
        accessor="scalartype",
        tag="SCALARTYPE",
        cpp_return="at::ScalarType",
        stub_return="torch.dtype",
        stub_argument="torch.dtype | type[bool | int | float | complex]",
        accepts=_DTYPE,
        rank=16,
        ownership=_VALUE,
        defaults=_SCALARTYPE_RULES,
        defaults_text="the name of a dtype",
    ),
    TypeRow(
        schema="Layout",
        cpp_argument="at::Layout",
        accessor="layout",
        tag="LAYOUT",
        cpp_return="at::Layout",
        stub_return="torch.layout",
        stub_argument="torch.layout",
        accepts=frozenset({"layout"}),
        rank=17,
        ownership=_VALUE,
        defaults=_LAYOUT_RULES,
        defaults_text="strided",
    ),
    TypeRow(
        schema="MemoryFormat",
        cpp_argument="at::MemoryFormat",
        accessor="memoryformat",
        tag="MEMORY_FORMAT",
        cpp_return="at::MemoryFormat",
        stub_return="torch.memory_format",
        stub_argument="torch.memory_format",
        accepts=frozenset({"memory format"}),
        rank=18,
        ownership=_VALUE,
        defaults=_MEMORY_FORMAT_RULES,
        defaults_text="contiguous_format",
    ),
    TypeRow(
        schema="QScheme",
        cpp_argument="at::QScheme",
        accessor="toQScheme",
        tag="QSCHEME",
        cpp_return="at::QScheme",
        stub_return="torch.qscheme",
        stub_argument="torch.qscheme",
        accepts=frozenset({"quantization scheme"}),
        rank=19,
        ownership=_VALUE,
    ),
    TypeRow(
        schema="Generator",
        cpp_argument="at::Generator",
        accessor="generator",
        tag="GENERATOR",
        cpp_return="at::Generator",
        stub_argument="torch.Generator",
        stub_return="torch.Generator",
        accepts=frozenset({"generator"}),
        rank=20,
        ownership=_REFERENCE,
        is_registrable=False,
    ),
    TypeRow(
        schema="Storage",
        cpp_argument="at::Storage",
        accessor="storage",
        tag="STORAGE",
        cpp_return="at::Storage",
        stub_argument="torch.UntypedStorage | torch.TypedStorage",
        stub_return="torch.UntypedStorage",
        accepts=frozenset({"storage"}),
        rank=21,
        ownership=_REFERENCE,
    ),
    TypeRow(
        schema="Stream",
        cpp_argument="at::Stream",
        accessor="stream",
        tag="STREAM",
        cpp_return="at::Stream",
        stub_argument="torch.Stream",
        stub_return="torch.Stream",
        accepts=frozenset({"stream"}),
        rank=22,
        ownership=_VALUE,
    ),
    TypeRow(
        schema="SymBool",
        cpp_argument="c10::SymBool",
        accessor="toSymBool",
        tag="BOOL",
        cpp_return="c10::SymBool",
        stub_return="bool | torch.SymBool",
        stub_argument="bool | torch.SymBool",
        accepts=_BOOL | {"symbolic bool"},
        rank=23,
        ownership=_SYMBOLIC,
    ),
    TypeRow(
        schema="int[][]",
        cpp_argument="const std::vector<std::vector<int64_t>>&",
        accessor="intlists",
        tag="INT_LIST_LIST",
        cpp_return="std::vector<std::vector<int64_t>>",
        stub_argument="tuple[tuple[int, ...] | list[int], ...] "
        "| list[tuple[int, ...]] | list[list[int]]",
        stub_return="tuple[tuple[int, ...], ...]",
        accepts=frozenset({"list of lists of ints", "empty list"}),
        rank=25,
        ownership="a copy",
    ),
    # Takes str and int too, so whatever is exact for those comes first.
    TypeRow(
        schema="Device",
        cpp_argument="at::Device",
        accessor="device",
        tag="DEVICE",
        cpp_return="at::Device",
        stub_argument="torch.device | str | int",
        stub_return="torch.device",
        accepts=_DEVICE,
        rank=24,
        ownership=_VALUE,
        defaults=_DEVICE_RULES,
        defaults_text="a quoted device such as 'cpu'",
    ),
    TypeRow(
        schema="str[]",
        cpp_argument="at::ArrayRef<std::string>",
        accessor="stringlist",
        tag="STRING_LIST",
        cpp_return="std::vector<std::string>",
        stub_argument="tuple[str, ...] | list[str]",
        stub_return="tuple[str, ...]",
        accepts=frozenset({"list of str", "empty list"}),
        rank=26,
        ownership="a copy",
    ),
)

# Optionals whose C++ type is not `std::optional<T>`.
_OPTIONAL_CPP = {
    "Tensor": "const std::optional<at::Tensor>&",
    "Scalar": "const std::optional<at::Scalar>&",
    "int[]": "at::OptionalIntArrayRef",
    "SymInt[]": "at::OptionalSymIntArrayRef",
}
# Accessors that are not `TOptional`.
_OPTIONAL_ACCESSORS = {
    "Tensor": "optionalTensor",
    "bool[]": "boolarrayOptional<{N}>",
}
_OPTIONAL_OWNERSHIP = {
    "Tensor": "borrowed, in a std::optional that holds no reference of its own",
}


def _optional(row: TypeRow) -> TypeRow:
    """The row of `T?`, from that of `T`."""
    accessor = _OPTIONAL_ACCESSORS.get(row.schema, f"{row.accessor}Optional")
    return replace(
        row,
        schema=f"{row.schema}?",
        cpp_argument=_OPTIONAL_CPP.get(row.schema, f"std::optional<{row.cpp_argument}>"),
        accessor=accessor,
        cpp_written="",
        accessor_written="",
        accessor_number="",
        cpp_return=row.cpp_return and f"std::optional<{row.cpp_return}>",
        cpp_return_written="",
        stub_argument=f"{row.stub_argument} | None",
        stub_return=row.stub_return and f"{row.stub_return} | None",
        accepts=row.accepts | {"None"},
        ownership=_OPTIONAL_OWNERSHIP.get(row.schema, row.ownership),
        is_optional=True,
        is_registrable=True,
        takes_varargs=False,
        defaults={**row.defaults, DefaultKind.NONE: _none},
        defaults_text=f"None or {row.defaults_text}" if row.defaults else "None",
    )


# Those that have no accessor.
_NO_OPTIONAL = frozenset({"Tensor?[]", "int[][]"})

ROWS: dict[str, TypeRow] = {
    row.schema: row
    for base in _BASE_ROWS
    for row in ((base,) if base.schema in _NO_OPTIONAL else (base, _optional(base)))
}


def key(type_: Type) -> str:
    """The row's name: the type's text without the N of a list."""
    if isinstance(type_, OptionalType):
        return f"{key(type_.element)}?"
    if isinstance(type_, ListType):
        return f"{key(type_.element)}[]"
    return str(type_)


@cache
def find(type_: Type) -> TypeRow | None:
    """The row of a type, or None if it is not supported."""
    row = ROWS.get(key(type_))
    if row is None or (list_size(type_) and not (row.broadcasts or row.is_array)):
        return None
    return None if row.is_array and not list_size(type_) else row


def list_size(type_: Type) -> int:
    """N of `T[N]` and `T[N]?`; 0 for any other type."""
    if isinstance(type_, OptionalType):
        return list_size(type_.element)
    return (type_.size or 0) if isinstance(type_, ListType) else 0


def shown_rows() -> tuple[TypeRow, ...]:
    """For messages and docs: a row for each type, optional where torch knows no other."""
    return tuple(row if row.is_registrable else ROWS[f"{row.schema}?"] for row in _BASE_ROWS)


def supported_arguments() -> str:
    """For messages."""
    types = ", ".join(row.schema for row in shown_rows())
    return f"supported are {types}, int[N], and optionals"


def supported_returns() -> str:
    """For messages."""
    types = ", ".join(row.schema for row in shown_rows() if row.cpp_return)
    return f"supported are {types}, and optionals"


# Parameters that planning makes itself.
TENSOR = ROWS["Tensor"]
TENSOR_LIST = ROWS["Tensor[]"]
BOOL = ROWS["bool"]
SCALAR = ROWS["Scalar"]
TENSOR_TYPE = BaseType("Tensor")
