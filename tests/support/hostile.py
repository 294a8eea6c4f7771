"""Names and values that trip code generators, in a library whose ops give back what they got.

One table makes the YAML file, the kernels' C++ and what the tests expect. Kernels know nothing of
names: each returns its arguments, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import torch

NAMESPACE = "hostile"
MODULE = "hostile_ops"


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split()))


# --- names ------------------------------------------------------------------------------------

# Arguments, and the fields that they are returned in. torch keeps and, or, not, class, while, … for
# itself: nobody can register those.
ARGUMENTS = _words(
    # C++
    """
    alignas alignof and_eq asm auto bitand bitor bool case catch char char8_t char16_t char32_t
    compl concept const consteval constexpr constinit const_cast co_await co_return co_yield
    decltype default delete do double dynamic_cast enum explicit export extern false float friend
    goto inline int long mutable namespace new noexcept not_eq nullptr operator or_eq private
    protected public register reinterpret_cast requires short signed sizeof static static_assert
    static_cast struct switch template this thread_local throw true typedef typeid typename union
    unsigned using virtual void volatile wchar_t xor xor_eq final override
    """
    # Macros of compilers, libc, Python and torch
    """
    unix linux i386 major minor makedev errno stdin stdout stderr assert_ EOF NULL TRUE FALSE DOMAIN
    SING OVERFLOW UNDERFLOW HUGE isnan isinf isfinite signbit isnormal issubnormal CHECK DCHECK LOG
    HANDLE_TH_ERRORS END_HANDLE_TH_ERRORS Py_RETURN_NONE Py_None PyObject DEFINE_DISPATCH
    TORCH_CHECK TORCH_LIBRARY AT_ERROR C10_UNLIKELY INFINITY NAN M_PI M_PIf EINTR SIGINT RAND_MAX
    INT64_MAX UINT8_C BUFSIZ SEEK_SET PRId64 SCNx8 SYS_read st_mtime sched_priority htobe16 timercmp
    alloca strdupa WIFEXITED FD_SET MaxTypeIndex math_errhandling L_tmpnam P_tmpdir BIG_ENDIAN
    _GNU_SOURCE _Bool __cplusplus __int128
    OPBIND_COLD OPBIND_TORCH_VERSION complex I F_OK S_ISREG HAVE_CHOWN
    """
    # What generated code says
    """
    r args nargs kwnames parser parsed_args module self out host opbind at c10 std torch hostile
    hostile_ops type ks guard handle m registered tags op Op Result error reason slots functions ops
    detail autograd tensors input result THPVariable_Wrap without_gil dispatch_abs kAbs handle_abs
    autograd_abs types kwargs func keys
    """
    # Python
    """
    except finally try nonlocal yield async await match case _ print str list dict tuple
    object super exec eval id len cls property range NotImplemented Tensor NamedTuple overload
    builtins count index _fields _asdict _replace _make _x
    """,
)
# Fields cannot have these names.
ARGUMENTS_ALONE = _words(
    """
    __linux__ __cplusplus __FILE__ __LINE__ __func__ __VA_ARGS__ __int128 __init__ __class__
    __name__ __doc__ __dict__ __len__ __iter__ __getattr__ __slots__ __reduce__ n_fields
    n_sequence_fields n_unnamed_fields
    """
)
# Of one op: equal up to renaming.
ALIKE = _words(
    """
    new new_ new__ from from_ from__ class_ class__ lambda lambda_ errno errno_ errno__ r r_ args
    args_ _ __ ___ x X x_ X_ x__ N N_ n
    """
)
TENSORS = _words(
    """
    r args nargs kwnames parser parsed_args module host opbind at c10 std torch hostile guard ks
    handle m op result tensors input new errno from keys out
    """
)
# Functions, and their ops.
FUNCTIONS = _words(
    """
    abs new xor concept co_await char8_t unix linux errno EOF NULL isnan signbit CHECK LOG
    PyObject Py_None HANDLE_TH_ERRORS DEFINE_DISPATCH M_PI SYS_read r args nargs kwnames parser
    module self out host opbind at c10 std hostile hostile_ops type ks guard match case print str
    list dict int float bool complex tuple object exec len Wrap Check Unpack CheckExact doc abs_doc
    abs_signatures Abs ABS aBs a_bs _abs __abs __abs__ find_op register_ops autograd detail call
    redispatch init_module handle a A x1 X1 stdin major
    """
)
OVERLOADS = _words("new xor from lambda unix errno NULL type str self out r x__y X n_ Tensor int")
KERNELS = _words("r args host opbind at c10 std torch module type hostile from lambda self x_ _k")
LONG = "n" * 250
# Keywords of Python, and the name that stands for each in source: one that no other has.
SPELLED = {
    **{name: f"{name}_" for name in ("except", "finally", "try", "nonlocal", "yield", "async")},
    **{"await": "await_", "from": "from___", "lambda": "lambda__"},
}

# --- values: as the schema writes them, and what they are ---------------------------------------

INT64_MAX = 2**63 - 1
INTS = (
    *(("0", 0), ("-1", -1), ("9223372036854775807", INT64_MAX), ("0x1F", 31), ("010", 10)),
    *(("-9223372036854775808", -INT64_MAX - 1), ("-9223372036854775807", -INT64_MAX), ("Mean", 1)),
    *(("2147483648", 2**31), ("-2147483649", -(2**31) - 1), ("4294967296", 2**32)),
)
FLOATS = (
    *(("0.1", 0.1), ("-0.0", -0.0), ("0.0", 0.0), ("1e308", 1e308), ("-1e308", -1e308)),
    *(("1.7976931348623157e308", 1.7976931348623157e308), (".5", 0.5), ("5.", 5.0)),
    *(("2.2250738585072014e-308", 2.2250738585072014e-308), ("5e-300", 5e-300)),
    *(("0.30000000000000004", 0.1 + 0.2), ("123456789.12345679", 123456789.12345679)),
    *(("1E5", 1e5), ("1e-5", 1e-5), ("3", 3.0), ("0x1F", 31.0), ("-7", -7.0)),
    *(("9007199254740993", 2.0**53), ("1e22", 1e22), ("1e23", 1e23), ("0x1p-1074", 5e-324)),
    *(("5e-324", 5e-324), ("-1e-310", -1e-310), ("2.225073858507201e-308", 2.225073858507201e-308)),
)
BOOLS = (("True", True), ("False", False))
LISTS: tuple[tuple[str, tuple[int, ...]], ...] = (
    *(("[]", ()), ("[0]", (0,)), ("[1, -1]", (1, -1))),
    ("[9223372036854775807,-9223372036854775808]", (INT64_MAX, -INT64_MAX - 1)),
    (f"[{','.join(map(str, range(-500, 500)))}]", tuple(range(-500, 500))),
)
# A lone int stands for both elements.
PAIRS = (("[3,4]", (3, 4)), ("-9223372036854775808", (-INT64_MAX - 1,) * 2), ("7", (7, 7)))
SYMBOLIC = (("[7,-9223372036854775808]", (7, -INT64_MAX - 1)), ("[]", ()), ("[1]", (1,)))
FLOAT_LISTS: tuple[tuple[str, tuple[float, ...]], ...] = (
    *(
        ("[]", ()),
        ("[0.1,-0.0,1e308]", (0.1, -0.0, 1e308)),
        ("[5e-324]", (5e-324,)),
        ("[1]", (1.0,)),
    ),
)
FLOAT_PAIRS = (("0.1", (0.1, 0.1)), ("[1,-0.0]", (1.0, -0.0)))
FLAGS = (("[True,False,True]", (True, False, True)), ("False", (False,) * 3))
COMPLEX = (("1j", 1j), ("0.1j", 0.1j), ("-2.5j", complex(0, -2.5)), ("1e-310j", 1e-310j))
INDICES = (("-1", -1), ("127", 127), ("-128", -128))
SCALARS = (
    ("2j", 2j),
    *(("1", 1), ("0.1", 0.1), ("-0.0", -0.0), ("True", True), ("False", False), ("1e308", 1e308)),
    *(
        ("5e-324", 5e-324),
        ("9223372036854775807", INT64_MAX),
        ("-9223372036854775808", -INT64_MAX - 1),
    ),
)
DTYPES = (
    *(("uint8", torch.uint8), ("int8", torch.int8), ("short", torch.int16), ("int", torch.int32)),
    *(("long", torch.int64), ("half", torch.float16), ("float", torch.float32)),
    *(("double", torch.float64), ("bfloat16", torch.bfloat16), ("bool", torch.bool)),
    *(("chalf", torch.complex32), ("cfloat", torch.complex64), ("complex128", torch.complex128)),
    *(("qint8", torch.qint8), ("quint4x2", torch.quint4x2), ("uint64", torch.uint64)),
    *(("float8_e4m3fn", torch.float8_e4m3fn), ("float8_e8m0fnu", torch.float8_e8m0fnu)),
)
DEVICES = (("'cpu'", "cpu"), ("'cuda:1'", "cuda:1"), ('"meta"', "meta"))
# Texts that mean something to C++, Python, YAML, Jinja, printf, a shell or a terminal.
TEXTS = (
    *("", " ", "'", '"', "'\"", "\\", "\\\\", "\\n", "\\'", '\\"', '"""', "'''", '\\"""', "a, b"),
    *("x=1", ")", "(", "[1, 2]", "->", "#", "*", "...", ";", "$x", "${x}", "`x`", "$(x)", "&amp;"),
    *("/*", "*/", "//", "/* x */", "// x\\", "??/", "??=", "??'", "??(", "??)", "??!", "??<"),
    *("??>", "??-", "????/", "?", "??", "%", "%s", "%n", "%%", "%1$s", "{}", "{0}", "{{ }}"),
    *(
        "{{ view }}",
        "{% raw %}",
        "{% endraw %}",
        "{% if x %}",
        "{# x",
        "#}",
        "{%",
        'R"(',
        ')"',
        'R"x(',
        'u8"',
    ),
    *("\n", "\r", "\t", "\r\n", "\v", "\f", "\a", "\b", "\0", "a\0b", "\x1b[0m", "\x7f", "a\n\nb"),
    *("\x007", "\x01234", "\x078", "\xe9", "\xe41", "\xa0", "\x85", "\xad", "\\0", "\\x41"),
    *("\u6f22\u5b57", "\U0001f600", "\U0001f468\u200d\U0001f469", "e\u0301", "\u200f", "\u202e"),
    *("\u2028", "\u2029", "a\ufeffb", "\ufffd", "\ufffe", "\U0010ffff", "\\101", "\\u0041"),
    *("\\N{DIGIT ONE}", "\\123", "None", "True", "1e5", "-0.0", "nan", "#define x", "__FILE__"),
    *("#include <x>", "std::string", ")\n--\n\n", "$module", "  indented", "trailing  ", "\\\n"),
    *("a" * 10_000, '\\"?' * 3_000, "\xe9" * 5_000, "a b\n" * 25_000, "z" * 100_000),
)
# The schema's own ways of writing a text.
WRITTEN = (
    *((r"'\n'", "\n"), (r'"\t"', "\t"), (r"'\101'", "A"), (r"'\0001'", "\x001"), (r"'\\'", "\\")),
    *((r"'\303\251'", "\xe9"), (r"'\a\b\f\v'", "\a\b\f\v"), ("'''a'b'''", "a'b"), (r"'\''", "'")),
    *(('"""a"b"""', 'a"b'), ("'''a\nb'''", "a\nb"), (r"'\360\237\230\200'", "\U0001f600")),
    *(("'#'", "#"), ("'\xe9'", "\xe9"), ("'\t'", "\t"), ("'\\\n'", "\n"), (r"'\"'", '"')),
)


