"""docs/yaml.md and the editors' JSON Schema: made from the tables, and true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from opbind import editor_schema, fields, reference
from opbind.cli import main
from opbind.errors import Diagnostics
from opbind.fields import Field, FieldKind
from opbind.loader import RawList, RawNode, RawText, _read_nodes, _Source, load
from opbind.model import Library, Op
from opbind.parser import parse_file

REPO = Path(__file__).parents[2]
CASES = REPO / "tests/codegen/cases"
SCHEMA: dict[str, Any] = json.loads(editor_schema.text())
OWN = (
    "library: {namespace: n}\nfunctions:\n- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: k}\n"
)
TABLES = {
    "entry": fields.ENTRY_FIELDS,
    "library": fields.LIBRARY_FIELDS,
    "deprecated": fields.DEPRECATED_FIELDS,
    "tag": fields.TAG_FIELDS,
    "top": fields.TOP_FIELDS,
}
KEYS = [(name, field) for name, table in TABLES.items() for field in table]
IDS = [f"{name}.{field.name}" for name, field in KEYS]

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")


def _json(node: RawNode | None) -> Any:
    """What an editor sees: YAML 1.2's types."""
    if node is None:
        return None
    if isinstance(node, RawList):
        return [_json(item) for item in node.items]
    if not isinstance(node, RawText):
        return {key.text: _json(value) for key, value in node.items}
    if node.span is not None:
        return node.text
    if node.text in ("", "~", "null", "Null", "NULL"):
        return None
    if node.text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return node.text.lower() == "true"
    if not _NUMBER.match(node.text):
        return node.text
    return int(node.text) if node.text.isdigit() else float(node.text)


def _editor_takes(text: str) -> bool:
    root, _ = _read_nodes(_Source("f.yaml", text), Diagnostics())
    return bool(jsonschema.Draft7Validator(SCHEMA).is_valid(_json(root)))


def _loader_takes(text: str) -> bool:
    diagnostics = Diagnostics()
    parse_file(load(text, "f.yaml", diagnostics), diagnostics)
    return not diagnostics.has_errors


FUNCTIONS = "functions:\n- func: relu(Tensor self) -> Tensor\n"


def _file_with(table: str, line: str, name: str) -> str:
    """A file whose entry of that table has the key."""
    given = {
        "entry": ("func", "- func: f(Tensor alpha) -> Tensor"),
        "library": ("namespace", ""),
        "deprecated": ("name aten", "- name: f(Tensor self) -> Tensor\n  aten: f(self)"),
        "tag": ("tag", "- tag: t"),
    }
    if table == "top":
        return line if name == "functions" else f"{FUNCTIONS}{line}"
    head = OWN.partition("functions:")[2].strip()
    if table == "library":
        lines = [line] if name == "namespace" else ["namespace: n", line]
        return "library:\n" + "".join(f"  {one}\n" for one in lines) + FUNCTIONS
    indented = line.replace("\n", "\n  ")
    if table == "entry":
        if name == "func":
            return f"library: {{namespace: n}}\nfunctions:\n- {indented}\n  dispatch: {{CPU: k}}\n"
        rest = head.replace("self", "alpha") if name != "dispatch" else given["entry"][1]
        return f"library: {{namespace: n}}\nfunctions:\n{rest}\n  {indented}\n"
    others = [
        part for part in given[table][1].split("\n") if not part.strip("- ").startswith(name + ":")
    ]
    body = "\n  ".join([indented, *(other.strip("- ") for other in others)])
    return f"- {body}\n"


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_what_is_shipped_is_what_the_tables_say() -> None:
    assert editor_schema.PATH.read_text(encoding="utf-8") == editor_schema.text()
    assert (REPO / "docs/yaml.md").read_text(encoding="utf-8") == reference.markdown()


@pytest.mark.parametrize(("table", "field"), KEYS, ids=IDS)
def test_every_key_is_documented_with_an_example_that_is_taken(table: str, field: Field) -> None:
    line = reference.example(field)
    assert f"### `{field.name}`" in reference.markdown() and f"```yaml\n{line}\n```" in (
        reference.markdown()
    )
    text = _file_with(table, line, field.name)
    assert _loader_takes(text), text
    assert _editor_takes(text), text


