"""The figures of a run, and the page that shows them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

INTRODUCTION = """\
# All of torch through the generator

    make conformance

writes this page: {functions:,} functions that torch generates for itself, each called beside that
which opbind generates from the same file. Values are compared bit for bit; so are dtype, shape,
strides, storage offset, device, requires_grad, the autograd graph, versions, quantization, types of
named tuples, what is an argument or another result itself, what shares memory with one, and
afterwards arguments, modes and the random numbers used.
"""

Figures = Mapping[str, Any]

EMPTY: Figures = {
    **{"samples": 0, "equal": 0, "errors": 0, "errors_same": 0},
    **{"different": [], "unsure": []},
}


def summary(names: Sequence[str], samples: Figures, made: Figures, seed: int) -> dict[str, Any]:
    functions = {
        name: {**EMPTY, **samples.get(name, {}), "made": made.get(name, {})} for name in names
    }
    totals = {"functions": len(functions), "seed": seed, **_totals(list(functions.values()))}
    known = set(names)
    totals["lost"] = [*_lost(samples, known), *_lost(made, known)]
    return {"functions": functions, "totals": totals}


def _totals(functions: Sequence[Figures]) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for key in ("samples", "equal", "errors", "errors_same"):
        totals[key] = sum(one[key] for one in functions)
    for key in ("calls", "succeeded", "same", "ended by torch"):
        totals[f"made {key}"] = sum(one["made"].get(key, 0) for one in functions)
    totals["rules"] = _rules(functions)
    for key in ("different", "unsure"):
        totals[key] = sum(len(one[key]) for one in functions)
        totals[f"made {key}"] = sum(len(_of_made(one, key)) for one in functions)
    totals["with samples"] = sum(bool(one["samples"]) for one in functions)
    totals["only refused"] = sum(map(_is_only_refused, functions))
    return totals


def _rules(functions: Sequence[Figures]) -> dict[str, int]:
    rules: dict[str, int] = {}
    for one in functions:
        for rule, count in one["made"].get("rules", {}).items():
            rules[rule] = rules.get(rule, 0) + count
    return dict(sorted(rules.items(), key=lambda item: int(item[0][1:])))


def _of_made(function: Figures, key: str) -> list[str]:
    found: list[str] = function["made"].get(key, [])
    return found


def _is_only_refused(function: Figures) -> bool:
    return not function["samples"] and not function["made"].get("succeeded")


def _lost(parts: Figures, known: Collection[str]) -> Iterator[str]:
    """What was not compared, and what no function has: an OpInfo's end comes by its own name."""
    for name, part in parts.items():
        lost = part.get("lost", [])
        yield from (f"{name}: {text}" for text in lost)
        others = {key: value for key, value in part.items() if key != "lost"}
        if name not in known and (others or not lost):
            yield f"{name}: no function has this name: {json.dumps(others)}"


def page(result: Figures) -> str:
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Figures) -> Iterator[str]:
    functions, totals = result["functions"], result["totals"]
    yield INTRODUCTION.format(**totals)
    yield from _top(totals)
    yield from _section("Differences that are meant", _meant(totals["rules"]))
    unsure = [_unsure(name, one) for name, one in functions.items() if _all(one, "unsure")]
    title = "Results of torch's own that are not the same each time"
    yield from _section(title, unsure or ["None."])
    others = [f"`{n}`: {text}" for n, one in functions.items() for text in _all(one, "different")]
    listed = [f"- {_on_one_line(text)}" for text in [*others, *totals["lost"]]]
    yield from _section("Others", listed or ["None."])
    yield from _section("Only refusals are compared", _only_refused(functions))
    yield from _section("Functions", _table(functions))


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    yield from lines


def _top(totals: Figures) -> Iterator[str]:
    yield "| | calls | alike | |"
    yield "|---|--:|--:|--:|"
    yield _row(f"torch's samples, {totals['with samples']} functions", totals, "samples", "equal")
    yield _row(
        "torch's error inputs: the type, and a text as exact", totals, "errors", "errors_same"
    )
    yield _row(
        f"calls made from the schemas, seed {totals['seed']}", totals, "made calls", "made same"
    )
    yield ""
    succeeded = totals["made succeeded"] / max(1, totals["made calls"])
    ended = totals["made ended by torch"]
    yield f"Of the calls made, {succeeded:.0%} succeed. {ended:,} more end the process in torch's"
    yield "own function, and are passed over. Ops without a kernel for the CPU (CUDA's, cuDNN's)"
    yield "get one there, and what reached it is compared."


def _row(title: str, totals: Figures, calls: str, alike: str) -> str:
    share = totals[alike] / max(1, totals[calls])
    return f"| {title} | {totals[calls]:,} | {totals[alike]:,} | {share:.3%} |"


def _meant(rules: Mapping[str, int]) -> Iterator[str]:
    yield "| [row](differences.md) | calls made |"
    yield "|---|--:|"
    yield from (f"| {rule} | {count:,} |" for rule, count in rules.items())


def _unsure(name: str, function: Figures) -> str:
    samples, made = len(function["unsure"]), len(_of_made(function, "unsure"))
    first = _on_one_line(_all(function, "unsure")[0])
    return f"- `{name}`: {samples} of the samples, {made} of the calls made: {first}"


def _only_refused(functions: Mapping[str, Figures]) -> Iterator[str]:
    names = [f"`{name}`" for name, one in functions.items() if _is_only_refused(one)]
    yield f"{len(names):,} functions have neither a sample of torch's nor a made call that"
    yield "succeeds: only refusals are compared."
    if names:
        yield from ("", f"{', '.join(names)}.")


def _table(functions: Mapping[str, Figures]) -> Iterator[str]:
    yield "| function | samples | equal | errors | same | made | succeeded | same |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, one in functions.items():
        made = one["made"]
        figures = [one[key] for key in ("samples", "equal", "errors", "errors_same")]
        figures += [made.get(key, 0) for key in ("calls", "succeeded", "same")]
        yield f"| {name} | {' | '.join(map(str, figures))} |"


def _all(function: Figures, key: str) -> list[str]:
    return [*function[key], *_of_made(function, key)]


def _on_one_line(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
