"""Calls of several arguments, overloads and results, on the null host."""

from __future__ import annotations

import inspect
import pickle
import sys
from types import ModuleType
from typing import Any

import echo_library
import echo_matrix
import pytest
from echo_library import RunPython
from echo_zoo import Keeper

# Call -> its result, or the text of its TypeError after the function's name.
SHOWN = {
    # by position, by keyword, defaults
    "several(Tensor(1), 2)": "self=tensor of int 1, n=2, f=0.5, b=True, s='q', a=None",
    "several(Tensor(1), 2, 3, s='t', b=False, a=1j)": "self=tensor of int 1, n=2, f=3, b=False, "
    "s='t', a=complex 0 + 1j",
    "several(n=2, input=Tensor(1))": "self=tensor of int 1, n=2, f=0.5, b=True, s='q', a=None",
    "several(*[Tensor(1)], **{'n': 2, 'f': 1.5})": "self=tensor of int 1, n=2, f=1.5, b=True, "
    "s='q', a=None",
    # a name that is equal and no interned string; one of a subclass of str
    "several(Tensor(1), **{''.join(['', 'n']): 2})": "self=tensor of int 1, n=2, f=0.5, b=True, "
    "s='q', a=None",
    "several(Tensor(1), **{StrSub('n'): 2})": "self=tensor of int 1, n=2, f=0.5, b=True, s='q', "
    "a=None",
    # further names
    "aliased(Tensor(1), axis=2)": "x=tensor of int 1, dim=2, keepdim=False",
    "aliased(Tensor(1), d=2, keepdims=True)": "x=tensor of int 1, dim=2, keepdim=True",
    # optionals without and with values
    "optionals()": "t=None, n=None, size=None, s=None",
    "optionals(None, None, None, None)": "t=None, n=None, size=None, s=None",
    "optionals(Tensor(1), 2, [3], 'four')": "t=tensor of int 1, n=2, size=[3], s='four'",
    "optionals(s='four')": "t=None, n=None, size=None, s='four'",
    # names that C++ or Python cannot have
    "keywords(**{'from': 1, 'lambda': 2.5, 'class': True})": "from=1, lambda=2.5, class=True",
    "reserved(1, 2.5, 'a', False, 3, 4)": "int=1, double=2.5, args='a', module=False, r=3, std=4",
    # one list of ints
    "sized((1, 2), k=3)": "size=[1, 2], k=3",
    "sized(1, 2, k=3)": "size=[1, 2], k=3",
    "sized(1)": "size=[1], k=0",
    "sized(size=[1])": "size=[1], k=0",
    "sized([])": "size=[], k=0",
    "sized_default()": "size=[7]",
    "sized_default(8)": "size=[8]",
    "sized_default(8, 9)": "size=[8, 9]",
    # numbers for tensors, but not for those that may be None
    "numbers(1, z=2.5)": "x=tensor of int 1, y=None, z=tensor of float 2.5",
    "numbers(Tensor(1), Tensor(2), z=True)": "x=tensor of int 1, y=tensor of int 2, "
    "z=tensor of bool True",
    "numbers(np.int8(1), z=TensorSub(2))": "x=tensor of int 1, y=None, z=tensor of int 2",
    # the rest
    "nothing()": "",
    "held(Tensor(1), None, [Tensor(2)])": "x=tensor of int 1, y=None, z=[tensor of int 2]",
    "documented(1)": "x=1",
    "many(a39=0)": ", ".join(f"a{i}={i}" for i in range(39)) + ", a39=0",
    # overloads: the first that takes the call, the most exact before others
    "pick()": "nothing: ",
    "pick(Tensor(1))": "tensor: x=tensor of int 1",
    "pick(Tensor(1, dim=0))": "tensor: x=tensor of int 1",
    "pick(1)": "int: x=1",
    "pick(np.int8(1))": "int: x=1",
    "pick(Index(3))": "int: x=3",
    "pick(True)": "bool: x=True",
    "pick(np.bool_(True))": "bool: x=True",
    "pick(1.5)": "float: x=1.5",
    "pick(np.float16(1.5))": "float: x=1.5",
    "pick(1j)": "scalar: x=complex 0 + 1j",
    "pick([])": "ints: x=[]",
    "pick([1])": "ints: x=[1]",
    "pick([Tensor(1)])": "tensors: x=[tensor of int 1]",
    "pick('a')": "str: x='a', count=1",
    "pick('a', count=2)": "str: x='a', count=2",
    "pick(x=1)": "int: x=1",
    "pick(1, y=2)": "two: x=1, y=2",
    "pick(1, 2)": "two: x=1, y=2",
    "pick(1, 2, 3)": "ints: x=[1, 2, 3]",
    "name_of_its_own(1)": "one: x=1",
    "name_of_its_own('a')": "two: x='a'",
}

