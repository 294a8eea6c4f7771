"""What is planned for an own op, torch registers, and reads as we do: nothing fails at import."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml
from opbind import loader, parser, typemap
from opbind.errors import Diagnostics
from opbind.model import ListType, OptionalType, Type
from opbind.parser import parse_type
from opbind.plan import OwnOp, plan
from schema_samples import SchemaMaker
from torch_reading import check_against_torch, torch_schema

TYPES = (
    *(name.replace("bool[]", "bool[3]") for name in typemap.ROWS),
    *("int[2]", "int[2]?", "SymInt[2]", "SymInt[2]?", "bool[2]?", "float[2]", "str[]", "str?[]"),
    *("complex", "complex?", "number", "Tensor[2]", "int[][]", "ScalarType[]", "Device[]"),
)
DEFAULTS = r"""
    None True False 0 1 -1 9223372036854775807 -9223372036854775808 9223372036854775808 0x10 010 1E5
    1e5 1e-5 0.0 -0.0 0.1 1. 1e308 1.7976931348623157e308 2.2250738585072014e-308 5e-324 0x1p-1074
    1e-320 inf -inf nan 1j -1j 5e-324j +1 [] [1] [1,2] [1.5] [None] [True] ['a'] [long] [[1]] [0x10]
    [1E5] [5e-324] 'a' 'cpu' 'cuda:1' 'cuda:01' 'cuda:128' 'npu' "it's" '\0' '\000' '\r' '\x41' ''
    Mean long float int8 contiguous_format channels_last strided bits8 complex complex64 uint7 int1
    preserve_format bool default foo
"""
# Names of the Python types in which torch keeps a default; enums are ints there.
KINDS = {
    **{"bool": {"bool"}, "float": {"float"}, "str": {"str"}, "Device": {"device"}},
    **{"Scalar": {"bool", "int", "float", "complex"}, "complex": {"complex"}},
}


def _own_op(schema: str) -> OwnOp | None:
    """The op as it is planned; None where it is refused."""
    diagnostics = Diagnostics()
    entry = {"func": schema, "dispatch": {"CompositeImplicitAutograd": "kernel"}}
    data = {"library": {"namespace": "n", "module": "m"}, "functions": [entry]}
    text = yaml.safe_dump(data, allow_unicode=True, width=10**9)
    file = parser.parse_file(loader.load(text, "ops.yaml", diagnostics), diagnostics)
    planned = plan(file, diagnostics)
    assert diagnostics.has_errors == (not planned.own_ops)
    return None if diagnostics.has_errors else planned.own_ops[0]


def _has_kind(value: object, type_: Type) -> bool:
    """Whether a kernel that takes `type_` can be given what torch keeps."""
    if isinstance(type_, OptionalType):
        return value is None or _has_kind(value, type_.element)
    if isinstance(type_, ListType):
        return isinstance(value, list) and all(_has_kind(one, type_.element) for one in value)
    return type(value).__name__ in KINDS.get(str(type_), {"int"})


@pytest.mark.parametrize("type_", dict.fromkeys(TYPES))
def test_a_default_that_is_planned_is_registered(type_: str) -> None:
    seen = 0
    for default in DEFAULTS.split():
        for schema in (f"f({type_} x={default}) -> ()", f"f(int y, *, {type_} x={default}) -> ()"):
            op = _own_op(schema)
            if op is None:
                continue
            seen += 1
            theirs = torch_schema(op.schema)
            assert theirs is not None, f"{schema} is registered as {op.schema}: torch refuses it"
            check_against_torch(op.op.schema, theirs)
            value = theirs.arguments[-1].default_value
            assert _has_kind(value, parse_type(type_)), f"{op.schema}: torch keeps {value!r}"
    row = typemap.find(parse_type(type_))
    assert bool(seen) == (row is not None and bool(row.defaults))


@pytest.mark.parametrize("seed", [1, 2])
def test_random_schemas_that_are_planned_are_registered(seed: int) -> None:
    maker = SchemaMaker(seed)
    results: Counter[bool] = Counter()
    for index in range(2_000):
        text = maker.schema().replace("ns::", "")
        op = _own_op(maker.mutated(text) if index % 4 == 3 else text)
        results[op is not None] += 1
        if op is not None:
            theirs = torch_schema(op.schema)
            assert theirs is not None, op.schema
            check_against_torch(op.op.schema, theirs)
    assert results[True] > 50
