"""A part of `make conformance`, another one in each run: torch's functions and ours do the same."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import aten
import conformance
import pytest
import torch
from compare import Outcome, difference
from conformance import Processes, Task, Worker, collected
from judge import Verdict, judge
from made import Call, call
from page import page, summary

SAMPLED, MADE, CALLS = 25, 150, 10


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
    assert sum(one.get("samples", 0) for one in result.values()) > 1_000
    assert found(result, "different") == {} and found(result, "lost") == {}


@pytest.mark.parametrize("name", ["torch.cudnn_grid_sampler", "torch._nested_get_values"])
def test_calls_of_what_has_no_kernel_here(name: str) -> None:
    (one,) = collected([Task("made", name, 0, 20)], seed=1, jobs=1).values()
    assert one["succeeded"] > 3 and one["same"] == 20, one


def test_calls_made_from_schemas(seed: int) -> None:
    names = random.Random(seed).sample(sorted(aten.pairs()), MADE)
    result = collected((Task("made", name, 0, CALLS) for name in names), seed, jobs=2)
    assert sum(one.get("calls", 0) for one in result.values()) > MADE * CALLS * 0.9
    assert sum(one.get("succeeded", 0) for one in result.values()) > MADE * CALLS * 0.2
    assert found(result, "different") == {} and found(result, "lost") == {}, f"seed {seed}"


def found(result: dict[str, Any], key: str) -> dict[str, list[str]]:
    return {name: one[key] for name, one in result.items() if one.get(key)}


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
        ([1, 2], [1, 3], "[1] other values 2 / 3"),
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


# --- calls that end the process, and exceptions ---------------------------------------------------


@pytest.fixture
def processes() -> Iterator[Processes]:
    started = Processes(seed=1)
    yield started
    started.end()


@pytest.mark.parametrize("whose", ["torch", "ours"])
def test_a_call_that_ends_the_process_is_made_by_torch_alone(
    whose: str, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever's it was: memory that ours spoils may end torch's next call."""
    task = Task("made", "torch.add", 0, 5)
    monkeypatch.setattr(conformance, "_ends_torch", lambda *args: True)
    ended = conformance._ended(task, 3, whose, processes)
    assert ended == {"torch.add": {"ended by torch": 1}}
    monkeypatch.setattr(conformance, "_ends_torch", lambda *args: False)
    text = f"3: torch.add: ends the process, torch alone does not ({whose})"
    ended = conformance._ended(task, 3, whose, processes)
    assert ended == {"torch.add": {"different": [text]}}


def test_calls_of_torchs_before_may_have_ended_it(processes: Processes) -> None:
    """It writes beyond its result in a third of the calls; the last alone need not be one."""
    task = Task("made", "torch._convert_indices_from_csr_to_coo", 0, 100)
    assert conformance._ends_torch(task, 99, "torch", processes)
    task = Task("made", "torch.add", 0, 5)
    assert not conformance._ends_torch(task, 4, "torch", processes)


def test_torch_alone_does_not_take_longer_than_it_may(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance, "REPLAY", 0.01)
    task = Task("made", "torch._convert_indices_from_csr_to_coo", 0, 100)
    assert not conformance._ends_torch(task, 99, "torch", processes)
    assert processes.running[0].poll() == -signal.SIGKILL


def test_a_worker_that_raises_answers_and_goes_on(processes: Processes) -> None:
    with closing(Worker(processes)) as worker:
        process = worker.process
        for kind in ("samples", "made"):
            lost = list(worker.do(Task(kind, "no_such", 0, 1)))
            assert lost == [{"no_such": {"lost": ["KeyError: 'no_such'"]}}]
        (part,) = worker.do(Task("made", "torch.add", 0, 3))
        assert part["torch.add"]["calls"] == 3
        assert worker.process is process


def test_an_exception_in_one_call_is_told_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(pair: aten.Pair, made: Any, tell: Any) -> Any:
        return judge(pair, made) if made is not third else 1 / 0

    third = call(aten.pairs()["torch.add"], 1, 3)
    monkeypatch.setattr("made.call", lambda pair, seed, n: third if n == 3 else call(pair, seed, n))
    monkeypatch.setattr("judge.judge", broken)
    (made,) = conformance._made(Task("made", "torch.add", 0, 5), 1, None).values()
    assert made["calls"] == 4 and made["lost"] == ["3: ZeroDivisionError: division by zero"]


def test_a_process_that_ends_is_told_with_what_it_said(processes: Processes) -> None:
    with closing(Worker(processes)) as worker:
        for kind in ("samples", "made"):
            worker.process.kill()
            worker.process.wait()
            (lost,) = worker.do(Task(kind, "add", 0, 1))
            assert lost == {"add": {"lost": ["ends the process with -9"]}}
        worker.errors.write("a warning\nfree(): invalid pointer\n")
        worker.errors.flush()
        worker.process.kill()
        assert worker._end() == "ends the process with -9: free(): invalid pointer"


