"""Texts for people: a function's doc, and the signature that inspect reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..model import Return
from .data import Parameter, Signature


def signature_text(
    name: str, parameters: Sequence[Parameter], max_positional: int, returns: Sequence[Return]
) -> str:
    """`add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None) -> Tensor`"""
    parts = [str(p) for p in parameters]
    if max_positional < len(parts):
        parts.insert(max_positional, "*")
    return f"{name}({', '.join(parts)}) -> {returns_text(returns)}"


def returns_text(returns: Sequence[Return]) -> str:
    """Without alias marks, which say nothing to a caller."""
    parts = [f"{r.type} {r.name}" if r.name else str(r.type) for r in returns]
    return str(returns[0].type) if len(parts) == 1 else f"({', '.join(parts)})"


def text_signature(name: str, signatures: Sequence[Signature]) -> str:
    """What `__text_signature__` says; all overloads cannot be said in one."""
    if len(signatures) > 1:
        return f"{name}($module, /, *args, **kwargs)"
    (signature,) = signatures
    parts = [_text_parameter(p) for p in signature.parameters]
    if signature.max_positional < len(parts):
        parts.insert(signature.max_positional, "*")
    return f"{name}({', '.join(['$module', '/', *parts])})"


def _text_parameter(parameter: Parameter) -> str:
    default = "" if parameter.default is None else f"={parameter.default.python}"
    return f"{parameter.spelled}{default}"


def doc(signatures: Iterable[Signature], implied: Mapping[str, Sequence[str]]) -> str:
    """The signatures, what the entries say, further names of arguments, and examples.

    `implied` names of arguments are alike in all functions, and not told by each.
    """
    signatures = tuple(signatures)
    ops = [call.op for s in signatures for call in s.calls]
    texts = ["\n".join(s.text for s in signatures)]
    texts += _distinct(op.doc.strip() for op in ops)
    parameters = (p for s in signatures for p in s.parameters)
    further = _distinct(_further_names(p, implied.get(p.name, ())) for p in parameters)
    if further:
        texts.append(f"By keyword also: {', '.join(further)}.")
    examples = _distinct(example.strip("\n") for op in ops for example in op.examples)
    if examples:
        texts.append("Examples:\n" + "\n\n".join(map(_indented, examples)))
    return "\n\n".join(texts)


def _further_names(parameter: Parameter, implied: Sequence[str]) -> str:
    names = [name for name in parameter.aliases if name not in implied]
    return f"{' or '.join(names)} for {parameter.name}" if names else ""


def _distinct(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
