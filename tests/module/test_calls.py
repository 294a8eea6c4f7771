"""The functions give what torch's own give, for every way of passing arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import demo_ops
import numpy as np
import pytest
import torch
from torch.testing import assert_close

A = torch.arange(6.0).reshape(2, 3) / 7
B = torch.arange(6.0).reshape(2, 3).flip(0) / 3
MASK = A > B

Call = Callable[[Any], Any]

CALLS: dict[str, Call] = {
    "add": lambda m: m.add(A, B),
    "add alpha": lambda m: m.add(A, B, alpha=2),
    "add alpha float": lambda m: m.add(A, B, alpha=0.125),
    "add keywords": lambda m: m.add(input=A, other=B, alpha=3),
    "add number": lambda m: m.add(A, 2.5),
    "add bool": lambda m: m.add(A > 0.2, True),
    "add complex": lambda m: m.add(A, 1j),
    "add complex64": lambda m: m.add(A, complex(np.complex64(1 + 2j))),
    "mul": lambda m: m.mul(A, B),
    "mul number": lambda m: m.mul(A, 3),
    "mul numpy": lambda m: m.mul(A, np.float32(0.5)),
    "sum": lambda m: m.sum(A),
    "sum dtype": lambda m: m.sum(A, dtype=torch.float64),
    "sum dim": lambda m: m.sum(A, 0),
    "sum dims": lambda m: m.sum(A, (0, 1), True),
    "sum list": lambda m: m.sum(A, dim=[-1], keepdim=True),
    "sum none": lambda m: m.sum(A, None),
    "sum empty": lambda m: m.sum(A, ()),
    "sum 0-dim tensor": lambda m: m.sum(A, torch.tensor(1)),
    "sum numpy int": lambda m: m.sum(A, np.int32(1)),
    "max": lambda m: m.max(A),
    "max dim": lambda m: m.max(A, 1),
    "max dim keepdim": lambda m: m.max(A, dim=0, keepdim=True),
    "max other": lambda m: m.max(A, B),
    "cat": lambda m: m.cat([A, B]),
    "cat tuple": lambda m: m.cat((A, B), 1),
    "cat keyword": lambda m: m.cat(tensors=[A, A, B, B, A], dim=-1),
    "where": lambda m: m.where(MASK, A, B),
    "where self": lambda m: m.where(MASK, 1.0, B),
    "where other": lambda m: m.where(MASK, A, 0),
    "where numbers": lambda m: m.where(MASK, 1, 2),
    "where indices": lambda m: m.where(MASK),
    "rot90": lambda m: m.rot90(A),
    "rot90 dims": lambda m: m.rot90(A, 2, [1, 0]),
    "var_mean": lambda m: m.var_mean(A),
    "clamp": lambda m: m.clamp(A, 0.1, 0.5),
    "clamp none": lambda m: m.clamp(A, None, 0.5),
    "clamp max": lambda m: m.clamp(A, max=0.5),
    "clamp tensors": lambda m: m.clamp(A, A * 0.5, B),
    "clamp tensor none": lambda m: m.clamp(A, max=B),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_equals_torch(call: Call) -> None:
    ours, theirs = call(demo_ops), call(torch)
    assert_close(ours, theirs, rtol=0, atol=0)
    assert type(ours) is type(theirs)


# torch.norm is a Python function around these overloads.
NORMS: dict[str, tuple[Call, Callable[[], torch.Tensor]]] = {
    "default": (lambda m: m.norm(A), lambda: torch.norm(A)),
    "p": (lambda m: m.norm(A, 3), lambda: torch.norm(A, 3)),
    "dim": (lambda m: m.norm(A, 2, [1]), lambda: torch.norm(A, 2, [1])),
    "lone dim": (lambda m: m.norm(A, 2, 1, True), lambda: torch.norm(A, 2, 1, True)),
    "p none": (lambda m: m.norm(A, None, [0]), lambda: torch.norm(A, 2, [0])),
    "dtype": (
        lambda m: m.norm(A, 2, dtype=torch.float64),
        lambda: torch.norm(A, 2, dtype=torch.float64),
    ),
}


@pytest.mark.parametrize(("ours", "theirs"), NORMS.values(), ids=NORMS.keys())
def test_norm_equals_torch(ours: Call, theirs: Callable[[], torch.Tensor]) -> None:
    assert_close(ours(demo_ops), theirs())


def test_out_is_filled_and_returned() -> None:
    out = torch.empty(2, 3)
    assert demo_ops.add(A, B, out=out) is out
    assert torch.equal(out, A + B)
    assert demo_ops.add(A, B, alpha=2, out=None) is not out


def test_out_of_several_tensors() -> None:
    values, indices = torch.empty(2), torch.empty(2, dtype=torch.int64)
    result = demo_ops.max(A, 1, out=(values, indices))
    assert type(result) is type(torch.max(A, 1, out=(values, indices)))
    assert type(result).__name__ == "max_out"
    assert result.values is values
    assert result.indices is indices
    assert torch.equal(values, A.max(1).values)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_out_of_the_wrong_length_is_refused(count: int) -> None:
    with pytest.raises(TypeError, match=f"must have 2 elements, not {count}"):
        demo_ops.max(A, 1, out=[torch.empty(0)] * count)


def test_in_place_returns_its_argument() -> None:
    x = A.clone()
    assert demo_ops.add_(x, B, alpha=2) is x
    assert torch.equal(x, A + 2 * B)
    assert demo_ops.add_(x, 1) is x


def test_own_in_place_returns_its_argument() -> None:
    x, weight = A.clone(), torch.ones(3)
    expected = demo_ops.rms_norm(x, weight)
    assert demo_ops.rms_norm_(x, weight) is x
    assert torch.equal(x, expected)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": torch.float64},
        {"dtype": float},
        {"dtype": torch.int32, "device": "cpu"},
        {"device": torch.device("cpu")},
        {"device": "meta"},
        {"layout": torch.strided},
        {"memory_format": torch.contiguous_format},
        {"requires_grad": True},
        {"dtype": None, "device": None},
    ],
    ids=str,
)
def test_factories_take_tensor_options(options: dict[str, Any]) -> None:
    ours = demo_ops.empty_like(A.t(), **options)
    theirs = torch.empty_like(A.t(), **options)
    described = [(x.shape, x.stride(), x.dtype, x.device, x.requires_grad) for x in (ours, theirs)]
    assert described[0] == described[1]


def test_named_returns_of_own_ops() -> None:
    result = demo_ops.min_max(A)
    assert (result.min, result.max) == (A.min(), A.max())
    assert type(result).__name__ == "min_max"
    low, high = result
    assert (low, high) == (A.min(), A.max())
    leaves, spec = torch.utils._pytree.tree_flatten(result)
    assert leaves == [low, high]
    assert type(torch.utils._pytree.tree_unflatten(leaves, spec)) is type(result)


def test_returns_that_are_no_tensors() -> None:
    assert demo_ops.bounds(A) == (A.min().item(), A.max().item(), 6)
    assert demo_ops.strides_of(A) == (3, 1)
    assert demo_ops.strides_of(A, [1]) == (1,)
    text = demo_ops.describe(A, "x")
    assert isinstance(text, str)
    assert text.startswith("x")


def test_functions_without_result_return_none() -> None:
    assert demo_ops.busy_wait_ms(0) is None


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    scale = torch.rsqrt(x.double().pow(2).mean(-1, keepdim=True) + eps)
    return (x.double() * scale * weight.double()).to(x.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 0, 3), (2, 4, 64)], ids=str)
def test_rms_norm(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    weight = torch.linspace(0.5, 1.5, shape[-1]).to(dtype)
    assert_close(demo_ops.rms_norm(x, weight), rms_norm(x, weight))
    strided = x.transpose(0, -1).contiguous().transpose(0, -1)
    assert_close(demo_ops.rms_norm(strided, weight), rms_norm(x, weight))
    with_eps = demo_ops.rms_norm(x, weight, eps=0.5)
    assert_close(with_eps, rms_norm(x, weight, 0.5))


def nms(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> list[int]:
    """The textbook's loop."""
    kept: list[int] = []
    for i in scores.argsort(descending=True, stable=True).tolist():
        if all(iou(boxes[i], boxes[k]) <= threshold for k in kept):
            kept.append(i)
    return kept


