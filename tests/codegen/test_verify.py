"""Verifying: what is right in every entry alone and wrong together."""

from __future__ import annotations

from itertools import permutations

import pytest
from opbind.plan.order import covers
from planning import faults, funcs, planned, rules


def _pair(first: str, second: str) -> str:
    return funcs([f"f.a({first}) -> Tensor", f"f.b({second}) -> Tensor"])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # In the order that planning gives them, whatever that of the file.
        ("Tensor x", "Tensor x, int n"),
        ("Tensor x, float n", "Tensor x, Scalar n"),
        ("Tensor x, int n", "Tensor x, Scalar n"),
        ("Tensor x, *, int n", "Tensor x, *, int m"),
        ("Tensor x, int n", "Tensor x, int m"),
        ("Tensor x, int? n", "Tensor x, Tensor? n"),
        ("Tensor x, int[] n", "Tensor x, Tensor[] n"),
        ("Tensor x, int[2] n", "Tensor x, int n"),
        ("int[] n", "int n"),
        ("Tensor x, int[2] n", "Tensor x, int[] n"),
        ("Tensor x, int n=0", "Tensor x, int n"),
        ("Tensor x, int n, int m=0", "Tensor x, int n=0"),
    ],
)
def test_overloads_that_both_can_be_reached(first: str, second: str) -> None:
    assert rules(_pair(first, second)) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Tensor x, int n", "Tensor x, int n"),
        ("Tensor x, int[2] n", "Tensor x, int[3] n"),
        ("Tensor x, *, int n=0", "Tensor x, *, int n=1"),
    ],
)
def test_overloads_that_no_call_tells_apart(first: str, second: str) -> None:
    for one, other in permutations((first, second)):
        assert rules(_pair(one, other)) == ["ambiguous-overload"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # The first parameter decides the order, and the second then hides what stands behind.
        ("float x, Scalar n", "Scalar x, float n, int m=0"),
        ("Tensor x, int n=0, Scalar m=0", "Tensor x, *, int n=0, int m=0"),
    ],
)
def test_overloads_that_overlap_are_not_hidden(first: str, second: str) -> None:
    assert rules(_pair(first, second)) == []


def test_an_overload_that_is_never_reached() -> None:
    # Fewer parameters by position, but the same ones by keyword.
    entries = _pair("Tensor x, *, Scalar n", "Tensor x, *, float n, float m=0")
    assert rules(entries) == []
    entries = _pair("Tensor x, *, Scalar n", "Tensor x, *, int[2] n")
    assert rules(entries) == []


def test_a_hidden_overload_names_what_hides_it() -> None:
    found = faults(_pair("Tensor self, int n", "Tensor self, int n"))
    assert found == [
        "ops.yaml:7:9: error: f.b: no call tells it apart from 'f.a': "
        "'f(Tensor input, int n) -> Tensor' is tried first; "
        "leave one out, or give it a python_name of its own"
    ]


def test_what_covers_what() -> None:
    schemas = {
        "wide": "f.wide(Tensor x, Scalar n=0, int m=0) -> Tensor",
        "narrow": "f.narrow(Tensor x, float n) -> Tensor",
        "named": "f.named(Tensor x, *, float m) -> Tensor",
        "none": "f.none(Tensor x, float? n) -> Tensor",
        "other": "f.other(Tensor x, float k) -> Tensor",
    }
    (function,) = planned(funcs(schemas.values())).functions
    by_name = {s.call.op.schema.name.overload: s for s in function.signatures}
    wide = by_name["wide"]
    assert covers(wide, by_name["narrow"])
    # A float for `m`, an int; None for `n`; a keyword of another name.
    for name in ("named", "none", "other"):
        assert not covers(wide, by_name[name])
    assert not covers(by_name["narrow"], wide)


def test_an_alias_can_tell_two_overloads_apart() -> None:
    entries = """\
        - func: f.a(Tensor x, int n) -> Tensor
        - func: f.b(Tensor x, int n) -> Tensor
          aliases: {n: [m]}
        """
    assert rules(entries) == []
    assert rules(entries.replace("f.a", "f.c")) == []


