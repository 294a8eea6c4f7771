"""Schemas and raw entries to the model.

`parse_schema` reads one schema, `read_schema_lines` many, `parse_file` what the loader made of a
file. Here ops are read; whether they can be generated from is up to later stages.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from . import reader
from .errors import Diagnostic, Diagnostics, Location, SchemaError, Severity
from .fields import DISPATCH_KEYS, ENTRY_FIELDS, KNOWN_TAGS
from .loader import FileForm, RawEntry, RawFile, RawText
from .model import (
    AutogradPolicy,
    CallPolicy,
    Deprecated,
    GilPolicy,
    Kernel,
    Library,
    Op,
    Schema,
    SchemaFile,
    Type,
)
from .reader import Place

# Rules of this module, each with what it is about. The schema reader's are in reader.RULES.
RULES = {
    "duplicate-op": "one operator, overload included, in two entries",
    "duplicate-dispatch-key": "two kernels of one op under one dispatch key",
    "unknown-dispatch-key": "a dispatch key that torch has not",
    "no-kernels": "a dispatch without a kernel",
    "bad-kernel-name": "a kernel's name that C++ cannot have",
    "own-op-key": "a key that only an op with kernels of its own may have",
    "no-library": "own ops in a file that does not name their library",
    "foreign-namespace": "an own op in the namespace of another library",
    "bad-fake": "a fake that is not module:function",
    "bad-alias": "a further name of an argument that cannot be one",
    "bad-deprecated": "a deprecated signature whose call cannot be read",
    "unknown-tag": "a tag that torch's tags.yaml does not have (a warning)",
}


def parse_schema(
    text: str,
    location: Location | None = None,
    diagnostics: Diagnostics | None = None,
    at: Place | None = None,
) -> Schema:
    """Reads one schema.

    `location` is where the text's first character stands. `at` maps an offset in the text to its
    place, for text that is not laid out in the file as it is here (quoted or folded YAML). Warnings
    go to `diagnostics`. Raises SchemaError at the first fault.
    """
    return reader.Reader(text, at or _at(text, location), diagnostics).schema()


def parse_type(text: str, location: Location | None = None) -> Type:
    """Reads a type alone, without alias marks. Raises SchemaError."""
    return reader.Reader(text, _at(text, location), None).only_type()


def _at(text: str, location: Location | None) -> Place:
    start = location or Location("<string>", 1, 1, text.split("\n", 1)[0])
    return reader.places(text, start)


# ---------------------------------------------------------------- files


def parse_file(raw: RawFile, diagnostics: Diagnostics) -> SchemaFile:
    """All of a file's ops; an entry with an error is reported and left out. Raises nothing.

    Where `diagnostics` has errors of the loader, what they alone may have caused is not reported.
    """
    return _FileParser(raw, diagnostics).file()


_OWN_KEYS = tuple(f.name for f in ENTRY_FIELDS if f.own_only)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_QUALIFIED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)*\Z")
_FAKE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*\Z", re.ASCII)


# What the reader warns of and planning refuses, in words of its own.
_PLANNED = frozenset({"duplicate-argument", "duplicate-return", "default-order", "default-type"})


# Of an own op, which has to be registered, the reader's warnings that are errors.
_UNREGISTRABLE = frozenset({"torch-refuses", "torch-misreads", "torch-mistypes"})


class _FileParser:
    """One file's entries; knows which ops it has met."""

    def __init__(self, raw: RawFile, diagnostics: Diagnostics) -> None:
        self._raw = raw
        self._diagnostics = diagnostics
        # Whether the library may be missing for a fault of its own.
        self._is_library_lost = raw.library is None and diagnostics.has_errors
        self._is_mapping = raw.form is FileForm.MAPPING
        self._library = _library(raw.library)
        self._seen: dict[tuple[bool, str], Location] = {}

    def file(self) -> SchemaFile:
        ops = [self._op(entry) for entry in self._raw.functions]
        deprecated = [self._deprecated(entry) for entry in self._raw.deprecated]
        if self._raw.library is None and not self._is_library_lost:
            self._require_library([op for op in ops if op is not None])
        return SchemaFile(
            PurePath(self._raw.file).name,
            self._library,
            tuple(op for op in ops if op is not None),
            tuple(old for old in deprecated if old is not None),
        )

    def _error(
        self, place: Location, message: str, rule: str, subject: str, hint: str = ""
    ) -> None:
        self._diagnostics.error(place, message, subject=subject, hint=hint, rule=rule)

    def _require_library(self, ops: list[Op]) -> None:
        own = next((op for op in ops if op.is_own and op.location is not None), None)
        if own is not None and own.location is not None:
            message = "an op with kernels of its own belongs to a library, and the file names none"
            hint = "add 'library: {namespace: demo}'"
            self._error(own.location, message, "no-library", str(own.schema.name), hint)

    # ------------------------------------------------------------ ops

    def _op(self, entry: RawEntry) -> Op | None:
        before = len(self._diagnostics.items)
        is_own = self._is_mapping and entry.has("dispatch")
        schema = self._schema(entry.node("func"), is_own)
        if schema is None or not entry.is_whole:
            return None
        name = str(schema.name)
        op = Op(
            self._in_namespace(schema, is_own),
            self._kernels(entry, is_own, name),
            is_own,
            aliases=self._aliases(entry, schema),
            location=entry.location,
            **_fields(entry),
        )
        self._check_own_keys(entry, is_own, name)
        self._check_fake(entry, name)
        self._check_tags(entry, name)
        self._check_duplicate(op)
        found = self._diagnostics.items[before:]
        is_good = all(item.severity is not Severity.ERROR for item in found)
        return op if is_good else None

    def _schema(self, node: RawText | None, is_own: bool = False) -> Schema | None:
        if node is None:
            return None
        warnings = Diagnostics()
        try:
            schema = parse_schema(node.text, node.location, warnings, node.at)
        except SchemaError as error:
            # What stands before the fault may be part of it: no warnings about that.
            self._diagnostics.add(error.diagnostic)
            return None
        is_registered = is_own and self._library.has_torch
        # What is read without a warning needs no second look.
        refused = _unregistrable(schema) if is_registered and warnings.items else frozenset()
        for warning in warnings.items:
            if warning.message in refused:
                self._diagnostics.add(replace(warning, severity=Severity.ERROR))
            elif warning.rule not in _PLANNED:
                self._diagnostics.add(warning)
        return schema

    def _in_namespace(self, schema: Schema, is_own: bool) -> Schema:
        """The schema without a namespace that goes without saying."""
        expected = self._library.namespace if is_own else "aten"
        namespace = schema.name.namespace
        if namespace == expected:
            return replace(schema, name=replace(schema.name, namespace=""))
        if namespace and is_own and schema.location is not None and not self._is_library_lost:
            message = f"an own op is in its library's namespace {expected!r}, not in {namespace!r}"
            name = str(schema.name)
            self._error(schema.location, message, "foreign-namespace", name, "leave it out")
        return schema

    def _check_duplicate(self, op: Op) -> None:
        key, place = (op.is_own, str(op.schema.name)), op.location
        if place is None:
            return
        first = self._seen.setdefault(key, place)
        if first is not place:
            message = f"this operator is in the file twice, first on line {first.line}"
            self._error(place, message, "duplicate-op", key[1], "delete one, or name the overload")

    def _check_own_keys(self, entry: RawEntry, is_own: bool, name: str) -> None:
        for key in _OWN_KEYS if not is_own else ():
            if entry.has(key):
                message = f"{key} says nothing of an ATen op"
                hint = "an own op has 'dispatch:', in a file with 'library:' and 'functions:'"
                self._error(entry.place(key), message, "own-op-key", name, hint)

    def _check_fake(self, entry: RawEntry, name: str) -> None:
        fake = entry.node("fake")
        parts = re.split("[.:]", fake.text) if fake is not None else []
        if fake is not None and (not _FAKE.match(fake.text) or any(map(keyword.iskeyword, parts))):
            message = f"the fake {reader.shortened(fake.text)!r} names no function"
            self._error(fake.location, message, "bad-fake", name, "write module:function")

    def _check_tags(self, entry: RawEntry, name: str) -> None:
        for tag in entry.texts("tags"):
            if tag.text not in KNOWN_TAGS:
                message = f"torch 2.13 has no tag {reader.shortened(tag.text)!r}"
                hint = self._diagnostics.did_you_mean(tag.text, KNOWN_TAGS)
                self._diagnostics.warning(
                    tag.location, message, subject=name, hint=hint, rule="unknown-tag"
                )

    def _aliases(self, entry: RawEntry, schema: Schema) -> tuple[tuple[str, tuple[str, ...]], ...]:
        names = [a.name for a in schema.arguments]
        taken = set(names)
        subject = str(schema.name)
        found: list[tuple[str, tuple[str, ...]]] = []
        for argument, aliases in entry.lists("aliases"):
            if argument.text not in names:
                message = f"aliases: no argument is named {reader.shortened(argument.text)!r}"
                listed = reader.shortened(f"there are: {', '.join(names)}")
                hint = self._diagnostics.did_you_mean(argument.text, names) or listed
                self._error(argument.location, message, "bad-alias", subject, hint)
            for alias in aliases:
                self._check_alias(alias, taken, subject)
            found.append((argument.text, tuple(a.text for a in aliases)))
        return tuple(found)

    def _check_alias(self, alias: RawText, taken: set[str], subject: str) -> None:
        if alias.text in taken:
            message = f"aliases: {alias.text!r} names another argument already"
            self._error(alias.location, message, "bad-alias", subject)
        elif not _IDENTIFIER.match(alias.text) or keyword.iskeyword(alias.text):
            message = f"aliases: {reader.shortened(alias.text)!r} is no name"
            self._error(alias.location, message, "bad-alias", subject)
        taken.add(alias.text)

    # ------------------------------------------------------------ kernels

    def _kernels(self, entry: RawEntry, is_own: bool, name: str) -> tuple[Kernel, ...]:
        seen: dict[str, Location] = {}
        kernels: list[Kernel] = []
        for keys, value in entry.pairs("dispatch"):
            for key in _dispatch_keys(keys):
                first = seen.setdefault(key.text, key.location)
                if first is not key.location:
                    message = (
                        f"dispatch key {key.text!r} is given twice, first on line {first.line}"
                    )
                    self._error(key.location, message, "duplicate-dispatch-key", name)
                elif is_own and isinstance(value, RawText):
                    kernels.append(self._kernel(key, value, name))
        if is_own and not seen:
            message = "dispatch has no kernel"
            hint = "write {CPU: my_kernel}, or leave dispatch out for an ATen op"
            self._error(entry.place("dispatch"), message, "no-kernels", name, hint)
        return tuple(kernels)

    def _kernel(self, key: RawText, value: RawText, name: str) -> Kernel:
        if key.text not in DISPATCH_KEYS:
            message = f"torch has no dispatch key {reader.shortened(key.text)!r}"
            hint = self._diagnostics.did_you_mean(key.text, DISPATCH_KEYS)
            self._error(key.location, message, "unknown-dispatch-key", name, hint)
        if not _QUALIFIED.match(value.text):
            message = f"{reader.shortened(value.text)!r} names no C++ function"
            hint = "write name or ns::name"
            self._error(value.location, message, "bad-kernel-name", name, hint)
        return Kernel(key.text, value.text, value.location)

    # ------------------------------------------------------------ deprecated signatures

    def _deprecated(self, entry: RawEntry) -> Deprecated | None:
        schema, call = self._schema(entry.node("name")), entry.node("aten")
        if schema is None or call is None or not entry.is_whole:
            return None
        try:
            called, arguments = reader.Reader(call.text, call.at, None).call()
        except SchemaError as error:
            found = error.diagnostic
            message = f"aten: {reader.shortened(call.text)!r} is no call: {found.message}"
            hint = found.hint or "write name(argument, argument)"
            self._error(found.location, message, "bad-deprecated", str(schema.name), hint)
            return None
        return Deprecated(self._in_namespace(schema, False), called, arguments, entry.location)


