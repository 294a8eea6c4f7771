"""Every row of typemap takes, refuses and defaults as its table says: the cells of echo_matrix."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import ModuleType

import echo_library
import echo_matrix
import pytest
from echo_library import Form
from echo_matrix import Column, Runner
from echo_tables import DEFAULTS, TABLES
from opbind.model import Default, DefaultKind
from opbind.typemap import ROWS, DefaultFault

CELLS = echo_matrix.cells()
FORMS = [form for form in echo_library.forms() if echo_matrix.has_defaults(form)]


@pytest.fixture(scope="module")
def runner(echo: ModuleType) -> Runner:
    return Runner(echo)


@pytest.mark.parametrize(("column", "form"), CELLS.values(), ids=lambda part: str(part))
def test_cell(runner: Runner, column: Column, form: Form) -> None:
    count, faults = runner.faults(column, form)
    assert count, f"echo_tables.py has no value for {form.type}: {column.name}"
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(("column", "form"), CELLS.values(), ids=lambda part: str(part))
def test_no_reference_is_kept(runner: Runner, column: Column, form: Form) -> None:
    faults = runner.reference_faults(column, form)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", [column.name for column in echo_matrix.COLUMNS])
def test_no_object_is_left(runner: Runner, name: str) -> None:
    """Of those that the collector knows. For the others there is `make sanitize`."""
    cells = [cell for (_, column), cell in CELLS.items() if column == name]
    assert objects_left(lambda: [runner.faults(*cell) for cell in cells]) < len(cells)


def test_an_object_that_is_left_is_found(echo: ModuleType) -> None:
    assert objects_left(lambda: [echo.plant("leaked list") for _ in range(10)]) >= 10


def objects_left(run: Callable[[], object]) -> int:
    """How many more there are after a second run: the first fills caches."""
    run()
    gc.collect()
    before = len(gc.get_objects())
    run()
    gc.collect()
    return len(gc.get_objects()) - before


def test_every_row_has_a_table() -> None:
    rows = {row.schema.removesuffix("?") for row in ROWS.values()}
    assert set(TABLES) == rows


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_way_of_writing_a_default_has_a_case(form: Form) -> None:
    assert echo_matrix.default_kinds(form) == set(form.row.defaults)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_name_that_is_a_default_has_a_case(form: Form) -> None:
    if DefaultKind.NAME not in form.row.defaults:
        return
    with pytest.raises(DefaultFault) as fault:
        form.row.default_forms(Default(DefaultKind.NAME, "none_of_them", "none_of_them"), 0)
    assert set(fault.value.candidates) <= {case.text for case in DEFAULTS[form.row.schema]}


def test_the_built_library_is_the_one_that_is_planned(echo: ModuleType) -> None:
    """Also under $OPBIND_ECHO, where nothing is built."""
    assert set(echo.__all__) == {f.attribute for f in echo_library.planned().functions}
