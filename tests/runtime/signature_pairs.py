"""Generated tables, and the same signatures as text: torch's, echo's, random ones.

The tables are cut out of what the generator makes; the text is what a person would write for
PythonArgParser in a binding by hand.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from echo_tables import DEFAULTS
from opbind import loader, parser
from opbind.cpp_text import string_literal
from opbind.errors import Diagnostics
from opbind.plan import BindingPlan, Function, Parameter, Signature, plan
from opbind.render import render
from opbind.typemap import ROWS, TypeRow
from torch_files import ours

_TABLE = re.compile(
    r"^constexpr (?:Function\w+|int64_t|double|char) k\w+(?<!Doc)\b.*?;$", re.M | re.S
)
_RANDOM_FUNCTIONS = 300

SOURCES = Path(__file__).parent / "echo"


def marked(signature: Signature) -> str:
    """The signature as text, with all that a table holds."""
    shown = signature.text
    name, returns = shown[: shown.index("(")], shown[_end(shown) :]
    parameters = [_parameter(p) for p in signature.parameters]
    if signature.max_positional < len(parameters):
        parameters.insert(signature.max_positional, "*")
    deprecated = "|deprecated" if signature.is_deprecated else ""
    return f"{name}({', '.join(parameters)}){returns}{deprecated}"


def _end(shown: str) -> int:
    return shown.rindex(" -> ") if " -> " in shown else len(shown)


def _parameter(parameter: Parameter) -> str:
    number = "|Scalar" if parameter.takes_numbers else ""
    names = "|".join((parameter.name, *parameter.aliases))
    none = "|None" if parameter.none_is_default else ""
    default = "" if parameter.default is None else f"={parameter.default.text}{none}"
    return f"{parameter.printed}{number} {names}{default}"


# --- random ones ----------------------------------------------------------------------------------


def random_plan(seed: int) -> BindingPlan:
    rng = random.Random(seed)
    entries = (_entry(rng, i) for i in range(_RANDOM_FUNCTIONS))
    text = "\n".join(["library: {namespace: odd, host: null}", "functions:", *entries])
    diagnostics = Diagnostics()
    file = parser.parse_file(loader.load(text, "odd.yaml", diagnostics), diagnostics)
    made = plan(file, diagnostics)
    assert not diagnostics.has_errors, "\n".join(d.render() for d in diagnostics.sorted())
    return made


def _entry(rng: random.Random, number: int) -> str:
    positional = [_argument(rng, f"a{i}") for i in range(rng.randrange(5))]
    # What has a default stands behind what has none.
    positional.sort(key=lambda a: "=" in a)
    keyword_only = [_argument(rng, f"k{i}") for i in range(rng.randrange(4))]
    arguments = [*positional, *(["*", *keyword_only] if keyword_only else [])]
    func = json.dumps(f"f{number}({', '.join(arguments)}) -> ()", ensure_ascii=False)
    return f"- func: {func}\n  dispatch: {{CompositeExplicitAutograd: f}}{_keys(rng, func)}"


def _argument(rng: random.Random, name: str) -> str:
    row = rng.choice(list(ROWS.values()))
    cases = DEFAULTS.get(row.schema, ())
    if cases and rng.random() < 0.5:
        case = rng.choice(cases)
        return f"{case.type} {name}={case.text}"
    return f"{_type(rng, row)} {name}"


def _type(rng: random.Random, row: TypeRow) -> str:
    has_size = row.is_array or (row.broadcasts and rng.random() < 0.5)
    return row.schema.replace("[]", f"[{rng.randint(1, 4)}]") if has_size else row.schema


def _keys(rng: random.Random, func: str) -> str:
    names = [n for n in ("a0", "a1", "k0") if f" {n}" in func]
    if not names or rng.random() < 0.6:
        return ""
    further = ", ".join(f"{n}: [x_{n}, y_{n}]" for n in names)
    return f"\n  aliases: {{{further}}}\n  numbers_as_tensors: true"


# --- C++ ------------------------------------------------------------------------------------------


def pairs_text(echo: BindingPlan) -> str:
    """A C++ file with all pairs."""
    plans = {"torchs": ours(), "echos": echo, "odd": random_plan(seed=2026)}
    parts = [f'#include "{SOURCES / "signatures.h"}"', '#include "core/runtime.h"']
    parts += ["namespace opbind {", "namespace {"]
    for name, made in plans.items():
        parts += [f"namespace {name} {{", *_tables(made), *_texts(made), "}"]
    parts += ["constexpr Pair kAll[] = {"]
    parts += [_row(name, f) for name, made in plans.items() for f in _bound(made)]
    end = ["};", "}", "}", "std::span<const Pair> pairs() { return opbind::kAll; }", ""]
    return "\n".join(parts + end)


def _tables(made: BindingPlan) -> Iterator[str]:
    for file in render(made):
        if "_functions_" in file.path:
            yield from _TABLE.findall(file.text)


def _texts(made: BindingPlan) -> Iterator[str]:
    for function in _bound(made):
        texts = ", ".join(string_literal(marked(signature)) for signature in function.signatures)
        yield f"constexpr std::string_view {function.stem}Texts[] = {{{texts}}};"


def _bound(made: BindingPlan) -> Iterator[Function]:
    """Those that have a parser."""
    return (f for f in made.functions if any(signature.parameters for signature in f.signatures))


def _row(namespace: str, function: Function) -> str:
    name = f"{namespace}::{function.stem}"
    return f"    {{&{name}, {name}Texts}},"
