"""The words of the schema language: what PyTorch's two readers know, and what people write instead.

There are two: the C++ parser, which reads the schemas that libraries register, and torchgen, which
reads native_functions.yaml. Where they differ the parser warns, as a schema that only one of them
reads cannot be registered. Probed on torch 2.13.
"""

from __future__ import annotations

# Types that the C++ parser knows.
_TORCH_TYPES = """
    Tensor Scalar int float bool str complex SymInt SymBool ScalarType Layout Device DeviceIndex
    MemoryFormat QScheme Storage Stream Generator None NoneType Any AnyEnumType AnyClassType
    Capsule Quantizer ConstQuantizerPtr number
"""
TORCH_TYPES = frozenset(_TORCH_TYPES.split())
# Types of torchgen, or of PyTorch up to 2.12, that the C++ parser refuses.
_FOREIGN_TYPES = """
    DimVector GraphModule Dimname
"""
FOREIGN_TYPES = frozenset(_FOREIGN_TYPES.split())
# Types that are written with their parts in brackets, besides Dict: how many parts they take.
GENERIC_TYPES: dict[str, int | None] = {"Future": 1, "Await": 1, "RRef": 1, "Union": None}

# Words that the C++ parser cannot take as a name.
_KEYWORDS = """
    True False None NoneType def if elif else for while in is not and or with as assert raise
    del pass break continue import global class return Ellipsis
"""
KEYWORDS = frozenset(_KEYWORDS.split())

# Names that the C++ parser takes as a default: it reads each as an integer.
_DEFAULT_NAMES = """
    Mean contiguous_format strided complex bfloat16 bit bits16 bits1x8 bits2x4 bits4x2 bits8
    bool cdouble cfloat chalf complex128 complex32 complex64 double float float16 float32
    float4_e2m1fn_x2 float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
    float8_e8m0fnu half int int1 int16 int2 int3 int32 int4 int5 int6 int64 int7 int8 long
    qint32 qint8 quint2x4 quint4x2 quint8 short uint1 uint16 uint2 uint3 uint32 uint4 uint5
    uint6 uint64 uint7 uint8
"""
DEFAULT_NAMES = frozenset(_DEFAULT_NAMES.split())
# All but these it takes for a ScalarType alone.
TYPE_DEFAULT_NAMES = DEFAULT_NAMES - {
    *("Mean", "complex", "contiguous_format", "float", "long", "strided"),
}

# What people write for a type, and what to write instead.
TYPE_REMEDIES = {
    "string": "str",
    "String": "str",
    "string_view": "str",
    "double": "float",
    "long": "int",
    "int64_t": "int",
    "int32_t": "int",
    "int8_t": "int",
    "size_t": "int",
    "boolean": "bool",
    "Bool": "bool",
    "Int": "int",
    "Float": "float",
    "Number": "Scalar",
    "dtype": "ScalarType",
    "Tensors": "Tensor[]",
    "TensorList": "Tensor[]",
    "IntArrayRef": "int[]",
    "IntList": "int[]",
    "Optional": "T?",
    "List": "T[]",
    "Tuple": "(T, U)",
    "dict": "Dict(K, V)",
    "void": "() for no return",
    "auto": "the type itself",
    "const": "the type alone, as the language has no C++ types",
}
