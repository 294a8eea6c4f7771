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
    # A value as YAML writes it after 'name:', on one line; or the lines below it.
    example: str
    # What an entry without it has, as text; '' when that is nothing, or is said in `doc`.
    default: str = ""
    # The values a text may have; any when empty.
    allowed: tuple[str, ...] = ()
    # Further ones, for opbind's own tests: neither docs nor messages know them.
    for_tests: tuple[str, ...] = ()
    # Whether an entry without it is an error.
    required: bool = False
    # A comma splits a text into several.
    splits: bool = False
    # Only an entry with kernels of its own may have it: it says nothing of an ATen op.
    own_only: bool = False
    # One of native_functions.yaml's own.
    is_native: bool = False


# The keys of one op, in the order of the docs.
ENTRY_FIELDS = (
    Field(
        "func",
        FieldKind.TEXT,
        "The op's schema.",
        "scale(Tensor self, float alpha=1.0) -> Tensor",
        required=True,
        is_native=True,
    ),
    Field(
        "dispatch",
        FieldKind.MAP,
        "Kernels by dispatch key, which make the op one of your own; several keys may stand before "
        "one kernel, with commas. Ignored in a plain list of entries, where every op is ATen's.",
        "{CPU: scale_cpu, Meta: scale_meta}",
        is_native=True,
    ),
    Field(
        "variants",
        FieldKind.TEXTS,
        "Whether the op is a function, a method of Tensor, or both.",
        "function, method",
        "function",
        ("function", "method"),
        splits=True,
        is_native=True,
    ),
    Field(
        "doc",
        FieldKind.TEXT,
        "What the op does; becomes the function's `__doc__`.",
        "Multiply by alpha.",
    ),
    Field(
        "examples",
        FieldKind.TEXTS,
        "Python examples for the docs, each a text of its own.",
        '["demo_ops.scale(torch.ones(2), 3)"]',
    ),
    Field(
        "python_name",
        FieldKind.NAME,
        "The Python function's name, if not the schema's.",
        "scale_by",
    ),
    Field(
        "aliases",
        FieldKind.MAP_OF_TEXTS,
        "Further keyword names of arguments.",
        "{alpha: [factor, by]}",
        splits=True,
    ),
    Field(
        "numbers_as_tensors",
        FieldKind.FLAG,
        "Whether a Python number may stand for a Tensor argument.",
        "true",
        "false",
    ),
    Field(
        "gil",
        FieldKind.TEXT,
        "Whether the kernel runs without the GIL (release) or with it (hold).",
        "hold",
        "release",
        ("release", "hold"),
    ),
    Field(
        "call",
        FieldKind.TEXT,
        "Whether the binding calls through the dispatcher, or the kernel directly, past autograd "
        "and every mode.",
        "direct",
        "dispatcher",
        ("dispatcher", "direct"),
        own_only=True,
    ),
    Field(
        "autograd",
        FieldKind.TEXT,
        "What a backward pass does: error raises and names the op, none falls through to what the "
        "kernel calls, external leaves it to the author.",
        "external",
        "error",
        ("error", "none", "external"),
        own_only=True,
    ),
    Field(
        "fake",
        FieldKind.TEXT,
        "A Python fake for an op whose output's shape depends on data: module:function.",
        "demo_fakes:scale",
        own_only=True,
    ),
    Field(
        "device_guard",
        FieldKind.FLAG,
        "Whether the current device is set to the first tensor's around the kernel.",
        "false",
        "true",
        is_native=True,
    ),
    Field(
        "device_check",
        FieldKind.TEXT,
        "Whether torch checks that all tensors are on one device. Says nothing here.",
        "NoCheck",
        "ExactSame",
        ("NoCheck", "ExactSame"),
        is_native=True,
    ),
    Field(
        "python_module",
        FieldKind.TEXT,
        "The module of torch that the function is in: nn, linalg, fft, special, sparse or nested.",
        "linalg",
        is_native=True,
    ),
    Field(
        "category_override",
        FieldKind.TEXT,
        "Makes a function a factory, whatever its arguments: factory, new, like.",
        "factory",
        is_native=True,
    ),
    Field(
        "manual_cpp_binding",
        FieldKind.FLAG,
        "Whether torch writes the C++ method by hand: functions of self alone call that.",
        "true",
        "false",
        is_native=True,
    ),
    Field(
        "tags",
        FieldKind.TEXTS,
        "Properties of the op, of those in torch's tags.yaml; another is a warning.",
        "[pointwise, pt2_compliant_tag]",
        is_native=True,
    ),
    Field(
        "autogen",
        FieldKind.TEXTS,
        "Further overloads that torchgen derives.",
        "scale.out",
        splits=True,
        is_native=True,
    ),
    Field(
        "structured",
        FieldKind.FLAG,
        "Whether the kernel is in torchgen's structured form.",
        "true",
        "false",
        is_native=True,
    ),
    Field(
        "structured_delegate",
        FieldKind.TEXT,
        "The out overload whose kernel this one shares.",
        "scale.out",
        is_native=True,
    ),
    Field(
        "structured_inherits",
        FieldKind.TEXT,
        "The structured kernel's base class.",
        "TensorIteratorBase",
        is_native=True,
    ),
    Field(
        "precomputed",
        FieldKind.TEXTS,
        "What a structured kernel computes ahead.",
        "\n  - dim -> int dim",
        is_native=True,
    ),
    Field(
        "ufunc_inner_loop",
        FieldKind.TEXT_OR_MAP,
        "A structured kernel's inner loops.",
        "{Generic: scale (AllAndComplex)}",
        is_native=True,
    ),
    Field(
        "cpp_no_default_args",
        FieldKind.TEXTS,
        "Arguments without a default in C++.",
        "[alpha]",
        is_native=True,
    ),
    Field(
        "use_const_ref_for_mutable_tensors",
        FieldKind.FLAG,
        "Whether written tensors are passed as const references in C++.",
        "true",
        "false",
        is_native=True,
    ),
    Field(
        "manual_kernel_registration",
        FieldKind.FLAG,
        "Whether torch registers by hand.",
        "true",
        "false",
        is_native=True,
    ),
)

