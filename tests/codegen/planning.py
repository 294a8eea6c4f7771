"""From entries, as text, to a plan: where tests of planning, verifying and rendering begin."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from opbind import loader, parser, verify
from opbind.errors import Diagnostics
from opbind.model import SchemaFile
from opbind.plan import BindingPlan, Function, plan
from opbind.render import render

_HEAD = """\
library:
  namespace: demo
  module: demo_ops
  shards: {shards}
functions:
"""


def read(entries: str, shards: int = 1) -> SchemaFile:
    """Entries that the front end finds no fault in."""
    diagnostics = Diagnostics()
    text = _HEAD.format(shards=shards) + textwrap.dedent(entries)
    file = parser.parse_file(loader.load(text, "ops.yaml", diagnostics), diagnostics)
    assert not diagnostics.has_errors, [item.render() for item in diagnostics.items]
    return file


def funcs(schemas: Iterable[str]) -> str:
    """Entries of torch's ops."""
    return "".join(f"- func: {schema}\n" for schema in schemas)


def planned(entries: str, shards: int = 1) -> BindingPlan:
    """The plan of entries that no stage finds a fault in."""
    diagnostics = Diagnostics()
    made = plan(read(entries, shards), diagnostics)
    verify.verify(made, diagnostics)
    assert not diagnostics.has_errors, [item.render() for item in diagnostics.items]
    return made


def function(entries: str) -> Function:
    """The one function of the plan."""
    (only,) = planned(entries).functions
    return only


def _checked(entries: str) -> Diagnostics:
    diagnostics = Diagnostics()
    file = read(entries)
    made = plan(file, diagnostics)
    verify.verify(made, diagnostics)
    diagnostics.items = diagnostics.sorted()
    return diagnostics


def faults(entries: str) -> list[str]:
    """What planning and verifying say, without the source line."""
    diagnostics = _checked(entries)
    return [item.render().split("\n")[0] for item in diagnostics.items]


def rules(entries: str) -> list[str]:
    """The rules that planning and verifying find broken."""
    diagnostics = _checked(entries)
    return [item.rule for item in diagnostics.items]


def rendered(entries: str, shards: int = 1) -> dict[str, str]:
    """Path -> text."""
    return {file.path: file.text for file in render(planned(entries, shards))}
