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

# Object-like macros of the C library, of Python.h and of the compiler, on any platform.
_MACROS = _words(
    """
    assert BLOCK_SIZE BUFSIZ BYTE_ORDER CHAR_BIT complex DOMAIN EDOM EOF ERANGE errno
    EXIT_FAILURE EXIT_SUCCESS FALSE far FILENAME_MAX HUGE HUGE_VAL I i386 imaginary INFINITY
    INT_MAX INT_MIN interface isfinite isinf isnan isnormal linux LONG_MAX LONG_MIN M_E M_PI
    major makedev MAX MIN minor NAN NDEBUG near NULL offsetof OVERFLOW PLOSS PyObject RAND_MAX
    READONLY RESTRICTED SEEK_CUR SEEK_END SEEK_SET setjmp SIG_DFL SIG_ERR SIG_IGN signbit SING
    small stderr stdin stdout T_INT T_STRING THREAD TLOSS TRUE UNDERFLOW unix va_arg va_copy
    va_end va_start
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

# The compiler's own macros (__linux__, _WIN32), and those of Python, of torch and of the runtime.
_FOREIGN = re.compile(r"_[A-Z]|__|Py|PY_|T_|TORCH_|C10_|AT_|THP|OPBIND_|(END_)?HANDLE_TH_")


def is_identifier(name: str) -> bool:
    """Whether C++ and Python can both have the name, keywords aside."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_cpp_name(name: str) -> bool:
    """Whether a function of the author's may have the name: no keyword, and nobody's macro."""
    return name not in CPP_KEYWORDS | _MACROS and not _FOREIGN.match(name)


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


def python_identifiers(names: Iterable[str]) -> dict[str, str]:
    """Names as Python source can spell them: a keyword gets an underscore."""
    names = tuple(names)
    result: dict[str, str] = {}
    for name in names:
        spelled = name
        while keyword.iskeyword(spelled) or (spelled != name and spelled in names):
            spelled += "_"
        result[name] = spelled
    return result


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
