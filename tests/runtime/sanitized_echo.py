"""Run by `make sanitize` alone: planted faults are reported, so that the sanitizers watch."""

from __future__ import annotations

from types import ModuleType

import pytest
from echo_library import RunPython

REPORTS = {
    "use after free": "ERROR: AddressSanitizer: heap-use-after-free",
    "stale object": "ERROR: AddressSanitizer: heap-use-after-free",
    "out of bounds": "ERROR: AddressSanitizer: heap-buffer-overflow",
    "signed overflow": "runtime error: signed integer overflow",
    "leaked bytes": "ERROR: LeakSanitizer: detected memory leaks",
}


@pytest.mark.parametrize("fault", REPORTS)
def test_a_planted_fault_is_reported(run_python: RunPython, fault: str) -> None:
    done = run_python(f"import echo_ops; echo_ops.plant({fault!r})")
    assert done.returncode != 0
    assert REPORTS[fault] in done.stderr
    assert "dispatch_plant" in done.stderr


def test_without_a_fault_nothing_is_reported(run_python: RunPython) -> None:
    done = run_python("import echo_ops; print(echo_ops.echo_int(1))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_the_library_under_test_is_sanitized(echo: ModuleType) -> None:
    assert echo.sanitizers() == "address, undefined"
