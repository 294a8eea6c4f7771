"""From ops to Python functions: base and out variant put together, overloads in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..model import Library, Op, Return
from . import calls, docs, names, order, torch_data, torch_profile
from .data import (
    Call,
    EntryKind,
    Function,
    Parameter,
    Signature,
    StructSeq,
)
from .entries import Entry
from .signatures import Layout, layout, out_parameter


def function(entries: Sequence[Entry], library: Library) -> Function:
    """The function of one Python name, from all that bears it."""
    namespace, name = entries[0].namespace, entries[0].name
    attribute = names.attribute(namespace, name)
    pairs = _paired([layout(entry) for entry in entries])
    maker = _SignatureMaker(name, library, is_single=len(pairs) == 1)
    signatures = order.ordered(maker.signature(pair) for pair in pairs)
    is_noargs = not any(s.parameters for s in signatures)
    owner, torch_name = _torch_function(entries)
    return Function(
        name=name,
        stem=names.stem(attribute),
        cpp_name=names.entry_name(attribute),
        entry=EntryKind.NOARGS if is_noargs else EntryKind.FASTCALL,
        signatures=signatures,
        text_signature=docs.text_signature(attribute, signatures),
        doc=docs.doc(signatures, torch_data.NUMPY_NAMES if library.is_torch else {}),
        shard=names.shard_of(attribute, library.shards),
        torch_owner=owner,
        torch_name=torch_name,
        namespace=namespace,
        gives_not_implemented=library.is_torch and name.startswith("__"),
        is_traceable=not library.is_torch or all(map(_is_traceable, entries)),
    )


def by_name(entries: Iterable[Entry]) -> list[list[Entry]]:
    """What bears one name together, in an order that the file's order has no part in."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in sorted(entries, key=_sort_key):
        groups.setdefault((entry.namespace, entry.name), []).append(entry)
    return list(groups.values())


def _sort_key(entry: Entry) -> tuple[object, ...]:
    schema = str(entry.op.schema)
    own = schema if entry.schema is entry.op.schema else str(entry.schema)
    return (entry.namespace, entry.name, entry.is_deprecated, schema, own)


def _is_traceable(entry: Entry) -> bool:
    return torch_profile.is_traceable(entry.op)


def _torch_function(entries: Sequence[Entry]) -> tuple[str, str]:
    """What of torch a `__torch_function__` handler gets; an own function stands for itself."""
    if any(entry.op.is_own for entry in entries):
        return "", ""
    op = entries[0].op
    namespace = entries[0].namespace or _namespace(op)
    owner = torch_profile.OWNERS.get(namespace, f"torch._C._{namespace}")
    return owner, op.schema.name.base


def _namespace(op: Op) -> str:
    """Where torch has the function that a library's function stands for."""
    found = tuple(torch_profile.namespaces(op))
    return torch_profile.FUNCTIONS if torch_profile.FUNCTIONS in found else found[0]


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
        binding = calls.Binding(base, base, parameters)
        positional = base.positional
        given = tuple(Return(a.type) for a in binding.gives_back)
        returns = base.op.schema.returns or given
        outs = base.outs or (out.outs if out else ())
        return Signature(
            parameters=parameters,
            max_positional=len(positional),
            text=docs.signature_text(self.name, parameters, len(positional), returns),
            is_deprecated=base.entry.is_deprecated,
            call=self._call(binding),
            out_call=self._call(calls.Binding(out, base, parameters)) if out else None,
            out_index=binding.place(out_parameter(outs, False).name) if outs else -1,
            device=binding.device,
            stub_return=_stub_return(returns, is_given=bool(given)),
            varargs_int_list=_takes_varargs(positional[base.entry.is_method :]),
        )

    def _call(self, binding: calls.Binding) -> Call:
        name = self._dispatch_name(binding.one)
        return calls.make_call(binding, self.library, name, self._structseq_of(binding))

    def _dispatch_name(self, one: Layout) -> str:
        prefix = f"dispatch_{names.attribute(one.entry.namespace, '')}"
        base = one.op.schema.name.base
        # Other functions may have the base's other overloads; torch has scatter.reduce and
        # scatter_reduce.two.
        if not self.is_single or self.name != base or self.library.is_torch:
            return f"{prefix}{calls.overload_name(one.op)}"
        return f"{prefix}{base}{'_out' if one.outs else ''}"

    def _structseq_of(self, binding: calls.Binding) -> StructSeq | None:
        """An out variant that returns nothing gives its outs back as its base gives its results."""
        one, fields = binding.one.op, binding.base.op.schema.returns
        if calls.has_fields(one.schema.returns):
            return self._structseq(one)
        is_like_base = len(binding.gives_back) == len(fields) and calls.has_fields(fields)
        return self._structseq(binding.base.op) if is_like_base else None

    def _structseq(self, op: Op) -> StructSeq:
        returns = op.schema.returns
        fields = tuple(r.name or "" for r in returns)
        stubs = tuple(calls.row_of(r).stub_return for r in returns)
        if not op.is_own:
            name = torch_profile.cpp_name(op)
            return StructSeq(name, fields, stubs, name)
        name = self.name if self.is_single else calls.overload_name(op)
        return StructSeq(name, fields, stubs)


def _parameters(pair: _Pair) -> tuple[Parameter, ...]:
    """In Python's order: positional, keyword-only, out, options, requires_grad."""
    base = pair.base
    outs = base.outs or (pair.out.outs if pair.out else ())
    out = (out_parameter(outs, is_optional=pair.out is not None),) if outs else ()
    return (*base.positional, *base.keyword_only, *out, *base.options)


def _stub_return(returns: Iterable[Return], *, is_given: bool) -> str:
    """A structseq's name is made by the stub itself. A list that was given may be a list."""
    rows = map(calls.row_of, returns)
    types = [row.stub_argument if is_given else row.stub_return for row in rows]
    if len(types) == 1:
        return types[0]
    return f"tuple[{', '.join(types)}]" if types else "None"


def _takes_varargs(positional: tuple[Parameter, ...]) -> bool:
    return len(positional) == 1 and positional[0].row.takes_varargs
