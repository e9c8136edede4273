"""Sentences for all who make one mistake: what shows it, and the `{mistake}` block that says it in the lesson."""

import ast
import builtins
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from app.bindings import parse_code
from app.content.blocks import Grad, Lesson
from app.content.text.exercise_titles import exercise_title
from app.engine.json_columns import decoded_verdict
from app.grading.judge.hunt_verdict import split_line
from app.grading.judge.verdict import UNRECOGNISED
from app.store.tables import WrittenSentence
from app.store.written_sentences import MistakenText
from app.web.site import SCOPE_MODULES
from app.web.verdict_words import FAULTS
from app.web.views.exercise_view import number_word

FENCE = "`"


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence with its exercise, which the course may have no more; *current* while it is about this edition."""

    row: WrittenSentence
    lesson: Lesson | None
    box: Grad | None
    current: bool

    @property
    def title(self) -> str:
        return exercise_title(self.box) if self.box else self.row.exercise

    @property
    def name(self) -> str:
        """The gradient that it is about."""
        return self.row.mistake.partition(":")[0]

    @property
    def block(self) -> str:
        return mistake_block(self.row.said, self.row.example)

    @property
    def address(self) -> str:
        scope = f"?class={self.row.class_id}" if self.row.class_id else ""
        return f"/authors/sentences/{self.row.id}{scope}"


def gradient_of(box: Grad, mistake: str) -> str:
    """The gradient that a key of a mistake is about; "" for a key of none that may have a sentence."""
    name, _, rest = mistake.partition(":")
    kind, _, value = rest.partition(":")
    return name if name in box.require and kind == UNRECOGNISED and value else ""


def example_of(lesson: Lesson, box: Grad, texts: Iterable[MistakenText]) -> str:
    """What shows a mistake best: of *texts* that make it the one in which least else is wrong, as plain code."""
    written = []
    for each in texts:
        verdict = decoded_verdict(each.verdict)
        wrong = sum(row.verdict in FAULTS for row in verdict.names) if verdict else 0
        if plain := plain_code(lesson, box, each.text):
            written.append((wrong, len(plain), plain))
    return min(written)[2] if written else ""


def plain_code(lesson: Lesson, box: Grad, text: str) -> str:
    """*text* without comments, with own names as `h1`, `h2` and on: the mathematics, and nothing of who wrote it.

    "" for a text that cannot be read.
    """
    word = number_word(box)
    try:
        tree = parse_code(split_line(text, word)[0] if word else text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    tree.body = [line for line in tree.body if not _says_only(line)]
    forward = lesson.forwards[box.forward]
    known = {*SCOPE_MODULES, *dir(builtins), *forward.dims, *box.require, *box.given, *forward.upstreams}
    known |= _names(forward.source) | {tensor.name for tensor in forward.inputs}
    known |= {f"d{name}" for name in known}
    _Renamed(known).visit(tree)
    return ast.unparse(tree)


def _says_only(line: ast.stmt) -> bool:
    """True if *line* computes nothing: a text by itself, or something that is printed."""
    match line:
        case ast.Expr(value=ast.Constant()) | ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
    return False


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


class _Renamed(ast.NodeTransformer):
    """Names that are not *known*, called `h1`, `h2` and on in the order in which they come."""

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._own: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._called(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._called(node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._called(node.name)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        node.arg = self._own.get(node.arg, node.arg) if node.arg else None
        return self.generic_visit(node)

    def _called(self, name: str) -> str:
        if name in self._known:
            return name
        return self._own.setdefault(name, f"h{len(self._own) + 1}")


def mistake_block(said: str, example: str) -> str:
    """The block of a lesson that says *said* to everybody whose code gives the same as *example*."""
    longest = max((len(run) for run in example.split("\n") if set(run.strip()) == {FENCE}), default=0)
    fence = FENCE * max(3, longest + 1)
    return f"{fence}{{mistake}} {said}\n{example.strip()}\n{fence}\n"


def with_block(text: str, box: Grad, block: str) -> str:
    """The *text* of a lesson file with a *block* in front of the solution of *box*, where mistakes are written."""
    lines = text.splitlines(keepends=True)
    at = box.solution.place.line - 1
    return "".join([*lines[:at], *f"{block}\n".splitlines(keepends=True), *lines[at:]])
