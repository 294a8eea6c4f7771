"""No path through core leaves anything behind; more calls of each: make leaks."""

from __future__ import annotations

import ctypes
from types import ModuleType

import leaks
import pytest
from echo_leaks import Paths
from leaks import TEXT

CALLS = 400


def test_nothing_is_left(echo: ModuleType, null_host: ModuleType) -> None:
    paths = Paths(echo, null_host)
    assert leaks.faults(paths.all(), paths.watched(), CALLS) == {}


@pytest.mark.parametrize("fault", ["leaked bytes", "leaked list", "leaked C++"])
def test_what_a_kernel_leaves_is_found(echo: ModuleType, fault: str) -> None:
    if echo.sanitizers():
        pytest.skip("the sanitizers count: sanitized_echo.py")
    assert leaks.grown(lambda: echo.plant(fault), {}, CALLS).faults


def test_a_reference_that_is_kept_is_found() -> None:
    keep = ctypes.pythonapi.Py_IncRef
    keep.argtypes = [ctypes.py_object]
    growth = leaks.grown(lambda: keep(TEXT), {"references of a text": TEXT}, CALLS)
    assert growth.faults == [f"+{CALLS} references of a text"]
