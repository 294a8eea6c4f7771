"""Writes docs/errors.md: what four bindings say of the same wrong calls.

All bind the same C++: the example library's ops, as demo_ops has registered them, and torch's. Each
call runs in a process of its own, since not every binding survives each.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import error_calls
from error_calls import CALLS, Call, block, outcome
from extensions import load

HERE = Path(__file__).resolve().parent
PEERS = HERE / "error_peers"
BUILD = HERE.parent / "build/errors"
# What stands around the calls.
TEMPLATE = HERE / "errors_page.md"


def build_peers(jobs: int) -> dict[str, Any]:
    """The modules by the names that the page gives them."""
    import nanobind

    root = Path(nanobind.include_dir()).parent
    folders = [root / "include", root / "ext/robin_map/include"]
    # As nanobind's own build has it.
    flags = ["-fno-strict-aliasing", *(f"-I{folder}" for folder in folders)]
    library = root / "src/nb_combined.cpp"
    nanobinds = [PEERS / "nanobind.cpp", library]
    return {
        "pybind11": load("error_pybind11", [PEERS / "pybind.cpp"], BUILD / "pybind11", jobs),
        "nanobind": load("error_nanobind", nanobinds, BUILD / "nanobind", jobs, flags),
    }


def survived(make: Callable[[], str]) -> str:
    """What `make` returns in a process of its own, or how that ends."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, make().encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return f"the process ends: {_end(status)}" if status else text


def _end(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def section(number: int, call: Call, peers: Mapping[str, Any], scope: Mapping[str, Any]) -> str:
    """One call, and what each binding says of it."""

    def said(name: str, expression: str) -> str:
        return block(name, survived(lambda: outcome(expression, scope)))

    others = [said(f"{name}", f"peers[{name!r}].{call}") for name in peers]
    torchs = said(f"`{call.torch}`", f"{call.torch}({call.arguments})")
    own = survived(lambda: error_calls.ours(call, scope["demo_ops"], scope))
    head = f"### {number}. {call.title}\n```python\n{call}\n```\n"
    return "\n".join([head + own, torchs, *others])


def scope_of(demo_ops: Any) -> dict[str, Any]:
    """The names that a call may use."""
    import numpy
    import torch

    return {"demo_ops": demo_ops, "np": numpy, "torch": torch, "x": torch.ones(2, 3)}


def _versions(torch: Any) -> str:
    import nanobind

    header = Path(torch.__file__).parent / "include/pybind11/detail/common.h"
    parts = re.findall(r"define PYBIND11_VERSION_(?:MAJOR|MINOR|MICRO) (\d+)", header.read_text())
    python = ".".join(platform.python_version_tuple()[:2])
    torchs = torch.__version__.partition("+")[0]
    pybind = f"pybind11 {'.'.join(parts)} of torch's headers"
    return f"PyTorch {torchs}, {pybind}, nanobind {nanobind.__version__}, CPython {python}."


def page(peers: Mapping[str, Any]) -> str:
    scope = {**scope_of(importlib.import_module("demo_ops")), "peers": peers}
    return TEMPLATE.read_text(encoding="utf-8").format(
        versions=_versions(scope["torch"]),
        longest=error_calls.LONGEST,
        calls="\n".join(section(i, call, peers, scope) for i, call in enumerate(CALLS, 1)),
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--jobs", type=int, default=2)
    arguments = options.parse_args()
    arguments.out.write_text(page(build_peers(arguments.jobs)), encoding="utf-8")


if __name__ == "__main__":
    main()
