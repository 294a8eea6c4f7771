"""One file, twelve faults: each is reported, once, where it stands."""

from __future__ import annotations

from pathlib import Path

from opbind import loader, parser
from opbind.errors import Diagnostics

PATH = Path(__file__).parent / "cases/twelve_faults/ops.yaml"
# The rule, and the text that starts where the fault is; '^' for a text that ends there.
FAULTS = [
    ("unknown-type", "Tenosr other"),
    ("trailing-comma", ', ) -> Tensor"'),
    ("no-argument-name", ") -> Tensor\n- func: |"),
    ("bad-literal", "1e999"),
    ("bad-token", '"open'),
    ("no-returns", "^six(Tensor self)"),
    ("last-dots", "int last)\n"),
    ("misplaced-alias", "(a!) self) -> ()"),
    ("duplicate-dispatch-key", "CPU: nine_meta"),
    ("unknown-dispatch-key", "CUDDA"),
    ("bad-alias", "self]"),
    ("bad-fake", "fakes.twelve"),
]


def _place(text: str, fragment: str) -> tuple[int, int]:
    mark = fragment.removeprefix("^")
    assert text.count(mark) == 1, fragment
    index = text.index(mark) + (len(mark) if mark != fragment else 0)
    return text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1) + 1


def test_twelve_faults() -> None:
    diagnostics = Diagnostics()
    raw = loader.read_file(PATH, diagnostics)
    assert not diagnostics.items
    parser.parse_file(raw, diagnostics)
    found = [(d.rule, (d.location.line, d.location.column)) for d in diagnostics.sorted()]
    text = PATH.read_text(encoding="utf-8")
    assert found == [(rule, _place(text, fragment)) for rule, fragment in FAULTS]
    assert len(found) == len({rule for rule, _ in found}) == 12
