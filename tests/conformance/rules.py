"""Where ours differs from torch on purpose: rows of docs/differences.md, as the fuzz meets them.

A rule is one of three kinds. A *meaning* says what ours takes an argument for: torch must do with
the meant arguments what ours did. A *refusal* says what ours does not take: ours is a TypeError
that blames such an argument. The rest look at how both calls ended. A rule explains one difference;
a call that ends alike needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from aten import Pair
from compare import UNINITIALISED, Outcome, copied, difference, is_index, is_unsure, mapped, outcome
from made import Call
from opbind.plan import Signature

Rule = Callable[[Pair, Call, Outcome, Outcome], bool]
# The call as ours reads it; None where it has nothing of the kind.
Meaning = Callable[[Pair, Call], Call | None]


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


# --- meanings -------------------------------------------------------------------------------------


def _means(meaning: Meaning) -> Rule:
    """torch does with the meant arguments what ours did, or another rule explains that."""

    def rule(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
        meant = meaning(pair, call)
        if meant is None:
            return False
        make = partial(copied, (meant.args, meant.kwargs))
        again, ours = _without_numbers(outcome(pair.torch, *make())), _without_numbers(ours)
        # An `out` that a failed call has resized is uninitialised too.
        values = again.error is None and pair.function.name not in UNINITIALISED
        found = difference(again, ours, values=values)
        if not found or explanation(pair, meant, again, ours):
            return True
        return is_unsure(pair.torch, make, again, ours, _without_numbers)

    return rule


def _without_numbers(one: Outcome) -> Outcome:
    """Arguments that are no tensor differ from the meant ones."""
    tensors = tuple(a for a in one.arguments if isinstance(a, torch.Tensor))
    return replace(one, arguments=tensors)


def _each(test: Callable[[Any], bool], read: Callable[[Any], Any]) -> Meaning:
    """Each object of a kind, in lists too, is read in one way."""

    def meant(value: Any) -> Any:
        return read(value) if test(value) else value

    def meaning(pair: Pair, call: Call) -> Call | None:
        if not any(map(test, given(call))):
            return None
        return call._replace(args=mapped(call.args, meant), kwargs=mapped(call.kwargs, meant))

    return meaning


def _reads_later(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    """An array is asked for its `__index__` when it is read: another fault may be seen before."""
    is_refused = isinstance(theirs.error, TypeError) and isinstance(ours.error, _FAULTS)
    return is_refused and any(isinstance(value, np.ndarray) for value in given(call))


# What calls are refused with.
_FAULTS = (TypeError, IndexError, ValueError, OverflowError, RuntimeError)


def _by_the_schema(pair: Pair, call: Call) -> Call | None:
    """`reduction=Mean`, which torch reads as 0, where none is given."""
    for signature in pair.function.signatures:
        place = _place(signature, "reduction")
        if place is not None and place >= len(call.args) and "reduction" not in call.kwargs:
            return call._replace(kwargs={**call.kwargs, "reduction": 1})
    return None


def _as_a_list(pair: Pair, call: Call) -> Call | None:
    """Ints one by one for an `int[1]`, for which torch takes one int."""
    for signature in pair.function.signatures:
        names = [p.name for p in signature.parameters[: signature.max_positional]]
        first = len(names) - 1
        if signature.varargs_int_list and len(call.args) > first + 1:
            return call._replace(args=[*call.args[:first], list(call.args[first:])])
    return None


def _either(*rules: Rule) -> Rule:
    return lambda *given: any(rule(*given) for rule in rules)


# --- refusals -------------------------------------------------------------------------------------


def _refuses(test: Callable[[Any], bool], *tags: str) -> Rule:
    """Ours is a TypeError that blames an object of the kind, alone or in a list, where a parameter
    has one of the types."""

    def rule(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
        if not isinstance(ours.error, TypeError):
            return False
        return any(test(value) for tag, value in blamed(pair, call, ours.error) if tag in tags)

    return rule


def blamed(pair: Pair, call: Call, error: TypeError) -> Iterator[tuple[str, Any]]:
    """What was given for the parameters that the error's reasons name, by the type's tag."""
    reasons = [reason for _, reason in getattr(error, "candidates", ())]
    for signature in pair.function.signatures:
        for place, parameter in enumerate(signature.parameters):
            if not any(f"'{parameter.name}'" in reason for reason in reasons):
                continue
            values = [call.kwargs.get(name) for name in (parameter.name, *parameter.further_names)]
            if place < signature.max_positional:
                # The last of ints one by one as well.
                values += call.args[place:] if signature.varargs_int_list else call.args[place:][:1]
            yield from ((parameter.row.tag, leaf) for leaf in leaves(values))


def _place(signature: Signature, name: str) -> int | None:
    names = [p.name for p in signature.parameters]
    return names.index(name) if name in names else None


def _is_small_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() == 1


def _is_complex_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_complex()


# --- how both calls ended -------------------------------------------------------------------------


def _overflows(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    if not isinstance(ours.error, OverflowError):
        return False
    # Of a device's index 8 bits are left, of all other ints 64.
    limit = 2**7 if "between -128 and 127" in str(ours.error) else 2**63
    ints = (value for value in given(call) if isinstance(value, int))
    return any(not -limit <= value < limit for value in ints)


def _is_of_the_standard_library(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    """torch has one type of exception for all of the C++ library's."""
    is_one = isinstance(ours.error, (IndexError, ValueError, OverflowError, MemoryError))
    return is_one and type(theirs.error) is RuntimeError and str(theirs.error) == str(ours.error)


