"""The wrong calls of docs/errors.md, and what a call says of itself.

The page is written by errors.py; tests/module/test_errors_page.py makes the same calls, and
compares.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A wrong call of a function of the example library."""

    # What is wrong.
    title: str
    function: str
    arguments: str
    # torch has a function of its own; for others its binding is torch.ops.demo.
    is_torchs: bool = False

    @property
    def torch(self) -> str:
        return f"{'torch' if self.is_torchs else 'torch.ops.demo'}.{self.function}"

    def __str__(self) -> str:
        return f"{self.function}({self.arguments})"


CALLS = (
    Call("A number as text", "scale", 'x, "2"'),
    Call("None for a tensor", "scale", "None"),
    Call("A text for a tensor", "scale", '"x"'),
    Call("A list for a tensor", "scale", "[1.0, 2.0]"),
    Call("Missing arguments", "nms", "x"),
    Call("Too many arguments", "scale", "x, 1.0, 2.0"),
    Call("A keyword-only argument by position", "describe", 'x, "prefix", True'),
    Call("A misspelt keyword", "scale", "x, alhpa=2.0"),
    Call("An argument given twice", "scale", "x, 1.0, alpha=2.0"),
    Call("An element of a list", "strides_of", "x, [0, 1.5]"),
    Call("An element of a list of tensors", "weighted_sum", "[x, 1]"),
    Call("A list in a list", "strides_of", "x, [[0, 1]]"),
    Call("A list of another length", "frexp", "x, out=(x,)", is_torchs=True),
    Call("A bool for an int", "busy_wait_ms", "True"),
    Call("A float for an int", "busy_wait_ms", "1.0"),
    Call("An int beyond 64 bits", "busy_wait_ms", "2**63"),
    Call("NumPy's bool for an int", "busy_wait_ms", "np.bool_(True)"),
    Call("A tensor with one dimension for an int", "busy_wait_ms", "torch.tensor([2])"),
    Call(
        "A tensor that requires grad for a float",
        "scale",
        "x, torch.tensor(2.0, requires_grad=True)",
    ),
    Call("A complex number for a float", "scale", "x, 2j"),
    Call("An int for a scalar, beyond 64 bits", "add", "x, x, alpha=2**64", is_torchs=True),
    Call("Another dtype", "cast", 'x, "float32"'),
    Call("Another device", "cast", 'x, torch.int8, device="cqu"'),
    Call("Another layout", "zeros_like", 'x, layout="strided"', is_torchs=True),
    Call("A seed for a generator", "bernoulli", "x, generator=3", is_torchs=True),
    Call("Overloads: the value of a keyword", "add", 'x, x, alpha="2"', is_torchs=True),
    Call("Overloads: a misspelt keyword", "sum", "x, axs=0", is_torchs=True),
    Call("A C++ exception: std::out_of_range", "raise_error", '"out_of_range"'),
    Call("A C++ exception that is no std::exception", "raise_error", '"int"'),
    Call("A C++ exception whose text is no UTF-8", "raise_error", '"not_utf8"'),
)

# Lines of a text; what follows are C++ frames, or torch's list of all its backends.
LONGEST = 12

_UNSTEADY = ((re.compile(r"0x[0-9a-f]{6,}"), "0x…"), (re.compile(r"(?<![\w./])/[\w.+/-]+/"), "…/"))


def outcome(expression: str, scope: Mapping[str, Any]) -> str:
    """What comes of a call: the type of its exception and the text, or its result."""
    try:
        result = eval(expression, dict(scope))
    except Exception as error:
        return steady(f"{_name(type(error))}: {error}", *getattr(error, "__notes__", ()))
    return steady(f"no error; the result is {result!r}")


def _name(type_: type) -> str:
    return (
        type_.__name__ if type_.__module__ == "builtins" else f"{type_.__module__}.{type_.__name__}"
    )


def steady(*texts: str) -> str:
    """The lines without what differs from run to run, as many as a page can bear."""
    text = "\n".join(texts).encode("utf-8", "backslashreplace").decode()
    lines = [_without_unsteady(line.rstrip()) for line in text.rstrip().splitlines()]
    left = len(lines) - LONGEST
    return "\n".join(lines[:LONGEST] + ([f"… and {left} more lines"] if left > 0 else []))


def _without_unsteady(line: str) -> str:
    for pattern, placeholder in _UNSTEADY:
        line = pattern.sub(placeholder, line)
    return line


def block(name: str, text: str) -> str:
    """What one binding says, as Markdown."""
    return f"{name}\n```text\n{text}\n```\n"


def ours(call: Call, module: Any, scope: Mapping[str, Any]) -> str:
    """What demo_ops says, as the page has it."""
    return block("**opbind**", outcome(f"demo_ops.{call}", {**scope, "demo_ops": module}))
