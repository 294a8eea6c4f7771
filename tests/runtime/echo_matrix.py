"""The cells of echo's tests: rows of typemap x ways of giving an argument.

    PYTHONPATH=tests/support .venv/bin/python tests/runtime/echo_matrix.py     prints the matrix

A cell is the calls that one row needs in one way; typemap alone says which cells there must be.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, TypeAlias

import echo_library
from echo_library import Form
from echo_tables import DEFAULTS, TABLES, ListTable, Raises, Table
from echo_zoo import LISTS, ZOO, Keeper
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
    # Names of the types that the result may have; any when empty.
    results: tuple[str, ...] = ("str",)

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


def _refusal(row: str, value: str, wanted: str) -> Raises | None:
    """Why a row does not take a value, found before any is read."""
    if _is_none(row, value):
        return None
    table = TABLES[row.removesuffix("?")]
    if isinstance(table, ListTable):
        if value in LISTS:
            return _list_refusal(table, LISTS[value])
    elif value in table.accepted or value in table.raises:
        return None
    return Raises(TypeError, f"{{where}} must be {wanted}, not {ZOO[value]}")


def _list_refusal(table: ListTable, elements: Sequence[str]) -> Raises | None:
    for i, element in enumerate(elements):
        refusal = _refusal(table.element, element, _wanted_element(table))
        if refusal is not None:
            return refusal.within(i)
    return None


def _is_none(row: str, value: str) -> bool:
    """Whether it is the None of an optional row."""
    return value == "None" and row.endswith("?")


def _wanted_element(table: ListTable) -> str:
    wanted = TABLES[table.element.removesuffix("?")].wanted
    return f"{wanted} or None" if table.element.endswith("?") else wanted


def _shown(row: str, value: str) -> Outcome:
    """What a value that is taken reads as."""
    if _is_none(row, value):
        return "None"
    table = TABLES[row.removesuffix("?")]
    if isinstance(table, ListTable):
        return _list_shown(table, LISTS[value])
    return table.accepted[value] if value in table.accepted else table.raises[value]


def _list_shown(table: ListTable, elements: Sequence[str]) -> Outcome:
    texts = []
    for i, element in enumerate(elements):
        shown = _shown(table.element, element)
        if isinstance(shown, Raises):
            return shown.within(i)
        texts.append(shown)
    return f"[{', '.join(texts)}]"


def _outcomes(form: Form) -> Cases:
    """Of all values but None, and but those that stand for all elements of a list."""
    skipped = {"None", *dict(_alone(form))}
    for value in ZOO:
        if value not in skipped:
            yield value, _length_fault(form, value) or _outcome(form, value)


def _outcome(form: Form, value: str) -> Outcome:
    base = _base(form)
    return _refusal(base, value, _wanted(form)) or _shown(base, value)


def _length_fault(form: Form, value: str) -> Raises | None:
    if not form.row.is_array or value not in LISTS or len(LISTS[value]) == form.size:
        return None
    return Raises(TypeError, f"{{where}} must have {form.size} elements, not {len(LISTS[value])}")


def accepted(form: Form) -> Iterator[tuple[str, str]]:
    for value, outcome in _outcomes(form):
        if isinstance(outcome, str):
            yield value, outcome


def _refused(form: Form) -> Cases:
    """What is refused, and what is taken and cannot be read."""
    return ((v, outcome) for v, outcome in _outcomes(form) if isinstance(outcome, Raises))


def _none(form: Form) -> Cases:
    given = Raises(TypeError, f"{{where}} must be {_wanted(form)}, not None")
    yield "None", "None" if form.row.is_optional else given


# --- lists ----------------------------------------------------------------------------------------


def _list_table(form: Form) -> ListTable:
    table = TABLES[_base(form)]
    assert isinstance(table, ListTable)
    return table


def _alone(form: Form) -> Cases:
    """What may stand for all elements of a list of N."""
    if not is_broadcast(form):
        return
    element = TABLES[_list_table(form).element]
    assert isinstance(element, Table)
    for value, text in element.accepted.items():
        yield value, f"[{', '.join([text] * form.size)}]"
    yield from element.raises.items()


def _elements(form: Form) -> Cases:
    """Each value of the zoo as the second element: taken, refused, or impossible to read."""
    table = _list_table(form)
    for value in ZOO:
        elements = _around(form, value)
        yield value, _list_refusal(table, elements) or _list_shown(table, elements)


def _around(form: Form, value: str) -> list[str]:
    """A value as the second element, among as many as there must be."""
    filler = _list_table(form).filler
    return [filler, value, *[filler] * (form.size - 2)] if form.row.is_array else [filler, value]


def _list(form: Form, value: str) -> str:
    return f"[{', '.join(_around(form, value))}]"


def _tuple(form: Form, value: str) -> str:
    return f"({', '.join(_around(form, value))})"


# --- columns --------------------------------------------------------------------------------------

Cell: TypeAlias = Callable[[Form], Iterator[Check]]


def _echo(form: Form) -> str:
    return f"echo_{form.slug}"


def _call(
    form: Form, args: Sequence[str], outcome: Outcome, kwargs: dict[str, str] | None = None
) -> Check:
    """A call of the op that shows its argument x."""
    argument = f"{_echo(form)}(): argument 'x' (position 1)"
    of = outcome.of(argument) if isinstance(outcome, Raises) else outcome
    return Check(_echo(form), tuple(args), of, kwargs or {})


def _positional(
    cases: Callable[[Form], Cases], wrap: Callable[[Form, str], str] | None = None
) -> Cell:
    def checks(form: Form) -> Iterator[Check]:
        for value, outcome in cases(form):
            if wrap is not None:
                yield _call(form, [wrap(form, value)], outcome)
            elif not _is_variadic(form, value):
                yield _call(form, [value], outcome)

    return checks


def _keyword(cases: Callable[[Form], Cases]) -> Cell:
    def checks(form: Form) -> Iterator[Check]:
        for value, outcome in cases(form):
            yield _call(form, [], outcome, {"x": value})

    return checks


def _is_variadic(form: Form, value: str) -> bool:
    """Whether `f(value)` is `f((value,))`."""
    if form.size or not form.row.takes_varargs:
        return False
    return _list_refusal(_list_table(form), [value]) is None


def _missing(form: Form) -> Iterator[Check]:
    text = f"{_echo(form)}(): missing required argument 'x' (position 1)"
    yield _call(form, [], Raises(TypeError, text))


def _varargs(form: Form) -> Iterator[Check]:
    table = _list_table(form)
    for value, outcome in _elements(form):
        yield _call(form, [table.filler, value], outcome)
        if _is_variadic(form, value):
            yield _call(form, [value], _list_shown(table, [value]))


def _given_back(form: Form) -> Iterator[Check]:
    """The result, shown as the argument that it was."""
    results = TABLES[_base(form)].results
    for value, text in accepted(form):
        if not _is_variadic(form, value):
            yield Check(f"give_{form.slug}", (value,), text, results=results)
    if form.row.is_optional:
        yield Check(f"give_{form.slug}", ("None",), "None", results=("NoneType",))


def _written(form: Form) -> Iterator[Check]:
    for value, text in accepted(form):
        yield Check(f"write_{form.slug}", (value,), text)
        if form.row.cpp_return_written:
            results = TABLES[_base(form)].results
            yield Check(f"give_written_{form.slug}", (value,), text, results=results)


def _numbers(form: Form) -> Iterator[Check]:
    """Each value of the zoo where a number may stand for a tensor."""
    function, wanted = f"number_{form.slug}", f"{_wanted(form)} or Scalar"
    for value in ZOO:
        outcome = _or_number(form, value) or Raises(
            TypeError, f"{{where}} must be {wanted}, not {ZOO[value]}"
        )
        if isinstance(outcome, Raises):
            outcome = outcome.of(f"{function}(): argument 'x' (position 1)")
        yield Check(function, (value,), outcome)


def _or_number(form: Form, value: str) -> Outcome | None:
    """What a tensor, or the tensor of a number, reads as."""
    tensors, numbers = TABLES[_base(form)], TABLES["Scalar"]
    assert isinstance(tensors, Table)
    assert isinstance(numbers, Table)
    if value in numbers.accepted:
        return tensors.accepted.get(value, f"tensor of {numbers.accepted[value]}")
    return tensors.accepted.get(value) or numbers.raises.get(value)


def _default_texts(form: Form) -> list[str]:
    return [case.shown for case in DEFAULTS[form.row.schema]]


def _all_defaults(form: Form, replaced: dict[int, str]) -> str:
    shown = enumerate(_default_texts(form))
    return ", ".join(f"d{i}={replaced.get(i, text)}" for i, text in shown)


def _defaults(form: Form) -> Iterator[Check]:
    """All defaults at once, and each with a value in its place."""
    function = f"default_{form.slug}"
    yield Check(function, (), _all_defaults(form, {}))
    for i, case in enumerate(DEFAULTS[form.row.schema]):
        value, shown = _some_value(form, case.type)
        yield Check(function, (), _all_defaults(form, {i: shown}), {f"d{i}": value})


def _some_value(form: Form, type_: str) -> tuple[str, str]:
    """A value for an argument of this type, which may have another N than the form."""
    if not form.row.is_array:
        return next(accepted(form))
    size = int(type_[type_.index("[") + 1 : type_.index("]")])
    filler = _list_table(form).filler
    return f"[{filler}] * {size}", str([True] * size)


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


def is_broadcast(form: Form) -> bool:
    return form.row.broadcasts and form.size > 0


def has_defaults(form: Form) -> bool:
    return bool(form.row.defaults) and not is_broadcast(form)


def _is_returned(form: Form) -> bool:
    return bool(form.row.cpp_return) and not is_broadcast(form)


COLUMNS = (
    Column("accepted, by position", _positional(accepted)),
    Column("accepted, by keyword", _keyword(accepted)),
    Column("refused, by position", _positional(_refused)),
    Column("refused, by keyword", _keyword(_refused)),
    Column("None", _positional(_none)),
    Column("missing", _missing),
    Column("last of a list", _positional(_elements, _list), _is_list),
    Column("last of a tuple", _positional(_elements, _tuple), _is_list),
    Column("alone for a list", _positional(_alone), is_broadcast),
    Column("as *args", _varargs, lambda form: form.row.takes_varargs),
    Column("given back", _given_back, _is_returned),
    Column("written", _written, lambda form: bool(form.row.cpp_written)),
    Column("or a number", _numbers, lambda form: bool(form.row.accessor_number)),
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
        if check.results and type(result).__name__ not in check.results:
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
    given = Raises(type(error), str(error), "".join(getattr(error, "__notes__", ())))
    if given == _as_of_this_python(check.outcome):
        return ""
    return f"{check}: {given}\n  expected {check.outcome}"


def _as_of_this_python(outcome: Outcome) -> Outcome:
    """Before 3.11 exceptions have no notes."""
    if isinstance(outcome, str) or hasattr(BaseException, "add_note"):
        return outcome
    return replace(outcome, note="")


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
