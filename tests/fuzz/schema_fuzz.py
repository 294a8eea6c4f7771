"""Random schemas through our reader and PyTorch's: what differs must be explained by a row here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from opbind.errors import Diagnostics, SchemaError
from opbind.model import ListType, Schema
from opbind.parser import parse_schema
from schema_samples import SchemaMaker
from torch_reading import check_against_torch, torch_schema

Rules = frozenset[str]


class Unexplained(AssertionError):
    """A difference that no row explains."""


@dataclass(frozen=True, slots=True)
class Explained:
    """Why a schema that we read is read otherwise, or not at all, by PyTorch."""

    name: str
    reason: str
    applies: Callable[[str, Schema, Rules], bool]


def _says(rule: str) -> Callable[[str, Schema, Rules], bool]:
    return lambda text, schema, rules: rule in rules


def _is_late_argument(text: str, schema: Schema, rules: Rules) -> bool:
    arguments = list(schema.positional)
    first = next((i for i, a in enumerate(arguments) if a.default is not None), len(arguments))
    late = [a for a in arguments[first:] if a.default is None]
    return "default-order" in rules and any(not isinstance(a.type, ListType) for a in late)


def _has_line_break(text: str, schema: Schema, rules: Rules) -> bool:
    """It is the line's end alone: PyTorch reads the same on one line."""
    lines = (text.replace("\n", " "), re.sub(r"#[^\n]*\n|\n", " ", text))
    return "\n" in text and any(same_as_torch(schema, line) for line in lines)


def _has_device(text: str, schema: Schema, rules: Rules) -> bool:
    devices = (a for a in schema.arguments if "Device" in str(a.type))
    return any(a.default is not None for a in devices)


# PyTorch refuses what we read.
REFUSED = (
    Explained("torch-refuses", "a warning says so", _says("torch-refuses")),
    Explained(
        "default-order",
        "torchgen reads it; the warning says that PyTorch refuses all but lists there",
        _is_late_argument,
    ),
    Explained("default-type", "a warning says that the default is wrong", _says("default-type")),
    Explained(
        "type-variable",
        "a warning says that no library can register it; PyTorch takes some places for it and "
        "refuses others, such as a Dict's key",
        _says("type-variable"),
    ),
    Explained(
        "line-break",
        "PyTorch takes no line end outside of brackets; in YAML a schema may be folded anywhere, "
        "and the canonical text, which is what is registered, has none",
        _has_line_break,
    ),
    Explained(
        "device",
        "PyTorch looks the device up while it reads; which devices there are is not the language's",
        _has_device,
    ),
    Explained(
        "class",
        "PyTorch looks a custom class up while it reads; the library that has it makes it known",
        lambda text, schema, rules: "__torch__" in str(schema),
    ),
)
# Both read it, and not the same.
MISREAD = (
    Explained("torch-misreads", "a warning says what PyTorch reads", _says("torch-misreads")),
    Explained("default-type", "a warning says that the default is wrong", _says("default-type")),
    Explained(
        "union",
        "the parts of a Union have no order; PyTorch gives them in one of its own",
        lambda text, schema, rules: "Union(" in str(schema),
    ),
)


def same_as_torch(ours: Schema, text: str) -> bool:
    theirs = torch_schema(text)
    if theirs is None:
        return False
    try:
        check_against_torch(ours, theirs)
    except AssertionError:
        return False
    return True


def compare(text: str) -> str:
    """What became of one schema: 'same', 'both refuse' or a row's name. Raises Unexplained."""
    theirs = torch_schema(text)
    found = Diagnostics()
    try:
        ours = parse_schema(text, None, found)
    except SchemaError as error:
        if theirs is not None:
            raise Unexplained(f"PyTorch reads {text!r}: {error.diagnostic.render()}") from None
        return "both refuse"
    if parse_schema(str(ours)) != ours:
        raise Unexplained(f"{text!r}: the canonical text {str(ours)!r} reads otherwise")
    rules = frozenset(item.rule for item in found.items)
    if theirs is None:
        return _explain(REFUSED, text, ours, rules, "PyTorch refuses")
    if "torch-refuses" in rules:
        raise Unexplained(f"PyTorch reads {text!r}, of which we say that it does not")
    if same_as_torch(ours, text):
        return "same"
    return _explain(MISREAD, text, ours, rules, f"PyTorch reads {theirs} from")


def _explain(rows: tuple[Explained, ...], text: str, ours: Schema, rules: Rules, what: str) -> str:
    for row in rows:
        if row.applies(text, ours, rules):
            return f"{what.split()[1]}: {row.name}"
    raise Unexplained(f"{what} {text!r}, which we read as {str(ours)!r}")


def run(count: int, seed: int) -> Counter[str]:
    """`count` schemas, every other one broken by mutation; how many came to what."""
    maker = SchemaMaker(seed)
    results: Counter[str] = Counter()
    for index in range(count):
        text = maker.schema()
        results[compare(maker.mutated(text) if index % 2 else text)] += 1
    return results
