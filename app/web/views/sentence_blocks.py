"""Blocks of a lesson that say a sentence: a `{mistake}` block of a code box, a tempting value of a question."""

import ast
import builtins
import re
from collections.abc import Collection, Sequence

from app.content.blocks import Bug, CodeBox, Exercise, FunctionBox, Lesson, Quiz
from app.grading.judge.hunt_verdict import LINE, split_line, with_line
from app.insight.mistakes import answer_of
from app.kinds.registry import quiz_kind
from app.syntax import every_name_in, parse_code
from app.web.site import SCOPE_MODULES
from app.web.views.exercise_view import number_word

FENCE = "`"
OPENING = re.compile(r"[`:~]{3,}")


def plain_code(lesson: Lesson, box: CodeBox, text: str) -> str:
    """*text* without comments, with own names as `h1`, `h2` and on: the mathematics, and nothing of who wrote it.

    In a bug hunt the wrong line is marked, so that the text is looked at. "" for a text that cannot be read.
    """
    word = number_word(box)
    try:
        tree = parse_code(split_line(text, word)[0] if word else text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    tree.body = [line for line in tree.body if not _says_only(line)]
    _Renamed(_known_names(lesson, box, tree)).visit(tree)
    code = ast.unparse(tree)
    return with_line(code, box.line) if isinstance(box, Bug) else code


def _says_only(line: ast.stmt) -> bool:
    """True if *line* computes nothing: a text by itself, or something that is printed."""
    match line:
        case ast.Expr(value=ast.Constant()) | ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
    return False


def _known_names(lesson: Lesson, box: CodeBox, tree: ast.Module) -> set[str]:
    """Names that are no learner's own: of the exercise, of Python, and of what its cases may call."""
    known = {*SCOPE_MODULES, *dir(builtins), *box.require, *_names(box.starter.source)}
    if isinstance(box, FunctionBox):
        return known | {box.function, *box.arguments} | _class_names(tree) | _names(box.above)
    forward = lesson.forwards[box.forward or ""]
    known |= {*forward.dims, *getattr(box, "given", ()), *forward.upstreams}
    known |= _names(forward.source) | {tensor.name for tensor in forward.inputs}
    return known | {f"d{name}" for name in known}


def _names(source: str) -> set[str]:
    try:
        tree = parse_code(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return every_name_in(tree)


def _class_names(tree: ast.Module) -> set[str]:
    """Names of classes, of their methods and of what these take: others may call them by these names."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    methods = [node for item in classes for node in item.body if isinstance(node, ast.FunctionDef)]
    taken = {node.arg for method in methods for node in ast.walk(method) if isinstance(node, ast.arg)}
    return {item.name for item in classes} | {method.name for method in methods} | taken


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


def lesson_block(exercise: Exercise, mistake: str, sentence: str, example: str) -> str:
    """The block of a lesson that shows *sentence* to every learner who makes a *mistake*; "" where none can."""
    if isinstance(exercise, Quiz):
        return _tempting_value(exercise, answer_of(mistake)[1], sentence)
    if isinstance(exercise, Bug):
        example = _one_line(exercise, mistake, example)
    return mistake_block(sentence, example) if example else ""


def _tempting_value(quiz: Quiz, given: Sequence[str], sentence: str) -> str:
    value = quiz_kind(quiz).listed(given)
    return f"- `{value}`: {sentence}\n" if value and FENCE not in value else ""


def _one_line(bug: Bug, mistake: str, example: str) -> str:
    """The right line that was suspected, or the one that was put in the place of the wrong one; "" for several."""
    given = parse_code(bug.starter.source).body
    name, _, number = mistake.partition(":innocent:")
    if name == LINE:
        at = [line for line in given if number.isdecimal() and line.lineno <= int(number) <= (line.end_lineno or 0)]
        return ast.unparse(at[0]) if at else ""
    known = {ast.dump(line) for line in given}
    new = [line for line in parse_code(split_line(example)[0]).body if ast.dump(line) not in known]
    return ast.unparse(new[0]) if len(new) == 1 else ""


def mistake_block(sentence: str, example: str) -> str:
    """The block of a lesson that shows *sentence* to every learner whose code gives the same as *example*."""
    longest = max((len(run) for run in example.split("\n") if set(run.strip()) == {FENCE}), default=0)
    fence = FENCE * max(3, longest + 1)
    return f"{fence}{{mistake}} {sentence}\n{example.strip()}\n{fence}\n"


def with_block(text: str, exercise: Exercise, block: str) -> str:
    """The *text* of a lesson file with a *block*, where mistakes of *exercise* are written; as it is without one."""
    lines = text.splitlines(keepends=True)
    if isinstance(exercise, CodeBox):
        at, put = exercise.solution.place.line - 1, f"{block}\n"
    else:
        at, put = _closing(lines, exercise.place.line - 1), f"\n{block}"
    return "".join([*lines[:at], *put.splitlines(keepends=True), *lines[at:]]) if block and at > 0 else text


def _closing(lines: Sequence[str], opened: int) -> int:
    """The line that closes the block that *opened* there, from 0; 0 where none does."""
    fence = OPENING.match(lines[opened].lstrip()) if opened < len(lines) else None
    ends = (number for number in range(opened + 1, len(lines)) if fence and lines[number].strip() == fence[0])
    return next(ends, 0)
