"""The keys of the YAML file, in one table: the loader's checks, the docs and the JSON Schema are
made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FieldKind(Enum):
    """What a key's value is. All scalars are text: YAML's own types have no say."""

    TEXT = "text"
    # A name of Python or C++.
    NAME = "a name"
    FLAG = "true or false"
    COUNT = "a whole number"
    # A list of texts, or one text; with `splits`, one text of several parts between commas.
    TEXTS = "a list of texts"
    MAP = "a mapping of texts"
    MAP_OF_TEXTS = "a mapping of lists of texts"
    TEXT_OR_MAP = "text or a mapping of texts"
    # Top level alone.
    RECORD = "a mapping"
    ENTRIES = "a list of entries"


@dataclass(frozen=True, slots=True)
class Field:
    """One key: what it may hold and what it is for."""

    name: str
    kind: FieldKind
    doc: str
    # The values a text may have; any when empty.
    allowed: tuple[str, ...] = ()
    # Whether an entry without it is an error.
    required: bool = False
    # A comma splits a text into several.
    splits: bool = False
    # Only an entry with kernels of its own may have it: it says nothing of an ATen op.
    own_only: bool = False
    # One of native_functions.yaml's own.
    is_native: bool = False


def _native(
    name: str,
    kind: FieldKind,
    doc: str,
    allowed: tuple[str, ...] = (),
    *,
    required: bool = False,
    splits: bool = False,
) -> Field:
    return Field(name, kind, doc, allowed, required, splits, is_native=True)


# The keys of one op, in the order of the docs.
ENTRY_FIELDS = (
    _native("func", FieldKind.TEXT, "The op's schema.", required=True),
    _native(
        "dispatch",
        FieldKind.MAP,
        "Kernels by dispatch key, which make the op one of your own; several keys may stand before "
        "one kernel, with commas. Ignored in a plain list of entries, where every op is ATen's.",
    ),
    _native(
        "variants",
        FieldKind.TEXTS,
        "Whether the op is a function, a method of Tensor, or both.",
        ("function", "method"),
        splits=True,
    ),
    Field("doc", FieldKind.TEXT, "What the op does; becomes the function's __doc__."),
    Field("examples", FieldKind.TEXTS, "Python examples for the docs, each a text of its own."),
    Field("python_name", FieldKind.NAME, "The Python function's name, if not the schema's."),
    Field(
        "aliases",
        FieldKind.MAP_OF_TEXTS,
        "Further keyword names of arguments: {dim: [axis]}.",
        splits=True,
    ),
    Field(
        "numbers_as_tensors",
        FieldKind.FLAG,
        "Whether a Python number may stand for a Tensor argument.",
    ),
    Field(
        "gil",
        FieldKind.TEXT,
        "Whether the kernel runs without the GIL (release, the default) or with it.",
        ("release", "hold"),
    ),
    Field(
        "call",
        FieldKind.TEXT,
        "Whether the binding calls through the dispatcher (the default) or the kernel directly.",
        ("dispatcher", "direct"),
        own_only=True,
    ),
    Field(
        "autograd",
        FieldKind.TEXT,
        "What a backward pass does: error (the default) raises and names the op, none falls "
        "through to what the kernel calls, external leaves it to the author.",
        ("error", "none", "external"),
        own_only=True,
    ),
    Field(
        "fake",
        FieldKind.TEXT,
        "A Python fake for an op whose output's shape depends on data: module:function.",
        own_only=True,
    ),
    _native(
        "device_guard",
        FieldKind.FLAG,
        "Whether the current device is set to the first tensor's around the kernel (default true).",
    ),
    _native(
        "device_check",
        FieldKind.TEXT,
        "Whether torch checks that all tensors are on one device.",
        ("NoCheck", "ExactSame"),
    ),
    _native("python_module", FieldKind.TEXT, "The module the function is in: nn, linalg, fft."),
    _native(
        "category_override",
        FieldKind.TEXT,
        "Makes a function a factory, whatever its arguments: factory, new, like.",
    ),
    _native("manual_cpp_binding", FieldKind.FLAG, "Whether torch writes the C++ method by hand."),
    _native("tags", FieldKind.TEXTS, "Properties of the op, of those in KNOWN_TAGS."),
    _native("autogen", FieldKind.TEXTS, "Further overloads that torchgen derives.", splits=True),
    _native("structured", FieldKind.FLAG, "Whether the kernel is in torchgen's structured form."),
    _native(
        "structured_delegate", FieldKind.TEXT, "The out overload whose kernel this one shares."
    ),
    _native("structured_inherits", FieldKind.TEXT, "The structured kernel's base class."),
    _native("precomputed", FieldKind.TEXTS, "What a structured kernel computes ahead."),
    _native("ufunc_inner_loop", FieldKind.TEXT_OR_MAP, "A structured kernel's inner loops."),
    _native("cpp_no_default_args", FieldKind.TEXTS, "Arguments without a default in C++."),
    _native(
        "use_const_ref_for_mutable_tensors",
        FieldKind.FLAG,
        "Whether written tensors are passed as const references in C++.",
    ),
    _native("manual_kernel_registration", FieldKind.FLAG, "Whether torch registers by hand."),
)

LIBRARY_FIELDS = (
    Field(
        "namespace",
        FieldKind.NAME,
        "The dispatcher's namespace (torch.ops.NAMESPACE.*) and the C++ one.",
        required=True,
    ),
    Field("module", FieldKind.NAME, "The Python package's name; NAMESPACE_ops by default."),
    Field(
        "host",
        FieldKind.TEXT,
        "What gives the module its Tensor type.",
        ("torch",),
    ),
    Field("shards", FieldKind.COUNT, "The number of C++ files for functions, from 1 to 256."),
    Field("doc", FieldKind.TEXT, "The module's __doc__."),
)

DEPRECATED_FIELDS = (
    Field("name", FieldKind.TEXT, "The old signature, as a schema.", required=True),
    Field("aten", FieldKind.TEXT, "The call that stands for it: add(self, other, alpha).",
          required=True),
)  # fmt: skip

TAG_FIELDS = (
    Field("tag", FieldKind.NAME, "A tag's name, in tags.yaml.", required=True),
    Field("desc", FieldKind.TEXT, "What the tag says."),
)

TOP_FIELDS = (
    Field("library", FieldKind.RECORD, "What the generated library is called."),
    Field("functions", FieldKind.ENTRIES, "The ops, in entries.", required=True),
    Field("deprecated", FieldKind.ENTRIES, "Old signatures that are still taken."),
)

MAX_SHARDS = 256

_KNOWN_TAGS = """
    inplace_view pt2_compliant_tag view_copy dynamic_output_shape data_dependent_output generated
    nondeterministic_seeded nondeterministic_bitwise needs_exact_strides needs_contiguous_strides
    needs_fixed_stride_order flexible_layout core pointwise maybe_aliasing_or_mutating
    cudagraph_unsafe reduction inplace out out_variant
"""
# torch's tags.yaml. A newer torch has more, so that another is a warning.
KNOWN_TAGS = frozenset(_KNOWN_TAGS.split())

_BACKENDS = "CPU CUDA HIP XLA MTIA MPS IPU XPU HPU VE Lazy Meta PrivateUse1 PrivateUse2 PrivateUse3"
_PREFIXES = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
_OTHER_KEYS = """
    CompositeImplicitAutograd CompositeImplicitAutogradNestedTensor CompositeExplicitAutograd
    CompositeExplicitAutogradNonFunctional Autograd AutogradOther AutogradNestedTensor Autocast
    AutocastCPU AutocastCUDA AutocastXPU ADInplaceOrView BackendSelect Functionalize Tracer Python
    ZeroTensor Conjugate Negative FuncTorchBatched Batched MkldnnCPU Vulkan Metal FPGA MAIA
"""
# Dispatch keys under which a kernel can be registered.
DISPATCH_KEYS = frozenset(
    [f"{prefix}{backend}" for prefix in _PREFIXES for backend in _BACKENDS.split()]
) | frozenset(_OTHER_KEYS.split())
