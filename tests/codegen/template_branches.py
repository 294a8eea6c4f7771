"""Which branches of the templates, and which lines of the modules that make their views, are taken.

A template is instrumented where Jinja2 has parsed it: each branch puts a mark of its own into the
text, which is looked for when the text is made.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

import jinja2
from jinja2 import nodes

_MARK = re.compile("\x02([^\x03]*)\x03")


@dataclass(frozen=True, order=True)
class Branch:
    template: str
    line: int
    # "if" (an elif as well, and "… if …" within an expression), "else" (whether it is written or
    # not), "for".
    kind: str

    def __str__(self) -> str:
        return f"{self.template}:{self.line}: {self.kind}"


@contextmanager
def instrumented() -> Iterator[None]:
    """Templates that are loaded meanwhile mark their branches."""
    parse = jinja2.Environment._parse

    def parse_and_mark(self: jinja2.Environment, source: str, name: str, file: str) -> Any:
        tree = parse(self, source, name, file)
        _mark(tree, name)
        return tree

    with mock.patch.object(jinja2.Environment, "_parse", parse_and_mark):
        yield


def taken(text: str) -> set[Branch]:
    """The branches whose marks stand in a text."""
    return {_branch(mark) for mark in _MARK.findall(text)}


def all_of(template: Path) -> set[Branch]:
    tree = jinja2.Environment().parse(template.read_text(encoding="utf-8"), template.name)
    return {_branch(mark) for mark in _mark(tree, template.name)}


def _branch(mark: str) -> Branch:
    template, line, kind = mark.split("|")
    return Branch(template, int(line), kind)


def _mark(tree: nodes.Template, template: str) -> list[str]:
    """Put a mark into each branch; all of them."""
    made: list[str] = []

    def mark(node: nodes.Node, kind: str) -> str:
        made.append(f"{template}|{node.lineno}|{kind}")
        return f"\x02{made[-1]}\x03"

    def output(node: nodes.Node, kind: str) -> nodes.Node:
        return nodes.Output([nodes.TemplateData(mark(node, kind))]).set_lineno(node.lineno)

    ifs = list(tree.find_all(nodes.If))
    elifs = {id(elif_) for if_ in ifs for elif_ in if_.elif_}
    for if_ in ifs:
        if_.body.insert(0, output(if_, "if"))
        if id(if_) not in elifs:
            if_.else_.insert(0, output(if_, "else"))
    for for_ in list(tree.find_all(nodes.For)):
        for_.body.insert(0, output(for_, "for"))
    for choice in list(tree.find_all(nodes.CondExpr)):
        then, other = choice.expr1, choice.expr2 or nodes.Const("")
        choice.expr1 = nodes.Concat([nodes.Const(mark(choice, "if")), then])
        choice.expr2 = nodes.Concat([nodes.Const(mark(choice, "else")), other])
    return made


# --- Python ---------------------------------------------------------------------------------------


@contextmanager
def lines_run(path: Path) -> Iterator[set[int]]:
    """The lines of a module that run meanwhile."""
    found: set[int] = set()
    file = str(path)

    def local(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            found.add(frame.f_lineno)
        return local

    def trace(frame: FrameType, _event: str, _argument: object) -> Any:
        return local if frame.f_code.co_filename == file else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield found
    finally:
        sys.settrace(before)


def lines_of_functions(path: Path) -> Set[int]:
    """The lines of a module's functions that can run."""
    text = path.read_text(encoding="utf-8")
    module = compile(text, str(path), "exec")
    functions = {
        node.lineno: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)
    }
    heads = {line for node in functions.values() for line in range(node.lineno, _body(node))}
    return {line for code in _nested(module) for _, _, line in code.co_lines() if line} - heads


def _body(function: ast.FunctionDef) -> int:
    return function.body[0].lineno


def _nested(code: CodeType) -> Iterator[CodeType]:
    """The functions in a module, but for the bodies of its classes."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & 0x2:  # CO_NEWLOCALS: a function
                yield constant
            yield from _nested(constant)
