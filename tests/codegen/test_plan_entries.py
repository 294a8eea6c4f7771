"""Which names an op has: deprecated signatures, and the rules of torch's own functions."""

from __future__ import annotations

import textwrap

import pytest
from opbind import loader, parser
from opbind.errors import Diagnostics
from opbind.plan import BindingPlan, Function, dump, plan
from planning import faults, funcs, function, read


def _torch(entries: str) -> BindingPlan:
    """The plan of a plain list, where every op is torch's."""
    diagnostics = Diagnostics()
    raw = loader.load(textwrap.dedent(entries), "native_functions.yaml", diagnostics)
    made = plan(parser.parse_file(raw, diagnostics), diagnostics)
    assert not diagnostics.items, [item.render() for item in diagnostics.items]
    return made


def _names(entries: str) -> list[str]:
    return [f"{f.namespace}.{f.name}" for f in _torch(entries).functions]


def _only(entries: str) -> Function:
    (only,) = _torch(entries).functions
    return only


# --- deprecated signatures ------------------------------------------------------------------------

ADDMM = (
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    "addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, "
    "Tensor(a!) out) -> Tensor(a!)",
)


def _addmm(*deprecated: tuple[str, str]) -> str:
    lines = [f"- {{name: '{name}', aten: '{aten}'}}\n" for name, aten in deprecated]
    return f"{funcs(ADDMM)}deprecated:\n{''.join(lines)}"


OLD = (
    ("addmm(Scalar beta, Tensor self, Tensor mat1, Tensor mat2) -> Tensor",
     "addmm(self, mat1, mat2, beta, 1)"),
    ("addmm(Scalar beta, Tensor self, Tensor mat1, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
     "addmm_out(out, self, mat1, mat2, beta, 1)"),
)  # fmt: skip


def _expressions(entries: str) -> list[tuple[str, ...]]:
    return [call.expressions for s in _planned(entries).signatures for call in s.calls]


def _planned(entries: str) -> Function:
    diagnostics = Diagnostics()
    (only,) = plan(read(entries), diagnostics).functions
    assert not diagnostics.items
    return only


def test_a_deprecated_signature_is_deprecated_and_last() -> None:
    made = _planned(_addmm(*OLD))
    assert [signature.is_deprecated for signature in made.signatures] == [False, True]
    assert made.signatures[1].text == (
        "addmm(Scalar beta, Tensor input, Tensor mat1, Tensor mat2, *, Tensor? out=None) -> Tensor"
    )
    assert [str(call.op.schema.name) for call in made.signatures[1].calls] == ["addmm", "addmm.out"]


def test_a_deprecated_signature_gives_what_it_has_and_constants() -> None:
    assert _expressions(_addmm(*OLD))[2:] == [
        ("r.tensor(1)", "r.tensor(2)", "r.tensor(3)", "r.scalar(0)", "1"),
        ("r.mutable_tensor(4)", "r.tensor(1)", "r.tensor(2)", "r.tensor(3)", "r.scalar(0)", "1"),
    ]


def test_what_the_call_leaves_out_has_the_ops_default() -> None:
    short = (OLD[0][0], "addmm(self, mat1, mat2, beta)")
    assert _expressions(_addmm(short))[2][-1] == "1"


