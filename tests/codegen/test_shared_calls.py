"""The helper that tells where the order of overloads decides."""

from __future__ import annotations

import pytest
from planning import funcs, function
from shared_calls import overlaps


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("Tensor a", "Tensor b", True),
        ("Tensor a", "int a", True),
        ("Tensor a", "str a", False),
        ("Tensor a", "Tensor a, int b", False),
        ("Tensor a", "Tensor a, int b=1", True),
        ("Tensor a, *, int b", "Tensor a, *, int c", False),
        ("Tensor a, *, int b", "Tensor a, int b", True),
        ("int[] a", "int a, int b", True),
    ],
)
def test_whether_two_overloads_share_a_call(first: str, second: str, shared: bool) -> None:
    entries = funcs([f"f.a({first}) -> Tensor", f"f.b({second}) -> Tensor"])
    one, other = function(entries).signatures
    assert overlaps(one, other) == overlaps(other, one) == shared
