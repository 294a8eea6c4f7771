"""A short part of the fuzzing, the same on every run; `make fuzz` does the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import schema_fuzz
import yaml_fuzz


@pytest.mark.parametrize("seed", [1, 2])
def test_random_schemas(seed: int) -> None:
    results = schema_fuzz.run(3_000, seed)
    assert results["same"] > 800 and results["both refuse"] > 800


@pytest.mark.parametrize("seed", [1, 2])
def test_broken_yaml(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = yaml_fuzz.run(500, seed, tmp_path)
    assert results["good"] > 5 and results["refused"] > 200