def literal(text: str) -> str:
    """`text` as a schema writes it, with no more escapes than the language asks for."""
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\0": "\\000", "\r": "\\015"}
    return "'" + "".join(escapes.get(c, c) for c in text) + "'"


# --- ops --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Echoed:
    """How an argument of one schema type comes back."""

    cpp: str
    # Schema type, C++ type and expression of each return; `{}` is the argument.
    returns: tuple[tuple[str, str, str], ...]


def _same(schema: str, cpp: str) -> Echoed:
    return Echoed(cpp, ((schema, cpp, "{}"),))


def _optional(schema: str, cpp: str, returned: str) -> Echoed:
    """Whether there is a value, and the value or zero."""
    value = f"{{}} ? {returned}(*{{}}) : {returned}()"
    return Echoed(
        f"std::optional<{cpp}>", (("bool", "bool", "{}.has_value()"), (schema, returned, value))
    )


ECHOED = {
    "int": _same("int", "int64_t"),
    "float": _same("float", "double"),
    "bool": _same("bool", "bool"),
    "str": Echoed("std::string_view", (("str", "std::string", "std::string({})"),)),
    "int[]": Echoed("at::IntArrayRef", (("int[]", "std::vector<int64_t>", "{}.vec()"),)),
    "int[2]": Echoed("at::IntArrayRef", (("int[]", "std::vector<int64_t>", "{}.vec()"),)),
    "SymInt": _same("SymInt", "c10::SymInt"),
    "SymInt[]": Echoed(
        "c10::SymIntArrayRef", (("SymInt[]", "std::vector<c10::SymInt>", "{}.vec()"),)
    ),
    "float[]": Echoed("at::ArrayRef<double>", (("float[]", "std::vector<double>", "{}.vec()"),)),
    "float[2]": Echoed("at::ArrayRef<double>", (("float[]", "std::vector<double>", "{}.vec()"),)),
    "bool[3]": Echoed(
        "std::array<bool, 3>", tuple(("bool", "bool", f"{{}}[{i}]") for i in range(3))
    ),
    "complex": _same("complex", "c10::complex<double>"),
    "DeviceIndex": Echoed("at::DeviceIndex", (("int", "int64_t", "{}"),)),
    "Scalar": Echoed("const at::Scalar&", (("Scalar", "at::Scalar", "{}"),)),
    "ScalarType": _same("ScalarType", "at::ScalarType"),
    "Layout": _same("Layout", "at::Layout"),
    "MemoryFormat": _same("MemoryFormat", "at::MemoryFormat"),
    "Device": Echoed("at::Device", (("str", "std::string", "{}.str()"),)),
    "int?": _optional("int", "int64_t", "int64_t"),
    "float?": _optional("float", "double", "double"),
    "bool?": _optional("bool", "bool", "bool"),
    "str?": _optional("str", "std::string_view", "std::string"),
}
# What comes back of an optional that is None.
_ZEROS: dict[str, Any] = {"int?": 0, "float?": 0.0, "bool?": False, "str?": ""}


