"""Programs in a Python of their own, and work in many threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any


def run(
    program: str,
    *folders: Path,
    flags: Sequence[str] = (),
    timeout: float = 120,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    """Runs `python FLAGS -c PROGRAM` with the folders on its path."""
    environment = {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *flags, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env={**os.environ, **environment, **variables},
    )


def in_threads(work: Callable[[int], Any], count: int) -> list[BaseException]:
    """Runs `work(i)` in so many threads; what they failed with."""
    failures: list[BaseException] = []

    def guarded(i: int) -> None:
        try:
            work(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures
