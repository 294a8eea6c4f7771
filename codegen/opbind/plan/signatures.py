"""From schemas to Python signatures: order of arguments, `input`, `out`, tensor options.

empty_like(Tensor input, *, MemoryFormat? memory_format=None, ScalarType? dtype=None, …)
           ^                ^                                 ^
           |                |                                 +--- options, then requires_grad
           |                +-- the other keyword-only arguments, then `out`
           +--- positional; `self` is called `input`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .. import typemap
from ..model import Argument, Op, OptionalType, Schema
from . import names, torch_data, torch_profile
from .data import Parameter
from .entries import Entry

# The keyword-only run that makes a factory, in its order.
TENSOR_OPTIONS = (
    ("dtype", "ScalarType"),
    ("layout", "Layout"),
    ("device", "Device"),
    ("pin_memory", "bool"),
)


class Layout(NamedTuple):
    """An op's parameters as Python has them, before base and out variant are put together."""

    entry: Entry
    positional: tuple[Parameter, ...]
    # Without `out` and the options.
    keyword_only: tuple[Parameter, ...]
    # Written keyword-only tensors, which one `out` stands for.
    outs: tuple[Argument, ...]
    # A factory's: dtype, layout, device, pin_memory, requires_grad.
    options: tuple[Parameter, ...]
    # The op's argument -> Python name, of all but the outs and what a constant is given to.
    python_names: dict[str, str]

    @property
    def op(self) -> Op:
        return self.entry.op

    @property
    def is_factory(self) -> bool:
        return bool(self.options)

    @property
    def merge_key(self) -> tuple[object, ...]:
        """Equal for a base and its out variant, which has no options."""
        parameters = tuple(
            (p.name, p.printed, p.default and p.default.text, p.keyword_only)
            for p in (*self.positional, *self.keyword_only)
        )
        return (self.entry.is_deprecated, *parameters)


def layout(entry: Entry) -> Layout:
    """The Python side of one op, whose schema has passed the checks."""
    schema = entry.schema
    outs = out_arguments(schema)
    options = _options(entry)
    moved = {a.name for a in options}
    rest = [a for a in schema.keyword_only if a not in outs and a.name not in moved]
    positional = _self_first(schema.positional) if entry.is_method else schema.positional
    renamed = _python_names(entry, (*positional, *rest, *options))
    further = (alias for _, aliases in entry.op.aliases for alias in aliases)
    taken = {*renamed.values(), *(a.name for a in outs), *further}
    make = _Maker(entry, renamed, frozenset(taken))
    return Layout(
        entry,
        tuple(make.parameter(a, False) for a in positional),
        tuple(make.parameter(a, True) for a in rest),
        outs,
        _factory_parameters(make, options) if options else (),
        _sources(entry, renamed),
    )


def out_arguments(schema: Schema) -> tuple[Argument, ...]:
    """The written keyword-only tensors: a list of them, or plain ones."""
    written = schema.out_arguments
    plain = all(a.type == typemap.TENSOR_TYPE for a in written)
    is_list = len(written) == 1 and typemap.find(written[0].type) is typemap.TENSOR_LIST
    return written if plain or is_list else ()


