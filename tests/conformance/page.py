"""The figures of a run, and the page that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

INTRODUCTION = """\
# All of torch through the generator

    make conformance

writes this page: {functions:,} functions that torch generates for itself, each called beside that
which opbind generates from the same file. Values are compared bit for bit; so are dtype, shape,
strides, device, requires_grad, grad_fn, types of named tuples, what is an argument itself, what
shares memory with one, and arguments afterwards.
"""

EMPTY: dict[str, Any] = {"samples": 0, "equal": 0, "errors": 0, "errors_same": 0, "different": []}


def summary(
    names: Sequence[str], samples: dict[str, Any], made: dict[str, Any], seed: int
) -> dict[str, Any]:
    functions = {
        name: {**EMPTY, **samples.get(name, {}), "made": made.get(name, {})} for name in names
    }
    totals: dict[str, Any] = {"functions": len(functions), "seed": seed}
    for key in ("samples", "equal", "errors", "errors_same"):
        totals[key] = sum(one[key] for one in functions.values())
    for key in ("calls", "succeeded", "same", "ended by torch"):
        totals[f"made {key}"] = sum(one["made"].get(key, 0) for one in functions.values())
    rules: dict[str, int] = {}
    for one in functions.values():
        for rule, count in one["made"].get("rules", {}).items():
            rules[rule] = rules.get(rule, 0) + count
    totals["rules"] = dict(sorted(rules.items(), key=lambda item: int(item[0][1:])))
    totals["different"] = sum(len(one["different"]) for one in functions.values())
    totals["made different"] = sum(len(_made_different(one)) for one in functions.values())
    totals["with samples"] = sum(bool(one["samples"]) for one in functions.values())
    return {"functions": functions, "totals": totals}


def _made_different(function: dict[str, Any]) -> list[str]:
    found: list[str] = function["made"].get("different", [])
    return found


def page(result: dict[str, Any]) -> str:
    return "\n".join(_lines(result)) + "\n"


def _lines(result: dict[str, Any]) -> Iterator[str]:
    totals = result["totals"]
    yield INTRODUCTION.format(**totals)
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
    yield "own function, and are passed over."
    yield ""
    yield "## Differences that are meant"
    yield ""
    yield "| [row](differences.md) | calls made |"
    yield "|---|--:|"
    for rule, count in totals["rules"].items():
        yield f"| {rule} | {count:,} |"
    yield ""
    yield "## Others"
    yield ""
    others = [(n, d) for n, one in result["functions"].items() for d in _all_different(one)]
    if not others:
        yield "None."
    for name, text in others:
        yield f"- `{name}`: {text.replace('|', '/')}"
    yield ""
    yield "## Functions"
    yield ""
    yield "| function | samples | equal | errors | same | made | succeeded | same |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, one in result["functions"].items():
        made = one["made"]
        figures = [one[key] for key in ("samples", "equal", "errors", "errors_same")]
        figures += [made.get(key, 0) for key in ("calls", "succeeded", "same")]
        yield f"| {name} | {' | '.join(map(str, figures))} |"


def _all_different(function: dict[str, Any]) -> list[str]:
    return [*function["different"], *_made_different(function)]


def _row(title: str, totals: dict[str, Any], calls: str, alike: str) -> str:
    share = totals[alike] / max(1, totals[calls])
    return f"| {title} | {totals[calls]:,} | {totals[alike]:,} | {share:.3%} |"
