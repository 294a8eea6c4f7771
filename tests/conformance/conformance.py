"""All of torch's functions against ours: `make conformance`.

    .venv/bin/python tests/conformance/conformance.py                       writes the page
    .venv/bin/python tests/conformance/conformance.py --call torch.add 7    one call of the fuzz

The first part goes through torch's own samples (OpInfo), the second makes calls from the plan.
Workers do it, since torch has functions that end the process on arguments they did not expect:
such a call is passed over, unless it is ours that ends it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any, NamedTuple

REPO = Path(__file__).parents[2]
SEED = 20261130
# A call that takes longer is given up.
PATIENCE = 120
MEMORY = 12 << 30


# Of this folder and of tests/codegen, as pytest has them.
PATHS = [str(REPO / path) for path in ("codegen", "tests/codegen", "tests/conformance")]
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPBIND_WORKER": "1",
    "PYTHONPATH": os.pathsep.join(PATHS),
}
sys.path += [path for path in PATHS if path not in sys.path]


class Task(NamedTuple):
    """A part of the work: of "samples" an OpInfo, of "made" the calls of one function."""

    kind: str
    name: str
    # Numbers of calls.
    first: int = 0
    last: int = 0


# --- in a worker ----------------------------------------------------------------------------------


def work(progress: Path, seed: int) -> None:
    """Does the tasks on standard input; a line of JSON for each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import torch

    torch.set_num_threads(1)
    tasks = sys.stdin
    # Some functions of torch print.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with progress.open("r+") as where:
        for line in tasks:
            task = Task(*json.loads(line))
            done = _samples(task) if task.kind == "samples" else _made(task, seed, where)
            print(json.dumps(done), file=out, flush=True)


def _samples(task: Task) -> dict[str, Any]:
    from samples import check, opinfos

    return {name: asdict(count) for name, count in check(opinfos()[task.name]).items()}


def _made(task: Task, seed: int, where: Any) -> dict[str, Any]:
    from aten import pairs
    from judge import judge
    from made import call

    pair = pairs()[task.name]
    found: dict[str, Any] = {"calls": 0, "succeeded": 0, "same": 0, "rules": {}, "different": []}
    for number in range(task.first, task.last):
        made = call(pair, seed, number)
        verdict = judge(pair, made, partial(_tell, where, number))
        found["calls"] += 1
        found["succeeded"] += verdict.succeeded
        found["same"] += not verdict.difference
        if verdict.rule:
            found["rules"][verdict.rule] = found["rules"].get(verdict.rule, 0) + 1
        elif verdict.difference:
            text = f"{number}: {task.name}{made.text}: {verdict.difference}"
            found["different"].append(text)
    return {task.name: found}


def _tell(where: Any, number: int, whose: str) -> None:
    """Which call is being made, for when the process ends with it."""
    where.seek(0)
    where.write(f"{number:8} {whose:6}")
    where.flush()


# --- in the process that counts -------------------------------------------------------------------


