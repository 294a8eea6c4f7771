"""Under `make sanitize`, faults that are planted are reported: so the sanitizers watch."""

from __future__ import annotations

from types import ModuleType

import pytest
from conftest import RunPython

REPORTS = {
    "use after free": "ERROR: AddressSanitizer: heap-use-after-free",
    "stale object": "ERROR: AddressSanitizer: heap-use-after-free",
    "out of bounds": "ERROR: AddressSanitizer: heap-buffer-overflow",
    "signed overflow": "runtime error: signed integer overflow",
    "leaked bytes": "ERROR: LeakSanitizer: detected memory leaks",
}


@pytest.fixture(autouse=True)
def only_sanitized(echo: ModuleType) -> None:
    if not echo.sanitizers():
        pytest.skip("the library is built without sanitizers: make sanitize")


@pytest.mark.parametrize("fault", REPORTS)
def test_a_planted_fault_is_reported(run_python: RunPython, fault: str) -> None:
    done = run_python(f"import echo_ops; echo_ops.plant({fault!r})")
    assert done.returncode != 0
    assert REPORTS[fault] in done.stderr
    # Of a leak there is no more than the innermost frames, which are Python's.
    assert "behaviour.cpp" in done.stderr or fault == "leaked bytes"


def test_without_a_fault_nothing_is_reported(run_python: RunPython) -> None:
    done = run_python("import echo_ops; print(echo_ops.echo_int(1))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
