"""The GIL, threads, object identity, reference counts and warnings."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import demo_ops
import leaks
import libraries
import programs
import pytest
import torch
import torch_leaks

X = torch.ones(2, 3)

# --- GIL ------------------------------------------------------------------------------------------


def ticks_during(call: Callable[[], Any]) -> int:
    """How often another Python thread runs while `call` does."""
    count = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    time.sleep(0.02)
    before = count
    call()
    during = count - before
    done.set()
    thread.join()
    return during


def test_a_kernel_runs_without_the_gil() -> None:
    assert ticks_during(lambda: demo_ops.busy_wait_ms(300)) > 10


def boxes_apart() -> torch.Tensor:
    """Boxes that keep nms busy: each is compared with all."""
    corners = 2.0 * torch.arange(20_000.0)[:, None].expand(-1, 2)
    return torch.cat([corners, corners + 1], 1)


def test_a_kernel_that_holds_tensors_runs_without_the_gil() -> None:
    """Tensor arguments take another way out of the GIL than numbers do."""
    boxes = boxes_apart()
    assert ticks_during(lambda: demo_ops.nms(boxes, boxes[:, 0], 0.5)) > 10


def test_work_that_ends_on_a_thread_that_needs_the_gil(objects: Any) -> None:
    """The kernel holds the GIL, and gives it away to wait for the thread: else a deadlock."""
    code = """
import faulthandler, objects_ops
faulthandler.dump_traceback_later(60, exit=True)
print(objects_ops.count_on_thread(1000))
"""
    result = run_python(code, folder=libraries.built("objects"))
    assert result.stdout.strip() == "1000", result.stderr


def test_threads_mixing_right_and_wrong_calls() -> None:
    failures: list[object] = []

    def work(seed: int) -> None:
        for i in range(200):
            x = torch.full((3,), float(seed))
            if not torch.equal(demo_ops.add(x, x, alpha=i), x + i * x):
                failures.append((seed, i))
            try:
                demo_ops.add(x, "wrong")
                failures.append("no error")
            except TypeError:
                pass
            try:
                demo_ops.raise_error("value_error")
                failures.append("no error")
            except ValueError:
                pass

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_list_cleared_by_another_thread_keeps_its_tensors_alive() -> None:
    stop = threading.Event()
    shared: list[torch.Tensor] = []

    def churn() -> None:
        while not stop.is_set():
            shared.clear()
            shared.extend(torch.ones(100) for _ in range(8))

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(2000):
            # Changed while it was read, or empty.
            with contextlib.suppress(RuntimeError, ValueError):
                assert demo_ops.cat(shared).eq(1).all()
    finally:
        stop.set()
        thread.join()


def test_daemon_threads_inside_ops_at_exit() -> None:
    """Ops that return, that copy handles of their arguments inside, and that throw.

    None gives a fresh tensor: torch itself ends the process when such a thread frees one.
    """
    code = """
import threading, time, demo_ops, torch
def loop(call):
    x, out, weight = torch.ones(3), torch.empty(3), torch.ones(3)
    while True:
        try: call(x, out, weight)
        except ValueError: pass
calls = [lambda x, out, weight: demo_ops.add(x, x, out=out),
         lambda x, out, weight: demo_ops.rms_norm_(x, weight),
         lambda x, out, weight: demo_ops.raise_error("value_error"),
         lambda x, out, weight: demo_ops.busy_wait_ms(1)]
for call in calls:
    threading.Thread(target=loop, args=(call,), daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(5):
        result = run_python(code)
        assert result.returncode == 0, result.stderr


LIB = Path(demo_ops.__path__[0]).parent


def run_python(code: str, *flags: str, folder: Path = LIB) -> subprocess.CompletedProcess[str]:
    return programs.run(code, folder, flags=flags)


# --- identity and life ----------------------------------------------------------------------------


class Tagged(torch.Tensor):
    tag: str


def test_the_kept_object_comes_back() -> None:
    x = torch.ones(3).as_subclass(Tagged)
    x.tag = "mine"
    with torch._C.DisableTorchFunctionSubclass():
        demo_ops.keep(x)
        identity = id(x)
        del x
        gc.collect()
        back = demo_ops.take()
    assert id(back) == identity
    assert type(back) is Tagged
    assert back.tag == "mine"


def test_a_kept_tensor_holds_its_python_object_once() -> None:
    """A kernel that keeps what the call only held leaves the object with one reference more."""
    x = torch.ones(3)
    count = sys.getrefcount(x)
    for _ in range(3):
        demo_ops.keep(x)
        assert sys.getrefcount(x) == count + 1
        assert demo_ops.take() is x
        assert sys.getrefcount(x) == count


def test_a_kept_tensor_let_go_during_a_call_keeps_its_count() -> None:
    """The call is then the last to hold it in C++, and leaves nothing on its object."""
    boxes, scores = boxes_apart(), torch.ones(20_000)
    count = sys.getrefcount(boxes)
    demo_ops.keep(boxes)
    thread = threading.Thread(target=lambda: demo_ops.nms(boxes, scores, 0.5))
    thread.start()
    time.sleep(0.02)
    demo_ops.take()
    assert thread.is_alive()
    thread.join()
    assert sys.getrefcount(boxes) == count


def test_one_tensor_held_by_many_threads_keeps_its_count() -> None:
    x, out = torch.ones(3), torch.ones(3)
    counts = [sys.getrefcount(t) for t in (x, out)]

    def work() -> None:
        for _ in range(500):
            demo_ops.add(x, x, out=out)
            demo_ops.weighted_sum([x, x], x[:2])
            demo_ops.keep(x)
            with contextlib.suppress(RuntimeError):  # Another thread may have taken it.
                demo_ops.take()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with contextlib.suppress(RuntimeError):
        demo_ops.take()
    gc.collect()
    assert [sys.getrefcount(t) for t in (x, out)] == counts


def test_take_of_nothing_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="keep"):
        demo_ops.take()


