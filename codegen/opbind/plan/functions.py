"""From ops to Python functions: base and out variant put together, overloads in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..model import Library, Op, Return
from . import calls, docs, names, order
from .check import python_name
from .data import (
    Call,
    EntryKind,
    Function,
    Parameter,
    ResultKind,
    Signature,
    StructSeq,
)
from .signatures import Layout, layout, out_parameter

# Where torch keeps its own binding of a function, by the entry's python_module.
_TORCH_OWNERS = {
    "": "torch._C._VariableFunctions",
    "nn": "torch._C._nn",
    "linalg": "torch._C._linalg",
    "fft": "torch._C._fft",
    "special": "torch._C._special",
    "sparse": "torch._C._sparse",
    "nested": "torch._C._nested",
}
_TORCH_METHODS = "torch._C.TensorBase"


def function(name: str, ops: Sequence[Op], library: Library) -> Function:
    """The function of one Python name, from all its ops."""
    pairs = _paired([layout(op) for op in ops])
    maker = _SignatureMaker(name, library, is_single=len(pairs) == 1)
    signatures = order.ordered(maker.signature(pair) for pair in pairs)
    is_noargs = not any(s.parameters for s in signatures)
    owner, torch_name = _torch_function(ops)
    return Function(
        name=name,
        stem=names.stem(name),
        cpp_name=f"THPVariable_{name}",
        entry=EntryKind.NOARGS if is_noargs else EntryKind.FASTCALL,
        signatures=signatures,
        text_signature=docs.text_signature(name, signatures),
        doc=docs.doc(signatures),
        shard=names.shard_of(name, library.shards),
        torch_owner=owner,
        torch_name=torch_name,
    )


def by_name(ops: Iterable[Op]) -> dict[str, list[Op]]:
    """Python name -> its ops, both in an order that the file's order has no part in."""
    groups: dict[str, list[Op]] = {}
    for op in sorted(ops, key=lambda op: (python_name(op), str(op.schema))):
        groups.setdefault(python_name(op), []).append(op)
    return groups


def _torch_function(ops: Sequence[Op]) -> tuple[str, str]:
    """What of torch a `__torch_function__` handler gets; an own function stands for itself."""
    if any(op.is_own for op in ops):
        return "", ""
    op = ops[0]
    if "function" not in op.variants and not op.python_module:
        return _TORCH_METHODS, op.schema.name.base
    owner = _TORCH_OWNERS.get(op.python_module, f"torch._C._{op.python_module}")
    return owner, op.schema.name.base


# --- base and out variant -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    base: Layout
    # The out variant of `base`, which may itself be an out variant that has no base.
    out: Layout | None = None


def _paired(layouts: Sequence[Layout]) -> list[_Pair]:
    """Each out variant goes to the base whose parameters it has; one without a base stays alone."""
    outs = [one for one in layouts if one.outs]
    pairs = []
    for base in (one for one in layouts if not one.outs):
        out = next((one for one in outs if one.merge_key == base.merge_key), None)
        if out is not None:
            outs.remove(out)
        pairs.append(_Pair(base, out))
    return [*pairs, *map(_Pair, outs)]


# --- signatures -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SignatureMaker:
    name: str
    library: Library
    # Whether the function has one signature, whose C++ functions then need no overload's name.
    is_single: bool

    def signature(self, pair: _Pair) -> Signature:
        base, out = pair.base, pair.out
        parameters = _parameters(pair)
        places = {p.name: i for i, p in enumerate(parameters)}
        returns = base.op.schema.returns
        positional = base.positional
        first = base.outs or (out.outs if out else ())
        out_name = out_parameter(first, False).name if first else ""
        return Signature(
            parameters=parameters,
            max_positional=len(positional),
            text=docs.signature_text(self.name, parameters, len(positional), self._returns(pair)),
            call=self._call(base, parameters),
            out_call=self._call(out, parameters, is_merged=True) if out else None,
            out_index=places.get(out_name, -1) if first else -1,
            device_index=places["device"] if base.is_factory else -1,
            requires_grad_index=places["requires_grad"] if base.is_factory else -1,
            structseq=self._structseq(base.op) if calls.has_fields(returns) else None,
            stub_return=self._stub_return(pair),
            varargs_int_list=_takes_varargs(positional),
        )

    def _call(
        self, one: Layout, parameters: tuple[Parameter, ...], *, is_merged: bool = False
    ) -> Call:
        binding = calls.Binding(
            one.python_names,
            one.outs,
            is_factory=one.is_factory,
            returns_out=_returns_out(one, is_merged),
        )
        name = self._dispatch_name(one)
        return calls.make_call(one.op, self.library, name, parameters, binding)

    def _dispatch_name(self, one: Layout) -> str:
        if not self.is_single:
            return f"dispatch_{calls.overload_name(one.op)}"
        return f"dispatch_{one.op.schema.name.base}{'_out' if one.outs else ''}"

    def _structseq(self, op: Op) -> StructSeq:
        returns = op.schema.returns
        fields = tuple(r.name or "" for r in returns)
        stubs = tuple(calls.row_of(r).stub_return for r in returns)
        if not op.is_own:
            return StructSeq(op.schema.name.base, fields, stubs, op.schema.name.base)
        name = self.name if self.is_single else calls.overload_name(op)
        return StructSeq(name, fields, stubs)

    def _returns(self, pair: _Pair) -> tuple[Return, ...]:
        return pair.base.op.schema.returns or _given_back(pair)

    def _stub_return(self, pair: _Pair) -> str:
        """A structseq's name is made by the stub itself."""
        types = [calls.row_of(r).stub_return for r in self._returns(pair)]
        if len(types) == 1:
            return types[0]
        return f"tuple[{', '.join(types)}]" if types else "None"


def _parameters(pair: _Pair) -> tuple[Parameter, ...]:
    """In Python's order: positional, keyword-only, out, options, requires_grad."""
    base = pair.base
    outs = base.outs or (pair.out.outs if pair.out else ())
    out = (out_parameter(outs, is_optional=pair.out is not None),) if outs else ()
    return (*base.positional, *base.keyword_only, *out, *base.options)


def _returns_out(one: Layout, is_merged: bool) -> bool:
    """Whether a function returns what was given as `out` where the op returns nothing."""
    return bool(one.outs) and (is_merged or len(one.outs) > 1 or one.outs[0].name == "out")


def _given_back(pair: _Pair) -> tuple[Return, ...]:
    """What a function returns though its op returns nothing."""
    op = pair.base.op
    binding = calls.Binding(
        pair.base.python_names,
        pair.base.outs,
        is_factory=False,
        returns_out=_returns_out(pair.base, False),
    )
    kind = calls.result_kind(op, binding)
    if kind is ResultKind.SELF:
        return (Return(op.schema.arguments[0].type),)
    if kind is ResultKind.OUT:
        return tuple(Return(a.type) for a in pair.base.outs)
    return ()


def _takes_varargs(positional: tuple[Parameter, ...]) -> bool:
    return len(positional) == 1 and positional[0].row.takes_varargs
