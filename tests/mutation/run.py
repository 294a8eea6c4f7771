"""Changes single lines of the runtime at random, and tells which changes no test notices.

    .venv/bin/python tests/mutation/run.py --seed 7 --count 40 --out build/mutation.json
    .venv/bin/python tests/mutation/run.py --again build/mutation.json    those that survived

Without --seed it is another one each time.

Each change is made in a copy of the checkout, built and tested: core first by what runs without
torch (tests/runtime), then by the module's tests; the torch host by these alone. One that does not
compile, or that the compiler makes the same code of, says nothing and is replaced by the next.
Seconds to minutes for each.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

REPO = Path(__file__).parents[2]
TREE = REPO / "build/mutation/tree"
RUNTIME = "csrc/runtime"
# What a change of a folder must make red, the quick ones first.
SUITES = {
    "core": {"core": ["tests/runtime"], "module": ["tests/module"]},
    "torch": {"module": ["tests/module"]},
}
TIMEOUT = 900


@dataclass(frozen=True)
class Change:
    """One line of one file, changed."""

    path: str
    line: int
    kind: str
    before: str
    after: str


@dataclass(frozen=True)
class Result:
    change: Change
    # 'killed', 'survived', 'unbuildable', or 'equivalent'.
    outcome: str
    # The suite that noticed.
    suite: str
    seconds: float


# --- changes --------------------------------------------------------------------------------------


def _swap(pattern: str, replacement: str) -> Callable[[str], str]:
    return lambda line: re.sub(pattern, replacement, line, count=1)


# Kind -> what it makes of a line; the line itself where it does not apply.
KINDS: dict[str, tuple[Callable[[str], str], ...]] = {
    "negated condition": (
        _swap(r"\bif \((?!!)(.+)\) (\[\[\w+\]\] )?\{$", r"if (!(\1)) \2{"),
        _swap(r"\bwhile \((.+)\) \{$", r"while (!(\1)) {"),
        _swap(r" == (?!0\b)", " != "),
        _swap(r" != ", " == "),
        _swap(r"return true;", "return false;"),
        _swap(r"return false;", "return true;"),
        _swap(r" && ", " || "),
        _swap(r" \|\| ", " && "),
    ),
    # `a.b(…);` alone on a line, or a reference count.
    "dropped call": (_swap(r"^(\s+)(?!return\b|throw\b)[\w:.>-]+\(.*\);$", r"\1;"),),
    "off by one": (
        _swap(r" < ", " <= "),
        _swap(r" > ", " >= "),
        _swap(r" >= ", " > "),
        _swap(r" <= ", " < "),
        _swap(r" \+ 1\b", " + 2"),
        _swap(r" - 1\b", ""),
        _swap(r"= 0;", "= 1;"),
        _swap(r"= -1;", "= 0;"),
        _swap(r"== 0\b", "== 1"),
    ),
}

# Comments, preprocessor, includes, templates' heads and asserts hold no behaviour.
_STILL = re.compile(r"^\s*(//|#|///|template\b|using\b|static_assert\b|namespace\b|}|$)")


def changes(rng: random.Random) -> Iterator[Change]:
    """All changes there are, in a random order; the kinds equally often."""
    found = {kind: list(_of_kind(kind)) for kind in KINDS}
    for one in found.values():
        rng.shuffle(one)
    while any(found.values()):
        kind = rng.choice([k for k in found if found[k]])
        yield found[kind].pop()


def _of_kind(kind: str) -> Iterator[Change]:
    for path in sorted((REPO / RUNTIME).rglob("*.[ch]*")):
        lines = path.read_text().split("\n")
        for number, line in enumerate(lines, 1):
            if _STILL.match(line):
                continue
            for change in KINDS[kind]:
                after = change(line)
                if after != line:
                    yield Change(str(path.relative_to(REPO)), number, kind, line, after)


def survivors(results: Path) -> Iterator[Change]:
    """Of an earlier run, where their lines are now; one that is gone is left out."""
    for result in json.loads(results.read_text()):
        change = Change(**result["change"])
        if result["outcome"] == "survived":
            lines = (REPO / change.path).read_text().split("\n")
            yield from (
                replace(change, line=number)
                for number, line in enumerate(lines, 1)
                if line == change.before and abs(number - change.line) < 20
            )


# --- trying one -----------------------------------------------------------------------------------


def prepare() -> None:
    """A copy of what git knows of, with the virtual environment and what is built already."""
    TREE.parent.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPO, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        source, target = REPO / name, TREE / name
        is_there = target.exists() and filecmp.cmp(source, target, shallow=False)
        if source.is_file() and not is_there:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    if not (TREE / ".venv").exists():
        (TREE / ".venv").symlink_to(REPO / ".venv")


def attempt(change: Change, unchanged: dict[Path, str]) -> Result:
    started = time.monotonic()
    path = TREE / change.path
    original = path.read_text()
    lines = original.split("\n")
    lines[change.line - 1] = change.after
    code = machine_code(path)
    path.write_text("\n".join(lines))
    try:
        if code is not None and machine_code(path) == code:
            outcome, suite = "equivalent", ""
        else:
            outcome, suite = judge(SUITES[path.parent.name])
            if outcome == "survived" and objects() == unchanged:
                outcome = "equivalent"
    finally:
        path.write_text(original)
    return Result(change, outcome, suite, round(time.monotonic() - started, 1))


def machine_code(path: Path) -> bytes | None:
    """The object of a source as the example library has it; None of a header, or if it fails."""
    commands = json.loads((TREE / "build/demo/compile_commands.json").read_text())
    words = next((shlex.split(c["command"]) for c in commands if c["file"] == str(path)), [])
    if not words:
        return None
    with tempfile.NamedTemporaryFile(suffix=".o") as out:
        words[words.index("-o") + 1] = out.name
        done = subprocess.run(words, cwd=TREE / "build/demo", capture_output=True)
        return Path(out.name).read_bytes() if done.returncode == 0 else None


def objects() -> dict[Path, str]:
    """The digests of all that the tests have built: what a change of a header leaves as it was."""
    built = (TREE / "build").rglob("*.o")
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in built}


def judge(suites: Mapping[str, list[str]]) -> tuple[str, str]:
    for name, tests in suites.items():
        if name == "module" and not demo_builds():
            return "unbuildable", name
        done = _run([sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests])
        if done is None or done.returncode != 0:
            text = "" if done is None else done.stdout
            return ("unbuildable" if "does not compile" in text else "killed"), name
    return "survived", ""


def demo_builds() -> bool:
    kernels = sorted((TREE / "csrc/kernels").glob("*.[cp][py]*"))
    words = ["build", "ops.yaml", "--out", "csrc/generated", "--build-dir", "build/demo"]
    done = _run([sys.executable, "-m", "opbind", *words, *map(str, kernels)])
    return done is not None and done.returncode == 0


def _run(command: list[str]) -> subprocess.CompletedProcess[str] | None:
    """None when it takes too long: a change that makes a call hang is noticed."""
    try:
        return subprocess.run(
            command,
            cwd=TREE,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
            env={**os.environ, "PYTHONPATH": str(TREE / "codegen")},
        )
    except subprocess.TimeoutExpired:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--again", type=Path, help="an earlier run, whose survivors are tried")
    parser.add_argument("--out", type=Path, default=REPO / "build/mutation.json")
    arguments = parser.parse_args()
    again: Path | None = arguments.again
    chosen = survivors(again) if again else changes(random.Random(arguments.seed))
    print("survivors" if again else f"seed {arguments.seed}", flush=True)
    prepare()
    baseline, suite = judge(SUITES["core"])
    if baseline != "survived":
        sys.exit(f"without any change: {baseline} in {suite}")
    unchanged = objects()
    results: list[Result] = []
    for change in chosen:
        result = attempt(change, unchanged)
        print(_line(result), flush=True)
        results.append(result)
        counted = [r for r in results if r.outcome in ("killed", "survived")]
        if len(counted) == arguments.count:
            break
    killed = sum(r.outcome == "killed" for r in counted)
    arguments.out.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")
    print(f"{killed} of {len(counted)} changes turn a test red")


def _line(result: Result) -> str:
    change = result.change
    head = f"{result.outcome} {result.suite} {result.seconds}s {change.path}:{change.line}"
    return f"{head} ({change.kind})\n  - {change.before.strip()}\n  + {change.after.strip()}"


if __name__ == "__main__":
    main()