def iou(a: torch.Tensor, b: torch.Tensor) -> float:
    low, high = torch.maximum(a[:2], b[:2]), torch.minimum(a[2:], b[2:])
    overlap = (high - low).clamp(min=0).prod()
    union = (a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - overlap
    return float(overlap / union)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7, 1.0])
def test_nms(threshold: float) -> None:
    generator = torch.Generator().manual_seed(3)
    corners = torch.rand(60, 2, generator=generator)
    boxes = torch.cat([corners, corners + 0.05 + torch.rand(60, 2, generator=generator) / 2], 1)
    scores = torch.rand(60, generator=generator)
    kept = demo_ops.nms(boxes, scores, threshold)
    assert kept.dtype is torch.int64
    assert kept.tolist() == nms(boxes, scores, threshold)


def test_nms_of_nothing() -> None:
    assert demo_ops.nms(torch.empty(0, 4), torch.empty(0), 0.5).shape == (0,)


def test_defaults_reach_the_kernel() -> None:
    assert torch.equal(demo_ops.scale(A), A)
    assert torch.equal(demo_ops.scale(A, 0.125), A * 0.125)
    assert demo_ops.describe(A) == demo_ops.describe(A, "tensor", verbose=False)
    assert demo_ops.describe(A) != demo_ops.describe(A, verbose=True)


def test_optional_tensor_and_list() -> None:
    assert_close(demo_ops.weighted_sum([A, B]), A + B)
    weight = torch.tensor([2.0, -1.0])
    assert_close(demo_ops.weighted_sum([A, B], weight), 2 * A - B)
    assert_close(demo_ops.weighted_sum((A, B), weight=None), A + B)


def test_dtype_and_optional_device() -> None:
    assert demo_ops.cast(A, torch.int32).dtype is torch.int32
    assert demo_ops.cast(A, float).dtype is torch.float64
    assert demo_ops.cast(A, torch.float16, device="cpu").dtype is torch.float16


def test_many_tensors_and_long_strings() -> None:
    """Beyond what the stack holds."""
    assert_close(demo_ops.cat([A] * 50), torch.cat([A] * 50))
    prefix = "ä" * 1000
    assert demo_ops.describe(A, prefix).startswith(prefix)
    assert demo_ops.strides_of(torch.empty([1] * 20), list(range(20))) == (1,) * 20
