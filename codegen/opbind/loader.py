"""YAML text to raw entries, each field with its place.

All scalars are text, so that none of YAML 1.1's readings (`no`, `1e-5`, `010`, `12:30`, `~`)
changes what was written; what a text means is up to its key. Strict: a key is known and given once,
and its value has the key's kind. A field that is not good is reported and left out of its entry.

It works on YAML's event stream, not on its tree: anchors, several documents and nesting beyond
reason are refused while they are read, so that no input makes it slow or deep.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from .errors import Diagnostic, Diagnostics, Location, did_you_mean
from .fields import (
    DEPRECATED_FIELDS,
    ENTRY_FIELDS,
    LIBRARY_FIELDS,
    MAX_NAME,
    MAX_SHARDS,
    TAG_FIELDS,
    TOP_FIELDS,
    Field,
    FieldKind,
)

# Rules of this module, each with what it is about.
RULES = {
    "unreadable-file": "a file that cannot be opened or read",
    "not-utf8": "bytes that are no UTF-8",
    "control-character": "a character that no text file should hold",
    "tab": "a tab in the indentation",
    "yaml-syntax": "text that is no YAML",
    "empty-file": "a file without entries",
    "several-documents": "more than one YAML document in a file",
    "anchor": "an anchor, an alias or a tag of YAML",
    "yaml-nesting": "lists and mappings nested beyond reason",
    "wrong-type": "a value of another kind than its key's",
    "no-value": "a key without a value",
    "unknown-key": "a key that means nothing here",
    "duplicate-key": "a key given twice in one mapping",
    "missing-key": "a key that an entry must have",
    "bad-value": "a text that is none of those its key allows",
}

# An entry's deepest field is three levels down.
_MAX_DEPTH = 16


# ---------------------------------------------------------------- the raw file


class RawText(NamedTuple):
    """A scalar: the text that it stands for."""

    text: str
    # Where its first character stands, the opening quote or the block's '|' included.
    location: Location
    # Where it is in the file; None for plain text on one line, which stands there as it is.
    span: _Span | None = None

    def at(self, offset: int) -> Location:
        """Where the character at `offset` of the text stands in the file."""
        if self.span is None:
            return self.location.shifted(offset)
        return self.span.at(offset, len(self.text)) or self.location


class RawList(NamedTuple):
    items: tuple[RawNode, ...]
    location: Location


class RawMap(NamedTuple):
    """A mapping; keys are unique, in the order of the file."""

    items: tuple[tuple[RawText, RawNode], ...]
    location: Location


RawNode = RawText | RawList | RawMap


class RawEntry(NamedTuple):
    """A mapping whose keys and values agree with a table of `fields`."""

    values: dict[str, RawNode]
    location: Location
    # False when a field was not good, and is not among the values.
    is_whole: bool = True

    def has(self, name: str) -> bool:
        return name in self.values

    def text(self, name: str, default: str = "") -> str:
        node = self.values.get(name)
        return node.text if isinstance(node, RawText) else default

    def node(self, name: str) -> RawText | None:
        node = self.values.get(name)
        return node if isinstance(node, RawText) else None

    def flag(self, name: str) -> bool:
        return self.text(name).lower() == "true"

    def texts(self, name: str) -> tuple[RawText, ...]:
        """The parts of a TEXTS field, whichever way it is written."""
        return _texts(self.values.get(name), name)

    def pairs(self, name: str) -> tuple[tuple[RawText, RawNode], ...]:
        node = self.values.get(name)
        return node.items if isinstance(node, RawMap) else ()

    def lists(self, name: str) -> tuple[tuple[RawText, tuple[RawText, ...]], ...]:
        """The pairs of a MAP_OF_TEXTS field."""
        return tuple((key, _texts(value, name)) for key, value in self.pairs(name))

    def place(self, name: str) -> Location:
        """Where a field's value stands; the entry's place if it has none."""
        node = self.values.get(name)
        return node.location if node is not None else self.location


class FileForm(Enum):
    """A plain list of entries, as native_functions.yaml; or a mapping of sections."""

    LIST = "list"
    MAPPING = "mapping"


@dataclass(frozen=True, slots=True)
class RawFile:
    """What a file holds. An entry that cannot be used at all is left out."""

    file: str
    form: FileForm
    library: RawEntry | None = None
    functions: tuple[RawEntry, ...] = ()
    deprecated: tuple[RawEntry, ...] = ()
    # Of torch's tags.yaml.
    tags: tuple[RawEntry, ...] = ()


def read_file(path: Path, diagnostics: Diagnostics) -> RawFile:
    """Opens and loads; a file that cannot be read is a diagnostic."""
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        diagnostics.error(Location(str(path)), message, rule="unreadable-file")
        return RawFile(str(path), FileForm.LIST)
    return load_bytes(data, str(path), diagnostics)


def load_bytes(data: bytes, file: str, diagnostics: Diagnostics) -> RawFile:
    """Loads UTF-8, with or without a byte order mark."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        diagnostics.add(_undecodable(data, file, error.start))
        return RawFile(file, FileForm.LIST)
    return load(text, file, diagnostics)


