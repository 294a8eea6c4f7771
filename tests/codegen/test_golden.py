"""Cases by folder: `cases/NAME/ops.yaml`, and what the command makes of it.

- `plan.txt`: what `--dump-plan` prints; there when the input is good;
- `out/...`: the generated files that the case pins, a subset of all;
- `stderr.txt`: the diagnostics: of a bad input, or the warnings of a good one.

A case may instead hold several bad inputs, `NAME.yaml`: faults that each end the reading of a file.

`pytest --update-golden` rewrites these. A new case starts as `ops.yaml` alone, or with empty files
under `out/` for those that it shall pin.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from click.testing import CliRunner
from opbind.cli import main

CASES = Path(__file__).parent / "cases"
NAMES = sorted({path.parent.name for path in CASES.glob("*/*.yaml")})


def _run_all(case: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, dict[str, str]]:
    """As `_run`, of each input; of several only the diagnostics count, and all must be bad."""
    inputs = sorted(path.name for path in case.glob("*.yaml"))
    results = [_run(case, name, out, monkeypatch) for name in inputs]
    if len(results) == 1:
        return results[0]
    assert {code for code, _ in results} == {2}
    return 2, {
        "plan.txt": "",
        "stderr.txt": "".join(texts["stderr.txt"] for _, texts in results),
    }


def _run(
    case: Path, name: str, out: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, dict[str, str]]:
    """Exit code and texts by the path below the case; run there, so that no path shows."""
    monkeypatch.chdir(case)
    dumped = CliRunner().invoke(main, ["gen", name, "--dump-plan"], catch_exceptions=False)
    texts = {"plan.txt": dumped.stdout, "stderr.txt": dumped.stderr}
    if dumped.exit_code == 0:
        made = CliRunner().invoke(main, ["gen", name, "--out", str(out)], catch_exceptions=False)
        if made.exit_code:
            # It can be planned, and not be generated.
            return made.exit_code, {"plan.txt": "", "stderr.txt": made.stderr}
        texts |= {
            f"out/{path.relative_to(out).as_posix()}": path.read_text(encoding="utf-8")
            for path in out.rglob("*")
            if path.is_file()
        }
    return dumped.exit_code, texts


def _compare(case: Path, name: str, actual: str, update: bool) -> str:
    """A unified diff, or ''; with `update` the file is rewritten, or removed for ''."""
    path = case / name
    expected = path.read_text(encoding="utf-8") if path.exists() else ""
    if expected == actual:
        return ""
    if update:
        path.write_text(actual, encoding="utf-8") if actual else path.unlink()
        return ""
    label = f"{case.name}/{name}"
    lines = difflib.unified_diff(
        expected.splitlines(True), actual.splitlines(True), f"expected {label}", f"actual {label}"
    )
    return "".join(lines)


def _expectations(case: Path, code: int, texts: dict[str, str]) -> dict[str, str]:
    """What the case's files must hold, '' where a file must not be."""
    pinned = [p.relative_to(case).as_posix() for p in case.glob("out/**/*") if p.is_file()]
    due = {"plan.txt": texts["plan.txt"] if code == 0 else "", "stderr.txt": texts["stderr.txt"]}
    return due | {path: texts.get(path, "") for path in sorted(pinned)}


@pytest.mark.parametrize("name", NAMES)
def test_case(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    case = CASES / name
    code, texts = _run_all(case, tmp_path / "out", monkeypatch)
    assert code in (0, 2)
    expected = _expectations(case, code, texts)
    diffs = [_compare(case, path, text, update_golden) for path, text in expected.items()]
    if any(diffs):
        command = f"pytest tests/codegen/test_golden.py -k {name} --update-golden"
        pytest.fail("".join(diffs) + f"\nIf that is meant: {command}", pytrace=False)


def test_there_are_cases() -> None:
    assert NAMES
