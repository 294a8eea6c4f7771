"""Planted faults: what compares torch's functions with ours sees each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import recording
import torch
from aten import pairs
from compare import Outcome, copied, difference, outcome
from judge import Verdict, judge
from made import Call
from samples import _message_difference

X, Y = torch.ones(3), torch.zeros(3)
ROWS = torch.arange(12.0).reshape(4, 3)
HEADS = torch.empty(1, 2, 3, 8, device="meta")
ZEROS = torch.zeros(4, 3)
GRAD = torch.ones(3, requires_grad=True)
EYE = torch.eye(2).to_sparse()
BATCH = (ROWS, 1, 0)
Function = Callable[..., Any]


def judged(name: str, ours: Function, *args: Any, **kwargs: Any) -> Verdict:
    """torch's function beside one that does something else."""
    return judge(pairs()[name]._replace(ours=ours), Call("right", list(args), kwargs))


def raising(error: BaseException) -> Function:
    def function(*args: Any, **kwargs: Any) -> None:
        raise error

    return function


def blaming(argument: str) -> Function:
    """Refuses an argument as ours do."""
    error = TypeError("refused")
    error.candidates = [("", f"argument '{argument}' is wrong")]  # type: ignore[attr-defined]
    return raising(error)


def after(function: Function, act: Callable[[], object]) -> Function:
    """The function, and something more."""

    def both(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        act()
        return result

    return both


def _quantized(scale: float) -> Function:
    def function(x: torch.Tensor, *rest: Any) -> torch.Tensor:
        return torch.quantize_per_tensor(x * scale / 0.5, scale, 0, torch.qint8)

    return function


def _uncoalesced(x: torch.Tensor) -> torch.Tensor:
    return torch.sparse_coo_tensor(x.indices(), -x.values(), x.shape)


def batched(x: torch.Tensor, *rest: int) -> torch.Tensor:
    return torch._add_batch_dim(copied(x + 1), *rest)


# What is said, torch's function, another in the place of ours, and the arguments.
PLANTED: list[tuple[str, str, Function, tuple[Any, ...]]] = [
    ("storage offset", "torch.narrow", lambda x, *_: x.narrow(0, 2, 2), (ZEROS, 0, 1, 2)),
    ("identity", "torch.unbind_copy", lambda x: (x[0].clone(),) * 4, (ZEROS,)),
    ("graph", "torch.mul", lambda a, b: torch.mul(a, b.detach()), (GRAD, GRAD)),
    ("graph", "torch.mul", lambda a, b: torch.mul(b, a), (GRAD, GRAD * 1)),
    ("graph", "torch.mul", lambda a, b: torch.mul(a.clone(), b), (GRAD, GRAD)),
    ("graph", "torch.pow", lambda a, n: torch.pow(a, n + 1), (GRAD, 2)),
    ("version", "torch.abs", lambda x: (x.add_(0), torch.abs(x))[1], (ROWS,)),
    ("is_inference", "torch.abs", torch.inference_mode()(torch.abs), (ROWS,)),
    ("quantization", "torch.quantize_per_tensor", _quantized(0.25), (ROWS, 0.5, 0, torch.qint8)),
    ("coalesced", "torch.neg", _uncoalesced, (EYE.coalesce(),)),
    ("values", "torch.Tensor.to_mkldnn", lambda x: (x * 0).to_mkldnn(), (ROWS,)),
    ("values", "torch.Tensor.to_padded_tensor", lambda x, p: x.to_padded_tensor(p) * 2, ()),
    (
        "per_channel_affine",
        "torch.Tensor.qscheme",
        lambda x: torch.per_channel_affine,
        (torch.quantize_per_tensor(ROWS, 0.5, 0, torch.qint8),),
    ),
    ("random", "torch.rand", after(torch.rand, lambda: torch.rand(9)), ([3],)),
    ("modes", "torch.abs", after(torch.abs, lambda: torch._C._set_grad_enabled(False)), (ROWS,)),
    ("random", "torch.empty", after(torch.empty, lambda: torch.rand(9)), ([3],)),
    ("other values", "torch._add_batch_dim", batched, BATCH),
    ("other values", "torch.Tensor._neg_view", lambda x: torch._neg_view(copied(~x)), (ROWS > 3,)),
    ("afterwards", "torch.Tensor.add_", lambda x, y: x.zero_().add_(y), (ROWS, torch.ones(7))),
    ("int8", "torch.empty", lambda n: torch.empty(n, dtype=torch.int8), ([3],)),
    ("SystemError", "torch.empty", raising(SystemError()), ([3],)),
    ("SystemError", "torch.linalg.linalg_qr", raising(SystemError()), (ROWS,)),
]


@pytest.mark.parametrize(("said", "name", "ours", "args"), PLANTED)
def test_a_planted_fault_is_seen(
    said: str, name: str, ours: Function, args: tuple[Any, ...]
) -> None:
    if not args:
        args = (torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)]), 0.0)
    verdict = judged(name, ours, *args)
    assert said in verdict.difference and not verdict.rule and not verdict.unsure
    assert judged(name, pairs()[name].torch, *args).difference == ""


