"""Calls made from the plan: right ones, nearly right ones, and wrong ones.

    made.call(pair, seed, number)

The same three give the same call, in every process.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from aten import Pair
from opbind.plan import Parameter, Signature
from recipes import RECIPES, Arguments
from samples import main_dtype, opinfos, variants
from torch.testing._internal.opinfo.core import OpInfo

SHAPES = ((3,), (2, 3), (3, 3), (2, 3, 3), (1, 2, 4, 4), (), (0, 3))
DTYPES = (torch.float32,) * 5 + (torch.int64, torch.bool, torch.complex64, torch.float64)


class Call(NamedTuple):
    # "right", "near" or "wrong": how it was meant.
    kind: str
    args: list[Any]
    kwargs: dict[str, Any]

    @property
    def text(self) -> str:
        args = [*map(shown, self.args), *(f"{k}={shown(v)}" for k, v in self.kwargs.items())]
        return f"({', '.join(args)})"


def shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        grad = ", grad" if value.requires_grad else ""
        shape = "nested" if value.is_nested else list(value.shape)
        layout = "" if value.layout == torch.strided else f", {value.layout}"
        return f"<{str(value.dtype).removeprefix('torch.')}{shape}{grad}{layout}>"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(shown, value))}]"
    text = f"{value!r}" if type(value) in _PLAIN else f"{type(value).__name__}:{value!r}"
    # The same in each process.
    text = re.sub(r" at 0x\w+", "", text)
    return text if len(text) < 60 else f"{text[:57]}..."


_PLAIN = (int, float, str, bool, bytes, complex, type(None), torch.dtype)

KINDS = ("right",) * 6 + ("near",) * 2 + ("wrong",) * 2


def call(pair: Pair, seed: int, number: int) -> Call:
    rng = random.Random(f"{seed}:{pair.name}:{number}")
    torch.default_generator.manual_seed(rng.randrange(2**31))
    maker = Maker(rng, is_operator=pair.name.startswith("torch.Tensor.__"))
    kind = rng.choice(KINDS)
    found, recipes = samples_of(pair.name), RECIPES.get(pair.name.rpartition(".")[2], ())
    if found and rng.random() < 0.6:
        args, kwargs = rng.choice(found)
        base = Call("right", list(args), dict(kwargs))
    elif recipes and rng.random() < 0.6:
        base = _of_recipe(rng.choice(recipes)())
    else:
        base = maker.right(rng.choice(pair.function.signatures))
    if kind == "near":
        base = maker.near(base)
    elif kind == "wrong":
        base = maker.wrong(base)
    return base._replace(kind=kind)


def _of_recipe(arguments: Arguments) -> Call:
    *args, last = arguments
    return Call("right", args, last) if isinstance(last, dict) else Call("right", [*args, last], {})


# --- samples of torch's ---------------------------------------------------------------------------


@cache
def _ops() -> Mapping[str, OpInfo]:
    """By our function's name the first OpInfo that is about it."""
    found: dict[str, OpInfo] = {}
    for op in opinfos().values():
        for variant in variants(op):
            if variant.kind != "out":
                found.setdefault(variant.pair.name, op)
    return found


@cache
def samples_of(name: str) -> tuple[tuple[tuple[Any, ...], Mapping[str, Any]], ...]:
    """Arguments of OpInfo's first samples, for functions that have one."""
    op = _ops().get(name)
    if op is None:
        return ()
    torch.manual_seed(0)
    samples = islice(op.sample_inputs("cpu", main_dtype(op)), 12)
    return tuple(((sample.input, *sample.args), sample.kwargs) for sample in samples)


# --- values ---------------------------------------------------------------------------------------


class Int(int): ...


class Float(float): ...


class Str(str): ...


class List(list[Any]): ...


class Subclass(torch.Tensor):
    """With torch's own handler."""


class Indexed:
    """What has `__index__` is an int to Python."""

    def __index__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "Indexed()"


