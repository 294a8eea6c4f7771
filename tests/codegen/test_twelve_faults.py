"""One file, twelve faults: each is reported, once, where it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from opbind.cli import main

CASE = Path(__file__).parent / "cases/twelve_faults"
# Part of the message, and the text that starts where the fault is; '^' for a text that ends there.
FAULTS = [
    ("unknown type 'Tenosr'", "Tenosr other"),
    ("no argument follows the comma", ', ) -> Tensor"'),
    ("expected the argument's name", ") -> Tensor\n- func: |"),
    ("too large for a float", "1e999"),
    ("the string is not closed", '"open'),
    ("expected '->' and the returns", "^six(Tensor self)"),
    ("unknown key 'despatch'", "despatch"),
    ("gil cannot be 'maybe'", "maybe"),
    ("dispatch key 'CPU' is given twice", "CPU: eight_meta"),
    ("'self' names another argument", "self]"),
    ("1.5 is no default for int", "1.5"),
    ("'self' stands twice", 'Tensor self) -> Tensor", dispatch'),
]


def _place(text: str, fragment: str) -> str:
    mark = fragment.removeprefix("^")
    assert text.count(mark) == 1, fragment
    index = text.index(mark) + (len(mark) if mark != fragment else 0)
    return f"{text.count(chr(10), 0, index) + 1}:{index - text.rfind(chr(10), 0, index)}"


def test_twelve_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASE)
    result = CliRunner().invoke(main, ["gen", "ops.yaml", "--dump-plan"], catch_exceptions=False)
    assert result.exit_code == 2 and result.stdout == ""
    found = re.findall(r"^ops\.yaml:(\d+:\d+): error: (.*)$", result.stderr, re.MULTILINE)
    text = Path("ops.yaml").read_text(encoding="utf-8")
    assert len(found) == len(FAULTS) == 12
    for (place, message), (expected, fragment) in zip(found, FAULTS, strict=True):
        assert expected in message
        assert place == _place(text, fragment), message
