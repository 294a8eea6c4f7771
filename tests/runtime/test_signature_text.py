"""PythonArgParser from text: the same tables as the generator's, and clear errors."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest


def test_text_and_generator_give_the_same_tables(echo: ModuleType) -> None:
    """All of torch's signatures, those of this library, and random ones of every type."""
    assert echo.compare_signatures() == ""
    assert echo.count_signatures() > 2500


READ = {
    "f()": "f()",
    "f(int a)": "f(int a)",
    "f(*, int a)": "f(*, int a)",
    " f ( int  a ,\n*,  int[ 2 ]  b=[ 1 , 2 ] ) -> (Tensor x, Tensor y)": None,
    "f(Tensor|Scalar a|x|y, int b=2|None) -> Tensor|deprecated": "f(Tensor a, int b=2) -> Tensor",
    "f(Tensor? a=None, Tensor b=None)": None,
    "f(str a='\\'', str b=\"\\101\\n\")": None,
    "f(bool[2] a=True, float[3] b=1, int[2]? c=3, Scalar d=-2.5j)": None,
    "f(ScalarType a=long, Layout b=strided, MemoryFormat c=contiguous_format)": None,
    "f(Device a='cuda:1', float b=0x1.8p-1, float c=-.5, float d=-0xAp1)": None,
    "f(DeviceIndex a=127, DeviceIndex b=-128, int c=128)": None,
}
MOST = f"f({', '.join(f'int a{i}' for i in range(255))})"
TOO_MANY = f"f({', '.join(f'int a{i}' for i in range(256))})"
# By the text: the column, and what is said of it.
REFUSED = {
    "": "1: the function's name is wanted",
    "f": "2: '(' is wanted",
    "f(": "3: a type is wanted",
    "f(int)": "6: an argument's name is wanted",
    "f(int a": "8: ',' is wanted",
    "f(int a b)": "9: ',' is wanted",
    "f(int a,)": "9: a type is wanted",
    "f(int a) Tensor": "10: '-> RETURNS' is wanted, or the end",
    "f(int a) - Tensor": "12: '>' is wanted",
    "f(int a) -> Tensor|old": "20: only 'deprecated' may stand here after a '|'",
    "f(*, *, int a)": "7: a second '*'",
    "f(itn a)": "3: 'itn' is no type; there are Tensor, ",
    "f(int?? a)": "3: 'int?' is no type; there are Tensor, ",
    "f(int[0] a)": "7: a list's size lies between 1 and 1000",
    "f(int[1001] a)": "7: a list's size lies between 1 and 1000",
    "f(int[x] a)": "7: a list's size lies between 1 and 1000",
    "f(int[2 a)": "9: ']' is wanted",
    "f(bool[] a)": "3: a list of bools has a size, as bool[3]",
    "f(Tensor|int a)": "10: only 'Scalar' may stand here after a '|'",
    "f(int a|a)": "9: 'a' stands twice; each argument has names of its own",
    "f(int a, int b|a)": "16: 'a' stands twice; each argument has names of its own",
    "f(int a=1, int b)": "16: a required argument after one with a default: give it a "
    "default, or put '*' before it",
    "f(int a=)": "9: a value is wanted",
    "f(int a=+1)": "9: a value is wanted",
    "f(int a=x)": "9: 'x' is no default for 'a'",
    "f(int a=1.5)": "9: '1.5' is no default for 'a'",
    "f(int a=9223372036854775808)": "9: '9223372036854775808' is no default for 'a'",
    "f(int a='1')": "9: a string is no default for 'a'",
    "f(int a=[1])": "9: a list is no default for 'a'",
    "f(int[] a=1)": "11: '1' is no default for 'a'",
    "f(int[] a=[x])": "12: such an element is no default for 'a'",
    "f(bool[2] a=[True])": "19: the list has not 2 elements",
    "f(bool a=1)": "10: '1' is no default for 'a'",
    "f(float a=infinity)": "11: 'infinity' is no default for 'a'",
    "f(float a=0x)": "11: '0x' is no default for 'a'",
    "f(float a=--1)": "11: '--1' is no default for 'a'",
    "f(complex a=1)": "13: '1' is no default for 'a'",
    "f(Tensor a=1)": "12: '1' is no default for 'a'",
    "f(ScalarType a=strided)": "16: 'strided' is no default for 'a'",
    "f(Layout a=long)": "12: 'long' is no default for 'a'",
    "f(int a=1|2)": "11: a word is wanted",
    "f(int a=1|Nothing)": "11: only 'None' may stand here after a '|'",
    "f(str a='x)": "9: the string is not closed",
    "f(str a='\\": "11: unknown escape; write \\\\ for a backslash",
    "f(str a='\\q')": "11: unknown escape; write \\\\ for a backslash",
    "f(str a='\\8')": "11: unknown escape; write \\\\ for a backslash",
    "f(str a='\\777')": "14: an octal escape is one byte: at most \\377",
    "f(str a='\\377')": "9: the string is no UTF-8",
    "f(int[2][3] a)": "10: a list in a list has no size, as int[][]",
    "f(float a=0x-1)": "11: '0x-1' is no default for 'a'",
    "f(float a=0xinf)": "11: '0xinf' is no default for 'a'",
    "f(float a=0xnan)": "11: '0xnan' is no default for 'a'",
    "f(float a=-0x)": "11: '-0x' is no default for 'a'",
    "f(Scalar a=18446744073709551615)": "12: '18446744073709551615' is no default for 'a'",
    "f(Scalar a=-)": "12: '-' is no default for 'a'",
    "f(DeviceIndex a=128)": "17: '128' is no default for 'a'",
    "f(DeviceIndex a=-129)": "17: '-129' is no default for 'a'",
    "f(Device a='bike')": "12: 'bike' is no default for 'a'",
    "f(ü a)": "3: a type is wanted",
    TOO_MANY: f"{len(TOO_MANY) + 1}: more than 255 arguments",
}