REFUSED = {
    "several()": "missing required arguments 'input' (position 1), 'n' (position 2)",
    "several(Tensor(1))": "missing required argument 'n' (position 2)",
    "several(n=1)": "missing required argument 'input' (position 1)",
    "several(Tensor(1), 2, 3, True)": "takes at most 3 positional arguments, but 4 were given; "
    "'b' is keyword-only",
    "documented(1, 2)": "takes at most 1 positional argument, but 2 were given",
    "several(Tensor(1), 2, input=Tensor(1))": "multiple values for argument 'input' (position 1)",
    "several(Tensor(1), 2, b=1)": "argument 'b' must be bool, not int (1)",
    "several(Tensor(1), 2, bb=1)": "unexpected keyword argument 'bb'; did you mean 'b'?",
    "several(n=2, inptu=1)": "unexpected keyword argument 'inptu'; did you mean 'input'?",
    "several(Tensor(1), 2, elsewhere=1)": "unexpected keyword argument 'elsewhere'",
    "several(Tensor(1), 2, **{'ü': 1})": "unexpected keyword argument 'ü'",
    "several(Tensor(1), 2, **{'\\ud800': 1})": "unexpected keyword argument '\\ud800'",
    "several(Tensor(1), 2, **{'x' * 70: 1})": f"unexpected keyword argument '{'x' * 70}'",
    "aliased(Tensor(1), 1, axis=2)": "multiple values for argument 'dim' (position 2)",
    "aliased(Tensor(1), axi=2)": "unexpected keyword argument 'axi'; did you mean 'axis' (alias "
    "of 'dim')?",
    "sized(1, 'a')": "argument 'size' (position 1): size[1] must be int, not str ('a')",
    "sized('a', 1)": "takes at most 1 positional argument, but 2 were given; 'k' is keyword-only",
    "sized(1, 2, size=[3])": "multiple values for argument 'size' (position 1)",
    "touch_all(Tensor(1), 1)": "argument 'xs' (position 1) must be Tensor[], not an int tensor of "
    "1 dimensions",
    "fill_outs(1, out=[Tensor(1)])": "argument 'out' must have 2 elements, not 1",
    "fill_outs(1, out=[Tensor(1)] * 3)": "argument 'out' must have 2 elements, not 3",
    "fill_outs(1, out=Tensor(1))": "argument 'out' must be Tensor[2], not an int tensor of "
    "1 dimensions",
    "numbers(1, 2, z=3)": "argument 'y' (position 2) must be Tensor or None, not int (2)",
    "numbers(1, z=None)": "argument 'z' must be Tensor or Scalar, not None",
    # a deprecated signature is not shown
    "renewed('a', 1)": "argument 'input' (position 1) must be Tensor, not str ('a')",
    "split(Tensor(1), out=[])": "argument 'out' must have 2 elements, not 0",
    "name_of_its_own(None)": "no signature takes these arguments; the nearest comes first:\n"
    "  name_of_its_own(int x) -> str\n"
    "    argument 'x' (position 1) must be int, not None\n"
    "  name_of_its_own(str x) -> str\n"
    "    argument 'x' (position 1) must be str, not None",
    "pick(1, y='a')": """no signature takes these arguments; the nearest comes first:
  pick(int x, int y) -> str
    argument 'y' (position 2) must be int, not str ('a')
  pick(int x) -> str
    unexpected keyword argument 'y'
  pick(int[] x) -> str
    unexpected keyword argument 'y'
  pick(float x) -> str
    unexpected keyword argument 'y'
  pick(Scalar x) -> str
    unexpected keyword argument 'y'
  pick(Tensor x) -> str
    argument 'x' (position 1) must be Tensor, not int (1)
  pick(bool x) -> str
    argument 'x' (position 1) must be bool, not int (1)
  pick(Tensor[] x) -> str
    argument 'x' (position 1) must be Tensor[], not int (1)
  pick(str x, *, int count=1) -> str
    argument 'x' (position 1) must be str, not int (1)
  pick() -> str
    takes no positional arguments, but 1 was given""",
}


