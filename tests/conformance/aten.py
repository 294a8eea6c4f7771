"""torch's own functions beside those that opbind generates for the same ops: build/aten."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import torch
from opbind.plan import Function
from torch_files import ours

REPO = Path(__file__).parents[2]
FOLDER = REPO / "build/aten"


class Pair(NamedTuple):
    """One Python name: what torch has under it, and what opbind made for it.

    A method of torch's is called with self as its first argument, as ours is.
    """

    # "torch.add", "torch.Tensor.add_", "torch.linalg.linalg_inv".
    name: str
    function: Function
    torch: Any
    ours: Any


@cache
def built() -> None:
    """Builds what changed."""
    subprocess.run(["make", "--silent", "aten"], cwd=REPO, check=True, capture_output=True)


def imported() -> Any:
    """The package aten_ops. Workers find it built."""
    if "OPBIND_WORKER" not in os.environ:
        built()
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module("aten_ops")


@cache
def pairs() -> dict[str, Pair]:
    """All 1,703, by their names."""
    package = imported()
    found = (_pair(package, function) for function in ours().functions)
    return {pair.name: pair for pair in found}


def _pair(package: Any, function: Function) -> Pair:
    # torch._C._VariableFunctions.add, torch.Tensor.add_, torch._C._linalg.linalg_inv
    owner = attrgetter(function.torch_owner.removeprefix("torch."))(torch)
    # Below what torch.Tensor has in Python.
    owner = torch._C.TensorBase if owner is torch.Tensor else owner
    module = getattr(package, function.module) if function.module else package
    place = f"torch.{function.module}" if function.module else "torch"
    return Pair(
        f"{place}.{function.name}",
        function,
        getattr(owner, function.torch_name),
        getattr(module, function.name),
    )
