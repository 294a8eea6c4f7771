"""Text from the input as C++ text: the one place that escapes.

What a user writes (docs, defaults, names) reaches C++ as a string literal or in a `//` comment. The
bytes of a literal are exactly those of the text in UTF-8, whatever stands in it: quotes,
backslashes, `??/`, line ends, control characters.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

COLUMNS = 100

_ESCAPES = {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
    ord("\n"): "\\n",
    ord("\t"): "\\t",
    ord("\r"): "\\r",
    # No two question marks stand together, so nothing can be read as a trigraph.
    ord("?"): "\\?",
}


# What cannot stand in a literal as it is.
_SPECIAL = re.compile(r"\?\?+|[^ !#-\[\]-~]")
_PLAIN = re.compile(r"[ !#-\[\]-~]*")
_WORD = re.compile(r"[^ ]* |[^ ]+")


def string_literals(text: str, width: int = COLUMNS) -> tuple[str, ...]:
    """`text` as adjacent literals of at most `width` columns, cut after line ends and spaces."""
    parts = text.splitlines(keepends=True) or [""]
    return tuple(f'"{line}"' for part in parts for line in _literals_of_line(part, width - 2))


def string_literal(text: str) -> str:
    """`text` as a single literal, however long."""
    return f'"{_escaped(text)}"'


def byte_length(text: str) -> int:
    """How many bytes a literal of `text` has, without the final NUL."""
    return len(text.encode("utf-8", "surrogatepass"))


def _escaped(text: str) -> str:
    # Most texts are plain, and end in '\n' at most.
    line = text.removesuffix("\n")
    if _PLAIN.fullmatch(line) and "??" not in line:
        return line if line is text else f"{line}\\n"
    return _SPECIAL.sub(lambda match: "".join(map(_escaped_character, match[0])), text)


def _escaped_characters(text: str) -> list[str]:
    """One piece per character; a piece must not be cut."""
    pieces = []
    for i, character in enumerate(text):
        alone = character == "?" and "?" not in (text[i - 1 : i], text[i + 1 : i + 2])
        pieces.append(character if alone else _escaped_character(character))
    return pieces


def _escaped_character(character: str) -> str:
    code = ord(character)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if 0x20 <= code < 0x7F:
        return character
    # Three octal digits: no digit that follows can join the escape.
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


def _literals_of_line(text: str, width: int) -> Iterator[str]:
    """Cut into runs of at most `width` columns, after a space where there is one."""
    line = _escaped(text)
    if len(line) <= width:
        yield line
        return
    line = ""
    for word in _WORD.findall(text):
        escaped = _escaped(word)
        if line and len(line) + len(escaped) > width:
            yield line
            line = ""
        for piece in [escaped] if len(escaped) <= width else _escaped_characters(word):
            # At least one piece, however long.
            if line and len(line) + len(piece) > width:
                yield line
                line = ""
            line += piece
    yield line


def comment(text: str, indent: int = 0) -> tuple[str, ...]:
    """`text` as `//` lines of at most 100 columns; continuation lines are indented.

    A comment must not swallow the line below it, so none ends in a backslash.
    """
    printable, width = _printable(text), COLUMNS - indent - 3
    lines = [printable]
    if len(printable) > width or printable != printable.strip():
        lines = textwrap.wrap(
            printable,
            width,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return tuple(" " * indent + f"// {_unspliced(line)}" for line in lines or ["-"])


def _printable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode() for c in text)


def _unspliced(line: str) -> str:
    return f"{line}." if line.endswith(("\\", "??/")) else line


def wrapped(head: str, items: tuple[str, ...], tail: str, indent: int = 0) -> str:
    """`head(items)tail` on one line if it fits, else with the items packed below each other.

    `head` ends with the opening bracket, `tail` begins with the closing one. The layout is that of
    clang-format's Google style.
    """
    margin = " " * indent
    line = f"{margin}{head}{', '.join(items)}{tail}"
    if len(line) <= COLUMNS or not items:
        return line
    column = indent + len(head.rsplit("\n", 1)[-1])
    longest = max(len(item) + 1 for item in items[:-1] or items)
    longest = max(longest, len(items[-1]) + len(tail))
    if column + longest <= COLUMNS and not head.endswith(" {"):
        return f"{margin}{head}{_packed(items, tail, column, column)}"
    deeper = indent + 4
    return f"{margin}{head}\n{' ' * deeper}{_packed(items, tail, deeper, deeper)}"


def function_head(
    return_type: str, name: str, parameters: tuple[str, ...], tail: str, indent: int = 0
) -> str:
    """`return_type name(parameters)tail`; a long return type stands on lines of its own."""
    head = f"{return_type} {name}("
    if indent + len(head) <= COLUMNS // 2 or (
        _width(wrapped(head, parameters, f"){tail}", indent)) <= COLUMNS
    ):
        return wrapped(head, parameters, f"){tail}", indent)
    rest = wrapped(f"{name}(", parameters, f"){tail}", indent)
    return f"{broken_type(return_type, indent)}\n{rest}"


def broken_type(type_: str, indent: int = 0) -> str:
    """A type, that of a tuple on several lines if it is long."""
    name, bracket, elements = type_.partition("<")
    if indent + len(type_) <= COLUMNS or not bracket:
        return " " * indent + type_
    return wrapped(f"{name}<", tuple(elements[:-1].split(", ")), ">", indent)


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))


def _packed(items: tuple[str, ...], tail: str, column: int, start: int) -> str:
    text = ""
    for i, item in enumerate(items):
        piece = item + ("," if i + 1 < len(items) else tail)
        if text and start + 1 + len(piece) > COLUMNS:
            text += "\n" + " " * column + piece
            start = column + len(piece)
        else:
            text += f" {piece}" if text else piece
            start += len(piece) + (1 if text != piece else 0)
    return text