# Type, what the call gives, and the C++ argument that it becomes.
CONSTANTS = (
    ("int", "1", "1"),
    ("int", "9223372036854775807", "9223372036854775807"),
    ("int", "-9223372036854775808", "-9223372036854775807 - 1"),
    ("int", "0x10", "16"),
    ("int", "Mean", "1"),
    ("SymInt", "-1", "-1"),
    ("int?", "None", "std::nullopt"),
    ("float", "1", "1.0"),
    ("float", "18446744073709551616", "1.8446744073709552e+19"),
    ("float", "1e-5", "1e-05"),
    ("float", "-inf", "-std::numeric_limits<double>::infinity()"),
    ("bool", "True", "true"),
    ("bool?", "False", "false"),
    ("Scalar", "4294967296", "4294967296"),
    ("Scalar", "0.5", "0.5"),
    ("Scalar?", "None", "std::nullopt"),
    ("str", "'a, b?'", 'std::string_view("a, b?", 5)'),
    ("str?", "None", "std::nullopt"),
    ("int[]", "[]", "at::IntArrayRef{}"),
    ("int[2]", "[1, -2]", "at::IntArrayRef{1, -2}"),
    ("int[2]?", "0", "at::IntArrayRef{0, 0}"),
    ("SymInt[]", "[1,2]", "c10::SymIntArrayRef{1, 2}"),
    ("Tensor?", "None", "std::nullopt"),
    ("Generator?", "None", "std::nullopt"),
    ("ScalarType", "long", "at::ScalarType::Long"),
    ("ScalarType?", "bfloat16", "at::ScalarType::BFloat16"),
    ("Layout", "strided", "at::Layout::Strided"),
    ("MemoryFormat?", "contiguous_format", "at::MemoryFormat::Contiguous"),
    ("Device?", "'cuda:1'", 'at::Device("cuda:1")'),
)


@pytest.mark.parametrize(("type_", "given", "cpp"), CONSTANTS)
def test_a_constant_is_cpp_of_its_type(type_: str, given: str, cpp: str) -> None:
    current = f"f(Tensor self, {type_} c, Tensor other) -> Tensor"
    entries = funcs([current]) + (
        "deprecated:\n- name: f(Tensor other, Tensor self) -> Tensor\n"
        f'  aten: "f(self, {given}, other)"\n'
    )
    assert _expressions(entries)[1] == ("r.tensor(1)", cpp, "r.tensor(0)")


@pytest.mark.parametrize(
    ("type_", "given"),
    [
        ("int", "9223372036854775808"),
        ("int", "1.5"),
        ("int", "None"),
        ("int[]", "1"),
        ("int[]", "[1.5]"),
        ("float", "'1'"),
        ("Tensor", "None"),
        ("ScalarType", "strided"),
        ("Scalar", "unknown"),
    ],
)
def test_a_constant_of_another_type(type_: str, given: str) -> None:
    entries = funcs([f"f(Tensor self, {type_} c) -> Tensor"]) + (
        f'deprecated:\n- {{name: f(Tensor self) -> Tensor, aten: "f(self, {given})"}}\n'
    )
    assert any(f"no op takes the call f(self, {given})" in line for line in faults(entries))


