"""The command: exit codes, what it prints where, and that its output depends on its input alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from opbind.cli import main

REPO = Path(__file__).parents[2]

GOOD = """\
library: {namespace: tiny, module: tiny_ops}
functions:
- func: half(Tensor self) -> Tensor
  dispatch: {CPU: half_cpu, Meta: half_meta}
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
"""
BAD = GOOD.replace("Tensor other", "Tenosr other")


def run(*arguments: object, text: bytes | None = None) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, words, input=text, catch_exceptions=False)


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def ops(tmp_path: Path) -> Path:
    path = tmp_path / "ops.yaml"
    path.write_text(GOOD)
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_gen_writes_once(ops: Path, out: Path) -> None:
    first = run("gen", ops, "--out", out)
    assert first.exit_code == 0, first.output
    assert first.stdout == ""
    assert f"created {out / 'tiny_ops/__init__.py'}" in first.stderr
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    second = run("gen", ops, "--out", out)
    assert (second.exit_code, second.output) == (0, "")
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == times


def test_the_output_is_what_was_planned(ops: Path, out: Path) -> None:
    run("gen", ops, "--out", out)
    assert sorted(tree(out)) == [
        "tiny_ops/__init__.py",
        "tiny_ops/__init__.pyi",
        "tiny_ops/py.typed",
        "tiny_ops_functions_0.cpp",
        "tiny_ops_kernels.h",
        "tiny_ops_module.cpp",
        "tiny_ops_register.cpp",
    ]


def test_list_outputs(ops: Path, out: Path) -> None:
    listed = run("gen", ops, "--out", out, "--list-outputs")
    assert listed.exit_code == 0 and not out.exists()
    run("gen", ops, "--out", out)
    assert sorted(listed.stdout.splitlines()) == sorted(str(out / path) for path in tree(out))


def test_dump_plan_needs_no_output_folder(ops: Path) -> None:
    dumped = run("gen", ops, "--dump-plan")
    assert dumped.exit_code == 0
    assert "half" in dumped.stdout and "add" in dumped.stdout


@pytest.mark.parametrize(
    "words",
    [
        "--out o --list-outputs --check",
        "--out o --list-outputs --depfile d",
        "--dump-plan --list-outputs",
        "--dump-plan --check",
        "--dump-plan --depfile d",
        "--dump-plan --out o",
    ],
)
def test_options_that_would_be_ignored(words: str, ops: Path) -> None:
    result = run("gen", ops, *words.split())
    assert result.exit_code == 2 and "cannot be given together" in result.stderr
    assert result.stdout == ""


def test_gen_needs_an_output_folder(ops: Path) -> None:
    result = run("gen", ops)
    assert result.exit_code == 2
    assert "Missing option '--out'" in result.stderr


def test_check_prints_a_diff_and_writes_nothing(ops: Path, out: Path) -> None:
    run("gen", ops, "--out", out)
    fresh = run("gen", ops, "--out", out, "--check")
    assert (fresh.exit_code, fresh.output) == (0, "")
    header = out / "tiny_ops_kernels.h"
    header.write_text(header.read_text() + "// by hand\n")
    before = tree(out)
    stale = run("gen", ops, "--out", out, "--check")
    assert stale.exit_code == 1
    assert "--- a/tiny_ops_kernels.h\n+++ b/tiny_ops_kernels.h\n" in stale.stdout
    assert "\n-// by hand\n" in stale.stdout
    assert "1 generated files are stale" in stale.stderr
    assert tree(out) == before


def test_what_is_no_longer_generated_goes(ops: Path, out: Path) -> None:
    run("gen", ops, "--out", out)
    (out / "mine.cpp").write_text("// mine\n")
    (out / "tiny_ops/py.typed").rename(out / "tiny_ops/old.typed")
    before = tree(out)
    ops.write_text(GOOD.replace("tiny_ops", "tiny_ops, shards: 2"))
    assert run("gen", ops, "--out", out).exit_code == 0
    more = {*before, "tiny_ops/py.typed", "tiny_ops_functions_1.cpp"} - {"tiny_ops/old.typed"}
    assert set(tree(out)) == more
    ops.write_text(GOOD)
    assert run("gen", ops, "--out", out, "--check").exit_code == 1
    assert run("gen", ops, "--out", out).exit_code == 0
    assert set(tree(out)) == more - {"tiny_ops_functions_1.cpp"}


def test_libraries_of_files_of_one_name_keep_their_files(tmp_path: Path, out: Path) -> None:
    for module in ("aa_ops", "bb_ops"):
        (tmp_path / module).mkdir()
        (tmp_path / module / "ops.yaml").write_text(GOOD.replace("tiny_ops", module))
    run("gen", tmp_path / "aa_ops/ops.yaml", "--out", out)
    first = tree(out)
    run("gen", tmp_path / "bb_ops/ops.yaml", "--out", out)
    both = tree(out)
    assert len(both) == 2 * len(first) and first.items() < both.items()
    # The same library a second time, in a folder above.
    run("gen", tmp_path / "aa_ops/ops.yaml", "--out", tmp_path)
    assert tree(out) == both


@pytest.mark.parametrize("name", ["", __file__])
def test_an_output_that_is_no_folder_is_a_usage_error(name: str, ops: Path) -> None:
    result = run("gen", ops, "--out", name)
    assert result.exit_code == 2 and "Invalid value for '--out'" in result.stderr
    assert sorted(ops.parent.iterdir()) == [ops]


def test_bad_input_says_where_and_writes_nothing(tmp_path: Path, ops: Path, out: Path) -> None:
    ops.write_text(BAD)
    for options in (["--out", out], ["--out", out, "--check"], ["--dump-plan"]):
        result = run("gen", ops, *options)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert f"{ops}:5:" in result.stderr and ": error: " in result.stderr
        assert result.stderr.rstrip("\n").splitlines()[-1].strip() == "^"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ops.yaml"]


def test_input_that_is_no_text(ops: Path, out: Path) -> None:
    ops.write_bytes(GOOD.encode() + b"# \xff\n")
    result = run("gen", ops, "--out", out)
    assert result.exit_code == 2
    head = f"{ops}:6:3: error: byte 0xff is no UTF-8; save the file as UTF-8"
    assert result.stderr == f"{head}\n  # \ufffd\n    ^\n"


def test_input_that_is_not_there(tmp_path: Path, out: Path) -> None:
    result = run("gen", tmp_path / "no.yaml", "--out", out)
    assert result.exit_code == 2 and "does not exist" in result.stderr


def test_an_output_folder_that_cannot_be(ops: Path) -> None:
    result = run("gen", ops, "--out", ops.parent / "ops.yaml" / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith("opbind: cannot write ")


def test_a_file_of_deprecated_signatures(ops: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.yaml"
    old.write_text("- name: f(Tensor b, Tensor a) -> Tensor\n  aten: f(a, b)\n")
    ops.write_text("- func: f(Tensor a, Tensor b) -> Tensor\n")
    result = run("gen", ops, "--deprecated", old, "--dump-plan")
    assert result.exit_code == 0, result.output
    assert "[1] f(Tensor b, Tensor a) -> Tensor, deprecated\n" in result.stdout
    written = run("gen", ops, "--deprecated", old, "--out", tmp_path / "out")
    assert written.exit_code == 0, written.output
    (shard,) = (tmp_path / "out").glob("*_functions_0.cpp")
    assert ".deprecated = true" in shard.read_text()


def test_only_some_functions(ops: Path, out: Path) -> None:
    result = run("gen", ops, "--only", "a*", "--out", out)
    assert result.exit_code == 0, result.output
    shard = tree(out)["tiny_ops_functions_0.cpp"].decode()
    assert "THPVariable_add" in shard and "THPVariable_half" not in shard
    # What is registered stays: other code may call it.
    assert "half_cpu" in tree(out)["tiny_ops_kernels.h"].decode()
    both = run("gen", ops, "--only", "add", "--only", "ha*", "--dump-plan")
    assert both.stdout == run("gen", ops, "--dump-plan").stdout


def test_a_pattern_that_no_function_has(ops: Path, out: Path) -> None:
    result = run("gen", ops, "--only", "adds", "--out", out)
    assert result.exit_code == 2 and not out.exists()
    assert "no function has a name like 'adds'; did you mean 'add'?" in result.stderr


def test_shards_by_the_command(ops: Path, out: Path) -> None:
    assert run("gen", ops, "--shards", "3", "--out", out).exit_code == 0
    assert [f"tiny_ops_functions_{i}.cpp" in tree(out) for i in range(4)] == [True] * 3 + [False]
    assert run("gen", ops, "--shards", "0", "--out", out).exit_code == 2
    # Again without: the input's own word counts.
    assert run("gen", ops, "--out", out).exit_code == 0
    assert "tiny_ops_functions_1.cpp" not in tree(out)


def test_ops_are_no_deprecated_signatures(ops: Path) -> None:
    ops.write_text("- func: f(Tensor a) -> Tensor\n")
    result = run("gen", ops, "--deprecated", ops, "--dump-plan")
    assert result.exit_code == 2
    assert "a file of deprecated signatures holds an op" in result.stderr


def test_depfile(ops: Path, out: Path, tmp_path: Path) -> None:
    depfile = tmp_path / "gen.d"
    assert run("gen", ops, "--out", out, "--depfile", depfile).exit_code == 0
    outputs, inputs = depfile.read_text().split(": ")
    assert outputs.split() == run("gen", ops, "--out", out, "--list-outputs").stdout.split()
    assert str(ops) in inputs.split()
    names = {Path(path).name for path in inputs.split()}
    assert {"cli.py", "typemap.py", "order.py"} <= names
    assert any(name.endswith(".j2") for name in names)
    assert all(Path(path).exists() for path in inputs.split())


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        (b"caf\xe9.yaml", "caf\ufffd.yaml"),
        ("caf\xe9.yaml".encode(), "caf\xe9.yaml"),
        (b"a\nb", "a\ufffdb"),
    ],
)
def test_a_file_name_of_any_bytes(name: bytes, spelled: str, ops: Path, tmp_path: Path) -> None:
    odd = ops.rename(tmp_path / os.fsdecode(name))
    out = tmp_path / os.fsdecode(b"out\xe9")
    assert run("gen", odd, "--out", out).exit_code == 0
    for text in tree(out).values():
        assert f"generated by opbind from {spelled} for tiny_ops with ".encode() in text
    left = out / "tiny_ops/old.cpp"
    left.write_bytes(tree(out)["tiny_ops_module.cpp"])
    assert run("gen", odd, "--out", out).exit_code == 0 and not left.exists()
    listed = run("gen", odd, "--out", out, "--list-outputs").stdout_bytes
    assert bytes(out / "tiny_ops_module.cpp") in listed.splitlines()


def test_a_depfile_keeps_the_bytes_of_paths(ops: Path, out: Path, tmp_path: Path) -> None:
    odd = ops.rename(tmp_path / os.fsdecode(b"caf\xe9.yaml"))
    assert run("gen", odd, "--out", out, "--depfile", tmp_path / "gen.d").exit_code == 0
    assert bytes(odd) in (tmp_path / "gen.d").read_bytes().split()


@pytest.mark.parametrize(
    ("depfile", "what"),
    [
        ("ops.yaml", "input"),
        ("link", "input"),
        ("out/tiny_ops_module.cpp", "output"),
        ("out/../out/tiny_ops_module.cpp/gen.d", "output"),
        ("out", "output"),
    ],
)
def test_a_depfile_replaces_no_input_or_output(
    depfile: str, what: str, ops: Path, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(ops)
    before = tree(tmp_path)
    result = run("gen", ops, "--out", out, "--depfile", tmp_path / depfile)
    assert result.exit_code == 2 and f"is in the place of the {what} '" in result.stderr
    assert tree(tmp_path) == before and not out.exists()


def test_a_depfile_that_cannot_be_written(ops: Path, out: Path, tmp_path: Path) -> None:
    old = tmp_path / "file"
    old.write_text("")
    result = run("gen", ops, "--out", out, "--depfile", old / "gen.d")
    assert result.exit_code == 2 and result.stderr.startswith("opbind: cannot write ")
    assert not out.exists()


@pytest.mark.parametrize("place", ["out/gen.d", "deps/deep/gen.d"])
def test_a_depfile_in_a_new_folder(place: str, ops: Path, out: Path, tmp_path: Path) -> None:
    assert run("gen", ops, "--out", out, "--depfile", tmp_path / place).exit_code == 0
    assert len(tree(out)) == 7 + (place == "out/gen.d")
    assert (tmp_path / place).read_text().startswith(str(out))


def test_line_ends_and_a_byte_order_mark_do_not_matter(ops: Path, out: Path) -> None:
    run("gen", ops, "--out", out)
    ops.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    result = run("gen", ops, "--out", out, "--check")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("seed", "locale", "from_root"), [("0", "C", True), ("1", "C.UTF-8", False), ("77", "C", False)]
)
def test_the_bytes_depend_on_the_input_alone(
    seed: str, locale: str, from_root: bool, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "opbind", "gen", str(REPO / "ops.yaml"), "--out", "out"]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONUTF8": "0"}
    if from_root:
        command[-1] = str(tmp_path / "out")
    cwd = REPO if from_root else tmp_path
    subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True)
    assert tree(tmp_path / "out") == tree(REPO / "csrc/generated")


SCHEMAS = b"f(Tensor  x,int y = 1)->Tensor\nf(Tensor x, Tensor x) -> ()\nf(Tenosr x) -> ()\n"


def test_schema_prints_the_canonical_form() -> None:
    result = run("schema", "-", text=SCHEMAS)
    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        "f(Tensor x, int y=1) -> Tensor",
        "f(Tensor x, Tensor x) -> ()",
    ]
    assert "-:2:" in result.stderr and "-:3:" in result.stderr


def test_schema_status_has_one_line_for_each(tmp_path: Path) -> None:
    file = tmp_path / "schemas.txt"
    file.write_bytes(SCHEMAS + b"\n\xff(Tensor x) -> ()")
    result = run("schema", file, "--format=status")
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert [line[0] for line in lines] == ["ok", "warn", "error", "error", "error"]
    assert lines[0] == ["ok", "f(Tensor x, int y=1) -> Tensor"]
    assert lines[1][1] == "f(Tensor x, Tensor x) -> ()"
    assert lines[2][1] == "3"
    assert result.stderr == ""


def shell(command: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`command` in bash, with $1 and so on for `arguments`."""
    opbind = f"{sys.executable} -m opbind"
    words = ["bash", "-c", command.replace("opbind", opbind), *("-", *map(str, arguments))]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "words", ["schema $2", "gen $1 --dump-plan", "gen $1 --out o --list-outputs", "reference", "-h"]
)
def test_an_output_that_is_full(words: str, ops: Path, tmp_path: Path) -> None:
    schemas = tmp_path / "schemas"
    schemas.write_text("f(Tensor self) -> Tensor\n")
    done = shell(f"opbind {words} > /dev/full", ops, schemas)
    message = "opbind: cannot write the standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_an_input_that_is_closed() -> None:
    done = shell("opbind schema <&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "opbind: cannot read the standard input: it is closed\n"


def test_an_input_that_cannot_be_read(tmp_path: Path) -> None:
    done = shell('opbind schema 0> "$1"', tmp_path / "empty")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("opbind: cannot read the schemas: ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_left_is_no_news(ops: Path) -> None:
    done = shell('opbind gen "$1" --dump-plan | true; exit ${PIPESTATUS[0]}', ops)
    assert done.returncode in (0, 1) and done.stderr == ""


def test_the_package_is_a_command() -> None:
    command = [sys.executable, "-m", "opbind", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("opbind, version ")