def _unregistrable(schema: Schema) -> frozenset[str]:
    """What the reader says of the canonical text, which is what is registered, that torch could
    not register."""
    found = Diagnostics()
    parse_schema(str(schema), None, found)
    return frozenset(item.message for item in found.items if item.rule in _UNREGISTRABLE)


def _dispatch_keys(keys: RawText) -> Iterator[RawText]:
    """`CPU, CUDA` is two keys of one kernel."""
    if re.fullmatch(r"\w+", keys.text):
        yield keys
        return
    for match in re.finditer(r"[^,\s][^,]*", keys.text):
        yield RawText(match[0].strip(), keys.at(match.start()))


def _library(entry: RawEntry | None) -> Library:
    if entry is None:
        return Library()
    namespace = entry.text("namespace")
    return Library(
        namespace,
        entry.text("module", f"{namespace}_ops"),
        entry.text("host", "torch"),
        int(entry.text("shards", "1")),
        entry.text("doc"),
        entry.location,
    )


def _texts(entry: RawEntry, key: str) -> tuple[str, ...]:
    return tuple(part.text for part in entry.texts(key))


# The fields of an op that need no more than their text, which the loader has checked: key, and how
# it is read. What an entry does not say is the model's default.
_READERS: dict[str, Callable[[RawEntry, str], object]] = {
    "gil": lambda entry, key: GilPolicy(entry.text(key)),
    "call": lambda entry, key: CallPolicy(entry.text(key)),
    "autograd": lambda entry, key: AutogradPolicy(entry.text(key)),
    **dict.fromkeys(("fake", "python_name", "doc", "python_module"), RawEntry.text),
    "category_override": RawEntry.text,
    **dict.fromkeys(("device_guard", "numbers_as_tensors", "manual_cpp_binding"), RawEntry.flag),
    "use_const_ref_for_mutable_tensors": RawEntry.flag,
    **dict.fromkeys(("examples", "tags", "autogen"), _texts),
    "variants": lambda entry, key: _texts(entry, key) or ("function",),
}
# Where the model has another name.
_RENAMED = {"use_const_ref_for_mutable_tensors": "const_written"}