def test_a_call_that_does_not_end_is_told(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance, "PATIENCE", 0.01)
    with closing(Worker(processes)) as worker:
        monkeypatch.setattr(worker, "_last_call", lambda: (0, "torch"))
        (lost,) = worker.do(Task("made", "torch.add", 0, 1))
    assert lost == {"torch.add": {"lost": ["0: takes longer than 0.01 s"]}}


# --- an end before the end ------------------------------------------------------------------------

ENDLESS = """
from conformance import Task, collected
collected([Task("samples", "add")] * 1000, seed=1, jobs=2)
"""


def test_one_interrupt_ends_all_processes() -> None:
    path = {"PYTHONPATH": str(Path(conformance.__file__).parent)}
    process = subprocess.Popen([sys.executable, "-c", ENDLESS], env=path, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: len(children(process.pid)) == 2)
        workers = children(process.pid)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=10)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT and b"KeyboardInterrupt" in said
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.05)
    pytest.fail("it has not come")


def children(process: int) -> list[str]:
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [child for thread in threads for child in thread.read_text().split()]


def test_who_takes_no_more_results_ends_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """And none is started again."""
    processes = Processes(seed=1)
    monkeypatch.setattr(conformance, "Processes", lambda seed: processes)
    parts = conformance.done([Task("samples", "no_such")] * 1000, seed=1, jobs=2)
    assert "no_such" in next(parts)
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        parts.throw(ZeroDivisionError())
    assert time.monotonic() - began < 5
    assert all(process.poll() is not None for process in processes.running)
    with pytest.raises(conformance.Ended):
        processes.start([], ".")


def test_what_a_thread_raises_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance.Worker, "do", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        collected([Task("samples", "add")], seed=1, jobs=2)


# --- one call -------------------------------------------------------------------------------------


def test_a_call_can_be_repeated() -> None:
    command = [sys.executable, conformance.__file__, "--seed", "1", "--call", "torch.add", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == f"torch.add{call(aten.pairs()['torch.add'], 1, 3).text}"
    assert [line.split()[0] for line in lines if line[0] != " "][1:] == [
        "torch",
        "ours",
        "verdict:",
    ]


def test_a_call_is_shown_with_values_and_the_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = aten.pairs()["torch.add"]
    monkeypatch.setattr("made.call", lambda *args: Call("right", [torch.ones(2), 2], {}))
    conformance._show("torch.add", 3, seed=1)
    printed = "       tensor([3., 3.])"
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["torch  a Tensor", printed, "ours   a Tensor", printed, "verdict: alike"]
    monkeypatch.setattr("aten.pairs", lambda: {"torch.add": pair._replace(ours=torch.sub)})
    conformance._show("torch.add", 3, seed=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[4:] == ["       tensor([-1., -1.])", "verdict: result: other values"]


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (Verdict(True, ""), "alike"),
        (Verdict(True, "dtype"), "dtype"),
        (Verdict(True, "dtype", "D3"), "dtype (D3 of docs/differences.md)"),
        (Verdict(True, "", unsure="v"), "torch's own is not the same each time: v"),
    ],
)
def test_the_verdict_in_words(verdict: Verdict, text: str) -> None:
    assert conformance._verdict(verdict) == text


def test_long_values_are_cut() -> None:
    text = conformance._printed(list(range(1000)))
    assert len(text) < 400 and text.endswith("...")


@pytest.mark.parametrize(
    ("name", "number", "texts"),
    [
        ("torch.add", "x", ["'x' is no whole number"]),
        ("torch.add", "-1", ["-1 is below 0"]),
        ("add", "1", ["near: torch.Tensor.add, torch.add", "docs/conformance.md"]),
        ("torch.linalg.inv", "1", ["torch.linalg.linalg_inv"]),
        ("QWXZ_QWXZ_QWXZ_QWXZ", "1", ["none is near"]),
    ],
)
def test_a_call_that_is_not_there(
    name: str, number: str, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(["--call", name, number], capsys)
    assert [text for text in texts if text not in said] == []


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        conformance.main(arguments)
    assert end.value.code == 2
    return capsys.readouterr().err


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--calls", "-1"], "argument --calls: -1 is below 0"),
        (["--jobs", "0"], "argument --jobs: 0 is below 1"),
        (["--jobs", "two"], "argument --jobs: 'two' is no whole number"),
        (["--json", "/dev/null/x"], "/dev/null/x cannot be written"),
        (["--page", "/dev/null"], "/dev/null cannot be written: it is there, and no file"),
        (["--page", "/"], "/ cannot be written"),
    ],
)
def test_options_are_refused_before_the_work(
    arguments: list[str],
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conformance, "_all", lambda *args: pytest.fail("it works"))
    assert text in refused(["--json", str(tmp_path / "json"), *arguments], capsys)


