"""The schema reader against PyTorch's own: what torch reads we read, with the same fields."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest
from opbind.errors import Diagnostics, SchemaError
from opbind.loader import read_file
from opbind.model import (
    AliasInfo,
    Argument,
    BaseType,
    Default,
    DefaultKind,
    DictType,
    ListType,
    OptionalType,
    Return,
    Schema,
    TupleType,
    Type,
)
from opbind.parser import parse_file, parse_schema, parse_type
from schema_samples import SchemaMaker

torch = pytest.importorskip("torch")
torchgen = pytest.importorskip("torchgen")

PACKAGED = Path(torchgen.__file__).parent / "packaged"
CORPUS = os.environ.get("OPBIND_CORPUS", "")

# Names by which torch's types call themselves.
_TORCH_NAMES = {
    "Scalar": "number",
    "None": "NoneType",
    "SymInt": "int",
    "SymBool": "bool",
    "DeviceIndex": "int",
    "ConstQuantizerPtr": "int",
}
# Real texts hold what a list of rules forgets. Written afresh, with the features of schemas in use.
FEATURES = (
    "scale(Tensor x, float factor=1.0) -> Tensor",
    "ns::gather.dim(Tensor  x,   int dim,\n  Tensor? index=None) -> Tensor",
    "quantize(Tensor! out, Tensor input,Tensor scale, int group_size , bool zero=False ) -> ()",
    "step(Tensor(a!) state, Tensor(out!) buf, Tensor(k_new!)? cache) -> Tensor(a!)",
    "merge(Tensor[](a!) parts, Tensor(b!)[] pieces, Tensor !y, Tensor ! z) -> ()",
    "pool(Tensor x, int[2] kernel=1, int[1]? dim=None, SymInt[2] stride=[1, 2]) -> (Tensor)",
    "mode(Tensor x, str how='a, b', *, str sep=\"=\", ScalarType? dtype=None)->Tensor",
    "reduce(Tensor x, int r=Mean, ScalarType d=long, MemoryFormat m=contiguous_format) -> Tensor",
    "bag(Dict(str, Tensor) w, Dict(str, int[][])? n, (int, int)? a, str[][] s)-> Dict(str, int[])",
    "pairs((str, str, str)[] names, Tensor?[] weights) -> (Tensor out, Tensor[] rest, int count)",
    "many(Tensor(a! -> *)? x, Tensor(a|b) y) -> Tensor(a)[]",
    "words(int from, Tensor type, bool lambda, int self) -> int r",
    "none() -> None",
    "rest(int a, ...) -> ...",
    "twice(int a, int a) -> (int x, int x)",
    "tuples() -> ((int, int))",
)


def _torch_schema(text: str) -> Any:
    """torch's reading; None where it has none."""
    try:
        return torch._C.parse_schema(text)
    # stoll's and stod's errors come out as IndexError and ValueError.
    except (RuntimeError, IndexError, ValueError):
        return None


def _torch_type(type_: Type) -> str:
    match type_:
        case OptionalType(element):
            return f"Optional[{_torch_type(element)}]"
        case ListType(element):
            return f"List[{_torch_type(element)}]"
        case TupleType(elements):
            return f"Tuple[{', '.join(map(_torch_type, elements)) or '()'}]"
        case DictType(key, value):
            return f"Dict[{_torch_type(key)}, {_torch_type(value)}]"
        case BaseType(name):
            if "(" in name:
                generic, _, part = name.removesuffix(")").partition("(")
                return f"{generic}[{_torch_type(parse_type(part))}]"
            return _TORCH_NAMES.get(name, name)


def _alias_sets(alias: AliasInfo | None) -> tuple[set[str], set[str], bool] | None:
    """What torch shows of a mark: the outermost list's, or only the write if it has no name."""
    if alias is None:
        return None
    if alias.on_element or not alias.before:
        return set(), set(), alias.writes
    after = alias.before if alias.after is None else alias.after
    return set(alias.before), set(after), alias.is_write


def _torch_alias_sets(alias: Any) -> tuple[set[str], set[str], bool] | None:
    if alias is None:
        return None
    before = {name for name in alias.before_set if not name.startswith("$")}
    return before, set(alias.after_set), alias.is_write


def _plain(default: Default, type_: Type) -> object:
    """A default's value as torch gives it: names are integers there."""
    if isinstance(type_, OptionalType) and isinstance(type_.element, ListType):
        type_ = type_.element
    if isinstance(type_, ListType):
        if isinstance(default.value, tuple):
            return [_plain(item, type_.element) for item in default.value]
        if default.kind is not DefaultKind.NONE and type_.size is not None:
            return [_plain(default, type_.element)] * type_.size
    if default.kind is DefaultKind.NAME:
        name = str(default.value)
        return _NAME_VALUES.get(name, name)
    if type_ == BaseType("Device") and default.kind is DefaultKind.STRING:
        return torch.device(default.value)
    if type_ == BaseType("float") and isinstance(default.value, int):
        return float(default.value)
    return default.value


_NAME_VALUES = {"Mean": 1, "contiguous_format": 0, "long": 4, "float": 6, "int8": 1}