@dataclass(frozen=True, slots=True)
class Arg:
    type: str
    name: str
    # The default as the schema writes it, what it is, and another value of the type.
    default: str
    value: Any
    other: Any

    @property
    def spelled(self) -> str:
        """The name as Python source can have it."""
        return SPELLED.get(self.name, self.name)

    @property
    def shown(self) -> Any:
        """The default as Python shows it: of a lone int for two, one."""
        is_lone = self.type.endswith("[2]") and "[" not in self.default
        return self.value[0] if is_lone else self.value

    @property
    def is_enum(self) -> bool:
        return self.type in ("ScalarType", "Layout", "MemoryFormat")

    def in_torch(self, value: Any) -> Any:
        """A value as torch.ops returns it: of an enum its number."""
        return _number(value) if self.is_enum else value

    def returned(self, value: Any) -> tuple[Any, ...]:
        """What comes back for `value`."""
        if self.type == "bool[3]":
            return tuple(value)
        if self.type not in _ZEROS:
            return (value,)
        return (value is not None, _ZEROS[self.type] if value is None else value)


def _number(value: Any) -> int:
    schema = torch._C.parse_schema(f"f(ScalarType x={str(value).removeprefix('torch.')}) -> ()")
    number: Any = schema.arguments[0].default_value
    return int(number)