def _self_first(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    return tuple(sorted(arguments, key=lambda a: a.name != "self"))


def _python_names(entry: Entry, arguments: Sequence[Argument]) -> dict[str, str]:
    """The signature's name of an argument -> Python's."""
    renamed = {a.name: a.name for a in arguments}
    for argument in arguments:
        row = typemap.find(argument.type)
        if argument.name == "self" and row and row.renames_self and "input" not in renamed:
            renamed["self"] = "self" if entry.is_method else "input"
    return renamed


def _sources(entry: Entry, python_names: dict[str, str]) -> dict[str, str]:
    """What a deprecated signature gives to the op's arguments, or the op's own names."""
    if not entry.is_deprecated:
        return python_names
    named = {n: s for n, s in entry.sources.items() if isinstance(s, str) and s in python_names}
    return {name: python_names[source] for name, source in named.items()}


class _Maker(NamedTuple):
    entry: Entry
    python_names: dict[str, str]
    # All names of the signature's parameters, and the aliases that the entry gives.
    taken: frozenset[str]

    def parameter(self, argument: Argument, keyword_only: bool) -> Parameter:
        row = typemap.find(argument.type)
        assert row is not None, "the types were checked"
        size = typemap.list_size(argument.type)
        default = row.default_forms(argument.default, size) if argument.default else None
        name = self.python_names[argument.name]
        return Parameter(
            name,
            row,
            str(argument.type),
            default,
            keyword_only,
            allow_none=row.is_optional,
            size=size,
            is_written=argument.is_write,
            takes_numbers=self._takes_numbers(argument),
            none_is_default=self.entry.is_torch and default is not None and default.elements == (),
            aliases=self._aliases(argument.name, name),
            location=argument.location,
        )

    def _takes_numbers(self, argument: Argument) -> bool:
        """Where a tensor is only read; a method's own is one."""
        if not self.entry.takes_numbers or argument.is_write:
            return False
        is_own = self.entry.is_method and argument.name == "self"
        return argument.type == typemap.TENSOR_TYPE and not is_own

    def _aliases(self, argument: str, name: str) -> tuple[str, ...]:
        own = dict(self.entry.op.aliases).get(argument, ())
        numpy = torch_data.NUMPY_NAMES.get(name, ()) if self.entry.is_torch else ()
        spelled = names.keyword_aliases(name, self.taken)
        return (*spelled, *own, *(n for n in numpy if n not in self.taken))


# --- factories ----------------------------------------------------------------------------------


def _options(entry: Entry) -> tuple[Argument, ...]:
    """The arguments that a factory's Python function moves to the end; () if it is no factory."""
    arguments = entry.schema.keyword_only
    for start in range(len(arguments) - len(TENSOR_OPTIONS) + 1):
        run = arguments[start : start + len(TENSOR_OPTIONS)]
        if all(_is_option(a, *wanted) for a, wanted in zip(run, TENSOR_OPTIONS, strict=True)):
            return run if _is_factory(entry) else ()
    return ()


def _is_option(argument: Argument, name: str, type_: str) -> bool:
    element = argument.type.element if isinstance(argument.type, OptionalType) else argument.type
    return argument.name == name and str(element) == type_


def _is_factory(entry: Entry) -> bool:
    """As torch has it: it makes a tensor from none, or one like another."""
    category = entry.op.category_override
    if category:
        return category in ("factory", "new", "like")
    if torch_profile.is_like_another(entry.op):
        return True
    rows = (typemap.find(a.type) for a in entry.schema.arguments)
    takes_tensor = any(row is not None and row.is_tensor_like for row in rows)
    return not takes_tensor and [str(r.type) for r in entry.schema.returns] == ["Tensor"]


def _factory_parameters(make: _Maker, options: tuple[Argument, ...]) -> tuple[Parameter, ...]:
    requires_grad = Parameter(
        "requires_grad", typemap.BOOL, "bool?", typemap.FALSE, keyword_only=True, allow_none=True
    )
    return (*(_option_parameter(make, a) for a in options), requires_grad)


def _option_parameter(make: _Maker, argument: Argument) -> Parameter:
    parameter = make.parameter(argument, True)
    if make.entry.op.is_own or parameter.default is None:
        return parameter
    if parameter.default.text != "None":
        return parameter._replace(none_is_default=True)
    return parameter._replace(default=typemap.FALSE) if argument.name == "pin_memory" else parameter


# --- out ----------------------------------------------------------------------------------------


def out_parameter(outs: tuple[Argument, ...], is_optional: bool) -> Parameter:
    """The one parameter that an out variant's written tensors come in."""
    several = len(outs) > 1
    size = len(outs) if several else 0
    type_ = f"Tensor[{size}]" if several else str(outs[0].type)
    row = typemap.find(outs[0].type)
    assert row is not None, "the types were checked"
    required = Parameter(
        "out" if several else outs[0].name,
        typemap.TENSOR_LIST if several else row,
        type_,
        keyword_only=True,
        size=size,
        is_written=True,
        aliases=() if several else names.keyword_aliases(outs[0].name, ()),
        location=outs[0].location,
    )
    if not is_optional:
        return required
    return required._replace(printed=f"{type_}?", default=typemap.NONE, allow_none=True)
