"""From schemas to Python signatures: order of arguments, `input`, `out`, tensor options.

empty_like(Tensor input, *, MemoryFormat? memory_format=None, ScalarType? dtype=None, …)
           ^                ^                                 ^
           |                |                                 +--- options, then requires_grad
           |                +-- the other keyword-only arguments, then `out`
           +--- positional; `self` is called `input`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .. import typemap
from ..model import Argument, Op, OptionalType
from ..typemap import DefaultForms
from .data import Parameter

_NONE = DefaultForms("none()", "None", "None", "None")
_FALSE = DefaultForms("of_bool(false)", "False", "False", "False")

# The keyword-only run that makes a factory, in its order.
TENSOR_OPTIONS = (
    ("dtype", "ScalarType"),
    ("layout", "Layout"),
    ("device", "Device"),
    ("pin_memory", "bool"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """An op's parameters as Python has them, before base and out variant are put together."""

    op: Op
    positional: tuple[Parameter, ...]
    # Without `out` and the options.
    keyword_only: tuple[Parameter, ...]
    # Written keyword-only tensors, which one `out` stands for.
    outs: tuple[Argument, ...]
    # A factory's: dtype, layout, device, pin_memory, requires_grad.
    options: tuple[Parameter, ...]
    # Schema name -> Python name, of all but the outs.
    python_names: dict[str, str]

    @property
    def is_factory(self) -> bool:
        return bool(self.options)

    @property
    def merge_key(self) -> tuple[object, ...]:
        """Equal for a base and its out variant."""
        return tuple(
            (p.name, p.printed, p.default and p.default.text, p.keyword_only)
            for p in (*self.positional, *self.keyword_only, *self.options)
        )


def layout(op: Op) -> Layout:
    """The Python side of one op, whose schema has passed the checks."""
    outs = out_arguments(op)
    options = _options(op)
    rest = [a for a in op.schema.keyword_only if a not in outs and a not in options]
    renamed = _python_names((*op.schema.positional, *rest, *options))
    make = _Maker(op, renamed)
    factory = _factory_parameters(make, options) if options else ()
    return Layout(
        op,
        tuple(make.parameter(a, False) for a in op.schema.positional),
        tuple(make.parameter(a, True) for a in rest),
        outs,
        factory,
        renamed,
    )


def out_arguments(op: Op) -> tuple[Argument, ...]:
    """The written keyword-only tensors; none where one of them is no plain Tensor."""
    written = op.schema.out_arguments
    plain = all(a.type == typemap.TENSOR_TYPE for a in written)
    return written if plain else ()


def _python_names(arguments: Iterable[Argument]) -> dict[str, str]:
    names = {a.name: a.name for a in arguments}
    for argument in arguments:
        row = typemap.find(argument.type)
        if argument.name == "self" and row and row.renames_self and "input" not in names:
            names["self"] = "input"
    return names


@dataclass(frozen=True, slots=True)
class _Maker:
    op: Op
    python_names: dict[str, str]

    def parameter(self, argument: Argument, keyword_only: bool) -> Parameter:
        row = typemap.find(argument.type)
        assert row is not None, "the types were checked"
        size = typemap.list_size(argument.type)
        default = row.default_forms(argument.default, size) if argument.default else None
        return Parameter(
            self.python_names[argument.name],
            row,
            str(argument.type),
            default,
            keyword_only,
            allow_none=row.is_optional,
            size=size,
            is_written=argument.is_write,
            aliases=dict(self.op.aliases).get(argument.name, ()),
            location=argument.location,
        )


# --- factories ----------------------------------------------------------------------------------


def _options(op: Op) -> tuple[Argument, ...]:
    """The arguments that a factory's Python function moves to the end; () if it is no factory."""
    arguments = op.schema.keyword_only
    for start in range(len(arguments) - len(TENSOR_OPTIONS) + 1):
        run = arguments[start : start + len(TENSOR_OPTIONS)]
        if all(_is_option(a, *wanted) for a, wanted in zip(run, TENSOR_OPTIONS, strict=True)):
            return run if _is_factory(op) else ()
    return ()


def _is_option(argument: Argument, name: str, type_: str) -> bool:
    element = argument.type.element if isinstance(argument.type, OptionalType) else argument.type
    return argument.name == name and str(element) == type_


def _is_factory(op: Op) -> bool:
    """As torch has it: it makes a tensor from none, or one like another."""
    base = op.schema.name.base
    if op.category_override:
        return op.category_override in ("factory", "new", "like")
    if base.startswith("new_") or base.endswith("_like"):
        return True
    rows = (typemap.find(a.type) for a in op.schema.arguments)
    takes_tensor = any(row is not None and row.is_tensor_like for row in rows)
    return not takes_tensor and [str(r.type) for r in op.schema.returns] == ["Tensor"]


def _factory_parameters(make: _Maker, options: tuple[Argument, ...]) -> tuple[Parameter, ...]:
    requires_grad = Parameter("requires_grad", typemap.BOOL, "bool", _FALSE, keyword_only=True)
    return (*(make.parameter(a, True) for a in options), requires_grad)


# --- out ----------------------------------------------------------------------------------------


def out_parameter(outs: tuple[Argument, ...], is_optional: bool) -> Parameter:
    """The one parameter that an out variant's written tensors come in."""
    several = len(outs) > 1
    size = len(outs) if several else 0
    type_ = f"Tensor[{size}]" if several else "Tensor"
    required = Parameter(
        "out" if several else outs[0].name,
        typemap.TENSOR_LIST if several else typemap.TENSOR,
        type_,
        keyword_only=True,
        size=size,
        is_written=True,
        location=outs[0].location,
    )
    if not is_optional:
        return required
    return replace(required, printed=f"{type_}?", default=_NONE, allow_none=True)
