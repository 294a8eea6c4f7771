"""Every row of these tables has one test, and every such test has its row."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([A-Z]\d+) \|", re.MULTILINE)


@pytest.mark.parametrize(
    ("mark", "table", "count"), [("fault", "faults.md", 21), ("difference", "differences.md", 26)]
)
def test_each_row_has_one_test(mark: str, table: str, count: int) -> None:
    rows = ROW.findall((REPO / "docs" / table).read_text())
    assert len(rows) == len(set(rows)) == count
    marked = re.compile(rf'^@pytest\.mark\.{mark}\("(\w+)"\)\n', re.MULTILINE)
    tests = (path.read_text() for path in sorted((REPO / "tests").rglob("test_*.py")))
    assert Counter(one for text in tests for one in marked.findall(text)) == Counter(rows)
