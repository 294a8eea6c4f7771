"""Threads, locks and the interpreter's life: fork, exit, sub-interpreters, tracing."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libraries
import programs
import pytest
import torch
from programs import in_threads

LIB = libraries.built("threads")
ops = libraries.imported("threads")

X = torch.ones(3)
callbacks: Any = types.ModuleType("thread_callbacks")
PRELUDE = """
import sys, types
callbacks = sys.modules["thread_callbacks"] = types.ModuleType("thread_callbacks")
"""


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    sys.modules["thread_callbacks"] = callbacks
    callbacks.callback = lambda: 1
    yield
    del sys.modules["thread_callbacks"]


def run(program: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return programs.run(PRELUDE + program, LIB, timeout=timeout)


# --- locks ----------------------------------------------------------------------------------------

# One thread holds the mutex and wants the GIL; meanwhile another, which holds the GIL, wants the
# mutex.
TWO_THREADS = """
import threading, time, threads_ops as ops
callbacks.callback = lambda: 7
first = threading.Thread(target=lambda: ops.lock_and_call(300), daemon=True)
first.start()
time.sleep(0.1)
print("before", flush=True)
{second}
first.join()
print("after", flush=True)
"""


def test_a_kernel_that_holds_a_mutex_may_call_back() -> None:
    result = run(TWO_THREADS.format(second="assert ops.lock_and_call(0) == 7"))
    assert result.stdout.split() == ["before", "after"], result.stderr


def test_waiting_for_that_mutex_with_the_gil_is_the_deadlock() -> None:
    """What the pattern is there for: the same with `gil: hold` never ends."""
    program = TWO_THREADS.format(second="ops.lock_with_gil()")
    with pytest.raises(subprocess.TimeoutExpired) as raised:
        run(program, timeout=10)
    assert raised.value.stdout == b"before\n"


# --- threads --------------------------------------------------------------------------------------


def test_threads_that_were_never_pythons_call_back() -> None:
    seen: set[str] = set()

    def callback() -> int:
        seen.add(threading.current_thread().name)
        return 2

    callbacks.callback = callback
    assert ops.call_from_threads(8, 50) == 8 * 50 * 2
    assert all(name.startswith("Dummy") for name in seen)


def test_what_a_callback_raises_in_such_a_thread_is_raised_by_the_op() -> None:
    error = LookupError("raised by the callback")

    def callback() -> int:
        raise error

    callbacks.callback = callback
    with pytest.raises(LookupError) as raised:
        ops.call_from_threads(4, 3)
    assert raised.value is error


def test_a_callback_may_call_an_op_again() -> None:
    depth = 0

    def callback() -> int:
        nonlocal depth
        depth += 1
        return ops.call_back() + 1 if depth < 50 else 0

    callbacks.callback = callback
    assert ops.call_back() == 49


def test_right_and_wrong_calls_of_many_threads() -> None:
    def work(seed: int) -> None:
        for i in range(100):
            assert ops.double(torch.full((2,), float(seed))).eq(2 * seed).all()
            with pytest.raises(TypeError, match=r"double\(\): argument 'x' \(position 1\)"):
                ops.double(i)
            with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
                ops.double(X, y=i)
            assert ops.call_back() == 1

    assert in_threads(work, 32) == []


# --- processes ------------------------------------------------------------------------------------


def test_a_forked_child_calls_ops() -> None:
    assert ops.double(X).eq(2).all()
    child = os.fork()
    if child == 0:
        # No pytest in the child: it tells by its exit code.
        good = ops.double(X).eq(2).all() and ops.call_from_threads(2, 2) == 4
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_fork_while_another_thread_is_inside_an_op() -> None:
    thread = threading.Thread(target=lambda: ops.sleep(300))
    thread.start()
    child = os.fork()
    if child == 0:
        os._exit(0 if ops.double(X).eq(2).all() else 1)
    _, status = os.waitpid(child, 0)
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


def _spawned(path: str) -> float:
    sys.path.insert(0, path)
    return float(importlib.import_module("threads_ops").double(torch.ones(1)))


def test_a_spawned_process_calls_ops() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(_spawned, (str(LIB),)) == 2.0


def test_threads_inside_callbacks_at_exit() -> None:
    """Daemon threads that Python or C++ made, on their way in and out of Python."""
    program = """
import threading, time, threads_ops as ops
callbacks.callback = lambda: 1
def loop(call):
    while True:
        call()
