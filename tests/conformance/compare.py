"""What a call came to, and where two calls differ.

Values are compared bit for bit, but that any NaN equals any other.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from graph import graph

Call = Callable[[], Any]

# What torch leaves uninitialised: of such results everything but the values is compared.
UNINITIALISED = (
    *("empty", "empty_like", "empty_permuted", "empty_quantized", "empty_strided", "new_empty"),
    *("new_empty_strided", "resize_", "resize_as_", "_resize_output_", "_empty_affine_quantized"),
    *("_empty_per_channel_affine_quantized", "_efficientzerotensor", "resize_as_sparse_"),
    "_make_dep_token",
)


# What the kernels of recording.py were given since the last call began.
HEARD: list[str] = []
# A difference of values alone ends with these words, and what they are.
OTHER_VALUES = "other values"

# Calls of torch's own function, where ours differs: what depends on memory that nobody wrote, or on
# how memory is aligned, is not the same each time.
TRIES = 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call's result or exception, with what it may have changed."""

    arguments: tuple[Any, ...]
    value: Any = None
    error: BaseException | None = None
    state: tuple[Any, ...] = ()


def outcome(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Outcome:
    """Calls with random numbers that are always the same."""
    arguments = tuple(flat((args, kwargs)))
    # torch.manual_seed remembers a stack for each device that is not there, for later.
    torch.default_generator.manual_seed(0)
    HEARD.clear()
    # A mode that the call leaves changed ends here.
    with warnings.catch_warnings(), torch.set_grad_enabled(True):
        warnings.simplefilter("ignore")
        try:
            value, error = function(*args, **kwargs), None
        except Exception as raised:
            value, error = None, raised
        return Outcome(arguments, value, error, _state())


def _state() -> tuple[Any, ...]:
    """What functions should leave as it is, but for the random numbers that they use."""
    modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    return (*modes, torch.get_default_dtype(), torch.get_rng_state(), tuple(HEARD))


def is_unsure(
    function: Callable[..., Any],
    make: Call,
    theirs: Outcome,
    ours: Outcome,
    seen: Callable[[Outcome], Outcome] = lambda one: one,
) -> bool:
    """Whether torch's function is not the same each time, and once ends as ours but for values.

    The values that differ in ours must differ between torch's own. `make` gives the arguments;
    `seen` is what of an outcome is compared.
    """
    if difference(theirs, ours).startswith(NOT_COMPARED):
        return False
    wrong = _places_of_values(theirs, ours)
    kept = []
    for i in range(TRIES):
        # Memory that others had, in other places.
        kept.append(torch.full((7 * i + 1,), float(i)))
        with contextlib.suppress(RuntimeError):
            _fill_freed_memory(theirs.value, i + 1)
        again = seen(_elsewhere(i, lambda: outcome(function, *make())))
        if not difference(again, ours, values=False):
            wrong -= _places_of_values(theirs, again)
            if not wrong and difference(theirs, again):
                return True
    return False


def _places_of_values(theirs: Outcome, ours: Outcome) -> set[str]:
    texts = _differences(theirs, ours, values=True)
    return {text.partition(OTHER_VALUES)[0] for text in texts if OTHER_VALUES in text}


def _elsewhere(number: int, work: Callable[[], Outcome]) -> Outcome:
    """In a thread of its own each other time: with other leftovers on the stack."""
    if number % 2 == 0:
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def _fill_freed_memory(value: Any, number: int) -> None:
    """What the results of the next call are made in holds this number."""
    for result in _listed(value):
        if isinstance(result, torch.Tensor):
            torch.full_like(result.detach(), number)


def mapped(value: Any, read: Callable[[Any], Any]) -> Any:
    """The same arguments with each object read, in lists, tuples and dicts too."""
    if type(value) is dict:
        return {key: mapped(item, read) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(mapped(item, read) for item in value)
    return read(value)


def is_index(value: Any) -> bool:
    """What is an int by its `__index__` alone: a 0-dim array, or an object of the fuzz's."""
    is_array = isinstance(value, np.ndarray) and value.ndim == 0
    return is_array or type(value).__name__ == "Indexed"


def plain(value: Any) -> Any:
    """Python's number for one of NumPy's, and for what has an `__index__`; others as they are."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        return value.item()
    return int(value) if is_index(value) else value


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def flat(value: Any) -> Iterator[Any]:
    """The leaves of lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if type(value) in (list, tuple):
        for item in value:
            yield from flat(item)
    else:
        yield value


# Set on a tensor whose bytes are a pointer: a copy is refused by who made it.
HOLDS_POINTER = "holds_pointer"


def copied(value: Any, storages: dict[int, Any] | None = None) -> Any:
    """The same arguments on memory of their own; what shares memory still does."""
    storages = {} if storages is None else storages
    if isinstance(value, torch.Tensor):
        return _copied_tensor(value, storages)
    if type(value) is dict:
        return {key: copied(item, storages) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(copied(item, storages) for item in value)
    if isinstance(value, torch.Generator):
        return value.clone_state()
    return value


def _copied_tensor(tensor: torch.Tensor, storages: dict[int, Any]) -> torch.Tensor:
    if hasattr(tensor, HOLDS_POINTER):
        return tensor
    if id(tensor) in storages:
        known: torch.Tensor = storages[id(tensor)]
        return known
    plain = tensor.detach()
    if type(tensor) is not torch.Tensor or tensor.layout != torch.strided or _is_odd(tensor):
        copy = plain.clone()
    else:
        key = plain.untyped_storage()._cdata
        if key not in storages:
            storages[key] = plain.untyped_storage().clone()
        copy = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        copy.set_(storages[key], plain.storage_offset(), plain.shape, plain.stride())
        copy = torch._conj(copy) if plain.is_conj() else copy
        copy = torch._neg_view(copy) if plain.is_neg() else copy
    if tensor.requires_grad:
        copy.requires_grad_()
        copy = copy if tensor.is_leaf else copy.clone()
    if isinstance(tensor, torch.nn.Parameter):
        copy = torch.nn.Parameter(copy.detach(), tensor.requires_grad)
    storages[id(tensor)] = copy
    return copy


def _is_odd(tensor: torch.Tensor) -> bool:
    return tensor.is_quantized or tensor.is_nested or tensor.is_meta


# --- differences ----------------------------------------------------------------------------------


NOT_COMPARED = "not to compare: "


def difference(theirs: Outcome, ours: Outcome, *, values: bool = True) -> str:
    """The first difference in words, or ''."""
    try:
        return next(_differences(theirs, ours, values), "")
    except Exception as error:
        return f"{NOT_COMPARED}{error}"


def _differences(theirs: Outcome, ours: Outcome, values: bool) -> Iterator[str]:
    if theirs.error is not None or ours.error is not None:
        if text := _error_difference(theirs, ours):
            yield text
    else:
        found = _value_differences(theirs.value, ours.value, values)
        yield from (f"result: {text}" for text in found)
        yield from _identity_differences(theirs, ours)
        yield from _graph_differences(theirs, ours)
    changed = _value_differences(list(theirs.arguments), list(ours.arguments), values)
    yield from (f"arguments afterwards: {text}" for text in changed)
    found = _value_differences(theirs.state, ours.state, values=True)
    yield from (f"{_STATE}: {text}" for text in found)


_STATE = "modes, random numbers and what reached an op"


def _error_difference(theirs: Outcome, ours: Outcome) -> str:
    if type(theirs.error) is type(ours.error):
        return ""
    return f"{ended(theirs)} / {ended(ours)}"


def ended(one: Outcome) -> str:
    if one.error is None:
        return f"a {type(one.value).__name__}"
    first = str(one.error).partition("\n")[0]
    return f"{type(one.error).__name__}: {first[:160]}"


def _value_differences(a: Any, b: Any, values: bool) -> Iterator[str]:
    if type(a) is not type(b):
        yield f"{type(a)} / {type(b)}"
    elif isinstance(a, torch.Tensor):
        yield from _tensor_differences(a, b, values)
    elif isinstance(a, (list, tuple)):
        if len(a) != len(b):
            yield f"{len(a)} / {len(b)} elements"
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            yield from (f"[{i}] {text}" for text in _value_differences(x, y, values))
    elif isinstance(a, dict):
        yield from _value_differences(list(a.items()), list(b.items()), values)
    elif values and not _same_value(a, b):
        yield f"{OTHER_VALUES} {a!r} / {b!r}"


def _same_value(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    if isinstance(a, complex):
        return _same_value(a.real, b.real) and _same_value(a.imag, b.imag)
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and a.tobytes() == b.tobytes())
    if isinstance(a, torch.Generator):
        return torch.equal(a.get_state(), b.get_state())
    if isinstance(a, torch.UntypedStorage):
        return bytes(a) == bytes(b)
    return bool(a == b) and repr(a) == repr(b)


# The level of a wrapper, and what it holds.
Level = tuple[int, torch.Tensor]


def _tensor_differences(a: torch.Tensor, b: torch.Tensor, values: bool) -> Iterator[str]:
    # Of vmap, outside of it: such a tensor answers to nothing else.
    for is_wrapped, unwrapped in _WRAPPERS.items():
        if is_wrapped(a):
            yield from _unwrapped_differences(unwrapped(a), unwrapped(b), values)
            return
    for name, get in _PROPERTIES.items():
        x, y = get(a), get(b)
        if x != y:
            yield f"{name} {x} / {y}"
            return
    if values and not a.is_meta and not (a.is_quantized and a.is_neg()):
        parts = list(zip(_parts(a.detach()), _parts(b.detach()), strict=True))
        if not all(_same_bits(x, y) for x, y in parts):
            yield OTHER_VALUES


def _unwrapped_differences(a: Level, b: Level, values: bool) -> Iterator[str]:
    (level, x), (other, y) = a, b
    if level != other:
        yield f"level {level} / {other}"
    else:
        yield from _tensor_differences(x, y, values)


def _unwrapped(tensor: torch.Tensor) -> Level:
    functorch = torch._C._functorch
    return functorch.maybe_get_level(tensor), functorch.get_unwrapped(tensor)


def _unwrapped_legacy(tensor: torch.Tensor) -> Level:
    """Of what _add_batch_dim makes, which does not tell its level."""
    # Of a dimension that is not there, or a level beyond all, it answers to nothing at all.
    with contextlib.suppress(IndexError, RuntimeError):
        for level in range(_LEGACY_LEVELS):
            plain = torch._remove_batch_dim(tensor, level, 1, 0)
            if not _is_legacy(plain):
                return level, plain
    return -1, torch.empty(0)


# torch's kVmapNumLevels.
_LEGACY_LEVELS = 64
_is_legacy = torch._C._functorch.is_legacy_batchedtensor
_WRAPPERS: dict[Callable[[torch.Tensor], bool], Callable[[torch.Tensor], Level]] = {
    torch._C._functorch.is_functorch_wrapped_tensor: _unwrapped,
    _is_legacy: _unwrapped_legacy,
}


def _is_dense(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and not tensor.is_nested


def _shape(tensor: torch.Tensor) -> Any:
    if tensor.layout == torch.jagged:
        return tensor.dim()
    return tensor._nested_tensor_size().tolist() if tensor.is_nested else tuple(tensor.shape)


def _quantization(tensor: torch.Tensor) -> Any:
    # torch crashes on a quantized tensor that is seen negative.
    if not tensor.is_quantized or tensor.is_neg():
        return None
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        # Its text, as a scale may be NaN.
        return tensor.qscheme(), repr(tensor.q_scale()), tensor.q_zero_point()
    channels = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    return tensor.qscheme(), tensor.q_per_channel_axis(), *(repr(c.tolist()) for c in channels)


_PROPERTIES: dict[str, Callable[[torch.Tensor], Any]] = {
    "dtype": lambda t: t.dtype,
    "nestedness": lambda t: t.is_nested,
    "layout": lambda t: t.layout,
    "shape": _shape,
    "strides": lambda t: t.stride() if _is_dense(t) else None,
    "storage offset": lambda t: t.storage_offset() if _is_dense(t) else None,
    "device": lambda t: t.device,
    "requires_grad": lambda t: t.requires_grad,
    "is_leaf": lambda t: t.is_leaf,
    "grad_fn": lambda t: type(t.grad_fn).__name__,
    "conjugate": lambda t: t.is_conj(),
    "negative": lambda t: t.is_neg(),
    "is_view": lambda t: t._is_view(),
    "is_inference": lambda t: t.is_inference(),
    "version": lambda t: None if t.is_inference() else t._version,
    "has grad": lambda t: t.is_leaf and t.grad is not None,
    "coalesced": lambda t: t.is_coalesced() if t.layout == torch.sparse_coo else None,
    "quantization": _quantization,
}


def _parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Plain tensors that hold its values."""
    if tensor.is_neg():
        # torch cannot negate all dtypes.
        tensor = torch._neg_view(tensor)
    if tensor.layout == torch.jagged:
        return [tensor.values(), tensor.offsets()]  # type: ignore[attr-defined]
    if tensor.is_nested:
        return list(tensor.unbind())
    if tensor.layout == torch._mkldnn:  # type: ignore[attr-defined]
        return [tensor.to_dense()]
    if tensor.is_quantized:
        return [tensor.int_repr()]
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values().clone()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values().clone()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values().clone()]
    return [_unexpanded(tensor)] if tensor.layout == torch.strided and _has_all(tensor) else []


def _has_all(tensor: torch.Tensor) -> bool:
    """The memory for its sizes: not so an `out` that a failed call has resized."""
    if not torch._C._has_storage(tensor) or 0 in tensor.shape:
        return True
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = tensor.storage_offset() + sum((size - 1) * stride for size, stride in steps)
    return (last + 1) * tensor.element_size() <= tensor.untyped_storage().nbytes()


def _unexpanded(tensor: torch.Tensor) -> torch.Tensor:
    """One of each value: all that are shown may be too many."""
    for dimension, stride in enumerate(tensor.stride()):
        if stride == 0 and tensor.shape[dimension] > 1:
            tensor = tensor.narrow(dimension, 0, 1)
    return tensor


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    a, b = a.resolve_conj().resolve_neg(), b.resolve_conj().resolve_neg()
    if a.shape != b.shape or a.dtype != b.dtype or a.layout != b.layout:
        return False
    if a.is_complex():
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    bits = _BITS.get(a.element_size())
    if bits is None:
        return bool(torch.equal(a, b))
    same = a.contiguous().view(bits) == b.contiguous().view(bits)
    if not bool(same.all()) and a.is_floating_point():
        same = same | (a.isnan() & b.isnan())
    return bool(same.all())


def _identity_differences(theirs: Outcome, ours: Outcome) -> Iterator[str]:
    """Which results are arguments or each other, and which share memory."""
    for name, relate in (("identity", _same_object), ("memory", _same_memory)):
        a, b = _relations(theirs, relate), _relations(ours, relate)
        if a != b:
            yield f"{name}: results and arguments {a} / {b}"


def _relations(one: Outcome, relate: Callable[[Any, Any], bool]) -> list[tuple[int, int]]:
    results = _results(one)
    others = [*results, *(a for a in one.arguments if isinstance(a, torch.Tensor))]
    pairs = ((i, j) for i in range(len(results)) for j in range(i + 1, len(others)))
    return [(i, j) for i, j in pairs if relate(results[i], others[j])]


def _results(one: Outcome) -> list[Any]:
    return list(flat(tuple(one.value) if isinstance(one.value, tuple) else one.value))


def _graph_differences(theirs: Outcome, ours: Outcome) -> Iterator[str]:
    for i, (a, b) in enumerate(zip(_results(theirs), _results(ours), strict=True)):
        if isinstance(a, torch.Tensor) and a.requires_grad:
            nodes = zip(graph(a, theirs.arguments), graph(b, ours.arguments), strict=False)
            yield from (f"graph of result {i}: {x} / {y}" for x, y in nodes if x != y)


def _same_object(result: Any, other: Any) -> bool:
    return isinstance(result, torch.Tensor) and result is other


def _same_memory(result: Any, other: Any) -> bool:
    if not (_has_storage(result) and _has_storage(other)):
        return False
    addresses = [tensor.untyped_storage().data_ptr() for tensor in (result, other)]
    return bool(addresses[0] != 0 and addresses[0] == addresses[1])


def _has_storage(value: Any) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.layout == torch.strided
        and not value.is_meta
        and bool(torch._C._has_storage(value))
    )