@pytest.mark.parametrize("name", ["torch", "getattr", "Tensor", "overload", "ImportError", "_C"])
def test_a_name_that_the_package_needs(name: str) -> None:
    assert rules(funcs([f"{name}(Tensor x) -> Tensor"])) == ["module-attribute"]


def test_a_name_that_only_hides_a_builtin_is_fine() -> None:
    assert rules(funcs(["max(Tensor x) -> Tensor", "sum(Tensor x) -> Tensor"])) == []


def test_two_functions_of_one_cpp_name() -> None:
    entries = """\
        - func: foo.bar(Tensor x) -> Tensor
        - func: foo(Tensor x, int n) -> Tensor
        - func: foo_bar(Tensor x) -> Tensor
        """
    (fault,) = faults(entries)
    assert "two things would have the C++ name 'dispatch_foo_bar'" in fault


def _echoes(*kernels: str) -> str:
    heads = (f"- func: f{i}(int x) -> int\n" for i in range(len(kernels)))
    dispatches = (f"  dispatch: {{CompositeExplicitAutograd: {kernel}}}\n" for kernel in kernels)
    return "".join(head + line for head, line in zip(heads, dispatches, strict=True))


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        (["a", "b::c", "demo::d", "at::native::e", "std::f", "demo::detail::g"], []),
        (["CHECK"], ["invalid-name"]),
        (["unix::a"], ["invalid-name"]),
        (["signal::a"], ["invalid-name"]),
        (["demo::ops::a"], ["invalid-name"]),
        (["demo::std::a"], ["invalid-name"]),
        (["x::at::a"], ["invalid-name"]),
        (["opbind::a"], ["invalid-name"]),
        # A namespace and a function of one name.
        (["ops"], ["cpp-name"]),
        (["a", "demo::a::b"], ["cpp-name"]),
        (["x::y", "x::y::z::w"], ["cpp-name"]),
    ],
)
def test_places_of_kernels(kernels: list[str], expected: list[str]) -> None:
    assert rules(_echoes(*kernels)) == expected


def test_named_results_of_two_kinds() -> None:
    entries = """
    - func: q(Tensor x) -> (Tensor p, Tensor q)
      python_name: a_b
      dispatch: {CPU: k1}
      fake: f:f
    - func: a.b(Tensor x) -> (Tensor r, Tensor s)
      dispatch: {CPU: k2}
      fake: f:f
    - func: a.c(Tensor x, Tensor y) -> Tensor
      dispatch: {CPU: k3}
      fake: f:f
    """
    assert rules(entries) == ["cpp-name"]
    assert rules(entries.replace("r, Tensor s", "p, Tensor q")) == []


def test_overloads_with_names_of_their_own() -> None:
    one = "- func: a.{0}(int x) -> int\n  python_name: a_{0}\n"
    entries = "".join(one.format(x) + "  dispatch: {CompositeExplicitAutograd: k}\n" for x in "bc")
    names = [f.calls[0].dispatch_name for f in planned(entries).functions]
    assert names == ["dispatch_a_b", "dispatch_a_c"]


def test_two_types_of_named_results_of_one_name() -> None:
    entries = """\
        - func: max(Tensor x) -> (Tensor values, Tensor indices)
          dispatch: {CPU: max_cpu, Meta: max_meta}
        - func: max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)
          python_name: max_of
        - func: amax(Tensor self, str dim) -> Tensor
          python_name: max_of
        """
    (fault,) = faults(entries)
    assert "two things would have the C++ name 'return_type_max'" in fault
    named = entries.replace("max_of", "return_type_max")
    assert rules(named) == ["module-attribute", "cpp-name"]


def test_a_kernel_of_two_types() -> None:
    entries = """\
        - func: f(Tensor x) -> Tensor
          dispatch: {CompositeExplicitAutograd: same}
        - func: g(Tensor x, int n) -> Tensor
          dispatch: {CompositeExplicitAutograd: same}
        """
    assert rules(entries) == ["cpp-name"]
    assert rules(entries.replace(", int n", "")) == []


def test_a_parameter_that_python_would_have_twice() -> None:
    schema = "f(int out, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))"
    assert rules(funcs([schema])) == ["duplicate-argument"]
    entries = "- func: f(Tensor self) -> Tensor\n  aliases: {self: [input]}\n"
    assert rules(entries) == ["duplicate-argument"]