def test_a_generator_of_the_calls_own() -> None:
    def more(*args: Any, generator: torch.Generator) -> torch.Tensor:
        result = torch.rand(*args, generator=generator)
        torch.rand(5, generator=generator)
        return result

    verdict = judged("torch.rand", more, [3], generator=torch.Generator().manual_seed(3))
    assert "afterwards" in verdict.difference


def test_values_that_are_not_the_same_each_time_are_counted_apart() -> None:
    """Only where nothing but values differs."""
    random = torch.Generator()

    def theirs(x: torch.Tensor) -> torch.Tensor:
        return torch.rand(x.shape, generator=random)

    pair = pairs()["torch.abs"]._replace(torch=theirs)
    call = Call("right", [ROWS], {})
    verdict = judge(pair._replace(ours=torch.zeros_like), call)
    assert (verdict.difference, verdict.rule) == ("", "") and "values" in verdict.unsure
    for ours in (lambda x: torch.zeros(x.shape, dtype=torch.int8), raising(KeyError())):
        verdict = judge(pair._replace(ours=ours), call)
        assert verdict.difference and not verdict.unsure


def test_only_the_values_that_torch_is_unsure_of_are_excused() -> None:
    def ours(*args: Any) -> Any:
        loss, unwritten = torch._ctc_loss(*args)
        return loss + 7, unwritten

    args = (torch.rand(5, 2, 4).log_softmax(2), torch.ones(2, 3).long(), [5, 5], [3, 2])
    assert judged("torch._ctc_loss", torch._ctc_loss, *args).difference == ""
    verdict = judged("torch._ctc_loss", ours, *args)
    assert "[0]" in verdict.difference and not verdict.unsure


# --- rules ----------------------------------------------------------------------------------------

LOSS = "torch.nn.l1_loss"
ATTENTION = "torch._scaled_dot_product_flash_attention"


def wrong_int(*args: Any) -> Any:
    results: Any = torch._scaled_dot_product_flash_attention(*args)
    return type(results)([*results[:4], 7, *results[5:]])


