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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import NamedTemporaryFile, TemporaryDirectory, TemporaryFile
from threading import Lock
from typing import Any, NamedTuple

REPO = Path(__file__).parents[2]
SEED = 20261130
# A call that takes longer is given up.
PATIENCE = 120
# So long, and so often, torch alone has to end a process as a worker was ended.
REPLAY, TRIES = 120, 3
MEMORY = 12 << 30
PAGE = REPO / "docs/conformance.md"
# Of a printed value.
LENGTH = 300


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
    _limit()
    import torch

    torch.set_num_threads(1)
    tasks = sys.stdin
    # Some functions of torch print.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with progress.open("r+") as where:
        for line in tasks:
            done = _answer(Task(*json.loads(line)), seed, where)
            print(json.dumps(done), file=out, flush=True)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(task: Task, seed: int, where: Any) -> dict[str, Any]:
    """An exception is an answer too: the worker goes on."""
    try:
        return _samples(task) if task.kind == "samples" else _made(task, seed, where)
    except Exception as error:
        return _lost(task, None, _raised(error))


def _lost(task: Task, number: int | None, what: str) -> dict[str, Any]:
    text = what if number is None else f"{number}: {what}"
    return {task.name: {"lost": [text]}}


def _raised(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _samples(task: Task) -> dict[str, Any]:
    from samples import check, opinfos

    return {name: asdict(count) for name, count in check(opinfos()[task.name]).items()}


def _made(task: Task, seed: int, where: Any) -> dict[str, Any]:
    from aten import pairs

    pair = pairs()[task.name]
    found: dict[str, Any] = {"calls": 0, "succeeded": 0, "same": 0, "rules": {}}
    found.update(different=[], unsure=[], lost=[])
    for number in range(task.first, task.last):
        try:
            _count(found, pair, seed, number, where)
        except Exception as error:
            found["lost"].append(f"{number}: {_raised(error)}")
    return {task.name: found}


def _count(found: dict[str, Any], pair: Any, seed: int, number: int, where: Any) -> None:
    """One call more."""
    from judge import judge
    from made import call

    made = call(pair, seed, number)
    verdict = judge(pair, made, partial(_tell, where, number))
    found["calls"] += 1
    found["succeeded"] += verdict.succeeded
    found["same"] += not (verdict.difference or verdict.unsure)
    place = f"{number}: {pair.name}{made.text}"
    if verdict.unsure:
        found["unsure"].append(f"{place}: {verdict.unsure}")
    elif verdict.rule:
        found["rules"][verdict.rule] = found["rules"].get(verdict.rule, 0) + 1
    elif verdict.difference:
        found["different"].append(f"{place}: {verdict.difference}")


def _tell(where: Any, number: int, whose: str) -> None:
    """Which call is being made, for when the process ends with it."""
    where.seek(0)
    where.write(f"{number:8} {whose:6}")
    where.flush()


# --- in the process that counts -------------------------------------------------------------------


class Ended(Exception):
    """Nothing is to be started any more."""


class Processes:
    """Those that were started: `end` kills all of them, and no other can start after it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.lock = Lock()
        self.running: list[subprocess.Popen[str]] = []
        self.has_ended = False

    def start(self, arguments: Sequence[str], folder: str, **files: Any) -> subprocess.Popen[str]:
        """This script, with these arguments, in that folder."""
        script = str(Path(__file__).resolve())
        command = [sys.executable, script, "--seed", str(self.seed), *arguments]
        env = {**os.environ, **ENVIRONMENT}
        with self.lock:
            if self.has_ended:
                raise Ended
            process = subprocess.Popen(command, text=True, cwd=folder, env=env, **files)
            # The pipes of one that ended are closed with it.
            self.running = [one for one in self.running if one.poll() is None]
            self.running.append(process)
        return process

    def end(self) -> None:
        with self.lock:
            self.has_ended = True
            for process in self.running:
                process.kill()


class Worker:
    """A process that does tasks, and is replaced when it ends with one."""

    def __init__(self, processes: Processes) -> None:
        self.processes = processes
        # Open as long as the worker is there.
        self.progress = NamedTemporaryFile("w+")  # noqa: SIM115
        # To append, so that it can be emptied below the process that writes it.
        self.errors = TemporaryFile("a+", errors="replace")  # noqa: SIM115
        # torch.from_file makes files.
        self.folder = TemporaryDirectory()
        self.is_late = False
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        arguments = ["--worker", self.progress.name]
        pipe = subprocess.PIPE
        files = {"stdin": pipe, "stdout": pipe, "stderr": self.errors}
        return self.processes.start(arguments, self.folder.name, **files)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.progress.close()
        self.errors.close()
        self.folder.cleanup()

    def do(self, task: Task) -> Iterator[dict[str, Any]]:
        """What came of the task, in parts where the process ended meanwhile."""
        while True:
            answer = self._ask(task)
            if answer:
                yield json.loads(answer)
                return
            (number, whose), what = self._last_call(), self._end()
            self.process = self._start()
            if self.is_late or number is None:
                yield _lost(task, number, what)
            else:
                yield _ended(task, number, whose, self.processes)
            if number is None:
                return
            # What stands before the call that ended it was lost.
            if number > task.first:
                yield from self.do(task._replace(last=number))
            task = task._replace(first=number + 1)
            if task.first >= task.last:
                return

    def _ask(self, task: Task) -> str:
        """'' where the process ended before it had answered."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.progress.truncate(0)
        self.errors.truncate(0)
        self.is_late = False
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        self._wait(task)
        answer = self.process.stdout.readline()
        return answer if answer.endswith("\n") else ""

    def _wait(self, task: Task) -> None:
        """Until there is an answer, or the call being made is given up."""
        assert self.process.stdout is not None
        before = None
        while not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            now = self._last_call()
            if now == before and task.kind == "made":
                self.is_late = True
                self.process.kill()
            before = now

    def _last_call(self) -> tuple[int | None, str]:
        words = Path(self.progress.name).read_text().strip("\0 ").split()
        return (int(words[0]), words[1]) if len(words) == 2 else (None, "")

    def _end(self) -> str:
        """How the process ended, with the last that it said."""
        if self.is_late:
            return f"takes longer than {PATIENCE} s"
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().strip().splitlines()
        return ": ".join([f"ends the process with {code}", *said[-1:]])


def _ended(task: Task, number: int, whose: str, processes: Processes) -> dict[str, Any]:
    if _ends_torch(task, number, whose, processes):
        return {task.name: {"ended by torch": 1}}
    text = f"{number}: {task.name}: ends the process, torch alone does not ({whose})"
    return {task.name: {"different": [text]}}


def _ends_torch(task: Task, number: int, whose: str, processes: Processes) -> bool:
    """Whether torch alone ends a process so: it need not do so at once, nor each time."""
    # Memory may have been spoiled by this call of torch's, or by those before.
    starts = (task.first,) if whose == "torch" else (number, task.first)
    tries = [(start, number, whose) for start in starts] * TRIES
    return any(_is_ended(task.name, *one, processes) for one in tries)


def _is_ended(name: str, first: int, last: int, whose: str, processes: Processes) -> bool:
    """Whether the calls end a process in which torch makes them."""
    arguments = ["--torch", name, str(first), str(last), whose]
    null = subprocess.DEVNULL
    with TemporaryDirectory() as folder:
        process = processes.start(arguments, folder, stdout=null, stderr=null)
        try:
            return process.wait(REPLAY) < 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False


def _only_torch(name: str, first: int, last: int, whose: str, seed: int) -> None:
    """The calls by torch's function alone, the last of them many times."""
    from aten import pairs
    from compare import copied, mapped, outcome, plain
    from made import call

    _limit()
    pair = pairs()[name]
    for number in range(first, last):
        made = call(pair, seed, number)
        outcome(pair.torch, *copied((made.args, made.kwargs)))
    made = call(pair, seed, last)
    args, kwargs = made.args, made.kwargs
    if whose == "ours":
        # torch refuses some numbers of NumPy's that ours take: with Python's it gets as far.
        args, kwargs = mapped((args, kwargs), plain)
    for _ in range(2_000):
        outcome(pair.torch, *copied((args, kwargs)))


Part = dict[str, Any]


def done(tasks: Iterable[Task], seed: int, jobs: int) -> Generator[Part, None, None]:
    """What came of all tasks, by so many workers; they are killed when it is closed."""
    waiting: SimpleQueue[Task] = SimpleQueue()
    # Of parts, and of the threads that ended.
    results: SimpleQueue[Part | Future[None]] = SimpleQueue()
    for task in tasks:
        waiting.put(task)
    processes = Processes(seed)
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for _ in range(jobs):
                one = pool.submit(_serve, waiting, results.put, processes)
                one.add_done_callback(results.put)
            yield from _received(results, jobs)
        finally:
            processes.end()


def _received(results: SimpleQueue[Part | Future[None]], jobs: int) -> Iterator[Part]:
    while jobs:
        part = results.get()
        if isinstance(part, Future):
            part.result()
            jobs -= 1
        else:
            yield part


def _serve(waiting: SimpleQueue[Task], tell: Callable[[Part], None], processes: Processes) -> None:
    with suppress(Empty, Ended), closing(Worker(processes)) as worker:
        while True:
            for part in worker.do(waiting.get_nowait()):
                tell(part)


def add(total: dict[str, Any], part: dict[str, Any]) -> None:
    """Counts and lists of `part` are added to those of `total`."""
    for key, value in part.items():
        if isinstance(value, dict):
            add(total.setdefault(key, {}), value)
        else:
            total[key] = total[key] + value if key in total else value


def collected(tasks: Iterable[Task], seed: int, jobs: int) -> dict[str, Any]:
    total: dict[str, Any] = {}
    with closing(done(tasks, seed, jobs)) as parts:
        for part in parts:
            add(total, part)
    return total


# --- options --------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.worker or options.torch or options.call:
        from recording import registered

        with registered():
            _calls(parser, options)
    else:
        _all(options, _files(parser, options))


def _calls(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """What makes calls itself."""
    if options.worker:
        work(options.worker, options.seed)
    elif options.torch:
        name, first, last, whose = options.torch
        _only_torch(name, int(first), int(last), whose, options.seed)
    else:
        _show(*_named_call(parser, *options.call), options.seed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=SEED)
    calls = "made calls, of all functions together; 0: samples alone, and no page"
    parser.add_argument("--calls", type=_from(0), default=200_000, help=calls)
    parser.add_argument("--jobs", type=_from(1), default=2)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--call", nargs=2, metavar=("FUNCTION", "NUMBER"))
    parser.add_argument("--torch", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=REPO / "build/conformance.json")
    parser.add_argument("--page", type=Path, help="docs/conformance.md unless --calls is 0")
    return parser


def _from(least: int) -> Callable[[str], int]:
    """An option's type: a number that is not below `least`."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is below {least}")
        return value

    return number


def _named_call(parser: argparse.ArgumentParser, name: str, number: str) -> tuple[str, int]:
    try:
        value = _from(0)(number)
    except argparse.ArgumentTypeError as error:
        parser.error(f"argument --call: {error}")
    from aten import pairs

    if name not in pairs():
        near = ", ".join(_near(name, list(pairs()))) or "none is near"
        parser.error(f"no function {name!r} (near: {near}); names are as in docs/conformance.md")
    return name, value


def _near(name: str, names: Sequence[str]) -> list[str]:
    last = name.rpartition(".")[2]
    alike = [one for one in names if one.rpartition(".")[2] == last]
    close = get_close_matches(f"torch.{name.removeprefix('torch.')}", names)
    return list(dict.fromkeys([*alike, *close]))[:5]


# --- one call -------------------------------------------------------------------------------------


def _show(name: str, number: int, seed: int) -> None:
    from aten import pairs
    from compare import ended
    from judge import ends, judge
    from made import call

    pair = pairs()[name]
    made = call(pair, seed, number)
    # A call may end the process.
    print(f"{name}{made.text}", flush=True)
    for whose, end in zip(("torch", "ours"), ends(pair, made), strict=True):
        print(f"{whose:6} {ended(end)}")
        if end.error is None:
            print(_printed(end.value))
    print(f"verdict: {_verdict(judge(pair, made))}")


def _printed(value: Any) -> str:
    try:
        text = str(value)
    except Exception as error:
        text = f"not to print: {_raised(error)}"
    text = text if len(text) <= LENGTH else f"{text[:LENGTH]}..."
    return "\n".join(f"       {line}" for line in text.splitlines())


def _verdict(verdict: Any) -> str:
    if verdict.unsure:
        return f"torch's own is not the same each time: {verdict.unsure}"
    if verdict.rule:
        return f"{verdict.difference} ({verdict.rule} of docs/differences.md)"
    return verdict.difference or "alike"


# --- all of them ----------------------------------------------------------------------------------


class Files(NamedTuple):
    json: Path
    page: Path | None


def _files(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Files:
    """Where the results go: known to be writable before the work starts."""
    # A page without calls would say that none succeeds.
    page = options.page or (PAGE if options.calls else None)
    if page is None:
        print("--calls 0: no page is written without --page", file=sys.stderr)
    files = Files(options.json.resolve(), page and page.resolve())
    for path in filter(None, files):
        try:
            _check_writable(path)
        except OSError as error:
            parser.error(f"{path} cannot be written: {error.strerror}")
    return files


def _check_writable(path: Path) -> None:
    # A device would be replaced.
    if path.exists() and not path.is_file():
        raise OSError(None, "it is there, and no file")
    path.parent.mkdir(parents=True, exist_ok=True)
    NamedTemporaryFile(dir=path.parent).close()


def _all(options: argparse.Namespace, files: Files) -> None:
    from aten import pairs
    from page import page, summary

    samples, made = _results(options)
    result = summary(list(pairs()), samples, made, options.seed)
    texts = {files.json: json.dumps(result, indent=1) + "\n"}
    if files.page:
        texts[files.page] = page(result)
    _write(texts)
    print(json.dumps(result["totals"], indent=1))


def _results(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of the samples and of the calls made."""
    from aten import pairs
    from samples import opinfos

    samples = collected((Task("samples", name) for name in opinfos()), options.seed, options.jobs)
    if not options.calls:
        return samples, {}
    each = -(-options.calls // len(pairs()))
    tasks = (Task("made", name, 0, each) for name in pairs())
    return samples, collected(tasks, options.seed, options.jobs)


def _write(texts: Mapping[Path, str]) -> None:
    """All files or none, and none of them half."""
    beside = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in texts}
    try:
        for path, text in texts.items():
            beside[path].write_text(text, encoding="utf-8")
        for path in texts:
            os.replace(beside[path], path)
    finally:
        for unused in beside.values():
            unused.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
