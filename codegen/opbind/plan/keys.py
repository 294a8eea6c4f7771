"""Dispatch keys: what each asks for."""

from __future__ import annotations

_DEVICES = (
    *("CPU", "CUDA", "HIP", "XLA", "MTIA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "Meta"),
    *("PrivateUse1", "PrivateUse2", "PrivateUse3"),
)
_LAYOUTS = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor")

_BACKEND_KEYS = frozenset(f"{layout}{device}" for layout in _LAYOUTS for device in _DEVICES)
_AUTOGRAD_KEYS = frozenset(
    {"Autograd", "AutogradOther", "AutogradNestedTensor", *(f"Autograd{d}" for d in _DEVICES)}
)
_COMPOSITE_KEYS = frozenset(
    {
        "CompositeImplicitAutograd",
        "CompositeImplicitAutogradNestedTensor",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    }
)

# Their kernels run on the host, or on nothing.
_NO_GUARD = ("CPU", "Meta", "Lazy", "XLA", "IPU", "VE")


def is_composite_key(key: str) -> bool:
    """Whether one kernel serves all devices."""
    return key in _COMPOSITE_KEYS


def is_implicit_key(key: str) -> bool:
    """Whether autograd goes into the kernel, which calls ops that have gradients."""
    return key.startswith("CompositeImplicitAutograd")


def is_autograd_key(key: str) -> bool:
    return key in _AUTOGRAD_KEYS


def needs_device_guard(key: str) -> bool:
    """Whether a kernel expects its tensors' device to be the current one."""
    return key in _BACKEND_KEYS and not key.endswith(_NO_GUARD)