for call in (ops.call_back, lambda: ops.lock_and_call(1), lambda: ops.sleep(1)):
    threading.Thread(target=loop, args=(call,), daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        result = run(program)
        assert result.returncode == 0, result.stderr


# --- importing again ------------------------------------------------------------------------------


def test_imported_twice_it_is_one_module() -> None:
    assert importlib.import_module("threads_ops") is ops
    again = importlib.reload(ops)
    assert again.double(X).eq(2).all()


def test_a_second_copy_is_refused_and_leaves_the_first_usable(tmp_path: Path) -> None:
    program = f"""
import pathlib, shutil, sys, threads_ops, torch
shutil.copytree(pathlib.Path(threads_ops.__file__).parent, {str(tmp_path / "other_ops")!r})
sys.path.insert(0, {str(tmp_path)!r})
try:
    import other_ops
except ImportError as error:
    print(error)
print(threads_ops.double(torch.ones(1)))
"""
    result = run(program)
    first, second = result.stdout.splitlines()
    assert "threads" in first and "regist" in first, result.stdout + result.stderr
    assert second == "tensor([2.])"


def test_after_deletion_from_sys_modules_it_is_refused_or_works() -> None:
    program = """
import sys, threads_ops, torch
for name in [n for n in sys.modules if n.startswith("threads_ops")]:
    del sys.modules[name]
try:
    import threads_ops as again
    print(again.double(torch.ones(1)))
except ImportError as error:
    print("ImportError:", error)
"""
    result = run(program)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(("tensor([2.])", "ImportError: threads")), result.stdout


SUBINTERPRETER = """
import pathlib, torch, threads_ops
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
path = pathlib.Path(threads_ops.__file__).parent
extension = str(next(path.glob("_C*.so")))
package = '''
import sys
sys.path.insert(0, %r)
try:
    import threads_ops
except ImportError as error:
    print("ImportError:", error, flush=True)
''' % str(path.parent)
alone = '''
import importlib.machinery, importlib.util
loader = importlib.machinery.ExtensionFileLoader("_C", %r)
try:
    spec = importlib.util.spec_from_loader("_C", loader)
    # From 3.12 on Python refuses it here.
    loader.exec_module(importlib.util.module_from_spec(spec))
except ImportError as error:
    print("ImportError:", error, flush=True)
''' % extension
interpreters.run_string(interpreters.create(), package)
interpreters.run_string(interpreters.create(), alone)
print(threads_ops.double(torch.ones(1)))
"""


def test_a_sub_interpreter_is_refused_clearly() -> None:
    result = run(SUBINTERPRETER)
    package, extension, ours = result.stdout.splitlines()
    refusal = "ImportError: threads_ops works in the main interpreter alone"
    assert (package, extension) == (refusal, refusal), result.stdout + result.stderr
    assert ours == "tensor([2.])"


# --- hooks ----------------------------------------------------------------------------------------


def test_profilers_see_every_call() -> None:
    events: list[tuple[str, str]] = []

    def profile(_frame: object, event: str, argument: Any) -> None:
        if event.startswith("c_"):
            events.append((event, argument.__name__))

    sys.setprofile(profile)
    try:
        ops.double(X)
        with contextlib.suppress(TypeError):
            ops.double(3)
    finally:
        sys.setprofile(None)
    ours = [event for event in events if event[1] == "double"]
    assert ours == [(e, "double") for e in ("c_call", "c_return", "c_call", "c_exception")]


def test_a_tracer_runs_inside_callbacks() -> None:
    lines: list[str] = []

    def callback() -> int:
        return 3

    def trace(frame: Any, event: str, _argument: object) -> Any:
        if frame.f_code is callback.__code__:
            lines.append(event)
        return trace

    callbacks.callback = callback
    sys.settrace(trace)
    try:
        assert ops.call_back() == 3
    finally:
        sys.settrace(None)
    assert lines == ["call", "line", "return"]


def test_a_profile_hook_that_raises_is_not_lost() -> None:
    def profile(_frame: object, event: str, argument: Any) -> None:
        if event == "c_return" and argument is ops.double:
            raise LookupError("raised by the hook")

    sys.setprofile(profile)
    try:
        with pytest.raises(LookupError, match="raised by the hook"):
            ops.double(X)
    finally:
        sys.setprofile(None)
    assert ops.double(X).eq(2).all()
