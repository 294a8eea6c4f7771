"""The schema reader against PyTorch's own: what torch reads we read, with the same fields."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest
from opbind.errors import Diagnostics, SchemaError
from opbind.loader import read_file
from opbind.parser import parse_file, parse_schema
from schema_samples import SchemaMaker
from torch_reading import check_against_torch, torch_schema

torchgen = pytest.importorskip("torchgen")

PACKAGED = Path(torchgen.__file__).parent / "packaged"
CORPUS = os.environ.get("OPBIND_CORPUS", "")

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


def check_text(text: str) -> bool:
    """Whether torch reads `text`; then we do, and read the same, unless we say that it misreads."""
    theirs = torch_schema(text)
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
        check_against_torch(ours, theirs)
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