class Worker:
    """A process that does tasks, and is replaced when it ends with one."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        # Open as long as the worker is there.
        self.progress = NamedTemporaryFile("w+")  # noqa: SIM115
        # torch.from_file makes files.
        self.folder = TemporaryDirectory()
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        script = str(Path(__file__).resolve())
        command = [sys.executable, script, "--seed", str(self.seed), "--worker"]
        return subprocess.Popen(
            [*command, self.progress.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder.name,
            env={**os.environ, **ENVIRONMENT},
        )

    def do(self, task: Task) -> Iterator[dict[str, Any]]:
        """What came of the task, in parts where the process ended meanwhile."""
        while True:
            self.progress.truncate(0)
            answer = self._ask(task)
            if answer:
                yield json.loads(answer)
                return
            number, whose = self._last_call()
            self.process = self._start()
            yield _ended(task, number, whose, self.seed)
            # What stands before the call that ended it was lost.
            if task.kind == "samples" or number is None:
                return
            if number > task.first:
                yield from self.do(task._replace(last=number))
            task = task._replace(first=number + 1)
            if task.first >= task.last:
                return

    def _ask(self, task: Task) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        before = None
        while not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            now = self._last_call()
            if now == before and task.kind == "made":
                self.process.kill()
            before = now
        return self.process.stdout.readline()

    def _last_call(self) -> tuple[int | None, str]:
        words = Path(self.progress.name).read_text().strip("\0 ").split()
        return (int(words[0]), words[1]) if len(words) == 2 else (None, "")


def _ended(task: Task, number: int | None, whose: str, seed: int) -> dict[str, Any]:
    if number is None or (whose == "ours" and not _ends_torch(task.name, number, seed)):
        return {task.name: {"different": [f"{number}: {task.name}: ends the process"]}}
    return {task.name: {"ended by torch": 1}}


def _ends_torch(name: str, number: int, seed: int) -> bool:
    """Whether the call ends a process that makes it by torch alone: it need not do so at once."""
    command = [sys.executable, __file__, "--seed", str(seed), "--torch", name, str(number)]
    done = subprocess.run(command, capture_output=True, env={**os.environ, **ENVIRONMENT})
    return done.returncode < 0


def _only_torch(name: str, number: int, seed: int) -> None:
    from aten import pairs
    from compare import copied, outcome, plain
    from made import call

    made = call(pairs()[name], seed, number)
    # torch refuses some numbers of NumPy's that ours take: with Python's it gets as far.
    args, kwargs = plain((made.args, made.kwargs))
    for _ in range(2_000):
        outcome(pairs()[name].torch, *copied((args, kwargs)))


def done(tasks: Iterable[Task], seed: int, jobs: int) -> Iterator[dict[str, Any]]:
    """What came of all tasks, by so many workers."""
    waiting: SimpleQueue[Task] = SimpleQueue()
    results: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    for task in tasks:
        waiting.put(task)

    def serve() -> None:
        worker = Worker(seed)
        try:
            while True:
                for part in worker.do(waiting.get_nowait()):
                    results.put(part)
        except Empty:
            worker.process.kill()
        finally:
            results.put(None)

    with ThreadPoolExecutor(jobs) as pool:
        served = [pool.submit(serve) for _ in range(jobs)]
        left = jobs
        while left:
            part = results.get()
            if part is None:
                left -= 1
            else:
                yield part
        for one in served:
            one.result()


def add(total: dict[str, Any], part: dict[str, Any]) -> None:
    """Counts and lists of `part` are added to those of `total`."""
    for key, value in part.items():
        if isinstance(value, dict):
            add(total.setdefault(key, {}), value)
        else:
            total[key] = total[key] + value if key in total else value


def collected(tasks: Iterable[Task], seed: int, jobs: int) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for part in done(tasks, seed, jobs):
        add(total, part)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worker", type=Path)
    parser.add_argument("--call", nargs=2, metavar=("FUNCTION", "NUMBER"))
    parser.add_argument("--torch", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=REPO / "build/conformance.json")
    parser.add_argument("--page", type=Path, default=REPO / "docs/conformance.md")
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.seed)
    elif options.torch:
        _only_torch(options.torch[0], int(options.torch[1]), options.seed)
    elif options.call:
        _show(options.call[0], int(options.call[1]), options.seed)
    else:
        _all(options)


def _show(name: str, number: int, seed: int) -> None:
    from aten import pairs
    from compare import ended
    from judge import ends
    from made import call

    made = call(pairs()[name], seed, number)
    print(f"{name}{made.text}")
    for whose, end in zip(("torch", "ours"), ends(pairs()[name], made), strict=True):
        print(f"{whose:6} {ended(end)}")


def _all(options: argparse.Namespace) -> None:
    from aten import pairs
    from page import page, summary
    from samples import opinfos

    samples = collected((Task("samples", name) for name in opinfos()), options.seed, options.jobs)
    each = -(-options.calls // len(pairs()))
    made = collected((Task("made", name, 0, each) for name in pairs()), options.seed, options.jobs)
    result = summary(list(pairs()), samples, made, options.seed)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    options.page.write_text(page(result), encoding="utf-8")
    print(json.dumps(result["totals"], indent=1))


if __name__ == "__main__":
    main()
