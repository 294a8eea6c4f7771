"""Text from the input as C++ text: the one place that escapes.

What a user writes (docs, defaults, names) reaches C++ as a string literal or in a `//` comment. The
bytes of a literal are exactly those of the text in UTF-8, whatever stands in it: quotes,
backslashes, `??/`, line ends, control characters.
"""

from __future__ import annotations

import textwrap

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


def string_literals(text: str, width: int = COLUMNS) -> tuple[str, ...]:
    """`text` as adjacent literals of at most `width` columns, cut after line ends and spaces."""
    lines: list[str] = []
    for part in text.splitlines(keepends=True) or [""]:
        lines += _literals_of_line(_escaped_characters(part), width - 2)
    return tuple(f'"{line}"' for line in lines)


def string_literal(text: str) -> str:
    """`text` as a single literal, however long."""
    return f'"{"".join(_escaped_characters(text))}"'


def byte_length(text: str) -> int:
    """How many bytes a literal of `text` has, without the final NUL."""
    return len(text.encode("utf-8", "surrogatepass"))


def _escaped_characters(text: str) -> list[str]:
    """One piece per character; a piece must not be cut."""
    pieces = []
    for i, character in enumerate(text):
        alone = character == "?" and "?" not in (text[i - 1 : i], text[i + 1 : i + 2])
        pieces.append(character if alone else _escaped(character))
    return pieces


def _escaped(character: str) -> str:
    code = ord(character)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if 0x20 <= code < 0x7F:
        return character
    # Three octal digits: no digit that follows can join the escape.
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


def _literals_of_line(pieces: list[str], width: int) -> list[str]:
    """Cut into runs of at most `width` columns, after a space where there is one."""
    lines: list[str] = []
    start = space = total = 0
    for i, piece in enumerate(pieces):
        # At least one piece, however long.
        while i > start and total + len(piece) > width:
            cut = space if space > start else i
            lines.append("".join(pieces[start:cut]))
            start, total = cut, sum(map(len, pieces[cut:i]))
        total += len(piece)
        if piece == " ":
            space = i + 1
    return [*lines, "".join(pieces[start:])]


def comment(text: str, indent: int = 0) -> tuple[str, ...]:
    """`text` as `//` lines of at most 100 columns; continuation lines are indented.

    A comment must not swallow the line below it, so none ends in a backslash.
    """
    lines = textwrap.wrap(
        _printable(text),
        COLUMNS - indent - 3,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return tuple(" " * indent + f"// {_unspliced(line)}" for line in lines or ["-"])


def _printable(text: str) -> str:
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
