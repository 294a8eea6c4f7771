"""The plan: every decision that generating takes, as frozen data.

    add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor? out=None) -> Tensor
    |   |                                              |
    |   |                                              +--- Signature.out: the out variant's Call
    |   +--- Signature.parameters: one Parameter per Python argument
    +------- Function: one Python name, its Signatures in the order they are tried

Where C++ text stands here it is a name, a type or an expression, never a line.

What there are thousands of are named tuples: a frozen dataclass takes five times as long to make.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from .. import typemap
from ..errors import Location
from ..model import AutogradPolicy, Library, Op
from ..typemap import DefaultForms, TypeRow
from . import names


class EntryKind(Enum):
    """How CPython calls a function."""

    # No signature has a parameter.
    NOARGS = "METH_NOARGS"
    FASTCALL = "METH_FASTCALL | METH_KEYWORDS"


class ResultKind(Enum):
    """What a Python function makes of a call's C++ result."""

    WRAP = "wrap"
    NONE = "none"
    # The op returns nothing; the function returns an argument of its own, as it was given.
    GIVEN = "given"
    # The same with the several tensors of `out`.
    OUTS = "outs"


class CppParameter(NamedTuple):
    """One parameter of a C++ function."""

    # With its qualifiers: "const at::Tensor&".
    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


class CppSignature(NamedTuple):
    """A C++ function's type."""

    return_type: str
    parameters: tuple[CppParameter, ...]

    @property
    def function_type(self) -> str:
        return f"{self.return_type}({', '.join(p.type for p in self.parameters)})"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)


class Parameter(NamedTuple):
    """One parameter of a Python signature."""

    name: str
    row: TypeRow
    # The type as the signature's text shows it.
    printed: str
    # None: required.
    default: DefaultForms | None = None
    keyword_only: bool = False
    # None is taken.
    allow_none: bool = False
    # N of `T[N]`, or 0.
    size: int = 0
    is_written: bool = False
    # A Python number may stand for a Tensor.
    takes_numbers: bool = False
    # None is taken and means the default, which is not None.
    none_is_default: bool = False
    # Further names. Where `name` is a keyword of Python, the first is how source spells it.
    aliases: tuple[str, ...] = ()
    location: Location | None = None

    @property
    def spelled(self) -> str:
        """The name as Python source can have it."""
        return self.aliases[0] if keyword.iskeyword(self.name) else self.name

    @property
    def further_names(self) -> tuple[str, ...]:
        return self.aliases[1:] if keyword.iskeyword(self.name) else self.aliases

    @property
    def accepts(self) -> frozenset[str]:
        kinds = self.row.accepts_with(self.size)
        if self.takes_numbers:
            kinds |= typemap.SCALAR.accepts
        return kinds | {"None"} if self.allow_none or self.none_is_default else kinds

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default.text}"
        return f"{self.printed} {self.name}{default}"


class StructSeq(NamedTuple):
    """The type of a tuple with names."""

    # Functions of a shard that return the same fields share it.
    name: str
    fields: tuple[str, ...]
    stub_types: tuple[str, ...]
    # Name in torch.return_types; '' for a type of the module's own.
    torch_name: str = ""

    @property
    def cpp_name(self) -> str:
        """The C++ function that gives it; the module has the type under that name too."""
        return f"return_type_{self.name}"

    @property
    def stub_name(self) -> str:
        """The class that stands for it in the stub: `_MinMaxResult`."""
        return f"_{names.stem(self.name).removeprefix('k')}Result"


class Call(NamedTuple):
    """One op, called from a Python signature."""

    op: Op
    # The dispatch function: its outs first, then the schema's order.
    dispatch_name: str
    dispatch: CppSignature
    # What it calls: "at::_ops::add_Tensor::call", "&at::Tensor::is_complex".
    target: str
    # The op's type by its schema; and where torch has its own word: "at::_ops::add_Tensor::schema",
    # or '' for an own op.
    signature: CppSignature
    torch_type: str
    target_arguments: tuple[str, ...]
    releases_gil: bool
    # Below what records views and gradients.
    is_unrecorded: bool
    # How the dispatch function's arguments are read: "r.tensor(0)".
    expressions: tuple[str, ...]
    result: ResultKind
    # Place of the argument that is returned; -1 unless the result is GIVEN.
    given_index: int = -1
    # Of a tuple with names.
    structseq: StructSeq | None = None
    # Place of a factory's requires_grad, which its tensor gets; -1 in other calls.
    requires_grad_index: int = -1
    # A factory's options that were given beside `out`, which must be those of `out`.
    out_options: tuple[str, ...] = ()
    # Read into a local first, as dispatch takes them apart: N of `r.tensorlist_n<N>(i)`.
    out_count: int = 0


