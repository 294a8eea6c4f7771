"""Random schemas, in all forms that PyTorch's C++ parser reads; and mutations of them."""

from __future__ import annotations

import random

_BASES = (
    "Tensor",
    "int",
    "float",
    "bool",
    "str",
    "Scalar",
    "SymInt",
    "ScalarType",
    "Device",
    "complex",
)
_NAMES = ("self", "other", "x", "alpha", "dim", "from", "type", "_a1", "out", "Tensor", "lambda")
_PIECES = (
    *("(", ")", "[", "]", ",", "*", "...", "->", "!", "?", "=", "|", ":", ".", "-", "+", " ", "\n"),
    *("#", "\\", "'", '"', "é", "\x00", "None", "True", "Dict", "__torch__", "0x1F", "1e", "1.5"),
    *("99999999999999999999", "int", "Tensor", "[]", "[2]", "(a!)", "()", "a", "default", "{", "&"),
)


class SchemaMaker:
    """Schemas from one seed: the same on every machine."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def schema(self) -> str:
        name = self._pick(("f", "foo_", "ns::f", "__iadd__", "a :: b"))
        overload = self._pick(("", "", ".out", ". dim_IntList", "._x"))
        arguments = self._space(",").join(self._arguments())
        return f"{name}{overload}{self._gap()}({arguments}){self._space('->')}{self._returns()}"

    def mutated(self, text: str) -> str:
        """`text` with a few pieces cut, doubled, moved or put in."""
        for _ in range(self._random.randint(1, 3)):
            start = self._random.randrange(len(text) + 1)
            end = start + self._random.choice((0, 1, 2, 5))
            piece = self._pick((*_PIECES, "", text[start:end] * 2))
            text = text[:start] + piece + text[end:]
        return text

    def _pick(self, items: tuple[str, ...]) -> str:
        return self._random.choice(items)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _gap(self) -> str:
        return self._pick(("", "", "", " ", "  "))

    def _space(self, mark: str) -> str:
        # PyTorch's parser takes no line end outside of brackets.
        after = (
            self._pick((" ", " ", "", "  ")) if mark == "->" else self._pick((" ", " ", "", "\n"))
        )
        return f"{self._pick(('', ' ')) if mark != ',' else ''}{mark}{after}"

    def _arguments(self) -> list[str]:
        count = self._random.randrange(5)
        found = [self._argument() for _ in range(count)]
        if self._chance(0.4):
            found.insert(self._random.randint(0, len(found)), "*")
        if self._chance(0.05):
            found.append("...")
        return found

    def _argument(self) -> str:
        type_, default = self._type_and_default()
        text = f"{type_} {self._gap()}{self._pick(_NAMES)}"
        if default is None or self._chance(0.5):
            return text
        equals = self._pick(("=", "=", " = "))
        return f"{text}{equals}{default}"

    def _type_and_default(self) -> tuple[str, str | None]:
        base = self._pick(_BASES)
        if self._chance(0.1):
            return self._odd_type(), self._pick(("None", "None", "1", "[]", "long"))
        shape = self._pick(("", "", "", "?", "[]", "[]?", "[2]", "[2]?", "?[]", "[][]"))
        default = "None" if shape.endswith("?") else self._default(base, shape)
        if self._chance(0.15):
            # One that may fit by chance.
            other = self._default(self._pick(_BASES), self._pick(("", "[]"))) or "None"
            default = self._pick((other, f"[{other}]", "None", "[]"))
        return f"{base}{self._alias(base)}{shape}{self._list_alias(shape)}", default

    def _odd_type(self) -> str:
        return self._pick(
            (
                *("Dict(str, Tensor)", "Dict(str,int[])?", "(int, int)", "(str,str)[]", "Any"),
                *("Future(int)", "Stream", "Generator?", "QScheme", "None", "t", "Storage"),
                *("Scalar??", "Generator", "int[2][]", "(int, int)(a)", "Dict(str, int)(a!)"),
                *("Union(int, str)", "SymBool", "DeviceIndex", "Layout", "MemoryFormat?"),
                *("__torch__.torch.classes.ns.C", "number", "AnyClassType", "int[][2]?", "None?"),
            )
        )

    def _alias(self, base: str) -> str:
        if base != "Tensor" or self._chance(0.6):
            return ""
        return self._pick(
            (
                "(a!)",
                "(a)",
                "!",
                "(a|b)",
                "(a! -> *)",
                "(*)",
                "(a->b|c)",
                "( a ! )",
                "(out_1!)",
                " !",
            )
        )

    def _list_alias(self, shape: str) -> str:
        return self._pick(("(b!)", "(c)", "!")) if shape.endswith("]") and self._chance(0.1) else ""

    def _default(self, base: str, shape: str) -> str | None:
        one = self._one_default(base)
        if one is None or shape in ("?[]", "[][]"):
            return None
        if shape == "":
            return one
        if base not in ("int", "float", "bool", "SymInt"):
            return None
        items = [self._one_default(base) or "" for _ in range(self._random.randrange(4))]
        return (
            one
            if shape == "[2]" and self._chance(0.5)
            else f"[{self._pick((',', ', ')).join(items)}]"
        )

    def _one_default(self, base: str) -> str | None:
        choices: dict[str, tuple[str, ...]] = {
            "Tensor": ("None",),
            "int": ("0", "-1", "- 5", "9223372036854775807", "-9223372036854775808", "010", "Mean"),
            "SymInt": ("0", "7"),
            "float": (
                "1",
                "1e-5",
                "-0.0",
                "1.5",
                ".5",
                "5.",
                "1E5",
                "0x10",
                "1e-300",
                "3.14159265358979",
            ),
            "bool": ("True", "False"),
            "str": (
                "'a, b'",
                '"x=1"',
                "'it\\'s'",
                "'\\n\\101'",
                "''",
                "'''q\"'''",
                "'é'",
                "')'",
                "'\\\\n'",
            ),
            "Scalar": ("1", "-1", "0.5", "True", "2j"),
            "ScalarType": ("float", "long", "int8", "6"),
            "Device": ("'cpu'", "'cuda:1'"),
            "complex": ("1j", "2.5j"),
        }
        return self._pick(choices[base])

    def _returns(self) -> str:
        if self._chance(0.5):
            return self._pick(
                ("Tensor", "()", "Tensor[]", "(Tensor)", "int", "Tensor(a!)", "...", "None")
            )
        items = [self._return() for _ in range(self._random.randrange(4))]
        return f"({', '.join(items)})"

    def _return(self) -> str:
        type_ = self._pick(("Tensor", "Tensor(a!)", "Tensor(a)[]", "int", "(int, int)", "float?"))
        return f"{type_}{self._pick(('', '', ' r', ' values'))}"
