"""The echo library: for every row of typemap, ops that hand back what core made of an argument.

    echo_int_list(int[] x) -> str                     the C++ value as text
    default_int_list(*, int[] d0=[], …) -> str        the value of each default
    give_int_list(int[] x) -> int[]                   the value as the result, if it can be one
    write_tensor(Tensor(a!) x) -> str                 a written argument, if its C++ differs
    number_tensor(Tensor x) -> str                    if a number may stand for the argument

What the rows have of these follows from the rows, and so do the kernels: a new row has its ops, and
does not compile before echo.h can show it. Beside them stand ops with more than one argument, and
those that do something (behaviour.cpp).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import libraries
import signature_pairs
from echo_tables import DEFAULTS
from opbind import loader, parser
from opbind.errors import Diagnostics
from opbind.plan import BindingPlan, OwnOp, plan
from opbind.typemap import ROWS, TypeRow

SOURCES = Path(__file__).parent / "echo"
MODULE = "echo_ops"

# A fixture: runs a program in a Python of its own, with echo on its path.
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]

# N of the sized forms.
LIST_SIZE = 2
ARRAY_SIZE = 3


@dataclass(frozen=True, slots=True)
class Form:
    """A type as an argument may have it: a row, and for lists with N also that."""

    row: TypeRow
    size: int = 0

    @property
    def type(self) -> str:
        return self.row.schema.replace("[]", f"[{self.size or ''}]")

    @property
    def slug(self) -> str:
        """`int_list_2_or_none` for `int[2]?`."""
        text = self.row.schema.replace("[]", f"_list{f'_{self.size}' if self.size else ''}")
        return text.replace("?", "_or_none").lower()

    @property
    def written(self) -> str:
        return f"{self.type}(a!)"

    def __str__(self) -> str:
        return self.type


def forms() -> Iterator[Form]:
    """All types that the runtime has."""
    for row in ROWS.values():
        if row.is_array:
            yield Form(row, ARRAY_SIZE)
            continue
        yield Form(row)
        if row.broadcasts:
            yield Form(row, LIST_SIZE)


# --- ops ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entry:
    """An op: its schema, and further keys of its entry as YAML."""

    func: str
    keys: str = ""

    @property
    def kernel(self) -> str:
        return self.func.partition("(")[0].replace(".", "_")


def _of_row(form: Form) -> Iterator[Entry]:
    row, slug, type_ = form.row, form.slug, form.type
    yield Entry(f"echo_{slug}({type_} x) -> str")
    if not (row.broadcasts and form.size):
        yield from _defaults(row, slug)
        if row.cpp_return:
            yield Entry(f"give_{slug}({type_} x) -> {type_}")
    if row.cpp_written and not form.size:
        yield Entry(f"write_{slug}({form.written} x) -> str")
    if row.cpp_return_written and not form.size:
        yield Entry(f"give_written_{slug}({form.written} x) -> {form.written}")
    if row.accessor_number:
        yield Entry(f"number_{slug}({type_} x) -> str", "numbers_as_tensors: true")


def _defaults(row: TypeRow, slug: str) -> Iterator[Entry]:
    arguments = [f"{d.type} d{i}={d.text}" for i, d in enumerate(DEFAULTS.get(row.schema, ()))]
    if arguments:
        yield Entry(f"default_{slug}(*, {', '.join(arguments)}) -> str")


def returnable() -> list[Form]:
    """The types that a result may have."""
    return [form for form in forms() if form.row.cpp_return and not form.size]


def _returns() -> Iterator[Entry]:
    """Every type that can be returned, in a tuple and in one with names."""
    returned = returnable()
    arguments = ", ".join(f"{form.type} a{i}" for i, form in enumerate(returned))
    yield Entry(f"give_all({arguments}) -> ({', '.join(form.type for form in returned)})")
    fields = ", ".join(f"{form.type} {form.slug}" for form in returned)
    yield Entry(f"give_named({arguments}) -> ({fields})")


# Ops of several arguments, and functions of several ops: their kernels show all of the arguments.
_COMBINED = (
    Entry(
        "several(Tensor self, int n, float f=0.5, *, bool b=True, str s='q', Scalar? a=None) -> str"
    ),
    Entry(
        "aliased(Tensor x, int dim, bool keepdim=False) -> str",
        "aliases: {dim: [axis, d], keepdim: keepdims}",
    ),
    Entry(f"nearest(int abcdef=0, int dim=0, int {'x' * 64}=0) -> str"),
    Entry("nothing() -> str"),
    Entry("optionals(Tensor? t=None, int? n=None, int[]? size=None, str? s=None) -> str"),
    Entry("keywords(int from, float lambda, *, bool class=False) -> str"),
    Entry("reserved(int int, float double, str args, bool module, int r, int std) -> str"),
    Entry("sized(int[] size, *, int k=0) -> str"),
    Entry("sized_default(int[1] size=7) -> str"),
    Entry("pick.nothing() -> str"),
    Entry("pick.tensor(Tensor x) -> str"),
    Entry("pick.int(int x) -> str"),
    Entry("pick.ints(int[] x) -> str"),
    Entry("pick.bool(bool x) -> str"),
    Entry("pick.float(float x) -> str"),
    Entry("pick.scalar(Scalar x) -> str"),
    Entry("pick.tensors(Tensor[] x) -> str"),
    Entry("pick.str(str x, *, int count=1) -> str"),
    Entry("pick.two(int x, int y) -> str"),
    Entry("nearer.three(float x, int y, int z) -> str"),
    Entry("nearer.two(Scalar x, int y) -> str"),
    Entry("pick_named.most(float x, *, int most=1) -> str"),
    Entry("pick_named.count(Scalar x, *, int count=1) -> str"),
    Entry("renamed.one(int x) -> str", "python_name: name_of_its_own"),
    Entry("renamed.two(str x) -> str", "python_name: name_of_its_own"),
    Entry("numbers(Tensor x, Tensor? y=None, *, Tensor z) -> str", "numbers_as_tensors: true"),
    Entry("renewed(Tensor self, int by=1, *, str name='q') -> str"),
    Entry("held(Tensor x, Tensor? y, Tensor[] z) -> str", "gil: hold"),
    Entry("documented(int x) -> str", 'doc: "Says \\"x\\".\\nAnd more."'),
    Entry(f"many({', '.join(f'int a{i}={i}' for i in range(40))}) -> str"),
)

# Old signature -> the call that stands for it.
_DEPRECATED = {"renewed(int by, Tensor self) -> str": "renewed(self, by)"}

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

# Ops whose kernels are written by hand, in behaviour.cpp and signatures.cpp.
_BEHAVIOUR = (
    # The shapes of results.
    Entry("touch_(Tensor(a!) self, int by) -> ()"),
    Entry("touch_all(Tensor(a!)[] xs, int by) -> ()"),
    Entry("plus(Tensor self, int by=1) -> Tensor"),
    Entry("plus.out(Tensor self, int by=1, *, Tensor(a!) out) -> Tensor(a!)"),
    Entry("split(Tensor self) -> (Tensor low, Tensor high)"),
    Entry(
        "split.out(Tensor self, *, Tensor(a!) low, Tensor(b!) high) -> "
        "(Tensor(a!) low, Tensor(b!) high)"
    ),
    Entry("fill_out(int by, *, Tensor(a!) out) -> ()"),
    Entry("fill_outs(int by, *, Tensor(a!) first, Tensor(b!) second) -> ()"),
    Entry(f"make(int[] size, *, {_OPTIONS}) -> Tensor"),
    Entry("undefined() -> Tensor"),
    Entry("fresh(int value) -> Tensor"),
    Entry("bytes_of(int[] codes) -> str"),
    # Errors, warnings, the GIL.
    Entry("raise_error(str kind) -> ()"),
    Entry("warn(str text, int times=1, str? then=None) -> int"),
    Entry("translate(bool on) -> ()", "gil: hold"),
    Entry("unknown_overload(int index) -> ()", "gil: hold"),
    Entry("gil_state() -> bool"),
    Entry("gil_state_held() -> bool", "gil: hold"),
    Entry("call_python(str statement) -> int"),
    Entry("call_python_in_thread(str statement) -> int"),
    Entry("drop_errors(int count) -> ()"),
    Entry("destroy_without_gil() -> bool", "gil: hold"),
    # Parsers made from text (signatures.cpp).
    Entry("compare_signatures() -> str", "gil: hold"),
    Entry("count_signatures() -> int"),
    Entry("read_signatures(str[] texts) -> str", "gil: hold"),
    Entry("install_by_hand() -> ()", "gil: hold"),
    # Whether the sanitizers are on, and faults for them to find.
    Entry("sanitizers() -> str"),
    Entry("plant(str fault) -> int", "gil: hold"),
)


def entries() -> tuple[Entry, ...]:
    """The whole library."""
    rows = (entry for form in forms() for entry in _of_row(form))
    return (*rows, *_returns(), *_COMBINED, *_BEHAVIOUR)


def yaml_text() -> str:
    head = [
        "library: {namespace: echo, host: null, shards: 4, doc: For tests of core.}",
        "functions:",
    ]
    old = [f"- {{name: {json.dumps(n)}, aten: {json.dumps(c)}}}" for n, c in _DEPRECATED.items()]
    return "\n".join([*head, *map(_entry, entries()), "deprecated:", *old, ""])


def _entry(entry: Entry) -> str:
    # Any JSON text is YAML.
    lines = [f"- func: {json.dumps(entry.func, ensure_ascii=False)}"]
    lines.append(f"  dispatch: {{CompositeExplicitAutograd: {entry.kernel}}}")
    return "\n".join([*lines, *([f"  {entry.keys}"] if entry.keys else [])])


# --- kernels --------------------------------------------------------------------------------------


def planned() -> BindingPlan:
    """The library's plan. An AssertionError if the generator finds a fault in it."""
    diagnostics = Diagnostics()
    file = parser.parse_file(loader.load(yaml_text(), "echo.yaml", diagnostics), diagnostics)
    made = plan(file, diagnostics)
    assert not diagnostics.has_errors, "\n".join(d.render() for d in diagnostics.sorted())
    return made


