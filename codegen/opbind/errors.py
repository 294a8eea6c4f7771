"""Places in the input, and what is said about them.

Every stage reports through `Diagnostics`: it collects, so that one run shows all of a stage's
faults, and the command stops between stages. Nothing here prints.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, whatever the case of letters; '' when nothing is near."""
    by_lower = {one.lower(): one for one in sorted(known)}
    # What is compared is cut: the time grows with the square of the length.
    close = difflib.get_close_matches(name[:60].lower(), by_lower, n=1)
    return f"did you mean {by_lower[close[0]]!r}?" if close else ""


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


class Location(NamedTuple):
    """A place in an input file."""

    # Path as the user gave it; '-' or '<string>' when there is no file.
    file: str
    # 1-based line; 0 when the whole file is meant.
    line: int = 0
    # 1-based column, in characters; 0 when the whole line is meant.
    column: int = 0
    # The line's text, without its line end; '' when unknown (no excerpt is shown then).
    text: str = ""

    def __str__(self) -> str:
        parts = [self.file]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)

    def shifted(self, offset: int) -> Location:
        """The place `offset` characters to the right, on the same line."""
        return Location(self.file, self.line, self.column + offset, self.text)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault: where, of which op, what, and what to do about it."""

    location: Location
    message: str
    # The op or function meant; '' outside any.
    subject: str = ""
    # What is allowed, or "did you mean 'x'?"; '' when the message says it all.
    hint: str = ""
    severity: Severity = Severity.ERROR
    # The rule that was broken, a stable kebab-case identifier ('unknown-key').
    rule: str = ""

    def render(self) -> str:
        """`FILE:LINE:COL: error: OP: what, hint`, then the source line and a caret."""
        subject = f"{self.subject}: " if self.subject else ""
        hint = f"; {self.hint}" if self.hint else ""
        head = f"{self.location}: {self.severity.value}: {subject}{self.message}{hint}"
        return "\n".join([head, *self._excerpt()])

    def _excerpt(self) -> list[str]:
        text = self.location.text
        if not text.strip():
            return []
        if not self.location.column:
            return [f"  {_cut(text, 0)[0]}"]
        shown, index = _cut(text, self.location.column - 1)
        # Tabs are kept in front of the caret, so that it stands under its character.
        lead = "".join("\t" if c == "\t" else " " for c in shown[:index])
        return [f"  {shown}", f"  {lead}^"]


# Of a line of the input: generated files may have any.
_LONGEST_EXCERPT = 400


def _cut(text: str, index: int) -> tuple[str, int]:
    """What is shown of a line, the character at `index` among it, and where that then is."""
    if len(text) <= _LONGEST_EXCERPT:
        return text, index
    start = max(0, min(index, len(text)) - _LONGEST_EXCERPT // 2)
    end = start + _LONGEST_EXCERPT
    before, after = "..." if start else "", "..." if end < len(text) else ""
    return f"{before}{text[start:end]}{after}", index - start + len(before)


class SchemaError(Exception):
    """A fault that ends the reading of one entry; caught where entries are looped over."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.render())
        self.diagnostic = diagnostic


_MOST_GUESSES = 1_000


@dataclass(slots=True)
class Diagnostics:
    """What the stages found, in the order found."""

    items: list[Diagnostic] = field(default_factory=list)

    def add(self, diagnostic: Diagnostic) -> None:
        self.items.append(diagnostic)

    def error(
        self, location: Location, message: str, *, subject: str = "", hint: str = "", rule: str = ""
    ) -> None:
        self.add(Diagnostic(location, message, subject, hint, Severity.ERROR, rule))

    def warning(
        self, location: Location, message: str, *, subject: str = "", hint: str = "", rule: str = ""
    ) -> None:
        self.add(Diagnostic(location, message, subject, hint, Severity.WARNING, rule))

    def did_you_mean(self, name: str, known: Iterable[str]) -> str:
        """As the function; '' after so many faults that nobody reads on, since it takes long."""
        return did_you_mean(name, known) if len(self.items) < _MOST_GUESSES else ""

    @property
    def has_errors(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.items)

    def sorted(self) -> list[Diagnostic]:
        """By place, so that the order of stages does not show."""
        return sorted(
            self.items, key=lambda d: (d.location.file, d.location.line, d.location.column)
        )
