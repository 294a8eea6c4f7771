"""Every path that a call may take through core, and whether it leaves anything: `make leaks`.

.venv/bin/python tests/runtime/echo_leaks.py 100000     so many calls of each path
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import echo_library
import leaks
from echo_zoo import Index
from leaks import NUMBER, TEXT, Call, Declines, Fails, Handles, failing, with_filter

# Those of behaviour.cpp.
KERNEL_ERRORS = (
    *("bad_alloc", "out_of_range", "invalid_argument", "domain_error", "length_error"),
    *("range_error", "overflow_error", "runtime_error", "not_utf8", "int", "custom", "alien"),
    *("python_error", "python_error_unset", "python_error_copied", "python_error_twice"),
)


class FailsLookup:
    @property
    def __torch_function__(self) -> Any:
        raise KeyError(TEXT)


HANDLERS = {"handles": Handles(), "declines": Declines(), "fails": Fails(), "lookup": FailsLookup()}


class Clears:
    """Empties the list that it stands in while that is read."""

    def __init__(self) -> None:
        self.items = [1, self, 2]

    def __index__(self) -> int:
        self.items.clear()
        return 1


class Paths:
    """The paths, and what to watch beside what a call makes itself."""

    def __init__(self, echo: ModuleType, null_host: ModuleType) -> None:
        self.echo, self.host = echo, null_host
        self.tensor, self.out, self.other = (null_host.Tensor(i) for i in range(3))
        self.outs = [self.out, self.other]

    def watched(self) -> dict[str, Any]:
        host = self.host
        constants = (None, True, NotImplemented, host.float32, host.strided)
        errors = (TypeError, ValueError, RuntimeError, OverflowError, KeyError, UserWarning)
        functions = (self.echo.pick, self.echo.several, self.echo.echo_tensor)
        own = (self.tensor, self.out, self.other, self.outs, TEXT, NUMBER, *HANDLERS.values())
        return leaks.names((*constants, *errors, *functions, *own))

    def all(self) -> dict[str, Call]:
        parts = (self._taken, self._refused, self._unread, self._kernels, self._handled)
        return {name: call for part in (*parts, self._warned) for name, call in part()}

    def _taken(self) -> Iterator[tuple[str, Call]]:
        e, t, h = self.echo, self.tensor, self.host
        yield "success", lambda: e.several(t, 2, NUMBER, s=TEXT, a=1j)
        yield "overloads", lambda: (e.pick(t), e.pick([1, 2]), e.pick(TEXT), e.pick(1, 2))
        yield "varargs", lambda: e.sized(1, 2, 3)
        yield "lists", lambda: (e.give_tensor_list([t, t]), e.give_str_list([TEXT] * 9))
        yield "lists of lists", lambda: e.give_int_list_list([[1] * 9, (2, 3)])
        yield "lone for a list", lambda: e.echo_int_list_2(Index(3))
        yield "types", lambda: (e.echo_scalartype(h.float32), e.echo_layout(h.strided))
        yield "None", lambda: e.optionals(None, s=None)
        yield "named results", lambda: e.split(t)
        yield "a number for a tensor", lambda: e.number_tensor(NUMBER)
        yield "out", lambda: e.plus(t, out=self.out)
        yield "outs", lambda: (e.split(t, out=self.outs), e.fill_outs(1, out=tuple(self.outs)))
        yield "in place", lambda: e.touch_(t, 0)

    def _refused(self) -> Iterator[tuple[str, Call]]:
        e, t = self.echo, self.tensor
        refused: dict[str, Call] = {
            "too many": lambda: e.documented(1, 2),
            "unexpected keyword": lambda: e.documented(1, **{TEXT: 1}),
            "multiple values": lambda: e.documented(1, x=NUMBER),
            "wrong type": lambda: e.documented(TEXT),
            "wrong element": lambda: e.echo_int_list([1, TEXT]),
            "wrong inner element": lambda: e.echo_int_list_list([[1], [1, TEXT]]),
            "wrong length": lambda: e.fill_outs(1, out=[self.out]),
            "missing": lambda: e.several(t),
            "no overload": lambda: e.pick(1, y=TEXT),
            "wrong varargs": lambda: e.sized(1, TEXT),
            "wrong out": lambda: e.plus(t, out=TEXT),
            "wrong keyword to none": lambda: e.nothing(x=1),
        }
        return ((name, failing(call, TypeError)) for name, call in refused.items())

    def _unread(self) -> Iterator[tuple[str, Call]]:
        """What is taken, and then cannot be read; in a list after some that were."""
        e, t, large = self.echo, self.tensor, 2**64
        unread: dict[str, Call] = {
            "large int": lambda: e.documented(large),
            "large int in a list": lambda: e.echo_int_list([1] * 9 + [large]),
            "large int in an inner list": lambda: e.echo_int_list_list([[1], [1, large]]),
            "large SymInt": lambda: e.echo_symint_list([1, large]),
            "large DeviceIndex": lambda: e.echo_deviceindex(300),
            "large float": lambda: e.echo_float_list([NUMBER, 10**400]),
            "large complex": lambda: e.echo_complex(10**400),
            "large Scalar": lambda: e.echo_scalar_list([NUMBER, large]),
            "large number for a tensor": lambda: e.number_tensor(large),
            "__index__ raises": lambda: e.documented(Index(KeyError(TEXT))),
            "__index__ raises in a list": lambda: e.echo_int_list([1, Index(KeyError(TEXT))]),
            "__index__ gives no int": lambda: e.echo_int_list([1, Index(NUMBER)]),
            "surrogate": lambda: e.echo_str("\ud800"),
            "surrogate in a list": lambda: e.echo_str_list([TEXT, "\ud800"]),
            "no such device": lambda: e.echo_device(TEXT),
            "no storage": lambda: e.echo_storage(self.host.Storage(-1)),
            "a list that shrinks": lambda: e.echo_int_list(Clears().items),
            "a tuple of another kind": lambda: e.touch_all([t, None], 1),
        }
        errors = (OverflowError, KeyError, TypeError, ValueError, RuntimeError)
        return ((name, failing(call, *errors)) for name, call in unread.items())

    def _kernels(self) -> Iterator[tuple[str, Call]]:
        e = self.echo
        for kind in KERNEL_ERRORS:
            yield f"kernel: {kind}", failing(partial(e.raise_error, kind), Exception)
        yield "result is no UTF-8", failing(lambda: e.bytes_of(0xFF), UnicodeDecodeError)
        yield "unknown overload", failing(lambda: e.unknown_overload(1), SystemError)
        yield "errors that nobody shows", lambda: e.drop_errors(2)

    def _handled(self) -> Iterator[tuple[str, Call]]:
        e, t = self.echo, self.tensor
        calls: dict[str, Callable[[Any], Any]] = {
            "argument": lambda handler: e.echo_tensor(handler),
            "keyword": lambda handler: e.several(t, 2, s=handler),
            "element": lambda handler: e.echo_int_list([1, handler]),
            "out": lambda handler: e.plus(t, out=handler),
        }
        for way, call in calls.items():
            yield f"handled, {way}", partial(call, HANDLERS["handles"])
            for kind in ("declines", "fails", "lookup"):
                run = partial(call, HANDLERS[kind])
                yield f"handler {kind}, {way}", failing(run, TypeError, KeyError)
        yield "mode", self._in_mode(lambda: e.several(t, 2, NUMBER))

    def _in_mode(self, call: Call) -> Call:
        def run() -> None:
            self.host.push_mode(HANDLERS["fails"])
            try:
                failing(call, KeyError)()
            finally:
                self.host.pop_mode()

        return run

    def _warned(self) -> Iterator[tuple[str, Call]]:
        e, t = self.echo, self.tensor
        calls: dict[str, Call] = {
            # An int that is not kept for everybody.
            "warning": lambda: e.warn(TEXT, 300),
            "warning, then an error": lambda: e.warn(TEXT, 2, "runtime_error"),
            "deprecated": lambda: e.renewed(2, t),
        }
        for name, call in calls.items():
            yield f"{name}, as an error", with_filter("error", failing(call, Exception))
        yield "warning", with_filter("ignore", calls["warning"])


def main(calls: int) -> int:
    sys.path.insert(0, str(echo_library.built()))
    echo = importlib.import_module(echo_library.MODULE)
    paths = Paths(echo, sys.modules["null_host"])
    return leaks.report(paths.all(), paths.watched(), calls)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
