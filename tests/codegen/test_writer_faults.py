"""Output that cannot be written: a clear error, and everything as it was. And two at once."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ninja
import pytest
from click.testing import CliRunner, Result
from opbind import writer
from opbind.cli import main
from opbind.writer import BANNER, WriteError, write, write_text

MARK = f"// {BANNER} from ops.yaml with x.j2\n"
OPS = """\
library: {namespace: tiny, module: tiny_ops, shards: 3}
functions:
- func: half(Tensor self) -> Tensor
  dispatch: {CPU: half_cpu, Meta: half_meta}
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
"""
NOBODY = 65534


class Rendered(NamedTuple):
    path: str
    text: str


def tree(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()
    }


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture
def ops(tmp_path: Path) -> Path:
    path = tmp_path / "ops.yaml"
    path.write_text(OPS)
    return path


@pytest.fixture
def plain_user() -> Iterator[Path]:
    """A folder whose permissions count, for the time of a test: root is let in everywhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)
            for path in (folder, *folder.rglob("*")):
                if path.is_dir():
                    path.chmod(0o700)


# ---------------------------------------------------------------- permissions


def test_a_read_only_folder(plain_user: Path) -> None:
    (plain_user / "a").write_text("old")
    plain_user.chmod(0o500)
    with pytest.raises(WriteError, match="permission denied; is the folder read-only"):
        write([Rendered("a", "new"), Rendered("b", "x")], plain_user)
    assert tree(plain_user) == {"a": "old"}


def test_a_folder_that_cannot_be_made(plain_user: Path) -> None:
    plain_user.chmod(0o500)
    with pytest.raises(WriteError, match="permission denied"):
        write([Rendered("a", "x")], plain_user / "out/deep")
    assert tree(plain_user) == {}


def test_a_read_only_folder_below(plain_user: Path) -> None:
    kept = Rendered("pkg/kept", MARK)
    write([Rendered("a", "old"), Rendered("pkg/b", MARK), kept], plain_user)
    (plain_user / "pkg").chmod(0o500)
    for files in ([kept, Rendered("pkg/b", "new")], [kept, Rendered("a", "new")]):
        # The second removes what it no longer makes.
        with pytest.raises(WriteError, match=r"pkg/.*permission denied"):
            write(files, plain_user)
        assert tree(plain_user) == {"a": "old", "pkg/b": MARK, "pkg/kept": MARK}


def test_check_needs_no_permission_to_write(plain_user: Path) -> None:
    write([Rendered("a", "old")], plain_user)
    plain_user.chmod(0o500)
    assert len(write([Rendered("a", "new")], plain_user, check=True)) == 1
    assert write([Rendered("a", "old")], plain_user) == ()


# ---------------------------------------------------------------- a full disk


