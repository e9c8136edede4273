"""No regular expression may take more than linear time: a long run of one character must not hold up whoever reads it.

Every pattern of `app` is taken apart. Time is more than linear where two repeats can share out one run among themselves
before something fails, also where they stand in a repeat themselves; a search is a repeat of anything in front.
"""

import ast
import re
import re._parser as parser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import pytest

from app.grading.judge.torch_errors import ROWS

APP = Path(__file__).resolve().parents[1] / "app"
ANCHORED, SEARCHING = {"match", "fullmatch"}, {"search", "sub", "subn", "split", "findall", "finditer"}
OURS = (
    *(
        "check/",
        "content/blocks",
        "content/directives/code_box_options",
        "course/course",
        "course/prove",
        "course/lint_lessons",
        "course/directives/",
        "content/text/estimates",
    ),
    *(
        "content/export/source",
        "content/text/fences",
        "content/text/mathml",
        "content/text/options",
        "content/text/prose",
    ),
    *(
        "content/text/addresses",
        "content/directives/answer_lists",
        "kinds/choice/export",
        "kinds/grad/read",
        "kinds/order/export",
        "content/directives/vary",
        "content/export/notebook",
        "content/export/questions",
    ),
    *("grading/judge/hint_choice", "sandbox/huge_pages", "store/database_copies"),
    *("web/pictures/", "web/views/lesson_view"),
)
"""Read a lesson's file, or what this program or the kernel wrote: never what somebody sent."""
LONG = 200  # a repeat with a lower bound than this costs a constant
LETTERS = frozenset([*map(chr, range(9, 127)), *"\xa0\xd7\u2009\u2019\u202f\u2212\u2013\u2248"])
CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


@dataclass(frozen=True)
class Part:
    """One place of a pattern: the letters it may take, whether it may take none, whether many, whether it can fail."""

    letters: frozenset[str] = frozenset()
    empty: bool = True
    many: bool = False
    fails: bool = False

    def lets_through(self, letters: frozenset[str]) -> bool:
        return self.empty or not self.letters.isdisjoint(letters)


def takes(op: Any, value: Any, letter: str) -> bool:
    match str(op):
        case "LITERAL":
            return chr(value) == letter
        case "NOT_LITERAL":
            return chr(value) != letter
        case "ANY":
            return letter != "\n"
        case "RANGE":
            return bool(value[0] <= ord(letter) <= value[1])
        case "CATEGORY":
            kind = str(value).split("_")[-1]
            return (re.fullmatch(CATEGORIES[kind], letter) is None) == ("NOT" in str(value))
        case "IN":
            negated = str(value[0][0]) == "NEGATE"
            return negated != any(takes(*one, letter) for one in value[negated:])
    raise NotImplementedError(op)


def ways(parsed: Sequence[Any]) -> list[list[Part]]:
    """The sequences of parts that a pattern can be read as, one for each choice of its branches."""
    found = [way_of(op, value) for op, value in parsed]
    return [[part for parts in choice for part in parts] for choice in product(*found)]


def way_of(op: Any, value: Any) -> list[list[Part]]:
    match str(op):
        case "BRANCH":
            return [way for branch in value[1] for way in ways(branch)]
        case "SUBPATTERN":
            return ways(value[-1])
        case "ATOMIC_GROUP":
            return ways(value)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = value
            taken = [repeated(way, least, most) for way in ways(inner)]
            return [*taken, []] if least == 0 and most <= LONG else taken
        case "AT" | "ASSERT" | "ASSERT_NOT" | "GROUPREF":
            return [[Part(fails=True)]]
    return [[Part(frozenset(one for one in LETTERS if takes(op, value, one)), empty=False, fails=True)]]


def repeated(way: list[Part], least: int, most: int) -> list[Part]:
    if most <= LONG:
        return way
    if any(part.many for part in way):  # a turn may be followed by another
        return [*way, *way]
    empty = least == 0 or all(part.empty for part in way)
    return [Part(frozenset().union(*(part.letters for part in way)), empty, many=True, fails=not empty)]


