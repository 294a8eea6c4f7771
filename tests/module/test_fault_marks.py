"""Every row of docs/faults.md has one test, and every such test has its row."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

REPO = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([A-Z]\d+) \|", re.MULTILINE)
MARK = re.compile(r'^@pytest\.mark\.fault\("(\w+)"\)\n', re.MULTILINE)


def test_each_fault_has_one_test() -> None:
    rows = ROW.findall((REPO / "docs/faults.md").read_text())
    assert len(rows) == len(set(rows)) == 21
    tests = (path.read_text() for path in sorted((REPO / "tests").rglob("test_*.py")))
    marks = Counter(mark for text in tests for mark in MARK.findall(text))
    assert marks == Counter(rows)
