"""The cells of echo's tests: rows of typemap x ways of giving an argument.

    PYTHONPATH=tests/module .venv/bin/python tests/runtime/echo_matrix.py     prints the matrix

A cell is the calls that one row needs in one way; typemap alone says which cells there must be.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

import echo_library
from echo_library import Form
from echo_tables import DEFAULTS, TABLES, Raises, Table
from echo_zoo import ZOO, Keeper
from opbind.model import DefaultKind

# What a call gives: its text, or an exception.
Outcome: TypeAlias = str | Raises


@dataclass(frozen=True, slots=True)
class Check:
    """One call, its arguments as expressions, and what must come of it."""

    function: str
    args: tuple[str, ...]
    outcome: Outcome
    kwargs: dict[str, str] = field(default_factory=dict)
    # Python types that the result may have.
    results: tuple[type, ...] = (str,)

    def __str__(self) -> str:
        named = (f"{name}={value}" for name, value in self.kwargs.items())
        return f"{self.function}({', '.join([*self.args, *named])})"


# The values of one cell, and what must come of each.
Cases: TypeAlias = Iterator[tuple[str, Outcome]]


# --- one argument ---------------------------------------------------------------------------------


def _base(form: Form) -> str:
    return form.row.schema.removesuffix("?")


def _wanted(form: Form) -> str:
    """The type as errors show it."""
    wanted = TABLES[_base(form)].wanted.replace("[]", f"[{form.size or ''}]")
    return f"{wanted} or None" if form.row.is_optional else wanted


def _where(function: str) -> str:
    return f"{function}(): argument 'x' (position 1)"


def _refusal(function: str, wanted: str, given: str) -> Raises:
    return Raises(TypeError, f"{_where(function)} must be {wanted}, not {given}")


def _at(function: str, raises: Raises, element: str = "") -> Raises:
    return Raises(raises.type, raises.text.replace("{where}", f"{_where(function)}{element}"))


def _accepted(form: Form, function: str) -> Cases:
    yield from TABLES[_base(form)].accepted.items()


def _refused(form: Form, function: str) -> Cases:
    """What is refused, and what is taken and cannot be read."""
    table = TABLES[_base(form)]
    for value, raises in table.raises.items():
        yield value, _at(function, raises)
    # What a list of N takes beside lists has a column of its own.
    taken = {"None", *table.accepted, *table.raises, *dict(_alone(form, function))}
    for value, given in ZOO.items():
        if value not in taken:
            yield value, _refusal(function, _wanted(form), given)


def _none(form: Form, function: str) -> Cases:
    is_taken = form.row.is_optional
    yield "None", "None" if is_taken else _refusal(function, _wanted(form), "None")


# --- lists ----------------------------------------------------------------------------------------


def _element_table(form: Form) -> Table:
    return TABLES[TABLES[_base(form)].element]


def _alone(form: Form, function: str) -> Cases:
    """What may stand for all elements of a list of N."""
    if not (form.size and form.row.broadcasts):
        return
    table = _element_table(form)
    for value, text in table.accepted.items():
        yield value, f"[{', '.join([text] * form.size)}]"
    for value, raises in table.raises.items():
        yield value, _at(function, raises)


def _elements(form: Form, function: str) -> Cases:
    """Each value of the zoo as the second element: taken, refused, or impossible to read."""
    filler, table = TABLES[_base(form)].filler, _element_table(form)
    first = table.accepted[filler]
    for value, given in ZOO.items():
        if value in table.accepted:
            yield value, f"[{first}, {table.accepted[value]}]"
        elif value in table.raises:
            yield value, _at(function, table.raises[value], ": x[1]")
        else:
            text = f"{_where(function)}: x[1] must be {table.wanted}, not {given}"
            yield value, Raises(TypeError, text)


def _list(form: Form, value: str) -> str:
    return f"[{TABLES[_base(form)].filler}, {value}]"


def _tuple(form: Form, value: str) -> str:
    return f"({TABLES[_base(form)].filler}, {value})"


# --- columns --------------------------------------------------------------------------------------

Cell: TypeAlias = Callable[[Form], Iterator[Check]]


def _echo(form: Form) -> str:
    return f"echo_{form.slug}"


def _positional(
    cases: Callable[[Form, str], Cases], wrap: Callable[[Form, str], str] | None = None
) -> Cell:
    def checks(form: Form) -> Iterator[Check]:
        for value, outcome in cases(form, _echo(form)):
            if not (wrap is None and _is_variadic(form, value)):
                yield Check(_echo(form), (wrap(form, value) if wrap else value,), outcome)

    return checks


def _keyword(cases: Callable[[Form, str], Cases]) -> Cell:
    def checks(form: Form) -> Iterator[Check]:
        for value, outcome in cases(form, _echo(form)):
            yield Check(_echo(form), (), outcome, {"x": value})

    return checks


def _is_variadic(form: Form, value: str) -> bool:
    """Whether `f(value)` is `f((value,))`."""
    if form.size or not form.row.takes_varargs:
        return False
    table = _element_table(form)
    return value in table.accepted or value in table.raises


def _missing(form: Form) -> Iterator[Check]:
    text = f"{_echo(form)}(): missing required argument 'x' (position 1)"
    yield Check(_echo(form), (), Raises(TypeError, text))


def _varargs(form: Form) -> Iterator[Check]:
    filler, table = TABLES[_base(form)].filler, _element_table(form)
    for value, outcome in _elements(form, _echo(form)):
        yield Check(_echo(form), (filler, value), outcome)
        if _is_variadic(form, value) and value in table.accepted:
            yield Check(_echo(form), (value,), f"[{table.accepted[value]}]")
        elif _is_variadic(form, value):
            raises = _at(_echo(form), table.raises[value], ": x[0]")
            yield Check(_echo(form), (value,), raises)


def _given_back(form: Form) -> Iterator[Check]:
    """The result, shown as the argument that it was."""
    table = TABLES[_base(form)]
    for value, text in table.accepted.items():
        yield Check(f"give_{form.slug}", (value,), text, results=table.results)


def _written(form: Form) -> Iterator[Check]:
    for value, outcome in _accepted(form, ""):
        yield Check(f"write_{form.slug}", (value,), outcome)
        if form.row.cpp_return_written:
            results = TABLES[_base(form)].results
            yield Check(f"give_written_{form.slug}", (value,), outcome, results=results)


def _default_texts(form: Form) -> list[str]:
    return [case.shown for case in DEFAULTS[form.row.schema]]


def _all_defaults(form: Form, replaced: dict[int, str]) -> str:
    shown = enumerate(_default_texts(form))
    return ", ".join(f"d{i}={replaced.get(i, text)}" for i, text in shown)


def _defaults(form: Form) -> Iterator[Check]:
    """All defaults at once, and each with a value in its place."""
    function = f"default_{form.slug}"
    yield Check(function, (), _all_defaults(form, {}))
    value, shown = next(iter(TABLES[_base(form)].accepted.items()))
    for i in range(len(_default_texts(form))):
        yield Check(function, (), _all_defaults(form, {i: shown}), {f"d{i}": value})


@dataclass(frozen=True, slots=True)
class Column:
    """A way of giving an argument, and the rows that have it."""

    name: str
    cell: Cell
    applies: Callable[[Form], bool] = lambda form: True

    def __str__(self) -> str:
        return self.name


def _is_list(form: Form) -> bool:
    return "[]" in form.row.schema


def _is_broadcast(form: Form) -> bool:
    return form.row.broadcasts and form.size > 0


def has_defaults(form: Form) -> bool:
    return bool(form.row.defaults) and not _is_broadcast(form)


def _is_returned(form: Form) -> bool:
    return bool(form.row.cpp_return) and not _is_broadcast(form)


COLUMNS = (
    Column("accepted, by position", _positional(_accepted)),
    Column("accepted, by keyword", _keyword(_accepted)),
    Column("refused, by position", _positional(_refused)),
    Column("refused, by keyword", _keyword(_refused)),
    Column("None", _positional(_none)),
    Column("missing", _missing),
    Column("last of a list", _positional(_elements, _list), _is_list),
    Column("last of a tuple", _positional(_elements, _tuple), _is_list),
    Column("alone for a list", _positional(_alone), _is_broadcast),
    Column("as *args", _varargs, lambda form: form.row.takes_varargs),
    Column("given back", _given_back, _is_returned),
    Column("written", _written, lambda form: bool(form.row.cpp_written)),
    Column("defaults", _defaults, has_defaults),
)


def cells() -> dict[tuple[str, str], tuple[Column, Form]]:
    """(type, column) -> what must be tested, for all that applies."""
    return {
        (form.type, column.name): (column, form)
        for form in echo_library.forms()
        for column in COLUMNS
        if column.applies(form)
    }


def default_kinds(form: Form) -> set[DefaultKind]:
    """The ways of writing a default that the tables have for a row."""
    ops = {op.name: op.op.schema for op in echo_library.planned().own_ops}
    schema = ops[f"default_{form.slug}"]
    return {a.default.kind for a in schema.arguments if a.default is not None}


# --- running --------------------------------------------------------------------------------------

# Calls after which a reference that each keeps must show.
_REPEATS = 10


@contextmanager
def _quiet() -> Iterator[None]:
    """Python calls it deprecated that an `__index__` gives a bool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