LIBRARY_FIELDS = (
    Field(
        "namespace",
        FieldKind.NAME,
        "The dispatcher's namespace (`torch.ops.NAMESPACE.*`) and the C++ one.",
        "demo",
        required=True,
    ),
    Field(
        "module",
        FieldKind.NAME,
        "The Python package's name; NAMESPACE_ops when not given.",
        "demo_ops",
    ),
    Field(
        "host",
        FieldKind.TEXT,
        "What gives the module its Tensor type.",
        "torch",
        "torch",
        ("torch",),
        for_tests=("null",),
    ),
    Field(
        "shards",
        FieldKind.COUNT,
        "The number of C++ files for functions, from 1 to 256.",
        "4",
        "1",
    ),
    Field("doc", FieldKind.TEXT, "The module's `__doc__`.", "Operators of the demo library."),
)

DEPRECATED_FIELDS = (
    Field(
        "name",
        FieldKind.TEXT,
        "The old signature, as a schema.",
        "add(Tensor self, Scalar alpha, Tensor other) -> Tensor",
        required=True,
    ),
    Field(
        "aten",
        FieldKind.TEXT,
        "The call that stands for it.",
        "add(self, other, alpha)",
        required=True,
    ),
)

TAG_FIELDS = (
    Field("tag", FieldKind.NAME, "A tag's name, in tags.yaml.", "pointwise", required=True),
    Field("desc", FieldKind.TEXT, "What the tag says.", "Works on each element by itself."),
)

TOP_FIELDS = (
    Field(
        "library",
        FieldKind.RECORD,
        "What the generated library is called; own ops need one.",
        "{namespace: demo, module: demo_ops}",
    ),
    Field(
        "functions",
        FieldKind.ENTRIES,
        "The ops, one entry for each overload.",
        "\n- func: relu(Tensor self) -> Tensor",
        required=True,
    ),
    Field(
        "deprecated",
        FieldKind.ENTRIES,
        "Old signatures that are still taken.",
        "\n- name: add(Tensor self, Scalar alpha, Tensor other) -> Tensor\n"
        "  aten: add(self, other, alpha)",
    ),
)

MAX_SHARDS = 256
# Of a NAME.
MAX_NAME = 200

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
