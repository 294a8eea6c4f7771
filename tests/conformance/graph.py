"""The autograd graph behind a result, as plain values that compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

# Nodes of one result; the graphs of one call are small, but arguments may have long ones.
LIMIT = 40


def graph(tensor: torch.Tensor, arguments: Sequence[Any]) -> list[Any]:
    """Its nodes from the result on: names, what they saved, and where their edges go.

    A leaf is named by its place among the arguments.
    """
    nodes: list[Any] = []
    waiting = [tensor.grad_fn]
    seen: dict[Any, int] = {}
    while waiting and len(nodes) < LIMIT:
        node = waiting.pop(0)
        if node is None or node in seen:
            nodes.append(seen.get(node) if node is not None else None)
            continue
        seen[node] = len(nodes)
        edges = node.next_functions
        nodes.append((node.name(), _leaf(node, arguments), _saved(node), [i for _, i in edges]))
        waiting += [function for function, _ in edges]
    return nodes


def _leaf(node: Any, arguments: Sequence[Any]) -> int | None:
    variable = getattr(node, "variable", None)
    return next(
        (i for i, a in enumerate(arguments) if variable is not None and a is variable), None
    )


def _saved(node: Any) -> list[tuple[str, Any]]:
    names = [name for name in dir(node) if name.startswith("_saved_")]
    return [(name, _plain(node, name)) for name in names]


def _plain(node: Any, name: str) -> Any:
    """Of tensors the shape and the dtype; their values are arguments' or results'."""
    try:
        value = getattr(node, name)
    except RuntimeError:
        # Changed or freed since.
        return "gone"
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), str(value.dtype), value.layout
    if isinstance(value, (tuple, list)) and any(isinstance(v, torch.Tensor) for v in value):
        return len(value)
    return repr(value)