# The same values in other clothes.
NEAR: tuple[Callable[[random.Random], Any], ...] = (
    lambda r: np.int64(r.choice((0, 1, 2))),
    lambda r: np.int32(1),
    lambda r: np.float64(0.5),
    lambda r: np.float32(2.0),
    lambda r: np.array([1, 2]),
    lambda r: torch.tensor(1),
    lambda r: torch.tensor(0.5),
    lambda r: torch.tensor([2]),
    lambda r: Int(1),
    lambda r: Float(0.5),
    lambda r: Str("mean"),
    lambda r: List([1]),
    lambda r: None,
    lambda r: (1,),
    lambda r: [0, 1],
    lambda r: -1,
    lambda r: 2**31,
    lambda r: 2**63 - 1,
    lambda r: -(2**63),
    lambda r: 1.0,
    lambda r: float("nan"),
    lambda r: 1j,
    lambda r: True,
    lambda r: torch.float64,
    lambda r: "cpu",
    lambda r: torch.device("cpu"),
    lambda r: torch.ones(2, 3),
    lambda r: torch.nn.Parameter(torch.ones(3)),
    lambda r: torch.ones(2, 3).as_subclass(Subclass),
    lambda r: torch.ones(2, 3, device="meta"),
    lambda r: torch.eye(3).to_sparse(),
    lambda r: torch.quantize_per_tensor(torch.ones(2, 3), 0.5, 0, torch.qint8),
    lambda r: [torch.ones(3), torch.ones(3)],
    lambda r: torch.strided,
    lambda r: int,
)
# What hardly anything takes.
WRONG: tuple[Callable[[random.Random], Any], ...] = (
    lambda r: 2**64,
    lambda r: -(2**70),
    lambda r: 10**400,
    lambda r: b"bytes",
    lambda r: object,
    lambda r: [],
    lambda r: [[1], [2]],
    lambda r: [None],
    lambda r: [1, "two"],
    lambda r: (i for i in range(2)),
    lambda r: range(2),
    lambda r: {"a": 1},
    lambda r: {1, 2},
    lambda r: "no such thing",
    lambda r: Ellipsis,
    lambda r: np.complex64(1),
    lambda r: np.bool_(True),
    lambda r: torch.tensor(True),
    lambda r: torch.tensor(1j),
    lambda r: torch.Generator(),
    lambda r: slice(1),
    lambda r: Indexed(),
    lambda r: np.array(3),
    lambda r: [True, 1],
    lambda r: [1.5, 2],
)


class Maker:
    """Values that go together: tensors of one shape and dtype, small numbers."""

    def __init__(self, rng: random.Random, is_operator: bool = False) -> None:
        self.rng = rng
        self.is_operator = is_operator
        self.shape = rng.choice(SHAPES)
        self.dtype = rng.choice(DTYPES)
        self.needs_grad = rng.random() < 0.2 and self.dtype.is_floating_point

    def right(self, signature: Signature) -> Call:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for i, parameter in enumerate(signature.parameters):
            if parameter.default is not None and self.rng.random() < 0.7:
                continue
            is_next = i == len(args) and i < signature.max_positional
            value = self.value(parameter)
            # torch looks for a method's self in the first place alone.
            if is_next and (parameter.name == "self" or self.rng.random() < 0.8):
                args.append(value)
            else:
                kwargs[self.rng.choice((parameter.name, *parameter.further_names))] = value
        return Call("right", args, kwargs)

    def near(self, base: Call) -> Call:
        return self._replaced(base, self.rng.choice(NEAR)(self.rng))

    def wrong(self, base: Call) -> Call:
        change = self.rng.randrange(6)
        args, kwargs = list(base.args), dict(base.kwargs)
        if change == 0 and len(args) > 1:
            args.pop()
        elif change == 1:
            args += [1] * self.rng.choice((1, 3))
        elif change == 2:
            kwargs[self.rng.choice(("dims", "no_such", "self", "axis", "out", "dtype"))] = 1
        else:
            return self._replaced(base, self.rng.choice(WRONG)(self.rng))
        return Call("wrong", args, kwargs)

    def _replaced(self, base: Call, value: Any) -> Call:
        # torch's method descriptors refuse a wrong self before the operator is asked.
        is_bound = self.is_operator
        args, kwargs = list(base.args), dict(base.kwargs)
        places: list[int | str] = [*range(is_bound, len(args)), *kwargs]
        if places:
            place = self.rng.choice(places)
            if isinstance(place, int):
                args[place] = value
            else:
                kwargs[place] = value
        return Call("near", args, kwargs)

    def value(self, parameter: Parameter) -> Any:
        if parameter.allow_none and self.rng.random() < 0.2:
            return None
        if parameter.size and parameter.row.tag == "INT_LIST" and self.rng.random() < 0.3:
            return self.rng.choice((0, 1, 2))
        return _VALUES[parameter.row.tag](self, parameter)

    def tensor(self) -> torch.Tensor:
        made = torch.randn(self.shape) if self.rng.random() < 0.5 else torch.rand(self.shape)
        made = (made * 3).to(self.dtype)
        if self.rng.random() < 0.1:
            return self.rng.choice(_STRANGE)(made)
        return made.requires_grad_() if self.needs_grad else made

    def index(self) -> torch.Tensor:
        return torch.randint(0, 2, self.shape)

    def ints(self, size: int) -> list[int]:
        count = size or self.rng.randrange(1, 4)
        return [self.rng.choice((0, 1, 1, 2, 2, 3)) for _ in range(count)]


