"""What the fuzzed calls are given, beside numbers, texts and lists of the fuzzer's own making."""

from __future__ import annotations

import gc
import itertools
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import echo_zoo

warnings.simplefilter("ignore")
# What an earlier call left must not go while references are counted.
gc.disable()


def _values() -> list[Any]:
    # The zoo takes some functions of the library that it was made for.
    sys.modules["echo_ops"] = types.ModuleType("echo_ops")
    keeper = echo_zoo.Keeper()
    return [keeper.value(e) for e in echo_zoo.ZOO if "echo_ops" not in e]


# All calls share them.
VALUES = _values()


class _Interrupt(BaseException):
    pass


def _raises(_victim: Any) -> Any:
    raise _Interrupt


def _clears(victim: Any) -> int:
    victim.clear()
    return 1


def _shrinks(victim: Any) -> int:
    del victim[len(victim) // 2 :]
    return 1


def _grows(victim: Any) -> int:
    victim += [None, 1, "x"] if len(victim) < 50 else []
    return 1


def _replaces(victim: Any) -> int:
    victim[:] = ["x"] * len(victim)
    return 1


def _answers(_victim: Any) -> int:
    return 1


def _answers_wrongly(_victim: Any) -> Any:
    return "no number"


_DOES: tuple[Callable[[Any], Any], ...] = (
    *(_raises, _clears, _shrinks, _grows, _replaces, _answers, _answers_wrongly),
)
_HOOKS = ("__index__", "__float__", "__bool__", "__complex__", "__torch_function__", "__class__")
_BASES: tuple[type, ...] = (object, int, float, str, list, tuple)


def _type(hook: str, does: Callable[[Any], Any], base: type) -> type:
    def run(self: Any, *_arguments: object) -> Any:
        return does(self.victim)

    members: dict[str, Any] = {hook: property(run) if hook == "__class__" else run, "victim": []}
    return type("Hostile", (base,), members)


TYPES = [_type(*each) for each in itertools.product(_HOOKS, _DOES, _BASES)]


def hostile(number: int, victim: list[Any]) -> object:
    """An object that changes `victim` when it is asked for something."""
    made = TYPES[number % len(TYPES)]()
    made.victim = victim
    return made
