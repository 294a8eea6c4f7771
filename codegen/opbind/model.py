"""The schema language as data.

The model speaks schema, never C++: a type here is `int[2]?`, not `at::OptionalIntArrayRef`. Every
class is frozen, and `str()` gives the canonical text, so that `parse(str(x)) == x`. Locations take
no part in comparison.

Source of the grammar: PyTorch's C++ schema parser and torchgen's model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from .errors import Location


@dataclass(frozen=True, slots=True)
class BaseType:
    """`Tensor`, `int`, …, or `__torch__.torch.classes.NS.X`: a type that has no parts."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class OptionalType:
    """`T?`"""

    element: Type

    def __str__(self) -> str:
        return f"{self.element}?"


@dataclass(frozen=True, slots=True)
class ListType:
    """`T[]`, or `T[N]`: N elements, for which a single value may stand."""

    element: Type
    size: int | None = None

    def __str__(self) -> str:
        return f"{self.element}[{'' if self.size is None else self.size}]"


@dataclass(frozen=True, slots=True)
class TupleType:
    """`(T, U)`"""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


@dataclass(frozen=True, slots=True)
class DictType:
    """`Dict(K, V)`"""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"Dict({self.key}, {self.value})"


Type = BaseType | OptionalType | ListType | TupleType | DictType


@dataclass(frozen=True, slots=True)
class AliasInfo:
    """`(a!)`, `(a|b)`, `(a -> *)`: which memory an argument or a return shares.

    A bare `!` is a write without a name: no sets, `is_write`.
    """

    before: tuple[str, ...] = ()
    # None where the text has no arrow: the set after the call is the set before it.
    after: tuple[str, ...] | None = None
    is_write: bool = False
    # `Tensor(a!)[]` marks the elements of a list, `Tensor[](a!)` the list itself.
    on_element: bool = False
    # What `Tensor(a)[](b!)` says of the elements beside what it says of the list. A list that has
    # no mark of its own around such elements has an empty `after`, which no text can give.
    element: AliasInfo | None = None

    @property
    def writes(self) -> bool:
        """Whether anything under the mark is written: the list or its elements."""
        return self.is_write or (self.element is not None and self.element.writes)

    def __str__(self) -> str:
        if not self.before:
            return "!" if self.after is None else ""
        arrow = "" if self.after is None else f" -> {'|'.join(self.after)}"
        return f"({'|'.join(self.before)}{'!' if self.is_write else ''}{arrow})"


class DefaultKind(Enum):
    """How a default is written; what it means is up to the type of its argument."""

    NONE = "None"
    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    COMPLEX = "complex"
    STRING = "string"
    LIST = "list"
    # An enum's name: Mean, long, contiguous_format.
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Default:
    """A default value: `value` is exact (int of any size, Python float), `text` canonical."""

    kind: DefaultKind
    # None, bool, int, float, complex, str (STRING and NAME), or a tuple of Default (LIST). The text
    # says as much, and unlike a NaN it equals itself.
    value: object = field(compare=False)
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    type: Type
    default: Default | None = None
    alias: AliasInfo | None = None
    location: Location | None = field(default=None, compare=False, repr=False)
    default_location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def is_write(self) -> bool:
        return self.alias is not None and self.alias.writes

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{annotated(self.type, self.alias)} {self.name}{default}"


@dataclass(frozen=True, slots=True)
class Return:
    type: Type
    # None where the schema gives no name.
    name: str | None = None
    alias: AliasInfo | None = None
    location: Location | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        name = "" if self.name is None else f" {self.name}"
        return f"{annotated(self.type, self.alias)}{name}"


def annotated(type_: Type, alias: AliasInfo | None) -> str:
    """The type's text with its alias mark where the language wants it: `Tensor(a!)?`.

    `Tensor(a!)[]` is the form for a list's elements, `Tensor[](a!)` for the list itself. An
    optional is marked on what it holds.
    """
    if alias is None:
        return str(type_)
    if isinstance(type_, OptionalType):
        return f"{annotated(type_.element, alias)}?"
    if isinstance(type_, ListType):
        size = "" if type_.size is None else type_.size
        if alias.on_element:
            return f"{annotated(type_.element, alias)}[{size}]"
        return f"{annotated(type_.element, alias.element)}[{size}]{alias}"
    return f"{type_}{alias}"