def load(text: str, file: str, diagnostics: Diagnostics) -> RawFile:
    """Loads YAML text; all faults go to `diagnostics`. Raises nothing."""
    source = _Source(file, text)
    fault = source.find_control_character()
    if fault is not None:
        diagnostics.add(fault)
        return RawFile(file, FileForm.LIST)
    root, is_whole = _read_nodes(source, diagnostics)
    return _Checker(source, diagnostics, is_whole).file(root)


def _undecodable(data: bytes, file: str, start: int) -> Diagnostic:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        message = "the file is UTF-16"
        return Diagnostic(Location(file, 1), message, hint="save it as UTF-8", rule="not-utf8")
    before = data[:start].decode("utf-8-sig")
    line = re.split("\r\n|\n|\r", before)[-1]
    rest = re.split(b"[\r\n]", data[start:], maxsplit=1)[0]
    text = line + rest.decode("utf-8", "replace")
    location = Location(file, len(re.split("\r\n|\n|\r", before)), len(line) + 1, text)
    message = f"byte 0x{data[start]:02x} is no UTF-8"
    return Diagnostic(location, message, hint="save the file as UTF-8", rule="not-utf8")


# ---------------------------------------------------------------- text and places

# What YAML takes, without the line ends beside '\n' that it counts and editors do not.
_CONTROL = re.compile(
    "[^\t\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_TAB_INDENT = re.compile(r"[ ]*\t[ \t]*(?=\S)")


class _Source:
    """A file's text with '\\n' alone as line end, and its lines."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        text = text.removeprefix("\ufeff")
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.text.split("\n")
        # Where each line starts.
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def place(self, line: int, column: int) -> Location:
        """Both counted from 0, as in YAML's marks."""
        shown = self.lines[line] if line < len(self.lines) else ""
        return Location(self.file, line + 1, column + 1, shown)

    def place_of(self, index: int) -> Location:
        line = bisect_right(self._starts, index) - 1
        return self.place(line, index - self._starts[line])

    def find_control_character(self) -> Diagnostic | None:
        match = _CONTROL.search(self.text)
        if match is None:
            return None
        # Its code alone: the character itself may not be printable.
        message = f"the character U+{ord(match[0]):04X} cannot stand in a YAML file"
        place = self.place_of(match.start())
        place = Location(place.file, place.line, place.column, _CONTROL.sub("?", place.text))
        return Diagnostic(place, message, hint="delete it", rule="control-character")


# What stands in a scalar's source for how many characters of its text: an escape, or a line's end
# with the blanks around it, which folds into one blank or into the empty lines it holds.
_FOLD = r"[ \t]*\n(?:[ \t]*\n)*[ \t]*"
_UNITS = {
    "": re.compile(rf"(?P<fold>{_FOLD})|.", re.DOTALL),
    "'": re.compile(rf"(?P<fold>{_FOLD})|''|.", re.DOTALL),
    '"': re.compile(
        rf"(?P<join>\\\n[ \t]*)|(?P<fold>{_FOLD})"
        r"|\\x.{2}|\\u.{4}|\\U.{8}|\\.|.",
        re.DOTALL,
    ),
}


@dataclass(frozen=True, slots=True)
class _Span:
    """A scalar's place in the source, with the marks around it."""

    source: _Source = field(compare=False, repr=False)
    start: int
    end: int
    # "" plain, "'" or '"' quoted, '|' or '>' a block.
    style: str

    def at(self, offset: int, length: int) -> Location | None:
        """The place of one character; None where the source cannot be followed."""
        positions = _positions(self)
        if not positions or offset > length:
            return None
        # The end of the text is behind its last character.
        index = positions[offset] if offset < len(positions) else positions[-1] + 1
        return self.source.place_of(index)

    def positions(self) -> Iterator[int]:
        """Where in the source each character of the text stands."""
        return self._block() if self.style in ("|", ">") else self._flow()

    def _flow(self) -> Iterator[int]:
        quote = len(self.style)
        text = self.source.text
        for match in _UNITS[self.style].finditer(text, self.start + quote, self.end - quote):
            count = 1
            if match.lastgroup == "join":
                count = 0
            elif match.lastgroup == "fold":
                count = max(1, match[0].count("\n") - 1)
            yield from [match.start()] * count

    def _block(self) -> Iterator[int]:
        """One for one, behind each line's indentation; folding replaces characters, mostly."""
        text = self.source.text
        position = text.find("\n", self.start, self.end) + 1
        if position == 0:
            return
        indent = self._block_indent(position)
        while position < self.end:
            end = text.find("\n", position, self.end)
            end = self.end if end < 0 else end
            yield from range(min(position + indent, end), min(end + 1, self.end))
            position = end + 1

    def _block_indent(self, position: int) -> int:
        for line in self.source.text[position : self.end].split("\n"):
            if line.strip(" "):
                return len(line) - len(line.lstrip(" "))
        return 0


# One scalar's places are asked for one after the other.
@lru_cache(maxsize=1)
def _positions(span: _Span) -> list[int]:
    return list(span.positions())


# ---------------------------------------------------------------- YAML to nodes


class _Refused(Exception):
    """Ends the reading of a file; what came before is kept."""

    def __init__(self, location: Location, message: str, rule: str, hint: str = "") -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(location, message, hint=hint, rule=rule)


@dataclass(slots=True)
class _Frame:
    """A list or a mapping that is still open."""

    is_map: bool
    location: Location
    items: list[RawNode] = field(default_factory=list)
    pairs: list[tuple[RawText, RawNode]] = field(default_factory=list)
    seen: dict[str, Location] = field(default_factory=dict)
    key: RawText | None = None

    def node(self) -> RawNode:
        if self.is_map:
            return RawMap(tuple(self.pairs), self.location)
        return RawList(tuple(self.items), self.location)


def _read_nodes(source: _Source, diagnostics: Diagnostics) -> tuple[RawNode | None, bool]:
    """The file's tree, and whether it was read to its end."""
    builder = _Builder(source, diagnostics)
    try:
        for event in yaml.parse(source.text, Loader=_parser_for(source.text)):
            builder.take(event)
        builder.refuse_tabs()
    except _Refused as refused:
        diagnostics.add(refused.diagnostic)
    except yaml.YAMLError as error:
        diagnostics.add(_yaml_fault(source, error))
    except (ValueError, OverflowError) as error:
        # PyYAML's own parser lets impossible escapes and versions through to Python's int and chr.
        diagnostics.error(builder.place, f"no YAML: {error}", rule="yaml-syntax")
    else:
        return builder.root, True
    return builder.partial(), False


def _parser_for(text: str) -> Any:
    """PyYAML's C parser where there is one: seven times as fast, with the same events and marks.

    They differ on tabs, of which PyYAML's own parser takes fewer. A file must not load on one
    machine alone, so that one reads what has tabs.
    """
    return yaml.SafeLoader if "\t" in text else getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Builder:
    """Builds nodes from events, with a stack of its own."""

    def __init__(self, source: _Source, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._stack: list[_Frame] = []
        self._documents = 0
        # (first, last) line of each block scalar, in which tabs are text.
        self._blocks: list[tuple[int, int]] = []
        self.root: RawNode | None = None
        self._last: yaml.Event | None = None
        self._takers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceEndEvent: self._close,
            yaml.MappingEndEvent: self._close,
            yaml.DocumentStartEvent: self._document,
            yaml.AliasEvent: self._refuse_anchor,
        }

    def take(self, event: yaml.Event) -> None:
        taker = self._takers.get(type(event))
        if taker is not None:
            taker(event)
            self._last = event

    @property
    def place(self) -> Location:
        """Where the last event was."""
        return self._source.place(0, 0) if self._last is None else self._place(self._last)

    def partial(self) -> RawNode | None:
        """What was read before a fault; the entry or the field that it is in is left out."""
        while self._stack:
            frame = self._stack.pop()
            is_section = len(self._stack) == 1 and self._stack[0].is_map and not frame.is_map
            if not self._stack or is_section:
                self._add(frame.node())
        return self.root

    def refuse_tabs(self) -> None:
        if "\t" not in self._source.text:
            return
        in_blocks = {line for first, last in self._blocks for line in range(first, last + 1)}
        for line, text in enumerate(self._source.lines):
            if line not in in_blocks and _TAB_INDENT.match(text):
                raise _Refused(*_tab_fault(self._source.place(line, 0)))

    def _document(self, event: yaml.Event) -> None:
        self._documents += 1
        if self._documents > 1:
            place = self._place(event)
            message = "a second YAML document starts here"
            raise _Refused(place, message, "several-documents", "keep one in each file")

    def _place(self, event: Any) -> Location:
        mark = event.start_mark
        return self._source.place(mark.line, mark.column)

    def _refuse_anchor(self, event: Any) -> None:
        hint = "write the value out, in quotes if it starts with one of & * !"
        message = "anchors, aliases and tags of YAML are not read"
        raise _Refused(self._place(event), message, "anchor", hint)

    def _scalar(self, event: Any) -> None:
        if event.anchor is not None or event.tag is not None:
            self._refuse_anchor(event)
        start, end = event.start_mark, event.end_mark
        style = event.style or ""
        is_plain = style == "" and start.line == end.line
        if style in ("|", ">"):
            self._blocks.append((start.line, end.line))
        span = None if is_plain else _Span(self._source, start.index, end.index, style)
        self._add(RawText(event.value, self._source.place(start.line, start.column), span))

    def _open(self, event: Any) -> None:
        if event.anchor is not None or event.tag is not None:
            self._refuse_anchor(event)
        if len(self._stack) >= _MAX_DEPTH:
            raise _Refused(self._place(event), "nested too deep", "yaml-nesting")
        if self._stack and self._stack[-1].is_map and self._stack[-1].key is None:
            raise _Refused(self._place(event), "a key must be text", "wrong-type")
        self._stack.append(_Frame(isinstance(event, yaml.MappingStartEvent), self._place(event)))

    def _close(self, event: yaml.Event) -> None:
        self._add(self._stack.pop().node())

    def _add(self, node: RawNode) -> None:
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        if not frame.is_map:
            frame.items.append(node)
        elif frame.key is None:
            # _open has refused all but text.
            assert isinstance(node, RawText)
            frame.key = node
        else:
            self._add_pair(frame, frame.key, node)
            frame.key = None

    def _add_pair(self, frame: _Frame, key: RawText, value: RawNode) -> None:
        first = frame.seen.setdefault(key.text, key.location)
        if first is key.location:
            frame.pairs.append((key, value))
            return
        message = f"key {_shown(key.text)} is given twice, first on line {first.line}"
        self._diagnostics.error(key.location, message, hint="delete one", rule="duplicate-key")


def _tab_fault(place: Location) -> tuple[Location, str, str, str]:
    column = place.text.index("\t") + 1
    where = Location(place.file, place.line, column, place.text)
    return where, "a tab in the indentation", "tab", "indent with spaces"


def _yaml_fault(source: _Source, error: yaml.YAMLError) -> Diagnostic:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return Diagnostic(Location(source.file), f"no YAML: {error}", rule="yaml-syntax")
    place = source.place(mark.line, mark.column)
    if place.text[mark.column : mark.column + 1] == "\t":
        hint = "use spaces in front of a value"
        return Diagnostic(place, "a tab that YAML refuses", hint=hint, rule="tab")
    # A tab misleads YAML on its own line or on the next, where its message names no tab.
    for line in (mark.line, mark.line - 1):
        text = source.lines[line] if 0 <= line < len(source.lines) else ""
        if _TAB_INDENT.match(text):
            where, message, rule, hint = _tab_fault(source.place(line, 0))
            return Diagnostic(where, message, hint=hint, rule=rule)
    problem = getattr(error, "problem", None) or "unreadable"
    context = getattr(error, "context", None)
    message = f"no YAML: {problem}" + (f" ({context})" if context else "")
    hint = ""
    if "mapping values" in message:
        hint = "align the keys of an entry, and quote a text that holds ': '"
    return Diagnostic(place, message, hint=hint, rule="yaml-syntax")


# ---------------------------------------------------------------- nodes to entries

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KIND_NAMES = {RawText: "text", RawList: "a list", RawMap: "a mapping"}
_EXAMPLE = "library: {namespace: demo, module: demo_ops}"
_FUNC_EXAMPLE = "write - func: ..."


class _Checker:
    """Checks nodes against the tables of keys."""

    def __init__(self, source: _Source, diagnostics: Diagnostics, is_whole: bool) -> None:
        self._source = source
        self._diagnostics = diagnostics
        # After a fault of YAML a key that is not there may only not have been reached.
        self._is_whole = is_whole

    def _error(
        self, location: Location, message: str, rule: str, hint: str = "", subject: str = ""
    ) -> None:
        self._diagnostics.error(location, message, subject=subject, hint=hint, rule=rule)

    def file(self, root: RawNode | None) -> RawFile:
        file = self._source.file
        if isinstance(root, RawList):
            return self._list_form(root)
        if isinstance(root, RawMap):
            return self._mapping_form(root)
        is_empty = root is None or root.text.strip() == ""
        if is_empty and self._is_whole:
            hint = "it holds a list of '- func: ...' entries, or library: and functions:"
            self._error(Location(file, 1), "the file is empty", "empty-file", hint)
        elif root is not None:
            message = "the file is neither a list of entries nor a mapping"
            self._error(root.location, message, "wrong-type", "an entry starts with '- func: '")
        return RawFile(file, FileForm.LIST)

    def _list_form(self, root: RawList) -> RawFile:
        if not root.items and self._is_whole:
            self._error(root.location, "the file has no entries", "empty-file")
        found: dict[str, list[RawEntry]] = {"func": [], "name": [], "tag": []}
        for item in root.items:
            kind, table = _list_table(item)
            entry = self._entry(item, table, "an entry")
            if entry is not None:
                found[kind].append(entry)
        return RawFile(
            self._source.file,
            FileForm.LIST,
            None,
            *(tuple(found[kind]) for kind in ("func", "name", "tag")),
        )

    def _mapping_form(self, root: RawMap) -> RawFile:
        keys = {key.text for key, _ in root.items}
        if "func" in keys and "functions" not in keys:
            message = "an entry that is no item of a list"
            self._error(root.location, message, "wrong-type", "write '- func: ...'")
            return RawFile(self._source.file, FileForm.MAPPING)
        top = self._entry(root, TOP_FIELDS, "the file")
        values = top.values if top is not None else {}
        library = values.get("library")
        file = RawFile(
            self._source.file,
            FileForm.MAPPING,
            None if library is None else self._entry(library, LIBRARY_FIELDS, "library"),
            self._entries(values.get("functions"), ENTRY_FIELDS),
            self._entries(values.get("deprecated"), DEPRECATED_FIELDS),
        )
        functions = values.get("functions")
        if functions is not None and not file.functions and not self._diagnostics.has_errors:
            self._error(functions.location, "functions has no entry", "empty-file", _FUNC_EXAMPLE)
        return file

    def _entries(self, node: RawNode | None, table: tuple[Field, ...]) -> tuple[RawEntry, ...]:
        if not isinstance(node, RawList):
            return ()
        found = [self._entry(item, table, "an entry") for item in node.items]
        return tuple(entry for entry in found if entry is not None)

    def _entry(self, node: RawNode, table: tuple[Field, ...], what: str) -> RawEntry | None:
        """The fields of one mapping that are good; None if it cannot be used at all."""
        if not isinstance(node, RawMap):
            self._not_a_mapping(node, table, what)
            return None
        by_name = _by_name(table)
        subject = _subject(node)
        values: dict[str, RawNode] = {}
        for key, value in node.items:
            spec = by_name.get(key.text)
            if spec is None:
                self._unknown_key(key, by_name, subject)
            elif self._is_good(spec, value, subject):
                values[key.text] = value
        given = {key.text for key, _ in node.items}
        missing = [f.name for f in table if f.required and f.name not in given]
        if missing and (self._is_whole or table is not TOP_FIELDS):
            self._missing(node, missing, what, subject)
        # Without what it must have there is nothing that a later stage could say of it.
        if any(f.required and f.name not in values for f in table) and table is not TOP_FIELDS:
            return None
        return RawEntry(values, node.location, len(values) == len(node.items))

    def _not_a_mapping(self, node: RawNode, table: tuple[Field, ...], what: str) -> None:
        example = f"write '{table[0].name}: ...'" if table is not LIBRARY_FIELDS else _EXAMPLE
        message = f"{what} must be a mapping, not {_KIND_NAMES[type(node)]}"
        if isinstance(node, RawText):
            message += f" {_shown(node.text)}" if node.text else " without a value"
        self._error(node.location, message, "wrong-type", example)

    def _unknown_key(self, key: RawText, by_name: dict[str, Field], subject: str) -> None:
        names = f"known: {', '.join(by_name)}" if len(by_name) < 8 else ""
        hint = self._diagnostics.did_you_mean(key.text, by_name) or names
        self._error(key.location, f"unknown key {_shown(key.text)}", "unknown-key", hint, subject)

    def _missing(self, node: RawMap, missing: list[str], what: str, subject: str) -> None:
        keys = " and ".join(f"{name!r}" for name in missing)
        self._error(node.location, f"{what} has no {keys}", "missing-key", subject=subject)

    # ------------------------------------------------------------ values

    def _is_good(self, spec: Field, value: RawNode, subject: str) -> bool:
        before = len(self._diagnostics.items)
        self._check(spec, value, subject)
        return len(self._diagnostics.items) == before

    def _check(self, spec: Field, value: RawNode, subject: str) -> None:
        if not isinstance(value, _ACCEPTED[spec.kind]):
            self._wrong_type(spec, value, subject)
        elif isinstance(value, RawText):
            self._check_text(spec, value, subject)
        elif isinstance(value, RawList):
            if spec.kind is not FieldKind.ENTRIES:
                self._check_items(spec, value, subject)
        elif spec.kind is not FieldKind.RECORD:
            self._check_pairs(spec, value, subject)

    def _wrong_type(self, spec: Field, value: RawNode, subject: str) -> None:
        if isinstance(value, RawText) and value.text == "" and value.span is None:
            self._no_value(spec.name, value, subject)
            return
        message = f"{spec.name} must be {spec.kind.value}, not {_KIND_NAMES[type(value)]}"
        hint = "quote the text" if spec.kind is FieldKind.TEXT else ""
        self._error(value.location, message, "wrong-type", hint, subject)

    def _no_value(self, name: str, value: RawText, subject: str) -> None:
        self._error(value.location, f"{name} has no value", "no-value", "", subject)

    def _check_text(self, spec: Field, value: RawText, subject: str) -> None:
        # '' in quotes is text; nothing at all is a value forgotten.
        if value.text == "" and value.span is None:
            self._no_value(spec.name, value, subject)
            return
        parts = _texts(value, spec.name) if spec.kind is FieldKind.TEXTS else (value,)
        for part in parts:
            fault = _text_fault(spec, part.text)
            if fault:
                message = f"{spec.name} cannot be {_shown(part.text)}"
                self._error(part.location, message, "bad-value", fault, subject)

    def _check_items(self, spec: Field, value: RawList, subject: str) -> None:
        for item in value.items:
            if isinstance(item, RawText):
                self._check_text(spec, item, subject)
            else:
                message = f"{spec.name} must hold texts alone, not {_KIND_NAMES[type(item)]}"
                self._error(item.location, message, "wrong-type", "", subject)

    def _check_pairs(self, spec: Field, value: RawMap, subject: str) -> None:
        for key, item in value.items:
            if isinstance(item, RawText):
                self._check_pair_text(spec, key, item, subject)
            elif isinstance(item, RawList) and spec.kind is FieldKind.MAP_OF_TEXTS:
                self._check_items(spec, item, subject)
            else:
                kind = _KIND_NAMES[type(item)]
                message = f"{spec.name}: {_shown(key.text)} must be text, not {kind}"
                self._error(item.location, message, "wrong-type", "", subject)

    def _check_pair_text(self, spec: Field, key: RawText, item: RawText, subject: str) -> None:
        if item.text != "" or item.span is not None:
            return
        # `{CPU, CUDA: f}` is YAML for CPU without a value, and CUDA: f.
        quoted = "between braces quote several keys: {'CPU, CUDA': kernel}"
        hint = quoted if spec.name == "dispatch" else ""
        message = f"{spec.name}: key {_shown(key.text)} has no value"
        self._error(key.location, message, "no-value", hint, subject)


_ACCEPTED: dict[FieldKind, tuple[type, ...]] = {
    FieldKind.TEXT: (RawText,),
    FieldKind.NAME: (RawText,),
    FieldKind.FLAG: (RawText,),
    FieldKind.COUNT: (RawText,),
    FieldKind.TEXTS: (RawText, RawList),
    FieldKind.MAP: (RawMap,),
    FieldKind.MAP_OF_TEXTS: (RawMap,),
    FieldKind.TEXT_OR_MAP: (RawText, RawMap),
    FieldKind.RECORD: (RawMap,),
    FieldKind.ENTRIES: (RawList,),
}
_TABLES = {
    id(table): {f.name: f for f in table}
    for table in (ENTRY_FIELDS, LIBRARY_FIELDS, DEPRECATED_FIELDS, TAG_FIELDS, TOP_FIELDS)
}
_SPLIT = frozenset(f.name for f in ENTRY_FIELDS if f.splits)


def _by_name(table: tuple[Field, ...]) -> dict[str, Field]:
    return _TABLES[id(table)]


def _list_table(item: RawNode) -> tuple[str, tuple[Field, ...]]:
    """Which of torch's three lists an item is of: functions, deprecated signatures or tags."""
    keys = {key.text for key, _ in item.items} if isinstance(item, RawMap) else set()
    if "func" not in keys and "name" in keys:
        return "name", DEPRECATED_FIELDS
    if "func" not in keys and "tag" in keys:
        return "tag", TAG_FIELDS
    return "func", ENTRY_FIELDS


def _subject(node: RawMap) -> str:
    """The op's name, from the text of its schema, whether that can be read or not."""
    for key, value in node.items:
        if key.text in ("func", "name") and isinstance(value, RawText):
            name = value.text.split("(")[0].strip()
            return name if re.fullmatch(r"[\w.:]{1,80}", name) else ""
    return ""


def _texts(node: RawNode | None, name: str) -> tuple[RawText, ...]:
    if isinstance(node, RawList):
        return tuple(item for item in node.items if isinstance(item, RawText))
    if not isinstance(node, RawText):
        return ()
    return tuple(_split(node)) if name in _SPLIT else (node,)


def _split(node: RawText) -> Iterator[RawText]:
    for match in re.finditer(r"[^,]+", node.text):
        text = match[0].strip()
        offset = match.start() + len(match[0]) - len(match[0].lstrip())
        yield RawText(text, node.at(offset))


def _text_fault(spec: Field, text: str) -> str:
    """What the text must be instead; '' if it is good."""
    if "\0" in text:
        return "delete the NUL character, which ends a text of C and of Python's docs"
    if spec.kind is FieldKind.FLAG:
        good = text in ("true", "True", "TRUE", "false", "False", "FALSE")
        return "" if good else "write true or false"
    if spec.kind is FieldKind.NAME:
        # It is in the names of files.
        if len(text) > MAX_NAME:
            return f"a name has at most {MAX_NAME} characters"
        return "" if _NAME.match(text) else "a name has letters, digits and '_', and no digit first"
    if spec.kind is FieldKind.COUNT:
        good = bool(re.fullmatch("[1-9][0-9]{0,2}", text)) and int(text) <= MAX_SHARDS
        return "" if good else f"write a number from 1 to {MAX_SHARDS}"
    if spec.allowed and text not in (*spec.allowed, *spec.for_tests):
        return _one_of(text, spec.allowed)
    return ""


def _one_of(text: str, allowed: Iterable[str]) -> str:
    listed = f"allowed: {', '.join(allowed)}"
    return f"{did_you_mean(text, allowed)} {listed}".strip()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