@pytest.mark.parametrize("text", READ)
def test_what_is_read(echo: ModuleType, text: str) -> None:
    """The text that people see has nothing that stands behind a '|'."""
    assert echo.read_signatures([text]) == f"{READ.get(text) or text}\n"


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(echo: ModuleType, text: str) -> None:
    with pytest.raises(ValueError) as error:
        echo.read_signatures([text])
    assert str(error.value).startswith(f"signature '{text}', column {REFUSED[text]}")


def test_as_many_arguments_as_there_may_be(echo: ModuleType) -> None:
    assert echo.read_signatures([MOST]) == f"{MOST}\n"
    assert echo.read_signatures(["f(int a)"] * 255) == "f(int a)\n" * 255


def test_signatures_are_of_one_function(echo: ModuleType) -> None:
    assert echo.read_signatures(["f(int a)", "f(str a)"]) == "f(int a)\nf(str a)\n"
    with pytest.raises(ValueError, match="column 1: all signatures are of one function, here 'f'"):
        echo.read_signatures(["f(int a)", "g(int a)"])
    for count in (0, 256):
        with pytest.raises(ValueError, match="a function has between 1 and 255 signatures"):
            echo.read_signatures(["f()"] * count)


def test_nul_bytes(echo: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"^signature 'f\(int a', column 8: a NUL byte$"):
        echo.read_signatures(["f(int a\0)"])


# --- bound by hand --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_hand(echo: ModuleType, null_host: ModuleType) -> Any:
    echo.install_by_hand()
    return null_host


def test_a_function_bound_by_hand(by_hand: Any) -> None:
    assert by_hand.add_by_hand(1) == "3 m"
    assert by_hand.add_by_hand(1, addend=4, unit="km") == "5 km"
    assert by_hand.add_by_hand([1, 2, 3]) == by_hand.add_by_hand(items=(1, 2, 3)) == "3 values"
    with pytest.raises(TypeError) as error:
        by_hand.add_by_hand("1")
    assert "add(int a, int b=2, *, str unit='m') -> str" in str(error.value)
    assert "add(int[] values) -> str" in str(error.value)


def test_ints_one_by_one_behind_a_methods_own_tensor(by_hand: Any) -> None:
    tensor = by_hand.Tensor(5)
    view = by_hand.view_by_hand
    assert view(tensor, 1, 2) == view(tensor, [1, 2]) == view(tensor, size=(1, 2)) == "0: 2 values"
    assert view(tensor, 1) == "0: 1 values"
    assert view(tensor, [1, 2, 3], 4) == "1: 3 values"
    assert view(tensor, [1], second=4) == "1: 1 values"
    with pytest.raises(TypeError, match=r"'size' \(position 2\): size\[1\] must be int, not str"):
        view(tensor, 1, "2")
    for wrong in ((), (tensor,), (1, 2), (tensor, 1, [2])):
        with pytest.raises(TypeError):
            view(*wrong)
    # What is gathered counts as taken, behind the tensor too.
    with pytest.raises(TypeError) as wrong_int:
        view(tensor, 1, 2, 3, "4")
    nearest, _ = wrong_int.value.candidates[0]  # type: ignore[attr-defined]
    assert nearest == "view(Tensor self, int[] size) -> str"
    # The ints that the first signature gathered are nothing to the third.
    assert view(tensor, 7, grow=True) == 7


def test_a_wrong_signature_is_an_error_of_every_call(by_hand: Any) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="'itn' is no type; there are Tensor"):
            by_hand.misspelt(1)


def test_slots_for_the_widest_signature(by_hand: Any) -> None:
    text = r"^narrow\(\): ParsedArgs<2> is too small, take ParsedArgs<3>$"
    with pytest.raises(ValueError, match=text):
        by_hand.too_narrow(1)