def called(keeper: Keeper, call: str) -> Any:
    return keeper.value(f"echo_ops.{call}")


@pytest.mark.parametrize("call", SHOWN)
def test_a_call(keeper: Keeper, call: str) -> None:
    assert called(keeper, call) == SHOWN[call]


@pytest.mark.parametrize("call", REFUSED)
def test_a_wrong_call(keeper: Keeper, call: str) -> None:
    with pytest.raises(TypeError) as error:
        called(keeper, call)
    name, text = call.partition("(")[0], REFUSED[call]
    assert str(error.value) == f"{name}(): {text}"


@pytest.mark.parametrize("call", ["nothing(1)", "nothing(x=1)", "nothing(*[], **{'x': 1})"])
def test_a_function_without_parameters_takes_none(keeper: Keeper, call: str) -> None:
    with pytest.raises(TypeError, match=r"takes no (keyword )?arguments"):
        called(keeper, call)


DEPRECATED = """
import warnings, echo_ops
from null_host import Tensor

def call():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shown.add(echo_ops.renewed(2, Tensor(1)))
    return [(one.category, str(one.message)) for one in caught]

shown = set()
for _ in range(2):  # a warning that is an error is no warning
    try:
        echo_ops.renewed(2, Tensor(1))
    except UserWarning as error:
        text = str(error)
    else:
        raise AssertionError
assert echo_ops.renewed(Tensor(1), 2) == "self=tensor of int 1, by=2, name='q'"
assert call() == [(UserWarning, text)], text
assert call() == []
assert shown == {"self=tensor of int 1, by=2, name='q'"}, shown
print(text)
"""


def test_a_deprecated_signature_warns_once(run_python: RunPython) -> None:
    done = run_python(DEPRECATED)
    assert done.stdout == (
        "This overload of renewed is deprecated:\n"
        "\trenewed(int by, Tensor input) -> str\n"
        "Consider using one of the following signatures instead:\n"
        "\trenewed(Tensor input, int by=1, *, str name='q') -> str\n"
    ), done.stderr


# --- results --------------------------------------------------------------------------------------


def test_the_same_tensor_is_the_same_object(echo: ModuleType, null_host: ModuleType) -> None:
    tensor = null_host.Tensor(1)
    tensors = echo.give_tensor_list([tensor, tensor])
    assert echo.give_tensor(tensor) is tensor
    assert tensors[0] is tensors[1] is tensor
    assert echo.fresh(3).value == 3
    assert echo.undefined() is None


def test_an_attribute_of_a_tensor_survives_the_kernel(keeper: Keeper, echo: ModuleType) -> None:
    tensor = keeper.value("TensorSub(1)")
    tensor.mark = object()
    assert echo.give_tensor(tensor).mark is tensor.mark
    assert type(echo.give_written_tensor(tensor)) is type(tensor)


def test_what_is_written_is_given_back(echo: ModuleType, null_host: ModuleType) -> None:
    tensor, other = null_host.Tensor(1), null_host.Tensor(5)
    assert echo.touch_(tensor, 2) is tensor
    assert tensor.value == 3
    assert echo.touch_all([tensor, other], 1) is None
    assert (tensor.value, other.value) == (4, 6)


def test_out(echo: ModuleType, null_host: ModuleType) -> None:
    tensor, out, more = (null_host.Tensor(i) for i in (1, 0, 0))
    assert echo.plus(tensor).value == 2
    assert echo.plus(tensor, 2, out=None).value == 3
    assert echo.plus(tensor, 2, out=out) is out
    assert out.value == 3
    assert echo.fill_out(7, out=out) is out
    assert out.value == 7
    given = echo.fill_outs(8, out=(out, more))
    assert given[0] is out
    assert given[1] is more
    assert (out.value, more.value) == (8, 9)


