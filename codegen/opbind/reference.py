"""The tables of keys as a page to read: docs/yaml.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import typemap
from .fields import (
    DEPRECATED_FIELDS,
    DISPATCH_KEYS,
    ENTRY_FIELDS,
    KNOWN_TAGS,
    LIBRARY_FIELDS,
    MAX_NAME,
    MAX_SHARDS,
    TAG_FIELDS,
    TOP_FIELDS,
    Field,
    FieldKind,
)

_COLUMNS = 100

_INTRODUCTION = """\
# The YAML file

<!-- Made by `opbind reference` from the tables that check the file; `make gen` writes it anew. -->

A file is a mapping, with a section for the library and one for its ops:

```yaml
# yaml-language-server: $schema=ops.schema.json
library: {namespace: demo, module: demo_ops}
functions:
- func: scale(Tensor self, float alpha=1.0) -> Tensor
  dispatch: {CPU: scale_cpu, Meta: scale_meta}
  doc: Multiply by alpha.
- func: relu(Tensor self) -> Tensor
```

or a plain list of entries, as torch's own `native_functions.yaml`, where every op is ATen's:

```yaml
- func: relu(Tensor self) -> Tensor
- func: sigmoid(Tensor self) -> Tensor
```

In the mapping an entry with `dispatch` is an op of your own, whose kernels you write; one without
is an op that torch already has.

## In an editor

`opbind reference --format=schema-path` prints where the installed package has its JSON Schema, and
`--format=schema` prints the schema. Editors with a YAML language server complete and check the keys
when the file's first line names it, by its path or by a copy beside the file:

```yaml
# yaml-language-server: $schema=/path/to/ops.schema.json
```

The schema speaks of keys and the kinds of their values; `opbind gen` checks everything.

## How values are read

All values are text, whatever YAML makes of `no`, `1e-5`, `010`, `12:30` or `~`: what a text means
is up to its key. A key is given once, and must be one of those below. Anchors, aliases, tags, tabs
in the indentation and further documents are refused. A text that starts with one of `& * ! | > % @`
or holds `: ` or ` #` needs quotes. Files are UTF-8, with either line end, with or without a byte
order mark.
"""

# What each kind of value may look like.
_KINDS = {
    FieldKind.TEXT: "text",
    FieldKind.NAME: (
        f"a name: at most {MAX_NAME} ASCII letters, digits and `_`, and no digit first"
    ),
    FieldKind.FLAG: "`true` or `false`",
    FieldKind.COUNT: f"a whole number from 1 to {MAX_SHARDS}",
    FieldKind.TEXTS: "a list of texts, or one text",
    FieldKind.MAP: "a mapping of texts",
    FieldKind.MAP_OF_TEXTS: "a mapping to texts, or to lists of texts",
    FieldKind.TEXT_OR_MAP: "text, or a mapping of texts",
    FieldKind.RECORD: "a mapping; its keys are below",
    FieldKind.ENTRIES: "a list of entries; their keys are below",
}

_SECTIONS: tuple[tuple[str, str, tuple[Field, ...]], ...] = (
    ("The file", "The keys of a file that is a mapping.", TOP_FIELDS),
    ("library", "", LIBRARY_FIELDS),
    (
        "An op",
        "The keys of an entry under `functions`, and of one in a plain list. Those that are "
        "torch's own are read in both, so that `native_functions.yaml` loads as it is; the "
        "generator heeds those that bear on a binding.",
        ENTRY_FIELDS,
    ),
    (
        "A deprecated signature",
        "The keys of an entry under `deprecated`, and of one in torch's `deprecated.yaml`.",
        DEPRECATED_FIELDS,
    ),
    ("A tag", "The keys of an entry in a file of tags, as torch's `tags.yaml`.", TAG_FIELDS),
)


def markdown() -> str:
    """The whole page."""
    parts = [_INTRODUCTION]
    for title, about, fields in _SECTIONS:
        parts.append(f"## {title}\n")
        parts.extend([f"{_wrapped(about)}\n"] if about else [])
        parts.append(f"{_table(fields)}\n")
        parts.extend(_key(f) for f in fields)
    parts.append(f"## Types\n\n{_wrapped(_TYPES)}\n\n{_types()}\n")
    parts.append(f"## Dispatch keys\n\n{_wrapped(_listed(sorted(DISPATCH_KEYS)))}\n")
    parts.append(f"## Tags\n\n{_wrapped(_listed(sorted(KNOWN_TAGS)))}\n")
    return "\n".join(parts)


_TYPES = (
    "What a schema's arguments and returns may be, as the stub says it and as the kernel has it. "
    "Each may be optional, `T?`, which takes or gives None, except `Tensor?[]`. `int[2]` takes one "
    "int for both. What else torch's language knows, such as Dict, tuples and custom classes, is "
    "refused."
)


def _types() -> str:
    rows = ["| type | from Python | kernel's argument | kernel's result |", "|---|---|---|---|"]
    for row in typemap.shown_rows():
        cells = (row.schema, row.stub_argument, row.cpp_argument, row.cpp_return)
        rows.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    """Code in a cell of a table, where a bar would end the cell."""
    return "`" + text.replace("|", "\\|") + "`" if text else ""


def _table(fields: Sequence[Field]) -> str:
    rows = ["| key | value | default |", "|---|---|---|"]
    for field in fields:
        default = "required" if field.required else f"`{field.default}`" if field.default else ""
        value = _listed(field.allowed) if field.allowed else field.kind.value
        rows.append(f"| `{field.name}` | {value} | {default} |")
    return "\n".join(rows)


def _key(field: Field) -> str:
    facts = "; ".join(_facts(field))
    return (
        f"### `{field.name}`\n\n{_wrapped(field.doc)}\n\n{_wrapped(f'{facts}.')}\n\n"
        f"```yaml\n{example(field)}\n```\n"
    )


def _facts(field: Field) -> Iterator[str]:
    yield f"Takes {_KINDS[field.kind]}"
    if field.splits:
        yield (
            "a text may hold several, with commas"
            if field.kind is FieldKind.TEXTS
            else ("commas split a text")
        )
    if field.allowed:
        yield f"allowed: {_listed(field.allowed)}"
    if field.required:
        yield "must be given"
    elif field.default:
        yield f"default: `{field.default}`"
    if field.own_only:
        yield "for an op with `dispatch` alone"
    if field.is_native:
        yield "one of torch's own keys"


def example(field: Field) -> str:
    """The key with a value, as a line of a mapping, or several."""
    between = "" if field.example.startswith("\n") else " "
    return f"{field.name}:{between}{field.example}"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _wrapped(text: str) -> str:
    """Lines of at most `_COLUMNS` characters; what stands in backticks may break too."""
    lines: list[str] = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _COLUMNS:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return "\n".join(lines)