class Signature(NamedTuple):
    """One overload of a Python function: an op, its out variant, or both."""

    parameters: tuple[Parameter, ...]
    # The first so many parameters may be given by position.
    max_positional: int
    # As the user reads it.
    text: str
    # Called where `out` is not given, or where there is none.
    call: Call
    # Called where `out` is given; None where the signature has no base and out variant both.
    out_call: Call | None = None
    # Place of `out` among the parameters; -1 where there is none.
    out_index: int = -1
    # How a factory's device is read; '' in other signatures.
    device: str = ""
    stub_return: str = "None"
    varargs_int_list: bool = False
    # Deprecated: tried last, and not shown in messages.
    is_deprecated: bool = False

    @property
    def calls(self) -> tuple[Call, ...]:
        return (self.call,) if self.out_call is None else (self.call, self.out_call)

    @property
    def structseqs(self) -> tuple[StructSeq, ...]:
        """The types of its named results: torch's out variants have ones of their own."""
        found = (call.structseq for call in self.calls if call.structseq is not None)
        return tuple(dict.fromkeys(found))

    @property
    def positional(self) -> tuple[Parameter, ...]:
        return self.parameters[: self.max_positional]

    @property
    def keyword_only(self) -> tuple[Parameter, ...]:
        return self.parameters[self.max_positional :]


class Function(NamedTuple):
    """One Python name."""

    name: str
    # `kAdd` of kAddSignatures, kAddDoc, …
    stem: str
    # "THPVariable_add".
    cpp_name: str
    entry: EntryKind
    # In the order in which they are tried.
    signatures: tuple[Signature, ...]
    # What inspect.signature reads: "add($module, /, …)".
    text_signature: str
    # The whole doc text below it.
    doc: str
    shard: int
    # Dotted path of torch's own function for `__torch_function__`; '' for the module's function.
    torch_owner: str = ""
    torch_name: str = ""
    # Where torch has the name: "torch", "Tensor" (a method, whose first parameter is self), "nn",
    # …; '' for a function of the module alone.
    namespace: str = ""
    # A binary operator of Python's: `x & None` asks None too.
    gives_not_implemented: bool = False
    # Whether torch's tracer records every overload.
    is_traceable: bool = True

    @property
    def attribute(self) -> str:
        """Its name in the extension, where a method may not hide the function of its name."""
        return names.attribute(self.namespace, self.name)

    @property
    def module(self) -> str:
        """The module of the package that has it; '' for the package itself."""
        return "" if self.namespace == "torch" else self.namespace

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for signature in self.signatures for call in signature.calls)

    @property
    def dispatched(self) -> tuple[Call, ...]:
        """One call of each dispatch function: a deprecated signature shares that of its op."""
        return tuple({call.dispatch_name: call for call in self.calls}.values())

    @property
    def structseqs(self) -> tuple[StructSeq, ...]:
        found = (one for signature in self.signatures for one in signature.structseqs)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of functions."""

    index: int
    functions: tuple[Function, ...]
    # Of ATen, below ATen/ops/.
    headers: tuple[str, ...]
    uses_kernels: bool


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """A C++ function that the author writes."""

    # Where it stands: "demo"; and its name there.
    namespace: str
    name: str

    @property
    def qualified(self) -> str:
        return f"{self.namespace}::{self.name}" if self.namespace else self.name

    @property
    def absolute(self) -> str:
        """The name where code stands in a namespace that may have one of its own."""
        return f"::{self.qualified}"


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """One kernel, registered for one dispatch key."""

    dispatch_key: str
    function: KernelFunction
    # The name of the wrapper that sets the device; '' where none is needed.
    guard_name: str = ""
    # Argument whose device it is.
    guard_argument: str = ""


@dataclass(frozen=True, slots=True)
class OwnOp:
    """An op of the library: what is declared for it and registered."""

    op: Op
    # As torch registers it, without namespace.
    schema: str
    name: str
    overload: str
    # "rms_norm_" of demo::ops::rms_norm_; with the overload's name if there is one.
    cpp_name: str
    signature: CppSignature
    # Names of at::Tag.
    tags: tuple[str, ...]
    kernels: tuple[KernelPlan, ...]
    autograd: AutogradPolicy
    # Whether the op needs an Autograd kernel of the policy, an ADInplaceOrView kernel.
    has_autograd_kernel: bool
    has_inplace_kernel: bool
    # C++ names of the written arguments.
    mutated: tuple[str, ...]
    # C++ names of all arguments that hold tensors.
    tensors: tuple[str, ...]
    # Of its types, where that of at::Tensor lacks them.
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FakePlan:
    """A Python function that says which shapes an op gives."""

    qualified_op: str
    module: str
    function: str


@dataclass(frozen=True, slots=True)
class BindingPlan:
    """All that is generated for one file."""

    # The input's name.
    source: str
    library: Library
    # For declarations of kernels, as #include has them.
    kernel_headers: tuple[str, ...]
    # By namespace and name.
    functions: tuple[Function, ...]
    shards: tuple[Shard, ...]
    # By name.
    own_ops: tuple[OwnOp, ...]
    fakes: tuple[FakePlan, ...]
    structseqs: tuple[StructSeq, ...]

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The modules of the package, for torch's own functions."""
        names = {function.module for function in self.functions}
        return tuple(sorted(names - {""}))

    @property
    def shares_frames(self) -> bool:
        """Whether functions are to be small before they are fast: torch's own are thousands."""
        return self.library.is_torch

    def functions_of(self, module: str) -> tuple[Function, ...]:
        """Those of one of `namespaces`, or of the package itself: ''."""
        return tuple(function for function in self.functions if function.module == module)

    @property
    def origin(self) -> str:
        """What banners say, and whose files are whose: `ops.yaml for demo_ops`."""
        return f"{self.source} for {self.library.module}"
