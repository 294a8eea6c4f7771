"""All of torch's functions, built before the first test that calls them."""

from __future__ import annotations

import random

import aten
import pytest


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    aten.built()


@pytest.fixture(scope="session")
def seed() -> int:
    """Another one for each run, and printed with what fails."""
    chosen = random.SystemRandom().randrange(10**6)
    print(f"seed {chosen}")
    return chosen
