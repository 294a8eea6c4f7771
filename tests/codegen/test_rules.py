"""Every rule has a golden case that shows its diagnostic, and none is unheard of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from opbind import loader, parser, plan, reader, verify
from opbind.errors import Diagnostics

REPO = Path(__file__).parents[2]
PACKAGE = REPO / "codegen/opbind"
CASES = Path(__file__).parent / "cases"
# Stages that name a rule where they report it.
WITHOUT_TABLE = (PACKAGE / "plan/check.py", PACKAGE / "typemap.py", PACKAGE / "verify.py")
# What no case can show, and why.
NOT_IN_CASES = {
    "unreadable-file": "a folder's permissions are not in the repository; test_loader makes one",
    "default-order": "of a file planning says it, as required-after-default; test_parser has one",
    "unreachable-overload": "a guard: overloads are put in an order that hides none",
}


def _named_in(path: Path) -> Iterator[str]:
    """Every text of a module that has a rule's form."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and re.fullmatch(r"[a-z]+(-[a-z]+)+", value):
            yield value


def _all_rules() -> set[str]:
    named = {rule for path in WITHOUT_TABLE for rule in _named_in(path)}
    return named | {*loader.RULES, *reader.RULES, *parser.RULES}


def _found_in(path: Path) -> Diagnostics:
    """What the stages say of a file, as in the command."""
    diagnostics = Diagnostics()
    raw = loader.read_file(path, diagnostics)
    schemas = parser.parse_file(raw, diagnostics)
    planned = plan.plan(schemas, diagnostics)
    if not diagnostics.has_errors:
        verify.verify(planned, diagnostics)
    return diagnostics


def _shown() -> dict[str, set[str]]:
    """The cases that show each rule."""
    shown: dict[str, set[str]] = {}
    for path in sorted(CASES.glob("*/*.yaml")):
        for item in _found_in(path).items:
            shown.setdefault(item.rule, set()).add(path.parent.name)
    return shown


def test_every_rule_has_a_case() -> None:
    missing = _all_rules() - set(_shown()) - set(NOT_IN_CASES)
    assert not missing, f"no case in tests/codegen/cases shows: {', '.join(sorted(missing))}"


def test_every_diagnostic_has_a_known_rule() -> None:
    unknown = set(_shown()) - _all_rules()
    assert not unknown, f"rules without a row: {', '.join(sorted(map(repr, unknown)))}"


def test_the_exemptions_are_needed() -> None:
    assert set(NOT_IN_CASES) <= _all_rules()
    assert not set(NOT_IN_CASES) & set(_shown())
