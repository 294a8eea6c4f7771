"""Schema text as tokens, and the literals among them.

The tokenizer never fails: what it cannot read becomes one last BAD token, so that the parser
reports the first fault in the order of the text. Offsets count characters from the text's start.
"""

from __future__ import annotations

import math
import re
import sys
from enum import Enum
from typing import NamedTuple

from .model import Default, DefaultKind


class Kind(Enum):
    NAME = "a name"
    NUMBER = "a number"
    STRING = "a string"
    # '->', '...', or one character of the language's own.
    MARK = "a mark"
    BAD = "no token"
    END = "the end"


class Token(NamedTuple):
    kind: Kind
    text: str
    offset: int


class LiteralError(ValueError):
    """A number or a string that has the shape of one and no value; `offset` is within it."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


# A number must not run into a name or another dot: 1_000 and 1.2.3 are BAD as a whole. The digits
# are spelled out, as \d would take every script's.
_TOKEN = re.compile(
    r"""
    (?P<SPACE> [ \t\n\r\f\v]+ | \#[^\n]* | \\\r?\n )
  | (?P<NAME> [^\W\d]\w* )
  | (?P<NUMBER>
        (?: 0[xX][0-9a-fA-F]+ (?:\.[0-9a-fA-F]*)? (?:[pP][+-]?[0-9]+)?
          | (?: [0-9]+(?:\.[0-9]*)? | \.[0-9]+ ) (?:[eE][+-]?[0-9]+)?
        ) [jJ]? (?![\w.]) )
  | (?P<STRING>
        \'\'\'(?:[^\\]|\\.)*?\'\'\' | \"\"\"(?:[^\\]|\\.)*?\"\"\"
      | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" )
  | (?P<MARK> -> | \.\.\. | [][()?!,*|:.=+-] )
  | (?P<BAD> [0-9][\w.]* | . )
    """,
    re.VERBOSE | re.DOTALL,
)


_KINDS: dict[str, Kind | None] = {"SPACE": None, **Kind.__members__}


def tokenize(text: str) -> list[Token]:
    """All tokens up to the end, or up to the first BAD one; the last is END or BAD."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = _KINDS[match.lastgroup or "SPACE"]
        if kind is None:
            continue
        tokens.append(Token(kind, match[0], match.start()))
        if kind is Kind.BAD:
            return tokens
    tokens.append(Token(Kind.END, "", len(text.rstrip())))
    return tokens


_ODD_CHARACTERS = {
    "\u2192": "write '->'",
    "\u00a0": "it is a no-break space; write a plain one",
    "\ufeff": "it is a byte order mark; delete it",
    "&": "the schema language has no C++ types; write Tensor, or Tensor(a!) where it is written",
    "<": "the schema language has no C++ types; write T[] for a list, T? for an optional",
    ";": "a schema ends after its returns",
    "{": "a list is written [1, 2], a dictionary type Dict(str, int)",
}


def describe_bad(token: Token) -> tuple[str, str]:
    """What is wrong with a BAD token, and the remedy."""
    text = token.text
    if text[0] in "'\"":
        return "the string is not closed", f"end it with {text[0]} on the same line"
    if text[0].isdigit():
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        return f"{shown!r} is no number", "numbers are written 10, 0x1F, 1.5, 1e-5, 2j"
    return f"unexpected character {text!r}", _ODD_CHARACTERS.get(text, "")


# ---------------------------------------------------------------- numbers

# Longer ones are a mistake, and CPython's own limit on int(str) would be a traceback.
_MAX_DIGITS = 400


def read_number(text: str, negative: bool) -> Default:
    """The exact value of a NUMBER token, with its canonical text.

    Raises LiteralError where no double or no sensible int can hold it.
    """
    if len(text) > _MAX_DIGITS:
        raise LiteralError(0, f"a number of {len(text)} characters")
    sign = "-" if negative else ""
    if text[-1] in "jJ":
        return _read_complex(text[:-1], sign)
    if is_hex(text):
        return _read_hex(text, sign)
    if text.isdigit():
        return int_default(int(f"{sign}{text}", 10))
    return float_default(_finite(f"{sign}{text}"))


def is_hex(text: str) -> bool:
    return text[:2] in ("0x", "0X")


def int_default(value: int) -> Default:
    return Default(DefaultKind.INT, value, str(value))


def float_default(value: float) -> Default:
    # One object for all: a NaN equals nothing but itself, and defaults are compared.
    value = math.nan if math.isnan(value) else value
    return Default(DefaultKind.FLOAT, value, value.hex() if is_subnormal(value) else repr(value))


def is_subnormal(value: float) -> bool:
    """C's strtod, by which PyTorch reads, takes such a number in hexadecimal alone."""
    return 0 < abs(value) < sys.float_info.min


def _read_hex(text: str, sign: str) -> Default:
    if "." not in text and "p" not in text.lower():
        return int_default(int(f"{sign}{text}", 16))
    return float_default(_finite(f"{sign}{text}"))


def _read_complex(text: str, sign: str) -> Default:
    imaginary = _finite(text)
    value = complex(0.0, -imaginary if sign else imaginary)
    # repr(-1j) is '(-0-1j)', which is no literal of the language.
    shown = f"{imaginary.hex()}j" if is_subnormal(imaginary) else repr(complex(0.0, imaginary))
    return Default(DefaultKind.COMPLEX, value, f"{sign}{shown}")


def _finite(text: str) -> float:
    try:
        value = float.fromhex(text) if "x" in text.lower() else float(text)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        raise LiteralError(0, f"{text} is too large for a float", "write inf for infinity")
    return value


# ---------------------------------------------------------------- strings

# Read by PyTorch's parser as well.
_ESCAPES = {
    "\\": "\\", "'": "'", '"': '"', "\n": "\n",
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "t": "\t", "v": "\v",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})"
    r"|U(?P<U>[0-9a-fA-F]{8})|(?P<one>.))",
    re.DOTALL,
)


