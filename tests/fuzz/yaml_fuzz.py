"""Broken YAML files through the command: diagnostics with places, and never anything else."""

from __future__ import annotations

import importlib.util
import random
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner, Result
from opbind.cli import main
from schema_samples import SchemaMaker

REPO = Path(__file__).parents[2]
SECONDS = 5

_HEAD = re.compile(r"ops\.yaml(:\d+(:\d+)?)?: (error|warning): \S")
_HEAD_WITH_PLACE = re.compile(r"ops\.yaml:\d+(:\d+)?: ")
# Pieces that mean something to YAML, to the keys or to a schema.
_PIECES = (
    *(
        "&a ",
        "*a",
        "!!int ",
        "!x ",
        "<<: ",
        "? ",
        "- ",
        ": ",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "# ",
    ),
    *("|\n", ">-\n", "|2\n", "'", '"', "''", "[", "]", "{", "}", ",", "[[[[[[[[[[", "{a: {b: {c: "),
    *(
        "~",
        "null",
        "yes",
        "0x1F",
        "12:30",
        "1e999",
        "\t",
        "\x00",
        "\x07",
        "\x85",
        "\u2028",
        "\ufeff",
    ),
    *(
        "\r",
        "\r\n",
        "é",
        "\U0001f600",
        "\ud7ff",
        "%s",
        "{{ x }}",
        "*/",
        "??/",
        "\\",
        "\\x",
        "\\uD800",
    ),
    *("func", "dispatch", "library:\n", "functions:\n", "deprecated:\n", "- func: f() -> ()\n"),
    *("- name: f() -> ()\n", "- tag: x\n", "gil: hold", "CPU", "Tensor(a!)", "int x=1", "-> ", "_"),
    *("x" * 10_000, " " * 3_000, "[" * 2_000, "- " * 500, "9" * 5_000, "int a, " * 300),
)


class Broken(AssertionError):
    """Something other than diagnostics came out."""


