"""The plan of torch's own files is what torchgen generates: every name, every signature, in order.

torchgen, as installed, is the judge; torchgen_differences.yaml lists what differs, with reasons.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
import yaml
from opbind import verify
from opbind.errors import Diagnostics
from opbind.plan import Function, Parameter, ResultKind, Signature, calls, dump, order
from shared_calls import overlaps

torch = pytest.importorskip("torch")

import torchgen_judge as judge  # noqa: E402
from torch_files import ours, planned, read  # noqa: E402
from torchgen_judge import Canonical, Shown  # noqa: E402

DIFFERENCES = Path(__file__).parent / "torchgen_differences.yaml"
MOST_DIFFERENCES = 40


@cache
def functions() -> dict[tuple[str, str], Function]:
    return {(f.namespace, f.name): f for f in ours().functions}


@cache
def theirs() -> judge.Table:
    return judge.table()


# --- our signatures in the form to compare --------------------------------------------------------


def _shown(parameter: Parameter) -> Shown:
    default = parameter.default
    text = "" if default is None else default.text
    if default is not None and default.string is not None:
        text = repr(default.string)
    takes_none = parameter.allow_none or parameter.none_is_default
    return Shown(parameter.name, parameter.printed, text, takes_none)


def _canonical(signature: Signature, *, is_method: bool) -> Canonical:
    positional = signature.positional
    if is_method:
        assert positional[0].name == "self"
    named = list(signature.keyword_only)
    out = named.pop(signature.out_index - signature.max_positional) if _has_out(signature) else None
    tuples = [call.structseq for call in signature.calls]
    return Canonical(
        tuple(map(_shown, positional[is_method:])),
        tuple(map(_shown, named)),
        _shown(out._replace(printed=out.printed.removesuffix("?"))) if out else None,
        signature.is_deprecated,
        tuple(str(call.op.schema.name) for call in signature.calls),
        tuple(one.torch_name if one else "" for one in tuples),
    )


def _has_out(signature: Signature) -> bool:
    return signature.out_index >= 0


def _signatures(function: Function) -> tuple[Canonical, ...]:
    is_method = function.namespace == "Tensor"
    return tuple(_canonical(s, is_method=is_method) for s in function.signatures)


# --- order ----------------------------------------------------------------------------------------


def _inverted(function: Function, wanted: tuple[Canonical, ...]) -> list[tuple[int, int]]:
    """Pairs of signatures that torchgen tries in the other order, where a call can tell."""
    found = _signatures(function)
    places = [wanted.index(one) for one in found]
    pairs = combinations(range(len(found)), 2)
    return [(i, j) for i, j in pairs if places[i] > places[j] and _is_told(function, places, i, j)]


def _is_told(function: Function, places: list[int], i: int, j: int) -> bool:
    """Whether a call that both take gets to either."""
    first, second = function.signatures[i], function.signatures[j]
    earlier = [function.signatures[k] for k in range(i) if places[k] < places[j]]
    if not overlaps(first, second):
        return False
    return not any(_takes_shared(one, first, second) for one in earlier)


def _takes_shared(one: Signature, first: Signature, second: Signature) -> bool:
    """Whether `one` takes what both take: two tensors, before (Tensor, Scalar) and its mirror."""
    if not one.max_positional == first.max_positional == second.max_positional:
        return False
    named = {p.name for p in first.keyword_only} & {p.name for p in second.keyword_only}
    trios = zip(one.positional, first.positional, second.positional, strict=True)
    return named <= {p.name for p in one.keyword_only} and all(
        a.accepts & b.accepts <= c.accepts
        and _names(a) & _names(b) <= _names(c)
        and (c.default is not None or a.default is None or b.default is None)
        for c, a, b in trios
    )


def _names(parameter: Parameter) -> set[str]:
    return {parameter.name, *parameter.aliases}


# --- tests ----------------------------------------------------------------------------------------


def _listed(kind: str) -> set[str]:
    entries = yaml.safe_load(DIFFERENCES.read_text(encoding="utf-8"))
    return {entry["function"] for entry in entries if entry["differs"] == kind}


def test_the_differences_are_few_and_explained() -> None:
    entries = yaml.safe_load(DIFFERENCES.read_text(encoding="utf-8"))
    assert len(entries) <= MOST_DIFFERENCES
    assert all(entry["differs"] in ("signatures", "order") for entry in entries)
    assert all(len(entry["reason"].split()) > 5 for entry in entries)


def test_the_names_of_every_namespace() -> None:
    assert functions().keys() == theirs().keys()
    assert Counter(namespace for namespace, _ in functions()) == {
        **{"torch": 941, "Tensor": 537, "nn": 95, "special": 56, "linalg": 43, "fft": 22},
        **{"sparse": 8, "nested": 1},
    }
    assert sum(len(function.signatures) for function in functions().values()) == 2220


def test_the_signatures_of_every_name() -> None:
    different = {
        f"{namespace}.{name}"
        for (namespace, name), wanted in theirs().items()
        if Counter(_signatures(functions()[namespace, name])) != Counter(wanted)
    }
    assert different == _listed("signatures")


def test_the_order_of_overloads_wherever_a_call_can_tell() -> None:
    different = {
        f"{namespace}.{name}"
        for (namespace, name), wanted in theirs().items()
        if f"{namespace}.{name}" not in _listed("signatures")
        and _inverted(functions()[namespace, name], wanted)
    }
    assert different == _listed("order")


def test_what_the_tracer_records() -> None:
    recorded = judge.traceable()
    for function in functions().values():
        ops = [str(call.op.schema.name) for s in function.signatures for call in s.calls]
        assert function.is_traceable == all(recorded[op] for op in ops), function.name


def _given(function: Function) -> judge.Given:
    results = [call.result for call in function.calls]
    return judge.Given(
        sum(signature.device != "" for signature in function.signatures),
        sum(bool(call.out_options) for call in function.calls),
        results.count(ResultKind.GIVEN),
        results.count(ResultKind.NONE),
    )


def test_what_functions_return_whose_ops_return_nothing_and_what_they_check() -> None:
    found = {name: _given(function) for name, function in functions().items()}
    assert found == judge.given()
    assert sum(one.lists_returned for one in found.values()) > 50


def test_lists_of_ints_that_may_come_one_by_one() -> None:
    """As the comment of torch's stubs' generator has it: the only positional is a list of ints."""
    found = {f"{f.namespace}.{f.name}" for f in functions().values() for s in f.signatures
             if s.varargs_int_list}  # fmt: skip
    for name in ("torch.zeros", "torch.rand", "Tensor.view", "Tensor.permute", "Tensor.new_empty"):
        assert name in found
    for name in ("torch.permute", "Tensor.var", "torch.full", "Tensor.sum"):
        assert name not in found


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_the_file_does_not_matter(seed: int) -> None:
    text = judge.NATIVE_FUNCTIONS.read_text(encoding="utf-8")
    head, *entries = re.split(r"(?m)^(?=- func:)", text)
    random.Random(seed).shuffle(entries)
    shuffled = planned(head + "".join(f"{entry.rstrip()}\n\n" for entry in entries))
    assert dump(shuffled) == dump(ours())


# Overloads of a function that takes numbers as tensors: the tensor's takes the number's calls.
UNREACHABLE = {
    **{"Tensor.div": "div.Scalar_mode", "Tensor.div_": "div_.Scalar_mode"},
    **{"torch.div": "div.Scalar_mode"},
    **{"Tensor.divide": "divide.Scalar divide.Scalar_mode"},
    **{"Tensor.divide_": "divide_.Scalar divide_.Scalar_mode"},
    **{"torch.divide": "divide.Scalar divide.Scalar_mode"},
    **{"Tensor.floor_divide": "floor_divide.Scalar", "torch.floor_divide": "floor_divide.Scalar"},
    **{"Tensor.floor_divide_": "floor_divide_.Scalar"},
    **{"Tensor.multiply": "multiply.Scalar", "torch.multiply": "multiply.Scalar"},
    **{"Tensor.multiply_": "multiply_.Scalar"},
    **{"Tensor.true_divide": "true_divide.Scalar", "torch.true_divide": "true_divide.Scalar"},
    **{"Tensor.true_divide_": "true_divide_.Scalar"},
}


def test_the_overloads_that_no_call_reaches() -> None:
    diagnostics = Diagnostics()
    verify.verify(ours(), diagnostics)
    expected = Counter(op for ops in UNREACHABLE.values() for op in ops.split())
    assert Counter(item.subject for item in diagnostics.items) == expected
    assert {item.rule for item in diagnostics.items} == {"unreachable-overload"}
    assert not diagnostics.has_errors
    for (namespace, name), function in functions().items():
        unreachable = (second for second, _ in order.unreachable(function.signatures))
        found = {str(signature.call.op.schema.name) for signature in unreachable}
        assert found == set(UNREACHABLE.get(f"{namespace}.{name}", "").split())


# --- C++ ------------------------------------------------------------------------------------------

# ATen takes any list of tensors here; ours converts to it.
TAKES_ANY_LIST = {"cat", "cat.out"}


def _aten_signatures() -> dict[str, str]:
    """`add.Tensor` -> the type of at::_ops::add_Tensor::call."""
    found = {}
    pattern = re.compile(
        r'using schema = (.*);\n.*\n.*\n(?:.*\n)*?.*overload_name = "(.*)";\n'
        r'.*schema_str = "(?:aten::)?([^(]*)\('
    )
    for header in Path(torch.__file__).parent.glob("include/ATen/ops/*_ops.h"):
        for type_, _, name in pattern.findall(header.read_text(encoding="utf-8")):
            found[name] = _spelled(type_)
    return found


def _spelled(type_: str) -> str:
    bare = type_.replace("::std::", "std::").replace("c10::string_view", "std::string_view")
    return re.sub(r"\s+(?=[&(>])|(?<=[,(])\s+|\s*(?=,)", "", bare)


def test_every_header_is_there() -> None:
    folder = Path(torch.__file__).parent / "include/ATen/ops"
    for shard in ours().shards:
        for header in shard.headers:
            assert (folder / header).is_file(), header


def test_cpp_types_are_those_of_aten() -> None:
    wanted = _aten_signatures()
    file = read(judge.NATIVE_FUNCTIONS.read_text(encoding="utf-8"))
    for op in file.ops:
        name = str(op.schema.name)
        if name not in TAKES_ANY_LIST:
            assert _spelled(calls.cpp_signature(op).function_type) == wanted[name], name