@dataclass(frozen=True, slots=True)
class OperatorName:
    """`ns::base.overload`; `namespace` and `overload` may be ''."""

    base: str
    overload: str = ""
    namespace: str = ""

    @property
    def is_inplace(self) -> bool:
        """`foo_` and `__ifoo__` write their first argument, by the convention of names."""
        dunder = self.base.startswith("__") and self.base.endswith("__")
        if dunder:
            others = ("__invert__", "__index__", "__int__")
            return self.base.startswith("__i") and self.base not in others
        return self.base.endswith("_")

    def __str__(self) -> str:
        namespace = f"{self.namespace}::" if self.namespace else ""
        overload = f".{self.overload}" if self.overload else ""
        return f"{namespace}{self.base}{overload}"


@dataclass(frozen=True, slots=True)
class Schema:
    """One operator's signature. Arguments are in the order written."""

    name: OperatorName
    positional: tuple[Argument, ...]
    keyword_only: tuple[Argument, ...]
    returns: tuple[Return, ...]
    # `...` as last argument or as last return.
    is_vararg: bool = False
    is_varret: bool = False
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return self.positional + self.keyword_only

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        """The trailing run of written keyword-only arguments, which an `out=` call gives."""
        return tuple(a for a in self.keyword_only if a.is_write)

    def __str__(self) -> str:
        parts = [str(a) for a in self.positional]
        if self.keyword_only:
            parts += ["*", *map(str, self.keyword_only)]
        if self.is_vararg:
            parts.append("...")
        return f"{self.name}({', '.join(parts)}) -> {self._returns_text()}"

    def _returns_text(self) -> str:
        parts = [*map(str, self.returns), *(["..."] if self.is_varret else [])]
        # One tuple needs the brackets of the list of returns around its own.
        alone = len(parts) == 1 and not parts[0].startswith("(")
        return parts[0] if alone else f"({', '.join(parts)})"


class GilPolicy(Enum):
    RELEASE = "release"
    HOLD = "hold"


class CallPolicy(Enum):
    DISPATCHER = "dispatcher"
    DIRECT = "direct"


class AutogradPolicy(Enum):
    # A backward through the op raises and names it.
    ERROR = "error"
    # The op's gradient falls through to what its kernel calls.
    NONE = "none"
    # The author registers one.
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class Kernel:
    """One entry of `dispatch`: `key: name`."""

    dispatch_key: str
    # The C++ function, unqualified (the library's namespace is its place) or qualified.
    name: str
    location: Location | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Op:
    """One entry of the YAML file: a schema and what is said about it."""

    schema: Schema
    # Empty for an ATen op.
    kernels: tuple[Kernel, ...] = ()
    is_own: bool = False
    gil: GilPolicy = GilPolicy.RELEASE
    call: CallPolicy = CallPolicy.DISPATCHER
    autograd: AutogradPolicy = AutogradPolicy.ERROR
    # `module:function` of a Python fake, or ''.
    fake: str = ""
    device_guard: bool = True
    numbers_as_tensors: bool = False
    # (argument, further names of it), in the order of the file.
    aliases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    # The Python function's name; '' for the schema's base name.
    python_name: str = ""
    doc: str = ""
    examples: tuple[str, ...] = ()
    # native_functions.yaml's own keys that planning reads.
    variants: tuple[str, ...] = ("function",)
    python_module: str = ""
    category_override: str = ""
    manual_cpp_binding: bool = False
    tags: tuple[str, ...] = ()
    # Further overloads that torchgen derives.
    autogen: tuple[str, ...] = ()
    # Written tensors are const references in C++.
    const_written: bool = False
    location: Location | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Deprecated:
    """One entry of `deprecated`: an old signature and the call that stands for it."""

    schema: Schema
    # The base name of the op that is called; `add_out` for an out variant of `add`.
    called: str
    # Constants, and names of the signature's arguments; an out variant's outs first.
    arguments: tuple[Default, ...]
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def call(self) -> str:
        return f"{self.called}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Library:
    """The file's `library:` mapping; a plain list of entries has the defaults."""

    namespace: str = "aten"
    module: str = "aten_ops"
    host: str = "torch"
    shards: int = 1
    doc: str = ""
    location: Location | None = field(default=None, compare=False, repr=False)

    @property
    def is_torch(self) -> bool:
        """Whether the ops are torch's own, with torch's rules for names and namespaces."""
        return self.namespace == "aten"

    @property
    def has_torch(self) -> bool:
        """Whether own ops are registered with torch and called through its dispatcher. Without, for
        tests of the runtime's core alone, the bindings call the kernels themselves."""
        return self.host != "null"


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A whole input: what the front end hands to `plan`."""

    # The file's name without its folder, for banners.
    name: str
    library: Library
    ops: tuple[Op, ...]
    deprecated: tuple[Deprecated, ...] = ()
