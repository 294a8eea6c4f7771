"""Which Python names an op has, and the signature that each shows.

- func: add_.Tensor(…)  variants: method        Entry("Tensor", "add_", …)
- func: linalg_inv(…)   python_module: linalg   Entry("linalg", "linalg_inv", …)
- name: add(Tensor self, Scalar alpha, Tensor other) -> Tensor
  aten: add(self, other, alpha)                 Entry("torch", "add", …), with its `sources`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..model import Default, Library, Op, Schema
from . import torch_profile
from .check import python_name

# What an argument of an op is given: the argument of the signature with this name, or a constant.
Source = str | Default


class Entry(NamedTuple):
    """One op under one Python name."""

    op: Op
    # "torch", "Tensor", "nn", …; '' for the module itself.
    namespace: str
    name: str
    # The signature that Python shows: the op's own, or a deprecated one.
    schema: Schema
    # Of a deprecated signature: the op's argument -> what it is given.
    sources: Mapping[str, Source] = MappingProxyType({})
    is_deprecated: bool = False
    # Whether the rules of torch's own functions hold.
    is_torch: bool = False
    takes_numbers: bool = False

    @property
    def is_method(self) -> bool:
        return self.namespace == torch_profile.METHODS


def entries(ops: Iterable[Op], library: Library) -> list[Entry]:
    """All names of all ops, deprecated signatures aside."""
    if not library.is_torch:
        return [
            Entry(op, "", python_name(op), op.schema, takes_numbers=op.numbers_as_tensors)
            for op in ops
        ]
    return [
        Entry(
            op,
            namespace,
            python_name(op),
            op.schema,
            is_torch=True,
            takes_numbers=op.numbers_as_tensors or torch_profile.takes_numbers(op),
        )
        for op in torch_profile.with_derived(ops)
        if not torch_profile.is_skipped(op)
        for namespace in torch_profile.namespaces(op)
    ]
