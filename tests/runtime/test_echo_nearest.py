"""How near a keyword must be to a parameter's name for 'did you mean'."""

from __future__ import annotations

from types import ModuleType

import pytest

LONG = "x" * 64

# Keyword -> the name that is offered; a third of its letters may be wrong, and at least one.
NEAREST = {
    "abcdeg": "abcdef",
    "abcdgh": "abcdef",
    "abcghi": None,
    "abcdefgh": "abcdef",
    "abcdefghi": "abcdef",
    "abcdefghij": None,
    "bcdef": "abcdef",
    "badcef": "abcdef",
    "bacdef": "abcdef",
    "fbcdea": "abcdef",
    "dm": "dim",
    "dmi": "dim",
    "idm": "dim",
    "dxm": "dim",
    "dxy": None,
    "di": "dim",
    "d": None,
    "dims": "dim",
    # A name of 64 letters is the longest that is looked for.
    "x" * 63: LONG,
    "y" + "x" * 63: LONG,
    "y" + "x" * 64: None,
    "y" * 64: None,
}


@pytest.mark.parametrize("keyword", NEAREST)
def test_the_nearest_name(echo: ModuleType, keyword: str) -> None:
    with pytest.raises(TypeError) as error:
        echo.nearest(**{keyword: 1})
    nearest = NEAREST[keyword]
    hint = "" if nearest is None else f"; did you mean '{nearest}'?"
    assert str(error.value) == f"nearest(): unexpected keyword argument '{keyword}'{hint}"