def _fields(entry: RawEntry) -> dict[str, Any]:
    given = ((key, _READERS[key]) for key in entry.values if key in _READERS)
    return {_RENAMED.get(key, key): read(entry, key) for key, read in given}


# ---------------------------------------------------------------- one schema a line


@dataclass(frozen=True, slots=True)
class SchemaLine:
    """What one line of `opbind schema`'s input is."""

    # 'ok', 'warn' or 'error'.
    status: str
    # '' for an error.
    canonical: str
    # 1-based, where the error or the first warning is; 0 when all is well.
    column: int
    # One line; '' when all is well.
    message: str
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def status_text(self) -> str:
        """`ok CANONICAL`, `warn CANONICAL MESSAGE` or `error COLUMN MESSAGE`, split by tabs."""
        fields = {
            "ok": [self.canonical],
            "warn": [self.canonical, self.message],
            "error": [str(self.column), self.message],
        }[self.status]
        return "\t".join([self.status, *fields])


def read_schema_lines(lines: Iterable[str], file: str = "-") -> Iterator[SchemaLine]:
    """One result for each line, in order; line ends are no part of a schema. Raises nothing."""
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        if number == 1:
            text = text.removeprefix("\ufeff")
        yield _read_line(text, Location(file, number, 1, text))


def _read_line(text: str, location: Location) -> SchemaLine:
    diagnostics = Diagnostics()
    try:
        canonical = str(parse_schema(text, location, diagnostics))
    except SchemaError as error:
        found = error.diagnostic
        return SchemaLine("error", "", found.location.column, _one_line([found]), (found,))
    items = tuple(diagnostics.sorted())
    if not items:
        return SchemaLine("ok", canonical, 0, "")
    return SchemaLine("warn", canonical, items[0].location.column, _one_line(items), items)


# Of one line.
_MOST_MESSAGES = 10


def _one_line(items: Iterable[Diagnostic]) -> str:
    said = (f"{d.message}; {d.hint}" if d.hint else d.message for d in items)
    texts = list(dict.fromkeys(said))
    if len(texts) > _MOST_MESSAGES:
        texts[_MOST_MESSAGES:] = [f"And {len(texts) - _MOST_MESSAGES} more"]
    # A message quotes the input, which may hold anything.
    return re.sub(r"[^ -~\u00a1-\ud7ff\ue000-\U0010ffff]+", " ", ". ".join(texts))