def test_an_old_signature_of_another_name_or_with_other_outs() -> None:
    for name, aten, hint in (
        ("old(Tensor self) -> Tensor", "f(self)", "name: f(...)"),
        ("f(Tensor self, *, Tensor(a!) to) -> Tensor(a!)", "f_out(to, self)", "there are: f("),
        ("f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "f_out(x, x)", "there are: f("),
    ):
        ops = ["f(Tensor self) -> Tensor", "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"]
        entries = funcs(ops) + f"deprecated:\n- {{name: '{name}', aten: '{aten}'}}\n"
        assert any("no op takes" in line and hint in line for line in faults(entries)), name


def test_an_old_signature_gives_back_what_the_op_writes() -> None:
    entries = """\
        - func: f_(Tensor(a!) self, int n) -> ()
          dispatch: {CPU: f_cpu}
        deprecated:
        - {name: "f_(int n, Tensor(a!) self) -> ()", aten: "f_(self, n)"}
        """
    calls = [signature.call for signature in _planned(entries).signatures]
    assert [call.given_index for call in calls] == [0, 1]
    # Both call one dispatch function.
    assert len(_planned(entries).dispatched) == 1


@pytest.mark.parametrize(
    "aten",
    [
        "addmm(self, mat1, mat2, beta, nothing)",
        "addmm(self, mat1, beta, mat2)",
        "addmm(self, mat1)",
        "addmm(self, mat1, mat2, beta, 1, 1)",
        "addmm(self, mat1, mat2, beta, 'text')",
        "addmm_out(self, mat1, mat2, beta, 1)",
    ],
)
def test_a_call_that_no_op_takes(aten: str) -> None:
    lines = [
        line for line in faults(_addmm((OLD[0][0], aten.replace("'", '"')))) if "no op" in line
    ]
    assert len(lines) == 1
    assert "there are: addmm(Tensor self" in lines[0]


def test_a_call_of_an_op_that_is_not_there() -> None:
    lines = faults(_addmm((OLD[0][0], "addm(self, mat1, mat2, beta, 1)")))
    assert any(line.endswith("the file has no op 'addm'") for line in lines)


# --- torch's own functions ------------------------------------------------------------------------


def test_functions_methods_and_modules() -> None:
    entries = """\
        - func: abs(Tensor self) -> Tensor
          variants: function, method
        - func: abs_(Tensor(a!) self) -> Tensor(a!)
          variants: method
        - func: fft_fft(Tensor self, SymInt? n=None) -> Tensor
          python_module: fft
          variants: function, method
        """
    assert _names(entries) == ["Tensor.abs", "Tensor.abs_", "fft.fft_fft", "torch.abs"]


def test_a_method_takes_self_first_under_its_own_name() -> None:
    made = _only(
        """\
        - func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
          variants: method
        """
    )
    assert made.signatures[0].text == "where(Tensor self, Tensor condition, Tensor other) -> Tensor"
    assert made.signatures[0].call.expressions == ("r.tensor(1)", "r.tensor(0)", "r.tensor(2)")
    assert (made.attribute, made.cpp_name) == ("Tensor_where", "THPVariable_Tensor_where")
    assert (made.torch_owner, made.torch_name) == ("torch.Tensor", "where")


@pytest.mark.parametrize(
    "entry",
    [
        "func: alias(Tensor(a) self) -> Tensor(a)",
        "func: relu_backward(Tensor self) -> Tensor",
        "func: nonzero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        "func: _cumsum(Tensor self) -> Tensor",
        "func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        "{func: f(Tensor self) -> Tensor, tags: generated}",
    ],
)
def test_what_torch_binds_by_hand_or_not_at_all(entry: str) -> None:
    assert _names(f"- {entry}\n") == []


def test_the_out_variant_of_a_copy_of_a_view_is_derived() -> None:
    made = _only(
        """\
        - func: t_copy(Tensor self) -> Tensor
          tags: view_copy
          autogen: t_copy.out
        """
    )
    assert made.signatures[0].text == "t_copy(Tensor input, *, Tensor? out=None) -> Tensor"
    made = _only(
        """\
        - func: unbind_copy.int(Tensor self, int dim=0) -> Tensor[]
          tags: view_copy
          autogen: unbind_copy.int_out
        """
    )
    assert "Tensor[]? out=None" in made.signatures[0].text


def test_names_of_numpy() -> None:
    schema = "f(Tensor self, Tensor other, int dim, bool keepdim, Tensor a) -> Tensor"
    made = _only(f"- func: {schema}\n")
    aliases = {p.name: p.aliases for p in made.signatures[0].parameters}
    assert aliases == {
        **{"input": ("x", "x1"), "other": ("x2",), "dim": ("axis",), "keepdim": ("keepdims",)},
        "a": (),
    }
    assert not any(p.aliases for p in function(f"- func: {schema}\n").signatures[0].parameters)


def test_numbers_for_tensors() -> None:
    made = _only("- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n")
    assert all("int" in p.accepts for p in made.signatures[0].parameters)
    made = _only("- func: pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor\n")
    assert not any("int" in p.accepts for p in made.signatures[0].parameters)


def test_none_for_an_empty_list_or_a_dtype() -> None:
    made = _only("- func: amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor\n")
    assert [p.none_is_default for p in made.signatures[0].parameters] == [False, True, False]
    made = _only(
        "- func: tri(int n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor\n"
    )
    flags = {p.name: p.none_is_default for p in made.signatures[0].parameters}
    assert [name for name, is_set in flags.items() if is_set] == ["dtype"]


def test_what_the_tracer_does_not_record_is_dumped() -> None:
    entries = "- func: conv1d(Tensor self) -> Tensor\n- func: relu(Tensor self) -> Tensor\n"
    assert dump(_torch(entries)).count("untraced") == 1