def run_of(arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Kinds of the tasks done by a run that finds nothing; its files go to this folder."""
    kinds: list[str] = []

    def noted(tasks: Any, seed: int, jobs: int) -> dict[str, Any]:
        kinds.extend({task.kind for task in tasks})
        return {}

    monkeypatch.setattr(conformance, "collected", noted)
    monkeypatch.setattr(conformance, "PAGE", folder / "default.md")
    conformance.main(["--json", str(folder / "json"), *arguments])
    return kinds


def test_samples_alone_write_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_of(["--calls", "0"], tmp_path, monkeypatch) == ["samples"]
    assert [path.name for path in tmp_path.iterdir()] == ["json"]
    assert "no page is written" in capsys.readouterr().err
    run_of(["--calls", "0", "--page", str(tmp_path / "page")], tmp_path, monkeypatch)
    assert (tmp_path / "page").exists() and not capsys.readouterr().err
    assert run_of(["--calls", "1"], tmp_path, monkeypatch) == ["samples", "made"]
    assert {path.name for path in tmp_path.iterdir()} == {"json", "page", "default.md"}


def test_nothing_is_written_unless_all_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json").write_text("before")
    monkeypatch.setattr("page.page", lambda result: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_of([], tmp_path, monkeypatch)
    with pytest.raises(UnicodeEncodeError):
        conformance._write({tmp_path / "json": "after", tmp_path / "page": "\ud800"})
    assert [path.name for path in tmp_path.iterdir()] == ["json"]
    assert (tmp_path / "json").read_text() == "before"


# --- the page -------------------------------------------------------------------------------------

COUNT = {"samples": 2, "equal": 1, "errors": 1, "errors_same": 1, "different": ["x: other"]}
MADE_COUNT = {"calls": 4, "succeeded": 2, "same": 3, "rules": {"D1": 1}, "different": []}


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n\n")[2].partition("\n\n##")[0]


def test_the_page() -> None:
    samples, made = {"torch.add": COUNT}, {"torch.add": MADE_COUNT}
    result = summary(["torch.add", "torch.sub"], samples, made, seed=7)
    assert json.loads(json.dumps(result)) == result
    assert result["totals"]["samples"] == 2 and result["totals"]["rules"] == {"D1": 1}
    text = page(result)
    assert "- `torch.add`: x: other" in text
    assert "| torch.add | 2 | 1 | 1 | 1 | 4 | 2 | 3 |" in text
    assert "| torch.sub | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in text


def test_what_was_lost_is_on_the_page() -> None:
    samples = {"add": {"lost": ["ends the process with -11"]}, "sub": {"samples": 3}}
    made = {"torch.add": {**MADE_COUNT, "lost": ["2: KeyError: 'a\nb'"]}}
    result = summary(["torch.add"], samples, made, seed=7)
    assert result["totals"]["lost"] == [
        "add: ends the process with -11",
        'sub: no function has this name: {"samples": 3}',
        "torch.add: 2: KeyError: 'a\nb'",
    ]
    others = section(page(result), "Others").splitlines()
    assert others[0] == "- add: ends the process with -11"
    assert others[2] == "- torch.add: 2: KeyError: 'a b'"
    assert section(page(summary(["torch.add"], {}, {}, seed=7)), "Others") == "None."


UNSURE = "Results of torch's own that are not the same each time"


def test_what_is_not_the_same_each_time_has_a_section() -> None:
    samples = {"torch.add": {**COUNT, "unsure": ["a", "b"]}}
    made = {"torch.add": {**MADE_COUNT, "unsure": ["c"]}, "torch.sub": {"unsure": ["d | e"]}}
    result = summary(["torch.add", "torch.sub", "torch.mul"], samples, made, seed=7)
    assert (result["totals"]["unsure"], result["totals"]["made unsure"]) == (2, 2)
    assert section(page(result), UNSURE).splitlines() == [
        "- `torch.add`: 2 of the samples, 1 of the calls made: a",
        "- `torch.sub`: 0 of the samples, 1 of the calls made: d / e",
    ]
    assert section(page(summary(["torch.add"], {}, {}, seed=7)), UNSURE) == "None."


def test_an_unsure_call_made_is_not_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.judge", lambda *args: Verdict(True, "", unsure="other values"))
    (made,) = conformance._made(Task("made", "torch.add", 0, 2), 1, None).values()
    assert (made["calls"], made["succeeded"], made["same"]) == (2, 2, 0)
    first = call(aten.pairs()["torch.add"], 1, 0)
    assert made["unsure"][0] == f"0: torch.add{first.text}: other values"
    assert len(made["unsure"]) == 2 and made["different"] == []


def test_functions_that_only_refuse_are_counted_and_named() -> None:
    samples = {"torch.add": COUNT}
    made = {"torch.sub": MADE_COUNT, "torch.mul": {"calls": 4, "succeeded": 0}}
    result = summary(["torch.add", "torch.sub", "torch.mul", "torch.div"], samples, made, seed=7)
    assert result["totals"]["only refused"] == 2
    text = section(page(result), "Only refusals are compared")
    assert text.startswith("2 functions have neither")
    assert text.endswith("\n\n`torch.mul`, `torch.div`.")