def test_keeping_another_drops_the_first() -> None:
    first = torch.ones(3)
    seen = weakref.ref(first)
    demo_ops.keep(first)
    del first
    gc.collect()
    demo_ops.keep(torch.zeros(3))
    gc.collect()
    assert seen() is None
    demo_ops.take()


def test_the_old_tensor_is_dropped_outside_the_mutex() -> None:
    """The old one's finaliser keeps a tensor in its turn: a deadlock if the mutex were held."""
    code = """
import demo_ops, torch, weakref, faulthandler
faulthandler.dump_traceback_later(20, exit=True)
first = torch.ones(3)
weakref.finalize(first, lambda: demo_ops.keep(torch.full((1,), 7.0)))
demo_ops.keep(first)
del first
demo_ops.keep(torch.zeros(3))
demo_ops.take()
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr


def test_a_cycle_through_a_kept_tensor_is_collected() -> None:
    x = torch.ones(3)
    x.self = x  # type: ignore[attr-defined]
    seen = weakref.ref(x)
    demo_ops.keep(x)
    del x
    gc.collect()
    assert seen() is not None
    demo_ops.take()
    gc.collect()
    assert seen() is None


# --- reference counts -----------------------------------------------------------------------------


@pytest.mark.fault("O3")
def test_nothing_is_left_behind() -> None:
    """More calls of each path: make leaks."""
    assert leaks.faults(torch_leaks.PATHS, torch_leaks.WATCHED, 400) == {}


def test_no_tensor_is_left_behind() -> None:
    before = torch_leaks.live_tensors()
    for call in torch_leaks.PATHS.values():
        for _ in range(20):
            call()
    assert torch_leaks.live_tensors() <= before


# --- warnings -------------------------------------------------------------------------------------


def resized() -> torch.Tensor:
    """An op of torch's that warns: its out= has elements and another shape."""
    result: torch.Tensor = demo_ops.add(X, X, out=torch.ones(7))
    return result


def test_a_cpp_warning_is_a_python_warning() -> None:
    with pytest.warns(UserWarning, match="was resized"):
        result = resized()
    assert torch.equal(result, X + X)


def test_a_warning_turned_into_an_error_is_raised() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="was resized"):
            resized()
    assert torch.equal(demo_ops.add(X, X), X + X)


def test_an_error_beats_a_warning() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError):
            demo_ops.raise_error("warning_then_error")
    assert [str(w.message) for w in caught if "before the error" in str(w.message)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="after the warning"):
            demo_ops.raise_error("warning_then_error")


def test_python_code_that_a_warning_runs_may_warn_itself(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """By torch.ops, which hands no warning to Python: the handler outside of the call prints it."""
    shown = []

    def show(message: object, *args: object, **kwargs: object) -> None:
        shown.append(str(message))
        with pytest.raises(RuntimeError):
            torch.ops.demo.raise_error("warning_then_error")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", show)
        with pytest.raises(RuntimeError):
            demo_ops.raise_error("warning_then_error")
    assert len(shown) == 1 and "before the error" in shown[0]
    assert "a warning before the error" in capfd.readouterr().err


def test_warnings_as_errors_from_the_command_line() -> None:
    code = """
import demo_ops, torch
try:
    demo_ops.add(torch.ones(2), torch.ones(2), out=torch.ones(7))
except UserWarning as e:
    print("raised")
"""
    result = run_python(code, "-W", "error::UserWarning:__main__")
    assert result.stdout.strip().endswith("raised"), result.stderr