@dataclass(frozen=True, slots=True)
class Echo:
    """An op that returns its arguments."""

    name: str
    kernel: str
    args: tuple[Arg, ...]
    overload: str = ""
    python_name: str = ""
    # Returns have the arguments' names.
    has_fields: bool = False
    doc: str = ""

    @property
    def function(self) -> str:
        return self.python_name or self.name

    @property
    def returns(self) -> list[tuple[str, str, str]]:
        return [r for a in self.args for r in ECHOED[a.type].returns]

    @property
    def schema(self) -> str:
        args = ", ".join(f"{a.type} {a.name}={a.default}" for a in self.args)
        fields = [f" {a.name}" for a in self.args] if self.has_fields else [""] * len(self.returns)
        returns = [f"{r[0]}{field}" for r, field in zip(self.returns, fields, strict=True)]
        name = f"{self.name}.{self.overload}" if self.overload else self.name
        listed = ", ".join(returns)
        return f"{name}({args}) -> {listed if len(returns) == 1 else f'({listed})'}"

    def expected(self, values: Iterable[Any]) -> tuple[Any, ...]:
        pairs = zip(self.args, values, strict=True)
        return tuple(r for arg, value in pairs for r in arg.returned(value))

    def definition(self) -> str:
        """The kernel."""
        returns = self.returns
        types = [cpp for _, cpp, _ in returns]
        result = types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"
        head = ", ".join(f"{ECHOED[a.type].cpp} a{i}" for i, a in enumerate(self.args))
        values = [
            expression.replace("{}", f"a{i}")
            for i, a in enumerate(self.args)
            for _, _, expression in ECHOED[a.type].returns
        ]
        body = values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"
        return f"{result} {NAMESPACE}::{self.kernel}({head}) {{ return {body}; }}\n"


