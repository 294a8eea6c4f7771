"""The tables of keys as a JSON Schema: what editors check and complete an ops.yaml with.

It says what the loader says of structure: which keys there are, which must be given, and what kind
of value each takes. Editors read YAML by its own types, so that a text may be a number there. What
needs more than one value to judge (a schema's text, names given twice) is the generator's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

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

Json = dict[str, object]

# The schema as the package ships it.
PATH = Path(__file__).parent / "ops.schema.json"

_TITLE = "opbind: operators of a library, or a list of torch's own"
_SCALAR: Json = {"type": ["string", "number", "boolean"]}
_NAME: Json = {
    "type": "string",
    "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
    "maxLength": MAX_NAME,
}
# Quoted, it is text, which the loader takes as well.
_FLAG: Json = {"enum": [True, False, "true", "True", "TRUE", "false", "False", "FALSE"]}
_COUNT: Json = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MAX_SHARDS},
        {"type": "string", "pattern": "^[1-9][0-9]{0,2}$"},
    ]
}


def text() -> str:
    """The whole schema, as `PATH` holds it."""
    return f"{json.dumps(_schema(), indent=2)}\n"


def _schema() -> Json:
    entries = {"type": "array", "items": {"$ref": "#/definitions/listed"}, "minItems": 1}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": _TITLE,
        "if": {"type": "array"},
        "then": entries,
        "else": {"$ref": "#/definitions/file"},
        "definitions": {
            "file": _object(TOP_FIELDS),
            "library": _object(LIBRARY_FIELDS),
            "op": _op(),
            "listedOp": _object([f for f in ENTRY_FIELDS if not f.own_only]),
            "deprecated": _object(DEPRECATED_FIELDS),
            "tag": _object(TAG_FIELDS),
            "listed": _listed(),
        },
    }


def _op() -> Json:
    """An op of the mapping form, where a dispatch makes it one of the library's own."""
    own_only = [f.name for f in ENTRY_FIELDS if f.own_only]
    return {
        **_object(ENTRY_FIELDS, own_keys=True),
        "dependencies": {n: ["dispatch"] for n in own_only},
    }


def _listed() -> Json:
    """An entry of the list form: of native_functions.yaml, deprecated.yaml or tags.yaml."""
    return {
        "if": {
            "not": {
                "anyOf": [{"required": ["func"]}, {"required": ["name"]}, {"required": ["tag"]}]
            }
        },
        "then": {"$ref": "#/definitions/listedOp"},
        "else": _first_with(("func", "listedOp"), ("name", "deprecated"), ("tag", "tag")),
    }


def _first_with(*choices: tuple[str, str]) -> Json:
    """The definition that goes with the first of the keys that is there."""
    (key, name), *rest = choices
    reference: Json = {"$ref": f"#/definitions/{name}"}
    if not rest:
        return reference
    return {"if": {"required": [key]}, "then": reference, "else": _first_with(*rest)}


def _object(fields: Sequence[Field], own_keys: bool = False) -> Json:
    return {
        "type": "object",
        "properties": {f.name: _property(f, own_keys) for f in fields},
        "required": [f.name for f in fields if f.required],
        "additionalProperties": False,
    }


def _property(field: Field, own_keys: bool) -> Json:
    found = {"description": field.doc, **_value(field)}
    if own_keys and field.name == "dispatch":
        found |= {"propertyNames": {"pattern": _listing(sorted(DISPATCH_KEYS))}, "minProperties": 1}
    if field.default:
        found["default"] = (
            field.default == "true" if field.kind is FieldKind.FLAG else field.default
        )
    return found


def _value(field: Field) -> Json:
    match field.kind:
        case FieldKind.TEXT:
            return {"enum": list(field.allowed)} if field.allowed else _SCALAR
        case FieldKind.NAME:
            return _NAME
        case FieldKind.FLAG:
            return _FLAG
        case FieldKind.COUNT:
            return _COUNT
        case FieldKind.TEXTS:
            return _texts(field)
        case FieldKind.MAP | FieldKind.MAP_OF_TEXTS:
            return _map(field)
        case FieldKind.TEXT_OR_MAP:
            return {"anyOf": [_SCALAR, _map(field)]}
        case FieldKind.RECORD:
            return {"$ref": f"#/definitions/{field.name}"}
        case FieldKind.ENTRIES:
            name = "op" if field.name == "functions" else field.name
            least = {"minItems": 1} if field.required else {}
            return {"type": "array", "items": {"$ref": f"#/definitions/{name}"}, **least}


def _texts(field: Field) -> Json:
    one, item = _SCALAR, _SCALAR
    if field.allowed:
        one, item = (
            {"type": "string", "pattern": _listing(field.allowed)},
            {"enum": list(field.allowed)},
        )
    if field.name == "tags":
        # Editors complete what they can, and take a newer torch's tags too.
        item = {"anyOf": [{"enum": sorted(KNOWN_TAGS)}, _SCALAR]}
    return {"anyOf": [one, {"type": "array", "items": item}]}


def _map(field: Field) -> Json:
    value = _SCALAR
    if field.kind is FieldKind.MAP_OF_TEXTS:
        value = {"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]}
    return {"type": "object", "additionalProperties": value}


def _listing(words: Sequence[str]) -> str:
    """A pattern for some of the words, with commas between them."""
    one = f"({'|'.join(map(re.escape, words))})"
    return rf"^[\s,]*{one}(\s*,[\s,]*{one})*[\s,]*$"