def _check_argument(ours: Argument | Return, theirs: Any) -> None:
    assert (ours.name or "") == theirs.name
    assert _torch_type(ours.type) == str(theirs.real_type)
    assert _alias_sets(ours.alias) == _torch_alias_sets(theirs.alias_info)
    bare = ours.type.element if isinstance(ours.type, OptionalType) else ours.type
    size = bare.size if isinstance(bare, ListType) else None
    assert size == theirs.N


def _check_default(ours: Argument, theirs: Any) -> None:
    assert theirs.has_default_value() == (ours.default is not None)
    if ours.default is not None:
        wanted, found = _plain(ours.default, ours.type), theirs.default_value
        # torch keeps one value for the whole of an optional list of fixed size.
        if isinstance(wanted, list) and not isinstance(found, list):
            wanted = wanted[0]
        assert wanted == found
        assert isinstance(wanted, bool) == isinstance(found, bool)


def check_against_torch(text: str, ours: Schema, theirs: Any) -> None:
    name = f"{ours.name.namespace}::" if ours.name.namespace else ""
    assert (f"{name}{ours.name.base}", ours.name.overload) == (theirs.name, theirs.overload_name)
    star = len(ours.positional)
    assert all(a.kwarg_only == (i >= star) for i, a in enumerate(theirs.arguments))
    assert len(ours.arguments) == len(theirs.arguments)
    assert len(ours.returns) == len(theirs.returns)
    for mine, other in zip(ours.arguments, theirs.arguments, strict=True):
        _check_argument(mine, other)
        _check_default(mine, other)
    for result, other in zip(ours.returns, theirs.returns, strict=True):
        _check_argument(result, other)
    # What torch's Python objects do not show is in its text.
    again = _torch_schema(str(ours))
    assert str(again) == str(theirs)


def check_text(text: str) -> bool:
    """Whether torch reads `text`; then we do, and read the same, unless we say that it misreads."""
    theirs = _torch_schema(text)
    diagnostics = Diagnostics()
    try:
        ours = parse_schema(text, None, diagnostics)
    except SchemaError as error:
        assert theirs is None, f"torch reads {text!r}: {error.diagnostic.message}"
        return False
    assert parse_schema(str(ours)) == ours
    rules = {item.rule for item in diagnostics.items}
    if theirs is None:
        return False
    assert not diagnostics.has_errors
    assert "torch-refuses" not in rules, f"torch reads {text!r}: {diagnostics.items}"
    # torch takes `Scalar??` for a union.
    if not rules & {"torch-misreads", "default-type"} and "Union" not in str(theirs):
        check_against_torch(text, ours, theirs)
    return True


@pytest.mark.parametrize("text", FEATURES)
def test_features(text: str) -> None:
    assert check_text(text)


def test_native_functions() -> None:
    diagnostics = Diagnostics()
    file = parse_file(
        read_file(PACKAGED / "ATen/native/native_functions.yaml", diagnostics), diagnostics
    )
    assert not diagnostics.items
    assert len(file.ops) > 2000
    for op in file.ops:
        text = str(op.schema)
        assert check_text(text), text


def test_native_texts_are_canonical_but_for_quotes() -> None:
    diagnostics = Diagnostics()
    raw = read_file(PACKAGED / "ATen/native/native_functions.yaml", diagnostics)
    for entry in raw.functions:
        text = entry.text("func")
        assert '"' in text or str(parse_schema(text)) == text


def test_deprecated_signatures_and_tags() -> None:
    diagnostics = Diagnostics()
    old = parse_file(read_file(PACKAGED / "autograd/deprecated.yaml", diagnostics), diagnostics)
    tags = read_file(PACKAGED / "ATen/native/tags.yaml", diagnostics)
    assert not diagnostics.items
    assert len(old.deprecated) > 40
    assert all(check_text(str(entry.schema)) for entry in old.deprecated)
    assert {tag.text("tag") for tag in tags.tags} >= {"core", "pointwise", "view_copy"}


def test_torchgen_reads_the_canonical_text() -> None:
    schema_class: Any = importlib.import_module("torchgen.model").FunctionSchema
    diagnostics = Diagnostics()
    raw = read_file(PACKAGED / "ATen/native/native_functions.yaml", diagnostics)
    for op in parse_file(raw, diagnostics).ops:
        assert str(schema_class.parse(str(op.schema))) == str(op.schema)


def _corpus_texts(path: Path) -> list[str]:
    found: list[str] = []
    has_escapes = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# source"):
            has_escapes = False
        if line.startswith("#"):
            has_escapes = has_escapes or "escapes:" in line
        elif line.strip():
            found.append(line.replace("\\n", "\n").replace("\\\\", "\\") if has_escapes else line)
    return found


@pytest.mark.skipif(not CORPUS, reason="OPBIND_CORPUS does not name a folder of *.schemas.txt")
def test_corpus() -> None:
    paths = sorted(Path(CORPUS).glob("*.schemas.txt"))
    assert paths
    for path in paths:
        for text in _corpus_texts(path):
            parse_schema(text)
            check_text(text)


@pytest.mark.parametrize("seed", range(4))
def test_random_schemas(seed: int) -> None:
    maker = SchemaMaker(seed)
    read = sum(check_text(maker.schema()) for _ in range(400))
    # The maker must not drift into texts that torch refuses.
    assert read > 150


@pytest.mark.parametrize("seed", range(4))
def test_mutated_schemas(seed: int) -> None:
    maker = SchemaMaker(seed)
    for _ in range(1000):
        check_text(maker.mutated(maker.schema()))