@pytest.mark.parametrize(("table", "field"), KEYS, ids=IDS)
@pytest.mark.parametrize("value", ["", "[[a]]", "{a: {b: c}}", "[]", "{}", "17", "0", "no", "x y"])
def test_loader_and_editor_refuse_the_same(table: str, field: Field, value: str) -> None:
    if field.kind is FieldKind.TEXT and field.name in ("func", "name", "aten", "fake"):
        # Text that only its own reader judges.
        value = value if value[:1] in ("[", "{", "") else "[a, b]"
    if field.kind is FieldKind.MAP_OF_TEXTS and value == "{a: {b: c}}":
        value = "{alpha: {b: c}}"
    text = _file_with(table, f"{field.name}: {value}".rstrip(), field.name)
    assert _loader_takes(text) == _editor_takes(text), text


@pytest.mark.parametrize(
    "text",
    [
        "a text",
        "[]",
        "- fucn: f() -> ()",
        "- {}",
        "- text",
        "- {name: f() -> ()}",
        "library: {}\nfunctions: []",
        "library: {namespace: n, hots: torch}\nfunctions: []",
        "library: {namespace: n}",
        "functions: {}",
        "functions: []\ndeprecated: x",
        "func: f() -> ()",
        "functions:\n- func: f() -> ()\n  autograd: none",
        "- func: f() -> ()\n  call: direct",
        OWN.replace("CPU", "CPUU"),
        OWN.replace("{CPU: k}", "{}"),
        OWN + "  variants: [function, methods]",
        OWN + "  variants: function, methods",
        OWN + "  gil: [hold]",
        OWN + "extra: 1",
    ],
)
def test_both_refuse(text: str) -> None:
    assert not _loader_takes(text)
    assert not _editor_takes(text)


def test_our_own_files_are_taken() -> None:
    paths = [REPO / "ops.yaml", REPO / "benchmarks/bench_ops.yaml", *CASES.glob("*/ops.yaml")]
    for path in paths:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        # Editors need not know what is for our own tests.
        if _loader_takes(text) and "host: null" not in text:
            assert _editor_takes(text), path


@pytest.mark.parametrize(
    "name",
    ["ATen/native/native_functions.yaml", "ATen/native/tags.yaml", "autograd/deprecated.yaml"],
)
def test_torchs_files_are_taken(name: str) -> None:
    torchgen = pytest.importorskip("torchgen")
    path = Path(torchgen.__file__).parent / "packaged" / name
    assert _editor_takes(path.read_text(encoding="utf-8"))


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return (
        str(getattr(value, "value", value)).lower()
        if isinstance(value, bool)
        else str(getattr(value, "value", value))
    )


def test_the_defaults_are_the_models() -> None:
    diagnostics = Diagnostics()
    file = parse_file(load(OWN, "f.yaml", diagnostics), diagnostics)
    made: dict[str, tuple[Op | Library, tuple[Field, ...]]] = {
        "entry": (file.ops[0], fields.ENTRY_FIELDS),
        "library": (file.library, fields.LIBRARY_FIELDS),
    }
    compared = 0
    for thing, table in made.values():
        for field in table:
            if field.default and hasattr(thing, field.name):
                assert _as_text(getattr(thing, field.name)) == field.default, field.name
                compared += 1
    assert compared >= 9


def test_the_command(tmp_path: Path) -> None:
    def run(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["reference", *words], catch_exceptions=False)
        return result.exit_code, result.stdout

    assert run() == (0, reference.markdown())
    assert run("--format=schema") == (0, editor_schema.text())
    assert run("--format=schema-path") == (0, f"{editor_schema.PATH}\n")
    page = tmp_path / "yaml.md"
    assert run("--out", str(page), "--check")[0] == 1 and not page.exists()
    assert run("--out", str(page)) == (0, "") and page.read_text() == reference.markdown()
    assert run("--out", str(page), "--check") == (0, "")
    page.write_text("old\n")
    code, diff = run("--out", str(page), "--check")
    assert code == 1 and "-old\n" in diff and page.read_text() == "old\n"


def test_the_docs_name_the_schema() -> None:
    for name in ("README.md", "docs/yaml.md"):
        text = (REPO / name).read_text(encoding="utf-8")
        assert (
            "# yaml-language-server: $schema=" in text and "reference --format=schema-path" in text
        )
