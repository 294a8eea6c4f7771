"""YAML to raw entries: strict, with a place for everything, and never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml
from opbind import loader, parser, reader
from opbind.errors import Diagnostic, Diagnostics, Location, Severity
from opbind.loader import FileForm, RawFile, load, load_bytes, read_file
from opbind.parser import parse_file

FUNC = "- func: f(Tensor x) -> Tensor\n"
MAPPING = "library: {namespace: demo}\nfunctions:\n" + FUNC


def _load(text: str | bytes) -> tuple[RawFile, list[tuple[str, int, int]]]:
    diagnostics = Diagnostics()
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    # A lone surrogate is text that no file holds, but a caller may.
    as_text = isinstance(text, str) and "\ud800" in text
    raw = (
        load(str(text), "ops.yaml", diagnostics)
        if as_text
        else load_bytes(data, "ops.yaml", diagnostics)
    )
    assert all(item.rule in loader.RULES for item in diagnostics.items)
    assert all(item.severity is Severity.ERROR for item in diagnostics.items)
    return raw, [(i.rule, i.location.line, i.location.column) for i in diagnostics.items]


def test_list_form() -> None:
    raw, faults = _load(FUNC + "  variants: function, method\n  tags: core\n\n# why\n" + FUNC)
    assert faults == []
    assert raw.form is FileForm.LIST and raw.library is None
    first, second = raw.functions
    assert first.text("func") == "f(Tensor x) -> Tensor"
    assert [t.text for t in first.texts("variants")] == ["function", "method"]
    assert [t.text for t in first.texts("tags")] == ["core"]
    assert (first.location.line, second.location.line) == (1, 6)


def test_mapping_form() -> None:
    raw, faults = _load(
        MAPPING + "  aliases: {dim: [axis, axes], x: input}\n"
        "deprecated:\n- {name: f(int a) -> (), aten: f()}\n"
    )
    assert faults == []
    assert raw.form is FileForm.MAPPING
    assert raw.library is not None and raw.library.text("namespace") == "demo"
    pairs = raw.functions[0].lists("aliases")
    assert [(k.text, [t.text for t in v]) for k, v in pairs] == [
        ("dim", ["axis", "axes"]),
        ("x", ["input"]),
    ]
    assert raw.deprecated[0].text("aten") == "f()"


def test_torchs_other_lists() -> None:
    assert len(_load("- name: f() -> ()\n  aten: g()\n")[0].deprecated) == 1
    assert _load("- tag: core\n  desc: |\n    Text\n")[0].tags[0].text("desc") == "Text\n"


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "on",
        "1e-5",
        "010",
        "12:30",
        "~",
        "null",
        "1_000",
        "1.10",
        "2001-01-01",
        ".inf",
        "0x1F",
        "=",
        "<<",
    ],
)
def test_scalars_are_text(text: str) -> None:
    raw, faults = _load(FUNC + f"  doc: {text}\n")
    assert faults == []
    assert raw.functions[0].text("doc") == text


def test_true_and_false_in_yamls_spellings_alone() -> None:
    for text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        raw, faults = _load(FUNC + f"  device_guard: {text}\n")
        assert faults == []
        assert raw.functions[0].flag("device_guard") == (text.lower() == "true")
    for text in ("yes", "no", "on", "off", "1", "0", "~", "tRUE"):
        assert _load(FUNC + f"  device_guard: {text}\n")[1] == [("bad-value", 2, 17)]


@pytest.mark.parametrize(
    ("text", "rule", "line", "column"),
    [
        ("", "empty-file", 1, 0),
        ("# nothing\n", "empty-file", 1, 0),
        ("---\n", "empty-file", 1, 0),
        ("[]\n", "empty-file", 1, 1),
        ("text\n", "wrong-type", 1, 1),
        ("- functa\n", "wrong-type", 1, 3),
        ("- [a]\n", "wrong-type", 1, 3),
        ("-\n", "wrong-type", 1, 2),
        ("- variants: function\n", "missing-key", 1, 3),
        ("func: f() -> ()\n", "wrong-type", 1, 1),
        ("library: {namespace: a}\n", "missing-key", 1, 1),
        ("library: a\nfunctions: []\n", "wrong-type", 1, 10),
        ("library: {module: a}\nfunctions: []\n", "missing-key", 1, 10),
        ("library: {namespace: 1a}\nfunctions: []\n", "bad-value", 1, 22),
        ("library: {namespace: a, shards: 010}\nfunctions: []\n", "bad-value", 1, 33),
        ("library: {namespace: a, host: torhc}\nfunctions: []\n", "bad-value", 1, 31),
        ("functions:\n", "no-value", 1, 11),
        ("functions: f\n", "wrong-type", 1, 12),
        (FUNC + "  varints: method\n", "unknown-key", 2, 3),
        (FUNC + "  <<: {a: b}\n", "unknown-key", 2, 3),
        (FUNC + "  variants: function\n  doc: a\n  variants: method\n", "duplicate-key", 4, 3),
        (FUNC + "  variants: functions, method\n", "bad-value", 2, 13),
        (FUNC + "  variants: function, methods\n", "bad-value", 2, 23),
        (FUNC + "  variants: [function, methods]\n", "bad-value", 2, 24),
        (FUNC + "  tags: {a: b}\n", "wrong-type", 2, 9),
        (FUNC + "  tags: [[a]]\n", "wrong-type", 2, 10),
        (FUNC + "  doc: [a]\n", "wrong-type", 2, 8),
        (FUNC + "  doc:\n", "no-value", 2, 7),
        (FUNC + "  gil: no\n", "bad-value", 2, 8),
        (FUNC + "  dispatch: f\n", "wrong-type", 2, 13),
        (FUNC + "  dispatch: {CPU, CUDA: f}\n", "no-value", 2, 14),
        (FUNC + "  dispatch: {CPU: [f]}\n", "wrong-type", 2, 19),
        (FUNC + "  dispatch: {CPU: f, CPU: g}\n", "duplicate-key", 2, 22),
        (FUNC + "  python_name: a b\n", "bad-value", 2, 16),
        (FUNC + "  ? [a]\n  : b\n", "wrong-type", 2, 5),
        (FUNC + "\tvariants: function\n", "tab", 2, 1),
        (FUNC + "  \tvariants: function\n", "tab", 2, 3),
        ("-\tfunc: f() -> ()\n", "tab", 1, 2),
        (FUNC + "    variants: function\n", "yaml-syntax", 2, 13),
        (FUNC + "  doc: [a\n", "yaml-syntax", 3, 1),
        ("- func: &a f() -> ()\n", "anchor", 1, 9),
        ("- func: *a\n", "anchor", 1, 9),
        ("- func: !!str f() -> ()\n", "anchor", 1, 9),
        ("- !!python/object:os.system {}\n", "anchor", 1, 3),
        (FUNC + "---\n" + FUNC, "several-documents", 2, 1),
        ("[" * 50, "yaml-nesting", 1, 17),
        ("- func: f() -> \x01\n", "control-character", 1, 16),
        ("- func: f() -> \u2028\n", "control-character", 1, 16),
        ("- func: f() -> \ud800\n", "control-character", 1, 16),
        (b"- func: f() -> \xff\n", "not-utf8", 1, 16),
        (b"# \xc3\xa9\n- func: \xc3\xa9 \xff\n", "not-utf8", 2, 11),
        (FUNC.encode("utf-16"), "not-utf8", 1, 0),
    ],
)
def test_faults(text: str | bytes, rule: str, line: int, column: int) -> None:
    assert _load(text)[1] == [(rule, line, column)]


def test_remedies_are_named() -> None:
    diagnostics = Diagnostics()
    load(FUNC + "  varints: method\n  varints: a\n  gil: relase\n", "ops.yaml", diagnostics)
    text = "\n".join(item.render() for item in diagnostics.items)
    assert "did you mean 'variants'?" in text
    assert "did you mean 'release'? allowed: release, hold" in text
    assert "first on line 2" in text
    assert "ops.yaml:2:3: error: f: unknown key 'varints'" in text


def test_all_faults_are_told_and_good_fields_kept() -> None:
    raw, faults = _load(FUNC + "  a: b\n  doc: good\n  gil: x\n- b: c\n" + FUNC)
    assert [rule for rule, *_ in faults] == [
        "unknown-key",
        "bad-value",
        "unknown-key",
        "missing-key",
    ]
    assert [set(entry.values) for entry in raw.functions] == [{"func", "doc"}, {"func"}]


def test_what_stands_before_a_fault_of_yaml_is_read() -> None:
    for tail in ("- func: [", "---\n- a\n", "- func: &a b\n"):
        raw, faults = _load(FUNC + FUNC + tail)
        assert len(raw.functions) == 2
        assert len(faults) == 1
    raw, faults = _load(MAPPING + "- func: [")
    assert len(raw.functions) == 1 and len(faults) == 1


def test_tabs_are_text_within_a_block() -> None:
    raw, faults = _load(FUNC + "  doc: |\n    if x:\n    \ty()\n  tags: core\n")
    assert faults == []
    assert raw.functions[0].text("doc") == "if x:\n\ty()\n"


def test_marks_and_line_ends_of_other_editors() -> None:
    plain = _load(FUNC + "  doc: |\n    a\n    b\n")[0]
    for text in (FUNC + "  doc: |\n    a\n    b\n",):
        for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text):
            for form in (other, other.encode()):
                raw, faults = _load(form)
                assert faults == []
                assert raw == plain


def test_aliases_cannot_explode() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40)]
    assert _load("\n".join(lines))[1][0][0] == "anchor"


@pytest.mark.parametrize(
    "text",
    [
        *(piece * 100_000 for piece in ("[", "{", "- ", "? ", "'", "\t", "# a\n")),
        *(piece * 50_000 for piece in ("a: ", "- a\n", "|\n", '"\\x41')),
        " " * 100_000 + "\t",
        FUNC + "  doc: |\n" + "    \tx\n" * 50_000 + "  a: b\n",
        f"- func: 'f({'int a, ' * 20_000}$)'\n",
        f"- func: |\n    f({'int a,' * 20_000}$)\n",
    ],
    ids=lambda text: repr(f"{text[:8]}..{text[-8:]}"),
)
def test_no_input_is_too_long_or_too_deep(text: str) -> None:
    diagnostics = Diagnostics()
    parse_file(load(text, "ops.yaml", diagnostics), diagnostics)
    assert diagnostics.has_errors


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        diagnostics = Diagnostics()
        assert read_file(path, diagnostics).functions == ()
        assert [item.rule for item in diagnostics.items] == ["unreadable-file"]


# ---------------------------------------------------------------- the two parsers of PyYAML

SEEDS = (
    MAPPING + "  doc: |\n    Text\n    \tmore\n  aliases: {x: [a, b]}\n  examples:\n  - 'it''s'\n"
    '- func: "g(str s=\\"a\\", int[2] y=[1, 2]) -> Tensor"\n'
    "  dispatch:\n    CPU, CUDA: g_any\n  fake: fakes:g\n  tags: [core, pointwise]\n"
    "- func: >\n    h(Tensor(a!)[] x,\n    float y=1e-5) -> (Tensor a,\n    Tensor b)\n",
    FUNC + "  variants: function, method  # both\n  dispatch:\n    SparseCPU, SparseCUDA: f\n"
    "  device_check: NoCheck\n- func: k(int a='x', str b='é\U0001f600') -> ()\n",
)
PIECES = (
    b"\t", b"\n", b"\r\n", b"  ", b"- ", b": ", b"{", b"}", b"[", b"]", b"'", b'"', b" #", b"&a ",
    b"*a", b"!!x ", b"|", b">", b"|2\n", b"---\n", b"...\n", b"%YAML 1.1\n", b"\xff", b"\xc3\xa9",
    b"\xef\xbb\xbf", b"\x00", b"\xe2\x80\xa8", b"\xc2\x85", b"? ", b"<<: ", b"\\", b"\\uD800",
    b"\\UFFFFFFFF", b",", b"func", b"functions:", b"null", b"~", b"=", b"(", b"@", b"`", b"\\\n",
)  # fmt: skip


def _mutated(chance: random.Random) -> bytes:
    data = chance.choice(SEEDS).encode()
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = start + chance.choice((0, 0, 1, 3, 20))
        lines = data.split(b"\n")
        moved = chance.randrange(len(lines))
        data = chance.choice(
            (
                data[:start] + chance.choice(PIECES) + data[end:],
                data[:start] + bytes([chance.randrange(256)]) + data[end:],
                b"\n".join(lines[:moved] + lines[moved + 1 :]),
                b"\n".join([lines[moved], *lines]),
            )
        )
    return data


@pytest.mark.parametrize("seed", range(3))
def test_whatever_stands_there(seed: int) -> None:
    chance = random.Random(seed)
    known = {**loader.RULES, **reader.RULES, **parser.RULES}
    for _ in range(500):
        diagnostics = Diagnostics()
        file = parse_file(load_bytes(_mutated(chance), "ops.yaml", diagnostics), diagnostics)
        for op in file.ops:
            assert parser.parse_schema(str(op.schema)) == op.schema
        for item in diagnostics.items:
            assert item.rule in known
            assert item.render()


@pytest.mark.skipif(not hasattr(yaml, "CSafeLoader"), reason="PyYAML has no C parser here")
def test_both_parsers_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(data: bytes) -> tuple[RawFile, list[int], bool]:
        diagnostics = Diagnostics()
        raw = load_bytes(data, "ops.yaml", diagnostics)
        file = parse_file(raw, diagnostics)
        columns = [a.location.column for op in file.ops for a in op.schema.arguments if a.location]
        return raw, columns, diagnostics.has_errors

    chance = random.Random(1)
    samples = [seed.encode() for seed in SEEDS] + [_mutated(chance) for _ in range(150)]
    with_c = [read(data) for data in samples]
    monkeypatch.setattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for data, expected in zip(samples, with_c, strict=True):
        found = read(data)
        assert found[2] == expected[2]
        assert expected[2] or found == expected


@pytest.mark.parametrize("column", [1, 200, 5_000, 10_001])
def test_of_a_long_line_a_part_is_shown(column: int) -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(10_000))
    shown = Diagnostic(Location("f", 1, column, text), "what").render().split("\n")
    assert all(len(line) < 420 for line in shown)
    assert shown[1].ljust(500)[shown[2].index("^")] == (text + " ")[column - 1]
