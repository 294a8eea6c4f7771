"""One schema's text to the model: reads all that PyTorch's C++ parser or torchgen reads.

Reading is lenient and says so: what one of PyTorch's readers gets wrong, or lets pass although it
is a mistake, is a warning. Generating is strict, and that is not done here. `str()` of what is read
is the canonical text, which reads back as the same, here and by both of PyTorch's readers wherever
they have the form at all.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from . import tokens, words
from .errors import Diagnostic, Diagnostics, Location, SchemaError, Severity, did_you_mean
from .model import (
    AliasInfo,
    Argument,
    BaseType,
    Default,
    DefaultKind,
    DictType,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Schema,
    TupleType,
    Type,
)
from .tokens import Kind, Token

# Rules of this module, each with what it is about. Errors first, then warnings.
RULES = {
    "bad-token": "a character, number or string that is none of the language's",
    "syntax": "a token where another one must stand",
    "trailing-comma": "a comma before a closing bracket",
    "no-argument-name": "an argument without a name",
    "no-returns": "a schema without '->' and its returns",
    "last-dots": "'...' that is not the last of its list",
    "unknown-type": "a type that no reader of schemas knows",
    "misplaced-alias": "an alias mark where none can stand",
    "too-deep": "types or lists nested beyond reason",
    "bad-literal": "a default that has no value",
    "namespace-depth": "more than one '::' in a name",
    "torch-refuses": "PyTorch's C++ parser refuses it, so it cannot be registered",
    "torch-misreads": "PyTorch's C++ parser reads another value",
    "torch-mistypes": "PyTorch keeps a value of another type, which no kernel can take",
    "type-variable": "a type that is read as a type variable",
    "alias-dropped": "an alias mark that PyTorch drops",
    "duplicate-argument": "two arguments of one name",
    "duplicate-return": "two returns of one name",
    "partial-names": "some returns have names and some have none",
    "default-order": "an argument without a default after one with a default",
    "default-type": "a default of another type than its argument",
    "idle-star": "a '*' that changes nothing",
    "returns-none": "one return of type None where no return is likely meant",
}

# Brackets within brackets; real schemas have three.
_MAX_DEPTH = 24

Place = Callable[[int], Location]

_DIGITS = "0123456789"
_SCALAR = BaseType("Scalar")


def places(text: str, start: Location) -> Place:
    """The places of a text that stands as it is, its first character at `start`."""
    if "\n" not in text:
        return start.shifted

    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def at(offset: int) -> Location:
        index = bisect_right(starts, offset) - 1
        if index == 0:
            return start.shifted(offset)
        line = start.line + index if start.line else 0
        return Location(start.file, line, offset - starts[index] + 1, lines[index])

    return at


class _Marked(NamedTuple):
    """A type with its alias marks, one for each list around the base, the base's own first."""

    type: Type
    marks: tuple[AliasInfo | None, ...]


