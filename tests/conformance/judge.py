"""One made call, by torch's function and by ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from aten import Pair
from compare import UNINITIALISED, Outcome, copied, difference, is_unsure, outcome
from made import Call
from rules import explanation


class Verdict(NamedTuple):
    # torch's call did.
    succeeded: bool
    # '' where both ended alike.
    difference: str
    # The row of docs/differences.md that the difference belongs to, or ''.
    rule: str = ""
    # A difference of values where torch's own are not the same each time.
    unsure: str = ""


def judge(pair: Pair, call: Call, tell: Callable[[str], None] = lambda whose: None) -> Verdict:
    """`tell` hears whose call comes next."""
    theirs, ours = ends(pair, call, tell)
    values = pair.function.name not in UNINITIALISED
    found = difference(theirs, ours, values=values)
    succeeded = theirs.error is None
    if not found:
        return Verdict(succeeded, "")
    rule = explanation(pair, call, theirs, ours)
    make = partial(copied, (call.args, call.kwargs))
    if not rule and is_unsure(pair.torch, make, theirs, ours):
        return Verdict(succeeded, "", unsure=found)
    return Verdict(succeeded, found, rule)


def ends(
    pair: Pair, call: Call, tell: Callable[[str], None] = lambda whose: None
) -> tuple[Outcome, Outcome]:
    tell("torch")
    theirs = outcome(pair.torch, *copied((call.args, call.kwargs)))
    tell("ours")
    return theirs, outcome(pair.ours, *copied((call.args, call.kwargs)))
