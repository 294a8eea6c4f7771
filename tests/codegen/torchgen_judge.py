"""What torchgen's own generator of Python bindings makes of torch's files, in a form to compare.

torchgen is run as it is installed; the names are PyTorch's.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

import torchgen  # type: ignore[import-untyped]

PACKAGED = Path(torchgen.__file__).parent / "packaged"
NATIVE_FUNCTIONS = PACKAGED / "ATen/native/native_functions.yaml"
TAGS = PACKAGED / "ATen/native/tags.yaml"
DEPRECATED = PACKAGED / "autograd/deprecated.yaml"


@dataclass(frozen=True)
class Shown:
    """A parameter: name, type in the schema's words, default ('' for none)."""

    name: str
    type: str
    default: str
    # Whether None is taken; it means the default.
    takes_none: bool = False


@dataclass(frozen=True)
class Canonical:
    """A signature as a caller sees it; `self` of a method is left out."""

    positional: tuple[Shown, ...]
    keyword_only: tuple[Shown, ...]
    out: Shown | None
    is_deprecated: bool
    # The ops behind it: base and out variant.
    ops: tuple[str, ...]
    # What torch.return_types calls the named tuples of the ops.
    named_tuples: tuple[str, ...]

    def __str__(self) -> str:
        parts = [f"{p.type} {p.name}" + (f"={p.default}" if p.default else "") for p in self.all]
        if len(self.positional) < len(parts):
            parts.insert(len(self.positional), "*")
        return f"({', '.join(parts)}){' deprecated' if self.is_deprecated else ''}"

    @property
    def all(self) -> tuple[Shown, ...]:
        outs = () if self.out is None else (self.out,)
        return (*self.positional, *self.keyword_only, *outs)


# (namespace, name) -> signatures, in the order in which they are tried.
Table = dict[tuple[str, str], tuple[Canonical, ...]]

_PREDICATES = {
    "Tensor": "is_py_variable_method",
    "torch": "is_py_torch_function",
    **{name: f"is_py_{name}_function" for name in ("nn", "fft", "linalg")},
    **{name: f"is_py_{name}_function" for name in ("nested", "sparse", "special")},
}


def _bindings() -> Iterator[tuple[str, Any, list[Any], Any]]:
    """Namespace, name and overloads of all of torch's generated bindings, and torchgen's module."""
    judge: Any = importlib.import_module("torchgen.packaged.autograd.gen_python_functions")
    gen: Any = importlib.import_module("torchgen.gen")
    functions = gen.parse_native_yaml(str(NATIVE_FUNCTIONS), str(TAGS)).native_functions
    bound = [f for f in functions if judge.should_generate_py_binding(f)]
    for namespace, predicate in _PREDICATES.items():
        is_method = namespace == "Tensor"
        pairs = judge.load_signatures(bound, str(DEPRECATED), method=is_method)
        grouped = judge.group_filter_overloads(pairs, getattr(judge, predicate))
        for name, overloads in grouped.items():
            yield namespace, name, overloads, judge


def table() -> Table:
    """The signatures of all of torch's generated bindings."""
    found: Table = {}
    for namespace, name, overloads, judge in _bindings():
        signatures = [_canonical(group) for group in judge.group_overloads(overloads)]
        # PythonArgParser tries deprecated signatures last.
        found[namespace, str(name)] = tuple(sorted(signatures, key=lambda s: s.is_deprecated))
    return found


@dataclass(frozen=True)
class Given:
    """What the C++ of a function does beside calling its ops, each as often as it stands there."""

    devices_initialized: int
    outs_compared: int
    lists_returned: int
    nones_returned: int


def given() -> dict[tuple[str, str], Given]:
    """By (namespace, name), counted in the text that torchgen makes."""
    found = {}
    for namespace, name, overloads, judge in _bindings():
        text = judge.method_impl(name, None, overloads, method=namespace == "Tensor")
        found[namespace, str(name)] = Given(
            text.count("maybe_initialize_device("),
            text.count("check_out_type_matches("),
            text.count("self_tensorlist = "),
            # One stands behind all that is returned, but where nothing is parsed.
            text.count("Py_RETURN_NONE;") - (not judge.is_noarg(overloads)),
        )
    return found


def traceable() -> dict[str, bool]:
    """Op -> whether torch's tracer records it."""
    gen: Any = importlib.import_module("torchgen.gen")
    judge: Any = importlib.import_module("torchgen.packaged.autograd.gen_trace_type")
    functions = gen.parse_native_yaml(str(NATIVE_FUNCTIONS), str(TAGS)).native_functions
    return {str(f.func.name): judge.should_trace(f) for f in functions}


def _canonical(group: Any) -> Canonical:
    signature = group.signature
    is_method = signature.method
    options = _shown(signature.tensor_options_args, is_method)
    ops = [group.base] + ([group.outplace] if group.outplace else [])
    return Canonical(
        _shown(signature.input_args, is_method),
        _shown(signature.input_kwargs, is_method) + options,
        None if signature.output_args is None else _shown([signature.output_args], is_method)[0],
        signature.deprecated,
        tuple(str(f.func.name) for f in ops),
        tuple(_named_tuple(f) for f in ops),
    )


def _named_tuple(function: Any) -> str:
    names = [r.name for r in function.func.returns]
    if len(names) < 2 or names[0] is None:
        return ""
    return f"{function.func.name.name}{'_out' if function.func.is_out_fn() else ''}"


def _shown(arguments: Sequence[Any], is_method: bool) -> tuple[Shown, ...]:
    # What signature_str says of a name, which `name` alone does not.
    texts = [a.argument_str(method=is_method).partition("=")[0] for a in arguments]
    names = [text.rpartition(" ")[2] for text in texts]
    return tuple(starmap(_parameter, zip(names, arguments, strict=True)))


def _parameter(name: str, argument: Any) -> Shown:
    """torch shows None for an empty list and for a dtype's own default, and takes it for those."""
    default = "" if argument.default is None else _default(argument.default)
    is_optional, is_out = str(argument.type).endswith("?"), hasattr(argument, "outputs")
    if default == "None" and argument.type.is_list_like() and not is_optional and not is_out:
        default = "[]"
    elif default == "None" and argument.default_init in _CPP_DEFAULTS:
        default = _CPP_DEFAULTS[argument.default_init]
    takes_none = is_optional or default in ("None", "[]")
    return Shown(name, str(argument.type), default, takes_none)


_CPP_DEFAULTS = {
    "nullptr": "None",
    "{}": "None",
    "::std::nullopt": "None",
    "at::Reduction::Mean": "Mean",
    "at::kLong": "long",
    "c10::MemoryFormat::Contiguous": "contiguous_format",
    "torch.contiguous_format": "contiguous_format",
}


def _default(cpp: str) -> str:
    """The schema's words for a C++ default."""
    cpp = _CPP_DEFAULTS.get(cpp, cpp)
    if re.fullmatch(r"\{.*\}", cpp):
        return f"[{','.join(part.strip() for part in cpp[1:-1].split(','))}]"
    return repr(ast.literal_eval(cpp)) if cpp.startswith('"') else cpp