def test_a_full_disk(ops: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk's end: writing fails half way in a file."""
    out = tmp_path / "out"
    assert run("gen", ops, "--out", out).exit_code == 0
    before = tree(out)
    ops.write_text(OPS.replace("half", "quarter"))
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900));"
        "from opbind.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "gen", str(ops), "--out", str(out)]
    # Python would write its caches under the same limit.
    result = subprocess.run([*command[:1], "-B", *command[1:]], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("opbind: cannot write ") and "too large" in result.stderr
    assert tree(out) == before


def test_a_small_disk(ops: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no permission to mount a file system")
    try:
        result = run("gen", ops, "--out", disk / "out")
        assert result.exit_code == 2 and "No space left on device" in result.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_step_that_fails_is_undone(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write([Rendered("a", "old"), Rendered("gone", MARK), Rendered("c", "old")], tmp_path)
    before = tree(tmp_path)
    replace, calls = os.replace, iter(range(1, 100))

    def fails_once(source: Path, target: Path) -> None:
        if next(calls) == step:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails_once)
    files = [Rendered("a", "new"), Rendered("b/new", "x"), Rendered("c", "new")]
    with pytest.raises(WriteError, match="Input/output error"):
        write(files, tmp_path)
    assert tree(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "c", "gone"]


def test_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write([Rendered("a", "old")], tmp_path)
    write([Rendered("a", "new")], tmp_path)
    assert tree(tmp_path) == {"a": "new"}


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    write([Rendered("a", MARK)], tmp_path)
    left = writer._beside(tmp_path / "a")
    left.write_text(MARK)
    write([Rendered("a", MARK)], tmp_path)
    assert tree(tmp_path) == {"a": MARK}


# ---------------------------------------------------------------- odd places


def test_an_output_folder_that_is_a_file(ops: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    result = run("gen", ops, "--out", tmp_path / "out")
    assert result.exit_code == 2 and "is a file" in result.stderr
    with pytest.raises(WriteError, match="cannot write"):
        write([Rendered("a", "x")], tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_an_output_folder_behind_a_link(ops: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    assert run("gen", ops, "--out", tmp_path / "out").exit_code == 0
    assert (tmp_path / "real/tiny_ops/__init__.py").exists()
    assert (tmp_path / "out").is_symlink()
    assert run("gen", ops, "--out", tmp_path / "out", "--check").exit_code == 0


def test_a_link_to_nowhere(ops: Path, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("nowhere")
    result = run("gen", ops, "--out", tmp_path / "out")
    assert result.exit_code == 2 and result.stderr.startswith("opbind: cannot write ")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("check", [False, True])
def test_a_pipe_in_the_place_of_a_file(check: bool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    with pytest.raises(WriteError, match="it is no regular file"):
        write([Rendered("a", "x")], tmp_path, check)


@pytest.mark.parametrize("check", [False, True])
def test_a_folder_in_the_place_of_a_file(check: bool, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(WriteError, match="there is a folder of this name"):
        write([Rendered("a", "x")], tmp_path, check)


def test_devices_are_left_alone(ops: Path, tmp_path: Path) -> None:
    before = [os.lstat(path).st_ino for path in ("/dev/null", "/dev/full", "/dev/stdout")]
    for device in ("/dev/null", "/dev/full"):
        with pytest.raises(WriteError, match="it is no regular file"):
            write_text(Path(device), "x")
    result = run("gen", ops, "--out", tmp_path / "out", "--depfile", "/dev/null")
    assert result.exit_code == 2 and "it is no regular file" in result.stderr
    after = [os.lstat(path).st_ino for path in ("/dev/null", "/dev/full", "/dev/stdout")]
    assert before == after


def test_a_text_goes_where_its_link_leads(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"


# ---------------------------------------------------------------- shards


def test_fewer_shards_leave_no_files_behind(ops: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("gen", ops, "--out", out)
    assert len(list(out.glob("tiny_ops_functions_*.cpp"))) == 3
    ops.write_text(OPS.replace("shards: 3", "shards: 2"))
    assert run("gen", ops, "--out", out, "--check").exit_code == 1
    result = run("gen", ops, "--out", out)
    assert f"removed {out / 'tiny_ops_functions_2.cpp'}" in result.stderr
    listed = run("gen", ops, "--out", out, "--list-outputs").stdout.split()
    assert sorted(listed) == sorted(str(out / path) for path in tree(out))


# ---------------------------------------------------------------- other build systems


ODD_FOLDERS = ["plain", "a b", "c#d", "$e", "f:g", "h\\i", "j\\ k", "ä", "50%", "l\\%m"]


@pytest.mark.parametrize("name", ODD_FOLDERS)
def test_make_reads_the_depfile(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "ops.yaml").write_text(OPS)
    out = folder / "out"
    assert (
        run("gen", folder / "ops.yaml", "--out", out, "--depfile", tmp_path / "gen.d").exit_code
        == 0
    )
    # A rule of this kind needs every input, and makes the outputs that are older than one.
    rule = (tmp_path / "gen.d").read_text().rstrip("\n")
    (tmp_path / "Makefile").write_text(f"all: made\n{rule} ; @echo made $(words $^) >> made\n")
    target = str(out / "tiny_ops_module.cpp")
    command = ["make", "-f", "Makefile", target]
    os.utime(folder / "ops.yaml", (time.time() + 10,) * 2)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "made").read_text().startswith("made ")
    # Nothing is newer now but the outputs.
    for path in (*out.rglob("*"), out / "tiny_ops_module.cpp"):
        os.utime(path, (time.time() + 20,) * 2)
    again = subprocess.run([*command, "-q"], cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_depfile_has_no_word_for_a_line_end(ops: Path, tmp_path: Path) -> None:
    out = tmp_path / "a\nb"
    result = run("gen", ops, "--out", out, "--depfile", tmp_path / "gen.d")
    assert result.exit_code == 2
    assert "a depfile cannot name" in result.stderr and "a\\nb" in result.stderr
    assert not out.exists() and not (tmp_path / "gen.d").exists()


@pytest.mark.parametrize("name", ODD_FOLDERS)
def test_ninja_reads_the_depfile(name: str, tmp_path: Path) -> None:
    """A file that the depfile names is looked at: a newer YAML runs the rule again."""
    folder = tmp_path / name
    folder.mkdir()
    (folder / "ops.yaml").write_text(OPS)
    gen = ["gen", "ops.yaml", "--out", "out", "--depfile=gen.d"]
    script = f"from opbind.cli import main; import os; os.chdir({str(tmp_path)!r}); main()"
    (tmp_path / "run.py").write_text(script)
    gen[1] = shlex.quote(f"{name}/ops.yaml").replace("$", "$$")
    (tmp_path / "build.ninja").write_text(
        f"rule gen\n  command = {sys.executable} run.py {' '.join(gen)}\n"
        "  depfile = gen.d\n  deps = gcc\n"
        "build out/tiny_ops_module.cpp: gen\n"
    )
    program = Path(ninja.BIN_DIR) / "ninja"

    def ran(*options: str) -> str:
        done = subprocess.run([program, *options], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "[1/1]" in ran() and "no work to do" in ran("-n")
    os.utime(folder / "ops.yaml", (time.time() + 10,) * 2)
    assert "[1/1]" in ran("-n")


# ---------------------------------------------------------------- two at once


def _start(ops: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "opbind", "gen", str(ops), "--out", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_at_once(ops: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    other = tmp_path / "two/ops.yaml"
    other.parent.mkdir()
    other.write_text(OPS.replace("half", "third"))
    whole = []
    for path in (ops, other):
        assert run("gen", path, "--out", tmp_path / "alone").exit_code == 0
        whole.append(tree(tmp_path / "alone"))
    for _ in range(3):
        running = [_start(path, out) for path in (ops, other, ops, other)]
        for process in running:
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
        assert tree(out) in whole


def test_a_lock_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_WAIT_SECONDS", 0.2)
    write([Rendered("a", "old")], tmp_path)
    with writer._locked(tmp_path, shared=False):
        for check in (False, True):
            with pytest.raises(WriteError, match=r"another process .* for 0.2 s"):
                write([Rendered("a", "new")], tmp_path, check)
    with writer._locked(tmp_path, shared=True):
        assert len(write([Rendered("a", "new")], tmp_path, check=True)) == 1
        with pytest.raises(WriteError, match="another process"):
            write([Rendered("a", "new")], tmp_path)
    assert tree(tmp_path) == {"a": "old"}
    write([Rendered("a", "new")], tmp_path)


def test_a_folder_made_anew_while_waiting(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    code = (
        "import fcntl, os, sys, time; f = os.open(sys.argv[1], os.O_RDONLY);"
        "fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(0.5);"
        "os.rmdir(sys.argv[1])"
    )
    command = [sys.executable, "-c", code, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        write([Rendered("a", "x")], out)
    assert tree(out) == {"a": "x"}


def test_a_process_that_is_killed_holds_nothing(ops: Path, tmp_path: Path) -> None:
    """Killed at any time: each file is whole, and the next run makes everything right."""
    out = tmp_path / "out"
    for delay in (0.1, 0.2, 0.3, 0.4):
        process = _start(ops, out)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    result = run("gen", ops, "--out", out)
    assert result.exit_code == 0
    assert run("gen", ops, "--out", out, "--check").exit_code == 0
    assert not list(out.rglob("*.tmp"))