class Runner:
    """Runs checks."""

    def __init__(self, echo: ModuleType) -> None:
        self._echo = echo
        self._keeper = Keeper()

    def faults(self, column: Column, form: Form) -> tuple[int, list[str]]:
        """The number of calls, and what is wrong with each that fails."""
        checks = list(column.cell(form))
        with _quiet():
            return len(checks), list(filter(None, (self._fault(check, form) for check in checks)))

    def reference_faults(self, column: Column, form: Form) -> list[str]:
        """The calls that keep a reference to an argument, or release one too many."""
        with _quiet():
            return [str(check) for check in column.cell(form) if self._is_kept(check)]

    def _fault(self, check: Check, form: Form) -> str:
        args, kwargs = self._arguments(check)
        try:
            result = getattr(self._echo, check.function)(*args, **kwargs)
        except BaseException as error:
            return _error_fault(check, error)
        if check.results and type(result) not in check.results:
            return f"{check}: the result is a {type(result)}"
        if check.function.startswith("give_"):
            result = getattr(self._echo, _echo(form))(result)
        if result == check.outcome:
            return ""
        return f"{check}: {result!r}\n  expected {check.outcome!r}"

    def _is_kept(self, check: Check) -> bool:
        args, kwargs = self._arguments(check)
        function = getattr(self._echo, check.function)
        values = [*args, *kwargs.values()]
        before = [sys.getrefcount(value) for value in values]
        for _ in range(_REPEATS):
            with suppress(BaseException):
                function(*args, **kwargs)
        after = [sys.getrefcount(value) for value in values]
        # Others hold and drop None, a type or a small int meanwhile, though not each time.
        return any(abs(b - a) >= _REPEATS for b, a in zip(before, after, strict=True))

    def _arguments(self, check: Check) -> tuple[list[Any], dict[str, Any]]:
        args = [self._keeper.value(text) for text in check.args]
        return args, {name: self._keeper.value(text) for name, text in check.kwargs.items()}


