"""Extensions of other bindings, built by torch's own way of doing it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType


def load(
    name: str, sources: Sequence[Path], folder: Path, jobs: int, flags: Sequence[str] = ()
) -> ModuleType:
    """Builds an extension in `folder`, and imports it."""
    from torch.utils import cpp_extension

    # load() looks for the ninja of this environment on PATH.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ["MAX_JOBS"] = str(jobs)
    folder.mkdir(parents=True, exist_ok=True)
    module: ModuleType = cpp_extension.load(
        name,
        [str(path) for path in sources],
        extra_cflags=["-O2", "-DNDEBUG", "-fvisibility=hidden", *flags],
        build_directory=str(folder),
        verbose=False,
    )
    return module