class Reader:
    """One schema's tokens and the position among them.

    `at` maps an offset in the text to its place. Warnings go to `diagnostics`; the first fault is
    raised as SchemaError.
    """

    def __init__(self, text: str, at: Place, diagnostics: Diagnostics | None) -> None:
        self._tokens = tokens.tokenize(text)
        self._index = 0
        self._current = self._tokens[0]
        self._at = at
        self._diagnostics = diagnostics
        self._subject = ""
        self._depth = 0

    # ------------------------------------------------------------ tokens

    def _next(self) -> Token:
        token = self._current
        if self._index + 1 < len(self._tokens):
            self._index += 1
            self._current = self._tokens[self._index]
        return token

    def _is(self, mark: str) -> bool:
        return self._current.text == mark and self._current.kind is Kind.MARK

    def _accept(self, mark: str) -> bool:
        # Asked for each token several times.
        if self._current.text != mark or not self._is(mark):
            return False
        self._next()
        return True

    def _expect(self, mark: str, where: str, hint: str = "") -> Token:
        if not self._is(mark):
            raise self._unexpected(f"{mark!r} {where}", hint)
        return self._next()

    def _name(self, what: str, hint: str = "") -> Token:
        if self._current.kind is not Kind.NAME:
            raise self._unexpected(what, hint)
        token = self._next()
        if token.text in words.KEYWORDS or not token.text.isascii():
            why = "a keyword there" if token.text.isascii() else "no ASCII name"
            message = f"PyTorch's parser refuses the name {token.text!r}, {why}"
            self._warn(token, message, "torch-refuses")
        return token

    # ------------------------------------------------------------ reports

    def _error(self, offset: int, message: str, rule: str, hint: str = "") -> SchemaError:
        return SchemaError(
            Diagnostic(self._at(offset), message, self._subject, hint, Severity.ERROR, rule)
        )

    def _unexpected(self, wanted: str, hint: str = "", rule: str = "syntax") -> SchemaError:
        token = self._current
        if token.kind is Kind.BAD:
            message, remedy = tokens.describe_bad(token)
            return self._error(token.offset, message, "bad-token", remedy)
        found = "the end" if token.kind is Kind.END else repr(shortened(token.text))
        return self._error(token.offset, f"expected {wanted}, found {found}", rule, hint)

    def _warn(self, token: Token, message: str, rule: str, hint: str = "") -> None:
        if self._diagnostics is not None:
            place = self._at(token.offset)
            self._diagnostics.warning(place, message, subject=self._subject, hint=hint, rule=rule)

    # ------------------------------------------------------------ the schema

    def schema(self) -> Schema:
        start = self._current.offset
        name = self._operator_name()
        self._subject = str(name)
        positional, keyword_only, is_vararg = self._arguments()
        returns, is_varret = self._returns()
        if self._current.kind is not Kind.END:
            raise self._unexpected("the end of the schema after the returns")
        place = self._at(start)
        return Schema(name, positional, keyword_only, returns, is_vararg, is_varret, place)

    def call(self) -> tuple[str, tuple[Default, ...]]:
        """`name(argument, 1)`: the name and the arguments, which are constants or names."""
        name, arguments = self._name("an operator's name").text, list[Default]()
        self._expect("(", "and the arguments after the operator's name")
        self._list("argument", lambda: arguments.append(self._value(_SCALAR, 0)))
        if self._current.kind is not Kind.END:
            raise self._unexpected("the end of the call")
        return name, tuple(arguments)

    def only_type(self) -> Type:
        marked = self._type()
        if any(marked.marks):
            raise self._error(0, "a type alone has no alias mark", "misplaced-alias")
        if self._current.kind is not Kind.END:
            raise self._unexpected("the end of the type")
        return marked.type

    def _operator_name(self) -> OperatorName:
        base, namespace, overload = self._name("an operator's name").text, "", ""
        if self._accept(":"):
            self._expect(":", "after the namespace")
            namespace, base = base, self._name("an operator's name after '::'").text
            if self._is(":"):
                raise self._error(
                    self._current.offset,
                    "a name has one namespace at most",
                    "namespace-depth",
                    "write NAMESPACE::NAME.OVERLOAD",
                )
        if self._accept("."):
            overload = self._overload()
        return OperatorName(base, overload, namespace)

    def _overload(self) -> str:
        token = self._name("an overload's name after '.'")
        if token.text == "default" or token.text.startswith("__"):
            message = f"PyTorch's parser refuses the overload name {token.text!r}"
            self._warn(token, message, "torch-refuses", "it keeps 'default' and names in '__'")
        return token.text

    # ------------------------------------------------------------ arguments

    def _arguments(self) -> tuple[tuple[Argument, ...], tuple[Argument, ...], bool]:
        self._expect("(", "and the arguments after the operator's name")
        found = _ArgumentList()
        self._list("argument", lambda: self._argument_item(found))
        if found.idle_star is not None:
            self._warn(found.idle_star, "nothing follows the '*'", "idle-star", "delete it")
        self._check_names([(a.name, t) for a, t in found.named], "argument")
        self._check_order(found)
        return tuple(found.positional), tuple(found.keyword_only), found.is_vararg

    def _list(self, what: str, item: Callable[[], None]) -> None:
        """`item, item)`: what follows an opening bracket."""
        if self._accept(")"):
            return
        item()
        while not self._accept(")"):
            if not self._is(","):
                raise self._unexpected(f"',' or ')' after the {what}")
            comma = self._next()
            if self._is(")"):
                message = f"no {what} follows the comma"
                raise self._error(comma.offset, message, "trailing-comma", "delete it")
            item()

    def _argument_item(self, found: _ArgumentList) -> None:
        token = self._current
        if found.is_vararg:
            raise self._error(token.offset, "'...' must be the last argument", "last-dots")
        if self._accept("*"):
            if found.has_star:
                self._warn(token, "a second '*' among the arguments", "idle-star", "delete it")
            found.has_star, found.idle_star = True, token
        elif self._accept("..."):
            found.is_vararg = True
            if any(a.default is not None for a, _ in found.named):
                message = "PyTorch's parser refuses '...' after a default"
                self._warn(token, message, "torch-refuses")
        else:
            found.add(self._argument(), token)

    def _argument(self) -> Argument:
        start = self._current
        marked = self._type()
        hint = f"write '{marked.type} NAME'"
        if self._current.kind is not Kind.NAME:
            raise self._unexpected(f"the argument's name after its type {str(marked.type)!r}", hint,
                                   "no-argument-name")  # fmt: skip
        name = self._name("the argument's name")
        place = self._at(start.offset)
        alias = _alias(marked.marks)
        if not self._accept("="):
            return Argument(name.text, marked.type, None, alias, place)
        default_place = self._at(self._current.offset)
        default = self._default(marked.type, name.text)
        return Argument(name.text, marked.type, default, alias, place, default_place)

    def _check_names(self, named: list[tuple[str, Token]], what: str) -> None:
        seen: set[str] = set()
        for name, token in named:
            if name in seen:
                message = f"two {what}s are named {name!r}, which PyTorch lets pass"
                self._warn(token, message, f"duplicate-{what}", "rename one")
            seen.add(name)

    def _check_order(self, found: _ArgumentList) -> None:
        optional = ""
        late: list[tuple[Argument, Token]] = []
        for argument, token in found.named[: len(found.positional)]:
            if argument.default is not None:
                optional = optional or argument.name
            elif optional:
                late.append((argument, token))
        if not late:
            return
        # PyTorch lets lists pass.
        refused = [item for item in late if not isinstance(item[0].type, ListType)]
        argument, token = (refused or late)[0]
        message = f"{argument.name!r} has no default and follows {optional!r}, which has"
        message += ", and PyTorch's parser refuses that" if refused else ""
        self._warn(token, message, "default-order", "give it one, or move it before")

    # ------------------------------------------------------------ returns

    def _returns(self) -> tuple[tuple[Return, ...], bool]:
        remedy = "a schema ends in '-> RETURNS'; for none write '-> ()'"
        if self._current.kind is Kind.END:
            raise self._unexpected("'->' and the returns", remedy, "no-returns")
        self._expect("->", "and the returns after the arguments", remedy)
        if self._accept("..."):
            return (), True
        found: list[tuple[Return, Token]] = []
        dots: list[Token] = []
        if self._accept("("):
            self._list("return", lambda: self._return_item(found, dots))
        else:
            self._return_item(found, dots)
        self._check_returns(found)
        return tuple(r for r, _ in found), bool(dots)

    def _return_item(self, found: list[tuple[Return, Token]], dots: list[Token]) -> None:
        token = self._current
        if dots:
            raise self._error(token.offset, "'...' must be the last return", "last-dots")
        if self._accept("..."):
            dots.append(token)
            return
        marked = self._type()
        name = self._name("a return's name").text if self._current.kind is Kind.NAME else None
        result = Return(marked.type, name, _alias(marked.marks), self._at(token.offset))
        found.append((result, token))

    def _check_returns(self, found: list[tuple[Return, Token]]) -> None:
        named = [(r.name, token) for r, token in found if r.name is not None]
        self._check_names(named, "return")
        if named and len(named) < len(found):
            self._warn(named[0][1], "some returns have a name and some none", "partial-names",
                       "name all or none")  # fmt: skip
        if len(found) == 1 and found[0][0].type in (BaseType("None"), BaseType("NoneType")):
            message = "'-> None' is one return of type None, not zero returns"
            self._warn(found[0][1], message, "returns-none", "write '-> ()'")

    # ------------------------------------------------------------ types

    def _type(self) -> _Marked:
        """A type and all that stands behind it: `?`, `[]`, `[N]`, alias marks."""
        self._depth += 1
        result, start = self._base(), self._current
        if start.kind is Kind.NAME:
            # Most types are plain, and a name follows.
            self._depth -= 1
            return _Marked(result, (None,))
        marks = [self._alias_mark()]
        if marks[0] is not None and _takes_no_mark(result):
            message = f"PyTorch's parser refuses an alias mark of {shortened(str(result))}"
            self._warn(start, message, "torch-refuses", "delete it")
        nesting, sized = self._depth, None
        while True:
            token = self._current
            if self._is("["):
                self._warn_of_size(sized)
                result, nesting = ListType(result, self._list_size()), nesting + 1
                sized = token if result.size is not None else None
                marks.append(self._alias_mark())
            elif self._accept("?"):
                self._warn_of_optional(result, token)
                result = result if isinstance(result, OptionalType) else OptionalType(result)
                self._refuse_mark_after_optional()
            else:
                break
            if nesting > _MAX_DEPTH:
                raise self._error(self._current.offset, "the type is nested too deep", "too-deep")
        self._depth -= 1
        if self._depth:
            self._warn_of_size(sized)
        return _Marked(result, tuple(marks))

    def _warn_of_size(self, sized: Token | None) -> None:
        if sized is not None:
            message = "PyTorch's parser refuses a list's size within a type"
            self._warn(sized, message, "torch-refuses", "write []")

    def _warn_of_optional(self, type_: Type, token: Token) -> None:
        inner = type_.element if isinstance(type_, OptionalType) else type_
        if inner is not type_ and isinstance(inner, ListType) and inner.size is not None:
            message = "PyTorch's parser refuses a second '?'"
            self._warn(token, message, "torch-refuses", "delete it")
        elif inner is not type_ and str(inner) in ("Scalar", "number"):
            message = f"PyTorch reads a second '?' of {inner} as a union"
            self._warn(token, message, "torch-misreads", "delete it")
        elif type_ in (BaseType("None"), BaseType("NoneType")):
            self._warn(token, f"PyTorch's parser refuses {type_}?", "torch-refuses")

    def _base(self) -> Type:
        if self._depth > _MAX_DEPTH:
            raise self._error(self._current.offset, "the type is nested too deep", "too-deep")
        if self._accept("("):
            return TupleType(tuple(self._parts()))
        if self._current.kind is not Kind.NAME:
            raise self._unexpected("a type")
        token = self._next()
        if token.text == "Dict" and self._is("("):
            return self._dict()
        if token.text in words.GENERIC_TYPES and self._is("("):
            return self._generic(token)
        if token.text == "__torch__":
            return self._custom_class(token)
        return _base_type(self._type_name(token))

    def _parts(self) -> list[Type]:
        """`T, U)`. PyTorch drops the alias marks in there."""
        found: list[Type] = []

        def item() -> None:
            token = self._current
            marked = self._type()
            found.append(marked.type)
            if any(marked.marks):
                message = "PyTorch drops alias marks inside a tuple, Dict or other brackets"
                self._warn(token, message, "alias-dropped", "mark the whole type, or none")

        self._list("type", item)
        return found

    def _dict(self) -> Type:
        start = self._next().offset
        parts = self._parts()
        if len(parts) != 2:
            message = "Dict takes a key's and a value's type"
            raise self._error(start, message, "syntax", "write Dict(str, int)")
        return DictType(parts[0], parts[1])

    def _generic(self, name: Token) -> Type:
        """`Future(T)` and its like have no part in bindings: the model keeps their text alone."""
        start = self._next().offset
        parts = self._parts()
        count = words.GENERIC_TYPES[name.text]
        if not parts or (count is not None and len(parts) != count):
            raise self._error(start, f"{name.text} takes {count or 'some'} types", "syntax")
        return BaseType(f"{name.text}({', '.join(map(str, parts))})")

    def _custom_class(self, start: Token) -> Type:
        parts = [start.text]
        while self._accept("."):
            parts.append(self._name("a name in the class's path").text)
        if parts[:3] != ["__torch__", "torch", "classes"] or len(parts) < 4:
            raise self._error(start.offset, f"{'.'.join(parts)} is no class", "unknown-type",
                              "write __torch__.torch.classes.NAMESPACE.CLASS")  # fmt: skip
        return BaseType(".".join(parts))

    def _type_name(self, token: Token) -> str:
        parts = [token.text]
        while self._accept("."):
            parts.append(self._name("a name after the '.' in a type").text)
        name = ".".join(parts)
        if name in words.TORCH_TYPES:
            return name
        if name in words.FOREIGN_TYPES:
            self._warn(token, f"PyTorch's C++ parser refuses the type {name}", "torch-refuses")
        elif name[0].islower() and name.isascii() and name not in words.KEYWORDS:
            message = f"{shortened(name)!r} is read as a type variable: no library can register it"
            self._warn(token, message, "type-variable", _type_remedy(name))
        else:
            message = f"unknown type {shortened(name)!r}"
            raise self._error(token.offset, message, "unknown-type", _type_remedy(name))
        return name

    def _list_size(self) -> int | None:
        self._next()
        if self._accept("]"):
            return None
        token = self._current
        if token.kind is not Kind.NUMBER:
            raise self._unexpected("']' or a size", "write [] or [3]")
        size = self._size(self._next())
        self._expect("]", "after the size")
        return size

    def _size(self, token: Token) -> int:
        """A whole number; of another one PyTorch takes the digits in front, and so do we."""
        found = self._number(token, negative=False).value
        digits = token.text[: len(token.text) - len(token.text.lstrip(_DIGITS))]
        size = found if isinstance(found, int) else int(digits or -1)
        if not 0 <= size < 2**31:
            message = f"{shortened(token.text)} is no size"
            raise self._error(token.offset, message, "bad-literal", "write [3]")
        if not token.text.isdigit():
            message = f"PyTorch reads the size {shortened(token.text)} as {int(digits)}"
            self._warn(token, message, "torch-misreads", f"write [{size}]")
        return size

    # ------------------------------------------------------------ alias marks

    def _alias_mark(self) -> AliasInfo | None:
        if self._accept("!"):
            return AliasInfo(is_write=True)
        if not self._accept("("):
            return None
        before = self._alias_set()
        is_write = self._accept("!")
        after = self._alias_set() if self._accept("->") else None
        self._expect(")", "after the alias mark", "an alias mark is (a), (a!), (a|b) or (a! -> *)")
        return AliasInfo(before, after, is_write)

    def _alias_set(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        while True:
            if self._accept("*"):
                found["*"] = None
            else:
                found[self._name("an alias set's name, or '*',", "write (a) or (a!)").text] = None
            if not self._accept("|"):
                return tuple(found)

    def _refuse_mark_after_optional(self) -> None:
        if self._is("(") or self._is("!"):
            message, hint = "an alias mark stands before the '?'", "write T(a!)? or T!?"
            raise self._error(self._current.offset, message, "misplaced-alias", hint)

    # ------------------------------------------------------------ defaults

    def _default(self, type_: Type, name: str) -> Default:
        start = self._current
        found = self._value(_element(type_), 0)
        if not _fits(found, type_):
            message = f"the default {shortened(str(found))} of {name!r} is no {type_}"
            self._warn(start, message, "default-type")
        elif _is_refused(found, type_):
            message = f"PyTorch's parser takes no such default for {type_}"
            hint = "None" if isinstance(type_, OptionalType) else "take T? and None"
            self._warn(start, message, "torch-refuses", f"give none, or {hint}")
        elif _is_mistyped(found, type_):
            message = f"PyTorch makes no {type_} of the default {shortened(str(found))}"
            hint = f"write {found}.0" if str(type_) == "float?" else "take None for a default"
            self._warn(start, message, "torch-mistypes", hint)
        return found

    def _value(self, element: Type, depth: int) -> Default:
        token = self._current
        if self._is("["):
            return self._value_list(element, depth)
        if self._is("-") or self._is("+"):
            return self._signed(element)
        if token.kind is Kind.NUMBER:
            return self._checked_number(self._next(), False, element)
        if token.kind is Kind.STRING:
            return self._string(self._next())
        if token.kind is Kind.NAME:
            return self._word(self._next())
        hint = "write a list as [1, 2]" if self._is("(") else "a default follows '=', as in x=1"
        raise self._unexpected("a default", hint)

    def _value_list(self, element: Type, depth: int) -> Default:
        opening = self._next()
        if depth > _MAX_DEPTH:
            raise self._error(opening.offset, "the default is nested too deep", "too-deep")
        items: list[Default] = []
        while not self._accept("]"):
            if items:
                comma = self._expect(",", "or ']' after the element")
                if self._is("]"):
                    message = "no element follows the comma"
                    raise self._error(comma.offset, message, "trailing-comma", "delete it")
            items.append(self._value(element, depth + 1))
        # Without spaces: torchgen splits the arguments at each ', '.
        text = f"[{','.join(map(str, items))}]"
        return Default(DefaultKind.LIST, tuple(items), text)

    def _signed(self, element: Type) -> Default:
        sign = self._next()
        negative = sign.text == "-"
        if not negative:
            self._warn(sign, "PyTorch's parser refuses a '+' before a number", "torch-refuses",
                       "delete it")  # fmt: skip
        token = self._current
        if token.kind is Kind.NAME and token.text in ("inf", "nan"):
            self._next()
            return self._infinite(token, negative)
        if token.kind is not Kind.NUMBER:
            raise self._unexpected(f"a number after {sign.text!r}")
        return self._checked_number(self._next(), negative, element)

    def _number(self, token: Token, negative: bool) -> Default:
        try:
            return tokens.read_number(token.text, negative)
        except tokens.LiteralError as error:
            raise self._literal_fault(token, error) from None

    def _literal_fault(self, token: Token, error: tokens.LiteralError) -> SchemaError:
        return self._error(token.offset + error.offset, error.message, "bad-literal", error.hint)

    def _checked_number(self, token: Token, negative: bool, element: Type) -> Default:
        found = self._number(token, negative)
        if negative and found.value == 0 and str(element) == "float":
            found = tokens.float_default(-0.0)
        read, shown = _torch_reads(token.text, found, element), shortened(token.text)
        if read == "":
            message = f"PyTorch's parser refuses the number {shown}"
            hint = f"write {found}" if "0x" in str(found) else ""
            self._warn(token, message, "torch-refuses", hint)
        elif read is not None:
            message = f"PyTorch reads {shown} as {read}"
            self._warn(token, message, "torch-misreads", f"write {shortened(str(found))}")
        return found

    def _string(self, token: Token) -> Default:
        try:
            value, foreign = tokens.read_string(token.text)
        except tokens.LiteralError as error:
            raise self._literal_fault(token, error) from None
        text = tokens.quote(value)
        if foreign:
            message = "PyTorch's parser refuses an escape in this string"
            self._warn(token, message, "torch-refuses", f"write {shortened(text)}")
        return Default(DefaultKind.STRING, value, text)

    def _word(self, token: Token) -> Default:
        text = token.text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if text in ("inf", "nan"):
            return self._infinite(token, False)
        if text not in words.DEFAULT_NAMES and self._diagnostics is not None:
            hint = did_you_mean(text, [*words.DEFAULT_NAMES, *_CONSTANTS])
            message = f"PyTorch's parser refuses the default {text!r}"
            self._warn(token, message, "torch-refuses", hint)
        return Default(DefaultKind.NAME, text, text)

    def _infinite(self, token: Token, negative: bool) -> Default:
        self._warn(token, f"PyTorch's parser refuses the default {token.text!r}", "torch-refuses")
        return tokens.float_default(float(f"{'-' if negative else ''}{token.text}"))


class _ArgumentList:
    """Arguments as they are read."""

    def __init__(self) -> None:
        self.positional: list[Argument] = []
        self.keyword_only: list[Argument] = []
        # Each with the token it starts at.
        self.named: list[tuple[Argument, Token]] = []
        self.has_star = False
        # A star that nothing has followed so far.
        self.idle_star: Token | None = None
        self.is_vararg = False

    def add(self, argument: Argument, token: Token) -> None:
        (self.keyword_only if self.has_star else self.positional).append(argument)
        self.named.append((argument, token))
        self.idle_star = None


_CONSTANTS = {
    "None": Default(DefaultKind.NONE, None, "None"),
    "True": Default(DefaultKind.BOOL, True, "True"),
    "False": Default(DefaultKind.BOOL, False, "False"),
}


def _alias(marks: tuple[AliasInfo | None, ...]) -> AliasInfo | None:
    """The marks of a base and the lists around it as the model has them."""
    if not any(marks):
        return None
    if len(marks) == 1:
        return marks[0]
    base, outer = marks[0], marks[-1]
    if base is not None and not any(marks[1:]):
        return AliasInfo(base.before, base.after, base.is_write, on_element=True)
    element = _alias(marks[:-1])
    if outer is None:
        # The list says nothing itself.
        return AliasInfo(after=(), element=element)
    return AliasInfo(outer.before, outer.after, outer.is_write, element=element)


@cache
def _base_type(name: str) -> BaseType:
    """There are few, and schemas are full of them."""
    return BaseType(name)


def _element(type_: Type) -> Type:
    """The type by which PyTorch reads the numbers of a default; it does not look into optionals."""
    return type_.element if isinstance(type_, ListType) else type_


def _torch_reads(text: str, found: Default, element: Type) -> str | None:
    """What PyTorch reads if it is something else; '' where it refuses, None where it agrees."""
    name = str(element)
    if found.kind is DefaultKind.COMPLEX:
        return "" if text.endswith("J") or _underflows(text[:-1], found) else None
    if name == "complex":
        # It takes any number for an imaginary one and cuts its last character.
        return "an imaginary number, cut short" if text[:-1].strip(".") else ""
    if name == "float" or "." in text or "e" in text:
        return "" if _underflows(text, found) else None
    if tokens.is_hex(text):
        return "0"
    if "E" in text:
        return text.split("E")[0]
    value = found.value
    return None if isinstance(value, int) and -(2**63) <= value < 2**63 else ""


def _underflows(text: str, found: Default) -> bool:
    """Whether a float is too small for C's strtod, which PyTorch reads it with."""
    value = found.value.imag if isinstance(found.value, complex) else found.value
    digits = text.lower().partition("e")[0]
    is_small = isinstance(value, float) and abs(value) < sys.float_info.min
    return is_small and not tokens.is_hex(text) and digits.strip("0.") != ""


_INTS = frozenset({DefaultKind.INT, DefaultKind.NAME})
_BOOLS = frozenset({DefaultKind.BOOL})
_STRINGS = frozenset({DefaultKind.STRING})
_FLOATS = frozenset({DefaultKind.INT, DefaultKind.FLOAT})
_COMPLEXES = _FLOATS | {DefaultKind.COMPLEX}
_KINDS: dict[str, frozenset[DefaultKind]] = {
    **dict.fromkeys(("int", "SymInt", "DeviceIndex"), _INTS),
    **dict.fromkeys(("ScalarType", "Layout", "MemoryFormat"), _INTS),
    **dict.fromkeys(("bool", "SymBool"), _BOOLS),
    **dict.fromkeys(("str", "Device", "Dimname"), _STRINGS),
    "float": _FLOATS,
    "complex": _COMPLEXES,
    **dict.fromkeys(("Scalar", "number"), _COMPLEXES | _BOOLS),
}


def _fits(default: Default, type_: Type) -> bool:
    """Whether a default can be one of its type. Of types that have no literal it says nothing."""
    if isinstance(type_, OptionalType):
        return default.kind is DefaultKind.NONE or _fits(default, type_.element)
    if isinstance(type_, ListType):
        if default.kind is DefaultKind.LIST and isinstance(default.value, tuple):
            return all(_fits(item, type_.element) for item in default.value)
        # One value stands for all of a fixed size; None makes any Python argument optional.
        return default.kind is DefaultKind.NONE or (
            type_.size is not None and _fits(default, type_.element)
        )
    kinds = _KINDS.get(str(type_))
    if kinds is None:
        return default.kind is DefaultKind.NONE
    return default.kind in kinds


# Elements of lists that PyTorch reads a default for.
_LISTED = frozenset(
    {"int", "SymInt", "DeviceIndex", "float", "bool", "complex", "ScalarType", "Layout"}
    | {"MemoryFormat"}
)
# Types of which None is a default without '?'; and those without any default.
_NONE = frozenset({"Tensor", "Generator", "Quantizer", "ConstQuantizerPtr"})
_WITHOUT_DEFAULT = frozenset({"number", "SymBool"})


def _is_refused(default: Default, type_: Type) -> bool:
    """Whether PyTorch's parser has no reading for a default that is one of its type."""
    if isinstance(type_, OptionalType):
        return default.kind is DefaultKind.LIST or _is_foreign_name(default, type_)
    if not isinstance(type_, ListType):
        is_none = default.kind is DefaultKind.NONE and str(type_) not in _NONE
        return is_none or str(type_) in _WITHOUT_DEFAULT or _is_foreign_name(default, type_)
    if str(type_.element) not in _LISTED:
        return True
    if isinstance(default.value, tuple):
        return any(_is_foreign_name(item, type_) for item in default.value)
    return default.kind in (DefaultKind.NAME, DefaultKind.NONE)


def _is_mistyped(default: Default, type_: Type) -> bool:
    """Whether PyTorch, which does not look into optionals, keeps a value of another type."""
    if not isinstance(type_, OptionalType) or default.kind is DefaultKind.NONE:
        return False
    element = type_.element
    return (
        isinstance(element, ListType)
        or str(element) == "Device"
        or (str(element) == "float" and default.kind is DefaultKind.INT)
    )


def _is_foreign_name(default: Default, type_: Type) -> bool:
    """Whether PyTorch takes a name for a ScalarType alone, and the type is another."""
    if default.kind is not DefaultKind.NAME or str(default) not in words.TYPE_DEFAULT_NAMES:
        return False
    # It does not look into optional lists.
    is_optional_list = isinstance(type_, OptionalType) and isinstance(type_.element, ListType)
    return is_optional_list or "ScalarType" not in str(type_)


def _takes_no_mark(type_: Type) -> bool:
    """Whether PyTorch reads no alias mark right behind a type."""
    opening = ("__torch__", "Future(", "Await(", "RRef(")
    return isinstance(type_, TupleType) or str(type_).startswith(opening)


def _type_remedy(name: str) -> str:
    if name in words.TYPE_REMEDIES:
        return f"write {words.TYPE_REMEDIES[name]}"
    return did_you_mean(name, [*words.TORCH_TYPES, "Dict"])


def shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