# The same values in other tensors.
_STRANGE: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda t: t.transpose(0, -1).contiguous().transpose(0, -1) if t.dim() else t,
    lambda t: torch.cat([t.flatten(), t.flatten()])[t.numel() :].view(t.shape),
    lambda t: t.expand(2, *t.shape)[1],
    lambda t: torch.nn.Parameter(t, requires_grad=t.is_floating_point()),
    lambda t: t.as_subclass(Subclass),
    lambda t: t.to(torch.float16),
    lambda t: t.to(torch.bfloat16),
    lambda t: t.to(torch.int8),
    lambda t: t.to("meta"),
    lambda t: t.to_sparse(),
)


def _tensor(maker: Maker, parameter: Parameter) -> Any:
    if "ind" in parameter.name or parameter.name in ("target", "offsets", "lengths", "batch_sizes"):
        return maker.index()
    if parameter.takes_numbers and maker.rng.random() < 0.3:
        return maker.rng.choice((2, 0.5, True))
    return maker.tensor()


def _int(maker: Maker, parameter: Parameter) -> int:
    return maker.rng.choice((0, 0, 1, 1, 2, 3, -1))


def _scalar(maker: Maker, parameter: Parameter) -> Any:
    return maker.rng.choice((0, 1, 2, 0.5, 1.5, True, 2 + 1j, -1))


def _string(maker: Maker, parameter: Parameter) -> str:
    names = ("mean", "sum", "none", "fro", "reflect", "linear", "left", "N", "ij", "L", "fft")
    return maker.rng.choice((*names, "amax", "prod", "gelu", "tanh", "floor", "trunc", "reduced"))


_VALUES: dict[str, Callable[[Maker, Parameter], Any]] = {
    "TENSOR": _tensor,
    "INT64": _int,
    "BOOL": lambda m, p: m.rng.random() < 0.5,
    "SCALAR": _scalar,
    "INT_LIST": lambda m, p: m.ints(p.size),
    "TENSOR_LIST": lambda m, p: [m.tensor() for _ in range(p.size or 2)],
    "OPTIONAL_TENSOR_LIST": lambda m, p: [m.index(), None][: m.rng.randrange(1, 3)],
    "DOUBLE": lambda m, p: m.rng.choice((0.0, 0.1, 0.5, 1.0, 2, 1e-5)),
    "COMPLEX": lambda m, p: 1j,
    "SCALARTYPE": lambda m, p: m.rng.choice((torch.float32, torch.float64, torch.int64, m.dtype)),
    "LAYOUT": lambda m, p: torch.strided,
    "DEVICE": lambda m, p: m.rng.choice(("cpu", torch.device("cpu"))),
    "STRING": _string,
    "GENERATOR": lambda m, p: torch.Generator().manual_seed(1),
    "MEMORY_FORMAT": lambda m, p: m.rng.choice((torch.contiguous_format, torch.preserve_format)),
    "SCALAR_LIST": lambda m, p: [_scalar(m, p) for _ in range(2)],
    "FLOAT_LIST": lambda m, p: [1.0, 0.5],
    "STREAM": lambda m, p: torch.Stream(device="cpu"),
}