# A default and another value of each type, to go with a name.
_NAMED_TYPES = ("int", "float", "str", "bool")


def _named(index: int, name: str) -> Arg:
    """An argument that no other is like."""
    type_ = _NAMED_TYPES[index % len(_NAMED_TYPES)]
    values: dict[str, tuple[str, Any, Any]] = {
        "int": (str(index), index, -index - 1),
        "float": (f"{index}.5", index + 0.5, -0.25 - index),
        "str": (f"'{name}'", name, f"not {name}"),
        "bool": (str(index % 8 < 4), index % 8 < 4, index % 8 >= 4),
    }
    return Arg(type_, name, *values[type_])


def _chunks(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[i : i + size] for i in range(0, len(items), size))


def _name_ops() -> Iterator[Echo]:
    for i, names in enumerate((*_chunks((*ARGUMENTS, LONG), 12), ALIKE)):
        args = tuple(_named(k, name) for k, name in enumerate(names))
        # The last are of another C++ type.
        yield Echo(f"names_{i}", f"echo_{len(args)}", args, has_fields=len(args) > 1)
    args = tuple(_named(k, name) for k, name in enumerate(ARGUMENTS_ALONE))
    yield Echo("names_alone", "echo_alone", args)


def _int_ops() -> Iterator[Echo]:
    """Ops of one C++ type, which share kernels."""
    kernels = cycle(KERNELS)
    for i, name in enumerate((*FUNCTIONS, LONG)):
        yield Echo(name, next(kernels), (Arg("int", "x", str(i), i, -i - 1),))
    for i, name in enumerate((*OVERLOADS, LONG)):
        args = (Arg("int", "x", str(i), i, -i - 1),)
        yield Echo("overloaded", next(kernels), args, overload=name, python_name=f"{name[:20]}_{i}")


def _typed(type_: str, pairs: Sequence[tuple[str, Any]]) -> list[Arg]:
    """Each default's other value is the next one's."""
    others = [value for _, value in (*pairs[1:], pairs[0])]
    zipped = enumerate(zip(pairs, others, strict=True))
    return [Arg(type_, f"x{i}", text, value, other) for i, ((text, value), other) in zipped]


def _value_ops() -> Iterator[Echo]:
    texts = (*((literal(text), text) for text in TEXTS), *WRITTEN)
    none = (("None", None),)
    # torch keeps an int where it does not look into an optional: no default for float?.
    floats = [(text, value) for text, value in FLOATS if any(c in text for c in ".eE")]
    kinds: dict[str, Sequence[tuple[str, Any]]] = {
        **{"int": INTS, "float": FLOATS, "bool": BOOLS, "str": texts, "Scalar": SCALARS},
        **{"SymInt": INTS, "SymInt[]": SYMBOLIC, "float[]": FLOAT_LISTS, "float[2]": FLOAT_PAIRS},
        **{"bool[3]": FLAGS, "complex": COMPLEX, "DeviceIndex": INDICES},
        **{"int[]": LISTS, "int[2]": PAIRS, "ScalarType": DTYPES, "Device": DEVICES},
        "Layout": (("strided", torch.strided),),
        "MemoryFormat": (("contiguous_format", torch.contiguous_format),),
        **{"int?": (*none, *INTS), "float?": (*none, *floats), "bool?": (*none, *BOOLS)},
        "str?": (*none, *texts[:11]),
    }
    for type_, pairs in kinds.items():
        stem = "".join(c if c.isalnum() else "_" for c in type_)
        for i, args in enumerate(_chunks(_typed(type_, pairs), 8)):
            yield Echo(f"values_{stem}_{i}", f"echo_{stem}_{len(args)}", tuple(args))


