"""The writer: what it changes, what it leaves alone, and that nothing is half-written."""

from __future__ import annotations

import errno
import os
import resource
import stat
from pathlib import Path
from typing import NamedTuple

import pytest
from opbind import writer
from opbind.writer import BANNER, ChangeKind, WriteError, write, write_text

MARK = f"// {BANNER} from ops.yaml with x.j2\n"


class Rendered(NamedTuple):
    path: str
    text: str


def tree(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()
    }


def kinds(changes: tuple[writer.FileChange, ...]) -> dict[str, ChangeKind]:
    return {change.path: change.kind for change in changes}


def test_creates_folders_and_reports(tmp_path: Path) -> None:
    files = [Rendered("a.cpp", MARK), Rendered("pkg/__init__.py", "x\n")]
    assert kinds(write(files, tmp_path / "o/p")) == dict.fromkeys(
        ["a.cpp", "pkg/__init__.py"], ChangeKind.CREATED
    )
    assert tree(tmp_path / "o/p") == {"a.cpp": MARK, "pkg/__init__.py": "x\n"}


def test_what_is_right_is_not_touched(tmp_path: Path) -> None:
    files = [Rendered("a.cpp", MARK), Rendered("b.cpp", MARK)]
    write(files, tmp_path)
    os.utime(tmp_path / "a.cpp", ns=(1, 1))
    (tmp_path / "b.cpp").write_text("edited")
    assert kinds(write(files, tmp_path)) == {"b.cpp": ChangeKind.UPDATED}
    assert (tmp_path / "a.cpp").stat().st_mtime_ns == 1
    assert write(files, tmp_path) == ()


def test_line_ends_count(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(b"x\r\n")
    assert kinds(write([Rendered("a.cpp", "x\n")], tmp_path)) == {"a.cpp": ChangeKind.UPDATED}
    assert (tmp_path / "a.cpp").read_bytes() == b"x\n"


def test_removes_only_what_the_owner_made(tmp_path: Path) -> None:
    other = MARK.replace("ops.yaml", "ops.yaml2")
    old = [Rendered(path, MARK) for path in ("p/a.cpp", "p/old.cpp", "old.cpp", "q/deep/a.cpp")]
    write([*old, Rendered("b.cpp", MARK)], tmp_path)
    (tmp_path / "p/hand.cpp").write_text("mine")
    (tmp_path / "c.cpp").write_text(other)
    new = [Rendered("b.cpp", MARK), Rendered("p/a.cpp", MARK)]
    changes = write(new, tmp_path, owner=f"{BANNER} from ops.yaml ")
    # A folder that holds no file of this run, q, is not looked at.
    assert kinds(changes) == {"old.cpp": ChangeKind.REMOVED, "p/old.cpp": ChangeKind.REMOVED}
    kept = {"b.cpp": MARK, "p/a.cpp": MARK, "q/deep/a.cpp": MARK}
    assert tree(tmp_path) == {**kept, "c.cpp": other, "p/hand.cpp": "mine"}


def test_check_only_records(tmp_path: Path) -> None:
    write([Rendered("a.cpp", MARK), Rendered("gone.cpp", MARK)], tmp_path)
    before = tree(tmp_path)
    files = [Rendered("a.cpp", MARK + "new\n"), Rendered("e/py.typed", "")]
    changes = write(files, tmp_path, check=True)
    assert tree(tmp_path) == before and not (tmp_path / "e").exists()
    assert "".join(change.diff() for change in changes) == (
        f"--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1,2 @@\n {MARK}+new\n"
        "--- /dev/null\n+++ b/e/py.typed\n"
        f"--- a/gone.cpp\n+++ /dev/null\n@@ -1 +0,0 @@\n-{MARK}"
    )


def test_diff_of_a_text_without_line_end(tmp_path: Path) -> None:
    (change,) = write([Rendered("a", "x\x0cy")], tmp_path, check=True)
    assert change.diff().endswith("@@ -0,0 +1 @@\n+x\x0cy\n\\ No newline at end of file\n")


@pytest.mark.parametrize("path", ["/abs", "../up", "a/../../up", "", ".", "a\\b"])
def test_refuses_paths_outside(path: str, tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="not below the output folder"):
        write([Rendered(path, "x")], tmp_path / "o")
    assert tree(tmp_path) == {}


def test_refuses_a_folder_that_leads_outside(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "o").mkdir()
    (tmp_path / "o/link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match="leads outside"):
        write([Rendered("link/a", "x")], tmp_path / "o")
    assert tree(tmp_path) == {}


def test_refuses_one_path_twice(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match=r"'a/b' is generated twice"):
        write([Rendered("a/b", "x"), Rendered("a//b", "x")], tmp_path)
    assert tree(tmp_path) == {}


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "o/a").symlink_to(tmp_path / "precious")
    write([Rendered("a", "x")], tmp_path / "o")
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "o/a").is_symlink()


def test_a_full_disk_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write([Rendered("a", "old"), Rendered("gone", MARK)], tmp_path)
    stage = writer._stage

    def full(target: Path, text: str) -> Path:
        if target.name == "z":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        return stage(target, text)

    monkeypatch.setattr(writer, "_stage", full)
    with pytest.raises(WriteError, match="No space left on device"):
        write([Rendered("a", "new"), Rendered("n/e/w", "x"), Rendered("z", "x")], tmp_path)
    assert tree(tmp_path) == {"a": "old", "gone": MARK}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "gone"]


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    write([Rendered("a", "old")], tmp_path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(WriteError, match="File too large"):
            write([Rendered("a", "new"), Rendered("b", "x" * 100_000)], tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert tree(tmp_path) == {"a": "old"}


def test_a_file_where_a_folder_is_needed(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("a file")
    with pytest.raises(WriteError, match="cannot write"):
        write([Rendered("b", "x"), Rendered("p/a", "x")], tmp_path)
    assert tree(tmp_path) == {"p": "a file"}


@pytest.mark.parametrize("place", ["link", "link/below"])
def test_a_link_that_leads_nowhere(place: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(WriteError, match=r"/link: it is a link that leads nowhere$"):
        write([Rendered("a", "x")], tmp_path / place)


def test_a_folder_where_a_file_is_needed(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    with pytest.raises(WriteError, match=r"cannot write .*p: "):
        write([Rendered("b", "x"), Rendered("p", "x")], tmp_path)
    assert tree(tmp_path) == {}


def test_permission_denied_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(target: Path, text: str) -> Path:
        raise PermissionError(errno.EACCES, "Permission denied", str(target))

    monkeypatch.setattr(writer, "_stage", denied)
    with pytest.raises(WriteError, match="is the folder read-only"):
        write([Rendered("a", "new")], tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_modes(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write([Rendered("new", "x")], tmp_path)
        (tmp_path / "old").write_text("x")
        (tmp_path / "old").chmod(0o755)
        write([Rendered("new", "x"), Rendered("old", "y")], tmp_path)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o755


def test_write_text_says_whether_it_wrote(tmp_path: Path) -> None:
    assert write_text(tmp_path / "d/a", "x")
    assert not write_text(tmp_path / "d/a", "x")
    assert write_text(tmp_path / "d/a", "y")
    assert tree(tmp_path) == {"d/a": "y"}
