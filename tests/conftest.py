"""Options and fixtures that all tests share."""

from __future__ import annotations

import os
import signal

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the expected files of tests/codegen/cases from what the generator makes now",
    )


def pytest_configure() -> None:
    """Lets tests interrupt programs: a shell starts its background jobs with SIGINT ignored, and
    whatever they start inherits that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to rewrite expectations; never where nobody reads the diff."""
    update = bool(request.config.getoption("--update-golden"))
    if update and os.environ.get("CI"):
        pytest.fail("--update-golden is refused where CI is set: rewrite, read and commit by hand")
    return update