def read_string(text: str) -> tuple[str, bool]:
    """The value of a STRING token, and whether PyTorch's parser would refuse an escape in it.

    Raises LiteralError at an escape that has no meaning.
    """
    quotes = 3 if text[:3] in ("'''", '"""') and len(text) >= 6 else 1
    # As bytes: an octal escape is one byte of UTF-8, as it is in C++.
    value, position, foreign = bytearray(), quotes, False
    end = len(text) - quotes
    for match in _ESCAPE.finditer(text, quotes, end):
        value += _encode(text[position : match.start()], position)
        piece, is_foreign = _unescape(match)
        value += piece
        foreign |= is_foreign
        position = match.end()
    value += _encode(text[position:end], position)
    return _decode(bytes(value)), foreign


def _unescape(match: re.Match[str]) -> tuple[bytes, bool]:
    octal = match["octal"]
    if octal is not None:
        if int(octal, 8) > 0o377:
            raise LiteralError(match.start(), f"\\{octal} is more than one byte", "at most \\377")
        return bytes([int(octal, 8)]), len(octal) < 3
    if match["one"] is None:
        return _encode(_character(match), match.start()), True
    one = match["one"]
    if one in _ESCAPES:
        return _ESCAPES[one].encode(), False
    if one == "r":
        return b"\r", True
    raise LiteralError(match.start(), f"unknown escape \\{one}", "write \\\\ for a backslash")


def _character(match: re.Match[str]) -> str:
    code = int(match["x"] or match["u"] or match["U"], 16)
    if code > 0x10FFFF:
        raise LiteralError(match.start(), f"{match[0]} is no character", "at most \\U0010FFFF")
    return chr(code)


def _encode(text: str, offset: int) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise LiteralError(offset + error.start, "half of a surrogate pair is no text") from None


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise LiteralError(0, "the escapes do not make UTF-8 text") from None


_WRITTEN = {"\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def quote(value: str) -> str:
    """The canonical literal: in single quotes where that needs no escape, on one line, and with
    those escapes alone that PyTorch's parser reads."""
    mark = '"' if "'" in value and '"' not in value else "'"
    return f"{mark}{''.join(_written(c, mark) for c in value)}{mark}"


def _written(character: str, mark: str) -> str:
    if character == mark:
        return f"\\{mark}"
    if character in _WRITTEN:
        return _WRITTEN[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode())