class YamlMaker:
    """Mutations of files, from one seed."""

    def __init__(self, seed: int, sources: Sequence[bytes]) -> None:
        self._random = random.Random(seed)
        self._schemas = SchemaMaker(seed)
        self._sources = sources

    def file(self) -> bytes:
        data = self._random.choice(self._sources)
        for _ in range(self._random.choice((1, 1, 1, 2, 3, 8))):
            change = self._random.choice(
                (self._bytes, self._lines, self._lines, self._piece, self._indent, self._schema)
            )
            data = change(data)
        return data

    def _bytes(self, data: bytes) -> bytes:
        start = self._random.randrange(len(data) + 1)
        end = start + self._random.choice((0, 1, 1, 4, 100))
        count = self._random.choice((0, 1, 2))
        return data[:start] + self._random.randbytes(count) + data[end:]

    def _piece(self, data: bytes) -> bytes:
        start = self._random.randrange(len(data) + 1)
        end = start + self._random.choice((0, 0, 1, 3))
        piece = self._random.choice(_PIECES).encode("utf-8", "surrogatepass")
        return data[:start] + piece + data[end:]

    def _lines(self, data: bytes) -> bytes:
        """A line goes, comes twice, moves, or is joined with the next."""
        lines = data.split(b"\n")
        one, other = (self._random.randrange(len(lines)) for _ in range(2))
        match self._random.randrange(4):
            case 0:
                del lines[one]
            case 1:
                lines.insert(other, lines[one])
            case 2:
                lines[one], lines[other] = lines[other], lines[one]
            case _:
                lines[one : one + 2] = [b" ".join(lines[one : one + 2])]
        return b"\n".join(lines)

    def _indent(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        index = self._random.randrange(len(lines))
        lead = self._random.choice((b"", b" ", b"    ", b"\t", b"- ", b"? "))
        lines[index] = lead + lines[index].lstrip(b" ")
        return b"\n".join(lines)

    def _schema(self, data: bytes) -> bytes:
        """Another schema for one entry."""
        places = [m.span(1) for m in re.finditer(rb"func: (.*)", data)]
        if not places:
            return data
        start, end = self._random.choice(places)
        text = self._schemas.schema()
        if self._random.random() < 0.5:
            text = self._schemas.mutated(text)
        if self._random.random() < 0.3:
            text = f'"{text}"'
        return data[:start] + text.encode("utf-8", "surrogatepass") + data[end:]


def sources() -> list[bytes]:
    """Our own files, the golden cases, and torch's file in parts."""
    files = [REPO / "ops.yaml", *sorted((REPO / "tests/codegen/cases").glob("*/*.yaml"))]
    found = [path.read_bytes() for path in files]
    return [*found, *_torch_parts()]


def _torch_parts() -> Iterator[bytes]:
    found = importlib.util.find_spec("torchgen")
    if found is None or found.origin is None:
        return
    folder = Path(found.origin).parent / "packaged"
    for name in ("ATen/native/native_functions.yaml", "autograd/deprecated.yaml"):
        entries = re.split(rb"\n(?=- )", (folder / name).read_bytes())
        for start in range(0, len(entries), 12):
            yield b"\n".join(entries[start : start + 12]) + b"\n"


@contextmanager
def _limit() -> Iterator[None]:
    """An exception when the time is over."""

    def stop(signum: int, frame: object) -> None:
        raise Broken(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def check(data: bytes, folder: Path) -> str:
    """'good' or 'refused'; raises Broken. `folder` is the current one."""
    path, out = folder / "ops.yaml", folder / "out"
    path.write_bytes(data)
    with _limit():
        result = CliRunner().invoke(main, ["gen", "ops.yaml", "--out", "out"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise Broken(f"a traceback: {result.exception!r}") from result.exception
    try:
        _check_result(result, out)
    finally:
        shutil.rmtree(out, ignore_errors=True)
    return "good" if result.exit_code == 0 else "refused"


def _check_result(result: Result, out: Path) -> None:
    if result.stdout:
        raise Broken(f"on stdout: {result.stdout[:200]!r}")
    if result.exit_code == 0:
        _check_output(out, result.stderr)
    elif result.exit_code != 2:
        raise Broken(f"exit code {result.exit_code}")
    elif out.exists():
        raise Broken("bad input, and something was written")
    lines = result.stderr.split("\n")
    heads = [line for line in lines if _HEAD.match(line)]
    if result.exit_code == 2 and not any(": error: " in line for line in heads):
        raise Broken(f"refused without a reason: {result.stderr[:300]!r}")
    for line in lines:
        if not line.startswith(("  ", "created ")) and line and not _HEAD.match(line):
            raise Broken(f"no diagnostic: {line[:200]!r}")
    for line in heads:
        if not _HEAD_WITH_PLACE.match(line):
            raise Broken(f"without a place: {line[:200]!r}")


def _check_output(out: Path, stderr: str) -> None:
    """All or nothing: what is there is what was said to be written, and a whole package."""
    said = {line.removeprefix("created ") for line in stderr.split("\n") if line[:8] == "created "}
    found = {str(path.relative_to(out.parent)) for path in out.rglob("*") if path.is_file()}
    suffixes = {Path(path).suffix for path in found}
    if said != found or not {".cpp", ".h", ".py"} <= suffixes:
        raise Broken(f"partial output: {sorted(said ^ found)}, {sorted(suffixes)}")


def run(count: int, seed: int, folder: Path) -> Counter[str]:
    """`count` files in `folder`, the current one; how many were what, and the slowest's time."""
    maker = YamlMaker(seed, sources())
    results: Counter[str] = Counter()
    slowest = 0.0
    for _ in range(count):
        data = maker.file()
        start = time.perf_counter()
        try:
            results[check(data, folder)] += 1
        except Broken:
            (folder / "broken.yaml").write_bytes(data)
            raise
        slowest = max(slowest, time.perf_counter() - start)
    results["slowest, ms"] = round(slowest * 1000)
    return results