def _ops() -> Iterator[Echo]:
    """All, each with a doc."""
    # A NUL ends a doc.
    docs = cycle(text for text in TEXTS if "\0" not in text)
    for op in (*_name_ops(), *_int_ops(), *_value_ops()):
        yield replace(op, doc=f"<{next(docs)}>")


OPS = tuple(_ops())
# Ops of tensors, for the code that stands between a call and the kernel: names of the arguments.
CLONES = {f"clones_{i}": tuple(names) for i, names in enumerate(_chunks(TENSORS, 8))}
WRITERS = {f"writes_{i}": tuple(names) for i, names in enumerate(_chunks(TENSORS, 8))}
DOC = "\n".join(text for text in TEXTS if len(text) < 100 and "\0" not in text)

# --- files ------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """A YAML scalar: what is no printable character is escaped."""
    return '"' + "".join(map(_yaml_character, text)) + '"'


def _yaml_character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08X}"


def yaml_text() -> str:
    doc = quoted(DOC)
    head = f"library:\n  namespace: {NAMESPACE}\n  module: {MODULE}\n  doc: {doc}\nfunctions:\n"
    clones = (_clones(*item) for item in CLONES.items())
    writers = (_writes(*item) for item in WRITERS.items())
    return head + "".join((*map(_entry, OPS), *clones, *writers))


def _entry(op: Echo) -> str:
    lines = [
        f"- func: {quoted(op.schema)}",
        f"  dispatch: {{CompositeExplicitAutograd: {op.kernel}}}",
        f"  doc: {quoted(op.doc)}",
    ]
    if len(op.doc) < 100:
        lines.append(f"  examples: [{quoted(op.doc)}]")
    if op.python_name:
        lines.append(f"  python_name: {op.python_name}")
    return "\n".join(lines) + "\n"


def _clones(op: str, names: Sequence[str]) -> str:
    fields = ", ".join(f"Tensor {name}" for name in names)
    # A CUDA kernel has its device set.
    dispatch = f"{{CPU: clones_of_{len(names)}, Meta: clones_of_{len(names)}, CUDA: cuda_{op}}}"
    return f"- func: {op}({fields}) -> ({fields})\n  dispatch: {dispatch}\n"


def _writes(op: str, names: Sequence[str]) -> str:
    args = ", ".join(f"Tensor({'abcdefgh'[i]}!) {name}" for i, name in enumerate(names))
    kernel = f"write_to_{len(names)}"
    return f"- func: {op}({args}) -> ()\n  dispatch: {{CPU: {kernel}, Meta: {kernel}}}\n"


def cpp_text() -> str:
    kernels = {op.kernel: op.definition() for op in OPS}
    parts = [f'#include "{MODULE}_kernels.h"\n', *kernels.values()]
    for count in sorted({len(names) for names in CLONES.values()}):
        parts.append(_clones_kernel(f"clones_of_{count}", count))
        parts.append(_writes_kernel(f"write_to_{count}", count))
    parts += (_clones_kernel(f"cuda_{op}", len(names)) for op, names in CLONES.items())
    return "".join(parts)


def _clones_kernel(name: str, count: int) -> str:
    types = ", ".join(["at::Tensor"] * count)
    args = ", ".join(f"const at::Tensor& a{i}" for i in range(count))
    values = ", ".join(f"a{i}.clone()" for i in range(count))
    return f"std::tuple<{types}> {NAMESPACE}::{name}({args}) {{ return {{{values}}}; }}\n"


def _writes_kernel(name: str, count: int) -> str:
    args = ", ".join(f"at::Tensor& a{i}" for i in range(count))
    statements = " ".join(f"a{i}.add_({i + 1});" for i in range(count))
    return f"void {NAMESPACE}::{name}({args}) {{ {statements} }}\n"
