"""Options and fixtures that all tests share."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the expected files of tests/codegen/cases from what the generator makes now",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to rewrite expectations; never where nobody reads the diff."""
    update = bool(request.config.getoption("--update-golden"))
    if update and os.environ.get("CI"):
        pytest.fail("--update-golden is refused where CI is set: rewrite, read and commit by hand")
    return update
