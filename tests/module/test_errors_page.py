"""docs/errors.md says what the library says now."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import demo_ops
import error_calls
import errors
import pytest
from error_calls import CALLS, Call

REPO = Path(__file__).parents[2]
PAGE = (REPO / "docs/errors.md").read_text(encoding="utf-8")
# By their titles, with numbers.
SECTIONS = dict(re.findall(r"^### (.*)\n((?:(?!##).*\n)*)", PAGE, re.MULTILINE))


def test_the_page_has_each_call() -> None:
    assert list(SECTIONS) == [f"{i}. {call.title}" for i, call in enumerate(CALLS, 1)]


@pytest.mark.parametrize(
    ("number", "call"), list(enumerate(CALLS, 1)), ids=[c.title for c in CALLS]
)
def test_the_page_says_what_the_library_says(number: int, call: Call) -> None:
    said = error_calls.ours(call, demo_ops, errors.scope_of(demo_ops))
    expected = f"```python\n{call}\n```\n{said}"
    assert SECTIONS[f"{number}. {call.title}"].startswith(expected), "run make errors-page"


def test_the_page_ends_with_what_a_program_may_ask() -> None:
    (program,) = re.findall(r"^```python\n(try:\n(?:.+\n)*)```", PAGE, re.MULTILINE)
    printed: list[tuple[object, ...]] = []
    scope = {**errors.scope_of(demo_ops), "print": lambda *words: printed.append(words)}
    exec(program, scope)
    reason = "unexpected keyword argument 'alhpa'; did you mean 'alpha'?"
    assert printed == [("scale(Tensor input, float alpha=1.0) -> Tensor", "--", reason)]


def test_what_differs_from_run_to_run_is_not_on_the_page() -> None:
    text = "at 0x7f00deadbeef in /usr/lib/torch/a.cpp:12, byte 0xff of ./a and 1/2"
    assert error_calls.steady(text) == "at 0x… in …/a.cpp:12, byte 0xff of ./a and 1/2"
    lines = [f"frame #{i}" for i in range(error_calls.LONGEST + 3)]
    shown = error_calls.steady("\n".join(lines)).splitlines()
    assert shown == [*lines[: error_calls.LONGEST], "… and 3 more lines"]


def test_a_call_that_ends_the_process_is_shown_as_such() -> None:
    def killed() -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    assert errors.survived(lambda: "still there") == "still there"
    assert errors.survived(killed) == "the process ends: SIGKILL"
    assert errors.survived(lambda: os._exit(3)) == "the process ends: exit code 3"
