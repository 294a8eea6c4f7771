"""Names: from a schema's to those of C++ and Python.

Python keeps the schema's names. A C++ name that cannot be, because it is a keyword, a macro of the
system's headers or taken by generated code, gets a trailing underscore.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Container, Iterable

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CPP_KEYWORDS = _words(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq
    """
)

# Macros in small letters: of the C library, of Python.h and of compilers, on any platform.
_MACROS = _words(
    """
    alloca assert assert_perror be16toh be32toh be64toh complex errno far htobe16 htobe32 htobe64
    htole16 htole32 htole64 I i386 imaginary interface L_ctermid L_cuserid L_tmpnam le16toh le32toh
    le64toh linux major makedev math_errhandling MaxTypeIndex minor near offsetof P_tmpdir
    pthread_cleanup_pop pthread_cleanup_push PyObject sched_priority setjmp small st_atime st_ctime
    st_mtime stderr stdin stdout strdupa strndupa timeradd timerclear timercmp timerisset timersub
    unix va_arg va_copy va_end va_start
    """
)

# Names that generated C++ uses where a parameter of the schema is in scope.
_GENERATED = _words(
    """
    args at c10 guard handle keys ks kwnames module nargs op opbind parsed_args parser r std torch
    without_gil
    """
)

_RESERVED = CPP_KEYWORDS | _MACROS | _GENERATED

# What else may be a macro: names in capitals, and families of names. C++ keeps _X and __x.
_FOREIGN = re.compile(r"[A-Z][A-Z0-9_]+$|_[A-Z]|__|Py[A-Za-z]*_|M_[A-Z]|PRI[a-z]|SCN[a-z]|SYS_|THP")

# Functions and variables of the C library: no namespace can have their names.
_C_LIBRARY = _words(
    """
    abort abs access acct acos alarm asin atan basename bind brk bsearch calloc cbrt ceil clock
    clone close connect cos cosh crypt ctime daemon daylight div drem dup environ erf exit exp fdim
    floor fma fmax fmin fmod fork free frexp gamma getopt hypot index kill link listen log malloc
    modf nan nice open optarg pause pipe poll popen pow profil qsort raise rand random read realloc
    remainder remove rename rewind rindex rint round select send shutdown signal signgam sin sinh
    sleep socket sqrt srandom stat swab sync syscall system tan tanh time times timezone trunc
    truncate uint ulong umask uname unlink ushort usleep wait write
    """
)
# Namespaces of others, and what is declared in the runtime's, where generated code stands.
_TAKEN_NAMESPACES = _words(
    """
    aten at c10 opbind prim prims std torch
    autograd detail host impl python_error utils
    """
)
# Functions of the runtime, by what stands behind "THPVariable_".
_RUNTIME_FUNCTIONS = frozenset({"Wrap"})


def is_identifier(name: str) -> bool:
    """Whether C++ and Python can both have the name, keywords aside."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_cpp_name(name: str) -> bool:
    """Whether a function of the author's may have the name: no keyword, and nobody's macro."""
    return name not in CPP_KEYWORDS | _MACROS and not _FOREIGN.match(name)


def is_namespace(name: str) -> bool:
    """Whether a library may have the name for its namespace, in C++ and in torch."""
    taken = CPP_KEYWORDS | _MACROS | _C_LIBRARY | _TAKEN_NAMESPACES
    return is_identifier(name) and name not in taken


def hides_others(namespaces: Iterable[str]) -> bool:
    """Whether code in the nested namespaces would miss what generated declarations name."""
    outer, *inner = (*namespaces, "")
    return outer in _C_LIBRARY | {"opbind"} or not {"at", "c10", "std"}.isdisjoint(inner)


def entry_name(attribute: str) -> str:
    """`THPVariable_add`: the C++ function that Python calls."""
    return f"THPVariable_{attribute}{'_' if attribute in _RUNTIME_FUNCTIONS else ''}"


def cpp_identifier(name: str, taken: Container[str] = ()) -> str:
    """`name`, with underscores appended until nothing else has it."""
    if _FOREIGN.match(name):
        name += "_"
    while name in _RESERVED or name in taken:
        name += "_"
    return name


def cpp_identifiers(names: Iterable[str]) -> dict[str, str]:
    """C++ names of one function's parameters, all different."""
    names = tuple(names)
    result: dict[str, str] = {}
    for name in names:
        spelled = cpp_identifier(name)
        if spelled != name:
            spelled = cpp_identifier(name, {*names, *result.values()} - {name})
        result[name] = spelled
    return result


def keyword_aliases(name: str, taken: Iterable[str]) -> tuple[str, ...]:
    """`from_` for `from`: how Python source may call an argument whose name is a keyword."""
    if not keyword.iskeyword(name):
        return ()
    spelled = f"{name}_"
    while spelled in taken:
        spelled += "_"
    return (spelled,)


def attribute(namespace: str, name: str) -> str:
    """A function's name in the module: a method's has its class before it."""
    return f"{namespace}_{name}" if namespace == "Tensor" else name


# What generated code appends to a stem; a function may be called add_doc.
_SUFFIXED = re.compile(r"(Parameters\d*|Default\d*|Signatures|Doc|Fields)_*$")


def stem(name: str) -> str:
    """`kRmsNorm_` for `rms_norm_`: what a function's constants begin with."""
    if name != name.lower():
        return _unlike_others(f"kNamed_{name}")
    leading = name[: len(name) - len(name.lstrip("_"))]
    trailing = name[len(name.rstrip("_")) :]
    words = re.split(r"_(?=[a-z])", name.strip("_"))
    result = f"k{leading}{''.join(w[:1].upper() + w[1:] for w in words)}{trailing}"
    return _unlike_others(result)


def _unlike_others(stem: str) -> str:
    return f"{stem}_" if _SUFFIXED.search(stem) else stem


def shard_of(name: str, shards: int) -> int:
    """The same for every run and machine, and independent of all other functions."""
    digest = hashlib.sha1(name.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "big") % shards
