"""Torch's own files, as torchgen is installed, read and planned."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from opbind import loader, parser
from opbind.errors import Diagnostics
from opbind.model import SchemaFile
from opbind.plan import BindingPlan, plan
from torchgen_judge import DEPRECATED, NATIVE_FUNCTIONS


def read(text: str) -> SchemaFile:
    """`text` as native_functions.yaml, with torch's deprecated signatures."""
    diagnostics = Diagnostics()
    raw = loader.load(text, "native_functions.yaml", diagnostics)
    deprecated = loader.read_file(DEPRECATED, diagnostics).deprecated
    file = parser.parse_file(replace(raw, deprecated=deprecated), diagnostics)
    assert not diagnostics.items
    return file


def planned(text: str) -> BindingPlan:
    diagnostics = Diagnostics()
    made = plan(read(text), diagnostics)
    assert not diagnostics.items
    return made


@cache
def ours() -> BindingPlan:
    return planned(NATIVE_FUNCTIONS.read_text(encoding="utf-8"))
