"""Where ours differs from torch on purpose: rows of docs/differences.md, as the fuzz meets them.

A rule looks at what was given and at how both calls ended. It explains one difference; a call that
ends alike needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from aten import Pair
from compare import Outcome
from made import Call

Rule = Callable[[Pair, Call, Outcome, Outcome], bool]


def explanation(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> str:
    """The row that the difference belongs to, or ''."""
    return next((row for row, rule in RULES.items() if rule(pair, call, theirs, ours)), "")


def leaves(value: Any) -> Iterator[Any]:
    """All objects, in lists of any depth too; lists themselves as well."""
    if isinstance(value, dict):
        value = list(value.values())
    yield value
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)


def given(call: Call) -> Iterator[Any]:
    for argument in (*call.args, *call.kwargs.values()):
        yield from leaves(argument)


def _has(test: Callable[[Any], bool]) -> Rule:
    return lambda pair, call, theirs, ours: any(map(test, given(call)))


def _refused(rule: Rule) -> Rule:
    """Ours is a TypeError."""

    def both(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
        return isinstance(ours.error, TypeError) and rule(pair, call, theirs, ours)

    return both


def _taken(rule: Rule) -> Rule:
    """torch refuses what ours reads."""

    def both(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
        is_refused = isinstance(theirs.error, (TypeError, ValueError, RuntimeError))
        return is_refused and rule(pair, call, theirs, ours)

    return both


def _overflows(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    if not isinstance(ours.error, OverflowError):
        return False
    # Of a device's index 8 bits are left, of all other ints 64.
    limit = 2**7 if "between -128 and 127" in str(ours.error) else 2**63
    ints = (value for value in given(call) if isinstance(value, int))
    return any(not -limit <= value < limit for value in ints)


def _has_bool(value: Any) -> bool:
    """A bool where ints are, alone or in a list."""
    return isinstance(value, bool) or (
        isinstance(value, (list, tuple)) and any(isinstance(item, bool) for item in value)
    )


def _is_small_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() == 1


def _is_index(value: Any) -> bool:
    is_array = isinstance(value, np.ndarray) and value.ndim == 0
    return is_array or (type(value).__module__ == "made" and hasattr(value, "__index__"))


def _gives_ints_one_by_one(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    """For an `int[1]`, which torch takes one int for."""
    is_refused = isinstance(theirs.error, TypeError) and "positional arg" in str(theirs.error)
    return is_refused and any(s.varargs_int_list for s in pair.function.signatures)


def _omits_reduction(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    """torch reads the default `Mean` as 0, which is `none`."""
    return any(p.name == "reduction" for s in pair.function.signatures for p in s.parameters)


def _is_of_the_standard_library(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    """torch has one type of exception for all of the C++ library's."""
    is_one = isinstance(ours.error, (IndexError, ValueError, OverflowError, MemoryError))
    return is_one and type(theirs.error) is RuntimeError and str(theirs.error) == str(ours.error)


def _is_text_or_device(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    has_index = isinstance(call.kwargs.get("device"), np.integer)
    return has_index or any(isinstance(value, bytes) for value in given(call))


def _lets_wrong_calls_pass(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    takes_nothing = not any(s.parameters for s in pair.function.signatures)
    is_unknown = str(theirs.error) == "unknown parameter type"
    return isinstance(ours.error, TypeError) and (takes_nothing or is_unknown)


def _has_number_for_out(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    return isinstance(call.kwargs.get("out"), (int, float, complex, np.number))


def _has_none_in_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(item is None for item in value)


RULES: dict[str, Rule] = {
    "D1": _overflows,
    "D2": _has(_is_index),
    "D6": _has(lambda value: isinstance(value, np.bool_)),
    "D7": _has(lambda value: isinstance(value, np.complexfloating)),
    "D10": _is_of_the_standard_library,
    "D11": _refused(_is_text_or_device),
    "D13": _lets_wrong_calls_pass,
    "D4": _refused(_has(_is_small_tensor)),
    "D20": _refused(_has_number_for_out),
    "D3": _refused(_has(_has_bool)),
    "D5": _omits_reduction,
    "D8": _taken(_has(_has_none_in_list)),
    "D14": _gives_ints_one_by_one,
}