def test_named_results(echo: ModuleType, null_host: ModuleType) -> None:
    low, high = result = echo.split(null_host.Tensor(5))
    assert (low.value, high.value) == (4, 6)
    assert (result.low, result.high) == (low, high)
    assert type(result) in null_host.structseqs()
    out = [null_host.Tensor(0), null_host.Tensor(0)]
    given = echo.split(null_host.Tensor(5), out=out)
    assert type(given) is type(result)
    assert given.low is out[0]
    assert out[1].value == 6


def test_a_named_result_is_pickled(echo: ModuleType) -> None:
    type_ = type(echo.split(echo.fresh(1)))
    assert (type_.__module__, type_.__qualname__) == ("echo_ops._C", "return_type_split")
    assert pickle.loads(pickle.dumps(type_((1, 2)))) == (1, 2)


def test_all_results_at_once(keeper: Keeper, echo: ModuleType) -> None:
    returned = [(form, *next(echo_matrix.accepted(form))) for form in echo_library.returnable()]
    values = [keeper.value(value) for _, value, _ in returned]
    plain, named = echo.give_all(*values), echo.give_named(*values)
    assert type(plain) is tuple
    assert type(named) in sys.modules["null_host"].structseqs()
    for (form, _, text), one, other in zip(returned, plain, named, strict=True):
        shown = getattr(echo, f"echo_{form.slug}")
        assert shown(one) == shown(other) == shown(getattr(named, form.slug)) == text


def test_a_text_that_is_no_utf8(echo: ModuleType) -> None:
    assert echo.bytes_of(*"ü".encode()) == "ü"
    with pytest.raises(UnicodeDecodeError):
        echo.bytes_of(0xFF, 0xE4)


def test_a_factory(echo: ModuleType, null_host: ModuleType) -> None:
    null_host.lazily_initialized()
    assert not echo.make([1, 2]).requires_grad
    assert null_host.lazily_initialized() == []
    made = echo.make([1, 2], requires_grad=True, device="cuda:1")
    assert made.requires_grad
    assert null_host.lazily_initialized() == ["cuda:1"]


# --- the module -----------------------------------------------------------------------------------


def test_signatures(echo: ModuleType) -> None:
    assert str(inspect.signature(echo.several)) == ("(input, n, f=0.5, *, b=True, s='q', a=None)")
    assert str(inspect.signature(echo.keywords)) == "(from_, lambda_, *, class_=False)"
    assert echo.documented.__doc__ == 'documented(int x) -> str\n\nSays "x".\nAnd more.'


def test_the_module_is_made_again(echo: ModuleType) -> None:
    """A second execution of the extension's init finds types and host in place."""
    saved = {name: module for name, module in sys.modules.items() if name.startswith("echo_ops")}
    try:
        for name in saved:
            del sys.modules[name]
        import echo_ops as again

        assert again is not echo
        assert again.echo_int(1) == "1"
        assert type(again.split(again.fresh(1))) is type(echo.split(echo.fresh(1)))
    finally:
        sys.modules.update(saved)


def test_nothing_of_torch_is_imported(run_python: RunPython) -> None:
    done = run_python("import sys, echo_ops; print('torch' in sys.modules, 'numpy' in sys.modules)")
    assert done.stdout == "False False\n", done.stderr


def test_a_host_that_cannot_be_is_an_import_error(run_python: RunPython) -> None:
    done = run_python("import sys; sys.modules['null_host'] = sys; import echo_ops")
    text = "ImportError: echo_ops cannot be loaded: another module has made null_host\n"
    assert done.stderr.endswith(text)


WITHOUT_NUMPY = """
import sys, types, echo_ops

def refused(value):
    try:
        echo_ops.echo_float(value)
    except TypeError:
        return True

assert refused(object())
sys.modules["numpy"] = types.ModuleType("numpy")   # not complete yet
assert refused(object())
sys.modules["numpy"].timedelta64 = sys.modules["numpy"].bool_ = "no type"
assert refused(object())
assert "numpy.core" not in sys.modules
del sys.modules["numpy"]
import numpy
assert echo_ops.echo_float(numpy.float32(0.5)) == "0.5"
assert refused(object())
"""


def test_numpy_is_known_once_somebody_has_imported_it(run_python: RunPython) -> None:
    # NumPy's own init leaks.
    done = run_python(WITHOUT_NUMPY, ASAN_OPTIONS="detect_leaks=0")
    assert done.returncode == 0, done.stderr
