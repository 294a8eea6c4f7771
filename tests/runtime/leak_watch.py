"""A plugin of pytest for `make sanitize`: leaks are looked for in tests alone.

What Python, NumPy and pytest take while they are imported, and keep, is nobody's fault here. A
suppression would have to name where it was taken, which only a slow unwinder finds in Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator

import pytest

# The sanitizer's library is loaded before Python.
_PROGRAM = ctypes.CDLL(None)

_PROGRAM["__lsan_disable"]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Of a test, its fixtures included."""
    _PROGRAM["__lsan_enable"]()
    try:
        return (yield)
    finally:
        _PROGRAM["__lsan_disable"]()
