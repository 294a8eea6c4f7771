"""The zoo: values of every kind that an argument may meet, as Python expressions.

Each has with it what an error says that was given: "must be int, not float (1.5)".
"""

from __future__ import annotations

import array
import enum
import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np


class Index:
    """Has `__index__`, which gives what it was made with, or raises that."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __index__(self) -> Any:
        if isinstance(self.value, BaseException):
            # Another each time: what was raised remembers the frames, and they this object.
            raise type(self.value)(*self.value.args)
        return self.value


class Float:
    """Has `__float__`, and no `__index__`."""

    def __float__(self) -> float:
        return 1.5


class Bool:
    """Has `__bool__`."""

    def __bool__(self) -> bool:
        return True


class Complex:
    """Has `__complex__`."""

    def __complex__(self) -> complex:
        return 1j


class IntSub(int):
    """What it would say of itself differs from what it is."""

    def __index__(self) -> int:
        return 99

    def __int__(self) -> int:
        return 99


class Unreadable(int):
    """An int all the same; only who asks for a float hears of it."""

    def __float__(self) -> float:
        raise KeyError("why")


class FloatSub(float):
    def __float__(self) -> float:
        return 99.0


class ComplexSub(complex):
    pass


class StrSub(str):
    def __str__(self) -> str:
        return "another"


class ListSub(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 99

    def __iter__(self) -> Iterator[Any]:
        return iter(["another"])


class TupleSub(tuple):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> Any:
        return "another"


class Number(enum.IntEnum):
    SEVEN = 7


NUMBERS = {
    "0": "int (0)",
    "1": "int (1)",
    "-1": "int (-1)",
    "2**31": "int (2147483648)",
    "2**63 - 1": "int (9223372036854775807)",
    "-(2**63)": "int (-9223372036854775808)",
    "2**63": "int",
    "-(2**63) - 1": "int",
    "2**64 - 1": "int",
    "2**64": "int",
    "10**400": "int",
    "10**5000": "int",
    "True": "bool (True)",
    "False": "bool (False)",
    "0.0": "float (0.0)",
    "-0.0": "float (-0.0)",
    "0.1": "float (0.1)",
    "2.0": "float (2.0)",
    "1e300": "float (1e+300)",
    "5e-324": "float (5e-324)",
    "float('inf')": "float (inf)",
    "float('-inf')": "float (-inf)",
    "float('nan')": "float (nan)",
    "1 + 2j": "complex",
    "complex('-0-infj')": "complex",
}

NUMPY = {
    "np.bool_(True)": "numpy.bool",
    "np.bool_(False)": "numpy.bool",
    "np.int8(-5)": "numpy.int8",
    "np.int16(-5)": "numpy.int16",
    "np.int32(-5)": "numpy.int32",
    "np.int64(2**63 - 1)": "numpy.int64",
    "np.uint8(255)": "numpy.uint8",
    "np.uint16(65535)": "numpy.uint16",
    "np.uint32(2**32 - 1)": "numpy.uint32",
    "np.uint64(5)": "numpy.uint64",
    "np.uint64(2**64 - 1)": "numpy.uint64",
    "np.float16(0.5)": "numpy.float16",
    "np.float32(0.1)": "numpy.float32",
    "np.float64(0.1)": "numpy.float64",
    "np.longdouble(0.5)": "numpy.longdouble",
    "np.complex64(1 + 2j)": "numpy.complex64",
    "np.complex128(1 + 2j)": "numpy.complex128",
    "np.clongdouble(1 + 2j)": "numpy.clongdouble",
    "np.str_('ab')": "numpy.str_",
    "np.bytes_(b'ab')": "numpy.bytes_",
    "np.timedelta64(3)": "numpy.timedelta64",
    "np.datetime64('2020-01-01')": "numpy.datetime64",
    "np.array(3)": "numpy.ndarray",
    "np.array([4])": "numpy.ndarray",
    "np.array([1, 2])": "numpy.ndarray",
    "np.array(2.5)": "numpy.ndarray",
    "np.array(None)": "numpy.ndarray",
}

OBJECTS = {
    "Index(3)": "echo_zoo.Index",
    "Index(2**63)": "echo_zoo.Index",
    "Index(KeyError('why'))": "echo_zoo.Index",
    "Index(KeyboardInterrupt())": "echo_zoo.Index",
    "Index(1.5)": "echo_zoo.Index",
    "Index(True)": "echo_zoo.Index",
    "Float()": "echo_zoo.Float",
    "Bool()": "echo_zoo.Bool",
    "Complex()": "echo_zoo.Complex",
    "IntSub(5)": "echo_zoo.IntSub",
    "IntSub(2**70)": "echo_zoo.IntSub",
    "Unreadable(6)": "echo_zoo.Unreadable",
    "FloatSub(2.5)": "echo_zoo.FloatSub",
    "ComplexSub(1 + 2j)": "echo_zoo.ComplexSub",
    "Number.SEVEN": "echo_zoo.Number",
    "None": "None",
    "...": "ellipsis",
    "NotImplemented": "NotImplementedType",
    "object()": "object",
    "lambda: 0": "function",
    "int": "type",
    "float": "type",
    "bool": "type",
    "complex": "type",
    "str": "type",
}

TEXTS = {
    "''": "str ('')",
    "'ab'": "str ('ab')",
    "'cpu'": "str ('cpu')",
    "'cuda:1'": "str ('cuda:1')",
    "'a\\0b'": "str ('a\\x00b')",
    "'ü€😀'": "str ('ü€😀')",
    "'\\ud800'": "str ('\\ud800')",
    "'x' * 64": "str",
    "'x' * 65": "str",
    "StrSub('ab')": "echo_zoo.StrSub",
    "b'ab'": "bytes",
    "bytearray(b'ab')": "bytearray",
    "memoryview(b'ab')": "memoryview",
}

TENSORS = {
    "Tensor(2)": "an int tensor of 1 dimensions",
    "Tensor(2, dim=0)": "an int tensor of 0 dimensions",
    "Tensor(2**63, dim=0)": "an unsigned int tensor of 0 dimensions",
    "Tensor(2.5, dim=0)": "a float tensor of 0 dimensions",
    "Tensor(True, dim=0)": "a bool tensor of 0 dimensions",
    "Tensor(1j, dim=0)": "a complex tensor of 0 dimensions",
    "Tensor(2, dim=0, requires_grad=True)": "an int tensor of 0 dimensions that requires grad",
    "TensorSub(7, dim=0)": "an int tensor of 0 dimensions",
}

SYMBOLS = {
    "nh.SymInt(5, 's0')": "null_host.SymInt",
    "nh.SymBool(True, 'b0')": "null_host.SymBool",
}

ENUMS = {
    "nh.float32": "null_host.dtype",
    "nh.bool": "null_host.dtype",
    "nh.strided": "null_host.layout",
    "nh.sparse_coo": "null_host.layout",
    "nh.contiguous_format": "null_host.memory_format",
    "nh.channels_last": "null_host.memory_format",
    "nh.per_tensor_affine": "null_host.qscheme",
    "nh.per_channel_affine": "null_host.qscheme",
    "nh.device('cpu')": "null_host.device",
    "nh.device('cuda:1')": "null_host.device",
}

HANDLES = {
    "nh.Generator(3)": "null_host.Generator",
    "nh.Storage(3)": "null_host.Storage",
    "nh.Storage(-1)": "null_host.Storage",
    "nh.Stream(3)": "null_host.Stream",
}

# Lists and tuples, and the values that they hold, which are of the zoo too.
LISTS: dict[str, tuple[str, ...]] = {
    "[]": (),
    "()": (),
    "[1, 0]": ("1", "0"),
    "(1, 0)": ("1", "0"),
    "[1] * 8": ("1",) * 8,
    "[1] * 9": ("1",) * 9,
    "(0,) * 1000": ("0",) * 1000,
    "[True, False]": ("True", "False"),
    "[True, False, True]": ("True", "False", "True"),
    "[1, True]": ("1", "True"),
    "[0.1, 1]": ("0.1", "1"),
    "[1, 2.0]": ("1", "2.0"),
    "[1, None]": ("1", "None"),
    "[1, nh.SymInt(5, 's0')]": ("1", "nh.SymInt(5, 's0')"),
    "[1 + 2j]": ("1 + 2j",),
    "[1, 2**64]": ("1", "2**64"),
    "['ab', 'cpu']": ("'ab'", "'cpu'"),
    "[[1, 0]]": ("[1, 0]",),
    "[[1, 0], (), [1] * 9]": ("[1, 0]", "()", "[1] * 9"),
    "[(), [1, True], 1]": ("()", "[1, True]", "1"),
    "[(), [1, 2**64]]": ("()", "[1, 2**64]"),
    "[[[]]]": ("[[]]",),
    "[[]]": ("[]",),
    "[Tensor(2)]": ("Tensor(2)",),
    "(Tensor(2), TensorSub(7, dim=0))": ("Tensor(2)", "TensorSub(7, dim=0)"),
    "[Tensor(2), None]": ("Tensor(2)", "None"),
    "(None, None)": ("None", "None"),
    "[Tensor(2), 1]": ("Tensor(2)", "1"),
    "ListSub([1, 0])": ("1", "0"),
    "TupleSub((1, 0))": ("1", "0"),
}


def _type_of(expression: str) -> str:
    if expression.startswith(("ListSub", "TupleSub")):
        return f"echo_zoo.{expression.partition('(')[0]}"
    return "list" if expression.startswith("[") else "tuple"


CONTAINERS = {
    "range(3)": "range",
    "(n for n in (1, 2))": "generator",
    "iter([])": "list_iterator",
    "{1, 2}": "set",
    "frozenset()": "frozenset",
    "{}": "dict",
    "array.array('i', [1, 2])": "array.array",
    **{expression: _type_of(expression) for expression in LISTS},
}

ZOO = {
    **{**NUMBERS, **NUMPY, **OBJECTS, **TEXTS, **TENSORS, **SYMBOLS, **ENUMS, **HANDLES},
    **CONTAINERS,
}


def fields(error: BaseException) -> tuple[Any, Any, Any]:
    """What a refused call says to programs: function, argument, candidates."""
    return tuple(getattr(error, name) for name in FIELDS)


FIELDS = ("function", "argument", "candidates")


class Keeper:
    """Makes the zoo's values. The types of the null host are known once echo is imported."""

    def __init__(self) -> None:
        import null_host

        class TensorSub(null_host.Tensor):  # type: ignore[misc]
            pass

        self._scope = {
            **globals(),
            "array": array,
            "np": np,
            "echo_ops": importlib.import_module("echo_ops"),
            "nh": null_host,
            "Tensor": null_host.Tensor,
            "TensorSub": TensorSub,
        }

    def value(self, expression: str) -> Any:
        """A new object, where Python does not have only one."""
        return eval(expression, self._scope)