def _lets_wrong_calls_pass(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    takes_nothing = not any(s.parameters for s in pair.function.signatures)
    is_wrong = takes_nothing and bool(call.args or call.kwargs)
    is_unknown = str(theirs.error) == "unknown parameter type"
    return isinstance(ours.error, TypeError) and (is_wrong or is_unknown)


def _takes_none_in_lists(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    """torch refuses it at once; the op may have something to say of it, or not."""
    lists = (value for value in given(call) if isinstance(value, (list, tuple)))
    is_refused = isinstance(theirs.error, (TypeError, ValueError, RuntimeError))
    is_by_the_op = ours.error is None or isinstance(ours.error, (RuntimeError, IndexError))
    parameters = [p for s in pair.function.signatures for p in s.parameters]
    takes_none = any(p.row.tag == "OPTIONAL_TENSOR_LIST" for p in parameters)
    has_none = any(None in map(_none_or_0, one) for one in lists)
    return takes_none and is_refused and is_by_the_op and has_none


def _none_or_0(value: Any) -> Any:
    return None if value is None else 0


def _has_number_for_out(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    is_number = isinstance(call.kwargs.get("out"), (int, float, complex, np.number))
    return is_number and isinstance(ours.error, TypeError) and "'out'" in str(ours.error)


def _has_ints_among_results(pair: Pair, call: Call, theirs: Outcome, ours: Outcome) -> bool:
    """torch's are tensors of the same values, where the schema has a SymInt."""
    if ours.error is not None or not isinstance(ours.value, tuple):
        return False
    calls = (one for signature in pair.function.signatures for one in signature.calls)
    kinds = [[str(result.type) for result in one.op.schema.returns] for one in calls]
    return any(
        not difference(theirs, replace(ours, value=type(ours.value)(_as_tensors(ours.value, one))))
        for one in kinds
        if "SymInt" in one and len(one) == len(ours.value)
    )


def _as_tensors(values: tuple[Any, ...], kinds: list[str]) -> list[Any]:
    pairs = zip(values, kinds, strict=True)
    return [torch.tensor(value) if kind == "SymInt" else value for value, kind in pairs]


# Where ints are taken.
_INTS = ("INT64", "INT_LIST")

RULES: dict[str, Rule] = {
    "D1": _overflows,
    "D2": _either(_means(_each(is_index, int)), _reads_later),
    "D6": _means(_each(lambda value: isinstance(value, np.bool_), bool)),
    "D7": _either(
        _means(_each(lambda value: isinstance(value, np.complexfloating), complex)),
        _refuses(_is_complex_tensor, "DOUBLE"),
    ),
    "D10": _is_of_the_standard_library,
    "D11": _either(
        _refuses(lambda value: isinstance(value, bytes), "STRING", "DEVICE"),
        _refuses(lambda value: isinstance(value, np.integer), "DEVICE"),
    ),
    "D13": _lets_wrong_calls_pass,
    "D4": _refuses(_is_small_tensor, *_INTS),
    "D20": _has_number_for_out,
    "D3": _refuses(lambda value: isinstance(value, bool), *_INTS),
    "D5": _means(_by_the_schema),
    "D8": _takes_none_in_lists,
    "D14": _means(_as_a_list),
    "D26": _has_ints_among_results,
}