@pytest.mark.parametrize(
    ("name", "ours", "args", "kwargs"),
    [
        (LOSS, lambda *a, **k: torch.zeros(7, dtype=torch.int8), (X, Y), {"reduction": 1}),
        (LOSS, raising(KeyError()), (X, Y), {}),
        ("torch.add", torch.sub, (X, np.complex64(1)), {}),
        ("torch.add", raising(SystemError()), (X, Y), {"alpha": np.bool_(True)}),
        ("torch.sum", lambda *a: 5, (ROWS, np.array(0)), {}),
        ("torch.add", raising(TypeError("no")), (X, True), {}),
        ("torch.abs", raising(TypeError("no")), (torch.tensor(1.0),), {}),
        ("torch.add", lambda *a, **k: 7, (X, Y), {"out": 3}),
        ("torch.index_put", raising(SystemError()), (X, [None], Y), {}),
        (ATTENTION, wrong_int, (HEADS, HEADS, HEADS), {}),
        ("torch.max", lambda x, n: type(torch.max(x, n))([x, 0]), (X[0], 0), {}),
        ("torch.sum", blaming("keepdim"), (ROWS, 0, True), {}),
        ("torch.sum", blaming("dim"), (ROWS, np.int64(0)), {}),
        ("torch.mul", blaming("other"), (X, torch.ones(1)), {}),
        ("torch.sum", raising(SystemError()), (ROWS, np.array([0.5])), {}),
        ("torch.zeros", lambda *a: 7, ([None],), {}),
        ("torch._nnpack_available", raising(TypeError()), (), {}),
    ],
)
def test_a_rule_explains_its_own_difference_alone(
    name: str, ours: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    verdict = judged(name, ours, *args, **kwargs)
    assert verdict.difference and not verdict.rule


@pytest.mark.parametrize(
    ("rule", "name", "args", "kwargs"),
    [
        ("D1", "torch.sum", (ROWS, 2**64), {}),
        ("D2", "torch.sum", (ROWS, np.array(0)), {}),
        ("D3", "torch.zeros", ([2, True],), {}),
        ("D4", "torch.sum", (ROWS, torch.tensor([0])), {}),
        ("D5", LOSS, (X, Y), {}),
        ("D6", "torch.full", ([1], np.bool_(True)), {}),
        ("D7", "torch.add", (X, np.complex64(1 + 1j)), {}),
        ("D7", "torch.native_dropout", (X, torch.tensor(1j), False), {}),
        ("D8", "torch._unsafe_index", (ROWS, [None, torch.tensor([0])]), {}),
        ("D10", "torch.Tensor.tensor_split", (X, 2**62), {}),
        ("D11", "torch.zeros", ([1],), {"device": b"cpu"}),
        ("D13", "torch._nnpack_available", (1,), {}),
        ("D13", "torch.Tensor.record_stream", (ROWS, 3), {}),
        ("D14", "torch.Tensor.hash_tensor", (ROWS.long(), 0, 1), {}),
        ("D20", "torch.add", (X, X), {"out": 0.5}),
        ("D26", ATTENTION, (HEADS, HEADS, HEADS), {}),
    ],
)
def test_a_rule_is_needed(
    rule: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """torch and ours still differ, and the row is what explains it."""
    pair = pairs()[name]
    verdict = judge(pair, Call("right", list(args), kwargs))
    assert verdict.rule == rule, verdict


# --- kernels for ops that have none ---------------------------------------------------------------


def test_what_reaches_a_kernel_that_records_is_compared() -> None:
    def reached(*args: Any, **kwargs: Any) -> Outcome:
        return outcome(recording._kernel(torch.ops.aten.batch_norm_elemt.out), args, kwargs)

    given = (ROWS, None, None, X, Y, 1e-5)
    assert reached(*given, out=Y).value is Y
    assert difference(reached(*given, out=Y), reached(*given, out=Y)) == ""
    for other in ((*given[:5], 1e-6), (*given[:3], Y, X, 1e-5), (ROWS, X, *given[2:])):
        # What the caller gave may be the same: what came of it is compared by itself.
        wrong = replace(reached(*other, out=Y), arguments=reached(*given, out=Y).arguments)
        assert "what reached an op" in difference(reached(*given, out=Y), wrong)


def test_kernels_that_record_leave_torch_as_it_was() -> None:
    with recording.registered():
        assert len(torch.batch_norm_stats(ROWS, 1e-5)) == 2
    with pytest.raises(NotImplementedError):
        torch.batch_norm_stats(ROWS, 1e-5)


def test_the_results_of_a_kernel_that_records_are_told_apart() -> None:
    results = recording._kernel(torch.ops.aten.batch_norm_stats.default)(ROWS, 1e-5)
    assert not torch.equal(*results)
    run = recording._kernel(torch.ops.aten._fused_dropout.default)
    ends = [outcome(run, (X, 0.5, torch.Generator().manual_seed(n)), {}) for n in (1, 2)]
    assert ends[0].state[-1] != ends[1].state[-1]


# --- texts ----------------------------------------------------------------------------------------


def test_a_text_names_what_torchs_names() -> None:
    pair = pairs()["torch.sum"]
    theirs = outcome(raising(TypeError("sum(): argument 'dim' must be int")), (), {})
    for text, is_exact in {
        "sum(): argument 'dim' (position 2) must be int[1]": True,
        "sum(): wrong": False,
        "argument 'dim' is wrong": False,
    }.items():
        ours = outcome(raising(TypeError(text)), (), {})
        assert (not _message_difference(pair, theirs, ours)) == is_exact