def kernels_text(library: BindingPlan) -> str:
    """The kernels of all ops that only echo."""
    by_hand = {entry.kernel for entry in _BEHAVIOUR}
    head = [f'#include "{SOURCES / "echo.h"}"', f'#include "{MODULE}_kernels.h"', ""]
    ops = (op for op in library.own_ops if op.kernels[0].function.name not in by_hand)
    return "\n".join([*head, *map(_kernel, ops), ""])


def _kernel(op: OwnOp) -> str:
    parameters = ", ".join(map(str, op.signature.parameters))
    head = f"{op.signature.return_type} {op.kernels[0].function.qualified}({parameters})"
    return f"{head} {{\n  return {_result(op)};\n}}\n"


def _result(op: OwnOp) -> str:
    names = op.signature.names
    if op.name.startswith("give_"):
        return f"detail::give<{op.signature.return_type}>({', '.join(names)})"
    if op.name.startswith(("echo_", "write_", "number_")):
        return f"detail::show({names[0]})"
    written = (a.name for a in op.op.schema.arguments)
    pairs = ", ".join(f'{{"{w}", detail::show({n})}}' for w, n in zip(written, names, strict=True))
    shown = f"detail::show_all({{{pairs}}})"
    # Of a function with overloads: which one was called.
    return f'"{op.overload}: " + {shown}' if op.overload else shown


# --- build ----------------------------------------------------------------------------------------


def built() -> Path:
    """Builds what changed; what to put on sys.path. $OPBIND_ECHO names a folder that is built."""
    done = os.environ.get("OPBIND_ECHO")
    return Path(done) if done else build("echo")


def build(name: str) -> Path:
    """In build/tests/NAME. The flags are $CXXFLAGS and $LDFLAGS."""
    folder = libraries.REPO / "build/tests" / name
    folder.mkdir(parents=True, exist_ok=True)
    ops, kernels, pairs = (folder / f"echo{end}" for end in (".yaml", "_kernels.cpp", "_pairs.cpp"))
    made = planned()
    _write(ops, yaml_text())
    _write(kernels, kernels_text(made))
    _write(pairs, signature_pairs.pairs_text(made))
    sources = [kernels, pairs, *sorted(SOURCES.glob("*.cpp"))]
    return libraries.build(name, ops, sources, has_demos_host=False)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    print(build("echo"))
