"""A part of `make conformance`, another one in each run: torch's functions and ours do the same."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import aten
import conformance
import pytest
import torch
from compare import Outcome, difference
from conformance import Task, collected
from judge import judge
from made import call
from page import page, summary

SAMPLED, MADE, CALLS = 40, 150, 10


@pytest.fixture(scope="module")
def seed() -> int:
    """Another one for each run; shown with what fails."""
    chosen = random.SystemRandom().randrange(10**6)
    print(f"seed {chosen}")
    return chosen


def test_all_names_are_there() -> None:
    assert len(aten.pairs()) == 1703
    package = aten.imported()
    assert package.linalg.inv is package.linalg.linalg_inv
    assert {"add", "linalg", "Tensor"} <= set(package.__all__)


def test_samples_of_torchs(seed: int) -> None:
    from samples import opinfos

    names = random.Random(seed).sample(sorted(opinfos()), SAMPLED)
    result = collected((Task("samples", name) for name in names), seed, jobs=2)
    assert sum(one["samples"] for one in result.values()) > 1_000
    assert {name: one["different"] for name, one in result.items() if one["different"]} == {}


def test_calls_made_from_schemas(seed: int) -> None:
    names = random.Random(seed).sample(sorted(aten.pairs()), MADE)
    result = collected((Task("made", name, 0, CALLS) for name in names), seed, jobs=2)
    assert sum(one.get("calls", 0) for one in result.values()) > MADE * CALLS * 0.9
    assert sum(one.get("succeeded", 0) for one in result.values()) > MADE * CALLS * 0.2
    different = {name: one["different"] for name, one in result.items() if one.get("different")}
    assert different == {}, f"seed {seed}"


def test_the_same_numbers_make_the_same_call(seed: int) -> None:
    pair = aten.pairs()["torch.add"]
    texts = [call(pair, seed, number).text for number in range(20)]
    assert texts == [call(pair, seed, number).text for number in range(20)]
    assert len(set(texts)) > 10


# --- what counts finds what it should -------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        (torch.tensor([1.0]), torch.tensor([1.0]), ""),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), ""),
        (torch.tensor([0.0]), torch.tensor([-0.0]), "other values"),
        (torch.ones(1), torch.ones(1, dtype=torch.float64), "dtype"),
        (torch.ones(2, 2), torch.ones(2, 2).t(), "strides"),
        (torch.ones(2), torch.ones(4)[:2], "is_view"),
        (torch.ones(1), torch.ones(1, requires_grad=True), "requires_grad"),
        (
            torch.return_types.max((torch.ones(1), torch.ones(1))),
            (torch.ones(1), torch.ones(1)),
            "return_types.max",
        ),
        ([1, 2], [1, 3], "[1] 2 / 3"),
        (1, True, "int"),
    ],
)
def test_a_difference_is_seen(theirs: object, ours: object, found: str) -> None:
    text = difference(Outcome((), theirs), Outcome((), ours))
    assert found in text and bool(found) == bool(text)


def test_identity_memory_and_arguments_are_compared() -> None:
    x, y = torch.ones(2), torch.ones(2)
    assert "identity" in difference(Outcome((x,), x), Outcome((y,), y.detach()))
    assert "memory" in difference(
        Outcome((x,), x.view(2)), Outcome((y,), y.view(2).clone().view(2))
    )
    assert "afterwards" in difference(Outcome((x,), None), Outcome((y + 1,), None))
    assert "KeyError" in difference(Outcome((), None), Outcome((), error=KeyError("k")))


def test_a_wrong_function_is_found(seed: int) -> None:
    """torch.sub in the place of ours."""
    pair = aten.pairs()["torch.add"]._replace(ours=torch.sub)
    verdicts = [judge(pair, call(pair, seed, number)) for number in range(50)]
    assert sum(bool(verdict.difference) for verdict in verdicts) > 10


def test_a_function_that_ends_the_process_is_named() -> None:
    """As `ours` did it: the worker tells whose call was the last."""
    ended = conformance._ended(Task("made", "torch.add", 0, 5), 3, "ours", seed=1)
    assert ended == {"torch.add": {"different": ["3: torch.add: ends the process"]}}
    ended = conformance._ended(Task("made", "torch.add", 0, 5), 3, "torch", seed=1)
    assert ended == {"torch.add": {"ended by torch": 1}}


def test_a_call_can_be_repeated() -> None:
    command = [sys.executable, conformance.__file__, "--seed", "1", "--call", "torch.add", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first = call(aten.pairs()["torch.add"], 1, 3)
    assert done.stdout.splitlines()[0] == f"torch.add{first.text}"
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["torch", "ours"]


def test_the_page() -> None:
    count = {"samples": 2, "equal": 1, "errors": 1, "errors_same": 1, "different": ["x: other"]}
    made = {"calls": 4, "succeeded": 2, "same": 3, "rules": {"D1": 1}, "different": []}
    result = summary(["torch.add", "torch.sub"], {"torch.add": count}, {"torch.add": made}, seed=7)
    assert json.loads(json.dumps(result)) == result
    assert result["totals"]["samples"] == 2 and result["totals"]["rules"] == {"D1": 1}
    text = page(result)
    assert "- `torch.add`: x: other" in text
    assert "| torch.add | 2 | 1 | 1 | 1 | 4 | 2 | 3 |" in text
    assert "| torch.sub | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in text
