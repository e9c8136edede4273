"""How far right ways of writing a line are from torch's gradient, and what is refused at which bound.

Every box of the course, every program of the tests and of a drawn set is judged as it is written and in rewritings that
change nothing but the rounding: other orders of summation, factors turned round, divisions as products, brackets
multiplied out.
"""

import ast
import copy
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from app.content.blocks import Grad
from app.course.course import load_course
from app.engine.grade.engine import Engine
from app.engine.task import GradTask, grad_task_of
from app.grading.judge import judging
from app.grading.judge.compare import Array, Reference
from tests.engine.grade.test_variants import alternative, rows
from tests.grading.boxes.load import BOXES, MORE, NETWORK, Box, OpenJail
from tests.grading.generated import drawn
from tests.grading.unseen.load import BOXES as UNSEEN
from tests.grading.unseen.load import RIGHT_PIECES

DRAWN = 20
LESSONS = Path(__file__).resolve().parents[1] / "lessons"
HELPERS = """
def turned(a, b):
    return (b.mT @ a.mT).mT if a.ndim > 1 and b.ndim > 1 else a @ b
def backwards(x, *a, **k):
    d = a[0] if a else k.get("dim")
    d = tuple(range(x.ndim)) if d is None else (d,) if isinstance(d, int) else tuple(d)
    return x.flip(d).sum(*a, **k)
"""


class Rewriting(ast.NodeTransformer):
    """One way to write the same; *count* says how often it applied."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.count = 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match self.kind, node:
            case "product turned round", ast.BinOp(op=ast.MatMult()):
                return self._put("turned(a, b)", a=node.left, b=node.right)
            case "division as product", ast.BinOp(op=ast.Div()):
                return self._put("a * (1 / b)", a=node.left, b=node.right)
            case "multiplied out", ast.BinOp(op=ast.Mult(), right=ast.BinOp(op=ast.Sub(), left=left, right=right)):
                return self._put("a * b - a * c", a=node.left, b=left, c=right)
            case "factors grouped", ast.BinOp(op=ast.Mult(), left=ast.BinOp(op=ast.Mult(), left=left, right=right)):
                return self._put("a * (b * c)", a=left, b=right, c=node.right)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match self.kind, node:
            case "sum backwards", ast.Call(func=ast.Attribute(attr="sum", value=value)):
                if not (isinstance(value, ast.Name) and value.id == "torch"):
                    self.count += 1
                    return ast.Call(ast.Name("backwards", ast.Load()), [value, *node.args], node.keywords)
        return node

    def _put(self, text: str, **parts: ast.expr) -> ast.expr:
        self.count += 1
        found = Filled(parts).visit(ast.parse(text, mode="eval").body)
        assert isinstance(found, ast.expr)
        return found


class Filled(ast.NodeTransformer):
    """Puts *parts* in the place of names."""

    def __init__(self, parts: Mapping[str, ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.parts.get(node.id, node))


KINDS = ("product turned round", "division as product", "multiplied out", "factors grouped", "sum backwards")


def lessons() -> Iterator[tuple[str, GradTask, str]]:
    """Every code box of the course, with its solution and the ones that are equally right."""
    for lesson in load_course(LESSONS).lessons:
        for grad in lesson.exercises:
            if isinstance(grad, Grad):
                for code in (grad.solution, *grad.alternatives):
                    yield f"{lesson.slug}#{grad.name}", grad_task_of(lesson, grad), code.source


def programs() -> Iterator[tuple[str, GradTask, str]]:
    """Names, tasks and right submissions."""
    yield from lessons()
    for box, code in boxes():
        yield box.name, box.task(), code


def boxes() -> Iterator[tuple[Box, str]]:
    """The programs of the tests, and drawn ones."""
    for box in (*BOXES, *MORE, NETWORK, *UNSEEN, *map(drawn, range(DRAWN))):
        yield box, box.solution
    for piece in RIGHT_PIECES:
        yield piece.box, piece.submission
    for row in rows("alternatives.txt"):
        yield NETWORK, alternative(row)


def rewritten(code: str, kind: str) -> str | None:
    """*code* in another way of writing; None where that way does not occur in it."""
    rewriting = Rewriting(kind)
    tree = rewriting.visit(ast.parse(code))
    return HELPERS + ast.unparse(ast.fix_missing_locations(tree)) if rewriting.count else None


def main() -> None:
    """Print what each way of writing comes to: refused programs, compared gradients, the largest difference."""
    engine, found = Engine(OpenJail(), None), []

    def measured(got: Array | None, reference: Reference, atol: float | None = None, rtol: float | None = None) -> bool:
        right = matches(got, reference, atol, rtol)
        if right and got is not None and reference.scale:
            found.append(float(np.abs(got - reference.gradient).max(initial=0.0)) / reference.scale)
        return right

    matches, judging.matches = judging.matches, measured
    print("| way of writing | programs | refused | gradients compared | largest difference, of the scale |")
    print("|---|---|---|---|---|")
    for kind in ("as it stands", *KINDS):
        codes = [(*one, code if kind == "as it stands" else rewritten(code, kind)) for *one, code in programs()]
        asked = [(name, task, code) for name, task, code in codes if code is not None]
        found.clear()
        refused = [name for name, task, code in asked if not engine.check(task, code, gate=False).passed]
        print(f"| {kind} | {len(asked)} | {len(refused)} | {len(found):,} | {max(found):.1e} | {refused or ''}")
    judging.matches = matches