def is_linear(pattern: str, use: str, flags: int = 0) -> bool:
    parsed = list(parser.parse(pattern, flags))
    begins = bool(parsed) and str(parsed[0]) == "(AT, AT_BEGINNING)" and not flags & re.MULTILINE
    front = [] if use in ANCHORED or begins else [Part(LETTERS, many=True)]
    back = [Part(fails=True)] if use == "fullmatch" else []
    return not any(shared([*front, *way, *back]) for way in ways(parsed))


def shared(way: list[Part]) -> bool:
    """Whether two repeats can share out one run, and something after them can fail."""
    for (first, one), (second, other) in combinations(enumerate(way), 2):
        both = one.letters & other.letters
        between, after = way[first + 1 : second], way[second + 1 :]
        adjacent = one.many and other.many and both and all(part.lets_through(both) for part in between)
        if adjacent and any(part.fails for part in after):
            return True
    return False


def patterns() -> Iterator[tuple[str, str, str, int]]:
    """Place, pattern, use and flags of everything that is given to `re`, and of the tables of torch's messages."""
    paths = [path for path in sorted(APP.rglob("*.py")) if not str(path.relative_to(APP)).startswith(OURS)]
    files = {path: list(ast.walk(ast.parse(path.read_text("utf-8")))) for path in paths}
    uses: dict[str, set[str]] = {}
    for node in chain.from_iterable(files.values()):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            uses.setdefault(node.value.id, set()).add(node.attr)
    for path, nodes in files.items():
        named = {id(one.value): one.targets[0].id for one in nodes
                 if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)}  # fmt: skip
        for node in nodes:
            if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")):
                continue
            use, text = node.func.attr, text_of(node.args[0]) if node.args else None
            if use == "escape" or text is None:
                continue
            flags = sum(getattr(re, name) for name in ("MULTILINE", "DOTALL", "VERBOSE", "IGNORECASE")
                        if f"re.{name}" in ast.unparse(node))  # fmt: skip
            known = uses.get(named.get(id(node), ""), set()) & (ANCHORED | SEARCHING) if use == "compile" else {use}
            for one in sorted(known or {"search"}):
                yield f"{path.relative_to(APP)}:{node.lineno}", text, one, flags
    for pattern, _, _ in ROWS:
        yield "grading/judge/torch_errors.py", pattern, "search", 0


def text_of(node: ast.expr) -> str | None:
    """A pattern as it stands; what is put into it from elsewhere counts as one letter."""
    if isinstance(node, ast.JoinedStr):
        parts = (one.value if isinstance(one, ast.Constant) else "x" for one in node.values)
        return "".join(map(str, parts))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def test_every_pattern_takes_linear_time():
    found = list(patterns())

    assert len(found) > 50
    assert [f"{place}: {pattern}" for place, pattern, use, flags in found if not is_linear(pattern, use, flags)] == []


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"\n?[ \t]*# ?wrong line: ?(\d{1,6})\s*\Z", "search"),
        (r"\s*\s*x", "match"),
        (r"\d*[.,]?\d*", "fullmatch"),
        (r"(a+)+b", "match"),
        (r"(?:\s*,\s*)*x", "match"),
        (r"\w+\w\w+!", "match"),
        (r"a*$", "search"),
        (r"x+y", "search"),
        (r"^\s*> ?", "sub"),
    ],
)
def test_patterns_that_are_not_linear_are_recognised(pattern, use):
    assert is_linear(pattern, use, re.MULTILINE) is False


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"\d+", "findall"),
        (r"^\s*> ?", "sub"),
        (r"(\d+) ?h", "match"),
        (r"\s*,\s*", "fullmatch"),
        (r"a+b+", "fullmatch"),
    ],
)
def test_linear_patterns_are_let_through(pattern, use):
    assert is_linear(pattern, use)