def _error_fault(check: Check, error: BaseException) -> str:
    wanted = check.outcome
    given = f"{type(error).__name__}: {error}"
    if isinstance(wanted, Raises) and type(error) is wanted.type and str(error) == wanted.text:
        return ""
    text = f"{wanted.type.__name__}: {wanted.text}" if isinstance(wanted, Raises) else wanted
    return f"{check}: {given}\n  expected {text}"


def text(counts: dict[tuple[str, str], int]) -> str:
    """The matrix: calls by row and column."""
    heads = [column.name for column in COLUMNS]
    lines = [f"  {name}" for name in heads]
    lines = [f"{'':18}" + "".join(f"{i:>6}" for i in range(1, len(heads) + 1))]
    for form in echo_library.forms():
        numbers = (counts.get((form.type, name)) for name in heads)
        lines.append(f"{form.type:18}" + "".join(f"{'' if n is None else n:>6}" for n in numbers))
    lines += ["", *(f"{i:>3} {name}" for i, name in enumerate(heads, 1))]
    return "\n".join([*lines, "", f"{sum(counts.values())} calls in {len(counts)} cells"])


def main() -> int:
    sys.path.insert(0, str(echo_library.built()))
    runner = Runner(importlib.import_module(echo_library.MODULE))
    found = {key: runner.faults(*cell) for key, cell in cells().items()}
    print(text({key: count for key, (count, _) in found.items()}))
    faults = [fault for _, some in found.values() for fault in some]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
