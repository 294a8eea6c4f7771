"""Planning: what entries become, and what cannot become anything."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from opbind.errors import Diagnostics
from opbind.model import Library, Op, SchemaFile
from opbind.parser import parse_schema
from opbind.plan import EntryKind, ResultKind, dump, plan
from opbind.plan.names import (
    cpp_identifiers,
    entry_name,
    is_namespace,
    keyword_aliases,
    shard_of,
    stem,
)
from planning import faults, funcs, function, planned, read, rules


def _texts(entries: str) -> list[str]:
    return [signature.text for signature in function(entries).signatures]


def _own(schema: str, dispatch: str = "{CPU: f_cpu}") -> str:
    return f'- func: "{schema}"\n  dispatch: {dispatch}\n'


# --- functions ------------------------------------------------------------------------------------


def test_a_base_and_its_out_variant_are_one_signature() -> None:
    add = function(
        funcs(
            [
                "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> "
                "Tensor(a!)",
                "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            ]
        )
    )
    (signature,) = add.signatures
    assert signature.text == (
        "add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None) -> Tensor"
    )
    assert signature.call.target == "at::_ops::add_Tensor::call"
    assert signature.out_call is not None and signature.out_index == 3
    assert signature.out_call.target_arguments == ("self", "other", "alpha", "out")
    assert signature.out_call.dispatch.names == ("out", "self", "other", "alpha")
    assert signature.out_call.expressions[0] == "r.mutable_tensor(3)"
    assert [call.dispatch_name for call in signature.calls] == ["dispatch_add", "dispatch_add_out"]


def test_several_outs_are_one_list() -> None:
    (signature,) = function(
        funcs(
            [
                "max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)",
                "max.dim_max(Tensor self, int dim, *, Tensor(a!) max, Tensor(b!) max_values) -> "
                "(Tensor(a!) values, Tensor(b!) indices)",
            ]
        )
    ).signatures
    out = signature.parameters[signature.out_index]
    assert (out.name, out.printed, out.size) == ("out", "Tensor[2]?", 2)
    assert signature.out_call is not None and signature.out_call.out_count == 2
    assert signature.out_call.expressions[:2] == ("out[0]", "out[1]")
    # Torch's out variant has a named tuple of its own.
    assert [one.torch_name for one in signature.structseqs] == ["max", "max_out"]
    assert signature.call.structseq is signature.structseqs[0]
    assert signature.out_call.structseq == signature.structseqs[1]
    assert {one.fields for one in signature.structseqs} == {("values", "indices")}


@pytest.mark.parametrize(
    "base",
    [
        "f(Tensor self, int n=1) -> Tensor",
        "f(Tensor self, float n) -> Tensor",
        "f(Tensor self, int m) -> Tensor",
        "f(Tensor self, *, int n) -> Tensor",
    ],
)
def test_an_out_variant_of_another_signature_stays_alone(base: str) -> None:
    out = "f.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)"
    signatures = function(funcs([base, out])).signatures
    (alone,) = [s for s in signatures if s.call.op.schema.name.overload == "out"]
    assert alone.out_call is None
    assert alone.parameters[-1].default is None
    assert alone.call.expressions[0] == "r.mutable_tensor(2)"


def test_the_order_of_a_factorys_arguments() -> None:
    (signature,) = function(
        funcs(
            [
                "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
                "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None)"
                " -> Tensor"
            ]
        )
    ).signatures
    assert [p.name for p in signature.parameters] == (
        ["input", "memory_format", "dtype", "layout", "device", "pin_memory", "requires_grad"]
    )
    assert signature.call.result is ResultKind.WRAP
    assert (signature.device, signature.call.requires_grad_index) == (
        "r.deviceOptional(4)",
        6,
    )
    assert signature.call.target_arguments[-1] == "memory_format"


@pytest.mark.parametrize("name", ["zeros", "new_zeros", "zeros_like"])
def test_torchs_factories_tell_the_default_device(name: str) -> None:
    tensor = "" if name == "zeros" else "Tensor self, "
    schema = (
        f"{name}({tensor}int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor"
    )
    (signature,) = function(funcs([schema])).signatures
    given = f"r.deviceOptional({4 if tensor else 3})"
    expected = given if tensor else f"host::device_or_default({given})"
    assert signature.device == expected
    assert signature.call.expressions[-2] == expected


def test_tensor_options_of_an_op_that_makes_nothing_stay_where_they_are() -> None:
    (signature,) = function(
        funcs(
            [
                "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
                "Device? device=None, bool? pin_memory=None, bool non_blocking=False) -> Tensor"
            ]
        )
    ).signatures
    assert signature.parameters[-1].name == "non_blocking"
    assert signature.call.result is ResultKind.WRAP


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("f(Tensor self) -> Tensor", "f(Tensor input) -> Tensor"),
        ("f(Tensor c, Scalar self) -> Tensor", "f(Tensor c, Scalar self) -> Tensor"),
        ("f(Tensor? self) -> Tensor", "f(Tensor? input) -> Tensor"),
        ("f(int self) -> int", "f(int self) -> int"),
        ("f(Tensor[] self) -> Tensor", "f(Tensor[] self) -> Tensor"),
        ("f(Tensor self, Tensor input) -> Tensor", "f(Tensor self, Tensor input) -> Tensor"),
    ],
)
def test_self_is_called_input(schema: str, text: str) -> None:
    assert _texts(funcs([schema])) == [text]


def test_an_own_op_in_place_gives_its_argument_back() -> None:
    (signature,) = function(_own("f_(Tensor(a!) self, float e) -> ()")).signatures
    assert (signature.call.result, signature.call.given_index) == (ResultKind.GIVEN, 0)
    assert signature.stub_return == "Tensor"
    assert signature.call.dispatch.parameters[0].type == "at::Tensor&"


def test_an_own_op_in_place_on_a_list_gives_the_list_back() -> None:
    (signature,) = function(_own("f_(Tensor(a!)[] self, float e) -> ()")).signatures
    assert (signature.call.result, signature.call.given_index) == (ResultKind.GIVEN, 0)
    assert signature.text == "f_(Tensor[] self, float e) -> Tensor[]"
    assert signature.stub_return == "tuple[Tensor, ...] | list[Tensor]"


def test_an_own_op_that_writes_out_gives_it_back() -> None:
    entries = _own("f(Tensor x) -> Tensor") + _own("f.out(Tensor x, *, Tensor(a!) out) -> ()")
    (signature,) = function(entries.replace("f_cpu", "g_cpu", 1)).signatures
    assert signature.out_call is not None
    assert (signature.out_call.result, signature.out_call.given_index) == (ResultKind.GIVEN, 1)
    assert signature.text == "f(Tensor x, *, Tensor? out=None) -> Tensor"


def test_outs_have_the_names_of_the_base_where_there_are_as_many() -> None:
    base, kernel = "f(Tensor x) -> (Tensor lo, Tensor hi)", "f_cpu"
    for outs, names in (("ab", ("lo", "hi")), ("abc", None)):
        written = ", ".join(f"Tensor({o}!) {o}" for o in outs)
        entries = _own(base) + _own(f"f.out(Tensor x, *, {written}) -> ()")
        (signature,) = function(entries.replace(kernel, "g_cpu", 1)).signatures
        assert signature.out_call is not None
        assert signature.out_call.result is ResultKind.OUTS
        named = signature.out_call.structseq
        assert (named.fields if named else None) == names


OPTIONS = "ScalarType? dtype={}, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def test_options_beside_out_are_compared_with_it() -> None:
    ops = [
        f"randint(int high, int[] size, *, {OPTIONS.format('long')}) -> Tensor",
        "randint.out(int high, int[] size, *, Tensor(a!) out) -> Tensor(a!)",
    ]
    (signature,) = function(funcs(ops)).signatures
    assert signature.out_call is not None
    assert signature.call.out_options == ()
    # What is left out says nothing, whatever its default is.
    assert signature.out_call.out_options == (
        "r.tensor(2)",
        "r.isNone(3) ? std::nullopt : r.scalartypeOptional(3)",
        "r.layoutOptional(4)",
        "r.deviceOptional(5)",
    )
    assert signature.out_call.requires_grad_index == 7


def test_numbers_stand_for_tensors_that_are_read() -> None:
    ops = [
        "f(Tensor(a!) self, Tensor other, Tensor? third) -> Tensor(a!)",
        "f.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    ]
    entries = "".join(f"- func: {op}\n  numbers_as_tensors: true\n" for op in ops)
    expressions = [c.expressions for s in function(entries).signatures for c in s.calls]
    assert expressions == [
        ("r.mutable_tensor(2)", "r.tensor_or_number(0)", "r.tensor_or_number(1)"),
        ("r.mutable_tensor(0)", "r.tensor_or_number(1)", "r.optionalTensor(2)"),
    ]


def test_entry_kinds() -> None:
    assert function(funcs(["f() -> Tensor"])).entry is EntryKind.NOARGS
    assert function(funcs(["f() -> Tensor", "f.x(int n) -> Tensor"])).entry is EntryKind.FASTCALL
    assert function(funcs(["f(int n) -> Tensor"])).entry is EntryKind.FASTCALL


def test_whose_function_torch_function_gets() -> None:
    owners = {
        "- func: f(Tensor x) -> Tensor": "torch._C._VariableFunctions",
        "- func: f(Tensor x) -> Tensor\n  variants: method": "torch.Tensor",
        "- func: f(Tensor x) -> Tensor\n  python_module: nn": "torch._C._nn",
        _own("f(Tensor x) -> Tensor"): "",
    }
    assert [function(entries).torch_owner for entries in owners] == list(owners.values())


def test_a_python_name_of_its_own() -> None:
    (one,) = planned("- func: add(Tensor self) -> Tensor\n  python_name: plus\n").functions
    assert (one.name, one.cpp_name, one.torch_name) == ("plus", "THPVariable_plus", "add")
    assert one.signatures[0].call.target == "at::_ops::add::call"


def test_what_a_tensor_tells_itself() -> None:
    by_hand = "  variants: function, method\n  manual_cpp_binding: true\n"
    targets = {
        f"- func: is_neg(Tensor self) -> bool\n{by_hand}": "&at::Tensor::is_neg",
        f"- func: size.int(Tensor self, int dim) -> int\n{by_hand}": "at::_ops::size_int::call",
        f"{_own('is_neg(Tensor self) -> bool')}\n{by_hand}": "::demo::ops::is_neg",
    }
    for entries, target in targets.items():
        assert {call.target for call in function(entries).calls} == {target}


def test_policies() -> None:
    entries = "- func: f(Tensor x) -> Tensor\n  dispatch: {CPU: f_cpu, Meta: f_meta}\n"
    (call,) = function(entries).calls
    assert (call.releases_gil, call.target) == (True, "::demo::ops::f")
    entries = "- func: f(Tensor x) -> Tensor\n  dispatch: {CompositeExplicitAutograd: f_any}\n"
    (call,) = function(f"{entries}  gil: hold\n  call: direct\n  autograd: none\n").calls
    assert (call.releases_gil, call.target) == (False, "::demo::f_any")


def test_the_only_list_of_ints_takes_them_one_by_one() -> None:
    assert function(funcs(["f(int[] size) -> Tensor"])).signatures[0].varargs_int_list
    assert not function(funcs(["f(Tensor x, int[] n) -> Tensor"])).signatures[0].varargs_int_list
    assert not function(funcs(["f(int n) -> Tensor"])).signatures[0].varargs_int_list


# --- the order of overloads -----------------------------------------------------------------------

TYPES = ["int n", "int[] n", "Scalar n", "Tensor n"]


@pytest.mark.parametrize("order", list(permutations(TYPES)))
def test_the_order_of_the_file_does_not_matter(order: tuple[str, ...]) -> None:
    name = {text: text.split()[0].replace("[]", "s") for text in TYPES}
    entries = funcs(f"g.{name[text]}(Tensor x, {text}) -> Tensor" for text in order)
    signatures = function(entries).signatures
    found = [signature.call.op.schema.name.overload for signature in signatures]
    assert found == ["Tensor", "int", "ints", "Scalar"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Tensor a", "Scalar a"),
        ("Tensor a", "int a"),
        ("int a", "bool a"),
        ("bool a", "Scalar a"),
        ("int a", "float a"),
        ("int a", "Scalar a"),
        ("int a", "int[1] a"),
        ("float a", "Scalar a"),
        ("int[1] a", "float a"),
        ("int[] a", "Tensor[] a"),
        ("int a", "SymInt a"),
        ("int[] a", "SymInt[] a"),
        ("Tensor[] a", "Tensor?[] a"),
        ("bool a=True, str c=''", "bool b=True"),
        ("int a", "Device a"),
        ("str a", "Device a"),
        ("Tensor a", "Tensor? a"),
        ("int a", "int a, int b"),
        ("int a", "int a, int b=0"),
        ("Tensor? a=None", "Scalar? a=None"),
        ("int a", "int a, *, int b"),
    ],
)
def test_the_more_exact_comes_first(first: str, second: str) -> None:
    for order in ((first, second), (second, first)):
        entries = funcs(f"f.o{i}(Tensor x, {text}) -> Tensor" for i, text in enumerate(order))
        parts = [text.partition(", ")[2] for text in _texts(entries)]
        assert parts == [f"{first}) -> Tensor", f"{second}) -> Tensor"]


def test_a_plan_is_the_same_for_any_order_of_the_file() -> None:
    file = read(
        funcs(
            [
                "max(Tensor self) -> Tensor",
                "max.other(Tensor self, Tensor other) -> Tensor",
                "max.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
                "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor v, Tensor i)",
                "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
                "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
            ]
        ),
        shards=3,
    )
    expected = dump(plan(file, Diagnostics()))
    for seed in range(20):
        ops = list(file.ops)
        random.Random(seed).shuffle(ops)
        assert dump(plan(replace(file, ops=tuple(ops)), Diagnostics())) == expected


# --- names ----------------------------------------------------------------------------------------


def test_cpp_names_avoid_keywords_macros_and_generated_names() -> None:
    names = ["int", "NULL", "errno", "major", "unix", "std", "r", "_Pragma", "__linux__", "self"]
    assert cpp_identifiers(names) == {
        name: name if name == "self" else f"{name}_" for name in names
    }
    assert cpp_identifiers(["int", "int_"]) == {"int": "int__", "int_": "int_"}


def test_python_keywords_have_an_alias_that_source_can_spell() -> None:
    assert keyword_aliases("from", ["to"]) == ("from_",)
    assert keyword_aliases("from", ["from_", "from__"]) == ("from___",)
    assert keyword_aliases("match", []) == ()
    (signature,) = function(
        "- func: f(int from, *, int lambda=1, int from_=2) -> int\n"
        "  dispatch: {CompositeExplicitAutograd: k}\n"
        "  aliases: {lambda: [lambda_, by]}\n"
    ).signatures
    assert [(p.spelled, p.aliases) for p in signature.parameters] == [
        ("from__", ("from__",)),
        ("lambda__", ("lambda__", "lambda_", "by")),
        ("from_", ()),
    ]
    assert signature.parameters[1].further_names == ("lambda_", "by")


def test_a_name_that_cpp_cannot_have_stays_in_python() -> None:
    (signature,) = function(funcs(["f(Tensor self, int register, int from) -> Tensor"])).signatures
    assert signature.text == "f(Tensor input, int register, int from) -> Tensor"
    assert signature.call.target_arguments == ("self", "register_", "from")


def test_stems_are_told_apart() -> None:
    names = ["add", "add_", "_add", "rms_norm", "rms_norm_", "foo_1", "foo1", "add_doc", "Add"]
    names += ["add_signatures", "add_parameters0", "add_parameters"]
    stems = [stem(name) for name in names]
    assert len(set(stems)) == len(names)
    taken = {f"{one}{suffix}" for one in stems for suffix in ("Doc", "Signatures", "Parameters0")}
    assert not taken & set(stems)


def test_the_shard_of_a_function_is_its_own() -> None:
    assert [shard_of(name, 16) for name in ("add", "mul", "nms")] == [3, 12, 5]
    program = "from opbind.plan.names import shard_of; print(shard_of('add', 16))"
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            env={"PYTHONHASHSEED": seed},
            check=True,
        )
        assert int(done.stdout) == 3


def test_all_shards_are_there() -> None:
    shards = planned(funcs(["f() -> Tensor"]), shards=4).shards
    assert [shard.index for shard in shards] == [0, 1, 2, 3]
    assert sum(len(shard.functions) for shard in shards) == 1


# --- docs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("f() -> Tensor", "f($module, /)"),
        ("f(Tensor self, *, int n=1) -> Tensor", "f($module, /, input, *, n=1)"),
        ("f(ScalarType d=long) -> Tensor", "f($module, /, d=...)"),
        ("f(float x=inf) -> Tensor", "f($module, /, x=...)"),
        ("f(int from) -> Tensor", "f($module, /, from_)"),
        ("f(int[2] s=[0, 1]) -> Tensor", "f($module, /, s=(0, 1))"),
        ("f(str s='a') -> Tensor", "f($module, /, s='a')"),
    ],
)
def test_what_inspect_reads(schema: str, text: str) -> None:
    assert function(funcs([schema])).text_signature == text


def test_overloads_have_no_one_signature_and_a_doc_that_lists_them() -> None:
    entries = """\
        - func: f(Tensor self) -> Tensor
          doc: Does a thing.
        - func: f.n(Tensor self, int n) -> Tensor
          doc: Does a thing.
          examples: [">>> f(x, 1)"]
        """
    one = function(entries)
    assert one.text_signature == "f($module, /, *args, **kwargs)"
    assert one.doc == (
        "f(Tensor input) -> Tensor\nf(Tensor input, int n) -> Tensor\n\nDoes a thing.\n\n"
        "Examples:\n    >>> f(x, 1)"
    )


# --- own ops --------------------------------------------------------------------------------------


def test_what_is_registered_for_an_own_op() -> None:
    entries = """\
        - func: f_(Tensor(a!) self, Tensor? w=None, float eps=1e-6) -> ()
          dispatch: {CPU: f_cpu, CUDA: f_cuda, Meta: other::f_meta}
        """
    (op,) = planned(entries).own_ops
    assert op.schema == "f_(Tensor(a!) self, Tensor? w=None, float eps=1e-06) -> ()"
    assert op.signature.function_type == (
        "void(at::Tensor&, const std::optional<at::Tensor>&, double)"
    )
    assert (op.mutated, op.tensors) == (("self",), ("self", "w"))
    assert op.has_autograd_kernel and op.has_inplace_kernel
    kernels = {kernel.dispatch_key: kernel for kernel in op.kernels}
    assert kernels["Meta"].function.qualified == "other::f_meta"
    assert kernels["CUDA"].guard_argument == "self"
    assert not kernels["CPU"].guard_name and not kernels["Meta"].guard_name


@pytest.mark.parametrize(
    ("dispatch", "more", "has_kernel"),
    [
        ("{CPU: f}", "", True),
        ("{CompositeExplicitAutograd: f}", "", True),
        ("{CompositeImplicitAutograd: f}", "", False),
        ("{CPU: f}", "  autograd: none\n", True),
        ("{CPU: f}", "  autograd: external\n", False),
    ],
)
def test_when_autograd_needs_a_kernel(dispatch: str, more: str, has_kernel: bool) -> None:
    (op,) = planned(_own("f(Tensor x) -> Tensor", dispatch) + more).own_ops
    assert op.has_autograd_kernel == has_kernel


def test_no_guard_where_the_entry_says_so() -> None:
    entries = _own("f(Tensor x) -> Tensor", "{CUDA: f}") + "  device_guard: False\n"
    (op,) = planned(entries).own_ops
    assert not op.kernels[0].guard_name


def test_fakes() -> None:
    (fake,) = planned(_own("f(Tensor x) -> Tensor") + "  fake: my.fakes:f\n").fakes
    assert (fake.qualified_op, fake.module, fake.function) == ("demo::f", "my.fakes", "f")


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        ("f(Tensor a, Tensor a) -> Tensor", "duplicate-argument"),
        ("f(int a=1, int b) -> Tensor", "required-after-default"),
        ("f(int a=1.5) -> Tensor", "default-type"),
        ("f(bool b=1) -> Tensor", "default-type"),
        ("f(Tensor t=1) -> Tensor", "default-type"),
        ("f(int a=9223372036854775808) -> Tensor", "default-range"),
        ("f(ScalarType d=lnog) -> Tensor", "default-name"),
        ("f(int?[] n) -> Tensor", "unsupported-type"),
        ("f(bool[] n) -> Tensor", "unsupported-type"),
        ("f(Tensor x) -> Scalar[]", "unsupported-type"),
        ("f(Tensor x) -> Tensor[2]", "unsupported-type"),
        ("f(Tensor x) -> (Tensor a, Tensor a)", "duplicate-return"),
        ("f(Tensor x, ...) -> Tensor", "unsupported-type"),
        ("f_(Tensor self) -> Tensor", "undeclared-mutation"),
        ("f_() -> Tensor", "undeclared-mutation"),
        ("f.out(Tensor x, *, Tensor out) -> Tensor", "undeclared-mutation"),
        ("lambda(Tensor x) -> Tensor", "keyword-name"),
    ],
)
def test_a_schema_that_cannot_be_generated(schema: str, rule: str) -> None:
    assert rules(funcs([schema])) == [rule]


@pytest.mark.parametrize(
    ("schema", "dispatch", "rule"),
    [
        ("f_(Tensor(a!) self) -> Tensor(a!)", "{CPU: f}", "mutation-returns"),
        ("f(Tensor(a) x) -> Tensor(a)", "{CPU: f}", "alias-return"),
        ("f(int n) -> Tensor", "{CPU: f}", "no-tensor-key"),
        ("f(Tensor[]? x) -> Tensor", "{CPU: f}", "no-tensor-key"),
        ("f(Tensor[]? x) -> Tensor", "{CompositeExplicitAutograd: f}", "no-tensor-key"),
        ("f(Tensor x, Generator g) -> Tensor", "{CPU: f}", "unsupported-type"),
        ("f(Tensor x) -> Generator", "{CPU: f}", "unsupported-type"),
        ("f(Tensor x) -> Tensor", "{AutogradCPU: f}", "autograd-key"),
        ("f(Tensor x) -> Tensor", "{CPU: delete}", "invalid-name"),
        ("f_(Tensor(a!) x) -> ()", "{CPU: f}\n  autograd: none", "mutation-autograd"),
        ("f(Tensor x) -> Tensor", "{CompositeImplicitAutograd: f}\n  fake: m:f", "fake-implicit"),
        ("_no_backward(Tensor x) -> Tensor", "{CPU: f}", "taken-name"),
        ("f(Tensor x) -> Tensor", "{CPU: f, CUDA: g}\n  call: direct", "direct-call"),
        ("f(Tensor x) -> Tensor", "{CPU: f, Meta: g}\n  call: direct", "direct-call"),
        ("f(Tensor(a!) x) -> ()", "{CompositeExplicitAutograd: f}\n  call: direct", "direct-call"),
    ],
)
def test_an_own_op_that_cannot_be_generated(schema: str, dispatch: str, rule: str) -> None:
    assert rules(_own(schema, dispatch)) == [rule]


def test_every_fault_is_reported_with_its_place_and_remedy() -> None:
    found = faults(
        """\
        - func: f(Tensor self, Any n, int k=1.5) -> Tensor
        - func: g(Tensor x) -> Tensor
          dispatch: {CPU: g, AutogradCPU: g}
        - func: h(Tensor t=None) -> Tensor
        """
    )
    assert [fault.partition(": ")[0] for fault in found] == [
        "ops.yaml:6:24",
        "ops.yaml:6:37",
        "ops.yaml:8:35",
        "ops.yaml:9:20",
    ]
    assert found[0].startswith(
        "ops.yaml:6:24: error: f: argument 'n' has type Any, which is not supported; "
        "supported are Tensor, "
    )
    assert found[1].endswith("f: argument 'k': 1.5 is no default for int; int takes an int")
    assert found[2].endswith("exclude each other; write autograd: external")
    assert found[3].endswith("write Tensor? t=None")


def test_names_that_no_language_has() -> None:
    for schema in ("f(Tensor x) -> Tensor", "f(Tensor self) -> Tensor"):
        op = Op(parse_schema(schema))
        broken = replace(op.schema, name=replace(op.schema.name, base="1fü"))
        file = SchemaFile("ops.yaml", Library(), (replace(op, schema=broken),))
        diagnostics = Diagnostics()
        assert not plan(file, diagnostics).functions
        assert [item.rule for item in diagnostics.items] == ["invalid-name"]


@pytest.mark.parametrize(
    "namespace", ["std", "delete", "linux", "errno", "signal", "time", "host", "detail", "1a"]
)
def test_a_namespace_that_no_library_can_have(namespace: str) -> None:
    assert _library_rules(Library(namespace=namespace, module="m")) == ["library-name"]


@pytest.mark.parametrize("namespace", ["vision", "_C", "_moe_C", "x1", "time_", "TRT"])
def test_a_namespace_that_a_library_can_have(namespace: str) -> None:
    assert _library_rules(Library(namespace=namespace, module="m")) == []


def test_a_module_that_cannot_be_called_so() -> None:
    assert _library_rules(Library("demo", "import")) == ["library-name"]


def _library_rules(library: Library) -> list[str]:
    op = read(_own("f(Tensor x) -> Tensor")).ops[0]
    diagnostics = Diagnostics()
    plan(SchemaFile("ops.yaml", library, (op,)), diagnostics)
    return [item.rule for item in diagnostics.items]


_RUNTIME = Path(__file__).parents[2] / "csrc/runtime"
_DECLARED = re.compile(
    r"^(?:namespace|class|struct|enum class|using) ([a-z_]\w*)\b(?! = std::)", re.M
)


def test_no_library_is_called_as_a_part_of_the_runtime() -> None:
    """Generated code stands in namespace opbind, where such a name would hide the library's."""
    for path in (*_RUNTIME.glob("*/*.h"), *(_RUNTIME.parents[1] / "templates").glob("*.j2")):
        for name in _DECLARED.findall(path.read_text(encoding="utf-8")):
            assert not is_namespace(name), f"{path.name} declares {name}"


def test_entry_points_hide_no_function_of_the_runtime() -> None:
    texts = [path.read_text(encoding="utf-8") for path in _RUNTIME.glob("*/*.h")]
    used = {name for text in texts for name in re.findall(r"\bTHPVariable_(\w+)", text)}
    assert used
    assert {entry_name(name) for name in used} == {f"THPVariable_{name}_" for name in used}
    assert entry_name("add") == "THPVariable_add"
