"""What functions make of what their ops return: arguments given back, a factory's out."""

from __future__ import annotations

import sys
from typing import Any

import libraries
import pytest
import torch

from torch.testing import assert_close  # isort: skip


@pytest.fixture(scope="module")
def ops() -> Any:
    return libraries.imported("results")


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("name", ["clear_", "_foreach_neg_"])
def test_a_list_in_place_is_given_back(ops: Any, name: str, kind: type) -> None:
    tensors = kind([torch.ones(2), torch.ones(3)])
    references = sys.getrefcount(tensors)
    result = getattr(ops, name)(tensors)
    assert result is tensors
    assert all(float(t.max()) != 1 for t in tensors)
    del result
    assert sys.getrefcount(tensors) == references


def test_what_an_own_op_writes_is_given_back(ops: Any) -> None:
    out = torch.ones(1)
    assert ops.make((2, 2), out=out) is out
    assert_close(out, torch.zeros(2, 2))
    assert ops.make((2,), out=torch.ones(2), requires_grad=True).requires_grad


OTHERS = {
    "dtype": (torch.int32, "the dtype given is int32, and that of out is float32"),
    "layout": (torch.sparse_coo, "the layout given is Sparse, and that of out is Strided"),
    "device": ("meta", "the device given is meta, and that of out is cpu"),
}


@pytest.mark.parametrize("option", OTHERS)
def test_options_beside_out_are_those_of_out(ops: Any, option: str) -> None:
    value, message = OTHERS[option]
    with pytest.raises(RuntimeError):
        torch.fft.fftfreq(4, out=torch.empty(4), **{option: value})
    with pytest.raises(RuntimeError, match=message):
        ops.make((4,), out=torch.empty(4), **{option: value})
    with pytest.raises(RuntimeError, match=message):
        ops.fft_fftfreq(4, out=torch.empty(4), **{option: value})
    good = {"dtype": torch.float32, "layout": torch.strided, "device": "cpu"}
    ops.fft_fftfreq(4, out=torch.empty(4), **{option: good[option]})


def test_a_factory_with_out_is_as_in_torch(ops: Any) -> None:
    out = torch.empty(4)
    assert ops.fft_fftfreq(4, 2.0, out=out, requires_grad=True) is out
    assert out.requires_grad
    assert_close(out.detach(), torch.fft.fftfreq(4, 2.0))
    assert_close(ops.fft_fftfreq(4), torch.fft.fftfreq(4))
